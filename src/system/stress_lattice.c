// The lattice of a viscous liquid's faces: their places, the variable that is smooth on them, and the faces of slender
// parts.
//
// Slender: in no cell of the opening of the liquid (and the solids it sticks to) by a box of 5 cells, grown by one
// more; likewise on the next coarser level, with 9 cells and two. Coarse grids lock in the bending of such parts.
#include "system/solid_rows.h"
#include "system/stress_faces.h"
#include <string.h>

enum { ERODE = 2, DILATE = 3, HALO = 6, EDGE = 8 + 2 * HALO, BLOCK = EDGE * EDGE * EDGE };

// Least (or largest) value within `reach` <= HALO cells along every axis, right inside the halo of a block of EDGE^3.
static void spread(uint8_t *block, uint8_t *work, int axes, int reach, bool least)
{
    MO_ASSERT(axes == 2 || axes == 3);
    static const int stride[3] = {1, EDGE, EDGE * EDGE};
    for (int pass = 0; pass < reach; pass++)
        for (int a = 0; a < axes; a++) {
            int s = stride[a];
            memcpy(work, block, BLOCK);
            for (int i = s; i < BLOCK - s; i++)
                block[i] = least ? work[i - s] & work[i] & work[i + s] : work[i - s] | work[i] | work[i + s];
        }
}

// out = the inside of every tile of `field`, eroded or dilated; only where `mask` is set (NULL: everywhere).
static void morph(const mo_grid *g, const uint8_t *field, const uint8_t *mask, int reach, bool erode, uint8_t *out)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) {
        uint8_t block[BLOCK], work[BLOCK];
        mo_grid_block_u8(g, field, t, HALO, 0, block);
        if (memchr(block, !erode, BLOCK)) spread(block, work, mo_grid_axes(g), reach, erode);
        for (int32_t l = 0; l < MO_TILE_CELLS; l++) {
            int32_t at = (l & 7) + HALO + EDGE * ((l >> 3 & 7) + HALO + EDGE * ((l >> 6) + HALO)),
                    i = t * MO_TILE_CELLS + l;
            out[i] = block[at] && (!mask || mask[i]);
        }
    }
}

static mo_status find_slender(const mo_stress_def *d, mo_arena *arena, const mo_liquid_system *s, mo_face_lattice *l)
{
    const mo_grid *g = d->grid;
    int64_t cells = mo_grid_cells(g);
    uint8_t *active = MO_ARENA_ARRAY(arena, uint8_t, cells + 1), *filled = MO_ARENA_ARRAY(arena, uint8_t, cells + 1),
            *core = MO_ARENA_ARRAY(arena, uint8_t, cells + 1), *open = MO_ARENA_ARRAY(arena, uint8_t, cells + 1);
    if (!active || !filled || !core || !open) return MO_ERROR_MEMORY;
    memset(active, 0, (size_t)cells);
    for (int32_t r = 0; r < s->system.block[MO_BLOCK_STRESS]->rows; r++)
        if (mo_stress_component(s->sample_at[r]) < MO_STRESS_YZ) active[mo_stress_cell(s->sample_at[r])] = 1;
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < (int32_t)cells; i++)
        filled[i] =
            active[i] || (mo_weight_liquid(d, MO_SAMPLE_CELL, i) > 0 && mo_weight_fluid(d, MO_SAMPLE_CELL, i) <= 0);
    memset(l->slender, 0, (size_t)s->system.faces.count);
    for (int twice = 2; twice >= 1; twice--) { // on the next level, on the finest
        morph(g, filled, active, ERODE * twice, true, core);
        morph(g, core, NULL, DILATE * twice, false, open);
        for (int32_t f = 0; f < s->system.faces.count; f++) {
            int32_t i = mo_face_sample(s->face_at[f]), before = mo_grid_step(g, i, mo_face_axis(s->face_at[f]), -1);
            if (!open[i] && !(before >= 0 && open[before])) l->slender[f] = (uint8_t)twice;
        }
    }
    return MO_OK;
}

// ---- The solids' parts of faces ----

