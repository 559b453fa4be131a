// Surfaces: the union of spheres against all pairs, extension into walls, phases, expected density, visible volume.
#include "fluid_test.h"
#include "fluid/levelset.h"
#include "fluid/surface.h"
#include "grid/fractions.h"

typedef struct fields {
    float *area[3], *flux[3], *volume, *distance, *phi, *scratch, *expected, *capacity;
    uint8_t *bytes, *phase;
    mo_surface_walls walls;
} fields;

typedef double (*solid_fn)(const void *user, int32_t solid, mo_vec3 x);

static void fields_create(fields *f, const liquid *l, solid_fn solid, const bool open_wall[6])
{
    mo_solid_set set = {.count = solid != NULL, .distance = solid};
    memset(f, 0, sizeof *f);
    f->volume = new_field(l), f->distance = new_field(l), f->phi = new_field(l), f->scratch = new_field(l);
    f->expected = new_field(l), f->capacity = new_field(l);
    f->bytes = new_bytes(l, 2), f->phase = new_bytes(l, 1);
    mo_openings out = {.volume = f->volume, .distance = f->distance};
    for (int a = 0; a < 3; a++) out.area[a] = f->area[a] = new_field(l), out.flux[a] = f->flux[a] = new_field(l);
    f->walls = (mo_surface_walls){.distance = f->distance, .area = f->area};
    for (int w = 0; w < 6 && open_wall; w++) set.open_wall[w] = f->walls.open_wall[w] = open_wall[w];
    mo_openings_compute(l->g, &set, &out);
}

static void fields_destroy(fields *f)
{
    for (int a = 0; a < 3; a++) free(f->area[a]), free(f->flux[a]);
    free(f->volume), free(f->distance), free(f->phi), free(f->scratch), free(f->expected), free(f->capacity);
    free(f->bytes), free(f->phase);
}

static bool in_domain(const mo_grid *g, const int32_t c[3])
{
    for (int a = 0; a < 3; a++)
        if (c[a] < MO_MARGIN || c[a] >= g->n[a] - MO_MARGIN) return false;
    return true;
}

// Whether the 5^3 cells around all hold particles (by the lists) or solid.
static bool surrounded(const liquid *l, const fields *f, const int32_t c[3])
{
    for (int n = 0; n < 125; n++) {
        int32_t i = mo_grid_index(l->g, c[0] + n % 5 - 2, c[1] + n / 5 % 5 - 2, c[2] + n / 25 - 2);
        if (i < 0 || (l->p.start[i] == l->p.start[i + 1] && f->distance[i] >= 0)) return false;
    }
    return true;
}

// Distances in open cells against all particles, with lists as stale as a step makes them.
static bool beside_liquid(const liquid *l, const fields *f, const int32_t c[3])
{
    for (int o = 0; o < 27; o++) {
        int32_t n = mo_grid_index(l->g, c[0] + o % 3 - 1, c[1] + o / 3 % 3 - 1, c[2] + o / 9 - 1);
        if (n >= 0 && f->phi[n] < 0) return true;
    }
    return false;
}

