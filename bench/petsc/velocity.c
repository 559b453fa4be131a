// An outside opinion on the fast route: PETSc on the velocity-pressure form of `monolith bench stokes`, beside our own
// solver, in turn and to one stopping rule, the papers' residual of pressure and stress <= 1e-6.
//
//     velocity REPEATS SECONDS CELLS:VISCOSITY ...      one CSV line per system and solver
//
//     [ K  Bp^T ] [ z ]   [ f ]      K: velocities with viscosity, mass included (src/system/viscous.h)
//     [ Bp  0   ] [ p ] = [ c ]
//
// Not part of the normal build: see the Makefile beside it.
#include "base/parallel.h"
#include "cases/case.h"
#include "system/viscous.h"
#include <math.h>
#include <petscksp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double tolerance = 1e-6, time_step = 0.01, density = 1000;
enum { MOST_ITERATIONS = 1000, MOST_REPEATS = 16, SET = 1 << MO_BLOCK_PRESSURE | 1 << MO_BLOCK_STRESS };

static void die(const char *what)
{
    fprintf(stderr, "velocity: %s\n", what);
    exit(1);
}

// PETSc tells more itself.
static void check(PetscErrorCode code)
{
    if (code) die("PETSc failed");
}

// ---- The system ----

typedef struct saddle {
    mo_case domain;
    mo_liquid_system liquid;
    mo_viscous_form form;
    double *start;           // [faces] u*
    double *reference, *z;   // [n] solved to 1e-10; the solver's
    double *du, *rows, norm; // of the papers' residual
    PetscInt *row[3];
    Mat K, Bp, Bpt, A;
    Vec b, x;
    IS part[2], component[3]; // velocity and pressure; of the velocities
    MatNullSpace motions;
} saddle;

static mo_system *system_of(saddle *s) { return &s->liquid.system; }

static double *array(int64_t n)
{
    double *v = calloc((size_t)n + 1, sizeof *v);
    if (!v) die("out of memory");
    return v;
}

static Mat matrix_of(mo_csr *A, PetscInt **row)
{
    Mat m;
    _Static_assert(sizeof(PetscInt) == sizeof(int32_t), "columns are shared with PETSc");
    *row = malloc(sizeof **row * ((size_t)A->rows + 1));
    if (!*row) die("out of memory");
    for (int i = 0; i <= A->rows; i++) (*row)[i] = (PetscInt)A->row[i];
    check(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, A->rows, A->cols, *row, A->col, A->val, &m));
    return m;
}

// What hardly feels viscosity: the six rigid motions, on faces.
static void find_rigid_motions(saddle *s)
{
    const mo_face_lattice *l = system_of(s)->lattice;
    Vec v[6];
    for (int m = 0; m < 6; m++) {
        PetscScalar *to;
        check(MatCreateVecs(s->K, &v[m], NULL));
        check(VecGetArray(v[m], &to));
        for (int i = 0; i < s->form.faces; i++) {
            const int32_t *c = l->face[i];
            double x[3];
            for (int a = 0; a < 3; a++) x[a] = (c[a] + (a == c[3] ? 0 : 0.5)) / s->domain.def.cells[0] - 0.5;
            int turn = m - 3, next = (turn + 1) % 3, last = (turn + 2) % 3; // e_turn x x
            to[i] = m < 3 ? c[3] == m : c[3] == next ? -x[last] : c[3] == last ? x[next] : 0;
        }
        check(VecRestoreArray(v[m], &to));
        for (int k = 0; k < m; k++) { // PETSc wants them orthonormal
            PetscScalar dot;
            check(VecDot(v[m], v[k], &dot));
            check(VecAXPY(v[m], -dot, v[k]));
        }
        check(VecNormalize(v[m], NULL));
    }
    check(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_FALSE, 6, v, &s->motions));
    for (int m = 0; m < 6; m++) check(VecDestroy(&v[m]));
}

static void split_components(saddle *s)
{
    const mo_face_lattice *l = system_of(s)->lattice;
    PetscInt *row = malloc(sizeof *row * ((size_t)s->form.faces + 1));
    if (!row) die("out of memory");
    for (int a = 0; a < 3; a++) {
        PetscInt n = 0;
        for (int i = 0; i < s->form.faces; i++)
            if (l->face[i][3] == a) row[n++] = i;
        check(ISCreateGeneral(PETSC_COMM_SELF, n, row, PETSC_COPY_VALUES, &s->component[a]));
    }
    free(row);
}

