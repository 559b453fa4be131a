// Rigid bodies: creation from a shape, and free motion by a method that keeps angular momentum and energy.
#include "solid/rigid.h"
#include "base/matrix3.h"
#include "solid/primitive_mass.h"

enum { FIRST_RESOLUTION = 16, LAST_RESOLUTION = 256, MOST_SUBSTEPS = 4000 };

static mo_mat3 inverse(const mo_mat3 *a)
{
    mo_mat3 out;
    double C[3][3], scale = 1 / mo_det3((const double(*)[3])a->m);
    mo_cofactor3((const double(*)[3])a->m, C);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out.m[i][j] = scale * C[j][i];
    return out;
}

// Finer meshes until two agree: thin walls need more than bulky bodies.
static mo_status general_mass(const mo_shape *shape, mo_mass *out, mo_error *err)
{
    MO_TRY(mo_shape_mass(shape, FIRST_RESOLUTION, out, err));
    for (int32_t resolution = 2 * FIRST_RESOLUTION; resolution <= LAST_RESOLUTION; resolution *= 2) {
        mo_mass before = *out;
        MO_TRY(mo_shape_mass(shape, resolution, out, err));
        double turn = 0, spread = 0;
        for (int i = 0; i < 3; i++) {
            spread += fabs(out->inertia.m[i][i]);
            for (int j = 0; j < 3; j++) turn = fmax(turn, fabs(out->inertia.m[i][j] - before.inertia.m[i][j]));
        }
        bool found = out->volume > 0 && before.volume > 0;
        if (found && fabs(out->volume - before.volume) < 1e-3 * out->volume && turn < 1e-3 * spread) break;
    }
    return MO_OK;
}

static void set_inertia(mo_rigid *r, mo_mat3 inertia, bool two_dimensional)
{
    r->inertia = inertia;
    if (two_dimensional)
        r->inverse.m[2][2] = 1 / inertia.m[2][2]; // nothing turns it out of the plane
    else
        r->inverse = inverse(&inertia);
}

mo_status mo_rigid_create(const mo_shape *shape, double density, bool two_dimensional, double depth, const char *place,
                          mo_rigid *out, const mo_shape **body_shape, mo_error *err)
{
    *out = (mo_rigid){.pose = mo_pose_identity()};
    *body_shape = NULL;
    if (!(isfinite(density) && density > 0))
        return mo_fail(err, MO_ERROR_INPUT, "%s: density must be > 0, got %g", place, density);
    if (two_dimensional && !(isfinite(depth) && depth > 0))
        return mo_fail(err, MO_ERROR_INPUT, "%s: depth must be > 0, got %g", place, depth);
    if (!mo_shape_is_bounded(shape))
        return mo_fail(err, MO_ERROR_INPUT, "%s: the shape has no finite bounds (a half space?), so it has no mass",
                       place);
    mo_mass mass;
    const mo_shape *core = two_dimensional ? mo_shape_retain(shape) : mo_shape_core(shape, &out->pose);
    if (!core) return mo_fail_memory(err);
    mo_status status = MO_OK;
    if (two_dimensional)
        mass = mo_section_mass(core, depth);
    else if (!mo_primitive_mass(core, &mass))
        status = general_mass(core, &mass, err);
    if (status == MO_OK) *body_shape = mo_shape_move(core, mo_mul(-1, mass.centre));
    mo_shape_release(core);
    MO_TRY(status);
    if (!*body_shape) return mo_fail_memory(err);
    mo_mat3 inertia = mass.inertia;
    for (int i = 0; i < 9; i++) inertia.m[i / 3][i % 3] *= density;
    out->mass = density * mass.volume;
    if (!(isfinite(out->mass) && out->mass > 0 && isfinite(1 / out->mass) &&
          mo_det3((const double(*)[3])inertia.m) > 0)) {
        mo_shape_release(*body_shape), *body_shape = NULL;
        return mo_fail(err, MO_ERROR_INPUT, "%s: the shape is empty%s, so it has no mass", place,
                       two_dimensional ? " at z = 0" : "");
    }
    set_inertia(out, inertia, two_dimensional);
    out->pose.position = mo_pose_apply(out->pose, mass.centre);
    return MO_OK;
}

// ---- Sheets ----

