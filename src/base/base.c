// Errors, log, timers, checksums.
#include "base/base.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TEXT_OF(x)  #x
#define VALUE_OF(x) TEXT_OF(x)

const char *mo_version(void)
{
    return VALUE_OF(MO_VERSION_MAJOR) "." VALUE_OF(MO_VERSION_MINOR) "." VALUE_OF(MO_VERSION_PATCH);
}

#if __has_include("mo_build.h")
#include "mo_build.h" // by cmake/identity.cmake
#else
#define MO_BUILD "unknown"
#endif

const char *mo_build(void) { return MO_BUILD; }

mo_status mo_fail(mo_error *err, mo_status status, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        err->status = status;
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return status;
}

mo_status mo_fail_memory(mo_error *err) { return mo_fail(err, MO_ERROR_MEMORY, "out of memory"); }

void mo_assert_failed(const char *condition, const char *fault, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, condition, fault ? fault : "does not hold");
    abort();
}

// ---- Checksums ----

uint64_t mo_checksum(uint64_t seed, const void *data, size_t bytes)
{
    const char *p = data;
    uint64_t h = (seed ^ bytes) * 0x9e3779b97f4a7c15u;
    for (; bytes; p += 8) { // every round is a bijection of h for a given word, and of the word for a given h
        uint64_t word = 0;
        size_t n = bytes < 8 ? bytes : 8;
        memcpy(&word, p, n);
        h = (h ^ word) * 0x9fb21c651e98df25u;
        h ^= h >> 29;
        bytes -= n;
    }
    return h ^ h >> 32;
}

// ---- Log and time ----

void mo_log_write(const mo_log *log, mo_log_level level, const char *format, ...)
{
    if (!log || !log->fn) return;
    char text[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    log->fn(log->user, level, text);
}

static double clock_seconds(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double mo_wall_seconds(void) { return clock_seconds(CLOCK_MONOTONIC); }
double mo_cpu_seconds(void) { return clock_seconds(CLOCK_PROCESS_CPUTIME_ID); }
