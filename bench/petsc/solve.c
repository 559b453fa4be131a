// An outside opinion: solves the systems of `monolith bench stokes --export DIR` with PETSc's conjugate gradients and
// several preconditioners, beside our own coloured SSOR, in turn and to one stopping rule: max|r| <= 1e-6 max|b|.
//
//     solve REPEATS SECONDS DIR/std_32_100_clamped ...      one CSV line per system and solver
//
// Not part of the normal build: see the Makefile beside it.
#include "base/parallel.h"
#include "sparse/krylov.h"
#include <math.h>
#include <petscksp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double tolerance = 1e-6;
enum { MOST_ITERATIONS = 20000, MOST_REPEATS = 16 };

// ---- Matrix Market ----

static void die(const char *what, const char *path)
{
    fprintf(stderr, "solve: %s: %s\n", path, what);
    exit(1);
}

// Opens BASE_KIND.mtx behind its comments.
static FILE *open_file(const char *base, char kind, char path[1000])
{
    char line[1000];
    snprintf(path, 1000, "%s_%c.mtx", base, kind);
    FILE *f = fopen(path, "r");
    if (!f) die("cannot open", path);
    long at = 0;
    while (fgets(line, sizeof line, f) && line[0] == '%') at = ftell(f);
    fseek(f, at, SEEK_SET);
    return f;
}

static void read_matrix(const char *base, mo_csr *A)
{
    char path[1000];
    FILE *f = open_file(base, 'A', path);
    int rows, cols;
    long long lower, entries = 0;
    if (fscanf(f, "%d %d %lld", &rows, &cols, &lower) != 3) die("no size", path);
    int *i = malloc(sizeof *i * (size_t)lower), *j = malloc(sizeof *j * (size_t)lower);
    double *v = malloc(sizeof *v * (size_t)lower);
    if (!i || !j || !v) die("out of memory", path);
    for (long long k = 0; k < lower; k++) {
        if (fscanf(f, "%d %d %lf", &i[k], &j[k], &v[k]) != 3) die("not a matrix", path);
        i[k]--, j[k]--, entries += 1 + (i[k] != j[k]);
    }
    fclose(f);
    if (mo_csr_create(rows, cols, entries, A) != MO_OK) die("out of memory", path);
    // Rows of the file ascend, and columns within: lower entries first, then the mirrored ones, keep columns ascending.
    for (long long k = 0; k < lower; k++) {
        A->row[i[k] + 1]++;
        if (i[k] != j[k]) A->row[j[k] + 1]++;
    }
    for (int r = 0; r < rows; r++) A->row[r + 1] += A->row[r];
    int64_t *at = malloc(sizeof *at * (size_t)rows);
    if (!at) die("out of memory", path);
    memcpy(at, A->row, sizeof *at * (size_t)rows);
    for (long long k = 0; k < lower; k++) {
        A->col[at[i[k]]] = j[k], A->val[at[i[k]]++] = v[k];
        if (i[k] != j[k]) A->col[at[j[k]]] = i[k], A->val[at[j[k]]++] = v[k];
    }
    free(i), free(j), free(v), free(at);
}

static double *read_array(const char *base, char kind, int rows, int cols)
{
    char path[1000];
    FILE *f = open_file(base, kind, path);
    int m, n;
    double *v = malloc(sizeof *v * (size_t)rows * (size_t)cols);
    if (fscanf(f, "%d %d", &m, &n) != 2 || m != rows || n != cols || !v) die("not the right size", path);
    for (int k = 0; k < rows * cols; k++)
        if (fscanf(f, "%lf", &v[k]) != 1) die("not a number", path);
    fclose(f);
    return v;
}

typedef struct linear_system {
    mo_csr A;
    double *b, *x, *solution; // x: the solver's; solution: the file's
    int32_t (*coord)[3];
    Mat matrix;
    Vec right, left;
} linear_system;

static void load(const char *base, linear_system *s)
{
    read_matrix(base, &s->A);
    int n = s->A.rows;
    s->b = read_array(base, 'b', n, 1), s->solution = read_array(base, 'x', n, 1);
    s->x = malloc(sizeof(double) * (size_t)n);
    double *c = read_array(base, 'c', n, 3);
    s->coord = malloc(sizeof *s->coord * (size_t)n);
    if (!s->x || !s->coord) die("out of memory", base);
    for (int i = 0; i < n; i++)
        for (int a = 0; a < 3; a++) s->coord[i][a] = (int32_t)c[a * n + i];
    free(c);
    PetscInt *row = malloc(sizeof *row * ((size_t)n + 1));
    if (!row) die("out of memory", base);
    for (int i = 0; i <= n; i++) row[i] = (PetscInt)s->A.row[i];
    _Static_assert(sizeof(PetscInt) == sizeof(int32_t), "columns are shared with PETSc");
    PetscCallAbort(PETSC_COMM_SELF, MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 27, NULL, &s->matrix));
    PetscCallAbort(PETSC_COMM_SELF, MatSeqAIJSetPreallocationCSR(s->matrix, row, s->A.col, s->A.val));
    PetscCallAbort(PETSC_COMM_SELF, MatSetOption(s->matrix, MAT_SPD, PETSC_TRUE));
    PetscCallAbort(PETSC_COMM_SELF, VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, s->b, &s->right));
    PetscCallAbort(PETSC_COMM_SELF, VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, s->x, &s->left));
    free(row);
}

