// Driver of the form `viscous`: flexible GMRES on the velocity-pressure form, stopped by the papers' residual; Newton's
// method about it where there are contacts.
#include "base/parallel.h"
#include "sparse/gmres.h"
#include "system/near.h"
#include "system/solids.h"
#include "system/state.h"
#include "system/viscous_solver.h"
#include <math.h>
#include <string.h>

enum { MOST_ITERATIONS = 400, SMALL = 4096, MOST_BODIES = 100 };

bool mo_viscous_applies(const mo_system *s, uint32_t set)
{
    if (!s->lattice || !mo_set_has(s, set, MO_BLOCK_STRESS) || mo_body_count(&s->bodies) > MOST_BODIES) return false;
    bool contacts = mo_set_has(s, set, MO_BLOCK_CONTACT) || mo_set_has(s, set, MO_BLOCK_FRICTION);
    return !s->lattice->aside || (!s->nodes.count && !contacts); // springs have no room beside faces aside
}

static void destroy(mo_viscous_solver *s)
{
    if (!s) return;
    mo_viscous_form_destroy(&s->form);
    mo_csr_destroy(&s->L);
    mo_pieces_destroy(&s->pieces);
    mo_free(s->wd);
    mo_multigrid_destroy(s->cells), mo_face_multigrid_destroy(s->faces);
    mo_contact_law_destroy(&s->law), mo_viscous_touch_destroy(&s->touch);
    mo_viscous_aside_destroy(&s->aside);
    mo_viscous_specks_destroy(&s->specks), mo_woodbury_destroy(&s->wet), mo_clusters_destroy(&s->core);
    mo_free(s->springs), mo_free(s->x), mo_free(s->work), mo_free(s->du);
    mo_free(s);
}

void mo_viscous_forget(mo_system *s)
{
    destroy(s->viscous_solver);
    s->viscous_solver = NULL;
}

// ---- Set-up ----

static mo_status build_faces(mo_viscous_solver *s)
{
    const mo_viscous_form *f = &s->form;
    const mo_face_lattice *l = f->system->lattice;
    uint8_t *dangling = mo_calloc((size_t)f->faces);
    if (!dangling) return MO_ERROR_MEMORY;
    for (int32_t i = 0; f->pressure && i < f->faces; i++) { // those of no cell with stress
        dangling[i] = 1;
        for (int64_t k = f->Bpt.row[i]; k < f->Bpt.row[i + 1]; k++)
            if (f->gamma[f->Bpt.col[k]] > 0) dangling[i] = 0;
    }
    if (l->aside) {
        mo_status status = mo_viscous_aside_multigrid(f, dangling, &s->aside, &s->faces);
        mo_free(dangling);
        return status;
    }
    mo_face_multigrid_def def = {.K = &f->K,
                                 .faces = f->faces,
                                 .axes = l->axes,
                                 .face = (const int32_t(*)[4])l->face,
                                 .slender = l->slender,
                                 .dangling = dangling,
                                 .mass = f->mass};
    const mo_csr *pattern = s->law.rows ? &s->touch.springs : NULL;
    mo_status status = mo_viscous_has_nodes(f) ? mo_viscous_nodes_multigrid(f, pattern, &def, &s->faces)
                                               : mo_face_multigrid_create(&def, &s->faces);
    mo_free(dangling);
    return status;
}

// A cell that solids nearly close has small entries, and what it lacks counts as its faces do in kinetic energy: by the
// root of the widest opening. Otherwise the pressure there, and the velocity in the openings, would not be found.
static double narrowness(const mo_viscous_solver *s, int32_t row)
{
    const double narrowest = 1e-4; // slivers below that count no more
    const mo_csr *B = &s->form.Bp;
    double widest = narrowest * s->steep;
    for (int64_t k = B->row[row]; k < B->row[row + 1]; k++) widest = fmax(widest, fabs(B->val[k]));
    return sqrt(s->steep / widest);
}

// Forces count as the divergence they would cause, as in the papers' residual.
static void weigh_residual(mo_viscous_solver *s)
{
    const mo_viscous_form *f = &s->form;
    double steep = s->steep = f->pressure ? mo_max_abs(mo_csr_entries(&f->Bp), f->Bp.val) : 1; // 1/dx
    for (int32_t i = 0; i < f->faces; i++) s->scale[i] = steep / f->mass[i];
    for (int32_t k = 0; k < f->inertia.rows; k++) {
        int32_t d = f->dof[k];
        if (d >= 0) s->scale[f->faces + d] = steep / (mo_csr_entry(&f->inertia, k, k) * f->scale[d] * f->scale[d]);
    }
    for (int32_t i = f->n; i < s->size; i++) s->scale[i] = 1;
    for (int32_t r = 0; r < f->pressures; r++) s->narrow[r] = narrowness(s, r);
}

