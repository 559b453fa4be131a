// Irregular free-surface domains for solver tests and benchmarks: from two level sets (liquid, solid; negative inside)
// the constraint rows B, the face masses and the lattice cells of a pressure block, with ghost-fluid wet fractions
// theta >= 0.01 and open areas by sampling. "std": a ball joined with a slab on a floor off the grid, overlapping a
// solid sphere, with two droplets and a thin filament.
#ifndef STD_DOMAIN_H
#define STD_DOMAIN_H

#include "base/parallel.h"
#include "sparse/csr.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef double (*domain_fn)(const double x[3], int dimensions);

typedef struct domain {
    int32_t rows, faces, n[3];
    double dx, dt;
    int32_t (*coord)[3]; // [rows] rows of an 8^3 tile contiguous
    mo_csr B;            // rows x faces
    double *mass;        // [faces] rho WF theta
} domain;

// ---- Level sets ----

static inline double clamped(double x, double lo, double hi) { return x < lo ? lo : x > hi ? hi : x; }

static inline double ball(const double x[3], int d, double cx, double cy, double cz, double radius)
{
    double c[3] = {cx, cy, cz}, s = 0;
    for (int a = 0; a < d; a++) s += (x[a] - c[a]) * (x[a] - c[a]);
    return sqrt(s) - radius;
}

static inline double slab(const double x[3], int d, const double lo[3], const double hi[3])
{
    double outside = 0, inside = -1e30;
    for (int a = 0; a < d; a++) {
        double q = fabs(x[a] - 0.5 * (lo[a] + hi[a])) - 0.5 * (hi[a] - lo[a]);
        if (q > 0) outside += q * q;
        if (q > inside) inside = q;
    }
    return sqrt(outside) + fmin(inside, 0);
}

static inline double std_liquid(const double x[3], int d)
{
    static const double lo[3] = {0.13, -0.2, 0.16}, hi[3] = {0.87, 0.273, 0.85};
    double phi = fmin(ball(x, d, 0.45, 0.52, 0.49, 0.27), slab(x, d, lo, hi));
    phi = fmin(phi, ball(x, d, 0.2, 0.8, 0.3, 0.047));
    phi = fmin(phi, ball(x, d, 0.83, 0.72, 0.71, 0.021));
    // A thin filament that hangs from the ball.
    const double a[3] = {0.45, 0.75, 0.49}, ab[3] = {0.38, 0.15, -0.19};
    double along = 0, length = 0, s = 0;
    for (int k = 0; k < d; k++) along += (x[k] - a[k]) * ab[k], length += ab[k] * ab[k];
    along = clamped(along / length, 0, 1);
    for (int k = 0; k < d; k++) s += (x[k] - a[k] - along * ab[k]) * (x[k] - a[k] - along * ab[k]);
    return fmin(phi, sqrt(s) - 0.026);
}

static inline double std_solid(const double x[3], int d)
{
    return fmin(x[1] - 0.1037, ball(x, d, 0.63, 0.2, 0.52, 0.17));
}

// A spray: one droplet of random radius in each of 10^d boxes, over a thin sheet.
static inline double spray_liquid(const double x[3], int d)
{
    double phi = fabs(x[1] - 0.153) - 0.011;
    int32_t box[3] = {0};
    for (int a = 0; a < d; a++) box[a] = (int32_t)floor(10 * x[a]);
    if (box[1] < 3) return phi;
    uint32_t h = mo_hash((uint32_t)box[0], (uint32_t)box[1], (uint32_t)box[2]);
    double radius = 0.005 + 0.04 * mo_unit(h);
    return fmin(phi, ball(x, d, (box[0] + 0.5) / 10, (box[1] + 0.5) / 10, (box[2] + 0.5) / 10, radius));
}

