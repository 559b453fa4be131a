// Nodes as the papers' methods see them.
#include "system/nodes_guise.h"
#include <string.h>

static mo_node_guise *guise_of(const mo_group *g) { return g->nodes->guise; }

static void destroy_solver(mo_node_solver *s)
{
    mo_csr_destroy(&s->H);
    mo_ssor_destroy(&s->ssor);
    mo_sweep_destroy(&s->sweep);
    *s = (mo_node_solver){0};
}

void mo_nodes_bare(mo_group *g)
{
    mo_node_guise *u = guise_of(g);
    if (!u) return;
    for (int32_t k = 0; u->solver && k < g->nodes->parts; k++) destroy_solver(&u->solver[k]);
    mo_free(u->weight), mo_free(u->solver), mo_free(u->work), mo_free(u);
    g->nodes->guise = NULL, g->kind = g->nodes->usual;
}

// The gradient of what nodes minimise at v, and the convex H.
static mo_status derive(mo_group *g, const double *v, double *gradient, mo_error *err)
{
    mo_node_matrix *m = g->nodes;
    for (int32_t k = 0; k < m->parts; k++)
        if (mo_nodes_derive(g, k, v + m->first[k], true, gradient + m->first[k]) != MO_OK) return mo_fail_memory(err);
    m->projected += m->parts;
    memcpy(m->guise->at, v, sizeof(double) * (size_t)g->count);
    return MO_OK;
}

static bool is_held(const mo_node_matrix *m, int32_t part, int32_t unknown)
{
    return m->part[part].held[unknown - m->first[part]];
}

// ---- Lumped ----

static void lumped_apply(const mo_group *g, double s, const double *v, double *f)
{
    for (int32_t i = 0; i < g->count; i++) f[i] += s * guise_of(g)->weight[i] * v[i];
}

static void lumped_apply_inverse(const mo_group *g, double s, const double *f, double *v)
{
    for (int32_t i = 0; i < g->count; i++) v[i] += s * guise_of(g)->inverse[i] * f[i];
}

static void lumped_diagonal(const mo_group *g, double *d)
{
    memcpy(d, guise_of(g)->weight, sizeof(double) * (size_t)g->count);
}

static int32_t lumped_row(const mo_group *g, int32_t i, int32_t *col, double *val)
{
    double weight = guise_of(g)->weight[i];
    if (weight > 0 && col) col[0] = i, val[0] = weight;
    return weight > 0;
}

mo_status mo_nodes_lumped_square(const mo_group *g, double s, const mo_csr *B, mo_csr *A)
{
    MO_ASSERT(guise_of(g) && B->cols == g->count);
    mo_csr Bt = {0}, C = {0};
    for (int32_t i = 0; i < g->count; i++) g->nodes->x[i] = s * guise_of(g)->inverse[i];
    mo_status status = mo_csr_transpose(B, &Bt);
    if (status == MO_OK) status = mo_csr_weighted_square(B, &Bt, g->nodes->x, &C);
    mo_csr_destroy(&Bt);
    if (status == MO_OK) status = mo_csr_add(A, &C);
    mo_csr_destroy(&C);
    return status;
}

static mo_status lumped_add_square(const mo_group *g, double s, const mo_csr *B, int32_t from, mo_csr *A)
{
    (void)from; // it is 0: nodes' products are formed
    return mo_nodes_lumped_square(g, s, B, A);
}

// v^ = v - mass^-1 gradient; the rows of the stiffness contain the rest.
static mo_status lumped_linearise(mo_group *g, const double *v, double *target, mo_error *err)
{
    double *gradient = g->nodes->x + g->count;
    MO_TRY(derive(g, v, gradient, err));
    memcpy(target, v, sizeof(double) * (size_t)g->count);
    lumped_apply_inverse(g, -1, gradient, target);
    return MO_OK;
}

// ---- Iterative ----

// H without the rows and columns of what is held.
static mo_status copy_free(const mo_node_part *p, mo_csr *out)
{
    MO_TRY(mo_csr_create(p->H.rows, p->H.rows, mo_csr_entries(&p->H), out));
    int64_t at = 0;
    for (int32_t i = 0; i < p->H.rows; i++) {
        for (int64_t e = p->H.row[i]; e < p->H.row[i + 1]; e++) {
            int32_t j = p->H.col[e];
            if (i != j && (p->held[i] || p->held[j])) continue;
            out->col[at] = j, out->val[at++] = p->held[i] ? 1 : p->H.val[e];
        }
        out->row[i + 1] = at;
    }
    return MO_OK;
}

