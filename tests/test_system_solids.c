// Solids behind one interface: a ball whose velocity is interpolated between four nodes, in liquid and in contact with
// a rigid ball. Pressure rows, contact rows and the solve learn of the nodes only by the ball's columns.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "grid/fractions.h"
#include "solid/contact.h"
#include "system/contact_rows.h"
#include "system/nodes.h"
#include "system/pressure.h"
#include "system/solids.h"
#include "system_test.h"

enum { CELLS = 12, NODES = 4, UNKNOWNS = 3 * NODES, SOFT = 0, RIGID = 1 };
static const double dx = 0.05, density = 800, dt = 0.02, radius = 0.09;
static const mo_vec3 centre[2] = {{0.31, 0.22, 0.28}, {0.4, 0.37, 0.3}};
static const int32_t body[2] = {1, 0}; // rigid ones come first
// Corners of a tetrahedron: weights 1/4 + a.(x - centre) reproduce linear velocities.
static const double corner[NODES][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};

static double distance(const void *user, int32_t solid, mo_vec3 x)
{
    (void)user;
    return mo_norm(mo_sub(x, centre[solid])) - radius;
}

static mo_vec3 node_at(int k) { return mo_mad(centre[SOFT], radius, mo_v3(corner[k][0], corner[k][1], corner[k][2])); }

// The soft ball's nodes; the other one's velocity and angular velocity.
static int32_t columns(const void *user, int32_t solid, mo_vec3 x, mo_vec3 direction, mo_column *out)
{
    mo_vec3 arm = mo_sub(x, centre[solid]), turn = mo_cross(arm, direction);
    const double along[3] = {direction.x, direction.y, direction.z}, spin[3] = {turn.x, turn.y, turn.z};
    (void)user;
    for (int32_t a = 0; solid == RIGID && a < 6; a++)
        out[a] = (mo_column){MO_BODIES, a, a < 3 ? along[a] : spin[a - 3]};
    if (solid == RIGID) return 6;
    for (int k = 0; k < NODES; k++) {
        double weight = 0.25 * (1 + mo_dot(arm, mo_v3(corner[k][0], corner[k][1], corner[k][2])) / radius);
        for (int a = 0; a < 3; a++) out[3 * k + a] = (mo_column){MO_NODES, 3 * k + a, weight * along[a]};
    }
    return UNKNOWNS;
}

typedef struct scene {
    mo_grid *g;
    mo_arena *arena;
    mo_solid_set solids;
    float *field[9];
    uint8_t *liquid;
    mo_cover *cover;
    mo_spare *spare;
    int32_t *first, covers;
    mo_liquid_system l;
} scene;

static void make_covers(scene *c)
{
    size_t most = 2 * (size_t)c->g->tiles;
    c->cover = calloc(most, sizeof(mo_cover)), c->spare = calloc(most, sizeof(mo_spare));
    c->first = calloc((size_t)c->g->tiles + 1, sizeof(int32_t));
    for (int32_t t = 0; t < c->g->tiles; t++) {
        for (int32_t s = 0; s < 2; s++) c->cover[c->covers].tile = t, c->cover[c->covers++].solid = s;
        c->first[t + 1] = c->covers;
    }
}

