// The life of a run directory: taking it, starting or continuing, steps, frames, checkpoints, the end.
#include "output/run.h"
#include "output/air.h"
#include "output/checkpoint.h"
#include "output/directory.h"
#include "output/elastic.h"
#include "output/file.h"
#include "output/records.h"
#include "output/writers.h"
#include "base/base.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { BODY_RESOLUTION = 64 }; // cells along the longest edge of a rest shape

struct mo_run {
    mo_run_def def;
    int lock;              // the directory, locked
    bool created, started; // created: the directory by us
    bool resumed;
    bool saved; // the checkpoint holds exactly the present state
    mo_checkpoint state;
    int32_t frame; // newest frame on disk
    char **body_file, **elastic_file, **cloth_file;
    mo_lines *stats, *bodies;
    mo_text text;
};

mo_run_def mo_run_def_default(void)
{
    return (mo_run_def){
        .surface = true, .particles = true, .elastic = true, .elements = true, .smoke = true, .checkpoint_every = 1};
}

bool mo_run_resumed(const mo_run *run) { return run->resumed; }
bool mo_run_created(const mo_run *run) { return run->created; }

// ---- Taking the directory ----

// Frames agree between two runs if the scene text, the overrides and the kinds of files do.
static void hash_def(const mo_run_def *def, uint64_t *scene, uint64_t *settings)
{
    *scene = mo_checksum(1, def->scene_text, strlen(def->scene_text));
    *settings = (uint64_t)def->surface + 2 * (uint64_t)def->particles;
    if (def->sim->elastic_count + def->sim->cloth_count)
        *settings += 4 * (uint64_t)def->elastic + 8 * (uint64_t)def->elements;
    if (def->sim->air) *settings += 16 * (uint64_t)def->smoke;
    for (int32_t i = 0; i < def->override_count; i++)
        *settings = mo_checksum(*settings, def->overrides[i], strlen(def->overrides[i]));
}

