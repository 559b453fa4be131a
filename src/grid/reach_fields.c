// The fields that a row sees: values of the rows that it reaches, and velocities of their faces, continued behind
// sheets.
#include "grid/extrapolate.h"
#include "grid/ghosts.h"
#include "grid/reach.h"
#include <math.h>
#include <string.h>

// ---- Blocks ----

typedef struct block {
    int edge, cells, stride[3];
    float *value;
    uint8_t known[MO_REACH_MOST_CELLS];
} block;

// How the values of a block are continued: along lines through two of them, with slopes of at most `steepest`; or, if
// `third` is given, with the limited slopes of mo_extrapolate, for which it reads values one place beyond the block.
typedef struct continuation {
    float steepest;
    bool (*third)(const void *user, const block *b, int last, int axis, int side, float *value);
    const void *user;
} continuation;

static block block_of(int radius, float *value)
{
    block b;
    b.edge = 2 * radius + 1, b.cells = b.edge * b.edge * b.edge, b.value = value;
    b.stride[0] = 1, b.stride[1] = b.edge, b.stride[2] = b.edge * b.edge;
    return b;
}

static inline void place_in(const block *b, int at, int c[3])
{
    c[0] = at % b->edge, c[1] = at / b->edge % b->edge, c[2] = at / b->stride[2];
}

static inline bool lies_in(const block *b, const int c[3], int axis, int by)
{
    return (unsigned)(c[axis] + by) < (unsigned)b->edge;
}
static inline bool has(const block *b, int at, const int c[3], int axis, int by)
{
    return lies_in(b, c, axis, by) && b->known[at + by * b->stride[axis]];
}

// The slope with which the neighbour of a place is continued to it; false: there are not enough values behind it.
static bool slope_behind(const block *b, int at, const int c[3], int axis, int side, const continuation *how,
                         float *slope)
{
    const int step = side * b->stride[axis];
    const float *n = b->value + at + step;
    float last = 0;
    if (!has(b, at, c, axis, 2 * side)) return false;
    *slope = n[0] - n[step];
    if (!how->third) {
        *slope = mo_maxf(-how->steepest, mo_minf(*slope, how->steepest));
        return true;
    }
    if (has(b, at, c, axis, 3 * side))
        last = n[2 * step];
    else if (lies_in(b, c, axis, 3 * side) || !how->third(how->user, b, at + 2 * step, axis, side, &last))
        return false;
    *slope = mo_limited_slope(*slope, n[step] - last);
    return true;
}

// Extrapolates from the known neighbours, along lines or as constants. False: there are none.
static bool continued(const block *b, int at, bool lines, const continuation *how, float *out)
{
    int c[3], count = 0;
    float sum = 0;
    place_in(b, at, c);
    for (int e = 0; e < 6; e++) {
        int a = e >> 1, side = e & 1 ? 1 : -1;
        float slope = 0;
        if (!has(b, at, c, a, side) || (lines && !slope_behind(b, at, c, a, side, how, &slope))) continue;
        sum += b->value[at + side * b->stride[a]] + slope, count++;
    }
    if (count) *out = sum / (float)count;
    return count > 0;
}

static bool is_within(const block *b, int at, int margin)
{
    int c[3];
    place_in(b, at, c);
    for (int a = 0; a < 3; a++)
        if (c[a] < margin || c[a] >= b->edge - margin) return false;
    return true;
}

// Fills the places that are not known, except the outermost `margin`, layer by layer, until all of them are known or
// nothing can be extrapolated. Constants are used only where there is no line. Returns how many are left.
static int fill_within(block *b, const continuation *how, int margin)
{
    int16_t open[MO_REACH_MOST_CELLS], fill[MO_REACH_MOST_CELLS];
    float value[MO_REACH_MOST_CELLS];
    int left = 0;
    for (int i = 0; i < b->cells; i++)
        if (!b->known[i] && is_within(b, i, margin)) open[left++] = (int16_t)i;
    for (int count = 1; count && left;) {
        count = 0;
        for (int lines = 1; lines >= 0 && !count; lines--)
            for (int k = 0; k < left; k++)
                if (continued(b, open[k], lines, how, &value[count])) fill[count++] = open[k];
        for (int k = 0; k < count; k++) b->value[fill[k]] = value[k], b->known[fill[k]] = 1;
        int kept = 0;
        for (int k = 0; k < left; k++)
            if (!b->known[open[k]]) open[kept++] = open[k];
        left = kept;
    }
    return left;
}

