// Three scenes of rigid bodies without liquid, in this simulator and in ODE (Open Dynamics Engine): trajectories,
// differences, plots.
//
//     engines_compare CSV PLOTS      trajectories into the file CSV, SVG plots into the directory PLOTS
//
// ODE solves hard contacts by Dantzig's method, with steps ten times as short as ours, for a reference. Both have a
// pyramid of friction whose first side follows the slip.
#include "../../validate/validate.h"
#include "../../validate/plot.h"
#include "base/vec.h"
#include <ode/ode.h>

enum { MOST_PARTS = 4, MOST_SAMPLES = 400, MOST_CONTACTS = 16 };
static const double g = 9.81, coarse = 0.02, fine = 0.005; // cells of ours, m: they overlap by a tenth of it at rest

typedef struct part { // a box, a ball (radius > 0) or a half space (fixed)
    mo_vec3 size;
    double radius;
    bool plane;
    mo_vec3 at, normal; // a half space lies below its point; of others at rest: away from what they rest on
    mo_quat rotation;
    mo_vec3 velocity, spin;
    double friction; // of a pair the geometric mean
} part;

typedef struct scene {
    const char *name, *title;
    part part[MOST_PARTS];
    int parts, followed;                // the body that is plotted
    double restitution, seconds, limit; // limit of the difference to ODE, m
} scene;

typedef struct track {
    int count;
    double time[MOST_SAMPLES], x[MOST_SAMPLES], y[MOST_SAMPLES], z[MOST_SAMPLES], turn[MOST_SAMPLES];
} track;

static double turned(mo_quat q, mo_quat from)
{
    mo_quat d = mo_quat_mul(q, mo_quat_conj(from));
    return 2 * atan2(sqrt(d.x * d.x + d.y * d.y + d.z * d.z), fabs(d.w));
}

// x: less what rests in the margin at the start.
static void sample(track *t, double time, mo_vec3 x, mo_quat q, mo_quat from)
{
    int i = t->count;
    if (i == MOST_SAMPLES) return;
    t->time[i] = time, t->x[i] = x.x, t->y[i] = x.y, t->z[i] = x.z, t->turn[i] = turned(q, from);
    t->count++;
}

// ---- Ours ----

static mo_shape *shape_of(const part *p, double margin)
{
    if (p->plane) return mo_shape_plane(p->normal, mo_dot(p->normal, p->at));
    mo_shape *s = p->radius > 0 ? mo_shape_sphere(p->radius) : mo_shape_box(p->size);
    mo_vec3 axis = {p->rotation.x, p->rotation.y, p->rotation.z};
    double length = mo_norm(axis);
    if (length > 0) {
        mo_shape *r = mo_shape_rotate(s, mo_mul(1 / length, axis), 2 * atan2(length, p->rotation.w) * 180 / M_PI);
        mo_shape_release(s);
        s = r;
    }
    mo_shape *moved = mo_shape_move(s, mo_mad(p->at, -margin, p->normal));
    mo_shape_release(s);
    return moved;
}

