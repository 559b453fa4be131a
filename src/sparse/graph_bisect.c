// Multilevel bisection: vertices are joined in pairs along their strongest bonds until few are left, the separator of
// these is taken back to the finer graphs, and refined on each.
#include "base/parallel.h"
#include "sparse/graph.h"
#include <string.h>

enum { COARSEST = 50, SEEDS = 4, TRIALS = 4 };

// Vertices in an order that is mixed, those with few neighbours first: they have the least choice.
static bool visiting_order(const mo_graph *g, uint32_t trial, int32_t *order, mo_arena *arena)
{
    int32_t n = g->n, keys = 0;
    int32_t *mixed = MO_ARENA_ARRAY(arena, int32_t, n), *key = MO_ARENA_ARRAY(arena, int32_t, n);
    if (!mixed || !key) return false;
    for (int32_t v = 0; v < n; v++) mixed[v] = v;
    for (int32_t v = n - 1; v > 0; v--) {
        int32_t u = (int32_t)(mo_hash((uint32_t)v, (uint32_t)n, trial) % (uint32_t)(v + 1)), t = mixed[v];
        mixed[v] = mixed[u], mixed[u] = t;
    }
    for (int32_t k = 0; k < n; k++) {
        key[k] = g->start[mixed[k] + 1] - g->start[mixed[k]];
        if (key[k] >= keys) keys = key[k] + 1;
    }
    int32_t *start = MO_ARENA_ARRAY(arena, int32_t, keys + 1);
    if (!start || !mo_counting_sort(n, key, keys, start, order, arena)) return false;
    for (int32_t k = 0; k < n; k++) order[k] = mixed[order[k]];
    return true;
}

// Pairs vertices: joint[v] is the coarse vertex that v goes into, in which no more than `most` are joined. Returns
// their number.
static int32_t match(const mo_graph *g, const int32_t *order, int32_t most, int32_t *joint)
{
    int32_t coarse = 0;
    for (int32_t v = 0; v < g->n; v++) joint[v] = -1;
    for (int32_t k = 0; k < g->n; k++) {
        int32_t v = order[k], best = -1, bond = 0;
        if (joint[v] >= 0) continue;
        for (int32_t e = g->start[v]; e < g->start[v + 1]; e++) {
            int32_t u = g->neighbour[e];
            if (joint[u] >= 0 || g->weight[u] + g->weight[v] > most) continue;
            bool lighter = best >= 0 && g->bond[e] == bond && g->weight[u] < g->weight[best];
            if (g->bond[e] > bond || lighter) best = u, bond = g->bond[e];
        }
        joint[v] = coarse;
        if (best >= 0) joint[best] = coarse;
        coarse++;
    }
    return coarse;
}

// The edges of one coarse vertex are those of its fine vertices, added up; `at` finds those already there.
static void join(const mo_graph *g, const int32_t *joint, const int32_t member[2], int32_t c, mo_graph *out,
                 int32_t *at)
{
    int32_t begin = out->start[c], end = begin;
    out->weight[c] = 0;
    for (int k = 0; k < 2 && member[k] >= 0; k++) {
        int32_t v = member[k];
        out->weight[c] += g->weight[v];
        for (int32_t e = g->start[v]; e < g->start[v + 1]; e++) {
            int32_t d = joint[g->neighbour[e]];
            if (d == c) continue;
            if (at[d] < begin) at[d] = end, out->neighbour[end] = d, out->bond[end++] = 0;
            out->bond[at[d]] += g->bond[e];
        }
    }
    out->start[c + 1] = end;
}

