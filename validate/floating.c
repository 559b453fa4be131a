// Floating boxes: how deep they sit, that they stay upright, and how fast they heave in a finite tank.
//
// Draft. A box of density r floats at the depth d = (r / rho) h below the water level. The level is where the liquid
// that was filled in stands, with the box where it is: A_tank level - A_box (level - bottom) = volume of the particles.
//
// Heave. T = 2 pi sqrt((m + m_added) / k). In a tank the level falls as the box rises, so k = rho g A_box A_tank /
// (A_tank - A_box), and the added mass is that of the finite tank. It comes from the linear theory of the tank itself,
// solved here on a fine grid that shares nothing with the simulator: potential flow with the free surface and the box
// as its upper boundary. With q = (elevation of the surface, of the box), kinetic energy 1/2 q' M q' and potential
// energy 1/2 q K q, K = rho g area, the lowest mode of M q w^2 = K q comes from power iteration on K^-1 M, one Neumann
// problem each. m_added = k / w^2 - m.
//
// Buoyancy. What each discretisation makes of the force on a box held in still water, as the box goes through a cell.
#include "plot.h"
#include "base/vec.h"
#include "cases/case.h"
#include "validate.h"

// A square tank and box in 3D. Wider than high, the box is stable upright: its metacentre is 5 to 13 cm above its
// centre.
static const double gravity = 9.81, density = 1000, width = 1, level = 0.4, box_width = 0.5, box_height = 0.3;

// ---- Linear theory ----

typedef struct pool { // a half (2D) or a quarter (3D) of the tank, spacing h; the box is at the low corner of x and z
    int n[3], box[3]; // cells of the tank, and of the box's half edges and draft
    double h;
    double *phi, *rhs, *r, *p, *Ap;
} pool;

static bool pool_wet(const pool *s, int i, int j, int k)
{
    if (i < 0 || j < 0 || k < 0 || i >= s->n[0] || j >= s->n[1] || k >= s->n[2]) return false;
    return !(i < s->box[0] && k < s->box[2] && j >= s->n[1] - s->box[1]);
}

static int pool_at(const pool *s, int i, int j, int k) { return i + s->n[0] * (j + s->n[1] * k); }

// y = -Laplacian of x with walls all round, times h^2; returns x . y.
static double pool_apply(const pool *s, const double *x, double *y)
{
    const int step[3] = {1, s->n[0], s->n[0] * s->n[1]};
    double product = 0;
    for (int k = 0; k < s->n[2]; k++)
        for (int j = 0; j < s->n[1]; j++)
            for (int i = 0; i < s->n[0]; i++) {
                int c = pool_at(s, i, j, k);
                y[c] = 0;
                if (!pool_wet(s, i, j, k)) continue;
                for (int side = -1; side <= 1; side += 2) {
                    if (pool_wet(s, i + side, j, k)) y[c] += x[c] - x[c + side * step[0]];
                    if (pool_wet(s, i, j + side, k)) y[c] += x[c] - x[c + side * step[1]];
                    if (pool_wet(s, i, j, k + side)) y[c] += x[c] - x[c + side * step[2]];
                }
                product += x[c] * y[c];
            }
    return product;
}

// Conjugate gradients from the phi of last time; the right-hand side sums to zero.
static void pool_solve(pool *s)
{
    int cells = s->n[0] * s->n[1] * s->n[2];
    double rr = 0, first = 0;
    pool_apply(s, s->phi, s->Ap);
    for (int c = 0; c < cells; c++) {
        s->r[c] = s->p[c] = s->rhs[c] - s->Ap[c];
        rr += s->r[c] * s->r[c], first += s->rhs[c] * s->rhs[c];
    }
    for (int it = 0; it < 5000 && rr > 1e-16 * first; it++) {
        double a = rr / pool_apply(s, s->p, s->Ap), next = 0;
        for (int c = 0; c < cells; c++) {
            s->phi[c] += a * s->p[c], s->r[c] -= a * s->Ap[c];
            next += s->r[c] * s->r[c];
        }
        for (int c = 0; c < cells; c++) s->p[c] = s->r[c] + next / rr * s->p[c];
        rr = next;
    }
}