static track run_ours(const scene *s, double dt, double dx)
{
    const double margin = 0.1 * dx;
    static const char *const names[MOST_PARTS] = {"a", "b", "c", "d"};
    mo_solid_def solid[MOST_PARTS];
    mo_sim_def def = mo_sim_def_default();
    def.domain.size = mo_v3(2, 1, 1), def.domain.cells = (int32_t)lround(2 / dx), def.domain.contact = false;
    def.solids = solid, def.solid_count = s->parts, def.threads = 1;
    def.time.fps = 50, def.time.seconds = s->seconds, def.time.max_step = dt;
    for (int i = 0; i < s->parts; i++) {
        const part *p = &s->part[i];
        solid[i] = mo_solid_def_default();
        solid[i].name = names[i], solid[i].shape = checked(shape_of(p, margin)), solid[i].rigid = !p->plane;
        solid[i].velocity = p->velocity, solid[i].angular_velocity = p->spin;
        solid[i].friction = p->friction, solid[i].restitution = p->plane ? 0 : s->restitution;
    }
    mo_sim *sim = create_sim(&def);
    track t = {0};
    mo_body_state b;
    mo_error err;
    mo_sim_body(sim, s->followed, &b);
    mo_quat from = b.pose.rotation;
    mo_vec3 rest = mo_mul(margin, s->part[s->followed].normal);
    sample(&t, 0, mo_add(b.pose.position, rest), b.pose.rotation, from);
    while (!mo_sim_done(sim)) {
        must(mo_sim_advance(sim, NULL, NULL, &err), &err);
        mo_sim_body(sim, s->followed, &b);
        sample(&t, mo_sim_time(sim), mo_add(b.pose.position, rest), b.pose.rotation, from);
    }
    mo_sim_destroy(sim);
    for (int i = 0; i < s->parts; i++) mo_shape_release(solid[i].shape);
    return t;
}

// ---- ODE ----

typedef struct ode {
    const scene *s;
    dWorldID world;
    dSpaceID space;
    dJointGroupID contacts;
    double dt;
} ode;

static mo_vec3 velocity_at(dBodyID b, const dReal *x)
{
    dVector3 v = {0};
    if (b) dBodyGetPointVel(b, x[0], x[1], x[2], v);
    return mo_v3(v[0], v[1], v[2]);
}

static double friction_of(dGeomID g) { return ((const part *)dGeomGetData(g))->friction; }

static void touch(void *user, dGeomID a, dGeomID b)
{
    ode *o = user;
    dContact c[MOST_CONTACTS];
    dBodyID A = dGeomGetBody(a), B = dGeomGetBody(b);
    if (!A && !B) return;
    int n = dCollide(a, b, MOST_CONTACTS, &c[0].geom, sizeof c[0]);
    for (int i = 0; i < n; i++) {
        mo_vec3 normal = {c[i].geom.normal[0], c[i].geom.normal[1], c[i].geom.normal[2]};
        mo_vec3 v = mo_sub(velocity_at(A, c[i].geom.pos), velocity_at(B, c[i].geom.pos));
        mo_vec3 slip = mo_mad(v, -mo_dot(v, normal), normal);
        c[i].surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = sqrt(friction_of(a) * friction_of(b))};
        if (o->s->restitution > 0) {
            c[i].surface.mode |= dContactBounce;
            c[i].surface.bounce = o->s->restitution, c[i].surface.bounce_vel = 2 * g * o->dt;
        }
        if (mo_norm(slip) > 1e-6) {
            mo_vec3 t = mo_normalize(slip);
            c[i].surface.mode |= dContactFDir1;
            c[i].fdir1[0] = t.x, c[i].fdir1[1] = t.y, c[i].fdir1[2] = t.z;
        }
        dJointAttach(dJointCreateContact(o->world, o->contacts, &c[i]), A, B);
    }
}

static dBodyID add_part(const ode *o, const part *p)
{
    if (p->plane) {
        dGeomID plane = dCreatePlane(o->space, p->normal.x, p->normal.y, p->normal.z, mo_dot(p->normal, p->at));
        dGeomSetData(plane, (void *)p);
        return NULL;
    }
    dMass m;
    dBodyID b = dBodyCreate(o->world);
    dGeomID geom;
    if (p->radius > 0) {
        dMassSetSphere(&m, 1000, p->radius);
        geom = dCreateSphere(o->space, p->radius);
    } else {
        dMassSetBox(&m, 1000, p->size.x, p->size.y, p->size.z);
        geom = dCreateBox(o->space, p->size.x, p->size.y, p->size.z);
    }
    dBodySetMass(b, &m);
    dGeomSetBody(geom, b), dGeomSetData(geom, (void *)p);
    dBodySetPosition(b, p->at.x, p->at.y, p->at.z);
    dQuaternion q = {p->rotation.w, p->rotation.x, p->rotation.y, p->rotation.z};
    dBodySetQuaternion(b, q);
    dBodySetLinearVel(b, p->velocity.x, p->velocity.y, p->velocity.z);
    dBodySetAngularVel(b, p->spin.x, p->spin.y, p->spin.z);
    return b;
}

