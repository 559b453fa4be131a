// monolith render: pictures and a video of a run.
#include "command.h"
#include "options.h"
#include "progress.h"
#include "signals.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char purpose[] =
    "Renders the frames of a run (a directory that 'monolith run' wrote) as pictures, frame_00042.png, with a path\n"
    "tracer. Camera, light and colours are those of the scene: camera{...} and look{...}, see docs/render.md.\n"
    "A run that is still computing can be rendered; frames missing on disk are skipped with a note.\n"
    "Exit codes: 0 done, 1 failed, 2 a mistake in arguments or files, 130 interrupted.";
static const char examples[] =
    "  monolith render out/dam                                   all frames, into out/dam/images\n"
    "  monolith render out/dam --video                           and a video\n"
    "  monolith render out/dam --frames 30 --size 1920x1080 --samples 256\n"
    "  monolith render out/dam --frames 0..100 --every 5 --samples 16\n"
    "  monolith render out/dam --particles --color height\n"
    "  monolith render out/beam --color stress                   elastic bodies by their von Mises stress\n"
    "  monolith render out/dam --camera '2,1,3;0.5,0.3,0.5;30'   eye;target;degrees\n";

typedef struct render_options {
    mo_render_options render;
    const char *frames, *size, *camera, *color;
    bool quiet;
} render_options;

static int mistake(const char *name, const char *want, const char *got)
{
    fprintf(stderr, "monolith: %s must be %s, got '%s'\n", name, want, got);
    return EXIT_USER;
}

// "7" or "3..12", either end may be left out of the latter.
static int read_frames(const char *text, mo_render_options *o)
{
    static const char want[] = "a frame such as 30, or a range such as 10..50";
    const char *dots = strstr(text, "..");
    char *end;
    long first = strtol(text, &end, 10), last = first;
    bool number = end > text;
    if (dots) {
        if ((!number && dots != text) || (number && end != dots)) return mistake("--frames", want, text);
        if (!number) first = 0;
        last = dots[2] ? strtol(dots + 2, &end, 10) : INT32_MAX;
        if (dots[2] && end == dots + 2) return mistake("--frames", want, text);
        if (!dots[2]) end = (char *)dots + 2;
    }
    if ((!dots && !number) || *end || first < 0 || last < first || last > INT32_MAX)
        return mistake("--frames", want, text);
    o->first = (int32_t)first, o->last = (int32_t)last;
    return -1;
}

static int read_size(const char *text, mo_render_options *o)
{
    char rest;
    if (sscanf(text, "%dx%d%c", &o->width, &o->height, &rest) != 2 || o->width < 16 || o->height < 16 ||
        o->width > 16384 || o->height > 16384)
        return mistake("--size", "WIDTHxHEIGHT in pixels, 16 to 16384 each", text);
    return -1;
}

static int read_camera(const char *text, mo_render_options *o)
{
    char rest;
    mo_vec3 *e = &o->eye, *t = &o->target;
    int n = sscanf(text, "%lf,%lf,%lf;%lf,%lf,%lf;%lf%c", &e->x, &e->y, &e->z, &t->x, &t->y, &t->z, &o->fov, &rest);
    o->camera = true;
    if (n == 7) return -1;
    // Without the angle nothing may follow the target.
    n = sscanf(text, "%lf,%lf,%lf;%lf,%lf,%lf%c", &e->x, &e->y, &e->z, &t->x, &t->y, &t->z, &rest);
    return n == 6 ? -1 : mistake("--camera", "eye;target;degrees such as '2,1,3;0.5,0.3,0.5;30'", text);
}

static int read_color(const char *text, mo_render_options *o)
{
    static const char *const names[] = {"speed", "height", "viscosity"}; // as mo_particle_color
    int which = 0;
    o->stress = strcmp(text, "stress") == 0;
    if (o->stress) return -1;
    while (which < 3 && strcmp(text, names[which]) != 0) which++;
    if (which == 3) return mistake("--color", "speed, height, viscosity or stress", text);
    if (!o->particles) {
        fprintf(stderr, "monolith: --color %s is for --particles\n", text);
        return EXIT_USER;
    }
    o->color = (mo_particle_color)which;
    return -1;
}

