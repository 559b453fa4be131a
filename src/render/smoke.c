// Smoke: a sparse field of extinction, with the largest value of every leaf for tracking.
#include "render/smoke.h"
#include "base/base.h"
#include <math.h>
#include <string.h>

enum { EDGE = 8, BLOCK = 4, PER_LEAF = EDGE / BLOCK }; // voxels of a leaf and of a block; blocks of a leaf

struct mo_smoke {
    mo_vec3f origin; // m, the low corner of the first leaf of the table
    float voxel;     // m
    int32_t n[3];    // leaves of the table
    int32_t *table;  // [n] leaf or -1
    float *value;    // [512 * leaves] 1/m
    float *most;     // [blocks of the table] the largest value within a voxel of the block
    float *clear;    // [512 * leaves] the part of the sun's light that arrives at a voxel; NULL: not asked for
};

// ---- The field ----

static int32_t leaf_at(const mo_smoke *s, int32_t x, int32_t y, int32_t z)
{
    if ((uint32_t)x >= (uint32_t)s->n[0] || (uint32_t)y >= (uint32_t)s->n[1] || (uint32_t)z >= (uint32_t)s->n[2])
        return -1;
    return s->table[x + (int64_t)s->n[0] * (y + (int64_t)s->n[1] * z)];
}

static float voxel_at(const mo_smoke *s, int32_t x, int32_t y, int32_t z)
{
    int32_t leaf = leaf_at(s, x >> 3, y >> 3, z >> 3);
    return leaf < 0 ? 0 : s->value[(int64_t)leaf * MO_VDB_LEAF + (x & 7) + EDGE * ((y & 7) + EDGE * (z & 7))];
}

static float mix(float a, float b, float t) { return a + t * (b - a); }

// The eight voxels round a place lie in one leaf, most of the time.
static float interpolate_in(const float *v, float fx, float fy, float fz)
{
    enum { Y = EDGE, Z = EDGE * EDGE };
    float low = mix(mix(v[0], v[1], fx), mix(v[Y], v[Y + 1], fx), fy);
    float high = mix(mix(v[Z], v[Z + 1], fx), mix(v[Z + Y], v[Z + Y + 1], fx), fy);
    return mix(low, high, fz);
}

// Trilinear between the centres of voxels; x in voxels from the table's low corner.
static float interpolate(const mo_smoke *s, mo_vec3f x)
{
    float px = x.x - 0.5f, py = x.y - 0.5f, pz = x.z - 0.5f;
    int32_t i = (int32_t)floorf(px), j = (int32_t)floorf(py), k = (int32_t)floorf(pz);
    float fx = px - (float)i, fy = py - (float)j, fz = pz - (float)k, plane[2];
    if ((i & 7) < 7 && (j & 7) < 7 && (k & 7) < 7) {
        int32_t leaf = leaf_at(s, i >> 3, j >> 3, k >> 3), at = (i & 7) + EDGE * ((j & 7) + EDGE * (k & 7));
        return leaf < 0 ? 0 : interpolate_in(s->value + (int64_t)leaf * MO_VDB_LEAF + at, fx, fy, fz);
    }
    for (int c = 0; c < 2; c++) {
        float low = mix(voxel_at(s, i, j, k + c), voxel_at(s, i + 1, j, k + c), fx);
        float high = mix(voxel_at(s, i, j + 1, k + c), voxel_at(s, i + 1, j + 1, k + c), fx);
        plane[c] = mix(low, high, fy);
    }
    return mix(plane[0], plane[1], fz);
}

static mo_vec3f to_voxels(const mo_smoke *s, mo_vec3f x) { return mo_f3_scale(1 / s->voxel, mo_f3_sub(x, s->origin)); }

float mo_smoke_at(const mo_smoke *s, mo_vec3f x) { return interpolate(s, to_voxels(s, x)); }

// ---- Making it ----

// Leaves round those with soot are part of the table too: interpolation reaches into them by half a voxel.
static void find_table(const mo_vdb *v, int32_t first[3], int32_t n[3])
{
    int32_t last[3];
    for (int a = 0; a < 3; a++) {
        first[a] = v->leaf[0][a], last[a] = v->leaf[0][a];
        for (int32_t l = 1; l < v->leaves; l++) {
            if (v->leaf[l][a] < first[a]) first[a] = v->leaf[l][a];
            if (v->leaf[l][a] > last[a]) last[a] = v->leaf[l][a];
        }
        first[a]--, n[a] = last[a] + 2 - first[a];
    }
}

