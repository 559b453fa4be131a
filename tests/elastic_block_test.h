// An elastic block on a floor, as nodes of a system, for tests.
#ifndef ELASTIC_BLOCK_TEST_H
#define ELASTIC_BLOCK_TEST_H

#include "base/parallel.h"
#include "geometry/tets.h"
#include "system/elastic_law.h"
#include "system/system.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static inline double world_random(uint32_t a, uint32_t b) { return 2 * mo_unit(mo_hash(a, b, 77)) - 1; }

typedef struct world { // a block of edge 1 on the floor y = 0
    mo_elastic_body body;
    uint8_t *pinned;
    double *target;
    mo_node_part node;
    mo_arena *arena;
    mo_elastic_part part;
    mo_elastic_law law;
    mo_system system;
} world;

static inline world *world_create(bool flat, double element, double young, double dt, bool pins)
{
    world *w = calloc(1, sizeof *w);
    mo_tets mesh;
    mo_pose pose = mo_pose_identity();
    mo_elasticity law = mo_elasticity_create(MO_NEO_HOOKEAN, young, 0.4, 3);
    pose.position = mo_v3(0.5, 0.5, flat ? 0 : 0.5);
    assert_int_equal(mo_tets_box(mo_v3(1, 1, 1), pose, element, flat, &mesh, NULL), MO_OK);
    assert_int_equal(mo_elastic_create(&mesh, &law, 500, 0.1, &w->body), MO_OK);
    mo_tets_destroy(&mesh);
    int32_t n = mo_elastic_unknowns(&w->body), d = w->body.dimension;
    w->pinned = calloc((size_t)w->body.vertices, 1), w->target = calloc((size_t)n, sizeof(double));
    for (int32_t v = 0; pins && v < w->body.vertices; v++) w->pinned[v] = w->body.rest[v].y > 1 - 1e-9;
    assert_int_equal(mo_elastic_part_create(&w->body, w->pinned, &w->node, NULL), MO_OK);
    w->arena = mo_arena_create();
    w->part = (mo_elastic_part){.body = &w->body, .target = w->target, .drag = 0.2};
    w->law = (mo_elastic_law){&w->part, dt, 0.001, w->arena};
    mo_node_law node_law = mo_elastic_law_of(&w->law);
    w->system.dt = dt;
    assert_int_equal(mo_nodes_join(1, &w->node, &node_law, &w->system.nodes, NULL), MO_OK);
    for (int32_t i = 0; i < n; i++) {
        double v = w->pinned[i / d] ? 0 : world_random((uint32_t)i, 2) + (i % d == 1 ? -3 : 0);
        w->target[i] = w->system.nodes.velocity[i] = v;
    }
    return w;
}

static inline void world_destroy(world *w)
{
    mo_system_destroy(&w->system);
    mo_node_part_destroy(&w->node);
    mo_elastic_destroy(&w->body);
    mo_arena_destroy(w->arena);
    free(w->pinned), free(w->target), free(w);
}

// Rows of contact with the floor below and of friction along it, for the lowest vertices: y + dt v_y >= 0.
static inline void add_floor(world *w, double friction)
{
    int32_t d = w->body.dimension, count = 0, *low = malloc(sizeof(int32_t) * (size_t)w->body.vertices);
    mo_system *s = &w->system;
    for (int32_t v = 0; v < w->body.vertices; v++)
        if (w->body.position[v].y < 1e-9) low[count++] = v;
    mo_block *c = s->block[MO_BLOCK_CONTACT] = mo_calloc(sizeof *c);
    mo_block *z = s->block[MO_BLOCK_FRICTION] = mo_calloc(sizeof *z);
    mo_block *both[2] = {c, z};
    for (int k = 0; k < 2; k++) {
        mo_block *b = both[k];
        b->rows = (k + 1) * count;
        assert_int_equal(mo_csr_create(b->rows, s->nodes.count, b->rows, &b->on[MO_NODES]), MO_OK);
        b->x = mo_calloc(sizeof(double) * (size_t)b->rows), b->lower = mo_calloc(sizeof(double) * (size_t)b->rows);
        b->upper = mo_calloc(sizeof(double) * (size_t)b->rows), b->rhs = mo_calloc(sizeof(double) * (size_t)b->rows);
        b->softness = mo_calloc(sizeof(double) * (size_t)b->rows);
        int64_t at = 0;
        for (int32_t i = 0; i < b->rows; i++) {
            int32_t vertex = low[i / (k + 1)], axis = k == 0 ? 1 : i % 2 == 0 ? 0 : 2;
            b->softness[i] = 1e-6;
            if (k == 0) b->upper[i] = INFINITY;
            if (axis < d) b->on[MO_NODES].col[at] = d * vertex + axis, b->on[MO_NODES].val[at++] = k ? 1 : -1;
            b->on[MO_NODES].row[i + 1] = at;
        }
    }
    s->friction = mo_calloc(sizeof(double) * (size_t)count);
    s->tangent = mo_calloc(sizeof(mo_vec3) * 2 * (size_t)count);
    for (int32_t i = 0; i < count; i++) s->friction[i] = friction;
    free(low);
}

#endif
