// The entries of solids that the solve moves in the rows of viscous liquids, and the slits between them (slits.h).
#include "system/solid_rows.h"
#include "system/stress_assembly.h"
#include <string.h>

typedef struct coupling {
    const mo_stress_assembly *s;
    const mo_liquid_system *out;
    mo_cover_index index;
    bool stress;
    mo_slit_rows slits;
} coupling;

typedef struct liquid_row { // of a pressure or stress: the terms that it is made of
    const coupling *c;
    int32_t cell[3], terms;
    int sample; // MO_SAMPLE_CELL or an edge
    mo_stress_term term[MO_STRESS_ENTRIES];
    double factor; // of every term, 1/m
} liquid_row;

// The contribution of a solid to a row by one term, as mo_stress_row_entries counts solids. Boxes round faces on walls
// reach into bodies, but nothing passes there.
static double given(const liquid_row *w, const mo_stress_term *t, const mo_cover *cover)
{
    const mo_stress_assembly *s = w->c->s;
    const mo_stress_def *d = s->d;
    int32_t l = t->at % MO_TILE_CELLS, cell[3];
    if (!mo_solid_moves(d->solids, cover->solid) || cover->part[t->axis][l] <= 0) return 0;
    mo_grid_cell(s->g, t->at, cell);
    if (mo_stress_on_wall(d, cell, t->axis) || (d->fixed && d->fixed[t->axis][t->at])) return 0;
    double share[2];
    mo_stress_shares(d, s->state[t->axis][t->at], cover, t->axis, l, share);
    return w->factor * t->sign * share[w->c->stress];
}

// Stress does not act on the surface of a solid along which liquid slips.
static bool has_pieces(const liquid_row *w, int32_t solid)
{
    const mo_solid_set *solids = w->c->s->d->solids;
    if (w->c->stress && solids->slip && solids->slip[solid]) return false;
    return mo_has_pieces(solids, solid, w->sample, w->cell);
}

// Adds the parts that solids take of the faces of a row.
static void add_faces(const liquid_row *w, mo_solid_row *r)
{
    const mo_cover_index *index = &w->c->index;
    for (int k = 0; k < w->terms; k++) {
        const mo_stress_term *t = &w->term[k];
        int32_t tile = t->at / MO_TILE_CELLS;
        for (int32_t q = index->first[tile]; q < index->first[tile + 1]; q++) {
            double value = given(w, t, &index->cover[q]);
            if (value == 0 || has_pieces(w, index->cover[q].solid)) continue;
            mo_cover_add(r, index, index->cover[q].solid, t->at, t->axis, value);
        }
    }
}

// The row in the form that the pieces of a solid's surface need. Terms come in pairs, the two faces of one axis on both
// sides of the sample; the direction out of the solid has the opposite sign of the face beyond it.
static mo_piece_row piece_row_of(const liquid_row *w, int32_t solid)
{
    const mo_cover_index *index = &w->c->index;
    mo_piece_row out = {.axes = w->c->s->axes};
    bool edge = w->sample != MO_SAMPLE_CELL;
    for (int k = 0; k < w->terms; k++) {
        const mo_stress_term *t = &w->term[k];
        int32_t tile = t->at / MO_TILE_CELLS;
        for (int32_t q = index->first[tile]; q < index->first[tile + 1]; q++)
            if (index->cover[q].solid == solid) out.sum[t->axis] += given(w, t, &index->cover[q]);
        if (k % 2 == edge) continue; // cells have the far face second, edges first
        out.normal[t->axis] = edge ? w->term[(k + 2) % 4].axis : t->axis;
        out.factor[t->axis] = -w->factor * t->sign;
    }
    return out;
}

static void add_pieces(const liquid_row *w, mo_solid_row *r)
{
    const mo_solid_set *solids = w->c->s->d->solids;
    for (int32_t k = 0; solids->pieces && k < solids->count; k++) {
        if (!has_pieces(w, k)) continue;
        mo_piece_row of = piece_row_of(w, k);
        mo_pieces_add(r, solids, k, w->sample, w->cell, &of);
    }
}

static void couple_cell(const void *user, int32_t cell, mo_solid_row *r)
{
    liquid_row w = {.c = user, .sample = MO_SAMPLE_CELL};
    const mo_stress_assembly *s = w.c->s;
    mo_grid_cell(s->g, cell, w.cell);
    w.terms = mo_stress_pressure_terms(s, cell, w.term), w.factor = 1 / s->g->dx;
    add_pieces(&w, r), add_faces(&w, r);
}

static void couple_stress(const coupling *c, int32_t i, int kind, mo_solid_row *r)
{
    liquid_row w = {.c = c, .sample = mo_stress_sample_kind(kind)};
    mo_grid_cell(c->s->g, i, w.cell);
    w.terms = mo_stress_strain_terms(c->s, i, kind, w.term);
    w.factor = mo_stress_liquid(c->s->d, w.sample, i) / c->s->g->dx;
    add_pieces(&w, r), add_faces(&w, r);
}

static void couple_row(const void *user, int32_t at, mo_solid_row *r)
{
    const coupling *c = user;
    if (c->stress) {
        couple_stress(c, mo_stress_cell(c->out->sample_at[at]), mo_stress_component(c->out->sample_at[at]), r);
        return;
    }
    couple_cell(c, c->out->cell_at[at], r);
    mo_slit_rows_add(&c->slits, at, r);
}

