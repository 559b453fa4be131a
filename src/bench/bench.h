// Internal to the benchmarks: the arguments that each of them gets, and functions that they share.
#ifndef MO_BENCH_H
#define MO_BENCH_H

#include "base/base.h"
#include "sparse/csr.h"

typedef struct mo_bench {
    mo_bench_options options;
    mo_line_fn line;
    void *user;
    mo_error *err;
} mo_bench;

void mo_bench_report(const mo_bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
double mo_bench_median(double *v, int32_t n); // sorts v
static inline int32_t mo_bench_option(int32_t value, int32_t otherwise) { return value > 0 ? value : otherwise; }

const char *mo_bench_number(double value, char text[32]); // as JSON has it: null if not finite

mo_status mo_bench_stokes(const mo_bench *b);
mo_status mo_bench_contact(const mo_bench *b);
mo_status mo_bench_elastic(const mo_bench *b);
mo_status mo_bench_kernels(const mo_bench *b);
mo_status mo_bench_smoke(const mo_bench *b);

// These write Matrix Market files, which are complete or absent; `comment` is one line. A symmetric matrix is
// written as its lower triangle.
mo_status mo_matrix_market_write(const char *path, const char *comment, const mo_csr *A, mo_error *err);
mo_status mo_matrix_market_vector(const char *path, const char *comment, int32_t n, const double *v, mo_error *err);
mo_status mo_matrix_market_coord(const char *path, const char *comment, int32_t n, const int32_t (*c)[3],
                                 mo_error *err);

#endif
