// Graphs of a matrix's rows, and their orders of elimination: multilevel nested dissection, with minimum degree where
// the pieces are small (Karypis, Kumar 1998; Hendrickson, Rothberg 1998). Everything is a function of the graph alone:
// no clock, no random numbers, one thread.
#ifndef MO_GRAPH_H
#define MO_GRAPH_H

#include "base/base.h"

typedef struct mo_graph {
    int32_t n;
    int32_t *start;     // [n + 1]
    int32_t *neighbour; // [start[n]] every edge from both ends, no loops, none twice
    int32_t *weight;    // [n] how many vertices of the finest graph are joined in one
    int32_t *bond;      // [start[n]] how many edges of the finest graph are joined in one
} mo_graph;

// Finds the order in which a factorisation with little fill eliminates the vertices: order[k] is the k-th. The arena
// gives scratch. False: no memory.
bool mo_graph_dissect(const mo_graph *g, int32_t *order, mo_arena *arena);

// ---- Parts of it ----

// Sides of vertices: no edge leads from the first to the second, the separator lies between.
enum { MO_SIDE_FIRST, MO_SIDE_SECOND, MO_SIDE_BETWEEN };

// Splits a graph: side[v] of every vertex, with a small separator and halves of at most 0.6 of the weight where the
// graph allows that. False: no memory.
bool mo_graph_bisect(const mo_graph *g, uint8_t *side, mo_arena *arena);

typedef struct mo_separator { // being found
    const mo_graph *g;
    uint8_t *side;   // [n]
    int32_t size[3]; // weight of the sides and of what lies between
    int32_t most;    // a side may weigh
    struct mo_separator_work *work;
} mo_separator;

bool mo_separator_create(const mo_graph *g, uint8_t *side, mo_arena *arena, mo_separator *out);
void mo_separator_grow(mo_separator *s, int32_t seed); // a first side grown from the vertex `seed`
void mo_separator_refine(mo_separator *s);             // smaller by moves of single vertices, from the sides given
bool mo_separator_better(const int32_t a[3], const int32_t b[3]); // sizes a are preferred to b

#endif
