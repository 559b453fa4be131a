// The open parts of cells and faces, and what solids take of them (fractions.h, docs/math.md 2.1, MO supplement 2).
//
// Lengths in here are in cells. Distances have slope <= 1, so one value at a centre tells that a tile or a cell cannot
// meet a solid's surface; only what can is sampled, on the lattice of half cells.
#include "grid/covering.h"
#include "grid/seal.h"
#include <math.h>
#include <string.h>

#define FACE_REACH 1.2248 // from a cell's centre to the corners of the boxes round its faces
#define TILE_REACH 10.07  // from a tile's centre to CAP beyond its last cell centres, so beyond its corners as well
#define CAP        4.0    // of the distance field

static inline double smaller(double a, double b) { return a < b ? a : b; }
static inline double larger(double a, double b) { return a > b ? a : b; }

// Walls along one axis, for the cells -1 .. 7 of a tile.
typedef struct walls {
    bool closed[MO_TILE + 1]; // [cell + 1] beyond a closed wall
    double distance[MO_TILE]; // to the nearer closed wall, at most CAP
    bool any;                 // a closed wall is within CAP of the tile
} walls;

static walls find_walls(const mo_grid *g, const mo_solid_set *solids, const int32_t tile[3], int axis)
{
    walls w = {.any = false};
    bool flat = axis == 2 && mo_grid_is_2d(g);
    double lo = MO_MARGIN, hi = g->n[axis] - MO_MARGIN;
    bool lo_closed = flat || !solids->open_wall[2 * axis], hi_closed = flat || !solids->open_wall[2 * axis + 1];
    for (int c = -1; c < MO_TILE; c++) {
        double x = 8 * tile[axis] + c + 0.5, d = CAP;
        if (lo_closed) d = smaller(d, x - lo);
        if (hi_closed) d = smaller(d, hi - x);
        w.closed[c + 1] = d < 0;
        // The slip planes of 2D are no obstacles within the plane.
        if (flat && d > 0) d = CAP;
        if (c >= 0) w.distance[c] = larger(d, -CAP);
        w.any |= d < CAP;
    }
    return w;
}

// Number of the cover of a solid in a tile, -1: there is none.
static int32_t cover_of(const mo_openings *out, int32_t tile, int32_t solid)
{
    for (int32_t k = out->first ? out->first[tile] : 0; out->first && k < out->first[tile + 1]; k++)
        if (out->cover[k].solid == solid) return k;
    return -1;
}

// What solids take of a face, changed along with its area.
static void scale_covers(mo_openings *out, int32_t q, int axis, float factor)
{
    MO_ASSERT(factor >= 0);
    int32_t tile = q / MO_TILE_CELLS;
    for (int32_t k = out->first ? out->first[tile] : 0; out->first && k < out->first[tile + 1]; k++) {
        out->cover[k].part[axis][q % MO_TILE_CELLS] *= factor;
        out->spare[k].part[axis][q % MO_TILE_CELLS] *= factor;
    }
}

// Where all solids have covers, these add up to exactly 1 afterwards.
void mo_openings_close(mo_openings *out, int32_t q, int axis)
{
    const int32_t tile = q / MO_TILE_CELLS, c = q % MO_TILE_CELLS;
    float area = out->area[axis][q], taken = 1 - area, covered = 0, sum = 0, *largest = NULL;
    out->area[axis][q] = 0;
    if (area <= 0 || taken < MO_PART_TINY) return; // nothing moves there
    for (int32_t k = out->first ? out->first[tile] : 0; out->first && k < out->first[tile + 1]; k++)
        covered += out->cover[k].part[axis][c];
    scale_covers(out, q, axis, 1 / taken), out->flux[axis][q] /= taken;
    for (int32_t k = out->first ? out->first[tile] : 0; out->first && k < out->first[tile + 1]; k++) {
        float *part = &out->cover[k].part[axis][c];
        *part = (float)mo_whole_part(*part), sum += *part;
        if (!largest || *part > *largest) largest = part;
    }
    if (largest && covered == taken) *largest += 1 - sum;
}

