// A run directory read back: run.json, the frames there are, and the tables of reader_lines.h.
#include "output/reader.h"
#include "output/directory.h"
#include "output/file.h"
#include "output/look.h"
#include "output/reader_files.h"
#include "output/reader_lines.h"
#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mo_reader {
    char *directory;
    char *settings; // text of run.json
    cJSON *run;     // the same, parsed
    int32_t frames_done;
    int32_t *frame; // present on disk, ascending
    int32_t frame_count;
    int64_t frame_capacity;
    mo_stats_table stats;
    mo_pose_table poses; // of solids, then of elastic bodies; its names are pointers into `run`
    int32_t elastics;
    const cJSON **solid; // [poses.bodies] their entries in `run`: looking for the i-th of a list takes i steps
};

// ---- run.json ----

static const cJSON *child(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static const char *text_of(const cJSON *object, const char *key)
{
    const char *text = cJSON_GetStringValue(child(object, key));
    return text ? text : "";
}

static double number_of(const cJSON *object, const char *key, double otherwise)
{
    const cJSON *item = child(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : otherwise;
}

static mo_status bad_run(const mo_reader *r, const char *what, mo_error *err)
{
    return mo_fail(err, MO_ERROR_FILE, "%s/%s: damaged: %s", r->directory, MO_RUN_FILE, what);
}

// What everything else relies on.
static mo_status check_run(const mo_reader *r, const cJSON *run, mo_error *err)
{
    const cJSON *domain = child(child(run, "settings"), "domain"), *size = child(domain, "size"), *solid;
    if (!cJSON_IsObject(run)) return bad_run(r, "not a JSON object", err);
    for (int i = 0; i < 3; i++) {
        const cJSON *edge = cJSON_GetArrayItem(size, i);
        if (!cJSON_IsNumber(edge) || !(edge->valuedouble >= 0 && edge->valuedouble < 1e9) ||
            (i < 2 && edge->valuedouble == 0))
            return bad_run(r, "settings.domain.size must be three lengths", err);
    }
    if (!(number_of(domain, "cells", 0) >= 1)) return bad_run(r, "settings.domain.cells must be a number", err);
    if (!(number_of(run, "fps", 0) > 0)) return bad_run(r, "fps must be > 0", err);
    cJSON_ArrayForEach(solid, child(run, "solids"))
    {
        const char *file = text_of(solid, "file");
        if (!*text_of(solid, "name")) return bad_run(r, "a solid has no name", err);
        if (!*file || strchr(file, '/')) return bad_run(r, "a solid has no file of bodies/", err);
    }
    cJSON_ArrayForEach(solid, child(run, "elastics"))
    {
        const char *file = text_of(solid, "file");
        if (!*text_of(solid, "name")) return bad_run(r, "an elastic body has no name", err);
        if (!*file || strchr(file, '/')) return bad_run(r, "an elastic body has no files of frames/", err);
    }
    cJSON_ArrayForEach(solid, child(run, "cloths"))
    {
        const char *file = text_of(solid, "file");
        if (!*text_of(solid, "name")) return bad_run(r, "a cloth has no name", err);
        if (!*file || strchr(file, '/')) return bad_run(r, "a cloth has no files of frames/", err);
    }
    return MO_OK;
}

static mo_status parse_run(mo_reader *r, char *text, mo_error *err)
{
    cJSON *run = cJSON_Parse(text);
    mo_status status = check_run(r, run, err);
    int32_t elastics = cJSON_GetArraySize(child(run, "elastics")) + cJSON_GetArraySize(child(run, "cloths"));
    int32_t bodies = cJSON_GetArraySize(child(run, "solids")) + elastics, i = 0;
    char **name = status == MO_OK ? mo_alloc((size_t)bodies * sizeof *name + 1) : NULL;
    const cJSON **item = status == MO_OK ? mo_alloc((size_t)bodies * sizeof(void *) + 1) : NULL;
    if (status == MO_OK && (!name || !item)) status = mo_fail_memory(err);
    if (status != MO_OK) {
        mo_free(name);
        mo_free(item);
        cJSON_Delete(run);
        return status;
    }
    const cJSON *solid;
    cJSON_ArrayForEach(solid, child(run, "solids")) item[i++] = solid;
    cJSON_ArrayForEach(solid, child(run, "elastics")) item[i++] = solid;
    cJSON_ArrayForEach(solid, child(run, "cloths")) item[i++] = solid;
    for (i = 0; i < bodies; i++) name[i] = child(item[i], "name")->valuestring;
    // Another run took the directory: nothing of the old one holds.
    bool other = r->run && (strcmp(text_of(r->run, "start"), text_of(run, "start")) != 0 || r->poses.bodies != bodies);
    if (other) {
        mo_stats_table_destroy(&r->stats);
        mo_pose_table_destroy(&r->poses);
    }
    cJSON_Delete(r->run);
    mo_free(r->settings);
    mo_free(r->poses.name);
    mo_free(r->solid);
    r->run = run, r->settings = text, r->solid = item;
    r->poses.bodies = bodies, r->poses.name = name, r->elastics = elastics;
    r->frames_done = (int32_t)fmin(fmax(number_of(run, "frames_done", 0), 0), 1e8);
    r->poses.last = (int32_t)fmin(fmax(number_of(run, "frames", 1e8), r->frames_done), 1e8);
    return MO_OK;
}

static mo_status read_run(mo_reader *r, mo_error *err)
{
    char *path = mo_path(r->directory, MO_RUN_FILE), *text;
    size_t bytes;
    bool missing;
    if (!path) return mo_fail_memory(err);
    mo_status status = mo_file_read(path, &text, &bytes, &missing, err);
    mo_free(path);
    if (status != MO_OK) return status;
    if (missing) return mo_fail(err, MO_ERROR_FILE, "%s: holds no run (there is no %s)", r->directory, MO_RUN_FILE);
    status = parse_run(r, text, err);
    if (status != MO_OK) mo_free(text);
    return status;
}

// ---- Frames ----

// The number in surface_liquid_00042.ply, particles_liquid_00042.vtp, smoke_00042.vdb, elastic_NAME_00042.ply and
// cloth_NAME_00042.ply; -1 for other names.
static int32_t frame_number(const char *name)
{
    static const char *const kind[][2] = {{"surface_liquid_", ".ply"},
                                          {"particles_liquid_", ".vtp"},
                                          {"elastic_", ".ply"},
                                          {"smoke_", ".vdb"},
                                          {"cloth_", ".ply"}};
    for (int i = 0; i < 5; i++) {
        size_t start = strlen(kind[i][0]);
        if (strncmp(name, kind[i][0], start) != 0) continue;
        if (i == 2 || i == 4) start = (size_t)(strrchr(name, '_') + 1 - name);
        size_t digits = strspn(name + start, "0123456789");
        if (digits < 5 || digits > 8 || strcmp(name + start + digits, kind[i][1]) != 0) continue;
        return atoi(name + start);
    }
    return -1;
}

static int compare_frames(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// Frames above frames_done are still being written, or are left from a run that was cut back.
static mo_status find_frames(mo_reader *r, mo_error *err)
{
    r->frame_count = 0;
    char *path = mo_path(r->directory, "frames");
    if (!path) return mo_fail_memory(err);
    DIR *dir = opendir(path);
    mo_free(path);
    if (!dir && errno == ENOENT) return MO_OK;
    if (!dir) return mo_fail_file(err, r->directory, "cannot read frames of", errno);
    mo_status status = MO_OK;
    for (struct dirent *entry; status == MO_OK && (entry = readdir(dir));) {
        int32_t frame = frame_number(entry->d_name);
        if (frame < 0 || frame > r->frames_done) continue;
        if (!mo_reserve((void **)&r->frame, &r->frame_capacity, r->frame_count + 1, sizeof *r->frame))
            status = mo_fail_memory(err);
        else
            r->frame[r->frame_count++] = frame;
    }
    closedir(dir);
    if (r->frame_count) qsort(r->frame, (size_t)r->frame_count, sizeof *r->frame, compare_frames);
    int32_t kept = 0;
    for (int32_t i = 0; i < r->frame_count; i++)
        if (!kept || r->frame[kept - 1] != r->frame[i]) r->frame[kept++] = r->frame[i];
    r->frame_count = kept;
    return status;
}

// ---- Opening ----

mo_status mo_reader_refresh(mo_reader *r, mo_error *err)
{
    MO_TRY(read_run(r, err));
    MO_TRY(find_frames(r, err));
    char *stats = mo_path(r->directory, MO_STATS_FILE), *bodies = mo_path(r->directory, MO_BODIES_FILE);
    mo_status status = stats && bodies ? MO_OK : mo_fail_memory(err);
    if (status == MO_OK) status = mo_stats_table_read(&r->stats, stats, err);
    if (status == MO_OK) status = mo_pose_table_read(&r->poses, bodies, err);
    mo_free(stats);
    mo_free(bodies);
    return status;
}

mo_status mo_reader_open(const char *directory, mo_reader **out, mo_error *err)
{
    *out = NULL;
    DIR *dir = opendir(directory);
    if (!dir) return mo_fail_file(err, directory, "cannot open", errno);
    closedir(dir);
    mo_reader *r = mo_calloc(sizeof *r);
    char *copy = mo_alloc(strlen(directory) + 1);
    if (!r || !copy) {
        mo_free(r);
        mo_free(copy);
        return mo_fail_memory(err);
    }
    r->directory = strcpy(copy, directory);
    mo_status status = mo_reader_refresh(r, err);
    if (status != MO_OK)
        mo_reader_close(r);
    else
        *out = r;
    return status;
}

void mo_reader_close(mo_reader *r)
{
    if (!r) return;
    mo_stats_table_destroy(&r->stats);
    mo_pose_table_destroy(&r->poses);
    mo_free(r->poses.name);
    mo_free(r->solid);
    mo_free(r->frame);
    mo_free(r->settings);
    mo_free(r->directory);
    cJSON_Delete(r->run);
    mo_free(r);
}

// ---- Settings ----

const char *mo_reader_directory(const mo_reader *r) { return r->directory; }
const char *mo_reader_settings(const mo_reader *r) { return r->settings; }
const char *mo_reader_status(const mo_reader *r) { return text_of(r->run, "status"); }
double mo_reader_fps(const mo_reader *r) { return number_of(r->run, "fps", 1); }

static mo_vec3 domain_size(const mo_reader *r)
{
    const cJSON *size = child(child(child(r->run, "settings"), "domain"), "size");
    return (mo_vec3){cJSON_GetArrayItem(size, 0)->valuedouble, cJSON_GetArrayItem(size, 1)->valuedouble,
                     cJSON_GetArrayItem(size, 2)->valuedouble};
}

bool mo_reader_flat(const mo_reader *r) { return domain_size(r).z == 0; }

double mo_reader_cell(const mo_reader *r)
{
    mo_vec3 size = domain_size(r);
    double longest = fmax(size.x, fmax(size.y, size.z));
    return longest / number_of(child(child(r->run, "settings"), "domain"), "cells", 1);
}

// Edges are whole numbers of cells, as the simulation rounds them.
mo_box3 mo_reader_domain(const mo_reader *r)
{
    mo_vec3 size = domain_size(r);
    double h = mo_reader_cell(r);
    mo_vec3 hi = {h * fmax(1, round(size.x / h)), h * fmax(1, round(size.y / h)), h * fmax(1, round(size.z / h))};
    return (mo_box3){{0, 0, 0}, hi};
}

mo_wall mo_reader_wall(const mo_reader *r, int32_t side)
{
    MO_ASSERT(side >= 0 && side < 6);
    const cJSON *walls = child(child(child(r->run, "settings"), "domain"), "walls");
    const char *name = cJSON_GetStringValue(cJSON_GetArrayItem(walls, side));
    return !name                          ? MO_WALL_SLIP
           : strcmp(name, "open") == 0    ? MO_WALL_OPEN
           : strcmp(name, "no-slip") == 0 ? MO_WALL_NO_SLIP
           : strcmp(name, "wind") == 0    ? MO_WALL_WIND
                                          : MO_WALL_SLIP;
}

bool mo_reader_writes(const mo_reader *r, const char *kind)
{
    return !cJSON_IsFalse(child(child(r->run, "output"), kind));
}

mo_look_def mo_reader_look(const mo_reader *r) { return mo_look_parse(child(r->run, "look")); }

// ---- Data ----

int32_t mo_reader_frame_count(const mo_reader *r) { return r->frame_count; }

int32_t mo_reader_frame(const mo_reader *r, int32_t i)
{
    MO_ASSERT(i >= 0 && i < r->frame_count);
    return r->frame[i];
}

mo_status mo_reader_surface(const mo_reader *r, int32_t frame, mo_mesh *out, mo_error *err)
{
    *out = (mo_mesh){0};
    char *path = mo_path(r->directory, "frames/surface_liquid_%05d.ply", frame);
    mo_status status = path ? mo_read_ply(path, out, err) : mo_fail_memory(err);
    mo_free(path);
    return status;
}

mo_status mo_reader_particles(const mo_reader *r, int32_t frame, mo_points *out, mo_error *err)
{
    *out = (mo_points){0};
    char *path = mo_path(r->directory, "frames/particles_liquid_%05d.vtp", frame);
    mo_status status = path ? mo_read_vtp(path, out, err) : mo_fail_memory(err);
    mo_free(path);
    return status;
}

int32_t mo_reader_body_count(const mo_reader *r) { return r->poses.bodies - r->elastics; }

const char *mo_reader_body_name(const mo_reader *r, int32_t body)
{
    MO_ASSERT(body >= 0 && body < mo_reader_body_count(r));
    return r->poses.name[body];
}

mo_status mo_reader_body_mesh(const mo_reader *r, int32_t body, mo_mesh *out, mo_error *err)
{
    MO_ASSERT(body >= 0 && body < mo_reader_body_count(r));
    *out = (mo_mesh){0};
    char *path = mo_path(r->directory, "bodies/%s", text_of(r->solid[body], "file"));
    mo_status status = path ? mo_read_ply(path, out, err) : mo_fail_memory(err);
    mo_free(path);
    return status;
}

bool mo_reader_body_shell(const mo_reader *r, int32_t body)
{
    return strcmp(text_of(r->solid[body], "kind"), "shell") == 0;
}

mo_solid_look mo_reader_body_look(const mo_reader *r, int32_t body) { return mo_solid_look_parse(r->solid[body]); }

// NULL: not recorded.
static const mo_body_pose *find_line(const mo_reader *r, int32_t body, int32_t frame)
{
    const mo_body_pose *p = mo_pose_table_find(&r->poses, body, frame);
    return p && p->recorded ? p : NULL;
}

bool mo_reader_body_pose(const mo_reader *r, int32_t body, int32_t frame, mo_pose *out)
{
    const mo_body_pose *line = body < mo_reader_body_count(r) ? find_line(r, body, frame) : NULL;
    if (line) *out = line->pose;
    return line;
}

// ---- Elastic bodies ----

bool mo_reader_air(const mo_reader *r) { return cJSON_IsObject(child(child(r->run, "settings"), "air")); }

mo_status mo_reader_smoke(const mo_reader *r, int32_t frame, mo_vdb *out, mo_error *err)
{
    *out = (mo_vdb){0};
    char *path = mo_path(r->directory, "frames/smoke_%05d.vdb", frame);
    if (!path) return mo_fail_memory(err);
    mo_status status = mo_read_vdb(path, "density", out, err);
    mo_free(path);
    return status;
}

int32_t mo_reader_elastic_count(const mo_reader *r) { return r->elastics; }

const char *mo_reader_elastic_name(const mo_reader *r, int32_t elastic)
{
    MO_ASSERT(elastic >= 0 && elastic < r->elastics);
    return r->poses.name[mo_reader_body_count(r) + elastic];
}

// What run.json tells of an elastic body; behind them comes cloth.
static const cJSON *elastic_of(const mo_reader *r, int32_t elastic)
{
    return r->solid[mo_reader_body_count(r) + elastic];
}

mo_solid_look mo_reader_elastic_look(const mo_reader *r, int32_t elastic)
{
    return mo_solid_look_parse(elastic_of(r, elastic));
}

mo_status mo_reader_elastic_surface(const mo_reader *r, int32_t elastic, int32_t frame, mo_mesh *out, float **von_mises,
                                    mo_error *err)
{
    MO_ASSERT(elastic >= 0 && elastic < r->elastics);
    *out = (mo_mesh){0};
    *von_mises = NULL;
    const cJSON *body = elastic_of(r, elastic);
    char *path = mo_path(r->directory, "frames/%s_%05d.ply", text_of(body, "file"), frame);
    mo_status status = path ? mo_read_skin(path, out, von_mises, err) : mo_fail_memory(err);
    mo_free(path);
    return status;
}

bool mo_reader_elastic_line(const mo_reader *r, int32_t elastic, int32_t frame, mo_elastic_line *out)
{
    const mo_body_pose *line = elastic < 0 ? NULL : find_line(r, mo_reader_body_count(r) + elastic, frame);
    if (line) *out = (mo_elastic_line){line->pose, line->kinetic, line->elastic, line->least};
    return line;
}

// ---- Statistics ----

int32_t mo_reader_step_count(const mo_reader *r) { return r->stats.steps; }

double mo_reader_value(const mo_reader *r, int32_t step, const char *field)
{
    if (step < 0 || step >= r->stats.steps) return NAN;
    for (int32_t i = 0; i < r->stats.fields; i++)
        if (strcmp(r->stats.name[i], field) == 0) return r->stats.value[i][step];
    return NAN;
}
