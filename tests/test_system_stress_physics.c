// The blocks of viscous liquids against what physics demands: rigid motion, rest, shear, buoyancy, momentum.
#include "stress_test.h"

// ---- One rigid motion of liquid, solids and prescribed faces ----

static void move_together(world *w, mo_vec3 linear, mo_vec3 angular)
{
    for (int k = 0; k < SOLIDS; k++) w->linear[k] = linear, w->angular[k] = angular;
    move_rigidly(w, linear, angular);
}

static void check_rigid(world *w, bool raw, bool reduced)
{
    mo_solver_def solver = exact_solver("PV-unified", raw);
    mo_liquid_system s;
    assert_int_equal(mo_case_stokes_assemble(&w->c, w->dt, &solver, &s, NULL), MO_OK);
    mo_liquid_destroy(&s);
    uint8_t *fixed[3];
    for (int a = 0; a < 3; a++) {
        fixed[a] = calloc((size_t)mo_grid_cells(w->c.grid), 1);
        for (int64_t i = 0; i < mo_grid_cells(w->c.grid); i++)
            fixed[a][i] = mo_hash((uint32_t)i, (uint32_t)a, 77) % 20 == 0;
    }
    mo_stress_def d = mo_case_stress_def(&w->c, w->dt, &solver);
    d.fixed = (const uint8_t *const *)fixed, d.reduced = reduced;
    assert_int_equal(mo_stress_assemble(&d, w->c.arena, &s, NULL), MO_OK);
    mo_system *y = &s.system;
    double speed = 3, limit = 2e-6 * speed / w->c.grid->dx, *before = dense(y->faces.count);
    memcpy(before, y->faces.velocity, sizeof(double) * (size_t)y->faces.count);
    assert_true(y->block[MO_BLOCK_PRESSURE]->rows > 10);
    for (int k = 0; k <= MO_BLOCK_STRESS; k++) {
        double *r = dense(y->block[k]->rows);
        mo_block_residual(y, y->block[k], r);
        for (int32_t i = 0; i < y->block[k]->rows; i++)
            if (!(fabs(r[i]) < limit)) fail_msg("block %d row %d: %g", k, i, r[i]);
        free(r);
    }
    mo_system_info info;
    solver.tolerance = 1e-6;
    assert_int_equal(mo_system_solve(y, &solver, &info, NULL), MO_OK);
    double difference = 0, size = 0;
    for (int32_t f = 0; f < y->faces.count; f++) {
        double t = y->faces.velocity[f] - before[f];
        difference += y->faces.mass[f] * t * t, size += y->faces.mass[f] * before[f] * before[f];
    }
    if (!(sqrt(difference / size) < 1e-5)) fail_msg("velocity changes by %g", sqrt(difference / size));
    mo_liquid_destroy(&s);
    for (int a = 0; a < 3; a++) free(fixed[a]);
    free(before);
}

static void rigid_motion_is_free_of_forces(void **state)
{
    (void)state;
    mo_use_threads(1);
    for (int k = 0; k < 24; k++) {
        bool flat = k & 1;
        world w = random_world(300 + (uint32_t)k, flat, flat ? 12 : 9, true);
        start_world(&w);
        mo_vec3 linear = {0.7, -0.4, flat ? 0 : 0.9}, angular = {flat ? 0 : 1.1, flat ? 0 : -0.6, 1.3};
        move_together(&w, linear, angular);
        check_rigid(&w, k & 2, k & 4);
        end_world(&w);
    }
}

// ---- Rest ----

typedef struct tank {
    bool flat, full, tilted, inclined;
} tank;

static const double level = 0.5573, gravity = 9.81;

// Down of gravity: along the grid, or inclined by 17 degrees.
static mo_vec3 down(const tank *t)
{
    const double sine = 0.2923717047227367;
    double cosine = sqrt(1 - sine * sine);
    if (!t->inclined) return mo_v3(0, -1, 0);
    return t->flat ? mo_v3(sine, -cosine, 0) : mo_v3(0.8 * sine, -cosine, 0.6 * sine);
}
static double depth_at(const tank *t, mo_vec3 x)
{
    mo_vec3 d = mo_sub(x, mo_v3(0.5, level, 0.5));
    if (t->flat) d.z = 0;
    return mo_dot(d, down(t));
}

