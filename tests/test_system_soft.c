// Liquid and elastic bodies: rows of pressure and stress on nodes, and the liquid that moves with them. What the nodes
// do in a rigid motion is what a rigid body of the same mesh does.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cases/case.h"
#include "geometry/tets.h"
#include "base/parallel.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 16 };
static const double dx = 1.0 / CELLS, dt = 0.01, density = 1000;

// Liquid below a slanted plane, with the body in it.
static double below(const void *user, mo_vec3 x)
{
    (void)user;
    return x.y - 0.83 - 0.05 * x.x;
}

typedef struct pair { // one body as nodes and as a rigid body that moves the same faces
    mo_soft soft;
    mo_elastic_field *field; // of the elastic one, for distances of the rigid one
    mo_solid_set rigid_set;
    int32_t number;
    mo_vec3 centre;
    mo_rigid rigid;
    mo_case c[2];
} pair;

static double rigid_distance(const void *user, int32_t solid, mo_vec3 x)
{
    (void)solid;
    return mo_elastic_field_distance(user, x);
}

static mo_mat3 inverse_of(mo_mat3 A)
{
    mo_mat3 out;
    double det = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3, b = (k + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
            out.m[i][k] = A.m[a][c] * A.m[b][d] - A.m[a][d] * A.m[b][c];
        }
    for (int k = 0; k < 3; k++) det += A.m[0][k] * out.m[k][0];
    for (int i = 0; i < 9; i++) out.m[i / 3][i % 3] /= det;
    return out;
}

// Mass and inertia of the lumped vertices.
static mo_rigid rigid_of(const mo_elastic_body *b)
{
    mo_elastic_sums sums = mo_elastic_measure(b);
    mo_rigid r = {.mass = sums.mass, .pose = {sums.centre, {1, 0, 0, 0}}};
    for (int32_t v = 0; v < b->vertices; v++) {
        mo_vec3 x = mo_sub(b->position[v], sums.centre);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                r.inertia.m[i][k] += b->mass[v] * ((i == k) * mo_dot(x, x) - mo_get(x, i) * mo_get(x, k));
    }
    if (b->dimension == 2)
        r.inverse.m[2][2] = 1 / r.inertia.m[2][2];
    else
        r.inverse = inverse_of(r.inertia);
    return r;
}

static void pair_create(pair *p, bool flat, double young, double body_density, double viscosity, mo_vec3 v, mo_vec3 w)
{
    mo_tets mesh;
    mo_pose pose = mo_pose_identity();
    *p = (pair){0};
    pose.position = mo_v3(0.47, 0.44, flat ? 0 : 0.52);
    pose.rotation = mo_quat_axis_angle(mo_v3(0, 0, 1), 0.3);
    mo_elasticity law = mo_elasticity_create(MO_NEO_HOOKEAN, young, 0.3, 0);
    assert_int_equal(mo_tets_box(mo_v3(0.42, 0.23, 0.31), pose, 0.08, flat, &mesh, NULL), MO_OK);
    assert_int_equal(mo_soft_create(NULL, &p->soft), MO_OK);
    assert_int_equal(mo_soft_add(&p->soft, &mesh, &law, body_density, dx, NULL, NULL), MO_OK);
    mo_tets_destroy(&mesh);
    mo_elastic_body *b = &p->soft.body[0];
    p->rigid = rigid_of(b), p->centre = p->rigid.pose.position;
    p->rigid.velocity = v, p->rigid.angular_velocity = w;
    for (int32_t i = 0; i < b->vertices; i++)
        b->velocity[i] = mo_add(v, mo_cross(w, mo_sub(b->position[i], p->centre)));
    mo_case_def def = {.cells = {CELLS, CELLS, flat ? 1 : CELLS},
                       .dx = dx,
                       .liquid = below,
                       .density = density,
                       .viscosity = viscosity,
                       .soft = &p->soft};
    assert_int_equal(mo_case_create(&def, &p->c[0], NULL), MO_OK);
    p->rigid_set = (mo_solid_set){
        .count = 1, .distance = rigid_distance, .user = &p->soft.field[0], .body = &p->number, .centre = &p->centre};
    p->rigid_set.bodies = 1;
    def.soft = NULL, def.solids = &p->rigid_set, def.rigid = &p->rigid;
    assert_int_equal(mo_case_create(&def, &p->c[1], NULL), MO_OK);
    p->rigid_set.near = NULL;
}

