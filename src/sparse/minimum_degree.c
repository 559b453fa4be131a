// Approximate minimum degree on the quotient graph. A variable is a run of rows with the same pattern, as the rows of
// one vertex are. An eliminated variable becomes an element: the list of variables that it has joined. A variable knows
// the elements it is in, and the variables that only the matrix joins to it; the two lists together never grow.
#include "sparse/minimum_degree.h"
#include <string.h>

enum { NONE = -1 };

typedef struct quotient {
    int32_t n;               // variables
    int32_t *first;          // [n + 1] first row of each
    int64_t *start;          // [n] of the lists of a variable in `list`
    int32_t *elements;       // [n] how many elements begin its list ...
    int32_t *length;         // [n] ... and how long the whole list is; NONE: eliminated
    int32_t *degree;         // [n] approximate, in rows
    int32_t *head;           // [rows + 1] of the lists of equal degree
    int32_t *next, *before;  // [n] in them
    int32_t *mark;           // [n] variables of the present element have the stamp
    int32_t **member;        // [n] variables of an element; NULL: none, or absorbed
    int32_t *members, *size; // [n] how many; in rows
    int64_t *outside;        // [n] stamp + rows of an element outside the present one
    int32_t *list;
    mo_arena *arena;
} quotient;

static int32_t rows_of(const quotient *q, int32_t v) { return q->first[v + 1] - q->first[v]; }

// ---- Variables by degree ----

static void take_out(quotient *q, int32_t v)
{
    if (q->before[v] >= 0)
        q->next[q->before[v]] = q->next[v];
    else
        q->head[q->degree[v]] = q->next[v];
    if (q->next[v] >= 0) q->before[q->next[v]] = q->before[v];
}

static void put_in(quotient *q, int32_t v)
{
    int32_t *head = &q->head[q->degree[v]];
    q->next[v] = *head, q->before[v] = NONE;
    if (*head >= 0) q->before[*head] = v;
    *head = v;
}

// ---- Set-up ----

static bool same_pattern(const mo_csr *A, int32_t i, int32_t j)
{
    int64_t n = A->row[i + 1] - A->row[i];
    return n == A->row[j + 1] - A->row[j] && n > 0 &&
           memcmp(A->col + A->row[i], A->col + A->row[j], sizeof(int32_t) * (size_t)n) == 0;
}

static bool allocate(quotient *q, const mo_csr *A)
{
    size_t n = (size_t)q->n, rows = (size_t)A->rows;
    q->start = mo_arena_alloc(q->arena, sizeof(int64_t) * (n + 1));
    q->outside = mo_arena_alloc(q->arena, sizeof(int64_t) * (n + 1));
    q->member = mo_arena_alloc(q->arena, sizeof(int32_t *) * (n + 1));
    int32_t *words = mo_arena_alloc(q->arena, sizeof(int32_t) * (8 * (n + 1) + rows + 1));
    q->list = mo_arena_alloc(q->arena, sizeof(int32_t) * (size_t)(mo_csr_entries(A) + 1));
    if (!q->start || !q->outside || !q->member || !words || !q->list) return false;
    int32_t **part[] = {&q->elements, &q->length, &q->degree, &q->next, &q->before, &q->mark, &q->members, &q->size};
    for (size_t k = 0; k < sizeof part / sizeof *part; k++, words += n + 1) *part[k] = words;
    q->head = words;
    return true;
}

// Neighbours of every variable, by its first row.
static void list_neighbours(quotient *q, const mo_csr *A, const int32_t *variable)
{
    int64_t at = 0;
    for (int32_t i = 0; i <= A->rows; i++) q->head[i] = NONE;
    for (int32_t v = 0; v < q->n; v++) q->mark[v] = NONE, q->outside[v] = 0, q->member[v] = NULL;
    for (int32_t v = 0; v < q->n; v++) {
        q->start[v] = at, q->elements[v] = 0, q->degree[v] = 0;
        q->mark[v] = v;
        for (int64_t e = A->row[q->first[v]]; e < A->row[q->first[v] + 1]; e++) {
            int32_t u = variable[A->col[e]];
            if (q->mark[u] == v) continue;
            q->mark[u] = v, q->list[at++] = u, q->degree[v] += rows_of(q, u);
        }
        q->length[v] = (int32_t)(at - q->start[v]);
    }
    for (int32_t v = q->n - 1; v >= 0; v--) put_in(q, v);
    for (int32_t v = 0; v < q->n; v++) q->mark[v] = NONE;
}

static bool quotient_create(const mo_csr *A, mo_arena *arena, quotient *q)
{
    *q = (quotient){.arena = arena};
    int32_t *variable = MO_ARENA_ARRAY(arena, int32_t, A->rows + 1);
    q->first = MO_ARENA_ARRAY(arena, int32_t, A->rows + 1);
    if (!variable || !q->first) return false;
    for (int32_t i = 0; i < A->rows; i++) {
        if (i == 0 || !same_pattern(A, i, i - 1)) q->first[q->n++] = i;
        variable[i] = q->n - 1;
    }
    q->first[q->n] = A->rows;
    if (!allocate(q, A)) return false;
    list_neighbours(q, A, variable);
    return true;
}

