// The group of nodes: vertices of deformable bodies with a sparse H, for example M + dt^2 K.
//
// Bodies are parts of the group; the matrices of different parts are separate. The function that they minimise need not
// be quadratic. Then a law gives its value and derivatives, and every round of a solve is a step of Newton's method,
//
//     H = the Hessian at v,   v^ = v - H^-1 gradient,   1/2 |v - v^|^2_H is minimised in its place
#ifndef MO_NODES_H
#define MO_NODES_H

#include "sparse/cholesky.h"
#include "system/group.h"

typedef struct mo_node_part { // one body. It outlives the group, so that orderings are made once
    mo_csr H;
    int32_t block;        // unknowns of a vertex, one for each axis
    uint8_t *held;        // [rows] 1: cannot move
    const mo_vec3 *place; // [vertices] where they are, m, kept by the body; NULL: not known
    mo_cholesky *factor;  // of H without what is held
    const char *name;     // of the body, for errors; NULL: it has none
} mo_node_part;

// Takes over a symmetric matrix, also on failure. Its columns ascend in each row, and its rows come in groups of
// `block` for each vertex. held: [rows], NULL: rows without a diagonal entry > 0 are held.
mo_status mo_node_part_create(mo_csr *H, int32_t block, const uint8_t *held, mo_node_part *out, mo_error *err);
void mo_node_part_destroy(mo_node_part *p);

typedef struct mo_node_law { // what the parts minimise beside the rows, as a function of their velocities
    void *user;
    mo_status (*value)(void *user, int32_t part, const double *v, double *out);
    // The gradient, and the values of H. convex: H is made positive semidefinite where it is not.
    mo_status (*derive)(void *user, int32_t part, const double *v, bool convex, double *gradient, mo_csr *H);
    // H = mass + stiffness, for the papers' methods; NULL: the two are not known separately.
    void (*mass)(void *user, int32_t part, double *mass); // [rows] its diagonal
    // The convex stiffness as the elements give it, rows^T diag(value) rows. The function returns the rows, on the
    // unknowns of the part, and the values > 0; the caller frees them with mo_free. NULL: the elements are not known.
    mo_status (*modes)(void *user, int32_t part, const double *v, mo_csr *rows, double **value);
    bool convex; // H is always the convex one, so that all methods make the same steps
    // The part of velocities v that rows of liquid do not see (elastic_turn.h). NULL: they see all of them.
    void (*chord)(void *user, int32_t part, const double *v, double *out);
} mo_node_law;

typedef struct mo_node_matrix {
    int32_t parts, *first; // [parts + 1] first unknown of each
    mo_node_part *part;
    bool owned;        // the parts go with the group
    mo_node_law law;   // without functions: quadratic
    int32_t projected; // linearisations that had to leave out negative stiffness
    int64_t solves;    // with factors of H, one for all parts
    // Liquid that moves with each unknown (attach.h), [3 count]: mass m, momentum beyond m v*, and v*. NULL: none.
    double *attached;
    double *x; // [2 count] scratch of a solve and its force, so that only one solve of a group may run at a time
    const mo_group_kind *usual;
    struct mo_node_guise *guise; // nodes_guise.h; NULL: none
} mo_node_matrix;

// Finds the gradient of part k at its velocities v, and its H, both with the attached liquid. Not for quadratic nodes.
mo_status mo_nodes_derive(mo_group *g, int32_t k, const double *v, bool convex, double *gradient);

// Rows of liquid see v without the chords of turning bodies (elastic_turn.h). This writes the effect of the chords at
// the present velocities to `turned` of the blocks of pressure and stress. Every round of a solve does so.
struct mo_system;
mo_status mo_nodes_turn(struct mo_system *s, mo_error *err);

// One part, quadratic: takes over H as mo_node_part_create does, and factors it.
mo_status mo_nodes_create(mo_csr *H, mo_group *out, mo_error *err);
// Parts that belong to the caller. law NULL: quadratic, and factored already.
mo_status mo_nodes_join(int32_t parts, mo_node_part *part, const mo_node_law *law, mo_group *out, mo_error *err);

// The value of the function that part k minimises, at velocities v of the part.
mo_status mo_nodes_part_value(const mo_group *g, int32_t k, const double *v, double *out, mo_error *err);
// In v, the unknowns of part k that are held have their velocities. The others get the minimum of the quadratic that
// fits at velocities `from`.
mo_status mo_nodes_part_predict(mo_group *g, int32_t k, const double *from, double *v, mo_error *err);

// Attaches liquid to the nodes, once, while their velocities are v*. Each unknown gets a mass, which may be negative as
// long as the sum is not, and the momentum of that mass beyond m v*. This adds
//
//     1/2 |v - v*|^2_m - momentum.v
//
// to the function that the nodes minimise. Unknowns with a negative sum get nothing, and the others along the same axis
// of the part get so much less.
mo_status mo_nodes_attach_begin(mo_group *g, mo_error *err);
void mo_nodes_attach(mo_group *g, int32_t unknown, double mass, double momentum);
mo_status mo_nodes_attach_end(mo_group *g, mo_error *err);
// Adds the force of the attached liquid on each unknown (over dx^3), once the solve has found the velocities.
void mo_nodes_attached_force(const mo_group *g, double dt, double *force);

#endif
