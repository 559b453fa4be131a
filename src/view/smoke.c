// Smoke for a browser: the box round all soot as a dense lattice of bytes, coarser where it would be too large.
#include "view/payload.h"
#include <math.h>
#include <string.h>

enum { EDGE = 8 }; // voxels of a leaf

typedef struct lattice {
    int32_t first[3]; // voxel at its low corner
    int32_t n[3];     // cells; 0: there is no soot
    int32_t factor;   // voxels of a cell along each axis
    float *sum;       // [n] of the densities of a cell's voxels
} lattice;

// The density of voxel k of a leaf, and which voxel that is.
static float voxel_of(const mo_vdb *v, int32_t leaf, int32_t k, int32_t x[3])
{
    const int32_t own[3] = {k % EDGE, k / EDGE % EDGE, k / (EDGE * EDGE)};
    for (int a = 0; a < 3; a++) x[a] = EDGE * v->leaf[leaf][a] + own[a];
    return v->grid[0].value[0][(int64_t)leaf * MO_VDB_LEAF + k];
}

static void add_up(const mo_vdb *v, lattice *l)
{
    for (int32_t leaf = 0; leaf < v->leaves; leaf++)
        for (int32_t k = 0; k < MO_VDB_LEAF; k++) {
            int32_t x[3];
            float density = voxel_of(v, leaf, k, x);
            int64_t at = 0;
            if (!(density > 0)) continue;
            for (int a = 2; a >= 0; a--) at = at * l->n[a] + (x[a] - l->first[a]) / l->factor;
            l->sum[at] += density;
        }
}

// A cell round the box is empty, so that smoke fades out where the browser interpolates.
static void find_box(const mo_vdb *v, int32_t most, lattice *l)
{
    int32_t lo[3] = {INT32_MAX, INT32_MAX, INT32_MAX}, hi[3] = {INT32_MIN, INT32_MIN, INT32_MIN}, longest = 0;
    *l = (lattice){.factor = 1};
    for (int32_t leaf = 0; leaf < v->leaves; leaf++)
        for (int32_t k = 0; k < MO_VDB_LEAF; k++) {
            int32_t x[3];
            if (!(voxel_of(v, leaf, k, x) > 0)) continue;
            for (int a = 0; a < 3; a++) lo[a] = x[a] < lo[a] ? x[a] : lo[a], hi[a] = x[a] > hi[a] ? x[a] : hi[a];
        }
    if (lo[0] > hi[0]) return;
    for (int a = 0; a < 3; a++) longest = hi[a] - lo[a] + 1 > longest ? hi[a] - lo[a] + 1 : longest;
    while ((longest + l->factor - 1) / l->factor + 2 > most) l->factor++;
    for (int a = 0; a < 3; a++) {
        l->first[a] = lo[a] - l->factor;
        l->n[a] = (hi[a] - lo[a] + l->factor) / l->factor + 2;
    }
}

mo_status mo_view_pack_smoke(const mo_vdb *density, int32_t most, mo_text *out, mo_error *err)
{
    MO_ASSERT(most > 2);
    lattice l;
    find_box(density, most, &l);
    int64_t cells = (int64_t)l.n[0] * l.n[1] * l.n[2];
    l.sum = mo_calloc(sizeof *l.sum * (size_t)(cells + 1));
    if (!l.sum) return mo_fail_memory(err);
    if (cells) add_up(density, &l);
    float largest = 0, voxels = (float)l.factor * (float)l.factor * (float)l.factor;
    for (int64_t i = 0; i < cells; i++) largest = fmaxf(largest, l.sum[i]);
    mo_payload p = mo_payload_begin(out);
    double corner[3];
    const double origin[3] = {density->origin.x, density->origin.y, density->origin.z};
    for (int a = 0; a < 3; a++) corner[a] = origin[a] + (l.first[a] - 0.5) * density->voxel;
    mo_json_vector(&p.describe, "lo", (mo_vec3){corner[0], corner[1], corner[2]});
    mo_json_vector(&p.describe, "cells", (mo_vec3){l.n[0], l.n[1], l.n[2]});
    mo_json_number(&p.describe, "cell", l.factor * density->voxel);
    mo_json_number(&p.describe, "most", largest / voxels);
    uint8_t *to = mo_payload_array(&p, "density", "u8", cells, cells);
    for (int64_t i = 0; to && i < cells; i++) to[i] = (uint8_t)lrintf(255 * l.sum[i] / largest);
    mo_payload_array_end(&p);
    mo_free(l.sum);
    return mo_payload_end(&p, err);
}
