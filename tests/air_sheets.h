// Rooms of air with a shell, for tests.
#ifndef MO_AIR_SHEETS_H
#define MO_AIR_SHEETS_H

#include "air_test.h"
#include "grid/cut.h"
#include "grid/reach.h"
#include <string.h>

static mo_error err;

typedef struct sheet_room {
    room r;
    mo_sheet sheet;
    mo_shell_def shell;
} sheet_room;

static inline void start(sheet_room *w, mo_vec3 size, int cells)
{
    *w = (sheet_room){.r = make_room(size, cells), .shell = mo_shell_def_default()};
    w->shell.name = "sheet";
    w->r.def.time.fps = 50, w->r.def.time.seconds = 60;
}

static inline mo_sim *enter_sheet(sheet_room *w)
{
    w->shell.sheet = &w->sheet, w->r.def.shells = &w->shell, w->r.def.shell_count = 1;
    return enter(&w->r);
}

static inline void leave(sheet_room *w, mo_sim *sim)
{
    mo_sim_destroy(sim);
    mo_sheet_destroy(&w->sheet);
    if (w->r.smoke.shape) mo_shape_release((mo_shape *)w->r.smoke.shape);
}

static inline void plate(sheet_room *w, double size, double angle, mo_vec3 at)
{
    assert_int_equal(mo_sheet_plate(size, size, 0.05, &w->sheet, &err), MO_OK);
    mo_sheet_rotate(&w->sheet, mo_v3(0, 0, 1), angle);
    mo_sheet_move(&w->sheet, at);
}

// The largest difference of an open face's velocity from `u` times +1 above a plane through the middle and `below`
// under it; n: the plane's normal.
static inline double worst_of(const mo_sim *sim, mo_vec3 u, mo_vec3 n, double below)
{
    const mo_grid *g = sim->grid;
    double worst = 0;
    for (int32_t i = 0; i < mo_grid_samples(g); i++)
        for (int a = 0; a < 3; a++) {
            if (i >= mo_grid_cells(g) && mo_sites_sample(g, a, i).axis != a) continue;
            if (sim->openings.area[a][i] <= 0 || mo_sample_low(g, a, i) < 0 || mo_sample_high(g, a, i) < 0) continue;
            int32_t c[3];
            double x[3];
            mo_grid_cell(g, mo_site_cell(g, mo_sample_high(g, a, i)), c);
            if (!mo_levelset_in_domain(g, c)) continue;
            mo_sample_place(g, a, i, x);
            double side = mo_dot(mo_sub(mo_grid_world(g, x[0], x[1], x[2]), mo_v3(0.5, 0.5, 0.5)), n);
            worst = fmax(worst, fabs(sim->air.gas.u[a][i] - (side > 0 ? 1 : below) * mo_get(u, a)));
        }
    return worst;
}

static inline void open_all(sheet_room *w)
{
    for (int k = 0; k < 6; k++) w->r.def.domain.walls[k] = MO_WALL_OPEN;
}

// A closed ball without thickness, of radius 0.2.
static inline void ball_sheet(sheet_room *w, mo_vec3 at)
{
    static const double arc[9][2] = {{0, -.2},       {.0765, -.1848}, {.1414, -.1414}, {.1848, -.0765}, {.2, 0},
                                     {.1848, .0765}, {.1414, .1414},  {.0765, .1848},  {0, .2}};
    assert_int_equal(mo_sheet_revolve(9, arc, 0.05, &w->sheet, &err), MO_OK);
    mo_sheet_move(&w->sheet, at);
}

// Marks the rows that are joined to a row by open samples and gaps.
static inline void flood(const mo_grid *g, int32_t start_row, uint8_t *mark)
{
    bool more = true;
    memset(mark, 0, (size_t)mo_grid_rows(g));
    mark[start_row] = 1;
    while (more) {
        more = false;
        for (int32_t i = 0; i < mo_grid_samples(g); i++)
            for (int a = 0; a < 3; a++) {
                if (i >= mo_grid_cells(g) && mo_sites_sample(g, a, i).axis != a) continue;
                int32_t low = mo_sample_low(g, a, i), high = mo_sample_high(g, a, i);
                if (low < 0 || high < 0 || mark[low] == mark[high]) continue;
                mark[low] = mark[high] = 1, more = true;
            }
        for (int32_t k = 0; k < g->sites->gaps; k++) {
            const mo_gap *gap = &g->sites->gap[k];
            if (gap->area <= 0 || mark[gap->low] == mark[gap->high]) continue;
            mark[gap->low] = mark[gap->high] = 1, more = true;
        }
    }
}

typedef struct course { // of a scripted shell
    mo_vec3 velocity, spin, centre;
    double swing; // rad/s; 0: even motion
} course;

static inline mo_status follow(void *user, double t, mo_pose *pose, mo_error *e)
{
    const course *c = user;
    double way = c->swing > 0 ? sin(c->swing * t) / c->swing : t, turn = mo_norm(c->spin) * way;
    (void)e;
    mo_vec3 axis = turn != 0 ? mo_mul(1 / mo_norm(c->spin), c->spin) : mo_v3(0, 0, 1);
    pose->rotation =
        (mo_quat){cos(0.5 * turn), sin(0.5 * turn) * axis.x, sin(0.5 * turn) * axis.y, sin(0.5 * turn) * axis.z};
    pose->position = mo_mad(c->centre, way, c->velocity);
    return MO_OK;
}

// The densest and the thinnest soot in the room, in parts of the source's.
static inline void soot_range(const mo_sim *sim, double unit, double *least, double *most)
{
    const mo_grid *g = sim->grid;
    for (int32_t i = 0; i < mo_grid_rows(g); i++) {
        int32_t c[3];
        mo_grid_cell(g, mo_site_cell(g, i), c);
        if (!mo_levelset_in_domain(g, c) || sim->openings.volume[i] <= 0) continue;
        double soot = sim->air.gas.soot[i] / unit;
        *least = fmin(*least, soot), *most = fmax(*most, soot);
    }
}

// Two runs of one room, the second with other threads, go on bit by bit alike; so does a state of the first that
// another one loads, which `again` makes at the same place and which is returned in place of the second.
static inline mo_sim *compare_parts(mo_sim *one, mo_sim *two, mo_sim *(*again)(void *place), void *place)
{
    void *data;
    size_t bytes;
    for (int i = 0; i < 6; i++) step(one), step(two);
    same_fields(one, two);
    assert_int_equal(mo_sim_save(one, &data, &bytes, &err), MO_OK);
    for (int i = 0; i < 4; i++) step(one), step(two);
    mo_sim_destroy(two);
    two = again(place);
    if (mo_sim_load(two, data, bytes, &err) != MO_OK) fail_msg("%s", err.text);
    for (int i = 0; i < 4; i++) step(two);
    same_fields(one, two);
    mo_free(data);
    return two;
}

static inline mo_sim *enter_sheet_again(void *place) { return enter_sheet(place); }

#endif
