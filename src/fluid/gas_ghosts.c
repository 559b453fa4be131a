// Velocities of gas on the sites of ghosts. See gas_ghosts.h.
#include "fluid/gas_ghosts.h"
#include "grid/ghosts.h"
#include <math.h>
#include <string.h>

// ---- Before the solve ----

void mo_gas_start_ghosts(const mo_grid *g, float *const u[3])
{
    const mo_ghosts *s = mo_ghosts_of(g);
#pragma omp parallel for schedule(static)
    for (int32_t k = 0; k < (s ? s->sides : 0); k++) {
        const mo_ghost_side *q = &s->side[k];
        mo_ghost_term term[MO_GHOST_TERMS];
        double along[3] = {0}, sum = 0; // P - (P.N) N
        for (int a = 0; a < 3; a++) along[a] = (a == q->axis) - q->normal[q->axis] * q->normal[a];
        for (int i = 0, n = mo_ghost_terms(g, q, along, term); i < n; i++)
            sum += term[i].weight * u[term[i].axis][term[i].sample];
        u[q->axis][q->beside] = (float)sum;
    }
}

void mo_gas_fill_ghosts(const mo_gas *gas, const mo_grid *g)
{
    const mo_ghosts *s = mo_ghosts_of(g);
    for (int32_t r = 0; r < (s ? s->rows : 0); r++) {
        float soot = 0, heat = 0, count = (float)(s->first_side[r + 1] - s->first_side[r]);
        for (int32_t k = s->first_side[r]; k < s->first_side[r + 1]; k++) {
            int32_t cell = s->side[s->side_of[k]].cell;
            soot += gas->soot[cell], heat += gas->heat[cell];
        }
        gas->soot[mo_grid_cells(g) + r] = soot / count, gas->heat[mo_grid_cells(g) + r] = heat / count;
    }
}

// ---- Where sheets have moved ----

typedef struct loss { // a sample whose cells were swept
    int32_t sample, axis;
    int32_t cell[2]; // it lies on the high side of the first, and on the low side of the second; -1: it tells nothing
} loss;              // about that one

typedef struct follow {
    const mo_gas_move *m;
    float *const *from, *const *to;
    uint8_t *swept;    // [cells] 1: a sheet has swept the centre
    uint8_t *known[3]; // [fields] of the samples after the move
    loss *lost;
    int64_t lost_count, lost_room;
} follow;

// The value that a cell's face had before the move; false: the cell was swept, or had no such face.
static bool had(const follow *f, int32_t cell, int axis, int side, float *value)
{
    int32_t old = cell < 0 || f->swept[cell] ? -1 : mo_ghost_face(f->m->old, cell, axis, side);
    if (old >= 0) *value = f->from[axis][old];
    return old >= 0;
}

static bool lose(follow *f, int32_t sample, int axis, int32_t low, int32_t high)
{
    if (!mo_reserve((void **)&f->lost, &f->lost_room, f->lost_count + 1, sizeof *f->lost)) return false;
    f->lost[f->lost_count++] = (loss){sample, axis, {low, high}};
    f->known[axis][sample] = 0;
    return true;
}

// The samples of the low face of a cell: one, or one of each side.
static bool follow_face(follow *f, int32_t high, int axis)
{
    const mo_grid *g = f->m->now;
    int32_t low = mo_grid_step(g, high, axis, -1);
    int32_t of_low = low < 0 ? -1 : mo_ghost_face(g, low, axis, 1), of_high = mo_ghost_face(g, high, axis, 0);
    float a = 0, b = 0;
    bool has_a = had(f, low, axis, 1, &a), has_b = had(f, high, axis, 0, &b);
    if (of_low == of_high || low < 0) {
        if (!has_a && !has_b) return lose(f, of_high, axis, low, high);
        f->to[axis][of_high] = has_a && has_b ? 0.5f * (a + b) : has_a ? a : b;
        return true;
    }
    f->to[axis][of_low] = a, f->to[axis][of_high] = b;
    return (has_a || lose(f, of_low, axis, low, -1)) && (has_b || lose(f, of_high, axis, -1, high));
}

// Adds the known samples of one axis round a cell on its side of the sheets: across the cell, and of the cells beside.
static void add_known(const follow *f, int32_t cell, int axis, int side, float *sum, int *count)
{
    const mo_grid *g = f->m->now;
    int32_t list[5], n = 0;
    list[n++] = mo_ghost_face(g, cell, axis, !side);
    for (int e = 0; e < 2 * mo_grid_axes(g); e++) {
        if (e / 2 == axis) continue;
        int32_t to = mo_site_step(g, MO_SITE_ROW, cell, e / 2, e & 1 ? 1 : -1);
        if (to >= 0) list[n++] = mo_ghost_face(g, to, axis, side);
    }
    for (int k = 0; k < n; k++)
        if (list[k] >= 0 && f->known[axis][list[k]]) *sum += f->to[axis][list[k]], ++*count;
}

// Fills lost samples layer by layer. value: [lost], found: [lost].
static void fill_lost(follow *f, float *value, uint8_t *found)
{
    enum { LAYERS = 4 };
    for (int layer = 0; layer < LAYERS; layer++) {
        for (int64_t k = 0; k < f->lost_count; k++) {
            const loss *l = &f->lost[k];
            float sum = 0;
            int count = 0;
            for (int s = 0; s < 2 && !f->known[l->axis][l->sample]; s++)
                if (l->cell[s] >= 0) add_known(f, l->cell[s], l->axis, !s, &sum, &count);
            found[k] = count > 0, value[k] = count ? sum / (float)count : 0;
        }
        for (int64_t k = 0; k < f->lost_count; k++)
            if (found[k])
                f->to[f->lost[k].axis][f->lost[k].sample] = value[k], f->known[f->lost[k].axis][f->lost[k].sample] = 1;
    }
}

