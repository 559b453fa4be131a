// Internal to the blocks of viscous liquids: weights as the blocks use them, and what each face is.
#ifndef MO_STRESS_FACES_H
#define MO_STRESS_FACES_H

#include "system/stress.h"

// The kind of weights (MO_SAMPLE_...) that a component of the stress has.
static inline int mo_stress_sample_kind(int component) { return component < MO_STRESS_YZ ? MO_SAMPLE_CELL : component; }

// Weights below this are none.
static const double mo_weight_none = 1e-9;

static inline double mo_clamped(const mo_stress_def *d, double w)
{
    MO_ASSERT(w >= 0);
    return w < mo_weight_none ? 0 : w < d->clamp ? d->clamp : w;
}
static inline double mo_weight_slippery(const mo_stress_def *d, int kind, int32_t i)
{
    double rest = 1.0 - d->weights->fluid[kind][i] - d->weights->stick[kind][i];
    return rest > 1e-7 ? rest : 0;
}
// WL and WF of a sample for mass and pressure. Those of faces are not clamped, for two reasons. At rest pressure must
// carry exactly the liquid that exists, and in free flight everything with inertia must fall. And solids take what they
// do not leave open, so that a clamped sliver would be missing from a body's volume, suddenly and on one side of it.
static inline bool mo_is_face(int kind) { return kind >= MO_SAMPLE_FACE && kind < MO_SAMPLE_EDGE; }
static inline double mo_weight_liquid(const mo_stress_def *d, int kind, int32_t i)
{
    double w = d->weights->liquid[kind][i];
    return mo_is_face(kind) ? w : mo_clamped(d, w);
}
static inline double mo_open_part(const mo_stress_def *d, int kind, double w)
{
    return mo_is_face(kind) ? (w < mo_weight_none ? 0 : w) : mo_clamped(d, w);
}
static inline double mo_weight_fluid(const mo_stress_def *d, int kind, int32_t i)
{
    return mo_open_part(d, kind, d->weights->fluid[kind][i]);
}
// These are the same for the stress, to which slippery solids are air.
static inline double mo_stress_liquid(const mo_stress_def *d, int kind, int32_t i)
{
    return mo_clamped(d, d->weights->liquid[kind][i] * (1 - mo_weight_slippery(d, kind, i)));
}
static inline double mo_stress_fluid(const mo_stress_def *d, int kind, int32_t i)
{
    return mo_open_part(d, kind, 1.0 - d->weights->stick[kind][i]);
}
// On faces with less liquid than the clamp only pressure acts. Next to the air each then has one strong row; several
// rows, stress among them, would be nearly dependent, and the papers' route would not converge.
static inline bool mo_face_is_light(const mo_stress_def *d, int axis, int32_t i)
{
    return d->weights->liquid[MO_SAMPLE_FACE + axis][i] < (d->clamp > mo_weight_least ? d->clamp : mo_weight_least);
}

// Whether the low face of cell c lies on the plane of a closed wall across its own axis, beside the domain's cells.
bool mo_stress_on_wall(const mo_stress_def *d, const int32_t c[3], int axis);

// Finds the mean velocity, along the face's axis, of all solids that cover part of a face, and that of the no-slip
// ones. Walls count with 0; prescribed faces get their velocity in both. Each is one field per axis.
void mo_stress_solid_velocity(const mo_stress_def *d, float *const all[3], float *const stick[3]);

// Computes the parts of a face that a solid has, as the blocks count them for pressure and for stress.
void mo_stress_shares(const mo_stress_def *d, uint8_t state, const mo_cover *cover, int axis, int32_t cell,
                      double share[2]);

// Makes the lattice of the faces from the assembled blocks.
mo_status mo_stress_lattice(const mo_stress_def *d, mo_arena *arena, mo_liquid_system *out, mo_error *err);

// Finds which faces follow others, and which are loose (liquid_system.h).
mo_status mo_stress_hosts(const mo_stress_def *d, mo_arena *arena, mo_liquid_system *out, mo_error *err);

#endif
