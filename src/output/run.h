// A run directory: everything a run leaves on the disk (docs/output.md), and how a run that was stopped continues.
//
//     mo_run_create(&def, &run, &err);             checks the directory, takes it, reads the checkpoint if resuming
//     mo_sim_create(...);
//     mo_run_start(run, sim, &err);                frame 0, or the state of the checkpoint
//     while (...) {
//         mo_sim_step(sim, &stats, &err);
//         mo_run_step(run, sim, &stats, &err);     a line; at a frame's end also its files, and the checkpoint when due
//     }
//     mo_run_finish(run, sim, MO_RUN_DONE, NULL, &err);
//
// Whenever the process dies, the directory holds a checkpoint (or none yet) and everything before it; the next
// mo_run_start with `resume` cuts off everything after it. A resumed run therefore ends with the same files as an
// undisturbed one, apart from the times in run.json and the timings in stats.jsonl.
#ifndef MO_RUN_H
#define MO_RUN_H

#include "monolith/monolith.h"

typedef struct mo_run_def {
    const char *directory;
    const char *scene_path, *scene_text;
    uint64_t files_hash;          // mo_scene_files_hash
    const char *const *overrides; // "key=value", as given to mo_scene_load
    int32_t override_count;
    const mo_sim_def *sim;
    const mo_look_def *look;  // for pictures of the run; NULL: the defaults
    bool resume;              // continue what the directory holds; start from the beginning if it holds nothing
    bool other_build;         // also if another build began it: results may differ from those of either
    bool overwrite;           // remove the run that the directory holds; else that is an error
    bool surface, particles;  // per frame: the liquid's surface (.ply; if the scene wants one), its
                              // particles (.vtp); default both
    bool elastic, elements;   // per frame and elastic body: its surface (.ply), and with it its elements (.vtu);
                              // default both
    bool smoke;               // per frame: soot, heat and velocity of air (.vdb); default true
    int32_t checkpoint_every; // frames, default 1
} mo_run_def;
mo_run_def mo_run_def_default(void);

typedef enum mo_run_status { MO_RUN_RUNNING, MO_RUN_DONE, MO_RUN_FAILED, MO_RUN_INTERRUPTED } mo_run_status;

typedef struct mo_run mo_run;

// The definition and what it points to must outlive the run. Nothing is removed or overwritten yet.
mo_status mo_run_create(const mo_run_def *def, mo_run **out, mo_error *err);
void mo_run_destroy(mo_run *run);       // releases the directory; removes it if it was made and not used
bool mo_run_resumed(const mo_run *run); // there is a checkpoint to continue from
bool mo_run_created(const mo_run *run); // the directory was not there before

mo_status mo_run_start(mo_run *run, mo_sim *sim, mo_error *err);
mo_status mo_run_step(mo_run *run, const mo_sim *sim, const mo_stats *stats, mo_error *err);
mo_status mo_run_checkpoint(mo_run *run, const mo_sim *sim, mo_error *err); // at any step, also inside a frame
// Final checkpoint (done, if the last frame has none yet) and status; `message` for a failed run.
mo_status mo_run_finish(mo_run *run, const mo_sim *sim, mo_run_status status, const char *message, mo_error *err);

#endif
