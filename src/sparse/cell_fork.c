// Building the next level of the multigrid hierarchy where rows fork: cells that sheets divide have
// several rows, and a block of 2 x 2 x 2 cells several groups.
#include "base/parallel.h"
#include "sparse/cell_level_build.h"
#include <math.h>
#include <string.h>

enum { SMALL = 4096 };

typedef struct coupling {  // of a group with another one
    int32_t to, direction; // group; 0..5
    float couple;
} coupling;

typedef struct workspace {
    int64_t *first; // [groups + 1] couplings of each group, some of them unused
    int32_t *count; // [groups] of them that are in use
    coupling *all;
    int32_t *start, *members; // [groups + 1] members of each group, in their order
    uint8_t *fork;            // [groups] the group does not fit its slots
    uint8_t *odd;             // [groups] its members go to the next level by the list
} workspace;

static void workspace_destroy(workspace *w)
{
    mo_free(w->first), mo_free(w->count), mo_free(w->all), mo_free(w->start), mo_free(w->members), mo_free(w->fork);
    mo_free(w->odd);
}

static int64_t more_entries(const mo_cell_level *l, int32_t i)
{
    return i < l->plain ? 0 : l->more.row[i - l->plain + 1] - l->more.row[i - l->plain];
}

static mo_status workspace_create(const mo_cell_level *l, const mo_aggregates *g, workspace *w)
{
    size_t groups = (size_t)g->count;
    *w = (workspace){.first = mo_calloc(sizeof(int64_t) * (groups + 1)), .count = mo_calloc(sizeof(int32_t) * groups)};
    w->start = mo_calloc(sizeof(int32_t) * (groups + 2)), w->members = mo_alloc(sizeof(int32_t) * (size_t)l->rows);
    w->fork = mo_calloc(groups), w->odd = mo_calloc(groups);
    if (!w->first || !w->count || !w->start || !w->members || !w->fork || !w->odd) return MO_ERROR_MEMORY;
    for (int32_t i = 0; i < l->rows; i++)
        if (g->of[i] >= 0) w->first[g->of[i] + 1] += 3 + more_entries(l, i), w->start[g->of[i] + 2]++;
    for (int32_t e = 0; e < g->count; e++) w->first[e + 1] += w->first[e], w->start[e + 2] += w->start[e + 1];
    for (int32_t k = 0; k < l->rows; k++) {
        int32_t i = l->order[k];
        if (g->of[i] >= 0) w->members[w->start[g->of[i] + 1]++] = i;
    }
    w->all = mo_alloc(sizeof(coupling) * (size_t)w->first[groups]);
    return w->all ? MO_OK : MO_ERROR_MEMORY;
}

// ---- Couplings of groups ----

static void add(workspace *w, int32_t e, int32_t to, int32_t direction, float couple)
{
    coupling *c = w->all + w->first[e];
    int32_t k = 0;
    while (k < w->count[e] && (c[k].to != to || c[k].direction != direction)) k++;
    if (k == w->count[e]) c[w->count[e]++] = (coupling){to, direction, 0};
    c[k].couple += couple;
}

static void sum_group(const mo_cell_level *l, const mo_aggregates *g, workspace *w, int32_t e)
{
    float half = l->linear ? 0.5f : 1;
    for (int32_t m = w->start[e]; m < w->start[e + 1]; m++) {
        int32_t i = w->members[m];
        for (int32_t a = 0; a < 3; a++) { // couplings in the other direction stay inside the block, in the group
            int32_t h = 2 * a + (l->coord[i][a] & 1);
            if (l->near[i][h] != i) add(w, e, g->of[l->near[i][h]], h, half * l->couple[i][h]);
        }
        for (int64_t k = 0; k < more_entries(l, i); k++) {
            int64_t at = l->more.row[i - l->plain] + k;
            int32_t j = l->more.col[at];
            if (g->of[j] != e)
                add(w, e, g->of[j], mo_cell_level_direction(l->coord[i], l->coord[j]), half * (float)l->more.val[at]);
        }
    }
    uint32_t seen = 0;
    for (int32_t k = 0; k < w->count[e]; k++) {
        uint32_t bit = 1u << w->all[w->first[e] + k].direction;
        w->fork[e] |= (seen & bit) != 0;
        seen |= bit;
    }
}

// ---- Rows of the next level ----

static mo_status list_more(const mo_aggregates *g, const workspace *w, mo_cell_level *next)
{
    int64_t entries = 0;
    for (int32_t e = 0; e < g->count; e++)
        if (w->fork[e]) entries += w->count[e];
    MO_TRY(mo_csr_create(next->rows - next->plain, next->rows, entries, &next->more));
    return MO_OK;
}