// Liquid that fills a closed box and one half of another: one enclosed piece and one with a surface.
static inline double boxes_liquid(const double x[3], int d)
{
    (void)d;
    return x[0] < 0.5 ? -1 : x[1] - 0.4713;
}
static inline double boxes_solid(const double x[3], int d)
{
    static const double lo[2][3] = {{0.11, 0.1, 0.12}, {0.57, 0.1, 0.12}},
                        hi[2][3] = {{0.45, 0.88, 0.9}, {0.93, 0.88, 0.9}};
    return -fmin(slab(x, d, lo[0], hi[0]), slab(x, d, lo[1], hi[1]));
}
static inline double no_solid(const double x[3], int d)
{
    (void)x, (void)d;
    return 1;
}

// ---- Assembly ----

// Open part of the face of cell `c` on the low side of `axis`.
static inline double open_area(const domain *D, domain_fn solid, const int32_t c[3], int axis, int d)
{
    enum { SAMPLES = 4 };
    double x[3] = {D->dx * (c[0] + 0.5), D->dx * (c[1] + 0.5), D->dx * (c[2] + 0.5)};
    x[axis] = D->dx * c[axis];
    double centre = solid(x, d);
    if (fabs(centre) > D->dx) return centre > 0;
    int p = (axis + 1) % 3, q = (axis + 2) % 3, count = 0;
    double area = 0;
    for (int i = 0; i < SAMPLES; i++)
        for (int j = 0; j < SAMPLES; j++) {
            x[p] = D->dx * (c[p] + (i + 0.5) / SAMPLES), x[q] = D->dx * (c[q] + (j + 0.5) / SAMPLES);
            area += clamped(0.5 + solid(x, d) * SAMPLES / D->dx, 0, 1), count++;
        }
    return area / count;
}

static inline int64_t cell_index(const domain *D, int32_t i, int32_t j, int32_t k)
{
    return i + (int64_t)D->n[0] * (j + (int64_t)D->n[1] * k);
}

// Neighbours of a row: entry for each open face; a face is numbered when its first cell meets it.
static inline void domain_faces(domain *D, domain_fn solid, const float *phi, int d, int32_t *face[3])
{
    int64_t entries = 0;
    for (int32_t r = 0; r < D->rows; r++) {
        D->B.row[r] = entries;
        struct {
            int32_t face;
            double value;
        } e[6];
        int n = 0;
        for (int s = 0; s < 2 * d; s++) {
            int axis = s / 2, side = s % 2; // the face's cell on its high side is c
            int32_t c[3] = {D->coord[r][0], D->coord[r][1], D->coord[r][2]};
            c[axis] += side;
            if (c[axis] <= 0 || c[axis] >= D->n[axis]) continue;
            int64_t hi = cell_index(D, c[0], c[1], c[2]);
            int32_t *number = &face[axis][hi];
            if (*number == -2) continue; // closed
            c[axis]--;
            int64_t lo = cell_index(D, c[0], c[1], c[2]);
            c[axis]++;
            if (*number == -1) {
                double area = open_area(D, solid, c, axis, d);
                if (area < 1e-9) {
                    *number = -2;
                    continue;
                }
                *number = D->faces++;
                double in = fmin(phi[lo], phi[hi]), out = fmax(phi[lo], phi[hi]);
                double theta = out < 0 ? 1 : clamped(in / (in - out), 0.01, 1);
                D->mass[*number] = 1000 * (double)(float)area * (double)(float)theta;
            }
            double area = D->mass[*number] / 1000;
            double in = fmin(phi[lo], phi[hi]), out = fmax(phi[lo], phi[hi]);
            area /= out < 0 ? 1 : (double)(float)clamped(in / (in - out), 0.01, 1);
            e[n].face = *number, e[n++].value = (side ? -1 : 1) * area / D->dx;
        }
        for (int a = 1; a < n; a++)
            for (int b = a; b > 0 && e[b].face < e[b - 1].face; b--) {
                __typeof__(e[0]) t = e[b];
                e[b] = e[b - 1], e[b - 1] = t;
            }
        for (int a = 0; a < n; a++, entries++) D->B.col[entries] = e[a].face, D->B.val[entries] = e[a].value;
    }
    D->B.row[D->rows] = entries;
    D->B.cols = D->faces;
}