static void union_matches_all_pairs(void **state)
{
    (void)state;
    static const float radius[3] = {0.883f, 0.95f, 0.6f};
    for (int trial = 0; trial < 12; trial++) {
        liquid l;
        fields f;
        bool flat = trial % 3 == 2;
        liquid_create(&l, 20, 17, flat ? 1 : 15);
        l.seed = (uint32_t)trial * 1000003u;
        for (int i = 0; i < 60; i++)
            liquid_add(&l, 2.01 + 19.9 * uniform(&l), 2.01 + 16.9 * uniform(&l), 2.01 + 14.9 * uniform(&l), 0.125);
        if (trial & 1) liquid_fill(&l, (double[3]){2, 2, 2}, (double[3]){11, 9, 17}, 2, 0.9, NULL);
        liquid_sort(&l);
        if (trial > 1) liquid_stir(&l, trial & 4 ? 0.48 : 0.25);
        fields_create(&f, &l, NULL, NULL);
        mo_surface_union(&l.p, l.g, radius[trial % 3], &f.walls, f.phi, f.scratch, f.bytes);
        int32_t near = 0, deep = 0, far = 0;
        for (int32_t i = 0; i < (int32_t)mo_grid_cells(l.g); i++) {
            int32_t c[3];
            mo_grid_cell(l.g, i, c);
            if (!in_domain(l.g, c)) continue;
            double best = 4;
            for (int32_t q = 0; q < l.p.count; q++) {
                double d[3] = {l.p.x[0][q] - c[0] - 0.5, l.p.x[1][q] - c[1] - 0.5, l.p.x[2][q] - c[2] - 0.5};
                best = fmin(best, d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            }
            best = sqrt(best);
            if (surrounded(&l, &f, c))
                assert_true(f.phi[i] == -radius[trial % 3]), deep++;
            else {
                // Exact in liquid and beside it; the rest of the air may be far.
                bool exact = fabs(f.phi[i] - (best - radius[trial % 3])) < 1e-5;
                if (!exact) assert_true(f.phi[i] == 2 - radius[trial % 3] && best > 0.9 && !beside_liquid(&l, &f, c));
                near += best < 2, far += best == 2;
            }
        }
        assert_true(near > 100 && far > 0 && (flat || !(trial & 1) || deep > 50));
        fields_destroy(&f);
        liquid_destroy(&l);
    }
}

// With the radii of the simulation every cell that holds a particle is liquid or flies, never air.
static void cells_with_particles_are_liquid(void **state)
{
    (void)state;
    for (int trial = 0; trial < 4; trial++) {
        liquid l;
        fields f;
        bool flat = trial & 1;
        liquid_create(&l, 20, 17, flat ? 1 : 15);
        for (int i = 0; i < 400; i++)
            liquid_add(&l, 2.01 + 19.9 * uniform(&l), 2.01 + 16.9 * uniform(&l), 2.01 + 14.9 * uniform(&l), 0.125);
        liquid_sort(&l);
        liquid_stir(&l, 0.25);
        fields_create(&f, &l, NULL, NULL);
        mo_radii radii = mo_radii_for(flat, 2);
        mo_surface_union(&l.p, l.g, radii.pressure, &f.walls, f.phi, f.scratch, f.bytes);
        assert_int_equal(mo_surface_phase(&l.p, l.g, f.phi, f.area, f.phase, l.arena, NULL), MO_OK);
        for (int32_t q = 0; q < l.p.count; q++) {
            int32_t i = mo_grid_index(l.g, (int32_t)l.p.x[0][q], (int32_t)l.p.x[1][q], (int32_t)l.p.x[2][q]);
            assert_true(f.phi[i] < 0);
            assert_int_not_equal(f.phase[i], MO_PHASE_AIR);
        }
        fields_destroy(&f);
        liquid_destroy(&l);
    }
}

// ---- Walls ----

// A pool on the floor: under it the wall is no air, beside it above the surface it is.
static void walls_are_not_air(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        liquid l;
        fields f;
        liquid_create(&l, 16, 16, flat ? 1 : 16);
        liquid_fill(&l, (double[3]){2, 2, 2}, (double[3]){18, 9, 18}, 2, 0.5, NULL);
        liquid_sort(&l);
        fields_create(&f, &l, NULL, NULL);
        mo_surface_union(&l.p, l.g, 0.883f, &f.walls, f.phi, f.scratch, f.bytes);
        for (int32_t k = MO_MARGIN; k < l.g->n[2] - MO_MARGIN; k++)
            for (int32_t i = 0; i < l.g->n[0]; i++)
                for (int32_t j = 0; j < l.g->n[1]; j++) {
                    int32_t index = mo_grid_index(l.g, i, j, k);
                    if (index < 0) continue;
                    int32_t c[3] = {i, j, k};
                    bool wall = !in_domain(l.g, c);
                    // Pool, floor and the wall beside the pool, but for the edges of the lattice.
                    bool edge = (i < MO_MARGIN || i >= l.g->n[0] - MO_MARGIN) && j < MO_MARGIN;
                    if (j <= 8 && !edge) assert_true(f.phi[index] < 0);
                    if (!wall && j >= 10) assert_true(f.phi[index] > 0);
                    if (wall && i < MO_MARGIN && j >= 11) assert_true(f.phi[index] > 0);
                }
        fields_destroy(&f);
        liquid_destroy(&l);
    }
}

