// Matrices and vectors as Matrix Market files, for other people's solvers (bench/petsc).
#include "bench/bench.h"
#include "output/file.h"

mo_status mo_matrix_market_write(const char *path, const char *comment, const mo_csr *A, mo_error *err)
{
    mo_file *f;
    int64_t entries = 0;
    MO_TRY(mo_file_create(path, &f, err));
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) entries += A->col[k] <= i;
    mo_file_print(f, "%%%%MatrixMarket matrix coordinate real symmetric\n%% %s\n%d %d %lld\n", comment, A->rows,
                  A->cols, (long long)entries);
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->row[i]; k < A->row[i + 1] && A->col[k] <= i; k++)
            mo_file_print(f, "%d %d %.17g\n", i + 1, A->col[k] + 1, A->val[k]);
    return mo_file_commit(f, err);
}

mo_status mo_matrix_market_vector(const char *path, const char *comment, int32_t n, const double *v, mo_error *err)
{
    mo_file *f;
    MO_TRY(mo_file_create(path, &f, err));
    mo_file_print(f, "%%%%MatrixMarket matrix array real general\n%% %s\n%d 1\n", comment, n);
    for (int32_t i = 0; i < n; i++) mo_file_print(f, "%.17g\n", v[i]);
    return mo_file_commit(f, err);
}

mo_status mo_matrix_market_coord(const char *path, const char *comment, int32_t n, const int32_t (*c)[3], mo_error *err)
{
    mo_file *f;
    MO_TRY(mo_file_create(path, &f, err));
    mo_file_print(f, "%%%%MatrixMarket matrix array integer general\n%% %s\n%d 3\n", comment, n);
    for (int a = 0; a < 3; a++) // arrays go column by column
        for (int32_t i = 0; i < n; i++) mo_file_print(f, "%d\n", c[i][a]);
    return mo_file_commit(f, err);
}
