// Rows of contact and friction.
#include "system/contact_rows.h"
#include "system/contact_softness.h"
#include "system/solid_rows.h"
#include <math.h>
#include <string.h>

enum { SIDES = 2 };

static bool moves(const mo_contact_rows_def *d, int32_t collider)
{
    return collider < d->solids->count && mo_solid_moves(d->solids, collider);
}

static bool on_nodes(const mo_contact *c) { return c->on[0].count || c->on[1].count; }

// What the vertices of an elastic side contribute.
static void add_place(const mo_contact_rows_def *d, int32_t solid, const mo_contact_place *place, mo_vec3 direction,
                      double value, mo_solid_row *out)
{
    MO_ASSERT(d->first_node && (d->dimension == 2 || d->dimension == 3));
    for (int32_t k = 0; k < place->count; k++)
        for (int axis = 0; axis < d->dimension; axis++) {
            int32_t unknown = d->first_node[solid] + d->dimension * place->vertex[k] + axis;
            mo_column column = {MO_NODES, unknown, place->weight[k] * mo_get(direction, axis)};
            mo_solid_row_merge(out, 1, &column, value);
        }
}

// J of one contact along `direction`: the relative velocity of a against b, by the unknowns of both.
static void jacobian(const mo_contact_rows_def *d, const mo_contact *c, mo_vec3 direction, mo_solid_row *out)
{
    const int32_t side[SIDES] = {c->a, c->b};
    for (int k = 0; k < SIDES; k++)
        if (c->on[k].count)
            add_place(d, side[k], &c->on[k], direction, k ? -1 : 1, out);
        else if (moves(d, side[k]))
            mo_solid_row_add(out, d->solids, side[k], c->point, direction, k ? -1 : 1);
}

// What prescribed colliders add to the relative velocity along `direction`.
static double prescribed(const mo_contact_rows_def *d, const mo_contact *c, mo_vec3 direction)
{
    const int32_t side[SIDES] = {c->a, c->b};
    double sum = 0;
    for (int k = 0; k < SIDES; k++) {
        if (side[k] >= d->solids->count || c->on[k].count || moves(d, side[k]) || !d->solids->velocity) continue;
        mo_vec3 v = d->solids->velocity(d->solids->user, side[k], c->point);
        sum += (k ? -1 : 1) * mo_dot(v, direction);
    }
    return sum;
}

// Entries of one contact's row on each group, added up over contacts.
static void count_entries(const mo_contact_rows_def *d, int64_t entries[MO_GROUPS])
{
    for (int32_t i = 0; i < d->contacts->count; i++) {
        mo_column column[SIDES * MO_SOLID_COLUMNS];
        mo_solid_row row = {0, column};
        jacobian(d, &d->contacts->contact[i], d->contacts->contact[i].normal, &row);
        for (int32_t k = 0; k < row.count; k++) entries[column[k].group]++;
    }
}

static mo_block *new_block(const mo_system *s, int32_t rows, const int64_t entries[MO_GROUPS], int32_t times)
{
    mo_block *b = mo_calloc(sizeof *b);
    if (!b) return NULL;
    size_t bytes = sizeof(double) * (size_t)rows;
    b->rows = rows;
    b->rhs = mo_calloc(bytes), b->x = mo_calloc(bytes), b->lower = mo_calloc(bytes), b->upper = mo_calloc(bytes);
    b->softness = mo_calloc(bytes);
    bool ok = b->rhs && b->x && b->lower && b->upper && b->softness;
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS && ok; g++)
        ok = !s->group[g].count || mo_csr_create(rows, s->group[g].count, times * entries[g], &b->on[g]) == MO_OK;
    if (ok) return b;
    mo_block_destroy(b);
    return NULL;
}

static void fill_row(const mo_contact_rows_def *d, const mo_contact *c, mo_vec3 direction, mo_block *b, int32_t row)
{
    MO_ASSERT(row >= 0 && row < b->rows);
    mo_column column[SIDES * MO_SOLID_COLUMNS];
    mo_solid_row own = {0, column};
    jacobian(d, c, direction, &own);
    for (int32_t g = MO_SOLIDS, k = 0; g < MO_GROUPS; g++) {
        mo_csr *R = &b->on[g];
        int64_t at = mo_csr_begin(R, row);
        for (; k < own.count && column[k].group == g; k++, at++)
            R->col[at] = column[k].unknown, R->val[at] = -column[k].weight / d->dx;
        if (R->rows) R->row[row + 1] = at;
    }
    b->rhs[row] = prescribed(d, c, direction) / d->dx; // B v - c = -(J v + prescribed) / dx
}

// The present relative velocity of a row's contact along its direction: J v* + prescribed.
static double row_speed(const mo_contact_rows_def *d, const mo_system *s, const mo_block *b, int32_t row)
{
    double sum = b->rhs[row];
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++) {
        const double *v = g == MO_NODES && d->node_target ? d->node_target : s->group[g].velocity;
        for (int64_t k = mo_csr_begin(&b->on[g], row); k < mo_csr_end(&b->on[g], row); k++)
            sum -= b->on[g].val[k] * v[b->on[g].col[k]];
    }
    return d->dx * sum;
}

