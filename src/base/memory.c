// Memory: the allocation hook, blocks, arenas.
#include "base/base.h"
#include "base/region.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

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

int64_t mo_memory_in_use(void) { return in_use; }
int64_t mo_memory_peak(void) { return peak; }
void mo_memory_reset_peak(void) { peak = in_use; }

// In front of every block.
typedef struct header {
    void *raw;    // what the hook returned; NULL: the block is a piece of a region
    size_t bytes; // as asked for
} header;
enum { ALIGNMENT = 64 };

static header *header_of(void *p) { return (header *)p - 1; }

// ---- Large blocks while someone holds memory ----

enum { LARGE = 1 << 15 }; // bytes; what is smaller the C library keeps itself

// Steps go through all of their memory, in many arrays at once: with pages of 4 kB a tenth of the time goes into
// finding where those are. The system is asked for large pages where it has them.
static void ask_for_large_pages(char *raw, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    enum { LARGE_PAGE = 1 << 21 };
    char *first = (char *)(((uintptr_t)raw + LARGE_PAGE - 1) & ~(uintptr_t)(LARGE_PAGE - 1));
    char *end = (char *)((uintptr_t)(raw + bytes) & ~(uintptr_t)(LARGE_PAGE - 1));
    if (end > first) madvise(first, (size_t)(end - first), MADV_HUGEPAGE); // if not, all is as it was
#else
    (void)raw, (void)bytes;
#endif
}

static void *get_region(size_t bytes)
{
    char *raw = resize_hook(resize_user, NULL, bytes);
    if (raw && resize_hook == c_resize) ask_for_large_pages(raw, bytes); // other memory is not ours to ask for
    return raw;
}
static void give_region(void *raw) { resize_hook(resize_user, raw, 0); }

static mo_regions regions = {.source = {get_region, give_region}};
static atomic_flag regions_busy = ATOMIC_FLAG_INIT;
static _Atomic int32_t holders;

static void lock_regions(void)
{
    while (atomic_flag_test_and_set_explicit(&regions_busy, memory_order_acquire)) {}
}

static void unlock_regions(void) { atomic_flag_clear_explicit(&regions_busy, memory_order_release); }

void mo_memory_hold(void) { holders++; }

void mo_memory_release(void)
{
    lock_regions();
    if (--holders == 0) mo_regions_drop(&regions);
    unlock_regions();
}

void mo_set_allocator(mo_resize_fn resize, void *user)
{
    lock_regions();
    mo_regions_drop(&regions);
    resize_hook = resize ? resize : c_resize;
    resize_user = user;
    unlock_regions();
}

static void *take_piece(size_t bytes)
{
    lock_regions();
    void *p = mo_regions_take(&regions, bytes);
    unlock_regions();
    if (p) header_of(p)->raw = NULL;
    return p;
}

static void give_piece(void *p)
{
    lock_regions();
    mo_regions_give(&regions, p);
    if (holders == 0) mo_regions_drop(&regions); // it outlived those who held memory
    unlock_regions();
}

// ---- Blocks ----

