// Validator of sparse matrices.
#include "sparse/csr.h"
#include <math.h>

static const char *row_fault(const mo_csr *A, int32_t i)
{
    if (A->row[i] > A->row[i + 1]) return "row starts descend";
    for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) {
        if (A->col[k] < 0 || A->col[k] >= A->cols) return "a column is out of range";
        if (k > A->row[i] && A->col[k] <= A->col[k - 1]) return "columns do not ascend within a row";
        if (!isfinite(A->val[k])) return "an entry is no finite number";
    }
    return NULL;
}

const char *mo_csr_fault(const mo_csr *A)
{
    if (A->rows < 0 || A->cols < 0) return "sizes are negative";
    if (A->rows == 0) return NULL;
    if (!A->row || A->row[0] != 0) return "row starts do not begin at 0";
    const char *fault = NULL;
    for (int32_t i = 0; i < A->rows && !fault; i++) fault = row_fault(A, i);
    return fault;
}
