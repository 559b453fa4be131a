// The multigrid hierarchy and its V-cycle (SOLVER.md A, "Poisson V-cycle"), in float.
//
// On every level a connected piece of few unknowns is solved directly and is not carried further: coarsening never
// stalls on droplets, and the last level is nothing but such pieces.
#include "sparse/multigrid.h"
#include "base/parallel.h"
#include "sparse/direct.h"
#include "sparse/lattice.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_LEVELS = 32, SMALL = 4096, DIRECT_FINEST = 24, TILE_FINEST = 8, TILE = 4 };

typedef struct level {
    mo_stencils A;        // arrays of level 0 other than val are borrowed
    float *dinv;          // [rows]
    float *x, *b, *r;     // [rows]
    int32_t (*coord)[3];  // [rows] while building; NULL on level 0
    int32_t *piece;       // [rows] while building; NULL on level 0
    mo_lattice lattice;   // while building
    mo_sweep sweep;       // 8 colours of cubes
    mo_transfer transfer; // from the next level
    mo_direct direct;     // pieces that end here
} level;

struct mo_multigrid {
    int32_t levels;
    level level[MAX_LEVELS];
    float scale; // level 0 holds A / scale
};

// ---- Building ----

static void level_release_building(level *l)
{
    mo_lattice_destroy(&l->lattice);
    mo_free(l->coord), mo_free(l->piece), mo_free(l->A.code);
    l->coord = NULL, l->piece = NULL, l->A.code = NULL;
}

static void level_destroy(level *l, bool finest)
{
    level_release_building(l);
    if (!finest) mo_free((void *)l->A.row), mo_free((void *)l->A.col);
    mo_free(l->A.val), mo_free(l->dinv), mo_free(l->x), mo_free(l->b), mo_free(l->r);
    mo_sweep_destroy(&l->sweep);
    mo_free(l->transfer.parent);
    mo_direct_destroy(&l->direct);
}

void mo_multigrid_destroy(mo_multigrid *mg)
{
    if (!mg) return;
    for (int32_t l = 0; l < mg->levels; l++) level_destroy(&mg->level[l], l == 0);
    mo_free(mg);
}

// Largest offset of an entry along an axis; 2 also for entries that step along several axes at once, 3 for too far.
static int32_t find_reach(const mo_csr *A, const int32_t (*coord)[3])
{
    int32_t reach = 1;
#pragma omp parallel for schedule(static) reduction(max : reach) if (A->rows > SMALL)
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) {
            const int32_t *a = coord[i], *b = coord[A->col[k]];
            int32_t d[3] = {abs(a[0] - b[0]), abs(a[1] - b[1]), abs(a[2] - b[2])};
            int32_t most = d[0] > d[1] ? d[0] : d[1];
            most = d[2] > most ? d[2] : most;
            int32_t needed = most > 2 ? 3 : d[0] + d[1] + d[2] > 1 ? 2 : 1;
            if (needed > reach) reach = needed;
        }
    return reach;
}

// Vectors, inverse diagonal and colours of a level whose matrix exists.
static mo_status level_finish(level *l, int32_t edge)
{
    size_t bytes = sizeof(float) * (size_t)l->A.rows;
    l->dinv = mo_alloc(bytes), l->x = mo_alloc(bytes), l->b = mo_alloc(bytes), l->r = mo_alloc(bytes);
    if (!l->dinv || !l->x || !l->b || !l->r) return MO_ERROR_MEMORY;
    const mo_stencils *A = &l->A;
#pragma omp parallel for schedule(static) if (A->rows > SMALL)
    for (int32_t i = 0; i < A->rows; i++) {
        float d = 0;
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++)
            if (A->col[k] == i) d += A->val[k];
        l->dinv[i] = d > 0 ? 1 / d : 0;
    }
    return mo_sweep_create(A->rows, A->coord, edge, true, &l->sweep);
}

static mo_status finest_create(const mo_csr *A, const int32_t (*coord)[3], mo_multigrid *mg)
{
    level *l = &mg->level[0];
    mg->levels = 1;
    l->A = (mo_stencils){.rows = A->rows, .row = A->row, .col = A->col, .coord = coord};
    l->A.reach = find_reach(A, coord);
    if (l->A.reach > 2) return MO_ERROR_INPUT;
    l->A.val = mo_alloc(sizeof(float) * (size_t)mo_csr_entries(A));
    if (!l->A.val) return MO_ERROR_MEMORY;
    double largest = mo_max_abs(mo_csr_entries(A), A->val), inverse = largest > 0 ? 1 / largest : 1;
    mg->scale = largest > 0 ? (float)largest : 1;
    int64_t entries = mo_csr_entries(A);
#pragma omp parallel for schedule(static) if (A->rows > SMALL)
    for (int64_t k = 0; k < entries; k++) l->A.val[k] = (float)(A->val[k] * inverse);
    return level_finish(l, TILE_FINEST);
}

static double float_entry(const void *matrix, int64_t k, int32_t *column)
{
    const mo_stencils *A = matrix;
    *column = A->col[k];
    return A->val[k];
}

