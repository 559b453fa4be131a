// The unknowns, matrices and the solve of slip.h.
#include "cases/slip.h"
#include "base/union_find.h"
#include "cases/slip_sides.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Matrices from entries in any order ----

typedef struct entry {
    int32_t row, col;
    double val;
} entry;

typedef struct entries {
    int64_t count, capacity;
    entry *list;
    bool failed;
} entries;

static void put(entries *e, int32_t row, int32_t col, double val)
{
    if (!mo_reserve((void **)&e->list, &e->capacity, e->count + 1, sizeof *e->list)) {
        e->failed = true;
        return;
    }
    e->list[e->count++] = (entry){row, col, val};
}

static int by_place(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    if (x->col != y->col) return x->col < y->col ? -1 : 1;
    return (x->val > y->val) - (x->val < y->val); // equal places are summed in one order
}

static mo_status collect(entries *e, int32_t rows, int32_t cols, mo_csr *out)
{
    if (e->failed || mo_csr_create(rows, cols, e->count, out) != MO_OK) return MO_ERROR_MEMORY;
    if (e->count) qsort(e->list, (size_t)e->count, sizeof *e->list, by_place);
    int64_t n = 0;
    for (int64_t k = 0; k < e->count; k++) {
        const entry *p = &e->list[k];
        if (k && p[-1].row == p->row && p[-1].col == p->col) {
            out->val[n - 1] += p->val;
            continue;
        }
        out->col[n] = p->col, out->val[n++] = p->val;
        out->row[p->row + 1] = n;
    }
    for (int32_t r = 0; r < rows; r++)
        if (out->row[r + 1] < out->row[r]) out->row[r + 1] = out->row[r];
    return MO_OK;
}

// ---- Unknowns ----

typedef struct builder {
    mo_slip *s;
    mo_slip_box box;
    int64_t face_capacity;
    int32_t *sample[3][2]; // [faces of an axis] the unknown that the cell on the face's low and high side has
    entries D0, C, D, R;
    bool failed;
} builder;

static int32_t add_face(builder *b, mo_slip_face f)
{
    if (!mo_reserve((void **)&b->s->face, &b->face_capacity, b->s->faces + 1, sizeof f)) {
        b->failed = true;
        return 0;
    }
    b->s->face[b->s->faces] = f;
    return b->s->faces++;
}

static mo_vec3 centre_of(const builder *b, int32_t cell)
{
    int32_t c[3];
    mo_slip_cell_at(&b->box, cell, c);
    return mo_slip_centre(&b->box, c);
}

// Open faces and those of walls; the sides of occluded ones follow.
static void number_faces(builder *b, int axis)
{
    const mo_slip_box *box = &b->box;
    int32_t at[3], end[3] = {box->n[0] + (axis == 0), box->n[1] + (axis == 1), box->n[2] + (axis == 2)};
    for (at[2] = 0; at[2] < end[2]; at[2]++)
        for (at[1] = 0; at[1] < end[1]; at[1]++)
            for (at[0] = 0; at[0] < end[0]; at[0]++) {
                int32_t f = mo_slip_face_index(box, axis, at), low[3] = {at[0], at[1], at[2]};
                bool first = at[axis] == 0, last = at[axis] == box->n[axis];
                low[axis]--;
                b->sample[axis][0][f] = b->sample[axis][1][f] = -1;
                if (box->closed[axis][f]) continue;
                int32_t lo = first ? -1 : mo_slip_cell_index(box, low), hi = last ? -1 : mo_slip_cell_index(box, at);
                int32_t k = add_face(b, (mo_slip_face){.kind = MO_SLIP_FACE,
                                                       .axis = axis,
                                                       .fixed = (first && !box->def->open[2 * axis]) ||
                                                                (last && !box->def->open[2 * axis + 1]),
                                                       .x = mo_slip_middle(box, axis, at),
                                                       .cell = centre_of(b, lo < 0 ? hi : lo)});
                b->sample[axis][0][f] = b->sample[axis][1][f] = k;
                if (lo >= 0) put(&b->D0, lo, k, 1);
                if (hi >= 0) put(&b->D0, hi, k, -1);
            }
}

static void number_sides(builder *b)
{
    for (int32_t l = 0; l < b->box.sides; l++) {
        mo_slip_side *s = &b->box.side[l];
        mo_slip_face f = {.kind = MO_SLIP_SIDE,
                          .axis = s->axis,
                          .x = mo_slip_middle(&b->box, s->axis, s->at),
                          .cell = centre_of(b, s->cell),
                          .normal = s->normal};
        s->own = add_face(b, f);
        b->sample[s->axis][s->sign < 0][mo_slip_face_index(&b->box, s->axis, s->at)] = s->own;
        f.kind = MO_SLIP_BESIDE;
        s->beside = add_face(b, f);
    }
}

