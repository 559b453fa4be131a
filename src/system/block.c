// Blocks and systems: destruction, the residual B u - c.
#include "system/form.h"
#include <string.h>

enum { SMALL = 4096 };

void mo_block_destroy(mo_block *b)
{
    if (!b) return;
    for (int32_t g = 0; g < MO_GROUPS; g++) mo_csr_destroy(&b->on[g]);
    mo_csr_destroy(&b->compliance);
    mo_free(b->rhs), mo_free(b->x), mo_free(b->coord), mo_free(b->lower), mo_free(b->upper);
    mo_free(b->softness), mo_free(b->turned);
    mo_free(b);
}

static void lattice_destroy(mo_face_lattice *l)
{
    if (!l) return;
    mo_free(l->face), mo_free(l->open), mo_free(l->slender), mo_free(l->aside), mo_free(l->strain), mo_free(l->trace);
    for (int32_t g = 0; g < MO_GROUPS; g++) mo_csr_destroy(&l->on[g]);
    mo_free(l);
}

void mo_system_destroy(mo_system *s)
{
    mo_forms_forget(s);
    lattice_destroy(s->lattice);
    for (int32_t g = 0; g < MO_GROUPS; g++) mo_group_destroy(&s->group[g]);
    mo_free(s->friction), mo_free(s->tangent), mo_free(s->bounce), mo_free(s->slip_host), mo_free(s->slip_through);
    for (int32_t k = 0; k < MO_BLOCK_KINDS; k++) mo_block_destroy(s->block[k]);
    *s = (mo_system){0};
}

bool mo_set_has(const mo_system *s, uint32_t set, int32_t kind)
{
    return set >> kind & 1 && s->block[kind] && s->block[kind]->rows > 0;
}

double *mo_system_forces(const mo_system *s)
{
    int32_t most = 0;
    for (int32_t g = 0; g < MO_GROUPS; g++) most = s->group[g].count > most ? s->group[g].count : most;
    return mo_alloc(sizeof(double) * (size_t)most);
}

double mo_block_softness(const mo_block *b, int32_t row)
{
    MO_ASSERT(row >= 0 && row < b->rows);
    return b->softness ? b->softness[row] : mo_contact_softness;
}

void mo_block_multiply(const mo_block *b, const double *const v[MO_GROUPS], double *r)
{
    if (b->on[MO_FACES].rows) // most rows are of liquid
        mo_csr_multiply(&b->on[MO_FACES], v[MO_FACES], r);
    else
        memset(r, 0, sizeof(double) * (size_t)b->rows);
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++)
        if (b->on[g].rows) mo_csr_multiply_add(&b->on[g], 1, v[g], r);
}

void mo_block_add_force(const mo_block *b, int32_t group, double *force)
{
    const mo_csr *B = &b->on[group];
    for (int32_t i = 0; i < B->rows; i++)
        for (int64_t k = B->row[i]; k < B->row[i + 1]; k++) force[B->col[k]] -= B->val[k] * b->x[i];
}

double mo_block_goal(const mo_block *b, int32_t row)
{
    MO_ASSERT(row >= 0 && row < b->rows);
    return (b->rhs ? b->rhs[row] : 0) + (b->turned ? b->turned[row] : 0);
}

void mo_block_residual(const mo_system *s, const mo_block *b, double *r)
{
    const double *v[MO_GROUPS];
    for (int32_t g = 0; g < MO_GROUPS; g++) v[g] = s->group[g].velocity;
    mo_block_multiply(b, v, r);
    if (!b->rhs && !b->turned) return;
#pragma omp parallel for schedule(static) if (b->rows > SMALL)
    for (int32_t i = 0; i < b->rows; i++) r[i] -= mo_block_goal(b, i);
}
