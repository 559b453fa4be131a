// The order of elimination where rows come in groups of any size, as the unknowns of a vertex and what hangs on it do:
// nested dissection of the graph of groups.
#include "sparse/cholesky_parts.h"
#include "sparse/graph.h"
#include <string.h>

typedef struct grouped { // vertices of each group: list[first[k]] .. list[first[k + 1] - 1], ascending
    int32_t *first, *list;
} grouped;

static bool list_groups(int32_t n, int32_t groups, const int32_t *group, mo_arena *arena, grouped *out)
{
    out->first = MO_ARENA_ARRAY(arena, int32_t, groups + 2), out->list = MO_ARENA_ARRAY(arena, int32_t, n);
    if (!out->first || !out->list) return false;
    memset(out->first, 0, sizeof(int32_t) * ((size_t)groups + 2));
    int32_t *next = out->first + 1; // where the next vertex of a group goes, which ends as its first + 1
    for (int32_t v = 0; v < n; v++) next[group[v] + 1]++;
    for (int32_t k = 1; k <= groups; k++) next[k] += next[k - 1];
    for (int32_t v = 0; v < n; v++) out->list[next[group[v]]++] = v;
    return true;
}

// Neighbours of every group, none twice; with q->neighbour NULL they are only counted.
static void group_neighbours(const mo_graph *g, const int32_t *group, const grouped *of, int32_t *place, mo_graph *q)
{
    int32_t at = 0;
    for (int32_t k = 0; k < q->n; k++) place[k] = -1;
    for (int32_t k = 0; k < q->n; k++) {
        int32_t from = at;
        for (int32_t m = of->first[k]; m < of->first[k + 1]; m++)
            for (int32_t e = g->start[of->list[m]]; e < g->start[of->list[m] + 1]; e++) {
                int32_t other = group[g->neighbour[e]];
                if (other == k) continue;
                if (place[other] < from) {
                    place[other] = at;
                    if (q->neighbour) q->neighbour[at] = other, q->bond[at] = 0;
                    at++;
                }
                if (q->neighbour) q->bond[place[other]]++;
            }
        q->start[k + 1] = at;
    }
}

bool mo_cholesky_order_groups(const mo_graph *g, int32_t groups, const int32_t *group, int32_t *order, mo_arena *arena)
{
    mo_graph q = {.n = groups};
    grouped of;
    int32_t *place = MO_ARENA_ARRAY(arena, int32_t, groups + 1), *turn = MO_ARENA_ARRAY(arena, int32_t, groups + 1);
    q.start = MO_ARENA_ARRAY(arena, int32_t, groups + 1), q.weight = MO_ARENA_ARRAY(arena, int32_t, groups + 1);
    if (!place || !turn || !q.start || !q.weight || !list_groups(g->n, groups, group, arena, &of)) return false;
    q.start[0] = 0;
    group_neighbours(g, group, &of, place, &q);
    q.neighbour = MO_ARENA_ARRAY(arena, int32_t, q.start[groups] + 1);
    q.bond = MO_ARENA_ARRAY(arena, int32_t, q.start[groups] + 1);
    if (!q.neighbour || !q.bond) return false;
    group_neighbours(g, group, &of, place, &q);
    for (int32_t k = 0; k < groups; k++) q.weight[k] = of.first[k + 1] - of.first[k];
    if (!mo_graph_dissect(&q, turn, arena)) return false;
    for (int32_t k = 0, at = 0; k < groups; k++)
        for (int32_t m = of.first[turn[k]]; m < of.first[turn[k] + 1]; m++) order[at++] = of.list[m];
    return true;
}
