// Complete-or-absent files, growing line files, directories. Plain descriptors: stdio hides which call failed.
#include "output/file.h"
#include "base/base.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 16 };

mo_status mo_fail_file(mo_error *err, const char *path, const char *action, int error_number)
{
    bool luck = error_number == ENOSPC || error_number == EDQUOT || error_number == EIO || error_number == EFBIG;
    mo_status status = error_number == ENOMEM ? MO_ERROR_MEMORY : luck ? MO_ERROR_FAILED : MO_ERROR_FILE;
    return mo_fail(err, status, "%s: %s: %s", path, action, strerror(error_number));
}

static char *path_va(const char *dir, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    size_t head = strlen(dir), tail = (size_t)vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *path = mo_alloc(head + tail + 2);
    if (!path) return NULL;
    memcpy(path, dir, head);
    if (head && path[head - 1] != '/') path[head++] = '/';
    vsnprintf(path + head, tail + 1, format, args);
    return path;
}

char *mo_path(const char *dir, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *path = path_va(dir, format, args);
    va_end(args);
    return path;
}

// All bytes, whatever signals and short writes happen. Returns 0 or errno.
static int write_all(int fd, const char *data, size_t bytes)
{
    while (bytes) {
        ssize_t n = write(fd, data, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        if (n == 0) return EIO;
        data += n, bytes -= (size_t)n;
    }
    return 0;
}

// ---- Complete-or-absent files ----

struct mo_file {
    int fd, error; // error: first errno met while writing
    size_t used;
    char *path, *temporary;
    char buffer[BUFFER_BYTES];
};

static void file_free(mo_file *f)
{
    mo_free(f->path);
    mo_free(f->temporary);
    mo_free(f);
}

mo_status mo_file_create(const char *path, mo_file **out, mo_error *err)
{
    *out = NULL;
    mo_file *f = mo_alloc(sizeof *f);
    if (!f) return mo_fail_memory(err);
    f->error = 0, f->used = 0;
    f->path = mo_path("", "%s", path);
    f->temporary = mo_path("", "%s.tmp", path);
    if (!f->path || !f->temporary) {
        file_free(f);
        return mo_fail_memory(err);
    }
    f->fd = open(f->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (f->fd < 0) {
        mo_status status = mo_fail_file(err, path, "cannot create", errno);
        file_free(f);
        return status;
    }
    *out = f;
    return MO_OK;
}

// Does a file begin like a page? An absent or empty one may become one; what is no file fails by itself.
static bool may_become_page(const char *path)
{
    char head[1024];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return errno == ENOENT;
    struct stat info;
    bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    ssize_t bytes = regular ? read(fd, head, sizeof head - 1) : 0;
    close(fd);
    if (bytes < 0) return false;
    head[bytes] = 0;
    return bytes == 0 || strcasestr(head, "<!doctype html") || strcasestr(head, "<html");
}

mo_status mo_page_create(const char *path, mo_file **out, mo_error *err)
{
    static const char *const own[] = {"run.json", "stats.jsonl", "bodies.jsonl", "state.bin"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    bool refused = false;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) refused |= strcmp(name, own[i]) == 0;
    *out = NULL;
    if (refused || (access(path, F_OK) == 0 && !may_become_page(path)))
        return mo_fail(err, MO_ERROR_INPUT, "%s: is not a page (.html) and is not replaced by one", path);
    return mo_file_create(path, out, err);
}

static void file_flush(mo_file *f)
{
    if (!f->error) f->error = write_all(f->fd, f->buffer, f->used);
    f->used = 0;
}

void mo_file_write(mo_file *f, const void *data, size_t bytes)
{
    MO_ASSERT(f->used <= BUFFER_BYTES);
    if (bytes > BUFFER_BYTES - f->used) file_flush(f);
    if (bytes >= BUFFER_BYTES) {
        if (!f->error) f->error = write_all(f->fd, data, bytes);
        return;
    }
    if (bytes) memcpy(f->buffer + f->used, data, bytes);
    f->used += bytes;
}

void mo_file_print(mo_file *f, const char *format, ...)
{
    char line[4096];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    MO_ASSERT(n >= 0 && n < (int)sizeof line);
    mo_file_write(f, line, (size_t)n);
}

mo_status mo_file_commit(mo_file *f, mo_error *err)
{
    file_flush(f);
    if (!f->error && fdatasync(f->fd) != 0 && errno != EINVAL)
        f->error = errno; // EINVAL: not a file that can be synced
    if (close(f->fd) != 0 && !f->error) f->error = errno;
    if (!f->error && rename(f->temporary, f->path) != 0) f->error = errno;
    mo_status status = MO_OK;
    if (f->error) {
        status = mo_fail_file(err, f->path, "cannot write", f->error);
        unlink(f->temporary);
    }
    file_free(f);
    return status;
}

void mo_file_abandon(mo_file *f)
{
    if (!f) return;
    close(f->fd);
    unlink(f->temporary);
    file_free(f);
}

// ---- Reading ----

static mo_status read_open_file(int fd, const char *path, char **data, size_t *bytes, mo_error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0) return mo_fail_file(err, path, "cannot read", errno);
    if (!S_ISREG(info.st_mode)) return mo_fail(err, MO_ERROR_FILE, "%s: not a regular file", path);
    size_t size = (size_t)info.st_size, have = 0;
    char *text = mo_alloc(size + 1);
    if (!text) return mo_fail_memory(err);
    while (have < size) {
        ssize_t n = read(fd, text + have, size - have);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            mo_status status = mo_fail_file(err, path, "cannot read", errno);
            mo_free(text);
            return status;
        }
        if (n == 0) break;
        have += (size_t)n;
    }
    text[have] = 0;
    *data = text, *bytes = have;
    return MO_OK;
}

