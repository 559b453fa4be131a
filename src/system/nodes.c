// The group of nodes: sparse matrices, their factors, and steps of Newton's method.
#include "system/nodes_guise.h"
#include "system/system.h"
#include <string.h>

// ---- Parts ----

void mo_node_part_destroy(mo_node_part *p)
{
    mo_csr_destroy(&p->H);
    mo_free(p->held);
    mo_cholesky_destroy(p->factor);
    *p = (mo_node_part){0};
}

static mo_status mark_held(mo_node_part *p, const uint8_t *held, mo_error *err)
{
    int32_t n = p->H.rows;
    p->held = mo_alloc((size_t)n + 1);
    if (!p->held) return mo_fail_memory(err);
    for (int32_t i = 0; i < n; i++) p->held[i] = held ? held[i] : !(mo_csr_entry(&p->H, i, i) > 0);
    return MO_OK;
}

mo_status mo_node_part_create(mo_csr *H, int32_t block, const uint8_t *held, mo_node_part *out, mo_error *err)
{
    MO_ASSERT(H->rows == H->cols);
    *out = (mo_node_part){.H = *H, .block = block};
    *H = (mo_csr){0};
    mo_status status = mark_held(out, held, err);
    if (status == MO_OK) status = mo_cholesky_create(&out->H, block, &out->factor, err);
    if (status != MO_OK) mo_node_part_destroy(out);
    return status;
}

static mo_status factor_part(mo_node_part *p, bool *positive, mo_error *err)
{
    return mo_cholesky_factor(p->factor, &p->H, p->held, positive, err);
}

// ---- The functions of a group ----

// H acts only on unknowns that can move: held unknowns count as 0 and get nothing.
static void nodes_apply(const mo_group *g, double s, const double *v, double *f)
{
    const mo_node_matrix *m = g->nodes;
    for (int32_t k = 0; k < m->parts; k++) {
        const mo_node_part *p = &m->part[k];
        double *x = m->x + m->first[k], *to = f + m->first[k];
        for (int32_t i = 0; i < p->H.rows; i++) x[i] = p->held[i] ? 0 : v[m->first[k] + i];
        for (int32_t i = 0; i < p->H.rows; i++)
            if (!p->held[i]) to[i] += s * mo_csr_row_product(&p->H, i, x);
    }
}

// H^-1 f, in the scratch; 0 for held unknowns.
static const double *solve_parts(const mo_group *g, const double *f)
{
    mo_node_matrix *m = g->nodes;
    m->solves++;
    for (int32_t k = 0; k < m->parts; k++) mo_cholesky_solve(m->part[k].factor, f + m->first[k], m->x + m->first[k]);
    return m->x;
}

static void nodes_apply_inverse(const mo_group *g, double s, const double *f, double *v)
{
    const double *x = solve_parts(g, f);
    for (int32_t i = 0; i < g->count; i++) v[i] += s * x[i];
}

static void nodes_diagonal(const mo_group *g, double *d)
{
    const mo_node_matrix *m = g->nodes;
    for (int32_t k = 0; k < m->parts; k++) {
        mo_csr_diagonal(&m->part[k].H, d + m->first[k]);
        for (int32_t i = 0; i < m->part[k].H.rows; i++)
            if (m->part[k].held[i]) d[m->first[k] + i] = 0;
    }
}

static int32_t part_of(const mo_node_matrix *m, int32_t unknown)
{
    int32_t k = 0;
    while (m->first[k + 1] <= unknown) k++;
    return k;
}

static int32_t nodes_row(const mo_group *g, int32_t i, int32_t *col, double *val)
{
    const mo_node_matrix *m = g->nodes;
    int32_t k = part_of(m, i), from = m->first[k], n = 0;
    const mo_node_part *p = &m->part[k];
    if (p->held[i - from]) return 0;
    for (int64_t e = p->H.row[i - from]; e < p->H.row[i - from + 1]; e++) {
        if (p->held[p->H.col[e]]) continue;
        if (col) col[n] = from + p->H.col[e], val[n] = p->H.val[e];
        n++;
    }
    return n;
}

// How far a row would yield if every unknown moved alone, B diag(H)^-1 B^T; the true value would take a solve for each
// row.
static double nodes_yield(const mo_group *g, const mo_csr *B, int32_t row)
{
    const mo_node_matrix *m = g->nodes;
    double sum = 0;
    for (int64_t e = B->row[row]; e < B->row[row + 1]; e++) {
        int32_t k = part_of(m, B->col[e]), i = B->col[e] - m->first[k];
        if (!m->part[k].held[i]) sum += B->val[e] * B->val[e] / mo_csr_entry(&m->part[k].H, i, i);
    }
    return sum;
}

