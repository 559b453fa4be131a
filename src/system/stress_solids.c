// What solids that the solve moves have of the rows of viscous liquids, and the slits between them (slits.h).
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

// What solids take of the faces of a row, as mo_stress_row_entries counts solids. Boxes round faces on walls reach into
// bodies, but nothing passes there.
static void couple_terms(const coupling *c, const mo_stress_term *t, int n, double weight, mo_solid_row *r)
{
    const mo_stress_assembly *s = c->s;
    const mo_stress_def *d = s->d;
    for (int k = 0; k < n; k++) {
        int32_t at = t[k].at, tile = at / MO_TILE_CELLS, cell[3];
        mo_grid_cell(s->g, at, cell);
        if (mo_stress_on_wall(d, cell, t[k].axis)) continue;
        for (int32_t q = c->index.first[tile]; q < c->index.first[tile + 1]; q++) {
            const mo_cover *cover = &c->index.cover[q];
            if (!mo_solid_moves(d->solids, cover->solid) || cover->part[t[k].axis][at % MO_TILE_CELLS] <= 0) continue;
            if (d->fixed && d->fixed[t[k].axis][at]) continue;
            double share[2];
            mo_stress_shares(d, s->state[t[k].axis][at], cover, t[k].axis, at % MO_TILE_CELLS, share);
            if (share[c->stress] == 0) continue;
            mo_cover_add(r, &c->index, cover->solid, at, t[k].axis, weight * t[k].sign / s->g->dx * share[c->stress]);
        }
    }
}

static void couple_cell(const void *user, int32_t cell, mo_solid_row *r)
{
    const coupling *c = user;
    mo_stress_term t[MO_STRESS_ENTRIES];
    couple_terms(c, t, mo_stress_pressure_terms(c->s, cell, t), 1, r);
}

static void couple_row(const void *user, int32_t row, mo_solid_row *r)
{
    const coupling *c = user;
    mo_stress_term t[MO_STRESS_ENTRIES];
    if (!c->stress) {
        couple_cell(c, c->out->cell_at[row], r);
        mo_slit_rows_add(&c->slits, row, r);
        return;
    }
    int32_t i = mo_stress_cell(c->out->sample_at[row]);
    int kind = mo_stress_component(c->out->sample_at[row]);
    double weight = mo_stress_liquid(c->s->d, mo_stress_sample_kind(kind), i);
    couple_terms(c, t, mo_stress_strain_terms(c->s, i, kind, t), weight, r);
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
