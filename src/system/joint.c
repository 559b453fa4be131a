// Multipliers of sets with nodes: MPRGP with a multigrid cycle for pressure and a diagonal for contacts.
#include "system/joint.h"
#include "base/parallel.h"
#include "qp/mprgp.h"
#include "sparse/dense.h"
#include "sparse/multigrid.h"
#include "system/body_rows.h"
#include "system/dense_rows.h"
#include "system/membrane.h"
#include "system/near.h"
#include "system/pieces.h"
#include "system/solids.h"
#include "system/woodbury.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = MO_BLOCK_KINDS, MOST_COLUMNS = 96, MOST_ITERATIONS = 2000, MOST_DENSE = 2000, FEW_ITERATIONS = 200 };

typedef struct joint {
    mo_system *s;
    mo_block *block[KINDS]; // NULL: not in the set
    mo_block *pressure;
    int32_t first[KINDS + 1]; // row of each
    int32_t rows, liquid;     // all; those of pressure
    mo_csr L;                 // dt B M^-1 B^T of pressure and faces
    mo_csr near;              // L plus the part of nodes between neighbours, for the cycle
    double *force, *motion;   // [solids]
    double *soft, *inverse;   // [rows] S; preconditioner of contacts; of pressure 0
    double *lump;             // [rows] that of B H B^T of contacts on nodes; of others 0
    double *scale;            // [rows] about 1 over the diagonal of all
    double *apart;            // [rows] 1 over the yield of contacts on bodies without the bodies' part
    mo_body_rows body_rows;
    double *b, *x, *lower, *upper, *work;
    double norm;         // about the largest eigenvalue
    mo_dense_rows dense; // the full matrix, where there are many products; without rows: not made yet
    mo_pieces pieces;
    mo_multigrid *mg;
    mo_membrane membrane;       // of cloth
    mo_woodbury wet;            // of light bodies
    double *response, *columns; // [wet.columns^2] C factored; [wet.columns]
} joint;

bool mo_joint_applies(const mo_system *s, uint32_t set)
{
    const mo_block *p = s->block[MO_BLOCK_PRESSURE];
    if (!s->nodes.count || mo_set_has(s, set, MO_BLOCK_STRESS)) return false;
    return !mo_set_has(s, set, MO_BLOCK_PRESSURE) || (!p->compliance.rows && !p->lower && !p->upper && p->coord);
}

static void joint_destroy(joint *j)
{
    mo_csr_destroy(&j->L), mo_csr_destroy(&j->near);
    mo_pieces_destroy(&j->pieces);
    mo_multigrid_destroy(j->mg);
    mo_membrane_destroy(&j->membrane);
    mo_woodbury_destroy(&j->wet);
    mo_body_rows_destroy(&j->body_rows);
    mo_dense_rows_destroy(&j->dense);
    mo_free(j->force), mo_free(j->soft), mo_free(j->response);
}

// ---- Products ----

// Adds the part of one group of solids: y += dt B H^-1 B^T x of all rows.
static void add_group(const joint *j, int32_t g, const double *x, double *y)
{
    const mo_group *group = &j->s->group[g];
    if (!group->count) return;
    memset(j->force, 0, sizeof(double) * (size_t)group->count);
    memset(j->motion, 0, sizeof(double) * (size_t)group->count);
    for (int k = 0; k < KINDS; k++)
        if (j->block[k] && j->block[k]->on[g].rows) mo_csr_push(&j->block[k]->on[g], 1, x + j->first[k], j->force);
    mo_group_apply_inverse(group, j->s->dt, j->force, j->motion);
    for (int k = 0; k < KINDS; k++)
        if (j->block[k] && j->block[k]->on[g].rows)
            mo_csr_multiply_add(&j->block[k]->on[g], 1, j->motion, y + j->first[k]);
}

static void joint_apply(void *context, const double *x, double *y)
{
    joint *j = context;
    if (j->dense.rows) {
        mo_dense_rows_apply(&j->dense, x, y);
        return;
    }
    if (j->liquid) mo_csr_multiply(&j->L, x, y);
    for (int32_t i = j->liquid; i < j->rows; i++) y[i] = j->soft[i] * x[i];
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++) add_group(j, g, x, y);
}