// The largest value of a block's voxels and of those beside it: what interpolation in it can give.
static float most_of(const mo_smoke *s, int32_t x, int32_t y, int32_t z)
{
    float most = 0;
    for (int32_t k = BLOCK * z - 1; k <= BLOCK * (z + 1); k++)
        for (int32_t j = BLOCK * y - 1; j <= BLOCK * (y + 1); j++)
            for (int32_t i = BLOCK * x - 1; i <= BLOCK * (x + 1); i++) most = fmaxf(most, voxel_at(s, i, j, k));
    return most;
}

static int64_t block_index(const mo_smoke *s, int32_t x, int32_t y, int32_t z)
{
    return x + (int64_t)PER_LEAF * s->n[0] * (y + (int64_t)PER_LEAF * s->n[1] * z);
}

static void find_most(mo_smoke *s)
{
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t z = 0; z < PER_LEAF * s->n[2]; z++)
        for (int32_t y = 0; y < PER_LEAF * s->n[1]; y++)
            for (int32_t x = 0; x < PER_LEAF * s->n[0]; x++) s->most[block_index(s, x, y, z)] = most_of(s, x, y, z);
}

static mo_status fill(mo_smoke *s, const mo_vdb *v, double extinction, mo_error *err)
{
    int32_t first[3];
    find_table(v, first, s->n);
    int64_t places = (int64_t)s->n[0] * s->n[1] * s->n[2];
    if (places > 1 << 25) return mo_fail(err, MO_ERROR_INPUT, "the smoke is spread too far to be shown");
    s->table = mo_alloc(sizeof(int32_t) * (size_t)places);
    s->most = mo_alloc(sizeof(float) * PER_LEAF * PER_LEAF * PER_LEAF * (size_t)places);
    s->value = mo_alloc(sizeof(float) * MO_VDB_LEAF * (size_t)v->leaves);
    bool all = s->table && s->most && s->value;
    if (all) {
        memset(s->table, 0xff, sizeof(int32_t) * (size_t)places);
        for (int32_t l = 0; l < v->leaves; l++) {
            const int32_t at[3] = {v->leaf[l][0] - first[0], v->leaf[l][1] - first[1], v->leaf[l][2] - first[2]};
            s->table[at[0] + (int64_t)s->n[0] * (at[1] + (int64_t)s->n[1] * at[2])] = l;
            for (int64_t i = (int64_t)l * MO_VDB_LEAF; i < (int64_t)(l + 1) * MO_VDB_LEAF; i++)
                s->value[i] = fmaxf((float)(extinction * (double)v->grid->value[0][i]), 0);
        }
        find_most(s);
        s->voxel = (float)v->voxel;
        mo_vec3 low = v->origin;
        double step = v->voxel;
        s->origin =
            mo_f3((float)(low.x + step * (EDGE * first[0] - 0.5)), (float)(low.y + step * (EDGE * first[1] - 0.5)),
                  (float)(low.z + step * (EDGE * first[2] - 0.5)));
    }
    return all ? MO_OK : mo_fail_memory(err);
}

mo_status mo_smoke_create(const mo_vdb *density, double extinction, mo_smoke **out, mo_error *err)
{
    MO_ASSERT(density->grids == 1 && density->grid->components == 1);
    *out = NULL;
    if (density->leaves == 0) return MO_OK;
    mo_smoke *s = mo_calloc(sizeof *s);
    if (!s) return mo_fail_memory(err);
    mo_status status = fill(s, density, extinction, err);
    if (status != MO_OK)
        mo_smoke_destroy(s);
    else
        *out = s;
    return status;
}

void mo_smoke_destroy(mo_smoke *s)
{
    if (!s) return;
    mo_free(s->table), mo_free(s->value), mo_free(s->most), mo_free(s->clear);
    mo_free(s);
}

// ---- Along a ray ----