static void pair_destroy(pair *p)
{
    mo_case_destroy(&p->c[0]), mo_case_destroy(&p->c[1]);
    mo_soft_destroy(&p->soft);
}

static mo_solver_def solver_of(mo_route route, double tolerance)
{
    return (mo_solver_def){.route = route, .tolerance = tolerance, .max_iterations = 20000, .rounds = 8};
}

static void rigid_motion(const pair *p, const double v[6], double *out)
{
    const mo_elastic_body *b = &p->soft.body[0];
    for (int32_t i = 0; i < mo_elastic_unknowns(b); i++) {
        mo_vec3 arm = mo_sub(b->position[i / b->dimension], p->centre);
        out[i] = mo_get(mo_add(mo_v3(v[0], v[1], v[2]), mo_cross(mo_v3(v[3], v[4], v[5]), arm)), i % b->dimension);
    }
}

// R_e P = R_r, to rounding.
static void rows_of_rigid_motions(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        pair p;
        mo_liquid_system l[2];
        mo_solver_def solver = solver_of(MO_ROUTE_FAST, 1e-6);
        pair_create(&p, flat, 1e5, 700, 3, mo_v3(0, 0, 0), mo_v3(0, 0, 0));
        for (int k = 0; k < 2; k++) assert_int_equal(mo_case_stokes_assemble(&p.c[k], dt, &solver, &l[k], NULL), MO_OK);
        double *nodes = malloc(sizeof(double) * (size_t)l[0].system.nodes.count);
        for (int32_t kind = MO_BLOCK_PRESSURE; kind <= MO_BLOCK_STRESS; kind++) {
            const mo_block *soft = l[0].system.block[kind], *rigid = l[1].system.block[kind];
            int32_t touching = 0;
            assert_int_equal(soft->rows, rigid->rows);
            for (int axis = 0; axis < 6; axis++) {
                double v[6] = {0};
                if (flat && (axis > 1 && axis < 5)) continue;
                v[axis] = 1;
                rigid_motion(&p, v, nodes);
                for (int32_t i = 0; i < soft->rows; i++) {
                    double own = mo_csr_row_product(&soft->on[MO_NODES], i, nodes);
                    assert_true(fabs(own - mo_csr_row_product(&rigid->on[MO_BODIES], i, v)) < 1e-12 / dx);
                    touching += own != 0;
                }
            }
            assert_true(touching > 40);
        }
        free(nodes);
        for (int k = 0; k < 2; k++) mo_liquid_destroy(&l[k]);
        pair_destroy(&p);
    }
}

// Vertices of a body that turns far in one step move along chords. Rows of liquid see the rigid body's motion all the
// same: R_e v - c = R_r (V, w) with v = V + (Q - 1) r / dt.
static void rows_of_turns(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        pair p;
        mo_liquid_system l[2];
        mo_solver_def solver = solver_of(MO_ROUTE_FAST, 1e-6);
        const double v[6] = {0.3, -0.2, flat ? 0 : 0.1, flat ? 0 : 4, flat ? 0 : -9, 15}; // 18/s
        pair_create(&p, flat, 1e5, 700, 3, mo_v3(0, 0, 0), mo_v3(0, 0, 0));
        for (int k = 0; k < 2; k++) assert_int_equal(mo_case_stokes_assemble(&p.c[k], dt, &solver, &l[k], NULL), MO_OK);
        const mo_elastic_body *b = &p.soft.body[0];
        double *nodes = l[0].system.nodes.velocity;
        mo_vec3 w = mo_v3(v[3], v[4], v[5]);
        mo_quat turn = mo_quat_axis_angle(w, dt * mo_norm(w));
        for (int32_t i = 0; i < mo_elastic_unknowns(b); i++) {
            mo_vec3 arm = mo_sub(b->position[i / b->dimension], p.centre), way = mo_sub(mo_quat_rotate(turn, arm), arm);
            nodes[i] = v[i % b->dimension] + mo_get(way, i % b->dimension) / dt;
        }
        assert_int_equal(mo_nodes_turn(&l[0].system, NULL), MO_OK);
        for (int32_t kind = MO_BLOCK_PRESSURE; kind <= MO_BLOCK_STRESS; kind++) {
            const mo_block *soft = l[0].system.block[kind], *rigid = l[1].system.block[kind];
            double chord = 0;
            for (int32_t i = 0; i < soft->rows; i++) {
                double own = mo_csr_row_product(&soft->on[MO_NODES], i, nodes) - soft->turned[i];
                assert_true(fabs(own - mo_csr_row_product(&rigid->on[MO_BODIES], i, v)) < 1e-11 / dx);
                chord = fmax(chord, fabs(soft->turned[i]));
            }
            assert_true(chord > 1e-3 / dx);
        }
        for (int k = 0; k < 2; k++) mo_liquid_destroy(&l[k]);
        pair_destroy(&p);
    }
}

