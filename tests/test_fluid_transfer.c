// Transfers: affine fields are exact both ways, momentum is conserved, the splat is the adjoint of interpolation, paths
// are of third order, all with lists stale by a quarter cell as in a step.
#include "fluid_test.h"
#include "fluid/sampler.h"
#include "fluid/surface.h"
#include "fluid/transfer.h"

typedef struct fields {
    mo_faces faces;
    float *scratch, *mass[3];
    uint8_t *phase;
} fields;

static void fields_create(fields *f, const liquid *l, uint8_t phase)
{
    for (int a = 0; a < 3; a++) f->faces.u[a] = new_field(l), f->faces.valid[a] = new_bytes(l, 1);
    for (int a = 0; a < 3; a++) f->mass[a] = new_field(l);
    f->scratch = new_field(l), f->phase = new_bytes(l, 1);
    memset(f->phase, phase, (size_t)mo_grid_cells(l->g));
}

static void fields_destroy(fields *f)
{
    for (int a = 0; a < 3; a++) free(f->faces.u[a]), free(f->faces.valid[a]);
    for (int a = 0; a < 3; a++) free(f->mass[a]);
    free(f->scratch), free(f->phase);
}

// Two blobs, one in a corner of the domain, and single particles, so that tile boundaries cut through them.
static void splash(liquid *l, bool flat)
{
    liquid_create(l, 30, 27, flat ? 1 : 25);
    liquid_fill(l, (double[3]){2, 2, 2}, (double[3]){13, 9, 11}, 2, 0.9, NULL);
    liquid_fill(l, (double[3]){16, 14, 13}, (double[3]){28, 27, 26}, 2, 0.9, NULL);
    for (int i = 0; i < 50; i++)
        liquid_add(l, 2.01 + 29.9 * uniform(l), 2.01 + 26.9 * uniform(l), 2.01 + 24.9 * uniform(l), 0.01 + uniform(l));
    liquid_sort(l);
    liquid_stir(l, 0.25);
}

// An affine velocity, in m/s over lattice positions.
static const double constant[3] = {1.5, -2, 0.7},
                    gradient[3][3] = {{0.2, -0.3, 0.15}, {0.1, 0.25, -0.2}, {-0.12, 0.05, 0.3}};

static double affine(int axis, const double x[3])
{
    double v = constant[axis];
    for (int b = 0; b < 3; b++) v += gradient[axis][b] * (x[b] - 12);
    return v;
}

static void face_position(const mo_grid *g, int32_t index, int axis, double x[3])
{
    int32_t c[3];
    mo_grid_cell(g, index, c);
    for (int a = 0; a < 3; a++) x[a] = c[a] + (a == axis ? 0 : 0.5);
}

static void give_affine(liquid *l)
{
    for (int32_t q = 0; q < l->p.count; q++) {
        double x[3] = {l->p.x[0][q], l->p.x[1][q], l->p.x[2][q]};
        for (int a = 0; a < 3; a++) {
            l->p.v[a][q] = (float)affine(a, x);
            for (int b = 0; b < 3; b++) l->p.c[a][b][q] = (float)gradient[a][b];
        }
    }
}

static void affine_to_faces(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        liquid l;
        fields f;
        splash(&l, flat);
        give_affine(&l);
        fields_create(&f, &l, MO_PHASE_LIQUID);
        mo_transfer_to_faces(&l.p, l.g, &f.faces, f.mass);
        int64_t valid = 0;
        for (int32_t i = 0; i < (int32_t)mo_grid_cells(l.g); i++)
            for (int a = 0; a < 3; a++) {
                double x[3];
                face_position(l.g, i, a, x);
                if (!f.faces.valid[a][i])
                    assert_true(f.faces.u[a][i] == 0);
                else
                    assert_true(fabs(f.faces.u[a][i] - affine(a, x)) < 3e-5), valid++;
            }
        assert_true(valid > 3 * l.p.count / 8);
        fields_destroy(&f);
        liquid_destroy(&l);
    }
}

static double hat(double x) { return fabs(x) < 1 ? 1 - fabs(x) : 0; }