static void unload(linear_system *s)
{
    PetscCallAbort(PETSC_COMM_SELF, MatDestroy(&s->matrix));
    PetscCallAbort(PETSC_COMM_SELF, VecDestroy(&s->right));
    PetscCallAbort(PETSC_COMM_SELF, VecDestroy(&s->left));
    mo_csr_destroy(&s->A);
    free(s->b), free(s->x), free(s->solution), free(s->coord);
}

// ---- Solvers ----

typedef struct result {
    int iterations;
    const char *reason;
    double setup, solve; // CPU seconds
} result;

typedef struct stopping_rule {
    double most, until; // max|r|, CPU time
    bool late;
    Vec residual;
} stopping_rule;

static PetscErrorCode stop(KSP ksp, PetscInt iteration, PetscReal norm, KSPConvergedReason *reason, void *context)
{
    stopping_rule *rule = context;
    Vec r;
    PetscReal largest;
    PetscFunctionBegin;
    // Conjugate gradients hand out the residual of their recurrence: no product with the matrix.
    PetscCall(KSPBuildResidual(ksp, NULL, rule->residual, &r));
    PetscCall(VecNorm(r, NORM_INFINITY, &largest));
    *reason = KSP_CONVERGED_ITERATING;
    if (largest <= rule->most) *reason = KSP_CONVERGED_ATOL;
    if (!isfinite(norm) || !isfinite(largest)) *reason = KSP_DIVERGED_NANORINF;
    rule->late = iteration % 10 == 0 && mo_cpu_seconds() > rule->until;
    if (rule->late) *reason = KSP_DIVERGED_ITS;
    PetscFunctionReturn(0);
}

static const char *reason_name(KSPConvergedReason reason, bool late)
{
    if (late) return "time";
    if (reason > 0) return "converged";
    if (reason == KSP_DIVERGED_ITS) return "max_iterations";
    if (reason == KSP_DIVERGED_INDEFINITE_PC) return "indefinite";
    return "failed";
}

static PetscErrorCode run_petsc(linear_system *s, const char *pc_name, double seconds, result *out)
{
    KSP ksp;
    PC pc;
    KSPConvergedReason reason;
    PetscInt iterations;
    stopping_rule rule = {.most = tolerance * mo_max_abs(s->A.rows, s->b)};
    PetscFunctionBegin;
    PetscCall(VecDuplicate(s->right, &rule.residual));
    double start = mo_cpu_seconds();
    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetOperators(ksp, s->matrix, s->matrix));
    PetscCall(KSPSetType(ksp, KSPCG));
    PetscCall(KSPSetNormType(ksp, KSP_NORM_NATURAL)); // a by-product of the iteration
    PetscCall(KSPSetTolerances(ksp, 0, 0, PETSC_DEFAULT, MOST_ITERATIONS));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, pc_name));
    if (!strcmp(pc_name, PCSOR)) PetscCall(PCSORSetSymmetric(pc, SOR_LOCAL_SYMMETRIC_SWEEP));
    if (!strcmp(pc_name, PCHYPRE)) PetscCall(PCHYPRESetType(pc, "boomeramg"));
    PetscCall(KSPSetConvergenceTest(ksp, stop, &rule, NULL));
    PetscCall(KSPSetUp(ksp));
    double ready = mo_cpu_seconds();
    rule.until = ready + seconds;
    PetscCall(KSPSolve(ksp, s->right, s->left));
    out->solve = mo_cpu_seconds() - ready, out->setup = ready - start;
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    out->iterations = iterations, out->reason = reason_name(reason, rule.late);
    PetscCall(VecDestroy(&rule.residual));
    PetscCall(KSPDestroy(&ksp));
    PetscFunctionReturn(0);
}

static void apply_matrix(void *A, const double *x, double *y) { mo_csr_multiply(A, x, y); }

