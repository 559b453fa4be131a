// Faces of simplex meshes: which belong to one element, and parts that hang together by an edge alone.
#include "base/parallel.h"
#include "geometry/tets.h"
#include <string.h>

// The vertices of a face in ascending order. Returns whether sorting took an odd number of exchanges.
static bool sorted_face(const mo_tets *t, int64_t face, int32_t out[3])
{
    int corners = t->dimension + 1;
    const int32_t *v = t->element + face / corners * corners;
    const int8_t *local = mo_tets_face[t->dimension - 2][face % corners];
    bool odd = false;
    out[2] = INT32_MAX; // 2D: there is none
    for (int i = 0; i < t->dimension; i++) {
        int32_t vertex = v[local[i]];
        int j = i;
        for (; j > 0 && out[j - 1] > vertex; j--, odd = !odd) out[j] = out[j - 1];
        out[j] = vertex;
    }
    return odd;
}

// Puts a face into the table, or finds the one of the neighbour: returns that, or -1.
static int64_t match_face(const mo_tets *t, int32_t *table, uint32_t mask, int64_t face, bool *same_turn)
{
    int32_t v[3], w[3];
    bool odd = sorted_face(t, face, v);
    uint32_t k = mo_hash((uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2]) & mask;
    for (; table[k] >= 0; k = (k + 1) & mask) {
        *same_turn = sorted_face(t, table[k], w) == odd;
        if (v[0] == w[0] && v[1] == w[1] && v[2] == w[2]) return table[k];
    }
    table[k] = (int32_t)face;
    return -1;
}

mo_status mo_tets_match_faces(const mo_tets *t, bool *single, int32_t *first, int32_t *second, mo_error *err)
{
    int64_t corners = t->dimension + 1, faces = corners * t->element_count;
    size_t size = 16;
    while (size < (size_t)faces * 4 / 3) size *= 2;
    int32_t *table = mo_alloc(sizeof(int32_t) * size);
    if (!table) return mo_fail_memory(err);
    memset(table, 0xff, sizeof(int32_t) * size);
    *first = *second = -1;
    for (int64_t f = 0; f < faces && *first < 0; f++) {
        bool same_turn;
        int64_t other = match_face(t, table, (uint32_t)(size - 1), f, &same_turn);
        single[f] = other < 0;
        if (other < 0) continue;
        if (same_turn || !single[other]) *first = (int32_t)(other / corners), *second = (int32_t)(f / corners);
        single[other] = false;
    }
    mo_free(table);
    return MO_OK;
}

static mo_status list_faces(const mo_tets *t, const bool *single, int32_t **faces, int32_t *count, mo_error *err)
{
    int64_t corners = t->dimension + 1, total = corners * t->element_count, kept = 0;
    for (int64_t f = 0; f < total; f++) kept += single[f];
    *faces = mo_alloc(sizeof(int32_t) * (size_t)t->dimension * (size_t)kept);
    if (!*faces) return mo_fail_memory(err);
    *count = (int32_t)kept;
    int32_t *to = *faces;
    for (int64_t f = 0; f < total; f++)
        for (int k = 0; single[f] && k < t->dimension; k++)
            *to++ = t->element[f / corners * corners + mo_tets_face[t->dimension - 2][f % corners][k]];
    return MO_OK;
}

mo_status mo_tets_boundary(const mo_tets *t, int32_t **faces, int32_t *count, mo_error *err)
{
    *faces = NULL;
    *count = 0;
    bool *single = mo_alloc((size_t)(t->dimension + 1) * (size_t)t->element_count);
    if (!single) return mo_fail_memory(err);
    int32_t first, second;
    mo_status status = mo_tets_match_faces(t, single, &first, &second, err);
    if (status == MO_OK && first >= 0)
        status =
            mo_fail(err, MO_ERROR_INPUT, "elements %d and %d overlap, or share a face with a third one", first, second);
    if (status == MO_OK) status = list_faces(t, single, faces, count, err);
    mo_free(single);
    return status;
}