// ---- Ghosts ----

// Whether two cells are at most `steps` (0..2) open steps apart.
static bool joined(const builder *b, int32_t from, int32_t to, int steps)
{
    if (from == to) return true;
    for (int e = 0; steps > 0 && e < 6; e++) {
        int32_t n = mo_slip_open_step(&b->box, from, e / 2, e & 1 ? 1 : -1);
        if (n >= 0 && joined(b, n, to, steps - 1)) return true;
    }
    return false;
}

typedef struct places { // sides by the cell behind their faces
    int32_t *first;     // [cells + 1]
    int32_t *side;      // [sides]
} places;

static mo_status list_places(const builder *b, places *p)
{
    const mo_slip_box *x = &b->box;
    p->first = mo_calloc(sizeof(int32_t) * ((size_t)x->cells + 2)),
    p->side = mo_alloc(sizeof(int32_t) * ((size_t)x->sides + 1));
    if (!p->first || !p->side) return MO_ERROR_MEMORY;
    for (int32_t l = 0; l < x->sides; l++) p->first[x->side[l].other + 2]++;
    for (int32_t c = 0; c < x->cells; c++) p->first[c + 2] += p->first[c + 1];
    for (int32_t l = 0; l < x->sides; l++) p->side[p->first[x->side[l].other + 1]++] = l;
    return MO_OK;
}

// Sides whose real cells are near each other share the ghost at their place.
static mo_status make_ghosts(builder *b, const places *p)
{
    mo_slip_box *x = &b->box;
    int32_t *root = mo_alloc(sizeof(int32_t) * ((size_t)x->sides + 1));
    if (!root) return MO_ERROR_MEMORY;
    for (int32_t l = 0; l < x->sides; l++) root[l] = l;
    for (int32_t c = 0; c < x->cells; c++)
        for (int32_t i = p->first[c]; i < p->first[c + 1]; i++)
            for (int32_t k = p->first[c]; k < i; k++)
                if (joined(b, x->side[p->side[i]].cell, x->side[p->side[k]].cell, 2))
                    mo_join_sets(root, p->side[i], p->side[k]);
    for (int32_t l = 0; l < x->sides; l++) {
        int32_t top = mo_find_root(root, l);
        if (top == l) x->side[l].ghost = x->cells + b->s->ghosts++;
    }
    for (int32_t l = 0; l < x->sides; l++) x->side[l].ghost = x->side[mo_find_root(root, l)].ghost;
    mo_free(root);
    return MO_OK;
}

// Joins the ghosts of two places along an axis, each pair once.
static void join_ghosts(builder *b, const places *p, int32_t low, int32_t high, int axis)
{
    enum { PAIRS = 64 };
    const mo_slip_box *x = &b->box;
    int32_t pair[PAIRS][2], count = 0, at[3];
    mo_slip_cell_at(x, high, at);
    for (int32_t i = p->first[low]; i < p->first[low + 1]; i++)
        for (int32_t k = p->first[high]; k < p->first[high + 1]; k++) {
            const mo_slip_side *s = &x->side[p->side[i]], *t = &x->side[p->side[k]];
            bool known = false;
            for (int32_t n = 0; n < count; n++) known |= pair[n][0] == s->ghost && pair[n][1] == t->ghost;
            if (known || count == PAIRS || !joined(b, s->cell, t->cell, 1)) continue;
            pair[count][0] = s->ghost, pair[count++][1] = t->ghost;
            int32_t f = add_face(b, (mo_slip_face){.kind = MO_SLIP_BETWEEN,
                                                   .axis = axis,
                                                   .x = mo_slip_middle(x, axis, at),
                                                   .cell = centre_of(b, s->cell)});
            put(&b->D0, s->ghost, f, 1), put(&b->D0, t->ghost, f, -1);
        }
}

// A ghost beside a wall of the box has a face there, as a real cell has.
static void close_ghost(builder *b, const mo_slip_side *s)
{
    const mo_slip_box *x = &b->box;
    for (int e = 0; e < 6; e++) {
        int32_t at[3], a = e / 2;
        mo_slip_cell_at(x, s->other, at);
        if (at[a] != (e & 1 ? x->n[a] - 1 : 0)) continue;
        at[a] += e & 1;
        int32_t f = add_face(b, (mo_slip_face){.kind = MO_SLIP_BETWEEN,
                                               .axis = a,
                                               .fixed = !x->def->open[e],
                                               .x = mo_slip_middle(x, a, at),
                                               .cell = centre_of(b, s->cell)});
        put(&b->D0, s->ghost, f, e & 1 ? 1 : -1);
    }
}

