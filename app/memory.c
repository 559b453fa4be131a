// Free memory on Linux: what the kernel says, and the limits of the container and of the process.
#include "memory.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }

// The number behind `key` in a file, or the file's only number; INT64_MAX if there is none ("max").
static int64_t number_in(const char *path, const char *key)
{
    FILE *f = fopen(path, "re");
    char line[256];
    long long value;
    int64_t found = INT64_MAX;
    while (f && found == INT64_MAX && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), " %lld", &value) == 1) found = value;
    if (f) fclose(f);
    return found;
}

// What is left of a limit of the control group, of which the kernel can take back the cached files.
static int64_t left_of_group(const char *limit, const char *used, const char *stat, const char *cached)
{
    int64_t most = number_in(limit, ""), now = number_in(used, ""), back = number_in(stat, cached);
    if (most == INT64_MAX || now == INT64_MAX) return INT64_MAX;
    return most - now + (back == INT64_MAX ? 0 : back);
}

int64_t memory_free(void)
{
    int64_t kilobytes = number_in("/proc/meminfo", "MemAvailable:");
    int64_t bytes =
        kilobytes < INT64_MAX / 1024 ? 1024 * kilobytes : (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    bytes = at_most(bytes, left_of_group("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current",
                                         "/sys/fs/cgroup/memory.stat", "inactive_file"));
    bytes = at_most(bytes, left_of_group("/sys/fs/cgroup/memory/memory.limit_in_bytes",
                                         "/sys/fs/cgroup/memory/memory.usage_in_bytes",
                                         "/sys/fs/cgroup/memory/memory.stat", "total_inactive_file"));
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        bytes = at_most(bytes, (int64_t)limit.rlim_cur);
    return bytes > 0 ? bytes : 0;
}

int64_t memory_bound(const mo_sim_def *def)
{
    enum { PER_CELL = 10000, PER_VERTEX = 50000, CHOSEN = 10000 }; // bytes; vertices of a mesh whose size we choose
    const mo_domain_def *d = &def->domain;
    double longest = fmax(d->size.x, fmax(d->size.y, d->size.z)), dx = longest / d->cells, vertices = 0;
    double cells = (d->size.x / dx) * (d->size.y / dx) * (d->size.z > 0 ? d->size.z / dx : 1);
    for (int32_t i = 0; i < def->elastic_count; i++) {
        const mo_elastic_def *e = &def->elastics[i];
        mo_box3 b = e->shape ? mo_shape_bounds(e->shape) : (mo_box3){0};
        double x = (b.hi.x - b.lo.x) / e->element, y = (b.hi.y - b.lo.y) / e->element;
        double z = d->size.z > 0 ? (b.hi.z - b.lo.z) / e->element : 1;
        vertices += e->mesh ? e->mesh->vertex_count : e->element > 0 ? x * y * z : CHOSEN;
    }
    for (int32_t i = 0; i < def->cloth_count; i++) vertices += def->cloths[i].sheet->vertices;
    double bytes = cells * PER_CELL + vertices * PER_VERTEX;
    return bytes < 1e18 ? (int64_t)bytes : (int64_t)1e18;
}