// ---- Pinches: ridges, edges (2D: vertices) of the boundary, in which more than two of its faces meet ----

typedef struct ridge {
    int32_t a, b;    // vertices, a < b; 2D: b = -1
    int32_t faces;   // of the boundary; 0: a free slot
    int32_t pinched; // number among the pinched ones, -1 = not
} ridge;

typedef struct ridges {
    ridge *slot;
    uint32_t mask;
    int32_t pinched;
} ridges;

// The slot of a ridge, or the free one where it belongs.
static ridge *find_ridge(const ridges *r, int32_t a, int32_t b)
{
    uint32_t k = mo_hash((uint32_t)a, (uint32_t)b, 17) & r->mask;
    while (r->slot[k].faces > 0 && (r->slot[k].a != a || r->slot[k].b != b)) k = (k + 1) & r->mask;
    return &r->slot[k];
}

static void count_ridge(const ridges *r, int32_t a, int32_t b)
{
    ridge *found = find_ridge(r, a, b);
    found->a = a, found->b = b;
    found->faces++;
}

// Every face has `dimension` ridges. Numbers the pinched ones.
static bool count_ridges(const mo_tets *t, const int32_t *faces, int32_t count, ridges *r)
{
    size_t size = 16;
    while (size < 2 * (size_t)t->dimension * (size_t)count) size *= 2;
    *r = (ridges){mo_calloc(sizeof(ridge) * size), (uint32_t)(size - 1), 0};
    if (!r->slot) return false;
    for (int32_t f = 0; f < count; f++)
        for (int k = 0; k < t->dimension; k++) {
            const int32_t *v = faces + t->dimension * (int64_t)f;
            int32_t a = v[k], b = t->dimension == 2 ? -1 : v[(k + 1) % 3];
            count_ridge(r, b < 0 || a < b ? a : b, b < 0 || a < b ? b : a);
        }
    for (size_t k = 0; k < size; k++) r->slot[k].pinched = r->slot[k].faces > 2 ? r->pinched++ : -1;
    return true;
}

// The pinched ridges of an element, at most six. Returns their number.
static int pinches_of(const mo_tets *t, const ridges *r, int32_t element, const ridge *out[6])
{
    const int32_t *v = mo_tets_element(t, element);
    int count = 0;
    for (int i = 0; i <= t->dimension; i++)
        for (int j = 0; j < (t->dimension == 2 ? 1 : i); j++) {
            int32_t a = v[i], b = t->dimension == 2 ? -1 : v[j];
            const ridge *found = find_ridge(r, b < 0 || a < b ? a : b, b < 0 || a < b ? b : a);
            if (found->faces > 2) out[count++] = found;
        }
    return count;
}

// Two elements at a ridge are neighbours there if they share a vertex outside it.
static bool are_joined(const mo_tets *t, const ridge *r, int32_t element, int32_t other)
{
    const int32_t *v = mo_tets_element(t, element), *w = mo_tets_element(t, other);
    for (int i = 0; i <= t->dimension; i++)
        for (int j = 0; j <= t->dimension; j++)
            if (v[i] == w[j] && v[i] != r->a && v[i] != r->b) return true;
    return false;
}

// Groups the elements at a ridge: part[i] is the first element of the group of i.
static void group_elements(const mo_tets *t, const ridge *r, const int32_t *element, int32_t count, int32_t *part)
{
    for (int32_t i = 0; i < count; i++) {
        part[i] = i;
        for (int32_t j = 0; j < i; j++) {
            if (part[i] == part[j] || !are_joined(t, r, element[i], element[j])) continue;
            int32_t low = part[i] < part[j] ? part[i] : part[j], high = part[i] < part[j] ? part[j] : part[i];
            for (int32_t k = 0; k <= i; k++)
                if (part[k] == high) part[k] = low;
        }
    }
}

