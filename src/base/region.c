// Regions of memory, and the pieces that they are cut into.
#include "base/region.h"
#include <stdint.h>

typedef struct mo_region { // its first piece follows
    struct mo_region *next;
    void *raw;   // as the source gave it
    size_t size; // bytes, this header included
    size_t padding[5];
} region;

typedef struct mo_piece {    // its block follows
    struct mo_piece *before; // its neighbour in the region, NULL: it is the first
    region *home;
    struct mo_piece *next_free, *last_free;
    size_t size; // bytes, this header included
    bool free;
    size_t padding[2]; // what mo_alloc writes in front of a block
} piece;

_Static_assert(sizeof(piece) == MO_REGION_HEADER && sizeof(region) == MO_REGION_ALIGNMENT, "blocks are aligned");

enum { LEAST_REGION = 1 << 25, LEAST_REST = 1 << 12 }; // bytes; a rest that is smaller stays with its block

static size_t rounded(size_t bytes) { return (bytes + MO_REGION_ALIGNMENT - 1) & ~(size_t)(MO_REGION_ALIGNMENT - 1); }

static piece *first_of(region *r) { return (piece *)(r + 1); }

static piece *behind(const piece *p)
{
    char *end = (char *)p + p->size;
    return end < (char *)p->home + p->home->size ? (piece *)end : NULL;
}

static void list(mo_regions *r, piece *p)
{
    piece *last = NULL, *next = r->free;
    while (next && next < p) last = next, next = next->next_free;
    p->last_free = last, p->next_free = next, p->free = true;
    *(last ? &last->next_free : &r->free) = p;
    if (next) next->last_free = p;
}

static void unlist(mo_regions *r, piece *p)
{
    MO_ASSERT(p->free);
    *(p->last_free ? &p->last_free->next_free : &r->free) = p->next_free;
    if (p->next_free) p->next_free->last_free = p->last_free;
    p->free = false;
}

// A new region, all of it free, in which so many bytes have room.
static piece *add_region(mo_regions *r, size_t bytes)
{
    size_t size = sizeof(region) + bytes;
    if (size < r->size / 2) size = rounded(r->size / 2);
    if (size < LEAST_REGION) size = LEAST_REGION;
    char *raw = r->source.get(size + MO_REGION_ALIGNMENT);
    if (!raw) return NULL;
    region *home = (region *)rounded((uintptr_t)raw);
    *home = (region){.next = r->first, .raw = raw, .size = size};
    r->first = home, r->size += size;
    piece *p = first_of(home);
    *p = (piece){.home = home, .size = size - sizeof(region)};
    list(r, p);
    return p;
}

// Cuts off what a piece has beyond so many bytes.
static void cut(mo_regions *r, piece *p, size_t size)
{
    MO_ASSERT(size % MO_REGION_ALIGNMENT == 0 && size <= p->size);
    if (p->size < size + LEAST_REST) return;
    piece *rest = (piece *)((char *)p + size), *next = behind(p);
    *rest = (piece){.before = p, .home = p->home, .size = p->size - size};
    if (next) next->before = rest;
    p->size = size;
    list(r, rest);
}

void *mo_regions_take(mo_regions *r, size_t bytes)
{
    size_t size = rounded(bytes + sizeof(piece));
    piece *p = NULL;
    for (piece *q = r->free; q; q = q->next_free)
        if (q->size >= size && (!p || q->size < p->size)) p = q;
    if (!p && !(p = add_region(r, size))) return NULL;
    unlist(r, p);
    cut(r, p, size);
    return p + 1;
}

// Joins two neighbours, of which the second is not listed.
static void join(piece *p, const piece *second)
{
    MO_ASSERT(behind(p) == second && !second->free);
    p->size += second->size;
    piece *next = behind(p);
    if (next) next->before = p;
}

void mo_regions_give(mo_regions *r, void *block)
{
    piece *p = (piece *)block - 1, *next = behind(p), *last = p->before;
    MO_ASSERT(!p->free);
    MO_ASSERT((!next || next->before == p) && (!last || behind(last) == p));
    if (next && next->free) unlist(r, next), join(p, next);
    if (last && last->free)
        join(last, p); // which is listed
    else
        list(r, p);
}

void mo_regions_drop(mo_regions *r)
{
    for (region **at = &r->first; *at;) {
        region *home = *at;
        piece *p = first_of(home);
        if (!p->free || behind(p)) {
            at = &home->next;
            continue;
        }
        unlist(r, p);
        *at = home->next, r->size -= home->size;
        r->source.give(home->raw);
    }
}
