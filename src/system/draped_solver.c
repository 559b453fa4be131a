// Set-up and linear solves of the form `draped`.
#include "system/draped_solver.h"
#include "system/near.h"
#include "system/solids.h"
#include <string.h>

void mo_draped_solver_destroy(mo_draped_solver *k)
{
    mo_csr_destroy(&k->L), mo_csr_destroy(&k->R), mo_csr_destroy(&k->S), mo_csr_destroy(&k->G);
    mo_pieces_destroy(&k->pieces);
    mo_sprung_destroy(&k->springs), mo_sprung_destroy(&k->response);
    mo_multigrid_destroy(k->cycle);
    mo_free(k->diagonal), mo_free(k->force), mo_free(k->work);
    *k = (mo_draped_solver){0};
}

// ---- Set-up ----

static mo_status build_liquid(mo_draped_solver *k)
{
    const mo_block *p = k->pressure;
    mo_csr Bt = {0};
    mo_status status = mo_csr_transpose(&p->on[MO_FACES], &Bt);
    if (status == MO_OK) status = mo_faces_square(&k->s->faces, k->s->dt, &p->on[MO_FACES], &Bt, &k->L);
    mo_csr_destroy(&Bt);
    if (status == MO_OK) status = mo_pieces_create(&k->L, NULL, MO_GROUPS - MO_SOLIDS, p->on + MO_SOLIDS, &k->pieces);
    return status == MO_OK ? mo_solids_rows(k->s, 1, &k->pressure, &k->R) : status;
}

static mo_status allocate(mo_draped_solver *k)
{
    size_t rows = (size_t)k->L.rows;
    k->diagonal = mo_alloc(sizeof(double) * 2 * rows), k->work = mo_alloc(sizeof(double) * 5 * rows);
    k->force = mo_system_forces(k->s);
    if (!k->diagonal || !k->work || !k->force) return MO_ERROR_MEMORY;
    k->inverse = k->diagonal + rows;
    mo_csr_diagonal(&k->L, k->diagonal);
    for (int32_t i = 0; i < k->L.rows; i++)
        k->inverse[i] = k->R.row[i + 1] > k->R.row[i] && k->diagonal[i] > 0 ? 1 / k->diagonal[i] : 0;
    return MO_OK;
}

static mo_status build_response(mo_draped_solver *k)
{
    mo_csr Rt = {0};
    mo_status status = mo_csr_transpose(&k->R, &Rt);
    if (status == MO_OK) status = mo_csr_weighted_square(&Rt, &k->R, k->inverse, &k->G);
    if (status == MO_OK) status = mo_csr_add(&k->G, &k->S);
    mo_csr_destroy(&Rt);
    return status;
}

mo_status mo_draped_solver_create(mo_system *s, const mo_contact_law *l, mo_draped_solver *k)
{
    *k = (mo_draped_solver){.s = s, .pressure = s->block[MO_BLOCK_PRESSURE]};
    MO_TRY(build_liquid(k));
    MO_TRY(mo_solids_inertia(s, &k->S));
    MO_TRY(allocate(k));
    MO_TRY(build_response(k));
    MO_TRY(mo_sprung_create(&k->S, l, &k->springs));
    MO_TRY(mo_sprung_create(&k->G, l, &k->response));
    memcpy(k->response.held, k->springs.held,
           (size_t)k->S.rows); // rows of pressure give pinned vertices a diagonal in G
    return MO_OK;
}

// The cycle with the links that contacts leave.
static mo_status build_cycle(mo_draped_solver *k)
{
    mo_csr near = {0};
    mo_multigrid_destroy(k->cycle);
    k->cycle = NULL;
    MO_TRY(mo_csr_block(&k->L, 0, k->L.rows, 0, k->L.cols, &near));
    mo_status status = mo_near_add_nodes(k->s, k->pressure, &k->springs.springs, &near);
    if (status == MO_OK) mo_pieces_firm(&k->pieces, &near);
    if (status == MO_OK) status = mo_multigrid_create(&near, (const int32_t(*)[3])k->pressure->coord, &k->cycle);
    mo_csr_destroy(&near);
    return status;
}

mo_status mo_draped_solver_factor(mo_draped_solver *k, const mo_contact_law *l)
{
    MO_TRY(mo_sprung_factor(&k->springs, l));
    MO_TRY(mo_sprung_factor(&k->response, l));
    return build_cycle(k);
}

// ---- Linear solves ----

static void apply(void *context, const double *p, double *y)
{
    const mo_draped_solver *k = context;
    mo_csr_multiply(&k->L, p, y);
    memset(k->force, 0, sizeof(double) * (size_t)k->S.rows);
    mo_csr_push(&k->R, 1, p, k->force);
    mo_sprung_solve(&k->springs, k->force);
    mo_csr_multiply_add(&k->R, 1, k->force, y);
}

// (D + R K^-1 R^T)^-1 = D^-1 - D^-1 R (K + R^T D^-1 R)^-1 R^T D^-1, on the rows at solids.
static void add_coupling(const mo_draped_solver *k, const double *r, double *z)
{
    memset(k->force, 0, sizeof(double) * (size_t)k->S.rows);
    for (int32_t i = 0; i < k->L.rows; i++)
        for (int64_t e = k->R.row[i]; e < k->R.row[i + 1]; e++)
            k->force[k->R.col[e]] += k->R.val[e] * k->inverse[i] * r[i];
    mo_sprung_solve(&k->response, k->force);
    for (int32_t i = 0; i < k->L.rows; i++)
        if (k->inverse[i] > 0) z[i] += k->inverse[i] * (r[i] - mo_csr_row_product(&k->R, i, k->force));
}

static void precondition(void *context, const double *r, double *z)
{
    const mo_draped_solver *k = context;
    mo_multigrid_apply(k->cycle, r, z);
    add_coupling(k, r, z);
}

mo_solve_info mo_draped_solver_run(mo_draped_solver *k, const double *b, double *p, double tolerance, int32_t limit)
{
    mo_operator A = {apply, k}, M = {precondition, k};
    return mo_cg(k->L.rows, &A, &M, b, p, tolerance, limit, true, k->work);
}
