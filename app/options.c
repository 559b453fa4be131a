// Parsing by table.
#include "options.h"
#include "command.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Suggestions ----

enum { WORD = 32 };

static int smaller(int a, int b) { return a < b ? a : b; }

// Edits (insert, delete, replace, swap neighbours) that turn a into b; long words are never near.
static int edit_distance(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b), d[WORD + 1][WORD + 1];
    if (n > WORD || m > WORD) return WORD;
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] = smaller(d[i - 1][j - 1] + (a[i - 1] != b[j - 1]), 1 + smaller(d[i - 1][j], d[i][j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = smaller(d[i][j], 1 + d[i - 2][j - 2]);
        }
    return d[n][m];
}

const char *nearest_name(const char *word, const char *const *names)
{
    const char *best = NULL;
    int least = WORD, length = (int)strlen(word);
    for (; *names; names++) {
        bool starts = length >= 3 && strncmp(word, *names, (size_t)length) == 0;
        int distance = starts ? 1 : edit_distance(word, *names);
        if (distance < least) least = distance, best = *names;
    }
    return best && least <= 1 + (int)strlen(best) / 4 ? best : NULL;
}

// ---- Help ----

static void print_help(const command_line *line)
{
    printf("Usage: monolith %s\n\n%s\n\nOptions:\n", line->usage, line->purpose);
    for (const option *o = line->options; o->name; o++) {
        char left[64];
        snprintf(left, sizeof left, "%s%s%s%s%s", o->alias ? o->alias : "", o->alias ? ", " : "", o->name,
                 o->value ? " " : "", o->value ? o->value : "");
        printf("  %-24s %s\n", left, o->help);
    }
    printf("  %-24s %s\n\nExamples:\n%s", "-h, --help", "this text", line->examples);
}

// ---- Parsing ----

static const option *find_option(const option *options, const char *word, size_t length)
{
    for (const option *o = options; o->name; o++) {
        if (strlen(o->name) == length && strncmp(o->name, word, length) == 0) return o;
        if (o->alias && strlen(o->alias) == length && strncmp(o->alias, word, length) == 0) return o;
    }
    return NULL;
}

static int unknown_option(const command_line *line, const char *word, size_t length)
{
    const char *names[64] = {"--help"};
    int count = 1;
    for (const option *o = line->options; o->name && count < 63; o++) names[count++] = o->name;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    const char *near = nearest_name(name, names);
    int space = (int)strcspn(line->usage, " ");
    fprintf(stderr, "monolith: unknown option %s", name);
    if (near) fprintf(stderr, ", did you mean %s?", near);
    fprintf(stderr, " (monolith %.*s --help lists them)\n", space, line->usage);
    return EXIT_USER;
}

static int store(const option *o, const char *value)
{
    if (o->text) *o->text = value;
    if (o->list) o->list->item[o->list->count++] = value;
    if (!o->number) return -1;
    char *end;
    errno = 0;
    long number = strtol(value, &end, 10);
    if (end == value || *end || errno || number < o->minimum || number > o->maximum) {
        fprintf(stderr, "monolith: %s must be a whole number from %d to %d, got '%s'\n", o->name, o->minimum,
                o->maximum, value);
        return EXIT_USER;
    }
    *o->number = (int32_t)number;
    return -1;
}

// The option at argv[*i], with its value from behind '=' or the next word.
static int parse_option(const command_line *line, int argc, char **argv, int *i)
{
    const char *word = argv[*i];
    size_t length = strcspn(word, "=");
    const option *o = find_option(line->options, word, length);
    if (!o) return unknown_option(line, word, length);
    const char *value = word[length] ? word + length + 1 : NULL;
    if (o->flag) {
        if (value) {
            fprintf(stderr, "monolith: %s takes no value\n", o->name);
            return EXIT_USER;
        }
        *o->flag = true;
        return -1;
    }
    if (!value && *i + 1 < argc) value = argv[++*i];
    if (!value) {
        fprintf(stderr, "monolith: %s needs a value: %s %s\n", o->name, o->name, o->value);
        return EXIT_USER;
    }
    return store(o, value);
}

int parse_options(command_line *line, int argc, char **argv)
{
    bool options = true;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (options && strcmp(word, "--") == 0) {
            options = false;
        } else if (options && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            print_help(line);
            return EXIT_DONE;
        } else if (options && word[0] == '-' && word[1]) {
            int code = parse_option(line, argc, argv, &i);
            if (code >= 0) return code;
        } else if (line->positional && line->more) {
            line->more->item[line->more->count++] = word;
        } else if (line->positional) {
            fprintf(stderr, "monolith: unexpected argument '%s' after '%s'\n", word, line->positional);
            return EXIT_USER;
        } else {
            line->positional = word;
        }
    }
    if (line->positional_required && !line->positional) {
        fprintf(stderr, "monolith: %s is missing\nUsage: monolith %s\n", line->positional_name, line->usage);
        return EXIT_USER;
    }
    return -1;
}
