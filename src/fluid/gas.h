// Gas on the grid: velocity on faces, soot and heat at cells, no particles (docs/smoke.md).
//
// Gas fills the whole domain; only tiles in which something happens exist. Beyond them the gas moves with the wind and
// holds neither soot nor heat. A step is of second order in time with one solve for pressure. With k the change that
// pressure gave to velocities in the last step, and a the acceleration by soot and heat,
//
//     w = u + (k + dt a)/2,   f(x) = w(x_d),  x_d = x - dt w(x_d)
//     u* = f + (w - f(x + dt w))/2, within the values that f was interpolated from,  + dt a/2
//     u  = u* + q by the solve,    k = k/2 + q
//
// Soot and heat flow through faces with the velocity at the middle of the step, which is extrapolated from the last two
// (u and the one before). So neither is created or lost, and no new extremes appear.
#ifndef MO_GAS_H
#define MO_GAS_H

#include "fluid/levelset.h"

enum { MO_GAS_FIELDS = 13 };

typedef struct mo_gas { // fields over the tiles that the level set was last settled to
    union {
        struct {
            float *u[3];     // m/s, on faces
            float *kick[3];  // m/s, on faces: k
            float *last[3];  // m/s, on faces: u of a step ago
            float *soot;     // kg/m^3, at cells
            float *heat;     // K above the temperature of the air, at cells
            float *pressure; // Pa, at cells: k is its kick
            float *room;     // parts of a cell: the volume that the gas of a row would fill, while sheets move
        };
        float *field[MO_GAS_FIELDS];
    };
    float *gap[2]; // m/s, of the grid's gaps: the part w of their velocity, and its kick (system/liquid_system.h)
    int64_t gap_capacity;
    int64_t capacity; // cells of a field
    double kick_step; // s, the length of the step that gave k and led from `last` to u; 0: there was none
} mo_gas;

void mo_gas_destroy(mo_gas *gas);                                            // frees the arrays, not the struct
mo_status mo_gas_reserve(mo_gas *gas, int64_t cells, mo_error *err);         // for so many cells; contents are lost
mo_status mo_gas_reserve_gaps(mo_gas *gas, const mo_grid *g, mo_error *err); // for the grid's gaps, which get 0
// What sides and pieces beyond the first have (grid/sites.h), while the tiles are made anew.
typedef struct mo_gas_extras {
    int32_t tiles, *row, *sample, *gap; // [tiles + 1] the first of each tile, from 0
    float *field[MO_GAS_FIELDS], *gaps[2];
} mo_gas_extras;
mo_status mo_gas_keep(const mo_gas *gas, const mo_grid *g, mo_arena *arena, mo_gas_extras *out, mo_error *err);
// Makes the fields fit the grid's present tiles and sites: values move with their tiles, new tiles move with the wind.
// The level set must not have been settled yet. Sheets must rest; kept (NULL: nothing was) then tells what their sides
// and pieces have.
mo_status mo_gas_settle(mo_gas *gas, const mo_levelset *l, const mo_grid *g, const float wind[3],
                        const mo_gas_extras *kept, mo_arena *arena, mo_error *err);

typedef struct mo_gas_flow { // what carries a field
    float *const *w;         // m/s, on faces: [3]; they carry themselves
    const float *wind;       // m/s, beyond the tiles: [3]
    float step;              // s per cell length; nothing may move by more than three cells
    bool closed[6];          // walls that nothing comes through
    bool once;               // f is the result: of first order, as in the papers
    const float *distance;   // cells, of solids, at cells: paths back end in front of them. Used if `once`; NULL: none
} mo_gas_flow;

// Carries the velocities w along with themselves. Beyond the tiles they are the wind's. first: gets f. The result lies
// within the values that it was interpolated from. Near sheets, rows see the velocities that they reach (grid/reach.h).
void mo_gas_carry(const mo_grid *g, const mo_gas_flow *flow, float *const first[3], float *const out[3]);

typedef struct mo_gas_flux { // the flow that carries soot and heat
    float *const *u;         // m/s, on faces: [3]
    float *const *area;      // open parts of faces: [3]
    const float *open;       // open parts of cells
    const float *wind;       // m/s, beyond the tiles: [3]
    float step;              // s per cell length
    float least;             // cells with a smaller open part give less than their velocity says
    bool reverse;            // sweeps begin with the last axis
    const int32_t *root;     // [rows] the first row of each row's group; NULL: there are no sheets
    const int32_t *next;     // [rows] the next row of the group, -1: none
} mo_gas_flux;
// Near sheets, rows with less than half a cell flow together with the row that they are most open to, and so do the two
// sides of a cell in which a sheet ends: much more may flow through such a row than it holds.
mo_status mo_gas_group(const mo_grid *g, mo_gas_flux *flux, mo_arena *arena, mo_error *err);
// Lets a field of cells flow. Its sum over open parts changes only by the amount that passes open walls or leaves the
// tiles. Nothing passes a sheet. room: gets the volume that the gas of each row then fills, which differs from its open
// part where sheets or solids move; NULL: not wanted. work: 4 fields.
void mo_gas_transport(const mo_grid *g, const mo_gas_flux *flux, float *field, float *room, float *const work[4]);

// Soot and heat while solids move: the content of a cell stays in it while its open part changes. `pack` turns
// densities into contents with the present open parts, and `unpack` turns contents back into densities with the new
// ones. Contents for which solids leave no room go to the open cells beside; where there are none, they are lost. work:
// 2 fields.
void mo_gas_pack(const mo_gas *gas, const mo_grid *g, const float *open);
void mo_gas_unpack(const mo_gas *gas, const mo_grid *g, const float *open, float *const work[2]);

// Adds dt g (soot/density - heat/temperature) to the velocities on the faces of an axis.
typedef struct mo_gas_weight {
    double density, temperature; // of the air, kg/m^3, K
    mo_vec3 gravity;             // m/s^2
} mo_gas_weight;
void mo_gas_push(const mo_gas *gas, const mo_grid *g, const mo_gas_weight *weight, double dt, int axis, float *u);

// Vorticity confinement: the acceleration strength h N x curl u at cells, m/s^2 (strength: 1/s). work: 4 fields.
void mo_gas_confine(const mo_grid *g, float *const u[3], float strength, float *const out[3], float *const work[4]);

double mo_gas_max_speed(const mo_gas *gas, const mo_grid *g, float *const area[3]); // m/s, on open faces

#endif
