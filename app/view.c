// monolith view: a run in a browser, served from here or exported as one page.
#include "command.h"
#include "options.h"
#include "signals.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char purpose[] =
    "Shows the run in DIR in a browser: the liquid, the solids and the statistics, frame by frame. The page is\n"
    "served to this machine only, until Ctrl-C; a run that is still computing is followed. With --export the page\n"
    "and the data become one file that needs no server. Exit codes: 0 done, 2 a mistake in DIR or the arguments.";
static const char examples[] = "  monolith view out/dam\n"
                               "  monolith view out/dam --port 9000 --no-open\n"
                               "  monolith view out/dam --export dam.html --every 2\n";

static bool must_stop(void *user)
{
    (void)user;
    return signals_stop();
}

// xdg-open in a process of its own; whether there is one, and a browser, does not matter: the address was printed.
static void open_browser(const char *url)
{
    pid_t child = fork();
    if (child == 0) {
        // The browser is not ours to wait for: its parent ends at once.
        if (fork() == 0) {
            setsid();
            if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(1);
            execlp("xdg-open", "xdg-open", url, (char *)NULL);
        }
        _exit(0);
    }
    if (child > 0) waitpid(child, NULL, 0);
}

static void on_ready(void *user, const char *url)
{
    const bool *no_open = user;
    printf("%s\n", url);
    if (isatty(STDOUT_FILENO)) printf("Ctrl-C ends it\n");
    fflush(stdout);
    if (!*no_open && isatty(STDOUT_FILENO)) open_browser(url);
}

static int serve(const char *dir, mo_view_options options, bool no_open)
{
    signals_catch(true);
    options.stop = must_stop;
    mo_error err = {0};
    return mo_view_serve(dir, &options, on_ready, &no_open, &err) == MO_OK ? EXIT_DONE : complain(&err);
}

static int export(const char *dir, const char *path, mo_view_options options)
{
    mo_error err = {0};
    if (mo_view_export(dir, path, &options, &err) != MO_OK) return complain(&err);
    struct stat info;
    char size[32];
    if (stat(path, &info) == 0) printf("%s: %s\n", path, format_bytes(info.st_size, size));
    return EXIT_DONE;
}

int command_view(int argc, char **argv)
{
    mo_view_options view = mo_view_options_default();
    bool no_open = false;
    const char *path = NULL;
    const option options[] = {
        {"--port", "-p", "N", "port on 127.0.0.1 (default: the first free one from 8123 on)", .number = &view.port,
         .minimum = 1, .maximum = 65535},
        {"--no-open", NULL, NULL, "do not start a browser, only print the address", .flag = &no_open},
        {"--export", "-o", "FILE.html", "write one page with the data in it instead of serving", .text = &path},
        {"--every", NULL, "K", "with --export: each K-th frame and the last (default 1)", .number = &view.every,
         .minimum = 1, .maximum = 1000000},
        {0},
    };
    command_line line = {.usage = "view DIR [options]",
                         .purpose = purpose,
                         .examples = examples,
                         .positional_name = "DIR",
                         .positional_required = true,
                         .options = options};
    int code = parse_options(&line, argc, argv);
    if (code >= 0) return code;
    if (!path && view.every != 1) {
        fprintf(stderr, "monolith: --every is for --export: a served page reads every frame when it is shown\n");
        return EXIT_USER;
    }
    return path ? export(line.positional, path, view) : serve(line.positional, view, no_open);
}
