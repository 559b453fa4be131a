// Angular momentum and the position correction. The correction moves particles without a force, so that a piece of
// liquid that touches nothing must keep its momentum, and its angular momentum about its centre. Velocities stay as
// they are, which keeps the momentum; the angular momentum changes by the sum of V d x (v - mean v). The least change
// of velocities, in squares, that restores it without changing the momentum is a rigid rotation about the centre:
//
//     I w = -sum V d x (v - mean v),      v += w x (x - centre),      C += [w]x
//
// The matrices C turn as well, and carry angular momentum too: a hat spreads a particle over its faces with a second
// moment of 1/6 on average along each axis, which adds V/3 to I. Without this part, particles nearly in a line hardly
// resist a rotation about it. Their velocities would hardly change, but their matrices could by any amount, and the
// next step would read velocities from them: a few drops in a splash once reached 53 m/s.
//
// About another point it would depend on how fast the piece flies: then flight would make it turn.
//
// Walls, solids and emitters take angular momentum from liquid that touches them: nothing is restored there.
#include "base/matrix3.h"
#include "fluid/levelset.h"
#include "grid/reach.h"
#include "sim/sim.h"
#include <string.h>

enum { UNSEEN, SEEN, HELD };

// Whether nothing is near enough to take angular momentum from the particles of a cell.
static bool is_free(const mo_sim *sim, int32_t cell)
{
    const float near = 1.5f; // cells: particles give their momentum to faces up to a cell away
    const mo_grid *g = sim->grid;
    const mo_openings *o = &sim->openings;
    int32_t c[3];
    if (o->distance[cell] < near || (sim->particles.deep && sim->particles.deep[cell])) return false;
    if (mo_reach_near(g, cell, MO_REACH_AROUND)) return false;
    mo_grid_cell(g, cell, c);
    for (int a = 0; a < mo_grid_axes(g); a++) {
        int32_t next = mo_grid_step(g, cell, a, 1);
        if (c[a] <= MO_MARGIN || c[a] >= g->n[a] - MO_MARGIN - 1 || next < 0) return false; // open walls
        if (o->area[a][cell] < 1 || o->area[a][next] < 1) return false;                     // emitters
    }
    return true;
}

// Follows the cells with particles from `seed` until the piece ends, or until it turns out to be held. Its cells so far
// are stack[0 .. *size).
static bool is_held(const mo_sim *sim, int32_t seed, uint8_t *seen, int32_t *stack, int32_t *size)
{
    const mo_grid *g = sim->grid;
    const int32_t *start = sim->particles.start;
    stack[0] = seed, seen[seed] = SEEN, *size = 1;
    for (int32_t k = 0; k < *size; k++) {
        if (!is_free(sim, stack[k])) return true;
        for (int e = 0; e < 2 * mo_grid_axes(g); e++) {
            int32_t n = mo_grid_step(g, stack[k], e >> 1, e & 1 ? 1 : -1);
            if (n < 0 || seen[n] == SEEN || start[n] == start[n + 1]) continue;
            if (seen[n] == HELD) return true;
            seen[n] = SEEN, stack[(*size)++] = n;
        }
    }
    return false;
}

// Sums over the particles of a piece, in cells: centre, and the angular momentum about it.
typedef struct piece_sums {
    mo_vec3 centre, spin;
} piece_sums;

static mo_vec3 place(const mo_particles *p, int32_t q) { return mo_v3(p->x[0][q], p->x[1][q], p->x[2][q]); }

static mo_vec3 velocity(const mo_particles *p, int32_t q) { return mo_v3(p->v[0][q], p->v[1][q], p->v[2][q]); }

static piece_sums sum_piece(const mo_particles *p, const int32_t *cell, int32_t cells)
{
    piece_sums s = {0};
    double volume = 0;
    mo_vec3 momentum = {0, 0, 0};
    for (int32_t k = 0; k < cells; k++)
        for (int32_t q = p->start[cell[k]]; q < p->start[cell[k] + 1]; q++) {
            double V = p->volume[q];
            volume += V, s.centre = mo_mad(s.centre, V, place(p, q));
            momentum = mo_mad(momentum, V, velocity(p, q));
            s.spin = mo_mad(s.spin, V, mo_cross(place(p, q), velocity(p, q)));
        }
    s.centre = mo_mul(1 / volume, s.centre);
    s.spin = mo_sub(s.spin, mo_cross(s.centre, momentum));
    return s;
}

