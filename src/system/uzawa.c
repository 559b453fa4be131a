// Conjugate gradients on multipliers without bounds.
#include "system/uzawa.h"
#include "base/parallel.h"
#include "sparse/ldl.h"
#include "system/nodes_guise.h"
#include "system/solids.h"
#include "system/state.h"
#include <string.h>

enum { KINDS = MO_BLOCK_KINDS, VECTORS = 10 };

typedef struct uzawa {
    mo_system *s;
    mo_block *block[KINDS];   // that are solved for; NULL: not in the set
    int32_t first[KINDS + 1]; // row of each
    int32_t rows, unknowns;   // multipliers; velocities of all groups
    mo_block *stress;         // eliminated; NULL: none
    mo_ldl compliance;        // of it
    double *soft;             // [rows]
    uint8_t *apart;           // [rows] 1: of a contact that does not touch
    double *b, *x, *work;     // [rows], [rows], [5 rows]
    // Velocities of all groups, as a motion (state.h).
    double *force, *motion, *diagonal, *right, *inner; // [unknowns], inner [5 unknowns]
    double *strain;                                    // [stress rows]
    double tolerance;
    int32_t most;
    int64_t iterations; // inner ones
} uzawa;

static void uzawa_destroy(uzawa *u)
{
    if (u->compliance.block) mo_ldl_destroy(&u->compliance);
    mo_free(u->soft), mo_free(u->force), mo_free(u->strain), mo_free(u->apart);
}

// ---- Rows ----

// force += s B^T x of one block, on all groups.
static void push_block(const uzawa *u, const mo_block *b, double s, const double *x, double *force)
{
    for (int32_t g = 0; g < MO_GROUPS; force += u->s->group[g++].count)
        if (b->on[g].rows) mo_csr_push(&b->on[g], s, x, force);
}

static void multiply_block(const uzawa *u, const mo_block *b, const double *motion, double *r)
{
    const double *v[MO_GROUPS];
    mo_motion_split(u->s, motion, v);
    mo_block_multiply(b, v, r);
}

// ---- Products with N, and its inverse ----

// out = N v; 0 for held unknowns.
static void apply_matrix(void *context, const double *v, double *out)
{
    const uzawa *u = context;
    const double *at = v;
    double *to = out;
    memset(out, 0, sizeof(double) * (size_t)u->unknowns);
    for (int32_t g = 0; g < MO_GROUPS; at += u->s->group[g].count, to += u->s->group[g++].count)
        mo_group_apply(&u->s->group[g], 1, at, to);
    multiply_block(u, u->stress, v, u->strain);
    mo_ldl_solve(&u->compliance, 0, u->strain);
    push_block(u, u->stress, u->s->dt, u->strain, out);
    for (int32_t i = 0; i < u->unknowns; i++)
        if (!(u->diagonal[i] > 0)) out[i] = 0;
}

static void scale_matrix(void *context, const double *r, double *z)
{
    const uzawa *u = context;
    for (int32_t i = 0; i < u->unknowns; i++) z[i] = u->diagonal[i] > 0 ? r[i] / u->diagonal[i] : 0;
}

// motion = N^-1 force; the force is lost.
static void solve_matrix(uzawa *u, double *force, double *motion)
{
    memset(motion, 0, sizeof(double) * (size_t)u->unknowns);
    if (!u->stress) {
        for (int32_t g = 0; g < MO_GROUPS; force += u->s->group[g].count, motion += u->s->group[g++].count)
            mo_group_apply_inverse(&u->s->group[g], 1, force, motion);
        return;
    }
    for (int32_t i = 0; i < u->unknowns; i++)
        if (!(u->diagonal[i] > 0)) force[i] = 0;
    mo_operator N = {apply_matrix, u}, M = {scale_matrix, u};
    u->iterations += mo_cg(u->unknowns, &N, &M, force, motion, u->tolerance, u->most, false, u->inner).iterations;
}

