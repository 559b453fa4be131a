// mo_render_run: the frames of a run directory as pictures, and a video of them.
#include "base/parallel.h"
#include "base/vec.h"
#include "output/file.h"
#include "render/image.h"
#include "render/stage.h"
#include <stdio.h>

typedef struct job {
    const mo_render_options *options;
    mo_reader *run;
    mo_stage stage;
    char *output;
    float *light;   // [3 * pixels]
    uint8_t *pixel; // [3 * pixels]
    mo_video video;
    mo_video_file *file;
    mo_render_fn progress;
    void *user;
    int32_t pictures; // written
    mo_error first;   // why the first skipped frame was
} job;

mo_render_options mo_render_options_default(void)
{
    return (mo_render_options){.last = INT32_MAX, .every = 1, .width = 960, .height = 540, .samples = 64, .fov = 35};
}

static mo_status check_range(const char *name, int32_t value, int32_t lo, int32_t hi, mo_error *err)
{
    if (value >= lo && value <= hi) return MO_OK;
    return mo_fail(err, MO_ERROR_INPUT, "%s must be %d..%d, got %d", name, lo, hi, value);
}

static mo_status check_options(const mo_render_options *o, mo_error *err)
{
    MO_TRY(check_range("width", o->width, 16, 16384, err));
    MO_TRY(check_range("height", o->height, 16, 16384, err));
    MO_TRY(check_range("samples", o->samples, 1, 65536, err));
    MO_TRY(check_range("every", o->every, 1, INT32_MAX, err));
    MO_TRY(check_range("threads", o->threads, 0, 4096, err));
    if (o->first > o->last)
        return mo_fail(err, MO_ERROR_INPUT, "frames %d..%d: the first is behind the last", o->first, o->last);
    if (!o->camera) return MO_OK;
    if (!mo_v3_finite(o->eye) || !mo_v3_finite(o->target) || !(mo_norm(mo_sub(o->eye, o->target)) > 0))
        return mo_fail(err, MO_ERROR_INPUT, "camera: eye and target must be two different points");
    if (!(o->fov >= 1 && o->fov <= 150)) return mo_fail(err, MO_ERROR_INPUT, "camera: fov must be 1..150 degrees");
    return MO_OK;
}

static bool wanted(const mo_render_options *o, int32_t frame)
{
    int32_t first = o->first > 0 ? o->first : 0;
    return frame >= first && frame <= o->last && (frame - first) % o->every == 0;
}

static bool tell(const job *j, mo_render_progress p) { return !j->progress || j->progress(j->user, &p); }

// ---- One picture ----

static mo_status write_png(const char *path, const void *png, size_t bytes, mo_error *err)
{
    mo_file *f;
    MO_TRY(mo_file_create(path, &f, err));
    mo_file_write(f, png, bytes);
    return mo_file_commit(f, err);
}

static mo_status save_picture(job *j, const char *path, mo_error *err)
{
    void *png;
    size_t bytes;
    MO_TRY(mo_image_png(j->pixel, j->options->width, j->options->height, &png, &bytes, err));
    mo_status status = write_png(path, png, bytes, err);
    if (status == MO_OK && j->file) status = mo_video_add(j->file, j->pixel, png, bytes, err);
    mo_free(png);
    return status;
}

// A frame that cannot be read is skipped with a note.
static mo_status render_frame(job *j, int32_t frame, mo_render_progress *p, mo_error *err)
{
    const mo_render_options *o = j->options;
    double start = mo_cpu_seconds();
    mo_tracer *tracer;
    mo_error why = {0};
    mo_status status = mo_stage_frame(&j->stage, frame, &tracer, &why);
    if (status == MO_ERROR_FILE) {
        if (j->first.status == MO_OK) j->first = why;
        p->note = why.text;
        return tell(j, *p) ? MO_OK : mo_fail(err, MO_ERROR_STOPPED, "stopped");
    }
    if (status != MO_OK) {
        if (err) *err = why;
        return status;
    }
    mo_tracer_render(tracer, &j->stage.camera, o->width, o->height, o->samples, j->light);
    mo_tracer_destroy(tracer);
    mo_image_tone(j->light, (int64_t)o->width * o->height, j->stage.look.exposure, j->pixel);
    char *path = mo_path(j->output, "frame_%05d.png", frame);
    status = path ? save_picture(j, path, err) : mo_fail_memory(err);
    p->path = path;
    p->cpu_seconds = mo_cpu_seconds() - start;
    char scale[100];
    snprintf(scale, sizeof scale, "stress is violet at 0 and red at %.3g Pa and more", (double)j->stage.top_stress);
    if (o->stress && j->pictures == 0) p->note = scale;
    j->pictures++;
    if (status == MO_OK && !tell(j, *p)) status = mo_fail(err, MO_ERROR_STOPPED, "stopped");
    p->note = NULL;
    mo_free(path);
    return status;
}

