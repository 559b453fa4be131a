// The velocity-pressure form of a viscous set of blocks (viscous.h), assembled from the blocks.
#include "base/parallel.h"
#include "system/viscous.h"
#include "system/solids.h"
#include <math.h>
#include <string.h>

enum { SMALL = 4096 };

void mo_viscous_form_destroy(mo_viscous_form *f)
{
    mo_csr_destroy(&f->K), mo_csr_destroy(&f->Bp), mo_csr_destroy(&f->Bpt);
    mo_csr_destroy(&f->Bs), mo_csr_destroy(&f->R);
    mo_free(f->mass), mo_free(f->gamma), mo_free(f->f), mo_free(f->c), mo_free(f->fixed), mo_free(f->dof);
    mo_csr_destroy(&f->inertia);
    mo_free(f->scale), mo_free(f->corner), mo_free(f->motion);
    *f = (mo_viscous_form){0};
}

// ---- Solids ----

static mo_status number_solids(const mo_system *s, mo_viscous_form *f)
{
    int32_t dofs = mo_solids_count(s);
    f->dof = mo_alloc(sizeof(int32_t) * (size_t)dofs), f->scale = mo_alloc(sizeof(double) * (size_t)dofs);
    f->motion = mo_alloc(sizeof(double) * (size_t)dofs);
    if (!f->dof || !f->scale || !f->motion) return MO_ERROR_MEMORY;
    for (int32_t g = MO_SOLIDS; g + 1 < MO_GROUPS; g++) f->first[g + 1] = f->first[g] + s->group[g].count;
    MO_TRY(mo_solids_inertia(s, &f->inertia));
    mo_solids_units(s, f->scale);
    for (int32_t i = 0; i < dofs; i++) {
        bool moves = mo_csr_entry(&f->inertia, i, i) > 0;
        f->dof[i] = moves ? f->extra : -1;
        if (moves) f->scale[f->extra++] = f->scale[i];
        if (i < s->bodies.count) f->carried = f->extra;
    }
    return MO_OK;
}

static mo_status build_R(mo_viscous_form *f)
{
    const mo_csr *on = f->system->lattice->on;
    int64_t at = 0, entries = 0;
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++) entries += mo_csr_entries(&on[g]);
    MO_TRY(mo_csr_create(f->faces, f->extra, entries, &f->R));
    for (int32_t i = 0; i < f->faces; i++) {
        for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++)
            for (int64_t k = mo_csr_begin(&on[g], i); k < mo_csr_end(&on[g], i); k++) {
                int32_t d = f->dof[f->first[g] + on[g].col[k]];
                if (d >= 0) f->R.col[at] = d, f->R.val[at++] = on[g].val[k];
            }
        f->R.row[i + 1] = at;
    }
    return MO_OK;
}

// ---- Rows in the new variables ----

typedef struct joining { // B -> [B/W, R_B - (B/W) R]
    const mo_viscous_form *f;
    const mo_block *block;
} joining;

enum { ROW_SOLIDS = 240 }; // most unknowns of solids that a row may meet

static int32_t joined_width(const mo_viscous_form *f, const mo_block *b)
{
    int32_t dofs = mo_solids_count(f->system);
    return mo_csr_widest(&b->on[MO_FACES]) + (dofs < ROW_SOLIDS ? dofs : ROW_SOLIDS);
}

typedef struct solid_part { // what a row has of solids' unknowns
    int32_t count, unknown[ROW_SOLIDS];
    double part[ROW_SOLIDS], size[ROW_SOLIDS];
} solid_part;

// Adds s times row `row` of R, whose columns are those from `first` on.
static bool add_part(solid_part *p, double s, const mo_csr *R, int32_t first, int32_t row)
{
    int32_t at = 0; // unknowns that come one behind the other are found at once
    for (int64_t k = mo_csr_begin(R, row); k < mo_csr_end(R, row); k++, at++) {
        int32_t unknown = first + R->col[k];
        if (at >= p->count || p->unknown[at] != unknown)
            for (at = 0; at < p->count && p->unknown[at] != unknown;) at++;
        if (at == p->count) {
            if (p->count == ROW_SOLIDS) return false;
            p->unknown[p->count++] = unknown, p->part[at] = p->size[at] = 0;
        }
        p->part[at] += s * R->val[k], p->size[at] += fabs(s * R->val[k]);
    }
    return true;
}

