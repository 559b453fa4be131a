// Driver of the fast route: flexible GMRES on the velocity-pressure form, stopped by the papers' residual.
#include "system/fast.h"
#include "base/parallel.h"
#include "sparse/gmres.h"
#include "sparse/multigrid.h"
#include <math.h>
#include <string.h>

enum { MOST_ITERATIONS = 200, SMALL = 4096, MOST_BODIES = 100 };

typedef struct solution {
    mo_fast_form form;
    const mo_solver_def *solver;
    mo_csr L;       // Bp (M/dt)^-1 Bp^T
    int32_t *piece; // [pressures]
    int32_t pieces;
    uint8_t *enclosed;   // [pieces]
    double *wd;          // [pressures]
    mo_multigrid *cells; // L~
    mo_face_multigrid *faces;
    double norm;     // of the papers' right-hand side
    int32_t size;    // n + pressures
    double *x, *r;   // [size] solution and residual
    double *b;       // [size] f, c
    double *scale;   // [size] of the residual's norm
    double *work;    // [size + stress rows]
    double *du, *dv; // [faces], [6 bodies]
} solution;

bool mo_fast_applies(const mo_system *s, uint32_t set)
{
    const mo_block *v = s->block[MO_BLOCK_STRESS];
    if (!s->lattice || !(set >> MO_BLOCK_STRESS & 1) || !v || v->rows == 0) return false;
    if (s->bodies > MOST_BODIES) return false;
    for (int32_t k = 0; k < MO_BLOCK_KINDS; k++)
        if (set >> k & 1 && k != MO_BLOCK_PRESSURE && k != MO_BLOCK_STRESS && s->block[k] && s->block[k]->rows)
            return false;
    return true;
}

static void destroy(solution *s)
{
    mo_fast_form_destroy(&s->form);
    mo_csr_destroy(&s->L);
    mo_free(s->piece), mo_free(s->enclosed), mo_free(s->wd);
    mo_multigrid_destroy(s->cells), mo_face_multigrid_destroy(s->faces);
    mo_free(s->x), mo_free(s->work), mo_free(s->du);
}

// ---- Pressure ----

static mo_status poisson(solution *s)
{
    const mo_fast_form *f = &s->form;
    double *weight = mo_alloc(sizeof(double) * (size_t)f->faces);
    mo_csr Bt = {0};
    mo_status status = weight ? mo_csr_transpose(&f->pressure->fluid, &Bt) : MO_ERROR_MEMORY;
    if (status == MO_OK) {
        for (int32_t i = 0; i < f->faces; i++) weight[i] = f->system->dt / f->system->mass[i];
        status = mo_csr_weighted_square(&f->pressure->fluid, &Bt, weight, &s->L);
    }
    mo_csr_destroy(&Bt);
    mo_free(weight);
    return status;
}

// Pieces whose rows all sum to zero touch no free surface: constants are their null space.
static mo_status find_enclosed(solution *s, mo_system_info *info)
{
    const mo_csr *L = &s->L;
    s->piece = mo_alloc(sizeof(int32_t) * (size_t)L->rows);
    if (!s->piece || (s->pieces = mo_csr_components(L, s->piece)) < 0) return MO_ERROR_MEMORY;
    s->enclosed = mo_alloc((size_t)s->pieces);
    if (!s->enclosed) return MO_ERROR_MEMORY;
    memset(s->enclosed, 1, (size_t)s->pieces);
    for (int32_t i = 0; i < L->rows; i++) {
        double sum = 0, size = 0;
        for (int64_t k = L->row[i]; k < L->row[i + 1]; k++) sum += L->val[k], size += fabs(L->val[k]);
        if (fabs(sum) > 1e-12 * size) s->enclosed[s->piece[i]] = 0;
    }
    info->pieces = s->pieces;
    for (int32_t q = 0; q < s->pieces; q++) info->enclosed += s->enclosed[q];
    return MO_OK;
}

// Takes the mean over every enclosed piece out of v, in proportion to the weights (NULL: equal). Returns for how many
// pieces it exceeded `notable`, -1 = no memory.
static int32_t remove_means(const solution *s, const double *weight, double *v, double notable)
{
    double *sum = mo_calloc(sizeof(double) * 3 * ((size_t)s->pieces + 1)), *all = sum + s->pieces,
           *count = all + s->pieces;
    int32_t exceeded = 0;
    if (!sum) return -1;
    for (int32_t i = 0; i < s->L.rows; i++)
        sum[s->piece[i]] += v[i], all[s->piece[i]] += weight ? weight[i] : 1, count[s->piece[i]]++;
    for (int32_t q = 0; q < s->pieces; q++) {
        exceeded += s->enclosed[q] && fabs(sum[q]) > notable * count[q];
        sum[q] = s->enclosed[q] && all[q] > 0 ? sum[q] / all[q] : 0;
    }
    for (int32_t i = 0; i < s->L.rows; i++) v[i] -= sum[s->piece[i]] * (weight ? weight[i] : 1);
    mo_free(sum);
    return exceeded;
}

