// Coarser levels of multigrid on faces.
//
// Faces of the next level sit on the grid of double spacing: linear along the own axis (1 | 1/2, 1/2), (3/4, 1/4)
// across; every coarse face that a fine one touches exists, once for every connected piece. A_c = P^T A P, or what
// face_strain.c makes of it.
#include "base/parallel.h"
#include "sparse/face_level.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARENTS = 8, CUBE = 4, SMALL = 4096 };

// ---- Parents ----

typedef struct parent_set {
    int32_t count;
    int32_t at[MAX_PARENTS][4];
    double weight[MAX_PARENTS];
} parent_set;

static void find_parents(const int32_t c[4], int axes, parent_set *p)
{
    *p = (parent_set){.count = 1, .weight = {1}};
    memcpy(p->at[0], c, sizeof p->at[0]);
    for (int a = 0; a < axes; a++) {
        bool along = a == c[3], odd = c[a] & 1;
        int32_t near = c[a] >> 1, far = along || odd ? near + 1 : near - 1, n = p->count;
        double weight = along ? (odd ? 0.5 : 1) : 0.75;
        for (int32_t k = 0; k < n; k++) {
            p->at[k][a] = near;
            if (weight < 1) {
                memcpy(p->at[p->count], p->at[k], sizeof p->at[k]);
                p->at[p->count][a] = far;
                p->weight[p->count++] = (1 - weight) * p->weight[k];
            }
            p->weight[k] *= weight;
        }
    }
}

typedef struct nursery { // faces of the next level, found through a hash table
    int32_t count, *table;
    int64_t capacity;
    uint32_t mask;
    struct child {
        int32_t at[4], label, row;
    } * face;
} nursery;

static uint32_t hash_of(const int32_t at[4], int32_t label)
{
    return mo_hash((uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2]) * 3 + (uint32_t)at[3] +
           (uint32_t)label * 0x9e3779b1u;
}

// Room for the parents of one more face; false = no memory.
static bool make_room(nursery *s)
{
    if (!mo_reserve((void **)&s->face, &s->capacity, s->count + MAX_PARENTS, sizeof *s->face)) return false;
    if (s->table && 2 * ((int64_t)s->count + MAX_PARENTS) <= s->mask) return true;
    uint32_t slots = s->table ? 2 * (s->mask + 1) : 1024;
    mo_free(s->table);
    s->mask = slots - 1, s->table = mo_alloc(sizeof(int32_t) * slots);
    if (!s->table) return false;
    memset(s->table, 0xff, sizeof(int32_t) * slots);
    for (int32_t k = 0; k < s->count; k++) {
        uint32_t h = hash_of(s->face[k].at, s->face[k].label) & s->mask;
        while (s->table[h] >= 0) h = (h + 1) & s->mask;
        s->table[h] = k;
    }
    return true;
}

// Its place in the table, which is empty if there is no such face.
static uint32_t find_place(const nursery *s, const int32_t at[4], int32_t label)
{
    uint32_t h = hash_of(at, label) & s->mask;
    for (; s->table[h] >= 0; h = (h + 1) & s->mask) {
        const struct child *f = &s->face[s->table[h]];
        if (f->label == label && memcmp(f->at, at, sizeof f->at) == 0) break;
    }
    return h;
}

static int32_t find_child(nursery *s, const int32_t at[4], int32_t label)
{
    uint32_t h = find_place(s, at, label);
    if (s->table[h] >= 0) return s->table[h];
    memcpy(s->face[s->count].at, at, sizeof s->face[0].at), s->face[s->count].label = label;
    return s->table[h] = s->count++;
}

// Coarse faces round a point, linear along every axis. Those of an axis lie on even planes of it and in the middle of
// coarse cells across it.
static void find_parents_of_point(const double x[3], int32_t layer, int axis, int axes, parent_set *p)
{
    *p = (parent_set){.count = 1, .weight = {1}, .at = {{0, 0, layer, axis}}};
    for (int a = 0; a < axes; a++) {
        double at = 0.5 * x[a] - (a == axis ? 0 : 0.5);
        int32_t low = (int32_t)floor(at), n = p->count;
        for (int32_t k = 0; k < n; k++) {
            memcpy(p->at[p->count], p->at[k], sizeof p->at[k]);
            p->at[k][a] = low, p->at[p->count][a] = low + 1;
            p->weight[p->count++] = (at - low) * p->weight[k];
            p->weight[k] *= 1 - (at - low);
        }
    }
}

