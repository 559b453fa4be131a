// Finding and removing the files of a run.
#include "output/directory.h"
#include "output/file.h"
#include "base/base.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int64_t mo_directory_file_bytes(const char *dir, const char *name)
{
    struct stat info;
    char *path = mo_path(dir, "%s", name);
    int64_t bytes = path && stat(path, &info) == 0 ? (int64_t)info.st_size : -1;
    mo_free(path);
    return bytes;
}

bool mo_directory_holds_run(const char *dir)
{
    return mo_directory_file_bytes(dir, MO_RUN_FILE) >= 0 || mo_directory_file_bytes(dir, MO_STATS_FILE) >= 0 ||
           mo_directory_file_bytes(dir, MO_CHECKPOINT_FILE) >= 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static mo_status remove_file(const char *dir, const char *name, mo_error *err)
{
    char *path = mo_path(dir, "%s", name);
    if (!path) return mo_fail_memory(err);
    mo_status status = MO_OK;
    if (unlink(path) != 0 && errno != ENOENT) status = mo_fail_file(err, path, "cannot remove", errno);
    mo_free(path);
    return status;
}

// Removes from DIR/FOLDER the files that `chosen` picks. A folder that is not there is empty.
static mo_status remove_chosen(const char *dir, const char *folder, bool (*chosen)(const char *name, int32_t last),
                               int32_t last, mo_error *err)
{
    char *path = mo_path(dir, "%s", folder);
    if (!path) return mo_fail_memory(err);
    DIR *list = opendir(path);
    mo_status status = MO_OK;
    if (!list && errno != ENOENT) status = mo_fail_file(err, path, "cannot read directory", errno);
    for (struct dirent *entry; list && status == MO_OK && (entry = readdir(list));)
        if (chosen(entry->d_name, last)) status = remove_file(path, entry->d_name, err);
    if (list) closedir(list);
    mo_free(path);
    return status;
}

// KIND_NAME_00042.EXT with a number above `last`, or any temporary.
static bool is_late_frame(const char *name, int32_t last)
{
    if (ends_with(name, ".tmp")) return true;
    static const char *const kind[] = {"surface_", "particles_", "elastic_", "cloth_", "smoke_"};
    static const char *const format[] = {".ply", ".vtp", ".vtu", ".vdb"};
    bool known = false, written = false;
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) known |= strncmp(name, kind[i], strlen(kind[i])) == 0;
    for (size_t i = 0; i < sizeof format / sizeof *format; i++) written |= ends_with(name, format[i]);
    if (!known || !written) return false;
    const char *number = strrchr(name, '_') + 1;
    char *end;
    long frame = strtol(number, &end, 10);
    return end > number && *end == '.' && strchr(end, '.') == strrchr(end, '.') && frame > last;
}

static bool is_series(const char *name, int32_t last)
{
    (void)last;
    bool elastic = strncmp(name, "elastic_", 8) == 0 && (ends_with(name, ".ply.series") || ends_with(name, ".pvd"));
    elastic |= strncmp(name, "cloth_", 6) == 0 && ends_with(name, ".ply.series");
    return elastic || strcmp(name, "surface_liquid.ply.series") == 0 || strcmp(name, "particles_liquid.pvd") == 0;
}

static bool is_body(const char *name, int32_t last)
{
    (void)last;
    return ends_with(name, ".ply") || ends_with(name, ".ply.tmp");
}

mo_status mo_directory_remove_frames(const char *dir, int32_t last, mo_error *err)
{
    return remove_chosen(dir, "frames", is_late_frame, last, err);
}

mo_status mo_directory_remove_run(const char *dir, mo_error *err)
{
    // The checkpoint first: without it nothing of the old run can be mistaken for part of the new one.
    static const char *const files[] = {MO_CHECKPOINT_FILE, MO_STATS_FILE, MO_CHECKPOINT_FILE ".tmp",
                                        MO_BODIES_FILE,     MO_RUN_FILE,   MO_RUN_FILE ".tmp"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) MO_TRY(remove_file(dir, files[i], err));
    MO_TRY(mo_directory_remove_frames(dir, -1, err));
    MO_TRY(remove_chosen(dir, "frames", is_series, 0, err));
    return remove_chosen(dir, "bodies", is_body, 0, err);
}