// H^-1 is full, and so is the product among the rows that touch nodes: a solve for each of them. This is for small
// problems and comparisons; a form that has many nodes applies H^-1 instead.
static mo_status nodes_add_square(const mo_group *g, double s, const mo_csr *B, int32_t from, mo_csr *A)
{
    int32_t count, *touch = mo_csr_filled_rows(B, from, &count);
    double *f = mo_alloc(sizeof(double) * 2 * (size_t)g->count);
    mo_csr C = {0};
    mo_status status = touch && f ? mo_csr_create(B->rows, B->rows, (int64_t)count * count, &C) : MO_ERROR_MEMORY;
    for (int32_t i = 0, t = 0; status == MO_OK && i < B->rows; i++) {
        C.row[i + 1] = C.row[i];
        if (t == count || touch[t] != i) continue;
        t++;
        memset(f, 0, sizeof(double) * 2 * (size_t)g->count);
        for (int64_t k = B->row[i]; k < B->row[i + 1]; k++) f[B->col[k]] = B->val[k];
        const double *v = f + g->count;
        nodes_apply_inverse(g, s, f, f + g->count);
        for (int32_t m = 0; m < count; m++)
            C.col[C.row[i + 1]] = touch[m], C.val[C.row[i + 1]++] = mo_csr_row_product(B, touch[m], v);
    }
    for (int32_t a = 0; status == MO_OK && a < count; a++) // symmetric to the last bit
        for (int32_t b = 0; b < a; b++) C.val[C.row[touch[b]] + a] = C.val[C.row[touch[a]] + b];
    if (status == MO_OK) status = mo_csr_add(A, &C);
    mo_csr_destroy(&C);
    mo_free(touch), mo_free(f);
    return status;
}

static void nodes_destroy(mo_group *g)
{
    mo_node_matrix *m = g->nodes;
    if (!m) return;
    for (int32_t k = 0; m->owned && k < m->parts; k++) mo_node_part_destroy(&m->part[k]);
    mo_nodes_bare(g);
    if (m->owned) mo_free(m->part);
    mo_free(m->first), mo_free(m->x), mo_free(m->attached), mo_free(m);
}

// ---- Liquid that moves with nodes ----

static void add_attached_mass(mo_node_part *p, const double *mass)
{
    for (int32_t i = 0; i < p->H.rows; i++)
        for (int64_t e = p->H.row[i]; e < p->H.row[i + 1]; e++)
            if (p->H.col[e] == i) p->H.val[e] += mass[i];
}

// Part k of one of the three arrays.
static const double *attached_to(const mo_node_matrix *m, int32_t array, int32_t k)
{
    return m->attached + (size_t)array * (size_t)m->first[m->parts] + m->first[k];
}

// The value and gradient that the attached liquid adds to a part's.
static double attached_value(const mo_node_matrix *m, int32_t k, const double *v)
{
    double sum = 0;
    if (!m->attached) return 0;
    const double *mass = attached_to(m, 0, k), *momentum = attached_to(m, 1, k), *from = attached_to(m, 2, k);
    for (int32_t i = 0; i < m->part[k].H.rows; i++)
        sum += 0.5 * mass[i] * (v[i] - from[i]) * (v[i] - from[i]) - momentum[i] * v[i];
    return sum;
}

static void attached_derive(mo_node_matrix *m, int32_t k, const double *v, double *gradient)
{
    if (!m->attached) return;
    const double *mass = attached_to(m, 0, k), *momentum = attached_to(m, 1, k), *from = attached_to(m, 2, k);
    for (int32_t i = 0; i < m->part[k].H.rows; i++) gradient[i] += mass[i] * (v[i] - from[i]) - momentum[i];
    add_attached_mass(&m->part[k], mass);
}

mo_status mo_nodes_attach_begin(mo_group *g, mo_error *err)
{
    if (!g->count) return MO_OK;
    MO_ASSERT(!g->nodes->attached);
    g->nodes->attached = mo_calloc(sizeof(double) * 3 * (size_t)g->count);
    if (!g->nodes->attached) return mo_fail_memory(err);
    memcpy(g->nodes->attached + 2 * (size_t)g->count, g->velocity, sizeof(double) * (size_t)g->count);
    return MO_OK;
}

void mo_nodes_attach(mo_group *g, int32_t unknown, double mass, double momentum)
{
    MO_ASSERT(unknown >= 0 && unknown < g->count && g->nodes->attached);
    g->nodes->attached[unknown] += mass;
    g->nodes->attached[g->count + unknown] += momentum;
}

