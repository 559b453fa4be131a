// Shells of a simulation: sheets without thickness that are fixed, move by a script, or are rigid bodies. Cloth in
// liquid or air is among them, behind the others (wet_cloth.c).
#ifndef MO_SIM_SHELLS_H
#define MO_SIM_SHELLS_H

#include "geometry/sheet.h"
#include "geometry/sheet_sweep.h"
#include "geometry/sheet_tree.h"
#include "grid/cut.h"
#include "solid/rigid.h"

typedef struct mo_shell {
    char name[64];
    mo_sheet sheet; // body frame, m; its own copy; of rigid ones about the centre of mass
    mo_motion_fn motion;
    void *user;
    mo_wall wall;     // slip or no-slip, for viscous liquids
    double thickness; // m, of contacts
    bool rigid;       // a rigid body, with an entry among the solids that moves it (rigid_shells.c)
    bool cloth;       // its vertices move each for itself: `sheet` has their present places, and poses are the identity
    mo_rigid body;    // its mass
    double friction, restitution;
    mo_pose pose, next;                   // now, and at the end of the step
    mo_vec3 velocity, angular_velocity;   // that lead from one to the other
    mo_vec3 force, torque;                // of the liquid in the last step; torque about the pose's position
    int32_t first_vertex, first_triangle; // in `all`
    mo_sheet_tree *tree;                  // of the sheet, in the body frame
    mo_sheet ahead;            // cloth on its way: where it is at the end of the step, in the memory of others
    mo_sheet_tree *ahead_tree; // of that; NULL: not on its way
    mo_sheet_sweep *sweep;     // likewise, of the way itself
} mo_shell;

typedef struct mo_shells {
    int32_t count, cloths; // all, and how many of them are cloth: the last ones
    mo_shell *shell;
    mo_sheet all;          // of all shells, world, m: where they are now
    double (*next)[3];     // [all.vertices] m: where they are at the end of the step
    double (*velocity)[3]; // [all.vertices] m/s: leads from one to the other along a straight line
    int32_t *of;           // [all.triangles] shell of each
    uint8_t *slip;         // [all.triangles] 1: viscous liquid slips along it
    int32_t *solid;        // [all.triangles] the solid of rigid ones, else -1; NULL: none is
    int32_t *node;         // [all.vertices] first unknown of a vertex of cloth, else -1; NULL: none is cloth
    mo_cut_info cut;       // of the last cutting of the grid
    bool is_cut;           // the grid is cut where they are now
    bool flat;             // two dimensions: motions stay in the plane
} mo_shells;

mo_status mo_shells_check(const mo_sim_def *def, mo_error *err);
// The definition must have been checked. Shells are at their places at time 0 and do not move. Destroy *out in any
// case.
mo_status mo_shells_create(const mo_sim_def *def, mo_shells *out, mo_error *err);
void mo_shells_destroy(mo_shells *s);
// Asks the scripts where shells are at time + dt: sets `next` and the velocities.
mo_status mo_shells_aim(mo_shells *s, double time, double dt, mo_error *err);
mo_status mo_shells_arrive(mo_shells *s, mo_error *err); // makes `next` now
// Puts shells at their poses, as after loading them: they are there now and at the end of the step.
void mo_shells_place(mo_shells *s);
// Where the solve leads a rigid shell in the step: sets its `next` and velocities.
void mo_shells_lead(mo_shells *s, int32_t shell, mo_pose next, mo_vec3 velocity, mo_vec3 angular_velocity);
// Cloth: makes the present places, [vertices] of its sheet, known, as at the start and after loading.
mo_status mo_shells_lay(mo_shells *s, int32_t shell, const mo_vec3 *place, mo_error *err);
// Cloth: where the solve leads its vertices in the step.
mo_status mo_shells_sweep(mo_shells *s, int32_t shell, double dt, const mo_vec3 *velocity, mo_error *err);
bool mo_shells_still(const mo_shells *s);   // all are fixed
double mo_shells_speed(const mo_shells *s); // m/s, of the fastest vertex

#endif
