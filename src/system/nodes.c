// The group of nodes: a sparse H and its factor.
#include "system/nodes.h"
#include <string.h>

static void nodes_apply(const mo_group *g, double s, const double *v, double *f)
{
    mo_csr_multiply_add(&g->nodes->H, s, v, f);
}

static void nodes_apply_inverse(const mo_group *g, double s, const double *f, double *v)
{
    const mo_ldl *l = &g->nodes->factor;
    double *x = g->nodes->x;
    int32_t n = l->block[1];
    for (int32_t i = 0; i < n; i++) x[i] = f[l->member[i]];
    mo_ldl_solve(l, 0, x);
    for (int32_t i = 0; i < n; i++) v[l->member[i]] += s * x[i];
}

static void nodes_diagonal(const mo_group *g, double *d) { mo_csr_diagonal(&g->nodes->H, d); }

static int32_t nodes_row(const mo_group *g, int32_t i, int32_t *col, double *val)
{
    const mo_csr *H = &g->nodes->H;
    size_t n = (size_t)(H->row[i + 1] - H->row[i]);
    if (col && n)
        memcpy(col, H->col + H->row[i], sizeof(int32_t) * n), memcpy(val, H->val + H->row[i], sizeof(double) * n);
    return (int32_t)n;
}

// A solve with the row as force; the scratch of one solve holds force and motion.
static double nodes_yield(const mo_group *g, const mo_csr *B, int32_t row)
{
    const mo_ldl *l = &g->nodes->factor;
    double *x = g->nodes->x, sum = 0;
    int32_t n = l->block[1];
    for (int32_t i = 0; i < n; i++) x[i] = mo_csr_entry(B, row, l->member[i]);
    mo_ldl_solve(l, 0, x);
    for (int32_t i = 0; i < n; i++) sum += mo_csr_entry(B, row, l->member[i]) * x[i];
    return sum;
}

// Rows from `from` on that touch nodes, ascending; *count of them. NULL: no memory.
static int32_t *list_touching(const mo_csr *B, int32_t from, int32_t *count)
{
    *count = 0;
    for (int32_t i = from; i < B->rows; i++) *count += B->row[i + 1] > B->row[i];
    int32_t *touch = mo_alloc(sizeof(int32_t) * (size_t)*count);
    for (int32_t i = from, n = 0; touch && i < B->rows; i++)
        if (B->row[i + 1] > B->row[i]) touch[n++] = i;
    return touch;
}

// H^-1 is full, and so is the product among the rows that touch nodes: a solve for each of them. This is for small
// problems and comparisons; a form that has many nodes applies H^-1 instead.
static mo_status nodes_add_square(const mo_group *g, double s, const mo_csr *B, int32_t from, mo_csr *A)
{
    int32_t count, *touch = list_touching(B, from, &count);
    double *f = mo_alloc(sizeof(double) * 2 * (size_t)g->count), *v = f + g->count;
    mo_csr C = {0};
    mo_status status = touch && f ? mo_csr_create(B->rows, B->rows, (int64_t)count * count, &C) : MO_ERROR_MEMORY;
    for (int32_t i = 0, t = 0; status == MO_OK && i < B->rows; i++) {
        C.row[i + 1] = C.row[i];
        if (t == count || touch[t] != i) continue;
        t++;
        memset(f, 0, sizeof(double) * 2 * (size_t)g->count);
        for (int64_t k = B->row[i]; k < B->row[i + 1]; k++) f[B->col[k]] = B->val[k];
        nodes_apply_inverse(g, s, f, v);
        for (int32_t m = 0; m < count; m++)
            C.col[C.row[i + 1]] = touch[m], C.val[C.row[i + 1]++] = mo_csr_row_product(B, touch[m], v);
    }
    for (int32_t a = 0; status == MO_OK && a < count; a++) // symmetric to the last bit
        for (int32_t b = 0; b < a; b++) C.val[C.row[touch[b]] + a] = C.val[C.row[touch[a]] + b];
    if (status == MO_OK) status = mo_csr_add(A, &C);
    mo_csr_destroy(&C);
    mo_free(touch), mo_free(f);
    return status;
}

static void nodes_destroy(mo_group *g)
{
    if (!g->nodes) return;
    mo_csr_destroy(&g->nodes->H);
    mo_ldl_destroy(&g->nodes->factor);
    mo_free(g->nodes->x);
    mo_free(g->nodes);
}

static const mo_group_kind nodes_kind = {.name = "nodes",
                                         .apply = nodes_apply,
                                         .apply_inverse = nodes_apply_inverse,
                                         .diagonal = nodes_diagonal,
                                         .row = nodes_row,
                                         .yield = nodes_yield,
                                         .add_square = nodes_add_square,
                                         .destroy = nodes_destroy};

// The factor of the rows that can move, in their own order.
static mo_status factor_nodes(mo_node_matrix *n, double *diagonal)
{
    int32_t count = 0, *block = mo_calloc(sizeof(int32_t) * 2);
    int32_t *member = mo_alloc(sizeof(int32_t) * (size_t)n->H.rows);
    if (!block || !member) {
        mo_free(block), mo_free(member);
        return MO_ERROR_MEMORY;
    }
    mo_csr_diagonal(&n->H, diagonal);
    for (int32_t i = 0; i < n->H.rows; i++)
        if (diagonal[i] > 0) member[count++] = i;
    block[1] = count;
    return mo_ldl_create(&n->H, 1, block, member, &n->factor);
}

mo_status mo_nodes_create(mo_csr *H, mo_group *out)
{
    MO_ASSERT(H->rows == H->cols);
    mo_status status = mo_group_create(&nodes_kind, H->rows, sizeof(mo_node_matrix), (void **)&out->nodes, out);
    if (status == MO_OK) {
        out->nodes->H = *H, *H = (mo_csr){0};
        out->nodes->x = mo_alloc(sizeof(double) * (size_t)out->count);
        status = out->nodes->x ? factor_nodes(out->nodes, out->nodes->x) : MO_ERROR_MEMORY;
    }
    mo_csr_destroy(H);
    if (status != MO_OK) mo_group_destroy(out);
    return status;
}
