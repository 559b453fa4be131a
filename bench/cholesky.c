// Fill and times of the sparse Cholesky factor on bodies of tetrahedra, and, in a build with -DMONOLITH_CHOLMOD=ON,
// those of CHOLMOD's supernodal factor with METIS beside it: make cholesky.
//   bench_cholesky [REPETITIONS]
// The times are CPU seconds of one thread, the least of several repetitions. CHOLMOD's supernodal part is under the
// GPL, so that a program built with it is too; the library never contains it.
#include "base/parallel.h"
#include "sparse/cholesky.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef MONOLITH_CHOLMOD
#include <suitesparse/cholmod.h>
#include <dlfcn.h>
#endif

// ---- Bodies: tetrahedra of lattices ----

typedef struct body {
    int32_t vertices, tetrahedra;
    double (*x)[3];
    int32_t (*tetrahedron)[4];
} body;

static void out_of_memory(void)
{
    fputs("bench_cholesky: no memory\n", stderr);
    exit(1);
}

static void *take(size_t count, size_t size)
{
    void *p = calloc(count + 1, size);
    if (!p) out_of_memory();
    return p;
}

// Cells of five tetrahedra, mirrored from cell to cell.
static body box(const int32_t cells[3])
{
    static const int32_t corner[2][5][4] = {{{0, 1, 2, 4}, {3, 2, 1, 7}, {5, 4, 7, 1}, {6, 7, 4, 2}, {1, 2, 4, 7}},
                                            {{1, 3, 0, 5}, {2, 0, 3, 6}, {4, 5, 6, 0}, {7, 6, 5, 3}, {0, 3, 5, 6}}};
    int32_t n[3] = {cells[0] + 1, cells[1] + 1, cells[2] + 1}, at = 0;
    body b = {.vertices = n[0] * n[1] * n[2], .tetrahedra = 5 * cells[0] * cells[1] * cells[2]};
    b.x = take((size_t)b.vertices, sizeof *b.x), b.tetrahedron = take((size_t)b.tetrahedra, sizeof *b.tetrahedron);
    for (int32_t v = 0; v < b.vertices; v++) {
        b.x[v][0] = 0.05 * (v % n[0]), b.x[v][1] = 0.05 * (v / n[0] % n[1]), b.x[v][2] = 0.05 * (v / n[0] / n[1]);
        int32_t c[3] = {v % n[0], v / n[0] % n[1], v / n[0] / n[1]};
        if (c[0] == cells[0] || c[1] == cells[1] || c[2] == cells[2]) continue;
        for (int t = 0; t < 5; t++, at++)
            for (int k = 0; k < 4; k++) {
                int32_t o = corner[(c[0] + c[1] + c[2]) % 2][t][k];
                b.tetrahedron[at][k] = v + o % 2 + n[0] * (o / 2 % 2 + n[1] * (o / 4));
            }
    }
    return b;
}

static bool inside(double x, double y, double z, bool ring)
{
    double q = sqrt(x * x + y * y) - 0.7;
    return ring ? q * q + z * z < 0.09 : x * x + y * y + z * z < 1;
}

// A ball or a ring filled with the tetrahedra of the body-centred lattice: four round each axis between two centres.
static body round_body(int32_t cells, bool ring)
{
    int32_t n = 2 * cells + 1, at = 0, most = 12 * n * n * n / 8;
    int32_t *id = take((size_t)(n * n * n), sizeof *id), step[3] = {1, n, n * n};
    body b = {.x = take((size_t)(n * n * n), sizeof *b.x), .tetrahedron = take((size_t)(4 * most), sizeof(int32_t[4]))};
    for (int32_t k = 0; k < n * n * n; k++) {
        int32_t c[3] = {k % n, k / n % n, k / n / n};
        double x[3];
        for (int a = 0; a < 3; a++) x[a] = (c[a] - cells) / (double)cells;
        id[k] = -1;
        if (c[0] % 2 != c[1] % 2 || c[1] % 2 != c[2] % 2 || !inside(x[0], x[1], x[2], ring)) continue;
        memcpy(b.x[b.vertices], x, sizeof x), id[k] = b.vertices++;
    }
    for (int32_t k = 0; k < n * n * n; k++)
        for (int a = 0; a < 3 && id[k] >= 0; a++) {
            int32_t c[3] = {k % n, k / n % n, k / n / n};
            int u = (a + 1) % 3, v = (a + 2) % 3;
            if (c[a] + 2 >= n || c[u] == 0 || c[v] == 0 || c[u] == n - 1 || c[v] == n - 1) continue;
            int32_t end = id[k + 2 * step[a]], ring_of[4], middle = k + step[a];
            for (int r = 0; r < 4; r++)
                ring_of[r] = id[middle + (r == 0 || r == 3 ? 1 : -1) * step[u] + (r < 2 ? 1 : -1) * step[v]];
            for (int r = 0; r < 4; r++) {
                int32_t p = ring_of[r], q = ring_of[(r + 1) % 4];
                if (end < 0 || p < 0 || q < 0) continue;
                memcpy(b.tetrahedron[at++], (int32_t[4]){id[k], end, p, q}, sizeof(int32_t[4]));
            }
        }
    b.tetrahedra = at;
    free(id);
    return b;
}

