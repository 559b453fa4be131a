// Command line options as a table: parsing, help text, and a suggestion for what was misspelt.
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct text_list { // values of an option that may be repeated
    const char **item;     // the caller's array, long enough for argc items
    int32_t count;
} text_list;

typedef struct option {
    const char *name;  // "--frames"
    const char *alias; // "-o", or NULL
    const char *value; // name of its value in the help, NULL for a flag
    const char *help;
    // Where it goes: exactly one of these.
    bool *flag;
    int32_t *number; // in minimum..maximum
    const char **text;
    text_list *list;
    int32_t minimum, maximum;
} option;

typedef struct command_line {
    const char *usage;    // "run SCENE [options]"
    const char *purpose;  // a paragraph
    const char *examples; // lines
    const char *positional_name;
    bool positional_required;
    const char *positional; // out
    text_list *more;        // out: further positional words; NULL: they are a mistake
    const option *options;  // ends with a NULL name
} command_line;

// Returns -1 to go on; otherwise an exit code (help printed, or a complaint).
int parse_options(command_line *line, int argc, char **argv);

// The nearest of the names (ending with NULL) if it is near enough to be meant, else NULL.
const char *nearest_name(const char *word, const char *const *names);

#endif
