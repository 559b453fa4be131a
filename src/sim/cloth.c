// Cloth of the simulation: its definition, its creation, and the functions that show it to a program. Cloth is among
// the elastic bodies (elastic.h), whose functions move it.
#include "sim/sim.h"
#include "solid/cloth.h"
#include "solid/elastic_skin.h"
#include "solid/elastic_turn.h"
#include <math.h>
#include <string.h>

mo_cloth_def mo_cloth_def_default(void)
{
    return (mo_cloth_def){.density = 0.2,
                          .stretch = 2000,
                          .bend = 1e-5,
                          .poisson = 0.3,
                          .friction = mo_solid_def_default().friction,
                          .wall = MO_WALL_NO_SLIP,
                          .look = mo_solid_def_default().look};
}

mo_cord_def mo_cord_def_default(void) { return (mo_cord_def){.stretch = 1000}; }

static const double usual_thickness = 0.05; // cells

static const char *name_of(const mo_cloth_def *d) { return d->name && d->name[0] ? d->name : "cloth"; }

// ---- Checks ----

static bool positive(double v) { return isfinite(v) && v > 0; }
static bool not_negative(double v) { return isfinite(v) && v >= 0; }

static mo_status check_numbers(const mo_cloth_def *d, mo_error *err)
{
    const struct {
        const char *key, *rule;
        double value;
        bool good;
    } number[] = {{"density", "> 0", d->density, positive(d->density)},
                  {"stretch", "> 0", d->stretch, positive(d->stretch)},
                  {"bend", ">= 0", d->bend, not_negative(d->bend)},
                  {"poisson", "in 0..0.49", d->poisson, d->poisson >= 0 && d->poisson <= 0.49},
                  {"damping", ">= 0", d->damping, not_negative(d->damping)},
                  {"drag", ">= 0", d->drag, not_negative(d->drag)},
                  {"thickness", ">= 0", d->thickness, not_negative(d->thickness)},
                  {"friction", ">= 0", d->friction, not_negative(d->friction)}};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        if (!number[k].good)
            return mo_fail(err, MO_ERROR_INPUT, "cloth '%s': %s must be %s, got %g", name_of(d), number[k].key,
                           number[k].rule, number[k].value);
    if (!mo_v3_finite(d->velocity) || !mo_v3_finite(d->angular_velocity))
        return mo_fail(err, MO_ERROR_INPUT, "cloth '%s': velocity and angular_velocity must be finite", name_of(d));
    if (!mo_v3_finite(d->wind)) return mo_fail(err, MO_ERROR_INPUT, "cloth '%s': wind must be finite", name_of(d));
    return MO_OK;
}

static mo_status check_sheet(const mo_cloth_def *d, mo_error *err)
{
    const mo_sheet *s = d->sheet;
    if (!s || s->triangles < 1 || s->vertices < 3)
        return mo_fail(err, MO_ERROR_INPUT, "cloth '%s': no sheet", name_of(d));
    for (int32_t v = 0; v < s->vertices; v++)
        for (int a = 0; a < 3; a++)
            if (!isfinite(s->position[v][a]))
                return mo_fail(err, MO_ERROR_INPUT, "cloth '%s': vertex %d of its sheet is not finite", name_of(d),
                               v + 1);
    for (int32_t t = 0; t < s->triangles; t++)
        for (int k = 0; k < 3; k++)
            if (s->triangle[t][k] < 0 || s->triangle[t][k] >= s->vertices)
                return mo_fail(err, MO_ERROR_INPUT, "cloth '%s': triangle %d of its sheet has no vertex %d", name_of(d),
                               t + 1, s->triangle[t][k]);
    return MO_OK;
}

static mo_status check_lists(const mo_cloth_def *d, mo_error *err)
{
    if (d->pin_count < 0 || d->cord_count < 0 || d->attached_count < 0)
        return mo_fail(err, MO_ERROR_INPUT, "cloth '%s': a number of pins, cords or attachments is negative",
                       name_of(d));
    for (int32_t k = 0; k < d->pin_count; k++)
        if (!d->pins[k].where == !d->pins[k].where_fn)
            return mo_fail(err, MO_ERROR_INPUT, "cloth '%s': pin %d needs a shape or a function that tells where",
                           name_of(d), k + 1);
    for (int32_t k = 0; k < d->attached_count; k++)
        if (!d->attached[k].where == !d->attached[k].where_fn || !d->attached[k].solid)
            return mo_fail(err, MO_ERROR_INPUT,
                           "cloth '%s': attachment %d needs a solid, and a shape or a function that tells where",
                           name_of(d), k + 1);
    for (int32_t k = 0; k < d->cord_count; k++) {
        const mo_cord_def *c = &d->cords[k];
        if (!mo_v3_finite(c->from) || !mo_v3_finite(c->to) || !not_negative(c->length) || !positive(c->stretch))
            return mo_fail(err, MO_ERROR_INPUT,
                           "cloth '%s': cord %d needs finite ends, a length >= 0 and a stretch > 0", name_of(d), k + 1);
    }
    return MO_OK;
}