// Overlap of a contact that is let be.
static double margin_of(const mo_contact_rows_def *d, const mo_contact *c)
{
    return on_nodes(c) || c->tight ? 0 : d->margin;
}

// When contact i meets, s; approach: of every contact, m/s.
static double meets_at(const mo_contact_rows_def *d, const double *approach, int32_t i)
{
    double gap = d->contacts->contact[i].gap + margin_of(d, &d->contacts->contact[i]);
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
    double falling = moves(d, c->b) - moves(d, c->a); // of which side; two bodies fall alike
    double half = 0.5 * d->dt * falling * mo_dot(d->gravity, c->normal), arrives = approach[i] - half;
    double left = 4 * half / d->dt * fmax(c->gap + margin_of(d, c), 0); // 2 g times the way left to fall
    double e2 = c->restitution * c->restitution;
    return sqrt(fmax(e2 * (arrives * arrives + left) - left, 0)) - half;
}

// Elastic bodies that have collapsed overlap themselves, and how deep a vertex is can then be any number: it is pushed
// out as if it were half a cell deep at most. The warning `overlap` tells and counts the steps in which one is deeper.
static const double deepest_node = 0.5;

// MO eq. 9 and 16: -J R v* - beta min(phi + margin, 0)/dt, of every contact.
static double allowed_overlapping(const mo_contact_rows_def *d, double approach, const mo_contact *c)
{
    double deeper = fmin(c->gap + margin_of(d, c), 0);
    return d->stabilisation * deeper / d->dt - (on_nodes(c) ? 0 : c->restitution * approach);
}

// Allowed approach without a bounce: up to touching; back out of a deep overlap. J v >= -this.
static double allowed_approach(const mo_contact_rows_def *d, const double *approach, int32_t i)
{
    const mo_contact *c = &d->contacts->contact[i];
    double gap = c->gap + margin_of(d, c);
    if (c->bond) return c->gap / d->dt;
    if (d->overlapping) return allowed_overlapping(d, approach[i], c);
    if (on_nodes(c)) gap = fmax(gap, -deepest_node * d->dx);
    return gap > 0 ? gap / d->dt : d->stabilisation * gap / d->dt;
}

// What a bounce takes off the allowed approach, m/s.
static double bounce_of(const mo_contact_rows_def *d, const double *approach, int32_t i, double allowed)
{
    const mo_contact *c = &d->contacts->contact[i];
    double gap = c->gap + margin_of(d, c);
    bool bounces = c->restitution > 0 && !on_nodes(c) && approach[i] > d->slowest && gap < approach[i] * d->dt;
    if (c->bond || d->overlapping || !bounces || !meets_first(d, approach, i)) return 0;
    return fmax(allowed + leaves_at(d, approach, i), 0);
}

static mo_vec3 belt_of(const mo_contact_rows_def *d, int32_t collider)
{
    return d->belt && collider < d->solids->count ? d->belt[collider] : mo_v3(0, 0, 0);
}

static void fill_friction(const mo_contact_rows_def *d, const mo_contact *c, mo_block *b, int32_t i, const mo_vec3 t[2])
{
    mo_vec3 belts = mo_sub(belt_of(d, c->a), belt_of(d, c->b));
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
    MO_ASSERT(d->dx > 0 && d->dt >= 0 && d->margin >= 0 && d->stabilisation >= 0);
    MO_ASSERT(s->dt == d->dt);
    MO_ASSERT(!s->block[MO_BLOCK_CONTACT] && !s->block[MO_BLOCK_FRICTION]);
    int32_t n = d->contacts->count;
    if (n == 0) return MO_OK;
    int64_t entries[MO_GROUPS] = {0};
    count_entries(d, entries);
    mo_block *normal = s->block[MO_BLOCK_CONTACT] = new_block(s, n, entries, 1);
    mo_block *friction = s->block[MO_BLOCK_FRICTION] = new_block(s, 2 * n, entries, 2);
    double *approach = mo_alloc(sizeof(double) * (size_t)n);
    s->friction = mo_alloc(sizeof(double) * (size_t)n), s->tangent = mo_alloc(sizeof(mo_vec3) * 2 * (size_t)n);
    s->bounce = mo_alloc(sizeof(double) * (size_t)n);
    bool ok = normal && friction && approach && s->friction && s->tangent && s->bounce;
    for (int32_t i = 0; ok && i < n; i++) {
        fill_row(d, &d->contacts->contact[i], d->contacts->contact[i].normal, normal, i);
        approach[i] = -row_speed(d, s, normal, i);
    }
    for (int32_t i = 0; ok && i < n; i++) {
        const mo_contact *c = &d->contacts->contact[i];
        double allowed = allowed_approach(d, approach, i);
        s->bounce[i] = bounce_of(d, approach, i, allowed) / d->dx;
        normal->rhs[i] += allowed / d->dx - s->bounce[i];
        normal->lower[i] = c->bond ? -INFINITY : 0, normal->upper[i] = INFINITY;
        align_friction(d, s, c, friction, i, s->tangent + 2 * i);
        s->friction[i] = c->friction;
    }
    mo_free(approach);
    ok = ok && mo_contact_soften(d, s) == MO_OK;
    return ok ? MO_OK : mo_fail_memory(err);
}