// ---- Matrices ----

// Gradients of the four barycentric coordinates; returns the volume.
static double gradients(const body *b, const int32_t *v, double g[4][3])
{
    double e[3][3], determinant = 0;
    for (int k = 0; k < 3; k++)
        for (int a = 0; a < 3; a++) e[k][a] = b->x[v[k + 1]][a] - b->x[v[0]][a];
    for (int k = 0; k < 3; k++) {
        const double *p = e[(k + 1) % 3], *q = e[(k + 2) % 3];
        for (int a = 0; a < 3; a++) {
            int i = (a + 1) % 3, j = (a + 2) % 3;
            g[k + 1][a] = p[i] * q[j] - p[j] * q[i];
        }
        if (k == 0) determinant = g[1][0] * e[0][0] + g[1][1] * e[0][1] + g[1][2] * e[0][2];
    }
    for (int a = 0; a < 3; a++) {
        for (int k = 1; k < 4; k++) g[k][a] /= determinant;
        g[0][a] = -(g[1][a] + g[2][a] + g[3][a]);
    }
    return fabs(determinant) / 6;
}

// The pattern: neighbours of every vertex, itself among them, ascending.
static mo_csr pattern(const body *b)
{
    int32_t n = b->vertices, *start = take((size_t)n + 1, sizeof *start), *list = take((size_t)(4 * b->tetrahedra), 4);
    int32_t *seen = take((size_t)n, sizeof *seen), *near = take((size_t)n, sizeof *near);
    for (int32_t k = 0; k < 4 * b->tetrahedra; k++) start[b->tetrahedron[k / 4][k % 4] + 1]++;
    for (int32_t v = 0; v < n; v++) start[v + 1] += start[v], seen[v] = -1;
    for (int32_t k = 4 * b->tetrahedra - 1; k >= 0; k--) list[--start[b->tetrahedron[k / 4][k % 4] + 1]] = k / 4;
    // Now start[v + 1] is where the elements of v begin.
    mo_csr A = {0};
    for (int pass = 0; pass < 2; pass++) {
        int64_t at = 0;
        for (int32_t v = 0; v < n; v++) {
            int32_t count = 1, end = v + 2 <= n ? start[v + 2] : 4 * b->tetrahedra;
            near[0] = v, seen[v] = 2 * v + pass;
            for (int32_t k = start[v + 1]; k < end; k++)
                for (int i = 0; i < 4; i++) {
                    int32_t u = b->tetrahedron[list[k]][i], place = count;
                    if (seen[u] == 2 * v + pass) continue;
                    seen[u] = 2 * v + pass;
                    for (; place > 0 && near[place - 1] > u; place--) near[place] = near[place - 1];
                    near[place] = u, count++;
                }
            for (int a = 0; a < 3; a++) {
                for (int32_t k = 0; k < 3 * count; k++, at++)
                    if (pass) A.col[at] = 3 * near[k / 3] + k % 3, A.val[at] = 0;
                if (pass) A.row[3 * v + a + 1] = at;
            }
        }
        if (!pass && mo_csr_create(3 * n, 3 * n, at, &A) != MO_OK) out_of_memory();
    }
    free(start), free(list), free(seen), free(near);
    return A;
}