// The mean of max(depth, 0) over a cell: the depth is linear, so it is integrated once more along every axis.
static double mean_depth(const tank *t, mo_vec3 x, double dx)
{
    double w[3], depth = depth_at(t, x), sum = 0, scale = 1;
    int axes = t->flat ? 2 : 3;
    for (int a = 0; a < axes; a++) w[a] = fmax(fabs(mo_get(down(t), a)), 1e-3) * dx, scale *= (a + 2) * w[a];
    for (int signs = 0; signs < 1 << axes; signs++) {
        double at = depth;
        for (int a = 0; a < axes; a++) at += (signs >> a & 1 ? -0.5 : 0.5) * w[a];
        if (at > 0) sum += (__builtin_popcount((unsigned)signs) & 1 ? -1 : 1) * pow(at, axes + 1);
    }
    return sum / scale;
}

static double tank_wall(const void *user, int32_t solid, mo_vec3 x)
{
    const tank *t = user;
    (void)solid;
    mo_vec3 d = mo_sub(x, world_middle);
    if (t->flat) d.z = 0;
    if (!t->tilted) return 0.4321 - mo_norm(d);
    d = mo_quat_rotate(mo_quat_axis_angle(t->flat ? mo_v3(0, 0, 1) : mo_v3(1, 2, 3), 0.4), d);
    return 0.3137 - fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z)));
}
static double tank_liquid(const void *user, mo_vec3 x)
{
    const tank *t = user;
    return t->full ? -1 : -depth_at(t, x);
}

static void stand(const tank *t, double viscosity, bool raw, uint8_t slip)
{
    int32_t n = t->flat ? 16 : 10;
    mo_solid_set set = {.count = 1, .distance = tank_wall, .user = t, .slip = &slip};
    mo_case_def def = {.cells = {n, n, t->flat ? 1 : n},
                       .dx = 1.0 / n,
                       .liquid = tank_liquid,
                       .solids = &set,
                       .user = t,
                       .density = 1000,
                       .viscosity = viscosity};
    const double dt = 0.01;
    mo_case c;
    assert_int_equal(mo_case_create(&def, &c, NULL), MO_OK);
    mo_solver_def solver = exact_solver("PV-unified", raw);
    solver.tolerance = 1e-9;
    mo_liquid_system s;
    mo_system_info info;
    assert_int_equal(mo_case_stokes_assemble(&c, dt, &solver, &s, NULL), MO_OK);
    for (int32_t f = 0; f < s.system.faces.count; f++) {
        int axis = mo_face_axis(s.face_at[f]);
        s.system.faces.velocity[f] = gravity * dt * mo_get(down(t), axis);
    }
    assert_int_equal(mo_system_solve(&s.system, &solver, &info, NULL), MO_OK);
    mo_system *y = &s.system;
    assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
    assert_int_equal(info.enclosed, t->full);
    assert_int_equal(y->block[MO_BLOCK_STRESS]->rows > 0, viscosity > 0);
    double energy = 0, mass = 0, low = INFINITY, high = -INFINITY;
    for (int32_t f = 0; f < y->faces.count; f++)
        energy += y->faces.mass[f] * y->faces.velocity[f] * y->faces.velocity[f], mass += y->faces.mass[f];
    if (!(sqrt(energy / mass) < 1e-7)) fail_msg("moves at %g m/s (viscosity %g)", sqrt(energy / mass), viscosity);
    const mo_block *p = y->block[MO_BLOCK_PRESSURE];
    assert_true(p->rows > 50);
    for (int32_t r = 0; r < p->rows; r++) {
        mo_vec3 x = mo_grid_world(c.grid, p->coord[r][0] + 0.5, p->coord[r][1] + 0.5, p->coord[r][2] + 0.5);
        double error = p->x[r] / (1000 * gravity) - (t->full ? depth_at(t, x) : mean_depth(t, x, def.dx));
        low = fmin(low, error), high = fmax(high, error);
    }
    double error = t->full ? high - low : fmax(fabs(low), fabs(high));
    if (!(error < (raw ? 2e-6 : 0.01 * def.dx))) fail_msg("pressure is off by %g m of liquid", error);
    mo_liquid_destroy(&s);
    mo_case_destroy(&c);
}

static void liquid_at_rest_stays_at_rest(void **state)
{
    (void)state;
    const double viscosity[3] = {0, 3, 1e6};
    for (int kind = 0; kind < 16; kind++)
        for (int v = 0; v < 3; v++) {
            tank t = {.flat = kind & 1, .full = kind & 2, .tilted = kind & 4, .inclined = kind & 8};
            stand(&t, viscosity[v], v != 2 && kind % 3 == 0, (kind + v) % 2);
        }
}

