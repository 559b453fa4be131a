// The dual matrix of a set of blocks: velocities eliminated, A = S + dt B M^-1 B^T (docs/math.md 5.1, VS eq. 20-21).
//
// Rows of several blocks are merged cell by cell within each tile, so that coloured sweeps find tiles contiguous.
#include "base/parallel.h"
#include "system/method.h"
#include "system/solids.h"
#include <math.h>
#include <string.h>

enum { SMALL = 4096 };

void mo_dual_destroy(mo_dual *d)
{
    mo_csr_destroy(&d->A), mo_csr_destroy(&d->Bt);
    for (int32_t g = 0; g < MO_GROUPS; g++) mo_csr_destroy(&d->on[g]);
    mo_free(d->lower), mo_free(d->upper), mo_free(d->rhs), mo_free(d->x), mo_free(d->hard), mo_free(d->coord);
    for (int32_t k = 0; k < MO_BLOCK_KINDS; k++) mo_free(d->place[k]);
    *d = (mo_dual){0};
}

// Order of a lattice cell: by tile, then within it, as the grid stores cells.
static uint64_t cell_key(const int32_t c[3])
{
    uint64_t tile = (uint64_t)(c[2] >> 3) << 36 | (uint64_t)(c[1] >> 3) << 18 | (uint64_t)(c[0] >> 3);
    return tile << 9 | (uint64_t)((c[2] & 7) << 6 | (c[1] & 7) << 3 | (c[0] & 7));
}

// Rows of solids alone come last, as if in a tile beyond the lattice.
static const int32_t beyond[3] = {1 << 20, 1 << 20, 1 << 20};

static const int32_t *coord_of(const mo_block *b, int32_t row) { return b->coord ? b->coord[row] : beyond; }

// Gives every row of the set's blocks its place. Each block's rows ascend by cell, so this is a merge.
static void merge_rows(const mo_system *s, mo_dual *d)
{
    int32_t next[MO_BLOCK_KINDS] = {0};
    for (int32_t row = 0; row < d->rows; row++) {
        int32_t first = -1;
        uint64_t least = UINT64_MAX;
        for (int32_t k = 0; k < MO_BLOCK_KINDS; k++) {
            if (!d->place[k] || next[k] == s->block[k]->rows) continue;
            uint64_t key = cell_key(coord_of(s->block[k], next[k]));
            if (key < least) least = key, first = k;
        }
        d->place[first][next[first]++] = row;
    }
}

enum { COMPLIANCE = MO_GROUPS }; // of the matrices of a block; the others are its parts on groups

static const mo_csr *matrix_of(const mo_block *b, int32_t part)
{
    return part == COMPLIANCE ? &b->compliance : &b->on[part];
}

// One of the matrices of all blocks, the rows in their places. So are the columns of the compliance.
static mo_status merged_matrix(const mo_system *s, const mo_dual *d, int32_t part, mo_csr *B)
{
    int64_t entries = 0;
    for (int32_t k = 0; k < MO_BLOCK_KINDS; k++)
        if (d->place[k]) entries += mo_csr_entries(matrix_of(s->block[k], part));
    MO_TRY(mo_csr_create(d->rows, part == COMPLIANCE ? d->rows : s->group[part].count, entries, B));
    for (int32_t k = 0; k < MO_BLOCK_KINDS; k++) {
        const mo_csr *from = d->place[k] ? matrix_of(s->block[k], part) : NULL;
        for (int32_t i = 0; from && i < from->rows; i++) B->row[d->place[k][i] + 1] = from->row[i + 1] - from->row[i];
    }
    for (int32_t i = 0; i < d->rows; i++) B->row[i + 1] += B->row[i];
    for (int32_t k = 0; k < MO_BLOCK_KINDS; k++) {
        if (!d->place[k]) continue;
        const mo_csr *from = matrix_of(s->block[k], part);
        const int32_t *column = part == COMPLIANCE ? d->place[k] : NULL;
#pragma omp parallel for schedule(static) if (from->rows > SMALL)
        for (int32_t i = 0; i < from->rows; i++)
            for (int64_t e = from->row[i], to = B->row[d->place[k][i]]; e < from->row[i + 1]; e++, to++)
                B->col[to] = column ? column[from->col[e]] : from->col[e], B->val[to] = from->val[e];
    }
    return MO_OK;
}

