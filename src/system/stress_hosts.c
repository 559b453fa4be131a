// Whose velocity is the liquid's: faces with little liquid beside heavier ones (liquid_system.h).
//
// Stress does not act on faces with hardly any liquid (mo_face_is_light): slivers along a film would fall freely. One
// that lies beside a heavier face of its axis, with liquid between them, changes its velocity by as much as that. As it
// is the change D = u - u* that is taken over, rest, free fall and rigid motion stay exact. What the liquid between a
// film and its wall does not carry is the weight of these slivers, less than that of 0.01 cells. The lightest face of a
// cell follows none: it is the one by which the cell's liquid leaves, and pressure sets its velocity.
#include "system/stress_faces.h"
#include <math.h>
#include <string.h>

typedef struct liquid {
    const mo_stress_def *d;
    const mo_grid *g;
    int axes;
    const uint8_t *state[3]; // of faces
    uint8_t *has_pressure;   // [cells]
    int32_t *number[3];      // [cells] of the faces
} liquid;

static mo_status liquid_start(const mo_stress_def *d, mo_arena *arena, const mo_liquid_system *l, liquid *s)
{
    int64_t cells = mo_grid_cells(d->grid);
    *s = (liquid){.d = d, .g = d->grid, .axes = mo_grid_axes(d->grid)};
    if (!(s->has_pressure = MO_ARENA_ARRAY(arena, uint8_t, cells + 1))) return MO_ERROR_MEMORY;
    memset(s->has_pressure, 0, (size_t)cells);
    for (int a = 0; a < 3; a++) {
        s->state[a] = l->state + a * cells;
        if (!(s->number[a] = MO_ARENA_ARRAY(arena, int32_t, cells + 1))) return MO_ERROR_MEMORY;
    }
    for (int32_t r = 0; r < l->system.block[MO_BLOCK_PRESSURE]->rows; r++) s->has_pressure[l->cell_at[r]] = 1;
    for (int32_t f = 0; f < l->system.faces.count; f++)
        s->number[mo_face_axis(l->face_at[f])][mo_face_sample(l->face_at[f])] = f;
    return MO_OK;
}

static bool is_free(const liquid *s, int axis, int32_t i) { return i >= 0 && s->state[axis][i] == MO_FACE_FREE; }

// Whether a face is the lightest one of a cell with a pressure, for the part of it that is open.
static bool is_lightest(const liquid *s, int32_t cell, int axis, int32_t at)
{
    double least = INFINITY;
    bool lightest = false;
    if (cell < 0 || !s->has_pressure[cell]) return false;
    for (int a = 0; a < s->axes; a++)
        for (int side = 0; side < 2; side++) {
            int32_t i = side ? mo_grid_step(s->g, cell, a, 1) : cell;
            if (!is_free(s, a, i)) continue;
            double open = mo_weight_fluid(s->d, MO_SAMPLE_FACE + a, i),
                   mass = mo_weight_liquid(s->d, MO_SAMPLE_FACE + a, i) / fmax(open, 1e-9);
            if (mass < least) least = mass, lightest = a == axis && i == at;
        }
    return lightest;
}

// The face that a light one follows: the heaviest beside it across its axis, joined by an edge in open liquid; -1:
// none.
static int32_t heavier_beside(const liquid *s, int axis, int32_t i)
{
    const mo_stress_def *d = s->d;
    double most = 0;
    int32_t heaviest = -1;
    if (is_lightest(s, i, axis, i) || is_lightest(s, mo_grid_step(s->g, i, axis, -1), axis, i)) return -1;
    for (int across = 0; across < s->axes; across++)
        for (int side = 0; across != axis && side < 2; side++) {
            int32_t n = mo_grid_step(s->g, i, across, side ? 1 : -1), edge = side ? n : i;
            int kind = MO_SAMPLE_EDGE + 3 - axis - across, face = MO_SAMPLE_FACE + axis;
            if (!is_free(s, axis, n) || mo_face_is_light(d, axis, n)) continue;
            if (mo_weight_liquid(d, kind, edge) <= 0 || mo_weight_fluid(d, kind, edge) <= 0) continue;
            double mass = mo_weight_liquid(d, face, n) * mo_weight_fluid(d, face, n);
            if (mass > most) most = mass, heaviest = n;
        }
    return heaviest;
}

// Whether the velocity of a face with little liquid is left to those beside it, from which it is continued: as little
// as the tent of a face has above a surface that passes through the centre of its cell. The system's own velocity
// serves the row of a nearly empty cell; as the liquid's it would move a surface at rest, whose ripples then grow
// (2D, gravity at 38 degrees, 33 cells: 4e-4 m/s after 10 s, and 4e-7 without). A face of much less liquid than one
// beside it is loose too: in the corner of a tank one with 3e-4 of its cell had no neighbour of more than 0.03, and
// what was continued from it moved the surface by 7 times more in every step. A film that has nothing heavier keeps its
// velocities.
static bool is_loose(const liquid *s, int axis, int32_t i)
{
    const double little = 0.125, much = 8; // times as wet
    const float *wet = s->d->weights->liquid[MO_SAMPLE_FACE + axis];
    if (wet[i] >= little) return false;
    for (int a = 0; a < s->axes; a++)
        for (int side = -1; side <= 1; side += 2) {
            int32_t n = mo_grid_step(s->g, i, a, side);
            if (is_free(s, axis, n) && (wet[n] >= little || wet[n] >= much * wet[i])) return true;
        }
    return false;
}

mo_status mo_stress_hosts(const mo_stress_def *d, mo_arena *arena, mo_liquid_system *l, mo_error *err)
{
    liquid s;
    int32_t faces = l->system.faces.count;
    MO_ASSERT(!l->host);
    if (liquid_start(d, arena, l, &s) != MO_OK) return mo_fail_memory(err);
    if (!(l->host = mo_alloc(sizeof *l->host * (size_t)(faces + 1)))) return mo_fail_memory(err);
#pragma omp parallel for schedule(static)
    for (int32_t f = 0; f < faces; f++) {
        int axis = mo_face_axis(l->face_at[f]);
        int32_t i = mo_face_sample(l->face_at[f]), host = -1;
        if (mo_face_is_light(d, axis, i)) host = heavier_beside(&s, axis, i);
        l->host[f] = host >= 0 ? s.number[axis][host] : is_loose(&s, axis, i) ? -1 : f;
    }
    return MO_OK;
}
