// Rows of slip. See pressure_slip.h.
#include "system/pressure_slip.h"
#include "grid/ghosts.h"
#include <string.h>

// The velocity of the sheet along the normal of a side, m/s.
static double sheet_velocity(const mo_pressure_def *d, const mo_ghosts *s, int32_t side)
{
    double sum = 0;
    for (int32_t k = s->first_wall[side]; d->sheet && k < s->first_wall[side + 1]; k++)
        for (int v = 0; v < 3; v++)
            for (int a = 0; a < 3; a++)
                sum += s->wall[k].vector[a] * s->wall[k].weight[v] * d->sheet[s->wall[k].vertex[v]][a];
    return sum;
}

// Writes a row: its entries ascend. Returns their number.
static int fill_row(const mo_pressure_def *d, int32_t *const face[3], const mo_ghost_side *s, int32_t *col, double *val,
                    double *goal)
{
    mo_ghost_term term[MO_GHOST_TERMS];
    int entries = 0;
    for (int k = 0, n = mo_ghost_terms(d->grid, s, s->normal, term); k < n; k++) {
        int32_t c = face[term[k].axis][term[k].sample];
        double weight = term[k].weight / d->dx;
        if (c < 0) {
            *goal -= d->flux ? weight * d->flux[term[k].axis][term[k].sample] : 0;
            continue;
        }
        int p = entries++;
        for (; p > 0 && col[p - 1] > c; p--) col[p] = col[p - 1], val[p] = val[p - 1];
        col[p] = c, val[p] = weight;
    }
    return entries;
}

static mo_status allocate(int32_t rows, int32_t faces, mo_liquid_system *out)
{
    mo_system *y = &out->system;
    size_t n = (size_t)rows + 1;
    mo_block *b = y->block[MO_BLOCK_SLIP] = mo_calloc(sizeof *b);
    if (!b) return MO_ERROR_MEMORY;
    b->rows = rows, b->rhs = mo_calloc(sizeof(double) * n), b->x = mo_calloc(sizeof(double) * n);
    b->coord = mo_alloc(sizeof *b->coord * n);
    y->slip_host = mo_alloc(sizeof(int32_t) * n), y->slip_through = mo_alloc(sizeof(double) * n);
    out->slip_at = mo_alloc(sizeof(int32_t) * n);
    if (!b->rhs || !b->x || !b->coord || !y->slip_host || !y->slip_through || !out->slip_at) return MO_ERROR_MEMORY;
    return mo_csr_create(rows, faces, (int64_t)MO_GHOST_TERMS * rows, &b->on[MO_FACES]);
}

mo_status mo_pressure_add_slip(const mo_pressure_def *d, const int32_t *row, int32_t *const face[3],
                               mo_liquid_system *out, mo_error *err)
{
    const mo_ghosts *s = mo_ghosts_of(d->grid);
    int32_t rows = 0;
    for (int32_t k = 0; s && k < s->sides; k++)
        rows += row[s->side[k].cell] >= 0 && face[s->side[k].axis][s->side[k].own] >= 0;
    if (!rows) return MO_OK;
    if (allocate(rows, out->system.faces.count, out) != MO_OK) return mo_fail_memory(err);
    mo_block *b = out->system.block[MO_BLOCK_SLIP];
    mo_csr *C = &b->on[MO_FACES];
    int32_t r = 0;
    for (int32_t k = 0; k < s->sides; k++) {
        const mo_ghost_side *q = &s->side[k];
        if (row[q->cell] < 0 || face[q->axis][q->own] < 0) continue;
        b->rhs[r] = sheet_velocity(d, s, k) / d->dx;
        C->row[r + 1] = C->row[r] + fill_row(d, face, q, C->col + C->row[r], C->val + C->row[r], &b->rhs[r]);
        mo_grid_cell(d->grid, q->cell, b->coord[r]);
        out->system.slip_host[r] = row[q->cell];
        out->system.slip_through[r] = (q->side ? -1 : 1) * q->normal[q->axis]; // rows are negative divergences
        out->slip_at[r++] = k;
    }
    return MO_OK;
}

void mo_slip_sheet_forces(const mo_pressure_def *d, const mo_liquid_system *l, double (*force)[3])
{
    const mo_block *b = l->system.block[MO_BLOCK_SLIP];
    const mo_ghosts *s = mo_ghosts_of(d->grid);
    for (int32_t r = 0; b && r < b->rows; r++) {
        int32_t k = l->slip_at[r];
        for (int32_t i = s->first_wall[k]; i < s->first_wall[k + 1]; i++)
            for (int v = 0; v < 3; v++)
                for (int a = 0; a < 3; a++)
                    force[s->wall[i].vertex[v]][a] +=
                        d->dx * d->dx * b->x[r] * s->wall[i].vector[a] * s->wall[i].weight[v];
    }
}