static int parse(int argc, char **argv, render_options *o, const char **directory)
{
    mo_render_options *r = &o->render;
    const option options[] = {
        {"--output", "-o", "DIR", "where to write, default images in the run's directory", .text = &r->output},
        {"--frames", NULL, "A..B", "frames to render, or one frame; default all", .text = &o->frames},
        {"--every", NULL, "K", "only every K-th of them", .number = &r->every, .minimum = 1, .maximum = 1000000},
        {"--size", NULL, "WxH", "pixels, default 960x540", .text = &o->size},
        {"--samples", NULL, "N", "paths per pixel at most, default 64; more = less noise", .number = &r->samples,
         .minimum = 1, .maximum = 65536},
        {"--camera", NULL, "E;T;F", "eye;target;degrees instead of the scene's camera", .text = &o->camera},
        {"--particles", NULL, NULL, "show the particles as balls instead of the surface", .flag = &r->particles},
        {"--color", NULL, "WHAT", "of particles: speed (default), height or viscosity; of elastic bodies: stress",
         .text = &o->color},
        {"--video", NULL, NULL, "also a video: video.mp4 if there is ffmpeg, else an animated video.png",
         .flag = &r->video},
        {"--threads", "-t", "T", "threads, default all cores; never changes the pictures", .number = &r->threads,
         .minimum = 1, .maximum = 1024},
        {"--quiet", "-q", NULL, "print errors only", .flag = &o->quiet},
        {0},
    };
    command_line line = {.usage = "render DIR [options]",
                         .purpose = purpose,
                         .examples = examples,
                         .positional_name = "DIR",
                         .positional_required = true,
                         .options = options};
    int code = parse_options(&line, argc, argv);
    *directory = line.positional;
    if (code < 0 && o->frames) code = read_frames(o->frames, r);
    if (code < 0 && o->size) code = read_size(o->size, r);
    if (code < 0 && o->camera) code = read_camera(o->camera, r);
    if (code < 0 && o->color) code = read_color(o->color, r);
    if (code < 0 && r->output && !*r->output) {
        fprintf(stderr, "monolith: --output must not be empty\n");
        code = EXIT_USER;
    }
    return code;
}

// ---- Progress ----

typedef struct teller {
    progress bar;
    int32_t pictures;
    bool begun;
} teller;

static bool show(void *user, const mo_render_progress *p)
{
    teller *t = user;
    if (!t->begun) t->bar.frames = p->total, t->begun = true;
    if (p->video != MO_VIDEO_NONE) {
        progress_note(&t->bar, "video: %s%s", p->path,
                      p->video == MO_VIDEO_APNG ? " (animated PNG: there is no ffmpeg for an .mp4)" : "");
        return true;
    }
    if (p->note) progress_note(&t->bar, p->path ? "note: %s" : "skipped: %s", p->note);
    if (p->path) {
        t->pictures++;
        progress_show(&t->bar, p->done, "frame %d  %d/%d  %.1f s of CPU", p->frame, p->done, p->total, p->cpu_seconds);
    }
    return !signals_stop();
}

int command_render(int argc, char **argv)
{
    render_options o = {.render = mo_render_options_default()};
    const char *directory;
    int code = parse(argc, argv, &o, &directory);
    if (code >= 0) return code;
    signals_catch(o.quiet);
    teller t = {.bar = progress_begin(o.quiet, 0, 0)};
    mo_error err = {0};
    mo_status status = mo_render_run(directory, &o.render, show, &t, &err);
    progress_clear(&t.bar);
    if (status == MO_ERROR_STOPPED) {
        progress_note(&t.bar, "interrupted after %d pictures", t.pictures);
        return EXIT_INTERRUPTED;
    }
    if (status != MO_OK) return complain(&err);
    const char *slash = directory[strlen(directory) - 1] == '/' ? "" : "/";
    if (o.render.output)
        progress_note(&t.bar, "done: %d pictures in %s", t.pictures, o.render.output);
    else
        progress_note(&t.bar, "done: %d pictures in %s%simages", t.pictures, directory, slash);
    return EXIT_DONE;
}