// Liquid below a plane, with both balls in it.
static void scene_create(scene *c, bool soft)
{
    *c = (scene){.arena = mo_arena_create()};
    assert_int_equal(mo_grid_create((int32_t[3]){CELLS, CELLS, CELLS}, dx, &c->g, NULL), MO_OK);
    mo_grid_want(c->g, (int32_t[3]){0, 0, 0}, c->g->n);
    assert_int_equal(mo_grid_activate(c->g, NULL), MO_OK);
    c->solids =
        (mo_solid_set){.count = 2, .distance = distance, .body = body, .centre = centre, .bodies = soft ? 1 : 2};
    if (soft) c->solids.columns = columns, c->solids.nodes = UNKNOWNS;
    size_t cells = (size_t)mo_grid_cells(c->g);
    for (int k = 0; k < 9; k++) c->field[k] = calloc(cells, sizeof(float));
    c->liquid = calloc(cells, 1);
    make_covers(c);
    mo_openings out = {.area = {c->field[0], c->field[1], c->field[2]},
                       .flux = {c->field[3], c->field[4], c->field[5]},
                       .volume = c->field[6],
                       .distance = c->field[7],
                       .cover = c->cover,
                       .spare = c->spare,
                       .first = c->first};
    mo_openings_compute(c->g, &c->solids, &out);
    for (int32_t i = 0; i < (int32_t)cells; i++) {
        int32_t at[3];
        mo_grid_cell(c->g, i, at);
        c->field[8][i] = (float)(at[1] - MO_MARGIN - 8.3);
        bool inside = true;
        for (int a = 0; a < 3; a++) inside &= at[a] >= MO_MARGIN && at[a] < c->g->n[a] - MO_MARGIN;
        c->liquid[i] = inside && c->field[8][i] < 0 && c->field[6][i] > 0.01f;
    }
    mo_pressure_def def = {.grid = c->g,
                           .phi = c->field[8],
                           .liquid = c->liquid,
                           .area = c->field,
                           .density = density,
                           .dt = dt,
                           .dx = dx,
                           .solids = &c->solids,
                           .cover = c->cover,
                           .spare = c->spare,
                           .covers = c->covers};
    assert_int_equal(mo_pressure_assemble(&def, c->arena, &c->l, NULL), MO_OK);
    for (int32_t f = 0; f < c->l.system.faces.count; f++) c->l.system.faces.velocity[f] = random_number((uint32_t)f, 7);
}

static void scene_destroy(scene *c)
{
    for (int k = 0; k < 9; k++) free(c->field[k]);
    free(c->liquid), free(c->cover), free(c->spare), free(c->first);
    mo_liquid_destroy(&c->l);
    mo_arena_destroy(c->arena);
    mo_grid_destroy(c->g);
}

// Motion of the nodes under a rigid one, v [6].
static void node_motion(const double *v, double *out)
{
    for (int k = 0; k < NODES; k++) {
        mo_vec3 turn = mo_cross(mo_v3(v[3], v[4], v[5]), mo_sub(node_at(k), centre[SOFT]));
        for (int a = 0; a < 3; a++) out[3 * k + a] = v[a] + mo_get(turn, a);
    }
}

// Masses of balls of `heavy` times the liquid's density; the nodes have springs between each pair.
static void add_solids(scene *c, bool soft)
{
    mo_system *s = &c->l.system;
    double mass = 0.3 * density * 4.0 / 3 * 3.14159 * pow(radius / dx, 3), spring = 40 * mass;
    for (int32_t b = 0; b < mo_body_count(&s->bodies); b++) {
        for (int i = 0; i < 6; i++) s->bodies.body[b].inverse[i][i] = 1 / (i < 3 ? mass : 0.4 * mass * radius * radius);
        mo_body_mass_from_inverse(&s->bodies.body[b]);
        for (int i = 0; i < 6; i++) mo_body_velocity(&s->bodies, b)[i] = random_number((uint32_t)(6 * b + i), 3);
    }
    if (!soft) return;
    mo_csr H;
    assert_int_equal(mo_csr_create(UNKNOWNS, UNKNOWNS, UNKNOWNS * NODES, &H), MO_OK);
    for (int32_t i = 0; i < UNKNOWNS; i++) {
        for (int32_t k = 0; k < NODES; k++) {
            H.col[NODES * i + k] = 3 * k + i % 3;
            H.val[NODES * i + k] = k == i / 3 ? 0.25 * mass + 3 * spring : -spring;
        }
        H.row[i + 1] = NODES * (i + 1);
    }
    assert_int_equal(mo_nodes_create(&H, &s->nodes, NULL), MO_OK);
    double v[6];
    for (int i = 0; i < 6; i++) v[i] = random_number((uint32_t)(6 + i), 3);
    node_motion(v, s->nodes.velocity);
}

