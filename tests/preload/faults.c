// Preloaded into the command by tests/torture.sh: the n-th call of a function of the C library fails, or the process is
// killed there. By the environment:
//     MO_FAULT=write|rename|sync|open|malloc|thread   which calls are counted
//     MO_FAULT_AT=N                                   the one that fails, from 1; 0: none
//     MO_FAULT_HOW=fail|always|short|kill             this one fails; and all later ones; half is written; SIGKILL
//     MO_FAULT_COUNT=FILE                             gets the number of calls at the end
// Calls count from the moment the scene or the run is opened, because before that they are those of the loader.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *p, size_t bytes);

static bool armed;
static long calls, fault_at;
static char kind, how; // first letters

static void arm(const char *path)
{
    if (armed || !path) return;
    size_t n = strlen(path);
    bool scene = n > 4 && strcmp(path + n - 4, ".lua") == 0, run = n > 8 && strcmp(path + n - 8, "run.json") == 0;
    const char *what = getenv("MO_FAULT"), *at = getenv("MO_FAULT_AT"), *manner = getenv("MO_FAULT_HOW");
    if ((!scene && !run) || !what) return;
    kind = what[0], fault_at = at ? atol(at) : 0, how = manner ? manner[0] : 'f';
    armed = true;
}

// True if this call is to fail.
static bool strikes(char which)
{
    if (!armed || kind != which) return false;
    long n = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    if (fault_at == 0 || n < fault_at || (n > fault_at && how != 'a')) return false;
    if (how == 'k') kill(getpid(), SIGKILL);
    return true;
}

__attribute__((destructor)) static void tell(void)
{
    const char *file = getenv("MO_FAULT_COUNT");
    char text[32];
    if (!file) return;
    int n = snprintf(text, sizeof text, "%ld\n", calls), fd = (int)syscall(SYS_open, file, O_WRONLY | O_CREAT, 0666);
    if (fd >= 0) syscall(SYS_write, fd, text, n), syscall(SYS_close, fd);
}

#define NEXT(type, name) ((type)dlsym(RTLD_NEXT, name))

ssize_t write(int fd, const void *data, size_t bytes)
{
    // Messages to the user are not files.
    if (fd > 2 && strikes('w')) {
        if (how == 's' && bytes > 1) return syscall(SYS_write, fd, data, bytes / 2);
        return errno = ENOSPC, -1;
    }
    return syscall(SYS_write, fd, data, bytes);
}

int rename(const char *from, const char *to)
{
    if (strikes('r')) return errno = EIO, -1;
    return NEXT(int (*)(const char *, const char *), "rename")(from, to);
}

int fsync(int fd) { return strikes('s') ? errno = EIO, -1 : (int)syscall(SYS_fsync, fd); }
int fdatasync(int fd) { return strikes('s') ? errno = EIO, -1 : (int)syscall(SYS_fdatasync, fd); }

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    int mode = flags & O_CREAT ? va_arg(args, int) : 0;
    va_end(args);
    arm(path);
    if (strikes('o')) return errno = EMFILE, -1;
    return (int)syscall(SYS_open, path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

FILE *fopen(const char *path, const char *mode)
{
    arm(path);
    if (strikes('o')) return errno = EMFILE, NULL;
    return NEXT(FILE * (*)(const char *, const char *), "fopen")(path, mode);
}

FILE *fopen64(const char *path, const char *mode) __attribute__((alias("fopen")));

void *malloc(size_t bytes) { return strikes('m') ? errno = ENOMEM, NULL : __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) { return strikes('m') ? errno = ENOMEM, NULL : __libc_calloc(count, bytes); }
void *realloc(void *p, size_t bytes) { return bytes && strikes('m') ? errno = ENOMEM, NULL : __libc_realloc(p, bytes); }

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *user)
{
    if (strikes('t')) return EAGAIN;
    return NEXT(int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *),
                "pthread_create")(thread, attributes, start, user);
}
