// Building one level of the multigrid hierarchy: the finest from a matrix, the next one by sums of couplings.
#include "sparse/cell_level_build.h"
#include <math.h>
#include <string.h>

enum { SMALL = 4096 };

void mo_cell_level_built(mo_cell_level *l)
{
    mo_free(l->coord), mo_free(l->order), mo_free(l->excess);
    l->coord = NULL, l->order = NULL, l->excess = NULL;
}

void mo_cell_level_destroy(mo_cell_level *l)
{
    mo_cell_level_built(l);
    mo_free(l->near), mo_free(l->couple), mo_free(l->diagonal), mo_free(l->child), mo_free(l->share),
        mo_free(l->vectors), mo_free(l->odd);
    mo_csr_destroy(&l->more);
    *l = (mo_cell_level){0};
}

int64_t mo_cell_level_bytes(const mo_cell_level *l)
{
    int64_t forks = mo_csr_entries(&l->more) * 12 + l->odds * (int64_t)sizeof(mo_cell_level_odd);
    return (int64_t)l->rows * (24 + 24 + 8 + 16) + forks;
}

int64_t mo_cell_level_entries(const mo_cell_level *l)
{
    int64_t entries = l->rows + mo_csr_entries(&l->more);
    for (int32_t i = 0; i < l->rows; i++)
        for (int32_t h = 0; h < 6; h++) entries += l->couple[i][h] != 0;
    return entries;
}

// Makes arrays of `rows` rows; what is there is freed by mo_cell_level_destroy.
static mo_status allocate(mo_cell_level *l, int32_t rows)
{
    MO_ASSERT(rows >= 0);
    size_t n = (size_t)rows;
    l->rows = l->plain = rows;
    l->near = mo_alloc(sizeof *l->near * n), l->couple = mo_alloc(sizeof *l->couple * n);
    l->diagonal = mo_alloc(sizeof(float) * 2 * n), l->excess = mo_alloc(sizeof(float) * n);
    l->vectors = mo_calloc(sizeof(float) * 4 * n); // finite: slots without neighbour read it
    l->coord = mo_alloc(sizeof *l->coord * n), l->order = mo_alloc(sizeof(int32_t) * n);
    if (!l->near || !l->couple || !l->diagonal || !l->excess || !l->vectors || !l->coord || !l->order)
        return MO_ERROR_MEMORY;
    l->inverse = l->diagonal + n, l->x = l->vectors, l->b = l->x + n, l->z = l->b + n, l->v = l->z + n;
    return MO_OK;
}

static int32_t parity(const int32_t c[3]) { return (c[0] + c[1] + c[2]) & 1; }

// ---- The finest level ----

typedef struct finest { // a matrix and where its rows sit
    const mo_csr *A;
    const int32_t (*coord)[3];
    int32_t *place, low[3];
    double down; // 1 / scale
} finest;

enum { FITS, FORKS, FAILS }; // a row: fits its slots, does not, couples to no neighbour

// Fills the slots of a row. Of several couplings in one direction the strongest gets the slot.
static int fill_row(mo_cell_level *l, const finest *f, int32_t i)
{
    const mo_csr *A = f->A;
    int32_t p = f->place[i], result = FITS;
    double sum = 0, size = 0, diagonal = 0;
    for (int32_t h = 0; h < 6; h++) l->near[p][h] = p, l->couple[p][h] = 0;
    for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) {
        int32_t j = A->col[k];
        sum += A->val[k], size += fabs(A->val[k]);
        if (j == i) {
            diagonal = A->val[k];
            continue;
        }
        float couple = (float)(-f->down * A->val[k]);
        if (couple == 0) continue;
        int32_t h = mo_cell_level_direction(f->coord[i], f->coord[j]);
        if (h == MO_APART) return FAILS;
        if (h == MO_SAME || l->near[p][h] != p) result = FORKS;
        if (h == MO_SAME || fabsf(couple) <= fabsf(l->couple[p][h])) continue;
        l->near[p][h] = f->place[j], l->couple[p][h] = couple;
    }
    l->diagonal[p] = (float)(f->down * diagonal), l->inverse[p] = l->diagonal[p] > 0 ? 1 / l->diagonal[p] : 0;
    l->excess[p] = sum > 1e-12 * size ? (float)(f->down * sum) : 0; // exactly 0 where pieces are enclosed
    return result;
}

