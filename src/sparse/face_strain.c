// Multigrid on faces: what the matrix of a level has of strain rates.
//
//     A = D^T w D + m + rest        D the rates of strain of which all faces exist, w, m diagonal
//
// Interpolation commutes with strain, D P = Q D_c, with non-negative rows of Q that sum to one. So P^T (D^T w D) P =
// D_c^T (Q^T w Q) D_c, and the next level takes the row sums of Q^T w Q: rows of 15 entries in place of 130, the same
// energy where the strain is constant, a larger one where it alternates. m is summed likewise; the rest - rows at
// solids, which lack faces, and carried unknowns - is multiplied out.
#include "sparse/face_level.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 4096 };

mo_status mo_strain_create(int32_t faces, mo_strain *s)
{
    size_t n = (size_t)faces;
    s->near = mo_alloc(sizeof *s->near * n), s->weight = mo_alloc(sizeof *s->weight * n);
    s->mass = mo_alloc(sizeof(double) * n);
    return s->near && s->weight && s->mass ? MO_OK : MO_ERROR_MEMORY;
}

void mo_strain_destroy(mo_strain *s)
{
    mo_free(s->near), mo_free(s->weight), mo_free(s->mass);
    *s = (mo_strain){0};
}

// Slots of a face (c, a) and its neighbours: itself, along its axis, then for each of the two other axes b: across
// (the same axis), and the faces of axis b round the edges at c and c + e_b.
enum { OWN, BELOW, ABOVE, FIRST_EDGE, EDGE_SLOTS = 6 };

static const double edge_sign[EDGE_SLOTS] = {-1, -1, 1, -1, -1, 1};
static const int32_t edge_of[EDGE_SLOTS] = {0, 1, 0, 0, 1, 1};

static int32_t other_axis(int32_t a, int32_t q) { return q + (q >= a); }

// Offset of the neighbour in an edge slot.
static void edge_offset(int32_t a, int32_t b, int32_t slot, int32_t d[3])
{
    static const int32_t along_b[EDGE_SLOTS] = {-1, 1, 0, 0, 1, 1}, along_a[EDGE_SLOTS] = {0, 0, 0, -1, 0, -1};
    d[0] = d[1] = d[2] = 0;
    d[b] = along_b[slot], d[a] = along_a[slot];
}

void mo_strain_neighbour(const int32_t at[4], int32_t slot, int32_t out[4])
{
    int32_t d[3] = {0}, a = at[3], axis = a;
    if (slot == BELOW || slot == ABOVE)
        d[a] = slot == BELOW ? -1 : 1;
    else if (slot >= FIRST_EDGE) {
        int32_t q = (slot - FIRST_EDGE) / EDGE_SLOTS, b = other_axis(a, q), e = (slot - FIRST_EDGE) % EDGE_SLOTS;
        edge_offset(a, b, e, d);
        axis = e < 2 ? a : b;
    }
    for (int k = 0; k < 3; k++) out[k] = at[k] + d[k];
    out[3] = axis;
}

static int32_t slot_of(const int32_t from[4], const int32_t to[4])
{
    int32_t d[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]}, a = from[3], b = to[3];
    if (a == b) {
        int32_t axis = d[0] ? 0 : d[1] ? 1 : 2;
        if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > 1) return -1;
        if (!d[axis]) return OWN;
        return axis == a ? (d[a] < 0 ? BELOW : ABOVE) : FIRST_EDGE + (axis - (axis > a)) * EDGE_SLOTS + (d[axis] > 0);
    }
    if (d[3 - a - b] || d[a] < -1 || d[a] > 0 || d[b] < 0 || d[b] > 1) return -1;
    return FIRST_EDGE + (b - (b > a)) * EDGE_SLOTS + 2 + 2 * d[b] - d[a];
}

// Weights of the six samples of row i: along its axis below and above, and two edges for each of the other axes.
static void row_samples(const mo_strain *s, int32_t a, int32_t i, double w[6])
{
    const int32_t *near = s->near[i];
    w[0] = near[BELOW] >= 0 ? s->weight[near[BELOW]][0] : 0;
    w[1] = s->weight[i][0];
    for (int32_t q = 0; q < 2; q++) {
        int32_t b = other_axis(a, q), first = FIRST_EDGE + q * EDGE_SLOTS;
        int32_t low = a < b ? i : near[first + 2], high = a < b ? near[first + 1] : near[first + 4];
        w[2 + 2 * q] = low >= 0 ? s->weight[low][abs(b - a)] : 0;
        w[3 + 2 * q] = high >= 0 ? s->weight[high][abs(b - a)] : 0;
    }
}

