// Rows of contact and friction.
#include "system/contact_rows.h"
#include "system/contact_softness.h"
#include <math.h>
#include <string.h>

// J of one contact along `direction`: relative velocity of a against b; entries on the two bodies, ascending.
static int32_t jacobian(const mo_contact_rows_def *d, const mo_contact *c, mo_vec3 direction, int32_t *col, double *val)
{
    int32_t n = 0, side[2] = {c->a, c->b};
    bool swap = d->body[c->a] > d->body[c->b];
    for (int k = 0; k < 2; k++) {
        int32_t collider = side[swap ? 1 - k : k], body = d->body[collider];
        double sign = collider == c->a ? 1 : -1;
        if (body < 0) continue;
        mo_vec3 turn = mo_cross(mo_sub(c->point, d->centre[collider]), direction);
        const double part[6] = {direction.x, direction.y, direction.z, turn.x, turn.y, turn.z};
        for (int a = 0; a < 6; a++) col[n] = 6 * body + a, val[n++] = -sign * part[a] / d->dx;
    }
    return n;
}

// What prescribed colliders add to the relative velocity along `direction`.
static double prescribed(const mo_contact_rows_def *d, const mo_contact *c, mo_vec3 direction)
{
    double sum = 0;
    for (int k = 0; k < 2; k++) {
        int32_t q = k ? c->b : c->a;
        if (d->body[q] >= 0) continue;
        mo_vec3 v = mo_add(d->velocity[q], mo_cross(d->spin[q], mo_sub(c->point, d->origin[q])));
        sum += (k ? -1 : 1) * mo_dot(v, direction);
    }
    return sum;
}

static mo_block *new_block(int32_t rows, int32_t bodies)
{
    mo_block *b = mo_calloc(sizeof *b);
    if (!b) return NULL;
    size_t bytes = sizeof(double) * (size_t)rows;
    b->rows = rows;
    b->rhs = mo_calloc(bytes), b->x = mo_calloc(bytes), b->lower = mo_calloc(bytes), b->upper = mo_calloc(bytes);
    b->softness = mo_calloc(bytes);
    if (b->rhs && b->x && b->lower && b->upper && b->softness &&
        mo_csr_create(rows, 6 * bodies, 12 * (int64_t)rows, &b->on[MO_BODIES]) == MO_OK)
        return b;
    mo_block_destroy(b);
    return NULL;
}

static void fill_row(const mo_contact_rows_def *d, const mo_contact *c, mo_vec3 direction, mo_block *b, int32_t row)
{
    mo_csr *R = &b->on[MO_BODIES];
    int32_t n = jacobian(d, c, direction, R->col + R->row[row], R->val + R->row[row]);
    R->row[row + 1] = R->row[row] + n;
    b->rhs[row] = prescribed(d, c, direction) / d->dx; // B v - c = -(J v + prescribed) / dx
}

// The present relative velocity of a row's contact along its direction: J v* + prescribed.
static double row_speed(const mo_contact_rows_def *d, const mo_system *s, const mo_block *b, int32_t row)
{
    double sum = b->rhs[row];
    for (int64_t k = b->on[MO_BODIES].row[row]; k < b->on[MO_BODIES].row[row + 1]; k++)
        sum -= b->on[MO_BODIES].val[k] * s->bodies.velocity[b->on[MO_BODIES].col[k]];
    return d->dx * sum;
}

// When contact i meets, s; approach: of every contact, m/s.
static double meets_at(const mo_contact_rows_def *d, const double *approach, int32_t i)
{
    double gap = d->contacts->contact[i].gap + d->margin;
    return approach[i] > 0 ? fmax(gap, 0) / approach[i] : INFINITY;
}

// Whether no other contact of its pair meets clearly before contact i. Round a ball's nearest point others are almost
// as near, under other angles: bouncing, they would throw it sideways.
static bool meets_first(const mo_contact_rows_def *d, const double *approach, int32_t i)
{
    const mo_contact *c = d->contacts->contact, *own = &c[i];
    double limit = meets_at(d, approach, i) - 0.1 * d->margin / approach[i];
    for (int32_t k = i; k >= 0 && c[k].a == own->a && c[k].b == own->b; k--)
        if (meets_at(d, approach, k) < limit) return false;
    for (int32_t k = i; k < d->contacts->count && c[k].a == own->a && c[k].b == own->b; k++)
        if (meets_at(d, approach, k) < limit) return false;
    return true;
}