void mo_reach_values(const float *field, const int32_t *around, int radius, float steepest, float *out)
{
    block b = block_of(radius, out);
    bool all = true;
    for (int i = 0; i < b.cells; i++) {
        b.known[i] = around[i] >= 0;
        out[i] = b.known[i] ? field[around[i]] : 0;
        all &= b.known[i];
    }
    if (!all) fill_within(&b, &(continuation){.steepest = steepest}, 0);
}

// ---- Faces ----

static int collect(const mo_grid *g, int axis, int side, int32_t row, int32_t beyond, int32_t *sample)
{
    mo_row_sample six[6];
    const mo_row_sample *list;
    int count = 0;
    for (int k = 0, n = mo_row_samples(g, row, six, &list); k < n && count < MO_REACH_SAMPLES; k++) {
        if (list[k].axis != axis || list[k].side != side) continue;
        int32_t i = list[k].sample;
        if (!(mo_sample_area(g, axis, i) > 0)) continue;
        int32_t other = side ? mo_sample_high(g, axis, i) : mo_sample_low(g, axis, i);
        if (beyond < 0 || other == beyond) sample[count++] = i;
    }
    return count;
}

// Where cells have ghosts, each tells what it sees of the face: both the same, or its own sample.
static int collect_faces(const mo_grid *g, int axis, int32_t low, int32_t high, int32_t *sample)
{
    int32_t behind = high < 0 ? -1 : mo_ghost_face(g, high, axis, 0),
            before = low < 0 ? -1 : mo_ghost_face(g, low, axis, 1);
    int count = 0;
    if (behind >= 0) sample[count++] = behind;
    if (before >= 0 && before != behind) sample[count++] = before;
    return count;
}

int mo_reach_samples(const mo_grid *g, int axis, int32_t low, int32_t high, int32_t *sample)
{
    int count = 0;
    if (high >= 0 && (mo_reach_is_whole(g, high) || !mo_site_is_cut(g, high))) return *sample = high, 1;
    if (mo_ghosts_of(g)) return collect_faces(g, axis, low, high, sample);
    if (low >= 0 && high >= 0) count = collect(g, axis, 0, high, low, sample);
    if (!count && high >= 0) count = collect(g, axis, 0, high, -1, sample);
    if (!count && low >= 0) count = collect(g, axis, 1, low, -1, sample);
    return count;
}

typedef struct face_block { // faces of one axis, round a row
    block b;
    const mo_grid *g;
    const float *face;
    int axis;
    const int32_t *around;
    double least;                      // part of a face: faces of which less is open count as not known
    float off[MO_REACH_MOST_CELLS][2]; // from the face's centre to where its samples lie
    int moved;                         // faces whose samples lie off it
    int16_t list[MO_REACH_MOST_CELLS]; // of them
} face_block;

// Reads the face between two rows: the mean of its samples, and where it lies off the face's centre. False: no row is
// reached there, or too little of the face is open.
static bool read_face(const face_block *f, const int32_t rows[2], float *value, float off[2])
{
    const mo_grid *g = f->g;
    int32_t sample[MO_REACH_SAMPLES];
    double area = 0, sum = 0, place[2] = {0, 0};
    off[0] = off[1] = 0;
    if (rows[1] >= 0 && mo_reach_is_whole(g, rows[1])) return *value = f->face[rows[1]], true;
    int count = mo_reach_samples(g, f->axis, rows[0], rows[1], sample);
    if (!count) return false;
    if (mo_reach_is_whole(g, sample[0]) || !mo_site_is_cut(g, sample[0])) return *value = f->face[sample[0]], true;
    for (int k = 0; k < count; k++) {
        mo_sample s = mo_sites_sample(g, f->axis, sample[k]);
        area += s.area, sum += s.area * f->face[sample[k]];
        for (int d = 0; d < 2; d++) place[d] += s.area * (s.at[d] - 0.5);
    }
    if (!(area >= f->least)) return false;
    *value = (float)(sum / area);
    for (int d = 0; d < 2; d++) {
        off[d] = (float)(place[d] / area);
        if (fabsf(off[d]) < 1e-6f) off[d] = 0;
    }
    return true;
}

// Reads all faces of a block; returns how many are known.
static int read_faces(face_block *f)
{
    block *b = &f->b;
    int c[3], known = 0;
    f->moved = 0;
    for (int at = 0; at < b->cells; at++) {
        place_in(b, at, c);
        const int32_t rows[2] = {c[f->axis] == 0 ? -1 : f->around[at - b->stride[f->axis]], f->around[at]};
        b->value[at] = 0;
        b->known[at] = read_face(f, rows, &b->value[at], f->off[at]);
        known += b->known[at];
        if (b->known[at] && (f->off[at][0] != 0 || f->off[at][1] != 0)) f->list[f->moved++] = (int16_t)at;
    }
    return known;
}

