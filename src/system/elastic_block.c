// The block E: factors of the stiffness, and the rows of all parts.
#include "system/elastic_block.h"
#include "sparse/ldl.h"
#include "sparse/minimum_degree.h"
#include <string.h>

static const double least_stiffness = 1e-10; // of C, as in EM 3.7.3

// ---- Factors ----

// H - weight on the unknowns that move; `number` gets their numbers, and -1 elsewhere.
static mo_status take_stiffness(const mo_group *nodes, int32_t part, mo_csr *K, int32_t *number, int32_t *moving)
{
    const mo_node_matrix *m = nodes->nodes;
    const mo_node_part *p = &m->part[part];
    const double *weight = m->guise->weight + m->first[part];
    int64_t at = 0;
    *moving = 0;
    MO_TRY(mo_csr_create(p->H.rows, p->H.rows, mo_csr_entries(&p->H), K));
    for (int32_t i = 0; i < p->H.rows; i++) {
        number[i] = p->held[i] ? -1 : (*moving)++;
        for (int64_t e = p->H.row[i]; !p->held[i] && e < p->H.row[i + 1]; e++) {
            int32_t j = p->H.col[e];
            if (p->held[j]) continue;
            K->col[at] = j, K->val[at++] = p->H.val[e] - (i == j ? weight[i] : 0);
        }
        K->row[i + 1] = at;
    }
    return MO_OK;
}

// The rows of A that move. Their columns are numbered anew if `square`.
static mo_status keep_moving(const mo_csr *A, const int32_t *number, int32_t moving, bool square, mo_csr *out)
{
    int64_t at = 0;
    MO_TRY(mo_csr_create(moving, square ? moving : A->cols, mo_csr_entries(A), out));
    for (int32_t i = 0; i < A->rows; i++) {
        if (number[i] < 0) continue;
        for (int64_t e = A->row[i]; e < A->row[i + 1]; e++) {
            if (number[A->col[e]] < 0) continue;
            out->col[at] = square ? number[A->col[e]] : A->col[e], out->val[at++] = A->val[e];
        }
        out->row[number[i] + 1] = at;
    }
    return MO_OK;
}

// A diagonal C^-1; values NULL: 1.
static mo_status diagonal_compliance(int32_t rows, const double *stiffness, mo_csr *out)
{
    MO_TRY(mo_csr_create(rows, rows, rows, out));
    for (int32_t i = 0; i < rows; i++) {
        double c = stiffness ? stiffness[i] : 1;
        out->col[i] = i, out->val[i] = 1 / (c > least_stiffness ? c : least_stiffness), out->row[i + 1] = i + 1;
    }
    return MO_OK;
}

// Q^T of L: row k is column k of L with its 1, on the rows of the part; two transpositions put them in order.
static mo_status transpose_factor(const mo_ldl *l, int32_t unknowns, mo_csr *Qt)
{
    int32_t n = l->block[1];
    mo_csr A = {0}, At = {0};
    int64_t at = 0;
    MO_TRY(mo_csr_create(n, unknowns, l->start[n] + n, &A));
    for (int32_t k = 0; k < n; k++) {
        A.col[at] = l->member[k], A.val[at++] = 1;
        for (int64_t e = l->start[k]; e < l->start[k + 1]; e++)
            A.col[at] = l->member[l->row[e]], A.val[at++] = l->val[e];
        A.row[k + 1] = at;
    }
    mo_status status = mo_csr_transpose(&A, &At);
    mo_csr_destroy(&A);
    if (status == MO_OK) status = mo_csr_transpose(&At, Qt);
    mo_csr_destroy(&At);
    return status;
}