static void join_all(builder *b, const places *p)
{
    const mo_slip_box *x = &b->box;
    for (int32_t c = 0; c < x->cells; c++)
        for (int a = 0; a < 3 && p->first[c] < p->first[c + 1]; a++) {
            int32_t at[3];
            mo_slip_cell_at(x, c, at);
            at[a]++;
            if (at[a] < x->n[a]) join_ghosts(b, p, c, mo_slip_cell_index(x, at), a);
        }
    int32_t next = x->cells; // ghosts are numbered by their first sides
    for (int32_t l = 0; l < x->sides; l++)
        if (x->side[l].ghost == next) close_ghost(b, &x->side[l]), next++;
}

// ---- Rows ----

// C = N.W: the own sample, and the means of the cell's two samples along the other axes. D = D0 + R C.
static void add_side(builder *b, int32_t l)
{
    const mo_slip_side *s = &b->box.side[l];
    double through = s->sign * mo_get(s->normal, s->axis);
    put(&b->R, s->cell, l, through);
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < 2; k++) {
            int32_t at[3], own = s->own;
            if (a == s->axis && k) continue;
            mo_slip_cell_at(&b->box, s->cell, at);
            at[a] += k;
            if (a != s->axis) own = b->sample[a][!k][mo_slip_face_index(&b->box, a, at)];
            double weight = (a == s->axis ? 1 : 0.5) * mo_get(s->normal, a);
            put(&b->C, l, own, weight), put(&b->D, s->cell, own, through * weight);
        }
    put(&b->D0, s->cell, s->beside, s->sign), put(&b->D0, s->ghost, s->beside, -s->sign);
}

static mo_status build(builder *b, places *p)
{
    mo_slip *s = b->s;
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < 2; k++) {
            b->sample[a][k] = mo_alloc(sizeof(int32_t) * (size_t)mo_slip_face_count(&b->box, a));
            if (!b->sample[a][k]) return MO_ERROR_MEMORY;
        }
    for (int a = 0; a < 3; a++) number_faces(b, a);
    number_sides(b);
    MO_TRY(list_places(b, p));
    MO_TRY(make_ghosts(b, p));
    join_all(b, p);
    for (int32_t l = 0; l < b->box.sides; l++) add_side(b, l);
    for (int64_t k = 0; k < b->D0.count; k++) put(&b->D, b->D0.list[k].row, b->D0.list[k].col, b->D0.list[k].val);
    s->sides = b->box.sides, s->cells = b->box.cells + s->ghosts;
    s->velocity = mo_calloc(sizeof(double) * ((size_t)s->faces + 1));
    s->inverse = mo_alloc(sizeof(double) * ((size_t)s->faces + 1)),
    s->wall = mo_alloc(sizeof(double) * ((size_t)s->sides + 1));
    if (b->failed || !s->velocity || !s->inverse || !s->wall) return MO_ERROR_MEMORY;
    for (int32_t f = 0; f < s->faces; f++) s->inverse[f] = s->face[f].fixed ? 0 : 1;
    for (int32_t l = 0; l < s->sides; l++) s->wall[l] = b->box.side[l].wall;
    MO_TRY(collect(&b->D0, s->cells, s->faces, &s->D0));
    MO_TRY(collect(&b->D, s->cells, s->faces, &s->D));
    MO_TRY(collect(&b->C, s->sides, s->faces, &s->C));
    return collect(&b->R, s->cells, s->sides, &s->R);
}

mo_status mo_slip_create(const mo_slip_def *def, mo_slip *out, mo_error *err)
{
    *out = (mo_slip){.def = *def};
    builder b = {.s = out};
    places p = {0};
    mo_status status = mo_slip_box_create(def, &b.box, err);
    if (status == MO_OK && build(&b, &p) != MO_OK) status = mo_fail_memory(err);
    mo_free(p.first), mo_free(p.side);
    for (int a = 0; a < 3; a++) mo_free(b.sample[a][0]), mo_free(b.sample[a][1]);
    mo_free(b.D0.list), mo_free(b.C.list), mo_free(b.D.list), mo_free(b.R.list);
    mo_slip_box_destroy(&b.box);
    return status;
}

void mo_slip_destroy(mo_slip *s)
{
    mo_csr_destroy(&s->D0), mo_csr_destroy(&s->C), mo_csr_destroy(&s->D), mo_csr_destroy(&s->R);
    mo_free(s->face), mo_free(s->velocity), mo_free(s->inverse), mo_free(s->wall);
    *s = (mo_slip){0};
}

// ---- The solve ----

