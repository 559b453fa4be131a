// monolith run: simulate a scene into a directory.
#include "command.h"
#include "memory.h"
#include "options.h"
#include "progress.h"
#include "signals.h"
#include "verification.h"
#include "warned.h"
#include "output/run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char purpose[] =
    "Simulates SCENE (a Lua file) and writes frames, statistics and checkpoints into a directory.\n"
    "Ctrl-C stops after the present step with a checkpoint; --resume continues from there, or from the last\n"
    "checkpoint after a crash, and ends with the same files as a run that was never stopped.\n"
    "If something is wrong with a result although every step was completed, a warning says so when it first happens\n"
    "and again at the end (docs/output.md#warnings); --strict makes it a failure.\n"
    "Exit codes: 0 done, 1 the run failed, 2 a mistake in scene, arguments or files, 130 interrupted.";
static const char examples[] =
    "  monolith run scenes/dam.lua                                  into out/dam\n"
    "  monolith run scenes/dam.lua -o /data/dam --threads 8\n"
    "  monolith run scenes/dam.lua --resume                         continue what was stopped\n"
    "  monolith run scenes/dam.lua --resume --frames 300            make a finished run longer\n"
    "  monolith run scenes/dam.lua --verify --frames 20             how near it is to the papers' route\n"
    "  monolith run scenes/dam.lua --strict                         stop at the first warning\n"
    "  monolith run scenes/dam.lua -o out/paper --set solver.route=paper --set domain.cells=96\n";

typedef struct run_options {
    const char *directory;
    int32_t frames, threads, checkpoint_every;
    bool resume, force, quiet, no_surface, no_particles, no_elastic, no_elements, no_smoke, verify, strict;
    text_list set;
} run_options;

// ---- The run ----

static void show_log(void *user, mo_log_level level, const char *text)
{
    if (level == MO_LOG_WARNING) progress_note(user, "warning: %s", text);
}

// out/NAME for any/where/NAME.lua; "" if NAME is no name.
static char *default_directory(const char *scene_path)
{
    const char *slash = strrchr(scene_path, '/'), *name = slash ? slash + 1 : scene_path;
    const char *dot = strrchr(name, '.');
    int length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    if (length <= (int)strspn(name, ".")) return strdup(""); // out/.. is not a place for runs
    char *directory = NULL;
    return asprintf(&directory, "out/%.*s", length, name) < 0 ? NULL : directory;
}

// Steps until the last frame or a signal. *status tells how it ended.
static mo_status simulate(mo_run *run, mo_sim *sim, progress *bar, verification *verified, mo_run_status *status,
                          mo_error *err)
{
    *status = MO_RUN_FAILED;
    warned told = warned_begin(sim);
    while (!mo_sim_done(sim) && !signals_stop()) {
        mo_stats stats = {.step = -1};
        mo_status result = mo_sim_step(sim, &stats, err);
        mo_error more;
        // A step that was completed is kept, also one that strict made a failure.
        if (stats.step >= 0) {
            mo_status kept = mo_run_step(run, sim, &stats, result == MO_OK ? err : &more);
            if (result == MO_OK) result = kept;
        }
        warned_step(&told, sim, bar);
        if (result != MO_OK) return result;
        verification_step(verified, &stats);
        progress_step(bar, &stats, mo_sim_frame(sim));
    }
    *status = mo_sim_done(sim) ? MO_RUN_DONE : MO_RUN_INTERRUPTED;
    return MO_OK;
}

static int report_end(mo_run *run, const mo_sim *sim, progress *bar, const char *dir, mo_run_status status,
                      mo_error *err)
{
    progress_clear(bar);
    warned_tell(sim, bar);
    if (status == MO_RUN_FAILED) {
        mo_error ignored; // the first error is the one to tell
        mo_run_finish(run, sim, status, err->text, &ignored);
        progress_note(bar, "%s keeps what was written; --resume continues from its last checkpoint", dir);
        return complain(err);
    }
    if (mo_run_finish(run, sim, status, NULL, err) != MO_OK) return complain(err);
    if (status == MO_RUN_DONE) {
        progress_note(bar, "done: %d frames in %s%s", mo_sim_frame(sim), dir, warned_any(sim) ? "" : ", no warnings");
        return EXIT_DONE;
    }
    progress_note(bar, "interrupted: %d of %d frames in %s; --resume continues", mo_sim_frame(sim),
                  mo_sim_frame_count(sim), dir);
    return EXIT_INTERRUPTED;
}

