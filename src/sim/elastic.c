// Elastic bodies of the simulation: checks, meshes, creation.
#include "geometry/tets.h"
#include "sim/sim.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double most_vertices = 5000; // that elements of a cell's size may give if the scene sets no element

static const char *name_of(const mo_elastic_def *d) { return d->name && d->name[0] ? d->name : "elastic"; }

// ---- Checks ----

static bool positive(double v) { return isfinite(v) && v > 0; }

static mo_status check_material(const mo_elastic_def *d, mo_error *err)
{
    const char *name = name_of(d);
    if (!positive(d->density))
        return mo_fail(err, MO_ERROR_INPUT, "elastic '%s': density must be > 0, got %g", name, d->density);
    if (!positive(d->young))
        return mo_fail(err, MO_ERROR_INPUT, "elastic '%s': young must be > 0, got %g", name, d->young);
    if (!(d->poisson >= 0 && d->poisson <= 0.499))
        return mo_fail(err, MO_ERROR_INPUT, "elastic '%s': poisson must be in 0..0.499, got %g", name, d->poisson);
    if ((unsigned)d->model > MO_ST_VENANT_KIRCHHOFF)
        return mo_fail(err, MO_ERROR_INPUT, "elastic '%s': its model is of no known kind (%d)", name, (int)d->model);
    if (!(isfinite(d->viscosity) && d->viscosity >= 0))
        return mo_fail(err, MO_ERROR_INPUT, "elastic '%s': viscosity must be >= 0, got %g", name, d->viscosity);
    if (!(isfinite(d->drag) && d->drag >= 0))
        return mo_fail(err, MO_ERROR_INPUT, "elastic '%s': drag must be >= 0, got %g", name, d->drag);
    return MO_OK;
}

static mo_status check_surface(const mo_elastic_def *d, mo_error *err)
{
    const char *name = name_of(d);
    if (!(isfinite(d->friction) && d->friction >= 0))
        return mo_fail(err, MO_ERROR_INPUT, "elastic '%s': friction must be >= 0, got %g", name, d->friction);
    if (d->wall == MO_WALL_OPEN) return mo_fail(err, MO_ERROR_INPUT, "elastic '%s': its wall cannot be open", name);
    if ((unsigned)d->wall > MO_WALL_OPEN)
        return mo_fail(err, MO_ERROR_INPUT, "elastic '%s': its wall is of no known kind (%d)", name, (int)d->wall);
    return MO_OK;
}

static mo_status check_pins(const mo_elastic_def *d, mo_error *err)
{
    const char *name = name_of(d);
    if (d->pin_count < 0) return mo_fail(err, MO_ERROR_INPUT, "elastic '%s': its number of pins is negative", name);
    for (int32_t k = 0; k < d->pin_count; k++)
        if (!d->pins[k].where == !d->pins[k].where_fn)
            return mo_fail(err, MO_ERROR_INPUT, "elastic '%s': pin %d needs a shape or a function that tells where",
                           name, k + 1);
    return MO_OK;
}

static mo_status check_elastic(const mo_sim_def *def, const mo_elastic_def *d, mo_error *err)
{
    const char *name = name_of(d);
    bool flat = def->domain.size.z == 0;
    if (d->shape && d->mesh)
        return mo_fail(err, MO_ERROR_INPUT, "elastic '%s': has a shape and a mesh; give one of them", name);
    if (!d->shape && !d->mesh) return mo_fail(err, MO_ERROR_INPUT, "elastic '%s': no shape and no mesh", name);
    if (d->mesh && d->mesh->dimension != (flat ? 2 : 3))
        return mo_fail(err, MO_ERROR_INPUT, "elastic '%s': a mesh of %s in a domain of %s dimensions", name,
                       d->mesh->dimension == 2 ? "triangles" : "tetrahedra", flat ? "two" : "three");
    if (!(isfinite(d->element) && d->element >= 0))
        return mo_fail(err, MO_ERROR_INPUT, "elastic '%s': element must be > 0, got %g", name, d->element);
    if (!mo_v3_finite(d->velocity) || !mo_v3_finite(d->angular_velocity))
        return mo_fail(err, MO_ERROR_INPUT, "elastic '%s': velocity and angular_velocity must be finite", name);
    MO_TRY(check_material(d, err));
    MO_TRY(check_surface(d, err));
    return check_pins(d, err);
}

mo_status mo_sim_check_elastics(const mo_sim_def *def, mo_error *err)
{
    if (def->elastic_count < 0) return mo_fail(err, MO_ERROR_INPUT, "the number of elastic bodies is negative");
    for (int32_t i = 0; i < def->elastic_count; i++) MO_TRY(check_elastic(def, &def->elastics[i], err));
    return MO_OK;
}

// ---- Mesh ----