typedef struct taken {
    const mo_stress_def *d;
    const mo_liquid_system *s;
    mo_cover_index index;
} taken;

static void take_face(const void *user, int32_t f, mo_solid_row *row)
{
    const taken *c = user;
    int32_t at = mo_face_sample(c->s->face_at[f]), axis = mo_face_axis(c->s->face_at[f]), tile = at / MO_TILE_CELLS;
    for (int32_t q = c->index.first[tile]; q < c->index.first[tile + 1]; q++) {
        const mo_cover *cover = &c->index.cover[q];
        double share[2];
        if (!mo_solid_moves(c->d->solids, cover->solid) || cover->part[axis][at % MO_TILE_CELLS] <= 0) continue;
        mo_stress_shares(c->d, MO_FACE_FREE, cover, axis, at % MO_TILE_CELLS, share);
        if (share[1] > 0) mo_cover_add(row, &c->index, cover->solid, at, axis, share[1]);
    }
}

static mo_status take_faces(const mo_stress_def *d, mo_arena *arena, const mo_liquid_system *s, mo_face_lattice *l,
                            mo_error *err)
{
    taken c = {.d = d, .s = s};
    if (!d->solids || !d->solids->body) return MO_OK;
    MO_TRY(mo_cover_index_create(d->grid, d->solids, d->weights->cover, d->weights->covers, arena, &c.index, err));
    return mo_solid_rows_create(s->system.faces.count, d->solids, take_face, &c, l->on);
}

// ---- Lattice ----

// The traceless rows of a cell are 2 eta WL/WF (D:D - div^2/d). This finds the part that the last term takes away.
static void find_traces(const mo_stress_def *d, const mo_liquid_system *s, mo_face_lattice *l)
{
    const mo_block *p = s->system.block[MO_BLOCK_PRESSURE], *v = s->system.block[MO_BLOCK_STRESS];
    int32_t next = 0;
    for (int32_t r = 0; r < p->rows; r++) { // both ascend by cell
        int32_t i = s->cell_at[r];
        while (next < v->rows && s->sample_at[next] < mo_stress_code(i, 0)) next++;
        bool there = d->reduced && next < v->rows && s->sample_at[next] == mo_stress_code(i, MO_STRESS_XX);
        double WL = there ? mo_stress_liquid(d, MO_SAMPLE_CELL, i) : 0;
        l->strain[r] = there ? next : -1, l->trace[r] = 2 * WL * WL / l->axes;
    }
}

mo_status mo_stress_lattice(const mo_stress_def *d, mo_arena *arena, mo_liquid_system *out, mo_error *err)
{
    mo_system *y = &out->system;
    size_t faces = (size_t)y->faces.count, rows = (size_t)y->block[MO_BLOCK_PRESSURE]->rows;
    mo_face_lattice *l = y->lattice = mo_calloc(sizeof *l);
    if (!l) return mo_fail_memory(err);
    l->axes = mo_grid_axes(d->grid);
    l->dx = d->grid->dx, l->origin = mo_grid_world(d->grid, 0, 0, 0);
    l->face = mo_alloc(sizeof *l->face * faces), l->open = mo_alloc(sizeof(double) * faces);
    l->slender = mo_alloc(faces), l->strain = mo_alloc(sizeof(int32_t) * rows);
    l->trace = mo_alloc(sizeof(double) * rows);
    if (!l->face || !l->open || !l->slender || !l->strain || !l->trace) return mo_fail_memory(err);
    for (int32_t f = 0; f < y->faces.count; f++) {
        int32_t i = mo_face_sample(out->face_at[f]), axis = mo_face_axis(out->face_at[f]);
        mo_grid_cell(d->grid, i, l->face[f]);
        l->face[f][3] = axis;
        l->open[f] = mo_stress_fluid(d, MO_SAMPLE_FACE + axis, i);
    }
    find_traces(d, out, l);
    if (find_slender(d, arena, out, l) != MO_OK || take_faces(d, arena, out, l, err) != MO_OK)
        return mo_fail_memory(err);
    return MO_OK;
}
