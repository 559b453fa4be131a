// The JSON of a run directory: run.json, and the lines of stats.jsonl and bodies.jsonl.
#ifndef MO_RECORDS_H
#define MO_RECORDS_H

#include "output/json.h"
#include "output/run.h"

void mo_record_step(mo_text *t, const mo_stats *s);
void mo_record_body(mo_text *t, int32_t frame, double time, const mo_body_state *body);
void mo_record_elastic(mo_text *t, int32_t frame, double time, const mo_elastic_state *elastic);
void mo_record_cloth(mo_text *t, int32_t frame, double time, const mo_cloth_state *cloth);

typedef struct mo_run_record {
    const mo_run_def *def;
    const mo_sim *sim; // has the meshes of elastic bodies
    mo_run_status status;
    const char *message;              // NULL: none
    const mo_warning_count *warnings; // [MO_WARNING_COUNT], NULL: none
    int64_t start, end;               // seconds since 1970
    bool mixed;                       // of steps by several builds
    int32_t frames_done, frames;
    const char *const *body_file;    // [solid_count] of bodies/
    const char *const *elastic_file; // [elastic_count] beginning of names in frames/
    const char *const *cloth_file;   // [cloth_count] likewise
} mo_run_record;
void mo_record_run(mo_text *t, const mo_run_record *r);

#endif
