// Checkpoint files, run directories, and runs that die at every kind of moment and are resumed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/base.h"
#include "output/checkpoint.h"
#include "output/directory.h"
#include "output/file.h"
#include "output/run.h"
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- A temporary directory ----

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info, (void)kind, (void)where;
    return remove(path);
}

static void remove_tree(const char *path) { nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

static int make_place(void **state)
{
    // In memory where there is such a place: thousands of syncs take long on a busy disk.
    char *dir = strdup(access("/dev/shm", W_OK) == 0 ? "/dev/shm/mo_test_XXXXXX" : "/tmp/mo_test_XXXXXX");
    *state = dir;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_place(void **state)
{
    remove_tree(*state);
    free(*state);
    return 0;
}

typedef struct full_path {
    char text[512];
} full_path;

static full_path in(const char *dir, const char *name)
{
    full_path p;
    assert_true(strlen(dir) + strlen(name) + 2 <= sizeof p.text);
    strcat(strcat(strcpy(p.text, dir), "/"), name);
    return p;
}

static char *slurp(const char *path, size_t *bytes)
{
    char *data;
    assert_int_equal(mo_file_read(path, &data, bytes, NULL, NULL), MO_OK);
    return data;
}

static void spit(const char *path, const void *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, bytes, f), bytes);
    fclose(f);
}

// ---- Checkpoint files ----

enum { HEADER = 136, PAYLOAD = 1000 };

static void write_checkpoint(const char *path)
{
    unsigned char payload[PAYLOAD];
    for (int i = 0; i < PAYLOAD; i++) payload[i] = (unsigned char)(i * i);
    mo_checkpoint c = {
        .scene_hash = 1, .settings_hash = 2, .start = 3, .stats_bytes = 4, .bodies_bytes = 5, .frame = 6};
    c.files_hash = 7, c.mixed = true, c.payload_bytes = PAYLOAD, c.payload = payload;
    strcpy(c.build, "some");
    assert_int_equal(mo_checkpoint_write(path, &c, NULL), MO_OK);
}

static void checkpoint_reads_back(void **state)
{
    full_path place = in(*state, "c");
    const char *path = place.text;
    mo_checkpoint c = {0};
    bool missing = false;
    assert_int_equal(mo_checkpoint_read(path, &c, &missing, NULL), MO_OK);
    assert_true(missing);
    write_checkpoint(path);
    assert_int_equal(mo_checkpoint_read(path, &c, &missing, NULL), MO_OK);
    assert_false(missing);
    assert_true(c.scene_hash == 1 && c.settings_hash == 2 && c.start == 3 && c.stats_bytes == 4 && c.bodies_bytes == 5);
    assert_true(c.frame == 6 && c.payload_bytes == PAYLOAD && c.files_hash == 7 && c.mixed);
    assert_string_equal(c.build, "some");
    for (int i = 0; i < PAYLOAD; i++) assert_int_equal(((unsigned char *)c.payload)[i], (unsigned char)(i * i));
    mo_free_block(c.payload);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, HEADER + PAYLOAD);
}

static void assert_refused(const char *path, const char *data, size_t bytes)
{
    spit(path, data, bytes);
    mo_checkpoint c = {0};
    mo_error err = {0};
    bool missing;
    assert_int_equal(mo_checkpoint_read(path, &c, &missing, &err), MO_ERROR_FILE);
    assert_non_null(strstr(err.text, path));
    assert_null(c.payload);
}

static void damage_is_found(void **state)
{
    full_path place = in(*state, "c");
    const char *path = place.text;
    size_t bytes;
    write_checkpoint(path);
    char *data = slurp(path, &bytes);
    for (size_t cut = 0; cut < bytes; cut++) assert_refused(path, data, cut); // every length
    for (size_t i = 0; i < bytes; i++)                                        // every byte, three kinds of damage
        for (int kind = 0; kind < 3; kind++) {
            char old = data[i];
            data[i] = kind == 0 ? (char)(old ^ 1) : kind == 1 ? (char)(old ^ 0x80) : (char)~old;
            assert_refused(path, data, bytes);
            data[i] = old;
        }
    char *longer = calloc(1, bytes + 1);
    memcpy(longer, data, bytes);
    assert_refused(path, longer, bytes + 1);
    free(longer);
    mo_free_block(data);
}

