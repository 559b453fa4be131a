// The geometry of slip.h: which faces sheets occlude, and the sheet beside each side of such a face. Internal to
// cases/.
#ifndef MO_SLIP_SIDES_H
#define MO_SLIP_SIDES_H

#include "cases/slip.h"
#include "geometry/sheet_tree.h"

typedef struct mo_slip_side {   // of an occluded face
    int32_t axis, at[3];        // the face, on the low side of cell `at`
    int32_t cell, other;        // the real cell, and the one behind the face
    double sign;                // 1: the face is the cell's high face, else -1
    mo_vec3 normal;             // of the sheet, towards the cell
    double wall;                // the velocity of the sheet along the normal
    int32_t ghost, own, beside; // the ghost cell, and the unknowns of the sample and of the face to the ghost
} mo_slip_side;

typedef struct mo_slip_box {
    const mo_slip_def *def;
    mo_sheet sheet; // shifted a little, so that nothing lies on it
    mo_sheet_tree *tree;
    int32_t n[3], cells;
    uint8_t *closed[3]; // [mo_slip_face_index] faces that sheets occlude
    int32_t sides;
    mo_slip_side *side;
} mo_slip_box;

static inline int32_t mo_slip_cell_index(const mo_slip_box *b, const int32_t c[3])
{
    return c[0] + b->n[0] * (c[1] + b->n[1] * c[2]);
}
static inline void mo_slip_cell_at(const mo_slip_box *b, int32_t i, int32_t c[3])
{
    c[0] = i % b->n[0], c[1] = i / b->n[0] % b->n[1], c[2] = i / b->n[0] / b->n[1];
}
static inline int32_t mo_slip_face_index(const mo_slip_box *b, int axis, const int32_t c[3])
{
    return c[0] + (b->n[0] + (axis == 0)) * (c[1] + (b->n[1] + (axis == 1)) * c[2]);
}
static inline int32_t mo_slip_face_count(const mo_slip_box *b, int axis)
{
    const int32_t last[3] = {b->n[0] - (axis != 0), b->n[1] - (axis != 1), b->n[2] - (axis != 2)};
    return mo_slip_face_index(b, axis, last) + 1;
}
mo_vec3 mo_slip_centre(const mo_slip_box *b, const int32_t c[3]);           // of a cell
mo_vec3 mo_slip_middle(const mo_slip_box *b, int axis, const int32_t c[3]); // of its low face
// The cell beside one along an axis; -1: none, or a sheet lies between the two.
int32_t mo_slip_open_step(const mo_slip_box *b, int32_t cell, int axis, int side);

mo_status mo_slip_box_create(const mo_slip_def *def, mo_slip_box *out, mo_error *err); // destroy *out in any case
void mo_slip_box_destroy(mo_slip_box *b);

#endif
