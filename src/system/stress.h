// The blocks of a viscous liquid (VS 4-5, docs/math.md 2.2): pressure and deviatoric stress on the volume weights.
//
//     pressure  B = G^T WF^u                       hard            c = -G^T WS^u u_s           multiplier WL^p p
//     stress    B = WL^s D WF^u                    S = N^-1 / 2    c = -WL^s D WS^u u_s
//     Mf = rho WF^u WL^u
//
// WL^p scales rows of the pressure, which are hard, so it may move into the multiplier: the solution is the same. Then
// constants are the null space even if an enclosed liquid holds a bubble too small to leave a face dry. At rest WL^p p
// is the mean of max(p, 0) over the cell, whose differences are exactly rho WL^u g (grid/liquid.c).
//
// A solid along which liquid slips is air for the stress and a solid for the pressure: dissipation is integrated over
// the liquid only, so the tangential traction vanishes without further conditions.
#ifndef MO_STRESS_H
#define MO_STRESS_H

#include "grid/weights.h"
#include "system/pressure.h"

// The least positive weight of stress samples and cells, and of a face that stress acts on. This bound alone cuts the
// papers' iterations to a half or less, and changes velocities by less than the error of the grid
// (docs/performance.md).
static const double mo_weight_clamp = 0.01;
// With raw weights, the least liquid of a face that stress acts on.
static const double mo_weight_least = 1e-3;

typedef struct mo_stress_def {
    const mo_grid *grid;
    const mo_weights *weights;
    const mo_solid_set *solids; // the weights' solids: for their velocities
    const float *viscosity; // Pa s, cells; < 0: not known there. A sample takes the harmonic mean of the cells round it
    const uint8_t *const *fixed; // [3] faces of prescribed velocity, or NULL
    float *const *u;             // [3] face velocities u*, and the prescribed ones
    double density, dt;
    double clamp;            // mo_weight_clamp; 0 = raw, as in the papers
    const mo_slits *slits;   // between bodies and what they stand on; the weights close their faces. NULL: none
    mo_vec3 gravity;         // asked at slits
    const mo_excess *excess; // [bodies] of lift; NULL: none
    bool reduced;            // traceless stress, zz = -(xx + yy) (2D: yy = -xx); false: all diagonal stresses
} mo_stress_def;

enum { MO_STRESS_XX, MO_STRESS_YY, MO_STRESS_ZZ, MO_STRESS_YZ = 4, MO_STRESS_XZ, MO_STRESS_XY };

// Stress samples have one number each: of their cell, and of their component there. They ascend by cell.
static inline int32_t mo_stress_code(int32_t cell, int component) { return 8 * cell + component; }
static inline int32_t mo_stress_cell(int32_t code) { return code / 8; }
static inline int mo_stress_component(int32_t code) { return code % 8; }
// The cells round a sample: its own, or the four that share its edge. -1: there is none.
void mo_stress_cells_round(const mo_grid *g, int32_t cell, int component, int32_t round[4]);

typedef enum mo_face_state {
    MO_FACE_AIR,   // open but without liquid: a row that needs its velocity is dropped (VS 5.3)
    MO_FACE_FREE,  // an unknown
    MO_FACE_SOLID, // moves with the solid, wall or emitter
    MO_FACE_SLIP,  // inside a solid along which liquid slips: known to the pressure, air to the stress
} mo_face_state;

// Finds the state of every face, into state[a], three byte fields. Grid, weights, solids and fixed faces are asked.
void mo_stress_face_states(const mo_stress_def *d, uint8_t *const state[3]);

mo_status mo_stress_assemble(const mo_stress_def *def, mo_arena *arena, mo_liquid_system *out, mo_error *err);

// Replaces the viscosity of every stress row (> 0) and with it the compliance.
void mo_stress_set_viscosity(mo_liquid_system *s, const double *viscosity);

// Both compute the rate of strain D_ab at each stress row: the first from the stress that the solve found, s / (2 eta),
// the second from the system's velocities.
void mo_stress_strain(const mo_liquid_system *s, double *strain);
void mo_stress_strain_of(const mo_liquid_system *s, double *strain);

// Finds the shear rate sqrt(2 D:D) (1/s) at each stress row, from its own component and means of the samples round it.
mo_status mo_shear_rate(const mo_grid *g, const mo_liquid_system *s, const double *strain, bool reduced,
                        mo_arena *arena, double *rate, mo_error *err);

// Makes the viscosity of every stress row from its shear rate (Herschel-Bulkley): a system's `renew`, with this as
// user.
typedef struct mo_stress_rheology {
    mo_liquid_system *liquid;
    const mo_grid *grid;
    bool reduced;
    mo_arena *arena;
    const float *known;        // cells: < 0 where the parameters are not known (the viscosity given to assembly)
    const float *parameter[4]; // cells: consistency, flow index, yield stress, threshold
} mo_stress_rheology;
double mo_stress_renew(void *rheology, mo_system *system, int32_t round); // returns the mean relative change

// Faces that move with a body or nodes although they are partly open are not unknowns. The mass and momentum of their
// liquid are added to those of the body or nodes, so that this liquid still has weight. To be called when the system
// has its bodies and nodes with their velocities v*.
mo_status mo_stress_attach(const mo_stress_def *def, mo_liquid_system *s, mo_error *err);

// Finds such liquid on faces that move with prescribed solids. Writes the faces, unless out is NULL; returns their
// number.
typedef struct mo_carried {
    int32_t face, axis;
    double mass, velocity; // kg per dx^3, of the liquid; m/s, of the solid along the axis
} mo_carried;
int32_t mo_stress_carried(const mo_stress_def *def, const mo_liquid_system *s, mo_carried *out);

// Finds the liquid's force (N) on each solid and its torque about `about`: F = -Q WS^u (G WL^p p + D^T WL^s s).
mo_status mo_stress_forces(const mo_stress_def *def, const mo_liquid_system *s, const mo_vec3 *about, mo_vec3 *force,
                           mo_vec3 *torque, mo_arena *arena, mo_error *err);

#endif