// Gives a header that was changed a checksum that agrees.
static void sign_checkpoint(char *data)
{
    uint64_t sum = mo_checksum(2, data, HEADER - 8);
    memcpy(data + HEADER - 8, &sum, 8);
}

static void versions_are_told(void **state)
{
    full_path place = in(*state, "c");
    const char *path = place.text;
    size_t bytes;
    write_checkpoint(path);
    char *data = slurp(path, &bytes);
    mo_checkpoint c;
    mo_error err;
    bool missing;
    data[8]++; // format
    spit(path, data, bytes);
    assert_int_equal(mo_checkpoint_read(path, &c, &missing, &err), MO_ERROR_FILE);
    assert_non_null(strstr(err.text, "checkpoint format 3, this program reads format 2"));
    data[8]--;
    memcpy(data + 16, "9.9.9", 6); // library, with a checksum that agrees
    sign_checkpoint(data);
    spit(path, data, bytes);
    assert_int_equal(mo_checkpoint_read(path, &c, &missing, &err), MO_ERROR_FILE);
    assert_non_null(strstr(err.text, "written by monolith 9.9.9"));
    mo_free_block(data);
}

// ---- Directories ----

static bool exists(const char *dir, const char *name) { return access(in(dir, name).text, F_OK) == 0; }

static void late_frames_are_removed(void **state)
{
    const char *dir = *state;
    static const char *const keep[] = {"frames/surface_liquid_00003.ply", "frames/particles_liquid_00000.vtp",
                                       "frames/notes_00009.ply",          "frames/surface_liquid_00009.ply.bak",
                                       "frames/surface_mine.ply",         "frames/picture_00009.png"};
    static const char *const drop[] = {"frames/surface_liquid_00004.ply", "frames/particles_liquid_100000.vtp",
                                       "frames/particles_liquid_00003.vtp.tmp"};
    mkdir(in(dir, "frames").text, 0777);
    for (int i = 0; i < 6; i++) spit(in(dir, keep[i]).text, "x", 1);
    for (int i = 0; i < 3; i++) spit(in(dir, drop[i]).text, "x", 1);
    assert_int_equal(mo_directory_remove_frames(dir, 3, NULL), MO_OK);
    for (int i = 0; i < 6; i++) assert_true(exists(dir, keep[i]));
    for (int i = 0; i < 3; i++) assert_false(exists(dir, drop[i]));
}

static void body_names_become_files(void **state)
{
    (void)state;
    static const char *const names[] = {"bowl", "bowl", "../etc/x", "", NULL, "Bowl", ".hidden", "a b"};
    static const char *const files[] = {"bowl.ply",   "bowl_2.ply", "_._etc_x.ply", "body.ply",
                                        "body_2.ply", "Bowl_3.ply", "_hidden.ply",  "a_b.ply"};
    mo_solid_def solids[8] = {0};
    for (int i = 0; i < 8; i++) solids[i].name = names[i];
    char **out;
    mo_sim_def sim = {.solids = solids, .solid_count = 8};
    assert_int_equal(mo_body_files(&sim, &out, NULL), MO_OK);
    for (int i = 0; i < 8; i++) {
        assert_string_equal(out[i], files[i]);
        mo_free(out[i]);
    }
    mo_free(out);
}

// ---- Runs ----

enum { FRAMES = 4 };

typedef struct fixture {
    const mo_shape *pool, *ball;
    mo_liquid_def liquid;
    mo_solid_def solid;
    mo_sim_def sim;
    mo_run_def run;
} fixture;

static mo_status swing(void *user, double t, mo_pose *pose, mo_error *err)
{
    (void)user, (void)err;
    *pose = (mo_pose){{0.7 + 0.1 * sin(9 * t), 0.4, 0}, {1, 0, 0, 0}};
    return MO_OK;
}

