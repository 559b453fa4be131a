// Vertex separators: grown from a seed, and refined by moves of one vertex after another (Fiduccia, Mattheyses 1982, in
// the form of Ashcraft, Liu 1998): a vertex of the separator goes to one side, and its neighbours on the other side
// come into the separator. Moves that make the separator larger are tried too; in the end the best state is kept.
#include "sparse/graph.h"
#include <stdlib.h>

enum { PASSES = 8, PATIENCE_LEAST = 30, PATIENCE_MOST = 300 };

// A binary heap of vertices, the largest gain on top.
typedef struct heap {
    int32_t n;
    int32_t *item;  // [n]
    int32_t *place; // [vertices] -1: not in it
    int32_t *gain;  // [vertices]
} heap;

struct mo_separator_work {
    heap to[2];       // vertices of the separator by the gain of a move to either side
    int32_t *beyond;  // [2 n] weight of a separator vertex's neighbours on either side
    uint8_t *moved;   // [n] in this pass
    int32_t *log;     // [3 n] vertices moved (v) and drawn into the separator (-1 - v)
    int32_t recorded; // entries of it
};

static bool above(const heap *h, int32_t a, int32_t b)
{
    int32_t x = h->gain[a], y = h->gain[b];
    return x > y || (x == y && a < b); // by number, so that the heap's history does not matter
}

static void settle(heap *h, int32_t at, int32_t v)
{
    for (int32_t up; at > 0 && above(h, v, h->item[up = (at - 1) / 2]); at = up)
        h->place[h->item[at] = h->item[up]] = at;
    for (int32_t down; (down = 2 * at + 1) < h->n; at = down) {
        if (down + 1 < h->n && above(h, h->item[down + 1], h->item[down])) down++;
        if (!above(h, h->item[down], v)) break;
        h->place[h->item[at] = h->item[down]] = at;
    }
    h->place[h->item[at] = v] = at;
}

static void heap_insert(heap *h, int32_t v, int32_t gain)
{
    h->gain[v] = gain;
    settle(h, h->n++, v);
}

static void heap_remove(heap *h, int32_t v)
{
    int32_t at = h->place[v];
    if (at < 0) return;
    h->place[v] = -1;
    int32_t last = h->item[--h->n];
    if (last != v) settle(h, at, last);
}

static void heap_change(heap *h, int32_t v, int32_t gain)
{
    if (h->place[v] < 0) return;
    h->gain[v] = gain;
    settle(h, h->place[v], v);
}

static void heap_empty(heap *h)
{
    while (h->n > 0) h->place[h->item[--h->n]] = -1;
}

bool mo_separator_create(const mo_graph *g, uint8_t *side, mo_arena *arena, mo_separator *out)
{
    int32_t n = g->n;
    struct mo_separator_work *w = MO_ARENA_ARRAY(arena, struct mo_separator_work, 1);
    int32_t *numbers = MO_ARENA_ARRAY(arena, int32_t, 11 * (int64_t)n);
    uint8_t *moved = MO_ARENA_ARRAY(arena, uint8_t, n);
    if (!w || !numbers || !moved) return false;
    int64_t total = 0, heaviest = 0;
    for (int32_t v = 0; v < n; v++) {
        total += g->weight[v];
        if (g->weight[v] > heaviest) heaviest = g->weight[v];
    }
    for (int s = 0; s < 2; s++, numbers += 3 * (int64_t)n)
        w->to[s] = (heap){0, numbers, numbers + n, numbers + 2 * (int64_t)n};
    for (int32_t v = 0; v < n; v++) w->to[0].place[v] = w->to[1].place[v] = -1;
    w->beyond = numbers, w->log = numbers + 2 * (int64_t)n, w->moved = moved, w->recorded = 0;
    *out = (mo_separator){.g = g, .side = side, .most = (int32_t)(total * 3 / 5 + heaviest / 2), .work = w};
    return true;
}

static int32_t gain_of(const mo_separator *s, int32_t v, int to)
{
    return s->g->weight[v] - s->work->beyond[2 * v + 1 - to];
}

// Counts what vertex v of the separator touches, and offers it for moves.
static void offer(mo_separator *s, int32_t v)
{
    const mo_graph *g = s->g;
    int32_t *beyond = s->work->beyond + 2 * v;
    beyond[0] = beyond[1] = 0;
    for (int32_t e = g->start[v]; e < g->start[v + 1]; e++) {
        int32_t u = g->neighbour[e];
        if (s->side[u] != MO_SIDE_BETWEEN) beyond[s->side[u]] += g->weight[u];
    }
    if (s->work->moved[v]) return;
    for (int to = 0; to < 2; to++) heap_insert(&s->work->to[to], v, gain_of(s, v, to));
}

// Draws vertex u from a side into the separator.
static void draw(mo_separator *s, int32_t u)
{
    const mo_graph *g = s->g;
    int from = s->side[u];
    s->side[u] = MO_SIDE_BETWEEN, s->size[from] -= g->weight[u], s->size[MO_SIDE_BETWEEN] += g->weight[u];
    s->work->log[s->work->recorded++] = -1 - u;
    for (int32_t e = g->start[u]; e < g->start[u + 1]; e++) {
        int32_t v = g->neighbour[e];
        if (s->side[v] != MO_SIDE_BETWEEN) continue;
        s->work->beyond[2 * v + from] -= g->weight[u];
        heap_change(&s->work->to[1 - from], v, gain_of(s, v, 1 - from));
    }
    offer(s, u);
}