// How fast contact i leaves if it bounces, m/s. Positions move with the velocity at the end of a step, which is that of
// the middle of their way: what arrives has half of the step's gravity to come, what leaves half of it to go. With the
// energy of what is left to fall it hits, e^2 of that is kept, and the way it did not fall need not be climbed. A ball
// that bounces without loss so comes back to the height it fell from, whatever dt.
static double leaves_at(const mo_contact_rows_def *d, const double *approach, int32_t i)
{
    const mo_contact *c = &d->contacts->contact[i];
    double falling = (d->body[c->b] >= 0) - (d->body[c->a] >= 0); // of which side; two bodies fall alike
    double half = 0.5 * d->dt * falling * mo_dot(d->gravity, c->normal), arrives = approach[i] - half;
    double left = 4 * half / d->dt * fmax(c->gap + d->margin, 0); // 2 g times the way left to fall
    double e2 = c->restitution * c->restitution;
    return sqrt(fmax(e2 * (arrives * arrives + left) - left, 0)) - half;
}

// Allowed approach: up to touching; a bounce; back out of a deep overlap. J v >= -this.
static double allowed_approach(const mo_contact_rows_def *d, const double *approach, int32_t i)
{
    const mo_contact *c = &d->contacts->contact[i];
    double gap = c->gap + d->margin, back = gap > 0 ? gap / d->dt : d->stabilisation * gap / d->dt;
    bool bounces = c->restitution > 0 && approach[i] > d->slowest && gap < approach[i] * d->dt;
    if (!bounces || !meets_first(d, approach, i)) return back;
    return fmin(-leaves_at(d, approach, i), back);
}

static void fill_friction(const mo_contact_rows_def *d, const mo_contact *c, mo_block *b, int32_t i, const mo_vec3 t[2])
{
    mo_vec3 belts = mo_sub(d->belt[c->a], d->belt[c->b]);
    for (int k = 0; k < 2; k++) {
        fill_row(d, c, t[k], b, 2 * i + k);
        b->rhs[2 * i + k] += mo_dot(belts, t[k]) / d->dx;
    }
}

// The first tangent goes where v* slides or begins to: there the pyramid's bound is that of the cone.
static void align_friction(const mo_contact_rows_def *d, const mo_system *s, const mo_contact *c, mo_block *b,
                           int32_t i, mo_vec3 t[2])
{
    mo_tangents(c->normal, &t[0], &t[1]);
    fill_friction(d, c, b, i, t);
    double u = row_speed(d, s, b, 2 * i), v = row_speed(d, s, b, 2 * i + 1), speed = hypot(u, v);
    if (!(speed > 1e-3 * d->slowest)) return; // only noise
    t[0] = mo_mad(mo_mul(u / speed, t[0]), v / speed, t[1]);
    t[1] = mo_cross(c->normal, t[0]);
    fill_friction(d, c, b, i, t);
}

mo_status mo_contact_rows_add(const mo_contact_rows_def *d, mo_system *s, mo_error *err)
{
    int32_t n = d->contacts->count;
    if (n == 0) return MO_OK;
    mo_block *normal = s->block[MO_BLOCK_CONTACT] = new_block(n, mo_body_count(&s->bodies));
    mo_block *friction = s->block[MO_BLOCK_FRICTION] = new_block(2 * n, mo_body_count(&s->bodies));
    double *approach = mo_alloc(sizeof(double) * (size_t)n);
    s->friction = mo_alloc(sizeof(double) * (size_t)n), s->tangent = mo_alloc(sizeof(mo_vec3) * 2 * (size_t)n);
    bool ok = normal && friction && approach && s->friction && s->tangent;
    for (int32_t i = 0; ok && i < n; i++) {
        fill_row(d, &d->contacts->contact[i], d->contacts->contact[i].normal, normal, i);
        approach[i] = -row_speed(d, s, normal, i);
    }
    for (int32_t i = 0; ok && i < n; i++) {
        const mo_contact *c = &d->contacts->contact[i];
        normal->rhs[i] += allowed_approach(d, approach, i) / d->dx;
        normal->upper[i] = INFINITY;
        align_friction(d, s, c, friction, i, s->tangent + 2 * i);
        s->friction[i] = c->friction;
    }
    mo_free(approach);
    ok = ok && mo_contact_soften(d, s) == MO_OK;
    return ok ? MO_OK : mo_fail_memory(err);
}
