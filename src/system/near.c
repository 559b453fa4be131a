// Nodes in the Poisson problem of pressure.
#include "system/near.h"
#include <math.h>
#include <stdlib.h>

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

mo_status mo_near_add_nodes(const mo_system *s, const mo_block *pressure, mo_csr *L)
{
    const mo_csr *R = &pressure->on[MO_NODES];
    mo_csr Rt = {0}, C = {0};
    if (!R->rows || !s->nodes.count) return MO_OK;
    MO_ASSERT(pressure->coord && L->rows == R->rows && R->cols == s->nodes.count);
    double *weight = mo_alloc(sizeof(double) * ((size_t)R->cols + 1));
    mo_status status = weight ? mo_csr_transpose(R, &Rt) : MO_ERROR_MEMORY;
    if (status == MO_OK) {
        s->nodes.kind->diagonal(&s->nodes, weight);
        for (int32_t i = 0; i < R->cols; i++) weight[i] = weight[i] > 0 ? s->dt / weight[i] : 0;
        status = mo_csr_weighted_square(R, &Rt, weight, &C);
    }
    if (status == MO_OK) {
        lump_far((const int32_t(*)[3])pressure->coord, &C);
        status = mo_csr_add(L, &C);
    }
    mo_csr_destroy(&Rt), mo_csr_destroy(&C);
    mo_free(weight);
    return status;
}
