// Building one level of the multigrid hierarchy: the finest from a matrix, the next one by sums of couplings.
#include "sparse/level.h"
#include "base/parallel.h"
#include <math.h>
#include <string.h>

enum { SMALL = 4096 };

void mo_level_built(mo_level *l)
{
    mo_free(l->coord), mo_free(l->piece), mo_free(l->order), mo_free(l->excess);
    l->coord = NULL, l->piece = NULL, l->order = NULL, l->excess = NULL;
}

void mo_level_destroy(mo_level *l)
{
    mo_level_built(l);
    mo_free(l->near), mo_free(l->couple), mo_free(l->diagonal), mo_free(l->child), mo_free(l->share),
        mo_free(l->vectors);
    *l = (mo_level){0};
}

int64_t mo_level_bytes(const mo_level *l) { return (int64_t)l->rows * (24 + 24 + 8 + 16); }

int64_t mo_level_entries(const mo_level *l)
{
    int64_t entries = l->rows;
    for (int32_t i = 0; i < l->rows; i++)
        for (int32_t h = 0; h < 6; h++) entries += l->couple[i][h] != 0;
    return entries;
}

// Arrays of `rows` rows; what is there is freed by mo_level_destroy.
static mo_status allocate(mo_level *l, int32_t rows)
{
    size_t n = (size_t)rows;
    l->rows = rows;
    l->near = mo_alloc(sizeof *l->near * n), l->couple = mo_alloc(sizeof *l->couple * n);
    l->diagonal = mo_alloc(sizeof(float) * 2 * n), l->excess = mo_alloc(sizeof(float) * n);
    l->vectors = mo_calloc(sizeof(float) * 4 * n); // finite: slots without neighbour read it
    l->coord = mo_alloc(sizeof *l->coord * n), l->piece = mo_alloc(sizeof(int32_t) * n);
    l->order = mo_alloc(sizeof(int32_t) * n);
    if (!l->near || !l->couple || !l->diagonal || !l->excess || !l->vectors || !l->coord || !l->piece || !l->order)
        return MO_ERROR_MEMORY;
    l->inverse = l->diagonal + n, l->x = l->vectors, l->b = l->x + n, l->z = l->b + n, l->v = l->z + n;
    return MO_OK;
}

static int32_t parity(const int32_t c[3]) { return (c[0] + c[1] + c[2]) & 1; }

// ---- The finest level ----

// Slot of the neighbour at `to`, -1 if it is none.
static int32_t slot(const int32_t from[3], const int32_t to[3])
{
    int32_t d[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
    if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] != 1) return -1;
    int32_t axis = d[0] ? 0 : d[1] ? 1 : 2;
    return 2 * axis + (d[axis] > 0);
}

// Returns false if an entry couples cells that are no neighbours.
static bool fill_row(mo_level *l, const mo_csr *A, const int32_t (*coord)[3], const int32_t *place, double down,
                     int32_t i)
{
    int32_t p = place[i];
    double sum = 0, size = 0, diagonal = 0;
    for (int32_t h = 0; h < 6; h++) l->near[p][h] = p, l->couple[p][h] = 0;
    for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) {
        int32_t j = A->col[k];
        sum += A->val[k], size += fabs(A->val[k]);
        if (j == i) {
            diagonal = A->val[k];
            continue;
        }
        float couple = (float)(-down * A->val[k]);
        if (couple == 0) continue;
        int32_t h = slot(coord[i], coord[j]);
        if (h < 0) return false;
        l->near[p][h] = place[j], l->couple[p][h] = couple;
    }
    l->diagonal[p] = (float)(down * diagonal), l->inverse[p] = l->diagonal[p] > 0 ? 1 / l->diagonal[p] : 0;
    l->excess[p] = sum > 1e-12 * size ? (float)(down * sum) : 0; // exactly 0 where pieces are enclosed
    return true;
}

static double largest_coupling(const mo_csr *A)
{
    double largest = 0;
    for (int64_t k = 0; k < mo_csr_entries(A); k++) largest = -A->val[k] > largest ? -A->val[k] : largest;
    for (int64_t k = 0; !(largest > 0) && k < mo_csr_entries(A); k++) largest = A->val[k];
    return largest > 0 ? largest : 1;
}