// The strongest coupling of each direction goes into its slot, the others into the list, which ends at *at.
static void fill_group(const mo_cell_level *l, const mo_aggregates *g, const workspace *w, mo_cell_level *next,
                       int32_t e, int64_t *at)
{
    const coupling *c = w->all + w->first[e];
    int32_t p = g->number[e], strongest[6] = {-1, -1, -1, -1, -1, -1};
    float excess = 0, diagonal = 0;
    for (int32_t h = 0; h < 6; h++) next->near[p][h] = p, next->couple[p][h] = 0;
    for (int32_t m = w->start[e]; m < w->start[e + 1]; m++) excess += l->excess[w->members[m]];
    for (int32_t k = 0; k < w->count[e]; k++) {
        int32_t *s = &strongest[c[k].direction];
        if (*s < 0 || fabsf(c[k].couple) > fabsf(c[*s].couple)) *s = k;
        diagonal += c[k].couple;
    }
    for (int32_t k = 0; k < w->count[e]; k++) {
        int32_t h = c[k].direction;
        if (strongest[h] == k)
            next->near[p][h] = g->number[c[k].to], next->couple[p][h] = c[k].couple;
        else
            next->more.col[*at] = g->number[c[k].to], next->more.val[(*at)++] = c[k].couple;
    }
    if (w->fork[e]) next->more.row[p - next->plain + 1] = *at;
    next->excess[p] = excess, diagonal += excess;
    next->diagonal[p] = diagonal, next->inverse[p] = diagonal > 0 ? 1 / diagonal : 0;
}

// ---- Transfers ----

// Members of a group go by `child` if none of them forks, each cell has one, and all neighbours of the group see it in
// their slots.
static bool goes_by_list(const mo_cell_level *l, const mo_aggregates *g, const workspace *w, const mo_cell_level *next,
                         int32_t e)
{
    int32_t p = g->number[e];
    if (w->fork[e] || w->start[e + 1] - w->start[e] > 8) return true;
    for (int32_t h = 0; h < 6; h++)
        if (next->near[p][h] != p && next->near[next->near[p][h]][h ^ 1] != p) return true;
    uint32_t seen = 0;
    for (int32_t m = w->start[e]; m < w->start[e + 1]; m++) {
        int32_t i = w->members[m];
        uint32_t bit = 1u << mo_cell_level_corner(l->coord[i]);
        if (seen & bit || i >= l->plain) return true;
        seen |= bit;
    }
    return false;
}

static mo_cell_level_odd odd_member(const mo_cell_level *l, const mo_aggregates *g, int32_t i)
{
    int32_t parent = g->number[g->of[i]];
    mo_cell_level_odd odd = {.row = i, .corner = mo_cell_level_corner(l->coord[i]), .parent = parent};
    for (int32_t a = 0; a < 3; a++) {
        int32_t j = l->near[i][2 * a + (odd.corner >> a & 1)];
        odd.beside[a] = j != i ? g->number[g->of[j]] : parent;
    }
    return odd;
}

static mo_status find_transfers(mo_cell_level *l, const mo_aggregates *g, workspace *w, const mo_cell_level *next)
{
    memset(l->child, 0xff, sizeof *l->child * (size_t)g->count);
    for (int32_t e = 0; e < g->count; e++)
        if ((w->odd[e] = goes_by_list(l, g, w, next, e))) l->odds += w->start[e + 1] - w->start[e];
    l->odd = mo_alloc(sizeof *l->odd * (size_t)l->odds);
    if (!l->odd && l->odds) return MO_ERROR_MEMORY;
    int32_t at = 0;
    for (int32_t e = 0; e < g->count; e++)
        for (int32_t m = w->start[e]; m < w->start[e + 1]; m++) {
            int32_t i = w->members[m];
            if (w->odd[e])
                l->odd[at++] = odd_member(l, g, i);
            else
                l->child[g->number[e]][mo_cell_level_corner(l->coord[i])] = i;
        }
    return MO_OK;
}

static mo_status fork_level(mo_cell_level *l, mo_aggregates *g, workspace *w, mo_cell_level *next)
{
    MO_TRY(workspace_create(l, g, w));
#pragma omp parallel for schedule(static) if (g->count > SMALL)
    for (int32_t e = 0; e < g->count; e++) sum_group(l, g, w, e);
    MO_TRY(mo_aggregates_number(l, g, w->fork, next));
    MO_TRY(list_more(g, w, next));
    int64_t at = 0;
    for (int32_t e = 0; e < g->count; e++) fill_group(l, g, w, next, e, &at); // forked ones in their order
    return find_transfers(l, g, w, next);
}

mo_status mo_cell_level_fork(mo_cell_level *l, mo_aggregates *g, mo_cell_level *next)
{
    MO_ASSERT(g->count <= l->rows);
    workspace w;
    mo_status status = fork_level(l, g, &w, next);
    workspace_destroy(&w);
    return status;
}