// wd: the viscous part of the inverse Schur complement, 2 eta inside the liquid.
static mo_status viscous_schur(solution *s)
{
    const mo_fast_form *f = &s->form;
    int axes = f->system->lattice->axes;
    double *inverse = mo_alloc(sizeof(double) * (size_t)f->faces), largest = 0;
    s->wd = mo_alloc(sizeof(double) * (size_t)f->pressures);
    if (!inverse || !s->wd) {
        mo_free(inverse);
        return MO_ERROR_MEMORY;
    }
    for (int32_t i = 0; i < f->faces; i++) {
        inverse[i] = 0;
        for (int64_t k = f->K.row[i]; k < f->K.row[i + 1]; k++)
            if (f->K.col[k] == i) inverse[i] = f->K.val[k] - f->mass[i];
        largest = fmax(largest, inverse[i]);
    }
    for (int32_t i = 0; i < f->faces; i++) inverse[i] = 1 / fmax(inverse[i], 1e-14 * largest);
    for (int32_t r = 0; r < f->pressures; r++) {
        double sum = 0;
        for (int64_t k = f->Bp.row[r]; k < f->Bp.row[r + 1]; k++)
            if (f->Bp.col[k] < f->faces) sum += f->Bp.val[k] * f->Bp.val[k] * inverse[f->Bp.col[k]];
        s->wd[r] = 4.0 * axes / (2 * axes + 2) / sum;
    }
    mo_free(inverse);
    return MO_OK;
}

// ---- Set-up ----

static mo_status build_faces(solution *s)
{
    const mo_fast_form *f = &s->form;
    const mo_lattice *l = f->system->lattice;
    uint8_t *dangling = mo_calloc((size_t)f->faces);
    if (!dangling) return MO_ERROR_MEMORY;
    for (int32_t i = 0; f->pressure && i < f->faces; i++) dangling[i] = f->Bpt.row[i + 1] == f->Bpt.row[i];
    mo_face_multigrid_def def = {&f->K, f->faces, l->axes, (const int32_t(*)[4])l->face, l->slender, dangling, f->mass};
    mo_status status = mo_face_multigrid_create(&def, &s->faces);
    mo_free(dangling);
    return status;
}

static mo_status create(mo_system *system, uint32_t set, solution *s, mo_system_info *info)
{
    MO_TRY(mo_fast_form_create(system, set, &s->form));
    const mo_fast_form *f = &s->form;
    s->size = f->n + f->pressures;
    size_t size = (size_t)s->size;
    s->x = mo_calloc(sizeof(double) * 4 * size);
    s->work = mo_alloc(sizeof(double) * (size + (size_t)f->stress->rows));
    s->du = mo_calloc(sizeof(double) * ((size_t)f->faces + 6 * (size_t)system->bodies));
    if (!s->x || !s->work || !s->du) return MO_ERROR_MEMORY;
    s->r = s->x + size, s->b = s->r + size, s->scale = s->b + size, s->dv = s->du + f->faces;
    if (f->pressure) {
        MO_TRY(poisson(s));
        MO_TRY(find_enclosed(s, info));
        MO_TRY(viscous_schur(s));
        MO_TRY(mo_multigrid_create(&s->L, (const int32_t(*)[3])f->pressure->coord, s->piece, &s->cells));
    }
    return build_faces(s);
}

// ---- Operators ----

// y = A x
static void apply(void *context, const double *x, double *y)
{
    const solution *s = context;
    const mo_fast_form *f = &s->form;
    mo_csr_multiply(&f->K, x, y);
    if (!f->pressure) return;
    mo_csr_multiply_add(&f->Bpt, 1, x + f->n, y);
    mo_csr_multiply(&f->Bp, x, y + f->n);
}

static void precondition(void *context, const double *r, double *z)
{
    solution *s = context;
    const mo_fast_form *f = &s->form;
    double *t = s->work;
    memcpy(t, r, sizeof(double) * (size_t)f->n);
    if (f->pressure) {
        double *p = z + f->n;
        const double *rp = r + f->n;
        mo_multigrid_apply(s->cells, rp, p);
#pragma omp parallel for schedule(static) if (f->pressures > SMALL)
        for (int32_t i = 0; i < f->pressures; i++) p[i] = -(p[i] + s->wd[i] * rp[i]);
        mo_csr_multiply_add(&f->Bpt, -1, p, t);
    }
    mo_face_multigrid_apply(s->faces, t, z);
}

