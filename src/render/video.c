// Videos: pictures sent to ffmpeg through a socket (no shell, no SIGPIPE), or put together as an animated PNG.
#include "render/image.h"
#include "output/file.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

struct mo_video_file {
    mo_video kind;
    char *path, *temporary;
    int32_t width, height;
    double fps;
    // ffmpeg
    pid_t process;
    int pipe;
    // Animated PNG
    FILE *file;
    uint32_t frames, sequence;
    long count_at; // where the number of frames goes
};

const char *mo_video_path(const mo_video_file *v) { return v->path; }

// ---- ffmpeg ----

bool mo_video_has_ffmpeg(void)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        char name[4096];
        if (snprintf(name, sizeof name, "%.*s/ffmpeg", (int)length, path) < (int)sizeof name && access(name, X_OK) == 0)
            return true;
        path += length;
        path += *path == ':';
    }
    return false;
}

static mo_status start_ffmpeg(mo_video_file *v, mo_error *err)
{
    int ends[2];
    char size[32], rate[32];
    snprintf(size, sizeof size, "%dx%d", v->width, v->height);
    snprintf(rate, sizeof rate, "%.6f", v->fps);
    char *arguments[] = {"ffmpeg",   "-y",       "-loglevel",  "error",
                         "-f",       "rawvideo", "-pix_fmt",   "rgb24",
                         "-s",       size,       "-r",         rate,
                         "-i",       "-",        "-vf",        "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                         "-c:v",     "libx264",  "-crf",       "18",
                         "-pix_fmt", "yuv420p",  "-movflags",  "+faststart",
                         "-f",       "mp4",      v->temporary, NULL};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return mo_fail_file(err, v->path, "cannot start ffmpeg for", errno);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    int error = posix_spawnp(&v->process, "ffmpeg", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    v->pipe = ends[0];
    if (error) v->process = 0;
    return error ? mo_fail_file(err, v->path, "cannot start ffmpeg for", error) : MO_OK;
}

static mo_status send_pixels(mo_video_file *v, const uint8_t *rgb, mo_error *err)
{
    size_t left = (size_t)v->width * (size_t)v->height * 3;
    while (left) {
        ssize_t n = send(v->pipe, rgb, left, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return mo_fail(err, MO_ERROR_FAILED, "%s: ffmpeg ended early (its message is above)", v->path);
        rgb += n, left -= (size_t)n;
    }
    return MO_OK;
}

static mo_status end_ffmpeg(mo_video_file *v, mo_error *err)
{
    if (v->pipe >= 0) close(v->pipe);
    int code = 0;
    if (!v->process) return MO_OK;
    while (waitpid(v->process, &code, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(code) && WEXITSTATUS(code) == 0) return MO_OK;
    return mo_fail(err, MO_ERROR_FAILED, "%s: ffmpeg failed (its message is above)", v->path);
}

// ---- Animated PNG ----

static void put32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> (24 - 8 * i));
}

static uint32_t get32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

// A chunk whose data come in two parts.
static void write_chunk(FILE *f, const char *type, const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    uint8_t number[4];
    put32(number, (uint32_t)(a_bytes + b_bytes));
    fwrite(number, 1, 4, f);
    fwrite(type, 1, 4, f);
    if (a_bytes) fwrite(a, 1, a_bytes, f);
    if (b_bytes) fwrite(b, 1, b_bytes, f);
    uLong crc = crc32(0, (const Bytef *)type, 4);
    if (a_bytes) crc = crc32(crc, a, (uInt)a_bytes);
    if (b_bytes) crc = crc32(crc, b, (uInt)b_bytes);
    put32(number, (uint32_t)crc);
    fwrite(number, 1, 4, f);
}

static void write_count(mo_video_file *v)
{
    uint8_t control[8];
    put32(control, v->frames);
    put32(control + 4, 0); // for ever
    write_chunk(v->file, "acTL", control, 8, NULL, 0);
}

static void write_frame_control(mo_video_file *v)
{
    uint8_t control[26] = {0};
    put32(control, v->sequence++);
    put32(control + 4, (uint32_t)v->width);
    put32(control + 8, (uint32_t)v->height);
    uint32_t delay = (uint32_t)lround(65535 / fmax(1, fmin(v->fps, 60000)));
    uint32_t unit = (uint32_t)lround(delay * v->fps);
    control[20] = (uint8_t)(delay >> 8), control[21] = (uint8_t)delay;
    control[22] = (uint8_t)(unit >> 8), control[23] = (uint8_t)unit;
    write_chunk(v->file, "fcTL", control, 26, NULL, 0);
}

// The image data of a PNG go over as they are: IDAT in the first frame, numbered fdAT in the others.
static mo_status append_png(mo_video_file *v, const uint8_t *png, size_t bytes, mo_error *err)
{
    for (size_t at = 8; at + 12 <= bytes;) {
        uint32_t length = get32(png + at);
        const uint8_t *type = png + at + 4, *data = png + at + 8;
        if (memcmp(type, "IHDR", 4) == 0 && v->frames == 0) {
            fwrite(png, 1, 8, v->file);
            write_chunk(v->file, "IHDR", data, length, NULL, 0);
            v->count_at = ftell(v->file);
            write_count(v);
        }
        if (memcmp(type, "IHDR", 4) == 0) write_frame_control(v);
        if (memcmp(type, "IDAT", 4) == 0 && v->frames == 0) write_chunk(v->file, "IDAT", data, length, NULL, 0);
        if (memcmp(type, "IDAT", 4) == 0 && v->frames > 0) {
            uint8_t number[4];
            put32(number, v->sequence++);
            write_chunk(v->file, "fdAT", number, 4, data, length);
        }
        at += 12 + (size_t)length;
    }
    v->frames++;
    return ferror(v->file) ? mo_fail_file(err, v->path, "cannot write", errno) : MO_OK;
}

static mo_status end_png(mo_video_file *v, mo_error *err)
{
    write_chunk(v->file, "IEND", NULL, 0, NULL, 0);
    if (fseek(v->file, v->count_at, SEEK_SET) == 0) write_count(v);
    bool bad = ferror(v->file);
    int error = errno;
    if (fclose(v->file) != 0 && !bad) bad = true, error = errno;
    return bad ? mo_fail_file(err, v->path, "cannot write", error) : MO_OK;
}

// ---- Both ----

static void free_video(mo_video_file *v)
{
    mo_free(v->path);
    mo_free(v->temporary);
    mo_free(v);
}

mo_status mo_video_create(mo_video kind, const char *dir, int32_t width, int32_t height, double fps,
                          mo_video_file **out, mo_error *err)
{
    MO_ASSERT(width > 0 && height > 0 && fps > 0);
    *out = NULL;
    mo_video_file *v = mo_calloc(sizeof *v);
    const char *name = kind == MO_VIDEO_MP4 ? "video.mp4" : "video.png";
    if (!v) return mo_fail_memory(err);
    *v = (mo_video_file){kind, mo_path(dir, "%s", name), mo_path(dir, "%s.tmp", name), width, height, fps, .pipe = -1};
    mo_status status = v->path && v->temporary ? MO_OK : mo_fail_memory(err);
    if (status == MO_OK && kind == MO_VIDEO_MP4) status = start_ffmpeg(v, err);
    if (status == MO_OK && kind == MO_VIDEO_APNG && !(v->file = fopen(v->temporary, "wbe")))
        status = mo_fail_file(err, v->path, "cannot create", errno);
    if (status != MO_OK) {
        if (v->pipe >= 0) close(v->pipe);
        free_video(v);
        return status;
    }
    *out = v;
    return MO_OK;
}

mo_status mo_video_add(mo_video_file *v, const uint8_t *rgb, const void *png, size_t png_bytes, mo_error *err)
{
    return v->kind == MO_VIDEO_MP4 ? send_pixels(v, rgb, err) : append_png(v, png, png_bytes, err);
}

mo_status mo_video_finish(mo_video_file *v, bool keep, mo_error *err)
{
    if (!v) return MO_OK;
    mo_status status = v->kind == MO_VIDEO_MP4 ? end_ffmpeg(v, err) : end_png(v, err);
    if (status == MO_OK && keep && rename(v->temporary, v->path) != 0)
        status = mo_fail_file(err, v->path, "cannot write", errno);
    if (status != MO_OK || !keep) unlink(v->temporary);
    free_video(v);
    return status;
}
