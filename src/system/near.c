// Nodes in the Poisson problem of pressure.
#include "system/near.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int32_t steps_between(const int32_t a[3], const int32_t b[3])
{
    return abs(a[0] - b[0]) + abs(a[1] - b[1]) + abs(a[2] - b[2]);
}

// Takes entries of 0 out of a matrix.
static void drop_zeros(mo_csr *A)
{
    int64_t to = 0, from = 0;
    for (int32_t i = 0; i < A->rows; i++) {
        int64_t end = A->row[i + 1];
        for (int64_t e = from; e < end; e++)
            if (A->val[e] != 0) A->col[to] = A->col[e], A->val[to++] = A->val[e];
        from = end, A->row[i + 1] = to;
    }
}

static void lump_far(const int32_t (*coord)[3], mo_csr *C)
{
    for (int32_t i = 0; i < C->rows; i++) {
        double far = 0;
        int64_t own = -1;
        for (int64_t e = C->row[i]; e < C->row[i + 1]; e++) {
            if (C->col[e] == i)
                own = e;
            else if (steps_between(coord[i], coord[C->col[e]]) > 1)
                far += C->val[e], C->val[e] = 0;
        }
        C->val[own] = fmax(C->val[own] + far, 0);
    }
    drop_zeros(C);
}

// Of cloth only links between both sides of one cell are kept, and made stronger: vertices that move together yield
// more than each for itself, and the cycle must not take cloth for stiffer than it is. Jumps of pressure that the links
// do not let through are found by membrane.h. Links across cells would conduct along the cloth. What else a row has
// adds up to 0 where both sides are wet.
static void keep_links(const int32_t (*coord)[3], mo_csr *C)
{
    const double stronger = 10;
    for (int32_t i = 0; i < C->rows; i++) {
        double links = 0, all = 0;
        int64_t own = -1;
        for (int64_t e = C->row[i]; e < C->row[i + 1]; e++) {
            all += C->val[e];
            if (C->col[e] == i) {
                own = e;
                continue;
            }
            bool link = steps_between(coord[i], coord[C->col[e]]) == 0 && C->val[e] < 0;
            C->val[e] *= link ? stronger : 0;
            links -= C->val[e];
        }
        C->val[own] = links + fmax(all, 0);
    }
    drop_zeros(C);
}

// The block of a vertex in H, and its inverse as U U^T with U upper triangular; 0 for a vertex that is held.
static void root_of_inverse(const mo_system *s, const mo_csr *springs, int32_t first, double U[3][3])
{
    enum { MOST = 512 };
    const mo_group *nodes = &s->nodes;
    int32_t col[MOST], own = s->bodies.count + first;
    double val[MOST], A[3][3] = {{0}}, L[3][3] = {{0}};
    memset(U, 0, sizeof(double[3][3]));
    for (int i = 0; i < 3; i++) {
        int32_t n = nodes->kind->row(nodes, first + i, NULL, NULL);
        if (n == 0 || n > MOST) return;
        nodes->kind->row(nodes, first + i, col, val);
        for (int32_t k = 0; k < n; k++)
            if (col[k] >= first && col[k] < first + 3) A[i][col[k] - first] = val[k];
        for (int k = 0; springs && k < 3; k++) A[i][k] += s->dt * mo_csr_entry(springs, own + i, own + k);
    }
    for (int i = 0; i < 3; i++) // A = L L^T, U = L^-T
        for (int k = 0; k <= i; k++) {
            double sum = A[i][k];
            for (int m = 0; m < k; m++) sum -= L[i][m] * L[k][m];
            if (i == k && !(sum > 0)) return;
            L[i][k] = i == k ? sqrt(sum) : sum / L[k][k];
        }
    for (int c = 0; c < 3; c++) {
        U[c][c] = 1 / L[c][c];
        for (int i = c + 1; i < 3; i++) {
            double sum = 0;
            for (int m = c; m < i; m++) sum -= L[i][m] * U[c][m];
            U[c][i] = sum / L[i][i];
        }
    }
}

// Cloth yields across itself and hardly along itself, so that the diagonal of H says little where it is tilted: rows
// act on vertices with the inverses of their blocks. R becomes R U.
static void take_blocks(const mo_system *s, const mo_csr *springs, mo_csr *R)
{
    int32_t last = -1;
    double U[3][3];
    for (int32_t i = 0; i < R->rows; i++)
        for (int64_t e = R->row[i]; e + 2 < R->row[i + 1]; e += 3) {
            const double r[3] = {R->val[e], R->val[e + 1], R->val[e + 2]};
            if (R->col[e] != last) root_of_inverse(s, springs, last = R->col[e], U);
            for (int c = 0; c < 3; c++) R->val[e + c] = r[0] * U[0][c] + r[1] * U[1][c] + r[2] * U[2][c];
        }
}

static mo_status copy_of(const mo_csr *from, mo_csr *to)
{
    MO_TRY(mo_csr_create(from->rows, from->cols, mo_csr_entries(from), to));
    memcpy(to->row, from->row, sizeof *to->row * ((size_t)from->rows + 1));
    memcpy(to->col, from->col, sizeof *to->col * (size_t)mo_csr_entries(from));
    memcpy(to->val, from->val, sizeof *to->val * (size_t)mo_csr_entries(from));
    return MO_OK;
}

// What a cell of liquid feels of the nodes, dt R diag(H)^-1 R^T or, of cloth, with blocks in place of the diagonal.
static mo_status square(const mo_system *s, const mo_block *pressure, const mo_csr *springs, mo_csr *C)
{
    const mo_csr *R = &pressure->on[MO_NODES];
    mo_csr own = {0}, Rt = {0};
    double *weight = mo_alloc(sizeof(double) * ((size_t)R->cols + 1));
    mo_status status = weight ? copy_of(R, &own) : MO_ERROR_MEMORY;
    if (status == MO_OK) {
        s->nodes.kind->diagonal(&s->nodes, weight);
        for (int32_t i = 0; i < R->cols; i++) weight[i] = weight[i] > 0 ? s->dt / weight[i] : 0;
        if (pressure->cloth) take_blocks(s, springs, &own);
        for (int32_t i = 0; pressure->cloth && i < R->cols; i++) weight[i] = s->dt;
        status = mo_csr_transpose(&own, &Rt);
    }
    if (status == MO_OK) status = mo_csr_weighted_square(&own, &Rt, weight, C);
    mo_csr_destroy(&own), mo_csr_destroy(&Rt);
    mo_free(weight);
    return status;
}

mo_status mo_near_add_nodes(const mo_system *s, const mo_block *pressure, const mo_csr *springs, mo_csr *L)
{
    const mo_csr *R = &pressure->on[MO_NODES];
    mo_csr C = {0};
    if (!R->rows || !s->nodes.count) return MO_OK;
    MO_ASSERT(pressure->coord && L->rows == R->rows && R->cols == s->nodes.count);
    mo_status status = square(s, pressure, springs, &C);
    if (status == MO_OK) {
        const int32_t(*coord)[3] = (const int32_t(*)[3])pressure->coord;
        if (pressure->cloth)
            keep_links(coord, &C);
        else
            lump_far(coord, &C);
        status = mo_csr_add(L, &C);
    }
    mo_csr_destroy(&C);
    return status;
}