static mo_vec3 corner(const mo_sheet *s, int32_t triangle, int k)
{
    const double *x = s->position[s->triangle[triangle][k]];
    return mo_v3(x[0], x[1], x[2]);
}

static double area_of(const mo_sheet *s, int32_t triangle)
{
    mo_vec3 a = corner(s, triangle, 0);
    return 0.5 * mo_norm(mo_cross(mo_sub(corner(s, triangle, 1), a), mo_sub(corner(s, triangle, 2), a)));
}

// The integral of x x^T over a triangle of corners x_i, sum x: A/12 ((sum x)(sum x)^T + sum x_i x_i^T).
static void add_moments(const mo_sheet *s, int32_t triangle, mo_vec3 centre, double second[3][3])
{
    mo_vec3 x[4] = {{0, 0, 0}};
    for (int k = 0; k < 3; k++) x[k] = mo_sub(corner(s, triangle, k), centre), x[3] = mo_add(x[3], x[k]);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) second[i][j] += area_of(s, triangle) / 12 * mo_get(x[k], i) * mo_get(x[k], j);
}

mo_status mo_rigid_of_sheet(const mo_sheet *sheet, double density, bool two_dimensional, double depth,
                            const char *place, mo_rigid *out, mo_error *err)
{
    *out = (mo_rigid){.pose = mo_pose_identity()};
    double area = 0, second[3][3] = {{0}}, low = INFINITY, high = -INFINITY;
    mo_vec3 centre = {0, 0, 0};
    for (int32_t t = 0; t < sheet->triangles; t++) {
        double own = area_of(sheet, t);
        area += own;
        for (int k = 0; k < 3; k++) {
            mo_vec3 x = corner(sheet, t, k);
            centre = mo_mad(centre, own / 3, x);
            low = fmin(low, x.z), high = fmax(high, x.z);
        }
    }
    if (!(isfinite(area) && area > 0)) return mo_fail(err, MO_ERROR_INPUT, "%s: the sheet has no area", place);
    centre = mo_mul(1 / area, centre);
    for (int32_t t = 0; t < sheet->triangles; t++) add_moments(sheet, t, centre, second);
    if (two_dimensional) density *= depth / (high - low), centre.z = second[2][2] = 0; // swept beyond the plane
    mo_mat3 inertia;
    double trace = second[0][0] + second[1][1] + second[2][2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) inertia.m[i][j] = density * ((i == j ? trace : 0) - second[i][j]);
    out->mass = density * area;
    bool turns = two_dimensional ? inertia.m[2][2] > 0 : mo_det3((const double(*)[3])inertia.m) > 0;
    if (!(isfinite(out->mass) && out->mass > 0 && isfinite(1 / out->mass) && turns))
        return mo_fail(err, MO_ERROR_INPUT, "%s: density must be > 0, and the sheet must not be too small", place);
    set_inertia(out, inertia, two_dimensional);
    out->pose.position = centre;
    return MO_OK;
}

mo_rigid mo_rigid_twin(const mo_rigid *r, double density_ratio, mo_pose from, mo_pose to)
{
    MO_ASSERT(density_ratio > 0);
    mo_rigid twin = {.mass = density_ratio * r->mass};
    for (int i = 0; i < 9; i++) {
        twin.inertia.m[i / 3][i % 3] = density_ratio * r->inertia.m[i / 3][i % 3];
        twin.inverse.m[i / 3][i % 3] = r->inverse.m[i / 3][i % 3] / density_ratio;
    }
    twin.pose = (mo_pose){mo_pose_apply(to, mo_pose_to_body(from, r->pose.position)), to.rotation};
    return twin;
}

// R a R^T
static mo_mat3 to_world(mo_quat q, const mo_mat3 *a)
{
    mo_vec3 axis[3] = {mo_quat_rotate(q, mo_v3(1, 0, 0)), mo_quat_rotate(q, mo_v3(0, 1, 0)),
                       mo_quat_rotate(q, mo_v3(0, 0, 1))};
    mo_mat3 out = {{{0}}};
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            double sum = 0;
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++) sum += mo_get(axis[k], i) * a->m[k][l] * mo_get(axis[l], j);
            out.m[i][j] = out.m[j][i] = sum;
        }
    return out;
}