// u and validity against sums in double over the particles, and with them momentum: sum w u = sum V v.
static void faces_hold_the_particles_momentum(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        liquid l;
        fields f;
        splash(&l, flat);
        for (int32_t q = 0; q < l.p.count; q++)
            for (int k = 3; k < 15; k++) l.p.field[k][q] = (float)(2 * uniform(&l) - 1);
        fields_create(&f, &l, MO_PHASE_LIQUID);
        mo_transfer_to_faces(&l.p, l.g, &f.faces, f.mass);
        size_t cells = (size_t)mo_grid_cells(l.g);
        for (int a = 0; a < 3; a++) {
            double *weight = calloc(cells, sizeof *weight), *momentum = calloc(cells, sizeof *momentum);
            double given = 0, held = 0, size = 0;
            for (int32_t q = 0; q < l.p.count; q++) {
                double x[3] = {l.p.x[0][q], l.p.x[1][q], l.p.x[2][q]};
                given += (double)l.p.volume[q] * l.p.v[a][q], size += l.p.volume[q];
                for (int n = 0; n < 8; n++) {
                    int32_t c[3];
                    double y[3], w = l.p.volume[q], v = l.p.v[a][q];
                    for (int b = 0; b < 3; b++) {
                        double offset = b == a ? 0 : 0.5;
                        c[b] = (int32_t)floor(x[b] - offset) + (n >> b & 1);
                        y[b] = c[b] + offset;
                        w *= hat(y[b] - x[b]), v += (double)l.p.c[a][b][q] * (y[b] - x[b]);
                    }
                    int32_t i = mo_grid_index(l.g, c[0], c[1], c[2]);
                    assert_true(i >= 0);
                    weight[i] += w, momentum[i] += w * v;
                }
            }
            for (size_t i = 0; i < cells; i++) {
                if (fabs(weight[i] - 1e-6) > 1e-8) assert_int_equal(f.faces.valid[a][i], weight[i] > 1e-6);
                if (!f.faces.valid[a][i]) continue;
                held += weight[i] * f.faces.u[a][i];
                if (weight[i] > 1e-3) assert_true(fabs(f.faces.u[a][i] - momentum[i] / weight[i]) < 2e-4);
            }
            assert_true(fabs(held - given) < 1e-5 * size);
            for (size_t i = 0; i < cells; i++) assert_true(fabs(f.mass[a][i] - weight[i]) < 1e-5);
            free(weight), free(momentum);
        }
        fields_destroy(&f);
        liquid_destroy(&l);
    }
}

static void set_faces(const liquid *l, fields *f, double (*velocity)(int axis, const double x[3]))
{
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(l->g); i++)
        for (int a = 0; a < 3; a++) {
            double x[3];
            face_position(l->g, i, a, x);
            f->faces.u[a][i] = (float)velocity(a, x);
        }
}

static void affine_to_particles(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        liquid l;
        fields f;
        splash(&l, flat);
        fields_create(&f, &l, MO_PHASE_LIQUID);
        set_faces(&l, &f, affine);
        mo_advect advect = {.dt = 0, .gravity = {0, -9.81, 0}, .phase = f.phase, .ballistic = 7};
        float *before = malloc(sizeof(float) * 3 * (size_t)l.p.count);
        for (int a = 0; a < 3; a++) memcpy(before + a * l.p.count, l.p.x[a], sizeof(float) * (size_t)l.p.count);
        mo_transfer_advect(&l.p, l.g, &f.faces, &advect);
        assert_int_equal(advect.ballistic, 0);
        for (int32_t q = 0; q < l.p.count; q++) {
            double x[3] = {l.p.x[0][q], l.p.x[1][q], l.p.x[2][q]};
            for (int a = 0; a < 3; a++) {
                assert_true(x[a] == before[a * l.p.count + q]);
                // In 2D the planes beside the middle one are walls, not liquid: no gradient along z.
                assert_true(fabs(l.p.v[a][q] - affine(a, x)) < 2e-5);
                for (int b = 0; b < 3; b++)
                    assert_true(fabs(l.p.c[a][b][q] - (flat && b == 2 ? 0 : gradient[a][b])) < 2e-5);
            }
        }
        free(before);
        fields_destroy(&f);
        liquid_destroy(&l);
    }
}

