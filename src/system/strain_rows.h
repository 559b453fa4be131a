// Internal to the stress block where sheets are (stress_sheets.h): which rows of strain there are, and what each is
// made of.
#ifndef MO_STRAIN_ROWS_H
#define MO_STRAIN_ROWS_H

#include "system/stress_sheets.h"

// The component of a gap's own row. The velocity through a gap is gap_mean u + w, and w resists as shear over a part of
// a cell does; else liquid would pass the border of a sheet freely, and a disk would seem smaller.
enum { MO_STRAIN_GAP = 7 };

enum { MO_STRAIN_WIDTH = 256, MO_STRAIN_MOVES = 128, MO_EDGE_PIECES = 48, MO_EDGE_ROWS = 48 };

typedef struct mo_strain_world { // what rows are made from
    const mo_sheet_stress_def *d;
    const mo_pressure_def *p;
    const mo_grid *g;
    const mo_liquid_system *l;
    int axes;
    int32_t *face[3]; // [fields] number of a sample that stress may act on, else -1
    int32_t *row;     // [fields] of the pressure block, or -1
} mo_strain_world;

typedef struct mo_strain_site { // one row
    int32_t at;                 // a row of the grid, the cell of an edge, or the system's number of a gap
    int8_t component;           // MO_STRESS_..., MO_STRAIN_GAP
    int8_t part;                // of an edge: 0 both differences, 1 what the larger one has beyond
    int16_t group;              // of an edge: which side of sheets
} mo_strain_site;

typedef struct mo_mover { // whose velocity stands in a row
    int32_t triangle;     // of a sheet, or -1
    int32_t vertex[3];
    int32_t solid; // if triangle < 0; -1: at rest
    bool slips;
} mo_mover;

typedef struct mo_strain_move { // factor times the velocity at x along an axis
    mo_mover by;
    mo_vec3 x;
    int axis;
    double factor;
} mo_strain_move;

typedef struct mo_strain_row {
    int32_t count, col[MO_STRAIN_WIDTH]; // faces, ascending
    double val[MO_STRAIN_WIDTH];
    int32_t moves;
    mo_strain_move move[MO_STRAIN_MOVES];
    int32_t homes, home[MO_EDGE_ROWS]; // rows of the grid in whose liquid it lies
    double known;                      // the part of prescribed flows, 1/s
    double weight;                     // W
    double viscosity;
    bool failed; // too many entries
} mo_strain_row;

static inline void mo_strain_start(mo_strain_row *r)
{
    r->count = r->moves = r->homes = 0, r->known = r->weight = r->viscosity = 0, r->failed = false;
}
void mo_strain_add_face(mo_strain_row *r, int32_t face, double value);
void mo_strain_add_move(mo_strain_row *r, const mo_mover *by, mo_vec3 x, int axis, double factor);
void mo_strain_scale(mo_strain_row *r, double factor);

// The liquid part of a row of the grid, and the sum of inverse viscosities of rows. False: one has none.
double mo_strain_wet(const mo_strain_world *w, int32_t row);
double mo_strain_viscosity(const mo_strain_world *w, const int32_t *row, int rows); // harmonic mean; 0: none
// Where samples lie, and the solid nearest to x, with its distance in m; -1: there is none.
mo_vec3 mo_strain_place(const mo_strain_world *w, int axis, int32_t sample);
int32_t mo_strain_nearest(const mo_strain_world *w, mo_vec3 x, double *distance);
mo_vec3 mo_strain_wall_place(const mo_strain_world *w, const mo_site_wall *wall);

// strain_edges.c: the rows of an edge. Groups are the sides of sheets there.
int mo_strain_edge_groups(const mo_strain_world *w, int32_t cell, int component);
bool mo_strain_edge_row(const mo_strain_world *w, const mo_strain_site *s, mo_strain_row *out);

// Finds a row; false: there is none. strain_rows.c.
bool mo_strain_row_find(const mo_strain_world *w, const mo_strain_site *s, mo_strain_row *out);
// Lists the rows of a tile, ascending by cell; out NULL: counts them.
int32_t mo_strain_list(const mo_strain_world *w, int32_t tile, mo_strain_site *out);

// What the three vertices of a triangle of cloth contribute to its velocity at x along an axis; false: it is none.
enum { MO_CLOTH_COLUMNS = 9 };
bool mo_mover_columns(const mo_strain_world *w, const mo_mover *by, mo_vec3 x, int axis,
                      mo_column out[MO_CLOTH_COLUMNS]);
// The velocity of a mover whose motion is prescribed, at x along an axis.
double mo_mover_velocity(const mo_strain_world *w, const mo_mover *by, mo_vec3 x, int axis);

#endif