// Columns of nodes come in the order in which faces list them; this sorts them with their values.
static void sort_entries(int32_t n, int32_t *col, double *val)
{
    for (int32_t k = 1; k < n; k++) {
        int32_t c = col[k], p = k;
        double v = val[k];
        for (; p > 0 && col[p - 1] > c; p--) col[p] = col[p - 1], val[p] = val[p - 1];
        col[p] = c, val[p] = v;
    }
}

static int32_t join_row(void *user, int32_t row, int32_t thread, int32_t *col, double *val)
{
    const joining *j = user;
    const mo_viscous_form *f = j->f;
    const mo_face_lattice *l = f->system->lattice;
    const mo_csr *B = &j->block->on[MO_FACES];
    int32_t n = 0;
    bool ok = true;
    solid_part p;
    p.count = 0;
    (void)thread;
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS && ok; g++) ok = add_part(&p, 1, &j->block->on[g], f->first[g], row);
    for (int64_t k = B->row[row]; k < B->row[row + 1] && ok; k++) {
        col[n] = B->col[k], val[n] = B->val[k] / l->open[B->col[k]];
        for (int32_t g = MO_SOLIDS; g < MO_GROUPS && ok; g++)
            ok = add_part(&p, -val[n], &l->on[g], f->first[g], B->col[k]);
        n++;
    }
    int32_t faces = n;
    for (int32_t q = 0; q < p.count && ok; q++) {
        int32_t d = f->dof[p.unknown[q]];
        if (d < 0 || fabs(p.part[q]) <= 1e-10 * p.size[q]) continue; // cancelled: the row sees only z
        col[n] = f->faces + d, val[n++] = p.part[q] * f->scale[d];
    }
    if (mo_viscous_has_nodes(f)) sort_entries(n - faces, col + faces, val + faces);
    return ok ? n : -1;
}

int32_t mo_viscous_stiffness(const mo_csr *S, int32_t row, double weight[2])
{
    int64_t at = S->row[row];
    if (S->row[row + 1] - at == 1) {
        weight[0] = 1 / S->val[at], weight[1] = 0;
        return row;
    }
    int32_t partner = S->col[at] == row ? S->col[at + 1] : S->col[at];
    double own = S->col[at] == row ? S->val[at] : S->val[at + 1], off = S->col[at] == row ? S->val[at + 1] : S->val[at];
    int64_t to = S->row[partner];
    double other = S->col[to] == partner ? S->val[to] : S->val[to + 1], det = own * other - off * off;
    weight[0] = other / det, weight[1] = -off / det;
    return partner;
}

// The place of column c in a row of n entries whose columns ascend; an entry of 0 is made if there is none.
static int32_t find_entry(int32_t c, int32_t *n, int32_t *col, double *val)
{
    int32_t p = *n;
    while (p > 0 && col[p - 1] > c) p--;
    if (p > 0 && col[p - 1] == c) return p - 1;
    for (int32_t q = (*n)++; q > p; q--) col[q] = col[q - 1], val[q] = val[q - 1];
    col[p] = c, val[p] = 0;
    return p;
}

// Adds s times row `row` of B.
static int32_t add_row(const mo_csr *B, int32_t row, double s, int32_t n, int32_t *col, double *val)
{
    for (int64_t k = B->row[row]; k < B->row[row + 1]; k++) {
        int32_t p = find_entry(B->col[k], &n, col, val);
        val[p] += s * B->val[k];
    }
    return n;
}

// ---- K ----

typedef struct squaring {
    const mo_viscous_form *f;
    mo_csr Bst;
} squaring;

static int32_t square_row(void *user, int32_t i, int32_t thread, int32_t *col, double *val)
{
    const squaring *q = user;
    const mo_viscous_form *f = q->f;
    const mo_csr *R = &f->R;
    (void)thread;
    int32_t n = 1;
    col[0] = i, val[0] = f->mass[i];
    for (int64_t k = q->Bst.row[i]; k < q->Bst.row[i + 1]; k++) { // S^-1 joins a row with its partner
        double weight[2];
        int32_t r = q->Bst.col[k], partner = mo_viscous_stiffness(&f->stress->compliance, r, weight);
        n = add_row(&f->Bs, r, weight[0] * q->Bst.val[k], n, col, val);
        if (partner != r) n = add_row(&f->Bs, partner, weight[1] * q->Bst.val[k], n, col, val);
    }
    for (int64_t k = mo_csr_begin(&f->Bpt, i); k < mo_csr_end(&f->Bpt, i); k++)
        if (f->gamma[f->Bpt.col[k]] > 0)
            n = add_row(&f->Bp, f->Bpt.col[k], f->gamma[f->Bpt.col[k]] * f->Bpt.val[k], n, col, val);
    for (int64_t k = mo_csr_begin(R, i); k < mo_csr_end(R, i); k++) { // the mass of z - R v
        int32_t d = R->col[k], p = find_entry(f->faces + d, &n, col, val);
        val[p] -= f->mass[i] * R->val[k] * f->scale[d];
    }
    return n;
}