// L D L^T of what moves, in the order of minimum degree. *out takes the lists even on failure.
static mo_status factor_ldl(const mo_csr *K, const int32_t *number, int32_t moving, mo_ldl *out)
{
    int32_t *order = mo_alloc(sizeof(int32_t) * ((size_t)K->rows + 1)), *block = mo_calloc(sizeof(int32_t) * 2), n = 0;
    mo_status status = order && block ? mo_minimum_degree(K, order) : MO_ERROR_MEMORY;
    if (status != MO_OK) {
        mo_free(order), mo_free(block);
        return status;
    }
    for (int32_t i = 0; i < K->rows; i++)
        if (number[order[i]] >= 0) order[n++] = order[i];
    MO_ASSERT(n == moving);
    block[1] = moving;
    return mo_ldl_create(K, 1, block, order, out);
}

static mo_status ldlt_rows(const mo_csr *K, const int32_t *number, int32_t moving, mo_csr *Qt, mo_csr *compliance)
{
    mo_ldl l = {0};
    MO_TRY(factor_ldl(K, number, moving, &l));
    mo_status status = transpose_factor(&l, K->rows, Qt);
    double *stiffness = l.inverse; // 0: the pivot vanished
    for (int32_t k = 0; k < moving; k++) stiffness[k] = stiffness[k] > 0 ? 1 / stiffness[k] : 0;
    if (status == MO_OK) status = diagonal_compliance(moving, stiffness, compliance);
    mo_ldl_destroy(&l);
    return status;
}

static mo_status ic_rows(const mo_csr *K, const int32_t *number, int32_t moving, mo_csr *Qt, mo_csr *compliance)
{
    mo_ic0 *ic = NULL;
    mo_csr U = {0};
    double shift;
    mo_status status = mo_ic0_create_shifted(K, &ic, &shift);
    if (status == MO_OK) status = mo_ic0_factor(ic, &U);
    mo_ic0_destroy(ic);
    if (status == MO_OK) status = keep_moving(&U, number, moving, false, Qt);
    mo_csr_destroy(&U);
    return status == MO_OK ? diagonal_compliance(moving, NULL, compliance) : status;
}

static mo_status itself_rows(const mo_csr *K, const int32_t *number, int32_t moving, mo_csr *Qt, mo_csr *compliance)
{
    MO_TRY(keep_moving(K, number, moving, false, Qt));
    return keep_moving(K, number, moving, true, compliance);
}

typedef mo_status (*rows_fn)(const mo_csr *K, const int32_t *number, int32_t moving, mo_csr *Qt, mo_csr *compliance);

static mo_status factor_by(rows_fn rows, const mo_group *nodes, int32_t part, mo_csr *Qt, mo_csr *compliance)
{
    mo_csr K = {0};
    int32_t moving, *number = mo_alloc(sizeof(int32_t) * ((size_t)nodes->nodes->part[part].H.rows + 1));
    mo_status status = number ? take_stiffness(nodes, part, &K, number, &moving) : MO_ERROR_MEMORY;
    if (status == MO_OK) status = rows(&K, number, moving, Qt, compliance);
    mo_csr_destroy(&K);
    mo_free(number);
    return status;
}

mo_status mo_factor_ldlt(const mo_group *nodes, int32_t part, mo_csr *Qt, mo_csr *compliance)
{
    return factor_by(ldlt_rows, nodes, part, Qt, compliance);
}

mo_status mo_factor_ic(const mo_group *nodes, int32_t part, mo_csr *Qt, mo_csr *compliance)
{
    return factor_by(ic_rows, nodes, part, Qt, compliance);
}

mo_status mo_factor_itself(const mo_group *nodes, int32_t part, mo_csr *Qt, mo_csr *compliance)
{
    return factor_by(itself_rows, nodes, part, Qt, compliance);
}

