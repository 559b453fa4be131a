// The level set of the liquid: tiles that come and go, margins, advection, redistancing, volume, and when it follows
// the particles.
#include "fluid_test.h"
#include "fluid/levelset.h"

static const bool closed[6] = {false};

typedef double (*distance_fn)(const double x[3]);

static double ball(const double x[3]) { return hypot(hypot(x[0] - 13.3, x[1] - 12.8), x[2] - 13.1) - 6.2; }
static double disc(const double x[3]) { return hypot(x[0] - 13.3, x[1] - 12.8) - 6.2; }
static double slope(const double x[3]) { return 0.28 * (x[0] - 13) + 0.96 * (x[1] - 12.6); }

// Particles fill what is negative; the level set is the distance, at most the band.
static void start(liquid *l, mo_levelset *s, bool flat, distance_fn distance)
{
    liquid_create(l, 24, 24, flat ? 1 : 24);
    liquid_fill(l, (double[3]){2, 2, 2}, (double[3]){26, 26, 26}, 2, 0.8, distance);
    liquid_sort(l);
    *s = (mo_levelset){0};
    assert_int_equal(mo_levelset_settle(s, l->g, l->arena, NULL), MO_OK);
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(l->g); i++) {
        int32_t c[3];
        mo_grid_cell(l->g, i, c);
        double d = distance((double[3]){c[0] + 0.5, c[1] + 0.5, c[2] + 0.5});
        s->phi[i] = (float)fmin(fmax(d, -MO_LEVELSET_BAND), MO_LEVELSET_BAND);
        s->moved[i] = 0;
    }
    mo_levelset_fill_margins(l->g, closed, s->phi);
}

static void end(liquid *l, mo_levelset *s)
{
    mo_levelset_destroy(s);
    liquid_destroy(l);
}

// Values move with their tiles; new ones are air.
static void settling_carries_values(void **state)
{
    (void)state;
    liquid l;
    mo_levelset s;
    start(&l, &s, false, ball);
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(l.g); i++) {
        int32_t c[3];
        mo_grid_cell(l.g, i, c);
        s.phi[i] = (float)(c[0] + 100 * c[1] + 10000 * c[2]), s.press[i] = -s.phi[i];
    }
    mo_grid *old = l.g;
    for (int32_t q = 0; q < l.p.count; q++) l.p.x[0][q] = fminf(l.p.x[0][q] + 7, 25.9f);
    int32_t(*was)[3] = malloc(sizeof *was * (size_t)s.tiles), tiles = s.tiles, carried = 0, fresh = 0;
    memcpy(was, s.coord, sizeof *was * (size_t)tiles);
    liquid_sort(&l);
    assert_ptr_equal(old, l.g);
    assert_int_equal(mo_levelset_settle(&s, l.g, l.arena, NULL), MO_OK);
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(l.g); i++) {
        int32_t c[3];
        bool known = false;
        mo_grid_cell(l.g, i, c);
        for (int32_t t = 0; t < tiles; t++)
            known |= was[t][0] == c[0] >> 3 && was[t][1] == c[1] >> 3 && was[t][2] == c[2] >> 3;
        float expected = known ? (float)(c[0] + 100 * c[1] + 10000 * c[2]) : MO_LEVELSET_BAND;
        assert_true(s.phi[i] == expected && s.press[i] == (known ? -expected : expected));
        carried += known, fresh += !known;
    }
    assert_true(carried > 0);
    print_message("%d cells carried, %d fresh\n", carried, fresh);
    free(was);
    end(&l, &s);
}