// The first try of an element, coarse enough not to ask for a mesh that is far too large.
static double first_element(const mo_shape *shape, double dx, bool flat)
{
    mo_box3 box = mo_shape_bounds(shape);
    mo_vec3 size = mo_mul(1 / dx, mo_sub(box.hi, box.lo));
    double cells = size.x * size.y * (flat ? 1 : size.z), most = 20 * most_vertices;
    if (!(isfinite(cells) && cells > most)) return dx;
    return dx * (flat ? sqrt(cells / most) : cbrt(cells / most));
}

// Makes elements of a cell's size. If none fits, they are smaller; if there are too many, they are coarser, as far as
// the shape still holds them.
static mo_status mesh_shape(const mo_shape *shape, double dx, bool flat, mo_tets *out, mo_error *err)
{
    enum { TRIES = 4 };
    double element = first_element(shape, dx, flat);
    mo_status status = mo_tets_from_shape(shape, element, flat, out, err);
    if (status == MO_ERROR_INPUT && element > dx) status = mo_tets_from_shape(shape, element = dx, flat, out, err);
    for (int k = 0; status == MO_ERROR_INPUT && k < 2; k++) // small shapes take smaller ones
        status = mo_tets_from_shape(shape, element *= 0.5, flat, out, k ? err : NULL);
    for (int k = 0; status == MO_OK && out->vertex_count > most_vertices && k < TRIES; k++) {
        double excess = out->vertex_count / (0.95 * most_vertices);
        mo_tets coarser;
        element *= flat ? sqrt(excess) : cbrt(excess);
        mo_status coarse = mo_tets_from_shape(shape, element, flat, &coarser, NULL);
        if (coarse == MO_ERROR_MEMORY) status = mo_fail_memory(err);
        if (coarse != MO_OK) break;
        mo_tets_destroy(out);
        *out = coarser;
    }
    return status;
}

static mo_status copy_mesh(const mo_tets *mesh, mo_tets *out, mo_error *err)
{
    const char *fault = mo_tets_fault(mesh);
    if (fault) return mo_fail(err, MO_ERROR_INPUT, "its mesh has %s", fault);
    *out = *mesh;
    size_t places = sizeof(double) * 3 * (size_t)mesh->vertex_count,
           corners = sizeof(int32_t) * (size_t)(mesh->dimension + 1) * (size_t)mesh->element_count;
    out->position = mo_alloc(places), out->element = mo_alloc(corners);
    if (!out->position || !out->element) {
        mo_tets_destroy(out);
        return mo_fail_memory(err);
    }
    memcpy(out->position, mesh->position, places), memcpy(out->element, mesh->element, corners);
    return mo_tets_drop_unused(out, err);
}

static mo_status make_mesh(const mo_elastic_def *d, double dx, bool flat, mo_tets *out, mo_error *err)
{
    mo_error why = {0};
    *out = (mo_tets){0};
    mo_status status = d->mesh          ? copy_mesh(d->mesh, out, &why)
                       : d->element > 0 ? mo_tets_from_shape(d->shape, d->element, flat, out, &why)
                                        : mesh_shape(d->shape, dx, flat, out, &why);
    if (status == MO_OK) return MO_OK;
    mo_tets_destroy(out);
    return mo_fail(err, status, "elastic '%s': %s", name_of(d), why.text);
}

mo_status mo_sim_elastic_mesh(const mo_sim_def *def, int32_t elastic, mo_tets *out, mo_error *err)
{
    if (elastic < 0 || elastic >= def->elastic_count)
        return mo_fail(err, MO_ERROR_INPUT, "there is no elastic body %d", elastic);
    MO_TRY(check_elastic(def, &def->elastics[elastic], err));
    mo_vec3 size = def->domain.size;
    double dx = fmax(size.x, fmax(size.y, size.z)) / def->domain.cells;
    return make_mesh(&def->elastics[elastic], dx, size.z == 0, out, err);
}

// ---- Creation ----

static mo_status create_body(mo_sim *sim, const mo_elastic_def *d, mo_elastic *e, mo_error *err)
{
    mo_tets mesh;
    mo_elasticity law = mo_elasticity_create(d->model, d->young, d->poisson, d->viscosity);
    MO_TRY(make_mesh(d, sim->grid->dx, sim->cells[2] == 1, &mesh, err));
    mo_status status = mo_elastic_create(&mesh, &law, d->density, sim->grid->dx, &e->body);
    mo_tets_destroy(&mesh);
    if (status != MO_OK) return mo_fail_memory(err);
    mo_error why = {0};
    status = mo_elastic_field_create(&e->body, &e->field, &why);
    if (status == MO_OK) status = mo_elastic_surface_create(&e->body, &e->surface, &why);
    if (status != MO_OK) return mo_fail(err, status, "elastic '%s': %s", name_of(d), why.text);
    e->drag = d->drag, e->self_contact = d->self_contact;
    MO_TRY(mo_elastic_hold(e, sim->solids[e->solid].name, d->pin_count, d->pins, 0, err));
    mo_elastic_start_moving(e, d->velocity, d->angular_velocity);
    return MO_OK;
}

