// Errors, log, timers.
#include "base/base.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TEXT_OF(x)  #x
#define VALUE_OF(x) TEXT_OF(x)

const char *mo_version(void)
{
    return VALUE_OF(MO_VERSION_MAJOR) "." VALUE_OF(MO_VERSION_MINOR) "." VALUE_OF(MO_VERSION_PATCH);
}

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