static mo_status take_directory(mo_run *run, mo_error *err)
{
    const char *dir = run->def.directory;
    MO_TRY(mo_directory_create(dir, &run->created, err));
    run->lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (run->lock < 0) return mo_fail_file(err, dir, "cannot open", errno);
    if (flock(run->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) // file systems without locks do without
        return mo_fail(err, MO_ERROR_INPUT, "%s: another process is running there", dir);
    if (access(dir, W_OK | X_OK) != 0) return mo_fail_file(err, dir, "cannot write into", errno);
    return MO_OK;
}

static mo_status check_length(const char *dir, const char *name, int64_t need, mo_error *err)
{
    int64_t have = mo_directory_file_bytes(dir, name);
    if (have >= need) return MO_OK;
    return mo_fail(err, MO_ERROR_FILE, "%s/%s: has %lld bytes, the checkpoint was written after %lld: cannot resume",
                   dir, name, (long long)(have < 0 ? 0 : have), (long long)need);
}

static bool is_other_build(const mo_checkpoint *found)
{
    return strncmp(found->build, mo_build(), sizeof found->build) != 0;
}

static mo_status check_state(const mo_run *run, const mo_checkpoint *found, mo_error *err)
{
    const char *dir = run->def.directory;
    if (found->scene_hash != run->state.scene_hash)
        return mo_fail(err, MO_ERROR_INPUT,
                       "%s: holds a run of another scene: the text of %s differs from the one that was started", dir,
                       run->def.scene_path);
    if (found->settings_hash != run->state.settings_hash)
        return mo_fail(err, MO_ERROR_INPUT,
                       "%s: holds a run with other settings: repeat the options --set, --no-surface, --no-particles, "
                       "--no-elastic, --no-elements and --no-smoke it was started with",
                       dir);
    if (found->files_hash != run->state.files_hash)
        return mo_fail(err, MO_ERROR_INPUT, "%s: holds a run of other mesh files: their contents have changed", dir);
    if (is_other_build(found) && !run->def.other_build)
        return mo_fail(err, MO_ERROR_INPUT,
                       "%s: was computed by another build of monolith (%.16s, this is %s), with which this one may "
                       "differ: --force continues nevertheless, and run.json will say so",
                       dir, found->build, mo_build());
    MO_TRY(check_length(dir, MO_STATS_FILE, found->stats_bytes, err));
    return check_length(dir, MO_BODIES_FILE, found->bodies_bytes, err);
}

static mo_status find_state(mo_run *run, mo_error *err)
{
    const char *dir = run->def.directory;
    if (!run->def.resume) {
        if (run->def.overwrite || !mo_directory_holds_run(dir)) return MO_OK;
        return mo_fail(err, MO_ERROR_INPUT,
                       "%s: already holds a run (--resume continues it, --force replaces it, -o chooses another place)",
                       dir);
    }
    char *path = mo_path(dir, MO_CHECKPOINT_FILE);
    if (!path) return mo_fail_memory(err);
    mo_checkpoint found = {0};
    bool missing = false;
    mo_status status = mo_checkpoint_read(path, &found, &missing, err);
    // Steps without a checkpoint: somebody removed it, and starting over would throw the frames away.
    if (status == MO_OK && missing && mo_directory_file_bytes(dir, MO_STATS_FILE) > 0)
        status = mo_fail(err, MO_ERROR_FILE, "%s: missing, cannot resume (--force starts over)", path);
    mo_free(path);
    if (status != MO_OK || missing) return status;
    status = check_state(run, &found, err);
    if (status != MO_OK) {
        mo_free(found.payload);
        return status;
    }
    found.mixed |= is_other_build(&found);
    memcpy(found.build, run->state.build, sizeof found.build);
    run->state = found;
    run->resumed = true;
    return MO_OK;
}

mo_status mo_run_create(const mo_run_def *def, mo_run **out, mo_error *err)
{
    MO_ASSERT(def->directory && def->scene_path && def->scene_text && def->sim);
    *out = NULL;
    mo_run *run = mo_calloc(sizeof *run);
    if (!run) return mo_fail_memory(err);
    run->def = *def;
    run->def.surface = def->surface && def->sim->surface > 0 && !def->sim->air;
    run->def.particles = def->particles && !def->sim->air;
    run->def.smoke = def->smoke && def->sim->air;
    run->def.elements = def->elements && def->elastic;
    run->lock = -1;
    if (run->def.checkpoint_every < 1) run->def.checkpoint_every = 1;
    hash_def(def, &run->state.scene_hash, &run->state.settings_hash);
    run->state.files_hash = def->files_hash;
    strncpy(run->state.build, mo_build(), sizeof run->state.build - 1);
    run->state.start = time(NULL);
    mo_status status = mo_body_files(def->sim, &run->body_file, err);
    if (status == MO_OK)
        status = mo_elastic_files(def->sim->elastics, def->sim->elastic_count, &run->elastic_file, err);
    if (status == MO_OK) status = mo_cloth_files(def->sim->cloths, def->sim->cloth_count, &run->cloth_file, err);
    if (status == MO_OK) status = take_directory(run, err);
    if (status == MO_OK) status = find_state(run, err);
    if (status != MO_OK) {
        mo_run_destroy(run);
        return status;
    }
    *out = run;
    return MO_OK;
}

void mo_run_destroy(mo_run *run)
{
    if (!run) return;
    if (run->lock >= 0) close(run->lock);
    if (run->created && !run->started) rmdir(run->def.directory);
    mo_free_files(run->body_file, run->def.sim->solid_count + run->def.sim->shell_count);
    mo_free_files(run->elastic_file, run->def.sim->elastic_count);
    mo_free_files(run->cloth_file, run->def.sim->cloth_count);
    mo_free(run->state.payload);
    mo_lines_close(run->stats);
    mo_lines_close(run->bodies);
    mo_text_destroy(&run->text);
    mo_free(run);
}

// ---- Files of a frame ----

static mo_status write_run_file(mo_run *run, const mo_sim *sim, mo_run_status status, const char *message,
                                mo_error *err)
{
    mo_warning_count warnings[MO_WARNING_COUNT];
    mo_sim_warnings(sim, warnings);
    mo_text_clear(&run->text);
    mo_record_run(&run->text, &(mo_run_record){.def = &run->def,
                                               .sim = sim,
                                               .status = status,
                                               .message = message,
                                               .warnings = warnings,
                                               .start = run->state.start,
                                               .mixed = run->state.mixed,
                                               .end = status == MO_RUN_RUNNING ? 0 : time(NULL),
                                               .frames_done = run->frame < 0 ? 0 : run->frame,
                                               .frames = mo_sim_frame_count(sim),
                                               .body_file = (const char *const *)run->body_file,
                                               .elastic_file = (const char *const *)run->elastic_file,
                                               .cloth_file = (const char *const *)run->cloth_file});
    char *path = mo_path(run->def.directory, MO_RUN_FILE);
    mo_file *f = NULL;
    mo_status result = path && !run->text.failed ? mo_file_create(path, &f, err) : mo_fail_memory(err);
    if (f) {
        mo_file_write(f, run->text.data, (size_t)run->text.bytes);
        result = mo_file_commit(f, err);
    }
    mo_free(path);
    return result;
}

static mo_status write_surface(mo_run *run, const mo_sim *sim, mo_error *err)
{
    mo_mesh mesh = {0};
    mo_surface_account account = {0};
    MO_TRY(mo_sim_surface_account(sim, &mesh, &account, err));
    char *path = mo_path(run->def.directory, "frames/surface_liquid_%05d.ply", mo_sim_frame(sim));
    mo_status status = path ? mo_write_surface(path, &mesh, &account, err) : mo_fail_memory(err);
    mo_free(path);
    mo_mesh_destroy(&mesh);
    return status;
}

static mo_status write_particles(mo_run *run, const mo_sim *sim, mo_error *err)
{
    int64_t n = mo_sim_particle_count(sim);
    bool viscous = mo_sim_particle_viscosity(sim, NULL);
    float *data = mo_alloc((viscous ? 8 : 7) * sizeof(float) * (size_t)n);
    char *path = mo_path(run->def.directory, "frames/particles_liquid_%05d.vtp", mo_sim_frame(sim));
    mo_status status = MO_ERROR_MEMORY;
    if (data && path) {
        float *position = data, *velocity = data + 3 * n, *volume = data + 6 * n;
        float *viscosity = viscous ? data + 7 * n : NULL;
        mo_sim_particles(sim, position, velocity, volume);
        if (viscous) mo_sim_particle_viscosity(sim, viscosity);
        status = mo_write_vtp(path, n, position, velocity, volume, viscosity, err);
    } else {
        mo_fail_memory(err);
    }
    mo_free(path);
    mo_free(data);
    return status;
}

static mo_status write_bodies(mo_run *run, const mo_sim *sim, mo_error *err)
{
    mo_text_clear(&run->text);
    for (int32_t i = 0; i < mo_sim_solid_count(sim); i++) {
        mo_body_state body;
        mo_sim_body(sim, i, &body);
        mo_record_body(&run->text, mo_sim_frame(sim), mo_sim_time(sim), &body);
    }
    for (int32_t i = 0; i < mo_sim_shell_count(sim); i++) {
        mo_body_state shell;
        mo_sim_shell(sim, i, &shell);
        mo_record_body(&run->text, mo_sim_frame(sim), mo_sim_time(sim), &shell);
    }
    for (int32_t i = 0; i < mo_sim_elastic_count(sim); i++) {
        mo_elastic_state elastic;
        mo_sim_elastic(sim, i, &elastic);
        mo_record_elastic(&run->text, mo_sim_frame(sim), mo_sim_time(sim), &elastic);
    }
    for (int32_t i = 0; i < mo_sim_cloth_count(sim); i++) {
        mo_cloth_state cloth;
        mo_sim_cloth(sim, i, &cloth);
        mo_record_cloth(&run->text, mo_sim_frame(sim), mo_sim_time(sim), &cloth);
    }
    if (run->text.failed) return mo_fail_memory(err);
    return mo_lines_append(run->bodies, run->text.data, (size_t)run->text.bytes, err);
}

static mo_status write_series(mo_run *run, mo_error *err)
{
    const char *dir = run->def.directory;
    double fps = run->def.sim->time.fps;
    char *surface = mo_path(dir, "frames/surface_liquid.ply.series");
    char *particles = mo_path(dir, "frames/particles_liquid.pvd");
    mo_status status = surface && particles ? MO_OK : mo_fail_memory(err);
    if (status == MO_OK && run->def.surface)
        status = mo_write_series(surface, "surface_liquid", "ply", run->frame + 1, fps, err);
    if (status == MO_OK && run->def.particles)
        status = mo_write_pvd(particles, "particles_liquid", "vtp", run->frame + 1, fps, err);
    for (int32_t i = 0; status == MO_OK && run->def.elastic && i < run->def.sim->elastic_count; i++)
        status = mo_write_elastic_series(dir, run->elastic_file[i], run->def.elements, run->frame + 1, fps, err);
    for (int32_t i = 0; status == MO_OK && run->def.elastic && i < run->def.sim->cloth_count; i++)
        status = mo_write_elastic_series(dir, run->cloth_file[i], false, run->frame + 1, fps, err);
    mo_free(surface);
    mo_free(particles);
    return status;
}

static mo_status write_frame(mo_run *run, const mo_sim *sim, mo_error *err)
{
    if (run->def.surface) MO_TRY(write_surface(run, sim, err));
    if (run->def.particles) MO_TRY(write_particles(run, sim, err));
    for (int32_t i = 0; run->def.elastic && i < mo_sim_elastic_count(sim); i++)
        MO_TRY(mo_write_elastic(run->def.directory, run->elastic_file[i], sim, i, run->def.elements, err));
    for (int32_t i = 0; run->def.elastic && i < mo_sim_cloth_count(sim); i++)
        MO_TRY(mo_write_cloth(run->def.directory, run->cloth_file[i], sim, i, err));
    if (run->def.smoke) MO_TRY(mo_write_smoke(run->def.directory, sim, err));
    MO_TRY(write_bodies(run, sim, err));
    run->frame = mo_sim_frame(sim);
    MO_TRY(write_series(run, err));
    return write_run_file(run, sim, MO_RUN_RUNNING, NULL, err);
}

// ---- Rest shapes ----

// Half spaces have no end, and fixed shapes may reach far out of the domain: what of them lies inside is shown.
static mo_shape *clip_to_domain(const mo_shape *shape, const mo_domain_def *domain)
{
    mo_vec3 size = domain->size;
    double longest = fmax(size.x, fmax(size.y, size.z));
    if (size.z <= 0) size.z = longest / domain->cells;
    mo_shape *box = mo_shape_box(size);
    mo_shape *placed = box ? mo_shape_move(box, (mo_vec3){0.5 * size.x, 0.5 * size.y, 0.5 * size.z}) : NULL;
    mo_shape *clipped = placed ? mo_shape_intersect(shape, placed) : NULL;
    if (box) mo_shape_release(box);
    if (placed) mo_shape_release(placed);
    return clipped;
}

static bool is_clipped(const mo_solid_def *solid, const mo_domain_def *domain)
{
    mo_box3 b = mo_shape_bounds(solid->shape);
    double size = (b.hi.x - b.lo.x) + (b.hi.y - b.lo.y) + (b.hi.z - b.lo.z);
    if (!isfinite(size) || size >= 1e100) return true;
    mo_vec3 end = domain->size;
    bool inside = b.lo.x >= 0 && b.lo.y >= 0 && b.lo.z >= 0 && b.hi.x <= end.x && b.hi.y <= end.y && b.hi.z <= end.z;
    return !solid->motion && !solid->rigid && !inside;
}

// Ends the mesh.
static mo_status write_body_mesh(const mo_run *run, int32_t body, mo_mesh *mesh, mo_error *err)
{
    char *path = mo_path(run->def.directory, "bodies/%s", run->body_file[body]);
    mo_status status = path ? mo_write_ply(path, mesh, err) : mo_fail_memory(err);
    mo_free(path);
    mo_mesh_destroy(mesh);
    return status;
}

// In the frame that the poses of bodies.jsonl move.
static mo_status write_rest_shape(mo_run *run, const mo_sim *sim, int32_t solid, mo_error *err)
{
    MO_ASSERT(solid >= 0 && solid < run->def.sim->solid_count);
    mo_body_state body;
    mo_sim_body(sim, solid, &body);
    const mo_shape *shape = body.shape;
    bool clip = is_clipped(&run->def.sim->solids[solid], &run->def.sim->domain);
    mo_shape *clipped = clip ? clip_to_domain(shape, &run->def.sim->domain) : NULL;
    if (clip && !clipped) return mo_fail_memory(err);
    mo_mesh mesh = {0};
    mo_status status = mo_shape_to_mesh(clipped ? clipped : shape, BODY_RESOLUTION, &mesh, err);
    if (clipped) mo_shape_release(clipped);
    if (status != MO_OK) return status;
    return write_body_mesh(run, solid, &mesh, err);
}

// In two dimensions a sheet reaches beyond the one layer of cells, which is all that is shown.
static mo_status write_sheet(mo_run *run, const mo_sim *sim, int32_t shell, mo_error *err)
{
    const mo_domain_def *d = &run->def.sim->domain;
    mo_body_state body;
    mo_mesh mesh;
    mo_sim_shell(sim, shell, &body);
    MO_TRY(mo_sheet_to_mesh(body.sheet, &mesh, err));
    float deep = (float)(fmax(d->size.x, d->size.y) / d->cells);
    for (int32_t v = 0; d->size.z <= 0 && v < mesh.vertex_count; v++)
        mesh.position[3 * v + 2] = mesh.position[3 * v + 2] > 0 ? deep : 0;
    return write_body_mesh(run, run->def.sim->solid_count + shell, &mesh, err);
}

// ---- Start ----

static mo_status make_folders(const char *dir, mo_error *err)
{
    static const char *const folders[] = {"bodies", "frames", "checkpoint"};
    for (int i = 0; i < 3; i++) {
        char *path = mo_path(dir, "%s", folders[i]);
        mo_status status = path ? mo_directory_create(path, NULL, err) : mo_fail_memory(err);
        mo_free(path);
        if (status != MO_OK) return status;
    }
    return MO_OK;
}

static mo_status open_lines(mo_run *run, mo_error *err)
{
    char *stats = mo_path(run->def.directory, MO_STATS_FILE), *bodies = mo_path(run->def.directory, MO_BODIES_FILE);
    mo_status status = stats && bodies ? MO_OK : mo_fail_memory(err);
    if (status == MO_OK) status = mo_lines_open(stats, run->state.stats_bytes, &run->stats, err);
    if (status == MO_OK) status = mo_lines_open(bodies, run->state.bodies_bytes, &run->bodies, err);
    mo_free(stats);
    mo_free(bodies);
    return status;
}

static mo_status start_fresh(mo_run *run, mo_sim *sim, mo_error *err)
{
    if (mo_directory_holds_run(run->def.directory)) MO_TRY(mo_directory_remove_run(run->def.directory, err));
    MO_TRY(make_folders(run->def.directory, err));
    run->frame = -1;
    MO_TRY(write_run_file(run, sim, MO_RUN_RUNNING, NULL, err));
    MO_TRY(open_lines(run, err));
    for (int32_t i = 0; i < run->def.sim->solid_count; i++) MO_TRY(write_rest_shape(run, sim, i, err));
    for (int32_t i = 0; i < run->def.sim->shell_count; i++) MO_TRY(write_sheet(run, sim, i, err));
    MO_TRY(write_frame(run, sim, err));
    return mo_run_checkpoint(run, sim, err);
}

static mo_status start_resumed(mo_run *run, mo_sim *sim, mo_error *err)
{
    mo_status status = mo_sim_load(sim, run->state.payload, (size_t)run->state.payload_bytes, err);
    mo_free(run->state.payload);
    run->state.payload = NULL;
    if (status != MO_OK) return status;
    if (mo_sim_frame(sim) != run->state.frame)
        return mo_fail(err, MO_ERROR_FILE, "%s/%s: says frame %d but holds the state of frame %d", run->def.directory,
                       MO_CHECKPOINT_FILE, run->state.frame, mo_sim_frame(sim));
    run->frame = run->state.frame;
    run->saved = true;
    MO_TRY(make_folders(run->def.directory, err));
    MO_TRY(open_lines(run, err));
    MO_TRY(mo_directory_remove_frames(run->def.directory, run->frame, err));
    MO_TRY(write_series(run, err));
    return write_run_file(run, sim, MO_RUN_RUNNING, NULL, err);
}

mo_status mo_run_start(mo_run *run, mo_sim *sim, mo_error *err)
{
    MO_ASSERT(!run->started);
    run->started = true;
    return run->resumed ? start_resumed(run, sim, err) : start_fresh(run, sim, err);
}

// ---- Steps and checkpoints ----

mo_status mo_run_step(mo_run *run, const mo_sim *sim, const mo_stats *stats, mo_error *err)
{
    MO_ASSERT(run->started && run->stats);
    run->saved = false;
    mo_text_clear(&run->text);
    mo_record_step(&run->text, stats);
    if (run->text.failed) return mo_fail_memory(err);
    MO_TRY(mo_lines_append(run->stats, run->text.data, (size_t)run->text.bytes, err));
    if (mo_sim_frame(sim) == run->frame) return MO_OK;
    MO_TRY(write_frame(run, sim, err));
    return run->frame % run->def.checkpoint_every == 0 ? mo_run_checkpoint(run, sim, err) : MO_OK;
}

// Everything the checkpoint counts on reaches the disk before it does.
static mo_status sync_files(mo_run *run, mo_error *err)
{
    MO_TRY(mo_lines_sync(run->stats, err));
    MO_TRY(mo_lines_sync(run->bodies, err));
    MO_TRY(mo_directory_sync(run->def.directory, err));
    char *frames = mo_path(run->def.directory, "frames");
    mo_status status = frames ? mo_directory_sync(frames, err) : mo_fail_memory(err);
    mo_free(frames);
    return status;
}

mo_status mo_run_checkpoint(mo_run *run, const mo_sim *sim, mo_error *err)
{
    MO_TRY(sync_files(run, err));
    mo_checkpoint state = run->state;
    size_t bytes;
    MO_TRY(mo_sim_save(sim, &state.payload, &bytes, err));
    state.payload_bytes = (int64_t)bytes;
    state.frame = mo_sim_frame(sim);
    state.stats_bytes = mo_lines_bytes(run->stats);
    state.bodies_bytes = mo_lines_bytes(run->bodies);
    char *path = mo_path(run->def.directory, MO_CHECKPOINT_FILE);
    char *folder = mo_path(run->def.directory, "checkpoint");
    mo_status status = path && folder ? mo_checkpoint_write(path, &state, err) : mo_fail_memory(err);
    if (status == MO_OK) status = mo_directory_sync(folder, err);
    mo_free(path);
    mo_free(folder);
    mo_free_block(state.payload);
    run->saved = status == MO_OK;
    return status;
}

mo_status mo_run_finish(mo_run *run, const mo_sim *sim, mo_run_status status, const char *message, mo_error *err)
{
    if (status != MO_RUN_FAILED && !run->saved) MO_TRY(mo_run_checkpoint(run, sim, err));
    return write_run_file(run, sim, status, message, err);
}