static void find_norm(saddle *s)
{
    const mo_system *y = system_of(s);
    for (int k = MO_BLOCK_PRESSURE; k <= MO_BLOCK_STRESS; k++) {
        mo_block_residual(y, y->block[k], s->rows);
        s->norm = fmax(s->norm, mo_max_abs(y->block[k]->rows, s->rows));
    }
}

static void restart(saddle *s, bool keep_multipliers)
{
    mo_system *y = system_of(s);
    memcpy(y->faces.velocity, s->start, sizeof(double) * (size_t)y->faces.count);
    for (int k = MO_BLOCK_PRESSURE; k <= MO_BLOCK_STRESS && !keep_multipliers; k++)
        memset(y->block[k]->x, 0, sizeof(double) * (size_t)y->block[k]->rows);
}

// z = W u of the system's velocities.
static void take_velocity(saddle *s, double *z)
{
    const mo_system *y = system_of(s);
    for (int i = 0; i < y->faces.count; i++) z[i] = y->lattice->open[i] * y->faces.velocity[i];
}

static void find_reference(saddle *s)
{
    mo_solver_def solver = {.tolerance = 1e-10, .max_iterations = MOST_ITERATIONS, .rounds = 1};
    mo_system_info info;
    if (mo_system_solve(system_of(s), &solver, &info, NULL) != MO_OK || !(info.solve.residual < 1e-8))
        die("no reference");
    take_velocity(s, s->reference);
    restart(s, false);
}

static void load(int cells, double viscosity, saddle *s)
{
    mo_case_def def = {.cells = {cells, cells, cells},
                       .dx = 1.0 / cells,
                       .liquid = mo_case_std_liquid,
                       .solid = mo_case_std_solid,
                       .density = density,
                       .viscosity = viscosity};
    mo_solver_def solver = {0};
    *s = (saddle){0};
    if (mo_case_create(&def, &s->domain, NULL) != MO_OK) die("out of memory");
    mo_case_std_velocity(&s->domain);
    if (mo_case_stokes_assemble(&s->domain, time_step, &solver, &s->liquid, NULL) != MO_OK ||
        mo_viscous_form_create(system_of(s), SET, &s->form) != MO_OK)
        die("out of memory");
    mo_viscous_form *f = &s->form;
    int64_t size = f->n + f->pressures;
    s->start = array(f->n), s->reference = array(f->n), s->z = array(size);
    s->du = array(f->n), s->rows = array(f->stress->rows + f->pressures);
    memcpy(s->start, system_of(s)->velocity, sizeof(double) * (size_t)f->faces);
    find_norm(s);
    find_reference(s);
    s->K = matrix_of(&f->K, &s->row[0]), s->Bp = matrix_of(&f->Bp, &s->row[1]), s->Bpt = matrix_of(&f->Bpt, &s->row[2]);
    check(MatSetOption(s->K, MAT_SPD, PETSC_TRUE));
    find_rigid_motions(s);
    split_components(s);
    check(ISCreateStride(PETSC_COMM_SELF, f->n, 0, 1, &s->part[0]));
    check(ISCreateStride(PETSC_COMM_SELF, f->pressures, f->n, 1, &s->part[1]));
    Mat block[4] = {s->K, s->Bpt, s->Bp, NULL};
    check(MatCreateNest(PETSC_COMM_SELF, 2, s->part, 2, s->part, block, &s->A));
    check(VecCreateSeq(PETSC_COMM_SELF, (PetscInt)size, &s->b));
    check(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, (PetscInt)size, s->z, &s->x));
    PetscScalar *b;
    check(VecGetArray(s->b, &b));
    memcpy(b, f->f, sizeof(double) * (size_t)f->n);
    memcpy(b + f->n, f->c, sizeof(double) * (size_t)f->pressures);
    check(VecRestoreArray(s->b, &b));
}

