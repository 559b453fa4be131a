// The audit: may a stranger trust what a run shows? 300 random scenes (trust.h), and every scene of a directory at
// three resolutions, coarse and short. Required of each: it runs; nothing is faster than 1.5 times what a fall through
// the domain makes it, unless the energy released so far suffices for a cell of liquid, or the body, at that speed;
// energy grows by no more than 1% that no work explains; the visible volume is within 5% of the true one (if less than
// a ball 6 cells wide is left, its surface within a twentieth of a cell); every solve converges; solids overlap by less
// than half a cell.
//
//     build/validate_trust [--seed S] [--first N] [--count N] [--seconds T] [--limit S] [--threads T] [--quick]
//                          [--scenes DIR] [--only random | scenes | NUMBER | NAME] [--cells N]
//
// `--only 17` repeats random scene 17, `--only boat --cells 28` one scene at one resolution. --limit: CPU seconds of
// one run; it is cut there, and judged by what it did until then. Exit code 0: all hold; 1: one fails; 2: wrong
// arguments.
#include "trust.h"
#include <dirent.h>
#include <ctype.h>

typedef struct audit {
    uint32_t seed;
    int32_t first, count, cells, threads;
    double seconds, limit;
    const char *scenes, *only;
    trust_limits limits;
    int32_t runs, failures, refused, cuts, gathered, by[6]; // by: failures of each kind
    double worst_speed, worst_energy, worst_volume;
} audit;

static const char *const kinds[] = {"speed", "energy", "volume", "unconverged", "overlap", "broke"};

static void count(audit *a, const char *name, const char *about, const trust_result *r)
{
    int failed = trust_judge(r, &a->limits);
    trust_print(name, about, r, failed);
    a->refused += r->refused;
    if (r->refused) return;
    a->runs++, a->cuts += r->cut, a->failures += failed != 0;
    for (int k = 0; k < 6; k++) a->by[k] += failed >> k & 1;
    a->worst_speed = fmax(a->worst_speed, r->fastest / r->allowed);
    a->gathered += r->fastest > a->limits.speed * r->allowed && !(failed & TRUST_SPEED);
    a->worst_energy = fmax(a->worst_energy, r->energy_error);
    a->worst_volume = fmax(a->worst_volume, r->volume_error);
}

static bool wants(const audit *a, const char *part) { return !a->only || !strcmp(a->only, part); }

// ---- Random scenes ----

static void audit_random(audit *a, int32_t number)
{
    trust_scene s;
    trust_result r;
    char name[40];
    trust_create(&s, a->seed * 100000u + (uint32_t)number);
    s.def.threads = a->threads;
    double belts = 0;
    for (int32_t i = 0; i < s.def.solid_count; i++) belts = fmax(belts, mo_norm(s.solid[i].surface_velocity));
    trust_run(&s.def, a->seconds, a->limit, belts, &r);
    snprintf(name, sizeof name, "random %d", number);
    count(a, name, s.about, &r);
    trust_destroy(&s);
}

// ---- Scenes of a directory ----