void mo_openings_give(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t q, int axis, double part,
                      mo_openings *out)
{
    MO_ASSERT(solid >= 0 && solid < solids->count && axis >= 0 && axis < 3);
    MO_ASSERT(part >= 0 && part <= 1);
    int32_t cover = cover_of(out, q / MO_TILE_CELLS, solid);
    if (cover >= 0) out->cover[cover].part[axis][q % MO_TILE_CELLS] += (float)part;
    if (mo_solid_moves(solids, solid) || !solids->velocity) return;
    mo_vec3 x = mo_grid_face(g, q, axis);
    out->flux[axis][q] += (float)(part * mo_get(solids->velocity(solids->user, solid, x), axis));
}

// What a body leaves of the low faces of a cell. It takes the larger of the area and the part of the box round the face
// that it covers; what it takes beyond the box is spare (fractions.h).
static void cover_with_body(int32_t q, const double area[3], const double around[3], int32_t cover, mo_openings *out)
{
    MO_ASSERT(q / MO_TILE_CELLS == out->cover[cover].tile);
    for (int a = 0; a < 3; a++) {
        double part = mo_whole_part(smaller(larger(area[a], around[a]), out->area[a][q]));
        out->area[a][q] = (float)(out->area[a][q] - part);
        out->cover[cover].part[a][q % MO_TILE_CELLS] = (float)part;
        out->spare[cover].part[a][q % MO_TILE_CELLS] = (float)(part - around[a]);
    }
}

// What another solid leaves of the low faces of a cell, or any where several meet.
static void cover_with(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t q, const double area[3],
                       mo_openings *out)
{
    for (int a = 0; a < 3; a++) {
        double part = mo_whole_part(smaller(area[a], out->area[a][q]));
        if (part <= 0) continue;
        out->area[a][q] = (float)(out->area[a][q] - part);
        mo_openings_give(g, solids, solid, q, a, part, out);
    }
}

// The solids that come within reach of each cell, in their order.
typedef struct visitors {
    uint8_t count[MO_TILE_CELLS]; // more than MO_MEETING: too many, or one of them covers the cell
    int32_t solid[MO_TILE_CELLS][MO_MEETING];
} visitors;

static void visit(visitors *v, int cell, int32_t solid, bool whole)
{
    MO_ASSERT(cell >= 0 && cell < MO_TILE_CELLS);
    int n = v->count[cell];
    if (n < MO_MEETING) v->solid[cell][n] = solid;
    v->count[cell] = (uint8_t)(whole || n >= MO_MEETING ? MO_MEETING + 1 : n + 1);
}

// The axis along which the low face of a cell beyond a closed wall is part of that wall, or -1: a cell of the domain
// lies before it.
static int wall_before(const walls w[3], const int at[3])
{
    int axis = -1;
    for (int a = 0; a < 3; a++) {
        if (!w[a].closed[at[a] + 1]) continue;
        if (axis >= 0 || w[a].closed[at[a]]) return -1;
        axis = a;
    }
    return axis;
}

// What a prescribed solid sweeps through the closed wall that the low face of a cell is part of.
static void sweep_wall(mo_covering *s, const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t q,
                       const int at[3], int axis, mo_openings *out)
{
    double area[3] = {0};
    area[axis] = mo_covering_face(s, axis, at);
    cover_with(g, solids, solid, q, area, out);
}

