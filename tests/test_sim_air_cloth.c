// Cloth in air, in one solve: a step is the dense one, cloth drags air along, common motion changes nothing, soot stays
// on its side, accounts hold.
#include "air_sheets.h"
#include "dense_test.h"
#include "system/nodes.h"
#include <stdlib.h>

typedef struct cloth_room {
    sheet_room w;
    mo_cloth_def cloth;
    mo_pin_def pin;
} cloth_room;

static void begin(cloth_room *c, int cells, double density)
{
    memset(c, 0, sizeof *c);
    start(&c->w, mo_v3(1, 1, 1), cells);
    c->cloth = mo_cloth_def_default();
    c->cloth.name = "cloth", c->cloth.density = density, c->cloth.damping = 5e-3, c->cloth.bend = 1e-4;
}

static mo_sim *enter_cloth(cloth_room *c)
{
    c->cloth.sheet = &c->w.sheet;
    c->w.r.def.cloths = &c->cloth, c->w.r.def.cloth_count = 1;
    return enter(&c->w.r);
}

static void end(cloth_room *c, mo_sim *sim)
{
    leave(&c->w, sim);
    if (c->pin.where) mo_shape_release((mo_shape *)c->pin.where);
}

static void pin_below(cloth_room *c, double x)
{
    mo_shape *box = mo_shape_box(mo_v3(2, 4, 4));
    c->pin.where = mo_shape_move(box, mo_v3(x - 1, 0.5, 0.5));
    mo_shape_release(box);
    c->cloth.pins = &c->pin, c->cloth.pin_count = 1;
}

typedef struct worst {
    double energy, speed, soot, stretch;
    int32_t iterations;
    int64_t fallbacks, stopped;
} worst;

static void note(const mo_stats *s, worst *w)
{
    w->energy = fmax(w->energy, s->energy_error), w->speed = fmax(w->speed, s->max_speed);
    w->soot = fmax(w->soot, fabs(s->smoke_error)), w->stretch = fmax(w->stretch, s->cloth.stretch);
    w->iterations = s->iterations > w->iterations ? s->iterations : w->iterations;
    w->fallbacks += s->fallbacks, w->stopped += s->cloth.stopped;
    if (getenv("TELL"))
        printf("step %d dt %.4f: %d iterations in %d rounds, energy error %.2g, fastest %.3g, stretch %.2g\n",
               (int)s->step, s->dt, s->iterations, s->rounds, s->energy_error, s->max_speed, s->cloth.stretch);
}

static void tell(const char *what, const worst *w)
{
    printf("%s: energy error %.2g, soot %.2g, fastest %.3g m/s, stretch %.2g, %d iterations, %lld fallbacks, %lld "
           "stopped\n",
           what, w->energy, w->soot, w->speed, w->stretch, w->iterations, (long long)w->fallbacks,
           (long long)w->stopped);
}

// ---- One step ----

typedef struct reference { // velocities of faces and nodes, then pressures
    double *x;
    int32_t size;
    double apart, scale; // largest difference from the solve, and largest velocity
} reference;

static void write_block(const mo_csr *B, int32_t at, int32_t rows, int32_t n, double dt, double *A)
{
    for (int32_t r = 0; r < B->rows; r++)
        for (int64_t k = B->row[r]; k < B->row[r + 1]; k++) {
            A[(rows + r) * n + at + B->col[k]] += B->val[k];
            A[(at + B->col[k]) * n + rows + r] += dt * B->val[k];
        }
}

// One step of Newton's method with everything in one dense matrix:
// Mf (u - u*) + dt B^T x = 0,  H dv + gradient + dt F^T x = 0,  B u + F (v + dv) = rhs + turned
static void newton(mo_system *s, const double *start, double *v, double *x)
{
    const mo_block *p = s->block[MO_BLOCK_PRESSURE];
    int32_t faces = s->faces.count, nodes = s->nodes.count, rows = faces + nodes, n = rows + p->rows;
    double *A = calloc((size_t)n * (size_t)n, sizeof(double)), *gradient = malloc(sizeof(double) * (size_t)nodes);
    assert_int_equal(mo_nodes_derive(&s->nodes, 0, v, false, gradient), MO_OK);
    memcpy(s->nodes.velocity, v, sizeof(double) * (size_t)nodes);
    assert_int_equal(mo_nodes_turn(s, &err), MO_OK);
    const mo_node_part *part = &s->nodes.nodes->part[0];
    memset(x, 0, sizeof(double) * (size_t)n);
    write_block(&p->on[MO_FACES], 0, rows, n, s->dt, A), write_block(&p->on[MO_NODES], faces, rows, n, s->dt, A);
    for (int32_t i = 0; i < faces; i++) A[i * n + i] = s->faces.mass[i], x[i] = s->faces.mass[i] * start[i];
    for (int32_t i = 0; i < nodes; i++) {
        if (part->held[i])
            memset(A + (int64_t)(faces + i) * n, 0, sizeof(double) * (size_t)n), A[(faces + i) * n + faces + i] = 1;
        for (int64_t k = part->H.row[i]; k < part->H.row[i + 1] && !part->held[i]; k++)
            if (!part->held[part->H.col[k]]) A[(faces + i) * n + faces + part->H.col[k]] += part->H.val[k];
        if (!part->held[i]) x[faces + i] = -gradient[i];
    }
    for (int32_t r = 0; r < p->rows; r++) {
        x[rows + r] = p->rhs[r] + p->turned[r];
        for (int64_t k = p->on[MO_NODES].row[r]; k < p->on[MO_NODES].row[r + 1]; k++)
            x[rows + r] -= p->on[MO_NODES].val[k] * v[p->on[MO_NODES].col[k]];
    }
    eliminate(n, A, x);
    for (int32_t i = 0; i < nodes; i++) v[i] += x[faces + i];
    free(A), free(gradient);
}