mo_status mo_level_create(mo_level *l, const mo_csr *A, const int32_t (*coord)[3], const int32_t *piece, int32_t *place,
                          double *scale)
{
    *l = (mo_level){.linear = true};
    MO_TRY(allocate(l, A->rows));
    *scale = largest_coupling(A);
    // Cells counted from an even corner: halving then reaches a single cell.
    int32_t low[3] = {0};
    for (int32_t i = 0; i < A->rows; i++)
        for (int32_t a = 0; a < 3; a++)
            if (i == 0 || coord[i][a] < low[a]) low[a] = coord[i][a];
    for (int32_t a = 0; a < 3; a++) low[a] &= ~7;
    for (int32_t i = 0; i < A->rows; i++) l->red += !parity(coord[i]) == !parity(low);
    int32_t next[2] = {0, l->red};
    for (int32_t i = 0; i < A->rows; i++) l->order[i] = place[i] = next[parity(coord[i]) ^ parity(low)]++;
    bool good = true;
#pragma omp parallel for schedule(static) reduction(&& : good) if (A->rows > SMALL)
    for (int32_t i = 0; i < A->rows; i++) {
        good = fill_row(l, A, coord, place, 1 / *scale, i) && good;
        l->piece[place[i]] = piece[i];
        for (int32_t a = 0; a < 3; a++) l->coord[place[i]][a] = coord[i][a] - low[a];
    }
    return good ? MO_OK : MO_ERROR_INPUT;
}

// ---- The next level ----

typedef struct groups { // rows of the next level, in order of their first member
    int32_t count, red;
    int32_t *of;     // [rows] group of each row, -1 = not carried further
    int32_t *member; // [count] the first
    int32_t *number; // [count] row of the next level
    uint32_t mask;   // hash table of group numbers, -1 = empty
    int32_t *table;
} groups;

static void groups_destroy(groups *g) { mo_free(g->of), mo_free(g->member), mo_free(g->number), mo_free(g->table); }

static mo_status groups_create(int32_t rows, groups *g)
{
    uint32_t slots = 16;
    while (slots <= (uint32_t)rows) slots *= 2;
    *g = (groups){.mask = slots - 1};
    g->of = mo_alloc(sizeof(int32_t) * (size_t)rows), g->member = mo_alloc(sizeof(int32_t) * (size_t)rows);
    g->number = mo_alloc(sizeof(int32_t) * (size_t)rows), g->table = mo_alloc(sizeof(int32_t) * slots);
    if (!g->of || !g->member || !g->number || !g->table) return MO_ERROR_MEMORY;
    memset(g->of, 0xff, sizeof(int32_t) * (size_t)rows);
    memset(g->table, 0xff, sizeof(int32_t) * slots);
    return MO_OK;
}

// The group of row i by its cell and piece; a new one if there is none.
static int32_t find_group(const mo_level *l, groups *g, int32_t i)
{
    const int32_t *c = l->coord[i];
    int32_t q[3] = {c[0] >> 1, c[1] >> 1, c[2] >> 1};
    uint32_t h = mo_hash((uint32_t)q[0], (uint32_t)q[1], (uint32_t)q[2]) + (uint32_t)l->piece[i] * 0x9e3779b1u;
    for (h &= g->mask; g->table[h] >= 0; h = (h + 1) & g->mask) {
        int32_t j = g->member[g->table[h]];
        const int32_t *d = l->coord[j];
        if (d[0] >> 1 == q[0] && d[1] >> 1 == q[1] && d[2] >> 1 == q[2] && l->piece[j] == l->piece[i])
            return g->table[h];
    }
    g->member[g->count] = i;
    return g->table[h] = g->count++;
}