// The same for nodes. In two dimensions all faces lie in one layer.
static mo_status node_interpolation(const mo_face_level *l, int axes, nursery *s, mo_face_nodes *n)
{
    MO_TRY(mo_csr_create(n->count, 0, (int64_t)MAX_PARENTS * n->count, &n->up));
    int64_t to = 0;
    for (int32_t i = 0; i < n->count; i++) {
        parent_set p = {0};
        int32_t layer = axes == 2 && l->faces ? l->coord[0][2] : 0;
        if (n->label[i] >= 0 && n->at) find_parents_of_point(n->at[i], layer, n->axis[i], axes, &p);
        if (!make_room(s)) return MO_ERROR_MEMORY;
        for (int32_t k = 0; k < p.count; k++)
            if (p.weight[k] > 0) n->up.col[to] = find_child(s, p.at[k], n->label[i]), n->up.val[to++] = p.weight[k];
        n->up.row[i + 1] = to;
    }
    return MO_OK;
}

// Interpolation rows with provisional numbers of parents.
static mo_status interpolation(const mo_face_level *l, int axes, mo_face_nodes *nodes, nursery *s, mo_csr *P)
{
    MO_TRY(mo_csr_create(l->rows, 0, (int64_t)MAX_PARENTS * l->faces + l->rows, P));
    int64_t to = 0;
    for (int32_t i = 0; i < l->faces; i++) {
        parent_set p = {0};
        if (l->label[i] >= 0) find_parents(l->coord[i], axes, &p);
        if (!make_room(s)) return MO_ERROR_MEMORY;
        for (int32_t k = 0; k < p.count; k++)
            P->col[to] = find_child(s, p.at[k], l->label[i]), P->val[to++] = p.weight[k];
        P->row[i + 1] = to;
    }
    if (nodes) MO_TRY(node_interpolation(l, axes, s, nodes));
    for (int32_t i = l->faces; i < l->rows; i++) {
        P->col[to] = s->count + i - l->faces, P->val[to++] = 1;
        P->row[i + 1] = to;
    }
    return MO_OK;
}

typedef struct keyed { // by colour, cube, cell within it, axis; then piece
    uint64_t key;
    int32_t label, index;
} keyed;

static int compare(const void *p, const void *q)
{
    const keyed *a = p, *b = q;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return a->label < b->label ? -1 : a->label > b->label;
}

// Sorts `count` faces; order[place] = face. Keys come sorted too.
static void sort_faces(int32_t count, keyed *k, uint64_t *key, int32_t *order)
{
    qsort(k, (size_t)count, sizeof *k, compare);
    for (int32_t i = 0; i < count; i++) key[i] = k[i].key, order[i] = k[i].index;
}

// Final numbers of the parents.
static void renumber(const int32_t *place, int32_t count, int32_t cols, mo_csr *P)
{
    for (int64_t k = 0; k < P->row[P->rows]; k++)
        if (P->col[k] < count) P->col[k] = place[P->col[k]];
    P->cols = cols;
}

static mo_status number_children(nursery *s, mo_face_nodes *nodes, mo_face_level *next, mo_csr *P)
{
    size_t n = (size_t)s->count;
    keyed *sorted = mo_alloc(sizeof(keyed) * n);
    uint64_t *key = mo_alloc(sizeof(uint64_t) * n);
    int32_t *order = mo_alloc(sizeof(int32_t) * n), *place = mo_alloc(sizeof(int32_t) * n);
    next->coord = mo_alloc(sizeof *next->coord * n), next->label = mo_alloc(sizeof(int32_t) * n);
    mo_status status = sorted && key && order && place && next->coord && next->label ? MO_OK : MO_ERROR_MEMORY;
    if (status == MO_OK) {
        for (int32_t i = 0; i < s->count; i++)
            sorted[i] = (keyed){mo_face_key(s->face[i].at, CUBE), 3 * s->face[i].label + s->face[i].at[3], i};
        sort_faces(s->count, sorted, key, order);
        for (int32_t i = 0; i < s->count; i++) {
            struct child *f = &s->face[order[i]];
            place[order[i]] = f->row = i, next->label[i] = f->label;
            memcpy(next->coord[i], f->at, sizeof f->at);
        }
        renumber(place, s->count, next->rows, P);
        if (nodes) renumber(place, s->count, next->rows, &nodes->up);
        status = mo_face_level_group(next, key);
    }
    mo_free(sorted), mo_free(key), mo_free(order), mo_free(place);
    return status;
}

// ---- Galerkin ----

typedef struct galerkin {
    const mo_csr *A, *P, *R;
    int32_t width;
    int32_t *fine_of, *coarse_of;  // [threads rows] the last row that used a column's sum
    int32_t *list;                 // [threads rows] columns of R A
    double *fine_sum, *coarse_sum; // [threads rows]
} galerkin;

