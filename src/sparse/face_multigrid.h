// Multigrid for matrices whose rows sit on the faces of a lattice: a positive matrix of rates of strain, as in a
// viscous liquid, with a mass on the diagonal and a border of unknowns that every level carries. Beside it there may be
// nodes, which need not follow the lattice (face_nodes.c).
#ifndef MO_FACE_MULTIGRID_H
#define MO_FACE_MULTIGRID_H

#include "sparse/direct.h"

typedef struct mo_face_multigrid mo_face_multigrid;

typedef struct mo_face_nodes_def { // unknowns that do not lie on faces, such as nodes of deformable bodies
    int32_t count;
    const mo_csr *to;      // count x n: how they couple to the rows of K
    const mo_csr *among;   // count x count: and among themselves
    const double (*at)[3]; // [count] where they are, in cells of the lattice; NULL: coarse faces do not move them
    const uint8_t *axis;   // [count] along which they move
    // The pattern of later springs among the carried unknowns of K and the nodes behind them [carried + count,
    // squared]; NULL: none.
    const mo_csr *springs;
} mo_face_nodes_def;

typedef struct mo_face_multigrid_def {
    const mo_csr *K; // n x n, faces first
    int32_t faces, axes;
    const int32_t (*face)[4]; // [faces]
    const uint8_t *slender;   // [faces] 1 = of a part too thin for coarse grids; 2 = for all but the first of them
    const uint8_t *dangling;  // [faces] on which no pressure acts
    const double *mass;       // [faces] the part of K's diagonal that couples nothing
    const mo_face_nodes_def *nodes; // behind K's unknowns; NULL: none
} mo_face_multigrid_def;

mo_status mo_face_multigrid_create(const mo_face_multigrid_def *def, mo_face_multigrid **out);
void mo_face_multigrid_destroy(mo_face_multigrid *mg);
void mo_face_multigrid_apply(void *mg, const double *r, double *z); // an mo_apply_fn; r, z: of K, then of nodes
// Adds springs between carried unknowns [n - faces, squared] to K as it was built; scratch is of the same size.
void mo_face_multigrid_corner(mo_face_multigrid *mg, const double *springs, double *scratch);
// Estimates from above how the carried unknowns resist without springs [n - faces, squared].
void mo_face_multigrid_resistance(const mo_face_multigrid *mg, double *S);

// Adds springs of the given pattern to K where there are nodes; NULL: none. MO_ERROR_FAILED: K with them is not
// positive.
mo_status mo_face_multigrid_springs(mo_face_multigrid *mg, const mo_csr *springs);
// Computes how carried unknowns and nodes move under forces, both [carried + count], with their springs, while all
// faces but those about nodes stand still.
void mo_face_multigrid_give(const mo_face_multigrid *mg, const double *force, double *v);

typedef struct mo_face_multigrid_info {
    int32_t levels, coarsest, direct; // unknowns on the last level, in the direct set
    int32_t shell;                    // faces that are solved together with nodes
    int64_t factor_entries, entries, all_entries, bytes;
} mo_face_multigrid_info;
mo_face_multigrid_info mo_face_multigrid_describe(const mo_face_multigrid *mg);

#endif