// Before the solve: the dense solution, from the velocities v* of faces and the start of the nodes.
static mo_status solve_dense(void *user, mo_sim *sim, mo_step_context *c, mo_error *e)
{
    enum { STEPS = 8 };
    reference *r = user;
    mo_system *s = &c->assemble.liquid.system;
    int32_t faces = s->faces.count, nodes = s->nodes.count;
    (void)sim, (void)e;
    r->size = faces + nodes + s->block[MO_BLOCK_PRESSURE]->rows;
    r->x = realloc(r->x, sizeof(double) * (size_t)r->size);
    double *v = malloc(sizeof(double) * 2 * (size_t)nodes), *begin_at = v + nodes;
    memcpy(v, s->nodes.velocity, sizeof(double) * (size_t)nodes), memcpy(begin_at, v, sizeof(double) * (size_t)nodes);
    for (int k = 0; k < STEPS; k++) newton(s, s->faces.velocity, v, r->x);
    memcpy(r->x + faces, v, sizeof(double) * (size_t)nodes);
    memcpy(s->nodes.velocity, begin_at, sizeof(double) * (size_t)nodes);
    free(v);
    return MO_OK;
}

static mo_status compare(void *user, mo_sim *sim, mo_step_context *c, bool *again, mo_error *e)
{
    reference *r = user;
    const mo_system *s = &c->assemble.liquid.system;
    int32_t faces = s->faces.count;
    (void)sim, (void)again, (void)e;
    for (int32_t i = 0; i < faces + s->nodes.count; i++) {
        double own = i < faces ? s->faces.velocity[i] : s->nodes.velocity[i - faces];
        r->apart = fmax(r->apart, fabs(own - r->x[i])), r->scale = fmax(r->scale, fabs(r->x[i]));
    }
    return MO_OK;
}

// Steps in wind, with half of the last pressure before the solve from the second one on.
static void test_dense(void **state)
{
    (void)state;
    for (int heavy = 0; heavy < 2; heavy++) {
        cloth_room c;
        reference r = {0};
        begin(&c, 6, heavy ? 3 : 0.1);
        assert_int_equal(mo_sheet_plate(0.6, 0.5, 1.0 / 6, &c.w.sheet, &err), MO_OK);
        mo_sheet_rotate(&c.w.sheet, mo_v3(0.6, 0, 0.8), 0.4), mo_sheet_move(&c.w.sheet, mo_v3(0.53, 0.51, 0.48));
        pin_below(&c, 0.3), open_all(&c.w);
        c.w.r.air.wind = mo_v3(1, 0.5, 0.2);
        c.w.r.def.solver.tolerance = 1e-8, c.w.r.def.solver.rounds = 20;
        mo_sim *sim = enter_cloth(&c);
        sim->inspect = solve_dense, sim->review = compare, sim->inspect_user = sim->review_user = &r;
        for (int i = 0; i < 3; i++) step(sim);
        printf("%s cloth: %d unknowns, the solve differs from the dense one by %.2g of %.2g m/s\n",
               heavy ? "heavy" : "light", r.size, r.apart, r.scale);
        assert_true(r.apart < 1e-7 * r.scale);
        free(r.x);
        end(&c, sim);
    }
}

