// Nested dissection: both halves of a graph are eliminated before the separator. Small pieces are eliminated by minimum
// degree, in which their neighbours in the separators around them count (Pellegrini, Roman, Amestoy 2000).
#include "sparse/graph.h"
#include <string.h>

enum { LEAF = 50, DENSE_MOST = 4000, LOW_DEGREE_MOST = 30 };
static const double LOW_DEGREE = 0.6; // of the mean number of neighbours

typedef struct dissection {
    const mo_graph *g; // the whole
    int32_t *place;    // [n] vertex of a leaf or beside it -> its number there
    uint32_t *seen;    // [n] the leaf in which place is valid
    uint32_t leaf;
    mo_arena *arena;
} dissection;

// ---- Leaves ----

static int32_t number_of(dissection *d, int32_t v, int32_t *count)
{
    if (d->seen[v] != d->leaf) d->seen[v] = d->leaf, d->place[v] = (*count)++;
    return d->place[v];
}

// Neighbours of the leaf's vertices as sets of bits, of which the first n are the leaf itself. Returns the number of
// words of a set, -1: no memory.
static int32_t leaf_sets(dissection *d, const int32_t *list, int32_t n, uint64_t **sets)
{
    const mo_graph *g = d->g;
    int32_t count = 0;
    d->leaf++;
    for (int32_t k = 0; k < n; k++) number_of(d, list[k], &count);
    for (int32_t k = 0; k < n; k++)
        for (int32_t e = g->start[list[k]]; e < g->start[list[k] + 1]; e++) number_of(d, g->neighbour[e], &count);
    int32_t words = (count + 63) / 64;
    size_t bytes = sizeof(uint64_t) * (size_t)words * (size_t)n;
    *sets = mo_arena_alloc(d->arena, bytes);
    if (!*sets) return -1;
    memset(*sets, 0, bytes);
    for (int32_t k = 0; k < n; k++)
        for (int32_t e = g->start[list[k]]; e < g->start[list[k] + 1]; e++) {
            int32_t u = d->place[g->neighbour[e]];
            (*sets)[(int64_t)k * words + u / 64] |= (uint64_t)1 << u % 64;
        }
    return words;
}

static int32_t bits_of(const uint64_t *set, int32_t words)
{
    int32_t bits = 0;
    for (int32_t w = 0; w < words; w++) bits += __builtin_popcountll(set[w]);
    return bits;
}

// Eliminates the vertex v of a leaf: its neighbours become neighbours of each other.
static void eliminate(uint64_t *sets, int32_t words, int32_t n, int32_t v, int32_t *degree)
{
    const uint64_t *mine = sets + (int64_t)v * words;
    for (int32_t u = 0; u < n; u++) {
        if (!(mine[u / 64] >> u % 64 & 1)) continue;
        uint64_t *set = sets + (int64_t)u * words;
        for (int32_t w = 0; w < words; w++) set[w] |= mine[w];
        set[u / 64] &= ~((uint64_t)1 << u % 64), set[v / 64] &= ~((uint64_t)1 << v % 64);
        degree[u] = bits_of(set, words);
    }
}

static bool order_leaf(dissection *d, const int32_t *list, int32_t n, int32_t *order)
{
    size_t mark = mo_arena_mark(d->arena);
    uint64_t *sets;
    int32_t words = leaf_sets(d, list, n, &sets), *degree = MO_ARENA_ARRAY(d->arena, int32_t, n);
    bool ok = words >= 0 && degree;
    for (int32_t k = 0; ok && k < n; k++) degree[k] = bits_of(sets + (int64_t)k * words, words);
    for (int32_t k = 0; ok && k < n; k++) {
        int32_t v = -1;
        for (int32_t u = 0; u < n; u++)
            if (degree[u] >= 0 && (v < 0 || degree[u] < degree[v])) v = u;
        order[k] = list[v];
        eliminate(sets, words, n, v, degree);
        degree[v] = -1;
    }
    mo_arena_release(d->arena, mark);
    return ok;
}