// One round of K^-1 M: q (elevation by column, that of the box is 1) becomes the next iterate; returns its w^2.
static double heave_round(pool *s, double draft, double *q)
{
    double boxed = s->box[0] * s->box[2], all = s->n[0] * s->n[2], T = boxed * draft, V = 0, sum = boxed * draft,
           under = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < s->n[2]; k++)
            for (int i = 0; i < s->n[0]; i++) {
                bool box = i < s->box[0] && k < s->box[2];
                int at = pool_at(s, i, s->n[1] - 1 - (box ? s->box[1] : 0), k), c = i + s->n[0] * k;
                double v = box ? 1 : q[c], phi = s->phi[at] + 0.5 * s->h * v;
                if (pass == 0)
                    s->rhs[at] = s->h * v;
                else
                    T += v * phi, V += gravity * v * v, sum += phi, under += box ? phi : 0, q[c] = phi;
            }
        if (pass == 0) pool_solve(s);
    }
    // The box weighs what its draft displaces; the mean goes, for the volume stays.
    double mean = sum / all, scale = 1 / (under / boxed + draft - mean);
    for (int c = 0; c < s->n[0] * s->n[2]; c++) q[c] = (q[c] - mean) * scale;
    return V / T;
}

static double heave_frequency(double draft, bool flat, double h)
{
    pool s = {.h = h};
    s.n[0] = (int)lround(0.5 * width / h), s.n[1] = (int)lround(level / h), s.n[2] = flat ? 1 : s.n[0];
    s.box[0] = (int)lround(0.5 * box_width / h), s.box[1] = (int)lround(draft / h), s.box[2] = flat ? 1 : s.box[0];
    size_t cells = (size_t)s.n[0] * (size_t)s.n[1] * (size_t)s.n[2], columns = (size_t)s.n[0] * (size_t)s.n[2];
    double *memory = checked(calloc(5 * cells + columns, sizeof(double))), *q = memory + 5 * cells;
    s.phi = memory, s.rhs = memory + cells, s.r = memory + 2 * cells, s.p = memory + 3 * cells;
    s.Ap = memory + 4 * cells;
    double boxed = s.box[0] * s.box[2], w2 = 0, last = 1;
    for (size_t c = 0; c < columns; c++) q[c] = -boxed / ((double)columns - boxed);
    for (int round = 0; round < 60 && fabs(w2 / last - 1) > 1e-7; round++) last = w2, w2 = heave_round(&s, draft, q);
    free(memory);
    return sqrt(w2);
}

// ---- Buoyancy ----

enum { PLACES = 40 };

typedef struct held {
    double bottom, tilt; // m, radians
} held;

static double held_distance(const void *user, int32_t solid, mo_vec3 x)
{
    const held *b = user;
    (void)solid;
    double X = x.x - 0.5 * width, Y = x.y - b->bottom - 0.5 * box_height, c = cos(b->tilt), s = sin(b->tilt);
    return fmax(fabs(c * X + s * Y) - 0.5 * box_width, fabs(c * Y - s * X) - 0.5 * box_height);
}

static double still_water(const void *user, mo_vec3 x)
{
    (void)user;
    return x.y - level;
}

// Force of still water on a box so heavy that it stays, over rho g times its displacement to the level.
static double buoyancy(held *b, bool viscous)
{
    enum { CELLS = 32 };
    const double dx = width / CELLS, dt = 0.01, mass = 1e12, draft = level - b->bottom;
    int32_t body = 0;
    mo_vec3 centre = mo_v3(0.5 * width, b->bottom + 0.5 * box_height, 0);
    mo_rigid rigid = {.mass = mass, .pose = mo_pose_identity()};
    rigid.pose.position = centre;
    for (int a = 0; a < 3; a++) rigid.inertia.m[a][a] = mass, rigid.inverse.m[a][a] = 1 / mass;
    mo_solid_set solids = {.count = 1, .distance = held_distance, .user = b};
    solids.body = &body, solids.centre = &centre, solids.bodies = 1, solids.faceted = &(uint8_t){1};
    mo_case_def def = {.cells = {CELLS, 24, 1},
                       .dx = dx,
                       .liquid = still_water,
                       .solids = &solids,
                       .rigid = &rigid,
                       .user = b,
                       .density = density,
                       .viscosity = viscous ? 1e-3 : 0};
    mo_case c;
    mo_error err;
    mo_solver_def solver = mo_sim_def_default().solver;
    mo_system_info info;
    solver.tolerance = 1e-9;
    must(mo_case_create(&def, &c, &err), &err);
    for (int64_t i = 0; i < mo_grid_cells(c.grid); i++) c.u[1][i] = (float)(-gravity * dt);
    double weight = 0; // of the liquid that an inviscid one lets the box carry: the box has no gravity of its own here
    if (viscous)
        must(mo_case_stokes(&c, dt, &solver, &info, NULL, &err), &err);
    else {
        mo_liquid_system l;
        must(mo_case_project(&c, dt, &solver, &info, &l, &err), &err);
        weight = l.attached[0].mass[1][1] * dx * dx * dx * gravity;
        mo_liquid_destroy(&l);
    }
    mo_case_destroy(&c);
    return (rigid.velocity.y / dt * mass - weight) / (density * gravity * box_width * draft * dx);
}