// ---- Residual of the dual form ----

static double larger(double a, double b) { return b > a || b != b ? b : a; } // a NaN wins

static double rows_residual(const solution *s, const mo_block *b, const double *less, double *r)
{
    mo_csr_multiply(&b->fluid, s->du, r);
    if (b->rigid.rows) mo_csr_multiply_add(&b->rigid, 1, s->dv, r);
    for (int32_t i = 0; less && i < b->rows; i++) r[i] -= less[i];
    return mo_max_abs(b->rows, r);
}

// What the rows of the papers' form lack if pressure and stress are those of the present x: the velocity they give
// differs by du = dt M^-1 r.
static double dual_residual(void *context, const double *r)
{
    solution *s = context;
    const mo_fast_form *f = &s->form;
    const mo_system *y = f->system;
    const mo_lattice *l = y->lattice;
#pragma omp parallel for schedule(static) if (f->faces > SMALL)
    for (int32_t i = 0; i < f->faces; i++) s->du[i] = r[i] / (f->mass[i] * l->open[i]);
    if (y->bodies) {
        double *force = s->work;
        memset(force, 0, sizeof(double) * 6 * (size_t)y->bodies);
        for (int32_t k = 0; k < 6 * y->bodies; k++)
            if (f->dof[k] >= 0) force[k] = r[f->faces + f->dof[k]] / f->scale[f->dof[k]];
        for (int32_t i = 0; l->rigid.rows && i < f->faces; i++)
            for (int64_t k = l->rigid.row[i]; k < l->rigid.row[i + 1]; k++)
                if (f->dof[l->rigid.col[k]] >= 0) force[l->rigid.col[k]] += l->rigid.val[k] * r[i];
        for (int32_t b = 0; b < y->bodies; b++)
            for (int a = 0; a < 6; a++) {
                s->dv[6 * b + a] = 0;
                for (int c = 0; c < 6; c++) s->dv[6 * b + a] += y->dt * y->body[b].inverse[a][c] * force[6 * b + c];
            }
    }
    double most = rows_residual(s, f->stress, NULL, s->work);
    if (!f->pressure) return most / s->norm;
    return larger(most, rows_residual(s, f->pressure, r + f->n, s->work)) / s->norm;
}

// ---- Weights of the norm ----

// Forces count as the divergence they would cause, as in the papers' residual.
static void weigh_residual(solution *s)
{
    const mo_fast_form *f = &s->form;
    double steep = f->pressure ? mo_max_abs(mo_csr_entries(&f->Bp), f->Bp.val) : 1; // 1/dx
    for (int32_t i = 0; i < f->faces; i++) s->scale[i] = steep / f->mass[i];
    for (int32_t k = 0; k < 6 * f->system->bodies; k++) {
        int32_t d = f->dof[k];
        if (d >= 0) s->scale[f->faces + d] = steep / (f->inertia[k][k % 6] * f->scale[d] * f->scale[d]);
    }
    for (int32_t i = f->n; i < s->size; i++) s->scale[i] = 1;
}

// ---- Solve ----

// The papers' right-hand side B u* - c: its norm, and for enclosed pieces its means, which go to c.
static mo_status prepare(solution *s, double *largest, mo_system_info *info)
{
    mo_fast_form *f = &s->form;
    const mo_system *y = f->system;
    mo_block_residual(y, f->stress, y->velocity, s->work);
    double stress = mo_max_abs(f->stress->rows, s->work);
    *largest = s->norm = stress;
    if (!f->pressure) return MO_OK;
    double *b = s->work, *diagonal = s->r, *before = s->b;
    mo_block_residual(y, f->pressure, y->velocity, b);
    *largest = larger(stress, mo_max_abs(f->pressures, b));
    if (info->enclosed) {
        mo_csr_diagonal(&s->L, diagonal);
        memcpy(before, b, sizeof(double) * (size_t)f->pressures);
        info->relaxed = remove_means(s, diagonal, b, s->solver->tolerance * *largest);
        if (info->relaxed < 0) return MO_ERROR_MEMORY;
        for (int32_t r = 0; r < f->pressures; r++) {
            double moved = before[r] - b[r];
            f->c[r] += moved;
            for (int64_t k = f->Bp.row[r]; k < f->Bp.row[r + 1]; k++)
                f->f[f->Bp.col[k]] += f->Bp.val[k] * f->gamma[r] * moved;
        }
    }
    s->norm = larger(stress, mo_max_abs(f->pressures, b));
    return MO_OK;
}

