// Contact forces kept from step to step: where a pair touches at the same place again, the solve starts from them, and
// the normal forces of the last step bound friction until there are new ones.
#include "sim/sim.h"
#include <math.h>

static bool same_pair(const mo_kept_contact *k, const mo_contact *c) { return k->a == c->a && k->b == c->b; }

// Order of pairs: < 0: k comes first.
static int32_t compare_pairs(const mo_kept_contact *k, const mo_contact *c)
{
    return k->a != c->a ? k->a - c->a : k->b - c->b;
}

// Gives contact i of the system its first guess of forces.
static void warm(mo_system *y, int32_t i, double normal, mo_vec3 friction)
{
    y->block[MO_BLOCK_CONTACT]->x[i] = fmax(normal, y->block[MO_BLOCK_CONTACT]->lower[i]);
    for (int k = 0; k < 2; k++) y->block[MO_BLOCK_FRICTION]->x[2 * i + k] = mo_dot(y->tangent[2 * i + k], friction);
}

// One pair: contacts first..end, kept ones old..old_end, both by feature. Forces of places that no longer exist go to
// the new places in equal parts, because a rolling ball touches with different samples.
static void warm_pair(const mo_sim *sim, mo_step_context *c, int32_t first, int32_t end, int32_t old, int32_t old_end)
{
    MO_ASSERT(first <= end && old <= old_end && old_end <= sim->kept_count);
    mo_system *y = &c->assemble.liquid.system;
    const mo_contact *contact = c->contacts.found->contact;
    double normal = 0;
    mo_vec3 friction = {0, 0, 0};
    int32_t fresh = 0;
    for (int pass = 0; pass < 2; pass++) {
        int32_t k = old;
        for (int32_t i = first; i < end; i++) {
            for (; k < old_end && sim->kept[k].feature < contact[i].feature; k++)
                if (!pass) normal += sim->kept[k].normal, friction = mo_add(friction, sim->kept[k].friction);
            bool known = k < old_end && sim->kept[k].feature == contact[i].feature;
            if (pass && known) warm(y, i, sim->kept[k].normal, sim->kept[k].friction);
            if (pass && !known) warm(y, i, normal / fresh, mo_mul(1.0 / fresh, friction));
            fresh += !pass && !known, k += known;
        }
        for (; !pass && k < old_end; k++)
            normal += sim->kept[k].normal, friction = mo_add(friction, sim->kept[k].friction);
    }
}

void mo_sim_warm_contacts(const mo_sim *sim, mo_step_context *c)
{
    const mo_contacts *found = c->contacts.found;
    const mo_contact *contact = found->contact;
    int32_t old = 0, end;
    for (int32_t first = 0; first < found->count; first = end) {
        const mo_contact *one = &contact[first];
        for (end = first; end < found->count && contact[end].a == one->a && contact[end].b == one->b;) end++;
        while (old < sim->kept_count && compare_pairs(&sim->kept[old], one) < 0) old++;
        int32_t old_end = old;
        while (old_end < sim->kept_count && same_pair(&sim->kept[old_end], one)) old_end++;
        if (old_end > old) warm_pair(sim, c, first, end, old, old_end);
    }
}

mo_status mo_sim_keep_contacts(mo_sim *sim, const mo_step_context *c, mo_error *err)
{
    MO_ASSERT(sim->kept_count >= 0 && sim->kept_count <= sim->kept_capacity);
    const mo_system *y = &c->assemble.liquid.system;
    const mo_contacts *found = c->contacts.found;
    int32_t count = found ? found->count : 0;
    if (!mo_reserve((void **)&sim->kept, &sim->kept_capacity, count, sizeof *sim->kept)) return mo_fail_memory(err);
    sim->kept_count = count;
    for (int32_t i = 0; i < count; i++) {
        const mo_contact *one = &found->contact[i];
        const double *z = y->block[MO_BLOCK_FRICTION]->x + 2 * i;
        const mo_vec3 *t = y->tangent + 2 * i;
        sim->kept[i] = (mo_kept_contact){.a = one->a,
                                         .b = one->b,
                                         .feature = one->feature,
                                         .normal = y->block[MO_BLOCK_CONTACT]->x[i],
                                         .friction = mo_mad(mo_mul(z[0], t[0]), z[1], t[1])};
    }
    return MO_OK;
}
