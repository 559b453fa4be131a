// Shared by the validation programs: arguments, a table of measured against required, errors.
//
//     build/validate_NAME [--quick] [--only PART] [--cells N] [--threads T] [--plots DIR]
//
// Exit code 0: every requirement holds; 1: one fails; 2: wrong arguments.
#ifndef VALIDATE_H
#define VALIDATE_H

#include "monolith/monolith.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct validation {
    bool quick;        // a short version
    int32_t cells;     // 0 = the program's default
    int32_t threads;   // 0 = all cores
    const char *plots; // directory for SVG plots, or NULL
    const char *only;  // the one part to run, or NULL
    int failures, requirements;
} validation;

static inline validation validation_start(int argc, char **argv, const char *title)
{
    validation v = {0};
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (!strcmp(argv[i], "--quick")) {
            v.quick = true;
        } else if (!strcmp(argv[i], "--cells") && more) {
            v.cells = atoi(argv[++i]);
        } else if (!strcmp(argv[i], "--threads") && more) {
            v.threads = atoi(argv[++i]);
        } else if (!strcmp(argv[i], "--plots") && more) {
            v.plots = argv[++i];
        } else if (!strcmp(argv[i], "--only") && more) {
            v.only = argv[++i];
        } else {
            fprintf(stderr, "usage: %s [--quick] [--only PART] [--cells N] [--threads T] [--plots DIR]\n", argv[0]);
            exit(2);
        }
    }
    printf("%s\n%-66s %12s   %s\n", title, "", "measured", "required");
    return v;
}

static inline bool wants(const validation *v, const char *part) { return !v->only || !strcmp(v->only, part); }

static inline int validation_end(const validation *v)
{
    printf("%d of %d requirements hold\n", v->requirements - v->failures, v->requirements);
    return v->failures > 0 || v->requirements == 0;
}

__attribute__((format(printf, 4, 5))) static inline void at_most(validation *v, double measured, double limit,
                                                                 const char *what, ...)
{
    char text[200];
    va_list args;
    va_start(args, what);
    vsnprintf(text, sizeof text, what, args);
    va_end(args);
    bool ok = measured <= limit; // false for NaN
    v->requirements++, v->failures += !ok;
    printf("%-66s %12.4g   <= %-10.4g %s\n", text, measured, limit, ok ? "ok" : "FAILS");
    fflush(stdout);
}

__attribute__((format(printf, 5, 6))) static inline void between(validation *v, double measured, double low,
                                                                 double high, const char *what, ...)
{
    char text[200];
    va_list args;
    va_start(args, what);
    vsnprintf(text, sizeof text, what, args);
    va_end(args);
    bool ok = measured >= low && measured <= high;
    v->requirements++, v->failures += !ok;
    printf("%-66s %12.4g   %.4g .. %-.4g %s\n", text, measured, low, high, ok ? "ok" : "FAILS");
    fflush(stdout);
}

// A figure without a requirement.
__attribute__((format(printf, 2, 3))) static inline void figure(double measured, const char *what, ...)
{
    char text[200];
    va_list args;
    va_start(args, what);
    vsnprintf(text, sizeof text, what, args);
    va_end(args);
    printf("%-66s %12.4g\n", text, measured);
    fflush(stdout);
}

static inline void must(mo_status status, const mo_error *err)
{
    if (status == MO_OK) return;
    fprintf(stderr, "error: %s\n", err->text);
    exit(1);
}

static inline void *checked(void *p)
{
    if (p) return p;
    fprintf(stderr, "error: out of memory\n");
    exit(1);
}

static inline mo_sim *create_sim(const mo_sim_def *def)
{
    mo_sim *sim;
    mo_error err;
    must(mo_sim_create(def, &sim, &err), &err);
    return sim;
}

static inline mo_stats step_sim(mo_sim *sim)
{
    mo_stats stats;
    mo_error err;
    must(mo_sim_step(sim, &stats, &err), &err);
    return stats;
}

// Particle arrays of the present state, freed by free_snapshot.
typedef struct snapshot {
    int64_t count;
    float *x, *v, *volume; // [3 count], [3 count], [count]
} snapshot;

static inline snapshot take_snapshot(const mo_sim *sim)
{
    snapshot s = {.count = mo_sim_particle_count(sim)};
    size_t n = (size_t)s.count + 1;
    s.x = checked(malloc(3 * n * sizeof(float)));
    s.v = checked(malloc(3 * n * sizeof(float)));
    s.volume = checked(malloc(n * sizeof(float)));
    mo_sim_particles(sim, s.x, s.v, s.volume);
    return s;
}

static inline void free_snapshot(snapshot *s)
{
    free(s->x), free(s->v), free(s->volume);
    *s = (snapshot){0};
}

#endif