// ---- A film that is slowed by its floor, with a sliver of liquid in the next row of cells ----

static void slivers_go_with_their_film(void **state)
{
    (void)state;
    const double part = 0.004; // of a cell: no stress acts on the faces of the sliver
    world w = {.flat = true, .cells = {16, 16, 1}, .liquids = 1, .solids = 1};
    w.density = 1000, w.dt = 0.5, w.viscosity = 200;
    w.liquid[0] = (shape){true, {0, 1, 0}, (8 + part) / 16}, w.solid[0] = (shape){true, {0, 1, 0}, 0.12};
    for (int k = 0; k < 6; k++) w.open_wall[k] = true;
    start_world(&w);
    mo_solver_def solver = exact_solver("PV-unified", false);
    mo_system_info info;
    mo_liquid_system s;
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(w.c.grid); i++) w.c.u[0][i] = 1;
    assert_int_equal(mo_case_stokes(&w.c, w.dt, &solver, &info, &s, NULL), MO_OK);
    int32_t followers = 0;
    for (int32_t f = 0; f < s.system.faces.count; f++) followers += s.host[f] >= 0 && s.host[f] != f;
    assert_true(followers > 8);
    for (int32_t x = 6; x < 14; x++) {
        int32_t below = mo_grid_index(w.c.grid, x, MO_MARGIN + 7, MO_MARGIN),
                sliver = mo_grid_step(w.c.grid, below, 1, 1);
        assert_true(fabs(w.c.weights.liquid[MO_SAMPLE_FACE][sliver] - part) < 1e-5);
        assert_true(w.c.u[0][below] > 0 && w.c.u[0][below] < 0.7f);
        assert_true(fabsf(w.c.u[0][sliver] - w.c.u[0][below]) < 1e-6f);
    }
    mo_liquid_destroy(&s);
    end_world(&w);
}

// ---- Shear between two plates, in a channel open at both ends ----

static const double plate_speed = 0.75;

static world channel(double bottom, double top, uint8_t slip)
{
    world w = {.flat = true, .full = true, .cells = {16, 10, 1}, .solids = 2};
    w.density = 1000, w.dt = 1, w.viscosity = 50; // steady after one step: dt viscosity / (density gap^2) is not small
    w.solid[0] = (shape){true, {0, 1, 0}, bottom}, w.solid[1] = (shape){true, {0, -1, 0}, -top};
    w.linear[0] = mo_v3(-plate_speed, 0, 0), w.linear[1] = mo_v3(plate_speed, 0, 0);
    w.slip[0] = w.slip[1] = slip;
    for (int k = 0; k < 6; k++) w.open_wall[k] = true;
    return w;
}

// What rows see of the u-faces at height j, WF u + WS u_s: it grows by shear * dx * WF^s from one to the next.
static double *channel_profile(const world *w, double shear)
{
    const mo_grid *g = w->c.grid;
    double *u = dense(g->n[1]);
    u[0] = -plate_speed;
    for (int32_t j = 1; j < g->n[1]; j++) {
        int32_t i = mo_grid_index(g, g->n[0] / 2, j, MO_MARGIN);
        u[j] = u[j - 1] + shear * g->dx * w->c.weights.fluid[MO_STRESS_XY][i];
    }
    return u;
}