static double swept_in(const void *user, int32_t cell)
{
    const coupling *c = user;
    mo_stress_term t[MO_STRESS_ENTRIES];
    mo_stress_entry e[MO_STRESS_ENTRIES];
    double swept;
    mo_stress_row_entries(c->s, t, mo_stress_pressure_terms(c->s, cell, t), 1, false, e, &swept);
    return swept;
}

// Cells beside slits that have liquid but no row, because all of their faces move with solids, belong to them.
static mo_status widen_slits(const mo_stress_assembly *s, const int32_t *row, mo_arena *arena, mo_slits *slits,
                             mo_error *err)
{
    enum { LAYERS = 2 };
    const mo_slits *own = s->d->slits;
    int32_t room = own->count * 13 + 1, first = 0; // a cell has at most four others beside it, and those two more each
    uint8_t *taken = MO_ARENA_ARRAY(arena, uint8_t, mo_grid_cells(s->g) + 1);
    int32_t *cell = MO_ARENA_ARRAY(arena, int32_t, room);
    uint8_t *along = MO_ARENA_ARRAY(arena, uint8_t, room);
    mo_vec3 *surface = MO_ARENA_ARRAY(arena, mo_vec3, room);
    if (!taken || !cell || !along || !surface) return mo_fail_memory(err);
    memset(taken, 0, (size_t)mo_grid_cells(s->g));
    int32_t count = own->count;
    memcpy(cell, own->cell, sizeof *cell * (size_t)count);
    memcpy(along, own->along, sizeof *along * (size_t)count);
    memcpy(surface, own->surface, sizeof *surface * (size_t)count);
    for (int32_t k = 0; k < count; k++) taken[cell[k]] = 1;
    for (int layer = 0; layer < LAYERS; layer++) {
        int32_t end = count;
        for (; first < end; first++)
            for (int e = 0; e < 2 * s->axes; e++) {
                int32_t n = mo_grid_step(s->g, cell[first], e >> 1, e & 1 ? 1 : -1);
                if (!(along[first] >> (e >> 1) & 1) || n < 0 || taken[n] || row[n] >= 0 || count == room) continue;
                if (mo_weight_liquid(s->d, MO_SAMPLE_CELL, n) <= 0 || mo_weight_fluid(s->d, MO_SAMPLE_CELL, n) <= 0)
                    continue;
                mo_vec3 step = {(e >> 1) == 0, (e >> 1) == 1, (e >> 1) == 2};
                taken[n] = 1, cell[count] = n, along[count] = along[first];
                surface[count++] = mo_mad(surface[first], e & 1 ? s->g->dx : -s->g->dx, step);
            }
    }
    *slits = (mo_slits){count, cell, along, surface};
    return MO_OK;
}

static mo_status couple_slits(const mo_stress_assembly *s, mo_arena *arena, coupling *c, mo_liquid_system *out,
                              mo_error *err)
{
    const mo_stress_def *d = s->d;
    int64_t cells = mo_grid_cells(s->g);
    if (!d->slits || d->slits->count == 0) return MO_OK;
    int32_t *row = MO_ARENA_ARRAY(arena, int32_t, cells + 1);
    if (!row) return mo_fail_memory(err);
    for (int64_t i = 0; i < cells; i++) row[i] = -1;
    for (int32_t r = 0; r < s->pressures; r++) row[out->cell_at[r]] = r;
    mo_slits slits;
    MO_TRY(widen_slits(s, row, arena, &slits, err));
    mo_slits_def def = {.slits = &slits,
                        .grid = s->g,
                        .solids = d->solids,
                        .row = row,
                        .open = d->weights->fluid[MO_SAMPLE_CELL],
                        .gravity = d->gravity,
                        .density = d->density,
                        .dt = d->dt,
                        .find = couple_cell,
                        .swept = s->solid[0] ? swept_in : NULL,
                        .user = c};
    MO_TRY(mo_liquid_push(out, mo_solid_unknowns(d->solids, MO_BODIES), err));
    MO_TRY(mo_slit_rows_create(&def, arena, out->push, &c->slits, err));
    mo_slit_rows_sweep(&c->slits, out->system.block[MO_BLOCK_PRESSURE]->rhs);
    return MO_OK;
}

mo_status mo_stress_couple(const mo_stress_assembly *s, mo_arena *arena, mo_liquid_system *out, mo_error *err)
{
    const mo_stress_def *d = s->d;
    mo_system *y = &out->system;
    coupling c = {.s = s, .out = out};
    if (!d->solids || !d->solids->body) return MO_OK;
    MO_TRY(mo_cover_index_create(s->g, d->solids, d->weights->cover, d->weights->covers, arena, &c.index, err));
    MO_TRY(couple_slits(s, arena, &c, out, err));
    mo_status status = d->solids->bodies ? mo_bodies_create(d->solids->bodies, &y->bodies) : MO_OK;
    for (int32_t k = MO_BLOCK_PRESSURE; k <= MO_BLOCK_STRESS && status == MO_OK; k++) {
        c.stress = k == MO_BLOCK_STRESS;
        status = mo_solid_rows_create(y->block[k]->rows, d->solids, couple_row, &c, y->block[k]->on);
    }
    return status == MO_OK ? MO_OK : mo_fail_memory(err);
}