static mo_status check_place(const mo_sim *sim, const mo_elastic *e, mo_error *err)
{
    mo_vec3 size = mo_mul(sim->grid->dx, mo_v3(sim->cells[0], sim->cells[1], sim->cells[2]));
    for (int32_t v = 0; v < e->body.vertices; v++) {
        mo_vec3 x = e->body.position[v];
        bool flat = sim->cells[2] == 1;
        if (x.x > 0 && x.y > 0 && x.x < size.x && x.y < size.y && (flat || (x.z > 0 && x.z < size.z))) return MO_OK;
    }
    mo_vec3 c = mo_elastic_measure(&e->body).centre;
    return mo_fail(err, MO_ERROR_INPUT, "%s '%s': lies outside the domain, at (%g, %g, %g) m", mo_elastic_kind(e),
                   sim->solids[e->solid].name, c.x, c.y, c.z);
}

// The entry among the solids.
static void enter(mo_sim *sim, mo_elastic *e, const char *name, double friction, mo_wall wall)
{
    mo_solid *s = &sim->solids[e->solid];
    *s = (mo_solid){.pose = mo_pose_identity(), .next = mo_pose_identity(), .elastic = e, .wall = wall};
    s->friction = friction, s->twin = e->solid;
    strncpy(s->name, name, sizeof s->name - 1);
    sim->slip[e->solid] = wall == MO_WALL_SLIP;
}

static mo_status create_one(mo_sim *sim, int32_t k, const mo_sim_def *def, mo_error *err)
{
    mo_elastics *all = &sim->elastics;
    mo_elastic *e = &all->body[k];
    e->solid = sim->def.solid_count + k;
    if (k < def->elastic_count) {
        const mo_elastic_def *d = &def->elastics[k];
        enter(sim, e, name_of(d), d->friction, d->wall);
        MO_TRY(create_body(sim, d, e, err));
    } else {
        const mo_cloth_def *d = &def->cloths[k - def->elastic_count];
        enter(sim, e, d->name && d->name[0] ? d->name : "cloth", d->friction, MO_WALL_NO_SLIP);
        MO_TRY(mo_sim_create_cloth(sim, d, e, err));
    }
    MO_TRY(mo_elastic_part_create(&e->body, e->pinned, &all->node[k], err));
    all->node[k].name = sim->solids[e->solid].name;
    all->part[k] = (mo_elastic_part){&e->body, e->target, e->drag, e->follow, mo_elastic_in_wind(e) ? &e->wind : NULL};
    e->first = all->unknowns;
    all->unknowns += mo_elastic_unknowns(&e->body);
    return check_place(sim, e, err);
}

mo_status mo_sim_create_elastics(mo_sim *sim, const mo_sim_def *def, mo_error *err)
{
    mo_elastics *all = &sim->elastics;
    int32_t count = def->elastic_count + def->cloth_count;
    if (count == 0) return MO_OK;
    all->body = mo_calloc(sizeof *all->body * (size_t)count);
    all->node = mo_calloc(sizeof *all->node * (size_t)count);
    all->part = mo_calloc(sizeof *all->part * (size_t)count);
    if (!all->body || !all->node || !all->part) return mo_fail_memory(err);
    all->count = count, all->cloths = def->cloth_count;
    for (int32_t k = 0; k < count; k++) MO_TRY(create_one(sim, k, def, err));
    MO_TRY(mo_sim_place_pins(sim, err));
    return mo_sim_settle_elastics(sim, err);
}

static void destroy_one(mo_elastic *e)
{
    mo_elastic_destroy(&e->body);
    mo_elastic_field_destroy(&e->field);
    mo_elastic_pieces_destroy(&e->pieces);
    mo_elastic_surface_destroy(&e->surface);
    mo_drape_destroy(&e->drape);
    mo_cloth_wind_destroy(&e->wind);
    mo_free(e->ends), mo_free(e->kick), mo_free(e->bond), mo_free(e->anchor);
    mo_free(e->pins), mo_free(e->pin), mo_free(e->pinned), mo_free(e->script), mo_free(e->target), mo_free(e->follow);
}

void mo_sim_destroy_elastics(mo_sim *sim)
{
    mo_elastics *all = &sim->elastics;
    for (int32_t k = 0; k < all->count; k++) destroy_one(&all->body[k]), mo_node_part_destroy(&all->node[k]);
    mo_free(all->body), mo_free(all->node), mo_free(all->part);
    *all = (mo_elastics){0};
}
