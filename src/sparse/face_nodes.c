// Multigrid on faces: unknowns that do not sit on faces, as the nodes of elastic bodies in a liquid.
//
// They are beside the finest level: faces see them as part of their right-hand side. A direct solve finds them together
// with the faces they touch and what every level carries, and coarse faces, of which there are some wherever there is a
// node, interpolate to them as to fine faces. So no level but the finest knows of them, and their stiffness is in P^T K
// P.
#include "base/union_find.h"
#include "sparse/face_level.h"
#include <math.h>
#include <string.h>

void mo_face_nodes_destroy(mo_face_nodes *n)
{
    mo_csr_destroy(&n->to), mo_csr_destroy(&n->from), mo_csr_destroy(&n->among), mo_csr_destroy(&n->up);
    mo_csr_destroy(&n->matrix), mo_csr_destroy(&n->springs);
    mo_free(n->label), mo_free(n->member), mo_free(n->x);
    mo_cholesky_destroy(n->factor);
    *n = (mo_face_nodes){0};
}

// ---- Building ----

static void sort_row(mo_csr *A, int32_t i)
{
    for (int64_t k = A->row[i] + 1; k < A->row[i + 1]; k++) {
        int32_t c = A->col[k];
        double v = A->val[k];
        int64_t p = k;
        for (; p > A->row[i] && A->col[p - 1] > c; p--) A->col[p] = A->col[p - 1], A->val[p] = A->val[p - 1];
        A->col[p] = c, A->val[p] = v;
    }
}

mo_status mo_face_nodes_create(const mo_face_nodes_def *def, int32_t rows, const int32_t *place, double scale,
                               mo_face_nodes *n)
{
    size_t count = (size_t)def->count;
    int32_t *label = n->label; // made before
    *n = (mo_face_nodes){.count = def->count, .rows = rows, .at = def->at, .axis = def->axis, .label = label};
    MO_TRY(mo_csr_block(def->to, 0, def->count, 0, rows, &n->to));
    for (int64_t k = 0; k < mo_csr_entries(&n->to); k++) n->to.col[k] = place[n->to.col[k]], n->to.val[k] /= scale;
    for (int32_t i = 0; i < def->count; i++) sort_row(&n->to, i);
    MO_TRY(mo_csr_transpose(&n->to, &n->from));
    MO_TRY(mo_csr_block(def->among, 0, def->count, 0, def->count, &n->among));
    for (int64_t k = 0; k < mo_csr_entries(&n->among); k++) n->among.val[k] /= scale;
    n->x = mo_calloc(sizeof(double) * (4 * count + (size_t)rows));
    if (!n->x) return MO_ERROR_MEMORY;
    n->b = n->x + count, n->r = n->b + count, n->work = n->r + count;
    return MO_OK;
}

mo_status mo_face_nodes_label(const mo_face_nodes_def *def, int32_t faces, int32_t pieces, int32_t *label,
                              int32_t *label_of)
{
    int32_t parts = mo_csr_components(def->among, label_of);
    int32_t *parent = parts < 0 ? NULL : mo_alloc(sizeof(int32_t) * ((size_t)pieces + (size_t)parts + 1));
    if (!parent) return MO_ERROR_MEMORY;
    for (int32_t i = 0; i < pieces + parts; i++) parent[i] = i;
    for (int32_t i = 0; i < def->count; i++)
        for (int64_t k = def->to->row[i]; k < def->to->row[i + 1]; k++) {
            if (def->to->col[k] >= faces) continue;
            mo_join_sets(parent, label[def->to->col[k]], pieces + label_of[i]);
        }
    for (int32_t i = 0; i < faces; i++) label[i] = mo_find_root(parent, label[i]);
    for (int32_t i = 0; i < def->count; i++) {
        int32_t root = mo_find_root(parent, pieces + label_of[i]);
        label_of[i] = root < pieces ? root : -1; // of parts without liquid nothing is left after the direct solve
    }
    mo_free(parent);
    return MO_OK;
}

static void append(const mo_csr *from, int32_t i, const int32_t *number, int32_t shift, mo_csr *to, int64_t *at)
{
    for (int64_t k = mo_csr_begin(from, i); k < mo_csr_end(from, i); k++) {
        int32_t c = number ? number[from->col[k]] : from->col[k];
        if (c >= 0) to->col[*at] = c + shift, to->val[(*at)++] = from->val[k];
    }
}

static mo_status find_members(mo_face_nodes *n, const mo_face_level *l, int32_t *number)
{
    n->member = mo_alloc(sizeof(int32_t) * ((size_t)l->rows + 1));
    if (!n->member) return MO_ERROR_MEMORY;
    for (int32_t i = 0; i < l->rows; i++) {
        bool touches = i >= l->faces || n->from.row[i + 1] > n->from.row[i];
        number[i] = touches ? n->members : -1;
        if (touches) n->member[n->members++] = i;
    }
    n->carried = l->rows - l->faces;
    return MO_OK;
}