// Inside a solid whose wall is inclined the surface goes on as the plane it is beside it; also in a corner of two
// walls, where some cells have no line behind them.
static void solids_continue_planes(void **state)
{
    (void)state;
    for (int run = 0; run < 4; run++) {
        bool flat = run & 1, corner = run & 2;
        liquid l;
        mo_levelset s;
        start(&l, &s, flat, slope);
        size_t cells = (size_t)mo_grid_cells(l.g);
        float *distance = malloc(sizeof(float) * cells), *area[3];
        for (int a = 0; a < 3; a++) area[a] = malloc(sizeof(float) * cells);
        for (int32_t i = 0; i < (int32_t)cells; i++) {
            int32_t c[3];
            mo_grid_cell(l.g, i, c);
            double wall = -0.94 * (c[0] - 17.2) - 0.34 * (c[1] - 12); // it leans over the liquid
            double floor = corner ? -0.34 * (c[0] - 17.2) + 0.94 * (c[1] - 11) : 9;
            distance[i] = (float)(wall < 0 && floor < 0 ? -hypot(wall, floor) : fmin(wall, floor));
            for (int a = 0; a < 3; a++) area[a][i] = distance[i] > -0.5f;
            s.phi[i] = (float)slope((double[3]){c[0] + 0.5, c[1] + 0.5, 0}); // without an end of the band
            if (distance[i] < -1.5f) s.phi[i] = i % 2 ? -3 : 3;
        }
        mo_surface_walls walls = {distance, area, {false}};
        mo_levelset_extend(l.g, &walls, s.phi);
        int checked = 0;
        for (int32_t i = 0; i < (int32_t)cells; i++) {
            int32_t c[3];
            mo_grid_cell(l.g, i, c);
            double d = slope((double[3]){c[0] + 0.5, c[1] + 0.5, 0});
            if (!mo_levelset_in_domain(l.g, c) || fabs(d) > 2 || distance[i] < -3.5f) continue;
            assert_true(fabs(s.phi[i] - d) < 1e-4);
            checked += distance[i] < -1.5f;
        }
        assert_true(checked > 5);
        for (int a = 0; a < 3; a++) free(area[a]);
        free(distance);
        end(&l, &s);
    }
}

// Planes go on beyond closed walls; beyond open ones there is air.
static void margins_continue_planes(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        liquid l;
        mo_levelset s;
        start(&l, &s, flat, slope);
        const bool open[6] = {true};
        for (int side = 0; side < 2; side++) {
            mo_levelset_fill_margins(l.g, side ? open : closed, s.phi);
            for (int32_t i = 0; i < (int32_t)mo_grid_cells(l.g); i++) {
                int32_t c[3];
                mo_grid_cell(l.g, i, c);
                bool lattice = c[0] < l.g->n[0] && c[1] < l.g->n[1] && c[2] < l.g->n[2];
                double d = slope((double[3]){c[0] + 0.5, c[1] + 0.5, 0});
                if (!lattice || fabs(d) > 3) continue;
                if (side && c[0] < MO_MARGIN)
                    assert_true(s.phi[i] >= MO_MARGIN - c[0] - 0.501);
                else if (!(side && c[1] < MO_MARGIN))
                    assert_true(fabs(s.phi[i] - d) < 1e-4);
            }
        }
        end(&l, &s);
    }
}

static void set_rotation(const mo_grid *g, float *const u[3], double turn)
{
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
        int32_t c[3];
        mo_grid_cell(g, i, c);
        u[0][i] = (float)(-turn * (c[1] + 0.5 - 14)), u[1][i] = (float)(turn * (c[0] + 0.5 - 14)), u[2][i] = 0;
    }
}

// A ball off the centre goes round: it comes back to its place with its volume, and what does not move does not change.
static void balls_turn(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        liquid l;
        mo_levelset s;
        start(&l, &s, flat, flat ? disc : ball);
        size_t cells = (size_t)mo_grid_cells(l.g);
        float *u[3] = {new_field(&l), new_field(&l), new_field(&l)}, *work[2] = {new_field(&l), new_field(&l)};
        float *volume = new_field(&l), *first = malloc(4 * cells);
        uint8_t *bytes = new_bytes(&l, 2);
        for (size_t i = 0; i < cells; i++) volume[i] = 1;
        memcpy(first, s.phi, 4 * cells);
        mo_faces faces = {.u = {u[0], u[1], u[2]}};
        mo_levelset_advect(&s, l.g, &faces, 1, closed);
        mo_levelset_redistance(&s, l.g, closed, work, bytes);
        double before = mo_levelset_volume(l.g, s.phi, volume), off = 0;
        double exact = flat ? M_PI * 6.2 * 6.2 : 4 * M_PI / 3 * 6.2 * 6.2 * 6.2;
        for (size_t i = 0; i < cells; i++)
            if (fabsf(first[i]) < 2) assert_true(s.phi[i] == first[i]);
        enum { STEPS = 40 };
        set_rotation(l.g, u, 2 * M_PI / STEPS);
        for (int k = 0; k < STEPS; k++) {
            mo_levelset_advect(&s, l.g, &faces, 1, closed);
            mo_levelset_redistance(&s, l.g, closed, work, bytes);
        }
        for (size_t i = 0; i < cells; i++)
            if (fabsf(first[i]) < 1 && (!flat || (i >> 6 & 7) == MO_MARGIN)) off = fmax(off, fabs(s.phi[i] - first[i]));
        double after = mo_levelset_volume(l.g, s.phi, volume);
        print_message("volume %.4f of exact, %.4f after a turn; largest error %.3f cells\n", before / exact,
                      after / exact, off);
        assert_true(fabs(before / exact - 1) < 2e-3);
        assert_true(fabs(after / before - 1) < 5e-3);
        assert_true(off < 0.1);
        for (int a = 0; a < 3; a++) free(u[a]);
        free(work[0]), free(work[1]), free(volume), free(first), free(bytes);
        end(&l, &s);
    }
}