typedef struct walk { // through the blocks that a ray meets; lengths in voxels
    const mo_smoke *s;
    mo_vec3f o, d;
    float at, end; // along the ray: where the present block begins, and where the ray leaves the table
    float next[3]; // where it meets the next block along each axis
    float step[3];
    int32_t block[3], turn[3];
    uint32_t seed;
} walk;

static float get(mo_vec3f v, int a) { return a == 0 ? v.x : a == 1 ? v.y : v.z; }

// Numbers that depend on pixel, path and place in the path alone.
static float random_unit(walk *w)
{
    w->seed = w->seed * 747796405u + 2891336453u;
    uint32_t x = ((w->seed >> ((w->seed >> 28) + 4)) ^ w->seed) * 277803737u;
    return (float)((x >> 22 ^ x) >> 8) * 0x1p-24f;
}

// far: in voxels, as all that a walk knows.
static bool enter(walk *w, const mo_smoke *s, mo_vec3f o, mo_vec3f d, float far)
{
    *w = (walk){.s = s, .o = o, .d = d, .end = far};
    for (int a = 0; a < 3; a++) { // the part of the ray inside the table
        float inverse = 1 / get(d, a), near = -get(w->o, a) * inverse, leave = near + (float)(EDGE * s->n[a]) * inverse;
        if (get(d, a) == 0) {
            if (get(w->o, a) < 0 || get(w->o, a) > (float)(EDGE * s->n[a])) return false;
            continue;
        }
        w->at = fmaxf(w->at, fminf(near, leave)), w->end = fminf(w->end, fmaxf(near, leave));
    }
    if (!(w->at < w->end)) return false;
    for (int a = 0; a < 3; a++) {
        float x = get(w->o, a) + w->at * get(d, a), inverse = 1 / get(d, a);
        int32_t block = (int32_t)floorf(x / BLOCK), last = PER_LEAF * s->n[a] - 1;
        w->block[a] = block < 0 ? 0 : block > last ? last : block;
        w->turn[a] = get(d, a) > 0 ? 1 : -1;
        w->step[a] = get(d, a) == 0 ? INFINITY : BLOCK * fabsf(inverse);
        float plane = (float)(BLOCK * (w->block[a] + (get(d, a) > 0)));
        w->next[a] = get(d, a) == 0 ? INFINITY : (plane - get(w->o, a)) * inverse;
    }
    return true;
}

static bool enter_by_chance(walk *w, const mo_smoke *s, mo_vec3f o, mo_vec3f d, float far, mo_sampler *sampler)
{
    uint32_t seed = mo_hash(sampler->pixel, sampler->index, 0x5307e5u + sampler->pair++);
    bool entered = enter(w, s, to_voxels(s, o), d, far / s->voxel);
    w->seed = seed;
    return entered;
}

static float most_here(const walk *w) { return w->s->most[block_index(w->s, w->block[0], w->block[1], w->block[2])]; }

static float border_of(const walk *w) { return fminf(w->end, fminf(w->next[0], fminf(w->next[1], w->next[2]))); }

// Goes on to the next block; false: there is none.
static bool next_block(walk *w, float reached)
{
    int a = w->next[0] < w->next[1] ? w->next[0] < w->next[2] ? 0 : 2 : w->next[1] < w->next[2] ? 1 : 2;
    w->at = reached, w->block[a] += w->turn[a], w->next[a] += w->step[a];
    return w->at < w->end && w->block[a] >= 0 && w->block[a] < PER_LEAF * w->s->n[a];
}

// The next place where a medium as dense everywhere as the block's largest value would be met; false: the ray is out.
// *part: how dense it is there, of that value.
static bool next_meeting(walk *w, float *part)
{
    for (;;) {
        const mo_smoke *s = w->s;
        float most = most_here(w) * s->voxel, border = border_of(w);
        float met = most > 0 ? w->at - logf(1 - random_unit(w)) / most : INFINITY;
        if (met < border) {
            w->at = met;
            *part = interpolate(s, mo_f3_mad(w->o, met, w->d)) * s->voxel / most;
            return true;
        }
        if (!next_block(w, border)) return false;
    }
}