static mo_status square_faces(const mo_system *s, const mo_csr *B, mo_dual *d)
{
    MO_TRY(mo_csr_transpose(B, &d->Bt));
    return mo_faces_square(&s->faces, s->dt, B, &d->Bt, &d->A);
}

static mo_status allocate(const mo_system *s, uint32_t set, mo_dual *d)
{
    bool ok = true;
    for (int32_t k = 0; k < MO_BLOCK_KINDS; k++) {
        if (!mo_set_has(s, set, k)) continue;
        d->rows += s->block[k]->rows;
        d->place[k] = mo_alloc(sizeof(int32_t) * (size_t)s->block[k]->rows);
        ok &= d->place[k] != NULL;
    }
    size_t rows = (size_t)d->rows;
    for (int32_t k = 0; k < MO_BLOCK_KINDS && !d->lower; k++) {
        if (!d->place[k] || !(s->block[k]->lower || s->block[k]->upper)) continue;
        d->lower = mo_alloc(sizeof(double) * rows), d->upper = mo_alloc(sizeof(double) * rows);
        if (!d->lower || !d->upper) return MO_ERROR_MEMORY;
    }
    d->rhs = mo_alloc(sizeof(double) * rows), d->x = mo_alloc(sizeof(double) * rows);
    d->hard = mo_alloc(rows), d->coord = mo_alloc(sizeof *d->coord * rows);
    return ok && d->rhs && d->x && d->hard && d->coord ? MO_OK : MO_ERROR_MEMORY;
}

// Right-hand side, warm start, kinds and coordinates of one block's rows.
static mo_status place_vectors(const mo_system *s, const mo_block *b, const int32_t *place, mo_dual *d)
{
    double *r = mo_alloc(sizeof(double) * (size_t)b->rows);
    if (!r) return MO_ERROR_MEMORY;
    mo_block_residual(s, b, r);
#pragma omp parallel for schedule(static) if (b->rows > SMALL)
    for (int32_t i = 0; i < b->rows; i++) {
        int32_t to = place[i];
        d->rhs[to] = r[i], d->x[to] = b->x[i];
        d->hard[to] = b->compliance.rows == 0 && !b->lower && !b->upper;
        memcpy(d->coord[to], coord_of(b, i), sizeof d->coord[to]);
        if (d->lower)
            d->lower[to] = b->lower ? b->lower[i] : -INFINITY, d->upper[to] = b->upper ? b->upper[i] : INFINITY;
    }
    mo_free(r);
    return MO_OK;
}

// The default softness of contacts in the papers' methods for nodes: a part of the diagonal (EM 3.7.4).
static const double papers_softness = 1e-3;

static bool softened_as_in_papers(const mo_system *s, const mo_block *b)
{
    return s->method && s->method->factor && !b->softness;
}

// gamma_i and the yield to which it is relative, for the rows on solids alone [2 contacts]; NULL without memory. A
// yield of 0 stands for the diagonal.
static double *list_softness(const mo_system *s, const mo_dual *d)
{
    double *gamma = mo_alloc(sizeof(double) * 2 * (size_t)d->contacts);
    for (int32_t k = 0; k < MO_BLOCK_KINDS && gamma; k++)
        for (int32_t i = 0; d->place[k] && !s->block[k]->coord && i < s->block[k]->rows; i++) {
            int32_t row = d->place[k][i] - (d->rows - d->contacts);
            bool papers = softened_as_in_papers(s, s->block[k]), soft = k != MO_BLOCK_ELASTIC;
            gamma[row] = !soft ? 0 : papers ? papers_softness : mo_block_softness(s->block[k], i);
            gamma[d->contacts + row] =
                soft && !papers && s->nodes.count ? s->dt * mo_solids_yield(s, s->block[k], i) : 0;
        }
    return gamma;
}