static void set_velocity(mo_case *c, mo_vec3 v, mo_vec3 w, mo_vec3 centre)
{
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(c->grid); i++)
        for (int a = 0; a < 3; a++) {
            mo_vec3 arm = mo_sub(mo_grid_face(c->grid, i, a), centre);
            c->u[a][i] = (float)mo_get(mo_add(v, mo_cross(w, arm)), a);
        }
}

// Liquid and body in one rigid motion: no stress, no divergence, where no wall is near.
static void common_motion(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        pair p;
        mo_liquid_system l;
        mo_solver_def solver = solver_of(MO_ROUTE_FAST, 1e-6);
        mo_vec3 v = flat ? mo_v3(0.5, -1, 0) : mo_v3(0.5, -1, 0.25), w = mo_v3(0, 0, 2);
        pair_create(&p, flat, 1e5, 700, 3, v, w);
        set_velocity(&p.c[0], v, w, p.centre);
        assert_int_equal(mo_case_stokes_assemble(&p.c[0], dt, &solver, &l, NULL), MO_OK);
        for (int32_t f = 0; f < l.system.faces.count; f++) { // without the rounding of floats
            mo_vec3 arm =
                mo_sub(mo_grid_face(p.c[0].grid, mo_face_sample(l.face_at[f]), mo_face_axis(l.face_at[f])), p.centre);
            l.system.faces.velocity[f] = mo_get(mo_add(v, mo_cross(w, arm)), mo_face_axis(l.face_at[f]));
        }
        for (int32_t kind = MO_BLOCK_PRESSURE; kind <= MO_BLOCK_STRESS; kind++) {
            const mo_block *b = l.system.block[kind];
            double *r = malloc(sizeof(double) * (size_t)b->rows);
            int32_t seen = 0;
            mo_block_residual(&l.system, b, r);
            for (int32_t i = 0; i < b->rows; i++) {
                bool inner = true;
                for (int a = 0; a < (flat ? 2 : 3); a++)
                    inner &= b->coord[i][a] > MO_MARGIN && b->coord[i][a] < MO_MARGIN + CELLS - 1;
                if (!inner || b->on[MO_NODES].row[i + 1] == b->on[MO_NODES].row[i]) continue;
                assert_true(fabs(r[i]) < 1e-11 / dx);
                seen++;
            }
            assert_true(seen > 20);
            free(r);
        }
        mo_liquid_destroy(&l);
        pair_destroy(&p);
    }
}

// Mean motion of the vertices: velocity, and angular velocity by least squares with masses.
static void mean_motion(const mo_elastic_body *b, double out[6])
{
    mo_elastic_sums s = mo_elastic_measure(b);
    mo_rigid r = rigid_of(b);
    mo_vec3 v = mo_mul(1 / s.mass, s.momentum), w = {0};
    for (int a = 0; a < 3; a++) {
        double sum = 0;
        for (int k = 0; k < 3; k++) sum += r.inverse.m[a][k] * mo_get(s.angular_momentum, k);
        (&w.x)[a] = sum;
    }
    for (int a = 0; a < 3; a++) out[a] = mo_get(v, a), out[3 + a] = mo_get(w, a);
}

// What pressure, stress and attached liquid push each axis of the body with, and what that does to its momentum.
static void check_balance(const pair *p, const mo_liquid_system *l, const double *before)
{
    const mo_elastic_body *b = &p->soft.body[0];
    int32_t n = l->system.nodes.count, d = b->dimension;
    double *force = calloc((size_t)n, sizeof(double)), sum[3] = {0}, change[3] = {0}, size = 0;
    for (int32_t k = MO_BLOCK_PRESSURE; k <= MO_BLOCK_STRESS; k++)
        if (l->system.block[k]) mo_block_add_force(l->system.block[k], MO_NODES, force);
    mo_nodes_attached_force(&l->system.nodes, dt, force);
    for (int32_t i = 0; i < n; i++) {
        sum[i % d] += dx * dx * dx * force[i], size += fabs(dx * dx * dx * force[i]);
        change[i % d] += b->mass[i / d] * (l->system.nodes.velocity[i] - before[i]) / dt;
    }
    for (int a = 0; a < d; a++) assert_true(fabs(sum[a] - change[a]) < 1e-7 * size);
    free(force);
}

