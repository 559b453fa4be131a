// Faces that lie aside, in the form `viscous`: pieces of faces that sheets have cut off, and gaps. The lattice has one
// place for each face, so multigrid on faces takes them as nodes beside it: they are solved directly, together with the
// faces that they couple to, and coarse faces interpolate to them.
#include "system/viscous_solver.h"
#include <string.h>

// The order of unknowns in which they come last: faces at their places, carried unknowns, faces aside.
static mo_status find_order(const mo_viscous_form *f, mo_viscous_aside *a)
{
    const uint8_t *aside = f->system->lattice->aside;
    int32_t at = 0;
    a->order = mo_alloc(sizeof(int32_t) * (size_t)f->n), a->work = mo_alloc(sizeof(double) * 2 * (size_t)f->n);
    if (!a->order || !a->work) return MO_ERROR_MEMORY;
    for (int32_t i = 0; i < f->faces; i++)
        if (!aside[i]) a->order[at++] = i;
    a->faces = at;
    for (int32_t i = f->faces; i < f->n; i++) a->order[at++] = i;
    for (int32_t i = 0; i < f->faces; i++)
        if (aside[i]) a->order[at++] = i;
    a->count = f->n - a->faces - f->extra;
    return MO_OK;
}

typedef struct permuting {
    const mo_csr *K;
    const int32_t *order, *place;
} permuting;

static int32_t permute_row(void *user, int32_t row, int32_t thread, int32_t *col, double *val)
{
    const permuting *p = user;
    int32_t n = 0;
    (void)thread;
    for (int64_t k = p->K->row[p->order[row]]; k < p->K->row[p->order[row] + 1]; k++) {
        int32_t c = p->place[p->K->col[k]], q = n++;
        for (; q > 0 && col[q - 1] > c; q--) col[q] = col[q - 1], val[q] = val[q - 1];
        col[q] = c, val[q] = p->K->val[k];
    }
    return n;
}

static mo_status permuted(const mo_viscous_form *f, const int32_t *order, mo_csr *out)
{
    int32_t *place = mo_alloc(sizeof(int32_t) * (size_t)f->n);
    if (!place) return MO_ERROR_MEMORY;
    for (int32_t i = 0; i < f->n; i++) place[order[i]] = i;
    permuting p = {&f->K, order, place};
    mo_status status = mo_csr_collect(f->n, f->n, mo_csr_widest(&f->K), permute_row, &p, out);
    mo_free(place);
    return status;
}

typedef struct lists { // of what multigrid asks about faces, in the new order
    int32_t (*face)[4];
    uint8_t *slender, *dangling, *axis;
    double *mass, (*at)[3];
} lists;

static mo_status fill_lists(const mo_viscous_form *f, const mo_viscous_aside *a, const uint8_t *dangling, lists *l)
{
    const mo_face_lattice *from = f->system->lattice;
    size_t faces = (size_t)a->faces, count = (size_t)a->count;
    *l = (lists){.face = mo_alloc(sizeof *l->face * faces),
                 .slender = mo_alloc(faces),
                 .dangling = mo_alloc(faces),
                 .axis = mo_alloc(count),
                 .mass = mo_alloc(sizeof(double) * faces),
                 .at = mo_alloc(sizeof *l->at * count)};
    if (!l->face || !l->slender || !l->dangling || !l->axis || !l->mass || !l->at) return MO_ERROR_MEMORY;
    for (int32_t i = 0; i < a->faces; i++) {
        int32_t k = a->order[i];
        memcpy(l->face[i], from->face[k], sizeof l->face[i]);
        l->slender[i] = from->slender[k], l->dangling[i] = dangling[k], l->mass[i] = f->mass[k];
    }
    for (int32_t i = 0; i < a->count; i++) {
        const int32_t *c = from->face[a->order[f->n - a->count + i]];
        l->axis[i] = (uint8_t)c[3];
        for (int k = 0; k < 3; k++) l->at[i][k] = c[k] + (k == c[3] ? 0 : 0.5);
    }
    return MO_OK;
}

static void lists_destroy(lists *l)
{
    mo_free(l->face), mo_free(l->slender), mo_free(l->dangling), mo_free(l->axis), mo_free(l->mass), mo_free(l->at);
}

mo_status mo_viscous_aside_multigrid(const mo_viscous_form *f, const uint8_t *dangling, mo_viscous_aside *a,
                                     mo_face_multigrid **out)
{
    mo_csr all = {0}, K = {0}, to = {0}, among = {0};
    lists l = {0};
    mo_status status = find_order(f, a);
    int32_t own = f->n - a->count;
    if (status == MO_OK) status = permuted(f, a->order, &all);
    if (status == MO_OK) status = fill_lists(f, a, dangling, &l);
    if (status == MO_OK) status = mo_csr_block(&all, 0, own, 0, own, &K);
    if (status == MO_OK) status = mo_csr_block(&all, own, a->count, 0, own, &to);
    if (status == MO_OK) status = mo_csr_block(&all, own, a->count, own, a->count, &among);
    mo_face_nodes_def nodes = {a->count, &to, &among, (const double(*)[3])l.at, l.axis, NULL};
    mo_face_multigrid_def def = {.K = &K,
                                 .faces = a->faces,
                                 .axes = f->system->lattice->axes,
                                 .face = (const int32_t(*)[4])l.face,
                                 .slender = l.slender,
                                 .dangling = l.dangling,
                                 .mass = l.mass,
                                 .nodes = &nodes};
    if (status == MO_OK) status = mo_face_multigrid_create(&def, out);
    mo_csr_destroy(&all), mo_csr_destroy(&K), mo_csr_destroy(&to), mo_csr_destroy(&among);
    lists_destroy(&l);
    return status;
}

void mo_viscous_aside_apply(const mo_viscous_aside *a, int32_t n, mo_face_multigrid *mg, const double *r, double *z)
{
    double *in = a->work, *out = a->work + n;
    for (int32_t i = 0; i < n; i++) in[i] = r[a->order[i]];
    mo_face_multigrid_apply(mg, in, out);
    for (int32_t i = 0; i < n; i++) z[a->order[i]] = out[i];
}

void mo_viscous_aside_destroy(mo_viscous_aside *a)
{
    mo_free(a->order), mo_free(a->work);
    *a = (mo_viscous_aside){0};
}