// Writes the couplings of a forked row that have no slot to `col` and `val` (NULL: only counts them).
static int64_t fill_more(const mo_cell_level *l, const finest *f, int32_t i, int32_t *col, double *val)
{
    const mo_csr *A = f->A;
    int64_t count = 0;
    for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) {
        float couple = (float)(-f->down * A->val[k]);
        if (A->col[k] == i || couple == 0) continue;
        int32_t h = mo_cell_level_direction(f->coord[i], f->coord[A->col[k]]), j = f->place[A->col[k]];
        if (h != MO_SAME && l->near[f->place[i]][h] == j) continue;
        if (col) col[count] = j, val[count] = couple;
        count++;
    }
    return count;
}

static double largest_coupling(const mo_csr *A)
{
    double largest = 0;
    for (int64_t k = 0; k < mo_csr_entries(A); k++) largest = -A->val[k] > largest ? -A->val[k] : largest;
    for (int64_t k = 0; !(largest > 0) && k < mo_csr_entries(A); k++) largest = A->val[k];
    return largest > 0 ? largest : 1;
}

// Rows by colour: red, black, forked (`fork`, NULL: there are none).
static void place_rows(mo_cell_level *l, const finest *f, const uint8_t *fork)
{
    int32_t rows = f->A->rows, even = parity(f->low), count[3] = {0};
    for (int32_t i = 0; i < rows; i++) count[fork && fork[i] ? 2 : parity(f->coord[i]) ^ even]++;
    int32_t next[3] = {0, count[0], count[0] + count[1]};
    l->red = next[1], l->plain = next[2];
    for (int32_t i = 0; i < rows; i++)
        l->order[i] = f->place[i] = next[fork && fork[i] ? 2 : parity(f->coord[i]) ^ even]++;
}

// Returns what the worst row is. fork (if not NULL) is told which rows do not fit their slots.
static int fill_rows(mo_cell_level *l, const finest *f, uint8_t *fork)
{
    int worst = FITS;
#pragma omp parallel for schedule(static) reduction(max : worst) if (f->A->rows > SMALL)
    for (int32_t i = 0; i < f->A->rows; i++) {
        int result = fill_row(l, f, i);
        if (fork) fork[i] = result == FORKS;
        worst = result > worst ? result : worst;
        for (int32_t a = 0; a < 3; a++) l->coord[f->place[i]][a] = f->coord[i][a] - f->low[a];
    }
    return worst;
}

// Some rows fork: they are found, all are placed again, and what has no slot is listed.
static mo_status fork_rows(mo_cell_level *l, const finest *f)
{
    int32_t rows = f->A->rows;
    uint8_t *fork = mo_alloc((size_t)rows);
    if (!fork) return MO_ERROR_MEMORY;
    fill_rows(l, f, fork);
    place_rows(l, f, fork);
    fill_rows(l, f, NULL);
    int64_t entries = 0;
    for (int32_t i = 0; i < rows; i++)
        if (fork[i]) entries += fill_more(l, f, i, NULL, NULL);
    mo_status status = mo_csr_create(rows - l->plain, rows, entries, &l->more);
    int64_t at = 0;
    for (int32_t i = 0; i < rows && status == MO_OK; i++) // forked rows are in the order of the matrix
        if (fork[i]) {
            at += fill_more(l, f, i, l->more.col + at, l->more.val + at);
            l->more.row[f->place[i] - l->plain + 1] = at;
        }
    mo_free(fork);
    return status;
}