static void splat_is_the_adjoint_of_interpolation(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        liquid l;
        splash(&l, flat);
        float *density = new_field(&l), *f = new_field(&l);
        for (int64_t i = 0; i < mo_grid_cells(l.g); i++) f[i] = (float)(2 * uniform(&l) - 1);
        mo_transfer_density(&l.p, l.g, density);
        double left = 0, right = 0, total = 0, volume = 0;
        for (int64_t i = 0; i < mo_grid_cells(l.g); i++) left += (double)density[i] * f[i], total += density[i];
        for (int32_t q = 0; q < l.p.count; q++) {
            volume += l.p.volume[q];
            for (int n = 0; n < 8; n++) {
                int32_t c[3];
                double w = l.p.volume[q];
                for (int a = 0; a < 3; a++) {
                    c[a] = (int32_t)floor(l.p.x[a][q] - 0.5) + (n >> a & 1);
                    w *= hat(c[a] + 0.5 - l.p.x[a][q]);
                }
                int32_t i = mo_grid_index(l.g, c[0], c[1], c[2]);
                if (w > 0) assert_true(i >= 0), right += w * f[i];
            }
        }
        assert_true(fabs(left - right) < 1e-5 * volume);
        assert_true(fabs(total - volume) < 1e-5 * volume);
        free(density), free(f);
        liquid_destroy(&l);
    }
}

// A constant is kept, any other value is the weighted mean in double; 0 exactly where no particle reaches.
static void means_are_weighted_by_the_splat(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        liquid l;
        splash(&l, flat);
        size_t cells = (size_t)mo_grid_cells(l.g);
        float *mean = new_field(&l), *scratch = new_field(&l), *value = malloc(sizeof(float) * (size_t)l.p.count);
        double *weight = calloc(cells, sizeof *weight), *sum = calloc(cells, sizeof *sum);
        for (int32_t q = 0; q < l.p.count; q++) {
            value[q] = (float)exp(20 * uniform(&l) - 10); // viscosities of many orders
            for (int n = 0; n < 8; n++) {
                int32_t c[3];
                double w = l.p.volume[q];
                for (int a = 0; a < 3; a++) {
                    c[a] = (int32_t)floor(l.p.x[a][q] - 0.5) + (n >> a & 1);
                    w *= hat(c[a] + 0.5 - l.p.x[a][q]);
                }
                int32_t i = mo_grid_index(l.g, c[0], c[1], c[2]);
                if (w > 0) assert_true(i >= 0), weight[i] += w, sum[i] += w * value[q];
            }
        }
        int64_t reached = 0;
        memset(mean, 0xff, sizeof(float) * cells); // what was there does not matter
        mo_transfer_mean(&l.p, l.g, value, mean, scratch);
        for (size_t i = 0; i < cells; i++) {
            if (weight[i] == 0) assert_true(mean[i] == 0);
            if (weight[i] > 1e-3) assert_true(fabs(mean[i] / (sum[i] / weight[i]) - 1) < 1e-4), reached++;
        }
        assert_true(reached > l.p.count / 8 && reached < (int64_t)cells);
        for (int32_t q = 0; q < l.p.count; q++) value[q] = 12.3f;
        double worst = 0;
        mo_transfer_mean(&l.p, l.g, value, mean, scratch);
        for (size_t i = 0; i < cells; i++) {
            if (weight[i] == 0) assert_true(mean[i] == 0);
            if (weight[i] > 0) worst = fmax(worst, fabs(mean[i] / 12.3 - 1));
        }
        print_message("%s: a constant is kept to %.1e\n", flat ? "2D" : "3D", worst);
        assert_true(worst < 1e-6);
        free(mean), free(scratch), free(value), free(weight), free(sum);
        liquid_destroy(&l);
    }
    liquid empty;
    liquid_create(&empty, 8, 8, 8);
    liquid_sort(&empty);
    mo_transfer_mean(&empty.p, empty.g, NULL, NULL, NULL); // no tiles, no cells
    liquid_destroy(&empty);
}

// ---- Paths ----