// ---- Recursion ----

// The subgraph of the vertices on one side; `list` gets their numbers in the whole.
static bool subgraph(const mo_graph *g, const int32_t *list, const uint8_t *side, uint8_t which, mo_graph *out,
                     int32_t **out_list, mo_arena *arena)
{
    int32_t n = 0, edges = 0, *place = MO_ARENA_ARRAY(arena, int32_t, g->n);
    if (!place) return false;
    for (int32_t v = 0; v < g->n; v++) {
        if (side[v] != which) continue;
        place[v] = n++;
        for (int32_t e = g->start[v]; e < g->start[v + 1]; e++) edges += side[g->neighbour[e]] == which;
    }
    *out = (mo_graph){n, MO_ARENA_ARRAY(arena, int32_t, n + 1), MO_ARENA_ARRAY(arena, int32_t, edges),
                      MO_ARENA_ARRAY(arena, int32_t, n), MO_ARENA_ARRAY(arena, int32_t, edges)};
    *out_list = MO_ARENA_ARRAY(arena, int32_t, n);
    if (!out->start || !out->neighbour || !out->weight || !out->bond || !*out_list) return false;
    n = edges = out->start[0] = 0;
    for (int32_t v = 0; v < g->n; v++) {
        if (side[v] != which) continue;
        for (int32_t e = g->start[v]; e < g->start[v + 1]; e++)
            if (side[g->neighbour[e]] == which)
                out->neighbour[edges] = place[g->neighbour[e]], out->bond[edges++] = g->bond[e];
        (*out_list)[n] = list[v], out->weight[n] = g->weight[v];
        out->start[++n] = edges;
    }
    return true;
}

static bool dissect(dissection *d, const mo_graph *g, const int32_t *list, int32_t *order)
{
    if (g->n <= LEAF) return order_leaf(d, list, g->n, order);
    size_t mark = mo_arena_mark(d->arena);
    int32_t n[3] = {0}, at = 0;
    uint8_t *side = MO_ARENA_ARRAY(d->arena, uint8_t, g->n);
    if (!side || !mo_graph_bisect(g, side, d->arena)) return false;
    for (int32_t v = 0; v < g->n; v++) n[side[v]]++;
    bool ok = true;
    if (n[MO_SIDE_FIRST] == 0 || n[MO_SIDE_SECOND] == 0) { // no separator: everything hangs together
        if (g->n <= DENSE_MOST)
            ok = order_leaf(d, list, g->n, order);
        else
            memcpy(order, list, sizeof(int32_t) * (size_t)g->n);
        mo_arena_release(d->arena, mark);
        return ok;
    }
    for (uint8_t k = 0; k < 2 && ok; k++) {
        size_t inner = mo_arena_mark(d->arena);
        mo_graph part;
        int32_t *part_list;
        ok = subgraph(g, list, side, k, &part, &part_list, d->arena) && dissect(d, &part, part_list, order + at);
        at += n[k];
        mo_arena_release(d->arena, inner);
    }
    for (int32_t v = 0; v < g->n; v++)
        if (side[v] == MO_SIDE_BETWEEN) order[at++] = list[v];
    mo_arena_release(d->arena, mark);
    return ok;
}

// ---- Vertices with few neighbours ----

// Marks vertices that are eliminated first: no two of them are neighbours, and each has much fewer neighbours than
// usual. Lattices of tetrahedra have many; separators are better made of the others. Returns how many.
static int32_t mark_first(const mo_graph *g, uint8_t *first)
{
    int32_t marked = 0;
    double most = LOW_DEGREE * g->start[g->n] / (g->n > 0 ? g->n : 1);
    if (most > LOW_DEGREE_MOST) most = LOW_DEGREE_MOST; // an elimination makes that many edges, squared
    memset(first, 0, (size_t)g->n);
    for (int32_t v = 0; v < g->n; v++) {
        bool free = g->start[v + 1] - g->start[v] <= most;
        for (int32_t e = g->start[v]; e < g->start[v + 1] && free; e++) free = !first[g->neighbour[e]];
        first[v] = free, marked += free;
    }
    return marked;
}

