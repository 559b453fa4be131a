// Errors, allocation hook, arena, log, timers.
#include "base/base.h"
#include <stdarg.h>
#include <stdatomic.h>
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

// ---- Memory ----

static void *c_resize(void *user, void *p, size_t bytes)
{
    (void)user;
    if (bytes == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, bytes);
}

static mo_resize_fn resize_hook = c_resize;
static void *resize_user;
static _Atomic int64_t in_use, peak;

void mo_set_allocator(mo_resize_fn resize, void *user)
{
    resize_hook = resize ? resize : c_resize;
    resize_user = user;
}

int64_t mo_memory_in_use(void) { return in_use; }
int64_t mo_memory_peak(void) { return peak; }
void mo_memory_reset_peak(void) { peak = in_use; }

// In front of every block: what the hook returned, and the size.
typedef struct header {
    void *raw;
    size_t bytes;
} header;
enum { ALIGNMENT = 64 };

void *mo_alloc(size_t bytes)
{
    if (bytes > SIZE_MAX - 2 * ALIGNMENT) return NULL;
    char *raw = resize_hook(resize_user, NULL, bytes + 2 * ALIGNMENT);
    if (!raw) return NULL;
    char *p = (char *)(((uintptr_t)raw + sizeof(header) + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
    ((header *)p)[-1] = (header){raw, bytes};
    int64_t now = atomic_fetch_add(&in_use, (int64_t)bytes) + (int64_t)bytes, old = peak;
    while (now > old && !atomic_compare_exchange_weak(&peak, &old, now)) {}
    return p;
}

void *mo_calloc(size_t bytes)
{
    void *p = mo_alloc(bytes);
    if (p) memset(p, 0, bytes);
    return p;
}

void mo_free(void *p)
{
    if (!p) return;
    header h = ((header *)p)[-1];
    atomic_fetch_sub(&in_use, (int64_t)h.bytes);
    resize_hook(resize_user, h.raw, 0);
}

void mo_free_block(void *data) { mo_free(data); }

bool mo_reserve(void **p, int64_t *capacity, int64_t need, size_t size)
{
    if (need <= *capacity) return true;
    int64_t grown = *capacity * 2 > need ? *capacity * 2 : need;
    if ((size_t)grown > SIZE_MAX / size) return false;
    void *q = mo_alloc((size_t)grown * size);
    if (!q) return false;
    if (*p) memcpy(q, *p, (size_t)*capacity * size);
    mo_free(*p);
    *p = q;
    *capacity = grown;
    return true;
}

// ---- Arena: a list of chunks, each filled in turn ----

typedef struct chunk {
    struct chunk *next;
    size_t size, start;
} chunk; // start: bytes in all chunks before this one

struct mo_arena {
    chunk *first, *current;
    size_t used; // bytes over all chunks, gaps at chunk ends included
};

enum { CHUNK_HEADER = 64, CHUNK_MINIMUM = 1 << 20 };

mo_arena *mo_arena_create(void) { return mo_calloc(sizeof(mo_arena)); }

void mo_arena_destroy(mo_arena *arena)
{
    if (!arena) return;
    for (chunk *c = arena->first; c;) {
        chunk *next = c->next;
        mo_free(c);
        c = next;
    }
    mo_free(arena);
}

void *mo_arena_alloc(mo_arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 4) return NULL; // sums below must not wrap
    bytes = (bytes + 63) & ~(size_t)63;
    chunk *c = arena->current;
    while (!c || arena->used + bytes > c->start + c->size) {
        if (c && c->next && c->next->size < bytes) { // a kept chunk too small for this request: drop the rest
            for (chunk *d = c->next; d;) {
                chunk *next = d->next;
                mo_free(d);
                d = next;
            }
            c->next = NULL;
        }
        chunk *next = c ? c->next : arena->first;
        if (next && next->size < bytes) { // only the first chunk can get here
            mo_arena_release(arena, 0);
            for (chunk *d = next; d;) {
                chunk *after = d->next;
                mo_free(d);
                d = after;
            }
            arena->first = next = NULL;
        }
        if (!next) {
            size_t total = c ? c->start + c->size : 0, size = bytes > CHUNK_MINIMUM ? bytes : CHUNK_MINIMUM;
            if (size < total / 4) size = total / 4;
            next = mo_alloc(CHUNK_HEADER + size);
            if (!next) return NULL;
            *next = (chunk){NULL, size, 0};
            if (c)
                c->next = next;
            else
                arena->first = next;
        }
        next->start = c ? c->start + c->size : 0;
        arena->current = c = next;
        arena->used = c->start;
    }
    void *p = (char *)c + CHUNK_HEADER + (arena->used - c->start);
    arena->used += bytes;
    return p;
}

void mo_arena_reset(mo_arena *arena) { mo_arena_release(arena, 0); }
size_t mo_arena_mark(const mo_arena *arena) { return arena->used; }

void mo_arena_release(mo_arena *arena, size_t mark)
{
    arena->used = mark;
    if (mark == 0) {
        arena->current = NULL;
        return;
    }
    chunk *c = arena->first;
    while (c != arena->current && mark > c->start + c->size) c = c->next;
    arena->current = c;
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