// L~, with what nodes add to it.
static mo_status build_cells(mo_viscous_solver *s)
{
    const mo_block *p = s->form.pressure;
    const int32_t(*coord)[3] = (const int32_t(*)[3])p->coord;
    mo_csr near = {0};
    mo_pieces_firm(&s->pieces, &s->L);
    if (!p->on[MO_NODES].rows) return mo_multigrid_create(&s->L, coord, &s->cells);
    mo_status status = mo_csr_block(&s->L, 0, s->L.rows, 0, s->L.cols, &near);
    if (status == MO_OK) status = mo_near_add_nodes(s->form.system, p, NULL, &near);
    if (status == MO_OK) status = mo_multigrid_create(&near, coord, &s->cells);
    mo_csr_destroy(&near);
    return status;
}

// Room for springs between bodies: contacts of nodes are none.
static mo_status allocate_springs(mo_viscous_solver *s)
{
    size_t dofs = (size_t)s->form.inertia.rows, extra = (size_t)s->form.extra;
    if (mo_viscous_has_nodes(&s->form)) return MO_OK;
    s->springs = mo_alloc(sizeof(double) * (dofs * dofs + 2 * extra * extra));
    return s->springs ? MO_OK : MO_ERROR_MEMORY;
}

static mo_status set_up(mo_system *system, uint32_t set, mo_viscous_solver *s)
{
    MO_TRY(mo_viscous_form_create(system, set, &s->form));
    const mo_viscous_form *f = &s->form;
    s->size = f->n + f->pressures;
    size_t size = (size_t)s->size;
    s->x = mo_calloc(sizeof(double) * 4 * size);
    s->work = mo_alloc(sizeof(double) * (size + (size_t)f->stress->rows));
    s->du = mo_calloc(sizeof(double) * ((size_t)f->faces + 2 * (size_t)mo_solids_count(system)));
    if (!s->x || !s->work || !s->du) return MO_ERROR_MEMORY;
    s->r = s->x + size, s->b = s->r + size, s->scale = s->b + size, s->dv = s->du + f->faces;
    s->push = s->dv + mo_solids_count(system);
    MO_TRY(allocate_springs(s));
    if (f->pressure) {
        MO_TRY(mo_viscous_schur(s));
        MO_TRY(mo_pieces_create(&s->L, NULL, MO_GROUPS - MO_SOLIDS, f->pressure->on + MO_SOLIDS, &s->pieces));
        MO_TRY(mo_viscous_find_specks(s));
        MO_TRY(build_cells(s));
        if (f->carried && f->pressure->on[MO_BODIES].rows) MO_TRY(mo_viscous_find_wet(s));
    }
    if (mo_viscous_has_nodes(f) && s->law.rows) MO_TRY(mo_viscous_touch_create(s));
    MO_TRY(build_faces(s));
    weigh_residual(s);
    s->bytes = mo_face_multigrid_describe(s->faces).bytes + mo_csr_entries(&f->K) * 12;
    if (s->cells) s->bytes += mo_multigrid_describe(s->cells).bytes;
    return MO_OK;
}

// ---- Operators ----

// y = A x
static void apply(void *context, const double *x, double *y)
{
    MO_ASSERT(x != y);
    const mo_viscous_solver *s = context;
    const mo_viscous_form *f = &s->form;
    mo_csr_multiply(&f->K, x, y);
    if (s->sprung && s->touch.springs.rows) mo_csr_multiply_add(&s->touch.springs, 1, x + f->faces, y + f->faces);
    if (!f->pressure) return;
    mo_csr_multiply_add(&f->Bpt, 1, x + f->n, y);
    mo_csr_multiply(&f->Bp, x, y + f->n);
}