// Moves vertex v from the separator to a side.
static void move(mo_separator *s, int32_t v, int to)
{
    const mo_graph *g = s->g;
    heap_remove(&s->work->to[0], v), heap_remove(&s->work->to[1], v);
    s->side[v] = (uint8_t)to, s->size[to] += g->weight[v], s->size[MO_SIDE_BETWEEN] -= g->weight[v];
    s->work->moved[v] = 1;
    s->work->log[s->work->recorded++] = v;
    for (int32_t e = g->start[v]; e < g->start[v + 1]; e++) {
        int32_t u = g->neighbour[e];
        if (s->side[u] == 1 - to)
            draw(s, u);
        else if (s->side[u] == MO_SIDE_BETWEEN) {
            s->work->beyond[2 * u + to] += g->weight[v];
            heap_change(&s->work->to[1 - to], u, gain_of(s, u, 1 - to));
        }
    }
}

// Takes the last entries of the log back.
static void undo(mo_separator *s, int32_t keep)
{
    struct mo_separator_work *w = s->work;
    while (w->recorded > keep) {
        // The last move lies before what it drew in, all of which came from the side opposite to it.
        int32_t end = w->recorded;
        while (w->log[w->recorded - 1] < 0) w->recorded--;
        int32_t v = w->log[--w->recorded], to = s->side[v];
        for (int32_t k = w->recorded + 1; k < end; k++) {
            int32_t u = -1 - w->log[k];
            s->side[u] = (uint8_t)(1 - to);
            s->size[1 - to] += s->g->weight[u], s->size[MO_SIDE_BETWEEN] -= s->g->weight[u];
        }
        s->side[v] = MO_SIDE_BETWEEN, s->size[to] -= s->g->weight[v], s->size[MO_SIDE_BETWEEN] += s->g->weight[v];
    }
}

static void begin(mo_separator *s)
{
    struct mo_separator_work *w = s->work;
    heap_empty(&w->to[0]), heap_empty(&w->to[1]);
    w->recorded = 0;
    s->size[0] = s->size[1] = s->size[2] = 0;
    for (int32_t v = 0; v < s->g->n; v++) w->moved[v] = 0, s->size[s->side[v]] += s->g->weight[v];
}

void mo_separator_grow(mo_separator *s, int32_t seed)
{
    const mo_graph *g = s->g;
    heap *h = &s->work->to[MO_SIDE_FIRST];
    int32_t next = 0;
    for (int32_t v = 0; v < g->n; v++) s->side[v] = MO_SIDE_SECOND;
    begin(s);
    draw(s, seed);
    while (s->size[MO_SIDE_FIRST] < s->size[MO_SIDE_SECOND]) {
        if (h->n == 0) { // a piece of the graph is used up
            while (s->side[next] != MO_SIDE_SECOND) next++;
            draw(s, next);
        }
        move(s, h->item[0], MO_SIDE_FIRST);
    }
}

bool mo_separator_better(const int32_t a[3], const int32_t b[3])
{
    if (a[2] != b[2]) return a[2] < b[2];
    return abs(a[0] - a[1]) < abs(b[0] - b[1]);
}

// The side that the next move goes to, -1: neither may take one more.
static int choose(const mo_separator *s)
{
    int best = -1;
    int32_t most = 0;
    for (int k = 0; k < 2; k++) {
        int to = s->size[0] <= s->size[1] ? k : 1 - k; // the lighter one first
        const heap *h = &s->work->to[to];
        if (h->n == 0) continue;
        int32_t v = h->item[0];
        if (s->size[to] + s->g->weight[v] > s->most) continue;
        if (best < 0 || h->gain[v] > most) best = to, most = h->gain[v];
    }
    return best;
}

// One pass; returns whether it found a better state.
static bool improve(mo_separator *s)
{
    struct mo_separator_work *w = s->work;
    begin(s);
    for (int32_t v = 0; v < s->g->n; v++)
        if (s->side[v] == MO_SIDE_BETWEEN) offer(s, v);
    int32_t best[3] = {s->size[0], s->size[1], s->size[2]}, keep = 0, vain = 0;
    int32_t patience = s->g->n / 20 < PATIENCE_LEAST ? PATIENCE_LEAST : s->g->n / 20;
    if (patience > PATIENCE_MOST) patience = PATIENCE_MOST;
    bool fits = s->size[0] <= s->most && s->size[1] <= s->most; // else any move to the lighter side is one forward
    for (int to; vain < patience && (to = choose(s)) >= 0; vain++) {
        move(s, w->to[to].item[0], to);
        bool fits_now = s->size[0] <= s->most && s->size[1] <= s->most;
        if (fits_now < fits || (fits_now == fits && !mo_separator_better(s->size, best))) continue;
        fits = fits_now, keep = w->recorded, vain = 0;
        for (int k = 0; k < 3; k++) best[k] = s->size[k];
    }
    undo(s, keep);
    return keep > 0;
}

void mo_separator_refine(mo_separator *s)
{
    for (int pass = 0; pass < PASSES && improve(s); pass++) {}
}