// Cells near the zero level become distances, and the zero level stays.
static void redistancing_keeps_the_surface(void **state)
{
    (void)state;
    liquid l;
    mo_levelset s;
    start(&l, &s, false, ball);
    float *work[2] = {new_field(&l), new_field(&l)}, *volume = new_field(&l);
    uint8_t *bytes = new_bytes(&l, 2);
    double error = 0;
    for (int64_t i = 0; i < mo_grid_cells(l.g); i++) {
        volume[i] = 1, s.moved[i] = 1;
        if (fabsf(s.phi[i]) < MO_LEVELSET_BAND) s.phi[i] *= 1.6f; // steep
    }
    for (int k = 0; k < 30; k++) mo_levelset_redistance(&s, l.g, closed, work, bytes);
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(l.g); i++) {
        int32_t c[3];
        mo_grid_cell(l.g, i, c);
        double d = ball((double[3]){c[0] + 0.5, c[1] + 0.5, c[2] + 0.5});
        if (fabs(d) < 3 && mo_levelset_in_domain(l.g, c)) error = fmax(error, fabs(s.phi[i] - d));
    }
    print_message("largest error of a distance %.3f cells\n", error);
    assert_true(error < 0.25);
    assert_true(fabs(mo_levelset_volume(l.g, s.phi, volume) / (4 * M_PI / 3 * 6.2 * 6.2 * 6.2) - 1) < 0.01);
    free(work[0]), free(work[1]), free(volume), free(bytes);
    end(&l, &s);
}

// The particles' surface, a cell lower, is taken where something moves, and only there.
static void particles_are_followed_where_they_move(void **state)
{
    (void)state;
    for (int moving = 0; moving < 2; moving++) {
        liquid l;
        mo_levelset s;
        start(&l, &s, false, slope);
        float *own = new_field(&l), *work[3] = {new_field(&l), new_field(&l), new_field(&l)}, *solid = new_field(&l);
        mo_levelset_particles told = {&l.p, own, solid, solid, solid, false};
        size_t cells = (size_t)mo_grid_cells(l.g);
        float *first = malloc(4 * cells);
        for (size_t i = 0; i < cells; i++) own[i] = s.phi[i] + 1, solid[i] = 4;
        memcpy(first, s.phi, 4 * cells);
        for (int32_t q = 0; q < l.p.count; q++) l.p.v[0][q] = moving ? 1.0f : 0.0f;
        int64_t changed = mo_levelset_follow(&s, l.g, &told, 0.5f, work);
        if (!moving) assert_int_equal(memcmp(first, s.phi, 4 * cells), 0);
        assert_true(moving ? changed > 100 : changed == 0);
        free(own), free(solid), free(first);
        for (int k = 0; k < 3; k++) free(work[k]);
        end(&l, &s);
    }
}

static double film_over_pool(const double x[3]) { return fmin(x[1] - 8, fabs(x[1] - 10) - 0.7); }

// The balls round particles close the gap below a film; the particles' density tells that it is air.
static void gaps_stay_open(void **state)
{
    (void)state;
    liquid l;
    mo_levelset s;
    start(&l, &s, false, film_over_pool);
    float *own = new_field(&l), *work[3] = {new_field(&l), new_field(&l), new_field(&l)}, *open = new_field(&l),
          *density = new_field(&l);
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(l.g); i++) {
        int32_t c[3];
        mo_grid_cell(l.g, i, c);
        own[i] = (float)(c[1] + 0.5 - 10.7), open[i] = 1;
    }
    for (int32_t q = 0; q < l.p.count; q++) l.p.v[1][q] = -1;
    mo_transfer_density(&l.p, l.g, density);
    double before = mo_levelset_volume(l.g, s.phi, open);
    double filled[2], gap = 24 * 24 * 1.3;
    for (int full = 0; full < 2; full++) {
        mo_levelset_particles told = {&l.p, own, full ? open : density, open, open, false};
        mo_levelset_follow(&s, l.g, &told, 0.5f, work);
        filled[full] = (mo_levelset_volume(l.g, s.phi, open) - before) / gap;
    }
    print_message("of the gap %.3f is filled; %.3f if the density were 1 in it\n", filled[0], filled[1]);
    assert_true(filled[0] < 0.2 && filled[1] > 0.8);
    free(own), free(open), free(density);
    for (int k = 0; k < 3; k++) free(work[k]);
    end(&l, &s);
}