static void make_fixture(fixture *f, const char *dir)
{
    mo_shape *box = mo_shape_box((mo_vec3){0.5, 0.6, 1});
    *f = (fixture){.pool = mo_shape_move(box, (mo_vec3){0.25, 0.3, 0}), .ball = mo_shape_sphere(0.15)};
    mo_shape_release(box);
    f->liquid = mo_liquid_def_default();
    f->liquid.shape = f->pool;
    f->solid = mo_solid_def_default();
    f->solid.name = "ball", f->solid.shape = f->ball, f->solid.motion = swing;
    f->sim = mo_sim_def_default();
    f->sim.domain.size = (mo_vec3){1, 1, 0}, f->sim.domain.cells = 16;
    f->sim.time.fps = 25, f->sim.time.seconds = FRAMES / 25.0;
    f->sim.time.max_step = 0.02; // two steps per frame: checkpoints inside frames exist
    f->sim.liquids = &f->liquid, f->sim.liquid_count = 1;
    f->sim.solids = &f->solid, f->sim.solid_count = 1;
    f->sim.threads = 1; // forked children may not start OpenMP threads
    f->run = mo_run_def_default();
    f->run.directory = dir, f->run.scene_path = "scene.lua", f->run.scene_text = "-- a scene\n", f->run.sim = &f->sim;
}

static void free_fixture(fixture *f)
{
    mo_shape_release(f->pool);
    mo_shape_release(f->ball);
}

// Runs to the end, or until `steps` steps are done: then stops as after Ctrl-C. -1 = no limit.
static mo_status go(const mo_run_def *def, int steps, mo_error *err)
{
    mo_run *run = NULL;
    mo_sim *sim = NULL;
    mo_status status = mo_run_create(def, &run, err);
    if (status == MO_OK) status = mo_sim_create(def->sim, &sim, err);
    if (status == MO_OK) status = mo_run_start(run, sim, err);
    while (status == MO_OK && !mo_sim_done(sim) && steps-- != 0) {
        mo_stats stats;
        status = mo_sim_step(sim, &stats, err);
        if (status == MO_OK) status = mo_run_step(run, sim, &stats, err);
    }
    if (status == MO_OK)
        status = mo_run_finish(run, sim, mo_sim_done(sim) ? MO_RUN_DONE : MO_RUN_INTERRUPTED, NULL, err);
    mo_sim_destroy(sim);
    mo_run_destroy(run);
    return status;
}

// Blanks what may differ: the timings of stats.jsonl, the times of run.json.
static void blank(char *text, const char *from, char until)
{
    for (char *p = text; (p = strstr(p, from));) {
        p += strlen(from);
        while (*p && *p != until) *p++ = '#';
        if (!*p) return;
    }
}

static size_t strip(char *text)
{
    char *to = text;
    for (const char *p = text; *p; p++)
        if (*p != '#') *to++ = *p;
    *to = 0;
    return (size_t)(to - text);
}

static char *comparable(const char *dir, const char *name, size_t *bytes)
{
    char *data = slurp(in(dir, name).text, bytes);
    if (strcmp(name, MO_STATS_FILE) == 0) blank(data, "\"seconds\":", '\n');
    if (strcmp(name, MO_RUN_FILE) == 0) blank(data, "\"start\":", '\n');
    if (strcmp(name, MO_STATS_FILE) == 0 || strcmp(name, MO_RUN_FILE) == 0) *bytes = strip(data);
    return data;
}

static void assert_same_runs(const char *a, const char *b)
{
    static const char *const files[] = {MO_RUN_FILE,
                                        MO_STATS_FILE,
                                        MO_BODIES_FILE,
                                        "bodies/ball.ply",
                                        "frames/particles_liquid.pvd",
                                        "frames/surface_liquid.ply.series"};
    char name[64];
    for (int i = 0; i < 6 + 2 * (FRAMES + 1); i++) {
        int frame = (i - 6) / 2;
        if (i < 6)
            snprintf(name, sizeof name, "%s", files[i]);
        else if (i % 2)
            snprintf(name, sizeof name, "frames/surface_liquid_%05d.ply", frame);
        else
            snprintf(name, sizeof name, "frames/particles_liquid_%05d.vtp", frame);
        size_t na, nb;
        char *da = comparable(a, name, &na), *db = comparable(b, name, &nb);
        if (na != nb || memcmp(da, db, na) != 0) fail_msg("%s differs between %s and %s", name, a, b);
        mo_free_block(da);
        mo_free_block(db);
    }
    snprintf(name, sizeof name, "frames/surface_liquid_%05d.ply", FRAMES + 1);
    assert_false(exists(b, name));
}