// Adds gamma_i times the yield of the rows on solids alone to their diagonal, which keeps their product positive (MO
// 4.4.5). Friction is softened about its warm start instead of about 0; otherwise bodies held by it would creep.
static mo_status soften(const mo_system *s, mo_dual *d)
{
    int32_t from = d->rows - d->contacts;
    double *gamma = list_softness(s, d);
    if (!gamma) return MO_ERROR_MEMORY;
    const double *yield = gamma + d->contacts;
    for (int32_t i = from; i < d->rows; i++)
        for (int64_t k = d->A.row[i]; k < d->A.row[i + 1]; k++) {
            if (d->A.col[k] != i) continue;
            double v = yield[i - from] > 0 ? yield[i - from] : d->A.val[k]; // without nodes it is the diagonal
            d->A.val[k] = yield[i - from] > 0 ? d->A.val[k] + gamma[i - from] * v : (1 + gamma[i - from]) * v;
            if (d->lower && d->lower[i] < 0) d->rhs[i] += gamma[i - from] * v * d->x[i];
        }
    mo_free(gamma);
    return MO_OK;
}

// Adds the groups other than faces. Products that are applied are formed only among rows on solids alone.
static mo_status add_groups(const mo_system *s, mo_dual *d)
{
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++) {
        bool touched = false;
        for (int32_t k = 0; k < MO_BLOCK_KINDS; k++) touched |= d->place[k] && s->block[k]->on[g].rows > 0;
        if (!touched) continue;
        MO_TRY(merged_matrix(s, d, g, &d->on[g]));
        const mo_group_kind *kind = s->group[g].kind;
        int32_t from = kind->applied ? d->rows - d->contacts : 0;
        if (from < d->rows) MO_TRY(kind->add_square(&s->group[g], s->dt, &d->on[g], from, &d->A));
    }
    return d->contacts ? soften(s, d) : MO_OK;
}

static mo_status build(const mo_system *s, uint32_t set, mo_dual *d)
{
    mo_csr B = {0}, S = {0};
    MO_TRY(allocate(s, set, d));
    merge_rows(s, d);
    const mo_block *only = NULL;
    int32_t blocks = 0;
    bool compliant = false;
    for (int32_t k = 0; k < MO_BLOCK_KINDS; k++) {
        if (!d->place[k]) continue;
        only = s->block[k], blocks++;
        compliant |= only->compliance.rows > 0;
        d->contacts += only->coord ? 0 : only->rows;
        MO_TRY(place_vectors(s, only, d->place[k], d));
    }
    bool merge = blocks > 1 || only->on[MO_FACES].rows == 0;
    mo_status status = merge ? merged_matrix(s, d, MO_FACES, &B) : MO_OK;
    if (status == MO_OK) status = square_faces(s, merge ? &B : &only->on[MO_FACES], d);
    if (status == MO_OK && compliant) status = merged_matrix(s, d, COMPLIANCE, &S);
    if (status == MO_OK && compliant) status = mo_csr_add(&d->A, &S);
    if (status == MO_OK) status = add_groups(s, d);
    mo_csr_destroy(&B), mo_csr_destroy(&S);
    return status;
}

mo_status mo_dual_create(const mo_system *s, uint32_t set, mo_dual *out, mo_error *err)
{
    MO_ASSERT(s->dt >= 0 && set < 1u << MO_BLOCK_KINDS);
    *out = (mo_dual){0};
    bool any = false;
    for (int32_t k = 0; k < MO_BLOCK_KINDS; k++) any |= mo_set_has(s, set, k);
    if (!any || build(s, set, out) == MO_OK) return MO_OK;
    mo_dual_destroy(out);
    return mo_fail_memory(err);
}