// The rows of the elements without the columns of held unknowns, which do not move away from v_k.
mo_status mo_factor_natural(const mo_group *nodes, int32_t part, mo_csr *Qt, mo_csr *compliance)
{
    const mo_node_matrix *m = nodes->nodes;
    const uint8_t *held = m->part[part].held;
    double *value = NULL;
    MO_TRY(m->law.modes(m->law.user, part, m->guise->at + m->first[part], Qt, &value));
    int64_t at = 0, from = 0;
    int32_t rows = 0;
    for (int32_t i = 0; i < Qt->rows; i++) {
        int64_t end = Qt->row[i + 1], first = at;
        for (; from < end; from++)
            if (!held[Qt->col[from]]) Qt->col[at] = Qt->col[from], Qt->val[at++] = Qt->val[from];
        if (at == first) continue; // of an element that is held whole
        value[rows] = value[i], Qt->row[++rows] = at;
    }
    Qt->rows = rows;
    mo_status status = diagonal_compliance(rows, value, compliance);
    mo_free(value);
    return status;
}

// ---- The block ----

// Appends the rows of a part, in columns from `column` on, times s.
static void append(const mo_csr *A, int32_t column, double s, int32_t row, mo_csr *out)
{
    int64_t at = out->row[row];
    for (int32_t i = 0; i < A->rows; i++) {
        for (int64_t e = A->row[i]; e < A->row[i + 1]; e++, at++)
            out->col[at] = A->col[e] + column, out->val[at] = s * A->val[e];
        out->row[row + i + 1] = at;
    }
}

static mo_status join_parts(const mo_system *s, const mo_csr *Qt, const mo_csr *compliance, mo_block *out)
{
    const mo_node_matrix *m = s->nodes.nodes;
    int64_t entries[2] = {0};
    for (int32_t k = 0; k < m->parts; k++) {
        out->rows += Qt[k].rows;
        entries[0] += mo_csr_entries(&Qt[k]), entries[1] += mo_csr_entries(&compliance[k]);
    }
    MO_TRY(mo_csr_create(out->rows, s->nodes.count, entries[0], &out->on[MO_NODES]));
    MO_TRY(mo_csr_create(out->rows, out->rows, entries[1], &out->compliance));
    for (int32_t k = 0, row = 0; k < m->parts; row += Qt[k++].rows) {
        append(&Qt[k], m->first[k], 1, row, &out->on[MO_NODES]);
        append(&compliance[k], row, s->dt, row, &out->compliance);
    }
    out->x = mo_calloc(sizeof(double) * ((size_t)out->rows + 1));
    out->rhs = mo_calloc(sizeof(double) * ((size_t)out->rows + 1));
    if (!out->x || !out->rhs) return MO_ERROR_MEMORY;
    if (out->rows) mo_csr_multiply(&out->on[MO_NODES], m->guise->at, out->rhs);
    return MO_OK;
}

mo_status mo_elastic_block_renew(mo_system *s, mo_stiffness_factor factor)
{
    int32_t parts = s->nodes.nodes->parts;
    mo_block_destroy(s->block[MO_BLOCK_ELASTIC]);
    mo_block *b = s->block[MO_BLOCK_ELASTIC] = mo_calloc(sizeof *b);
    mo_csr *Qt = mo_calloc(sizeof *Qt * 2 * ((size_t)parts + 1)), *compliance = Qt ? Qt + parts : NULL;
    mo_status status = b && Qt ? MO_OK : MO_ERROR_MEMORY;
    for (int32_t k = 0; status == MO_OK && k < parts; k++) status = factor(&s->nodes, k, &Qt[k], &compliance[k]);
    if (status == MO_OK) status = join_parts(s, Qt, compliance, b);
    for (int32_t k = 0; Qt && k < 2 * parts; k++) mo_csr_destroy(&Qt[k]);
    mo_free(Qt);
    return status;
}

void mo_elastic_block_restart(mo_system *s)
{
    mo_block *b = s->block[MO_BLOCK_ELASTIC];
    if (!b || !b->rows) return;
    memset(b->x, 0, sizeof(double) * (size_t)b->rows);
    mo_csr_multiply(&b->on[MO_NODES], s->nodes.velocity, b->rhs);
}
