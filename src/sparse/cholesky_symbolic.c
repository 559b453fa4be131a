// Symbolic Cholesky factorisation on the graph of vertices: elimination tree, counts of the columns, supernodes and
// which of them are joined, rows of each (Davis, Direct Methods for Sparse Linear Systems; Ashcraft, Grimes 1989).
#include "sparse/cholesky_parts.h"
#include "sparse/graph.h"
#include <stdlib.h>
#include <string.h>

enum { PARALLEL_LEAST = 200000 }; // doubles of L: below it threads cost more than they save

// ---- The graph of vertices ----

// Neighbours of every vertex by its rows of A, none twice; with col NULL they are only counted in start[v + 1].
static void vertex_neighbours(const mo_csr *A, int32_t block, int32_t *start, int32_t *col, int32_t *seen)
{
    int32_t n = A->rows / block;
    int64_t at = 0;
    for (int32_t v = 0; v < n; v++) seen[v] = -1;
    for (int32_t v = 0; v < n; v++) {
        seen[v] = v;
        for (int64_t e = A->row[v * block]; e < A->row[(v + 1) * block]; e++) {
            int32_t u = A->col[e] / block;
            if (seen[u] == v) continue;
            seen[u] = v;
            if (col) col[at] = u;
            at++;
        }
        if (!col) start[v + 1] = (int32_t)at;
    }
}

// Is the transposed list the same, row by row?
static bool symmetric(int32_t n, const int32_t *start, const int32_t *a, const int32_t *start_t, const int32_t *at,
                      int32_t *seen)
{
    for (int32_t v = 0; v < n; v++) seen[v] = -1;
    for (int32_t v = 0; v < n; v++) {
        if (start[v + 1] != start_t[v + 1]) return false;
        for (int32_t e = start[v]; e < start[v + 1]; e++) seen[a[e]] = v;
        for (int32_t e = start[v]; e < start[v + 1]; e++)
            if (seen[at[e]] != v) return false;
    }
    return true;
}

static void transpose(int32_t n, const int32_t *start, const int32_t *a, int32_t *start_t, int32_t *at, int32_t *next)
{
    memset(start_t, 0, sizeof(int32_t) * ((size_t)n + 1));
    for (int32_t e = 0; e < start[n]; e++) start_t[a[e] + 1]++;
    for (int32_t v = 0; v < n; v++) next[v] = start_t[v], start_t[v + 1] += start_t[v];
    for (int32_t v = 0; v < n; v++)
        for (int32_t e = start[v]; e < start[v + 1]; e++) at[next[a[e]]++] = v;
}

static mo_status vertex_graph(const mo_csr *A, int32_t block, mo_arena *arena, mo_graph *g, mo_error *err)
{
    int32_t n = A->rows / block;
    int32_t *start = MO_ARENA_ARRAY(arena, int32_t, n + 1), *seen = MO_ARENA_ARRAY(arena, int32_t, n);
    g->n = n, g->start = MO_ARENA_ARRAY(arena, int32_t, n + 1), g->weight = MO_ARENA_ARRAY(arena, int32_t, n);
    if (!start || !seen || !g->start || !g->weight) return mo_fail_memory(err);
    if (mo_csr_entries(A) >= INT32_MAX) return mo_fail(err, MO_ERROR_INPUT, "cholesky: the matrix is too large");
    start[0] = 0;
    vertex_neighbours(A, block, start, NULL, seen);
    int32_t edges = start[n], *col = MO_ARENA_ARRAY(arena, int32_t, edges);
    g->neighbour = MO_ARENA_ARRAY(arena, int32_t, edges), g->bond = MO_ARENA_ARRAY(arena, int32_t, edges);
    if (!col || !g->neighbour || !g->bond) return mo_fail_memory(err);
    vertex_neighbours(A, block, start, col, seen);
    transpose(n, start, col, g->start, g->neighbour, seen); // neighbours are in ascending order now
    if (!symmetric(n, start, col, g->start, g->neighbour, seen))
        return mo_fail(err, MO_ERROR_INPUT, "cholesky: the pattern of the matrix is not symmetric");
    for (int32_t v = 0; v < n; v++) g->weight[v] = 1;
    for (int32_t e = 0; e < edges; e++) g->bond[e] = 1;
    return MO_OK;
}