// Takes one solid out of a tile; false if it is out of reach.
static bool cover_tile(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile, const walls w[3],
                       visitors *v, mo_openings *out)
{
    MO_ASSERT(solid >= 0 && solid < solids->count && tile >= 0 && tile < g->tiles);
    mo_meeting m = mo_meeting_alone(g, solids, solid, tile);
    double middle = mo_meeting_distance(&m, solid, 4, 4, 4);
    if (middle > TILE_REACH) return false;
    bool buried = middle < -TILE_REACH, flat = mo_grid_is_2d(g), started = false;
    int32_t cover = mo_solid_moves(solids, solid) ? cover_of(out, tile, solid) : -1;
    bool sweeps = !mo_solid_moves(solids, solid) && solids->velocity;
    double reach = cover >= 0 ? FACE_REACH : MO_CELL_REACH;
    mo_covering s;
    for (int z = flat ? MO_MARGIN : 0; z < (flat ? MO_MARGIN + 1 : MO_TILE); z++)
        for (int y = 0; y < MO_TILE; y++)
            for (int x = 0; x < MO_TILE; x++) {
                int32_t c = x + 8 * (y + 8 * z), q = tile * MO_TILE_CELLS + c;
                double d = buried ? -CAP : mo_meeting_distance(&m, solid, x + 0.5, y + 0.5, z + 0.5);
                out->distance[q] = (float)larger(-CAP, smaller(out->distance[q], d));
                bool beyond = w[0].closed[x + 1] || w[1].closed[y + 1] || w[2].closed[z + 1];
                int wall = beyond && sweeps ? wall_before(w, (int[3]){x, y, z}) : -1;
                if (d > reach || (beyond && wall < 0)) continue;
                if (!started && (beyond || d > -reach))
                    mo_covering_start(&s, g, solids, solid, g->coord[tile]), started = true;
                if (beyond) {
                    sweep_wall(&s, g, solids, solid, q, (int[3]){x, y, z}, wall, out);
                    continue;
                }
                double volume = 1, area[3] = {1, 1, 1}, around[3] = {1, 1, 1};
                if (d <= MO_CELL_REACH) visit(v, c, solid, d <= -MO_CELL_REACH);
                if (d > -reach) {
                    volume = mo_covering_cell(&s, x, y, z);
                    for (int a = 0; a < 3; a++) area[a] = mo_covering_face(&s, a, (int[3]){x, y, z});
                    for (int a = 0; a < 3 && cover >= 0; a++) around[a] = mo_covering_round(&s, a, (int[3]){x, y, z});
                }
                out->volume[q] = (float)(out->volume[q] - smaller(volume, out->volume[q]));
                if (cover >= 0)
                    cover_with_body(q, area, around, cover, out);
                else
                    cover_with(g, solids, solid, q, area, out);
            }
    return true;
}

// What the solids of a meeting cover of a cell and its low faces: cover[k] by the first k + 1.
static void cover_together(const mo_meeting *m, const int cell[3], double cover[MO_MEETING][4])
{
    double part[MO_MEETING];
    memset(cover, 0, sizeof(double[MO_MEETING][4]));
    for (int i = 0; i < 8; i++) {
        mo_meet_half(m, (double[3]){cell[0] + 0.5 * (i & 1), cell[1] + 0.5 * (i >> 1 & 1), cell[2] + 0.5 * (i >> 2)},
                     part);
        for (int32_t k = 0; k < m->count; k++) cover[k][0] += part[k] / 8;
    }
    for (int a = 0; a < 3; a++)
        for (int quarter = 0; quarter < 4; quarter++) {
            double low[3] = {cell[0], cell[1], cell[2]};
            low[a == 0 ? 1 : 0] += 0.5 * (quarter & 1), low[a == 2 ? 1 : 2] += 0.5 * (quarter >> 1);
            mo_meet_quarter(m, a, low, part);
            for (int32_t k = 0; k < m->count; k++) cover[k][a + 1] += part[k] / 4;
        }
}