// What our papers' route does.
static void run_ours(linear_system *s, double seconds, result *out)
{
    int32_t n = s->A.rows, limit = 20;
    double *work = malloc(sizeof(double) * 5 * (size_t)n), start = mo_cpu_seconds();
    mo_sweep sweep;
    mo_ssor ssor;
    mo_solve_info info;
    if (!work || mo_sweep_create(n, (const int32_t(*)[3])s->coord, 8, true, &sweep) != MO_OK ||
        mo_ssor_create(&s->A, &sweep, 1, &ssor) != MO_OK)
        die("out of memory", "ours");
    out->setup = mo_cpu_seconds() - start;
    for (int pass = 0; pass < 2; pass++) { // how many iterations fit into the time, then all of them
        memset(s->x, 0, sizeof(double) * (size_t)n);
        start = mo_cpu_seconds();
        info = mo_cg(n, &(mo_operator){apply_matrix, &s->A}, &(mo_operator){mo_ssor_apply, &ssor}, s->b, s->x,
                     tolerance, limit, false, work);
        out->solve = mo_cpu_seconds() - start;
        double fits = seconds * info.iterations / fmax(out->solve, 1e-9);
        if (pass == 0) limit = fits < MOST_ITERATIONS ? (int)fits + 1 : MOST_ITERATIONS;
    }
    out->iterations = info.iterations, out->reason = "stalled";
    if (info.reason == MO_REASON_CONVERGED) out->reason = "converged";
    if (info.reason == MO_REASON_MAX_ITERATIONS) out->reason = limit < MOST_ITERATIONS ? "time" : "max_iterations";
    mo_ssor_destroy(&ssor), mo_sweep_destroy(&sweep);
    free(work);
}

// ---- Report ----

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

// max|b - A x| / max|b|, and |x - solution| / |solution|.
static void compare(const linear_system *s, double *residual, double *error)
{
    double worst = 0, above = 0, below = 0;
    for (int i = 0; i < s->A.rows; i++) {
        double d = s->x[i] - s->solution[i];
        worst = fmax(worst, fabs(s->b[i] - mo_csr_row_product(&s->A, i, s->x)));
        above += d * d, below += s->solution[i] * s->solution[i];
    }
    *residual = worst / mo_max_abs(s->A.rows, s->b);
    *error = sqrt(above / below);
}

int main(int argc, char **argv)
{
    static const char *const solvers[] = {"ours", PCSOR, PCEISENSTAT, PCJACOBI, PCICC, PCHYPRE, PCGAMG};
    enum { SOLVERS = sizeof solvers / sizeof *solvers };
    int repeats = argc > 1 ? atoi(argv[1]) : 0, none = 1;
    double seconds = argc > 2 ? atof(argv[2]) : 0;
    if (argc < 4 || repeats < 1 || repeats > MOST_REPEATS || !(seconds > 0)) {
        fprintf(stderr, "usage: solve REPEATS SECONDS DIR/std_32_100_clamped ...\n");
        return 2;
    }
    mo_use_threads(1);
    char **name = argv;
    PetscCall(PetscInitialize(&none, &name, NULL, NULL));
    printf("system,solver,unknowns,entries,iterations,reason,setup_seconds,solve_seconds,ms_per_iteration,residual,"
           "error\n");
    for (int k = 3; k < argc; k++) {
        linear_system s;
        result r[SOLVERS] = {0};
        int runs[SOLVERS] = {0};
        double setup[SOLVERS][MOST_REPEATS], solve[SOLVERS][MOST_REPEATS], residual[SOLVERS], error[SOLVERS];
        load(argv[k], &s);
        for (int t = 0; t < repeats; t++)
            for (int m = 0; m < SOLVERS; m++) { // in turn, so that ratios hold on a noisy machine
                if (t > 0 && strcmp(r[m].reason, "converged")) continue; // its time means nothing
                memset(s.x, 0, sizeof(double) * (size_t)s.A.rows);
                if (m == 0)
                    run_ours(&s, seconds, &r[m]);
                else
                    PetscCall(run_petsc(&s, solvers[m], seconds, &r[m]));
                setup[m][t] = r[m].setup, solve[m][t] = r[m].solve, runs[m]++;
                compare(&s, &residual[m], &error[m]);
            }
        const char *slash = strrchr(argv[k], '/');
        for (int m = 0; m < SOLVERS; m++) {
            double all = median(solve[m], runs[m]);
            printf("%s,%s,%d,%lld,%d,%s,%.4g,%.4g,%.4g,%.3g,%.3g\n", slash ? slash + 1 : argv[k],
                   m ? solvers[m] : "monolith ssor", s.A.rows, (long long)mo_csr_entries(&s.A), r[m].iterations,
                   r[m].reason, median(setup[m], runs[m]), all, 1e3 * all / (r[m].iterations > 0 ? r[m].iterations : 1),
                   residual[m], error[m]);
        }
        fflush(stdout);
        unload(&s);
    }
    PetscCall(PetscFinalize());
    return 0;
}