// As the box sinks through two cells, its draft being 4.8 to 6.8 cells: errors of the force as lengths of draft.
static void describe_buoyancy(validation *v)
{
    static double place[PLACES], error[3][PLACES];
    double dx = width / 32, worst[3] = {0};
    static const char *const names[3] = {"volumes", "areas", "areas, tilted by 5 degrees"};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < PLACES; i++) {
            held b = {(6 + (i + 0.5) / 20) * dx, k == 2 ? 5 * M_PI / 180 : 0};
            place[i] = b.bottom / dx;
            error[k][i] = (buoyancy(&b, k == 0) - 1) * (level - b.bottom) / dx;
            worst[k] = fmax(worst[k], fabs(error[k][i]));
        }
        at_most(v, worst[k], k == 2 ? 0.02 : 1e-3, "held box, %s: largest error of buoyancy, cells of draft", names[k]);
    }
    plot_series_t series[3];
    for (int k = 0; k < 3; k++) series[k] = (plot_series_t){names[k], PLACES, place, error[k], PLOT_LINE};
    if (v->plots)
        plot_write(v->plots, "floating_buoyancy.svg",
                   &(plot_def){"Buoyancy of a box held in still water", "height of its bottom, cells",
                               "error, cells of draft", false, false},
                   series, 3);
}

// ---- The simulation ----

enum { MAX_SAMPLES = 2000 };

typedef struct record {
    int count;
    double time[MAX_SAMPLES], y[MAX_SAMPLES]; // s, m: centre of the box
    double volume;                            // of the liquid, m^3 or m^2
    double tilt;                              // at the end, degrees
} record;

typedef struct setup {
    int32_t cells;
    bool flat;
    double ratio, viscosity; // of densities; Pa s
    double lift, seconds;    // how far above its place the box starts
    bool finest;             // the draft is required; on coarser grids it is only told
    double higher;           // liquid and box stand higher by this
} setup;

static double box_area(const setup *s) { return s->flat ? box_width : box_width * box_width; }
static double tank_area(const setup *s) { return s->flat ? width : width * width; }

static mo_shape *box_at(mo_vec3 size, mo_vec3 centre)
{
    mo_shape *box = checked(mo_shape_box(size)), *moved = checked(mo_shape_move(box, centre));
    mo_shape_release(box);
    return moved;
}

static double tilt_of(mo_quat q) { return 2 * atan2(hypot(q.x, q.z), q.w) * 180 / M_PI; }

static void run(const validation *v, const setup *s, record *r)
{
    mo_sim_def def = mo_sim_def_default();
    double dx = width / s->cells, draft = s->ratio * box_height, deep = s->flat ? 0 : width;
    def.domain.size = mo_v3(width, ceil(0.75 / dx) * dx, deep), def.domain.cells = s->cells;
    def.gravity = mo_v3(0, -gravity, 0), def.threads = v->threads;
    def.time.seconds = s->seconds, def.time.max_step = s->flat ? 0.01 : 0.02;
    // The level stands lower by what the lifted box leaves behind.
    double stands = level + s->higher - s->lift * box_area(s) / (tank_area(s) - box_area(s));
    mo_vec3 centre = mo_v3(0.5 * width, level + s->higher - draft + s->lift + 0.5 * box_height, 0.5 * deep);
    mo_liquid_def liquid = mo_liquid_def_default();
    liquid.shape = checked(mo_shape_plane(mo_v3(0, 1, 0), stands));
    liquid.viscosity = s->viscosity, liquid.density = density;
    mo_solid_def box = mo_solid_def_default();
    box.name = "box", box.rigid = true, box.density = s->ratio * density;
    box.shape = box_at(mo_v3(box_width, box_height, s->flat ? 1 : box_width), centre);
    def.liquids = &liquid, def.liquid_count = 1, def.solids = &box, def.solid_count = 1;
    mo_sim *sim = create_sim(&def);
    mo_body_state b;
    for (r->count = 0; r->count < MAX_SAMPLES;) {
        mo_sim_body(sim, 0, &b);
        r->time[r->count] = mo_sim_time(sim), r->y[r->count++] = b.pose.position.y;
        if (mo_sim_done(sim)) break;
        r->volume = step_sim(sim).volume_target / (s->flat ? dx : 1);
    }
    r->tilt = tilt_of(b.pose.rotation);
    mo_sim_destroy(sim);
    mo_shape_release(liquid.shape), mo_shape_release(box.shape);
}

