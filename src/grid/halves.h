// Half cells: the pieces of which the volume fractions of cells, faces and edges are sums (docs/math.md 2.1). Internal
// to grid/: fractions.c clips them by solids, liquid.c by the liquid, and weights.c puts both together.
//
// The part of a half cell is 0, 1 or a multiple of 2^-21 that is at least 8e-6 away from both. So the sum and the mean
// of eight are exact in float, no fraction lies within 1e-6 of 0 or 1, and the difference to the whole is exact.
#ifndef MO_HALVES_H
#define MO_HALVES_H

#include "grid/fractions.h"

enum { MO_HALVES = 2 * MO_TILE + 2 }; // half cells -2 .. 15 of a tile: those of its cells and of one before

// In 2D only the plane's layers, 2 MO_MARGIN and 2 MO_MARGIN + 1, are set and read; both stand for its middle.
typedef struct mo_halves {
    float part[MO_HALVES][MO_HALVES][MO_HALVES]; // [z + 2][y + 2][x + 2]
} mo_halves;

#define MO_HALF_QUANTUM 0x1p-21f
#define MO_HALF_SNAP    (17 * MO_HALF_QUANTUM)

static inline float mo_half_round(float part)
{
    float near = MO_HALF_QUANTUM * rintf(part / MO_HALF_QUANTUM);
    return near > 1 - MO_HALF_SNAP ? 1 : near >= MO_HALF_SNAP ? near : 0;
}

// Whether a solid may reach into a tile.
bool mo_halves_near(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile);
// Finds the parts inside a solid, of the half cells from `first` (-2 or -1) on. Returns false and writes nothing where
// the solid is out of reach.
bool mo_halves_solid(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile, int first,
                     mo_halves *h);

enum { MO_GATHERED = 64 };

// The solids that have taken their half cells of a tile, in their order. Those beyond MO_GATHERED are not kept.
typedef struct mo_gathered {
    int32_t count, solid[MO_GATHERED];
} mo_gathered;

// Where a solid meets those before it, the part that it adds to them replaces the part that it covers (grid/meet.h).
// `left` is the part that walls and the solids before it have left. The solid becomes one of those gathered.
void mo_halves_meet(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile, mo_gathered *before,
                    const mo_halves *left, mo_halves *h);

// Finds the part of each low face's area that a solid adds to those gathered before it, without regard to walls.
void mo_areas_solid(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile,
                    const mo_gathered *gathered, float part[3][MO_TILE_CELLS]);

// Takes the parts `taken` from `left`, as far as `left` has them; a rest that is too small is taken too. `taken` then
// holds the parts that were moved.
void mo_halves_take(bool flat, mo_halves *left, mo_halves *taken);
void mo_halves_add(bool flat, const mo_halves *h, mo_halves *sum);

// Sums up the fractions of one tile's samples, by the kinds of weights.h; out[kind] is NULL where it is not wanted. In
// 2D samples that are not in the plane get 0.
void mo_halves_gather(bool flat, const mo_halves *h, float *const out[7]);
// Does the same if all half cells are `part`.
void mo_halves_fill(bool flat, float part, float *const out[7]);

// ---- Liquid ----

// The liquid of a tile's half cells, and how the tents of the faces share it (weights.h). A half cell beside a face has
// all of its liquid there, but near the surface part of it goes to the farther face of its cell.
enum { MO_WET_NONE, MO_WET_CUT, MO_WET_FULL };
typedef struct mo_wet {
    bool cut;                                            // by the surface; if not, nothing else is set
    uint8_t cell[MO_TILE + 1][MO_TILE + 1][MO_TILE + 1]; // MO_WET_... of the cells -1 .. 7
    float part[MO_HALVES][MO_HALVES][MO_HALVES];         // of half cells: as mo_halves, but not rounded
    // Of cut cells: the part of it that the farther face along each axis has.
    float far[3][MO_HALVES][MO_HALVES][MO_HALVES];
    uint16_t face[3 * MO_TILE_CELLS]; // cut faces: their tents hold some liquid and some air; MO_TILE_CELLS axis + cell
    int faces;
} mo_wet;

// The liquid's weights of one tile: volumes of cells and edges, tents of faces.
void mo_liquid_tile(const mo_grid *g, const float *phi, int32_t tile, mo_wet *wet, float *const out[7]);
// Returns how much of the liquid in the tent of a cut face lies in `of`, given as parts of half cells (NULL: all of
// it). The tent has size 1.
float mo_wet_share(const mo_wet *wet, const mo_halves *of, int face);

#endif