static void interrupted_runs_end_the_same(void **state)
{
    full_path first = in(*state, "a"), second = in(*state, "b");
    const char *a = first.text, *b = second.text;
    fixture f;
    mo_error err = {0};
    make_fixture(&f, a);
    assert_int_equal(go(&f.run, -1, &err), MO_OK);
    f.run.directory = b;
    f.run.resume = true; // an absent directory: from the beginning
    for (int every = 1; every <= 3; every += 2) {
        f.run.checkpoint_every = every;
        for (int steps = 0; steps < 40; steps = 2 * steps + 1)
            assert_int_equal(go(&f.run, steps, &err), MO_OK); // stops inside frames, several times
        assert_int_equal(go(&f.run, -1, &err), MO_OK);
        assert_int_equal(go(&f.run, -1, &err), MO_OK); // a finished run stays as it is
        f.run.checkpoint_every = 1;
        assert_int_equal(go(&f.run, -1, &err), MO_OK);
        assert_same_runs(a, b);
        remove_tree(b);
    }
    free_fixture(&f);
}

static int count_lines(const char *dir, const char *name)
{
    size_t bytes;
    char *data = slurp(in(dir, name).text, &bytes);
    int lines = 0;
    for (size_t i = 0; i < bytes; i++) lines += data[i] == '\n';
    mo_free_block(data);
    return lines;
}

static void checkpoint_decides_what_stays(void **state)
{
    full_path place = in(*state, "a");
    const char *a = place.text;
    fixture f;
    mo_error err = {0};
    make_fixture(&f, a);
    f.run.checkpoint_every = 100;
    // Stopped in good order inside the second frame: all three steps count.
    assert_int_equal(go(&f.run, 3, &err), MO_OK);
    f.run.resume = true;
    assert_int_equal(go(&f.run, 0, &err), MO_OK);
    assert_int_equal(count_lines(a, MO_STATS_FILE), 3);
    assert_int_equal(count_lines(a, MO_BODIES_FILE), 2);
    // Killed after the last frame, with no checkpoint since: the frames after it are not part of the run.
    size_t bytes;
    char *checkpoint = slurp(in(a, MO_CHECKPOINT_FILE).text, &bytes);
    assert_int_equal(go(&f.run, -1, &err), MO_OK);
    assert_true(exists(a, "frames/surface_liquid_00004.ply"));
    spit(in(a, MO_CHECKPOINT_FILE).text, checkpoint, bytes);
    mo_free_block(checkpoint);
    assert_int_equal(go(&f.run, 0, &err), MO_OK);
    assert_int_equal(count_lines(a, MO_STATS_FILE), 3);
    assert_int_equal(count_lines(a, MO_BODIES_FILE), 2);
    assert_int_equal(count_lines(a, "frames/particles_liquid.pvd"), 7); // frames 0 and 1
    assert_true(exists(a, "frames/surface_liquid_00001.ply") && !exists(a, "frames/surface_liquid_00002.ply"));
    assert_false(exists(a, "frames/particles_liquid_00004.vtp"));
    free_fixture(&f);
}

// Dies, as by kill -9, at the n-th allocation: allocations lie between all the file operations.
typedef struct countdown {
    int64_t left, count;
    bool die;
} countdown;

static void *counting(void *user, void *p, size_t bytes)
{
    countdown *c = user;
    if (bytes == 0) {
        free(p);
        return NULL;
    }
    c->count++;
    if (c->left >= 0 && c->left-- == 0) {
        if (c->die) _exit(9);
        return NULL;
    }
    return realloc(p, bytes);
}

static void killed_runs_end_the_same(void **state)
{
    full_path first = in(*state, "a"), second = in(*state, "b");
    const char *a = first.text, *b = second.text;
    fixture f;
    mo_error err = {0};
    countdown c = {-1, 0, true};
    make_fixture(&f, a);
    mo_set_allocator(counting, &c);
    assert_int_equal(go(&f.run, -1, &err), MO_OK);
    mo_set_allocator(NULL, NULL);
    int64_t total = c.count;
    f.run.directory = b;
    f.run.resume = true;
    // Every kill point would take long: a spread of them, and every one of the first (before the first checkpoint).
    for (int64_t n = 0; n < total; n += n < 40 ? 1 : 1 + total / 60) {
        pid_t child = fork();
        if (child == 0) {
            c = (countdown){n, 0, true};
            mo_set_allocator(counting, &c);
            go(&f.run, -1, &err);
            _exit(0);
        }
        int how;
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFEXITED(how) && (WEXITSTATUS(how) == 9 || WEXITSTATUS(how) == 0));
        if (n % 3) // sometimes the next run dies as well
            continue;
        if (go(&f.run, -1, &err) != MO_OK) fail_msg("killed at allocation %lld: %s", (long long)n, err.text);
        assert_same_runs(a, b);
        remove_tree(b);
    }
    free_fixture(&f);
}

