// The unknowns of all solids.
#include "system/solids.h"
#include <string.h>

int32_t mo_solids_count(const mo_system *s)
{
    int32_t count = 0;
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++) count += s->group[g].count;
    return count;
}

void mo_solids_get(const mo_system *s, double *v)
{
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; v += s->group[g++].count)
        if (s->group[g].count) memcpy(v, s->group[g].velocity, sizeof(double) * (size_t)s->group[g].count);
}

void mo_solids_set(mo_system *s, const double *v)
{
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; v += s->group[g++].count)
        if (s->group[g].count) memcpy(s->group[g].velocity, v, sizeof(double) * (size_t)s->group[g].count);
}

void mo_solids_apply_inverse(const mo_system *s, double a, const double *f, double *v)
{
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; f += s->group[g].count, v += s->group[g++].count)
        mo_group_apply_inverse(&s->group[g], a, f, v);
}

double mo_solids_yield(const mo_system *s, const mo_block *b, int32_t row)
{
    MO_ASSERT(row >= 0 && row < b->rows);
    double sum = 0;
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++) sum += mo_group_yield(&s->group[g], &b->on[g], row);
    return sum;
}

void mo_solids_units(const mo_system *s, double *unit)
{
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; unit += s->group[g++].count) {
        const mo_group *group = &s->group[g];
        for (int32_t i = 0; i < group->count; i++) unit[i] = 1;
        if (group->count && group->kind->units) group->kind->units(group, unit);
    }
}

// Appends row i of B, whose columns begin at `first`.
static void append(const mo_csr *B, int32_t i, int32_t first, mo_csr *out, int64_t *at)
{
    for (int64_t k = mo_csr_begin(B, i); k < mo_csr_end(B, i); k++)
        out->col[*at] = first + B->col[k], out->val[(*at)++] = B->val[k];
}

mo_status mo_solids_rows(const mo_system *s, int32_t n, mo_block *const *b, mo_csr *out)
{
    int32_t rows = 0;
    int64_t entries = 0, at = 0;
    for (int32_t k = 0; k < n; k++) {
        rows += b[k] ? b[k]->rows : 0;
        for (int32_t g = MO_SOLIDS; b[k] && g < MO_GROUPS; g++) entries += mo_csr_entries(&b[k]->on[g]);
    }
    MO_TRY(mo_csr_create(rows, mo_solids_count(s), entries, out));
    for (int32_t k = 0, row = 0; k < n; k++)
        for (int32_t i = 0; b[k] && i < b[k]->rows; i++) {
            for (int32_t g = MO_SOLIDS, first = 0; g < MO_GROUPS; first += s->group[g++].count)
                append(&b[k]->on[g], i, first, out, &at);
            out->row[++row] = at;
        }
    return MO_OK;
}

mo_status mo_solids_inertia(const mo_system *s, mo_csr *out)
{
    int64_t entries = 0, at = 0;
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++)
        for (int32_t i = 0; i < s->group[g].count; i++) entries += s->group[g].kind->row(&s->group[g], i, NULL, NULL);
    MO_TRY(mo_csr_create(mo_solids_count(s), mo_solids_count(s), entries, out));
    for (int32_t g = MO_SOLIDS, row = 0; g < MO_GROUPS; g++) {
        int32_t first = row;
        for (int32_t i = 0; i < s->group[g].count; i++) {
            int32_t n = s->group[g].kind->row(&s->group[g], i, out->col + at, out->val + at);
            for (int32_t k = 0; k < n; k++, at++) out->col[at] += first, out->val[at] /= s->dt;
            out->row[++row] = at;
        }
    }
    return MO_OK;
}
