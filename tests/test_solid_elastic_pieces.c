// Surfaces of elastic bodies cut by cells: nothing is lost, nothing counts twice, weights lead to the pieces'
// centroids.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "geometry/tets.h"
#include "ration.h"
#include "solid/elastic_pieces.h"
#include <math.h>
#include <string.h>

static const double dx = 0.07;

typedef struct cut {
    mo_elastic_body body;
    mo_elastic_field field;
    mo_elastic_pieces pieces;
} cut;

// A box that lies askew, or with its faces on planes of the lattice.
static void cut_create(cut *c, bool flat, bool aligned)
{
    mo_tets mesh;
    mo_pose pose = mo_pose_identity();
    mo_vec3 size = aligned ? mo_v3(6 * dx, 4 * dx, 2 * dx) : mo_v3(0.41, 0.23, 0.3);
    pose.position = aligned ? mo_v3(9 * dx, 8 * dx, flat ? 0 : 7 * dx) : mo_v3(0.63, 0.55, flat ? 0 : 0.47);
    if (!aligned) pose.rotation = mo_quat_axis_angle(flat ? mo_v3(0, 0, 1) : mo_v3(1, 2, 3), 0.6);
    mo_elasticity law = mo_elasticity_create(MO_NEO_HOOKEAN, 1e4, 0.3, 0);
    memset(c, 0, sizeof *c);
    assert_int_equal(mo_tets_box(size, pose, 0.11, flat, &mesh, NULL), MO_OK);
    assert_int_equal(mo_elastic_create(&mesh, &law, 1000, dx, &c->body), MO_OK);
    mo_tets_destroy(&mesh);
    assert_int_equal(mo_elastic_field_create(&c->body, &c->field, NULL), MO_OK);
}

static void cut_destroy(cut *c)
{
    mo_elastic_pieces_destroy(&c->pieces);
    mo_elastic_field_destroy(&c->field);
    mo_elastic_destroy(&c->body);
}

static mo_vec3 centroid(const cut *c, const mo_surface_piece *p)
{
    mo_vec3 x = {0, 0, 0};
    for (int k = 0; k < c->body.dimension; k++) x = mo_mad(x, p->weight[k], c->body.position[p->vertex[k]]);
    return x;
}

static double volume_of(const mo_elastic_body *b)
{
    double sum = 0;
    for (int32_t e = 0; e < b->elements; e++) sum += b->volume[e];
    return sum;
}

// The surface is closed, and holds the body's volume: sum A n = 0, sum x.n A = d V. Pieces lie in their cells, those of
// edges in the boxes round them.
static void check_list(const cut *c, int sample)
{
    const mo_piece_list *list = &c->pieces.of[sample];
    mo_vec3 sum = {0, 0, 0};
    double volume = 0, size = 0;
    int32_t found = 0;
    for (int32_t i = 0; i < list->count; i++) {
        const mo_surface_piece *p = &list->piece[i], *first;
        mo_vec3 x = centroid(c, p);
        sum = mo_add(sum, p->area), volume += dx * dx * mo_dot(x, p->area), size += p->size;
        assert_true(fabs(p->weight[0] + p->weight[1] + p->weight[2] - 1) < 1e-12);
        for (int a = 0; a < c->body.dimension; a++) {
            double low = p->cell[a] - (sample != MO_SAMPLE_CELL && a != sample - MO_SAMPLE_EDGE ? 0.5 : 0);
            assert_true(mo_get(x, a) / dx > low - 1e-9 && mo_get(x, a) / dx < low + 1 + 1e-9);
        }
        found += i == 0 || memcmp(p->cell, p[-1].cell, sizeof p->cell) != 0
                     ? mo_elastic_pieces_in(&c->pieces, sample, p->cell, &first)
                     : 0;
    }
    assert_int_equal(found, list->count);
    assert_true(found > 20 && mo_norm(sum) < 1e-12 * size);
    assert_true(fabs(volume - c->body.dimension * volume_of(&c->body)) < 1e-12 * size * dx * dx);
    const mo_surface_piece *first;
    assert_int_equal(mo_elastic_pieces_in(&c->pieces, sample, (const int32_t[3]){0, 0, 0}, &first), 0);
}

static void nothing_is_lost(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        cut c;
        bool flat = kind & 1;
        cut_create(&c, flat, kind & 2);
        for (int edges = 0; edges < 2; edges++) {
            assert_int_equal(mo_elastic_pieces_update(&c.pieces, &c.body, &c.field, mo_v3(0, 0, 0), dx, edges, NULL),
                             MO_OK);
            check_list(&c, MO_SAMPLE_CELL);
            for (int along = flat ? 2 : 0; along < 3; along++) {
                if (edges) check_list(&c, MO_SAMPLE_EDGE + along);
                if (!edges) assert_int_equal(c.pieces.of[MO_SAMPLE_EDGE + along].count, 0);
            }
        }
        cut_destroy(&c);
    }
}

static void lack_of_memory(void **state)
{
    (void)state;
    cut c;
    cut_create(&c, false, false);
    ration memory = {.fail_at = 1};
    mo_error err = {0};
    mo_set_allocator(rationed, &memory);
    assert_int_equal(mo_elastic_pieces_update(&c.pieces, &c.body, &c.field, mo_v3(0, 0, 0), dx, true, &err),
                     MO_ERROR_MEMORY);
    mo_set_allocator(NULL, NULL);
    cut_destroy(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