// ---- Elimination tree ----

typedef struct analysis {
    const mo_graph *g;
    int32_t n, *order, *place; // as in mo_cholesky
    int32_t *parent;           // [n] of the elimination tree
    int32_t *count;            // [n] entries of a column of L below its diagonal
    int32_t *node;             // [n] column -> supernode
    int32_t *work[5];          // [n] each
    mo_arena *arena;
} analysis;

static void elimination_tree(analysis *a)
{
    int32_t *ancestor = a->work[0];
    for (int32_t i = 0; i < a->n; i++) {
        int32_t v = a->order[i];
        a->parent[i] = ancestor[i] = -1;
        for (int32_t e = a->g->start[v]; e < a->g->start[v + 1]; e++)
            for (int32_t k = a->place[a->g->neighbour[e]], next; k >= 0 && k < i; k = next) {
                next = ancestor[k], ancestor[k] = i; // the way is shortened for those who come later
                if (next < 0) a->parent[k] = i;
            }
    }
}

// Children before parents, and every subtree in one run: post[k] is the k-th. Siblings keep their order.
static void postorder(int32_t n, const int32_t *parent, int32_t *post, int32_t *child, int32_t *sibling, int32_t *stack)
{
    int32_t at = 0;
    for (int32_t i = 0; i < n; i++) child[i] = -1;
    for (int32_t i = n - 1; i >= 0; i--)
        if (parent[i] >= 0) sibling[i] = child[parent[i]], child[parent[i]] = i;
    for (int32_t root = 0; root < n; root++) {
        if (parent[root] >= 0) continue;
        int32_t top = 0;
        stack[top++] = root;
        while (top > 0) {
            int32_t i = stack[top - 1], c = child[i];
            if (c >= 0)
                child[i] = sibling[c], stack[top++] = c;
            else
                post[at++] = i, top--;
        }
    }
}

// Renumbers the order of elimination: the new k-th is the old post[k]-th.
static void reorder(analysis *a, const int32_t *post)
{
    int32_t *old = a->work[0];
    memcpy(old, a->order, sizeof(int32_t) * (size_t)a->n);
    for (int32_t k = 0; k < a->n; k++) a->order[k] = old[post[k]];
    for (int32_t k = 0; k < a->n; k++) a->place[a->order[k]] = k;
}

// Row i of L has an entry in every column on the ways from the entries of A up to i.
static void column_counts(analysis *a)
{
    int32_t *seen = a->work[0];
    for (int32_t i = 0; i < a->n; i++) a->count[i] = 0, seen[i] = -1;
    for (int32_t i = 0; i < a->n; i++) {
        int32_t v = a->order[i];
        seen[i] = i;
        for (int32_t e = a->g->start[v]; e < a->g->start[v + 1]; e++) {
            int32_t k = a->place[a->g->neighbour[e]];
            if (k > i) continue;
            for (; seen[k] != i; k = a->parent[k]) a->count[k]++, seen[k] = i;
        }
    }
}

// ---- Supernodes ----

typedef struct supernode {
    int32_t columns, below, parent; // vertices; the supernode above, -1: none
    int32_t into;                   // joined into this one; itself: not
    int64_t entries;                // true ones of L
} supernode;

static int32_t find_supernodes(analysis *a, supernode *s)
{
    int32_t n = 0;
    for (int32_t i = 0; i < a->n; i++) {
        bool same = i > 0 && a->parent[i - 1] == i && a->count[i - 1] == a->count[i] + 1;
        if (!same) s[n] = (supernode){.into = n}, n++;
        a->node[i] = n - 1;
        s[n - 1].columns++, s[n - 1].below = a->count[i], s[n - 1].entries += a->count[i] + 1;
        s[n - 1].parent = a->parent[i]; // a column as yet
    }
    for (int32_t k = 0; k < n; k++)
        if (s[k].parent >= 0) s[k].parent = a->node[s[k].parent];
    return n;
}