static void beyond_open_walls_is_air(void **state)
{
    (void)state;
    for (int wall = 0; wall < 6; wall++) {
        liquid l;
        fields f;
        bool open[6] = {false};
        open[wall] = true;
        liquid_create(&l, 10, 10, 10);
        liquid_fill(&l, (double[3]){2, 2, 2}, (double[3]){12, 12, 12}, 2, 0.5, NULL);
        liquid_sort(&l);
        fields_create(&f, &l, NULL, open);
        mo_surface_union(&l.p, l.g, 0.883f, &f.walls, f.phi, f.scratch, f.bytes);
        for (int32_t i = 0; i < (int32_t)mo_grid_cells(l.g); i++) {
            int32_t c[3], a = wall / 2;
            mo_grid_cell(l.g, i, c);
            double out = wall & 1 ? c[a] + 0.5 - 12 : 2 - (c[a] + 0.5);
            bool across = true; // straight beyond the wall, not beyond an edge
            for (int b = 0; b < 3; b++) across &= b == a || (c[b] >= 2 && c[b] < 12);
            if (out > 0 && across) assert_true(f.phi[i] >= out - 1e-6);
            if (in_domain(l.g, c)) assert_true(f.phi[i] < 0);
        }
        fields_destroy(&f);
        liquid_destroy(&l);
    }
}

// ---- Phases ----

static double thin_wall(const void *user, int32_t solid, mo_vec3 x)
{
    (void)user, (void)solid;
    return fabs(x.x - 5.03 * 0.125) - 0.03; // between two columns of cells, half a cell thick
}

static void small_pieces_fly(void **state)
{
    (void)state;
    static const int count[4] = {1, 7, 8, 30};
    for (int walled = 0; walled < 2; walled++)
        for (int n = 0; n < 4; n++) {
            liquid l;
            fields f;
            liquid_create(&l, 14, 14, 14);
            // A drop, and away from it a pool; behind the wall the drop is a piece of its own although it is near.
            for (int q = 0; q < count[n]; q++)
                liquid_add(&l, 4.2 + 1.6 * uniform(&l), 5 + uniform(&l), 5 + uniform(&l), 0.125);
            double left = walled ? 8 : 11;
            liquid_fill(&l, (double[3]){left, 3, 3}, (double[3]){14, 9, 9}, 2, 0.5, NULL);
            liquid_sort(&l);
            fields_create(&f, &l, walled ? thin_wall : NULL, NULL);
            mo_surface_union(&l.p, l.g, 0.883f, &f.walls, f.phi, f.scratch, f.bytes);
            assert_int_equal(mo_surface_phase(&l.p, l.g, f.phi, f.area, f.phase, l.arena, NULL), MO_OK);
            for (int32_t q = 0; q < l.p.count; q++) {
                int32_t i = mo_grid_index(l.g, (int32_t)l.p.x[0][q], (int32_t)l.p.x[1][q], (int32_t)l.p.x[2][q]);
                bool drop = l.p.x[0][q] < 6;
                assert_int_equal(f.phase[i], drop && count[n] < 8 ? MO_PHASE_BALLISTIC : MO_PHASE_LIQUID);
            }
            fields_destroy(&f);
            liquid_destroy(&l);
        }
}

// ---- Expected density ----

static void expected_density_is_known(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        liquid l;
        fields f;
        liquid_create(&l, 13, 12, flat ? 1 : 11);
        liquid_fill(&l, (double[3]){2, 2, 2}, (double[3]){15, 14, 13}, 1, 0, NULL); // for the tiles
        liquid_sort(&l);
        fields_create(&f, &l, NULL, NULL);
        // Full: 1 inside, 7/8 for every wall beside the cell.
        for (int64_t i = 0; i < mo_grid_cells(l.g); i++) f.phi[i] = -1;
        double cells = 13.0 * 12 * (flat ? 1 : 11);
        assert_true(fabs(mo_surface_expected(l.g, f.phi, f.volume, f.expected, f.capacity) - cells) < 1e-6 * cells);
        for (int32_t i = 0; i < (int32_t)mo_grid_cells(l.g); i++) {
            int32_t c[3];
            mo_grid_cell(l.g, i, c);
            if (!in_domain(l.g, c)) continue;
            double full = 1;
            for (int a = 0; a < (flat ? 2 : 3); a++)
                full *= c[a] == MO_MARGIN || c[a] == l.g->n[a] - MO_MARGIN - 1 ? 0.875 : 1;
            assert_true(fabs(f.expected[i] - full) < 1e-6 && fabs(f.capacity[i] - full) < 1e-6);
        }
        // Filled to a height: the volume and the hat integrals of a half space.
        for (double h = 5.3; h < 7; h += 0.17) {
            for (int32_t i = 0; i < (int32_t)mo_grid_cells(l.g); i++) {
                int32_t c[3];
                mo_grid_cell(l.g, i, c);
                f.phi[i] = (float)(c[1] + 0.5 - h);
            }
            double volume = mo_surface_expected(l.g, f.phi, f.volume, f.expected, f.capacity);
            assert_true(fabs(volume - (h - 2) * cells / 12) < 1e-4 * cells);
            for (int32_t j = 4; j < 10; j++) {
                int32_t i = mo_grid_index(l.g, 7, j, flat ? 2 : 7);
                double t = fmin(fmax(h - (j + 0.5), -1), 1),
                       wet = t < 0 ? 0.5 * (1 + t) * (1 + t) : 1 - 0.5 * (1 - t) * (1 - t);
                assert_true(fabs(f.expected[i] - wet) < 0.035); // four samples across the hat: at most 1/32 off
            }
        }
        fields_destroy(&f);
        liquid_destroy(&l);
    }
}

