// Tiles: activation, indices, neighbours, blocks.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "grid/grid.h"
#include <stdlib.h>

static void blocks_match_indices(void **state)
{
    (void)state;
    mo_grid *g;
    int32_t cells[3] = {29, 20, 13};
    assert_int_equal(mo_grid_create(cells, 0.1, &g, NULL), MO_OK);
    // A scattered set of tiles.
    srand(1);
    for (int32_t i = 0; i < 9; i++) {
        int32_t c[3] = {rand() % g->n[0], rand() % g->n[1], rand() % g->n[2]};
        mo_grid_want(g, c, c);
    }
    assert_int_equal(mo_grid_activate(g, NULL), MO_OK);
    float *f = malloc(sizeof(float) * (size_t)mo_grid_cells(g));
    for (int64_t i = 0; i < mo_grid_cells(g); i++) f[i] = (float)i;
    for (int32_t halo = 1; halo <= 8; halo++) {
        int32_t s = 8 + 2 * halo;
        float *block = malloc(sizeof(float) * (size_t)(s * s * s));
        for (int32_t t = 0; t < g->tiles; t++) {
            mo_grid_block(g, f, t, halo, -7, block);
            for (int32_t z = -halo; z < 8 + halo; z++)
                for (int32_t y = -halo; y < 8 + halo; y++)
                    for (int32_t x = -halo; x < 8 + halo; x++) {
                        int32_t i = 8 * g->coord[t][0] + x, j = 8 * g->coord[t][1] + y, k = 8 * g->coord[t][2] + z;
                        // Tiles reach past the lattice's end: only cells of the lattice have an index.
                        bool lattice = i >= 0 && j >= 0 && k >= 0 && i < g->n[0] && j < g->n[1] && k < g->n[2];
                        int32_t index = mo_grid_index(g, i, j, k);
                        float value = block[x + halo + s * (y + halo + s * (z + halo))];
                        if (lattice) assert_true(value == (index < 0 ? -7 : (float)index));
                    }
        }
        free(block);
    }
    free(f);
    mo_grid_destroy(g);
}

static void steps_match_indices(void **state)
{
    (void)state;
    mo_grid *g;
    int32_t cells[3] = {20, 20, 1};
    assert_int_equal(mo_grid_create(cells, 1, &g, NULL), MO_OK);
    assert_true(mo_grid_is_2d(g));
    int32_t lo[3] = {0, 0, 0}, hi[3] = {12, 30, 3};
    mo_grid_want(g, lo, hi);
    assert_int_equal(mo_grid_activate(g, NULL), MO_OK);
    assert_int_equal(g->tiles, 6);
    for (int32_t q = 0; q < mo_grid_cells(g); q++) {
        int32_t c[3];
        mo_grid_cell(g, q, c);
        for (int a = 0; a < 3; a++)
            for (int side = -1; side <= 1; side += 2) {
                int32_t d[3] = {c[0], c[1], c[2]};
                d[a] += side;
                int32_t index = mo_grid_index(g, d[0], d[1], d[2]);
                if (index >= 0) assert_int_equal(mo_grid_step(g, q, a, side), index);
            }
    }
    mo_grid_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_match_indices), cmocka_unit_test(steps_match_indices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
