// monolith check: what a scene would simulate, and what it would need.
#include "command.h"
#include "memory.h"
#include "options.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char purpose[] =
    "Reads SCENE, validates it and prints what it would simulate, and about how much memory and time that takes:\n"
    "seconds of work are measured on coarser copies of the scene, at most down to its own cells.\n"
    "Exit codes: 0 the scene is good, 2 it has a mistake.";
static const char examples[] = "  monolith check scenes/dam.lua\n"
                               "  monolith check scenes/dam.lua --set domain.cells=256\n";

static const char *const wall_name[] = {"slip", "no-slip", "open", "wind"};

static void print_domain(const mo_domain_def *d)
{
    double longest = fmax(d->size.x, fmax(d->size.y, d->size.z)), dx = longest / d->cells;
    bool flat = d->size.z <= 0;
    if (flat)
        printf("domain      %g x %g m, 2D, %.0f x %.0f cells of %g m\n", d->size.x, d->size.y, round(d->size.x / dx),
               round(d->size.y / dx), dx);
    else
        printf("domain      %g x %g x %g m, 3D, %.0f x %.0f x %.0f cells of %g m\n", d->size.x, d->size.y, d->size.z,
               round(d->size.x / dx), round(d->size.y / dx), round(d->size.z / dx), dx);
    static const char *const face[] = {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"};
    bool same = true;
    for (int i = 1; i < (flat ? 4 : 6); i++) same = same && d->walls[i] == d->walls[0];
    printf("walls       ");
    if (same) printf("%s", wall_name[d->walls[0]]);
    for (int i = 0; !same && i < (flat ? 4 : 6); i++) printf("%s%s %s", i ? ", " : "", face[i], wall_name[d->walls[i]]);
    printf("\n");
}

static void print_bounds(const mo_shape *shape, bool flat)
{
    mo_box3 b = mo_shape_bounds(shape);
    const double lo[3] = {b.lo.x, b.lo.y, b.lo.z}, hi[3] = {b.hi.x, b.hi.y, b.hi.z};
    for (int a = 0; a < (flat ? 2 : 3); a++) {
        printf("%s%c ", a ? ", " : "", 'x' + a);
        if (isfinite(lo[a]) && isfinite(hi[a]))
            printf("%.4g..%.4g m", lo[a] + 0.0, hi[a] + 0.0); // + 0: no minus before a zero
        else
            printf("unbounded");
    }
    printf("\n");
}

static void print_viscosity(double viscosity, bool function, bool varies, const mo_rheology *r)
{
    if (function)
        printf("viscosity by function(x, y, z%s), ", varies ? ", t" : "");
    else if (r->consistency > 0 || r->yield_stress > 0)
        printf("consistency %g Pa s^n, flow index %g, yield stress %g Pa, threshold %g 1/s, ", r->consistency,
               r->flow_index, r->yield_stress, r->threshold);
    else if (viscosity > 0)
        printf("viscosity %g Pa s, ", viscosity);
}

static void print_tension(double tension)
{
    if (tension > 0) printf("surface tension %g N/m, ", tension);
}

static void print_wall(const mo_solid_def *s)
{
    mo_vec3 v = s->surface_velocity;
    if (s->wall == MO_WALL_SLIP) printf("slip, ");
    if (v.x != 0 || v.y != 0 || v.z != 0) printf("surface velocity (%g, %g, %g) m/s, ", v.x, v.y, v.z);
}

static void print_contents(const mo_sim_def *d)
{
    bool flat = d->domain.size.z <= 0;
    for (int32_t i = 0; i < d->liquid_count; i++) {
        const mo_liquid_def *l = &d->liquids[i];
        printf("liquid      density %g kg/m^3, ", l->density);
        print_viscosity(l->viscosity, l->viscosity_fn != NULL, l->viscosity_varies, &l->rheology);
        print_tension(l->surface_tension);
        print_bounds(l->shape, flat);
    }
    for (int32_t i = 0; i < d->emitter_count; i++) {
        const mo_emitter_def *e = &d->emitters[i];
        printf("emitter     from %g s ", e->start);
        printf(isfinite(e->seconds) ? "for %g s, " : "on, ", e->seconds);
        printf("velocity (%g, %g, %g) m/s, ", e->velocity.x, e->velocity.y, e->velocity.z);
        print_viscosity(e->viscosity, e->viscosity_fn != NULL, e->viscosity_varies, &e->rheology);
        print_tension(e->surface_tension);
        print_bounds(e->shape, flat);
    }
    if (d->air)
        printf("air         density %g kg/m^3, %g K, wind (%g, %g, %g) m/s, cooling %g 1/s, vorticity %g, advection "
               "%s, margin %d cells\n",
               d->air->density, d->air->temperature, d->air->wind.x, d->air->wind.y, d->air->wind.z, d->air->cooling,
               d->air->vorticity, d->air->advection == MO_ADVECTION_PAPER ? "paper" : "second-order", d->air->margin);
    for (int32_t i = 0; d->air && i < d->smoke_count; i++) {
        const mo_smoke_def *s = &d->smokes[i];
        printf("smoke       %g kg/m^3, %g K, ", s->density, s->temperature ? s->temperature : d->air->temperature);
        if (s->moves) printf("velocity (%g, %g, %g) m/s, ", s->velocity.x, s->velocity.y, s->velocity.z);
        if (s->seconds > 0)
            printf("from %g s for %g s, ", s->start, s->seconds);
        else
            printf("once at %g s, ", s->start);
        print_bounds(s->shape, flat);
    }
    for (int32_t i = 0; i < d->solid_count; i++) {
        const mo_solid_def *s = &d->solids[i];
        printf("%-11s '%s', ", s->rigid ? "rigid" : s->motion ? "moving" : "fixed", s->name);
        if (s->rigid) printf("density %g kg/m^3, ", s->density);
        print_wall(s);
        print_bounds(s->shape, flat);
    }
}

// What its mesh consists of: size, angles, and how far its volume is from the shape's.
static mo_status print_mesh(const mo_sim_def *d, int32_t elastic, mo_error *err)
{
    bool flat = d->domain.size.z <= 0;
    mo_tets mesh;
    mo_tets_quality q = {0};
    mo_status status = mo_sim_elastic_mesh(d, elastic, &mesh, err);
    if (status == MO_OK) status = mo_tets_measure(&mesh, d->elastics[elastic].shape, &q, err);
    if (status == MO_OK) {
        printf("            %d vertices, %d %s, edges %.3g..%.3g m, angles %.1f..%.1f degrees", mesh.vertex_count,
               mesh.element_count, flat ? "triangles" : "tetrahedra", q.shortest_edge, q.longest_edge, q.smallest_angle,
               q.largest_angle);
        if (isfinite(q.volume_error)) printf(", volume %+.2f %% off its shape's", 100 * q.volume_error + 0.0);
        printf("\n");
        if (q.pieces > 1)
            printf("warning     elastic '%s': its mesh falls into %d pieces; with smaller elements it may be whole\n",
                   d->elastics[elastic].name, q.pieces);
        if (q.inner == 0)
            printf(
                "warning     elastic '%s': it is one element thick and bends much too stiffly; use smaller elements\n",
                d->elastics[elastic].name);
    }
    mo_tets_destroy(&mesh);
    return status;
}

static void print_sheets(const mo_sim_def *d, const mo_shell_quality *q)
{
    if (d->solver.shells == MO_SHELLS_PAPER)
        printf("sheets      %d cells beside faces that shells occlude, %d ghosts\n", q->cells, q->sides);
    else
        printf("sheets      %d cut cells, %d sides more, %d gaps, %d pockets\n", q->cells, q->sides, q->gaps,
               q->pockets);
}

// What shells consist of, and what they make of the grid.
static mo_status print_shells(const mo_sim_def *d, mo_error *err)
{
    mo_shell_quality q;
    for (int32_t i = 0; i < d->shell_count; i++) {
        const mo_shell_def *s = &d->shells[i];
        mo_status status = mo_sim_shell_quality(d, i, &q, err);
        if (status != MO_OK) return status;
        printf("shell       '%s', ", s->name);
        if (s->density > 0)
            printf("rigid, density %g kg/m^2, mass %.4g kg, ", s->density, q.mass);
        else
            printf("%s, ", s->motion ? "moving" : "fixed");
        printf("%s%d triangles, %d vertices, %d border edges", s->wall == MO_WALL_SLIP ? "slip, " : "", q.triangles,
               q.vertices, q.borders);
        if (q.junctions) printf(", %d junction edges", q.junctions);
        printf(", cuts %d cells\n", q.cells);
    }
    mo_status status = d->shell_count ? mo_sim_shell_quality(d, -1, &q, err) : MO_OK;
    if (status == MO_OK && d->shell_count) print_sheets(d, &q);
    return status;
}

static mo_status print_elastics(const mo_sim_def *d, mo_error *err)
{
    bool flat = d->domain.size.z <= 0;
    for (int32_t i = 0; i < d->elastic_count; i++) {
        const mo_elastic_def *e = &d->elastics[i];
        printf("elastic     '%s', density %g kg/m^3, %sYoung's modulus %g Pa, Poisson's ratio %g, ", e->name,
               e->density, e->model == MO_ST_VENANT_KIRCHHOFF ? "St. Venant-Kirchhoff, " : "", e->young, e->poisson);
        if (e->viscosity > 0) printf("viscosity %g Pa s, ", e->viscosity);
        if (e->drag > 0) printf("drag %g 1/s, ", e->drag);
        if (e->pin_count) printf("%d pin%s, ", e->pin_count, e->pin_count == 1 ? "" : "s");
        if (e->wall == MO_WALL_SLIP) printf("slip, ");
        if (e->self_contact) printf("self-contact, ");
        if (e->shape)
            print_bounds(e->shape, flat);
        else
            printf("mesh from a file\n");
        mo_status status = print_mesh(d, i, err);
        if (status != MO_OK) return status;
    }
    return MO_OK;
}

static void print_cloths(const mo_sim_def *d)
{
    for (int32_t i = 0; i < d->cloth_count; i++) {
        const mo_cloth_def *c = &d->cloths[i];
        printf("cloth       '%s', density %g kg/m^2, stretch %g N/m, bend %g N m, Poisson's ratio %g, ", c->name,
               c->density, c->stretch, c->bend, c->poisson);
        if (c->damping > 0) printf("damping %g s, ", c->damping);
        if (c->drag > 0) printf("drag %g 1/s, ", c->drag);
        if (c->pin_count) printf("%d pin%s, ", c->pin_count, c->pin_count == 1 ? "" : "s");
        if (c->attached_count) printf("attached, ");
        if (c->cord_count) printf("%d cord%s, ", c->cord_count, c->cord_count == 1 ? "" : "s");
        printf("%d vertices, %d triangles\n", c->sheet->vertices, c->sheet->triangles);
    }
}

// Some viscosity depends on the shear rate.
static bool depends_on_flow(const mo_sim_def *d)
{
    bool depends = false;
    for (int32_t i = 0; i < d->liquid_count + d->emitter_count; i++) {
        const mo_rheology *r =
            i < d->liquid_count ? &d->liquids[i].rheology : &d->emitters[i - d->liquid_count].rheology;
        depends |= r->yield_stress > 0 || (r->consistency > 0 && r->flow_index != 1);
    }
    return depends;
}

static const char *format_seconds(double s, char text[32])
{
    if (s < 100)
        snprintf(text, 32, "%.2g s", s);
    else if (s < 6000)
        snprintf(text, 32, "%.0f min", s / 60);
    else if (s < 360000)
        snprintf(text, 32, "%.0f h", s / 3600);
    else
        snprintf(text, 32, "%.3g days", s / 86400);
    return text;
}

static void print_needs(const mo_sim_def *d, const mo_needs *needs)
{
    char memory[32], machine[32], frame[32], whole[32];
    int64_t available = memory_free();
    double frames = ceil(d->time.seconds * d->time.fps - 1e-9);
    printf("particles   %s%lld at the start", needs->sampled ? "about " : "", (long long)needs->particles);
    if (needs->most_particles > needs->particles) printf(", at most about %lld", (long long)needs->most_particles);
    if (d->particles_band) printf(", before those deeper than %d cells are taken out", d->particles_band);
    printf("\nmemory      about %s; %s are free\n", format_bytes(needs->bytes, memory),
           format_bytes(available, machine));
    if (needs->frame_seconds > 0)
        printf(
            "time        about %s of CPU time per frame, %s in all, if it goes like the first %d steps with %d cells\n",
            format_seconds(needs->frame_seconds, frame), format_seconds(needs->frame_seconds * frames, whole),
            needs->measured_steps, needs->measured_cells);
    else if (needs->why.text[0])
        printf("time        not known: coarser copies of the scene cannot be made: %s\n", needs->why.text);
    if (needs->bytes > available) printf("warning     the run would not fit into memory: use fewer cells\n");
}

static int print_scene(const char *path, const mo_sim_def *d, bool quick)
{
    const double seconds = quick ? 0 : 3; // of CPU time, for measuring
    mo_needs needs;
    mo_error err = {0};
    if (mo_sim_needs(d, seconds, &needs, &err) != MO_OK) return complain(&err);

    printf("scene       %s\n", path);
    print_domain(&d->domain);
    printf("gravity     (%g, %g, %g) m/s^2\n", d->gravity.x, d->gravity.y, d->gravity.z);
    printf("time        %g s, %.0f frames at %g per second, CFL %g\n", d->time.seconds,
           ceil(d->time.seconds * d->time.fps - 1e-9), d->time.fps, d->time.cfl);
    printf("solver      scheme %s, route %s, tolerance %g, at most %d iterations",
           d->solver.scheme[0] ? d->solver.scheme : "unified", d->solver.route == MO_ROUTE_FAST ? "fast" : "paper",
           d->solver.tolerance, d->solver.max_iterations);
    if (depends_on_flow(d)) printf(", %d rounds", d->solver.rounds);
    printf("%s%s%s%s\n", d->solver.raw_weights ? ", raw weights" : "",
           d->shell_count && d->solver.shells == MO_SHELLS_PAPER ? ", shells as the paper" : "",
           d->solver.verify ? ", every step verified" : "", d->solver.strict ? ", strict" : "");
    print_contents(d);
    if (print_shells(d, &err) != MO_OK) return complain(&err);
    if (print_elastics(d, &err) != MO_OK) return complain(&err);
    print_cloths(d);
    print_needs(d, &needs);
    return EXIT_DONE;
}

static void print_warning(void *user, mo_log_level level, const char *text)
{
    (void)user;
    if (level == MO_LOG_WARNING) printf("warning     %s\n", text);
}

int command_check(int argc, char **argv)
{
    text_list set = {calloc((size_t)argc + 1, sizeof(char *)), 0};
    bool quick = false;
    if (!set.item) return EXIT_FAILED;
    const option options[] = {
        {"--set", NULL, "KEY=VALUE", "override a key of the scene; may be repeated", .list = &set},
        {"--quick", NULL, NULL, "measure nothing: memory by a rule of thumb, no time", .flag = &quick},
        {0},
    };
    command_line line = {.usage = "check SCENE [options]",
                         .purpose = purpose,
                         .examples = examples,
                         .positional_name = "SCENE",
                         .positional_required = true,
                         .options = options};
    int code = parse_options(&line, argc, argv);
    if (code < 0) {
        mo_scene *scene = NULL;
        code = load_scene(line.positional, set.item, set.count, &scene);
        if (code == EXIT_DONE) mo_scene_sim_def_mutable(scene)->log = print_warning;
        if (code == EXIT_DONE) code = print_scene(line.positional, mo_scene_sim_def(scene), quick);
        mo_scene_destroy(scene);
    }
    free(set.item);
    return code;
}