static void add_contacts(scene *c)
{
    mo_vec3 n = mo_normalize(mo_sub(centre[SOFT], centre[RIGID])), up = {0, 1, 0};
    mo_contact contact[4] = {{.a = SOFT, .b = RIGID, .point = mo_mad(centre[SOFT], -radius, n), .normal = n},
                             {.a = RIGID, .b = 2, .point = mo_mad(centre[RIGID], -radius, up), .normal = up},
                             {.a = SOFT, .b = 2, .point = mo_mad(centre[SOFT], -radius, up), .normal = up},
                             {.a = SOFT, .b = 3, .point = mo_mad(centre[SOFT], radius, up), .normal = {0, -1, 0}}};
    for (int k = 0; k < 4; k++) contact[k].friction = 0.3, contact[k].gap = -1e-3 * k;
    mo_contacts contacts = {.count = 4, .contact = contact};
    mo_contact_rows_def def = {.contacts = &contacts,
                               .solids = &c->solids,
                               .dx = dx,
                               .dt = dt,
                               .margin = 1e-3,
                               .stabilisation = 0.2,
                               .slowest = 0.1};
    assert_int_equal(mo_contact_rows_add(&def, &c->l.system, NULL), MO_OK);
}

// R_e P = R_r: rows on nodes that move as a rigid body are those on the body.
static void compare_rows(const mo_block *soft, const mo_block *rigid)
{
    const mo_csr *N = &soft->on[MO_NODES], *B = &soft->on[MO_BODIES], *R = &rigid->on[MO_BODIES];
    int32_t touching = 0;
    assert_int_equal(soft->rows, rigid->rows);
    assert_true(N->rows == soft->rows && N->cols == UNKNOWNS && B->cols == 6 && R->cols == 12);
    for (int32_t i = 0; i < soft->rows; i++) {
        for (int a = 0; a < 6; a++) {
            double v[6] = {0}, nodes[UNKNOWNS];
            v[a] = 1;
            node_motion(v, nodes);
            double own = mo_csr_row_product(N, i, nodes), size = fabs(mo_csr_entry(R, i, 6 + a)) + 1 / dx;
            assert_true(fabs(own - mo_csr_entry(R, i, 6 + a)) < 1e-13 * size);
            assert_true(fabs(mo_csr_entry(B, i, a) - mo_csr_entry(R, i, a)) < 1e-13 * size);
        }
        assert_true(fabs(soft->rhs[i] - rigid->rhs[i]) < 1e-12 / dx);
        touching += N->row[i + 1] > N->row[i];
    }
    assert_true(touching > 2);
}

static void columns_make_the_rows(void **state)
{
    (void)state;
    scene c[2];
    for (int soft = 0; soft < 2; soft++) {
        scene_create(&c[soft], soft);
        add_solids(&c[soft], soft);
        add_contacts(&c[soft]);
    }
    for (int32_t k = 0; k < MO_BLOCK_KINDS; k++)
        if (c[0].l.system.block[k]) compare_rows(c[1].l.system.block[k], c[0].l.system.block[k]);
    for (int soft = 0; soft < 2; soft++) scene_destroy(&c[soft]);
}

// Liquid, nodes and a rigid body in one solve; and, with the contacts alone, by both routes.
static void nodes_and_bodies_are_solved_together(void **state)
{
    (void)state;
    for (int liquid = 0; liquid < 2; liquid++) {
        double v[2][UNKNOWNS + 6];
        for (int route = 0; route < 2; route++) {
            scene c;
            mo_system_info info;
            scene_create(&c, true);
            add_solids(&c, true);
            add_contacts(&c);
            mo_system *s = &c.l.system;
            mo_solver_def solver = {.route = (mo_route)route, .tolerance = 1e-9, .max_iterations = 20000, .rounds = 3};
            if (!liquid) mo_block_destroy(s->block[MO_BLOCK_PRESSURE]), s->block[MO_BLOCK_PRESSURE] = NULL;
            assert_int_equal(mo_system_solve(s, &solver, &info, NULL), MO_OK);
            assert_true(info.solve.residual <= 1e-9);
            assert_int_equal(mo_solids_count(s), UNKNOWNS + 6);
            mo_solids_get(s, v[route]);
            const mo_block *n = s->block[MO_BLOCK_CONTACT];
            double pushes = 0;
            for (int32_t i = 0; i < n->rows; i++) pushes = fmax(pushes, n->x[i]);
            assert_true(pushes > 0);
            scene_destroy(&c);
        }
        assert_true(largest_difference(UNKNOWNS + 6, v[0], v[1]) < 1e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_make_the_rows),
        cmocka_unit_test(nodes_and_bodies_are_solved_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
