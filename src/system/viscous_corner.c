// The unknowns of solids in K of the form `viscous`: the entries from their masses, and from the rows and faces that
// they share. A few bodies have a dense corner, nodes a sparse one.
#include "system/viscous.h"
#include <math.h>
#include <string.h>

// ---- Bodies ----

// Adds (row i of B)^T w (row j of B) of the bodies' columns to the corner.
static void add_corner(const mo_viscous_form *f, const mo_csr *B, int32_t i, int32_t j, double w, double *corner)
{
    for (int64_t k = B->row[i]; k < B->row[i + 1]; k++)
        for (int64_t m = B->row[j]; m < B->row[j + 1] && B->col[k] >= f->faces; m++)
            if (B->col[m] >= f->faces)
                corner[(size_t)(B->col[k] - f->faces) * (size_t)f->extra + (size_t)(B->col[m] - f->faces)] +=
                    w * B->val[k] * B->val[m];
}

static void fill_corner(const mo_viscous_form *f, double *corner)
{
    const mo_csr *R = &f->R;
    size_t extra = (size_t)f->extra;
    if (extra == 0) return;
    for (int32_t i = 0; i < f->inertia.rows; i++)
        for (int64_t k = f->inertia.row[i]; k < f->inertia.row[i + 1]; k++) {
            int32_t d = f->dof[i], e = f->dof[f->inertia.col[k]];
            if (d >= 0 && e >= 0)
                corner[(size_t)d * extra + (size_t)e] += f->inertia.val[k] * f->scale[d] * f->scale[e];
        }
    for (int32_t r = 0; r < f->Bs.rows; r++) {
        double weight[2];
        int32_t partner = mo_viscous_stiffness(&f->stress->compliance, r, weight);
        add_corner(f, &f->Bs, r, r, weight[0], corner);
        if (partner != r) add_corner(f, &f->Bs, r, partner, weight[1], corner);
    }
    for (int32_t r = 0; r < f->pressures; r++) add_corner(f, &f->Bp, r, r, f->gamma[r], corner);
    for (int32_t i = 0; i < R->rows; i++)
        for (int64_t k = R->row[i]; k < R->row[i + 1]; k++)
            for (int64_t m = R->row[i]; m < R->row[i + 1]; m++) {
                int32_t d = R->col[k], e = R->col[m];
                corner[(size_t)d * extra + (size_t)e] += f->mass[i] * R->val[k] * R->val[m] * f->scale[d] * f->scale[e];
            }
}

static mo_status dense_corner(mo_viscous_form *f)
{
    f->corner = mo_calloc(sizeof(double) * (size_t)f->extra * (size_t)f->extra);
    if (!f->corner) return MO_ERROR_MEMORY;
    fill_corner(f, f->corner);
    return mo_csr_border(&f->K, f->corner);
}

void mo_viscous_form_springs(mo_viscous_form *f, const double *springs, double *change)
{
    int32_t n = f->extra, dofs = f->inertia.rows;
    for (int32_t i = 0; i < dofs; i++)
        for (int32_t j = 0; j < dofs && f->dof[i] >= 0; j++) {
            int32_t d = f->dof[i], e = f->dof[j];
            if (e >= 0) change[d * n + e] = f->scale[d] * springs[(int64_t)i * dofs + j] * f->scale[e];
        }
    for (int32_t d = 0; d < n; d++) {
        double *last = f->K.val + f->K.row[f->faces + d + 1] - n; // of a row: its entries among bodies
        for (int32_t e = 0; e < n; e++) last[e] = f->corner[d * n + e] + change[d * n + e];
    }
}

// ---- Nodes ----

// Rows of B on the unknowns of solids.
static mo_status solid_columns(const mo_viscous_form *f, const mo_csr *B, mo_csr *out)
{
    return mo_csr_block(B, 0, B->rows, f->faces, f->extra, out);
}

