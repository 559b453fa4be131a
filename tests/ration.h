// Memory that runs out at a chosen call, for tests of what happens then: mo_set_allocator(rationed, &r).
#ifndef MO_RATION_H
#define MO_RATION_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct ration {
    int64_t calls;   // that asked for memory so far
    int64_t fail_at; // the one that gets none, counted from 1; 0: never
    int64_t live;    // blocks that are not freed
} ration;

static inline void *rationed(void *user, void *p, size_t bytes)
{
    ration *r = user;
    if (bytes == 0) {
        r->live -= p != NULL;
        free(p);
        return NULL;
    }
    if (++r->calls == r->fail_at) return NULL;
    r->live += p == NULL;
    return realloc(p, bytes);
}

#endif