static void unload(saddle *s)
{
    check(MatDestroy(&s->A)), check(MatDestroy(&s->K)), check(MatDestroy(&s->Bp)), check(MatDestroy(&s->Bpt));
    check(VecDestroy(&s->b)), check(VecDestroy(&s->x));
    check(ISDestroy(&s->part[0])), check(ISDestroy(&s->part[1]));
    check(MatNullSpaceDestroy(&s->motions));
    for (int k = 0; k < 3; k++) check(ISDestroy(&s->component[k])), free(s->row[k]);
    free(s->start), free(s->reference), free(s->z), free(s->du), free(s->rows);
    mo_viscous_form_destroy(&s->form);
    mo_liquid_destroy(&s->liquid);
    mo_case_destroy(&s->domain);
}

// The papers' residual of r = b - A x: what rows of pressure and stress lack if velocities follow from multipliers.
static double papers_residual(saddle *s, const double *r)
{
    const mo_viscous_form *f = &s->form;
    const mo_face_lattice *l = system_of(s)->lattice;
    for (int i = 0; i < f->faces; i++) s->du[i] = r[i] / (f->mass[i] * l->open[i]);
    mo_csr_multiply(&f->stress->on[MO_FACES], s->du, s->rows);
    double most = mo_max_abs(f->stress->rows, s->rows);
    mo_csr_multiply(&f->pressure->on[MO_FACES], s->du, s->rows);
    for (int i = 0; i < f->pressures; i++) s->rows[i] -= r[f->n + i];
    double pressure = mo_max_abs(f->pressures, s->rows);
    return (isfinite(pressure) ? fmax(most, pressure) : INFINITY) / s->norm;
}

// ---- Schur complements ----

// Cahouet and Chabard, as ours: S^-1 ~ -(wd + L^-1), L = Bp (M/dt)^-1 Bp^T by a cycle of GAMG.
typedef struct schur {
    Vec wd, work;
    Mat L;
    KSP poisson;
} schur;

static PetscErrorCode schur_apply(PC pc, Vec r, Vec p)
{
    schur *c;
    PetscFunctionBegin;
    PetscCall(PCShellGetContext(pc, &c));
    PetscCall(KSPSolve(c->poisson, r, p));
    PetscCall(VecPointwiseMult(c->work, c->wd, r));
    PetscCall(VecAXPY(p, 1, c->work));
    PetscCall(VecScale(p, -1));
    PetscFunctionReturn(0);
}

static void fill_viscous_part(const saddle *s, schur *c)
{
    const mo_viscous_form *f = &s->form;
    double *inverse = array(f->n), largest = 0;
    PetscScalar *wd;
    mo_csr_diagonal(&f->K, inverse);
    for (int i = 0; i < f->faces; i++) inverse[i] -= f->mass[i], largest = fmax(largest, inverse[i]);
    for (int i = 0; i < f->faces; i++) inverse[i] = 1 / fmax(inverse[i], 1e-14 * largest);
    check(VecGetArray(c->wd, &wd));
    for (int r = 0; r < f->pressures; r++) {
        double sum = 0;
        for (int64_t k = f->Bp.row[r]; k < f->Bp.row[r + 1]; k++)
            sum += f->Bp.val[k] * f->Bp.val[k] * inverse[f->Bp.col[k]];
        wd[r] = 4.0 * 3 / (2 * 3 + 2) / sum;
    }
    check(VecRestoreArray(c->wd, &wd));
    free(inverse);
}

static void schur_create(const saddle *s, const char *prefix, schur *c)
{
    Mat scaled;
    Vec weight;
    PetscScalar *w;
    check(MatCreateVecs(s->Bpt, &c->wd, &weight));
    check(VecDuplicate(c->wd, &c->work));
    fill_viscous_part(s, c);
    check(VecGetArray(weight, &w));
    for (int i = 0; i < s->form.faces; i++) w[i] = 1 / s->form.mass[i];
    check(VecRestoreArray(weight, &w));
    check(MatDuplicate(s->Bpt, MAT_COPY_VALUES, &scaled));
    check(MatDiagonalScale(scaled, weight, NULL));
    check(MatMatMult(s->Bp, scaled, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &c->L));
    check(MatSetOption(c->L, MAT_SPD, PETSC_TRUE));
    check(MatDestroy(&scaled)), check(VecDestroy(&weight));
    check(KSPCreate(PETSC_COMM_SELF, &c->poisson));
    check(KSPSetOptionsPrefix(c->poisson, prefix));
    check(KSPAppendOptionsPrefix(c->poisson, "poisson_"));
    check(KSPSetOperators(c->poisson, c->L, c->L));
    check(KSPSetFromOptions(c->poisson));
    check(KSPSetUp(c->poisson));
}