static void check_shear(double bottom, double top)
{
    world w = channel(bottom, top, 0);
    start_world(&w);
    mo_solver_def solver = exact_solver("PV-unified", false);
    mo_liquid_system s;
    mo_system_info info;
    assert_int_equal(mo_case_stokes_assemble(&w.c, w.dt, &solver, &s, NULL), MO_OK); // makes the weights
    mo_liquid_destroy(&s);
    double shear = 2 * plate_speed / (top - bottom), *u = channel_profile(&w, shear);
    uint8_t *fixed[3];
    const mo_grid *g = w.c.grid;
    for (int a = 0; a < 3; a++) fixed[a] = calloc((size_t)mo_grid_cells(g), 1);
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) { // both ends are prescribed
        int32_t c[3];
        mo_grid_cell(g, i, c);
        bool end = c[0] < 3 || c[0] > g->n[0] - 3;
        fixed[0][i] = fixed[1][i] = end;
        if (end && c[1] < g->n[1]) w.c.u[0][i] = (float)u[c[1]];
    }
    mo_stress_def d = mo_case_stress_def(&w.c, w.dt, &solver);
    d.fixed = (const uint8_t *const *)fixed;
    int steps = 0;
    for (; steps < 6; steps++) {
        assert_int_equal(mo_stress_assemble(&d, w.c.arena, &s, NULL), MO_OK);
        s.system.dt = 1e4; // as good as steady
        assert_int_equal(mo_system_solve(&s.system, &solver, &info, NULL), MO_OK);
        mo_liquid_scatter(&s, w.c.u, NULL);
        if (steps < 5) mo_liquid_destroy(&s);
    }
    const mo_block *b = s.system.block[MO_BLOCK_STRESS];
    int32_t edges = 0;
    for (int32_t r = 0; r < b->rows; r++) {
        if (b->coord[r][0] < 4 || b->coord[r][0] > g->n[0] - 4) continue;
        double expected = (s.sample_at[r] & 7) == MO_STRESS_XY ? w.viscosity * shear : 0;
        edges += expected > 0;
        if (!(fabs(b->x[r] - expected) < 1e-5 * w.viscosity * shear))
            fail_msg("plates %g %g, row %d %d: stress %g instead of %g", bottom, top, b->coord[r][1],
                     s.sample_at[r] & 7, b->x[r], expected);
    }
    assert_true(edges > 40);
    // The liquid drags the plates: the length between the prescribed ends times the stress, per cell of thickness.
    mo_vec3 force[2], torque[2], about[2] = {{0, 0, 0}, {0, 0, 0}};
    assert_int_equal(mo_stress_forces(&d, &s, about, force, torque, w.c.arena, NULL), MO_OK);
    assert_true(force[0].x > 0 && force[1].x < 0);
    mo_liquid_destroy(&s);
    for (int a = 0; a < 3; a++) free(fixed[a]);
    free(u);
    end_world(&w);
}

static void plates_shear_the_liquid_between_them(void **state)
{
    (void)state;
    check_shear(0.2, 0.8);   // on faces
    check_shear(0.25, 0.75); // through cell centres
    check_shear(0.2137, 0.7731);
    check_shear(0.2891, 0.7066);
}

static void check_slip(double bottom, double top, double angle)
{
    world w = channel(bottom, top, 1);
    double c = cos(angle), s = sin(angle);
    w.solid[0].at = mo_v3(-s, c, 0), w.solid[0].radius = bottom - 0.8 * s, w.solid[1].at = mo_v3(s, -c, 0);
    w.solid[1].radius = -top + 0.8 * s;
    for (int k = 0; k < 2; k++) w.linear[k] = mo_mul(k ? 2 : -1, mo_v3(c, s, 0));
    start_world(&w);
    move_rigidly(&w, mo_v3(0.3 * c, 0.3 * s, 0), mo_v3(0, 0, 0));
    mo_solver_def solver = exact_solver("PV-unified", false);
    mo_liquid_system y;
    assert_int_equal(mo_case_stokes_assemble(&w.c, w.dt, &solver, &y, NULL), MO_OK);
    const mo_block *b = y.system.block[MO_BLOCK_STRESS];
    double *r = dense(b->rows);
    mo_block_residual(&y.system, b, r);
    assert_true(b->rows > 50);
    for (int32_t i = 0; i < b->rows; i++)
        if (!(fabs(r[i]) < 1e-5))
            fail_msg("angle %g, sample %d %d %d: %g", angle, b->coord[i][0], b->coord[i][1], y.sample_at[i] & 7, r[i]);
    free(r);
    mo_liquid_destroy(&y);
    end_world(&w);
}

static void slippery_plates_do_not_shear(void **state)
{
    (void)state;
    check_slip(0.2, 0.8, 0), check_slip(0.2137, 0.7731, 0);
    check_slip(0.2137, 0.7731, 0.1), check_slip(0.2137, 0.7731, -0.25);
}

