// The form `slip`. See slip_form.h.
#include "system/slip_form.h"
#include "base/parallel.h"
#include "sparse/multigrid.h"
#include "system/pieces.h"
#include <math.h>
#include <string.h>

static const double softness = 1e-12; // of rows of slip, relative to their diagonal

bool mo_slip_form_applies(const mo_system *s, uint32_t set)
{
    uint32_t others = ~((1u << MO_BLOCK_PRESSURE) | (1u << MO_BLOCK_SLIP));
    for (int32_t k = 0; k < MO_BLOCK_KINDS; k++)
        if (mo_set_has(s, set & others, k)) return false;
    return mo_set_has(s, set, MO_BLOCK_SLIP) && !s->bodies.count && !s->nodes.count;
}

// ---- The system ----

// Adds the rows of slip of one row of pressure to it: D0 + R C.
static void add_slip(const mo_system *s, int32_t first, const int32_t *next, double *sum)
{
    const mo_csr *C = &s->block[MO_BLOCK_SLIP]->on[MO_FACES];
    for (int32_t l = first; l >= 0; l = next[l])
        for (int64_t k = C->row[l]; k < C->row[l + 1]; k++) sum[C->col[k]] += s->slip_through[l] * C->val[k];
}

// Lists the rows of slip of each row of pressure. first: [rows of pressure], next: [rows of slip]; -1: none.
static void list_slip(const mo_system *s, int32_t *first, int32_t *next)
{
    for (int32_t r = 0; r < s->block[MO_BLOCK_PRESSURE]->rows; r++) first[r] = -1;
    for (int32_t l = s->block[MO_BLOCK_SLIP]->rows - 1; l >= 0; l--)
        next[l] = first[s->slip_host[l]], first[s->slip_host[l]] = l;
}

// The columns of a row of D0 + R C, ascending; returns their number. mark: [faces] 0.
static int32_t merge_columns(const mo_system *s, int32_t r, const int32_t *first, const int32_t *next, uint8_t *mark,
                             int32_t *col)
{
    const mo_csr *D = &s->block[MO_BLOCK_PRESSURE]->on[MO_FACES], *C = &s->block[MO_BLOCK_SLIP]->on[MO_FACES];
    int32_t count = 0;
    for (int64_t k = D->row[r]; k < D->row[r + 1]; k++) mark[D->col[k]] = 1, col[count++] = D->col[k];
    for (int32_t l = first[r]; l >= 0; l = next[l])
        for (int64_t k = C->row[l]; k < C->row[l + 1]; k++) {
            int32_t c = C->col[k], p = count;
            if (mark[c]) continue;
            mark[c] = 1;
            for (; p > 0 && col[p - 1] > c; p--) col[p] = col[p - 1];
            col[p] = c, count++;
        }
    for (int32_t k = 0; k < count; k++) mark[col[k]] = 0;
    return count;
}

typedef struct stacking {
    int32_t *first, *next;
    uint8_t *mark;
    double *sum; // [faces] 0
} stacking;

static void fill_literal(const mo_system *s, const stacking *w, mo_csr *B)
{
    const mo_csr *D = &s->block[MO_BLOCK_PRESSURE]->on[MO_FACES];
    for (int32_t r = 0; r < D->rows; r++) {
        int64_t at = B->row[r];
        int32_t count = merge_columns(s, r, w->first, w->next, w->mark, B->col + at);
        for (int64_t k = D->row[r]; k < D->row[r + 1]; k++) w->sum[D->col[k]] = D->val[k];
        add_slip(s, w->first[r], w->next, w->sum);
        for (int32_t k = 0; k < count; k++) B->val[at + k] = w->sum[B->col[at + k]], w->sum[B->col[at + k]] = 0;
        B->row[r + 1] = at + count;
    }
}

