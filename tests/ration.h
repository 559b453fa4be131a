// Memory that runs out at a chosen call, for tests of what happens then: mo_set_allocator(rationed, &r). Several
// threads may ask for memory at once.
#ifndef MO_RATION_H
#define MO_RATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct ration {
    int64_t calls;   // that asked for memory so far
    int64_t fail_at; // the one that gets none, counted from 1; 0: never
    bool for_good;   // nor do those after it
    int64_t live;    // blocks that are not freed
} ration;

static inline void *rationed(void *user, void *p, size_t bytes)
{
    ration *r = user;
    if (bytes == 0) {
        if (p) __atomic_fetch_sub(&r->live, 1, __ATOMIC_RELAXED);
        free(p);
        return NULL;
    }
    int64_t call = __atomic_add_fetch(&r->calls, 1, __ATOMIC_RELAXED);
    if (call == r->fail_at || (r->for_good && r->fail_at && call > r->fail_at)) return NULL;
    if (!p) __atomic_fetch_add(&r->live, 1, __ATOMIC_RELAXED);
    return realloc(p, bytes);
}

#endif