static void precondition(void *context, const double *r, double *z)
{
    MO_ASSERT(r != z);
    mo_viscous_solver *s = context;
    const mo_viscous_form *f = &s->form;
    double *t = s->work;
    memcpy(t, r, sizeof(double) * (size_t)f->n);
    if (f->pressure) {
        double *p = z + f->n;
        const double *rp = r + f->n;
        mo_multigrid_apply(s->cells, rp, p);
        mo_viscous_wet_apply(s, rp, p);
#pragma omp parallel for schedule(static) if (f->pressures > SMALL)
        for (int32_t i = 0; i < f->pressures; i++) p[i] += s->wd[i] * rp[i];
        mo_viscous_specks_apply(&s->specks, rp, p);
        for (int32_t i = 0; i < f->pressures; i++) p[i] = -p[i];
        mo_csr_multiply_add(&f->Bpt, -1, p, t);
    }
    if (s->aside.order)
        mo_viscous_aside_apply(&s->aside, f->n, s->faces, t, z);
    else
        mo_face_multigrid_apply(s->faces, t, z);
}

// ---- Residual of the dual form ----

static double larger(double a, double b) { return b > a || b != b ? b : a; } // a NaN wins

// B v of the velocities du and dv, which together are a motion.
static void multiply_block(const mo_viscous_solver *s, const mo_block *b, double *r)
{
    const double *v[MO_GROUPS];
    mo_motion_split(s->form.system, s->du, v);
    mo_block_multiply(b, v, r);
}

static double rows_residual(const mo_viscous_solver *s, const mo_block *b, const double *less, double *r)
{
    multiply_block(s, b, r);
    for (int32_t i = 0; less && i < b->rows; i++) r[i] -= less[i];
    return mo_max_abs(b->rows, r);
}

// How far residual forces r would move the solids, with those on faces that move with them: dv.
static void move_solids(mo_viscous_solver *s, const double *r)
{
    const mo_viscous_form *f = &s->form;
    double *push = s->work; // of what moves
    for (int32_t d = 0; d < f->extra; d++) push[d] = r[f->faces + d] / f->scale[d];
    for (int32_t i = 0; i < f->faces; i++)
        for (int64_t k = f->R.row[i]; k < f->R.row[i + 1]; k++) push[f->R.col[k]] += f->R.val[k] * r[i];
    for (int32_t k = 0; k < f->inertia.rows; k++) s->push[k] = f->dof[k] >= 0 ? push[f->dof[k]] : 0, s->dv[k] = 0;
    mo_solids_apply_inverse(f->system, f->system->dt, s->push, s->dv);
}

// What the rows of the papers' form lack if pressure and stress are those of the present x: the velocity they give
// differs by du = dt M^-1 r.
static double dual_residual(void *context, const double *r)
{
    const double common = 0.1; // no row shows a motion common to liquid and bodies: a tenth of it counts
    mo_viscous_solver *s = context;
    const mo_viscous_form *f = &s->form;
    const mo_system *y = f->system;
    const mo_face_lattice *l = y->lattice;
#pragma omp parallel for schedule(static) if (f->faces > SMALL)
    for (int32_t i = 0; i < f->faces; i++) s->du[i] = r[i] / (f->mass[i] * l->open[i]);
    if (f->inertia.rows) move_solids(s, r);
    double most = rows_residual(s, f->stress, NULL, s->work);
    most = larger(most, common * s->steep * mo_max_abs(f->faces, s->du));
    for (int32_t k = 0; k < f->inertia.rows; k++)
        if (f->dof[k] >= 0) most = larger(most, common * s->steep * fabs(s->dv[k] / f->scale[f->dof[k]]));
    for (int32_t i = 0; i < s->law.rows; i++) most = larger(most, fabs(mo_csr_row_product(&s->law.B, i, s->dv)));
    if (!f->pressure) return most / s->norm;
    rows_residual(s, f->pressure, r + f->n, s->work);
#pragma omp parallel for schedule(static) if (f->pressures > SMALL)
    for (int32_t i = 0; i < f->pressures; i++) s->work[i] *= s->narrow[i];
    return larger(most, mo_max_abs(f->pressures, s->work)) / s->norm;
}

// ---- Right-hand side and solution ----

// What rounding leaves of the residual at the velocities as they are. A stiff drop in free flight has hardly any
// right-hand side, while K times its velocity is large and cancels: less than this no iteration can reach.
static double rounding(mo_viscous_solver *s)
{
    const double several = 4 * 2.2e-16;
    const mo_viscous_form *f = &s->form;
    double *y = s->r, most = 0;
    mo_solids_get(f->system, s->dv);
    mo_viscous_unknowns(f, f->system->faces.velocity, s->dv, y);
    for (int32_t i = 0; i < f->faces; i++) {
        double sum = 0;
        for (int64_t k = f->K.row[i]; k < f->K.row[i + 1]; k++) sum += fabs(f->K.val[k] * y[f->K.col[k]]);
        most = larger(most, sum * s->scale[i]);
    }
    return several * most;
}