// Covers a cell anew in which several solids meet: each takes what it adds to those before it.
static void meet_in_cell(const mo_grid *g, const mo_solid_set *solids, int32_t tile, int c, const visitors *v,
                         mo_openings *out)
{
    mo_meeting m = mo_meeting_alone(g, solids, 0, tile);
    int32_t q = tile * MO_TILE_CELLS + c;
    double cover[MO_MEETING][4];
    m.count = v->count[c];
    memcpy(m.solid, v->solid[c], sizeof m.solid);
    cover_together(&m, (int[3]){c & 7, c >> 3 & 7, c >> 6}, cover);
    out->volume[q] = 1;
    for (int a = 0; a < 3; a++) scale_covers(out, q, a, 0), out->area[a][q] = 1, out->flux[a][q] = 0;
    for (int32_t k = m.count - 1; k > 0; k--)
        for (int i = 0; i < 4; i++) cover[k][i] -= cover[k - 1][i];
    for (int32_t k = 0; k < m.count; k++) {
        out->volume[q] = (float)(out->volume[q] - smaller(cover[k][0], out->volume[q]));
        cover_with(g, solids, m.solid[k], q, cover[k] + 1, out);
    }
}

// What fixed solids take of the boxes round faces beyond their part of the area is not spare.
static void crowd_spare(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile, const bool *any,
                        float spare[3][MO_TILE_CELLS])
{
    mo_meeting m = mo_meeting_alone(g, solids, solid, tile);
    bool started = false;
    mo_covering s;
    if (mo_meeting_distance(&m, solid, 4, 4, 4) > TILE_REACH) return;
    for (int l = 0; l < MO_TILE_CELLS; l++) {
        int cell[3] = {l & 7, l >> 3 & 7, l >> 6};
        if (!any[l]) continue;
        double d = mo_meeting_distance(&m, solid, cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5);
        if (d > FACE_REACH) continue;
        if (!started) mo_covering_start(&s, g, solids, solid, g->coord[tile]);
        started = true;
        for (int a = 0; a < 3; a++)
            spare[a][l] -= (float)larger(0, mo_covering_round(&s, a, cell) - mo_covering_face(&s, a, cell));
    }
}

static bool has_bodies(const mo_solid_set *solids, int32_t tile, const mo_openings *out)
{
    bool any = false;
    for (int32_t k = out->first ? out->first[tile] : 0; out->first && k < out->first[tile + 1]; k++)
        any |= mo_solid_moves(solids, out->cover[k].solid);
    return any;
}

// Bodies share what is spare of each face; where others fill the box there is nothing.
static void share_spare(const mo_grid *g, const mo_solid_set *solids, int32_t tile, mo_openings *out)
{
    float spare[3][MO_TILE_CELLS] = {{0}}, wanted[3][MO_TILE_CELLS] = {{0}};
    bool any[MO_TILE_CELLS] = {false}, some = false;
    for (int32_t k = out->first[tile]; k < out->first[tile + 1]; k++)
        for (int a = 0; a < 3; a++)
            for (int l = 0; l < MO_TILE_CELLS; l++) {
                float one = out->spare[k].part[a][l];
                spare[a][l] += one, wanted[a][l] += one > 0 ? one : 0;
                any[l] |= one > 0, some |= one > 0;
            }
    for (int32_t i = 0; some && i < solids->count; i++)
        if (!mo_solid_moves(solids, i)) crowd_spare(g, solids, i, tile, any, spare);
    for (int32_t k = out->first[tile]; k < out->first[tile + 1]; k++)
        for (int a = 0; a < 3; a++)
            for (int l = 0; l < MO_TILE_CELLS; l++) {
                float *one = &out->spare[k].part[a][l];
                *one = *one > 0 && spare[a][l] > 0 ? *one * spare[a][l] / wanted[a][l] : 0;
            }
}

// Whether a face may be a slit: solids meet in its cell, or it stands on a closed wall. Elsewhere a small opening is
// the rim of a surface; closing it would cost the pressure its order.
static bool may_be_slit(const visitors *v, const walls w[3], int c, int axis)
{
    int at[3] = {c & 7, c >> 3 & 7, c >> 6};
    bool slit = v->count[c] > 1;
    for (int a = 0; a < 3; a++) slit |= a != axis && w[a].distance[at[a]] < 1;
    return slit;
}

