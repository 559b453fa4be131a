// The parts that several solids cover together where they meet (docs/math.md 2.1). Internal to grid/.
//
// The parts of solids that lie apart add up, and clipping each of them keeps the gap between them. Solids that touch or
// overlap count as one: adding up would count the overlap twice, and would leave holes along the seam where clipping
// rounds off the edges of both. Their common distance, the least of all, has no seam.
#ifndef MO_MEET_H
#define MO_MEET_H

#include "grid/fractions.h"

enum { MO_MEETING = 8 }; // solids that one cell treats in this way; the parts of further ones are added up

// A gap, a face or a control volume of this part of a cell or less is a slit and is closed. Its faces would weigh next
// to nothing, but particles that are much heavier would take their velocity and gain energy that the solve never gave.
#define MO_SLIT 0.02

// Parts of faces are whole multiples of 2^-24. Those in [0, 1] are floats, and so are their sums: the open area and
// what solids take add up to exactly 1.
static inline double mo_whole_part(double part) { return 0x1p-24 * rint(0x1p24 * part); }

// The coordinates are cells from the tile's low corner. With `flat` every height is the middle of the plane of 2D.
typedef struct mo_meeting {
    const mo_grid *g;
    const mo_solid_set *solids;
    const int32_t *tile; // its coordinates
    bool flat;
    int32_t count;
    int32_t solid[MO_MEETING];
} mo_meeting;

static inline mo_meeting mo_meeting_of_none(const mo_grid *g, const mo_solid_set *solids, int32_t tile)
{
    return (mo_meeting){.g = g, .solids = solids, .tile = g->coord[tile], .flat = solids->slices && mo_grid_is_2d(g)};
}

static inline mo_meeting mo_meeting_alone(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile)
{
    mo_meeting m = mo_meeting_of_none(g, solids, tile);
    m.solid[m.count++] = solid;
    return m;
}

// Returns the distance in cells. A point on the surface counts as inside, up to rounding, so that solids that touch a
// lattice plane close it.
double mo_meeting_distance(const mo_meeting *m, int32_t solid, double x, double y, double z);

// cover[k] becomes the part that the first k + 1 solids cover of a half-cell box, or of a quarter of a face across
// `axis`, with the given low corner; it ascends with k.
void mo_meet_half(const mo_meeting *m, const double low[3], double cover[MO_MEETING]);
void mo_meet_quarter(const mo_meeting *m, int axis, const double low[3], double cover[MO_MEETING]);

#endif