static int run_simulation(mo_run *run, const mo_run_def *def, const run_options *o, progress *bar)
{
    mo_error err = {0};
    mo_sim *sim = NULL;
    signals_remove(mo_run_created(run) ? def->directory : NULL);
    if (mo_sim_create(def->sim, &sim, &err) != MO_OK) return complain(&err);
    bool load = mo_run_resumed(run);
    int code;
    if (mo_run_start(run, sim, &err) != MO_OK) {
        code = complain(&err);
    } else if (load && mo_sim_done(sim)) {
        progress_note(bar, "%s: the run is already done (%d frames)", def->directory, mo_sim_frame(sim));
        code = mo_run_finish(run, sim, MO_RUN_DONE, NULL, &err) == MO_OK ? EXIT_DONE : complain(&err);
    } else {
        *bar = progress_begin(o->quiet, mo_sim_frame(sim), mo_sim_frame_count(sim));
        if (load) progress_note(bar, "resuming after frame %d of %d", bar->first, bar->frames);
        if (!load && o->resume) progress_note(bar, "%s: no checkpoint, starting from the beginning", def->directory);
        mo_run_status status;
        verification verified = {.tolerance = def->sim->solver.tolerance};
        signals_patient(true);
        simulate(run, sim, bar, &verified, &status, &err);
        verification_tell(&verified, bar);
        code = report_end(run, sim, bar, def->directory, status, &err);
    }
    mo_sim_destroy(sim);
    return code;
}

// A scene that is far below the memory that is free starts at once. Otherwise its needs are measured, on a scene of its
// own, because its functions may remember that they were called.
static int check_memory(const char *path, const run_options *o, const mo_sim_def *def)
{
    const double seconds = 5; // for measuring
    int64_t available = memory_free();
    char need[32], have[32];
    if (o->force || memory_bound(def) < available / 2) return EXIT_DONE;
    mo_scene *scene = NULL;
    mo_needs needs;
    mo_error err = {0};
    int code = load_scene(path, o->set.item, o->set.count, &scene);
    if (code != EXIT_DONE) return code;
    mo_scene_sim_def_mutable(scene)->time = def->time;
    mo_scene_sim_def_mutable(scene)->threads = def->threads;
    if (mo_sim_needs(mo_scene_sim_def(scene), seconds, &needs, &err) != MO_OK) {
        code = complain(&err);
    } else if (needs.bytes > available) {
        fprintf(stderr,
                "monolith: %s: needs about %s of memory, and %s are free: use fewer cells, or --force to start it "
                "nevertheless\n",
                path, format_bytes(needs.bytes, need), format_bytes(available, have));
        code = EXIT_FAILED;
    }
    mo_scene_destroy(scene);
    return code;
}