// B: [D0; C], or literally [D0 + R C; C].
static mo_status stack(const mo_system *s, bool literal, mo_csr *B)
{
    const mo_csr *D = &s->block[MO_BLOCK_PRESSURE]->on[MO_FACES], *C = &s->block[MO_BLOCK_SLIP]->on[MO_FACES];
    int64_t more = literal ? mo_csr_entries(C) : 0;
    int32_t faces = s->faces.count;
    MO_TRY(mo_csr_create(D->rows + C->rows, faces, mo_csr_entries(D) + mo_csr_entries(C) + more, B));
    if (literal) {
        stacking w = {mo_alloc(sizeof(int32_t) * ((size_t)D->rows + 1)),
                      mo_alloc(sizeof(int32_t) * ((size_t)C->rows + 1)), mo_calloc((size_t)faces + 1),
                      mo_calloc(sizeof(double) * ((size_t)faces + 1))};
        bool ok = w.first && w.next && w.mark && w.sum;
        if (ok) list_slip(s, w.first, w.next), fill_literal(s, &w, B);
        mo_free(w.first), mo_free(w.next), mo_free(w.mark), mo_free(w.sum);
        if (!ok) return MO_ERROR_MEMORY;
    } else {
        memcpy(B->row, D->row, sizeof *B->row * ((size_t)D->rows + 1));
        memcpy(B->col, D->col, sizeof *B->col * (size_t)mo_csr_entries(D));
        memcpy(B->val, D->val, sizeof *B->val * (size_t)mo_csr_entries(D));
    }
    int64_t at = B->row[D->rows];
    for (int32_t l = 0; l < C->rows; l++) B->row[D->rows + l + 1] = at + C->row[l + 1];
    memcpy(B->col + at, C->col, sizeof *B->col * (size_t)mo_csr_entries(C));
    memcpy(B->val + at, C->val, sizeof *B->val * (size_t)mo_csr_entries(C));
    return MO_OK;
}

static void soften(int32_t from, mo_csr *A)
{
    for (int32_t r = from; r < A->rows; r++)
        for (int64_t k = A->row[r]; k < A->row[r + 1]; k++)
            if (A->col[k] == r) A->val[k] *= 1 + softness;
}

// b = B u - c.
static void find_goal(const mo_system *s, bool literal, double *b)
{
    int32_t rows = s->block[MO_BLOCK_PRESSURE]->rows;
    mo_block_residual(s, s->block[MO_BLOCK_PRESSURE], b);
    mo_block_residual(s, s->block[MO_BLOCK_SLIP], b + rows);
    for (int32_t l = 0; literal && l < s->block[MO_BLOCK_SLIP]->rows; l++)
        b[s->slip_host[l]] += s->slip_through[l] * b[rows + l];
}

mo_status mo_slip_form_system(const mo_system *s, bool literal, mo_csr *B, mo_csr *A, double **b, mo_error *err)
{
    int32_t rows = s->block[MO_BLOCK_PRESSURE]->rows;
    mo_csr Bt = {0};
    *A = *B = (mo_csr){0};
    *b = mo_alloc(sizeof(double) * ((size_t)rows + (size_t)s->block[MO_BLOCK_SLIP]->rows + 1));
    mo_status status = *b ? stack(s, literal, B) : MO_ERROR_MEMORY;
    if (status == MO_OK) status = mo_csr_transpose(B, &Bt);
    if (status == MO_OK) status = mo_faces_square(&s->faces, s->dt, B, &Bt, A);
    mo_csr_destroy(&Bt);
    if (status != MO_OK) return mo_fail_memory(err);
    soften(rows, A);
    find_goal(s, literal, *b);
    return MO_OK;
}

// ---- The solve ----

static void multiply(void *A, const double *x, double *y) { mo_csr_multiply(A, x, y); }

typedef struct blocks { // of the preconditioner of route fast
    mo_multigrid *cycle;
    int32_t pressures, rows;
    double *inverse; // [rows of slip] of the diagonal
} blocks;

