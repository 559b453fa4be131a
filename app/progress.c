// The progress bar and its plain twin.
#include "progress.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

progress progress_begin(bool quiet, int32_t first, int32_t frames)
{
    bool terminal = isatty(STDERR_FILENO);
    return (progress){.quiet = quiet, .terminal = terminal, .first = first, .frames = frames, .started = seconds_now()};
}

void progress_clear(progress *p)
{
    if (p->shown) fprintf(stderr, "\r\x1b[K");
    p->shown = false;
}

void progress_note(progress *p, const char *format, ...)
{
    if (p->quiet) return;
    progress_clear(p);
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

static void format_duration(double seconds, char text[32])
{
    long s = (long)(seconds + 0.5);
    if (s >= 3600)
        snprintf(text, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(text, 32, "%ld:%02ld", s / 60, s % 60);
}

static int terminal_width(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static void draw_bar(progress *p, int32_t done, const char *words)
{
    enum { LONGEST = 40 };
    char bar[LONGEST + 1];
    int room = terminal_width() - (int)strlen(words) - 4, width = room > LONGEST ? LONGEST : room;
    fprintf(stderr, "\r");
    if (width >= 5) {
        int filled = p->frames > 0 ? (int)((int64_t)width * done / p->frames) : width;
        for (int i = 0; i < width; i++) bar[i] = i < filled ? '=' : i == filled ? '>' : ' ';
        bar[width] = 0;
        fprintf(stderr, "[%s] ", bar);
    }
    fprintf(stderr, "%.*s\x1b[K", terminal_width() - 1, words);
    fflush(stderr);
    p->shown = true;
}

void progress_step(progress *p, const mo_stats *stats, int32_t frames_done)
{
    bool complete = frames_done == stats->frame;
    p->steps++, p->iterations += stats->iterations;
    if (!(stats->verify.velocity <= p->difference)) p->difference = stats->verify.velocity;
    double now = seconds_now();
    // A terminal also sees the steps of slow frames, but not more than ten pictures a second.
    bool show = !p->quiet && (p->terminal ? now - p->last > 0.1 || frames_done >= p->frames : complete);
    if (show) {
        char eta[32] = "?", words[160];
        int32_t here = frames_done - p->first, left = p->frames - frames_done;
        if (here > 0) format_duration((now - p->started) / here * left, eta);
        snprintf(words, sizeof words, "frame %d/%d  ETA %s  steps %d  iterations %lld  volume %+.3f%%", frames_done,
                 p->frames, eta, p->steps, (long long)p->iterations, 100 * stats->volume_error);
        size_t used = strlen(words);
        if (stats->verify.done) snprintf(words + used, sizeof words - used, "  difference %.1e", p->difference);
        if (p->terminal)
            draw_bar(p, frames_done, words);
        else
            fprintf(stderr, "%s\n", words);
        p->last = now;
    }
    if (complete) p->steps = 0, p->iterations = 0, p->difference = 0;
}

void progress_show(progress *p, int32_t done, const char *format, ...)
{
    if (p->quiet) return;
    char words[160], eta[32];
    va_list args;
    va_start(args, format);
    int used = vsnprintf(words, sizeof words, format, args);
    va_end(args);
    format_duration(done > 0 ? (seconds_now() - p->started) / done * (p->frames - done) : 0, eta);
    if (used >= 0 && used < (int)sizeof words) snprintf(words + used, sizeof words - (size_t)used, "  ETA %s", eta);
    if (p->terminal)
        draw_bar(p, done, words);
    else
        fprintf(stderr, "%s\n", words);
}