// Weights of faces outside a mesh may be negative, and so may be their sum where few faces count.
static void clip_masses(const mo_node_part *p, double *mass)
{
    for (int32_t axis = 0; axis < p->block; axis++) {
        double all = 0, positive = 0;
        for (int32_t i = axis; i < p->H.rows; i += p->block) all += mass[i], positive += mass[i] > 0 ? mass[i] : 0;
        double part = all > 0 ? all / positive : 0;
        for (int32_t i = axis; i < p->H.rows; i += p->block) mass[i] = mass[i] > 0 ? part * mass[i] : 0;
    }
}

// Nodes that are quadratic have their matrix already, which is factored anew.
static mo_status attach_to_quadratic(mo_group *g, mo_error *err)
{
    mo_node_matrix *m = g->nodes;
    for (int32_t k = 0; k < m->parts; k++) {
        bool positive;
        add_attached_mass(&m->part[k], attached_to(m, 0, k));
        MO_TRY(factor_part(&m->part[k], &positive, err));
        MO_ASSERT(positive);
    }
    nodes_apply_inverse(g, 1, m->attached + g->count, g->velocity);
    return MO_OK;
}

mo_status mo_nodes_attach_end(mo_group *g, mo_error *err)
{
    if (!g->count) return MO_OK;
    mo_node_matrix *m = g->nodes;
    for (int32_t k = 0; k < m->parts; k++) clip_masses(&m->part[k], m->attached + m->first[k]);
    return m->law.derive ? MO_OK : attach_to_quadratic(g, err);
}

void mo_nodes_attached_force(const mo_group *g, double dt, double *force)
{
    MO_ASSERT(dt > 0);
    if (!g->count || !g->nodes->attached) return;
    const double *mass = g->nodes->attached, *momentum = mass + g->count, *from = momentum + g->count;
    for (int32_t i = 0; i < g->count; i++) force[i] += (momentum[i] - mass[i] * (g->velocity[i] - from[i])) / dt;
}

// ---- Steps of Newton's method ----

mo_status mo_nodes_derive(mo_group *g, int32_t k, const double *v, bool convex, double *gradient)
{
    mo_node_matrix *m = g->nodes;
    MO_TRY(m->law.derive(m->law.user, k, v, convex || m->law.convex, gradient, &m->part[k].H));
    attached_derive(m, k, v, gradient);
    return MO_OK;
}

// Uses the true Hessian where it is positive, else a convex one. The two are never mixed, because a mixture converges
// more slowly than either.
static mo_status linearise_part(mo_group *g, int32_t k, const double *v, double *gradient, mo_error *err)
{
    mo_node_part *p = &g->nodes->part[k];
    bool positive = false;
    for (int convex = 0; convex < 2 && !positive; convex++) {
        if (mo_nodes_derive(g, k, v, convex, gradient) != MO_OK) return mo_fail_memory(err);
        MO_TRY(factor_part(p, &positive, err));
        g->nodes->projected += convex;
    }
    if (positive) return MO_OK;
    return p->name ? mo_fail(err, MO_ERROR_FAILED, "elastic '%s': its stiffness is not positive", p->name)
                   : mo_fail(err, MO_ERROR_FAILED, "the stiffness of elastic body %d is not positive", k + 1);
}

static mo_status nodes_linearise(mo_group *g, const double *v, double *target, mo_error *err)
{
    mo_node_matrix *m = g->nodes;
    double *gradient = m->x + g->count;
    for (int32_t k = 0; k < m->parts; k++) MO_TRY(linearise_part(g, k, v + m->first[k], gradient + m->first[k], err));
    const double *step = solve_parts(g, gradient);
    for (int32_t i = 0; i < g->count; i++) target[i] = v[i] - step[i];
    return MO_OK;
}

mo_status mo_nodes_part_value(const mo_group *g, int32_t k, const double *v, double *out, mo_error *err)
{
    const mo_node_matrix *m = g->nodes;
    if (m->law.value(m->law.user, k, v, out) != MO_OK) return mo_fail_memory(err);
    *out += attached_value(m, k, v);
    return MO_OK;
}

static mo_status nodes_value(const mo_group *g, const double *v, double *out, mo_error *err)
{
    *out = 0;
    for (int32_t k = 0; k < g->nodes->parts; k++) {
        double value;
        MO_TRY(mo_nodes_part_value(g, k, v + g->nodes->first[k], &value, err));
        *out += value;
    }
    return MO_OK;
}