// Joins a supernode with its parent if that adds few zeros to L: large fronts are worth some.
static bool worth_joining(const supernode *child, const supernode *parent, int32_t block)
{
    int64_t columns = child->columns + parent->columns;
    double size = 0.5 * (double)columns * (double)(columns + 1) + (double)columns * parent->below;
    double zeros = (size - (double)child->entries - (double)parent->entries) / size;
    int64_t width = columns * block;
    if (width <= 16) return zeros <= 0.3;
    if (width <= 48) return zeros <= 0.1;
    return zeros <= 0.02;
}

typedef struct candidate {
    int32_t below, node;
} candidate;
static int by_rows_below(const void *x, const void *y)
{
    const candidate *a = x, *b = y;
    if (a->below != b->below) return a->below > b->below ? -1 : 1;
    return a->node < b->node ? -1 : 1;
}

static bool join_supernodes(analysis *a, int32_t block, int32_t n, supernode *s)
{
    candidate *list = MO_ARENA_ARRAY(a->arena, candidate, n);
    int32_t *child = a->work[0], *sibling = a->work[1];
    if (!list) return false;
    for (int32_t k = 0; k < n; k++) child[k] = -1;
    for (int32_t p = 0; p < n; p++) {
        int32_t children = 0;
        for (int32_t k = child[p]; k >= 0; k = sibling[k]) list[children++] = (candidate){s[k].below, k};
        qsort(list, (size_t)children, sizeof *list, by_rows_below);
        for (int32_t k = 0; k < children; k++) {
            supernode *c = &s[list[k].node];
            if (!worth_joining(c, &s[p], block)) continue;
            c->into = p;
            s[p].columns += c->columns, s[p].entries += c->entries;
        }
        if (s[p].parent >= 0) sibling[p] = child[s[p].parent], child[s[p].parent] = p;
    }
    for (int32_t k = n - 1; k >= 0; k--)
        if (s[k].into != k) s[k].into = s[s[k].into].into; // parents are done before
    return true;
}

// Numbers the joined supernodes and their columns anew: fills first, parent, order, place.
static void number_supernodes(analysis *a, int32_t n, const supernode *s, mo_cholesky *c)
{
    int32_t *number = a->work[4], *up = a->count, *post = a->parent; // what they held is not needed any more
    int32_t kept = 0;
    for (int32_t k = 0; k < n; k++)
        if (s[k].into == k) number[k] = kept++;
    for (int32_t k = 0; k < n; k++) {
        if (s[k].into != k) continue;
        up[number[k]] = s[k].parent < 0 ? -1 : number[s[s[k].parent].into];
    }
    for (int32_t k = 0; k < n; k++)
        if (s[k].into != k) number[k] = number[s[k].into];
    postorder(kept, up, post, a->work[0], a->work[1], a->work[2]);
    int32_t *rank = a->work[0];
    for (int32_t k = 0; k < kept; k++) rank[post[k]] = k;
    c->nodes = kept;
    for (int32_t k = 0; k < kept; k++) c->parent[rank[k]] = up[k] < 0 ? -1 : rank[up[k]];
    // Columns: by supernode, those of the first to be eliminated first.
    memset(c->first, 0, sizeof(int32_t) * ((size_t)kept + 1));
    for (int32_t i = 0; i < a->n; i++) c->first[rank[number[a->node[i]]] + 1]++;
    for (int32_t k = 0; k < kept; k++) c->first[k + 1] += c->first[k];
    int32_t *next = a->work[1], *columns = a->work[2];
    memcpy(next, c->first, sizeof(int32_t) * (size_t)kept);
    for (int32_t i = 0; i < a->n; i++) columns[next[rank[number[a->node[i]]]]++] = i;
    reorder(a, columns);
}

static int by_number(const void *x, const void *y)
{
    int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
    return (a > b) - (a < b);
}

