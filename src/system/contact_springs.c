// Springs of contacts as a sparse matrix.
#include "system/contact_springs.h"
#include <math.h>

mo_status mo_contact_springs_rows(const mo_contact_law *l, int32_t unknowns, const int32_t *dof, const double *scale,
                                  mo_csr *out)
{
    int64_t at = 0;
    MO_TRY(mo_csr_create(l->rows, unknowns, 2 * mo_csr_entries(&l->B), out));
    for (int32_t i = 0; i < l->rows; i++) {
        int32_t other = i < l->contacts ? i : mo_contact_law_other(l, i);
        int64_t a = l->B.row[i], b = other == i ? 0 : l->B.row[other], end = other == i ? 0 : l->B.row[other + 1];
        while (a < l->B.row[i + 1] || b < end) {
            int32_t c = a < l->B.row[i + 1] ? l->B.col[a] : INT32_MAX, e = b < end ? l->B.col[b] : INT32_MAX;
            int32_t own = c < e ? c : e, d = dof ? dof[own] : own;
            if (d >= 0) out->col[at] = d, out->val[at++] = c <= e ? l->B.val[a] * (scale ? scale[d] : 1) : 0;
            a += c <= e, b += e <= c;
        }
        out->row[i + 1] = at;
    }
    return MO_OK;
}

// Rows whose square is B^T D B.
static void weigh_rows(const mo_contact_law *l, const mo_csr *B, mo_csr *out)
{
    for (int32_t i = 0; i < l->rows; i++) {
        bool pair = i >= l->contacts && l->cross[i] != 0;
        double own = sqrt(fmax(l->slope[i], 0)), across = 0;
        if (pair && (i - l->contacts) % 2 == 0) across = l->cross[i] / own;
        if (pair && (i - l->contacts) % 2 == 1)
            own = sqrt(fmax(l->slope[i] - l->cross[i] * l->cross[i] / l->slope[i - 1], 0));
        for (int64_t k = B->row[i], m = across != 0 ? B->row[i + 1] : k; k < B->row[i + 1]; k++, m++)
            out->val[k] = own * B->val[k] + (across != 0 ? across * B->val[m] : 0);
    }
}

static mo_status square_rows(const mo_csr *rows, mo_csr *out)
{
    mo_csr turned = {0};
    MO_TRY(mo_csr_transpose(rows, &turned));
    mo_csr_destroy(out);
    mo_status status = mo_csr_weighted_square(&turned, rows, NULL, out);
    mo_csr_destroy(&turned);
    return status;
}

mo_status mo_contact_springs(const mo_contact_law *l, const mo_csr *rows, bool all, mo_csr *out)
{
    mo_csr weighed = {0};
    if (all) return square_rows(rows, out);
    MO_TRY(mo_csr_block(rows, 0, rows->rows, 0, rows->cols, &weighed));
    weigh_rows(l, rows, &weighed);
    mo_status status = square_rows(&weighed, out);
    mo_csr_destroy(&weighed);
    return status;
}