// Marks all groups at a ridge but the one of the largest volume; of equal ones the first stays.
static void keep_largest(const mo_tets *t, const int32_t *element, int32_t count, const int32_t *part, bool *removed)
{
    int32_t best = 0;
    double largest = 0;
    for (int32_t i = 0; i < count; i++) {
        double volume = 0;
        for (int32_t j = 0; j < count; j++)
            if (part[j] == i) volume += mo_tets_volume(t, element[j]);
        if (volume > largest) largest = volume, best = i;
    }
    for (int32_t i = 0; i < count; i++)
        if (part[i] != best) removed[element[i]] = true;
}

// Marks the elements that go. start, element, part and at: work, for every pinch its elements and its slot.
static void judge_pinches(const mo_tets *t, const ridges *r, int32_t *start, int32_t *element, int32_t *part,
                          int32_t *at, bool *removed)
{
    const ridge *pinch[6];
    for (int32_t e = 0; e < t->element_count; e++)
        for (int k = pinches_of(t, r, e, pinch) - 1; k >= 0; k--) {
            at[pinch[k]->pinched] = (int32_t)(pinch[k] - r->slot);
            element[start[pinch[k]->pinched]++] = e; // start becomes the end
        }
    for (int32_t p = 0; p < r->pinched; p++) {
        int32_t first = p > 0 ? start[p - 1] : 0, count = start[p] - first;
        group_elements(t, &r->slot[at[p]], element + first, count, part);
        keep_largest(t, element + first, count, part, removed);
    }
}

static bool mark_pinches(const mo_tets *t, const ridges *r, bool *removed)
{
    int32_t *start = mo_calloc(sizeof(int32_t) * (size_t)r->pinched);
    int32_t *at = mo_alloc(sizeof(int32_t) * (size_t)r->pinched);
    const ridge *pinch[6];
    for (int32_t e = 0; start && e < t->element_count; e++)
        for (int k = pinches_of(t, r, e, pinch) - 1; k >= 0; k--) start[pinch[k]->pinched]++;
    size_t entries = start ? (size_t)mo_prefix_sum(r->pinched, start) : 0;
    int32_t *element = mo_alloc(sizeof(int32_t) * entries), *part = mo_alloc(sizeof(int32_t) * entries);
    bool enough = start && at && element && part;
    if (enough) judge_pinches(t, r, start, element, part, at, removed);
    mo_free(start);
    mo_free(at);
    mo_free(element);
    mo_free(part);
    return enough;
}

static void remove_elements(mo_tets *t, const bool *removed)
{
    int64_t corners = t->dimension + 1;
    int32_t kept = 0;
    for (int32_t e = 0; e < t->element_count; e++) {
        if (removed[e]) continue;
        memmove(t->element + corners * kept++, mo_tets_element(t, e), sizeof(int32_t) * (size_t)corners);
    }
    t->element_count = kept;
}

// One pass; *found tells whether there were pinches.
static mo_status unpinch_once(mo_tets *t, bool *found, mo_error *err)
{
    int32_t *faces, count;
    ridges r = {0};
    MO_TRY(mo_tets_boundary(t, &faces, &count, err));
    bool *removed = mo_calloc((size_t)t->element_count), enough = removed && count_ridges(t, faces, count, &r);
    *found = r.pinched > 0;
    if (enough && *found) enough = mark_pinches(t, &r, removed);
    if (enough && *found) remove_elements(t, removed);
    mo_free(r.slot);
    mo_free(removed);
    mo_free(faces);
    return enough ? MO_OK : mo_fail_memory(err);
}

mo_status mo_tets_unpinch(mo_tets *t, mo_error *err)
{
    bool found = true, ever = false;
    while (found && t->element_count > 0) {
        MO_TRY(unpinch_once(t, &found, err));
        ever = ever || found;
    }
    return ever ? mo_tets_drop_unused(t, err) : MO_OK;
}