// The row beside a row, through the largest opening; -1: none.
static int32_t step_from(const mo_grid *g, int32_t row, int axis, int side)
{
    return row < 0 ? -1 : mo_site_step(g, MO_SITE_ROW, row, axis, side);
}

// Reads the face beside `last`, which is the last of the block along an axis.
static bool read_beyond(const void *user, const block *b, int last, int axis, int side, float *value)
{
    const face_block *f = user;
    int c[3];
    float off[2];
    place_in(b, last, c);
    int32_t low = c[f->axis] == 0 ? -1 : f->around[last - b->stride[f->axis]], high = f->around[last];
    int32_t rows[2] = {step_from(f->g, low, axis, side), step_from(f->g, high, axis, side)};
    if (axis == f->axis && side > 0) rows[0] = high;
    if (axis == f->axis && side < 0) rows[1] = low >= 0 ? low : step_from(f->g, high, axis, side), rows[0] = -1;
    return read_face(f, rows, value, off);
}

// The slope along an axis towards the side where a sample lies off its face's centre by `off`, limited as in
// mo_extrapolate. It needs the two faces there, and `own`: the value of the sample, if it lay off the centre along this
// axis alone. It is 0 without them.
static float slope_along(const face_block *f, const float *centred, int at, int axis, float off, float own)
{
    const block *b = &f->b;
    int c[3], side = off > 0 ? 1 : -1, one = at + side * b->stride[axis];
    float second;
    place_in(b, at, c);
    if (!has(b, at, c, axis, side)) return 0;
    if (has(b, at, c, axis, 2 * side))
        second = centred[one + side * b->stride[axis]];
    else if (lies_in(b, c, axis, 2 * side) || !read_beyond(f, b, one, axis, side, &second))
        return 0;
    float near = (centred[one] - own) / (1 - fabsf(off)), far = second - centred[one];
    return (float)side * mo_limited_slope(near, far);
}

// Values at the centres of faces from those where samples lie. Slopes lead away from the sheet, to faces that are whole
// after a few steps, so that a few rounds are enough.
static void centre_faces(const face_block *f, float *centred)
{
    enum { ROUNDS = 4 };
    float taken[MO_REACH_MOST_CELLS][2]; // from the value of a face that is moved, for either axis
    memset(taken, 0, sizeof *taken * (size_t)f->moved);
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < f->moved; k++) {
            int at = f->list[k];
            float by[2] = {0, 0};
            for (int d = 0; d < 2; d++) {
                float off = f->off[at][d], own = centred[at] + taken[k][d];
                if (off != 0) by[d] = off * slope_along(f, centred, at, (f->axis + 1 + d) % 3, off, own);
            }
            for (int d = 0; d < 2; d++) taken[k][d] = by[d];
            centred[at] = f->b.value[at] - by[0] - by[1];
        }
}

// Slivers of faces have hardly any mass, so that their velocities may be far from those beside them. If they counted,
// lines through them would give particles more energy than the faces have: in a bowl that moves by 2 mm the water came
// to 8 m/s.
void mo_reach_faces(const mo_grid *g, const float *face, int axis, const int32_t *around, int radius, float *out)
{
    const double sliver = 0.1; // of a face
    face_block f;
    f.b = block_of(radius, out), f.g = g, f.face = face, f.axis = axis, f.around = around, f.least = sliver;
    int known = read_faces(&f);
    if (!known) f.least = 0, known = read_faces(&f); // in a film there is nothing else
    if (f.moved) {
        float centred[MO_REACH_MOST_CELLS];
        memcpy(centred, out, sizeof(float) * (size_t)f.b.cells);
        centre_faces(&f, centred);
        memcpy(out, centred, sizeof(float) * (size_t)f.b.cells);
    }
    // Ghosts carry the flow along a sheet on, and the paper's method has no limit for that.
    continuation how = {.third = read_beyond, .user = &f}, lines = {.steepest = INFINITY};
    if (mo_ghosts_of(g)) how = lines;
    int margin = !mo_ghosts_of(g) && radius < MO_REACH_MOST ? 1 : 0;
    if (known < f.b.cells && fill_within(&f.b, &how, margin) && margin) fill_within(&f.b, &how, 0);
}