// Liquid slides along a slippery floor while a slippery ball stands beyond it: the floor does not hold it.
static void slippery_floor_does_not_hold(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        world w = {.flat = true, .cells = {20, 10, 1}, .liquids = 1, .solids = k};
        w.density = 1000, w.dt = 0.01, w.viscosity = 100;
        w.liquid[0] = (shape){false, {0.6, 0.05, 0.05}, 0.35};
        w.solid[0] = (shape){false, {1.4, -0.05, 0.05}, 0.1}, w.slip[0] = 1;
        for (int s = 0; s < 6; s++) w.slip_wall[s] = true;
        start_world(&w);
        move_rigidly(&w, mo_v3(1, 0, 0), mo_v3(0, 0, 0));
        mo_solver_def solver = exact_solver("PV-unified", false);
        mo_liquid_system y;
        assert_int_equal(mo_case_stokes_assemble(&w.c, w.dt, &solver, &y, NULL), MO_OK);
        for (int block = 0; block <= MO_BLOCK_STRESS; block++) {
            const mo_block *b = y.system.block[block];
            double *r = dense(b->rows);
            mo_block_residual(&y.system, b, r);
            for (int32_t i = 0; i < b->rows; i++)
                if (!(fabs(r[i]) < 1e-5)) fail_msg("%d, sample %d %d: %g", k, b->coord[i][0], b->coord[i][1], r[i]);
            free(r);
        }
        mo_liquid_destroy(&y);
        end_world(&w);
    }
}

// A stiff drop slides along a slippery gentle slope: it keeps its speed but for the error of the cut cells.
static void stiff_drop_slides_down_a_slope(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        double angle = 0.09 + 0.07 * k;
        mo_vec3 along = {cos(angle), sin(angle), 0}, normal = {-sin(angle), cos(angle), 0};
        world w = {.flat = true, .cells = {16, 16, 1}, .liquids = 1, .solids = 1};
        w.density = 1000, w.dt = 0.01, w.viscosity = 1e5;
        w.solid[0] = (shape){true, normal, mo_dot(normal, mo_v3(0.5, 0.31, 0))}, w.slip[0] = 1;
        w.liquid[0] = (shape){false, {0.5, 0.4, 0.03}, 0.27};
        start_world(&w);
        move_rigidly(&w, along, mo_v3(0, 0, 0));
        mo_solver_def solver = exact_solver("PV-unified", false);
        solver.tolerance = 1e-9;
        mo_liquid_system s;
        mo_system_info info;
        assert_int_equal(mo_case_stokes(&w.c, w.dt, &solver, &info, &s, NULL), MO_OK);
        const mo_system *y = &s.system;
        double kept = 0, mass = 0;
        for (int32_t f = 0; f < y->faces.count; f++) {
            double part = mo_get(along, mo_face_axis(s.face_at[f]));
            kept += y->faces.mass[f] * y->faces.velocity[f] * part, mass += y->faces.mass[f] * part * part;
        }
        if (!(fabs(kept / mass - 1) < 0.08)) fail_msg("slope of %g: %g of the speed is kept", angle, kept / mass);
        mo_liquid_destroy(&s);
        end_world(&w);
    }
}

// ---- Forces ----

static void check_buoyancy(bool flat, double viscosity, bool raw, uint8_t slip)
{
    double radius = 8.0 / 24, volume = flat ? 3.14159265 * radius * radius / 24 : 4.18879020 * radius * radius * radius;
    world w = {.flat = flat, .cells = {24, 24, flat ? 1 : 24}, .liquids = 1, .solids = 1};
    w.density = 1000, w.dt = 0.01, w.viscosity = viscosity;
    w.liquid[0] = (shape){true, {0, 1, 0}, 0.93};
    w.solid[0] = (shape){false, {0.507, 0.489, flat ? 0.02 : 0.512}, radius}, w.slip[0] = slip;
    start_world(&w);
    for (int64_t i = 0; i < mo_grid_cells(w.c.grid); i++) w.c.u[1][i] = (float)(-gravity * w.dt);
    mo_solver_def solver = exact_solver("", raw);
    solver.tolerance = 1e-8, solver.route = MO_ROUTE_FAST;
    mo_liquid_system s;
    mo_system_info info;
    assert_int_equal(mo_case_stokes(&w.c, w.dt, &solver, &info, &s, NULL), MO_OK);
    mo_stress_def d = mo_case_stress_def(&w.c, w.dt, &solver);
    mo_vec3 force, torque, about = w.solid[0].at;
    assert_int_equal(mo_stress_forces(&d, &s, &about, &force, &torque, w.c.arena, NULL), MO_OK);
    double expected = w.density * gravity * volume;
    if (!(fabs(force.y / expected - 1) < 0.02)) fail_msg("buoyancy %g instead of %g", force.y, expected);
    assert_true(fabs(force.x) < 0.005 * expected && fabs(force.z) < 0.005 * expected);
    if (!(mo_norm(torque) < 0.005 * expected * radius)) fail_msg("torque %g", mo_norm(torque));
    mo_liquid_destroy(&s);
    end_world(&w);
}