// ---- Names of bodies ----

// Names that are taken, found by their letters: some file systems ignore case. A name that many bodies have keeps the
// number at which the search for a free one goes on.
typedef struct taken_name {
    const char *file; // NULL: free
    int32_t number;
} taken_name;
typedef struct taken_names {
    taken_name *slot;
    uint32_t mask;
} taken_names;

static taken_name *find_taken(const taken_names *t, const char *file)
{
    uint32_t hash = 2166136261u;
    for (const char *c = file; *c; c++) hash = (hash ^ (uint32_t)tolower((unsigned char)*c)) * 16777619u;
    while (t->slot[hash & t->mask].file && strcasecmp(t->slot[hash & t->mask].file, file) != 0) hash++;
    return &t->slot[hash & t->mask];
}

// PREFIX, the name in letters that file systems allow, SUFFIX; a number more if another one is called so.
static char *file_of(const char *prefix, const char *name, const char *suffix, const taken_names *taken)
{
    char stem[101]; // long names are cut: file systems allow 255 bytes
    size_t n = 0;
    for (; name && name[n] && n < 100; n++) {
        unsigned char c = (unsigned char)name[n];
        stem[n] = isalnum(c) || c == '-' || c == '_' || (c == '.' && n) || c >= 0x80 ? (char)c : '_';
    }
    stem[n] = 0;
    char *file = mo_path("", "%s%s%s", prefix, n ? stem : "body", suffix);
    if (!file) return NULL;
    taken_name *first = find_taken(taken, file), *slot = first;
    while (slot->file) {
        mo_free(file);
        file = mo_path("", "%s%s_%d%s", prefix, n ? stem : "body", ++first->number, suffix);
        if (!file) return NULL;
        slot = find_taken(taken, file);
    }
    *slot = (taken_name){file, 1};
    return file;
}

void mo_free_files(char **files, int32_t count)
{
    for (int32_t i = 0; files && i < count; i++) mo_free(files[i]);
    mo_free(files);
}

// `name` tells that of item i.
static mo_status make_files(const char *prefix, const char *suffix, const void *items,
                            const char *(*name)(const void *items, int32_t i), int32_t count, char ***out,
                            mo_error *err)
{
    MO_ASSERT(count >= 0);
    uint32_t size = 4;
    while (size < 2 * (uint32_t)count) size *= 2;
    taken_names taken = {mo_calloc(sizeof(taken_name) * size), size - 1};
    char **files = mo_calloc(sizeof(char *) * (size_t)(count + 1));
    bool good = files && taken.slot;
    for (int32_t i = 0; good && i < count; i++) {
        files[i] = file_of(prefix, name(items, i), suffix, &taken);
        good = files[i];
    }
    mo_free(taken.slot);
    if (!good) mo_free_files(files, count);
    *out = good ? files : NULL;
    return good ? MO_OK : mo_fail_memory(err);
}

// Solids, then shells.
static const char *name_of_solid(const void *items, int32_t i)
{
    const mo_sim_def *sim = items;
    return i < sim->solid_count ? sim->solids[i].name : sim->shells[i - sim->solid_count].name;
}
static const char *name_of_elastic(const void *items, int32_t i) { return ((const mo_elastic_def *)items)[i].name; }
static const char *name_of_cloth(const void *items, int32_t i) { return ((const mo_cloth_def *)items)[i].name; }

mo_status mo_body_files(const mo_sim_def *sim, char ***out, mo_error *err)
{
    return make_files("", ".ply", sim, name_of_solid, sim->solid_count + sim->shell_count, out, err);
}

mo_status mo_elastic_files(const mo_elastic_def *elastics, int32_t count, char ***out, mo_error *err)
{
    return make_files("elastic_", "", elastics, name_of_elastic, count, out, err);
}

mo_status mo_cloth_files(const mo_cloth_def *cloths, int32_t count, char ***out, mo_error *err)
{
    return make_files("cloth_", "", cloths, name_of_cloth, count, out, err);
}
