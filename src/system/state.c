// The data that a solve changes.
#include "system/state.h"
#include <string.h>

// ---- Velocities ----

int64_t mo_motion_size(const mo_system *s)
{
    int64_t size = 0;
    for (int32_t g = 0; g < MO_GROUPS; g++) size += s->group[g].count;
    return size;
}

static void copy(int64_t count, const double *from, double *to)
{
    if (count) memcpy(to, from, sizeof(double) * (size_t)count);
}

void mo_motion_get(const mo_system *s, double *to)
{
    for (int32_t g = 0; g < MO_GROUPS; to += s->group[g++].count) copy(s->group[g].count, s->group[g].velocity, to);
}

void mo_motion_set(mo_system *s, const double *from)
{
    for (int32_t g = 0; g < MO_GROUPS; from += s->group[g++].count) copy(s->group[g].count, from, s->group[g].velocity);
}

void mo_motion_split(const mo_system *s, const double *motion, const double *of[MO_GROUPS])
{
    for (int32_t g = 0; g < MO_GROUPS; motion += s->group[g++].count) of[g] = motion;
}

// ---- Multipliers and bounds ----

enum { PARTS = 4, TURNED = 3, DUALS = PARTS * MO_BLOCK_KINDS };

// One of the arrays, and how long it is. NULL: it is not there, or has no values yet.
static double *dual_part(const mo_system *s, int32_t k, int64_t *count)
{
    const mo_block *b = k / PARTS == MO_BLOCK_ELASTIC ? NULL : s->block[k / PARTS]; // it lasts for one round
    double *const part[PARTS] = {b ? b->x : NULL, b ? b->lower : NULL, b ? b->upper : NULL, b ? b->turned : NULL};
    bool turns = k % PARTS == TURNED && b && b->on[MO_NODES].rows;
    *count = turns || part[k % PARTS] ? b->rows : 0;
    return part[k % PARTS];
}

static int64_t size_before(const mo_system *s, int32_t end)
{
    int64_t size = 0, count;
    for (int32_t k = 0; k < end; k++) dual_part(s, k, &count), size += count;
    return size;
}

int64_t mo_duals_size(const mo_system *s) { return size_before(s, DUALS); }

void mo_duals_get(const mo_system *s, double *to)
{
    int64_t count = 0;
    for (int32_t k = 0; k < DUALS; k++, to += count) {
        const double *from = dual_part(s, k, &count);
        if (from)
            copy(count, from, to);
        else if (count)
            memset(to, 0, sizeof(double) * (size_t)count);
    }
}

void mo_duals_set(mo_system *s, const double *from)
{
    int64_t count = 0;
    for (int32_t k = 0; k < DUALS; k++, from += count) {
        double *to = dual_part(s, k, &count);
        if (to) copy(count, from, to);
    }
}

const double *mo_duals_of(const mo_system *s, const double *duals, int32_t kind)
{
    MO_ASSERT(kind >= 0 && kind < MO_BLOCK_KINDS);
    return duals + size_before(s, PARTS * kind);
}
