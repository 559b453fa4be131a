// Levels of multigrid on faces: the order of rows, the finest level, rows in float.
#include "sparse/face_level.h"
#include "base/parallel.h"
#include <string.h>

enum { COLOURS = 8, SMALL = 4096, BIAS = 1 << 18 };

static void float_destroy(mo_float_rows *t) { mo_free(t->row), mo_free(t->col), mo_free(t->val); }

void mo_face_level_built(mo_face_level *l)
{
    mo_csr_destroy(&l->A), mo_csr_destroy(&l->rest);
    mo_strain_destroy(&l->strain);
    mo_free(l->coord), mo_free(l->label);
    l->coord = NULL, l->label = NULL;
}

void mo_face_level_destroy(mo_face_level *l)
{
    mo_face_level_built(l);
    mo_free(l->near), mo_free(l->couple), mo_free(l->over);
    mo_free(l->diagonal), mo_free(l->group), mo_free(l->colour), mo_free(l->vectors);
    float_destroy(&l->before), float_destroy(&l->behind);
    float_destroy(&l->up), float_destroy(&l->down);
    *l = (mo_face_level){0};
}

int64_t mo_face_level_bytes(const mo_face_level *l)
{
    int64_t bytes = l->rows * (int64_t)(2 * 8 + 5 * 4);
    if (l->before.row) bytes += 8 * (l->before.row[l->rows] + l->behind.row[l->rows]);
    if (l->near) bytes += (int64_t)l->faces * MO_FACE_SLOTS * 8;
    if (l->up.row) bytes += 16 * l->up.row[l->rows];
    return bytes;
}

// ---- Order of rows ----

uint64_t mo_face_key(const int32_t c[4], int32_t cube)
{
    uint64_t key = 0, inner = 0, colour = 0;
    for (int a = 2; a >= 0; a--) {
        uint64_t at = (uint64_t)(c[a] + BIAS), q = at / (uint64_t)cube;
        key = key << 17 | q, inner = inner << 3 | at % (uint64_t)cube, colour = colour << 1 | (q & 1);
    }
    return colour << 60 | key << 9 | inner;
}

// Cubes and colours of faces, whose keys ascend.
mo_status mo_face_level_group(mo_face_level *l, const uint64_t *key)
{
    int32_t faces = l->faces;
    l->groups = 0;
    for (int32_t i = 0; i < faces; i++) l->groups += i == 0 || key[i] >> 9 != key[i - 1] >> 9;
    l->colours = COLOURS;
    l->group = mo_alloc(sizeof(int32_t) * ((size_t)l->groups + 1));
    l->colour = mo_calloc(sizeof(int32_t) * ((size_t)l->colours + 1));
    if (!l->group || !l->colour) return MO_ERROR_MEMORY;
    int32_t g = 0;
    for (int32_t i = 0; i < faces; i++) {
        if (i > 0 && key[i] >> 9 == key[i - 1] >> 9) continue;
        l->group[g++] = i;
        l->colour[(key[i] >> 60) + 1]++;
    }
    l->group[l->groups] = faces;
    for (int32_t c = 0; c < l->colours; c++) l->colour[c + 1] += l->colour[c];
    return MO_OK;
}

// ---- The finest level ----

// K with rows and columns in their new places.
static mo_status permuted(const mo_csr *K, const int32_t *order, const int32_t *place, mo_csr *B)
{
    MO_TRY(mo_csr_create(K->rows, K->rows, mo_csr_entries(K), B));
    for (int32_t i = 0; i < K->rows; i++) B->row[i + 1] = B->row[i] + K->row[order[i] + 1] - K->row[order[i]];
#pragma omp parallel for schedule(static) if (K->rows > SMALL)
    for (int32_t i = 0; i < K->rows; i++)
        for (int64_t k = K->row[order[i]], to = B->row[i]; k < K->row[order[i] + 1]; k++, to++)
            B->col[to] = place[K->col[k]], B->val[to] = K->val[k];
    return MO_OK;
}

static int32_t class_of(const int32_t c[4]) { return 2 * c[3] + ((c[0] + c[1] + c[2]) & 1); }

// Faces by colour, then tile by tile as they come; in a tile by axis and, chequered, by cell: faces one behind the
// other do not couple, so that a sweep need not wait for the last row to begin the next. Keys come in that order too.
static void order_faces(const mo_face_multigrid_def *def, uint64_t *key, int32_t *order)
{
    enum { CLASSES = 6 };
    int32_t next[COLOURS + 1] = {0};
    for (int32_t i = 0; i < def->faces; i++) next[(mo_face_key(def->face[i], 8) >> 60) + 1]++;
    for (int32_t c = 0; c < COLOURS; c++) next[c + 1] += next[c];
    for (int32_t first = 0, end; first < def->faces; first = end) {
        uint64_t tile = mo_face_key(def->face[first], 8) >> 9;
        int32_t to[CLASSES + 1] = {0}, *place = &next[tile >> 51];
        for (end = first; end < def->faces && mo_face_key(def->face[end], 8) >> 9 == tile; end++)
            to[class_of(def->face[end]) + 1]++;
        for (int32_t c = 0; c < CLASSES; c++) to[c + 1] += to[c];
        for (int32_t i = first; i < end; i++) {
            int32_t at = *place + to[class_of(def->face[i])]++;
            key[at] = tile << 9, order[at] = i;
        }
        *place += end - first;
    }
}

