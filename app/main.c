// The `monolith` command: finds the subcommand.
#include "command.h"
#include "options.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct command {
    const char *name, *purpose;
    int (*run)(int argc, char **argv);
} command;

static const command commands[] = {
    {"run", "simulate a scene and write its frames", command_run},
    {"check", "read a scene and say what it would simulate and need", command_check},
    {"render", "pictures and a video of a run", command_render},
    {"view", "show a run in a browser, or export it as a page", command_view},
    {"report", "write a page with plots of a run, or a comparison of runs", command_report},
    {"bench", "measure the solver on this machine", command_bench},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

int exit_code(mo_status status)
{
    if (status == MO_OK) return EXIT_DONE;
    return status == MO_ERROR_INPUT || status == MO_ERROR_FILE ? EXIT_USER : EXIT_FAILED;
}

int complain(const mo_error *err)
{
    fprintf(stderr, "monolith: %s\n", err->text);
    return exit_code(err->status);
}

int load_scene(const char *path, const char *const *overrides, int32_t count, mo_scene **out)
{
    for (int32_t i = 0; i < count; i++) {
        const char *equals = strchr(overrides[i], '=');
        if (equals && equals > overrides[i]) continue;
        fprintf(stderr, "monolith: --set needs key=value such as solver.route=paper, got '%s'\n", overrides[i]);
        return EXIT_USER;
    }
    mo_error err = {0};
    return mo_scene_load(path, overrides, count, out, &err) == MO_OK ? EXIT_DONE : complain(&err);
}

const char *format_bytes(int64_t bytes, char text[32])
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    int unit = 0;
    while (value >= 1000 && unit < 4) value /= 1000, unit++;
    snprintf(text, 32, unit ? "%.3g %s" : "%.0f %s", value, units[unit]);
    return text;
}

static int print_help(void)
{
    printf("Monolith simulates liquids together with solids.\n\n"
           "Usage: monolith COMMAND ...\n\nCommands:\n");
    for (int i = 0; i < COMMANDS; i++) printf("  %-8s %s\n", commands[i].name, commands[i].purpose);
    printf("\n'monolith COMMAND --help' explains a command, 'monolith --version' tells the version.\n\n"
           "Examples:\n"
           "  monolith check scenes/dam.lua\n"
           "  monolith run scenes/dam.lua -o out/dam\n"
           "  monolith run scenes/dam.lua -o out/dam --resume\n");
    return EXIT_DONE;
}

static int unknown_command(const char *word)
{
    const char *names[COMMANDS + 1] = {NULL};
    for (int i = 0; i < COMMANDS; i++) names[i] = commands[i].name;
    const char *near = nearest_name(word, names);
    fprintf(stderr, "monolith: there is no command '%s'", word);
    if (near) fprintf(stderr, ", did you mean '%s'?", near);
    fprintf(stderr, "\nCommands:");
    for (int i = 0; i < COMMANDS; i++) fprintf(stderr, "%s %s", i ? "," : "", names[i]);
    fprintf(stderr, " (monolith --help)\n");
    return EXIT_USER;
}

// Idle threads spin for some microseconds, then sleep: OpenMP's default burns milliseconds each time, and crawls on a
// busy machine. The runtime reads its environment when it is loaded, hence the constructor (CMakeLists.txt).
__attribute__((constructor(101))) static void calm_threads(void)
{
    if (!getenv("OMP_WAIT_POLICY")) setenv("GOMP_SPINCOUNT", "10000", 0);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "monolith: which command? (monolith --help lists them)\n");
        return EXIT_USER;
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) return print_help();
    if (strcmp(word, "--version") == 0) {
        printf("monolith %s\n", mo_version());
        return EXIT_DONE;
    }
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(word, commands[i].name) == 0) return commands[i].run(argc - 2, argv + 2);
    return unknown_command(word);
}

int main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN); // a file size limit is then an error of write() with a message
    int code = dispatch(argc, argv);
    // What was printed must have arrived: `monolith check > /dev/full` is no success.
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == EXIT_DONE) {
        perror("monolith: standard output");
        code = EXIT_FAILED;
    }
    return code;
}