static void schur_destroy(schur *c)
{
    check(VecDestroy(&c->wd)), check(VecDestroy(&c->work)), check(MatDestroy(&c->L)), check(KSPDestroy(&c->poisson));
}

// ---- Solvers ----

typedef struct variant {
    const char *name, *options; // of PETSc; "@" stands for the prefix
    bool cahouet;               // Schur complement by us
    bool motions;               // K comes with its six rigid motions
    bool components;            // the components of the velocity are split
    int every;                  // iterations between looks at the residual, which only GCR has at hand
} variant;

#define GCR           "-@ksp_type gcr -@ksp_gcr_restart 400 "
#define FACTORS(kind) "-@pc_type fieldsplit -@pc_fieldsplit_type schur -@pc_fieldsplit_schur_fact_type " kind " "
#define ONCE          "-@fieldsplit_u_ksp_type preonly -@fieldsplit_p_ksp_type preonly "
#define UPPER         GCR FACTORS("upper") ONCE
#define GAMG(at)      "-@" at "pc_type gamg -@" at "mg_levels_pc_type sor "
// Aggregates with fewer faces than motions leave zeros on coarse diagonals: no SOR.
#define GAMG_MOTIONS                                                                                                   \
    "-@fieldsplit_u_pc_type gamg -@fieldsplit_u_mg_coarse_pc_type svd -@fieldsplit_u_mg_levels_pc_type jacobi "
#define BOOMER                                                                                                         \
    "-@fieldsplit_u_pc_type hypre -@fieldsplit_u_pc_hypre_type boomeramg "                                             \
    "-@fieldsplit_u_pc_hypre_boomeramg_strong_threshold 0.5 "
#define COMPONENT(a) "-@fieldsplit_u_fieldsplit_" a "_ksp_type preonly " GAMG("fieldsplit_u_fieldsplit_" a "_")
#define COMPONENTS                                                                                                     \
    "-@fieldsplit_u_pc_type fieldsplit -@fieldsplit_u_pc_fieldsplit_type symmetric_multiplicative " COMPONENT("x")     \
        COMPONENT("y") COMPONENT("z")
#define CAHOUET "-@fieldsplit_p_pc_type shell -@poisson_ksp_type preonly " GAMG("poisson_")
#define SIMPLE  "-@pc_fieldsplit_schur_precondition selfp " GAMG("fieldsplit_p_")

static const variant variants[] = {
    {"gcr, gamg, cahouet-chabat", UPPER GAMG("fieldsplit_u_") CAHOUET, true, false, false, 1},
    {"gcr, gamg with rigid motions, cahouet-chabat", UPPER GAMG_MOTIONS CAHOUET, true, true, false, 1},
    {"gcr, gamg by component, cahouet-chabat", UPPER COMPONENTS CAHOUET, true, false, true, 1},
    {"gcr, boomeramg, cahouet-chabat", UPPER BOOMER CAHOUET, true, false, false, 1},
    {"gcr, gamg, simple", UPPER GAMG("fieldsplit_u_") SIMPLE, false, false, false, 1},
    {"minres, gamg, cahouet-chabat", "-@ksp_type minres " FACTORS("diag") ONCE GAMG("fieldsplit_u_") CAHOUET, true,
     false, false, 5},
};
enum { VARIANTS = sizeof variants / sizeof *variants, SOLVERS = 1 + VARIANTS };

static void set_options(const char *text, const char *prefix)
{
    char all[2000] = "";
    size_t at = 0;
    for (const char *c = text; *c && at + strlen(prefix) + 2 < sizeof all; c++)
        at += (size_t)snprintf(all + at, sizeof all - at, *c == '@' ? "%s" : "%.1s", *c == '@' ? prefix : c);
    check(PetscOptionsInsertString(NULL, all));
}

typedef struct result {
    int iterations;
    const char *reason;
    double setup, solve; // CPU seconds
} result;

typedef struct stopping_rule {
    saddle *system;
    double until; // CPU time
    int every;
    bool late;
    Vec residual;
} stopping_rule;