mo_mat3 mo_rigid_inertia(const mo_rigid *r) { return to_world(r->pose.rotation, &r->inertia); }
mo_mat3 mo_rigid_inertia_inverse(const mo_rigid *r) { return to_world(r->pose.rotation, &r->inverse); }

mo_vec3 mo_rigid_velocity_at(const mo_rigid *r, mo_vec3 x)
{
    return mo_add(r->velocity, mo_cross(r->angular_velocity, mo_sub(x, r->pose.position)));
}

mo_vec3 mo_rigid_angular_momentum(const mo_rigid *r)
{
    mo_vec3 own = mo_quat_rotate(mo_quat_conj(r->pose.rotation), r->angular_velocity);
    return mo_quat_rotate(r->pose.rotation, mo_mat3_mul(r->inertia, own));
}

double mo_rigid_energy(const mo_rigid *r)
{
    return 0.5 *
           (r->mass * mo_dot(r->velocity, r->velocity) + mo_dot(r->angular_velocity, mo_rigid_angular_momentum(r)));
}

// Solves the implicit midpoint rule of Euler's equations for the momentum m in the middle of a step, in body axes:
// m = m0 + h/2 m x (I^-1 m), by Newton.
static mo_vec3 middle_momentum(const mo_mat3 *inv, mo_vec3 m0, double h)
{
    mo_vec3 m = m0;
    for (int iteration = 0; iteration < 20; iteration++) {
        mo_vec3 w = mo_mat3_mul(*inv, m);
        mo_vec3 residual = mo_sub(mo_sub(m, m0), mo_mul(0.5 * h, mo_cross(m, w)));
        mo_mat3 J;
        for (int j = 0; j < 3; j++) {
            mo_vec3 e = {j == 0, j == 1, j == 2};
            mo_vec3 c = mo_sub(e, mo_mul(0.5 * h, mo_add(mo_cross(e, w), mo_cross(m, mo_mat3_mul(*inv, e)))));
            J.m[0][j] = c.x, J.m[1][j] = c.y, J.m[2][j] = c.z;
        }
        mo_mat3 solve = inverse(&J);
        mo_vec3 step = mo_mat3_mul(solve, residual);
        m = mo_sub(m, step);
        if (mo_norm(step) <= 1e-15 * mo_norm(m)) break;
    }
    return m;
}

// The midpoint rule is a Cayley rotation about w = I^-1 m: turning the body by it keeps the momentum L in world axes to
// rounding, and the energy, whatever h.
static void turn(mo_quat *q, const mo_mat3 *inv, mo_vec3 L, double h)
{
    mo_vec3 m0 = mo_quat_rotate(mo_quat_conj(*q), L);
    mo_vec3 w = mo_mul(0.5 * h, mo_mat3_mul(*inv, middle_momentum(inv, m0, h)));
    *q = mo_quat_normalize(mo_quat_mul(*q, (mo_quat){1, w.x, w.y, w.z}));
}

void mo_rigid_move(mo_rigid *r, double dt)
{
    MO_ASSERT(isfinite(dt));
    MO_ASSERT(r->mass > 0);
    r->pose.position = mo_mad(r->pose.position, dt, r->velocity);
    mo_vec3 L = mo_rigid_angular_momentum(r);
    double stiffest = 0; // a bound of 1 / least inertia
    for (int i = 0; i < 3; i++)
        stiffest = fmax(stiffest, fabs(r->inverse.m[i][0]) + fabs(r->inverse.m[i][1]) + fabs(r->inverse.m[i][2]));
    double fastest = sqrt(fmax(mo_dot(r->angular_velocity, L), 0) * stiffest); // 2 E = w . L
    if (!(fastest > 0) || !isfinite(fastest * dt)) return;
    int32_t steps = (int32_t)fmin(ceil(fabs(dt) * fastest / 0.1), MOST_SUBSTEPS);
    // Suzuki's composition of five midpoint steps is of fourth order; the number is the cube root of 4.
    double p = 1 / (4 - 1.58740105196819947475), part[5] = {p, p, 1 - 4 * p, p, p};
    for (int32_t s = 0; s < steps; s++)
        for (int k = 0; k < 5; k++) turn(&r->pose.rotation, &r->inverse, L, part[k] * dt / steps);
    r->angular_velocity = mo_mat3_mul(mo_rigid_inertia_inverse(r), L);
}
