// The checkpoint file: a header that says what it belongs to, then the simulation's own block, both with checksums.
#ifndef MO_CHECKPOINT_H
#define MO_CHECKPOINT_H

#include "monolith/monolith.h"

// What a checkpoint remembers besides the simulation: to which run it belongs, and how far the run's files had got.
typedef struct mo_checkpoint {
    uint64_t scene_hash, settings_hash;
    uint64_t files_hash;               // of the contents of the scene's mesh files
    char build[16];                    // mo_build of the program that wrote it
    bool mixed;                        // other builds have written steps before
    int64_t start;                     // of the run, seconds since 1970
    int64_t stats_bytes, bodies_bytes; // lengths of stats.jsonl and bodies.jsonl
    int32_t frame;                     // frames completed
    int64_t payload_bytes;
    void *payload; // from mo_sim_save, or read; mo_free_block
} mo_checkpoint;

// Replaces the file at path in one step, on the disk when it returns.
mo_status mo_checkpoint_write(const char *path, const mo_checkpoint *c, mo_error *err);
// Refuses (MO_ERROR_FILE, naming the file) a file that is truncated, damaged, or of another format or version. *missing
// tells an absent file, which is no error.
mo_status mo_checkpoint_read(const char *path, mo_checkpoint *out, bool *missing, mo_error *err);

#endif