// A stiff elastic box and the rigid one: the first step from rest under gravity, in inviscid and viscous liquid. The
// liquid that moves with nodes has its mass and centre of mass, but not the whole of its moment of inertia.
static void stiff_bodies_are_rigid(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        bool flat = k % 2, viscous = k / 2;
        pair p;
        mo_system_info info;
        mo_liquid_system l;
        mo_solver_def solver = solver_of(MO_ROUTE_FAST, 1e-9);
        mo_vec3 fall = mo_v3(0, -9.81 * dt, 0);
        double v[2][6], *before;
        pair_create(&p, flat, 1e9, 300, 2, fall, mo_v3(0, 0, 0));
        for (int c = 0; c < 2; c++) {
            set_velocity(&p.c[c], fall, mo_v3(0, 0, 0), p.centre);
            mo_status status = viscous ? mo_case_stokes(&p.c[c], dt, &solver, &info, &l, NULL)
                                       : mo_case_project(&p.c[c], dt, &solver, &info, &l, NULL);
            assert_int_equal(status, MO_OK);
            assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
            if (c == 0) {
                before = calloc((size_t)l.system.nodes.count, sizeof(double));
                rigid_motion(&p, (double[6]){fall.x, fall.y, fall.z}, before);
                check_balance(&p, &l, before);
                free(before);
            }
            mo_liquid_destroy(&l);
        }
        mean_motion(&p.soft.body[0], v[0]);
        for (int a = 0; a < 3; a++)
            v[1][a] = mo_get(p.rigid.velocity, a), v[1][3 + a] = mo_get(p.rigid.angular_velocity, a);
        double lift = fabs(v[1][1] - fall.y), radius = 0.2;
        for (int a = 0; a < 6; a++)
            assert_true(fabs(v[0][a] - v[1][a]) * (a < 3 ? 1 : radius) < (a < 3 ? 5e-4 : 5e-3) * lift);
        pair_destroy(&p);
    }
}

// Liquid attached to a body in free fall does not change its motion, and one of another velocity brings its momentum,
// whatever the body is made of.
static void attached_liquid_brings_momentum(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        bool flat = k % 2, other = k / 2;
        pair p;
        mo_liquid_system l;
        mo_solver_def solver = solver_of(MO_ROUTE_FAST, 1e-9);
        mo_system_info info;
        mo_vec3 v = mo_v3(0.5, -1, 0), u = other ? mo_v3(1.5, 1, 0) : v;
        pair_create(&p, flat, 1e4, 300, 2, v, mo_v3(0, 0, 0));
        set_velocity(&p.c[0], u, mo_v3(0, 0, 0), p.centre);
        assert_int_equal(mo_case_stokes_assemble(&p.c[0], dt, &solver, &l, NULL), MO_OK);
        mo_system *s = &l.system;
        for (int32_t b = 0; b < MO_BLOCK_KINDS; b++) mo_block_destroy(s->block[b]), s->block[b] = NULL;
        const mo_elastic_body *b = &p.soft.body[0];
        const double *mass = s->nodes.nodes->attached;
        int32_t d = b->dimension, n = s->nodes.count;
        assert_int_equal(mo_system_solve(s, &solver, &info, NULL), MO_OK);
        for (int a = 0; a < d; a++) {
            double start = 0, end = 0, liquid = 0;
            for (int32_t i = a; i < n; i += d) {
                double own = b->mass[i / d] / (dx * dx * dx);
                assert_true(mass[i] >= 0);
                liquid += mass[i];
                start += own * mo_get(v, a) + mass[i] * mo_get(u, a), end += (own + mass[i]) * s->nodes.velocity[i];
                if (!other) assert_true(fabs(s->nodes.velocity[i] - mo_get(v, a)) < 1e-9);
            }
            assert_true(liquid > 0);
            assert_true(fabs(start - end) < 1e-9 * fabs(start) + 1e-9);
        }
        mo_liquid_destroy(&l);
        pair_destroy(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_rigid_motions),
        cmocka_unit_test(rows_of_turns),
        cmocka_unit_test(common_motion),
        cmocka_unit_test(stiff_bodies_are_rigid),
        cmocka_unit_test(attached_liquid_brings_momentum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
