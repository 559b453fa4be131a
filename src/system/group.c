// Primal groups: what all have in common, and faces.
#include "system/group.h"
#include <string.h>

enum { SMALL = 4096 };

// ---- Any group ----

void mo_group_destroy(mo_group *g)
{
    if (g->kind && g->kind->destroy) g->kind->destroy(g);
    mo_free(g->velocity);
    *g = (mo_group){0};
}

void mo_group_apply(const mo_group *g, double s, const double *v, double *f)
{
    if (g->count) g->kind->apply(g, s, v, f);
}

void mo_group_apply_inverse(const mo_group *g, double s, const double *f, double *v)
{
    if (g->count) g->kind->apply_inverse(g, s, f, v);
}

void mo_group_push(mo_group *g, double dt, const mo_csr *B, const double *x, double *force)
{
    MO_ASSERT(!g->kind || B->rows == 0 || B->cols == g->count);
    if (!B->rows || !g->count) return;
    memset(force, 0, sizeof(double) * (size_t)g->count);
    mo_csr_push(B, 1, x, force);
    mo_group_apply_inverse(g, -dt, force, g->velocity);
}

double mo_group_yield(const mo_group *g, const mo_csr *B, int32_t row)
{
    return B->rows ? g->kind->yield(g, B, row) : 0;
}

double mo_group_energy(const mo_group *g, const double *v, double *scratch)
{
    double sum = 0;
    if (g->count) memset(scratch, 0, sizeof(double) * (size_t)g->count);
    mo_group_apply(g, 1, v, scratch);
    for (int32_t i = 0; i < g->count; i++) sum += 0.5 * v[i] * scratch[i];
    return sum;
}

mo_status mo_group_create(const mo_group_kind *kind, int32_t count, size_t bytes, void **own, mo_group *out)
{
    MO_ASSERT(kind && count >= 0);
    *out = (mo_group){.kind = kind, .count = count};
    out->velocity = mo_calloc(sizeof(double) * (size_t)count);
    *own = mo_calloc(bytes);
    return out->velocity && *own ? MO_OK : MO_ERROR_MEMORY;
}

// ---- Faces ----

static void faces_apply(const mo_group *g, double s, const double *v, double *f)
{
#pragma omp parallel for schedule(static) if (g->count > SMALL)
    for (int32_t i = 0; i < g->count; i++) f[i] += s * g->mass[i] * v[i];
}

static void faces_apply_inverse(const mo_group *g, double s, const double *f, double *v)
{
#pragma omp parallel for schedule(static) if (g->count > SMALL)
    for (int32_t i = 0; i < g->count; i++) v[i] += s / g->mass[i] * f[i];
}

static void faces_diagonal(const mo_group *g, double *d)
{
    if (g->count) memcpy(d, g->mass, sizeof(double) * (size_t)g->count);
}

mo_status mo_faces_square(const mo_group *g, double s, const mo_csr *B, const mo_csr *Bt, mo_csr *A)
{
    MO_ASSERT(Bt->rows == B->cols && Bt->cols == B->rows);
    double *weight = mo_alloc(sizeof(double) * (size_t)g->count);
    mo_csr square = {0}, *out = A->rows ? &square : A;
    if (!weight) return MO_ERROR_MEMORY;
#pragma omp parallel for schedule(static) if (g->count > SMALL)
    for (int32_t i = 0; i < g->count; i++) weight[i] = s / g->mass[i];
    mo_status status = mo_csr_weighted_square(B, Bt, weight, out);
    if (status == MO_OK && out != A) status = mo_csr_add(A, &square);
    mo_csr_destroy(&square);
    mo_free(weight);
    return status;
}

static void faces_destroy(mo_group *g) { mo_free(g->mass); }

static const mo_group_kind faces_kind = {.name = "faces",
                                         .apply = faces_apply,
                                         .apply_inverse = faces_apply_inverse,
                                         .diagonal = faces_diagonal,
                                         .destroy = faces_destroy};

mo_status mo_faces_create(int32_t faces, mo_group *out)
{
    MO_ASSERT(faces >= 0);
    return mo_group_create(&faces_kind, faces, sizeof(double) * (size_t)faces, (void **)&out->mass, out);
}