// ---- Elimination ----

static void join(quotient *q, int32_t p, int32_t v, int32_t *to, int32_t *count)
{
    if (q->length[v] < 0 || q->mark[v] == p || v == p) return;
    q->mark[v] = p, to[(*count)++] = v, q->size[p] += rows_of(q, v);
}

// The element of p: the variables that p is joined to, by the matrix or by elements, which it absorbs.
static bool make_element(quotient *q, int32_t p)
{
    const int32_t *list = q->list + q->start[p];
    int32_t most = q->length[p] - q->elements[p], count = 0;
    for (int32_t k = 0; k < q->elements[p]; k++) most += q->members[list[k]];
    int32_t *to = MO_ARENA_ARRAY(q->arena, int32_t, most + 1);
    if (!to) return false;
    q->size[p] = 0;
    for (int32_t k = 0; k < q->length[p]; k++) {
        if (k >= q->elements[p]) {
            join(q, p, list[k], to, &count);
            continue;
        }
        for (int32_t m = 0; m < q->members[list[k]]; m++) join(q, p, q->member[list[k]][m], to, &count);
        q->member[list[k]] = NULL;
    }
    q->member[p] = to, q->members[p] = count, q->length[p] = NONE;
    return true;
}

// Rows of every element about the present one that lie outside of it: outside[e] - stamp.
static void measure_outside(quotient *q, int32_t p, int64_t stamp)
{
    for (int32_t m = 0; m < q->members[p]; m++) {
        int32_t v = q->member[p][m];
        for (int32_t k = 0; k < q->elements[v]; k++) {
            int32_t e = q->list[q->start[v] + k];
            if (!q->member[e]) continue;
            if (q->outside[e] < stamp) q->outside[e] = stamp + q->size[e];
            q->outside[e] -= rows_of(q, v);
        }
    }
}

// The elements of a variable that the new one leaves over, at the beginning of its list; adds what they hold to *sum.
static int32_t keep_elements(quotient *q, int32_t v, int64_t stamp, int32_t *sum)
{
    int32_t *list = q->list + q->start[v], kept = 0;
    for (int32_t k = 0; k < q->elements[v]; k++) {
        int32_t e = list[k];
        if (q->outside[e] == stamp) q->member[e] = NULL; // the new element covers it
        if (!q->member[e]) continue;
        *sum += (int32_t)(q->outside[e] - stamp), list[kept++] = e;
    }
    return kept;
}

// The lists of a variable of the new element without what that element covers, and its degree.
static void update_variable(quotient *q, int32_t p, int32_t v, int64_t stamp, int32_t left)
{
    int32_t *list = q->list + q->start[v], own = rows_of(q, v), sum = q->size[p] - own, most = q->degree[v] + sum;
    int32_t from = q->elements[v], elements = keep_elements(q, v, stamp, &sum), variables = 0;
    for (int32_t k = from; k < q->length[v]; k++) {
        int32_t u = list[k];
        if (q->length[u] < 0 || q->mark[u] == p) continue;
        sum += rows_of(q, u), list[from + variables++] = u;
    }
    // The new element takes a place that one of the two lists has lost.
    memmove(list + elements + 1, list + from, sizeof(int32_t) * (size_t)variables);
    list[elements] = p;
    q->elements[v] = elements + 1, q->length[v] = elements + 1 + variables;
    take_out(q, v);
    if (most > left - own) most = left - own;
    q->degree[v] = sum < most ? sum : most;
    put_in(q, v);
}

static bool eliminate(quotient *q, int32_t rows, int32_t *order)
{
    int64_t stamp = 1;
    for (int32_t left = rows, least = 0, at = 0; left > 0; stamp += rows + 1) {
        while (q->head[least] < 0) least++;
        int32_t p = q->head[least];
        take_out(q, p);
        if (!make_element(q, p)) return false;
        for (int32_t i = q->first[p]; i < q->first[p + 1]; i++) order[at++] = i;
        left -= rows_of(q, p);
        measure_outside(q, p, stamp);
        for (int32_t m = 0; m < q->members[p]; m++) {
            update_variable(q, p, q->member[p][m], stamp, left);
            if (q->degree[q->member[p][m]] < least) least = q->degree[q->member[p][m]];
        }
    }
    return true;
}

mo_status mo_minimum_degree(const mo_csr *A, int32_t *order)
{
    MO_ASSERT(A->rows == A->cols);
    mo_arena *arena = mo_arena_create();
    quotient q;
    bool ok = arena && quotient_create(A, arena, &q) && eliminate(&q, A->rows, order);
    mo_arena_destroy(arena);
    return ok ? MO_OK : MO_ERROR_MEMORY;
}