static void add_entry(mo_csr *A, int32_t i, int32_t j, double value)
{
    int64_t low = A->row[i], high = A->row[i + 1] - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (A->col[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    A->val[low] += value;
}

// M + dt^2 K of linear elasticity: Young's modulus 1e4 Pa, Poisson's ratio 0.49, 200 kg/m^3, dt 0.01 s.
static mo_csr elastic_matrix(const body *b)
{
    const double mu = 1e4 / 2.98, lambda = 1e4 * 0.49 / (1.49 * 0.02), dt = 0.01, density = 200;
    mo_csr A = pattern(b);
    for (int32_t t = 0; t < b->tetrahedra; t++) {
        const int32_t *v = b->tetrahedron[t];
        double g[4][3], volume = gradients(b, v, g), s = dt * dt * volume;
        for (int p = 0; p < 4; p++)
            for (int q = 0; q < 4; q++) {
                double dot = g[p][0] * g[q][0] + g[p][1] * g[q][1] + g[p][2] * g[q][2];
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++) {
                        double k = lambda * g[p][i] * g[q][j] + mu * g[q][i] * g[p][j] + (i == j ? mu * dot : 0);
                        double m = p == q && i == j ? density * volume / 4 : 0;
                        add_entry(&A, 3 * v[p] + i, 3 * v[q] + j, s * k + m);
                    }
            }
    }
    return A;
}

// ---- Measuring ----

typedef struct figures {
    double entries, bytes, order, factor, solve, many, residual; // many: seconds per right-hand side of eight
} figures;

static double residual_of(const mo_csr *A, const double *x, const double *b)
{
    double error = 0, size = 0;
    for (int32_t i = 0; i < A->rows; i++) {
        double r = mo_csr_row_product(A, i, x) - b[i];
        error += r * r, size += b[i] * b[i];
    }
    return sqrt(error / size);
}

static void keep_least(double *least, double value)
{
    if (*least == 0 || value < *least) *least = value;
}

static figures measure(const mo_csr *A, const double *b, double *x, int32_t repetitions)
{
    mo_cholesky *c;
    mo_error err;
    bool positive = false;
    figures f = {0};
    double start = mo_cpu_seconds();
    if (mo_cholesky_create(A, 3, &c, &err) != MO_OK) out_of_memory();
    f.order = mo_cpu_seconds() - start;
    f.entries = (double)mo_cholesky_entries(c), f.bytes = (double)mo_cholesky_bytes(c);
    for (int32_t k = 0; k < repetitions; k++) {
        start = mo_cpu_seconds();
        if (mo_cholesky_factor(c, A, NULL, &positive, &err) != MO_OK || !positive) exit(1);
        keep_least(&f.factor, mo_cpu_seconds() - start);
    }
    for (int32_t k = 0; k < 4 * repetitions; k++) {
        start = mo_cpu_seconds();
        mo_cholesky_solve_many(c, 8, b, x);
        keep_least(&f.many, (mo_cpu_seconds() - start) / 8);
        start = mo_cpu_seconds();
        mo_cholesky_solve(c, b, x);
        keep_least(&f.solve, mo_cpu_seconds() - start);
    }
    f.residual = residual_of(A, x, b);
    mo_cholesky_destroy(c);
    return f;
}

#ifdef MONOLITH_CHOLMOD
// The lower half of a matrix, every block-th row and column of it: CHOLMOD calls it the upper half by columns.
static cholmod_sparse half(const mo_csr *A, int32_t block, int *start, int *row, double *value)
{
    int at = 0, n = A->rows / block;
    for (int i = 0; i < n; i++) {
        start[i] = at;
        for (int64_t e = A->row[i * block]; e < A->row[i * block + 1]; e++) {
            if (A->col[e] % block || A->col[e] / block > i) continue;
            if (value) value[at] = A->val[e];
            row[at++] = A->col[e] / block;
        }
    }
    start[n] = at;
    return (cholmod_sparse){.nrow = (size_t)n,
                            .ncol = (size_t)n,
                            .nzmax = (size_t)at,
                            .p = start,
                            .i = row,
                            .x = value,
                            .stype = 1,
                            .itype = CHOLMOD_INT,
                            .xtype = value ? CHOLMOD_REAL : CHOLMOD_PATTERN,
                            .sorted = 1,
                            .packed = 1};
}

// METIS orders the vertices, each is put in for its three unknowns, the factor is supernodal.
static cholmod_factor *analyse(cholmod_sparse *graph, cholmod_sparse *S, int *order, cholmod_common *common)
{
    common->nmethods = 1, common->method[0].ordering = CHOLMOD_METIS, common->supernodal = CHOLMOD_SIMPLICIAL;
    cholmod_factor *L = cholmod_analyze(graph, common);
    for (size_t k = 0; L && k < S->nrow; k++) order[k] = 3 * ((int *)L->Perm)[k / 3] + (int)(k % 3);
    cholmod_free_factor(&L, common);
    common->method[0].ordering = CHOLMOD_GIVEN, common->supernodal = CHOLMOD_SUPERNODAL, common->final_ll = 1;
    return cholmod_analyze_p(S, order, NULL, 0, common);
}

static figures measure_cholmod(const mo_csr *A, double *b, int32_t repetitions)
{
    figures f = {0};
    cholmod_common common;
    cholmod_start(&common);
    void (*threads)(int) = NULL;
    *(void **)&threads = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
    if (threads) threads(1);
    size_t rows = (size_t)A->rows, entries = (size_t)mo_csr_entries(A);
    int *memory = take(3 * rows + 2 * entries, sizeof *memory), *row = memory + 3 * rows + 2;
    double *value = take(entries, sizeof *value), start;
    cholmod_sparse graph = half(A, 3, memory, row, NULL), S = half(A, 1, memory + rows + 1, row + entries, value);
    start = mo_cpu_seconds();
    cholmod_factor *L = analyse(&graph, &S, memory + 2 * rows + 2, &common);
    f.order = mo_cpu_seconds() - start, f.entries = common.lnz;
    for (int32_t k = 0; k < repetitions; k++) {
        start = mo_cpu_seconds();
        cholmod_factorize(&S, L, &common);
        keep_least(&f.factor, mo_cpu_seconds() - start);
    }
    f.bytes = 8.0 * (double)L->xsize;
    cholmod_dense *X = NULL, *Y = NULL, *E = NULL;
    for (int32_t k = 0; k < 8 * repetitions; k++) {
        cholmod_dense B = {.nrow = rows, .ncol = k % 2 ? 8 : 1, .d = rows, .x = b, .xtype = CHOLMOD_REAL};
        B.nzmax = rows * B.ncol;
        start = mo_cpu_seconds();
        cholmod_solve2(CHOLMOD_A, L, &B, NULL, &X, NULL, &Y, &E, &common);
        keep_least(k % 2 ? &f.many : &f.solve, (mo_cpu_seconds() - start) / (double)B.ncol);
    }
    f.residual = residual_of(A, X->x, b);
    cholmod_free_dense(&X, &common), cholmod_free_dense(&Y, &common), cholmod_free_dense(&E, &common);
    cholmod_free_factor(&L, &common);
    cholmod_finish(&common);
    free(memory), free(value);
    return f;
}
#endif

static void print_row(const char *name, int32_t vertices, const char *method, const figures *f)
{
    printf("| %s | %d | %s | %.3f | %.1f | %.3f | %.4f | %.2f | %.2f | %.0e |\n", name, vertices, method,
           f->entries * 1e-6, f->bytes * 1e-6, f->order, f->factor, f->solve * 1e3, f->many * 1e3, f->residual);
    fflush(stdout);
}

static void compare(const char *name, body b, int32_t repetitions)
{
    mo_csr A = elastic_matrix(&b);
    double *rhs = take(8 * (size_t)A.rows, sizeof(double)), *x = take(8 * (size_t)A.rows, sizeof(double));
    for (int32_t i = 0; i < 8 * A.rows; i++) rhs[i] = mo_unit(mo_hash((uint32_t)i, 1, 2)) - 0.5;
    figures own = measure(&A, rhs, x, repetitions);
    print_row(name, b.vertices, "ours", &own);
#ifdef MONOLITH_CHOLMOD
    figures other = measure_cholmod(&A, rhs, repetitions);
    print_row(name, b.vertices, "CHOLMOD", &other);
#endif
    free(rhs), free(x), free(b.x), free(b.tetrahedron);
    mo_csr_destroy(&A);
}

int main(int argc, char **argv)
{
    int32_t repetitions = argc > 1 ? atoi(argv[1]) : 5;
    if (repetitions < 1) repetitions = 1;
    mo_use_threads(1);
    puts("| body | vertices | factor | entries of L, 1e6 | MB | order, s | factor, s | solve, ms | solve of 8, ms each "
         "| residual |");
    puts("|---|---|---|---|---|---|---|---|---|---|");
    compare("block", box((int32_t[]){10, 10, 6}), repetitions);
    compare("block", box((int32_t[]){20, 20, 10}), repetitions);
    compare("block", box((int32_t[]){28, 28, 14}), repetitions);
    compare("sheet", box((int32_t[]){32, 32, 3}), repetitions);
    compare("beam", box((int32_t[]){60, 8, 8}), repetitions);
    compare("ball", round_body(12, false), repetitions);
    compare("ball", round_body(16, false), repetitions);
    compare("ring", round_body(24, true), repetitions);
    return 0;
}
