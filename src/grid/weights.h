// Volume weights of viscous liquids (docs/math.md 2.1): how much of the control volume round every sample is liquid,
// open or solid. A control volume is a cell-sized box; samples are cells, faces and edges; all add up the same half
// cells. The liquid of a face, which is its mass, is a different mean: that over the boxes whose centres lie between
// the centres of its two cells. So liquid at rest stays at rest, whatever the direction of its surface (grid/liquid.c).
//
// A sample is stored at the cell on whose low side it lies. Kind 0 is the cell, kinds 1..3 are its low faces u v w,
// kinds 4..6 its low edges along x y z (stress yz, xz, xy).
#ifndef MO_WEIGHTS_H
#define MO_WEIGHTS_H

#include "grid/fractions.h"

enum { MO_SAMPLE_CELL = 0, MO_SAMPLE_FACE = 1, MO_SAMPLE_EDGE = 4, MO_SAMPLE_KINDS = 7 };

// Faces of cells that hold any liquid have at least this much of it.
#define MO_LEAST_TENT 1e-12f

typedef struct mo_weights {         // fields over the grid's tiles
    float *liquid[MO_SAMPLE_KINDS]; // WL: not air
    float *fluid[MO_SAMPLE_KINDS];  // WF: not solid, not beyond a closed wall
    float *stick[MO_SAMPLE_KINDS];  // in no-slip solids or beyond no-slip walls; 1 - WF - stick: in those with slip
    int32_t covers;
    mo_cover *cover; // by tile, then solid; only where a solid takes something of a face
    float *memory;
    int64_t capacity, cover_capacity; // cells, covers
} mo_weights;

// Computes the weights of the liquid's level set phi (cells, at cell centres, extended into solids and beyond walls;
// missing tiles are air) and of solids and closed walls. Walls take the part beyond them; then the solids take their
// parts of the rest, in their order. In 2D all layers of the plane's half cells are like its middle, and samples that
// are not in the plane get 0. Memory of an earlier call is reused. WF + stick <= 1 exactly; without solids and off the
// walls WF = 1 exactly. Faces of solids along which liquid slips count with areas instead of volumes.
mo_status mo_weights_compute(const mo_grid *g, const float *phi, const mo_solid_set *solids, mo_weights *w,
                             mo_error *err);
void mo_weights_destroy(mo_weights *w); // frees the arrays, not the struct

#endif