static bool contract(const mo_graph *g, const int32_t *joint, int32_t n, mo_graph *out, mo_arena *arena)
{
    int32_t edges = g->start[g->n];
    *out = (mo_graph){n, MO_ARENA_ARRAY(arena, int32_t, n + 1), MO_ARENA_ARRAY(arena, int32_t, edges),
                      MO_ARENA_ARRAY(arena, int32_t, n), MO_ARENA_ARRAY(arena, int32_t, edges)};
    int32_t *at = MO_ARENA_ARRAY(arena, int32_t, n), (*member)[2] = mo_arena_alloc(arena, sizeof *member * (size_t)n);
    if (!out->start || !out->neighbour || !out->weight || !out->bond || !at || !member) return false;
    for (int32_t c = 0; c < n; c++) at[c] = -1, member[c][0] = member[c][1] = -1;
    for (int32_t v = 0; v < g->n; v++) member[joint[v]][member[joint[v]][0] >= 0] = v;
    out->start[0] = 0;
    for (int32_t c = 0; c < n; c++) join(g, joint, member[c], c, out, at);
    return true;
}

// The best of separators grown from several seeds.
static bool separate(const mo_graph *g, uint8_t *side, mo_arena *arena)
{
    mo_separator s;
    uint8_t *best = MO_ARENA_ARRAY(arena, uint8_t, g->n);
    int32_t size[3] = {0};
    if (!best || !mo_separator_create(g, side, arena, &s)) return false;
    for (int32_t k = 0; k < SEEDS; k++) {
        mo_separator_grow(&s, (int32_t)(mo_hash((uint32_t)g->n, (uint32_t)k, 2) % (uint32_t)g->n));
        mo_separator_refine(&s);
        if (k > 0 && !mo_separator_better(s.size, size)) continue;
        memcpy(best, side, (size_t)g->n);
        memcpy(size, s.size, sizeof size);
    }
    memcpy(side, best, (size_t)g->n);
    return true;
}

static bool bisect(const mo_graph *g, int32_t most, uint32_t trial, uint8_t *side, mo_arena *arena)
{
    if (g->n <= COARSEST) return separate(g, side, arena);
    int32_t *order = MO_ARENA_ARRAY(arena, int32_t, g->n), *joint = MO_ARENA_ARRAY(arena, int32_t, g->n);
    if (!order || !joint || !visiting_order(g, trial, order, arena)) return false;
    int32_t n = match(g, order, most, joint);
    if (n > g->n - g->n / 10) return separate(g, side, arena); // hardly any pairs: a star
    mo_graph coarse;
    mo_separator s;
    uint8_t *coarse_side = MO_ARENA_ARRAY(arena, uint8_t, n);
    if (!coarse_side || !contract(g, joint, n, &coarse, arena)) return false;
    if (!bisect(&coarse, most, trial, coarse_side, arena) || !mo_separator_create(g, side, arena, &s)) return false;
    for (int32_t v = 0; v < g->n; v++) side[v] = coarse_side[joint[v]];
    mo_separator_refine(&s);
    return true;
}

// The best of several trials, whose vertices are joined in different orders.
bool mo_graph_bisect(const mo_graph *g, uint8_t *side, mo_arena *arena)
{
    size_t mark = mo_arena_mark(arena);
    int64_t total = 0;
    for (int32_t v = 0; v < g->n; v++) total += g->weight[v];
    int32_t most = (int32_t)(total * 3 / (2 * COARSEST)) + 1, best[3] = {0};
    uint8_t *trial_side = MO_ARENA_ARRAY(arena, uint8_t, g->n);
    bool ok = trial_side != NULL;
    for (uint32_t trial = 0; trial < TRIALS && ok; trial++) {
        size_t inner = mo_arena_mark(arena);
        int32_t size[3] = {0};
        ok = bisect(g, most, trial, trial_side, arena);
        for (int32_t v = 0; v < g->n && ok; v++) size[trial_side[v]] += g->weight[v];
        if (ok && (trial == 0 || mo_separator_better(size, best)))
            memcpy(best, size, sizeof size), memcpy(side, trial_side, (size_t)g->n);
        mo_arena_release(arena, inner);
    }
    mo_arena_release(arena, mark);
    return ok;
}