// Rounds what is nearly open or closed and closes slits, keeping area + covered = 1 for the flux.
static void snap_tile(int32_t tile, const visitors *near, const walls w[3], mo_openings *out)
{
    for (int c = 0; c < MO_TILE_CELLS; c++) {
        int32_t q = tile * MO_TILE_CELLS + c;
        float v = out->volume[q];
        out->volume[q] = v < MO_PART_TINY ? 0 : v > 1 - MO_PART_TINY ? 1 : v;
        for (int a = 0; a < 3; a++) {
            float area = out->area[a][q];
            if (area < MO_PART_TINY || (area < MO_SLIT && may_be_slit(near, w, c, a)))
                mo_openings_close(out, q, a);
            else if (area > 1 - MO_PART_TINY)
                scale_covers(out, q, a, 0), out->flux[a][q] = 0, out->area[a][q] = 1;
        }
    }
}

// Closes cells beyond closed walls and the faces they touch. What prescribed solids sweep through a wall stays: where
// one comes in, the liquid has to give way, and where it cannot, the solve must know.
static void close_walls(int32_t tile, const walls w[3], mo_openings *out)
{
    for (int c = 0; c < MO_TILE_CELLS; c++) {
        int32_t q = tile * MO_TILE_CELLS + c;
        int at[3] = {c & 7, c >> 3 & 7, c >> 6};
        bool closed = w[0].closed[at[0] + 1] || w[1].closed[at[1] + 1] || w[2].closed[at[2] + 1];
        if (closed) out->volume[q] = 0;
        for (int a = 0; a < 3; a++) {
            if (!closed && !w[a].closed[at[a]]) continue;
            scale_covers(out, q, a, 0), out->area[a][q] = 0;
            if (closed && wall_before(w, at) != a) out->flux[a][q] = 0;
        }
    }
}

static void fill_tile(float *field, float value)
{
    for (int c = 0; c < MO_TILE_CELLS; c++) field[c] = value;
}

static void open_tile(const mo_grid *g, const mo_solid_set *solids, int32_t tile, mo_openings *out)
{
    walls w[3];
    visitors v;
    memset(v.count, 0, sizeof v.count);
    for (int a = 0; a < 3; a++) w[a] = find_walls(g, solids, g->coord[tile], a);
    bool walled = w[0].any || w[1].any || w[2].any, touched = false;
    int64_t first = (int64_t)tile * MO_TILE_CELLS;
    for (int a = 0; a < 3; a++) {
        fill_tile(out->area[a] + first, 1);
        fill_tile(out->flux[a] + first, 0);
    }
    for (int32_t k = out->first ? out->first[tile] : 0; out->first && k < out->first[tile + 1]; k++)
        memset(out->cover[k].part, 0, sizeof out->cover[k].part), memset(&out->spare[k], 0, sizeof out->spare[k]);
    fill_tile(out->volume + first, 1);
    fill_tile(out->distance + first, CAP);
    for (int c = 0; walled && c < MO_TILE_CELLS; c++)
        out->distance[first + c] =
            (float)smaller(w[0].distance[c & 7], smaller(w[1].distance[c >> 3 & 7], w[2].distance[c >> 6]));
    for (int32_t i = 0; i < solids->count; i++) touched |= cover_tile(g, solids, i, tile, w, &v, out);
    for (int c = 0; touched && c < MO_TILE_CELLS; c++)
        if (v.count[c] > 1 && v.count[c] <= MO_MEETING) meet_in_cell(g, solids, tile, c, &v, out);
    if (has_bodies(solids, tile, out)) share_spare(g, solids, tile, out);
    if (touched) snap_tile(tile, &v, w, out);
    if (walled) close_walls(tile, w, out);
}

void mo_openings_compute(const mo_grid *g, const mo_solid_set *solids, mo_openings *out)
{
    MO_ASSERT(solids->count == 0 || solids->distance);
    MO_ASSERT(!out->cover || (out->first && out->spare));
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) open_tile(g, solids, t, out);
    if (solids->count == 0) return;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) mo_openings_seal(g, solids, t, out);
}
