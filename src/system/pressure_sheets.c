// Sheets in the pressure block.
#include "system/pressure_sheets.h"
#include "system/nodes.h"

// The solid of a triangle; -1: its motion is prescribed.
static inline int32_t solid_of(const mo_pressure_def *d, int32_t triangle)
{
    return d->sheet_solid ? d->sheet_solid[triangle] : -1;
}

// The first unknown of a vertex of cloth; -1: it is none.
static inline int32_t node_of(const mo_pressure_def *d, int32_t vertex)
{
    return d->sheet_node ? d->sheet_node[vertex] : -1;
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
        if (solid_of(d, wall[k].triangle) >= 0 || node_of(d, wall[k].vertex[0]) >= 0) continue;
        for (int v = 0; v < 3; v++)
            for (int a = 0; a < 3; a++) swept += wall[k].vector[a] * wall[k].weight[v] * d->sheet[wall[k].vertex[v]][a];
    }
    return swept / d->dx;
}

static void couple_cloth(const mo_pressure_def *d, const mo_site_wall *wall, mo_solid_row *out)
{
    for (int v = 0; v < 3; v++)
        for (int a = 0; a < 3; a++) {
            mo_column column = {MO_NODES, node_of(d, wall->vertex[v]) + a, wall->vector[a] * wall->weight[v]};
            mo_solid_row_merge(out, 1, &column, -1 / d->dx);
        }
}

void mo_sheets_couple(const mo_pressure_def *d, int32_t row, mo_solid_row *out)
{
    const mo_site_wall *wall;
    bool any = d->sheet_solid || d->sheet_node;
    for (int k = 0, count = any ? mo_site_walls(d->grid, row, &wall) : 0; k < count; k++) {
        int32_t solid = solid_of(d, wall[k].triangle);
        if (node_of(d, wall[k].vertex[0]) >= 0) couple_cloth(d, &wall[k], out);
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

// ---- Cloth ----

// Adds the liquid between the centre of a row's cell and a wall of cloth to the wall's vertices.
static void add_wall(const mo_pressure_def *d, const mo_site_wall *wall, mo_vec3 centre, double *mass)
{
    mo_vec3 way = mo_mul(1 / d->dx, mo_sub(place_of(d, wall), centre));
    for (int v = 0; v < 3; v++)
        for (int a = 0; a < 3; a++)
            mass[node_of(d, wall->vertex[v]) + a] += d->density * wall->vector[a] * mo_get(way, a) * wall->weight[v];
}

static void add_row(const mo_pressure_def *d, int32_t row, double *mass)
{
    const mo_site_wall *wall;
    int count = mo_site_walls(d->grid, row, &wall);
    int32_t c[3];
    if (count == 0) return;
    mo_grid_cell(d->grid, mo_site_cell(d->grid, row), c);
    mo_vec3 centre = mo_grid_world(d->grid, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
    for (int k = 0; k < count; k++)
        if (node_of(d, wall[k].vertex[0]) >= 0) add_wall(d, &wall[k], centre, mass);
}

mo_status mo_cloth_attach(const mo_pressure_def *d, mo_liquid_system *l, mo_error *err)
{
    mo_group *nodes = &l->system.nodes;
    if (!d->sheet_node || !nodes->count) return MO_OK;
    double *mass = mo_calloc(sizeof(double) * (size_t)nodes->count);
    if (!mass) return mo_fail_memory(err);
    for (int32_t r = 0; r < l->system.block[MO_BLOCK_PRESSURE]->rows; r++) add_row(d, l->cell_at[r], mass);
    for (int32_t i = 0; i < nodes->count; i++) {
        double weight = d->dt * mo_get(d->gravity, i % 3) * mass[i];
        if (mass[i] != 0) mo_nodes_attach(nodes, i, mass[i] > 0 ? mass[i] : 0, mass[i] > 0 ? 0 : weight);
    }
    mo_free(mass);
    return MO_OK;
}