void mo_strain_row(const mo_strain *s, int32_t a, int32_t i, double row[MO_STRAIN_SLOTS])
{
    double w[6];
    row_samples(s, a, i, w);
    row[OWN] = s->mass[i] + ((w[0] + w[1]) + (w[2] + w[3]) + (w[4] + w[5]));
    row[BELOW] = -w[0], row[ABOVE] = -w[1];
    for (int32_t q = 0; q < 2; q++)
        for (int32_t e = 0; e < EDGE_SLOTS; e++)
            row[FIRST_EDGE + q * EDGE_SLOTS + e] = edge_sign[e] * w[2 + 2 * q + edge_of[e]];
}

// ---- Splitting the finest level's matrix ----

// The sample weights that row i owns, from its entries by slot: an edge counts if all its faces couple alike.
static void own_samples(int32_t a, const double val[MO_STRAIN_SLOTS], double w[3])
{
    w[0] = fmax(-val[ABOVE], 0), w[1] = w[2] = 0;
    for (int32_t b = a + 1; b < 3; b++) {
        const double *edge = val + FIRST_EDGE + (b - 1) * EDGE_SLOTS;
        w[b - a] = fmax(fmin(-edge[0], fmin(edge[2], -edge[3])), 0);
    }
}

static void find_samples(mo_face_level *l, int32_t i)
{
    double val[MO_STRAIN_SLOTS] = {0};
    for (int32_t s = 0; s < MO_STRAIN_SLOTS; s++) l->strain.near[i][s] = -1;
    for (int64_t k = l->A.row[i]; k < l->A.row[i + 1]; k++) {
        int32_t j = l->A.col[k], s = j < l->faces ? slot_of(l->coord[i], l->coord[j]) : -1;
        if (s >= 0) l->strain.near[i][s] = j, val[s] = l->A.val[k];
    }
    own_samples(l->coord[i][3], val, l->strain.weight[i]);
}

// What strain leaves of row i.
static int32_t rest_row(void *user, int32_t i, int32_t thread, int32_t *col, double *val)
{
    const double negligible = 1e-10; // of the diagonal: rounding
    const mo_face_level *l = user;
    double row[MO_STRAIN_SLOTS];
    int32_t n = 0;
    (void)thread;
    mo_strain_row(&l->strain, l->coord[i][3], i, row);
    for (int64_t k = l->A.row[i]; k < l->A.row[i + 1]; k++) {
        int32_t j = l->A.col[k], s = j < l->faces ? slot_of(l->coord[i], l->coord[j]) : -1;
        double left = l->A.val[k] - (s >= 0 ? row[s] : 0);
        if (j >= l->faces || fabs(left) > negligible * row[OWN]) col[n] = j, val[n++] = left;
    }
    return n;
}

mo_status mo_face_level_split(mo_face_level *l, const double *mass)
{
    MO_TRY(mo_strain_create(l->faces, &l->strain));
    memcpy(l->strain.mass, mass, sizeof(double) * (size_t)l->faces);
#pragma omp parallel for schedule(static) if (l->faces > SMALL)
    for (int32_t i = 0; i < l->faces; i++) find_samples(l, i);
    return mo_csr_collect(l->faces, l->rows, mo_csr_widest(&l->A), rest_row, l, &l->rest);
}

void mo_face_level_join(mo_face_level *l)
{
    mo_strain_destroy(&l->strain);
    mo_csr_destroy(&l->rest);
}

// ---- The next level ----

// How much of the rates that fine face c owns coarse face C gets; `weight` is that of interpolation between the faces.
static void shares(const int32_t c[4], const int32_t C[4], int axes, double weight, double share[3])
{
    int32_t a = c[3];
    share[0] = C[a] != c[a] >> 1 ? 0 : c[a] & 1 ? 2 * weight : weight; // constant along the axis
    for (int32_t b = a + 1; b < axes; b++) {
        bool far = C[b] != c[b] >> 1;
        double rest = weight / (far ? 0.25 : 0.75); // linear along b, not as in cells
        share[b - a] = c[b] & 1 ? 0.5 * rest : far ? 0 : rest;
    }
}

void mo_strain_restrict(const mo_face_level *l, const mo_csr *R, int axes, mo_face_level *next, int32_t I)
{
    // Differences over two cells; and somewhat less than the row sums, which overestimate strain that alternates.
    const double part = 0.25 * 0.85;
    double *w = next->strain.weight[I], mass = 0;
    w[0] = w[1] = w[2] = 0;
    for (int64_t m = R->row[I]; m < R->row[I + 1]; m++) {
        int32_t i = R->col[m];
        double share[3] = {0};
        shares(l->coord[i], next->coord[I], axes, R->val[m], share);
        for (int k = 0; k < 3; k++) w[k] += part * share[k] * l->strain.weight[i][k];
        mass += R->val[m] * l->strain.mass[i];
    }
    next->strain.mass[I] = mass;
}