static void submerged_ball_is_buoyant(void **state)
{
    (void)state;
    check_buoyancy(false, 0, false, 0);
    check_buoyancy(false, 0, true, 1);
    for (int k = 0; k < 4; k++) check_buoyancy(true, 40, k & 1, k >> 1);
}

// What the liquid loses in momentum and in angular momentum about the middle the solids get.
static void check_momentum(world *w, const char *scheme, bool raw, double limit)
{
    mo_solver_def solver = exact_solver(scheme, raw);
    mo_liquid_system s;
    mo_system_info info;
    assert_int_equal(mo_case_stokes_assemble(&w->c, w->dt, &solver, &s, NULL), MO_OK);
    mo_system *y = &s.system;
    double *before = dense(y->faces.count), dx = w->c.grid->dx, size = 0;
    memcpy(before, y->faces.velocity, sizeof(double) * (size_t)y->faces.count);
    assert_int_equal(mo_system_solve(y, &solver, &info, NULL), MO_OK);
    mo_vec3 momentum = {0, 0, 0}, angular = {0, 0, 0}, force[SOLIDS], torque[SOLIDS], about[SOLIDS];
    for (int32_t f = 0; f < y->faces.count; f++) {
        int axis = mo_face_axis(s.face_at[f]);
        double change = y->faces.mass[f] * (y->faces.velocity[f] - before[f]) * dx * dx * dx;
        mo_vec3 m = {axis == 0 ? change : 0, axis == 1 ? change : 0, axis == 2 ? change : 0};
        mo_vec3 x = mo_sub(face_position(w->c.grid, mo_face_sample(s.face_at[f]), axis), world_middle);
        momentum = mo_add(momentum, m), angular = mo_add(angular, mo_cross(x, m)), size += fabs(change);
    }
    mo_stress_def d = mo_case_stress_def(&w->c, w->dt, &solver);
    for (int k = 0; k < SOLIDS; k++) about[k] = world_middle;
    assert_int_equal(mo_stress_forces(&d, &s, about, force, torque, w->c.arena, NULL), MO_OK);
    double given = 0;
    for (int32_t k = 0; k < w->solids; k++) {
        momentum = mo_mad(momentum, w->dt, force[k]), angular = mo_mad(angular, w->dt, torque[k]);
        given += mo_norm(force[k]) * w->dt;
    }
    if (w->flat) angular.x = angular.y = 0; // of the plane's offset from the middle
    if (w->solids) assert_true(given > 1e-3 * size);
    if (!(mo_norm(momentum) < limit * (size + given))) fail_msg("lost %g of %g", mo_norm(momentum), size);
    if (!(mo_norm(angular) < limit * (size + given))) fail_msg("lost %g of %g, angular", mo_norm(angular), size);
    mo_liquid_destroy(&s);
    free(before);
}

static void momentum_goes_to_solids(void **state)
{
    (void)state;
    for (int k = 0; k < 12; k++) {
        bool flat = k & 1;
        world w = random_world(500 + (uint32_t)k, flat, flat ? 12 : 9, true);
        start_world(&w);
        stir(&w, (uint32_t)k);
        check_momentum(&w, "PV-unified", k & 2, 1e-6);
        end_world(&w);
    }
}

static void momentum_is_kept_in_free_flight(void **state)
{
    (void)state;
    static const char *const scheme[3] = {"PV-unified", "P-V-P", "P"};
    for (int k = 0; k < 12; k++) {
        bool flat = k & 1;
        world w = random_world(600 + (uint32_t)k, flat, flat ? 12 : 9, true);
        w.solids = 0;
        start_world(&w);
        stir(&w, (uint32_t)k);
        check_momentum(&w, scheme[k % 3], k & 2, 1e-9);
        end_world(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rigid_motion_is_free_of_forces), cmocka_unit_test(liquid_at_rest_stays_at_rest),
        cmocka_unit_test(slivers_go_with_their_film),     cmocka_unit_test(plates_shear_the_liquid_between_them),
        cmocka_unit_test(slippery_plates_do_not_shear),   cmocka_unit_test(slippery_floor_does_not_hold),
        cmocka_unit_test(stiff_drop_slides_down_a_slope), cmocka_unit_test(submerged_ball_is_buoyant),
        cmocka_unit_test(momentum_goes_to_solids),        cmocka_unit_test(momentum_is_kept_in_free_flight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