// H_ff (v - from) = -gradient - H_fh (v_h - from_h)
mo_status mo_nodes_part_predict(mo_group *g, int32_t k, const double *from, double *v, mo_error *err)
{
    mo_node_matrix *m = g->nodes;
    const mo_node_part *p = &m->part[k];
    double *change = m->x + m->first[k], *rest = m->x + g->count + m->first[k];
    MO_TRY(linearise_part(g, k, from, rest, err));
    for (int32_t i = 0; i < p->H.rows; i++) change[i] = p->held[i] ? v[i] - from[i] : 0;
    for (int32_t i = 0; i < p->H.rows; i++) rest[i] = p->held[i] ? 0 : -rest[i] - mo_csr_row_product(&p->H, i, change);
    mo_cholesky_solve(p->factor, rest, change);
    for (int32_t i = 0; i < p->H.rows; i++)
        if (!p->held[i]) v[i] = from[i] + change[i];
    return MO_OK;
}

// ---- Turns ----

mo_status mo_nodes_turn(mo_system *s, mo_error *err)
{
    const mo_group *g = &s->nodes;
    const mo_node_matrix *m = g->nodes;
    if (!g->count || !m->law.chord) return MO_OK;
    for (int32_t k = 0; k < m->parts; k++) m->law.chord(m->law.user, k, g->velocity + m->first[k], m->x + m->first[k]);
    for (int32_t kind = 0; kind < MO_BLOCK_KINDS; kind++) {
        mo_block *b = s->block[kind];
        if (!b || !b->coord || !b->on[MO_NODES].rows) continue; // not of liquid
        if (!b->turned) b->turned = mo_alloc(sizeof(double) * (size_t)b->rows);
        if (!b->turned) return mo_fail_memory(err);
        mo_csr_multiply(&b->on[MO_NODES], m->x, b->turned);
    }
    return MO_OK;
}

// ---- Creation ----

#define WHAT_NODES_DO                                                                                                  \
    .apply = nodes_apply, .apply_inverse = nodes_apply_inverse, .diagonal = nodes_diagonal, .row = nodes_row,          \
    .yield = nodes_yield, .add_square = nodes_add_square, .destroy = nodes_destroy

static const mo_group_kind quadratic_kind = {.name = "nodes", WHAT_NODES_DO};
static const mo_group_kind newton_kind = {
    .name = "nodes", WHAT_NODES_DO, .linearise = nodes_linearise, .value = nodes_value};

static mo_status join(int32_t parts, mo_node_part *part, const mo_node_law *law, mo_group *out)
{
    MO_ASSERT(parts >= 0 && (!law || (law->value && law->derive)));
    int32_t count = 0;
    for (int32_t k = 0; k < parts; k++) count += part[k].H.rows;
    const mo_group_kind *kind = law ? &newton_kind : &quadratic_kind;
    MO_TRY(mo_group_create(kind, count, sizeof(mo_node_matrix), (void **)&out->nodes, out));
    mo_node_matrix *m = out->nodes;
    m->parts = parts, m->part = part, m->usual = kind;
    if (law) m->law = *law;
    m->first = mo_calloc(sizeof(int32_t) * ((size_t)parts + 1));
    m->x = mo_alloc(sizeof(double) * 2 * ((size_t)count + 1));
    if (!m->first || !m->x) return MO_ERROR_MEMORY;
    for (int32_t k = 0; k < parts; k++) m->first[k + 1] = m->first[k] + part[k].H.rows;
    return MO_OK;
}

mo_status mo_nodes_join(int32_t parts, mo_node_part *part, const mo_node_law *law, mo_group *out, mo_error *err)
{
    if (join(parts, part, law, out) == MO_OK) return MO_OK;
    mo_group_destroy(out);
    return mo_fail_memory(err);
}

mo_status mo_nodes_create(mo_csr *H, mo_group *out, mo_error *err)
{
    bool positive = false;
    *out = (mo_group){0};
    mo_node_part *part = mo_calloc(sizeof *part);
    mo_status status = part ? mo_node_part_create(H, 1, NULL, part, err) : mo_fail_memory(err);
    mo_csr_destroy(H);
    if (status == MO_OK) status = factor_part(part, &positive, err);
    if (status == MO_OK && !positive) status = mo_fail(err, MO_ERROR_INPUT, "the matrix of nodes is not positive");
    if (status == MO_OK) status = mo_nodes_join(1, part, NULL, out, err);
    if (status == MO_OK) out->nodes->owned = true;
    if (status != MO_OK && part) mo_node_part_destroy(part), mo_free(part);
    return status;
}