// Contacts of elastic bodies yield by B H^-1 B^T. In the units of the diagonal, B H B^T is the cheap inverse of it that
// domain decomposition calls "lumped": it contains the coupling of neighbours on one surface. Half of the identity
// stands for the rest of the body.
static void precondition_contacts(const joint *j, const double *r, double *z)
{
    const mo_group *nodes = &j->s->nodes;
    if (j->rows == j->liquid) return;
    memset(j->force, 0, sizeof(double) * (size_t)nodes->count);
    memset(j->motion, 0, sizeof(double) * (size_t)nodes->count);
    for (int32_t i = j->liquid; i < j->rows; i++) z[i] = j->lump[i] * r[i];
    for (int k = 0; k < KINDS; k++)
        if (j->block[k] && j->first[k] >= j->liquid && j->block[k]->on[MO_NODES].rows)
            mo_csr_push(&j->block[k]->on[MO_NODES], 1, z + j->first[k], j->force);
    mo_group_apply(nodes, 1, j->force, j->motion);
    for (int32_t i = j->liquid; i < j->rows; i++) z[i] = 0;
    for (int k = 0; k < KINDS; k++)
        if (j->block[k] && j->first[k] >= j->liquid && j->block[k]->on[MO_NODES].rows)
            mo_csr_multiply_add(&j->block[k]->on[MO_NODES], 1, j->motion, z + j->first[k]);
    for (int32_t i = j->liquid; i < j->rows; i++)
        z[i] = (j->lump[i] > 0 ? 0.5 : 1) * j->inverse[i] * r[i] + j->lump[i] * z[i];
    mo_body_rows_apply(&j->body_rows, j->apart, r, z);
}

// A cycle for pressure, with light bodies by Woodbury's formula; a diagonal for contacts. Constant pressures of
// enclosed pieces, which move nothing but rounding errors, are left out: a cycle would make them huge.
static void joint_precondition(void *context, const double *r, double *z)
{
    joint *j = context;
    double *rest = j->work + (int64_t)MO_MPRGP_WORK * j->rows;
    if (j->liquid) {
        memcpy(rest, r, sizeof(double) * (size_t)j->liquid);
        mo_pieces_project(&j->pieces, j->liquid, NULL, rest, INFINITY);
        if (j->wet.columns) {
            mo_woodbury_gather(&j->wet, -1, r, j->force);
            for (int32_t c = 0; c < j->wet.columns; c++) j->columns[c] = j->force[j->wet.column[c]];
            mo_dense_solve(j->wet.columns, j->response, j->columns);
            memset(j->force, 0, sizeof(double) * (size_t)j->s->bodies.count);
            for (int32_t c = 0; c < j->wet.columns; c++) j->force[j->wet.column[c]] = j->columns[c];
            mo_csr_multiply_add(&j->pressure->on[MO_BODIES], 1, j->force, rest);
        }
        mo_multigrid_apply(j->mg, rest, z);
        mo_membrane_add(&j->membrane, r, z);
        mo_pieces_project(&j->pieces, j->liquid, NULL, z, INFINITY);
    }
    precondition_contacts(j, r, z);
}

// ---- Set-up ----

static void lay_rows(joint *j, uint32_t set)
{
    for (int k = 0; k < KINDS; k++) {
        j->block[k] = mo_set_has(j->s, set, k) ? j->s->block[k] : NULL;
        j->first[k + 1] = j->first[k] + (j->block[k] ? j->block[k]->rows : 0);
    }
    j->pressure = j->block[MO_BLOCK_PRESSURE]; // its rows come first
    j->liquid = j->pressure ? j->pressure->rows : 0, j->rows = j->first[KINDS];
}

static bool allocate(joint *j)
{
    size_t rows = (size_t)j->rows, solids = (size_t)mo_solids_count(j->s);
    j->force = mo_alloc(sizeof(double) * 2 * (solids + 1));
    j->soft = mo_calloc(sizeof(double) * (10 + MO_MPRGP_WORK) * (rows + 1));
    if (!j->force || !j->soft) return false;
    j->motion = j->force + solids + 1;
    j->inverse = j->soft + rows, j->b = j->inverse + rows, j->x = j->b + rows, j->lower = j->x + rows;
    j->upper = j->lower + rows, j->lump = j->upper + rows, j->scale = j->lump + rows;
    j->apart = j->scale + rows, j->work = j->apart + rows;
    return true;
}

static void take_vectors(joint *j)
{
    for (int k = 0; k < KINDS; k++) {
        const mo_block *b = j->block[k];
        if (!b) continue;
        mo_block_residual(j->s, b, j->b + j->first[k]);
        for (int32_t i = 0, to = j->first[k]; i < b->rows; i++, to++) {
            j->x[to] = b->x[i];
            j->lower[to] = b->lower ? b->lower[i] : -INFINITY, j->upper[to] = b->upper ? b->upper[i] : INFINITY;
        }
    }
}