static void find_groups(const mo_level *l, groups *g)
{
    for (int32_t k = 0; k < l->rows; k++) {
        int32_t i = l->order[k], found = -1;
        bool coupled = false;
        for (int32_t h = 0; h < 6; h++) coupled |= l->couple[i][h] != 0;
        if (!coupled) continue; // its own exact solution: ends here
        // Mostly a neighbour in the same group is known already.
        for (int32_t a = 0; a < 3 && found < 0; a++)
            if (l->coord[i][a] & 1 && l->near[i][2 * a] != i) found = g->of[l->near[i][2 * a]];
        g->of[i] = found >= 0 ? found : find_group(l, g, i);
    }
}

// Rows of the next level by colour, and their cells.
static mo_status number_groups(const mo_level *l, groups *g, mo_level *next)
{
    MO_TRY(allocate(next, g->count));
    for (int32_t e = 0; e < g->count; e++) {
        const int32_t *c = l->coord[g->member[e]];
        g->number[e] = ((c[0] >> 1) + (c[1] >> 1) + (c[2] >> 1)) & 1;
        next->red += !g->number[e];
    }
    int32_t place[2] = {0, next->red};
    for (int32_t e = 0; e < g->count; e++) {
        int32_t p = g->number[e] = place[g->number[e]]++, i = g->member[e];
        next->order[e] = p, next->piece[p] = l->piece[i];
        for (int32_t a = 0; a < 3; a++) next->coord[p][a] = l->coord[i][a] >> 1;
    }
    return MO_OK;
}

static mo_status find_children(mo_level *l, const groups *g)
{
    l->child = mo_alloc(sizeof *l->child * (size_t)g->count);
    if (!l->child) return MO_ERROR_MEMORY;
    memset(l->child, 0xff, sizeof *l->child * (size_t)g->count);
    for (int32_t k = 0; k < l->rows; k++) {
        int32_t i = l->order[k];
        if (g->of[i] < 0) continue;
        const int32_t *c = l->coord[i];
        int32_t *child = &l->child[g->number[g->of[i]]][(c[0] & 1) | (c[1] & 1) << 1 | (c[2] & 1) << 2];
        if (*child >= 0) return MO_ERROR_INPUT;
        *child = i;
    }
    return MO_OK;
}

// Couplings and row sums of a group are the sums of its members'. A linear transfer bends the solution over twice the
// distance: couplings count half. Row sums stay: half of them was less stable at ragged surfaces.
static void sum_members(const mo_level *l, const groups *g, mo_level *next, int32_t e)
{
    float excess = 0, half = l->linear ? 0.5f : 1;
    for (int32_t h = 0; h < 6; h++) next->near[e][h] = e, next->couple[e][h] = 0;
    for (int32_t corner = 0; corner < 8; corner++) {
        int32_t i = l->child[e][corner];
        if (i < 0) continue;
        excess += l->excess[i];
        for (int32_t a = 0; a < 3; a++) {
            int32_t h = 2 * a + (corner >> a & 1), j = l->near[i][h];
            if (j == i) continue;
            next->near[e][h] = g->number[g->of[j]], next->couple[e][h] += half * l->couple[i][h];
        }
    }
    float diagonal = excess;
    for (int32_t h = 0; h < 6; h++) diagonal += next->couple[e][h];
    next->excess[e] = excess;
    next->diagonal[e] = diagonal, next->inverse[e] = diagonal > 0 ? 1 / diagonal : 0;
}

mo_status mo_level_coarsen(mo_level *l, mo_level *next)
{
    *next = (mo_level){0};
    groups g;
    mo_status status = groups_create(l->rows, &g);
    if (status == MO_OK) find_groups(l, &g);
    if (status == MO_OK && g.count) {
        status = number_groups(l, &g, next);
        if (status == MO_OK) status = find_children(l, &g);
        if (status == MO_OK && l->linear && !(l->share = mo_alloc(sizeof *l->share * (size_t)g.count)))
            status = MO_ERROR_MEMORY;
        if (status == MO_OK) {
#pragma omp parallel for schedule(static) if (g.count > SMALL)
            for (int32_t e = 0; e < g.count; e++) sum_members(l, &g, next, e);
        }
    }
    groups_destroy(&g);
    return status;
}
