// Where solids meet: what several of them cover together (docs/math.md 2.1). Inner to grid/.
//
// The parts of solids that lie apart add up, and clipping each of them keeps the gap between them. Solids that touch or
// overlap are one: adding up would count the overlap twice, and would leave holes along the seam where the edges of
// both are rounded off by clipping. Their common distance, the least of all, knows no seam.
#ifndef MO_MEET_H
#define MO_MEET_H

#include "grid/fractions.h"

enum { MO_MEETING = 8 }; // solids that one cell tells apart; more add up

// A gap, a face or a control volume of this part of a cell or less is closed. Its faces would weigh next to nothing,
// but particles that are much heavier take their velocity: what the pressure solve saves in energy is not theirs.
#define MO_SLIT 0.02

// The coordinates are cells from the tile's low corner. In 2D (`flat`) every height is the plane's middle.
typedef struct mo_meeting {
    const mo_grid *g;
    const mo_solid_set *solids;
    const int32_t *tile; // its coordinates
    bool flat;
    int32_t count;
    int32_t solid[MO_MEETING];
} mo_meeting;

// Distance in cells. A surface that lies on a lattice plane, up to rounding, counts as inside: what touches is closed.
double mo_meeting_distance(const mo_meeting *m, int32_t solid, double x, double y, double z);

// What the first k + 1 solids cover of a half-cell box, or of a quarter of a face across `axis`, with the given low
// corner: `cover`[k], ascending.
void mo_meet_half(const mo_meeting *m, const double low[3], double cover[MO_MEETING]);
void mo_meet_quarter(const mo_meeting *m, int axis, const double low[3], double cover[MO_MEETING]);

#endif