// motion = s dt N^-1 B^T x
static void respond(uzawa *u, double s, const double *x, double *motion)
{
    memset(u->force, 0, sizeof(double) * (size_t)u->unknowns);
    for (int32_t k = 0; k < KINDS; k++)
        if (u->block[k]) push_block(u, u->block[k], s * u->s->dt, x + u->first[k], u->force);
    solve_matrix(u, u->force, motion);
}

static void apply_dual(void *context, const double *x, double *y)
{
    uzawa *u = context;
    respond(u, 1, x, u->motion);
    for (int32_t k = 0; k < KINDS; k++)
        if (u->block[k]) multiply_block(u, u->block[k], u->motion, y + u->first[k]);
    for (int32_t i = 0; i < u->rows; i++) y[i] = u->apart[i] ? 0 : y[i] + u->soft[i] * x[i];
}

// ---- Set-up ----

static void lay_rows(uzawa *u, uint32_t set)
{
    for (int32_t k = 0; k < KINDS; k++) {
        bool solved = k != MO_BLOCK_STRESS && mo_set_has(u->s, set, k);
        u->block[k] = solved ? u->s->block[k] : NULL;
        u->first[k + 1] = u->first[k] + (solved ? u->s->block[k]->rows : 0);
    }
    u->rows = u->first[KINDS], u->unknowns = (int32_t)mo_motion_size(u->s);
    u->stress = mo_set_has(u->s, set, MO_BLOCK_STRESS) ? u->s->block[MO_BLOCK_STRESS] : NULL;
}

static bool allocate(uzawa *u)
{
    size_t rows = (size_t)u->rows, unknowns = (size_t)u->unknowns;
    u->soft = mo_calloc(sizeof(double) * 8 * (rows + 1));
    u->force = mo_calloc(sizeof(double) * VECTORS * (unknowns + 1));
    u->strain = mo_calloc(sizeof(double) * ((size_t)(u->stress ? u->stress->rows : 0) + 1));
    u->apart = mo_calloc(rows + 1);
    if (!u->soft || !u->force || !u->strain || !u->apart) return false;
    u->b = u->soft + rows, u->x = u->b + rows, u->work = u->x + rows;
    u->motion = u->force + unknowns, u->diagonal = u->motion + unknowns;
    u->right = u->diagonal + unknowns, u->inner = u->right + unknowns;
    return true;
}

// The compliance of stress, whose small blocks need no order, and the diagonal of N.
static mo_status prepare_stress(uzawa *u)
{
    const mo_block *b = u->stress;
    int32_t *block = mo_calloc(sizeof(int32_t) * 2), *member = mo_alloc(sizeof(int32_t) * ((size_t)b->rows + 1));
    if (!block || !member) {
        mo_free(block), mo_free(member);
        return MO_ERROR_MEMORY;
    }
    block[1] = b->rows;
    for (int32_t i = 0; i < b->rows; i++) member[i] = i;
    MO_TRY(mo_ldl_create(&b->compliance, 1, block, member, &u->compliance));
    mo_csr_diagonal(&b->compliance, u->strain);
    double *diagonal = u->diagonal;
    for (int32_t g = 0; g < MO_GROUPS; diagonal += u->s->group[g++].count) {
        const mo_csr *B = &b->on[g];
        if (u->s->group[g].count) u->s->group[g].kind->diagonal(&u->s->group[g], diagonal);
        for (int32_t i = 0; i < B->rows; i++)
            for (int64_t e = B->row[i]; e < B->row[i + 1]; e++)
                if (diagonal[B->col[e]] > 0) diagonal[B->col[e]] += u->s->dt * B->val[e] * B->val[e] / u->strain[i];
    }
    return MO_OK;
}

// v = N^-1 (H v + dt Bs^T Ss^-1 cs): the motion with stress but without the other rows.
static mo_status apply_stress(uzawa *u)
{
    double *to = u->force;
    const mo_block *b = u->stress;
    MO_TRY(prepare_stress(u));
    // In changes of the motion: N change = dt Bs^T Ss^-1 (cs - Bs v).
    mo_motion_get(u->s, u->right);
    mo_block_residual(u->s, b, u->strain);
    mo_ldl_solve(&u->compliance, 0, u->strain);
    memset(to, 0, sizeof(double) * (size_t)u->unknowns);
    push_block(u, b, -u->s->dt, u->strain, to);
    solve_matrix(u, to, u->motion);
    for (int32_t i = 0; i < u->unknowns; i++) u->right[i] += u->motion[i];
    mo_motion_set(u->s, u->right);
    return MO_OK;
}

