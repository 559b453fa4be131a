// The natural factor of an elastic body's stiffness (Kim, Eberle 2020): every eigenvector of an element's second
// derivative with respect to F, and every component of the strain that damping sees, is one row on the element's
// vertices.
#include "solid/elastic.h"
#include <string.h>

enum { ELASTIC = 9, DAMPING = 6, CORNERS = 4 };

typedef struct factor { // being filled
    const mo_elastic_body *b;
    mo_csr *rows;
    double *value;
    int32_t element, sorted[CORNERS]; // its corners by the numbers of their vertices
} factor;

static void enter_element(factor *f, int32_t e)
{
    int corners = f->b->dimension + 1;
    const int32_t *c = f->b->corner + (int64_t)e * corners;
    f->element = e;
    for (int k = 0; k < corners; k++) {
        int at = k;
        for (; at > 0 && c[f->sorted[at - 1]] > c[k]; at--) f->sorted[at] = f->sorted[at - 1];
        f->sorted[at] = k;
    }
}

// A row that maps motions of the element's vertices to M : dF, if its value counts.
static void add_row(factor *f, const double M[3][3], double value)
{
    const mo_elastic_body *b = f->b;
    int d = b->dimension, corners = d + 1;
    mo_csr *R = f->rows;
    if (!(value > 0)) return;
    const double *g = b->gradient + (int64_t)f->element * corners * 3;
    int64_t at = R->row[R->rows];
    for (int s = 0; s < corners; s++) {
        int k = f->sorted[s];
        for (int r = 0; r < d; r++, at++) {
            R->col[at] = d * b->corner[(int64_t)f->element * corners + k] + r;
            R->val[at] = M[r][0] * g[3 * k] + M[r][1] * g[3 * k + 1] + M[r][2] * g[3 * k + 2];
        }
    }
    f->value[R->rows] = value, R->row[++R->rows] = at;
}

// eta/dt |sym Ft^T dF|^2: component (a, b) of the strain is (Ft e_a g_b^T + Ft e_b g_a^T)/2 : dF.
static void add_damping(factor *f, const mo_elastic_step *step)
{
    const mo_elastic_body *b = f->b;
    double Ft[3][3], c = b->elasticity.viscosity / step->dt * b->volume[f->element];
    mo_elastic_deformation(b, step->from, f->element, Ft);
    for (int i = 0; i < b->dimension; i++)
        for (int j = 0; j <= i; j++) {
            double M[3][3] = {{0}};
            for (int r = 0; r < 3; r++) M[r][j] += 0.5 * Ft[r][i], M[r][i] += 0.5 * Ft[r][j];
            add_row(f, (const double(*)[3])M, (i == j ? 2 : 4) * c);
        }
}

mo_status mo_elastic_modes(const mo_elastic_body *b, const mo_vec3 *x, const mo_elastic_step *step, mo_csr *rows,
                           double **value)
{
    bool damped = step && b->elasticity.viscosity > 0;
    int32_t d = b->dimension, most = b->elements * (damped ? ELASTIC + DAMPING : ELASTIC);
    factor f = {.b = b, .rows = rows};
    MO_TRY(mo_csr_create(most, mo_elastic_unknowns(b), (int64_t)most * d * (d + 1), rows));
    f.value = *value = mo_alloc(sizeof(double) * ((size_t)most + 1));
    if (!f.value) {
        mo_csr_destroy(rows);
        return MO_ERROR_MEMORY;
    }
    rows->rows = 0;
    for (int32_t e = 0; e < b->elements; e++) {
        double F[3][3];
        mo_stiffness_modes modes;
        enter_element(&f, e);
        mo_elastic_deformation(b, x, e, F);
        mo_elasticity_modes(&b->elasticity, F, d, &modes);
        for (int i = 0; i < modes.count; i++)
            add_row(&f, (const double(*)[3])modes.direction[i], b->volume[e] * modes.value[i]);
        if (damped) add_damping(&f, step);
    }
    return MO_OK;
}
