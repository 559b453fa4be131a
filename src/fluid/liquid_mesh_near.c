// The level set at places near sheets.
#include "fluid/liquid_mesh_near.h"
#include <math.h>

bool mo_liquid_near(const mo_grid *g, const float *phi, const double x[3], float most, float *value)
{
    int32_t c[3] = {(int32_t)floor(x[0]), (int32_t)floor(x[1]), (int32_t)floor(x[2])};
    int32_t cell = mo_grid_index(g, c[0], c[1], c[2]);
    if (cell < 0 || !mo_reach_near(g, cell, MO_REACH_AROUND)) return false;
    int32_t row = mo_site_find(g, x);
    const int32_t *around = row < 0 ? NULL : mo_reach_around(g, row);
    if (!around) return false;
    float block[MO_REACH_CELLS], w[3][4], sum = 0;
    int first[3]; // of the four cells, in the block
    mo_reach_values(phi, around, MO_REACH_AROUND, 1, block);
    for (int i = 0; i < MO_REACH_CELLS; i++) block[i] = mo_minf(mo_maxf(block[i], -most), most);
    for (int a = 0; a < 3; a++) {
        double from = floor(x[a] - 0.5);
        mo_cubic_weights((float)(x[a] - 0.5 - from), w[a]);
        first[a] = (int)from - 1 - c[a] + MO_REACH_AROUND;
    }
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 4; j++)
            for (int i = 0; i < 4; i++)
                sum += w[2][k] * w[1][j] * w[0][i] *
                       block[first[0] + i + MO_REACH_EDGE * (first[1] + j + MO_REACH_EDGE * (first[2] + k))];
    *value = sum;
    return true;
}