mo_status mo_cell_level_create(mo_cell_level *l, const mo_csr *A, const int32_t (*coord)[3], int32_t *place,
                               double *scale)
{
    MO_ASSERT(A->rows == A->cols);
    MO_ASSERT(A->rows == 0 || (coord && place));
    *l = (mo_cell_level){.linear = true};
    MO_TRY(allocate(l, A->rows));
    *scale = largest_coupling(A);
    finest f = {.A = A, .coord = coord, .place = place, .down = 1 / *scale};
    // Cells counted from an even corner: halving then reaches a single cell.
    for (int32_t i = 0; i < A->rows; i++)
        for (int32_t a = 0; a < 3; a++)
            if (i == 0 || coord[i][a] < f.low[a]) f.low[a] = coord[i][a];
    for (int32_t a = 0; a < 3; a++) f.low[a] &= ~7;
    place_rows(l, &f, NULL);
    int worst = fill_rows(l, &f, NULL);
    return worst == FITS ? MO_OK : worst == FORKS ? fork_rows(l, &f) : MO_ERROR_INPUT;
}

// ---- The next level ----

static void groups_destroy(mo_aggregates *g)
{
    mo_free(g->of), mo_free(g->member), mo_free(g->number), mo_free(g->joined);
}

static mo_status groups_create(int32_t rows, mo_aggregates *g)
{
    size_t n = (size_t)rows;
    *g = (mo_aggregates){0};
    g->of = mo_alloc(sizeof(int32_t) * n), g->member = mo_alloc(sizeof(int32_t) * n);
    g->number = mo_alloc(sizeof(int32_t) * n), g->joined = mo_alloc(sizeof(int32_t) * n);
    if (!g->of || !g->member || !g->number || !g->joined) return MO_ERROR_MEMORY;
    memset(g->of, 0xff, sizeof(int32_t) * n);
    return MO_OK;
}

static int32_t root(const mo_aggregates *g, int32_t e)
{
    while (g->joined[e] != e) e = g->joined[e];
    return e;
}

static bool same_block(const int32_t c[3], const int32_t d[3])
{
    return c[0] >> 1 == d[0] >> 1 && c[1] >> 1 == d[1] >> 1 && c[2] >> 1 == d[2] >> 1;
}

// The group of a row that has got `found` (-1: none) from others, once its neighbour j tells its own.
static int32_t join(mo_aggregates *g, int32_t found, int32_t j)
{
    if (g->of[j] < 0) return found;
    int32_t e = root(g, g->of[j]);
    if (found < 0 || e == found) return e;
    int32_t low = e < found ? e : found;
    g->joined[e] = g->joined[found] = low, g->joins++;
    return low;
}

// Rows that are connected inside their block of 2 x 2 x 2 cells are a group.
static void find_groups(const mo_cell_level *l, mo_aggregates *g)
{
    for (int32_t k = 0; k < l->rows; k++) {
        int32_t i = l->order[k], found = -1;
        bool coupled = i >= l->plain;
        for (int32_t h = 0; h < 6; h++) coupled |= l->couple[i][h] != 0;
        if (!coupled) continue; // its own exact solution: ends here
        for (int32_t a = 0; a < 3; a++) {
            int32_t j = l->near[i][2 * a + !(l->coord[i][a] & 1)];
            if (j != i) found = join(g, found, j);
        }
        for (int64_t m = i < l->plain ? 0 : l->more.row[i - l->plain];
             i >= l->plain && m < l->more.row[i - l->plain + 1]; m++)
            if (same_block(l->coord[i], l->coord[l->more.col[m]])) found = join(g, found, l->more.col[m]);
        if (found < 0) found = g->count++, g->joined[found] = found, g->member[found] = i;
        g->of[i] = found;
    }
}

// Groups that were joined become one, numbered by the first of them.
static void close_groups(const mo_cell_level *l, mo_aggregates *g)
{
    if (!g->joins) return;
    int32_t count = 0;
    for (int32_t e = 0; e < g->count; e++)
        if (g->joined[e] == e) g->member[count] = g->member[e], g->number[e] = count++;
    for (int32_t i = 0; i < l->rows; i++)
        if (g->of[i] >= 0) g->of[i] = g->number[root(g, g->of[i])];
    g->count = count;
}