// Takes L^T B with S^-1 = L L^T, so that B^T S^-1 B is the square of it. The first row of a pair, behind which the
// second one lies, gets the columns of both.
static mo_status weigh_stress(const mo_viscous_form *f, mo_csr *B)
{
    mo_csr out = {0};
    MO_TRY(mo_csr_create(B->rows, B->cols, 2 * mo_csr_entries(B), &out));
    int64_t at = 0;
    for (int32_t r = 0; r < B->rows; r++) {
        double weight[2], own;
        int32_t partner = mo_viscous_stiffness(&f->stress->compliance, r, weight);
        own = sqrt(weight[0]);
        if (partner < r) { // the second row of a pair: what the first leaves
            double first[2];
            mo_viscous_stiffness(&f->stress->compliance, partner, first);
            own = sqrt(weight[0] - weight[1] * weight[1] / first[0]);
        }
        int64_t a = B->row[r], b = partner > r ? B->row[partner] : 0, end = partner > r ? B->row[partner + 1] : 0;
        while (a < B->row[r + 1] || b < end) {
            int32_t c = a < B->row[r + 1] ? B->col[a] : INT32_MAX, d = b < end ? B->col[b] : INT32_MAX;
            out.col[at] = c < d ? c : d, out.val[at] = 0;
            if (c <= d) out.val[at] += own * B->val[a++];
            if (d <= c) out.val[at] += weight[1] / own * B->val[b++];
            at++;
        }
        out.row[r + 1] = at;
    }
    mo_csr_destroy(B);
    *B = out;
    return MO_OK;
}

// corner += B^T diag(d) B; d NULL: 1. B is freed.
static mo_status add_square(mo_csr *B, const double *d, mo_csr *corner)
{
    mo_csr Bt = {0}, square = {0};
    mo_status status = mo_csr_transpose(B, &Bt);
    if (status == MO_OK) status = mo_csr_weighted_square(&Bt, B, d, &square);
    if (status == MO_OK) status = mo_csr_add(corner, &square);
    mo_csr_destroy(B), mo_csr_destroy(&Bt), mo_csr_destroy(&square);
    return status;
}

static mo_status add_mass(const mo_viscous_form *f, mo_csr *corner)
{
    mo_csr R = {0};
    MO_TRY(mo_csr_block(&f->R, 0, f->faces, 0, f->extra, &R));
    for (int64_t k = 0; k < mo_csr_entries(&R); k++) R.val[k] *= f->scale[R.col[k]];
    return add_square(&R, f->mass, corner);
}

// The solids' own matrix, of what moves.
static mo_status start_corner(const mo_viscous_form *f, mo_csr *corner)
{
    const mo_csr *M = &f->inertia;
    int64_t at = 0;
    MO_TRY(mo_csr_create(f->extra, f->extra, mo_csr_entries(M), corner));
    for (int32_t i = 0; i < M->rows; i++) {
        int32_t d = f->dof[i];
        if (d < 0) continue;
        for (int64_t k = M->row[i]; k < M->row[i + 1]; k++) {
            int32_t e = f->dof[M->col[k]];
            if (e >= 0) corner->col[at] = e, corner->val[at++] = M->val[k] * f->scale[d] * f->scale[e];
        }
        corner->row[d + 1] = at;
    }
    return MO_OK;
}

static mo_status sparse_corner(mo_viscous_form *f)
{
    mo_csr corner = {0}, B = {0};
    mo_status status = start_corner(f, &corner);
    if (status == MO_OK) status = add_mass(f, &corner);
    if (status == MO_OK) status = solid_columns(f, &f->Bs, &B);
    if (status == MO_OK) status = weigh_stress(f, &B);
    if (status == MO_OK) status = add_square(&B, NULL, &corner);
    if (status == MO_OK && f->pressure) status = solid_columns(f, &f->Bp, &B);
    if (status == MO_OK && f->pressure) status = add_square(&B, f->gamma, &corner);
    if (status == MO_OK) status = mo_csr_border_sparse(&f->K, &corner);
    mo_csr_destroy(&B), mo_csr_destroy(&corner);
    return status;
}

mo_status mo_viscous_form_corner(mo_viscous_form *f)
{
    return mo_viscous_has_nodes(f) ? sparse_corner(f) : dense_corner(f);
}
