// Eight numbers at once: particles of a tile, or cells of a row, go through the same interpolation, so they are
// computed together. The operators + - * / of the compiler's vectors work on them, each number by itself, as on plain
// ones. Vectors are passed by address: by value they would need an ABI that machines without AVX lack.
#ifndef MO_LANES_H
#define MO_LANES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

enum { LANES = 8 };
typedef float lanes __attribute__((vector_size(4 * LANES)));
typedef int32_t lane_ints __attribute__((vector_size(4 * LANES)));

// Loads all eight in one instruction. Numbers that were just stored in halves would make it wait.
static inline void lanes_copy_in(const float *from, lanes *to)
{
#ifdef __AVX2__
    *to = _mm256_loadu_ps(from);
#else
    memcpy(to, from, sizeof *to);
#endif
}

// Loads the first `count` numbers; the rest becomes the first of them.
static inline void lanes_load(const float *from, int32_t count, lanes *to)
{
    if (count >= LANES) {
        lanes_copy_in(from, to);
        return;
    }
    *to = from[0] - (lanes){0};
    for (int l = 1; l < count; l++) (*to)[l] = from[l];
}

static inline void lanes_store(const lanes *from, int32_t count, float *to)
{
    if (count >= LANES)
#ifdef __AVX2__
        _mm256_storeu_ps(to, *from);
#else
        memcpy(to, from, sizeof *from);
#endif
    else
        for (int l = 0; l < count; l++) to[l] = (*from)[l];
}

// Keep the smaller and the larger of two, a < b ? a : b and a > b ? a : b.
static inline void lanes_min(const lanes *a, const lanes *b, lanes *out)
{
#ifdef __AVX2__
    *out = _mm256_min_ps(*a, *b);
#else
    lane_ints less = *a < *b;
    *out = (lanes)((less & (lane_ints)*a) | (~less & (lane_ints)*b));
#endif
}

static inline void lanes_max(const lanes *a, const lanes *b, lanes *out)
{
#ifdef __AVX2__
    *out = _mm256_max_ps(*a, *b);
#else
    lane_ints more = *a > *b;
    *out = (lanes)((more & (lane_ints)*a) | (~more & (lane_ints)*b));
#endif
}

// Takes a where `where` is -1, b where it is 0.
static inline void lanes_select(const lane_ints *where, const lanes *a, const lanes *b, lanes *out)
{
#ifdef __AVX2__
    *out = _mm256_blendv_ps(*b, *a, (__m256)*where);
#else
    *out = (lanes)((*where & (lane_ints)*a) | (~*where & (lane_ints)*b));
#endif
}

static inline void lanes_sqrt(const lanes *x, lanes *out)
{
#ifdef __AVX2__
    *out = _mm256_sqrt_ps(*x);
#else
    for (int l = 0; l < LANES; l++) (*out)[l] = sqrtf((*x)[l]);
#endif
}

// Finds the left and the right neighbours of eight numbers in a row; `before` and `behind` stand at its ends.
static inline void lanes_beside(const lanes *row, float before, float behind, lanes *left, lanes *right)
{
#ifdef __AVX2__
    const __m256i down = _mm256_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6), up = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 7);
    *left = _mm256_blend_ps(_mm256_permutevar8x32_ps(*row, down), _mm256_set1_ps(before), 0x01);
    *right = _mm256_blend_ps(_mm256_permutevar8x32_ps(*row, up), _mm256_set1_ps(behind), 0x80);
#else
    for (int l = 1; l < LANES; l++) (*left)[l] = (*row)[l - 1], (*right)[l - 1] = (*row)[l];
    (*left)[0] = before, (*right)[LANES - 1] = behind;
#endif
}

// Bit l of a byte becomes -1 or 0 in lane l, and back.
static inline void lanes_from_bits(unsigned bits, lane_ints *out)
{
    const lane_ints one = {1, 2, 4, 8, 16, 32, 64, 128};
    *out = (one & (int32_t)bits) != 0;
}