// Balls of 2.7 and 5.4 cells, anywhere on the grid, hold what they should: the mean over an eighth of a cell counts,
// not the value at its middle.
static void balls_hold_their_volume(void **state)
{
    (void)state;
    static const double radius[2] = {2.7, 5.4}, most[2] = {5e-3, 1e-3};
    liquid l;
    fields f;
    liquid_create(&l, 16, 16, 16);
    liquid_fill(&l, (double[3]){2, 2, 2}, (double[3]){18, 18, 18}, 1, 0, NULL); // for the tiles
    liquid_sort(&l);
    fields_create(&f, &l, NULL, NULL);
    for (int n = 0; n < 2; n++)
        for (int place = 0; place < 4; place++) {
            double at[3] = {10 + 0.23 * place, 10 - 0.17 * place, 10 + 0.31 * place};
            double ball = 4.0 / 3 * M_PI * pow(radius[n], 3);
            for (int32_t i = 0; i < (int32_t)mo_grid_cells(l.g); i++) {
                int32_t c[3];
                double square = 0;
                mo_grid_cell(l.g, i, c);
                for (int a = 0; a < 3; a++) square += (c[a] + 0.5 - at[a]) * (c[a] + 0.5 - at[a]);
                f.phi[i] = (float)(sqrt(square) - radius[n]);
            }
            double volume = mo_surface_expected(l.g, f.phi, f.volume, f.expected, f.capacity);
            print_message("ball of %.1f cells: volume off by %+.2f%%\n", radius[n], 100 * (volume / ball - 1));
            assert_true(fabs(volume / ball - 1) < most[n]);
        }
    fields_destroy(&f);
    liquid_destroy(&l);
}

// ---- Visible volume ----

static double ball(const double x[3])
{
    double z = x[2] == MO_MARGIN + 0.5 ? 0 : x[2] - 14;
    return sqrt((x[0] - 14) * (x[0] - 14) + (x[1] - 14) * (x[1] - 14) + z * z) - 8.3;
}

static void visible_volume_is_that_of_the_particles(void **state)
{
    (void)state;
    for (int kind = 0; kind < 8; kind++) { // a ball, then a pool; in space, then in the plane; 2 or 3 particles an axis
        liquid l;
        fields f;
        bool flat = kind & 1, pool = kind & 2;
        int per_axis = kind & 4 ? 3 : 2;
        liquid_create(&l, 24, 24, flat ? 1 : 24);
        liquid_fill(&l, (double[3]){2, 2, 2}, (double[3]){26, pool ? 10 : 26, 26}, per_axis, 0.5, pool ? NULL : ball);
        liquid_sort(&l);
        fields_create(&f, &l, NULL, NULL);
        mo_radii radii = mo_radii_for(flat, per_axis);
        float *visible = new_field(&l), *scratch = calloc(4 * (size_t)mo_grid_cells(l.g), sizeof(float));
        float *work[3] = {scratch, scratch + mo_grid_cells(l.g), scratch + 2 * mo_grid_cells(l.g)};
        mo_surface_union(&l.p, l.g, radii.pressure, &f.walls, f.phi, f.scratch, f.bytes);
        mo_surface_visible(l.g, f.phi, &radii, &f.walls, visible, work, f.bytes);
        double volume = mo_levelset_volume(l.g, visible, f.volume), particles = mo_particles_volume(&l.p);
        print_message("%s in %s, %d an axis: visible %.1f of %.1f cells (%+.2f%%)\n", pool ? "pool" : "ball",
                      flat ? "2D" : "3D", per_axis, volume, particles, 100 * (volume / particles - 1));
        // A fresh ball's bumps are filled by the closing: 0.07 cells of its surface.
        assert_true(fabs(volume / particles - 1) < (pool ? 0.01 : 0.03));
        free(visible), free(scratch);
        fields_destroy(&f);
        liquid_destroy(&l);
    }
}