mo_status mo_sim_check_cloths(const mo_sim_def *def, mo_error *err)
{
    if (def->cloth_count < 0) return mo_fail(err, MO_ERROR_INPUT, "the number of cloths is negative");
    for (int32_t i = 0; i < def->cloth_count; i++) {
        const mo_cloth_def *d = &def->cloths[i];
        if (def->domain.size.z == 0)
            return mo_fail(err, MO_ERROR_INPUT, "cloth '%s': cloth needs a domain of three dimensions", name_of(d));
        if (def->shell_count)
            return mo_fail(err, MO_ERROR_INPUT,
                           "cloth '%s': cloth and shells do not meet yet: leave out one or the other", name_of(d));
        if (def->air && mo_norm(d->wind) > 0)
            return mo_fail(err, MO_ERROR_INPUT,
                           "cloth '%s': wind is for cloth without air; here the air's own wind acts", name_of(d));
        if (d->wall != MO_WALL_SLIP && d->wall != MO_WALL_NO_SLIP)
            return mo_fail(err, MO_ERROR_INPUT, "cloth '%s': its wall must be slip or no-slip", name_of(d));
        MO_TRY(check_sheet(d, err));
        MO_TRY(check_numbers(d, err));
        MO_TRY(check_lists(d, err));
    }
    return MO_OK;
}

// ---- Creation ----

static double shortest_edge(const mo_elastic_body *b)
{
    double least = INFINITY;
    for (int32_t t = 0; t < b->cloth->triangles; t++)
        for (int k = 0; k < 3; k++) {
            const int32_t *c = b->cloth->triangle[t];
            least = fmin(least, mo_norm(mo_sub(b->rest[c[k]], b->rest[c[(k + 1) % 3]])));
        }
    return least;
}

// The solid of that name, -1: none.
static int32_t find_solid(const mo_sim *sim, const char *name)
{
    for (int32_t i = 0; i < sim->def.solid_count; i++)
        if (strcmp(sim->solids[i].name, name) == 0) return i;
    return -1;
}

// A fixed solid stands still, and so does a pin without a script.
static mo_status attach(mo_sim *sim, const mo_cloth_def *d, int32_t k, mo_elastic *e, mo_error *err)
{
    const mo_attachment_def *a = &d->attached[k];
    mo_pin_def where = {.where = a->where, .where_fn = a->where_fn, .user = a->user};
    int32_t solid = find_solid(sim, a->solid);
    if (solid < 0)
        return mo_fail(err, MO_ERROR_INPUT, "cloth '%s': attached to '%s', and there is no such solid", name_of(d),
                       a->solid);
    const mo_solid *s = &sim->solids[solid];
    if (s->rigid) return mo_elastic_bond(e, name_of(d), &where, solid, err);
    return mo_elastic_attach(e, name_of(d), d->pin_count + k, &where, s->motion ? solid : -1, s->pose, err);
}

// Lets solids hold the ends of cords.
static mo_status hold_cords(mo_sim *sim, const mo_cloth_def *d, mo_elastic *e, mo_error *err)
{
    for (int32_t k = 0; k < d->cord_count; k++) {
        const char *name = d->cords[k].solid;
        if (!name) continue;
        int32_t solid = find_solid(sim, name), v = e->body.cloth->cord[k].to;
        if (solid < 0)
            return mo_fail(err, MO_ERROR_INPUT, "cloth '%s': cord %d goes to '%s', and there is no such solid",
                           name_of(d), k + 1, name);
        const mo_solid *s = &sim->solids[solid];
        if (s->rigid)
            MO_TRY(mo_elastic_bond_vertex(e, v, solid, err));
        else
            mo_elastic_attach_vertex(e, v, d->pin_count + d->attached_count + k, s->motion ? solid : -1, s->pose);
    }
    return MO_OK;
}

static mo_status create_body(const mo_cloth_def *d, mo_elastic *e, mo_error *err)
{
    mo_cloth_material m = {d->density, d->stretch, d->bend, d->poisson, d->damping};
    mo_cord *cord = mo_alloc(sizeof *cord * ((size_t)d->cord_count + 1));
    if (!cord) return mo_fail_memory(err);
    mo_error why = {0};
    mo_status status = mo_sim_make_cords(d, cord, err);
    if (status == MO_OK) {
        status = mo_cloth_create(d->sheet, &m, d->cord_count, cord, &e->body, &why);
        if (status == MO_OK) status = mo_elastic_surface_create(&e->body, &e->surface, &why);
        if (status != MO_OK) mo_fail(err, status, "cloth '%s': %s", name_of(d), why.text);
    }
    mo_free(cord);
    return status;
}

