// Wind on cloth where no air is simulated.
#include "solid/cloth_wind.h"
#include <math.h>

mo_status mo_cloth_wind_create(const mo_elastic_body *b, mo_vec3 velocity, mo_cloth_wind *out, mo_error *err)
{
    size_t triangles = (size_t)b->cloth->triangles;
    *out = (mo_cloth_wind){.velocity = velocity,
                           .strength = mo_calloc(sizeof(double) * triangles),
                           .normal = mo_calloc(sizeof(mo_vec3) * triangles)};
    if (out->strength && out->normal) return MO_OK;
    mo_cloth_wind_destroy(out);
    return mo_fail_memory(err);
}

void mo_cloth_wind_destroy(mo_cloth_wind *w)
{
    mo_free(w->strength), mo_free(w->normal);
    *w = (mo_cloth_wind){0};
}

void mo_cloth_wind_aim(const mo_elastic_body *b, double density, const double *dry, mo_cloth_wind *w)
{
    for (int32_t t = 0; t < b->cloth->triangles; t++) {
        const int32_t *c = b->cloth->triangle[t];
        mo_vec3 x = b->position[c[0]];
        mo_vec3 twice = mo_cross(mo_sub(b->position[c[1]], x), mo_sub(b->position[c[2]], x));
        w->strength[t] = 0.25 * density * mo_norm(twice) * (dry ? dry[t] : 1);
        w->normal[t] = mo_normalize(twice);
    }
}

// s = n.(w - V)
static double head_on(const mo_elastic_body *b, const mo_cloth_wind *w, const double *v, int32_t t)
{
    double s = mo_dot(w->normal[t], w->velocity);
    for (int k = 0; k < 3; k++) {
        const double *u = v + 3 * (int64_t)b->cloth->triangle[t][k];
        s -= mo_dot(w->normal[t], mo_v3(u[0], u[1], u[2])) / 3;
    }
    return s;
}

double mo_cloth_wind_value(const mo_elastic_body *b, const mo_cloth_wind *w, const double *v)
{
    double sum = 0;
    for (int32_t t = 0; t < b->cloth->triangles; t++) {
        double s = fabs(head_on(b, w, v, t));
        sum += w->strength[t] * s * s * s / 3;
    }
    return sum;
}

void mo_cloth_wind_add_force(const mo_elastic_body *b, const mo_cloth_wind *w, const double *v, double scale,
                             double *force)
{
    for (int32_t t = 0; t < b->cloth->triangles; t++) {
        double s = head_on(b, w, v, t), push = scale * w->strength[t] * s * fabs(s) / 3;
        for (int k = 0; k < 3; k++)
            for (int a = 0; a < 3; a++) force[3 * b->cloth->triangle[t][k] + a] += push * mo_get(w->normal[t], a);
    }
}

// The entry of an unknown of vertex p and one of vertex q: vertices that share an element have full blocks.
static double *entry(const mo_elastic_body *b, mo_csr *A, int32_t p, int a, int32_t q, int c)
{
    int32_t k = b->start[p];
    while (b->near[k] != q) k++;
    return &A->val[A->row[3 * p + a] + 3 * (k - b->start[p]) + c];
}

void mo_cloth_wind_add_stiffness(const mo_elastic_body *b, const mo_cloth_wind *w, const double *v, double scale,
                                 mo_csr *A)
{
    for (int32_t t = 0; t < b->cloth->triangles; t++) {
        const int32_t *corner = b->cloth->triangle[t];
        double steep = scale * 2 * w->strength[t] * fabs(head_on(b, w, v, t)) / 9;
        for (int m = 0; m < 81 && steep != 0; m++) {
            int k = m / 27, l = m / 9 % 3, a = m / 3 % 3, c = m % 3;
            *entry(b, A, corner[k], a, corner[l], c) += steep * mo_get(w->normal[t], a) * mo_get(w->normal[t], c);
        }
    }
}
