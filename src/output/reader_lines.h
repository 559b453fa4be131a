// The growing .jsonl files of a run as tables: stats.jsonl by columns, bodies.jsonl by frame and body.
#ifndef MO_READER_LINES_H
#define MO_READER_LINES_H

#include "base/base.h"

// A table has a column of numbers for each field; names of nested fields are joined by dots ("dofs.p", "momentum.0").
typedef struct mo_stats_table {
    int64_t bytes; // of the file read so far: complete lines only
    int32_t steps, fields;
    char **name;    // [fields]
    double **value; // [fields][steps], NAN where a line lacks the field
    int64_t name_capacity, column_capacity, row_capacity;
} mo_stats_table;
void mo_stats_table_destroy(mo_stats_table *t); // and empties it
// Reads what has been added to the file since the last call. A file that became shorter is read anew; an absent file is
// empty.
mo_status mo_stats_table_read(mo_stats_table *t, const char *path, mo_error *err);

typedef struct mo_body_pose {
    bool recorded;
    mo_pose pose;
    double kinetic, elastic, least; // J, J, det F of elastic bodies; NAN of others
} mo_body_pose;
typedef struct mo_pose_table {
    int64_t bytes;
    int32_t bodies;
    char **name;  // [bodies], the owner's
    int32_t next; // body expected in the next line
    int32_t last; // frame of the run: lines of later ones are skipped; the owner's
    int32_t frames, rows;
    int32_t *row;       // [frames] of the frame's poses, -1: none
    mo_body_pose *pose; // [rows * bodies]
    int64_t capacity, row_capacity;
} mo_pose_table;
void mo_pose_table_destroy(mo_pose_table *t);
const mo_body_pose *mo_pose_table_find(const mo_pose_table *t, int32_t body, int32_t frame); // NULL: none
mo_status mo_pose_table_read(mo_pose_table *t, const char *path, mo_error *err);

#endif