static mo_status renew_solver(const mo_node_part *p, mo_node_solver *s)
{
    destroy_solver(s);
    MO_TRY(copy_free(p, &s->H));
    MO_TRY(mo_sweep_serial(s->H.rows, &s->sweep));
    return mo_ssor_create(&s->H, &s->sweep, 1, &s->ssor);
}

static void apply_matrix(void *context, const double *x, double *y) { mo_csr_multiply(context, x, y); }

void mo_nodes_solve(const mo_group *g, const double *f, double *v)
{
    const mo_node_matrix *m = g->nodes;
    mo_node_guise *u = m->guise;
    for (int32_t k = 0; k < m->parts; k++) {
        int32_t first = m->first[k], n = m->first[k + 1] - first;
        mo_operator A = {apply_matrix, &u->solver[k].H}, M = {mo_ssor_apply, &u->solver[k].ssor};
        double *b = u->work + 5 * (int64_t)g->count;
        for (int32_t i = 0; i < n; i++) {
            b[i] = is_held(m, k, first + i) ? 0 : f[first + i];
            if (is_held(m, k, first + i)) v[first + i] = 0;
        }
        u->last = mo_cg(n, &A, &M, b, v + first, u->tolerance, u->most, false, u->work);
        u->iterations += u->last.iterations;
    }
}

static void iterative_apply_inverse(const mo_group *g, double s, const double *f, double *v)
{
    double *x = guise_of(g)->work + 6 * (int64_t)g->count;
    memset(x, 0, sizeof(double) * (size_t)g->count);
    mo_nodes_solve(g, f, x);
    for (int32_t i = 0; i < g->count; i++) v[i] += s * x[i];
}

static mo_status iterative_linearise(mo_group *g, const double *v, double *target, mo_error *err)
{
    double *gradient = g->nodes->x + g->count;
    MO_TRY(derive(g, v, gradient, err));
    for (int32_t k = 0; k < g->nodes->parts; k++)
        if (renew_solver(&g->nodes->part[k], &guise_of(g)->solver[k]) != MO_OK) return mo_fail_memory(err);
    memcpy(target, v, sizeof(double) * (size_t)g->count);
    iterative_apply_inverse(g, -1, gradient, target);
    return MO_OK;
}

// ---- Putting them on ----

static void take_masses(const mo_group *g, mo_node_guise *u)
{
    const mo_node_matrix *m = g->nodes;
    for (int32_t k = 0; k < m->parts; k++) {
        m->law.mass(m->law.user, k, u->weight + m->first[k]);
        for (int32_t i = m->first[k]; i < m->first[k + 1]; i++) {
            if (m->attached) u->weight[i] += m->attached[i];
            u->weight[i] = is_held(m, k, i) ? 0 : u->share * u->weight[i];
            u->inverse[i] = is_held(m, k, i) ? 0 : 1 / u->weight[i];
        }
    }
}

static mo_node_guise *create_guise(mo_group *g, double share, size_t vectors)
{
    mo_node_matrix *m = g->nodes;
    MO_ASSERT(!m->guise && m->law.mass);
    mo_node_guise *u = m->guise = mo_calloc(sizeof *u);
    if (!u) return NULL;
    u->kind = *m->usual, u->share = share;
    u->weight = mo_alloc(sizeof(double) * 3 * ((size_t)g->count + 1));
    u->work = mo_alloc(sizeof(double) * vectors * ((size_t)g->count + 1));
    u->solver = mo_calloc(sizeof *u->solver * ((size_t)m->parts + 1));
    if (u->weight && u->work && u->solver) {
        u->inverse = u->weight + g->count, u->at = u->inverse + g->count;
        take_masses(g, u);
        g->kind = &u->kind;
        return u;
    }
    mo_nodes_bare(g);
    return NULL;
}

mo_status mo_nodes_lump(mo_group *g, double share)
{
    MO_ASSERT(share > 0 && share <= 1);
    mo_node_guise *u = create_guise(g, share, 0);
    if (!u) return MO_ERROR_MEMORY;
    u->kind.apply = lumped_apply, u->kind.apply_inverse = lumped_apply_inverse, u->kind.diagonal = lumped_diagonal;
    u->kind.row = lumped_row, u->kind.add_square = lumped_add_square, u->kind.linearise = lumped_linearise;
    return MO_OK;
}

mo_status mo_nodes_iterate(mo_group *g, double tolerance, int32_t most)
{
    mo_node_guise *u = create_guise(g, 1, 7);
    if (!u) return MO_ERROR_MEMORY;
    u->tolerance = tolerance, u->most = most;
    u->kind.apply_inverse = iterative_apply_inverse, u->kind.linearise = iterative_linearise;
    return MO_OK;
}