// ---- All of them ----

static mo_status render_frames(job *j, mo_error *err)
{
    int32_t total = 0, done = 0;
    for (int32_t i = 0; i < mo_reader_frame_count(j->run); i++) total += wanted(j->options, mo_reader_frame(j->run, i));
    if (!total && !mo_reader_frame_count(j->run))
        return mo_fail(err, MO_ERROR_INPUT, "%s: holds no frames", mo_reader_directory(j->run));
    if (!total)
        return mo_fail(err, MO_ERROR_INPUT, "%s: holds frames %d..%d, none of those asked for",
                       mo_reader_directory(j->run), mo_reader_frame(j->run, 0),
                       mo_reader_frame(j->run, mo_reader_frame_count(j->run) - 1));
    int32_t expected = -1;
    for (int32_t i = 0; i < mo_reader_frame_count(j->run); i++) {
        int32_t frame = mo_reader_frame(j->run, i);
        if (!wanted(j->options, frame)) continue;
        char gap[100];
        mo_render_progress p = {.frame = frame, .done = ++done, .total = total};
        if (expected >= 0 && frame > expected) {
            snprintf(gap, sizeof gap, "frames %d..%d are missing on disk", expected, frame - j->options->every);
            mo_render_progress missing = {.frame = frame, .done = done - 1, .total = total, .note = gap};
            if (!tell(j, missing)) return mo_fail(err, MO_ERROR_STOPPED, "stopped");
        }
        expected = frame <= INT32_MAX - j->options->every ? frame + j->options->every : INT32_MAX;
        MO_TRY(render_frame(j, frame, &p, err));
    }
    if (j->pictures) return MO_OK;
    if (err) *err = j->first;
    return j->first.status;
}

static mo_status open_job(job *j, mo_error *err)
{
    const mo_render_options *o = j->options;
    size_t pixels = (size_t)o->width * (size_t)o->height;
    const char *dir = mo_reader_directory(j->run);
    j->output = o->output ? mo_path("", "%s", o->output) : mo_path(dir, "images");
    j->light = mo_alloc(3 * sizeof(float) * pixels);
    j->pixel = mo_alloc(3 * pixels);
    if (!j->output || !j->light || !j->pixel) return mo_fail_memory(err);
    MO_TRY(mo_stage_create(j->run, o, &j->stage, err));
    MO_TRY(mo_directory_create(j->output, NULL, err));
    if (!o->video) return MO_OK;
    j->video = mo_video_has_ffmpeg() ? MO_VIDEO_MP4 : MO_VIDEO_APNG;
    return mo_video_create(j->video, j->output, o->width, o->height, mo_reader_fps(j->run) / o->every, &j->file, err);
}

static mo_status finish_video(job *j, bool keep, mo_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s", mo_video_path(j->file));
    MO_TRY(mo_video_finish(j->file, keep, err));
    if (keep) tell(j, (mo_render_progress){.path = path, .video = j->video});
    return MO_OK;
}

mo_status mo_render_run(const char *directory, const mo_render_options *options, mo_render_fn progress, void *user,
                        mo_error *err)
{
    MO_TRY(check_options(options, err));
    job j = {.options = options, .progress = progress, .user = user};
    MO_TRY(mo_reader_open(directory, &j.run, err));
    int32_t before = mo_thread_count();
    mo_use_threads(options->threads ? options->threads : before);
    mo_status status = open_job(&j, err);
    if (status == MO_OK) status = render_frames(&j, err);
    if (j.file) {
        mo_status end = finish_video(&j, status == MO_OK, status == MO_OK ? err : NULL);
        if (status == MO_OK) status = end;
    }
    if (options->threads) mo_use_threads(before);
    mo_stage_destroy(&j.stage);
    mo_free(j.output);
    mo_free(j.light);
    mo_free(j.pixel);
    mo_reader_close(j.run);
    return status;
}