typedef struct scaled_csr {
    const mo_csr *A;
    double inverse;
} scaled_csr;

static double double_entry(const void *matrix, int64_t k, int32_t *column)
{
    const scaled_csr *s = matrix;
    *column = s->A->col[k];
    return s->A->val[k] * s->inverse;
}

typedef struct pieces { // of the whole matrix
    int32_t count;
    int32_t *rows;   // [count] on the present level
    uint8_t *alive;  // [count] carried to the next level
    uint8_t *chosen; // [count] solved directly on the present level
} pieces;

// Ends the small pieces on a level; returns whether any is left to carry on.
static mo_status retire(mo_multigrid *mg, const mo_csr *A, const int32_t *piece, pieces *p, bool *any)
{
    int32_t number = mg->levels - 1, limit = number == 0 ? DIRECT_FINEST : MO_DIRECT_LIMIT;
    level *l = &mg->level[number];
    memset(p->rows, 0, sizeof(int32_t) * (size_t)p->count);
    for (int32_t i = 0; i < l->A.rows; i++) p->rows[piece[i]]++;
    *any = false;
    for (int32_t q = 0; q < p->count; q++) {
        p->chosen[q] = p->alive[q] && p->rows[q] <= limit;
        if (p->chosen[q]) p->alive[q] = 0;
        *any |= p->alive[q];
    }
    // Rounding of float entries leaves null spaces at 1e-7 of the diagonal.
    scaled_csr scaled = {A, 1 / (double)mg->scale};
    if (number == 0)
        return mo_direct_create(l->A.rows, piece, p->count, p->chosen, A->row, double_entry, &scaled, 1e-11,
                                &l->direct);
    return mo_direct_create(l->A.rows, piece, p->count, p->chosen, l->A.row, float_entry, &l->A, 3e-6, &l->direct);
}

static mo_status coarsen(mo_multigrid *mg, const uint8_t *alive)
{
    level *f = &mg->level[mg->levels - 1], *c = f + 1;
    MO_TRY(mo_lattice_coarsen(&f->lattice, f->A.rows, alive, &f->transfer, &c->lattice));
    mg->levels++;
    MO_TRY(mo_galerkin(&f->A, &f->lattice, &c->lattice, &f->transfer, &c->A));
    c->coord = mo_alloc(sizeof(int32_t[3]) * (size_t)c->A.rows);
    c->piece = mo_alloc(sizeof(int32_t) * (size_t)c->A.rows);
    if (!c->coord || !c->piece) return MO_ERROR_MEMORY;
    mo_lattice_coordinates(&c->lattice, c->coord, c->piece);
    c->A.coord = (const int32_t(*)[3])c->coord;
    level_release_building(f);
    return level_finish(c, TILE);
}

static mo_status build(mo_multigrid *mg, const mo_csr *A, const int32_t (*coord)[3], const int32_t *piece, pieces *p)
{
    MO_TRY(finest_create(A, coord, mg));
    bool any;
    MO_TRY(retire(mg, A, piece, p, &any));
    if (any) MO_TRY(mo_lattice_create(A->rows, coord, piece, &mg->level[0].lattice));
    // Every axis shrinks until 3 cells are left, 27 unknowns: pieces end long before the levels do.
    while (any && mg->levels < MAX_LEVELS) {
        MO_TRY(coarsen(mg, p->alive));
        MO_TRY(retire(mg, A, mg->level[mg->levels - 1].piece, p, &any));
    }
    level_release_building(&mg->level[mg->levels - 1]);
    return MO_OK;
}

mo_status mo_multigrid_create(const mo_csr *A, const int32_t (*coord)[3], const int32_t *piece, mo_multigrid **out)
{
    *out = NULL;
    pieces p = {0};
    for (int32_t i = 0; i < A->rows; i++)
        if (piece[i] >= p.count) p.count = piece[i] + 1;
    mo_multigrid *mg = mo_calloc(sizeof(mo_multigrid));
    p.rows = mo_alloc(sizeof(int32_t) * (size_t)p.count);
    p.alive = mo_alloc((size_t)p.count);
    p.chosen = mo_alloc((size_t)p.count);
    mo_status status = MO_ERROR_MEMORY;
    if (mg && p.rows && p.alive && p.chosen) {
        memset(p.alive, 1, (size_t)p.count);
        status = build(mg, A, coord, piece, &p);
    }
    mo_free(p.rows), mo_free(p.alive), mo_free(p.chosen);
    if (status != MO_OK) {
        mo_multigrid_destroy(mg);
        return status;
    }
    *out = mg;
    return MO_OK;
}

// ---- Cycle ----

// b_i - A_i x, two sums so that consecutive rows of a sweep wait less for each other
static inline float row_residual(const mo_stencils *A, const float *b, const float *x, int32_t i)
{
    int64_t k = A->row[i], end = A->row[i + 1];
    float s = b[i], t = 0;
    for (; k + 1 < end; k += 2) {
        s -= A->val[k] * x[A->col[k]];
        t += A->val[k + 1] * x[A->col[k + 1]];
    }
    if (k < end) s -= A->val[k] * x[A->col[k]];
    return s - t;
}