static void apply_blocks(void *context, const double *r, double *z)
{
    const blocks *m = context;
    mo_multigrid_apply(m->cycle, r, z);
    for (int32_t l = m->pressures; l < m->rows; l++) z[l] = m->inverse[l - m->pressures] * r[l];
}

static mo_status solve_fast(const mo_system *s, const mo_csr *A, const mo_csr *P, const double *b, double *x,
                            double *work, const mo_solver_def *solver, mo_system_info *info)
{
    enum { MOST = 300 }; // a cycle that needs more has failed
    blocks m = {.pressures = P->rows, .rows = A->rows};
    m.inverse = mo_calloc(sizeof(double) * ((size_t)(A->rows - P->rows) + 1));
    if (!m.inverse) return MO_ERROR_MEMORY;
    for (int32_t r = P->rows; r < A->rows; r++)
        for (int64_t k = A->row[r]; k < A->row[r + 1]; k++)
            if (A->col[k] == r) m.inverse[r - P->rows] = 1 / A->val[k];
    mo_status status = mo_multigrid_create(P, (const int32_t(*)[3])s->block[MO_BLOCK_PRESSURE]->coord, &m.cycle);
    if (status == MO_OK) {
        mo_operator op = {multiply, (void *)A}, M = {apply_blocks, &m};
        info->solve = mo_cg(A->rows, &op, &M, b, x, solver->tolerance,
                            solver->max_iterations < MOST ? solver->max_iterations : MOST, true, work);
        info->bytes += mo_multigrid_describe(m.cycle).bytes;
    }
    mo_multigrid_destroy(m.cycle);
    mo_free(m.inverse);
    return status;
}

static mo_status solve_paper(const mo_csr *A, const double *b, double *x, double *work, const mo_solver_def *solver,
                             mo_system_info *info)
{
    mo_ic0 *ic = NULL;
    double shift;
    MO_TRY(mo_ic0_create_shifted(A, &ic, &shift));
    mo_operator op = {multiply, (void *)A}, M = {mo_ic0_apply, ic};
    int32_t before = info->solve.iterations;
    info->solve = mo_cg(A->rows, &op, &M, b, x, solver->tolerance, solver->max_iterations, false, work);
    info->solve.iterations += before, info->breakdowns += shift > 0, info->by_paper = 1;
    mo_ic0_destroy(ic);
    return MO_OK;
}

// l' = l + R^T p, or back.
static void convert(const mo_system *s, double sign, double *x)
{
    int32_t rows = s->block[MO_BLOCK_PRESSURE]->rows;
    for (int32_t l = 0; l < s->block[MO_BLOCK_SLIP]->rows; l++)
        x[rows + l] += sign * s->slip_through[l] * x[s->slip_host[l]];
}

// The rows of pressure of A' (p, l'), and their pieces. b: its right-hand side, which is made solvable.
static mo_status relax(const mo_system *s, const mo_csr *A, mo_csr *P, mo_pieces *pieces, double tolerance, double *b,
                       double *work, mo_system_info *info)
{
    int32_t rows = s->block[MO_BLOCK_PRESSURE]->rows;
    MO_TRY(mo_csr_block(A, 0, rows, 0, rows, P));
    MO_TRY(mo_pieces_create(P, NULL, 0, NULL, pieces));
    info->pieces = pieces->count, info->enclosed = pieces->enclosed;
    info->relaxed = mo_pieces_relax(pieces, P, tolerance, b, work);
    return MO_OK;
}

