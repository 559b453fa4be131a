// A run in columns: what the page needs of stats.jsonl, read once.
#include "report/report.h"
#include "output/directory.h"
#include "output/file.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const field_name[MO_FIELD_COUNT] = {
    [MO_FIELD_TIME] = "time",
    [MO_FIELD_DT] = "dt",
    [MO_FIELD_PARTICLES] = "particles",
    [MO_FIELD_PRESSURES] = "dofs.p",
    [MO_FIELD_STRESSES] = "dofs.s",
    [MO_FIELD_ROUNDS] = "rounds",
    [MO_FIELD_ROUND_CHANGE] = "round_change",
    [MO_FIELD_ITERATIONS] = "iterations",
    [MO_FIELD_CORRECTION_ITERATIONS] = "correction_iterations",
    [MO_FIELD_RESIDUAL] = "residual",
    [MO_FIELD_VOLUME] = "volume",
    [MO_FIELD_VOLUME_TARGET] = "volume_target",
    [MO_FIELD_VOLUME_ERROR] = "volume_error",
    [MO_FIELD_DENSITY_RMS] = "density_rms",
    [MO_FIELD_KINETIC_ENERGY] = "kinetic_energy",
    [MO_FIELD_ENERGY] = "energy",
    [MO_FIELD_ENERGY_WORK] = "energy_work",
    [MO_FIELD_ENERGY_LOSS] = "energy_loss",
    [MO_FIELD_ENERGY_ERROR] = "energy_error",
    [MO_FIELD_MOMENTUM_X] = "momentum.0",
    [MO_FIELD_MOMENTUM_Y] = "momentum.1",
    [MO_FIELD_MOMENTUM_Z] = "momentum.2",
    [MO_FIELD_MAX_SPEED] = "max_speed",
    [MO_FIELD_MAX_DIVERGENCE] = "max_divergence",
    [MO_FIELD_BALLISTIC] = "ballistic",
    [MO_FIELD_CLAMPED] = "clamped",
    [MO_FIELD_OUTLIERS] = "outliers",
    [MO_FIELD_CONTACTS] = "contacts",
    [MO_FIELD_MAX_PENETRATION] = "max_penetration",
    [MO_FIELD_VERTICES] = "dofs.e",
    [MO_FIELD_ELASTIC_ENERGY] = "elastic_energy",
    [MO_FIELD_LEAST_VOLUME] = "elastic.least_volume",
    [MO_FIELD_INVERTED] = "elastic.inverted",
    [MO_FIELD_NEWTON] = "elastic.newton",
    [MO_FIELD_HALVINGS] = "elastic.halvings",
    [MO_FIELD_PROJECTED] = "elastic.projected",
    [MO_FIELD_CUT_CELLS] = "sheets.cut_cells",
    [MO_FIELD_TANGLED] = "sheets.tangled",
    [MO_FIELD_CROSSED] = "sheets.crossed",
    [MO_FIELD_CPU_SECONDS] = "cpu_seconds",
    [MO_FIELD_MEMORY] = "memory_bytes",
};

mo_summary mo_summarize(const double *value, int32_t count)
{
    MO_ASSERT(count >= 0);
    mo_summary s = {NAN, NAN, NAN, NAN, 0, 0, -1, -1, -1};
    for (int32_t i = 0; i < count; i++) {
        if (!isfinite(value[i])) continue;
        if (s.at_min < 0 || value[i] < s.min) s.min = value[i], s.at_min = i;
        if (s.at_max < 0 || value[i] > s.max) s.max = value[i], s.at_max = i;
        s.last = value[i], s.at_last = i;
        s.sum += value[i];
        s.count++;
    }
    if (s.count) s.mean = s.sum / s.count;
    return s;
}

// ---- Words of the lines: names of the stages, reasons ----

static bool copy_name(char out[MO_REPORT_NAME], const char *word)
{
    if (!word || !*word || strlen(word) >= MO_REPORT_NAME) return false;
    strcpy(out, word);
    return true;
}

static void note_stages(mo_report_run *run, const cJSON *line)
{
    const cJSON *stage;
    cJSON_ArrayForEach(stage, cJSON_GetObjectItemCaseSensitive(line, "seconds"))
    {
        if (run->stage_count < MO_REPORT_STAGES && copy_name(run->stage[run->stage_count], stage->string))
            run->stage_count++;
    }
}

static void note_reason(mo_report_run *run, const cJSON *line)
{
    char name[MO_REPORT_NAME];
    if (!copy_name(name, cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(line, "reason")))) return;
    int32_t k = 0;
    while (k < run->reason_count && strcmp(run->reason[k], name) != 0) k++;
    if (k == MO_REPORT_REASONS) k--; // more kinds than any version knows: the last one counts them
    if (k == run->reason_count) strcpy(run->reason[run->reason_count++], name);
    run->reason_steps[k]++;
    if (strcmp(name, "converged") != 0 && strcmp(name, "nothing_to_do") != 0) run->unconverged++;
}