// Fields that trilinear interpolation reproduces, so that only the error in time is left: a turn, and a flow in which
// every component is a product.
static double turning(int axis, const double x[3])
{
    double d[3] = {x[0] - 14, x[1] - 14, x[2] - 14};
    return axis == 0 ? -0.8 * d[1] + 0.3 * d[2] : axis == 1 ? 0.8 * d[0] - 0.1 * d[2] : -0.3 * d[0] + 0.1 * d[1];
}

static double twisting(int axis, const double x[3])
{
    double d[3] = {x[0] - 14, x[1] - 14, x[2] - 14};
    return axis == 0 ? 0.12 * d[1] * d[2] + 0.3 : axis == 1 ? -0.2 * d[0] * d[2] + 0.4 * d[0] : 0.08 * d[0] * d[1];
}

// Fourth-order reference in double, velocities in cells per unit of time.
static void follow(double (*velocity)(int axis, const double x[3]), double time, double x[3])
{
    enum { STEPS = 200 };
    double h = time / STEPS;
    for (int s = 0; s < STEPS; s++) {
        double k[5][3] = {{0}}, y[3];
        static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1 / 6.0, 1 / 3.0, 1 / 3.0, 1 / 6.0};
        for (int i = 0; i < 4; i++) {
            for (int a = 0; a < 3; a++) y[a] = x[a] + h * at[i] * k[i][a];
            for (int a = 0; a < 3; a++) k[i + 1][a] = velocity(a, y);
        }
        for (int i = 0; i < 4; i++)
            for (int a = 0; a < 3; a++) x[a] += h * weight[i] * k[i + 1][a];
    }
}

static double path_error(double (*velocity)(int axis, const double x[3]), int steps)
{
    liquid l;
    liquid_create(&l, 25, 25, 25);
    for (int i = 0; i < 300; i++)
        liquid_add(&l, 12 + 4 * uniform(&l), 12 + 4 * uniform(&l), 12 + 4 * uniform(&l), 0.125);
    liquid_sort(&l);
    double(*reference)[3] = malloc(sizeof *reference * 300), worst = 0;
    for (int q = 0; q < 300; q++) {
        for (int a = 0; a < 3; a++) reference[q][a] = l.p.x[a][q];
        follow(velocity, 1, reference[q]);
        l.p.volume[q] = (float)q; // remembers which one it is
    }
    for (int s = 0; s < steps; s++) {
        fields f;
        fields_create(&f, &l, MO_PHASE_LIQUID);
        set_faces(&l, &f, velocity);
        // Velocities in m/s: dt in units that make one m/s one cell per unit.
        mo_advect advect = {.dt = l.g->dx / steps, .phase = f.phase};
        mo_transfer_advect(&l.p, l.g, &f.faces, &advect);
        fields_destroy(&f);
        liquid_sort(&l);
    }
    for (int q = 0; q < 300; q++)
        for (int a = 0; a < 3; a++) worst = fmax(worst, fabs(l.p.x[a][q] - reference[(int)l.p.volume[q]][a]));
    free(reference);
    liquid_destroy(&l);
    return worst;
}

static void paths_are_of_third_order(void **state)
{
    (void)state;
    double (*const velocity[2])(int axis, const double x[3]) = {turning, twisting};
    for (int i = 0; i < 2; i++) {
        double error[3] = {path_error(velocity[i], 1), path_error(velocity[i], 2), path_error(velocity[i], 4)};
        double order = log2(error[1] / error[2]);
        print_message("path errors %.2e %.2e %.2e cells, order %.2f\n", error[0], error[1], error[2], order);
        assert_true(error[0] < 0.2 && order > 2.7 && order < 3.6);
    }
}

