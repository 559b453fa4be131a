// Cloth: thin shells on sheets of triangles (Koiter), and cords. A cloth is an elastic body (elastic.h) of three
// unknowns per vertex, whose elements are its triangles and then its cords, and whose energy is
//
//     W = sum over triangles  A/2 [S q(E) + D q(b - b0)]      q(e) = (1 - nu) |e|^2 + nu (tr e)^2
//       + sum over cords      k/(2 L) max(l - L, 0)^2         l: length now, L at rest
//
// E = (F^T F - 1)/2 is Green's strain of the triangle's plane, b the second fundamental form and b0 that at rest, both
// pulled back to the triangle at rest. Normals at the middles of edges are means of the two triangles there; with the
// angle theta_i between those, the height h_i over the edge and the gradient g_i of corner i at rest, b is
//
//     b = sum over edges kappa_i g_i g_i^T,   kappa_i = 2 h_i sin(theta_i/2)
//
// This is exact for quadratic surfaces on regular meshes, whichever way the mesh runs. Edges of one triangle do not
// bend, and neither do those of three or more: seams there are hinges.
//
// Damping (Kelvin and Voigt): stresses act on e + damping de/dt. In a step of length dt from strains et that is the
// potential damping/dt q(e - et), which rotations do not feel.
#ifndef MO_CLOTH_H
#define MO_CLOTH_H

#include "geometry/sheet.h"
#include "solid/elastic.h"

typedef struct mo_cloth_material {
    double density; // kg/m^2, > 0
    double stretch; // N/m, > 0: S = E t/(1 - nu^2)
    double bend;    // N m, >= 0: D = E t^3/12/(1 - nu^2)
    double poisson; // 0 .. 0.49
    double damping; // s, >= 0
} mo_cloth_material;

typedef struct mo_cord { // pulls when it is longer than at rest, and never pushes
    int32_t from, to;    // vertices; to < 0: a place that stands still
    mo_vec3 point;       // m, that place
    double length;       // m at rest, > 0
    double stretch;      // N, > 0: force per relative extension
    bool held;           // `to` is a vertex of its own at `point`, which something outside holds; creation sets it
} mo_cord;

typedef struct mo_cloth {
    mo_cloth_material material;
    int32_t triangles, cords;
    int32_t (*triangle)[3];   // [triangles] vertices
    double (*gradient)[3][2]; // [triangles] g_k in the triangle's plane at rest, 1/m
    double (*form)[3][3];     // [triangles] q of g_i g_i^T, g_j g_j^T: bending is quadratic in kappa by it
    double (*kappa)[3];       // [triangles] at rest, m
    mo_cord *cord;            // [cords]
    int32_t ends;             // the last so many vertices, which are ends of cords and in no triangle
} mo_cloth;

enum { MO_CLOTH_CORNERS = 6 }; // of a triangle: its own, then the one across the edge opposite to each; -1: none

// A cloth at rest whose vertices lie where the sheet has them. The ends of cords that are held follow behind the
// sheet's vertices; each weighs as much as a vertex of the sheet in the mean. MO_ERROR_INPUT: a triangle without area,
// or a vertex that belongs to no triangle. mo_elastic_destroy frees it.
mo_status mo_cloth_create(const mo_sheet *sheet, const mo_cloth_material *material, int32_t cords, const mo_cord *cord,
                          mo_elastic_body *out, mo_error *err);
void mo_cloth_destroy(mo_cloth *c); // with the struct; NULL is fine

// The functions of elastic.h for a body that is cloth.
double mo_cloth_element_energy(const mo_elastic_body *b, const mo_vec3 *x, const mo_elastic_step *step, int32_t e);
mo_status mo_cloth_gradient(const mo_elastic_body *b, const mo_vec3 *x, const mo_elastic_step *step, mo_arena *arena,
                            double *gradient);
// projected: bending without second derivatives of kappa, and stretching with the positive stress alone.
mo_status mo_cloth_stiffness(const mo_elastic_body *b, const mo_vec3 *x, const mo_elastic_step *step, bool projected,
                             mo_arena *arena, mo_csr *A, int32_t *clipped);

// Parts of W at x, J, and the largest principal stretch of a triangle minus 1.
typedef struct mo_cloth_sums {
    double stretching, bending, cords; // J
    double most;                       // largest principal stretch - 1
} mo_cloth_sums;
mo_cloth_sums mo_cloth_measure(const mo_elastic_body *b, const mo_vec3 *x);

// ---- Parts of it ----

// kappa of the edge x[0], x[1] of the triangle x[0], x[1], x[2], with x[3] beyond the edge, and its derivatives.
typedef struct mo_flap {
    double kappa;
    mo_vec3 gradient[4];
    double hessian[4][4][3][3];
} mo_flap;
void mo_flap_find(const mo_vec3 x[4], int derivatives, mo_flap *out); // derivatives: 0, 1 or 2

#endif