// The reader gives numbers only; the words come from the lines themselves.
static mo_status load_words(mo_report_run *run, const char *directory, mo_error *err)
{
    char *path = mo_path(directory, MO_STATS_FILE), *data;
    size_t bytes;
    if (!path) return mo_fail_memory(err);
    mo_status status = mo_file_read(path, &data, &bytes, NULL, err);
    mo_free(path);
    if (status != MO_OK) return status;
    const char *s = data, *newline;
    for (int32_t i = 0; i < run->steps && (newline = strchr(s, '\n')); i++, s = newline + 1) {
        cJSON *line = cJSON_ParseWithLength(s, (size_t)(newline - s));
        if (i == 0) note_stages(run, line);
        note_reason(run, line);
        cJSON_Delete(line);
    }
    mo_free_block(data);
    return MO_OK;
}

// ---- Columns ----

static mo_status load_columns(mo_report_run *run, mo_error *err)
{
    int32_t n = run->steps;
    size_t columns = MO_FIELD_COUNT + (size_t)run->stage_count;
    double *v = run->values = mo_alloc(sizeof *v * columns * (size_t)n);
    if (!v) return mo_fail_memory(err);
    for (int f = 0; f < MO_FIELD_COUNT; f++, v += n) {
        run->value[f] = v;
        for (int32_t i = 0; i < n; i++) v[i] = field_name[f] ? mo_reader_value(run->reader, i, field_name[f]) : 0;
    }
    double *wall = run->value[MO_FIELD_WALL_SECONDS];
    for (int32_t k = 0; k < run->stage_count; k++, v += n) {
        char name[MO_REPORT_NAME + 8] = "seconds.";
        strcat(name, run->stage[k]);
        run->seconds[k] = v;
        for (int32_t i = 0; i < n; i++) {
            v[i] = mo_reader_value(run->reader, i, name);
            if (isfinite(v[i])) wall[i] += v[i];
        }
    }
    return MO_OK;
}

// The last part of the path; of "." and the like, of what they mean.
static char *make_label(const char *directory)
{
    char *real = NULL;
    size_t end = strlen(directory);
    while (end > 1 && directory[end - 1] == '/') end--;
    size_t begin = end;
    while (begin > 0 && directory[begin - 1] != '/') begin--;
    const char *base = directory + begin;
    size_t length = end - begin;
    if (length == 0 || (base[0] == '.' && (length == 1 || (length == 2 && base[1] == '.')))) {
        real = realpath(directory, NULL);
        const char *slash = real ? strrchr(real, '/') : NULL;
        if (slash && slash[1]) base = slash + 1, length = strlen(base);
    }
    char *label = mo_path("", "%.*s", (int)length, base);
    free(real);
    return label;
}

const cJSON *mo_report_get(const mo_report_run *run, const char *path)
{
    const cJSON *item = run->json;
    char key[64];
    while (item && *path) {
        size_t length = strcspn(path, ".");
        if (length >= sizeof key) return NULL;
        memcpy(key, path, length);
        key[length] = 0;
        item = cJSON_GetObjectItemCaseSensitive(item, key);
        path += length + (path[length] == '.');
    }
    return item;
}

const char *mo_report_word(const mo_report_run *run, const char *path)
{
    const char *word = cJSON_GetStringValue(mo_report_get(run, path));
    return word ? word : "";
}

double mo_report_value(const mo_report_run *run, const char *path)
{
    const cJSON *item = mo_report_get(run, path);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

mo_status mo_report_run_load(const char *directory, mo_report_run *run, mo_error *err)
{
    *run = (mo_report_run){0};
    mo_status status = mo_reader_open(directory, &run->reader, err);
    if (status != MO_OK) return status;
    run->steps = mo_reader_step_count(run->reader);
    if (run->steps == 0)
        status = mo_fail(err, MO_ERROR_INPUT, "%s: the run has no steps yet, nothing to report", directory);
    else if (!(run->label = make_label(directory)) || !(run->json = cJSON_Parse(mo_reader_settings(run->reader))))
        status = mo_fail_memory(err);
    if (status == MO_OK) status = load_words(run, directory, err);
    if (status == MO_OK) status = load_columns(run, err);
    if (status != MO_OK) mo_report_run_destroy(run);
    return status;
}

void mo_report_run_destroy(mo_report_run *run)
{
    mo_reader_close(run->reader);
    cJSON_Delete(run->json);
    mo_free(run->label);
    mo_free(run->values);
    *run = (mo_report_run){0};
}
