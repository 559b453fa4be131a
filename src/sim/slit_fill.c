// The liquid of slits (slits.c): which of them are wet, and the particles that enter and leave them.
#include "base/parallel.h"
#include "sim/slits.h"
#include <math.h>
#include <string.h>

static bool in_cell(const mo_grid *g, mo_vec3 x, int32_t cell)
{
    int32_t c[3];
    mo_grid_cell(g, cell, c);
    for (int a = 0; a < mo_grid_axes(g); a++)
        if (floor((mo_get(x, a) - mo_get(g->origin, a)) / g->dx) != c[a]) return false;
    return true;
}

// Links of the slits, where cells with liquid[i] have liquid; a row's number is its cell.
static mo_status link_slits(const mo_sim *sim, const uint8_t *liquid, mo_slit_links *links, mo_error *err)
{
    int64_t cells = mo_grid_cells(sim->grid);
    int32_t *row = MO_ARENA_ARRAY(sim->arena, int32_t, cells + 1);
    mo_slits slits;
    if (!row) return mo_fail_memory(err);
    for (int64_t i = 0; i < cells; i++) row[i] = liquid[i] ? (int32_t)i : -1;
    MO_TRY(mo_sim_slits(sim, sim->arena, &slits, err));
    return mo_slits_link(&slits, sim->grid, row, sim->openings.volume, sim->arena, links, err);
}

mo_status mo_sim_wet_slits(const mo_sim *sim, const uint8_t *liquid, double *wet, mo_error *err)
{
    mo_slit_links links;
    double *work = MO_ARENA_ARRAY(sim->arena, double, 4 * sim->slits.count + 1);
    if (!work) return mo_fail_memory(err);
    MO_TRY(link_slits(sim, liquid, &links, err));
    mo_slits_wet(&links, wet, work);
    return MO_OK;
}

// ---- Particles ----

typedef struct listed { // a particle in a slit cell or beside one
    int32_t q, next;    // next of its cell, -1
} listed;

typedef struct rim { // a cell beside a slit
    int32_t cell, part, first;
    int32_t slit;  // one that it is beside
    double wanted; // cells of volume that the slit takes from it; < 0: gives
} rim;

typedef struct filling {
    mo_sim *sim;
    mo_slit_links links;
    int32_t *part;         // [slits] number of the slit that a cell belongs to; -1: a dry one
    int32_t parts, *first; // [slits] first particle in the cell
    double *lacks;         // [slits] cells of volume that a cell may take; < 0: it has too much
    double *gap;           // [slits]
    rim *rims;
    int32_t rim_count;
    listed *list;
    int32_t listed_count;
} filling;

// The open volume of a cell's gap at the present poses. A gap that lies between two layers of cells counts in one of
// them.
static double capacity_of(const mo_sim *sim, const mo_slit *s, double gap)
{
    double most = fmax(fmax(fabs(s->normal.x), fabs(s->normal.y)), fabs(s->normal.z));
    gap = fmin(fmax(gap, 0), 1);
    mo_vec3 x = mo_sim_slit_point(sim, s, mo_v3(0, 0, 0), 1e-3);
    return in_cell(sim->grid, x, s->cell) ? fmin(gap / most, 1) : 0;
}

static void find_parts(filling *f, int32_t *queue)
{
    for (int32_t k = 0; k < f->links.count; k++) f->part[k] = -1;
    for (int32_t k = 0; k < f->links.count; k++) {
        if (f->part[k] >= 0 || f->links.diagonal[k] == 0) continue;
        int32_t tail = 0;
        f->part[queue[tail++] = k] = f->parts;
        for (int32_t head = 0; head < tail; head++)
            for (int e = 0; e < 6; e++) {
                int32_t n = f->links.to[queue[head]][e];
                if (n >= 0 && f->part[n] < 0) f->part[queue[tail++] = n] = f->parts;
            }
        f->parts++;
    }
}

// Lists the cells beside slits, each once for every slit beside it; wanted: the volume that each slit cell lacks,
// continued harmonically.
static void find_rims(filling *f, const double *wanted)
{
    for (int32_t k = 0; k < f->links.count; k++)
        for (int e = 0; e < 6; e++) {
            int32_t to = f->links.to[k][e], i = 0;
            if (to > MO_SLIT_ROW || f->part[k] < 0) continue;
            while (i < f->rim_count && (f->rims[i].cell != MO_SLIT_ROW - to || f->rims[i].part != f->part[k])) i++;
            if (i == f->rim_count) f->rims[f->rim_count++] = (rim){MO_SLIT_ROW - to, f->part[k], -1, k, 0};
            f->rims[i].wanted += wanted[k];
        }
}