// Row I of (R A) P: first what the fine rows have together, then what of it each coarse column gets.
static int32_t galerkin_row(void *user, int32_t I, int32_t thread, int32_t *col, double *val)
{
    const galerkin *g = user;
    const mo_csr *A = g->A, *P = g->P, *R = g->R;
    size_t fine = (size_t)A->cols * (size_t)thread, coarse = (size_t)R->rows * (size_t)thread;
    int32_t *fine_of = g->fine_of + fine, *coarse_of = g->coarse_of + coarse, *list = g->list + fine, count = 0, n = 0;
    double *fine_sum = g->fine_sum + fine, *coarse_sum = g->coarse_sum + coarse;
    for (int64_t m = R->row[I]; m < R->row[I + 1]; m++)
        for (int64_t k = A->row[R->col[m]]; k < A->row[R->col[m] + 1]; k++) {
            int32_t j = A->col[k];
            if (fine_of[j] != I) fine_of[j] = I, fine_sum[j] = 0, list[count++] = j;
            fine_sum[j] += R->val[m] * A->val[k];
        }
    for (int32_t q = 0; q < count; q++) {
        int32_t j = list[q];
        double sum = fine_sum[j];
        for (int64_t k = P->row[j]; k < P->row[j + 1]; k++) {
            int32_t J = P->col[k];
            if (coarse_of[J] != I) {
                if (n == g->width) return -1;
                coarse_of[J] = I, coarse_sum[J] = 0, col[n++] = J;
            }
            coarse_sum[J] += sum * P->val[k];
        }
    }
    for (int32_t k = 0; k < n; k++) val[k] = coarse_sum[col[k]];
    return n;
}

double *mo_face_level_copy_corner(const mo_face_level *l)
{
    int32_t extra = l->rows - l->faces;
    double *corner = mo_calloc(sizeof(double) * (size_t)extra * (size_t)extra);
    for (int32_t e = 0; corner && e < extra; e++)
        for (int64_t k = l->A.row[l->faces + e]; k < l->A.row[l->faces + e + 1]; k++)
            if (l->A.col[k] >= l->faces) corner[e * extra + l->A.col[k] - l->faces] = l->A.val[k];
    return corner;
}

// The first rows of P^T A P, those of faces.
static mo_status multiply(const mo_csr *A, const mo_csr *P, const mo_csr *R, int axes, const mo_face_level *next,
                          mo_csr *out)
{
    int32_t extra = next->rows - next->faces, threads = mo_thread_count();
    int32_t near = axes == 3 ? 240 : 32; // faces that a coarse row may meet
    galerkin g = {.A = A, .P = P, .R = R, .width = (next->wide ? 6 * near : near) + extra};
    size_t fine = (size_t)threads * (size_t)A->cols, coarse = (size_t)threads * (size_t)next->rows;
    g.fine_of = mo_alloc(sizeof(int32_t) * fine), g.coarse_of = mo_alloc(sizeof(int32_t) * coarse);
    g.list = mo_alloc(sizeof(int32_t) * fine);
    g.fine_sum = mo_alloc(sizeof(double) * fine), g.coarse_sum = mo_alloc(sizeof(double) * coarse);
    mo_status status = MO_ERROR_MEMORY;
    if (g.fine_of && g.coarse_of && g.list && g.fine_sum && g.coarse_sum) {
        memset(g.fine_of, 0xff, sizeof(int32_t) * fine), memset(g.coarse_of, 0xff, sizeof(int32_t) * coarse);
        status = mo_csr_collect(next->faces, next->rows, g.width, galerkin_row, &g, out);
    }
    mo_free(g.fine_of), mo_free(g.coarse_of), mo_free(g.list), mo_free(g.fine_sum), mo_free(g.coarse_sum);
    return status;
}

static void find_neighbours(const nursery *s, mo_face_level *l, int32_t i)
{
    for (int32_t slot = 0; slot < MO_STRAIN_SLOTS; slot++) {
        int32_t at[4];
        mo_strain_neighbour(l->coord[i], slot, at);
        int32_t k = s->table[find_place(s, at, l->label[i])];
        l->strain.near[i][slot] = k >= 0 ? s->face[k].row : -1;
    }
}

// Row i of A: strain and rest together.
static int32_t joint_row(void *user, int32_t i, int32_t thread, int32_t *col, double *val)
{
    const mo_face_level *l = user;
    double row[MO_STRAIN_SLOTS];
    int32_t own = (int32_t)(l->rest.row[i + 1] - l->rest.row[i]), n = own;
    (void)thread;
    for (int32_t k = 0; k < own; k++)
        col[k] = l->rest.col[l->rest.row[i] + k], val[k] = l->rest.val[l->rest.row[i] + k];
    mo_strain_row(&l->strain, l->coord[i][3], i, row);
    for (int32_t s = 0; s < MO_STRAIN_SLOTS; s++) {
        int32_t j = l->strain.near[i][s], k = 0;
        if (j < 0 || row[s] == 0) continue;
        while (k < own && col[k] != j) k++;
        if (k < own)
            val[k] += row[s];
        else
            col[n] = j, val[n++] = row[s];
    }
    return n;
}