static void sample_body(track *t, double time, dBodyID b, mo_quat from)
{
    const dReal *x = dBodyGetPosition(b), *q = dBodyGetQuaternion(b);
    sample(t, time, mo_v3(x[0], x[1], x[2]), (mo_quat){q[0], q[1], q[2], q[3]}, from);
}

static track run_ode(const scene *s, double dt)
{
    ode o = {.s = s, .world = dWorldCreate(), .space = dSimpleSpaceCreate(0), .contacts = dJointGroupCreate(0)};
    dBodyID body[MOST_PARTS];
    track t = {0};
    o.dt = dt;
    dWorldSetGravity(o.world, 0, -g, 0);
    dWorldSetERP(o.world, 0.2), dWorldSetCFM(o.world, 1e-10), dWorldSetContactMaxCorrectingVel(o.world, 0.1);
    for (int i = 0; i < s->parts; i++) body[i] = add_part(&o, &s->part[i]);
    const part *p = &s->part[s->followed];
    int steps = (int)lround(0.02 / dt), frames = (int)lround(s->seconds / 0.02);
    sample_body(&t, 0, body[s->followed], p->rotation);
    for (int f = 1; f <= frames; f++) {
        for (int k = 0; k < steps; k++) {
            dSpaceCollide(o.space, &o, touch);
            dWorldStep(o.world, dt);
            dJointGroupEmpty(o.contacts);
        }
        sample_body(&t, 0.02 * f, body[s->followed], p->rotation);
    }
    dJointGroupDestroy(o.contacts), dSpaceDestroy(o.space), dWorldDestroy(o.world);
    return t;
}

// ---- Comparison ----

static double distance(const track *a, const track *b)
{
    double most = 0;
    for (int i = 0; i < a->count && i < b->count; i++)
        most = fmax(most, mo_norm(mo_v3(a->x[i] - b->x[i], a->y[i] - b->y[i], a->z[i] - b->z[i])));
    return most;
}

static double angle(const track *a, const track *b)
{
    double most = 0;
    for (int i = 0; i < a->count && i < b->count; i++) most = fmax(most, fabs(a->turn[i] - b->turn[i]));
    return most * 180 / M_PI;
}

static void plot(const scene *s, const char *directory, const track *ours, const track *theirs)
{
    char file[100], title[160];
    plot_series_t lines[4] = {{"ours, x", ours->count, ours->time, ours->x, PLOT_LINE},
                              {"ODE, x", theirs->count, theirs->time, theirs->x, PLOT_POINTS},
                              {"ours, y", ours->count, ours->time, ours->y, PLOT_LINE},
                              {"ODE, y", theirs->count, theirs->time, theirs->y, PLOT_POINTS}};
    snprintf(file, sizeof file, "engines_%s.svg", s->name);
    snprintf(title, sizeof title, "%s: centre of mass", s->title);
    plot_def def = {title, "t, s", "m", false, false};
    plot_write(directory, file, &def, lines, 4);
}