// ---- Threads and memory ----

static uint64_t digest(uint64_t h, const void *data, size_t bytes)
{
    for (const uint8_t *b = data; bytes; bytes--) h = (h ^ *b++) * 0x100000001b3u;
    return h;
}

// A layer is thin if it is, whatever the slope of phi: films in the air that were just drawn out are steeper than a
// distance. Deeper layers are not.
static void steep_layers_are_thin(void **state)
{
    (void)state;
    static const struct {
        double half, slope; // of the layer's thickness, cells
        bool thin;
    } layer[] = {{0.4, 1, true},  {0.4, 1.9, true},  {0.6, 1.5, true},
                 {1.2, 1, false}, {1.2, 1.5, false}, {3, 1.5, false}};
    for (int k = 0; k < 12; k++) {
        liquid l;
        fields f;
        int axis = k / 6;
        liquid_create(&l, 16, 16, k & 1 ? 1 : 10);
        liquid_fill(&l, (double[3]){2, 2, 2}, (double[3]){18, 18, 12}, 1, 0, NULL);
        liquid_sort(&l);
        fields_create(&f, &l, NULL, NULL);
        uint8_t *thin = new_bytes(&l, 1);
        for (int32_t i = 0; i < (int32_t)mo_grid_cells(l.g); i++) {
            int32_t c[3];
            mo_grid_cell(l.g, i, c);
            f.phi[i] = (float)(layer[k % 6].slope * (fabs(c[axis] + 0.5 - 10.5) - layer[k % 6].half));
        }
        mo_surface_thin(l.g, f.phi, f.distance, f.bytes, thin);
        int32_t c[3] = {10, 10, k & 1 ? 2 : 7};
        assert_int_equal(thin[mo_grid_index(l.g, c[0], c[1], c[2])], layer[k % 6].thin);
        free(thin);
        fields_destroy(&f);
        liquid_destroy(&l);
    }
}

static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    uint64_t first = 0;
    for (int threads = 1; threads <= 4; threads *= 2) {
        mo_use_threads(threads);
        liquid l;
        fields f;
        liquid_create(&l, 24, 24, 24);
        liquid_fill(&l, (double[3]){2, 2, 2}, (double[3]){26, 26, 26}, 2, 0.9, ball);
        liquid_sort(&l);
        liquid_stir(&l, 0.25);
        fields_create(&f, &l, NULL, NULL);
        mo_surface_union(&l.p, l.g, 0.883f, &f.walls, f.phi, f.scratch, f.bytes);
        assert_int_equal(mo_surface_phase(&l.p, l.g, f.phi, f.area, f.phase, l.arena, NULL), MO_OK);
        double volume = mo_surface_expected(l.g, f.phi, f.volume, f.expected, f.capacity);
        size_t cells = (size_t)mo_grid_cells(l.g);
        uint64_t h = digest(digest(0, &volume, sizeof volume), f.phi, 4 * cells);
        h = digest(digest(digest(h, f.phase, cells), f.expected, 4 * cells), f.capacity, 4 * cells);
        if (threads == 1) first = h;
        assert_true(h == first);
        fields_destroy(&f);
        liquid_destroy(&l);
    }
    mo_use_threads(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(union_matches_all_pairs), cmocka_unit_test(cells_with_particles_are_liquid),
        cmocka_unit_test(walls_are_not_air),       cmocka_unit_test(beyond_open_walls_is_air),
        cmocka_unit_test(small_pieces_fly),        cmocka_unit_test(expected_density_is_known),
        cmocka_unit_test(balls_hold_their_volume), cmocka_unit_test(visible_volume_is_that_of_the_particles),
        cmocka_unit_test(steep_layers_are_thin),   cmocka_unit_test(bits_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