// Estimates the largest eigenvalue, for steps of fixed length: a few power iterations from v, plus a half for their
// error. Every product costs a solve; a poor estimate costs little, because such steps are the last resort of an
// expansion.
static double find_norm(joint *j, double *v, double *next)
{
    enum { PRODUCTS = 3 };
    double norm = 1;
    for (int k = 0; k < PRODUCTS; k++) {
        double length = sqrt(mo_dot_product(j->rows, v, v));
        if (!(length > 0 && isfinite(length))) break;
        for (int32_t i = 0; i < j->rows; i++) v[i] /= length;
        joint_apply(j, v, next);
        for (int32_t i = 0; i < j->rows; i++) next[i] *= j->scale[i];
        norm = sqrt(mo_dot_product(j->rows, next, next));
        memcpy(v, next, sizeof(double) * (size_t)j->rows);
    }
    return 1.5 * norm;
}

// Sets the softness, about the friction of before, and the preconditioner. Stiff bodies yield more than their vertices
// alone; one product with random signs shows how much more on the whole.
static void soften(joint *j)
{
    double *yield = j->work, *sign = yield + j->rows, *answer = sign + j->rows, alone = 0, together = 0;
    for (int k = 0; k < KINDS; k++)
        for (int32_t i = 0, to = j->first[k]; j->block[k] && to >= j->liquid && i < j->block[k]->rows; i++, to++) {
            yield[to] = j->s->dt * mo_solids_yield(j->s, j->block[k], i);
            j->soft[to] = mo_block_softness(j->block[k], i) * yield[to];
            if (j->lower[to] < 0) j->b[to] += j->soft[to] * j->x[to];
        }
    for (int32_t i = 0; i < j->rows; i++) sign[i] = i < j->liquid ? 0 : mo_hash((uint32_t)i, 3, 9) & 1 ? 1 : -1;
    if (j->rows > j->liquid) joint_apply(j, sign, answer);
    for (int32_t i = j->liquid; i < j->rows; i++) alone += yield[i], together += sign[i] * answer[i];
    double more = alone > 0 && together > 0 ? together / alone : 1;
    for (int32_t i = j->liquid; i < j->rows; i++) j->inverse[i] = yield[i] > 0 ? 1 / (more * yield[i] + j->soft[i]) : 0;
    for (int k = 0; k < KINDS; k++)
        for (int32_t i = 0, to = j->first[k]; j->block[k] && to >= j->liquid && i < j->block[k]->rows; i++, to++) {
            double nodes = j->s->dt * mo_group_yield(&j->s->nodes, &j->block[k]->on[MO_NODES], i);
            j->apart[to] = yield[to] > 0 ? 1 / (more * nodes + j->soft[to]) : 0;
        }
    if (j->liquid) mo_csr_diagonal(&j->near, j->scale);
    for (int32_t i = 0; i < j->rows; i++)
        j->scale[i] = i >= j->liquid ? (yield[i] > 0 ? j->inverse[i] : 1) : j->scale[i] > 0 ? 1 / j->scale[i] : 1;
    j->norm = j->rows > j->liquid ? find_norm(j, answer, sign) : 1; // without bounds it does not matter
}

// (B H B^T)_ii of a row on nodes. H is of few entries in a row.
static double stiffness_of(const mo_group *nodes, const mo_csr *B, int32_t row)
{
    enum { MOST = 512 };
    int32_t col[MOST];
    double val[MOST], sum = 0;
    for (int64_t e = mo_csr_begin(B, row); e < mo_csr_end(B, row); e++) {
        int32_t n = nodes->kind->row(nodes, B->col[e], NULL, NULL);
        if (B->val[e] == 0 || n > MOST) continue;
        nodes->kind->row(nodes, B->col[e], col, val);
        for (int32_t k = 0; k < n; k++)
            for (int64_t f = B->row[row]; f < B->row[row + 1]; f++)
                if (B->col[f] == col[k]) sum += B->val[e] * val[k] * B->val[f];
    }
    return sum;
}

