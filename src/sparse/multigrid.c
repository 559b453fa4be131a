// The multigrid hierarchy and its V-cycle (SOLVER.md A, "Poisson V-cycle"), in
// float.
//
// On every level a connected piece of few unknowns is solved directly and is
// not carried further: coarsening never stalls on droplets, and the last level
// is nothing but such pieces.
#include "sparse/multigrid.h"
#include "base/parallel.h"
#include "sparse/level.h"
#include <string.h>

enum { MAX_LEVELS = 32, SMALL = 4096, DIRECT_FINEST = 24 };

struct mo_multigrid {
    int32_t levels;
    mo_level level[MAX_LEVELS];
    double scale;       // level 0 holds A / scale
    int64_t entries;    // of A
    double all_entries; // of all levels, as if no row shared its pattern
};

// ---- Building ----

void mo_multigrid_destroy(mo_multigrid *mg)
{
    if (!mg) return;
    for (int32_t l = 0; l < mg->levels; l++) mo_level_destroy(&mg->level[l]);
    mo_free(mg);
}

typedef struct pieces { // of the whole matrix
    int32_t count;
    int32_t *rows;   // [count] on the present level
    uint8_t *alive;  // [count] carried to the next level
    uint8_t *chosen; // [count] solved directly on the present level
} pieces;

// Chooses the pieces that end on a level; returns whether any is left to carry
// on.
static bool choose(pieces *p, int32_t limit)
{
    bool any = false;
    for (int32_t q = 0; q < p->count; q++) {
        p->chosen[q] = p->alive[q] && p->rows[q] <= limit;
        if (p->chosen[q]) p->alive[q] = 0;
        any |= p->alive[q];
    }
    return any;
}

static mo_status retire_finest(mo_multigrid *mg, const mo_csr *A, const int32_t *piece, pieces *p, bool *any)
{
    memset(p->rows, 0, sizeof(int32_t) * (size_t)p->count);
    for (int32_t i = 0; i < A->rows; i++) p->rows[piece[i]]++;
    *any = choose(p, DIRECT_FINEST);
    return mo_direct_create(A, mg->scale, piece, p->count, p->chosen, 1e-11, &mg->level[0].direct);
}

static mo_status retire_coarse(mo_level *l, pieces *p, bool *any)
{
    memset(p->rows, 0, sizeof(int32_t) * (size_t)p->count);
    for (int32_t b = 0; b < l->lattice.blocks; b++)
        p->rows[l->lattice.block[b].piece] += __builtin_popcountll(l->lattice.block[b].mask);
    *any = choose(p, MO_DIRECT_LIMIT);
    int32_t *piece = mo_alloc(sizeof(int32_t) * (size_t)l->A.rows);
    if (!piece) return MO_ERROR_MEMORY;
    for (int32_t b = 0; b < l->lattice.blocks; b++)
        for (int32_t i = l->sweep.group[b]; i < l->sweep.group[b + 1]; i++) piece[i] = l->lattice.block[b].piece;
    mo_csr A;
    mo_status status = mo_stencils_pieces(&l->A, &l->lattice, p->chosen, &A);
    if (status == MO_OK) {
        // Rounding of float entries leaves null spaces at 1e-7 of the diagonal.
        status = mo_direct_create(&A, 1, piece, p->count, p->chosen, 3e-6, &l->direct);
        mo_csr_destroy(&A);
    }
    mo_free(piece);
    return status;
}

static void count_all_entries(mo_multigrid *mg, const mo_stencils *A)
{
    for (int32_t i = 0; i < A->rows; i++)
        mg->all_entries += (double)(A->start[A->pattern[i] + 1] - A->start[A->pattern[i]] + 1);
}

static mo_status coarsen(mo_multigrid *mg, const uint8_t *alive, const int32_t (*coord)[3], const int32_t *piece)
{
    mo_level *f = &mg->level[mg->levels - 1], *c = f + 1;
    mo_lattice_flat(&f->lattice, alive, f->flat);
    MO_TRY(mo_lattice_coarsen(&f->lattice, alive, f->flat, &c->lattice));
    mg->levels++;
    MO_TRY(mo_level_connect(f, &c->lattice, alive, coord, piece));
    MO_TRY(mo_galerkin(&f->A, &f->lattice, f->flat, &c->lattice, &c->A));
    mo_lattice_destroy(&f->lattice);
    count_all_entries(mg, &c->A);
    return mo_level_create_coarse(c);
}

static mo_status build(mo_multigrid *mg, const mo_csr *A, const int32_t (*coord)[3], const int32_t *piece, pieces *p)
{
    mo_level *finest = &mg->level[0];
    mg->levels = 1;
    mg->entries = mo_csr_entries(A), mg->all_entries = (double)mg->entries;
    MO_TRY(mo_stencils_create(A, coord, MO_FINEST_TILE, &finest->A, &mg->scale));
    MO_TRY(mo_level_create_finest(finest, A, coord));
    bool any;
    MO_TRY(retire_finest(mg, A, piece, p, &any));
    if (any) MO_TRY(mo_lattice_create(A->rows, coord, piece, finest->A.pattern, &finest->lattice));
    // Every axis shrinks until 3 cells are left, 27 unknowns: pieces end long
    // before the levels do.
    while (any && mg->levels < MAX_LEVELS) {
        bool first = mg->levels == 1;
        MO_TRY(coarsen(mg, p->alive, first ? coord : NULL, first ? piece : NULL));
        MO_TRY(retire_coarse(&mg->level[mg->levels - 1], p, &any));
    }
    mo_lattice_destroy(&mg->level[mg->levels - 1].lattice);
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

static void cycle(mo_multigrid *mg, int32_t number)
{
    mo_level *l = &mg->level[number];
    if (number == mg->levels - 1) {
        memset(l->x, 0, sizeof(float) * (size_t)l->A.rows);
        mo_direct_solve_add(&l->direct, l->b, l->x);
        return;
    }
    mo_level_sweep_forward(l);
    mo_level_restrict(l, l + 1);
    mo_direct_solve_add(&l->direct, l->r, l->x);
    cycle(mg, number + 1);
    mo_level_interpolate(l, l + 1);
    mo_level_sweep_backward(l);
}

void mo_multigrid_apply(void *context, const double *r, double *z)
{
    mo_multigrid *mg = context;
    mo_level *l = &mg->level[0];
    // Scaled to the size of one: residuals near convergence must not leave the
    // range of float.
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
    info.operator_complexity = mg->entries ? mg->all_entries / (double)mg->entries : 1;
    for (int32_t l = 0; l < mg->levels; l++) info.bytes += mo_level_bytes(&mg->level[l]);
    return info;
}