mo_status mo_sim_create_cloth(mo_sim *sim, const mo_cloth_def *d, mo_elastic *e, mo_error *err)
{
    MO_TRY(create_body(d, e, err));
    double most = 0.5 * shortest_edge(&e->body), usual = fmin(usual_thickness * sim->grid->dx, most);
    double thickness = d->thickness > 0 ? d->thickness : usual;
    if (thickness > most)
        return mo_fail(err, MO_ERROR_INPUT,
                       "cloth '%s': thickness must be at most half of its shortest edge, %g m, got %g m", name_of(d),
                       most, thickness);
    MO_TRY(mo_drape_create(&e->surface, thickness, &e->drape, err));
    e->ends = mo_calloc(sizeof(mo_vec3) * (size_t)e->body.vertices);
    e->kick = mo_calloc(sizeof(double) * (size_t)mo_elastic_unknowns(&e->body));
    if (!e->ends || !e->kick) return mo_fail_memory(err);
    if (mo_norm(d->wind) > 0) MO_TRY(mo_cloth_wind_create(&e->body, d->wind, &e->wind, err));
    e->drape.from = e->body.position, e->drape.to = e->ends;
    e->drag = d->drag;
    MO_TRY(mo_elastic_hold(e, name_of(d), d->pin_count, d->pins, d->attached_count + d->cord_count, err));
    for (int32_t k = 0; k < d->attached_count; k++) MO_TRY(attach(sim, d, k, e, err));
    MO_TRY(hold_cords(sim, d, e, err));
    mo_elastic_start_moving(e, d->velocity, d->angular_velocity);
    return MO_OK;
}

// ---- Looking at it ----

int32_t mo_sim_cloth_count(const mo_sim *sim) { return sim->elastics.cloths; }

static const mo_elastic *cloth_of(const mo_sim *sim, int32_t cloth)
{
    MO_ASSERT(cloth >= 0 && cloth < sim->elastics.cloths);
    return &sim->elastics.body[sim->elastics.count - sim->elastics.cloths + cloth];
}

void mo_sim_cloth(const mo_sim *sim, int32_t cloth, mo_cloth_state *out)
{
    const mo_elastic *e = cloth_of(sim, cloth);
    const mo_elastic_body *b = &e->body;
    const mo_solid *s = &sim->solids[e->solid];
    mo_elastic_sums sums = mo_elastic_measure(b);
    mo_cloth_sums own = mo_cloth_measure(b, b->position);
    *out = (mo_cloth_state){.name = s->name,
                            .vertex_count = b->vertices - b->cloth->ends,
                            .triangle_count = b->cloth->triangles,
                            .triangle = (const int32_t(*)[3])b->cloth->triangle,
                            .thickness = e->drape.thickness,
                            .mass = sums.mass,
                            .centre = sums.centre,
                            .rotation = mo_elastic_rotation(b, b->rest, b->position),
                            .velocity = s->velocity,
                            .angular_velocity = s->angular_velocity,
                            .kinetic = sums.kinetic,
                            .stretching = own.stretching,
                            .bending = own.bending,
                            .cords = own.cords,
                            .stretch = own.most,
                            .force = s->force,
                            .held = e->held};
}

void mo_sim_cloth_vertices(const mo_sim *sim, int32_t cloth, double *position, double *velocity)
{
    const mo_elastic_body *b = &cloth_of(sim, cloth)->body;
    mo_sim_copy_vectors(b->vertices - b->cloth->ends, b->position, position);
    mo_sim_copy_vectors(b->vertices - b->cloth->ends, b->velocity, velocity);
}

mo_status mo_sim_cloth_surface(const mo_sim *sim, int32_t cloth, mo_mesh *out, mo_error *err)
{
    const mo_elastic *e = cloth_of(sim, cloth);
    mo_elastic_skin skin;
    MO_TRY(mo_elastic_skin_create(&e->body, e->surface.face, e->surface.faces, sim->grid->dx, &skin, err));
    mo_status status = mo_elastic_skin_mesh(&skin, &e->body, out, err);
    mo_elastic_skin_destroy(&skin);
    if (status == MO_OK) status = mo_cords_draw(e, sim->def.gravity, out, err);
    return status;
}

void mo_sim_cloth_statistics(mo_sim *sim)
{
    mo_cloth_stats *s = &sim->stats.cloth;
    for (int32_t k = 0; k < sim->elastics.cloths; k++) {
        const mo_elastic_body *b = &cloth_of(sim, k)->body;
        mo_cloth_sums sums = mo_cloth_measure(b, b->position);
        s->vertices += b->vertices - b->cloth->ends, s->stretch = fmax(s->stretch, sums.most);
        s->energy += sums.stretching + sums.bending + sums.cords;
    }
}
