// The commands of `monolith` and what they share: exit codes, and messages to the user.
#ifndef COMMAND_H
#define COMMAND_H

#include "monolith/monolith.h"

enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,        // the run failed: no memory, disk full, solver
    EXIT_USER = 2,          // the user's mistake: scene, arguments, files
    EXIT_INTERRUPTED = 130, // by SIGINT or SIGTERM, after writing a checkpoint
};

// Each gets what follows its name on the command line; argv ends with NULL.
int command_run(int argc, char **argv);
int command_check(int argc, char **argv);
int command_render(int argc, char **argv);
int command_view(int argc, char **argv);
int command_report(int argc, char **argv);
int command_bench(int argc, char **argv);

int exit_code(mo_status status);
// Prints "monolith: TEXT" to stderr and returns the exit code that suits the status.
int complain(const mo_error *err);

// Loads a scene with overrides; prints the complaint itself. 0 or an exit code.
int load_scene(const char *path, const char *const *overrides, int32_t count, mo_scene **out);

// "1.5 GB"
const char *format_bytes(int64_t bytes, char text[32]);

#endif
