// Softness of contacts: heaviest bodies of clusters, found along contacts.
#include "system/contact_softness.h"
#include <math.h>

static const double most_give = 1e-3; // of the velocity that the heaviest body would gain without the contact
static const double on_nodes = 1e-6;  // the default: nodes weigh little compared with their solid
static const double least = 1e-10;    // firmer contacts would be lost in the rounding of velocities

// The movable sides of contact i: rigid bodies first, then elastic ones, which pass on the load that leans on them; -1
// for sides that do not move.
static void bodies_of(const mo_contact_rows_def *d, int32_t i, int32_t body[2])
{
    const int32_t side[2] = {d->contacts->contact[i].a, d->contacts->contact[i].b};
    for (int k = 0; k < 2; k++) {
        bool moves = side[k] < d->solids->count && mo_solid_moves(d->solids, side[k]);
        body[k] = moves ? d->solids->body[side[k]] : -1;
    }
}

// Rigid and elastic bodies.
static int32_t count_bodies(const mo_contact_rows_def *d)
{
    int32_t count = d->solids->bodies;
    for (int32_t i = 0; i < d->solids->count; i++)
        if (mo_solid_moves(d->solids, i) && d->solids->body[i] >= count) count = d->solids->body[i] + 1;
    return count;
}

// Gives both bodies of contact i the heavier of their loads. Returns whether that changed one.
static bool share(const mo_contact_rows_def *d, int32_t i, double *load)
{
    int32_t body[2];
    bodies_of(d, i, body);
    if (body[0] < 0 || body[1] < 0 || load[body[0]] == load[body[1]]) return false;
    load[body[0]] = load[body[1]] = fmax(load[body[0]], load[body[1]]);
    return true;
}

// The heaviest body of each cluster reaches all its members: contacts up and down, until nothing changes.
static void spread(const mo_contact_rows_def *d, double *load)
{
    int32_t n = d->contacts->count;
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t i = 0; i < n; i++) changed |= share(d, i, load);
        for (int32_t i = n - 1; i >= 0; i--) changed |= share(d, i, load);
    }
}

// Mass of a body where it is least: liquid that moves with it can weigh more along one axis than along another.
static double least_mass(const mo_body_mass *m)
{
    return 1 / fmax(m->inverse[0][0], fmax(m->inverse[1][1], m->inverse[2][2]));
}

mo_status mo_contact_soften(const mo_contact_rows_def *d, mo_system *s)
{
    MO_ASSERT(!s->block[MO_BLOCK_CONTACT] || s->block[MO_BLOCK_CONTACT]->rows == d->contacts->count);
    mo_block *normal = s->block[MO_BLOCK_CONTACT], *friction = s->block[MO_BLOCK_FRICTION];
    if (!normal) return MO_OK;
    int32_t rigid = mo_body_count(&s->bodies), count = count_bodies(d);
    double *mass = mo_calloc(sizeof(double) * 2 * ((size_t)count + 1));
    if (!mass) return MO_ERROR_MEMORY;
    double *load = mass + count;
    for (int32_t b = 0; b < rigid; b++) {
        mass[b] = least_mass(&s->bodies.body[b]);
        load[b] = d->load ? fmax(mass[b], d->load[b]) : mass[b];
    }
    spread(d, load);
    for (int32_t i = 0; i < normal->rows; i++) {
        int32_t body[2];
        double part = 1;
        bodies_of(d, i, body);
        for (int k = 0; k < 2; k++)
            if (body[k] >= 0 && body[k] < rigid) part = fmin(part, mass[body[k]] / load[body[k]]);
        double gamma = fmax(fmin(mo_contact_softness, most_give * part), least);
        if (mo_csr_end(&normal->on[MO_NODES], i) > mo_csr_begin(&normal->on[MO_NODES], i))
            gamma = fmin(gamma, d->node_softness > 0 ? d->node_softness : on_nodes);
        if (d->contacts->contact[i].bond) gamma = least; // vertices weigh little compared with the body that holds them
        normal->softness[i] = friction->softness[2 * i] = friction->softness[2 * i + 1] = gamma;
    }
    mo_free(mass);
    return MO_OK;
}