static int32_t cell_of(const mo_sim *sim, int32_t q)
{
    const mo_particles *p = &sim->particles;
    return mo_grid_index(sim->grid, (int32_t)floorf(p->x[0][q]), (int32_t)floorf(p->x[1][q]),
                         (int32_t)floorf(p->x[2][q]));
}

// Lists the particles of slit cells and rims. place: a field, k + 1 for slit cell k, -(i + 1) for the first rim of a
// cell, 0 for others.
static mo_status list_particles(filling *f, int32_t *place, mo_error *err)
{
    const mo_particles *p = &f->sim->particles;
    int64_t cells = mo_grid_cells(f->sim->grid), count = 0;
    memset(place, 0, sizeof(int32_t) * (size_t)cells);
    for (int32_t i = f->rim_count - 1; i >= 0; i--) place[f->rims[i].cell] = -(i + 1);
    for (int32_t k = 0; k < f->links.count; k++) place[f->sim->slits.slit[k].cell] = k + 1, f->first[k] = -1;
    for (int32_t q = 0; q < p->count; q++) {
        int32_t cell = cell_of(f->sim, q);
        count += cell >= 0 && place[cell] != 0;
    }
    if (!(f->list = MO_ARENA_ARRAY(f->sim->arena, listed, count + 1))) return mo_fail_memory(err);
    for (int32_t q = 0; q < p->count; q++) {
        int32_t cell = cell_of(f->sim, q);
        if (cell < 0 || place[cell] == 0) continue;
        int32_t *first = place[cell] > 0 ? &f->first[place[cell] - 1] : &f->rims[-place[cell] - 1].first;
        if (place[cell] > 0) f->lacks[place[cell] - 1] -= p->volume[q];
        f->list[f->listed_count] = (listed){q, *first};
        *first = f->listed_count++;
    }
    return MO_OK;
}

// The rims of one cell share the particles that the first of them lists.
static int32_t *first_of(filling *f, int32_t i)
{
    for (int32_t k = 0; k < i; k++)
        if (f->rims[k].cell == f->rims[i].cell) return &f->rims[k].first;
    return &f->rims[i].first;
}

static void put(filling *f, int32_t q, mo_vec3 x)
{
    const mo_grid *g = f->sim->grid;
    mo_particles *p = &f->sim->particles;
    for (int a = 0; a < mo_grid_axes(g); a++) {
        p->x[a][q] = (float)((mo_get(x, a) - mo_get(g->origin, a)) / g->dx);
        for (int b = 0; b < 3; b++) p->c[a][b][q] = 0;
    }
}

// Takes the particle of a list that is nearest to x out of it; -1: the list is empty.
static int32_t take_nearest(filling *f, int32_t *first, mo_vec3 x)
{
    const mo_particles *p = &f->sim->particles;
    int32_t *best = NULL;
    double least = INFINITY;
    for (int32_t *at = first; *at >= 0; at = &f->list[*at].next) {
        int32_t q = f->list[*at].q;
        double d = mo_norm(mo_sub(mo_grid_world(f->sim->grid, p->x[0][q], p->x[1][q], p->x[2][q]), x));
        if (d < least) least = d, best = at;
    }
    if (!best) return -1;
    int32_t q = f->list[*best].q;
    *best = f->list[*best].next;
    return q;
}

static int32_t neediest(const filling *f, int32_t part, double sign)
{
    int32_t best = -1;
    for (int32_t k = 0; k < f->links.count; k++)
        if (f->part[k] == part && (best < 0 || sign * f->lacks[k] > sign * f->lacks[best]))
            if (sign > 0 || f->first[k] >= 0) best = k;
    return best;
}

static int32_t fullest_rim(filling *f, int32_t part, double sign)
{
    int32_t best = -1;
    for (int32_t i = 0; i < f->rim_count; i++)
        if (f->rims[i].part == part && (best < 0 || sign * f->rims[i].wanted > sign * f->rims[best].wanted))
            if (sign < 0 || *first_of(f, i) >= 0) best = i;
    return best;
}

