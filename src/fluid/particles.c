// Storage, sorting and removal of particles.
#include "fluid/particles.h"
#include "base/parallel.h"
#include "grid/cut.h"
#include <math.h>
#include <string.h>

void mo_particles_destroy(mo_particles *p)
{
    for (int f = 0; f < MO_PARTICLE_FIELDS; f++) mo_free(p->field[f]);
    mo_free(p->spare);
    mo_free(p->start), mo_free(p->row_memory);
    memset(p, 0, sizeof *p);
}

static bool grow(float **array, int32_t used, int64_t capacity)
{
    float *q = mo_alloc(sizeof(float) * (size_t)capacity);
    if (!q) return false;
    if (*array) memcpy(q, *array, sizeof(float) * (size_t)used);
    mo_free(*array);
    *array = q;
    return true;
}

mo_status mo_particles_reserve(mo_particles *p, int64_t count, mo_error *err)
{
    MO_ASSERT(p->count >= 0 && p->count <= p->capacity);
    if (!p->fields) p->fields = MO_PLAIN_FIELDS;
    if (count <= p->capacity) return MO_OK;
    if (count > INT32_MAX - 1024)
        return mo_fail(err, MO_ERROR_INPUT, "too many particles (%lld): use fewer cells", (long long)count);
    int64_t capacity = p->capacity ? count + count / 8 : count;
    if (capacity > INT32_MAX) capacity = INT32_MAX;
    for (int f = 0; f < p->fields; f++)
        if (!grow(&p->field[f], p->count, capacity)) return mo_fail_memory(err);
    if (!grow(&p->spare, 0, capacity)) return mo_fail_memory(err);
    p->capacity = (int32_t)capacity;
    return MO_OK;
}

mo_status mo_particles_shrink(mo_particles *p, mo_error *err)
{
    int64_t capacity = (int64_t)p->count + p->count / 8 + 1;
    if (capacity >= p->capacity) return MO_OK;
    for (int f = 0; f < p->fields; f++)
        if (!grow(&p->field[f], p->count, capacity)) return mo_fail_memory(err);
    if (!grow(&p->spare, 0, capacity)) return mo_fail_memory(err);
    p->capacity = (int32_t)capacity;
    return MO_OK;
}

// A place is a lattice cell as the tiles store it: the tile's number in the grid's table times 512, and the cell in it.
static inline int32_t place_in(const mo_grid *g, int32_t i, int32_t j, int32_t k)
{
    int32_t tile = (i >> 3) + g->tn[0] * ((j >> 3) + g->tn[1] * (k >> 3));
    return tile * MO_TILE_CELLS + (i & 7) + 8 * ((j & 7) + 8 * (k & 7));
}

// Activates the tiles within MO_REACH = 4 cells of each place: the tile itself and, by the half of the tile in which
// the cell lies, one neighbour along each axis. Half-tile bits are collected first: an "or" has no order.
static mo_status want_tiles(mo_grid *g, int32_t count, const int32_t *place, mo_arena *arena, mo_error *err)
{
    int64_t size = (int64_t)g->tn[0] * g->tn[1] * g->tn[2];
    uint8_t *octant = mo_arena_alloc(arena, (size_t)size);
    if (!octant) return mo_fail_memory(err);
    memset(octant, 0, (size_t)size);
#pragma omp parallel for schedule(static)
    for (int32_t q = 0; q < count; q++) {
        int32_t t = place[q] >> 9, local = place[q];
        uint8_t bit = (uint8_t)(1 << ((local >> 2 & 1) + 2 * (local >> 5 & 1) + 4 * (local >> 8 & 1))), seen;
#pragma omp atomic read
        seen = octant[t];
        if (!(seen & bit)) {
#pragma omp atomic update
            octant[t] |= bit;
        }
    }
    for (int64_t t = 0; t < size; t++)
        for (int o = 0; o < 8; o++)
            if (octant[t] >> o & 1) {
                int32_t c[3] = {(int32_t)(t % g->tn[0]), (int32_t)(t / g->tn[0] % g->tn[1]),
                                (int32_t)(t / g->tn[0] / g->tn[1])};
                int32_t lo[3], hi[3];
                for (int a = 0; a < 3; a++) {
                    int32_t first = 8 * c[a] + 4 * (o >> a & 1);
                    lo[a] = first - MO_REACH, hi[a] = first + 3 + MO_REACH;
                }
                mo_grid_want(g, lo, hi);
            }
    return MO_OK;
}

static void reorder(mo_particles *p, const int32_t *order)
{
    for (int f = 0; f < p->fields; f++) {
        const float *from = p->field[f];
        float *to = p->spare;
#pragma omp parallel for schedule(static)
        for (int32_t i = 0; i < p->count; i++) to[i] = from[order[i]];
        p->spare = p->field[f];
        p->field[f] = to;
    }
}

static mo_status sort(mo_particles *p, mo_grid *g, int32_t *place, mo_arena *arena, mo_error *err)
{
    MO_ASSERT(p->count == 0 || (p->spare && place));
    MO_TRY(want_tiles(g, p->count, place, arena, err));
    MO_TRY(mo_grid_activate(g, err));
    int64_t cells = mo_grid_cells(g);
    if (!mo_reserve((void **)&p->start, &p->start_capacity, cells + 1, sizeof(int32_t))) return mo_fail_memory(err);
    int32_t *key = place, *order = MO_ARENA_ARRAY(arena, int32_t, p->count);
    if (!order) return mo_fail_memory(err);
#pragma omp parallel for schedule(static)
    for (int32_t q = 0; q < p->count; q++)
        key[q] = g->table[place[q] >> 9] * MO_TILE_CELLS + (place[q] & (MO_TILE_CELLS - 1));
    if (!mo_counting_sort(p->count, key, (int32_t)cells, p->start, order, arena)) return mo_fail_memory(err);
    reorder(p, order);
    return MO_OK;
}