// Only for rows on one vertex: where several rows share vertices, B B^T is not about the identity, and the product
// makes convergence worse (by half, in stacks of blocks).
static void lump(joint *j)
{
    enum { OF_A_VERTEX = 3 };
    for (int k = 0; k < KINDS; k++)
        for (int32_t i = 0; j->block[k] && j->first[k] >= j->liquid && i < j->block[k]->on[MO_NODES].rows; i++) {
            const mo_csr *B = &j->block[k]->on[MO_NODES];
            if (B->row[i + 1] - B->row[i] > OF_A_VERTEX || mo_body_rows_has(&j->body_rows, j->first[k] + i)) continue;
            double stiff = stiffness_of(&j->s->nodes, B, i);
            if (stiff > 0) j->lump[j->first[k] + i] = sqrt(j->inverse[j->first[k] + i] / stiff);
        }
}

// Light bodies in the liquid, by Woodbury's formula.
static mo_status find_wet(joint *j)
{
    const mo_csr *R = &j->pressure->on[MO_BODIES];
    int32_t n = j->s->bodies.count, column[MOST_COLUMNS], count = 0;
    mo_csr S = {0};
    if (!R->rows || !n || n > MOST_COLUMNS) return MO_OK;
    double *diagonal = mo_alloc(sizeof(double) * (size_t)n);
    if (!diagonal) return MO_ERROR_MEMORY;
    j->s->bodies.kind->diagonal(&j->s->bodies, diagonal);
    for (int32_t i = 0; i < n; i++)
        if (diagonal[i] > 0) column[count++] = i;
    mo_free(diagonal);
    mo_status status = mo_solids_inertia(j->s, &S);
    if (status == MO_OK) S.rows = S.cols = n; // bodies come first
    if (status == MO_OK) status = mo_woodbury_create(R, &S, count, column, j->mg, j->work, &j->wet);
    S.rows = S.cols = mo_solids_count(j->s);
    mo_csr_destroy(&S);
    if (status != MO_OK || !j->wet.columns) return status;
    int32_t columns = j->wet.columns;
    j->response = mo_calloc(sizeof(double) * ((size_t)columns * (size_t)columns + (size_t)columns));
    if (!j->response) return MO_ERROR_MEMORY;
    j->columns = j->response + (int64_t)columns * columns;
    for (int32_t a = 0; a < columns; a++)
        for (int32_t b = 0; b < columns; b++)
            j->response[a * columns + b] = mo_csr_entry(&j->wet.C, j->wet.column[a], j->wet.column[b]);
    mo_dense_factor(columns, j->response, 1e-12);
    return MO_OK;
}

static mo_status find_body_rows(joint *j)
{
    mo_block *block[MO_BODY_ROWS_BLOCKS];
    int32_t first[MO_BODY_ROWS_BLOCKS], blocks = 0;
    for (int k = 0; k < KINDS; k++)
        if (j->block[k] && j->first[k] >= j->liquid && blocks < MO_BODY_ROWS_BLOCKS)
            first[blocks] = j->first[k], block[blocks++] = j->block[k];
    return mo_body_rows_create(j->s, blocks, block, first, &j->body_rows);
}

static mo_status build_liquid(joint *j)
{
    const mo_block *p = j->pressure;
    mo_csr Bt = {0};
    mo_status status = mo_csr_transpose(&p->on[MO_FACES], &Bt);
    if (status == MO_OK) status = mo_faces_square(&j->s->faces, j->s->dt, &p->on[MO_FACES], &Bt, &j->L);
    if (status == MO_OK) status = mo_faces_square(&j->s->faces, j->s->dt, &p->on[MO_FACES], &Bt, &j->near);
    mo_csr_destroy(&Bt);
    if (status == MO_OK) status = mo_near_add_nodes(j->s, p, NULL, &j->near);
    if (status == MO_OK) status = mo_pieces_create(&j->L, NULL, MO_GROUPS - MO_SOLIDS, p->on + MO_SOLIDS, &j->pieces);
    if (status == MO_OK) mo_pieces_firm(&j->pieces, &j->near);
    if (status == MO_OK) status = mo_multigrid_create(&j->near, (const int32_t(*)[3])p->coord, &j->mg);
    if (status == MO_OK) status = mo_membrane_create(j->s, p, &j->L, &j->membrane);
    return status == MO_OK ? find_wet(j) : status;
}

static mo_status build(joint *j, uint32_t set)
{
    lay_rows(j, set);
    if (!allocate(j)) return MO_ERROR_MEMORY;
    take_vectors(j);
    if (j->liquid) MO_TRY(build_liquid(j));
    MO_TRY(find_body_rows(j));
    soften(j), lump(j);
    return MO_OK;
}

// ---- The form ----

