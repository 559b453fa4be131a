// Parallel helpers whose results do not depend on the number of threads: sums over fixed blocks in fixed order, stable
// sorting by key, prefix sums. Loops elsewhere use OpenMP directly over outputs they own.
#ifndef MO_PARALLEL_H
#define MO_PARALLEL_H

#include "base/base.h"

int32_t mo_thread_count(void); // threads the next parallel region would use
// 0 = all cores; for the calling thread. Fewer where the system does not have so many: OpenMP would end the program.
void mo_use_threads(int32_t threads);
// Fails if there are none left for Embree, whose scheduler starts a thread and ends the program where it cannot.
mo_status mo_need_threads(mo_error *err);
void mo_check_threads(void); // the same for those that would be used anyway; before the first parallel region

// Reproducible reductions of n items.
double mo_sum(int64_t n, const double *a);
double mo_dot_product(int64_t n, const double *a, const double *b);
double mo_max_abs(int64_t n, const double *a);

// Exclusive prefix sum in place; returns the total. a has n entries.
int64_t mo_prefix_sum(int64_t n, int32_t *a);

// Stable counting sort of n items by key in [0, keys): start[k] .. start[k+1] are the sorted places of key k, and
// order[place] = item. start has keys + 1 entries. Work arrays come from the arena. False = no memory.
bool mo_counting_sort(int64_t n, const int32_t *key, int32_t keys, int32_t *start, int32_t *order, mo_arena *arena);

// A well mixed 32-bit hash of three integers, and a number in [0, 1) made of it.
static inline uint32_t mo_hash(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t h = a * 0x9e3779b1u ^ (b + 0x7f4a7c15u) * 0x85ebca6bu ^ (c + 0x165667b1u) * 0xc2b2ae35u;
    h ^= h >> 16, h *= 0x7feb352du, h ^= h >> 15, h *= 0x846ca68bu, h ^= h >> 16;
    return h;
}
static inline double mo_unit(uint32_t hash) { return (hash >> 8) * (1.0 / 16777216.0); }

#endif