static void sweep_forward(level *l)
{
    const mo_sweep *s = &l->sweep;
#pragma omp parallel if (l->A.rows > SMALL)
    for (int32_t c = 0; c < s->colours; c++) {
#pragma omp for schedule(static)
        for (int32_t m = s->colour[c]; m < s->colour[c + 1]; m++) {
            int32_t g = s->member[m];
            for (int32_t i = s->group[g]; i < s->group[g + 1]; i++)
                l->x[i] += row_residual(&l->A, l->b, l->x, i) * l->dinv[i];
        }
    }
}

static void sweep_backward(level *l)
{
    const mo_sweep *s = &l->sweep;
#pragma omp parallel if (l->A.rows > SMALL)
    for (int32_t c = s->colours - 1; c >= 0; c--) {
#pragma omp for schedule(static)
        for (int32_t m = s->colour[c]; m < s->colour[c + 1]; m++) {
            int32_t g = s->member[m];
            for (int32_t i = s->group[g + 1] - 1; i >= s->group[g]; i--)
                l->x[i] += row_residual(&l->A, l->b, l->x, i) * l->dinv[i];
        }
    }
}

// Residual, and its restriction P^T r: cubes of one colour never share a parent.
static void restrict_residual(level *f, level *c)
{
    const mo_sweep *s = &f->sweep;
    const mo_transfer *t = &f->transfer;
    memset(c->b, 0, sizeof(float) * (size_t)c->A.rows);
#pragma omp parallel if (f->A.rows > SMALL)
    for (int32_t colour = 0; colour < s->colours; colour++) {
#pragma omp for schedule(static)
        for (int32_t m = s->colour[colour]; m < s->colour[colour + 1]; m++) {
            int32_t g = s->member[m];
            for (int32_t i = s->group[g]; i < s->group[g + 1]; i++) {
                float r = f->r[i] = row_residual(&f->A, f->b, f->x, i);
                const int32_t *parent = t->parent + (int64_t)t->parents * i;
                if (parent[0] < 0) continue;
                for (int32_t k = 0; k < t->parents; k++) c->b[parent[k]] += t->weight[k] * r;
            }
        }
    }
}

static void interpolate_add(level *f, const level *c)
{
    const mo_transfer *t = &f->transfer;
#pragma omp parallel for schedule(static) if (f->A.rows > SMALL)
    for (int32_t i = 0; i < f->A.rows; i++) {
        const int32_t *parent = t->parent + (int64_t)t->parents * i;
        if (parent[0] < 0) continue;
        float e = 0;
        for (int32_t k = 0; k < t->parents; k++) e += t->weight[k] * c->x[parent[k]];
        f->x[i] += e;
    }
}

static void cycle(mo_multigrid *mg, int32_t number)
{
    level *l = &mg->level[number];
    memset(l->x, 0, sizeof(float) * (size_t)l->A.rows);
    if (number == mg->levels - 1) {
        mo_direct_solve_add(&l->direct, l->b, l->x);
        return;
    }
    sweep_forward(l);
    restrict_residual(l, l + 1);
    mo_direct_solve_add(&l->direct, l->r, l->x);
    cycle(mg, number + 1);
    interpolate_add(l, l + 1);
    sweep_backward(l);
}

void mo_multigrid_apply(void *context, const double *r, double *z)
{
    mo_multigrid *mg = context;
    level *l = &mg->level[0];
    // Scaled to the size of one: residuals near convergence must not leave the range of float.
    double norm = mo_max_abs(l->A.rows, r), down = norm > 0 ? 1 / norm : 0, up = norm / mg->scale;
#pragma omp parallel for schedule(static) if (l->A.rows > SMALL)
    for (int32_t i = 0; i < l->A.rows; i++) l->b[i] = (float)(down * r[i]);
    cycle(mg, 0);
#pragma omp parallel for schedule(static) if (l->A.rows > SMALL)
    for (int32_t i = 0; i < l->A.rows; i++) z[i] = up * l->x[i];
}

mo_multigrid_info mo_multigrid_describe(const mo_multigrid *mg)
{
    mo_multigrid_info info = {.levels = mg->levels, .coarsest = mg->level[mg->levels - 1].A.rows};
    const mo_stencils *A = &mg->level[0].A;
    double finest = A->rows ? (double)A->row[A->rows] : 0, all = 0;
    for (int32_t k = 0; k < mg->levels; k++) {
        const level *l = &mg->level[k];
        int64_t n = l->A.rows, entries = n ? l->A.row[n] : 0;
        all += (double)entries;
        info.bytes += entries * (k ? 8 : 4) + n * (4 * 4 + (k ? 8 : 0)) + 4 * (int64_t)l->direct.entries;
        if (l->transfer.parent) info.bytes += 4 * n * l->transfer.parents;
        info.bytes += 8 * (int64_t)l->sweep.groups;
    }
    info.operator_complexity = finest > 0 ? all / finest : 1;
    return info;
}