mo_status mo_file_read(const char *path, char **data, size_t *bytes, bool *missing, mo_error *err)
{
    *data = NULL, *bytes = 0;
    if (missing) *missing = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && missing && errno == ENOENT) {
        *missing = true;
        return MO_OK;
    }
    if (fd < 0) return mo_fail_file(err, path, "cannot read", errno);
    mo_status status = read_open_file(fd, path, data, bytes, err);
    close(fd);
    return status;
}

// ---- Directories ----

static mo_status make_one(const char *path, bool *created, mo_error *err)
{
    struct stat info;
    if (mkdir(path, 0777) == 0) {
        *created = true;
        return MO_OK;
    }
    int error = errno;
    if (stat(path, &info) == 0)
        return S_ISDIR(info.st_mode) ? MO_OK : mo_fail(err, MO_ERROR_FILE, "%s: exists and is not a directory", path);
    return mo_fail_file(err, path, "cannot create directory", error);
}

mo_status mo_directory_create(const char *path, bool *created, mo_error *err)
{
    bool made = false;
    char *part = mo_path("", "%s", path);
    if (!part) return mo_fail_memory(err);
    mo_status status = MO_OK;
    for (char *c = part + 1; *part && *c && status == MO_OK; c++) {
        if (*c != '/') continue;
        *c = 0;
        status = make_one(part, &made, err);
        *c = '/';
    }
    made = false;
    if (status == MO_OK) status = make_one(part, &made, err);
    if (created) *created = made;
    mo_free(part);
    return status;
}

mo_status mo_directory_sync(const char *path, mo_error *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return mo_fail_file(err, path, "cannot open", errno);
    int error = fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
    close(fd);
    return error ? mo_fail_file(err, path, "cannot sync", error) : MO_OK;
}

// ---- Line files ----

struct mo_lines {
    int fd;
    int64_t bytes;
    char *path;
};

mo_status mo_lines_open(const char *path, int64_t keep_bytes, mo_lines **out, mo_error *err)
{
    MO_ASSERT(keep_bytes >= 0);
    *out = NULL;
    mo_lines *l = mo_calloc(sizeof *l);
    char *copy = mo_path("", "%s", path);
    if (!l || !copy) {
        mo_free(l);
        mo_free(copy);
        return mo_fail_memory(err);
    }
    *l = (mo_lines){open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666), keep_bytes, copy};
    struct stat info = {0};
    int error = l->fd < 0 || fstat(l->fd, &info) != 0 ? errno : 0;
    if (!error && S_ISREG(info.st_mode) && (ftruncate(l->fd, keep_bytes) != 0 || lseek(l->fd, 0, SEEK_END) < 0))
        error = errno;
    if (error) {
        mo_lines_close(l);
        return mo_fail_file(err, path, "cannot write", error);
    }
    *out = l;
    return MO_OK;
}

mo_status mo_lines_append(mo_lines *l, const char *text, size_t bytes, mo_error *err)
{
    MO_ASSERT(bytes == 0 || text[bytes - 1] == '\n');
    int error = write_all(l->fd, text, bytes);
    if (!error) {
        l->bytes += (int64_t)bytes;
        return MO_OK;
    }
    // Best effort: the write's own error is what matters, and resuming cuts the file again.
    if (ftruncate(l->fd, l->bytes) == 0) (void)lseek(l->fd, l->bytes, SEEK_SET);
    return mo_fail_file(err, l->path, "cannot write", error);
}

mo_status mo_lines_sync(mo_lines *l, mo_error *err)
{
    if (fdatasync(l->fd) == 0 || errno == EINVAL) return MO_OK;
    return mo_fail_file(err, l->path, "cannot write", errno);
}

int64_t mo_lines_bytes(const mo_lines *l) { return l->bytes; }

void mo_lines_close(mo_lines *l)
{
    if (!l) return;
    if (l->fd >= 0) close(l->fd);
    mo_free(l->path);
    mo_free(l);
}
