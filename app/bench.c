// monolith bench: measurements, as a table for people or JSON lines for programs.
#include "command.h"
#include "options.h"
#include "output/json.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const benches[][2] = {
    {"pressure", "the pressure solve on an irregular free-surface domain, every route"},
    {"stokes", "pressure and viscosity in one solve, over viscosities, weights and preconditioners"},
    {"contact", "whole systems of steps of scenes with bodies in contact, every route, with and without contacts"},
    {"elastic", "one step of Newton's method for an elastic block on a floor, dry and in liquid: joint form and ldlt"},
    {"step", "a whole step, per particle"},
    {"smoke", "a whole step in air, per cell, and what empty room costs"},
    {"scaling", "how the time of a solve grows with the number of cells"},
    {"triad", "the machine's memory bandwidth"},
    {"kernels", "operator and smoother of the fast viscous route against that bandwidth"},
};
enum { BENCHES = sizeof benches / sizeof *benches };

static const char purpose[] =
    "Runs the benchmark NAME and prints one line per measurement. Without NAME it lists them.";
static const char examples[] = "  monolith bench\n"
                               "  monolith bench pressure --max-cells 64\n"
                               "  monolith bench step --json >> step.jsonl\n"
                               "  monolith bench stokes --max-cells 32 --export systems\n"
                               "  monolith bench stokes --bodies 3\n"
                               "  monolith bench contact --cells 24\n";

enum { COLUMNS = 32, COLUMN_BYTES = 64 };

typedef struct table {
    int rows, columns;
    char key[COLUMNS][COLUMN_BYTES];
    int width[COLUMNS];
} table;

// Integers as they are, other numbers to six digits, strings without quotes.
static void format_cell(const mo_json_member *m, char text[COLUMN_BYTES])
{
    char *end;
    double number = strtod(m->value, &end);
    if (!m->is_string && *end == 0 && number != floor(number))
        snprintf(text, COLUMN_BYTES, "%.6g", number);
    else
        snprintf(text, COLUMN_BYTES, "%.63s", m->value);
}

static bool same_columns(const table *t, int columns, char key[COLUMNS][COLUMN_BYTES])
{
    bool same = t->columns == columns;
    for (int i = 0; same && i < columns; i++) same = strcmp(t->key[i], key[i]) == 0;
    return same;
}

static void new_header(table *t, int columns, char key[COLUMNS][COLUMN_BYTES], char cell[COLUMNS][COLUMN_BYTES])
{
    if (t->columns) printf("\n");
    t->columns = columns;
    for (int i = 0; i < columns; i++) {
        memcpy(t->key[i], key[i], COLUMN_BYTES);
        int name = (int)strlen(key[i]), value = (int)strlen(cell[i]);
        t->width[i] = name > value ? name : value;
        if (t->width[i] < 10) t->width[i] = 10; // room for the larger cases that follow
        printf("%s%*s", i ? "  " : "", t->width[i], key[i]);
    }
    printf("\n");
}

static void print_row(void *user, const char *line)
{
    table *t = user;
    char key[COLUMNS][COLUMN_BYTES], cell[COLUMNS][COLUMN_BYTES];
    mo_json_member member;
    int columns = 0, more;
    while ((more = mo_json_next(&line, &member)) == 1 && columns < COLUMNS) {
        if (member.value[0] == '{' && !member.is_string) continue; // times of the stages: too wide, only in --json
        snprintf(key[columns], COLUMN_BYTES, "%s", member.key);
        format_cell(&member, cell[columns++]);
    }
    if (more < 0) return;
    t->rows++;
    if (!same_columns(t, columns, key)) new_header(t, columns, key, cell);
    for (int i = 0; i < columns; i++) printf("%s%*s", i ? "  " : "", t->width[i], cell[i]);
    printf("\n");
    fflush(stdout);
}

static void print_json(void *user, const char *line)
{
    table *t = user;
    t->rows++;
    printf("%s\n", line);
    fflush(stdout);
}

static int list_benches(void)
{
    printf("Benchmarks (monolith bench NAME):\n");
    for (int i = 0; i < BENCHES; i++) printf("  %-10s %s\n", benches[i][0], benches[i][1]);
    return EXIT_DONE;
}

static int unknown_bench(const char *word)
{
    const char *names[BENCHES + 1] = {NULL};
    for (int i = 0; i < BENCHES; i++) names[i] = benches[i][0];
    const char *near = nearest_name(word, names);
    fprintf(stderr, "monolith: there is no benchmark '%s'", word);
    if (near) fprintf(stderr, ", did you mean '%s'?", near);
    fprintf(stderr, " (monolith bench lists them)\n");
    return EXIT_USER;
}

int command_bench(int argc, char **argv)
{
    mo_bench_options o = {0};
    bool json = false;
    int32_t cells = 0;
    const option options[] = {
        {"--json", NULL, NULL, "JSON lines instead of a table", .flag = &json},
        {"--threads", "-t", "T", "threads, default all cores", .number = &o.threads, .minimum = 1, .maximum = 1024},
        {"--min-cells", NULL, "N", "smallest case, cells along an edge", .number = &o.min_cells, .minimum = 4,
         .maximum = 4096},
        {"--max-cells", NULL, "N", "largest case, cells along an edge", .number = &o.max_cells, .minimum = 4,
         .maximum = 4096},
        {"--cells", NULL, "N", "the only case: both of the above", .number = &cells, .minimum = 4, .maximum = 4096},
        {"--repeats", NULL, "N", "measurements of each case", .number = &o.repeats, .minimum = 1, .maximum = 1000},
        {"--seconds", NULL, "N", "stokes, contact: most seconds of one solve, default 45", .number = &o.seconds,
         .minimum = 1, .maximum = 1000000},
        {"--viscosity", NULL, "N", "stokes: the only viscosity, Pa s", .number = &o.viscosity, .minimum = 1,
         .maximum = 1000000000},
        {"--bodies", NULL, "N", "stokes: light balls in the liquid", .number = &o.bodies, .minimum = 1, .maximum = 3},
        {"--scenes", NULL, "DIR", "contact: where the scenes are, default scenes", .text = &o.scenes},
        {"--export", NULL, "DIR", "stokes: write every system there as Matrix Market files", .text = &o.export_to},
        {0},
    };
    command_line line = {.usage = "bench [NAME] [options]",
                         .purpose = purpose,
                         .examples = examples,
                         .positional_name = "NAME",
                         .options = options};
    int code = parse_options(&line, argc, argv);
    if (code >= 0) return code;
    if (!line.positional) return list_benches();
    if (cells) o.min_cells = o.max_cells = cells;
    if (o.min_cells && o.max_cells && o.min_cells > o.max_cells) {
        fprintf(stderr, "monolith: --min-cells %d is more than --max-cells %d\n", o.min_cells, o.max_cells);
        return EXIT_USER;
    }
    bool known = false;
    for (int i = 0; i < BENCHES; i++) known = known || strcmp(benches[i][0], line.positional) == 0;
    if (!known) return unknown_bench(line.positional);
    table columns = {0};
    mo_error err = {0};
    mo_status status = mo_bench_run(line.positional, &o, json ? print_json : print_row, &columns, &err);
    if (status != MO_OK) return complain(&err);
    if (columns.rows) return EXIT_DONE;
    fprintf(stderr, "monolith: bench %s has no case between --min-cells and --max-cells\n", line.positional);
    return EXIT_USER;
}