static void audit_file(audit *a, const char *name, int32_t cells)
{
    char path[1000], set[2][60], title[80];
    const char *overrides[2] = {set[0], set[1]};
    mo_error err;
    mo_scene *scene = NULL;
    trust_result r = {0};
    snprintf(path, sizeof path, "%s/%s.lua", a->scenes, name);
    snprintf(set[0], sizeof set[0], "domain.cells=%d", cells);
    snprintf(set[1], sizeof set[1], "time.seconds=%g", a->seconds);
    snprintf(title, sizeof title, "%s %d", name, cells);
    if (mo_scene_load(path, overrides, 2, &scene, &err) != MO_OK) {
        r.refused = true;
        snprintf(r.error, sizeof r.error, "%.199s", err.text);
    } else {
        mo_sim_def *def = mo_scene_sim_def_mutable(scene);
        def->threads = a->threads;
        double belts = 0;
        for (int32_t i = 0; i < def->solid_count; i++) belts = fmax(belts, mo_norm(def->solids[i].surface_velocity));
        trust_run(def, a->seconds, a->limit, belts, &r);
    }
    count(a, title, NULL, &r);
    mo_scene_destroy(scene);
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

static int is_scene(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 4 && !strcmp(entry->d_name + n - 4, ".lua");
}

static void audit_scenes(audit *a)
{
    static const int32_t cells[] = {16, 28, 40};
    struct dirent **entry;
    int n = scandir(a->scenes, &entry, is_scene, by_name);
    if (n < 0) fprintf(stderr, "trust: cannot read the directory %s\n", a->scenes), a->failures++;
    for (int i = 0; i < n; i++) {
        entry[i]->d_name[strlen(entry[i]->d_name) - 4] = 0;
        for (int k = 0; k < 3; k++)
            if ((wants(a, "scenes") || wants(a, entry[i]->d_name)) && (!a->cells || a->cells == cells[k]))
                audit_file(a, entry[i]->d_name, cells[k]);
        free(entry[i]);
    }
    if (n >= 0) free(entry);
}

// ---- The program ----

static void usage(const char *program)
{
    fprintf(stderr,
            "usage: %s [--seed S] [--first N] [--count N] [--seconds T] [--limit S] [--threads T] [--quick]\n"
            "       [--scenes DIR] [--only random | scenes | NUMBER | NAME] [--cells 16 | 28 | 40]\n",
            program);
    exit(2);
}

static audit parse(int argc, char **argv)
{
    audit a = {.seed = 1, .first = 1, .count = 300, .threads = 1, .seconds = 1, .limit = 20, .scenes = "scenes"};
    a.limits = (trust_limits){.speed = TRUST_FACTOR, .energy_error = 0.01, .volume_error = 0.05, .overlap = 0.5};
    for (int i = 1; i < argc; i++) {
        const char *key = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(key, "--quick")) {
            a.count = 30, a.limit = 5, a.cells = 16;
            continue;
        }
        if (!value) usage(argv[0]);
        i++;
        if (!strcmp(key, "--seed"))
            a.seed = (uint32_t)atoi(value);
        else if (!strcmp(key, "--first"))
            a.first = atoi(value);
        else if (!strcmp(key, "--count"))
            a.count = atoi(value);
        else if (!strcmp(key, "--seconds"))
            a.seconds = atof(value);
        else if (!strcmp(key, "--limit"))
            a.limit = atof(value);
        else if (!strcmp(key, "--threads"))
            a.threads = atoi(value);
        else if (!strcmp(key, "--scenes"))
            a.scenes = value;
        else if (!strcmp(key, "--only"))
            a.only = value;
        else if (!strcmp(key, "--cells"))
            a.cells = atoi(value);
        else if (strcmp(key, "--plots") != 0) // of make validate: there are none
            usage(argv[0]);
    }
    if (a.only && isdigit((unsigned char)a.only[0])) a.first = atoi(a.only), a.count = 1, a.only = "random";
    return a;
}

int main(int argc, char **argv)
{
    audit a = parse(argc, argv);
    printf("Audit: %g s each, at most %g CPU seconds. Required: speed <= %g of what a fall allows or of what the "
           "energy released allows one cell, energy error <= %g, "
           "volume error <= %g, overlap <= %g cells, every solve converged\n",
           a.seconds, a.limit, a.limits.speed, a.limits.energy_error, a.limits.volume_error, a.limits.overlap);
    for (int32_t k = 0; k < a.count && wants(&a, "random"); k++) audit_random(&a, a.first + k);
    if (!a.only || strcmp(a.only, "random") != 0) audit_scenes(&a);
    printf("\n%d runs, %d cut, %d refused; %d fail:", a.runs, a.cuts, a.refused, a.failures);
    for (int k = 0; k < 6; k++) printf(" %s %d%s", kinds[k], a.by[k], k < 5 ? "," : "\n");
    printf("faster than a fall allows, with energy gathered from others: %d runs\n", a.gathered);
    printf("worst: speed %.2f of what a fall allows, energy error %.3g, volume error %.1f %%\n", a.worst_speed,
           a.worst_energy, 100 * a.worst_volume);
    return a.failures > 0 || a.runs == 0;
}
