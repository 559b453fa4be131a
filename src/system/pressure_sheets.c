// Sheets in the pressure block.
#include "system/pressure_sheets.h"

// The solid of a triangle; -1: its motion is prescribed.
static inline int32_t solid_of(const mo_pressure_def *d, int32_t triangle)
{
    return d->sheet_solid ? d->sheet_solid[triangle] : -1;
}

// Where the mean of a linear field over a wall is taken, m.
static mo_vec3 place_of(const mo_pressure_def *d, const mo_site_wall *wall)
{
    mo_vec3 x = {0, 0, 0};
    for (int v = 0; v < 3; v++) {
        const double *p = d->sheet_at[wall->vertex[v]];
        x = mo_mad(x, wall->weight[v], mo_v3(p[0], p[1], p[2]));
    }
    return x;
}

double mo_sheets_sweep(const mo_pressure_def *d, int32_t row)
{
    const mo_site_wall *wall;
    double swept = 0;
    for (int k = 0, count = d->sheet ? mo_site_walls(d->grid, row, &wall) : 0; k < count; k++) {
        if (solid_of(d, wall[k].triangle) >= 0) continue;
        for (int v = 0; v < 3; v++)
            for (int a = 0; a < 3; a++) swept += wall[k].vector[a] * wall[k].weight[v] * d->sheet[wall[k].vertex[v]][a];
    }
    return swept / d->dx;
}

void mo_sheets_couple(const mo_pressure_def *d, int32_t row, mo_solid_row *out)
{
    const mo_site_wall *wall;
    for (int k = 0, count = d->sheet_solid ? mo_site_walls(d->grid, row, &wall) : 0; k < count; k++) {
        int32_t solid = solid_of(d, wall[k].triangle);
        if (solid < 0) continue;
        mo_vec3 vector = {wall[k].vector[0], wall[k].vector[1], wall[k].vector[2]};
        mo_solid_row_add(out, d->solids, solid, place_of(d, &wall[k]), vector, -1 / d->dx);
    }
}

void mo_sheets_attach(const mo_pressure_def *d, mo_liquid_system *l)
{
    const mo_grid *g = d->grid;
    if (!d->sheet_solid) return;
    for (int32_t r = 0; r < l->system.block[MO_BLOCK_PRESSURE]->rows; r++) {
        const mo_site_wall *wall;
        int32_t row = l->cell_at[r], c[3];
        int count = mo_site_walls(g, row, &wall);
        if (count == 0) continue;
        mo_grid_cell(g, mo_site_cell(g, row), c);
        mo_vec3 centre = mo_grid_world(g, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
        for (int k = 0; k < count; k++) {
            int32_t solid = solid_of(d, wall[k].triangle);
            if (solid < 0) continue;
            mo_vec3 x = place_of(d, &wall[k]), way = mo_mul(1 / d->dx, mo_sub(x, centre));
            for (int a = 0; a < mo_grid_axes(g); a++)
                mo_attach_face(&l->system, l->attached, d->solids, solid,
                               d->density * wall[k].vector[a] * mo_get(way, a), a, x, NULL);
        }
    }
}
