// Regions: memory for large blocks that is kept while someone holds it (mo_memory_hold).
//
// Every step allocates and frees about the same large blocks: matrices, hierarchies, lists. The C library gives such
// memory back to the system, which hands it out again page by page, zeroed: a sixth of the time of a step. So large
// blocks are pieces of regions. Pieces lie side by side, and one that is freed joins free neighbours. A block takes the
// smallest piece that is large enough; taking the first one needed a fifth more memory. Pages of a region that no block
// has reached are not touched.
#ifndef MO_REGION_H
#define MO_REGION_H

#include "base/base.h"

// Sanitizers watch blocks of the C library only, so under them no block is a piece of a region.
#if defined(__SANITIZE_ADDRESS__)
#define MO_ADDRESS_SANITIZED 1
#elif defined(__has_feature)
#define MO_ADDRESS_SANITIZED __has_feature(address_sanitizer)
#else
#define MO_ADDRESS_SANITIZED 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MO_SANITIZED 1
#elif defined(__has_feature)
#define MO_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define MO_SANITIZED 0
#endif

// The memory of which regions are made.
typedef struct mo_region_source {
    void *(*get)(size_t bytes); // NULL: none left
    void (*give)(void *raw);
} mo_region_source;

enum { MO_REGION_ALIGNMENT = 64, MO_REGION_HEADER = 64 }; // bytes in front of a block that are the regions'

typedef struct mo_regions { // for one thread at a time
    mo_region_source source;
    struct mo_region *first;
    struct mo_piece *free; // by address
    size_t size;           // of all regions
} mo_regions;

void *mo_regions_take(mo_regions *r, size_t bytes); // NULL: no memory
void mo_regions_give(mo_regions *r, void *block);
void mo_regions_drop(mo_regions *r); // gives back the regions in which nothing is in use

#endif
