// Cloth in viscous liquid: rows of stress do not see a common motion, honey rests over cloth, and cloth to which honey
// sticks is slower than cloth along which it slips.
#include "shell_world.h"
#include <math.h>
#include <stdlib.h>

typedef struct pot {
    world w;
    mo_cloth_def cloth;
} pot;

// A square of cloth in honey.
static void start(pot *t, int32_t cells, double per_area, mo_wall wall)
{
    memset(t, 0, sizeof *t);
    world_start(&t->w, cells);
    t->w.def.shell_count = 0, t->w.def.time.fps = 50;
    t->cloth = mo_cloth_def_default();
    t->cloth.name = "cloth", t->cloth.sheet = &t->w.sheet, t->cloth.damping = 5e-3;
    t->cloth.density = per_area, t->cloth.wall = wall;
    t->w.def.cloths = &t->cloth, t->w.def.cloth_count = 1;
    add_liquid(&t->w, moved(mo_shape_box(mo_v3(1, 0.75, 1)), mo_v3(0.5, 0.375, 0.5)));
    t->w.liquid[0].viscosity = 20;
}

static void lay(pot *t, double size, double tilt, double y)
{
    assert_int_equal(mo_sheet_plate(size, size, 1.0 / t->w.def.domain.cells, &t->w.sheet, &err), MO_OK);
    mo_sheet_rotate(&t->w.sheet, mo_v3(0, 1, 0), 0.3), mo_sheet_rotate(&t->w.sheet, mo_v3(0.6, 0, 0.8), tilt);
    mo_sheet_move(&t->w.sheet, mo_v3(0.5, y, 0.5));
}

static mo_vec3 motion_at(const mo_vec3 m[2], mo_vec3 x)
{
    return mo_add(m[0], mo_cross(m[1], mo_sub(x, mo_v3(0.5, 0.5, 0.5))));
}

// Velocities of faces, gaps and vertices in a rigid motion.
static void write_motion(const mo_sim *sim, const mo_liquid_system *l, const mo_vec3 m[2], double *u, double *v)
{
    const mo_grid *g = sim->grid;
    int32_t faces = l->system.faces.count - l->gaps;
    for (int32_t k = 0; k < faces; k++) {
        double x[3];
        int axis = mo_face_axis(l->face_at[k]);
        mo_sample_place(g, axis, mo_face_sample(l->face_at[k]), x);
        u[k] = mo_get(motion_at(m, mo_grid_world(g, x[0], x[1], x[2])), axis);
    }
    for (int32_t k = 0; k < l->gaps; k++) {
        const mo_gap *gap = &g->sites->gap[l->gap_at[k]];
        mo_vec3 at = mo_grid_world(g, gap->at[0], gap->at[1], gap->at[2]);
        u[faces + k] = mo_dot(mo_v3(gap->normal[0], gap->normal[1], gap->normal[2]), motion_at(m, at)) -
                       mo_csr_row_product(&l->gap_mean, k, u);
    }
    const mo_elastic_body *b = &sim->elastics.body[0].body;
    for (int32_t i = 0; i < 3 * b->vertices; i++) v[i] = mo_get(motion_at(m, b->position[i / 3]), i % 3);
}

typedef struct found {
    double most, scale;
    int32_t rows;
} found;

// What the rows of stress on vertices see of six motions. For translations this is the sum of the forces of a row on
// liquid and cloth, so that momentum is exchanged exactly.
static mo_status measure(void *user, mo_sim *sim, mo_step_context *c, bool *again, mo_error *e)
{
    const mo_vec3 zero = {0, 0, 0}, axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const mo_liquid_system *l = &c->assemble.liquid;
    const mo_block *b = l->system.block[MO_BLOCK_STRESS];
    double *u = calloc((size_t)(l->system.faces.count + l->system.nodes.count), sizeof(double)),
           *v = u + l->system.faces.count;
    found *f = user;
    (void)again, (void)e;
    f->rows = 0;
    for (int k = 0; k < 6; k++) {
        write_motion(sim, l, (mo_vec3[2]){k < 3 ? axis[k] : zero, k < 3 ? zero : axis[k - 3]}, u, v);
        for (int32_t r = 0; r < b->rows; r++) {
            if (mo_csr_end(&b->on[MO_NODES], r) == mo_csr_begin(&b->on[MO_NODES], r)) continue;
            double liquid = mo_csr_row_product(&b->on[MO_FACES], r, u);
            double both = liquid + mo_csr_row_product(&b->on[MO_NODES], r, v);
            f->most = fmax(f->most, fabs(both)), f->scale = fmax(f->scale, fabs(liquid)), f->rows++;
        }
    }
    free(u);
    return MO_OK;
}

static void a_common_motion_has_no_stress(void **state)
{
    (void)state;
    pot t;
    found f = {0};
    start(&t, 12, 5, MO_WALL_NO_SLIP), lay(&t, 0.4, 0.4, 0.42);
    mo_sim *sim = world_create(&t.w);
    sim->review = measure, sim->review_user = &f;
    step(sim);
    print_message("%d rows: a common motion leaves %.1e of %.1e 1/s\n", f.rows / 6, f.most, f.scale);
    assert_true(f.rows > 600 && f.most < 1e-10 * f.scale);
    world_end(&t.w, sim);
}

// Weightless cloth in honey that stands still, with its surface on a plane of the lattice; the solve agrees with a
// tighter one by route paper.
static void honey_rests_over_cloth(void **state)
{
    (void)state;
    pot t;
    double fastest = 0, apart = 0;
    start(&t, 8, 0.01, MO_WALL_NO_SLIP), lay(&t, 0.5, 0, 0.42);
    t.w.def.solver.verify = true;
    mo_sim *sim = world_create(&t.w);
    for (int i = 0; i < 2; i++) {
        mo_stats s = step(sim);
        fastest = fmax(fastest, s.max_speed), apart = fmax(apart, s.verify.velocity);
        print_message("%s: %d iterations in %d rounds\n", s.sets[0].form, s.iterations, s.rounds);
    }
    print_message("fastest %.1e m/s, %.1e from route paper\n", fastest, apart);
    assert_true(fastest < 1e-3 * 9.81 * 0.02 && apart < 1e-4);
    world_end(&t.w, sim);
}

// Heavy cloth sinks edge-on.
static double speed_of_sinking(mo_wall wall)
{
    pot t;
    mo_cloth_state c;
    start(&t, 10, 20, wall), lay(&t, 0.4, 1.4, 0.42);
    mo_sim *sim = world_create(&t.w);
    for (int i = 0; i < 3; i++) {
        mo_stats s = step(sim);
        assert_true(s.energy_error < 0.01 && s.cloth.stopped == 0);
    }
    mo_sim_cloth(sim, 0, &c);
    world_end(&t.w, sim);
    return -c.velocity.y;
}

static void honey_holds_cloth_that_it_sticks_to(void **state)
{
    (void)state;
    double stick = speed_of_sinking(MO_WALL_NO_SLIP), slip = speed_of_sinking(MO_WALL_SLIP);
    print_message("cloth sinks edge-on with %.4f m/s where honey sticks, %.4f where it slips\n", stick, slip);
    assert_true(stick > 0 && slip > 2 * stick);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_common_motion_has_no_stress),
        cmocka_unit_test(honey_rests_over_cloth),
        cmocka_unit_test(honey_holds_cloth_that_it_sticks_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