mo_status mo_face_level_create(const mo_face_multigrid_def *def, const int32_t *label, int32_t *place, mo_face_level *l)
{
    int32_t n = def->K->rows, faces = def->faces;
    *l = (mo_face_level){.rows = n, .faces = faces};
    uint64_t *key = mo_alloc(sizeof(uint64_t) * (size_t)faces);
    int32_t *order = mo_alloc(sizeof(int32_t) * (size_t)n);
    l->coord = mo_alloc(sizeof *l->coord * (size_t)faces), l->label = mo_alloc(sizeof(int32_t) * (size_t)faces);
    mo_status status = key && order && l->coord && l->label ? MO_OK : MO_ERROR_MEMORY;
    if (status == MO_OK) {
        order_faces(def, key, order);
        for (int32_t i = faces; i < n; i++) order[i] = i;
        for (int32_t i = 0; i < n; i++) place[order[i]] = i;
        for (int32_t i = 0; i < faces; i++) {
            memcpy(l->coord[i], def->face[order[i]], sizeof l->coord[i]);
            l->label[i] = label[order[i]];
        }
        status = permuted(def->K, order, place, &l->A);
    }
    if (status == MO_OK) status = mo_face_level_group(l, key);
    mo_free(key), mo_free(order);
    return status;
}

// ---- Float rows ----

// Entries of rows whose starts are there.
mo_status mo_float_rows_create(int64_t entries, mo_float_rows *t)
{
    t->col = mo_alloc(sizeof(int32_t) * (size_t)entries), t->val = mo_alloc(sizeof(float) * (size_t)entries);
    return t->col && t->val ? MO_OK : MO_ERROR_MEMORY;
}

// How many entries of row i before and behind the diagonal find no slot.
static void count_row(mo_face_level *l, int32_t i)
{
    int32_t room = l->near && i < l->faces ? MO_FACE_SLOTS : 0;
    for (int64_t k = l->A.row[i]; k < l->A.row[i + 1]; k++) {
        int32_t j = l->A.col[k];
        if (j != i && room-- <= 0) l->before.row[i + 1] += j<i, l->behind.row[i + 1] += j> i;
    }
}

static void compress_row(mo_face_level *l, int32_t i)
{
    const mo_csr *A = &l->A;
    int64_t to = l->before.row[i], back = l->behind.row[i];
    int32_t room = l->near && i < l->faces ? MO_FACE_SLOTS : 0, slot = 0;
    for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) {
        int32_t j = A->col[k];
        float val = (float)A->val[k];
        if (j == i)
            l->diagonal[i] = val, l->inverse[i] = A->val[k] > 0 ? (float)(1 / A->val[k]) : 0;
        else if (slot < room)
            l->near[i][slot] = j, l->couple[i][slot++] = val;
        else if (j < i)
            l->before.col[to] = j, l->before.val[to++] = val;
        else
            l->behind.col[back] = j, l->behind.val[back++] = val;
    }
    for (; slot < room; slot++) l->near[i][slot] = i, l->couple[i][slot] = 0;
}

// Slots, if they hold most of the entries and most of them are used.
static mo_status make_slots(mo_face_level *l)
{
    double mean = (double)l->A.row[l->faces] / (l->faces ? l->faces : 1) - 1;
    if (mean < 0.7 * MO_FACE_SLOTS || mean > 2 * MO_FACE_SLOTS) return MO_OK;
    l->near = mo_alloc(sizeof *l->near * (size_t)l->faces), l->couple = mo_alloc(sizeof *l->couple * (size_t)l->faces);
    l->over = mo_alloc((size_t)l->groups);
    return l->near && l->couple && l->over ? MO_OK : MO_ERROR_MEMORY;
}

void mo_face_level_corner(mo_face_level *l, const double *corner)
{
    int32_t carried = l->rows - l->faces;
    for (int32_t e = 0; e < carried; e++, corner += carried) {
        int32_t i = l->faces + e;
        float *before = l->before.val + l->before.row[i + 1] - e, *behind = l->behind.val + l->behind.row[i];
        for (int32_t d = 0; d < e; d++) before[d] = (float)corner[d];
        for (int32_t d = e + 1; d < carried; d++) behind[d - e - 1] = (float)corner[d];
        l->diagonal[i] = (float)corner[e], l->inverse[i] = corner[e] > 0 ? (float)(1 / corner[e]) : 0;
    }
}

mo_status mo_face_level_compress(mo_face_level *l)
{
    size_t n = (size_t)l->rows;
    int64_t *before = l->before.row = mo_calloc(sizeof(int64_t) * (n + 1)),
            *behind = l->behind.row = mo_calloc(sizeof(int64_t) * (n + 1));
    l->diagonal = mo_calloc(sizeof(float) * 2 * n), l->vectors = mo_calloc(sizeof(float) * 3 * n);
    if (!before || !behind || !l->diagonal || !l->vectors) return MO_ERROR_MEMORY;
    l->inverse = l->diagonal + n, l->x = l->vectors, l->b = l->x + n, l->r = l->b + n;
    MO_TRY(make_slots(l));
#pragma omp parallel for schedule(static) if (l->rows > SMALL)
    for (int32_t i = 0; i < l->rows; i++) count_row(l, i);
    for (int32_t i = 0; i < l->rows; i++) before[i + 1] += before[i], behind[i + 1] += behind[i];
    for (int32_t g = 0; l->near && g < l->groups; g++) {
        int32_t first = l->group[g], end = l->group[g + 1];
        l->over[g] = before[end] > before[first] || behind[end] > behind[first];
    }
    MO_TRY(mo_float_rows_create(before[l->rows], &l->before));
    MO_TRY(mo_float_rows_create(behind[l->rows], &l->behind));
#pragma omp parallel for schedule(static) if (l->rows > SMALL)
    for (int32_t i = 0; i < l->rows; i++) compress_row(l, i);
    return MO_OK;
}