// Draft of a box whose centre is at y, from the level that the liquid has then.
static double draft_at(const setup *s, const record *r, double y)
{
    double bottom = y - 0.5 * box_height;
    return (r->volume - box_area(s) * bottom) / (tank_area(s) - box_area(s)) - bottom;
}

// ---- Fits ----

typedef struct fit {
    double w, mean, amplitude;
} fit;

// Least squares of x0 + x1 cos wt + x2 sin wt for a given w: the sum of squares left.
static double fit_at(const record *r, double w, double x[3])
{
    double A[3][4] = {{0}}, left = 0;
    for (int i = 0; i < r->count; i++) {
        double f[4] = {1, cos(w * r->time[i]), sin(w * r->time[i]), r->y[i]};
        for (int p = 0; p < 3; p++)
            for (int q = 0; q < 4; q++) A[p][q] += f[p] * f[q];
    }
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++) {
            if (q == p) continue;
            double m = A[q][p] / A[p][p];
            for (int k = 0; k < 4; k++) A[q][k] -= m * A[p][k];
        }
    for (int p = 0; p < 3; p++) x[p] = A[p][3] / A[p][p];
    for (int i = 0; i < r->count; i++)
        left += pow(x[0] + x[1] * cos(w * r->time[i]) + x[2] * sin(w * r->time[i]) - r->y[i], 2);
    return left;
}

static fit fitted(const record *r, double near)
{
    double least = INFINITY, x[3];
    fit f = {0};
    for (double w = 0.7 * near; w < 1.3 * near; w += 2e-4 * near) {
        double left = fit_at(r, w, x);
        if (left < least) least = left, f = (fit){w, x[0], hypot(x[1], x[2])};
    }
    return f;
}

static double mean_since(const record *r, double time)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < r->count; i++)
        if (r->time[i] >= time) sum += r->y[i], count++;
    return sum / count;
}

// ---- Requirements ----

static const char *dimensions(const setup *s) { return s->flat ? "2D" : "3D"; }

static void require_draft(validation *v, const setup *s, double draft)
{
    double exact = s->ratio * box_height, error = 100 * fabs(draft / exact - 1);
    char what[100];
    snprintf(what, sizeof what, "%s, %d cells, density %.0f: draft %.4f for %.4f m, error %%", dimensions(s), s->cells,
             s->ratio * density, draft, exact);
    if (s->finest)
        at_most(v, error, 2, "%s", what);
    else
        figure(error, "%s", what);
    figure((draft - exact) * s->cells, "    in cells");
}

// Comes to rest in a liquid of 3 Pa s, having started 5 cm too high.
static void check_rest(validation *v, int32_t cells, bool flat, double ratio, bool finest)
{
    static record r;
    setup s = {cells, flat, ratio, 3, 0.05, flat ? 4 : 3, finest, 0};
    run(v, &s, &r);
    require_draft(v, &s, draft_at(&s, &r, mean_since(&r, s.seconds - 1)));
    at_most(v, r.tilt, 1, "%s, %d cells, density %.0f: tilt, degrees", dimensions(&s), cells, ratio * density);
}

// Floats where it was put, wherever between the grid's planes its bottom lies: draft after half a second, and speed.
static void check_heights(validation *v, int32_t cells, bool flat, double ratio, double viscosity)
{
    static record r;
    double dx = width / cells, worst = 0;
    for (int k = 0; k < 8; k++) {
        double off = (rint((level - ratio * box_height) / dx) + 0.125 * k) * dx - (level - ratio * box_height);
        setup s = {cells, flat, ratio, viscosity, 0, flat ? 1 : 0.5, false, off};
        run(v, &s, &r);
        for (int i = 0; i < r.count; i++) {
            double draft = draft_at(&s, &r, r.y[i]);
            worst = fmax(worst, 100 * fabs(draft / (ratio * box_height) - 1));
        }
    }
    at_most(v, worst, 1, "%s, %d cells, density %.0f, %g Pa s, eight heights: largest error of the draft, %%",
            flat ? "2D" : "3D", cells, ratio * density, viscosity);
}

