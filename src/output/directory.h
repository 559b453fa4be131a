// The files of a run inside its directory: their names, finding and removing them. Other files there are never touched.
#ifndef MO_DIRECTORY_H
#define MO_DIRECTORY_H

#include "monolith/monolith.h"

#define MO_RUN_FILE        "run.json"
#define MO_STATS_FILE      "stats.jsonl"
#define MO_BODIES_FILE     "bodies.jsonl"
#define MO_CHECKPOINT_FILE "checkpoint/state.bin"

int64_t mo_directory_file_bytes(const char *dir, const char *name); // -1: absent
bool mo_directory_holds_run(const char *dir);

// Removes the frames numbered above `last` and half-written files of a killed process.
mo_status mo_directory_remove_frames(const char *dir, int32_t last, mo_error *err);
mo_status mo_directory_remove_run(const char *dir, mo_error *err);

// Makes names for the files of bodies/, [count]. Each can be used as a file name and differs from the others. Free each
// of them and the array with mo_free.
mo_status mo_body_files(const mo_sim_def *sim, char ***out, mo_error *err);
// The same for the beginning of the names of an elastic body's files in frames/: elastic_NAME.
mo_status mo_elastic_files(const mo_elastic_def *elastics, int32_t count, char ***out, mo_error *err);
// The same for cloth: cloth_NAME.
mo_status mo_cloth_files(const mo_cloth_def *cloths, int32_t count, char ***out, mo_error *err);
void mo_free_files(char **files, int32_t count); // NULL is fine

#endif