// The products that may meet in a row, at most.
static int32_t widest(const mo_viscous_form *f, const mo_csr *Bst)
{
    int64_t most = 0;
    const mo_csr *R = &f->R, *S = &f->stress->compliance;
    for (int32_t i = 0; i < f->faces; i++) {
        int64_t n = 1 + mo_csr_end(R, i) - mo_csr_begin(R, i);
        for (int64_t k = Bst->row[i]; k < Bst->row[i + 1]; k++)
            for (int64_t m = S->row[Bst->col[k]]; m < S->row[Bst->col[k] + 1]; m++)
                n += f->Bs.row[S->col[m] + 1] - f->Bs.row[S->col[m]];
        for (int64_t k = mo_csr_begin(&f->Bpt, i); k < mo_csr_end(&f->Bpt, i); k++)
            n += f->Bp.row[f->Bpt.col[k] + 1] - f->Bp.row[f->Bpt.col[k]];
        if (n > most) most = n;
    }
    return (int32_t)most;
}

static mo_status build_K(mo_viscous_form *f)
{
    squaring q = {.f = f};
    mo_status status = mo_csr_transpose(&f->Bs, &q.Bst);
    if (status == MO_OK) status = mo_csr_collect(f->faces, f->n, widest(f, &q.Bst), square_row, &q, &f->K);
    if (status == MO_OK) status = mo_viscous_form_corner(f);
    mo_csr_destroy(&q.Bst);
    return status;
}

// ---- Right-hand side ----

// c of a block, minus the part of immovable unknowns of solids.
static void effective_rhs(const mo_viscous_form *f, const mo_block *b, double *c)
{
    for (int32_t r = 0; r < b->rows; r++) {
        c[r] = mo_block_goal(b, r);
        for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++) {
            const mo_csr *R = &b->on[g];
            for (int64_t k = mo_csr_begin(R, r); k < mo_csr_end(R, r); k++)
                if (f->dof[f->first[g] + R->col[k]] < 0) c[r] -= R->val[k] * f->system->group[g].velocity[R->col[k]];
        }
    }
}

// The part of the right-hand side that comes from prescribed motion: B^T S^-1 c, B^T g c.
static mo_status build_fixed(mo_viscous_form *f)
{
    double *cs = mo_alloc(sizeof(double) * (size_t)f->stress->rows);
    f->f = mo_alloc(sizeof(double) * (size_t)f->n), f->c = mo_alloc(sizeof(double) * (size_t)f->pressures);
    f->fixed = mo_calloc(sizeof(double) * (size_t)f->n);
    if (!cs || !f->f || !f->c || !f->fixed) {
        mo_free(cs);
        return MO_ERROR_MEMORY;
    }
    effective_rhs(f, f->stress, cs);
    if (f->pressure) effective_rhs(f, f->pressure, f->c);
    for (int32_t r = 0; r < f->Bs.rows; r++) {
        double weight[2];
        int32_t partner = mo_viscous_stiffness(&f->stress->compliance, r, weight);
        double stress = weight[0] * cs[r] + weight[1] * cs[partner]; // S^-1 c
        for (int64_t k = f->Bs.row[r]; k < f->Bs.row[r + 1] && stress != 0; k++)
            f->fixed[f->Bs.col[k]] += f->Bs.val[k] * stress;
    }
    for (int32_t r = 0; r < f->pressures; r++)
        for (int64_t k = f->Bp.row[r]; k < f->Bp.row[r + 1]; k++)
            f->fixed[f->Bp.col[k]] += f->Bp.val[k] * f->gamma[r] * f->c[r];
    mo_free(cs);
    return MO_OK;
}

void mo_viscous_form_load(mo_viscous_form *f)
{
    const mo_system *s = f->system;
    const mo_face_lattice *l = s->lattice;
    if (f->pressure) effective_rhs(f, f->pressure, f->c);
    memcpy(f->f, f->fixed, sizeof(double) * (size_t)f->n);
    for (int32_t i = 0; i < f->faces; i++) {
        double momentum = s->faces.mass[i] / s->dt * s->faces.velocity[i] / l->open[i];
        f->f[i] += momentum;
        for (int64_t k = f->R.row[i]; k < f->R.row[i + 1]; k++)
            f->f[f->faces + f->R.col[k]] -= f->R.val[k] * f->scale[f->R.col[k]] * momentum;
    }
    const mo_csr *M = &f->inertia;
    mo_solids_get(s, f->motion);
    for (int32_t i = 0; i < M->rows; i++)
        for (int64_t k = M->row[i]; k < M->row[i + 1] && f->dof[i] >= 0; k++)
            f->f[f->faces + f->dof[i]] += f->scale[f->dof[i]] * M->val[k] * f->motion[M->col[k]];
}