static mo_status give_back(joint *j, mo_error *err)
{
    double *force = mo_system_forces(j->s);
    if (!force) return mo_fail_memory(err);
    for (int k = 0; k < KINDS; k++)
        if (j->block[k]) memcpy(j->block[k]->x, j->x + j->first[k], sizeof(double) * (size_t)j->block[k]->rows);
    for (int32_t g = 0; g < MO_GROUPS; g++) { // one solve for all rows
        mo_group *group = &j->s->group[g];
        if (!group->count) continue;
        memset(force, 0, sizeof(double) * (size_t)group->count);
        for (int k = 0; k < KINDS; k++)
            if (j->block[k] && j->block[k]->on[g].rows) mo_csr_push(&j->block[k]->on[g], 1, j->block[k]->x, force);
        mo_group_apply_inverse(group, -j->s->dt, force, group->velocity);
    }
    mo_free(force);
    return MO_OK;
}

static void minimise(joint *j, const mo_solver_def *solver, const mo_operator *M, int32_t limit, mo_solve_info *out)
{
    mo_operator A = {joint_apply, j};
    mo_mprgp_options options = {.tolerance = solver->tolerance,
                                .max_iterations = limit,
                                .expansion = solver->expansion,
                                .norm = j->norm,
                                .scale = j->scale};
    int32_t before = out->iterations;
    *out = mo_mprgp(j->rows, &A, M, j->b, j->lower, j->upper, j->x, &options, j->work).solve;
    out->iterations += before;
}

// Contacts that stiff cloth couples take more products than there are rows. From then on products and preconditioner
// use the full matrix.
static mo_status minimise_dense(joint *j, const mo_solver_def *solver, int32_t limit, mo_solve_info *out, mo_error *err)
{
    mo_operator A = {joint_apply, j};
    mo_dense_rows dense;
    if (mo_dense_rows_create(j->rows, &A, &dense) != MO_OK) return mo_fail_memory(err);
    j->dense = dense;
    j->dense.x = j->x, j->dense.lower = j->lower, j->dense.upper = j->upper;
    for (int32_t i = 0; i < j->rows; i++) {
        double own = dense.A[(int64_t)i * j->rows + i];
        j->scale[i] = own > 0 ? 1 / own : 1;
        j->work[i] = mo_hash((uint32_t)i, 3, 9) & 1 ? 1 : -1;
    }
    j->norm = find_norm(j, j->work, j->work + j->rows);
    minimise(j, solver, &(mo_operator){mo_dense_rows_sweep, &j->dense}, limit, out);
    return MO_OK;
}

static mo_status run(joint *j, const mo_solver_def *solver, mo_system_info *info, mo_error *err)
{
    double start = mo_wall_seconds();
    int32_t limit = solver->max_iterations < MOST_ITERATIONS ? solver->max_iterations : MOST_ITERATIONS;
    int32_t few = j->rows > FEW_ITERATIONS ? j->rows : FEW_ITERATIONS;
    bool may_be_dense = !j->liquid && j->rows <= MOST_DENSE && few < limit;
    mo_operator M = {joint_precondition, j};
    info->pieces = j->pieces.count, info->enclosed = j->pieces.enclosed;
    info->relaxed = mo_pieces_relax(&j->pieces, &j->L, solver->tolerance, j->b, j->work);
    info->solve = (mo_solve_info){0};
    minimise(j, solver, &M, may_be_dense ? few : limit, &info->solve);
    if (may_be_dense && !mo_is_solved(&info->solve)) MO_TRY(minimise_dense(j, solver, limit, &info->solve, err));
    mo_pieces_project(&j->pieces, j->liquid, NULL, j->x, INFINITY);
    info->solve_seconds += mo_wall_seconds() - start;
    return mo_is_solved(&info->solve) ? give_back(j, err) : MO_OK;
}

mo_status mo_joint_solve(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info, mo_error *err)
{
    double start = mo_wall_seconds();
    MO_ASSERT(mo_joint_applies(s, set));
    joint j = {.s = s};
    mo_status status = build(&j, set);
    info->solve.reason = MO_REASON_NOTHING_TO_DO;
    info->setup_seconds += mo_wall_seconds() - start;
    if (status == MO_ERROR_MEMORY)
        mo_fail_memory(err);
    else if (status != MO_OK)
        mo_fail(err, status, "solve: rows do not sit on distinct neighbouring lattice cells");
    if (status == MO_OK && j.rows) status = run(&j, solver, info, err);
    joint_destroy(&j);
    return status;
}