// A level set that lies too low is raised at once, so that it holds what the particles hold.
static void volume_follows_the_particles(void **state)
{
    (void)state;
    liquid l;
    mo_levelset s;
    start(&l, &s, false, ball);
    float *volume = new_field(&l);
    uint8_t *thin = new_bytes(&l, 1);
    double offset = 0, held = mo_particles_volume(&l.p);
    for (int64_t i = 0; i < mo_grid_cells(l.g); i++) volume[i] = 1, s.phi[i] += fabsf(s.phi[i]) < 5 ? 0.2f : 0;
    double low = mo_levelset_volume(l.g, s.phi, volume);
    assert_int_equal(mo_levelset_keep_volume(&s, l.g, &l.p, volume, thin, &offset, l.arena, NULL), MO_OK);
    double after = mo_levelset_volume(l.g, s.phi, volume);
    print_message("%.3f, then %.3f of the particles' volume\n", low / held, after / held);
    assert_true(low / held < 0.95 && fabs(after / held - 1) < 0.01 && fabs(offset - 0.2) < 0.02);
    free(volume), free(thin);
    end(&l, &s);
}

// Liquid that reaches an open wall ends there: both measures of volume agree, though phi is interpolated across it.
static void volume_ends_at_open_walls(void **state)
{
    (void)state;
    const bool open[6] = {true, true, true, true, true, true};
    for (int flat = 0; flat < 2; flat++) {
        liquid l;
        mo_levelset s;
        start(&l, &s, flat, slope);
        mo_levelset_fill_margins(l.g, open, s.phi);
        float *volume = new_field(&l), *expected = new_field(&l), *capacity = new_field(&l);
        for (int64_t i = 0; i < mo_grid_cells(l.g); i++) volume[i] = 1;
        double one = mo_levelset_volume(l.g, s.phi, volume),
               other = mo_surface_expected(l.g, s.phi, volume, expected, capacity);
        print_message("%.2f and %.2f cells\n", one, other);
        assert_true(fabs(one - other) < 1e-4 * one);
        free(volume), free(expected), free(capacity);
        end(&l, &s);
    }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    float *result[2] = {NULL, NULL};
    size_t bytes_of = 0;
    for (int run = 0; run < 2; run++) {
        liquid l;
        mo_levelset s;
        mo_use_threads(run ? 3 : 1);
        start(&l, &s, false, ball);
        float *u[3] = {new_field(&l), new_field(&l), new_field(&l)}, *work[2] = {new_field(&l), new_field(&l)};
        uint8_t *bytes = new_bytes(&l, 2);
        mo_faces faces = {.u = {u[0], u[1], u[2]}};
        set_rotation(l.g, u, 0.1);
        for (int k = 0; k < 3; k++) {
            mo_levelset_advect(&s, l.g, &faces, 1, closed);
            mo_levelset_redistance(&s, l.g, closed, work, bytes);
        }
        bytes_of = sizeof(float) * (size_t)mo_grid_cells(l.g);
        result[run] = malloc(bytes_of);
        memcpy(result[run], s.phi, bytes_of);
        for (int a = 0; a < 3; a++) free(u[a]);
        free(work[0]), free(work[1]), free(bytes);
        end(&l, &s);
    }
    mo_use_threads(0);
    assert_int_equal(memcmp(result[0], result[1], bytes_of), 0);
    free(result[0]), free(result[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settling_carries_values),
        cmocka_unit_test(margins_continue_planes),
        cmocka_unit_test(solids_continue_planes),
        cmocka_unit_test(balls_turn),
        cmocka_unit_test(redistancing_keeps_the_surface),
        cmocka_unit_test(particles_are_followed_where_they_move),
        cmocka_unit_test(volume_follows_the_particles),
        cmocka_unit_test(volume_ends_at_open_walls),
        cmocka_unit_test(gaps_stay_open),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