// Contacts that do not touch, and their friction, have no force.
static void leave_out(uzawa *u)
{
    const mo_block *n = u->block[MO_BLOCK_CONTACT];
    const double touches = 1e-3; // cells: c dt is the gap in cells
    int32_t normal = u->first[MO_BLOCK_CONTACT], friction = u->first[MO_BLOCK_FRICTION];
    for (int32_t i = 0; n && i < n->rows; i++) {
        bool apart = n->rhs && n->rhs[i] * u->s->dt > touches && u->b[normal + i] <= 0;
        u->apart[normal + i] = apart;
        for (int k = 0; u->block[MO_BLOCK_FRICTION] && k < 2; k++) u->apart[friction + 2 * i + k] = apart;
    }
    for (int32_t i = 0; i < u->rows; i++)
        if (u->apart[i]) u->b[i] = u->x[i] = 0;
}

// The softness is that of the other methods; friction is softened about its last value.
static void take_vectors(uzawa *u)
{
    for (int32_t k = 0; k < KINDS; k++) {
        const mo_block *b = u->block[k];
        if (!b) continue;
        mo_block_residual(u->s, b, u->b + u->first[k]);
        for (int32_t i = 0, to = u->first[k]; i < b->rows; i++, to++) {
            u->x[to] = b->x[i];
            if (!b->lower) continue;
            u->soft[to] = mo_block_softness(b, i) * u->s->dt * mo_solids_yield(u->s, b, i);
            if (b->lower[i] < 0) u->b[to] += u->soft[to] * b->x[i];
        }
    }
}

// ---- The method ----

static void give_back(uzawa *u)
{
    double *v = u->right;
    mo_motion_get(u->s, v);
    respond(u, -1, u->x, u->motion);
    for (int32_t i = 0; i < u->unknowns; i++) v[i] += u->motion[i];
    mo_motion_set(u->s, v);
    for (int32_t k = 0; k < KINDS; k++)
        if (u->block[k]) memcpy(u->block[k]->x, u->x + u->first[k], sizeof(double) * (size_t)u->block[k]->rows);
    if (!u->stress) return;
    mo_block_residual(u->s, u->stress, u->stress->x);
    mo_ldl_solve(&u->compliance, 0, u->stress->x);
}

static void run(uzawa *u, const mo_solver_def *solver, mo_system_info *info)
{
    mo_operator A = {apply_dual, u};
    take_vectors(u);
    leave_out(u);
    info->solve = mo_cg(u->rows, &A, NULL, u->b, u->x, solver->tolerance, solver->max_iterations, true, u->work);
    give_back(u);
}

mo_status mo_uzawa_solve(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info, mo_error *err)
{
    double start = mo_wall_seconds();
    MO_ASSERT(set != 0 && s->dt >= 0);
    uzawa u = {.s = s, .tolerance = 0.1 * solver->tolerance, .most = solver->max_iterations};
    lay_rows(&u, set);
    info->solve.reason = MO_REASON_NOTHING_TO_DO;
    mo_status status = allocate(&u) ? MO_OK : MO_ERROR_MEMORY;
    if (status == MO_OK && u.stress) status = apply_stress(&u);
    double ready = mo_wall_seconds();
    info->setup_seconds += ready - start;
    if (status == MO_OK && u.rows + (u.stress ? 1 : 0)) run(&u, solver, info);
    info->by_paper = 1, info->inner_iterations = u.iterations;
    info->solve_seconds += mo_wall_seconds() - ready;
    uzawa_destroy(&u);
    return status == MO_OK ? MO_OK : mo_fail_memory(err);
}