static void *new_block(size_t bytes)
{
    char *raw = resize_hook(resize_user, NULL, bytes + 2 * ALIGNMENT);
    if (!raw) return NULL;
    char *p = (char *)(((uintptr_t)raw + sizeof(header) + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
    header_of(p)->raw = raw;
    return p;
}

void *mo_alloc(size_t bytes)
{
    if (bytes > SIZE_MAX / 2) return NULL;
    bool large = bytes >= LARGE && holders > 0 && !MO_SANITIZED;
    void *p = large ? take_piece(bytes) : new_block(bytes);
    if (!p) return NULL;
    header_of(p)->bytes = bytes;
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
    header h = *header_of(p);
    MO_ASSERT((int64_t)h.bytes <= in_use);
    atomic_fetch_sub(&in_use, (int64_t)h.bytes);
    if (h.raw)
        resize_hook(resize_user, h.raw, 0);
    else
        give_piece(p);
}

void mo_free_block(void *data) { mo_free(data); }

bool mo_reserve(void **p, int64_t *capacity, int64_t need, size_t size)
{
    MO_ASSERT(size > 0 && *capacity >= 0 && (*p || *capacity == 0));
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

// ---- Arena ----

// Under AddressSanitizer, memory of an arena that nobody was given, or that was given back, is poisoned, and arrays lie
// apart: a use before or after its time, or beyond its end, is then told as for any other block.
#if MO_ADDRESS_SANITIZED
#include <sanitizer/asan_interface.h>
enum { ARENA_GAP = 64 };
#else
#define ASAN_POISON_MEMORY_REGION(start, bytes)   ((void)(start), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(start, bytes) ((void)(start), (void)(bytes))
enum { ARENA_GAP = 0 };
#endif

// Allocations fill one chunk after the other. A reset that finds more than one leaves a single chunk for all of them to
// the next allocation, so that what is asked for step by step ends up in one piece of memory.
typedef struct chunk {
    struct chunk *next;
    size_t size, start;
} chunk; // start: bytes in all chunks before this one

struct mo_arena {
    chunk *first, *current;
    size_t used;   // bytes over all chunks, gaps at chunk ends included
    size_t wanted; // of the first chunk, if there is none
};

enum { CHUNK_HEADER = 64, CHUNK_MINIMUM = 1 << 16 };

static char *content_of(chunk *c) { return (char *)c + CHUNK_HEADER; }

mo_arena *mo_arena_create(void) { return mo_calloc(sizeof(mo_arena)); }

static void free_chunks(chunk *c)
{
    while (c) {
        chunk *next = c->next;
        ASAN_UNPOISON_MEMORY_REGION(content_of(c), c->size);
        mo_free(c);
        c = next;
    }
}

void mo_arena_destroy(mo_arena *arena)
{
    if (!arena) return;
    free_chunks(arena->first);
    mo_free(arena);
}

// A chunk behind the present one, for at least so many bytes.
static chunk *add_chunk(mo_arena *arena, size_t bytes)
{
    chunk *last = arena->current;
    size_t total = last ? last->start + last->size : 0, size = last ? total / 4 : arena->wanted;
    if (size < CHUNK_MINIMUM) size = CHUNK_MINIMUM;
    if (size < bytes) size = bytes;
    chunk *c = mo_alloc(CHUNK_HEADER + size);
    if (!c) return NULL;
    *c = (chunk){NULL, size, total};
    ASAN_POISON_MEMORY_REGION(content_of(c), size);
    *(last ? &last->next : &arena->first) = c;
    return c;
}

void *mo_arena_alloc(mo_arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 4) return NULL; // sums below must not wrap
    size_t asked = bytes;
    bytes = ((bytes + 63) & ~(size_t)63) + ARENA_GAP;
    while (!arena->current || arena->used + bytes > arena->current->start + arena->current->size) {
        chunk **place = arena->current ? &arena->current->next : &arena->first, *next = *place;
        if (next && next->size < bytes) free_chunks(next), *place = next = NULL; // too small: later ones go too
        if (!next && !(next = add_chunk(arena, bytes))) return NULL;
        next->start = arena->current ? arena->current->start + arena->current->size : 0;
        arena->current = next;
        arena->used = next->start;
    }
    void *p = content_of(arena->current) + (arena->used - arena->current->start);
    arena->used += bytes;
    ASAN_UNPOISON_MEMORY_REGION(p, asked);
    return p;
}

void mo_arena_reset(mo_arena *arena)
{
    if (arena->first && arena->first->next) {
        arena->wanted = 0;
        for (const chunk *c = arena->first; c; c = c->next) arena->wanted += c->size;
        free_chunks(arena->first);
        arena->first = NULL;
    }
    mo_arena_release(arena, 0);
}

size_t mo_arena_mark(const mo_arena *arena) { return arena->used; }

void mo_arena_release(mo_arena *arena, size_t mark)
{
    MO_ASSERT(mark <= arena->used);
    arena->used = mark;
    for (chunk *c = arena->first; c; c = c->next) {
        size_t kept = mark > c->start ? mark - c->start : 0;
        if (kept < c->size) ASAN_POISON_MEMORY_REGION(content_of(c) + kept, c->size - kept);
    }
    if (mark == 0) {
        arena->current = NULL;
        return;
    }
    chunk *c = arena->first;
    while (c != arena->current && mark > c->start + c->size) c = c->next;
    arena->current = c;
}
