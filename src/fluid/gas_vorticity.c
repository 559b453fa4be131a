// Vorticity confinement: an acceleration strength h N x w, w being the vorticity and N the direction in which its size
// grows. It gives small swirls back the strength that coarse grids take from them. It serves looks and is not physics:
// it adds energy.
#include "fluid/gas.h"
#include "grid/sites.h"
#include <math.h>

static int32_t beside(const mo_grid *g, int32_t i, int axis, int side)
{
    int32_t n = mo_grid_step(g, i, axis, side);
    return n < 0 ? i : n;
}

static float velocity_at(const mo_grid *g, float *const u[3], int32_t i, int axis)
{
    return 0.5f * (u[axis][i] + u[axis][beside(g, i, axis, 1)]);
}

// Twice the derivative along an axis, per cell.
static float change(const mo_grid *g, float *const u[3], int32_t i, int of, int along)
{
    return velocity_at(g, u, beside(g, i, along, 1), of) - velocity_at(g, u, beside(g, i, along, -1), of);
}

static void find_vorticity(const mo_grid *g, float *const u[3], float *const w[3], float *size)
{
#pragma omp parallel for schedule(static, 4096)
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
        float square = 0;
        for (int a = 0; a < 3; a++) {
            int b = (a + 1) % 3, c = (a + 2) % 3;
            w[a][i] = 0.5f * (change(g, u, i, c, b) - change(g, u, i, b, c));
            square += w[a][i] * w[a][i];
        }
        size[i] = sqrtf(square);
    }
}

void mo_gas_confine(const mo_grid *g, float *const u[3], float strength, float *const out[3], float *const work[4])
{
    float *const *w = work, *size = work[3];
    find_vorticity(g, u, w, size);
#pragma omp parallel for schedule(static, 4096)
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
        float n[3], length = 0;
        for (int a = 0; a < 3; a++) {
            n[a] = size[beside(g, i, a, 1)] - size[beside(g, i, a, -1)];
            length += n[a] * n[a];
        }
        // w is per cell here: h w / h. Where nothing swirls there is no direction.
        float scale = length > 1e-20f ? strength / sqrtf(length) : 0;
        for (int a = 0; a < 3; a++) {
            int b = (a + 1) % 3, c = (a + 2) % 3;
            out[a][i] = scale * (n[b] * w[c][i] - n[c] * w[b][i]);
        }
    }
}
