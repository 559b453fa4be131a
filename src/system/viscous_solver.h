// Internal to the form `viscous`: the set-up for one set of blocks.
#ifndef MO_VISCOUS_SOLVER_H
#define MO_VISCOUS_SOLVER_H

#include "sparse/multigrid.h"
#include "system/clusters.h"
#include "system/viscous.h"
#include "system/pieces.h"
#include "system/woodbury.h"

// Small pieces that neither stress nor pressure joins to others, such as drops, or liquid that is cut off between
// bodies. Their Schur complement is formed.
typedef struct mo_viscous_specks {
    int32_t count;
    int32_t *first, *row;       // [count + 1] and their pressure rows
    int32_t *first_face, *face; // [count + 1] and their faces
    int64_t *start;             // [count + 1] of each one's factor
    double *factor;             // dense.h
} mo_viscous_specks;

// Contacts of sets with nodes (viscous_touch.c).
typedef struct mo_viscous_touch {
    mo_csr B; // the law's rows on the unknowns that move, in their scale; both tangents of a contact have one pattern
    mo_csr springs;  // B^T D B, of the present linearisation
    int32_t pairs;   // the last changes of velocity and force that solves have shown
    double *dv, *df; // [pairs][extra]
    double *v, *f;   // [extra] of the last solve
    bool known;      // there was one
    double *work;    // [2 rows + 2 extra]
} mo_viscous_touch;

// Faces aside (viscous_aside.c).
typedef struct mo_viscous_aside {
    int32_t count, faces; // of them, and of the others
    int32_t *order;       // [n] unknowns with those aside last; NULL: none is
    double *work;         // [2 n]
} mo_viscous_aside;

typedef struct mo_viscous_solver {
    uint32_t set;
    mo_viscous_form form;
    const mo_solver_def *solver;
    mo_csr L; // Bp (M/dt)^-1 Bp^T; faces beside those without stress count with their stress
    mo_pieces pieces;
    double *wd;     // [pressures]
    double *narrow; // [pressures] >= 1: a factor of the residuals of cells that solids nearly close
    mo_viscous_specks specks;
    mo_woodbury wet;     // for solids that pressure pushes; no columns if they are too many
    mo_clusters core;    // of it, with springs
    mo_multigrid *cells; // L~
    mo_face_multigrid *faces;
    mo_viscous_aside aside;
    mo_contact_law law;
    mo_viscous_touch touch; // of sets with nodes
    bool sprung;            // K holds springs
    double *springs;        // [solids^2 + 2 extra^2] and scratch
    double norm;            // of the papers' right-hand side
    double steep;           // 1/dx
    int32_t size;           // n + pressures
    double *x, *r;          // [size] solution and residual
    double *b;              // [size] f, c
    double *scale;          // [size] of the residual's norm
    double *work;           // [size + stress rows]
    double *du, *dv;        // [faces], [solids] behind them: a motion (state.h)
    double *push;           // [solids] scratch
    int64_t bytes;
} mo_viscous_solver;

// Multigrid on faces with the nodes beside it; def: all but its matrix and nodes; springs: a pattern or NULL.
mo_status mo_viscous_nodes_multigrid(const mo_viscous_form *f, const mo_csr *springs, mo_face_multigrid_def *def,
                                     mo_face_multigrid **out);

// Multigrid on faces of which some lie aside, and one application to residuals r [n].
mo_status mo_viscous_aside_multigrid(const mo_viscous_form *f, const uint8_t *dangling, mo_viscous_aside *a,
                                     mo_face_multigrid **out);
void mo_viscous_aside_apply(const mo_viscous_aside *a, int32_t n, mo_face_multigrid *mg, const double *r, double *z);
void mo_viscous_aside_destroy(mo_viscous_aside *a);

mo_status mo_viscous_touch_create(mo_viscous_solver *s);
void mo_viscous_touch_destroy(mo_viscous_touch *t);
mo_status mo_viscous_touch_load(mo_viscous_solver *s);              // springs into the hierarchy
void mo_viscous_touch_learn(mo_viscous_solver *s, const double *x); // forces x moved solids to the present solution
mo_status mo_viscous_touch_predict(mo_viscous_solver *s, const double *v0, const double *x0, double *v, int32_t *steps);

mo_status mo_viscous_solve_linear(mo_viscous_solver *s, double tolerance, int32_t limit, mo_solve_info *info);
mo_status mo_viscous_solve_contacts(mo_viscous_solver *s, int32_t limit, mo_solve_info *info);

mo_status mo_viscous_schur(mo_viscous_solver *s); // L and wd, of which the inverse Schur complement is made
mo_status mo_viscous_find_specks(mo_viscous_solver *s);
void mo_viscous_specks_destroy(mo_viscous_specks *k);
void mo_viscous_specks_apply(const mo_viscous_specks *k, const double *r, double *z); // z = S^-1 r on their rows
mo_status mo_viscous_find_wet(mo_viscous_solver *s);
void mo_viscous_wet_apply(mo_viscous_solver *s, const double *r, double *z); // corrects z = L~ r

#endif