static void free_flight_is_a_parabola(void **state)
{
    (void)state;
    liquid l;
    liquid_create(&l, 40, 40, 40);
    for (int i = 0; i < 100; i++) {
        liquid_add(&l, 20 + 4 * uniform(&l), 30 + 4 * uniform(&l), 20 + 4 * uniform(&l), 0.125);
        for (int a = 0; a < 3; a++) l.p.v[a][i] = (float)(2 * uniform(&l) - 1), l.p.c[a][a][i] = 3;
        l.p.c[0][1][i] = 2, l.p.c[1][0][i] = -1;
    }
    liquid_sort(&l);
    double(*start)[6] = malloc(sizeof *start * 100);
    for (int q = 0; q < 100; q++) {
        for (int a = 0; a < 3; a++) start[q][a] = l.p.x[a][q], start[q][3 + a] = l.p.v[a][q];
        l.p.volume[q] = (float)q;
    }
    const double gravity[3] = {0.5, -9.81, 0.25}, dt = 0.01;
    for (int s = 1; s <= 20; s++) {
        fields f;
        fields_create(&f, &l, s & 1 ? MO_PHASE_AIR : MO_PHASE_BALLISTIC);
        mo_advect advect = {.dt = dt, .gravity = {gravity[0], gravity[1], gravity[2]}, .phase = f.phase};
        mo_transfer_advect(&l.p, l.g, &f.faces, &advect);
        assert_int_equal(advect.ballistic, 100);
        fields_destroy(&f);
        liquid_sort(&l);
        for (int q = 0; q < 100; q++)
            for (int a = 0; a < 3; a++) {
                const double *from = start[(int)l.p.volume[q]];
                double t = s * dt, x = from[a] + (from[3 + a] * t + 0.5 * gravity[a] * t * t) / l.g->dx;
                assert_true(fabs(l.p.x[a][q] - x) < 1e-4 && fabs(l.p.v[a][q] - from[3 + a] - gravity[a] * t) < 1e-5);
            }
    }
    for (int q = 0; q < 100; q++) { // the spin stays, the strain does not
        assert_true(l.p.c[0][1][q] == 1.5f && l.p.c[1][0][q] == -1.5f);
        for (int a = 0; a < 3; a++) assert_true(l.p.c[a][a][q] == 0 && l.p.c[a][2][q] == 0 && l.p.c[2][a][q] == 0);
    }
    free(start);
    liquid_destroy(&l);
}

static double drift(int axis, const double x[3])
{
    (void)x;
    return axis == 0 ? 0.12 : axis == 1 ? -0.16 : 0.0;
}

static double shift(int axis, const double x[3]) { return 3 * drift(axis, x); }

static void displacements_are_limited(void **state)
{
    (void)state;
    liquid l;
    fields f;
    splash(&l, false);
    fields_create(&f, &l, MO_PHASE_LIQUID);
    for (int round = 0; round < 2; round++) { // of length 0.2, then 0.6
        set_faces(&l, &f, round ? shift : drift);
        float *before = malloc(sizeof(float) * 3 * (size_t)l.p.count);
        for (int a = 0; a < 3; a++) memcpy(before + a * l.p.count, l.p.x[a], sizeof(float) * (size_t)l.p.count);
        mo_vec3 sum = mo_transfer_displacement(&l.p, l.g, &f.faces, 0.25f);
        assert_int_equal(mo_transfer_displace(&l.p, l.g, &f.faces, 0.25f), round ? l.p.count : 0);
        double length = round ? 0.25 : 0.2, volume = mo_particles_volume(&l.p);
        assert_true(fabs(sum.x - 0.6 * length * volume) + fabs(sum.y + 0.8 * length * volume) < 1e-5 * volume);
        for (int32_t q = 0; q < l.p.count; q++) {
            assert_true(fabs(l.p.x[0][q] - before[q] - 0.6 * length) < 1e-5);
            assert_true(fabs(l.p.x[1][q] - before[l.p.count + q] + 0.8 * length) < 1e-5);
            assert_true(l.p.x[2][q] == before[2 * l.p.count + q]);
        }
        free(before);
        liquid_sort(&l);
        fields_destroy(&f);
        fields_create(&f, &l, MO_PHASE_LIQUID);
    }
    fields_destroy(&f);
    liquid_destroy(&l);
}

// A sort, a transfer, an advection, a displacement, a mean and a splat: the same bits for any number of threads.
static uint64_t digest(uint64_t h, const void *data, size_t bytes)
{
    for (const uint8_t *b = data; bytes; bytes--) h = (h ^ *b++) * 0x100000001b3u;
    return h;
}

