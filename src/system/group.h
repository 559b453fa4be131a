// Primal groups: the unknowns that move in a step (docs/step.md). Code that serves all groups (schemes, rounds,
// residuals, applying multipliers, verification) uses only what is declared here.
//
//     minimise  sum over groups 1/2 |v - v^|^2_H   subject to the blocks' rows
//
//     faces   the liquid's velocities on faces of the grid   H = diagonal mass
//     bodies  rigid bodies, six unknowns each                H = blocks of 6 x 6
//     nodes   vertices of deformable bodies                  H = sparse, positive
#ifndef MO_GROUP_H
#define MO_GROUP_H

#include "sparse/csr.h"

// Groups from MO_SOLIDS on are those of solids.
enum { MO_FACES, MO_BODIES, MO_NODES, MO_GROUPS, MO_SOLIDS = MO_BODIES };

typedef struct mo_group mo_group;

typedef struct mo_group_kind { // what generic code may call
    const char *name;
    void (*apply)(const mo_group *g, double s, const double *v, double *f);         // f += s H v
    void (*apply_inverse)(const mo_group *g, double s, const double *f, double *v); // v += s H^-1 f; 0 if held
    void (*diagonal)(const mo_group *g, double *d);                                 // of H; 0 if held
    // A row of H; returns its length. col and val may both be NULL.
    int32_t (*row)(const mo_group *g, int32_t i, int32_t *col, double *val);
    double (*yield)(const mo_group *g, const mo_csr *B, int32_t row); // (B H^-1 B^T)_ii of one row, or about
    // A += s B H^-1 B^T of the rows `from` and after, among themselves.
    mo_status (*add_square)(const mo_group *g, double s, const mo_csr *B, int32_t from, mo_csr *A);
    bool applied; // such products with rows of liquid are applied and not formed (dual.c)
    // Unknowns times these are speeds. NULL: they are speeds.
    void (*units)(const mo_group *g, double *unit);
    // How light each unknown is against the liquid whose rows B, at `coord`, push it: half of the mass it displaces
    // over its own; 0 = it cannot move. density: of the liquid; size: 1/dx. NULL: none is light.
    void (*light)(const mo_group *g, const mo_csr *B, const int32_t (*coord)[3], double density, double size,
                  double *light);
    // Replaces a function that is not quadratic by the quadratic that fits it at velocities v: H is renewed, and the
    // minimum v^ of the quadratic goes to `target`. NULL: the group is quadratic.
    mo_status (*linearise)(mo_group *g, const double *v, double *target, mo_error *err);
    // The value of a function that is not quadratic.
    mo_status (*value)(const mo_group *g, const double *v, double *out, mo_error *err);
    void (*destroy)(mo_group *g); // frees what only this kind owns
} mo_group_kind;

struct mo_group {
    const mo_group_kind *kind; // NULL: there is nothing of this group
    int32_t count;             // unknowns
    double *velocity;          // [count] v^ before a solve, v after it
    union {
        double *mass;                 // faces: [count] Mf = rho WF^u WL^u, > 0
        struct mo_body_mass *body;    // bodies: one each (bodies.h)
        struct mo_node_matrix *nodes; // nodes (nodes.h)
    };
};

mo_status mo_faces_create(int32_t faces, mo_group *out); // masses are the caller's to fill, velocities 0
// A += s B H^-1 B^T of faces; of none of them if the group is absent, with every diagonal entry in the pattern.
mo_status mo_faces_square(const mo_group *faces, double s, const mo_csr *B, const mo_csr *Bt, mo_csr *A);
// A group with velocities 0 and `bytes` of its own, zeroed.
mo_status mo_group_create(const mo_group_kind *kind, int32_t count, size_t bytes, void **own, mo_group *out);
void mo_group_destroy(mo_group *g); // destroy of an absent group is fine

void mo_group_apply(const mo_group *g, double s, const double *v, double *f);         // nothing if absent
void mo_group_apply_inverse(const mo_group *g, double s, const double *f, double *v); // nothing if absent
// v -= dt H^-1 B^T x, for the rows B of a group and their multipliers; force: [count] scratch.
void mo_group_push(mo_group *g, double dt, const mo_csr *B, const double *x, double *force);
double mo_group_yield(const mo_group *g, const mo_csr *B, int32_t row);      // 0 if B has no rows on it
double mo_group_energy(const mo_group *g, const double *v, double *scratch); // 1/2 v H v; scratch [count]

#endif