// s = S^-1 (B u - c) of the velocities in du, dv.
static void find_stress(const solution *s, mo_block *v)
{
    const mo_csr *S = &v->compliance;
    double *r = s->work;
    mo_csr_multiply(&v->fluid, s->du, r);
    if (v->rigid.rows) mo_csr_multiply_add(&v->rigid, 1, s->dv, r);
    for (int32_t i = 0; i < v->rows; i++) r[i] -= v->rhs ? v->rhs[i] : 0;
    for (int32_t i = 0; i < v->rows; i++) {
        int64_t at = S->row[i];
        if (S->row[i + 1] - at == 1) {
            v->x[i] = r[i] / S->val[at];
            continue;
        }
        double a = S->val[at], b = S->val[at + 1], c = S->val[at + 3], det = a * c - b * b;
        v->x[i] = (c * r[i] - b * r[i + 1]) / det;
        v->x[i + 1] = (a * r[i + 1] - b * r[i]) / det;
        i++;
    }
}

static mo_status take_solution(solution *s, mo_system *y, bool velocities)
{
    const mo_fast_form *f = &s->form;
    mo_fast_velocity(f, s->x, s->du, s->dv);
    find_stress(s, y->block[MO_BLOCK_STRESS]);
    if (f->pressure) {
        double *p = y->block[MO_BLOCK_PRESSURE]->x;
        for (int32_t i = 0; i < f->pressures; i++) p[i] = s->x[f->n + i] - f->gamma[i] * s->r[f->n + i];
        if (remove_means(s, NULL, p, INFINITY) < 0) return MO_ERROR_MEMORY;
    }
    if (!velocities) return MO_OK;
    memcpy(y->velocity, s->du, sizeof(double) * (size_t)f->faces);
    if (y->bodies) memcpy(y->body_velocity, s->dv, sizeof(double) * 6 * (size_t)y->bodies);
    return MO_OK;
}

static mo_status solve(solution *s, mo_system *y, uint32_t set, mo_system_info *info)
{
    double start = mo_wall_seconds(), largest;
    MO_TRY(create(y, set, s, info));
    MO_TRY(prepare(s, &largest, info));
    if (!isfinite(largest)) return MO_ERROR_INPUT;
    mo_face_multigrid_info mg = mo_face_multigrid_describe(s->faces);
    info->bytes = mg.bytes + mo_csr_entries(&s->form.K) * 12;
    if (s->cells) info->bytes += mo_multigrid_describe(s->cells).bytes;
    const mo_fast_form *f = &s->form;
    weigh_residual(s);
    double ready = mo_wall_seconds();
    info->setup_seconds += ready - start;
    memset(s->x, 0, sizeof(double) * (size_t)s->size);
    info->solve.reason = MO_REASON_NOTHING_TO_DO;
    if (!(s->norm > 1e-14 * largest)) {
        for (int32_t k = 0; k <= MO_BLOCK_STRESS; k++)
            if (set >> k & 1 && y->block[k]) memset(y->block[k]->x, 0, sizeof(double) * (size_t)y->block[k]->rows);
        return MO_OK;
    }
    int32_t limit = s->solver->max_iterations < MOST_ITERATIONS ? s->solver->max_iterations : MOST_ITERATIONS;
    memcpy(s->b, f->f, sizeof(double) * (size_t)f->n);
    if (f->pressure) memcpy(s->b + f->n, f->c, sizeof(double) * (size_t)f->pressures);
    mo_gmres_def def = {.n = s->size,
                        .A = {apply, s},
                        .M = {precondition, s},
                        .scale = s->scale,
                        .measure = dual_residual,
                        .context = s,
                        .tolerance = s->solver->tolerance,
                        .max_iterations = limit};
    MO_TRY(mo_gmres(&def, s->b, s->x, s->r, &info->solve));
    bool converged = info->solve.reason == MO_REASON_CONVERGED;
    if (converged || info->solve.residual < 1) MO_TRY(take_solution(s, y, converged));
    info->solve_seconds += mo_wall_seconds() - ready;
    return MO_OK;
}

mo_status mo_fast_solve(mo_system *y, uint32_t set, const mo_solver_def *solver, mo_system_info *info, mo_error *err)
{
    solution s = {.solver = solver};
    info->rounds = 1;
    mo_status status = solve(&s, y, set, info);
    destroy(&s);
    if (status == MO_ERROR_MEMORY) return mo_fail_memory(err);
    if (status == MO_ERROR_INPUT) return mo_fail(err, MO_ERROR_FAILED, "solve: the right-hand side is not finite");
    if (status != MO_OK) info->solve.reason = MO_REASON_STALLED; // a lattice too irregular for this form
    return MO_OK;
}