// A place in the gap of a slit cell, spread along it.
static mo_vec3 place_in(const filling *f, int32_t k, int32_t q)
{
    const mo_slit *s = &f->sim->slits.slit[k];
    double d[3] = {0};
    for (int a = 0; a < 3; a++)
        if (s->along >> a & 1)
            d[a] = 0.9 * f->sim->grid->dx * (mo_unit(mo_hash((uint32_t)q, (uint32_t)f->sim->step, (uint32_t)a)) - 0.5);
    return mo_sim_slit_point(f->sim, s, mo_v3(d[0], d[1], d[2]), 0.5 * fmin(fmax(f->gap[k], 0.02), 1));
}

// A place in a rim cell, near the slit.
static mo_vec3 place_beside(const filling *f, int32_t i)
{
    int32_t c[3];
    mo_grid_cell(f->sim->grid, f->rims[i].cell, c);
    return mo_grid_world(f->sim->grid, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
}

static mo_vec3 centre_of(const filling *f, int32_t k)
{
    return mo_sim_slit_point(f->sim, &f->sim->slits.slit[k], mo_v3(0, 0, 0), 0);
}

// Particles go in until the slit lacks less than half a particle, or out.
static void fill_part(filling *f, int32_t part)
{
    double lacks = 0;
    for (int32_t k = 0; k < f->links.count; k++) lacks += f->part[k] == part ? f->lacks[k] : 0;
    double sign = lacks > 0 ? 1 : -1;
    for (;;) {
        int32_t k = neediest(f, part, sign), i = fullest_rim(f, part, sign);
        if (k < 0 || i < 0) return;
        int32_t *from = sign > 0 ? first_of(f, i) : &f->first[k];
        if (*from < 0) return;
        if (sign * lacks < 0.5 * f->sim->particles.volume[f->list[*from].q]) return;
        int32_t q = take_nearest(f, from, sign > 0 ? centre_of(f, f->rims[i].slit) : place_beside(f, i));
        double volume = sign * f->sim->particles.volume[q];
        put(f, q, sign > 0 ? place_in(f, k, q) : place_beside(f, i));
        f->lacks[k] -= volume, f->rims[i].wanted -= volume, lacks -= volume;
    }
}

static mo_status make_room(filling *f, mo_error *err)
{
    mo_arena *arena = f->sim->arena;
    int32_t n = f->links.count;
    f->part = MO_ARENA_ARRAY(arena, int32_t, n + 1), f->first = MO_ARENA_ARRAY(arena, int32_t, n + 1);
    f->lacks = MO_ARENA_ARRAY(arena, double, n + 1), f->gap = MO_ARENA_ARRAY(arena, double, n + 1);
    f->rims = MO_ARENA_ARRAY(arena, rim, 6 * n + 1);
    return f->part && f->first && f->lacks && f->gap && f->rims ? MO_OK : mo_fail_memory(err);
}

mo_status mo_sim_fill_slits(mo_sim *sim, const uint8_t *phase, mo_error *err)
{
    filling f = {.sim = sim};
    int32_t n = sim->slits.count;
    int64_t cells = mo_grid_cells(sim->grid);
    if (n == 0) return MO_OK;
    uint8_t *liquid = MO_ARENA_ARRAY(sim->arena, uint8_t, cells + 1);
    int32_t *place = MO_ARENA_ARRAY(sim->arena, int32_t, cells + 1);
    double *work = MO_ARENA_ARRAY(sim->arena, double, 5 * n + 1), *wet = work + 4 * n;
    if (!liquid || !place || !work) return mo_fail_memory(err);
    for (int64_t i = 0; i < cells; i++) liquid[i] = phase[i] == MO_PHASE_LIQUID;
    MO_TRY(link_slits(sim, liquid, &f.links, err));
    MO_TRY(make_room(&f, err));
    find_parts(&f, place);
    if (f.parts == 0) return MO_OK;
    mo_slits_wet(&f.links, wet, work);
    for (int32_t k = 0; k < n; k++) {
        const mo_slit *s = &sim->slits.slit[k];
        f.gap[k] = mo_sim_slit_gap(sim, s);
        f.lacks[k] = wet[k] * capacity_of(sim, s, f.gap[k]);
    }
    find_rims(&f, f.lacks); // finds which cells are neighbours
    MO_TRY(list_particles(&f, place, err));
    mo_slits_solve(&f.links, f.lacks, wet, work);
    for (int32_t i = 0; i < f.rim_count; i++) f.rims[i].wanted = 0;
    find_rims(&f, wet);
    for (int32_t part = 0; part < f.parts; part++) fill_part(&f, part);
    return MO_OK;
}
