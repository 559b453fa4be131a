// Base: errors, memory, log, timers. Everything else includes this.
#ifndef MO_BASE_H
#define MO_BASE_H

#include "base/assert.h"
#include "monolith/monolith.h"

// Fills err (may be NULL) and returns status, so that a failure is one line: return mo_fail(err, MO_ERROR_INPUT,
// "...").
mo_status mo_fail(mo_error *err, mo_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
mo_status mo_fail_memory(mo_error *err);

// Return early when a call fails.
#define MO_TRY(call)                                                                                                   \
    do {                                                                                                               \
        mo_status try_status_ = (call);                                                                                \
        if (try_status_ != MO_OK) return try_status_;                                                                  \
    } while (0)

// Memory comes through the hook of mo_set_allocator, is 64-byte aligned and counted in mo_memory_in_use. NULL means
// that there is none left.
void *mo_alloc(size_t bytes);  // uninitialised
void *mo_calloc(size_t bytes); // zeroed
void mo_free(void *p);
// Between the two calls, the memory of large blocks that are freed is kept for later ones (base/region.h). Both may be
// called several times, by any thread. A simulation holds memory as long as it exists.
void mo_memory_hold(void);
void mo_memory_release(void);
// Grows *p to hold at least `need` items of `size` bytes (content kept, capacity at least doubled). False = no memory.
bool mo_reserve(void **p, int64_t *capacity, int64_t need, size_t size);

// An arena holds the scratch of one stage. Allocation bumps a pointer; reset frees all at once and keeps the memory.
typedef struct mo_arena mo_arena;
mo_arena *mo_arena_create(void);
void mo_arena_destroy(mo_arena *arena);
void *mo_arena_alloc(mo_arena *arena, size_t bytes); // 64-byte aligned, NULL when exhausted
void mo_arena_reset(mo_arena *arena);
size_t mo_arena_mark(const mo_arena *arena);         // remember the fill...
void mo_arena_release(mo_arena *arena, size_t mark); // ...and return to it
#define MO_ARENA_ARRAY(arena, type, count) ((type *)mo_arena_alloc((arena), sizeof(type) * (size_t)(count)))

typedef struct mo_log {
    mo_log_fn fn;
    void *user;
} mo_log;
void mo_log_write(const mo_log *log, mo_log_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

// 64-bit hash of bytes, continued from `seed`. A change of any single 8-byte word always changes it.
uint64_t mo_checksum(uint64_t seed, const void *data, size_t bytes);

double mo_wall_seconds(void); // monotonic
double mo_cpu_seconds(void);  // of the process, all threads

#endif
