// Catching signals. A handler may call only functions that POSIX lists as safe there.
#include "signals.h"
#include "command.h"
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

// Signals have nowhere else to leave their marks.
static volatile sig_atomic_t stop_signal, announce, waits_for_step, removes;
static bool is_quiet;
static char directory[PATH_MAX];

static void say(const char *text)
{
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
}

static void cut_off(int number)
{
    (void)number;
    if (waits_for_step) return;
    if (removes) rmdir(directory);
    if (!is_quiet) say("interrupted\n");
    _exit(EXIT_INTERRUPTED);
}

static void set_deadline(void)
{
    struct itimerval soon = {.it_value = {.tv_usec = 700000}};
    setitimer(ITIMER_REAL, &soon, NULL);
}

static void on_signal(int number)
{
    stop_signal = number;
    if (!waits_for_step)
        set_deadline();
    else if (announce)
        say("\nstopping after this step; once more stops at once\n"); // by SA_RESETHAND
}

void signals_catch(bool quiet)
{
    is_quiet = quiet;
    announce = !quiet && isatty(STDERR_FILENO);
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++) {
        struct sigaction now, ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_RESETHAND};
        // nohup and background jobs of scripts have them ignored: so be it, except for SIGTERM.
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == SIG_IGN && signals[i] != SIGTERM) continue;
        sigaction(signals[i], &ours, NULL);
    }
    struct sigaction late = {.sa_handler = cut_off, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &late, NULL);
    signal(SIGPIPE, SIG_IGN); // nobody reading the progress is no reason to stop
}

bool signals_stop(void) { return stop_signal != 0; }

void signals_patient(bool patient) { waits_for_step = patient; }

void signals_remove(const char *empty)
{
    removes = 0;
    if (!empty || strlen(empty) >= sizeof directory) return;
    snprintf(directory, sizeof directory, "%s", empty);
    removes = 1;
}
