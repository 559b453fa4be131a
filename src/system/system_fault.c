// Validator of a step's system: sizes of groups and blocks agree, masses and compliances are positive, bounds in order.
// Velocities and right-hand sides are not checked: a flow that has become infinite is an error of the step, which
// reports the place (sim/warnings.c).
#include "system/system.h"
#include <math.h>

static const char *group_fault(const mo_group *g, int32_t kind)
{
    if (!g->kind) return g->count == 0 ? NULL : "a group without a kind has unknowns";
    if (g->count < 0 || (g->count && !g->velocity)) return "a group has no velocities";
    if (kind == MO_BODIES && g->count % MO_BODY_UNKNOWNS) return "bodies do not have six unknowns each";
    for (int32_t i = 0; kind == MO_FACES && i < g->count; i++)
        if (!(g->mass[i] > 0 && isfinite(g->mass[i]))) return "a face has no mass";
    return NULL;
}

// Diagonal entries of the compliance must exist and must not be negative.
static const char *compliance_fault(const mo_block *b)
{
    const mo_csr *S = &b->compliance;
    if (!S->rows) return NULL;
    if (S->rows != b->rows || S->cols != b->rows) return "the compliance does not fit its block";
    for (int32_t i = 0; i < S->rows; i++)
        for (int64_t k = S->row[i]; k < S->row[i + 1]; k++)
            if (S->col[k] == i && !(S->val[k] >= 0)) return "a compliance is negative";
    return mo_csr_fault(S);
}

static const char *bounds_fault(const mo_block *b)
{
    for (int32_t i = 0; b->lower && b->upper && i < b->rows; i++)
        if (b->lower[i] > b->upper[i]) return "a lower bound is above the upper one";
    for (int32_t i = 0; b->softness && i < b->rows; i++)
        if (!(b->softness[i] >= 0)) return "a softness is negative";
    return NULL;
}

static const char *block_fault(const mo_system *s, const mo_block *b)
{
    if (b->rows < 0 || (b->rows && !b->x)) return "a block has no multiplier";
    for (int32_t g = 0; g < MO_GROUPS; g++) {
        const mo_csr *B = &b->on[g];
        if (!B->rows) continue;
        if (B->rows != b->rows || B->cols != s->group[g].count) return "rows of a block do not fit its group";
        const char *fault = mo_csr_fault(B);
        if (fault) return fault;
    }
    const char *fault = compliance_fault(b);
    return fault ? fault : bounds_fault(b);
}

static const char *friction_fault(const mo_system *s)
{
    const mo_block *contact = s->block[MO_BLOCK_CONTACT], *friction = s->block[MO_BLOCK_FRICTION];
    if (!friction) return NULL;
    if (!contact || friction->rows != 2 * contact->rows) return "friction does not have two rows for each contact";
    for (int32_t i = 0; i < contact->rows; i++)
        if (!(s->friction[i] >= 0)) return "a coefficient of friction is negative";
    return NULL;
}

const char *mo_system_fault(const mo_system *s)
{
    if (!(s->dt >= 0)) return "the time step is negative"; // 0: a velocity is infinite
    const char *fault = NULL;
    for (int32_t g = 0; g < MO_GROUPS && !fault; g++) fault = group_fault(&s->group[g], g);
    for (int32_t k = 0; k < MO_BLOCK_KINDS && !fault; k++)
        if (s->block[k]) fault = block_fault(s, s->block[k]);
    return fault ? fault : friction_fault(s);
}
