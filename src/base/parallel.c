// Thread-count independent reductions and sorting.
#include "base/parallel.h"
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <string.h>

int32_t mo_thread_count(void) { return omp_get_max_threads(); }

// ---- Threads that there are ----

// gcc's OpenMP runtime ends the program when the system gives it no thread. So before more threads are asked for than
// ever before, as many are made here, all at once, and as many as there were are used.
typedef struct trial {
    pthread_mutex_t gate; // held while threads are made, so that all of them exist together
} trial;

static void *pass_gate(void *user)
{
    trial *t = user;
    pthread_mutex_lock(&t->gate);
    pthread_mutex_unlock(&t->gate);
    return NULL;
}

// Returns how many of `threads` there can be, this one included.
static int32_t try_threads(int32_t threads)
{
    enum { MOST = 1024 };
    pthread_t thread[MOST];
    trial t = {PTHREAD_MUTEX_INITIALIZER};
    int32_t made = 0;
    pthread_mutex_lock(&t.gate);
    while (made < threads - 1 && made < MOST && pthread_create(&thread[made], NULL, pass_gate, &t) == 0) made++;
    pthread_mutex_unlock(&t.gate);
    for (int32_t i = 0; i < made; i++) pthread_join(thread[i], NULL);
    return made + 1;
}

void mo_use_threads(int32_t threads)
{
    static _Atomic int32_t tried, there = 1; // the most that were asked for, and how many of them there were
    if (threads <= 0) threads = omp_get_num_procs();
    if (threads > tried) {
        there = try_threads(threads);
        tried = threads;
    }
    omp_set_num_threads(threads <= there ? threads : there);
}

mo_status mo_need_threads(mo_error *err)
{
    enum { WORKERS = 3 };
    if (try_threads(WORKERS) == WORKERS) return MO_OK;
    return mo_fail(err, MO_ERROR_FAILED, "the system gives this program no more threads (see ulimit -u)");
}

void mo_check_threads(void) { mo_use_threads(mo_thread_count()); }

// Blocks depend on n only: their partial results, added in order, are the same for any number of threads.
enum { BLOCKS = 256, BLOCK_MINIMUM = 2048 };

static int64_t block_size(int64_t n)
{
    MO_ASSERT(n >= 0);
    int64_t size = (n + BLOCKS - 1) / BLOCKS;
    return size > BLOCK_MINIMUM ? size : BLOCK_MINIMUM;
}

double mo_dot_product(int64_t n, const double *a, const double *b)
{
    double partial[BLOCKS] = {0};
    int64_t size = block_size(n), blocks = (n + size - 1) / size;
#pragma omp parallel for schedule(static) if (blocks > 4)
    for (int64_t k = 0; k < blocks; k++) {
        int64_t end = (k + 1) * size < n ? (k + 1) * size : n, i = k * size;
        double s[4] = {0};
        for (; i + 4 <= end; i += 4)
            for (int l = 0; l < 4; l++) s[l] += a[i + l] * b[i + l];
        for (; i < end; i++) s[0] += a[i] * b[i];
        partial[k] = (s[0] + s[1]) + (s[2] + s[3]);
    }
    double sum = 0;
    for (int64_t k = 0; k < blocks; k++) sum += partial[k];
    return sum;
}

double mo_sum(int64_t n, const double *a)
{
    double partial[BLOCKS] = {0};
    int64_t size = block_size(n), blocks = (n + size - 1) / size;
#pragma omp parallel for schedule(static) if (blocks > 4)
    for (int64_t k = 0; k < blocks; k++) {
        int64_t end = (k + 1) * size < n ? (k + 1) * size : n;
        for (int64_t i = k * size; i < end; i++) partial[k] += a[i];
    }
    double sum = 0;
    for (int64_t k = 0; k < blocks; k++) sum += partial[k];
    return sum;
}

double mo_max_abs(int64_t n, const double *a)
{
    double partial[BLOCKS] = {0};
    int64_t size = block_size(n), blocks = (n + size - 1) / size;
#pragma omp parallel for schedule(static) if (blocks > 4)
    for (int64_t k = 0; k < blocks; k++) {
        int64_t end = (k + 1) * size < n ? (k + 1) * size : n;
        int64_t most = 0; // numbers without a sign are in the order of their bits, and a NaN is above them all
        for (int64_t i = k * size; i < end; i++) {
            int64_t bits;
            memcpy(&bits, &a[i], sizeof bits);
            bits &= INT64_MAX;
            most = bits > most ? bits : most;
        }
        memcpy(&partial[k], &most, sizeof most);
    }
    double m = 0;
    for (int64_t k = 0; k < blocks; k++) m = partial[k] > m || partial[k] != partial[k] ? partial[k] : m;
    return m;
}

int64_t mo_prefix_sum(int64_t n, int32_t *a)
{
    MO_ASSERT(n >= 0);
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t v = a[i];
        a[i] = (int32_t)sum;
        sum += v;
    }
    return sum;
}

bool mo_counting_sort(int64_t n, const int32_t *key, int32_t keys, int32_t *start, int32_t *order, mo_arena *arena)
{
    MO_ASSERT(n >= 0 && n <= INT32_MAX && keys >= 0);
    // One histogram per chunk of items; a stable sort gives the same order for any number of chunks.
    int32_t chunks = n > 100000 ? mo_thread_count() : 1;
    size_t mark = mo_arena_mark(arena);
    int32_t *count = MO_ARENA_ARRAY(arena, int32_t, (int64_t)chunks * keys);
    if (!count) return false;
#pragma omp parallel for schedule(static, 1)
    for (int32_t c = 0; c < chunks; c++) {
        int32_t *h = count + (int64_t)c * keys;
        memset(h, 0, sizeof(int32_t) * (size_t)keys);
        for (int64_t i = n * c / chunks; i < n * (c + 1) / chunks; i++) h[key[i]]++;
    }
    // Places: by key, then by chunk.
    int32_t place = 0;
    for (int32_t k = 0; k < keys; k++) {
        start[k] = place;
        for (int32_t c = 0; c < chunks; c++) {
            int32_t *h = &count[(int64_t)c * keys + k], number = *h;
            *h = place;
            place += number;
        }
    }
    start[keys] = place;
    MO_ASSERT(place == n);
#pragma omp parallel for schedule(static, 1)
    for (int32_t c = 0; c < chunks; c++) {
        int32_t *h = count + (int64_t)c * keys;
        for (int64_t i = n * c / chunks; i < n * (c + 1) / chunks; i++) order[h[key[i]]++] = (int32_t)i;
    }
    mo_arena_release(arena, mark);
    return true;
}
