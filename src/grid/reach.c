// The rows that a row reaches without passing a sheet, and the fields that it sees.
#include "grid/reach.h"
#include <math.h>
#include <string.h>

// ---- Rows ----

// Whether no sheet meets the cell of a row or one of its faces: then the lattice has its neighbours.
static inline bool is_whole(const mo_grid *g, int32_t row)
{
    return row < mo_grid_cells(g) && g->sites && g->sites->reach && g->sites->reach->distance[row] > 0;
}

void mo_reach_find(const mo_grid *g, int32_t row, int radius, int32_t *around)
{
    MO_ASSERT(radius >= 1 && radius <= MO_REACH_MOST);
    const int edge = 2 * radius + 1, stride[3] = {1, edge, edge * edge}, cells = edge * edge * edge;
    const bool flat = mo_grid_is_2d(g);
    struct {
        int16_t at;
        int8_t c[3]; // from the row
    } queue[MO_REACH_MOST_CELLS];
    int size = 1;
    for (int i = 0; i < cells; i++) around[i] = -1;
    queue[0].at = (int16_t)(cells / 2), around[cells / 2] = row;
    for (int a = 0; a < 3; a++) queue[0].c[a] = 0;
    for (int next = 0; next < size; next++) {
        const int at = queue[next].at;
        const int8_t *c = queue[next].c;
        for (int a = 0; a < (flat ? 2 : 3); a++)
            for (int side = -1; side <= 1; side += 2) {
                int to = at + side * stride[a];
                if (side * c[a] < 0 || side * c[a] == radius || around[to] >= 0) continue; // only away from the row
                int32_t from = around[at], n = is_whole(g, from) ? mo_grid_step(g, from, a, side)
                                                                 : mo_site_step(g, MO_SITE_ROW, from, a, side);
                if (n < 0) continue;
                around[to] = n;
                queue[size] = queue[next], queue[size].at = (int16_t)to;
                queue[size].c[a] = (int8_t)(c[a] + side), size++;
            }
    }
    for (int z = 0; z < edge && flat; z++)
        if (z != radius)
            memcpy(around + stride[2] * z, around + stride[2] * radius, sizeof(int32_t) * (size_t)stride[2]);
}

// ---- Lists ----

void mo_reach_destroy(mo_reach *r)
{
    if (!r) return;
    mo_free(r->row), mo_free(r->first), mo_free(r->of), mo_free(r->around), mo_free(r->distance);
    mo_free(r);
}

static bool is_plain(const mo_grid *g, int32_t cell, int axis)
{
    mo_sample s = mo_sites_sample(g, axis, cell);
    return s.low == mo_grid_step(g, cell, axis, -1) && s.high == cell && s.area == 1;
}

// Distance 0 where a sheet meets a cell or one of its faces.
static void mark_met(const mo_grid *g, uint8_t *distance)
{
    const mo_sites *s = g->sites;
    memset(distance, MO_REACH_MOST + 1, (size_t)mo_grid_cells(g));
    for (int32_t k = 0; k < s->rows; k++) distance[s->cell[k]] = 0;
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
        if (s->cut[i / MO_TILE_CELLS] < 0) continue;
        if (s->volume && mo_sites_volume(g, i) != 1) distance[i] = 0;
        for (int a = 0; a < 3; a++) {
            if (is_plain(g, i, a)) continue;
            int32_t low = mo_grid_step(g, i, a, -1);
            distance[i] = 0;
            if (low >= 0) distance[low] = 0;
        }
    }
}

// The largest of the axes' distances spreads axis by axis: with m the distance so far, the least of max(m, way).
static void spread_along(const mo_grid *g, int axis, const uint8_t *from, uint8_t *to)
{
#pragma omp parallel for schedule(static, 4096)
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
        uint8_t least = from[i];
        for (int side = -1; side <= 1; side += 2) {
            int32_t n = i;
            for (uint8_t way = 1; way <= MO_REACH_MOST && way < least; way++) {
                if ((n = mo_grid_step(g, n, axis, side)) < 0) break;
                uint8_t there = from[n] > way ? from[n] : way;
                least = there < least ? there : least;
            }
        }
        to[i] = least;
    }
}

static int32_t list_rows(const mo_grid *g, mo_reach *r)
{
    int32_t count = 0, first, end;
    for (int32_t t = 0; t < g->tiles; t++) {
        if (r->first) r->first[t] = count;
        for (int32_t i = t * MO_TILE_CELLS; i < (t + 1) * MO_TILE_CELLS; i++) {
            if (r->distance[i] > MO_REACH_AROUND) continue;
            if (r->row) r->row[count] = i, r->of[i] = count;
            count++;
        }
        mo_sites_rows(g, t, &first, &end);
        for (int32_t i = first; i < end; i++, count++)
            if (r->row) r->row[count] = i, r->of[i] = count;
    }
    if (r->first) r->first[g->tiles] = count;
    return count;
}