static int run_scene(mo_scene *scene, const char *path, const run_options *o)
{
    progress bar = progress_begin(o->quiet, 0, 0);
    mo_sim_def *sim_def = mo_scene_sim_def_mutable(scene);
    if (o->threads) sim_def->threads = o->threads;
    sim_def->log = show_log, sim_def->log_user = &bar;
    if (o->verify) sim_def->solver.verify = true;
    if (o->strict) sim_def->solver.strict = true;
    if (o->frames) sim_def->time.seconds = o->frames / sim_def->time.fps;

    int code = check_memory(path, o, sim_def);
    if (code != EXIT_DONE) return code;
    char *directory = o->directory ? strdup(o->directory) : default_directory(path);
    mo_run_def def = mo_run_def_default();
    def.directory = directory;
    def.scene_path = path, def.scene_text = mo_scene_text(scene);
    def.files_hash = mo_scene_files_hash(scene);
    def.overrides = o->set.item, def.override_count = o->set.count;
    def.sim = sim_def;
    def.look = mo_scene_look(scene);
    def.resume = o->resume, def.other_build = o->force, def.overwrite = o->force && !o->resume;
    def.surface = !o->no_surface, def.particles = !o->no_particles;
    def.elastic = !o->no_elastic, def.elements = !o->no_elements, def.smoke = !o->no_smoke;
    def.checkpoint_every = o->checkpoint_every;

    mo_error err = {0};
    mo_run *run = NULL;
    if (!directory)
        code = EXIT_FAILED, fprintf(stderr, "monolith: out of memory\n");
    else if (!*directory)
        code = EXIT_USER, fprintf(stderr, "monolith: %s: gives no name to a directory: say where with -o DIR\n", path);
    else
        code = mo_run_create(&def, &run, &err) == MO_OK ? run_simulation(run, &def, o, &bar) : complain(&err);
    mo_run_destroy(run);
    free(directory);
    return code;
}

static int parse(int argc, char **argv, run_options *o, const char **scene)
{
    const option options[] = {
        {"--output", "-o", "DIR", "where to write, default out/<name of the scene>", .text = &o->directory},
        {"--frames", NULL, "N", "frames to simulate instead of the scene's time", .number = &o->frames, .minimum = 1,
         .maximum = 1000000},
        {"--threads", "-t", "T", "threads, default all cores; never changes the result", .number = &o->threads,
         .minimum = 1, .maximum = 1024},
        {"--resume", NULL, NULL, "continue from the last checkpoint in DIR", .flag = &o->resume},
        {"--force", NULL, NULL,
         "replace the run that DIR holds; start although memory seems too small; with --resume: never replace, but\n"
         "continue also what another build began",
         .flag = &o->force},
        {"--set", NULL, "KEY=VALUE", "override a key of the scene; may be repeated", .list = &o->set},
        {"--checkpoint-every", NULL, "N", "frames between checkpoints, default 1", .number = &o->checkpoint_every,
         .minimum = 1, .maximum = 1000000},
        {"--no-surface", NULL, NULL, "do not write the liquid's surface", .flag = &o->no_surface},
        {"--no-particles", NULL, NULL, "do not write the particles", .flag = &o->no_particles},
        {"--no-elastic", NULL, NULL, "do not write elastic bodies: neither surfaces nor elements",
         .flag = &o->no_elastic},
        {"--no-elements", NULL, NULL, "write only the surfaces of elastic bodies", .flag = &o->no_elements},
        {"--no-smoke", NULL, NULL, "do not write the smoke", .flag = &o->no_smoke},
        {"--verify", NULL, NULL, "solve every step again by route paper and print the difference", .flag = &o->verify},
        {"--strict", NULL, NULL, "stop at the first warning, with exit code 1", .flag = &o->strict},
        {"--quiet", "-q", NULL, "print errors only", .flag = &o->quiet},
        {0},
    };
    command_line line = {.usage = "run SCENE [options]",
                         .purpose = purpose,
                         .examples = examples,
                         .positional_name = "SCENE",
                         .positional_required = true,
                         .options = options};
    int code = parse_options(&line, argc, argv);
    *scene = line.positional;
    if (code < 0 && o->directory && !*o->directory) {
        fprintf(stderr, "monolith: --output must not be empty\n");
        return EXIT_USER;
    }
    return code;
}

int command_run(int argc, char **argv)
{
    run_options o = {.checkpoint_every = 1};
    o.set.item = calloc((size_t)argc + 1, sizeof *o.set.item);
    const char *path;
    int code = o.set.item ? parse(argc, argv, &o, &path) : EXIT_FAILED;
    if (code < 0) {
        signals_catch(o.quiet);
        mo_scene *scene = NULL;
        code = load_scene(path, o.set.item, o.set.count, &scene);
        if (code == EXIT_DONE) code = run_scene(scene, path, &o);
        mo_scene_destroy(scene);
    }
    free(o.set.item);
    return code;
}
