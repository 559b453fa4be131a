// The liquid's surface as state: a level set on the grid's tiles, which moves in the velocity field that moves the
// particles, and follows the particles where the two disagree (docs/surface.md). Liquid that does not move is not
// corrected, so that liquid at rest keeps its surface and stays at rest.
#ifndef MO_LEVELSET_H
#define MO_LEVELSET_H

#include "fluid/surface.h"
#include "fluid/transfer.h"

#define MO_LEVELSET_BAND   5.0f  // cells: how far from the surface distances are known
#define MO_LEVELSET_BEYOND 0.5f  // cells: particles further outside do not belong to the liquid of the level set
#define MO_LEVELSET_PULL   0.05f // cells: how far a particle that sticks out is taken back in a step

typedef struct mo_levelset { // fields over the tiles that the grid had when they were last settled
    float *phi; // signed distance in cells at cell centres, < 0 in liquid, at most MO_LEVELSET_BAND; it is continued in
                // solids and beyond closed walls, so that a wall never counts as air
    float *press;        // what pressure sees: phi, but in thin parts the union of balls round the particles
    float *moved;        // cells that the surface moved along an axis in this step, in the band
    float *spare;        // one more field, to write into
    int64_t capacity;    // cells of a field
    int32_t (*coord)[3]; // [tiles] coordinates of the tiles
    int32_t tiles;
    int64_t coord_capacity;
} mo_levelset;

void mo_levelset_destroy(mo_levelset *l); // frees the arrays, not the struct

// Finds the number that each of the grid's tiles had among the tiles of the fields, -1 if it is new.
void mo_levelset_match(const mo_levelset *l, const mo_grid *g, int32_t *from);
// Makes the fields fit the grid's present tiles: values move with their tiles, new tiles are air.
mo_status mo_levelset_settle(mo_levelset *l, const mo_grid *g, mo_arena *arena, mo_error *err);

// Fills the margins: beyond closed walls the surface is continued as a straight line, beyond open walls there is air.
// In 2D the planes beside the real one repeat it.
void mo_levelset_fill_margins(const mo_grid *g, const bool open_wall[6], float *phi);

// Extends phi into solids (distance < 0). Next to open cells it differs from their values by at most 1. Deeper, it is
// the mean of the linear extrapolations from cells that are nearer to open ones, so that a plane stays a plane.
void mo_levelset_extend(const mo_grid *g, const mo_surface_walls *walls, float *phi);

// Moves the surface with the faces' velocity for `step` (s per cell length): cells are traced back by Ralston's method
// and read phi there by cubic interpolation, which leaves the range of the values around by at most 0.05. Sets moved.
void mo_levelset_advect(mo_levelset *l, const mo_grid *g, const mo_faces *faces, float step, const bool open_wall[6]);

// The data of the particles about the surface, on the cells.
typedef struct mo_levelset_particles {
    const mo_particles *particles;
    const float *surface;     // their own surface, a signed distance in cells (mo_surface_visible, mo_surface_smooth)
    const float *density;     // their hat density
    const float *open_volume; // open parts of cells
    const float *solid_distance; // cells, < 0 in solids
    bool near_solids;            // the scene has solids, beside which the particles' surface is less certain
} mo_levelset_particles;

// Where phi and the particles' own surface differ strongly and something moves, phi takes the particles' surface.
// work: 3 fields. Returns how many cells changed.
int64_t mo_levelset_follow(mo_levelset *l, const mo_grid *g, const mo_levelset_particles *told, float step,
                           float *const work[3]);

// Brings phi back to a distance, the faster the surface moves the more, without moving the surface. work: 2 fields,
// bytes: 2 byte fields.
void mo_levelset_redistance(mo_levelset *l, const mo_grid *g, const bool open_wall[6], float *const work[2],
                            uint8_t *bytes);

// Moves the surface of the deep and of the thin part of each connected piece along its normal, so that it holds the
// volume that its particles and deep cells hold (docs/volume.md 3), by at most 0.3 cells. offset gets the largest of
// these moves.
mo_status mo_levelset_keep_volume(mo_levelset *l, const mo_grid *g, const mo_particles *p, const float *open_volume,
                                  const uint8_t *thin, double *offset, mo_arena *arena, mo_error *err);

// phi at x (lattice coordinates, in the domain), by linear interpolation; air where the grid has no tile.
float mo_levelset_at(const mo_grid *g, const float *phi, const double x[3]);

// Volume of the liquid that phi encloses outside solids, in cells.
double mo_levelset_volume(const mo_grid *g, const float *phi, const float *open_volume);

// Returns the volume of the liquid, in cells: the volume that phi encloses outside solids in cells that are not thin,
// plus *film: the volume of the particles in thin cells, and of particles beyond the liquid of the level set.
double mo_levelset_account(const mo_grid *g, const float *phi, const float *open_volume, const uint8_t *thin,
                           const mo_particles *p, double *film);

// Moves particles that stick out of deep liquid back to the surface, by at most MO_LEVELSET_PULL cells. Returns how
// many.
int64_t mo_levelset_pull(const mo_levelset *l, const mo_grid *g, mo_particles *p);

// Whether a cell of the grid lies in the domain, not in its margins.
static inline bool mo_levelset_in_domain(const mo_grid *g, const int32_t c[3])
{
    for (int a = 0; a < 3; a++)
        if (c[a] < MO_MARGIN || c[a] >= g->n[a] - MO_MARGIN) return false;
    return true;
}

#endif