mo_status mo_sim_note_spins(const mo_sim *sim, mo_spins *out, mo_error *err)
{
    const mo_particles *p = &sim->particles;
    int32_t cells = (int32_t)mo_grid_cells(sim->grid), size;
    *out = (mo_spins){0};
    uint8_t *seen = MO_ARENA_ARRAY(sim->arena, uint8_t, cells + 1);
    int32_t *stack = MO_ARENA_ARRAY(sim->arena, int32_t, cells + 1);
    if (!seen || !stack) return mo_fail_memory(err);
    memset(seen, UNSEEN, (size_t)cells);
    for (int32_t i = 0; i < cells; i++) {
        if (seen[i] != UNSEEN || p->start[i] == p->start[i + 1]) continue;
        if (is_held(sim, i, seen, stack, &size)) {
            for (int32_t k = 0; k < size; k++) seen[stack[k]] = HELD;
            continue;
        }
        mo_spin *s = MO_ARENA_ARRAY(sim->arena, mo_spin, 1);
        if (!s) return mo_fail_memory(err);
        *s = (mo_spin){out->last, stack, size, sum_piece(p, stack, size).spin};
        out->last = s, stack += size;
    }
    return MO_OK;
}

// The sum of V (|r|^2 - r r^T), and of V/3 for the particles' matrices.
static void find_inertia(const mo_particles *p, const mo_spin *s, mo_vec3 centre, double I[3][3])
{
    const double own = 1 / 3.0; // cells^2, of a matrix
    memset(I, 0, 9 * sizeof(double));
    for (int32_t k = 0; k < s->cells; k++)
        for (int32_t q = p->start[s->cell[k]]; q < p->start[s->cell[k] + 1]; q++) {
            mo_vec3 way = mo_sub(place(p, q), centre);
            double r[3] = {way.x, way.y, way.z}, square = mo_dot(way, way);
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++) I[a][b] += p->volume[q] * ((a == b ? square + own : 0) - r[a] * r[b]);
        }
}

// Adds the rotation w to the velocities and affine matrices of a piece.
static void turn_piece(mo_particles *p, const mo_spin *s, mo_vec3 centre, mo_vec3 w)
{
    for (int32_t k = 0; k < s->cells; k++)
        for (int32_t q = p->start[s->cell[k]]; q < p->start[s->cell[k] + 1]; q++) {
            mo_vec3 v = mo_cross(w, mo_sub(place(p, q), centre));
            for (int a = 0; a < 3; a++) {
                int b = (a + 1) % 3, c = (a + 2) % 3;
                p->v[a][q] += (float)mo_get(v, a);
                p->c[a][c][q] += (float)mo_get(w, b), p->c[a][b][q] -= (float)mo_get(w, c);
            }
        }
}

void mo_sim_restore_spins(mo_sim *sim, const mo_spins *spins)
{
    mo_particles *p = &sim->particles;
    for (const mo_spin *s = spins->last; s; s = s->next) {
        piece_sums now = sum_piece(p, s->cell, s->cells);
        double I[3][3], C[3][3];
        find_inertia(p, s, now.centre, I);
        double det = mo_det3((const double(*)[3])I);
        if (!(det > 0)) continue; // nothing has a volume
        mo_cofactor3((const double(*)[3])I, C);
        mo_vec3 lost = mo_mul(1 / det, mo_sub(s->spin, now.spin));
        mo_vec3 w = {C[0][0] * lost.x + C[0][1] * lost.y + C[0][2] * lost.z,
                     C[1][0] * lost.x + C[1][1] * lost.y + C[1][2] * lost.z,
                     C[2][0] * lost.x + C[2][1] * lost.y + C[2][2] * lost.z};
        turn_piece(p, s, now.centre, w);
    }
}
