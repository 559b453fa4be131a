// stats.jsonl and bodies.jsonl, read as they grow: each call parses the complete lines behind those of the last.
#include "output/reader_lines.h"
#include "output/file.h"
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FIELDS = 1000, MAX_FRAME = 1000000, BLOCK = 1 << 24 }; // block: bytes that are read at once

// ---- The end of a file ----

static mo_status read_from(int fd, const char *path, int64_t *offset, char **data, int64_t *bytes, mo_error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0) return mo_fail_file(err, path, "cannot read", errno);
    if (info.st_size < *offset) *offset = 0;
    int64_t size = info.st_size - *offset, have = 0;
    if (size > BLOCK) size = BLOCK;
    char *text = mo_alloc((size_t)size + 1);
    if (!text) return mo_fail_memory(err);
    while (have < size) {
        ssize_t n = pread(fd, text + have, (size_t)(size - have), *offset + have);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            mo_free(text);
            return mo_fail_file(err, path, "cannot read", errno);
        }
        if (n == 0) break;
        have += n;
    }
    text[have] = 0;
    *data = text, *bytes = have;
    return MO_OK;
}

// The next block behind *offset, which is set to 0 if the file became shorter. An absent file has nothing.
static mo_status read_tail(const char *path, int64_t *offset, char **data, int64_t *bytes, mo_error *err)
{
    *data = NULL, *bytes = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        *offset = 0;
        return MO_OK;
    }
    if (fd < 0) return mo_fail_file(err, path, "cannot read", errno);
    mo_status status = read_from(fd, path, offset, data, bytes, err);
    close(fd);
    return status;
}

typedef mo_status (*line_fn)(void *table, const cJSON *line, mo_error *err);

// Gives each complete line to `use` and counts its bytes. The last line may be a run in progress; a damaged one before
// it is an error.
static mo_status each_line(const char *path, char *data, int64_t bytes, int64_t *done, line_fn use, void *table,
                           mo_error *err)
{
    mo_status status = MO_OK;
    if (bytes == 0) return status; // an absent file has no data at all
    char *end = data + bytes, *line = data, *stop;
    for (; status == MO_OK && line < end && (stop = memchr(line, '\n', (size_t)(end - line))); line = stop + 1) {
        cJSON *json = cJSON_ParseWithLength(line, (size_t)(stop - line));
        if (!cJSON_IsObject(json))
            status = mo_fail(err, MO_ERROR_FILE, "%s: damaged: no JSON object at byte %lld", path, (long long)*done);
        else
            status = use(table, json, err);
        cJSON_Delete(json);
        if (status == MO_OK) *done += stop + 1 - line;
    }
    return status;
}

// Reads the lines behind *done, a part of the table, which `forget` empties when the file became shorter.
static mo_status read_lines(const char *path, int64_t *done, void (*forget)(void *table), line_fn use, void *table,
                            mo_error *err)
{
    for (;;) {
        char *data;
        int64_t bytes, offset = *done;
        MO_TRY(read_tail(path, &offset, &data, &bytes, err));
        if (offset < *done) forget(table);
        int64_t before = *done;
        mo_status status = each_line(path, data, bytes, done, use, table, err);
        mo_free(data);
        if (status != MO_OK || bytes < BLOCK) return status;
        if (*done == before)
            return mo_fail(err, MO_ERROR_FILE, "%s: damaged: a line of more than %d MB", path, BLOCK >> 20);
    }
}

// ---- Statistics ----

void mo_stats_table_destroy(mo_stats_table *t)
{
    for (int32_t i = 0; i < t->fields; i++) {
        mo_free(t->name[i]);
        mo_free(t->value[i]);
    }
    mo_free(t->name);
    mo_free(t->value);
    *t = (mo_stats_table){0};
}

static int32_t add_field(mo_stats_table *t, const char *name)
{
    MO_ASSERT(t->fields < MAX_FIELDS);
    MO_ASSERT(t->steps < t->row_capacity);
    if (!mo_reserve((void **)&t->name, &t->name_capacity, t->fields + 1, sizeof *t->name) ||
        !mo_reserve((void **)&t->value, &t->column_capacity, t->fields + 1, sizeof *t->value))
        return -1;
    char *copy = mo_alloc(strlen(name) + 1);
    double *column = mo_alloc((size_t)t->row_capacity * sizeof *column + 1);
    if (!copy || !column) {
        mo_free(copy);
        mo_free(column);
        return -1;
    }
    strcpy(copy, name);
    for (int32_t i = 0; i <= t->steps; i++) column[i] = NAN;
    t->name[t->fields] = copy, t->value[t->fields] = column;
    return t->fields++;
}

static bool add_values(mo_stats_table *t, const cJSON *parent, const char *prefix, int32_t *guess)
{
    const cJSON *item;
    int32_t index = 0;
    cJSON_ArrayForEach(item, parent)
    {
        char name[128], number[16];
        snprintf(number, sizeof number, "%d", index++);
        snprintf(name, sizeof name, "%s%s%.60s", prefix, *prefix ? "." : "", item->string ? item->string : number);
        if (cJSON_IsObject(item) || cJSON_IsArray(item)) {
            if (strlen(name) < 64 && !add_values(t, item, name, guess)) return false;
            continue;
        }
        if (!cJSON_IsNumber(item)) continue;
        // Lines have their fields in one order: the next is nearly always the right one.
        int32_t field = *guess < t->fields && strcmp(t->name[*guess], name) == 0 ? *guess : 0;
        while (field < t->fields && strcmp(t->name[field], name) != 0) field++;
        if (field == MAX_FIELDS) continue; // not ours
        if (field == t->fields) field = add_field(t, name);
        if (field < 0) return false;
        t->value[field][t->steps] = item->valuedouble;
        *guess = field + 1;
    }
    return true;
}