// The papers' right-hand side B u* - c: its norm, and for enclosed pieces its means, which go to c.
static void prepare(mo_viscous_solver *s, double *largest, mo_system_info *info)
{
    mo_viscous_form *f = &s->form;
    const mo_system *y = f->system;
    mo_block_residual(y, f->stress, s->work);
    double stress = mo_max_abs(f->stress->rows, s->work);
    mo_solids_get(y, s->dv);
    for (int32_t i = 0; i < s->law.rows; i++) { // of contacts what would overlap
        double excess = mo_csr_row_product(&s->law.B, i, s->dv) - s->law.c[i];
        stress = larger(stress, i < s->law.contacts ? excess : fabs(excess));
    }
    *largest = s->norm = stress;
    if (!f->pressure) return;
    double *b = s->work, *diagonal = s->r, *before = s->b;
    mo_block_residual(y, f->pressure, b);
    *largest = larger(stress, mo_max_abs(f->pressures, b));
    if (s->pieces.enclosed) {
        mo_csr_diagonal(&s->L, diagonal);
        memcpy(before, b, sizeof(double) * (size_t)f->pressures);
        info->relaxed = mo_pieces_project(&s->pieces, f->pressures, diagonal, b, s->solver->tolerance * *largest);
        for (int32_t r = 0; r < f->pressures; r++) {
            double moved = before[r] - b[r];
            f->c[r] += moved;
            for (int64_t k = f->Bp.row[r]; k < f->Bp.row[r + 1]; k++)
                f->f[f->Bp.col[k]] += f->Bp.val[k] * f->gamma[r] * moved;
        }
    }
    s->norm = larger(stress, mo_max_abs(f->pressures, b));
}