// Free cloth gets what gravity and the air give it, and nothing else.
static void test_momentum(void **state)
{
    (void)state;
    cloth_room c;
    double most = 0, size = 0;
    begin(&c, 16, 0.2);
    plate(&c.w, 0.4, 0.3, mo_v3(0.5, 0.6, 0.5));
    c.w.r.air.wind = mo_v3(1, 0, 0.3), open_all(&c.w);
    c.cloth.velocity = mo_v3(0, 0, 1);
    mo_sim *sim = enter_cloth(&c);
    mo_cloth_state a, b;
    mo_sim_cloth(sim, 0, &a);
    for (int i = 0; i < 8; i++, a = b) {
        mo_stats s = step(sim);
        mo_sim_cloth(sim, 0, &b);
        mo_vec3 got = mo_mul(b.mass / s.dt, mo_sub(b.velocity, a.velocity));
        most = fmax(most, mo_norm(mo_sub(got, mo_mad(b.force, b.mass, mo_v3(0, -9.81, 0)))));
        size = fmax(size, mo_norm(b.force));
    }
    printf("momentum of cloth: differs by %.2g N, force of the air %.2g N\n", most, size);
    assert_true(most < 1e-9 * size && size > 0.01);
    end(&c, sim);
}

// A stiff disk of cloth that is released falls with m g/(m + 8/3 rho a^3) at first; on its edge with g.
static void test_added_mass(void **state)
{
    (void)state;
    const double radius = 0.25;
    for (int edgewise = 0; edgewise < 2; edgewise++) {
        cloth_room c;
        begin(&c, 28, 0.3);
        assert_int_equal(mo_sheet_disk(radius, 1.0 / 28, &c.w.sheet, &err), MO_OK);
        if (edgewise) mo_sheet_rotate(&c.w.sheet, mo_v3(0, 0, 1), 0.5 * M_PI);
        mo_sheet_move(&c.w.sheet, mo_v3(0.51, 0.49, 0.505));
        open_all(&c.w);
        c.cloth.stretch = 1e5, c.cloth.bend = 10;
        mo_sim *sim = enter_cloth(&c);
        mo_stats s = step(sim);
        mo_cloth_state b;
        mo_sim_cloth(sim, 0, &b);
        double added = 8.0 / 3 * 1.2 * pow(radius, 3), got = -b.velocity.y / (9.81 * s.dt),
               dragged = b.mass / got - b.mass;
        printf("a stiff disk of cloth falls %s: first acceleration %.4f g, added mass %.3f of 8/3 rho a^3, %d "
               "iterations\n",
               edgewise ? "edgewise" : "broadside", got, dragged / added, s.iterations);
        assert_true(fabs(dragged / added - !edgewise) < (edgewise ? 1e-6 : 0.05));
        end(&c, sim);
    }
}

// ---- Whole runs ----

// Cloth moves with the wind, in any direction: nothing changes.
static void test_common_motion(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        static const double angles[3] = {0, 0.1963, 0.6};
        cloth_room c;
        begin(&c, 16, 0.1);
        plate(&c.w, 0.4, angles[k], mo_v3(0.35, 0.4, 0.45));
        open_all(&c.w);
        c.w.r.air.wind = c.cloth.velocity = mo_v3(1, 0.4, 0.2);
        c.w.r.def.gravity = mo_v3(0, 0, 0);
        mo_sim *sim = enter_cloth(&c);
        for (int i = 0; i < 12; i++) step(sim);
        double most = worst_of(sim, c.w.r.air.wind, mo_v3(0, 1, 0), 1);
        printf("cloth at %.2f rad in a wind of its own velocity: change of velocity %.2g\n", angles[k], most);
        assert_true(most < 2e-5);
        end(&c, sim);
    }
}

static void falling(cloth_room *c, int cells, double angle)
{
    begin(c, cells, 0.1);
    assert_int_equal(mo_sheet_plate(0.4, 0.3, 1.0 / cells, &c->w.sheet, &err), MO_OK);
    mo_sheet_rotate(&c->w.sheet, mo_v3(0, 0, 1), angle);
    mo_sheet_move(&c->w.sheet, mo_v3(0.5, 0.75, 0.5));
    c->w.r.smoke.shape = ball(0.2, mo_v3(0.5, 0.5, 0.5));
}

// Light cloth falls in a closed room: slower than in a vacuum; energy never grows.
static void test_falling(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        static const double angles[3] = {0, 0.4, 1.2};
        cloth_room c;
        worst w = {0};
        falling(&c, 16, angles[k]);
        mo_sim *sim = enter_cloth(&c);
        for (int i = 0; i < (k == 2 ? 16 : 20); i++) { // then it touches the floor
            mo_stats s = step(sim);
            note(&s, &w);
        }
        mo_cloth_state b;
        mo_sim_cloth(sim, 0, &b);
        double fell = (0.75 - b.centre.y) / (0.5 * 9.81 * sim->time * sim->time);
        tell("falling cloth", &w);
        printf("at %.1f rad: fell %.3f of what it would in a vacuum, to %.3f m in %.2f s\n", angles[k], fell,
               b.centre.y, sim->time);
        assert_true(w.energy < 1e-4 && w.soot < 1e-5 && w.fallbacks == 0 && w.stopped == 0);
        assert_true(fell > 0.1 && fell < (k == 2 ? 0.95 : 0.5));
        end(&c, sim);
    }
}