float mo_smoke_meet(const mo_smoke *s, mo_vec3f o, mo_vec3f d, float far, mo_sampler *sampler)
{
    walk w;
    float part;
    if (!s || !enter_by_chance(&w, s, o, d, far, sampler)) return INFINITY;
    while (next_meeting(&w, &part))
        if (random_unit(&w) < part) return w.at * s->voxel;
    return INFINITY;
}

float mo_smoke_passes(const mo_smoke *s, mo_vec3f o, mo_vec3f d, float far, mo_sampler *sampler)
{
    walk w;
    float part, passes = 1;
    if (!s || !enter_by_chance(&w, s, o, d, far, sampler)) return 1;
    while (next_meeting(&w, &part)) {
        passes *= 1 - part;
        if (passes >= 0.1f) continue;
        if (random_unit(&w) < 0.5f) return 0; // most of it is gone: half of the rest, or twice
        passes *= 2;
    }
    return passes;
}

// ---- The sun's light, found once for all paths ----

// The depth of soot between a place and the sun, in mean free paths; steps are of a voxel at most.
static float depth_to(const mo_smoke *s, mo_vec3f o, mo_vec3f d)
{
    const float dark = 12;
    walk w;
    float sum = 0, border;
    if (!enter(&w, s, o, d, INFINITY)) return 0;
    do {
        border = border_of(&w);
        float steps = most_here(&w) > 0 ? ceilf(border - w.at) : 0, h = (border - w.at) / steps;
        for (float k = 0.5f; k < steps; k++) sum += h * s->voxel * interpolate(s, mo_f3_mad(o, w.at + k * h, d));
    } while (sum < dark && next_block(&w, border));
    return sum;
}

static void light_leaf(mo_smoke *s, int32_t x, int32_t y, int32_t z, mo_vec3f sun)
{
    int32_t leaf = leaf_at(s, x, y, z);
    for (int32_t i = 0; i < MO_VDB_LEAF && leaf >= 0; i++) {
        mo_vec3f at = {(float)(EDGE * x + (i & 7)) + 0.5f, (float)(EDGE * y + (i >> 3 & 7)) + 0.5f,
                       (float)(EDGE * z + (i >> 6)) + 0.5f};
        s->clear[(int64_t)leaf * MO_VDB_LEAF + i] = expf(-depth_to(s, at, sun));
    }
}

mo_status mo_smoke_light(mo_smoke *s, mo_vec3f sun, mo_error *err)
{
    if (!s) return MO_OK;
    int32_t leaves = 0, planes = s->n[1] * s->n[2];
    for (int64_t i = 0; i < (int64_t)s->n[0] * planes; i++) leaves += s->table[i] >= 0;
    mo_free(s->clear);
    s->clear = mo_alloc(sizeof(float) * MO_VDB_LEAF * (size_t)leaves + 1);
    if (!s->clear) return mo_fail_memory(err);
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t p = 0; p < planes; p++)
        for (int32_t x = 0; x < s->n[0]; x++) light_leaf(s, x, p % s->n[1], p / s->n[1], sun);
    return MO_OK;
}

// Between voxels; those that do not exist have no part in it.
float mo_smoke_clear(const mo_smoke *s, mo_vec3f place)
{
    mo_vec3f x = to_voxels(s, place);
    float sum = 0, all = 0, f[3];
    int32_t low[3];
    for (int a = 0; a < 3; a++) {
        float at = get(x, a) - 0.5f;
        low[a] = (int32_t)floorf(at), f[a] = at - (float)low[a];
    }
    for (int c = 0; c < 8; c++) {
        int32_t i = low[0] + (c & 1), j = low[1] + (c >> 1 & 1), k = low[2] + (c >> 2);
        int32_t leaf = leaf_at(s, i >> 3, j >> 3, k >> 3);
        if (leaf < 0) continue;
        float weight = (c & 1 ? f[0] : 1 - f[0]) * (c & 2 ? f[1] : 1 - f[1]) * (c & 4 ? f[2] : 1 - f[2]);
        sum += weight * s->clear[(int64_t)leaf * MO_VDB_LEAF + (i & 7) + EDGE * ((j & 7) + EDGE * (k & 7))];
        all += weight;
    }
    return all > 0 ? sum / all : 1;
}
