// Internal to the assembly of the blocks of viscous liquids: the data that its parts share.
#ifndef MO_STRESS_ASSEMBLY_H
#define MO_STRESS_ASSEMBLY_H

#include "system/stress_faces.h"

enum { MO_STRESS_ENTRIES = 6 }; // of a row, at most

typedef struct mo_stress_assembly {
    const mo_stress_def *d;
    const mo_grid *g;
    int axes;                   // 2 or 3
    uint8_t *state[3];          // of faces
    float *solid[3], *stick[3]; // velocity of solids at faces; NULL: all at rest
    uint8_t *rows;              // [cells] which samples of a cell have a row, by bit
    int32_t *face[3];           // [cells] number of a free face, or -1
    int32_t *pressure, *stress; // [tiles + 1] first row of each tile
    int32_t faces, pressures, stresses;
} mo_stress_assembly;

typedef struct mo_stress_entry {
    int32_t col;
    double val;
} mo_stress_entry;

typedef struct mo_stress_term { // +- 1/dx times the velocity of a face
    int32_t at;
    int axis, sign;
} mo_stress_term;

// The faces of the pressure row of a cell, and of the strain row of a stress sample; both return how many.
int mo_stress_pressure_terms(const mo_stress_assembly *s, int32_t i, mo_stress_term t[6]);
int mo_stress_strain_terms(const mo_stress_assembly *s, int32_t i, int kind, mo_stress_term t[4]);

// Makes the entries of a row, ascending, and c: `weight` times the terms. A free face counts with its open part; the
// rest of it, and known faces, count with the solids' velocity.
int mo_stress_row_entries(const mo_stress_assembly *s, const mo_stress_term *t, int n, double weight, bool stress,
                          mo_stress_entry *e, double *c);

// stress_solids.c: the rows' parts on bodies and nodes.
mo_status mo_stress_couple(const mo_stress_assembly *s, mo_arena *arena, mo_liquid_system *out, mo_error *err);

#endif