// A closed ball of cloth with hot soot in it rises or falls and deforms: no soot comes out.
static void test_balloon(void **state)
{
    (void)state;
    cloth_room c;
    worst w = {0};
    begin(&c, 16, 0.02);
    ball_sheet(&c.w, mo_v3(0.51, 0.52, 0.5));
    c.cloth.angular_velocity = mo_v3(0, 2, 0), c.cloth.velocity = mo_v3(0.6, 0, 0.3), c.cloth.stretch = 200;
    c.w.r.smoke.shape = ball(0.13, mo_v3(0.53, 0.52, 0.5)), c.w.r.smoke.temperature = 500;
    mo_sim *sim = enter_cloth(&c);
    double first = mo_sim_air_sums(sim).soot;
    for (int i = 0; i < 30; i++) {
        mo_stats s = step(sim);
        note(&s, &w);
    }
    const mo_grid *g = sim->grid;
    uint8_t *mark = mo_alloc((size_t)mo_grid_rows(g));
    double sum = 0, out = 0;
    int32_t corner[3] = {MO_MARGIN, MO_MARGIN, MO_MARGIN};
    flood(g, mo_grid_index(g, corner[0], corner[1], corner[2]), mark);
    for (int32_t i = 0; i < mo_grid_rows(g); i++)
        *(mark[i] ? &out : &sum) += sim->openings.volume[i] * sim->air.gas.soot[i] * mo_grid_cell_volume(g);
    mo_cloth_state b;
    mo_sim_cloth(sim, 0, &b);
    tell("a ball of cloth", &w);
    printf("soot in it: %.8g of %.8g kg, outside %.2g; it is at (%.3f, %.3f, %.3f)\n", sum, first, out, b.centre.x,
           b.centre.y, b.centre.z);
    assert_true(out == 0 && fabs(sum / first - 1) < 1e-5 && w.energy < 0.01);
    mo_free(mark);
    end(&c, sim);
}

// A flag in the wind: it hangs on its pins, and nothing runs away.
static void test_flag(void **state)
{
    (void)state;
    cloth_room c;
    worst w = {0};
    begin(&c, 20, 0.1);
    assert_int_equal(mo_sheet_plate(0.4, 0.24, 0.05, &c.w.sheet, &err), MO_OK);
    mo_sheet_rotate(&c.w.sheet, mo_v3(1, 0, 0), 1.5), mo_sheet_move(&c.w.sheet, mo_v3(0.4, 0.52, 0.5));
    pin_below(&c, 0.21), open_all(&c.w);
    c.w.r.air.wind = mo_v3(3, 0, 0);
    mo_sim *sim = enter_cloth(&c);
    double most = 0;
    for (int i = 0; i < 60; i++) {
        mo_stats s = step(sim);
        mo_cloth_state b;
        mo_sim_cloth(sim, 0, &b);
        note(&s, &w), most = fmax(most, mo_elastic_speed(&sim->elastics.body[0]));
    }
    tell("a flag", &w);
    printf("fastest vertex %.3g m/s\n", most);
    assert_true(w.energy < 0.01 && w.speed < 9 && most < 9 && w.fallbacks == 0);
    end(&c, sim);
}

static mo_sim *enter_cloth_again(void *place) { return enter_cloth(place); }

static void test_threads_and_resume(void **state)
{
    (void)state;
    cloth_room a, b;
    falling(&a, 12, 0.4), falling(&b, 12, 0.4);
    b.w.r.def.threads = 2;
    mo_sim *one = enter_cloth(&a), *two = enter_cloth(&b);
    two = compare_parts(one, two, enter_cloth_again, &b);
    const mo_elastic *x = &one->elastics.body[0], *y = &two->elastics.body[0];
    assert_memory_equal(x->body.position, y->body.position, sizeof(mo_vec3) * (size_t)x->body.vertices);
    assert_memory_equal(x->kick, y->kick, sizeof(mo_vec3) * (size_t)x->body.vertices);
    assert_memory_equal(&one->solids[x->solid].force, &two->solids[y->solid].force, sizeof(mo_vec3));
    end(&b, two), end(&a, one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dense),      cmocka_unit_test(test_momentum),
        cmocka_unit_test(test_added_mass), cmocka_unit_test(test_common_motion),
        cmocka_unit_test(test_falling),    cmocka_unit_test(test_balloon),
        cmocka_unit_test(test_flag),       cmocka_unit_test(test_threads_and_resume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
