// The system of a liquid: its primal unknowns are velocities of the grid's faces. It knows where on the grid they and
// the rows sit. Pressure alone (pressure.h) makes one, or pressure and stress (stress.h); solids are added to it.
#ifndef MO_LIQUID_SYSTEM_H
#define MO_LIQUID_SYSTEM_H

#include "system/attach.h"

typedef struct mo_liquid_system {
    mo_system system;
    int32_t *face_at;      // [faces] sample and axis (mo_face_code); for gaps, which come last, -1 - number of the gap
    int32_t *cell_at;      // [pressure rows] the grid's row: a field index
    mo_attached *attached; // [bodies] liquid that moves with them; NULL: not asked for
    int32_t limited;       // bodies with less of it than there is (mo_attach_limit)
    double *push; // [unknowns of bodies] impulses besides those of rows: of liquid in slits (slits.h), and of weight in
                  // air, over dx^3; NULL: none
    // The velocities of sheets' gaps are gap_mean u + w, w being the last unknowns (pressure_gaps.h).
    int32_t gaps;
    int32_t *gap_at;  // [gaps] number among the grid's
    mo_csr gap_mean;  // gaps x faces: n . W
    int32_t *slip_at; // [slip rows] number among the sides of the grid's ghosts (pressure_slip.h)
    // The rest is of viscous liquids.
    int32_t *sample_at;      // [stress rows] cell and component (mo_stress_code)
    int64_t *first_home;     // [stress rows + 1] where sheets are: the rows of the grid in whose liquid each lies; else
    int32_t *home;           // NULL, and they are those round the sample
    double *unit_compliance; // [entries of the stress's compliance] its values for viscosity 1
    double *viscosity;       // [stress rows] Pa s, > 0
    uint8_t *state;          // [3 cells] what each face is (stress_faces.h)
    // The face whose change of velocity each face takes: its own, or that of a heavier face beside it (then it is a
    // follower). -1: the face is loose, and the liquid's velocity there is extrapolated from others. NULL: each face
    // takes its own.
    int32_t *host; // [faces]
} mo_liquid_system;

void mo_liquid_destroy(mo_liquid_system *l);

// Copies between the system's velocities and the face fields; valid (may be NULL) becomes 1 at the system's faces. When
// scattering starts, the fields hold u*: followers take the change of their hosts, and loose faces are left out.
void mo_liquid_gather(mo_liquid_system *l, float *const u[3]);
// Sets w of the gaps from the velocities through all of the grid's gaps, along their normals, and from the present
// velocities of faces. This must happen before forces act, because none acts on w.
void mo_liquid_set_gaps(mo_liquid_system *l, const double *through);
void mo_liquid_scatter(const mo_liquid_system *l, float *const u[3], uint8_t *const *valid);
// The same for the velocities of followers in the system itself, with u* = before.
void mo_liquid_follow(mo_liquid_system *l, const double *before);

// Makes room for the impulses of slits, 0.
mo_status mo_liquid_push(mo_liquid_system *l, int32_t unknowns, mo_error *err);

// Makes room for the liquid that moves with bodies and nodes; only the impulses of slits are in it.
mo_status mo_liquid_attached(mo_liquid_system *l, mo_error *err);

#endif
