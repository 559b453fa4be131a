// Rows of contact and friction.
#include "system/contact_rows.h"
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
    if (b->rhs && b->x && b->lower && b->upper &&
        mo_csr_create(rows, 6 * bodies, 12 * (int64_t)rows, &b->rigid) == MO_OK)
        return b;
    mo_block_destroy(b);
    return NULL;
}

static void fill_row(const mo_contact_rows_def *d, const mo_contact *c, mo_vec3 direction, mo_block *b, int32_t row)
{
    mo_csr *R = &b->rigid;
    int32_t n = jacobian(d, c, direction, R->col + R->row[row], R->val + R->row[row]);
    R->row[row + 1] = R->row[row] + n;
    b->rhs[row] = prescribed(d, c, direction) / d->dx; // B v - c = -(J v + prescribed) / dx
}

// Allowed approach: up to touching; a bounce; back out of a deep overlap. J v >= -this.
static double allowed_approach(const mo_contact_rows_def *d, const mo_contact *c, double approach)
{
    double gap = c->gap + d->margin;
    if (approach > d->slowest && gap < approach * d->dt) // meets within the step, and fast enough to bounce
        return gap < 0 ? fmin(-c->restitution * approach, d->stabilisation * gap / d->dt) : -c->restitution * approach;
    return gap > 0 ? gap / d->dt : d->stabilisation * gap / d->dt;
}

mo_status mo_contact_rows_add(const mo_contact_rows_def *d, mo_system *s, mo_error *err)
{
    int32_t n = d->contacts->count;
    if (n == 0) return MO_OK;
    mo_block *normal = s->block[MO_BLOCK_CONTACT] = new_block(n, s->bodies);
    mo_block *friction = s->block[MO_BLOCK_FRICTION] = new_block(2 * n, s->bodies);
    s->friction = mo_alloc(sizeof(double) * (size_t)n);
    if (!normal || !friction || !s->friction) return mo_fail_memory(err);
    for (int32_t i = 0; i < n; i++) {
        const mo_contact *c = &d->contacts->contact[i];
        mo_vec3 t[2];
        fill_row(d, c, c->normal, normal, i);
        double closing = 0; // -(J v* + prescribed)
        for (int64_t k = normal->rigid.row[i]; k < normal->rigid.row[i + 1]; k++)
            closing += d->dx * normal->rigid.val[k] * s->body_velocity[normal->rigid.col[k]];
        closing -= d->dx * normal->rhs[i];
        normal->rhs[i] += allowed_approach(d, c, closing) / d->dx;
        normal->upper[i] = INFINITY;
        mo_tangents(c->normal, &t[0], &t[1]);
        mo_vec3 belts = mo_sub(d->belt[c->a], d->belt[c->b]);
        for (int k = 0; k < 2; k++) {
            fill_row(d, c, t[k], friction, 2 * i + k);
            friction->rhs[2 * i + k] += mo_dot(belts, t[k]) / d->dx;
        }
        s->friction[i] = c->friction;
    }
    return MO_OK;
}