static void plot_heave(const validation *v, const setup *s, const record *r, double w)
{
    static double theory[MAX_SAMPLES];
    char file[100], title[100];
    double mean = level + (0.5 - s->ratio) * box_height;
    for (int i = 0; i < r->count; i++) theory[i] = mean + s->lift * cos(w * r->time[i]);
    snprintf(file, sizeof file, "floating_heave_%s_%s.svg", dimensions(s), s->viscosity > 0 ? "water" : "inviscid");
    snprintf(title, sizeof title, "Heave of a box of density %.0f, %s, %d cells, %g Pa s", s->ratio * density,
             dimensions(s), s->cells, s->viscosity);
    plot_series_t series[] = {{"linear theory", r->count, r->time, theory, PLOT_LINE},
                              {"simulation", r->count, r->time, r->y, PLOT_LINE}};
    plot_write(v->plots, file, &(plot_def){title, "t, s", "centre of the box, m", false, false}, series, 2);
}

// Heaves in water (1e-3 Pa s, volume weights) or in a liquid without viscosity (open areas, ghost fluid).
static void check_heave(validation *v, int32_t cells, bool flat, double ratio, double viscosity, bool finest)
{
    static record r;
    double draft = ratio * box_height, w = heave_frequency(draft, flat, flat ? 0.005 : 0.0125);
    setup s = {cells, flat, ratio, viscosity, 0.04, flat ? 5.2 : 3.2, finest, 0};
    run(v, &s, &r);
    fit f = fitted(&r, w);
    at_most(v, 100 * fabs(w / f.w - 1), 5, "%s, %d cells, density %.0f: period %.4f for %.4f s, error %%",
            dimensions(&s), cells, ratio * density, 2 * M_PI / f.w, 2 * M_PI / w);
    require_draft(v, &s, draft_at(&s, &r, f.mean));
    figure(f.amplitude / s.lift, "    amplitude over that at the start");
    if (v->plots && finest && ratio == 0.5) plot_heave(v, &s, &r, w);
}

static void describe_theory(bool flat, double ratio)
{
    double draft = ratio * box_height, h = flat ? 0.005 : 0.0125, w = heave_frequency(draft, flat, h),
           coarse = heave_frequency(draft, flat, 2 * h), A = flat ? box_width : box_width * box_width,
           tank = flat ? width : width * width, k = density * gravity * A * tank / (tank - A), m = density * draft * A;
    figure(k / (w * w) / m - 1, "%s, density %.0f: linear theory, added mass over mass", flat ? "2D" : "3D",
           ratio * density);
    figure(100 * fabs(coarse / w - 1), "    change of the frequency on a grid twice as coarse, %%");
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "Floating boxes: draft, tilt and heave");
    static const double ratios[3] = {0.3, 0.5, 0.7};
    int32_t finest = v.cells ? v.cells : v.quick ? 32 : 64;
    if (wants(&v, "theory")) {
        for (int k = 0; k < 3; k++) describe_theory(true, ratios[k]);
        describe_theory(false, 0.5);
    }
    if (wants(&v, "buoyancy")) describe_buoyancy(&v);
    if (wants(&v, "heights"))
        for (int k = 0; k < 3; k++)
            for (int viscous = 0; viscous < 2; viscous++) check_heights(&v, 32, true, ratios[k], viscous ? 1e-3 : 0);
    if (wants(&v, "heights") && !v.quick) check_heights(&v, 20, false, 0.5, 0), check_heights(&v, 20, false, 0.5, 1e-3);
    for (int32_t cells = fmin(32, finest); cells <= finest; cells *= 2) {
        if (wants(&v, "rest")) printf("3 Pa s, coming to rest:\n");
        for (int k = 0; k < 3; k++)
            if (wants(&v, "rest")) check_rest(&v, cells, true, ratios[k], cells == finest);
        if (wants(&v, "water")) printf("0.001 Pa s, heaving:\n");
        for (int k = 0; k < 3; k++)
            if (wants(&v, "water")) check_heave(&v, cells, true, ratios[k], 1e-3, cells == finest);
        if (wants(&v, "inviscid")) printf("no viscosity, heaving:\n");
        for (int k = 0; k < 3; k++)
            if (wants(&v, "inviscid")) check_heave(&v, cells, true, ratios[k], 0, cells == finest);
    }
    if (wants(&v, "3D") && !v.quick) {
        check_rest(&v, 32, false, 0.5, true);
        check_heave(&v, 32, false, 0.5, 0, true);
    }
    return validation_end(&v);
}
