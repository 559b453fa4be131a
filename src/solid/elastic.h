// Elastic bodies: linear simplices with lumped mass. Energy, forces and stiffness as functions of the vertices' places.
//
//     W(x) = sum over elements  V (Psi(F) + eta/dt |sym Ft^T (F - Ft)|^2)      F = sum_k x_k g_k^T
//
// V and g_k are the element's volume and the gradients of its shape functions at rest; Ft is F at the start of the step
// of length dt. The second term is Kelvin-Voigt damping, which does not act on rotations: it is a potential of an
// implicit step, and its derivative is the viscous force. The group `nodes` of the system makes the steps. Cloth
// (cloth.h) is a body with a different energy; functions below serve both unless they say otherwise.
#ifndef MO_ELASTIC_H
#define MO_ELASTIC_H

#include "base/vec.h"
#include "solid/elasticity.h"
#include "sparse/csr.h"

struct mo_cloth;

typedef struct mo_elastic_body {
    int32_t dimension;          // of space, and unknowns per vertex: 2 or 3
    int32_t vertices, elements; // simplices of dimension + 1 corners; of cloth see cloth.h
    int32_t corners;            // of an element
    mo_elasticity elasticity;
    struct mo_cloth *cloth; // NULL: made of simplices
    double density;         // kg/m^3 at rest; of cloth kg/m^2
    int32_t *corner;        // [elements][corners] vertices; of cloth -1: none
    double *gradient;       // [elements][corners][3] g_k, 1/m; none of cloth
    double *volume;         // [elements] m^3 at rest; of cloth m^2, of cords m
    double *mass;           // [vertices] kg
    mo_vec3 *rest;          // [vertices] m
    mo_vec3 *position;      // [vertices] m
    mo_vec3 *velocity;      // [vertices] m/s
    int32_t *first, *use; // elements about vertex v: use[first[v]] .. use[first[v + 1] - 1], each element * corners + k
    int32_t *start, *near; // vertices that share an element with v, itself too, ascending: near[start[v]] ..
    int32_t *place;        // [elements][corners][corners] where corner l is in the list of corner k's vertex
} mo_elastic_body;

// Makes a body at rest whose vertices lie where the mesh has them; `depth` (m) is that of a two-dimensional one.
mo_status mo_elastic_create(const mo_tets *mesh, const mo_elasticity *elasticity, double density, double depth,
                            mo_elastic_body *out);
void mo_elastic_destroy(mo_elastic_body *b);

// ---- For code that makes bodies ----

// Makes room for the vertices, elements and corners, whose numbers the body has.
bool mo_elastic_allocate(mo_elastic_body *b);
// Lists elements about vertices and vertices about vertices, once `corner` is known.
mo_status mo_elastic_connect(mo_elastic_body *b);

enum { MO_MOST_CORNERS = 6 };
static inline int mo_corner_pair(int k, int l) { return k + l * (l + 1) / 2; } // k <= l: where their block is
// Makes the rows of vertex v from the blocks d2W / dx_k dx_l of the elements about it: [elements][stride].
void mo_elastic_gather_rows(const mo_elastic_body *b, const double (*block)[3][3], int32_t stride, int32_t v,
                            mo_csr *A);

// ---- Energy ----

static inline int32_t mo_elastic_unknowns(const mo_elastic_body *b) { return b->dimension * b->vertices; }

typedef struct mo_elastic_step { // the step that damping refers to
    const mo_vec3 *from;         // [vertices] places at the start of the step
    double dt;                   // s
} mo_elastic_step;

// Finds W at x; step NULL: without damping.
mo_status mo_elastic_energy(const mo_elastic_body *b, const mo_vec3 *x, const mo_elastic_step *step, mo_arena *arena,
                            double *out);
// Finds dW/dx, gradient[dimension * vertices]; the elastic and viscous force is its negative.
mo_status mo_elastic_gradient(const mo_elastic_body *b, const mo_vec3 *x, const mo_elastic_step *step, mo_arena *arena,
                              double *gradient);
// Makes a matrix with the pattern of stiffness and values 0: rows in ascending columns, a full block for vertices that
// share an element.
mo_status mo_elastic_pattern(const mo_elastic_body *b, mo_csr *out);
// Sets the values of A = d2W/dx2. projected: every element's elastic part is made positive semidefinite. *clipped (may
// be NULL): elements in which that changed something.
mo_status mo_elastic_stiffness(const mo_elastic_body *b, const mo_vec3 *x, const mo_elastic_step *step, bool projected,
                               mo_arena *arena, mo_csr *A, int32_t *clipped);

// Finds the projected stiffness as its elements give it, rows^T diag(value) rows. There is a row on the unknowns for
// each mode in which an element resists: at most 9 for a tetrahedron and 4 for a triangle, and 6 and 3 more with
// damping. Only values > 0 are listed; the caller frees them with mo_free. Not for cloth.
mo_status mo_elastic_modes(const mo_elastic_body *b, const mo_vec3 *x, const mo_elastic_step *step, mo_csr *rows,
                           double **value);

// Not for cloth.
void mo_elastic_deformation(const mo_elastic_body *b, const mo_vec3 *x, int32_t element, double F[3][3]);

typedef struct mo_elastic_sums { // of the body as it is
    double mass;                 // kg
    mo_vec3 centre, momentum;    // m, kg m/s
    mo_vec3 angular_momentum;    // about the centre, kg m^2/s
    double kinetic, elastic;     // J
    double least;                // smallest det F; of cloth 1
    int32_t inverted;            // elements with det F <= 0; of cloth 0
} mo_elastic_sums;
mo_elastic_sums mo_elastic_measure(const mo_elastic_body *b);
const char *mo_elastic_fault(const mo_elastic_body *b); // what is wrong with numbers or masses; NULL: nothing

#endif