static mo_status fill_lists(const mo_grid *g, mo_reach *r)
{
    size_t fields = (size_t)mo_grid_cells(g) + (size_t)g->sites->rows;
    r->count = list_rows(g, r);
    r->row = mo_alloc(sizeof(int32_t) * ((size_t)r->count + 1));
    r->first = mo_alloc(sizeof(int32_t) * ((size_t)g->tiles + 1));
    r->of = mo_alloc(sizeof(int32_t) * (fields + 1));
    r->around = mo_alloc(sizeof *r->around * ((size_t)r->count + 1));
    if (!r->row || !r->first || !r->of || !r->around) return MO_ERROR_MEMORY;
    memset(r->of, 0xff, sizeof(int32_t) * fields);
    list_rows(g, r);
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t k = 0; k < r->count; k++) mo_reach_find(g, r->row[k], MO_REACH_AROUND, r->around[k]);
    return MO_OK;
}

mo_status mo_reach_create(mo_grid *g, mo_error *err)
{
    if (!g->sites) return MO_OK;
    size_t cells = (size_t)mo_grid_cells(g);
    mo_reach_destroy(g->sites->reach);
    mo_reach *r = g->sites->reach = mo_calloc(sizeof *r);
    uint8_t *other = mo_alloc(cells + 1);
    if (r) r->distance = mo_alloc(cells + 1);
    mo_status status = r && other && r->distance ? MO_OK : MO_ERROR_MEMORY;
    if (status == MO_OK) {
        mark_met(g, r->distance);
        for (int a = 0; a < mo_grid_axes(g); a++) {
            spread_along(g, a, r->distance, other);
            memcpy(r->distance, other, cells);
        }
        status = fill_lists(g, r);
    }
    mo_free(other);
    if (status == MO_OK) return MO_OK;
    mo_reach_destroy(r);
    g->sites->reach = NULL;
    return mo_fail_memory(err);
}

// ---- Values ----

typedef struct block {
    int edge, cells, stride[3];
    float *value;
    uint8_t known[MO_REACH_MOST_CELLS];
} block;

static block block_of(int radius, float *value)
{
    block b;
    b.edge = 2 * radius + 1, b.cells = b.edge * b.edge * b.edge, b.value = value;
    b.stride[0] = 1, b.stride[1] = b.edge, b.stride[2] = b.edge * b.edge;
    return b;
}

static inline bool has(const block *b, int at, const int c[3], int axis, int by)
{
    return (unsigned)(c[axis] + by) < (unsigned)b->edge && b->known[at + by * b->stride[axis]];
}

// Extrapolates from the known neighbours, along lines or as constants. False: there are none.
static bool continued(const block *b, int at, bool lines, float steepest, float *out)
{
    int c[3] = {at % b->edge, at / b->edge % b->edge, at / b->stride[2]}, count = 0;
    float sum = 0;
    for (int e = 0; e < 6; e++) {
        int a = e >> 1, side = e & 1 ? 1 : -1;
        if (!has(b, at, c, a, side) || (lines && !has(b, at, c, a, 2 * side))) continue;
        const float *n = b->value + at + side * b->stride[a];
        float slope = lines ? n[0] - n[side * b->stride[a]] : 0;
        sum += n[0] + (slope > steepest ? steepest : slope < -steepest ? -steepest : slope), count++;
    }
    if (count) *out = sum / (float)count;
    return count > 0;
}