// Rows of the next level by colour, and their cells. fork: [groups] or NULL.
mo_status mo_aggregates_number(const mo_cell_level *l, mo_aggregates *g, const uint8_t *fork, mo_cell_level *next)
{
    MO_ASSERT(g->count >= 0 && g->count <= l->rows);
    MO_TRY(allocate(next, g->count));
    int32_t count[3] = {0};
    for (int32_t e = 0; e < g->count; e++) {
        const int32_t *c = l->coord[g->member[e]];
        g->number[e] = fork && fork[e] ? 2 : ((c[0] >> 1) + (c[1] >> 1) + (c[2] >> 1)) & 1;
        count[g->number[e]]++;
    }
    int32_t place[3] = {0, count[0], count[0] + count[1]};
    next->red = place[1], next->plain = place[2];
    for (int32_t e = 0; e < g->count; e++) {
        int32_t p = g->number[e] = place[g->number[e]]++, i = g->member[e];
        next->order[e] = p;
        for (int32_t a = 0; a < 3; a++) next->coord[p][a] = l->coord[i][a] >> 1;
    }
    return MO_OK;
}

// True if every cell of a group has one row.
static bool find_children(mo_cell_level *l, const mo_aggregates *g)
{
    bool single = true;
    memset(l->child, 0xff, sizeof *l->child * (size_t)g->count);
    for (int32_t k = 0; k < l->rows; k++) {
        int32_t i = l->order[k];
        if (g->of[i] < 0) continue;
        int32_t *child = &l->child[g->number[g->of[i]]][mo_cell_level_corner(l->coord[i])];
        single = single && *child < 0;
        *child = i;
    }
    return single;
}

// Couplings and row sums of a group are the sums of its members'. A linear transfer bends the solution over twice the
// distance: couplings count half. Row sums stay: half of them was less stable at ragged surfaces. Returns false if the
// group couples to several in one direction.
static bool sum_members(const mo_cell_level *l, const mo_aggregates *g, mo_cell_level *next, int32_t e)
{
    float excess = 0, half = l->linear ? 0.5f : 1;
    bool plain = true;
    for (int32_t h = 0; h < 6; h++) next->near[e][h] = e, next->couple[e][h] = 0;
    for (int32_t corner = 0; corner < 8; corner++) {
        int32_t i = l->child[e][corner];
        if (i < 0) continue;
        excess += l->excess[i];
        for (int32_t a = 0; a < 3; a++) {
            int32_t h = 2 * a + (corner >> a & 1), j = l->near[i][h];
            if (j == i) continue;
            int32_t to = g->number[g->of[j]];
            plain = plain && (next->near[e][h] == e || next->near[e][h] == to);
            next->near[e][h] = to, next->couple[e][h] += half * l->couple[i][h];
        }
    }
    float diagonal = excess;
    for (int32_t h = 0; h < 6; h++) diagonal += next->couple[e][h];
    next->excess[e] = excess;
    next->diagonal[e] = diagonal, next->inverse[e] = diagonal > 0 ? 1 / diagonal : 0;
    return plain;
}

static mo_status coarsen(mo_cell_level *l, mo_aggregates *g, mo_cell_level *next)
{
    find_groups(l, g);
    close_groups(l, g);
    if (!g->count) return MO_OK;
    l->child = mo_alloc(sizeof *l->child * (size_t)g->count);
    if (l->linear) l->share = mo_alloc(sizeof *l->share * (size_t)g->count);
    if (!l->child || (l->linear && !l->share)) return MO_ERROR_MEMORY;
    if (l->plain == l->rows) {
        MO_TRY(mo_aggregates_number(l, g, NULL, next));
        bool plain = find_children(l, g);
        if (plain) {
#pragma omp parallel for schedule(static) reduction(&& : plain) if (g->count > SMALL)
            for (int32_t e = 0; e < g->count; e++) plain = sum_members(l, g, next, e) && plain;
        }
        if (plain) return MO_OK;
        mo_cell_level_destroy(next);
    }
    return mo_cell_level_fork(l, g, next);
}

mo_status mo_cell_level_coarsen(mo_cell_level *l, mo_cell_level *next)
{
    *next = (mo_cell_level){0};
    mo_aggregates g;
    mo_status status = groups_create(l->rows, &g);
    if (status == MO_OK) status = coarsen(l, &g, next);
    groups_destroy(&g);
    return status;
}