// Neighbours of u when the marked vertices are eliminated; with `to` NULL they are only counted.
static int32_t reduced_neighbours(const mo_graph *g, const uint8_t *first, const int32_t *place, int32_t u,
                                  int32_t *seen, int32_t *to)
{
    int32_t n = 0;
    seen[u] = u;
    for (int32_t e = g->start[u]; e < g->start[u + 1]; e++) {
        int32_t v = g->neighbour[e];
        int32_t k = first[v] ? g->start[v] : e, end = first[v] ? g->start[v + 1] : e + 1;
        for (; k < end; k++) {
            int32_t w = g->neighbour[k];
            if (seen[w] == u) continue;
            seen[w] = u;
            if (to) to[n] = place[w];
            n++;
        }
    }
    return n;
}

static bool reduce(const mo_graph *g, const uint8_t *first, int32_t n, mo_graph *out, int32_t *list, mo_arena *arena)
{
    int32_t *place = MO_ARENA_ARRAY(arena, int32_t, g->n), *seen = MO_ARENA_ARRAY(arena, int32_t, g->n);
    int64_t edges = 0;
    *out = (mo_graph){n, MO_ARENA_ARRAY(arena, int32_t, n + 1), NULL, MO_ARENA_ARRAY(arena, int32_t, n), NULL};
    if (!place || !seen || !out->start || !out->weight) return false;
    n = out->start[0] = 0;
    for (int32_t v = 0; v < g->n; v++) {
        seen[v] = -1;
        if (!first[v]) list[n] = v, out->weight[n] = 1, place[v] = n++;
    }
    for (int32_t k = 0; k < n; k++) {
        edges += reduced_neighbours(g, first, place, list[k], seen, NULL);
        if (edges > INT32_MAX) return false;
        out->start[k + 1] = (int32_t)edges;
    }
    out->neighbour = MO_ARENA_ARRAY(arena, int32_t, edges), out->bond = MO_ARENA_ARRAY(arena, int32_t, edges);
    if (!out->neighbour || !out->bond) return false;
    for (int32_t v = 0; v < g->n; v++) seen[v] = -1;
    for (int32_t k = 0; k < n; k++) reduced_neighbours(g, first, place, list[k], seen, out->neighbour + out->start[k]);
    for (int32_t e = 0; e < edges; e++) out->bond[e] = 1;
    return true;
}

static bool order_graph(const mo_graph *g, int32_t *order, mo_arena *arena)
{
    int32_t *list = MO_ARENA_ARRAY(arena, int32_t, g->n), *inner = MO_ARENA_ARRAY(arena, int32_t, g->n);
    uint8_t *first = MO_ARENA_ARRAY(arena, uint8_t, g->n);
    if (!list || !inner || !first) return false;
    mo_graph rest;
    int32_t at = 0, n = g->n - mark_first(g, first);
    if (!reduce(g, first, n, &rest, list, arena)) return false;
    for (int32_t v = 0; v < g->n; v++)
        if (first[v]) order[at++] = v;
    dissection d = {&rest, MO_ARENA_ARRAY(arena, int32_t, n), MO_ARENA_ARRAY(arena, uint32_t, n), 0, arena};
    if (!d.place || !d.seen) return false;
    for (int32_t k = 0; k < n; k++) inner[k] = k, d.seen[k] = 0;
    if (!dissect(&d, &rest, inner, order + at)) return false;
    for (; at < g->n; at++) order[at] = list[order[at]];
    return true;
}

bool mo_graph_dissect(const mo_graph *g, int32_t *order, mo_arena *arena)
{
    size_t mark = mo_arena_mark(arena);
    bool ok = order_graph(g, order, arena);
    mo_arena_release(arena, mark);
    return ok;
}