static bool reserve_row(mo_stats_table *t)
{
    if (t->steps + 1 < t->row_capacity) return true;
    int64_t capacity = t->row_capacity ? 2 * t->row_capacity : 256;
    for (int32_t i = 0; i < t->fields; i++) {
        double *grown = mo_alloc((size_t)capacity * sizeof *grown);
        if (!grown) return false;
        memcpy(grown, t->value[i], (size_t)t->steps * sizeof *grown);
        mo_free(t->value[i]);
        t->value[i] = grown;
    }
    t->row_capacity = capacity;
    return true;
}

static mo_status add_step(void *table, const cJSON *line, mo_error *err)
{
    mo_stats_table *t = table;
    int32_t guess = 0;
    if (!reserve_row(t)) return mo_fail_memory(err);
    for (int32_t i = 0; i < t->fields; i++) t->value[i][t->steps] = NAN;
    if (!add_values(t, line, "", &guess)) return mo_fail_memory(err);
    t->steps++;
    return MO_OK;
}

static void forget_steps(void *table) { mo_stats_table_destroy(table); }

mo_status mo_stats_table_read(mo_stats_table *t, const char *path, mo_error *err)
{
    return read_lines(path, &t->bytes, forget_steps, add_step, t, err);
}

// ---- Bodies ----

void mo_pose_table_destroy(mo_pose_table *t)
{
    mo_free(t->pose);
    mo_free(t->row);
    t->pose = NULL, t->row = NULL;
    t->bytes = t->capacity = t->row_capacity = 0;
    t->frames = t->rows = 0;
}

static bool read_numbers(const cJSON *line, const char *key, int count, double *out)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(line, key), *item;
    int n = 0;
    cJSON_ArrayForEach(item, array)
    {
        if (n < count) out[n] = cJSON_IsNumber(item) ? item->valuedouble : NAN;
        n++;
    }
    for (int i = 0; i < count && n == count; i++)
        if (!isfinite(out[i])) return false;
    return n == count;
}

static double read_number(const cJSON *line, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(line, key);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static int32_t find_body(const mo_pose_table *t, const char *name)
{
    for (int32_t i = 0; i < t->bodies; i++) {
        int32_t body = (t->next + i) % t->bodies;
        if (strcmp(t->name[body], name) == 0) return body;
    }
    return -1;
}

// Returns the row of a frame, with room for it; -1: no memory. A frame costs memory only if it is there, because a
// single line with a large number would else cost it for all frames before.
static int32_t row_of_frame(mo_pose_table *t, int32_t frame)
{
    MO_ASSERT(frame >= 0 && frame <= MAX_FRAME && t->bodies > 0);
    if (!mo_reserve((void **)&t->row, &t->row_capacity, (int64_t)frame + 1, sizeof *t->row)) return -1;
    while (t->frames <= frame) t->row[t->frames++] = -1;
    if (t->row[frame] >= 0) return t->row[frame];
    int64_t have = (int64_t)t->rows * t->bodies, need = have + t->bodies;
    if (!mo_reserve((void **)&t->pose, &t->capacity, need, sizeof *t->pose)) return -1;
    memset(t->pose + have, 0, (size_t)(need - have) * sizeof *t->pose);
    return t->row[frame] = t->rows++;
}

const mo_body_pose *mo_pose_table_find(const mo_pose_table *t, int32_t body, int32_t frame)
{
    if (body < 0 || body >= t->bodies || frame < 0 || frame >= t->frames || t->row[frame] < 0) return NULL;
    return &t->pose[(int64_t)t->row[frame] * t->bodies + body];
}

// A line that makes no sense is skipped: its body then has no pose.
static mo_status add_pose(void *table, const cJSON *line, mo_error *err)
{
    mo_pose_table *t = table;
    const cJSON *frame = cJSON_GetObjectItemCaseSensitive(line, "frame");
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(line, "name"));
    double x[3], q[4];
    if (!t->bodies || !name || !cJSON_IsNumber(frame) ||
        !(frame->valuedouble >= 0 && frame->valuedouble <= fmin(t->last, MAX_FRAME)))
        return MO_OK;
    int32_t body = find_body(t, name);
    if (body < 0 || !read_numbers(line, "position", 3, x) || !read_numbers(line, "rotation", 4, q)) return MO_OK;
    t->next = body + 1;
    int32_t row = row_of_frame(t, frame->valueint);
    if (row < 0) return mo_fail_memory(err);
    t->pose[(int64_t)row * t->bodies + body] = (mo_body_pose){true,
                                                              {{x[0], x[1], x[2]}, {q[0], q[1], q[2], q[3]}},
                                                              read_number(line, "kinetic_energy"),
                                                              read_number(line, "elastic_energy"),
                                                              read_number(line, "least_volume")};
    return MO_OK;
}

static void forget_poses(void *table) { mo_pose_table_destroy(table); }

mo_status mo_pose_table_read(mo_pose_table *t, const char *path, mo_error *err)
{
    return read_lines(path, &t->bytes, forget_poses, add_pose, t, err);
}