// Rows below a supernode: those of its columns of A and of its children, without its own.
static bool find_rows(analysis *a, mo_cholesky *c)
{
    int32_t *seen = a->work[0];
    int64_t capacity = 0, at = 0;
    for (int32_t i = 0; i < a->n; i++) seen[i] = c->child[i] = c->sibling[i] = -1;
    c->below[0] = 0;
    for (int32_t s = 0; s < c->nodes; s++) {
        int32_t end = c->first[s + 1];
        int64_t begin = at;
        if (!mo_reserve((void **)&c->vertex, &capacity, at + a->n - end + 1, sizeof(int32_t))) return false;
        for (int32_t i = c->first[s]; i < end; i++) {
            int32_t v = a->order[i];
            for (int32_t e = a->g->start[v]; e < a->g->start[v + 1]; e++) {
                int32_t k = a->place[a->g->neighbour[e]];
                if (k >= end && seen[k] != s) seen[k] = s, c->vertex[at++] = k;
            }
        }
        for (int32_t d = c->child[s]; d >= 0; d = c->sibling[d])
            for (int64_t e = c->below[d]; e < c->below[d + 1]; e++) {
                int32_t k = c->vertex[e];
                if (k >= end && seen[k] != s) seen[k] = s, c->vertex[at++] = k;
            }
        qsort(c->vertex + begin, (size_t)(at - begin), sizeof(int32_t), by_number);
        c->below[s + 1] = at;
        if (c->parent[s] >= 0) c->sibling[s] = c->child[c->parent[s]], c->child[c->parent[s]] = s;
    }
    return true;
}

// Where the rows below a supernode are in its parent's front, the padding of the parent's own rows counted.
static void find_targets(mo_cholesky *c)
{
    for (int32_t s = 0; s < c->nodes; s++) {
        int32_t p = c->parent[s];
        if (p < 0) continue;
        int32_t first = c->first[p], end = c->first[p + 1], width = LANES * mo_strips(mo_node_columns(c, p));
        int64_t at = c->below[p];
        for (int64_t e = c->below[s]; e < c->below[s + 1]; e++) {
            int32_t k = c->vertex[e];
            if (k < end) {
                c->into[e] = (k - first) * c->block;
                continue;
            }
            while (c->vertex[at] != k) at++;
            c->into[e] = width + (int32_t)(at - c->below[p]) * c->block;
        }
    }
}

static void find_panels(mo_cholesky *c)
{
    c->panel[0] = 0;
    for (int32_t s = 0; s < c->nodes; s++) {
        int32_t columns = LANES * mo_strips(mo_node_columns(c, s)), below = LANES * mo_strips(mo_node_below(c, s));
        c->panel[s + 1] = c->panel[s] + (int64_t)columns * (columns + below);
        if (columns > c->widest) c->widest = columns;
        if (below > c->longest) c->longest = below;
    }
}

// Puts subtrees with less than a sixteenth of L into bins, each into the emptiest; the rest is above all of them.
static bool fill_bins(mo_arena *arena, mo_cholesky *c)
{
    int64_t *size = MO_ARENA_ARRAY(arena, int64_t, c->nodes), total = c->panel[c->nodes], filled[MO_BINS] = {0};
    int32_t *bin = MO_ARENA_ARRAY(arena, int32_t, c->nodes);
    if (!size || !bin) return false;
    c->bins = total < PARALLEL_LEAST ? 1 : MO_BINS;
    for (int32_t s = 0; s < c->nodes; s++) size[s] = 0;
    for (int32_t s = 0; s < c->nodes; s++) { // of the subtree
        size[s] += c->panel[s + 1] - c->panel[s];
        if (c->parent[s] >= 0) size[c->parent[s]] += size[s];
    }
    for (int32_t s = c->nodes - 1; s >= 0; s--) {
        int32_t p = c->parent[s], least = 0;
        for (int32_t b = 1; b < c->bins; b++)
            if (filled[b] < filled[least]) least = b;
        if (p >= 0 && bin[p] < c->bins)
            bin[s] = bin[p];
        else if (c->bins == 1 || size[s] <= total / (2 * MO_BINS))
            bin[s] = least, filled[least] += size[s];
        else
            bin[s] = c->bins;
    }
    int32_t at = 0;
    for (int32_t b = 0; b <= c->bins; b++) {
        c->bin[b] = at;
        for (int32_t s = 0; s < c->nodes; s++)
            if (bin[s] == b) c->turn[at++] = s;
    }
    c->bin[c->bins + 1] = at;
    return true;
}