// s = S^-1 (B u - c) of the velocities in du, dv.
static void find_stress(const mo_viscous_solver *s, mo_block *v)
{
    const mo_csr *S = &v->compliance;
    double *r = s->work;
    multiply_block(s, v, r);
    for (int32_t i = 0; i < v->rows; i++) r[i] -= mo_block_goal(v, i);
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

static void take_solution(mo_viscous_solver *s, mo_system *y, bool velocities)
{
    const mo_viscous_form *f = &s->form;
    mo_viscous_velocity(f, s->x, s->du, s->dv);
    find_stress(s, y->block[MO_BLOCK_STRESS]);
    if (f->pressure) {
        double *p = y->block[MO_BLOCK_PRESSURE]->x;
        for (int32_t i = 0; i < f->pressures; i++) p[i] = s->x[f->n + i] - f->gamma[i] * s->r[f->n + i];
        mo_pieces_project(&s->pieces, f->pressures, NULL, p, INFINITY);
    }
    if (!velocities) return;
    mo_contact_law_take(&s->law, y);
    memcpy(y->faces.velocity, s->du, sizeof(double) * (size_t)f->faces);
    mo_solids_set(y, s->dv);
}

// ---- Solve ----

mo_status mo_viscous_solve_linear(mo_viscous_solver *s, double tolerance, int32_t limit, mo_solve_info *info)
{
    MO_ASSERT(tolerance > 0 && limit >= 0);
    mo_gmres_def def = {.n = s->size,
                        .A = {apply, s},
                        .M = {precondition, s},
                        .scale = s->scale,
                        .measure = dual_residual,
                        .context = s,
                        .tolerance = tolerance,
                        .max_iterations = limit};
    if (mo_viscous_has_nodes(&s->form)) def.exact = s->form.faces, def.exact_end = s->form.n; // stiff nodes
    return mo_gmres(&def, s->b, s->x, s->r, info);
}

// The first guess: velocities as they are, if that is better than none.
static void guess(mo_viscous_solver *s, const mo_system *y)
{
    memset(s->x, 0, sizeof(double) * (size_t)s->size);
    mo_solids_get(y, s->dv);
    mo_viscous_unknowns(&s->form, y->faces.velocity, s->dv, s->x);
    apply(s, s->x, s->r);
    for (int32_t i = 0; i < s->size; i++) s->r[i] = s->b[i] - s->r[i];
    if (!(dual_residual(s, s->r) < 1)) memset(s->x, 0, sizeof(double) * (size_t)s->size);
}

// Whether what is set up serves this set: nodes have room for the springs of one set alone.
static bool is_known(const mo_system *y, uint32_t set)
{
    enum { CONTACTS = 1 << MO_BLOCK_CONTACT | 1 << MO_BLOCK_FRICTION };
    uint32_t counts = y->nodes.count ? ~(uint32_t)0 : ~(uint32_t)CONTACTS;
    return y->viscous_solver && (y->viscous_solver->set & counts) == (set & counts);
}

// How light bodies move with pressure and the springs between them. Nodes would not fit in.
static mo_status prepare_core(mo_viscous_solver *s)
{
    const mo_contact_law none = {0}, *law = mo_viscous_has_nodes(&s->form) ? &none : &s->law;
    mo_clusters_destroy(&s->core);
    if (!s->wet.columns) return MO_OK;
    MO_TRY(mo_clusters_create(&s->wet.C, law, &s->core));
    mo_clusters_factor(&s->core, &s->wet.C, law);
    return MO_OK;
}

// What is set up for the set, anew or from the last solve.
static mo_status prepare_set(mo_system *y, uint32_t set, const mo_solver_def *solver)
{
    bool known = is_known(y, set);
    if (!known) {
        mo_viscous_forget(y);
        if (!(y->viscous_solver = mo_calloc(sizeof *y->viscous_solver))) return MO_ERROR_MEMORY;
    }
    mo_viscous_solver *s = y->viscous_solver;
    s->set = set, s->solver = solver;
    mo_contact_law_destroy(&s->law);
    MO_TRY(mo_contact_law_create(y, set, solver->cone, &s->law));
    mo_contact_law_start(y, &s->law);
    if (known)
        mo_viscous_form_load(&s->form);
    else
        MO_TRY(set_up(y, set, s));
    return prepare_core(s);
}

static mo_status solve(mo_system *y, uint32_t set, const mo_solver_def *solver, mo_system_info *info)
{
    double start = mo_wall_seconds(), largest;
    bool known = is_known(y, set);
    MO_TRY(prepare_set(y, set, solver));
    mo_viscous_solver *s = y->viscous_solver;
    const mo_viscous_form *f = &s->form;
    info->pieces = s->pieces.count, info->enclosed = s->pieces.enclosed, info->bytes = s->bytes;
    prepare(s, &largest, info);
    if (!isfinite(largest)) return MO_ERROR_INPUT;
    double ready = mo_wall_seconds();
    info->setup_seconds += ready - start;
    info->solve.reason = MO_REASON_NOTHING_TO_DO;
    if (!(s->norm > 1e-14 * largest)) {
        for (int32_t k = 0; k < MO_BLOCK_KINDS; k++)
            if (mo_set_has(y, set, k) && y->block[k]->coord)
                memset(y->block[k]->x, 0, sizeof(double) * (size_t)y->block[k]->rows);
        return MO_OK;
    }
    s->norm = larger(s->norm, rounding(s) / solver->tolerance);
    int32_t limit = solver->max_iterations < MOST_ITERATIONS ? solver->max_iterations : MOST_ITERATIONS;
    memcpy(s->b, f->f, sizeof(double) * (size_t)f->n);
    if (f->pressure) memcpy(s->b + f->n, f->c, sizeof(double) * (size_t)f->pressures);
    if (!known) guess(s, y);
    MO_TRY(mo_viscous_solve_contacts(s, limit, &info->solve));
    bool converged = info->solve.reason == MO_REASON_CONVERGED;
    if (converged || info->solve.residual < 1) take_solution(s, y, converged);
    info->solve_seconds += mo_wall_seconds() - ready;
    return MO_OK;
}

mo_status mo_viscous_solve(mo_system *y, uint32_t set, const mo_solver_def *solver, mo_system_info *info, mo_error *err)
{
    MO_ASSERT(mo_viscous_applies(y, set));
    info->rounds = 1;
    mo_status status = solve(y, set, solver, info);
    if (status != MO_OK) mo_viscous_forget(y);
    if (status == MO_ERROR_MEMORY) return mo_fail_memory(err);
    if (status == MO_ERROR_INPUT) return mo_fail(err, MO_ERROR_FAILED, "solve: the right-hand side is not finite");
    if (status != MO_OK) info->solve.reason = MO_REASON_STALLED; // a lattice too irregular for this form
    return MO_OK;
}