// The matrix of the members and of the nodes behind them.
static mo_status collect_members(const mo_face_nodes *n, const mo_face_level *l, const int32_t *number, mo_csr *out)
{
    int64_t entries = 2 * mo_csr_entries(&n->to) + mo_csr_entries(&n->among), at = 0;
    int32_t size = n->members + n->count;
    for (int32_t m = 0; m < n->members; m++) entries += l->A.row[n->member[m] + 1] - l->A.row[n->member[m]];
    MO_TRY(mo_csr_create(size, size, entries, out));
    for (int32_t m = 0; m < size; m++) {
        if (m < n->members) {
            append(&l->A, n->member[m], number, 0, out, &at);
            append(&n->from, n->member[m], NULL, n->members, out, &at);
        } else {
            append(&n->to, m - n->members, number, 0, out, &at);
            append(&n->among, m - n->members, NULL, n->members, out, &at);
        }
        out->row[m + 1] = at;
        sort_row(out, m);
    }
    return MO_OK;
}

static bool is_same_place(const double a[3], const double b[3]) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }

// Unknowns at one place are a group, and every face is one. (Faces as part of the node they couple to most make the
// order cheaper still, but L 1.3 to 1.6 times as long.) Returns how many groups there are.
static int32_t group_members(const mo_face_nodes *n, int32_t *group)
{
    int32_t groups = 0, *of_node = group + n->members;
    for (int32_t i = 0; i < n->count; i++) {
        bool same = i > 0 && n->at && is_same_place(n->at[i], n->at[i - 1]);
        of_node[i] = same ? groups - 1 : groups++;
    }
    for (int32_t m = 0; m < n->members; m++) group[m] = groups++;
    return groups;
}

// Room for springs in the matrix.
static mo_status add_pattern(mo_face_nodes *n, const mo_csr *springs)
{
    mo_csr more = {0};
    int32_t first = n->members - n->carried, size = n->matrix.rows;
    int64_t at = 0;
    MO_ASSERT(springs->rows == n->carried + n->count);
    MO_TRY(mo_csr_create(size, size, mo_csr_entries(springs), &more));
    for (int32_t i = 0; i < size; i++) {
        if (i >= first) append(springs, i - first, NULL, first, &more, &at);
        more.row[i + 1] = at;
    }
    memset(more.val, 0, sizeof(double) * (size_t)at);
    mo_status status = mo_csr_add(&n->matrix, &more);
    mo_csr_destroy(&more);
    return status;
}

mo_status mo_face_nodes_collect(mo_face_nodes *n, const mo_face_level *l, const mo_csr *springs)
{
    int32_t *number = mo_alloc(sizeof(int32_t) * ((size_t)l->rows + (size_t)n->count + 1)); // then groups
    mo_status status = number ? find_members(n, l, number) : MO_ERROR_MEMORY;
    if (status == MO_OK) status = collect_members(n, l, number, &n->matrix);
    if (status == MO_OK && springs) status = add_pattern(n, springs);
    if (status == MO_OK) {
        int32_t groups = group_members(n, number);
        status = mo_cholesky_create_grouped(&n->matrix, groups, number, &n->factor, NULL);
    }
    mo_free(number);
    return status;
}

// Adds springs, whose pattern is part of the matrix's, to it.
static void add_springs(const mo_face_nodes *n, const mo_csr *springs, double scale, mo_csr *A)
{
    int32_t first = n->members - n->carried;
    for (int32_t i = 0; i < springs->rows; i++) {
        int64_t at = A->row[first + i];
        for (int64_t k = springs->row[i]; k < springs->row[i + 1]; k++) {
            while (A->col[at] != springs->col[k] + first) at++; // both ascend
            A->val[at] += springs->val[k] / scale;
        }
    }
}

mo_status mo_face_nodes_factor(mo_face_nodes *n, const mo_csr *springs, double scale)
{
    bool positive = false;
    mo_csr A = {0};
    mo_csr_destroy(&n->springs);
    if (springs) {
        MO_TRY(mo_csr_block(springs, 0, springs->rows, 0, springs->cols, &n->springs));
        for (int64_t k = 0; k < mo_csr_entries(springs); k++) n->springs.val[k] /= scale;
        MO_TRY(mo_csr_block(&n->matrix, 0, n->matrix.rows, 0, n->matrix.cols, &A));
        add_springs(n, springs, scale, &A);
    }
    mo_status status = mo_cholesky_factor(n->factor, springs ? &A : &n->matrix, NULL, &positive, NULL);
    mo_csr_destroy(&A);
    return status == MO_OK && !positive ? MO_ERROR_FAILED : status;
}