static void no_memory_is_an_error_without_leaks(void **state)
{
    full_path place = in(*state, "a");
    const char *a = place.text;
    fixture f;
    make_fixture(&f, a);
    f.run.overwrite = true;
    countdown c = {-1, 0, false};
    mo_error err = {0};
    mo_set_allocator(counting, &c);
    assert_int_equal(go(&f.run, 4, &err), MO_OK);
    int64_t total = c.count, before = mo_memory_in_use();
    for (int64_t n = 0; n < total; n += 1 + total / 150) {
        c = (countdown){n, 0, false};
        mo_status status = go(&f.run, 4, &err);
        if (status != MO_ERROR_MEMORY && status != MO_OK) fail_msg("allocation %lld: %s", (long long)n, err.text);
        assert_int_equal(mo_memory_in_use(), before);
    }
    mo_set_allocator(NULL, NULL);
    free_fixture(&f);
}

static void mistakes_are_refused(void **state)
{
    full_path place = in(*state, "a");
    const char *a = place.text;
    fixture f;
    mo_error err = {0};
    size_t bytes, stats_bytes;
    make_fixture(&f, a);
    assert_int_equal(go(&f.run, 3, &err), MO_OK);
    // A run is there already.
    assert_int_equal(go(&f.run, -1, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "already holds a run"));
    // Another scene, other settings.
    f.run.resume = true;
    mo_run_def other = f.run;
    other.scene_text = "-- another scene\n";
    assert_int_equal(go(&other, -1, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "another scene"));
    const char *set[] = {"solver.route=paper"};
    other = f.run;
    other.overrides = set, other.override_count = 1;
    assert_int_equal(go(&other, -1, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "other settings"));
    other = f.run;
    other.surface = false;
    assert_int_equal(go(&other, -1, &err), MO_ERROR_INPUT);
    other = f.run;
    other.files_hash = 1;
    assert_int_equal(go(&other, -1, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "other mesh files"));
    // A damaged checkpoint: nothing is touched.
    full_path checkpoint = in(a, MO_CHECKPOINT_FILE);
    const char *path = checkpoint.text;
    char *stats = slurp(in(a, MO_STATS_FILE).text, &stats_bytes);
    char *data = slurp(path, &bytes);
    spit(path, data, bytes - 1);
    assert_int_equal(go(&f.run, -1, &err), MO_ERROR_FILE);
    assert_non_null(strstr(err.text, path));
    size_t after;
    mo_free_block(slurp(in(a, MO_STATS_FILE).text, &after));
    assert_int_equal(after, stats_bytes);
    // A missing one, with steps done.
    unlink(path);
    assert_int_equal(go(&f.run, -1, &err), MO_ERROR_FILE);
    assert_non_null(strstr(err.text, path));
    spit(path, data, bytes);
    // Lines lost.
    spit(in(a, MO_STATS_FILE).text, stats, stats_bytes - 5);
    assert_int_equal(go(&f.run, -1, &err), MO_ERROR_FILE);
    assert_non_null(strstr(err.text, MO_STATS_FILE));
    spit(in(a, MO_STATS_FILE).text, stats, stats_bytes);
    assert_int_equal(go(&f.run, -1, &err), MO_OK);
    mo_free_block(stats);
    mo_free_block(data);
    // Overwriting leaves other people's files alone.
    f.run.resume = false, f.run.overwrite = true;
    spit(in(a, "notes.txt").text, "x", 1);
    assert_int_equal(go(&f.run, 0, &err), MO_OK);
    assert_true(exists(a, "notes.txt") && !exists(a, "frames/surface_liquid_00001.ply"));
    free_fixture(&f);
}