static inline void domain_destroy(domain *D)
{
    mo_csr_destroy(&D->B);
    mo_free(D->mass), mo_free(D->coord);
    *D = (domain){0};
}

// n cells along x (and y and, in three dimensions, z) of the unit cube. Asserts on lack of memory.
static inline void domain_create(int32_t n, int d, domain_fn liquid, domain_fn solid, domain *D)
{
    *D = (domain){.n = {n, n, d == 3 ? n : 1}, .dx = 1.0 / n, .dt = 0.01};
    int64_t cells = (int64_t)n * n * D->n[2];
    float *phi = malloc(sizeof(float) * (size_t)cells);
    for (int64_t i = 0; i < cells; i++) {
        double x[3] = {D->dx * ((double)(i % n) + 0.5), D->dx * ((double)(i / n % n) + 0.5),
                       D->dx * ((double)(i / n / n) + 0.5)};
        phi[i] = (float)liquid(x, d);
        D->rows += phi[i] < 0 && solid(x, d) > -2 * D->dx;
    }
    D->coord = mo_alloc(sizeof(int32_t[3]) * (size_t)D->rows);
    D->mass = mo_alloc(sizeof(double) * 6 * (size_t)D->rows);
    if (mo_csr_create(D->rows, 0, 6 * (int64_t)D->rows, &D->B) != MO_OK || !D->coord || !D->mass) abort();
    int32_t *face[3], tiles = (n + 7) / 8, rows = 0;
    for (int a = 0; a < 3; a++) {
        face[a] = malloc(sizeof(int32_t) * (size_t)cells);
        memset(face[a], 0xff, sizeof(int32_t) * (size_t)cells);
    }
    // Cells tile by tile, those with an open face.
    for (int32_t t = 0; t < tiles * tiles * (d == 3 ? tiles : 1); t++)
        for (int32_t q = 0; q < 512; q++) {
            int32_t c[3] = {8 * (t % tiles) + (q & 7), 8 * (t / tiles % tiles) + (q >> 3 & 7),
                            8 * (t / tiles / tiles) + (q >> 6)};
            if (c[0] >= n || c[1] >= n || c[2] >= D->n[2] || phi[cell_index(D, c[0], c[1], c[2])] >= 0) continue;
            double x[3] = {D->dx * (c[0] + 0.5), D->dx * (c[1] + 0.5), D->dx * (c[2] + 0.5)}, open = 0;
            if (solid(x, d) <= -2 * D->dx) continue;
            for (int a = 0; a < d; a++)
                for (int s = 0; s < 2; s++) {
                    int32_t f[3] = {c[0], c[1], c[2]};
                    f[a] += s;
                    if (f[a] > 0 && f[a] < D->n[a]) open += open_area(D, solid, f, a, d) >= 1e-9;
                }
            if (open > 0) memcpy(D->coord[rows++], c, sizeof c);
        }
    D->rows = D->B.rows = rows;
    domain_faces(D, solid, phi, d, face);
    for (int a = 0; a < 3; a++) free(face[a]);
    free(phi);
}

// The pressure matrix dt B M^-1 B^T.
static inline mo_status domain_matrix(const domain *D, mo_csr *A)
{
    mo_csr Bt;
    MO_TRY(mo_csr_transpose(&D->B, &Bt));
    double *weight = mo_alloc(sizeof(double) * (size_t)D->faces);
    mo_status status = weight ? MO_OK : MO_ERROR_MEMORY;
    if (weight) {
        for (int32_t f = 0; f < D->faces; f++) weight[f] = D->dt / D->mass[f];
        status = mo_csr_weighted_square(&D->B, &Bt, weight, A);
    }
    mo_free(weight);
    mo_csr_destroy(&Bt);
    return status;
}

// A right-hand side with a smooth and a rough part.
static inline void domain_rhs(const domain *D, double *b)
{
    for (int32_t i = 0; i < D->rows; i++) {
        double normal = -6;
        for (uint32_t k = 0; k < 12; k++) normal += mo_unit(mo_hash((uint32_t)i, k, 7));
        b[i] = 1 + 0.2 * normal;
    }
}

#endif