void mo_slip_start(mo_slip *s, mo_slip_flow_fn flow, const void *user, bool keep)
{
    for (int32_t f = 0; f < s->faces; f++) {
        const mo_slip_face *face = &s->face[f];
        if (keep && face->kind == MO_SLIP_BETWEEN && !face->fixed) continue;
        mo_vec3 v = flow(user, face->x, face->cell);
        if (face->kind == MO_SLIP_BESIDE) v = mo_mad(v, -mo_dot(v, face->normal), face->normal);
        s->velocity[f] = mo_get(v, face->axis);
    }
}

// [top; bottom]
static mo_status stack(const mo_csr *top, const mo_csr *bottom, mo_csr *out)
{
    int64_t first = mo_csr_entries(top), all = first + mo_csr_entries(bottom);
    if (mo_csr_create(top->rows + bottom->rows, top->cols, all, out) != MO_OK) return MO_ERROR_MEMORY;
    for (int32_t r = 0; r <= top->rows; r++) out->row[r] = top->row[r];
    for (int32_t r = 0; r <= bottom->rows && bottom->rows; r++) out->row[top->rows + r] = first + bottom->row[r];
    memcpy(out->col, top->col, sizeof(int32_t) * (size_t)first),
        memcpy(out->val, top->val, sizeof(double) * (size_t)first);
    if (all == first) return MO_OK;
    memcpy(out->col + first, bottom->col, sizeof(int32_t) * (size_t)(all - first));
    memcpy(out->val + first, bottom->val, sizeof(double) * (size_t)(all - first));
    return MO_OK;
}

// Rows of l may depend on each other, where sheets are folded.
static void soften(const mo_slip *s, mo_csr *A)
{
    const double part = 1e-12;
    for (int32_t r = s->cells; r < A->rows; r++)
        for (int64_t k = A->row[r]; k < A->row[r + 1]; k++)
            if (A->col[k] == r) A->val[k] *= 1 + part;
}

static mo_status make_system(const mo_slip *s, bool plain, mo_csr *B, mo_csr *A, double **b)
{
    mo_csr Bt = {0};
    mo_status status = stack(plain ? &s->D0 : &s->D, &s->C, B);
    if (status == MO_OK) status = mo_csr_transpose(B, &Bt);
    if (status == MO_OK) status = mo_csr_weighted_square(B, &Bt, s->inverse, A);
    mo_csr_destroy(&Bt);
    *b = mo_calloc(sizeof(double) * ((size_t)B->rows + 1));
    if (status != MO_OK || !*b) return MO_ERROR_MEMORY;
    soften(s, A);
    mo_csr_multiply(B, s->velocity, *b);
    for (int32_t l = 0; l < s->sides; l++) (*b)[s->cells + l] -= s->wall[l];
    if (plain && s->sides) mo_csr_multiply_add(&s->R, 1, s->wall, *b);
    return MO_OK;
}

mo_status mo_slip_system(const mo_slip *s, bool plain, mo_csr *A, double **b, mo_error *err)
{
    mo_csr B = {0};
    *A = (mo_csr){0}, *b = NULL;
    mo_status status = make_system(s, plain, &B, A, b);
    mo_csr_destroy(&B);
    return status == MO_OK ? MO_OK : mo_fail_memory(err);
}

static void apply_matrix(void *A, const double *x, double *y) { mo_csr_multiply(A, x, y); }

mo_status mo_slip_solve(mo_slip *s, bool plain, double tolerance, mo_solve_info *info, mo_error *err)
{
    enum { MOST = 5000 };
    mo_csr A = {0}, B = {0};
    double *b = NULL, *x = mo_calloc(sizeof(double) * (6 * (size_t)(s->cells + s->sides) + 1)), shift;
    mo_ic0 *ic = NULL;
    mo_status status = x ? make_system(s, plain, &B, &A, &b) : MO_ERROR_MEMORY;
    if (status == MO_OK) status = mo_ic0_create_shifted(&A, &ic, &shift);
    if (status == MO_OK) {
        mo_operator op = {apply_matrix, &A}, M = {mo_ic0_apply, ic};
        *info = mo_cg(A.rows, &op, &M, b, x, tolerance, MOST, false, x + A.rows);
        double *change = mo_calloc(sizeof(double) * ((size_t)s->faces + 1));
        if (change) mo_csr_push(&B, 1, x, change);
        for (int32_t f = 0; change && f < s->faces; f++) s->velocity[f] -= s->inverse[f] * change[f];
        if (!change) status = MO_ERROR_MEMORY;
        mo_free(change);
    }
    mo_ic0_destroy(ic);
    mo_csr_destroy(&A), mo_csr_destroy(&B);
    mo_free(b), mo_free(x);
    return status == MO_OK ? MO_OK : mo_fail_memory(err);
}