// Fills layer by layer, until all are known or nothing can be extrapolated. Constants are used only where there is no
// line.
static void fill_block(block *b, float steepest)
{
    int16_t open[MO_REACH_MOST_CELLS], fill[MO_REACH_MOST_CELLS];
    float value[MO_REACH_MOST_CELLS];
    int left = 0;
    for (int i = 0; i < b->cells; i++)
        if (!b->known[i]) open[left++] = (int16_t)i;
    for (int count = 1; count && left;) {
        count = 0;
        for (int lines = 1; lines >= 0 && !count; lines--)
            for (int k = 0; k < left; k++)
                if (continued(b, open[k], lines, steepest, &value[count])) fill[count++] = open[k];
        for (int k = 0; k < count; k++) b->value[fill[k]] = value[k], b->known[fill[k]] = 1;
        int kept = 0;
        for (int k = 0; k < left; k++)
            if (!b->known[open[k]]) open[kept++] = open[k];
        left = kept;
    }
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
    if (!all) fill_block(&b, steepest);
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

int mo_reach_samples(const mo_grid *g, int axis, int32_t low, int32_t high, int32_t *sample)
{
    int count = 0;
    if (high >= 0 && (is_whole(g, high) || !mo_site_is_cut(g, high))) return *sample = high, 1;
    if (low >= 0 && high >= 0) count = collect(g, axis, 0, high, low, sample);
    if (!count && high >= 0) count = collect(g, axis, 0, high, -1, sample);
    if (!count && low >= 0) count = collect(g, axis, 1, low, -1, sample);
    return count;
}

typedef struct face_block {
    block b;
    float off[MO_REACH_MOST_CELLS][2]; // from the face's centre to where its samples lie
    int moved;                         // faces whose samples lie off it
    int16_t list[MO_REACH_MOST_CELLS]; // of them
} face_block;

// Faces of which less than `least` is open count as not known.
static void read_face(const mo_grid *g, const float *face, int axis, const int32_t rows[2], double least, face_block *f,
                      int at)
{
    int32_t sample[MO_REACH_SAMPLES];
    double area = 0, sum = 0, off[2] = {0, 0};
    f->off[at][0] = f->off[at][1] = 0;
    if (rows[1] >= 0 && is_whole(g, rows[1])) {
        f->b.known[at] = true, f->b.value[at] = face[rows[1]];
        return;
    }
    int count = mo_reach_samples(g, axis, rows[0], rows[1], sample);
    f->b.known[at] = count > 0;
    if (!count) return;
    if (is_whole(g, sample[0]) || !mo_site_is_cut(g, sample[0])) {
        f->b.value[at] = face[sample[0]];
        return;
    }
    for (int k = 0; k < count; k++) {
        mo_sample s = mo_sites_sample(g, axis, sample[k]);
        area += s.area, sum += s.area * face[sample[k]];
        for (int d = 0; d < 2; d++) off[d] += s.area * (s.at[d] - 0.5);
    }
    f->b.known[at] = area >= least;
    if (!f->b.known[at]) return;
    f->b.value[at] = (float)(sum / area);
    for (int d = 0; d < 2; d++) {
        f->off[at][d] = (float)(off[d] / area);
        if (fabsf(f->off[at][d]) < 1e-6f) f->off[at][d] = 0;
    }
    if (f->off[at][0] != 0 || f->off[at][1] != 0) f->list[f->moved++] = (int16_t)at;
}

// The slope along an axis towards the side where a sample lies off its face's centre: of the two faces there, or to the
// next one alone. 0 where they are not known.
static float slope_along(const block *b, const float *centred, int at, const int c[3], int axis, int side)
{
    int one = at + side * b->stride[axis], two = one + side * b->stride[axis];
    if (!has(b, at, c, axis, side)) return 0;
    if (has(b, at, c, axis, 2 * side)) return (float)side * (centred[two] - centred[one]);
    return (float)side * (centred[one] - centred[at]);
}

// Values at the centres of faces from those where samples lie. Slopes lead away from the sheet, to faces that are whole
// after a few steps, so that a few rounds are enough.
static void centre_faces(const face_block *f, int axis, float *centred)
{
    enum { ROUNDS = 4 };
    const block *b = &f->b;
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < f->moved; k++) {
            int at = f->list[k];
            int c[3] = {at % b->edge, at / b->edge % b->edge, at / b->stride[2]};
            float value = b->value[at];
            for (int d = 0; d < 2; d++) {
                float off = f->off[at][d];
                if (off != 0) value -= off * slope_along(b, centred, at, c, (axis + 1 + d) % 3, off > 0 ? 1 : -1);
            }
            centred[at] = value;
        }
}

// Reads all faces of a block; returns how many are known.
static int read_faces(const mo_grid *g, const float *face, int axis, const int32_t *around, double least, face_block *f)
{
    int c[3] = {0, 0, 0}, at = 0, known = 0;
    f->moved = 0;
    for (c[2] = 0; c[2] < f->b.edge; c[2]++)
        for (c[1] = 0; c[1] < f->b.edge; c[1]++)
            for (c[0] = 0; c[0] < f->b.edge; c[0]++, at++) {
                const int32_t rows[2] = {c[axis] == 0 ? -1 : around[at - f->b.stride[axis]], around[at]};
                f->b.value[at] = 0;
                read_face(g, face, axis, rows, least, f, at);
                known += f->b.known[at];
            }
    return known;
}

// Slivers of faces have hardly any mass, so that their velocities may be far from those beside them. If they counted,
// lines through them would give particles more energy than the faces have: in a bowl that moves by 2 mm the water came
// to 8 m/s.
void mo_reach_faces(const mo_grid *g, const float *face, int axis, const int32_t *around, int radius, float *out)
{
    const double sliver = 0.1; // of a face
    face_block f;
    f.b = block_of(radius, out);
    int known = read_faces(g, face, axis, around, sliver, &f);
    if (!known) known = read_faces(g, face, axis, around, 0, &f); // in a film there is nothing else
    if (f.moved) {
        float centred[MO_REACH_MOST_CELLS];
        memcpy(centred, out, sizeof(float) * (size_t)f.b.cells);
        centre_faces(&f, axis, centred);
        memcpy(out, centred, sizeof(float) * (size_t)f.b.cells);
    }
    if (known < f.b.cells) fill_block(&f.b, INFINITY);
}