static PetscErrorCode stop(KSP ksp, PetscInt iteration, PetscReal norm, KSPConvergedReason *reason, void *context)
{
    stopping_rule *rule = context;
    const PetscScalar *values;
    Vec r;
    PetscFunctionBegin;
    *reason = isfinite(norm) ? KSP_CONVERGED_ITERATING : KSP_DIVERGED_NANORINF;
    if (iteration % rule->every) PetscFunctionReturn(0);
    PetscCall(KSPBuildResidual(ksp, NULL, rule->residual, &r));
    PetscCall(VecGetArrayRead(r, &values));
    if (papers_residual(rule->system, values) <= tolerance) *reason = KSP_CONVERGED_ATOL;
    PetscCall(VecRestoreArrayRead(r, &values));
    rule->late = mo_cpu_seconds() > rule->until;
    if (*reason == KSP_CONVERGED_ITERATING && (rule->late || iteration >= MOST_ITERATIONS)) *reason = KSP_DIVERGED_ITS;
    PetscFunctionReturn(0);
}

static const char *reason_name(KSPConvergedReason reason, bool late)
{
    if (reason > 0) return "converged";
    if (late) return "time";
    return reason == KSP_DIVERGED_ITS ? "max_iterations" : "failed";
}

static void run_petsc(saddle *s, int which, double seconds, result *out)
{
    const variant *v = &variants[which];
    KSP ksp, *sub;
    PC pc, inner;
    KSPConvergedReason reason;
    PetscInt iterations, count;
    schur c = {0};
    char prefix[16];
    static const char *const axis[3] = {"x", "y", "z"};
    stopping_rule rule = {.system = s, .every = v->every};
    snprintf(prefix, sizeof prefix, "v%d_", which);
    set_options(v->options, prefix);
    check(VecDuplicate(s->b, &rule.residual));
    check(VecSet(s->x, 0));
    check(MatSetNearNullSpace(s->K, v->motions ? s->motions : NULL));
    double start = mo_cpu_seconds();
    check(KSPCreate(PETSC_COMM_SELF, &ksp));
    check(KSPSetOptionsPrefix(ksp, prefix));
    check(KSPSetOperators(ksp, s->A, s->A));
    check(KSPGetPC(ksp, &pc));
    check(PCSetType(pc, PCFIELDSPLIT));
    check(PCFieldSplitSetIS(pc, "u", s->part[0]));
    check(PCFieldSplitSetIS(pc, "p", s->part[1]));
    check(KSPSetFromOptions(ksp));
    check(KSPSetTolerances(ksp, 0, 0, PETSC_DEFAULT, MOST_ITERATIONS + 1));
    check(KSPSetConvergenceTest(ksp, stop, &rule, NULL));
    check(KSPSetUp(ksp));
    check(PCFieldSplitSchurGetSubKSP(pc, &count, &sub));
    check(KSPGetPC(sub[0], &inner));
    for (int a = 0; a < 3 && v->components; a++) check(PCFieldSplitSetIS(inner, axis[a], s->component[a]));
    check(KSPSetUp(sub[0])), check(KSPSetUpOnBlocks(sub[0]));
    if (v->cahouet) {
        schur_create(s, prefix, &c);
        check(KSPGetPC(sub[1], &inner));
        check(PCShellSetContext(inner, &c));
        check(PCShellSetApply(inner, schur_apply));
    } else
        check(KSPSetUp(sub[1]));
    check(PetscFree(sub));
    double ready = mo_cpu_seconds();
    rule.until = ready + seconds;
    check(KSPSolve(ksp, s->b, s->x));
    out->solve = mo_cpu_seconds() - ready, out->setup = ready - start;
    check(KSPGetConvergedReason(ksp, &reason));
    check(KSPGetIterationNumber(ksp, &iterations));
    out->iterations = iterations, out->reason = reason_name(reason, rule.late);
    check(KSPDestroy(&ksp)), check(VecDestroy(&rule.residual));
    if (v->cahouet) schur_destroy(&c);
}