static void other_builds_are_told(void **state)
{
    enum { BUILD = 56 }; // where the header has it
    full_path place = in(*state, "a"), checkpoint = in(place.text, MO_CHECKPOINT_FILE);
    fixture f;
    mo_error err = {0};
    size_t bytes;
    make_fixture(&f, place.text);
    assert_int_equal(go(&f.run, 3, &err), MO_OK);
    f.run.resume = true;
    char *data = slurp(checkpoint.text, &bytes);
    assert_string_equal(data + BUILD, mo_build());
    memcpy(data + BUILD, "another", 8);
    sign_checkpoint(data);
    spit(checkpoint.text, data, bytes);
    mo_free_block(data);
    assert_int_equal(go(&f.run, -1, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "another build of monolith (another, "));
    f.run.other_build = true;
    assert_int_equal(go(&f.run, 1, &err), MO_OK);
    f.run.other_build = false; // the checkpoint is ours now, and remembers
    assert_int_equal(go(&f.run, -1, &err), MO_OK);
    data = slurp(in(place.text, MO_RUN_FILE).text, &bytes);
    assert_non_null(strstr(data, "\"mixed_builds\":true"));
    mo_free_block(data);
    free_fixture(&f);
}

static void one_writer_at_a_time(void **state)
{
    full_path place = in(*state, "a");
    const char *a = place.text;
    fixture f;
    mo_error err = {0};
    mo_run *holder, *late;
    make_fixture(&f, a);
    assert_int_equal(mo_run_create(&f.run, &holder, &err), MO_OK);
    assert_int_equal(mo_run_create(&f.run, &late, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "another process"));
    mo_run_destroy(holder);
    assert_false(exists(*state, "a")); // made for nothing
    free_fixture(&f);
}

// stats.jsonl on a full disk: the run ends with the disk's error, and goes on when there is room again.
static void full_disk_loses_nothing(void **state)
{
    full_path first = in(*state, "a"), second = in(*state, "b");
    const char *a = first.text, *b = second.text;
    fixture f;
    mo_error err = {0};
    make_fixture(&f, a);
    assert_int_equal(go(&f.run, -1, &err), MO_OK);
    f.run.directory = b;
    assert_int_equal(go(&f.run, 3, &err), MO_OK);
    f.run.resume = true;
    static const char *const victims[] = {"frames/surface_liquid_00002.ply.tmp",
                                          "frames/particles_liquid_00003.vtp.tmp", MO_CHECKPOINT_FILE ".tmp",
                                          MO_RUN_FILE ".tmp"};
    for (int i = 0; i < 4; i++) {
        // Resuming sweeps temporaries of frames away, so those links appear when the run is under way.
        mo_run *run;
        mo_sim *sim;
        assert_int_equal(mo_run_create(&f.run, &run, &err), MO_OK);
        assert_int_equal(mo_sim_create(&f.sim, &sim, &err), MO_OK);
        assert_int_equal(mo_run_start(run, sim, &err), MO_OK);
        assert_int_equal(symlink("/dev/full", in(b, victims[i]).text), 0);
        mo_status status = MO_OK;
        while (status == MO_OK && !mo_sim_done(sim)) {
            mo_stats stats;
            assert_int_equal(mo_sim_step(sim, &stats, &err), MO_OK);
            status = mo_run_step(run, sim, &stats, &err);
        }
        assert_int_equal(status, MO_ERROR_FAILED);
        assert_non_null(strstr(err.text, "No space left on device"));
        mo_sim_destroy(sim);
        mo_run_destroy(run);
    }
    assert_int_equal(go(&f.run, -1, &err), MO_OK);
    assert_same_runs(a, b);
    free_fixture(&f);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(checkpoint_reads_back),
        IN_PLACE(damage_is_found),
        IN_PLACE(versions_are_told),
        IN_PLACE(late_frames_are_removed),
        cmocka_unit_test(body_names_become_files),
        IN_PLACE(interrupted_runs_end_the_same),
        IN_PLACE(checkpoint_decides_what_stays),
        IN_PLACE(killed_runs_end_the_same),
        IN_PLACE(no_memory_is_an_error_without_leaks),
        IN_PLACE(mistakes_are_refused),
        IN_PLACE(other_builds_are_told),
        IN_PLACE(one_writer_at_a_time),
        IN_PLACE(full_disk_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