// Places of the updates: a stack for each bin, and one for the rest. A new update comes on top of those of the
// children, and takes their place when they are used up; those of another bin stay.
static bool find_places(mo_arena *arena, mo_cholesky *c)
{
    int64_t *pending = MO_ARENA_ARRAY(arena, int64_t, c->nodes); // doubles of the children in the same bin
    int32_t *bin = MO_ARENA_ARRAY(arena, int32_t, c->nodes);
    if (!pending || !bin) return false;
    for (int32_t b = 0; b <= c->bins; b++)
        for (int32_t k = c->bin[b]; k < c->bin[b + 1]; k++) bin[c->turn[k]] = b, pending[c->turn[k]] = 0;
    for (int32_t b = 0; b <= c->bins; b++) {
        int64_t top = c->stack;
        for (int32_t k = c->bin[b]; k < c->bin[b + 1]; k++) {
            int32_t s = c->turn[k], p = c->parent[s];
            int64_t update = mo_triangle(mo_strips(mo_node_below(c, s)));
            c->fresh[s] = top, c->kept[s] = top - pending[s];
            if (top + update > c->stack) c->stack = top + update;
            top = c->kept[s] + update;
            if (p >= 0 && bin[p] == b) pending[p] += update;
        }
    }
    return true;
}

static void count_entries(const analysis *a, mo_cholesky *c)
{
    c->entries = 0;
    for (int32_t i = 0; i < a->n; i++) {
        int64_t n = a->count[i];
        c->entries += (int64_t)c->block * c->block * n + c->block * (c->block + 1) / 2;
    }
}

static bool analysis_create(const mo_graph *g, mo_arena *arena, mo_cholesky *c, analysis *a)
{
    int32_t n = g->n;
    *a = (analysis){.g = g, .n = n, .order = c->order, .place = c->place, .arena = arena};
    int32_t *numbers = MO_ARENA_ARRAY(arena, int32_t, 8 * (int64_t)n);
    if (!numbers) return false;
    for (int k = 0; k < 5; k++, numbers += n) a->work[k] = numbers;
    a->parent = numbers, a->count = numbers + n, a->node = numbers + 2 * (int64_t)n;
    return true;
}

static mo_status analyse(const mo_csr *A, mo_cholesky *c, mo_arena *arena, mo_error *err)
{
    mo_graph g;
    analysis a;
    MO_TRY(vertex_graph(A, c->block, arena, &g, err));
    bool ordered = c->groups ? mo_cholesky_order_groups(&g, c->groups, c->group, c->order, arena)
                             : mo_graph_dissect(&g, c->order, arena);
    if (!ordered || !analysis_create(&g, arena, c, &a)) return mo_fail_memory(err);
    for (int32_t k = 0; k < g.n; k++) c->place[c->order[k]] = k;
    elimination_tree(&a);
    postorder(g.n, a.parent, a.work[3], a.work[0], a.work[1], a.work[2]);
    reorder(&a, a.work[3]);
    elimination_tree(&a);
    column_counts(&a);
    count_entries(&a, c);
    supernode *s = MO_ARENA_ARRAY(arena, supernode, g.n);
    if (!s) return mo_fail_memory(err);
    int32_t n = find_supernodes(&a, s);
    if (!join_supernodes(&a, c->block, n, s)) return mo_fail_memory(err);
    number_supernodes(&a, n, s, c);
    if (!find_rows(&a, c)) return mo_fail_memory(err);
    c->into = mo_alloc(sizeof(int32_t) * (size_t)c->below[c->nodes]);
    if (!c->into) return mo_fail_memory(err);
    find_targets(c);
    find_panels(c);
    return fill_bins(arena, c) && find_places(arena, c) ? MO_OK : mo_fail_memory(err);
}

mo_status mo_cholesky_analyse(const mo_csr *A, mo_cholesky *c, mo_error *err)
{
    mo_arena *arena = mo_arena_create();
    mo_status status = arena ? analyse(A, c, arena, err) : mo_fail_memory(err);
    mo_arena_destroy(arena);
    return status;
}