mo_status mo_particles_sort_by(mo_particles *p, mo_grid *g, const int32_t *lattice_cell, mo_arena *arena, mo_error *err)
{
    MO_ASSERT(p->count == 0 || lattice_cell);
    size_t mark = mo_arena_mark(arena);
    int32_t *place = MO_ARENA_ARRAY(arena, int32_t, p->count), n0 = g->n[0], n1 = g->n[1];
    if (!place) return mo_fail_memory(err);
#pragma omp parallel for schedule(static)
    for (int32_t q = 0; q < p->count; q++)
        place[q] = place_in(g, lattice_cell[q] % n0, lattice_cell[q] / n0 % n1, lattice_cell[q] / n0 / n1);
    mo_status status = sort(p, g, place, arena, err);
    p->stale = 0.5f; // only the caller knows how old the cells are
    mo_arena_release(arena, mark);
    return status;
}

mo_status mo_particles_sort(mo_particles *p, mo_grid *g, mo_arena *arena, mo_error *err)
{
    size_t mark = mo_arena_mark(arena);
    int32_t *place = MO_ARENA_ARRAY(arena, int32_t, p->count);
    if (!place) return mo_fail_memory(err);
#pragma omp parallel for schedule(static)
    for (int32_t q = 0; q < p->count; q++)
        place[q] = place_in(g, (int32_t)p->x[0][q], (int32_t)p->x[1][q], (int32_t)p->x[2][q]);
    mo_status status = sort(p, g, place, arena, err);
    p->stale = 0;
    mo_arena_release(arena, mark);
    return status;
}

void mo_particles_cells(const mo_particles *p, const mo_grid *g, int32_t *lattice_cell)
{
    MO_ASSERT(p->start[mo_grid_cells(g)] == p->count);
    for (int32_t index = 0; index < mo_grid_cells(g); index++) {
        int32_t c[3];
        mo_grid_cell(g, index, c);
        for (int32_t q = p->start[index]; q < p->start[index + 1]; q++)
            lattice_cell[q] = c[0] + g->n[0] * (c[1] + g->n[1] * c[2]);
    }
}

void mo_particles_remove(mo_particles *p, const uint8_t *remove)
{
    int32_t kept = 0;
    for (int32_t q = 0; q < p->count; q++) {
        if (remove[q]) continue;
        if (kept != q)
            for (int f = 0; f < p->fields; f++) p->field[f][kept] = p->field[f][q];
        kept++;
    }
    p->count = kept;
}

// Sums and maxima over blocks of fixed size: independent of threads.
enum { SUM_BLOCKS = 256 };

mo_status mo_particles_find_rows(mo_particles *p, const mo_grid *g, mo_error *err)
{
    p->row = NULL;
    if (!g->sites) return MO_OK;
    if (!mo_reserve((void **)&p->row_memory, &p->row_capacity, (int64_t)p->count + 1, sizeof *p->row_memory))
        return mo_fail_memory(err);
#pragma omp parallel for schedule(static)
    for (int32_t q = 0; q < p->count; q++)
        p->row_memory[q] = mo_site_find(g, (double[3]){p->x[0][q], p->x[1][q], p->x[2][q]});
    p->row = p->row_memory;
    return MO_OK;
}

double mo_particles_volume(const mo_particles *p)
{
    double partial[SUM_BLOCKS] = {0}, sum = 0;
#pragma omp parallel for schedule(static)
    for (int b = 0; b < SUM_BLOCKS; b++)
        for (int64_t q = (int64_t)p->count * b / SUM_BLOCKS; q < (int64_t)p->count * (b + 1) / SUM_BLOCKS; q++)
            partial[b] += p->volume[q];
    for (int b = 0; b < SUM_BLOCKS; b++) sum += partial[b];
    return sum;
}

double mo_particles_max_speed(const mo_particles *p)
{
    double partial[SUM_BLOCKS] = {0}, most = 0;
#pragma omp parallel for schedule(static)
    for (int b = 0; b < SUM_BLOCKS; b++) {
        int32_t bits, top = 0; // numbers without a sign are in the order of their bits, and a NaN is above them all
        float square;
        for (int64_t q = (int64_t)p->count * b / SUM_BLOCKS; q < (int64_t)p->count * (b + 1) / SUM_BLOCKS; q++) {
            square = p->v[0][q] * p->v[0][q] + p->v[1][q] * p->v[1][q] + p->v[2][q] * p->v[2][q];
            memcpy(&bits, &square, sizeof bits);
            bits &= INT32_MAX; // a NaN may have a sign
            top = bits > top ? bits : top;
        }
        memcpy(&square, &top, sizeof top);
        partial[b] = square;
    }
    for (int b = 0; b < SUM_BLOCKS; b++) most = partial[b] > most || partial[b] != partial[b] ? partial[b] : most;
    return sqrt(most);
}

double mo_particles_volume_above(const mo_particles *p, double speed)
{
    MO_ASSERT(speed >= 0);
    const float unit = 1 << 20, bound = (float)(speed * speed);
    int64_t sum = 0; // in units of 2^-20 cells: whole numbers have one sum in any order
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int32_t q = 0; q < p->count; q++) {
        float s = p->v[0][q] * p->v[0][q] + p->v[1][q] * p->v[1][q] + p->v[2][q] * p->v[2][q];
        if (s > bound) sum += (int64_t)(unit * p->volume[q]);
    }
    return (double)sum / unit;
}
