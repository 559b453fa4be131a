// Numbers in [0, 1) for path `index` of a pixel. They are pairs of an Owen-scrambled Sobol sequence, scrambled anew for
// every pair of dimensions and every pixel (Burley 2020). They depend on pixel, index and dimension only, so a picture
// is the same for any number of threads.
#ifndef MO_SAMPLER_H
#define MO_SAMPLER_H

#include "base/parallel.h"

typedef struct mo_sampler {
    uint32_t pixel, index, pair;
} mo_sampler;

static inline uint32_t mo_reverse_bits(uint32_t x)
{
    x = __builtin_bswap32(x);
    x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
    x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
    return (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
}

// Owen's scrambling of a number whose bits are in reverse order.
static inline uint32_t mo_scramble_reversed(uint32_t x, uint32_t seed)
{
    x += seed;
    x ^= x * 0x6c50b47cu;
    x ^= x * 0xb82f1e52u;
    x ^= x * 0xc7afe638u;
    x ^= x * 0x8d22f6e6u;
    return x;
}

static inline void mo_sample_pair(mo_sampler *s, float *u, float *v)
{
    uint32_t seed = mo_hash(s->pixel, 0x51ed27u, s->pair++);
    // The index reversed and scrambled is the reversed shuffled index: the first coordinate before its own scrambling.
    uint32_t first = mo_scramble_reversed(mo_reverse_bits(s->index), seed);
    // The second coordinate multiplies the index by Pascal's triangle modulo 2.
    uint32_t second = mo_reverse_bits(first);
    second ^= (second & 0xaaaaaaaau) >> 1;
    second ^= (second & 0xccccccccu) >> 2;
    second ^= (second & 0xf0f0f0f0u) >> 4;
    second ^= (second & 0xff00ff00u) >> 8;
    second ^= (second & 0xffff0000u) >> 16;
    uint32_t a = mo_reverse_bits(mo_scramble_reversed(mo_reverse_bits(first), seed * 0x9e3779b1u + 1));
    uint32_t b = mo_reverse_bits(mo_scramble_reversed(second, seed * 0x85ebca6bu + 2));
    *u = (float)(a >> 8) * 0x1p-24f;
    *v = (float)(b >> 8) * 0x1p-24f;
}

#endif