// ---- The whole ----

static mo_status build_rows(mo_viscous_form *f)
{
    joining j = {f, f->stress};
    MO_TRY(mo_csr_collect(f->stress->rows, f->n, joined_width(f, j.block), join_row, &j, &f->Bs));
    if (!f->pressure) return MO_OK;
    j.block = f->pressure;
    MO_TRY(mo_csr_collect(f->pressures, f->n, joined_width(f, j.block), join_row, &j, &f->Bp));
    return mo_csr_transpose(&f->Bp, &f->Bpt);
}

static mo_status build(mo_viscous_form *f)
{
    const mo_system *s = f->system;
    const mo_face_lattice *l = s->lattice;
    MO_TRY(number_solids(s, f));
    MO_TRY(build_R(f));
    f->n = f->faces + f->extra;
    f->mass = mo_alloc(sizeof(double) * (size_t)f->faces), f->gamma = mo_alloc(sizeof(double) * (size_t)f->pressures);
    if (!f->mass || !f->gamma) return MO_ERROR_MEMORY;
    for (int32_t i = 0; i < f->faces; i++) f->mass[i] = s->faces.mass[i] / (s->dt * l->open[i] * l->open[i]);
    for (int32_t r = 0; r < f->pressures; r++) {
        int32_t row = l->strain[r];
        f->gamma[r] = row < 0 ? 0 : l->trace[r] / mo_csr_entry(&f->stress->compliance, row, row);
    }
    MO_TRY(build_rows(f));
    MO_TRY(build_K(f));
    MO_TRY(build_fixed(f));
    mo_viscous_form_load(f);
    mo_csr_destroy(&f->Bs);
    return MO_OK;
}

mo_status mo_viscous_form_create(const mo_system *s, uint32_t set, mo_viscous_form *out)
{
    MO_ASSERT(s->lattice && s->block[MO_BLOCK_STRESS] && s->dt >= 0);
    const mo_block *p = mo_set_has(s, set, MO_BLOCK_PRESSURE) ? s->block[MO_BLOCK_PRESSURE] : NULL;
    *out = (mo_viscous_form){.system = s,
                             .pressure = p,
                             .stress = s->block[MO_BLOCK_STRESS],
                             .faces = s->faces.count,
                             .pressures = p ? p->rows : 0};
    mo_status status = build(out);
    if (status != MO_OK) mo_viscous_form_destroy(out);
    return status;
}

void mo_viscous_velocity(const mo_viscous_form *f, const double *y, double *u, double *v)
{
    MO_ASSERT(y != u);
    const mo_face_lattice *l = f->system->lattice;
    const double *extra = y + f->faces;
    mo_solids_get(f->system, f->motion);
    for (int32_t k = 0; k < f->inertia.rows; k++)
        v[k] = f->dof[k] < 0 ? f->motion[k] : f->scale[f->dof[k]] * extra[f->dof[k]];
#pragma omp parallel for schedule(static) if (f->faces > SMALL)
    for (int32_t i = 0; i < f->faces; i++) {
        double w = y[i];
        for (int64_t k = f->R.row[i]; k < f->R.row[i + 1]; k++)
            w -= f->R.val[k] * (f->scale[f->R.col[k]] * extra[f->R.col[k]]);
        u[i] = w / l->open[i];
    }
}

void mo_viscous_unknowns(const mo_viscous_form *f, const double *u, const double *v, double *y)
{
    MO_ASSERT(y != u);
    const mo_face_lattice *l = f->system->lattice;
    double *extra = y + f->faces;
    for (int32_t k = 0; k < f->inertia.rows; k++)
        if (f->dof[k] >= 0) extra[f->dof[k]] = v[k] / f->scale[f->dof[k]];
#pragma omp parallel for schedule(static) if (f->faces > SMALL)
    for (int32_t i = 0; i < f->faces; i++) {
        y[i] = l->open[i] * u[i];
        for (int64_t k = f->R.row[i]; k < f->R.row[i + 1]; k++)
            y[i] += f->R.val[k] * (f->scale[f->R.col[k]] * extra[f->R.col[k]]);
    }
}