static inline unsigned lanes_to_bits(const lane_ints *x)
{
#ifdef __AVX2__
    return (unsigned)_mm256_movemask_ps((__m256)*x);
#else
    unsigned bits = 0;
    for (int l = 0; l < LANES; l++) bits |= (unsigned)((*x)[l] & 1) << l;
    return bits;
#endif
}

// Brings numbers into [0, most]; what is not a number becomes 0.
static inline void lanes_clamp(lanes *x, float most)
{
    lane_ints above = *x > 0;
    lanes bound = most - (lanes){0}, positive = (lanes)(above & (lane_ints)*x);
    lane_ints below = positive < bound;
    *x = (lanes)((below & (lane_ints)positive) | (~below & (lane_ints)bound));
}

// Whether all numbers are at most `bound`; NaN is not.
static inline bool lanes_below(const lanes *x, float bound)
{
    lane_ints below = *x <= bound;
    int32_t all = -1;
    for (int l = 0; l < LANES; l++) all &= below[l];
    return all;
}

// out[l] = {v[0][l], v[1][l], v[2][l], v[3][l]}: the four numbers of eight places, place by place.
typedef float lane_four __attribute__((vector_size(16)));
static inline void lanes_transpose(const lanes v[4], lane_four out[LANES])
{
#ifdef __AVX2__
    __m256 a = _mm256_unpacklo_ps(v[0], v[1]), b = _mm256_unpackhi_ps(v[0], v[1]); // places 0 1 4 5 and 2 3 6 7
    __m256 c = _mm256_unpacklo_ps(v[2], v[3]), d = _mm256_unpackhi_ps(v[2], v[3]);
    const __m256 row[4] = {_mm256_shuffle_ps(a, c, 0x44), _mm256_shuffle_ps(a, c, 0xee), _mm256_shuffle_ps(b, d, 0x44),
                           _mm256_shuffle_ps(b, d, 0xee)};
    for (int l = 0; l < 4; l++) out[l] = _mm256_castps256_ps128(row[l]), out[l + 4] = _mm256_extractf128_ps(row[l], 1);
#else
    for (int l = 0; l < LANES; l++) out[l] = (lane_four){v[0][l], v[1][l], v[2][l], v[3][l]};
#endif
}

// v[2 k] = block[at + offset[k]] and v[2 k + 1] = its right neighbour, for eight places `at`.
static inline void lanes_gather_pairs(const float *block, const lane_ints *at, const int32_t offset[4], lanes v[8])
{
#ifdef __AVX2__
    // Loads of 8 bytes, place by place: the gather instruction of some machines is slower. Places 0 1 4 5 and 2 3 6 7
    // go together, so that one shuffle within halves sorts left from right.
    int32_t place[LANES];
    memcpy(place, at, sizeof place);
    for (int k = 0; k < 4; k++) {
        const float *b = block + offset[k];
#define PAIRS(i, j)                                                                                                    \
    _mm_loadh_pi(_mm_loadl_pi(_mm_setzero_ps(), (const __m64 *)(const void *)(b + place[i])),                          \
                 (const __m64 *)(const void *)(b + place[j]))
        __m256 outer = _mm256_set_m128(PAIRS(4, 5), PAIRS(0, 1)), inner = _mm256_set_m128(PAIRS(6, 7), PAIRS(2, 3));
#undef PAIRS
        v[2 * k] = _mm256_shuffle_ps(outer, inner, 0x88), v[2 * k + 1] = _mm256_shuffle_ps(outer, inner, 0xdd);
    }
#else
    for (int k = 0; k < 4; k++)
        for (int l = 0; l < LANES; l++) {
            const float *b = block + (*at)[l] + offset[k];
            v[2 * k][l] = b[0], v[2 * k + 1][l] = b[1];
        }
#endif
}

#endif