// Rows of `below` under those of `above`.
static mo_status stack(const mo_csr *above, const mo_csr *below, mo_csr *out)
{
    int64_t first = mo_csr_entries(above), more = mo_csr_entries(below);
    MO_TRY(mo_csr_create(above->rows + below->rows, above->cols, first + more, out));
    for (int32_t i = 0; i <= above->rows; i++) out->row[i] = above->row[i];
    for (int32_t i = 1; i <= below->rows; i++) out->row[above->rows + i] = first + below->row[i];
    memcpy(out->col, above->col, sizeof(int32_t) * (size_t)first);
    memcpy(out->val, above->val, sizeof(double) * (size_t)first);
    memcpy(out->col + first, below->col, sizeof(int32_t) * (size_t)more);
    memcpy(out->val + first, below->val, sizeof(double) * (size_t)more);
    return MO_OK;
}

// What is not strain, with what the nodes beside the level add to it.
static mo_status multiply_rest(const mo_face_level *l, const mo_face_nodes *nodes, const mo_csr *P, const mo_csr *R,
                               int axes, mo_face_level *next)
{
    mo_csr rest = {0}, up = {0}, down = {0};
    if (!nodes) return multiply(&l->rest, P, R, axes, next, &next->rest);
    mo_status status = mo_face_nodes_rest(nodes, l, &rest);
    if (status == MO_OK) status = stack(P, &nodes->up, &up);
    if (status == MO_OK) status = mo_csr_transpose(&up, &down);
    if (status == MO_OK) status = multiply(&rest, &up, &down, axes, next, &next->rest);
    mo_csr_destroy(&rest), mo_csr_destroy(&up), mo_csr_destroy(&down);
    return status;
}

// Faces' rows of A where strain is apart.
static mo_status join(const mo_face_level *l, const mo_face_nodes *nodes, const nursery *s, const mo_csr *P,
                      const mo_csr *R, int axes, mo_face_level *next)
{
    MO_TRY(mo_strain_create(next->faces, &next->strain));
#pragma omp parallel for schedule(static) if (next->faces > SMALL)
    for (int32_t i = 0; i < next->faces; i++) {
        find_neighbours(s, next, i);
        mo_strain_restrict(l, R, axes, next, i);
    }
    MO_TRY(multiply_rest(l, nodes, P, R, axes, next));
    int32_t widest = mo_csr_widest(&next->rest) + MO_STRAIN_SLOTS;
    return mo_csr_collect(next->faces, next->rows, widest, joint_row, next, &next->A);
}

static mo_status assemble(const mo_face_level *l, const mo_face_nodes *nodes, const nursery *s, const mo_csr *P,
                          const mo_csr *R, int axes, mo_face_level *next)
{
    MO_ASSERT(!nodes || l->strain.near);
    if (l->strain.near)
        MO_TRY(join(l, nodes, s, P, R, axes, next));
    else
        MO_TRY(multiply(&l->A, P, R, axes, next, &next->A));
    double *corner = mo_face_level_copy_corner(l);
    mo_status status = corner ? mo_csr_border(&next->A, corner) : MO_ERROR_MEMORY;
    mo_free(corner);
    return status;
}

static mo_status to_float(mo_csr *B, mo_float_rows *out)
{
    int64_t entries = mo_csr_entries(B);
    out->row = B->row, B->row = NULL;
    MO_TRY(mo_float_rows_create(entries, out));
    for (int64_t k = 0; k < entries; k++) out->val[k] = (float)B->val[k], out->col[k] = B->col[k];
    return MO_OK;
}

mo_status mo_face_level_coarsen(mo_face_level *l, int32_t axes, mo_face_nodes *nodes, mo_face_level *next)
{
    MO_ASSERT(axes == 2 || axes == 3);
    *next = (mo_face_level){.wide = l->wide || nodes};
    nursery s = {0};
    mo_csr P = {0}, R = {0};
    mo_status status = interpolation(l, axes, nodes, &s, &P);
    if (status == MO_OK && s.count > 0) {
        next->faces = s.count, next->rows = s.count + l->rows - l->faces;
        status = number_children(&s, nodes, next, &P);
        if (status == MO_OK) status = mo_csr_transpose(&P, &R);
        if (status == MO_OK) status = assemble(l, nodes, &s, &P, &R, axes, next);
        if (status == MO_OK) status = to_float(&P, &l->up);
        if (status == MO_OK) status = to_float(&R, &l->down);
    }
    mo_csr_destroy(&P), mo_csr_destroy(&R);
    mo_free(s.face), mo_free(s.table);
    return status;
}