// Ours; it also makes K and Bp, which PETSc is given.
static void run_ours(saddle *s, result *out)
{
    mo_solver_def solver = {.tolerance = tolerance, .max_iterations = MOST_ITERATIONS, .rounds = 1};
    mo_system_info info;
    restart(s, false);
    double cpu = mo_cpu_seconds();
    if (mo_system_solve(system_of(s), &solver, &info, NULL) != MO_OK) die("out of memory");
    cpu = mo_cpu_seconds() - cpu;
    out->setup = cpu * info.setup_seconds / (info.setup_seconds + info.solve_seconds), out->solve = cpu - out->setup;
    out->iterations = info.solve.iterations, out->reason = mo_reason_name(info.solve.reason);
    take_velocity(s, s->z);
    // Its multiplier is that of the papers' form, without the trace that K has.
    mo_csr_multiply(&s->form.Bp, s->z, s->rows);
    for (int i = 0; i < s->form.pressures; i++)
        s->z[s->form.n + i] = s->form.pressure->x[i] + s->form.gamma[i] * (s->form.c[i] - s->rows[i]);
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

// The papers' residual of b - A x, computed anew, and |z - reference| / |reference| in the norm of the mass.
static void compare(saddle *s, double *residual, double *error)
{
    const mo_viscous_form *f = &s->form;
    double *r = array(f->n + f->pressures), above = 0, below = 0;
    mo_csr_multiply(&f->K, s->z, r);
    mo_csr_multiply_add(&f->Bpt, 1, s->z + f->n, r);
    for (int i = 0; i < f->n; i++) r[i] = f->f[i] - r[i];
    mo_csr_multiply(&f->Bp, s->z, r + f->n);
    for (int i = 0; i < f->pressures; i++) r[f->n + i] = f->c[i] - r[f->n + i];
    *residual = papers_residual(s, r);
    for (int i = 0; i < f->faces; i++) {
        double d = s->z[i] - s->reference[i];
        above += f->mass[i] * d * d, below += f->mass[i] * s->reference[i] * s->reference[i];
    }
    *error = sqrt(above / below);
    free(r);
}

static void run_system(int cells, double viscosity, int repeats, double seconds)
{
    saddle s;
    result r[SOLVERS] = {0};
    int runs[SOLVERS] = {0};
    double setup[SOLVERS][MOST_REPEATS], solve[SOLVERS][MOST_REPEATS], residual[SOLVERS], error[SOLVERS];
    load(cells, viscosity, &s);
    for (int t = 0; t < repeats; t++)
        for (int m = 0; m < SOLVERS; m++) {                          // in turn, so that ratios hold on a noisy machine
            if (t > 0 && strcmp(r[m].reason, "converged")) continue; // its time means nothing
            if (m == 0)
                run_ours(&s, &r[m]);
            else
                run_petsc(&s, m - 1, seconds, &r[m]);
            setup[m][t] = r[m].setup, solve[m][t] = r[m].solve, runs[m]++;
            compare(&s, &residual[m], &error[m]);
        }
    for (int m = 0; m < SOLVERS; m++)
        printf("std_%d_%g_clamped,\"%s\",%d,%d,%d,%s,%.4g,%.4g,%.3g,%.3g\n", cells, viscosity,
               m ? variants[m - 1].name : "monolith fast", s.form.n, s.form.pressures, r[m].iterations, r[m].reason,
               median(setup[m], runs[m]), median(solve[m], runs[m]), residual[m], error[m]);
    fflush(stdout);
    unload(&s);
}

int main(int argc, char **argv)
{
    int repeats = argc > 1 ? atoi(argv[1]) : 0, none = 1;
    double seconds = argc > 2 ? atof(argv[2]) : 0;
    if (argc < 4 || repeats < 1 || repeats > MOST_REPEATS || !(seconds > 0)) {
        fprintf(stderr, "usage: velocity REPEATS SECONDS CELLS:VISCOSITY ...\n");
        return 2;
    }
    mo_use_threads(1);
    char **name = argv;
    check(PetscInitialize(&none, &name, NULL, NULL));
    printf("system,solver,velocities,pressures,iterations,reason,setup_seconds,solve_seconds,residual,error\n");
    for (int k = 3; k < argc; k++) {
        int cells;
        double viscosity;
        if (sscanf(argv[k], "%d:%lf", &cells, &viscosity) != 2) die("a system is CELLS:VISCOSITY");
        run_system(cells, viscosity, repeats, seconds);
    }
    check(PetscFinalize());
    return 0;
}