// What is still not known moves with the sheet.
static void move_with_sheet(const follow *f)
{
    const mo_ghosts *s = mo_ghosts_of(f->m->now);
    for (int32_t k = 0; k < (s ? s->sides : 0); k++) {
        const mo_ghost_side *q = &s->side[k];
        if (f->known[q->axis][q->own]) continue;
        double sum = 0, area = 0;
        for (int32_t i = s->first_wall[k]; i < s->first_wall[k + 1]; i++) {
            const mo_site_wall *w = &s->wall[i];
            double part = sqrt(w->vector[0] * w->vector[0] + w->vector[1] * w->vector[1] + w->vector[2] * w->vector[2]);
            area += part;
            for (int v = 0; v < 3; v++) sum += part * w->weight[v] * f->m->velocity[w->vertex[v]][q->axis];
        }
        f->to[q->axis][q->own] = area > 0 ? (float)(sum / area) : 0;
    }
}

// ---- Faces between ghosts ----

// The mean velocity of a cell along an axis.
static float mean_of(const follow *f, int32_t cell, int axis)
{
    int32_t low = mo_ghost_face(f->m->now, cell, axis, 0), high = mo_ghost_face(f->m->now, cell, axis, 1);
    return 0.5f * (f->to[axis][low] + f->to[axis][high < 0 ? low : high]);
}

static int32_t face_of(const mo_grid *g, const mo_ghost_link *l) { return mo_sites_sample(g, l->axis, l->sample).cell; }

// Links by face: the first of each, and the next one of the same face. first: [3 cells].
static void list_links(const mo_grid *g, const mo_ghosts *s, int32_t *first, int32_t *next)
{
    for (int32_t k = (s ? s->links : 0) - 1; k >= 0; k--) {
        int32_t *at = &first[3 * (int64_t)face_of(g, &s->link[k]) + s->link[k].axis];
        next[k] = *at, *at = k;
    }
}

static mo_status follow_links(const follow *f, mo_arena *arena, mo_error *err)
{
    const mo_ghosts *s = mo_ghosts_of(f->m->now), *old = mo_ghosts_of(f->m->old);
    size_t faces = 3 * (size_t)mo_grid_cells(f->m->old);
    int32_t *first = MO_ARENA_ARRAY(arena, int32_t, faces + 1),
            *next = MO_ARENA_ARRAY(arena, int32_t, (old ? old->links : 0) + 1);
    if (!first || !next) return mo_fail_memory(err);
    memset(first, 0xff, sizeof(int32_t) * faces);
    list_links(f->m->old, old, first, next);
    for (int32_t k = 0; k < (s ? s->links : 0); k++) {
        const mo_ghost_link *l = &s->link[k];
        int32_t found = -1;
        for (int32_t o = first[3 * (int64_t)face_of(f->m->now, l) + l->axis]; o >= 0 && found < 0; o = next[o])
            for (int c = 0; c < 2; c++)
                if (old->link[o].cell[c] == l->cell[c] && !f->swept[l->cell[c]]) found = o;
        f->to[l->axis][l->sample] = found >= 0
                                        ? f->from[l->axis][old->link[found].sample]
                                        : 0.5f * (mean_of(f, l->cell[0], l->axis) + mean_of(f, l->cell[1], l->axis));
    }
    return MO_OK;
}

static mo_status start(follow *f, int32_t near_count, const int32_t *near, mo_arena *arena, mo_error *err)
{
    const mo_gas_move *m = f->m;
    size_t cells = (size_t)mo_grid_cells(m->now), fields = (size_t)mo_grid_fields(m->now);
    f->swept = MO_ARENA_ARRAY(arena, uint8_t, cells + 1);
    for (int a = 0; a < 3; a++) {
        if (!(f->known[a] = MO_ARENA_ARRAY(arena, uint8_t, fields + 1))) return mo_fail_memory(err);
        memset(f->known[a], 1, fields);
    }
    if (!f->swept) return mo_fail_memory(err);
    memset(f->swept, 0, cells);
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t k = 0; k < near_count; k++) {
        int32_t c[3];
        mo_grid_cell(m->now, near[k], c);
        const double x[3] = {c[0] + 0.5, c[1] + 0.5, c[2] + 0.5};
        f->swept[near[k]] = m->parts(m->user, x, x);
    }
    return MO_OK;
}

mo_status mo_gas_follow_ghosts(const mo_gas_move *m, int32_t near_count, const int32_t *near, float *const from[3],
                               float *const to[3], mo_arena *arena, mo_error *err)
{
    follow f = {.m = m, .from = from, .to = to};
    size_t mark = mo_arena_mark(arena);
    MO_TRY(start(&f, near_count, near, arena, err));
    bool ok = true;
    for (int32_t k = 0; k < near_count && ok; k++)
        for (int a = 0; a < mo_grid_axes(m->now) && ok; a++) ok = follow_face(&f, near[k], a);
    float *value = MO_ARENA_ARRAY(arena, float, f.lost_count + 1);
    uint8_t *found = MO_ARENA_ARRAY(arena, uint8_t, f.lost_count + 1);
    mo_status status = ok && value && found ? MO_OK : mo_fail_memory(err);
    if (status == MO_OK) {
        fill_lost(&f, value, found);
        move_with_sheet(&f);
        status = follow_links(&f, arena, err);
        mo_gas_start_ghosts(m->now, to);
    }
    mo_free(f.lost);
    mo_arena_release(arena, mark);
    return status;
}