mo_status mo_face_nodes_rest(const mo_face_nodes *n, const mo_face_level *l, mo_csr *out)
{
    int64_t entries = mo_csr_entries(&l->rest) + 2 * mo_csr_entries(&n->to) + mo_csr_entries(&n->among), at = 0;
    int32_t size = l->rows + n->count;
    MO_TRY(mo_csr_create(size, size, entries, out));
    for (int32_t i = 0; i < size; i++) {
        if (i < l->faces) append(&l->rest, i, NULL, 0, out, &at);
        if (i < l->faces) append(&n->from, i, NULL, l->rows, out, &at);
        if (i >= l->rows) append(&n->to, i - l->rows, NULL, 0, out, &at);
        if (i >= l->rows) append(&n->among, i - l->rows, NULL, l->rows, out, &at);
        out->row[i + 1] = at;
    }
    return MO_OK;
}

// ---- Cycle ----

void mo_face_nodes_start(mo_face_nodes *n, const double *r, double scale)
{
    for (int32_t i = 0; i < n->count; i++) n->x[i] = 0, n->b[i] = scale * r[i];
}

// What springs pull unknown e of those carried and of nodes with; nodes are at x, or change by it.
static double spring_force(const mo_face_nodes *n, const mo_face_level *l, int32_t e, const double *x)
{
    double sum = 0;
    for (int64_t k = n->springs.row[e]; k < n->springs.row[e + 1]; k++) {
        int32_t c = n->springs.col[k];
        if (c >= n->carried)
            sum += n->springs.val[k] * x[c - n->carried];
        else if (l)
            sum += n->springs.val[k] * l->x[l->faces + c];
    }
    return sum;
}

static double residual(const mo_face_nodes *n, const mo_face_level *l, int32_t i)
{
    double r = n->b[i] - mo_csr_row_product(&n->among, i, n->x);
    for (int64_t k = n->to.row[i]; k < n->to.row[i + 1]; k++) r -= n->to.val[k] * l->x[n->to.col[k]];
    return n->springs.rows ? r - spring_force(n, l, n->carried + i, n->x) : r;
}

// Nodes change by `change`, which faces see in their right-hand side.
static void move(mo_face_nodes *n, mo_face_level *l, const double *change)
{
    for (int32_t i = 0; i < n->count; i++) n->x[i] += change[i];
    for (int32_t i = 0; i < l->rows; i++)
        if (n->from.row[i + 1] > n->from.row[i]) l->b[i] -= (float)mo_csr_row_product(&n->from, i, change);
    for (int32_t c = 0; n->springs.rows && c < n->carried; c++)
        l->b[l->faces + c] -= (float)spring_force(n, NULL, c, change);
}

void mo_face_nodes_direct(mo_face_nodes *n, mo_face_level *l)
{
    double *y = n->work;
    for (int32_t m = 0; m < n->members; m++) y[m] = mo_face_level_row_residual(l, n->member[m]);
    for (int32_t i = 0; i < n->count; i++) y[n->members + i] = residual(n, l, i);
    mo_cholesky_solve(n->factor, y, y);
    for (int32_t m = 0; m < n->members; m++) l->x[n->member[m]] += (float)y[m];
    move(n, l, y + n->members);
}

void mo_face_nodes_restrict(mo_face_nodes *n, const mo_face_level *l, mo_face_level *next)
{
    for (int32_t i = 0; i < n->up.rows; i++) {
        double r = residual(n, l, i);
        for (int64_t k = n->up.row[i]; k < n->up.row[i + 1]; k++) next->b[n->up.col[k]] += (float)(n->up.val[k] * r);
    }
}

void mo_face_nodes_interpolate(mo_face_nodes *n, mo_face_level *l, const mo_face_level *next)
{
    for (int32_t i = 0; i < n->count; i++) {
        n->r[i] = 0;
        for (int64_t k = mo_csr_begin(&n->up, i); k < mo_csr_end(&n->up, i); k++)
            n->r[i] += n->up.val[k] * next->x[n->up.col[k]];
    }
    move(n, l, n->r);
}

void mo_face_nodes_give(const mo_face_nodes *n, const double *force, double *v)
{
    int32_t first = n->members - n->carried, extra = n->carried + n->count;
    memset(n->work, 0, sizeof(double) * (size_t)first);
    memcpy(n->work + first, force, sizeof(double) * (size_t)extra);
    mo_cholesky_solve(n->factor, n->work, n->work);
    memcpy(v, n->work + first, sizeof(double) * (size_t)extra);
}
