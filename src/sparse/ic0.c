// Incomplete Cholesky IC(0), optionally modified: products that fall outside the pattern go to the diagonal, times
// `mic`. Right-looking on the upper triangle U, A ~ U^T U, rows in their own order (serial).
#include "sparse/krylov.h"
#include <math.h>
#include <string.h>

struct mo_ic0 {
    mo_csr U;     // strictly upper entries of the factor
    double *dinv; // [rows] 1 / diagonal of the factor
};

static mo_status upper_part(const mo_csr *A, mo_csr *U, double *diagonal)
{
    int64_t entries = 0;
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) entries += A->col[k] > i;
    MO_TRY(mo_csr_create(A->rows, A->rows, entries, U));
    int64_t place = 0;
    for (int32_t i = 0; i < A->rows; i++) {
        diagonal[i] = 0;
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) {
            if (A->col[k] == i) diagonal[i] = A->val[k];
            if (A->col[k] > i) U->col[place] = A->col[k], U->val[place++] = A->val[k];
        }
        U->row[i + 1] = place;
    }
    return MO_OK;
}

// Subtracts u_ki u_kj from the entries (i, j) of the remaining matrix for the j that follow i in row k, or from both
// diagonals where the pattern has no (i, j). Both rows ascend: one walk through them.
static void eliminate_row(mo_csr *U, double *diagonal, double mic, int32_t k, int64_t a)
{
    int32_t i = U->col[a];
    int64_t m = U->row[i], end = U->row[i + 1];
    for (int64_t b = a + 1; b < U->row[k + 1]; b++) {
        int32_t j = U->col[b];
        double product = U->val[a] * U->val[b];
        while (m < end && U->col[m] < j) m++;
        if (m < end && U->col[m] == j) {
            U->val[m] -= product;
            continue;
        }
        diagonal[i] -= mic * product;
        diagonal[j] -= mic * product;
    }
}

static bool is_pivot(double remaining, double original) { return remaining > 1e-6 * original; }

// Factors in place; dinv holds the diagonal of A. Returns how many pivots had to be replaced; with `strict` it stops at
// the first.
static int64_t eliminate(mo_ic0 *ic, double *diagonal, double mic, bool strict)
{
    mo_csr *U = &ic->U;
    int64_t breakdowns = 0;
    for (int32_t k = 0; k < U->rows && !(strict && breakdowns); k++) {
        double original = ic->dinv[k];
        if (!is_pivot(diagonal[k], original)) {
            diagonal[k] = original > 0 ? original : 1;
            breakdowns += original > 0; // an empty row is none
        }
        double inverse = 1 / sqrt(diagonal[k]);
        ic->dinv[k] = inverse;
        for (int64_t a = U->row[k]; a < U->row[k + 1]; a++) U->val[a] *= inverse;
        for (int64_t a = U->row[k]; a < U->row[k + 1]; a++) {
            diagonal[U->col[a]] -= U->val[a] * U->val[a];
            eliminate_row(U, diagonal, mic, k, a);
        }
    }
    return breakdowns;
}

static mo_status create(const mo_csr *A, double mic, double shift, bool strict, mo_ic0 **out, int64_t *breakdowns)
{
    MO_ASSERT(A->rows == A->cols);
    MO_ASSERT(mic >= 0 && mic <= 1);
    *out = NULL;
    *breakdowns = 0;
    mo_ic0 *ic = mo_calloc(sizeof(mo_ic0));
    if (!ic) return MO_ERROR_MEMORY;
    size_t n = (size_t)A->rows;
    ic->dinv = mo_alloc(sizeof(double) * n);
    double *diagonal = mo_alloc(sizeof(double) * n);
    if (!ic->dinv || !diagonal || upper_part(A, &ic->U, diagonal) != MO_OK) {
        mo_free(diagonal);
        mo_ic0_destroy(ic);
        return MO_ERROR_MEMORY;
    }
    for (size_t i = 0; i < n; i++) diagonal[i] *= 1 + shift;
    memcpy(ic->dinv, diagonal, sizeof(double) * n); // a_kk until the pivot is known
    *breakdowns = eliminate(ic, diagonal, mic, strict);
    mo_free(diagonal);
    *out = ic;
    return MO_OK;
}

mo_status mo_ic0_create(const mo_csr *A, double mic, mo_ic0 **out, int64_t *breakdowns)
{
    return create(A, mic, 0, false, out, breakdowns);
}

mo_status mo_ic0_create_shifted(const mo_csr *A, mo_ic0 **out, double *shift)
{
    const double first = 2e-3, most = 1;
    int64_t breakdowns = 1;
    for (*shift = 0; breakdowns; *shift = *shift > 0 ? 4 * *shift : first) {
        bool strict = *shift <= most;
        MO_TRY(create(A, 0, *shift, strict, out, &breakdowns));
        if (!breakdowns || !strict) return MO_OK;
        mo_ic0_destroy(*out);
    }
    return MO_OK;
}

mo_status mo_ic0_factor(const mo_ic0 *ic, mo_csr *out)
{
    const mo_csr *U = &ic->U;
    MO_TRY(mo_csr_create(U->rows, U->rows, mo_csr_entries(U) + U->rows, out));
    int64_t at = 0;
    for (int32_t i = 0; i < U->rows; i++) {
        out->col[at] = i, out->val[at++] = 1 / ic->dinv[i];
        for (int64_t k = U->row[i]; k < U->row[i + 1]; k++) out->col[at] = U->col[k], out->val[at++] = U->val[k];
        out->row[i + 1] = at;
    }
    return MO_OK;
}

void mo_ic0_destroy(mo_ic0 *ic)
{
    if (!ic) return;
    mo_csr_destroy(&ic->U);
    mo_free(ic->dinv);
    mo_free(ic);
}

void mo_ic0_apply(void *context, const double *r, double *z)
{
    const mo_ic0 *ic = context;
    const mo_csr *U = &ic->U;
    memcpy(z, r, sizeof(double) * (size_t)U->rows);
    // U^T y = r: each finished y_i is subtracted from the rows it feeds.
    for (int32_t i = 0; i < U->rows; i++) {
        z[i] *= ic->dinv[i];
        for (int64_t k = U->row[i]; k < U->row[i + 1]; k++) z[U->col[k]] -= U->val[k] * z[i];
    }
    // U z = y
    for (int32_t i = U->rows - 1; i >= 0; i--) {
        double s = z[i];
        for (int64_t k = U->row[i]; k < U->row[i + 1]; k++) s -= U->val[k] * z[U->col[k]];
        z[i] = s * ic->dinv[i];
    }
}