static mo_status solve_literal(const mo_system *s, const double *b, double *x, double *work,
                               const mo_solver_def *solver, mo_system_info *info, mo_error *err)
{
    mo_csr A, B;
    double *goal;
    int32_t rows = s->block[MO_BLOCK_PRESSURE]->rows;
    mo_status status = mo_slip_form_system(s, true, &B, &A, &goal, err);
    if (status == MO_OK) {
        memcpy(goal, b, sizeof(double) * (size_t)A.rows);
        for (int32_t l = 0; l < s->block[MO_BLOCK_SLIP]->rows; l++)
            goal[s->slip_host[l]] += s->slip_through[l] * b[rows + l];
        convert(s, -1, x);
        status = solve_paper(&A, goal, x, work, solver, info);
        convert(s, 1, x);
        if (status != MO_OK) status = mo_fail_memory(err);
    }
    mo_csr_destroy(&A), mo_csr_destroy(&B), mo_free(goal);
    return status;
}

static mo_status apply(mo_system *s, const mo_csr *B, const double *x, double *change)
{
    int32_t rows = s->block[MO_BLOCK_PRESSURE]->rows;
    memset(change, 0, sizeof(double) * (size_t)s->faces.count);
    mo_csr_push(B, 1, x, change);
    mo_group_apply_inverse(&s->faces, -s->dt, change, s->faces.velocity);
    memcpy(s->block[MO_BLOCK_PRESSURE]->x, x, sizeof(double) * (size_t)rows);
    memcpy(s->block[MO_BLOCK_SLIP]->x, x + rows, sizeof(double) * (size_t)s->block[MO_BLOCK_SLIP]->rows);
    return MO_OK;
}

typedef struct slip_solve {
    mo_csr A, B, P;
    double *b, *x, *work;
    mo_pieces pieces;
} slip_solve;

static void slip_destroy(slip_solve *q)
{
    mo_csr_destroy(&q->A), mo_csr_destroy(&q->B), mo_csr_destroy(&q->P);
    mo_pieces_destroy(&q->pieces);
    mo_free(q->b), mo_free(q->x);
}

static mo_status run(mo_system *s, slip_solve *q, const mo_solver_def *solver, mo_system_info *info, mo_error *err)
{
    int32_t rows = q->A.rows, pressures = s->block[MO_BLOCK_PRESSURE]->rows;
    size_t faces = (size_t)s->faces.count;
    q->x = mo_calloc(sizeof(double) * (6 * (size_t)rows + faces + 1)), q->work = q->x ? q->x + rows : NULL;
    if (!q->x) return mo_fail_memory(err);
    memcpy(q->x, s->block[MO_BLOCK_PRESSURE]->x, sizeof(double) * (size_t)pressures);
    memcpy(q->x + pressures, s->block[MO_BLOCK_SLIP]->x, sizeof(double) * (size_t)(rows - pressures));
    if (relax(s, &q->A, &q->P, &q->pieces, solver->tolerance, q->b, q->work, info) != MO_OK) return mo_fail_memory(err);
    if (!isfinite(mo_max_abs(rows, q->b)))
        return mo_fail(err, MO_ERROR_FAILED, "solve: the right-hand side is not finite");
    info->solve.reason = MO_REASON_STALLED;
    if (solver->route == MO_ROUTE_FAST &&
        solve_fast(s, &q->A, &q->P, q->b, q->x, q->work, solver, info) == MO_ERROR_MEMORY)
        return mo_fail_memory(err);
    if (!mo_is_solved(&info->solve)) {
        info->fallbacks += solver->route == MO_ROUTE_FAST;
        MO_TRY(solve_literal(s, q->b, q->x, q->work, solver, info, err));
    }
    mo_pieces_project(&q->pieces, pressures, NULL, q->x, INFINITY);
    return apply(s, &q->B, q->x, q->work);
}

mo_status mo_slip_form_solve(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info,
                             mo_error *err)
{
    (void)set;
    slip_solve q = {0};
    double start = mo_wall_seconds();
    mo_status status = mo_slip_form_system(s, false, &q.B, &q.A, &q.b, err);
    info->setup_seconds += mo_wall_seconds() - start;
    start = mo_wall_seconds();
    if (status == MO_OK) status = run(s, &q, solver, info, err);
    info->solve_seconds += mo_wall_seconds() - start;
    slip_destroy(&q);
    return status;
}