static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    static const int threads[3] = {1, 2, 4};
    uint64_t first = 0;
    for (int n = 0; n < 3; n++) {
        mo_use_threads(threads[n]);
        liquid l;
        fields f;
        splash(&l, false);
        for (int32_t q = 0; q < l.p.count; q++)
            for (int k = 3; k < 15; k++) l.p.field[k][q] = (float)(2 * uniform(&l) - 1);
        fields_create(&f, &l, MO_PHASE_LIQUID);
        for (int64_t i = 0; i < mo_grid_cells(l.g); i += 3) f.phase[i] = MO_PHASE_BALLISTIC;
        mo_transfer_to_faces(&l.p, l.g, &f.faces, f.mass);
        mo_advect advect = {.dt = 0.01, .gravity = {0, -9.81, 0}, .phase = f.phase};
        mo_transfer_advect(&l.p, l.g, &f.faces, &advect);
        liquid_sort(&l);
        fields_destroy(&f);
        fields_create(&f, &l, MO_PHASE_LIQUID);
        mo_transfer_to_faces(&l.p, l.g, &f.faces, f.mass);
        int64_t clamped = mo_transfer_displace(&l.p, l.g, &f.faces, 0.25f);
        float *mean = new_field(&l);
        mo_transfer_mean(&l.p, l.g, l.p.v[1], mean, f.scratch);
        mo_transfer_density(&l.p, l.g, f.scratch);
        uint64_t h = digest(digest(0, &clamped, sizeof clamped), &advect.ballistic, sizeof advect.ballistic);
        h = digest(h, f.scratch, sizeof(float) * (size_t)mo_grid_cells(l.g));
        h = digest(h, mean, sizeof(float) * (size_t)mo_grid_cells(l.g));
        for (int k = 0; k < l.p.fields; k++) h = digest(h, l.p.field[k], sizeof(float) * (size_t)l.p.count);
        for (int a = 0; a < 3; a++) h = digest(h, f.faces.u[a], sizeof(float) * (size_t)mo_grid_cells(l.g));
        if (n == 0) first = h;
        assert_true(h == first);
        free(mean);
        fields_destroy(&f);
        liquid_destroy(&l);
    }
    mo_use_threads(0);
}

// Interpolation for eight positions at once gives what it gives for each of them, also beyond the block.
static void eight_at_once_are_eight_single_ones(void **state)
{
    (void)state;
    liquid l;
    splash(&l, false);
    fields f;
    fields_create(&f, &l, MO_PHASE_LIQUID);
    for (int a = 0; a < 3; a++)
        for (int64_t i = 0; i < mo_grid_cells(l.g); i++) f.faces.u[a][i] = (float)(2 * uniform(&l) - 1);
    sampler *s = malloc(sizeof *s);
    assert_non_null(s);
    sampler_load(s, l.g, &f.faces, l.g->tiles / 2);
    for (int n = 0; n < 100; n++) {
        lanes x[3], value, both, slope[3];
        for (int a = 0; a < 3; a++)
            for (int i = 0; i < LANES; i++) x[a][i] = s->base[a][a] + (float)(20 * uniform(&l) - 2);
        for (int c = 0; c < 3; c++) {
            sample_lanes(s, c, x, &value);
            sample_gradient_lanes(s, c, x, &both, slope);
            for (int i = 0; i < LANES; i++) {
                float at[3] = {x[0][i], x[1][i], x[2][i]}, g[3], v = sample_gradient(s, c, at, g);
                assert_true(fabsf(value[i] - v) <= 1e-6f && fabsf(both[i] - v) <= 1e-6f);
                for (int a = 0; a < 3; a++) assert_true(fabsf(slope[a][i] - g[a]) <= 1e-6f);
            }
        }
    }
    free(s);
    fields_destroy(&f);
    liquid_destroy(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(affine_to_faces),
        cmocka_unit_test(faces_hold_the_particles_momentum),
        cmocka_unit_test(affine_to_particles),
        cmocka_unit_test(splat_is_the_adjoint_of_interpolation),
        cmocka_unit_test(means_are_weighted_by_the_splat),
        cmocka_unit_test(paths_are_of_third_order),
        cmocka_unit_test(free_flight_is_a_parabola),
        cmocka_unit_test(displacements_are_limited),
        cmocka_unit_test(eight_at_once_are_eight_single_ones),
        cmocka_unit_test(bits_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