static void compare(validation *v, const scene *s, FILE *csv)
{
    enum { STEPS = 4 };
    const double dt[STEPS] = {0.01, 0.005, 0.0025, 0.00125};
    static track ours, theirs, same;
    theirs = run_ode(s, 0.1 * dt[STEPS - 1]), same = run_ode(s, dt[STEPS - 1]);
    printf("%s, %g s; farthest from ODE in mm\n", s->title, s->seconds);
    for (int k = 0; k < STEPS; k++) {
        ours = run_ours(s, dt[k], coarse);
        figure(1000 * distance(&ours, &theirs), "  steps of %g ms, cells of %g mm", 1000 * dt[k], 1000 * coarse);
    }
    ours = run_ours(s, dt[STEPS - 1], fine);
    at_most(v, 1000 * distance(&ours, &theirs), 1000 * s->limit, "  steps of %g ms, cells of %g mm",
            1000 * dt[STEPS - 1], 1000 * fine);
    at_most(v, angle(&ours, &theirs), 2, "  turn, degrees");
    figure(1000 * distance(&same, &theirs), "  ODE itself, steps of %g ms against %g ms", 1000 * dt[STEPS - 1],
           100 * dt[STEPS - 1]);
    for (int i = 0; i < theirs.count && i < ours.count; i++)
        fprintf(csv, "%s,%.2f,%.6f,%.6f,%.6f,%.5f,%.6f,%.6f,%.6f,%.5f\n", s->name, theirs.time[i], ours.x[i], ours.y[i],
                ours.z[i], ours.turn[i], theirs.x[i], theirs.y[i], theirs.z[i], theirs.turn[i]);
    plot(s, v->plots, &ours, &theirs);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s CSV PLOTS\n", argv[0]);
        return 2;
    }
    char *none[] = {argv[0]};
    validation v = validation_start(1, none, "Rigid bodies against ODE");
    v.plots = argv[2];
    const double a = 25 * M_PI / 180, tilt = 0.5 * a;
    const mo_quat level = {1, 0, 0, 0};
    const mo_vec3 up = {0, 1, 0}, slope = {sin(a), cos(a), 0}, foot = {0.9, 0.1, 0.5};
    const part floor = {.plane = true, .at = {0, 0.1, 0}, .normal = up, .rotation = level, .friction = 0.2};
    // Where several impacts with friction happen at once there is more than one answer: the ball that is hit has none.
    const scene scenes[] = {
        {.name = "slope",
         .title = "Box slides down a slope and onto the floor",
         .part = {floor,
                  {.plane = true, .at = foot, .normal = slope, .rotation = level, .friction = 0.2},
                  {.size = {0.2, 0.1, 0.15},
                   .at = {foot.x - 0.6 * cos(a) + 0.05 * slope.x, foot.y + 0.6 * sin(a) + 0.05 * slope.y, 0.5},
                   .normal = slope,
                   .rotation = {cos(tilt), 0, 0, -sin(tilt)},
                   .friction = 0.2}},
         .parts = 3,
         .followed = 2,
         .seconds = 1.6,
         .limit = 0.01},
        {.name = "balls",
         .title = "Ball slides, rolls, hits another and rolls on",
         .part = {floor,
                  {.radius = 0.1,
                   .at = {0.3, 0.2, 0.5},
                   .normal = up,
                   .rotation = level,
                   .velocity = {1.4, 0, 0},
                   .friction = 0.2},
                  {.radius = 0.1, .at = {1.0, 0.2, 0.5}, .normal = up, .rotation = level}},
         .parts = 3,
         .followed = 1,
         .restitution = 0.8,
         .seconds = 1.6,
         .limit = 0.01},
        {.name = "box",
         .title = "Spinning box bounces",
         .part = {floor,
                  {.size = {0.2, 0.1, 0.15},
                   .at = {0.5, 0.55, 0.5},
                   .rotation = {cos(0.2), 0, 0, sin(0.2)},
                   .velocity = {0.6, 0, 0},
                   .spin = {0, 0, -3},
                   .friction = 0.8}},
         .parts = 2,
         .followed = 1,
         .restitution = 0.4,
         .seconds = 1.6,
         .limit = 0.01},
    };
    FILE *csv = fopen(argv[1], "w");
    if (!csv) {
        fprintf(stderr, "error: cannot write %s\n", argv[1]);
        return 1;
    }
    fprintf(csv, "scene,time,x,y,z,turn,ode_x,ode_y,ode_z,ode_turn\n");
    dInitODE2(0);
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) compare(&v, &scenes[i], csv);
    dCloseODE();
    if (fclose(csv) != 0) return 1;
    return validation_end(&v);
}
