// Tiles: request, activation, neighbours, blocks with halo.
#include "grid/sites.h"
#include <string.h>

static int64_t table_size(const mo_grid *g) { return (int64_t)g->tn[0] * g->tn[1] * g->tn[2]; }

mo_status mo_grid_create(const int32_t cells[3], double dx, mo_grid **out, mo_error *err)
{
    MO_ASSERT(dx > 0 && cells[0] > 0 && cells[1] > 0 && cells[2] > 0);
    double lattice = 1;
    for (int a = 0; a < 3; a++) lattice *= cells[a] + 2.0 * MO_MARGIN + MO_TILE;
    if (lattice > INT32_MAX) return mo_fail(err, MO_ERROR_INPUT, "the domain has more than 2^31 cells");
    mo_grid *g = mo_calloc(sizeof *g);
    if (!g) return mo_fail_memory(err);
    g->dx = dx;
    g->origin = mo_v3(-MO_MARGIN * dx, -MO_MARGIN * dx, -MO_MARGIN * dx);
    for (int a = 0; a < 3; a++) {
        g->n[a] = cells[a] + 2 * MO_MARGIN;
        g->tn[a] = (g->n[a] + MO_TILE - 1) / MO_TILE;
    }
    g->table = mo_alloc(sizeof(int32_t) * (size_t)table_size(g));
    g->wanted = mo_calloc((size_t)table_size(g));
    if (!g->table || !g->wanted) {
        mo_grid_destroy(g);
        return mo_fail_memory(err);
    }
    memset(g->table, 0xff, sizeof(int32_t) * (size_t)table_size(g));
    *out = g;
    return MO_OK;
}

void mo_grid_destroy(mo_grid *g)
{
    if (!g) return;
    mo_sites_destroy(g);
    mo_free(g->table);
    mo_free(g->wanted);
    mo_free(g->coord);
    mo_free(g->neighbour);
    mo_free(g);
}

void mo_grid_want(mo_grid *g, const int32_t lo[3], const int32_t hi[3])
{
    int32_t a[3], b[3];
    for (int d = 0; d < 3; d++) {
        a[d] = lo[d] < 0 ? 0 : lo[d] >> 3;
        b[d] = hi[d] >= g->n[d] ? g->tn[d] - 1 : hi[d] >> 3;
    }
    for (int32_t z = a[2]; z <= b[2]; z++)
        for (int32_t y = a[1]; y <= b[1]; y++)
            for (int32_t x = a[0]; x <= b[0]; x++) g->wanted[x + g->tn[0] * (y + (int64_t)g->tn[1] * z)] = 1;
}

// The 27 tiles around each active tile.
static void find_neighbours(mo_grid *g)
{
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < g->tiles; t++)
        for (int32_t o = 0; o < 27; o++) {
            int32_t x = g->coord[t][0] + o % 3 - 1, y = g->coord[t][1] + o / 3 % 3 - 1, z = g->coord[t][2] + o / 9 - 1;
            bool inside = x >= 0 && y >= 0 && z >= 0 && x < g->tn[0] && y < g->tn[1] && z < g->tn[2];
            g->neighbour[t][o] = inside ? g->table[x + g->tn[0] * (y + g->tn[1] * z)] : -1;
        }
}

static bool are_active(const mo_grid *g, const uint8_t *wanted)
{
    for (int64_t i = 0; i < table_size(g); i++)
        if ((g->table[i] >= 0) != (wanted[i] != 0)) return false;
    return true;
}

mo_status mo_grid_activate(mo_grid *g, mo_error *err)
{
    int64_t size = table_size(g), count = 0;
    if (g->sites && are_active(g, g->wanted)) {
        memset(g->wanted, 0, (size_t)size);
        return MO_OK;
    }
    mo_sites_destroy(g); // they refer to tiles by number
    for (int64_t i = 0; i < size; i++) count += g->wanted[i];
    if (count > INT32_MAX / MO_TILE_CELLS) return mo_fail(err, MO_ERROR_INPUT, "too many cells: use a coarser grid");
    if (count > g->capacity) {
        int64_t capacity = count + count / 4;
        mo_free(g->coord);
        mo_free(g->neighbour);
        g->coord = mo_alloc(sizeof *g->coord * (size_t)capacity);
        g->neighbour = mo_alloc(sizeof *g->neighbour * (size_t)capacity);
        g->capacity = g->coord && g->neighbour ? capacity : 0;
        if (!g->capacity) return mo_fail_memory(err);
    }
    g->tiles = 0;
    for (int64_t i = 0; i < size; i++) {
        g->table[i] = g->wanted[i] ? g->tiles : -1;
        if (!g->wanted[i]) continue;
        int32_t *c = g->coord[g->tiles++];
        c[0] = (int32_t)(i % g->tn[0]), c[1] = (int32_t)(i / g->tn[0] % g->tn[1]),
        c[2] = (int32_t)(i / g->tn[0] / g->tn[1]);
    }
    memset(g->wanted, 0, (size_t)size);
    find_neighbours(g);
    return MO_OK;
}

// Along one axis a block of 8 + 2 halo cells is three runs: the last `halo` cells of the low neighbour, the 8 cells of
// the tile, the first `halo` of the high one. DEFINE_BLOCK copies rows of three runs for one element type; copies of a
// known length are a few instructions, so each halo has its own.
#define DEFINE_BLOCK(name, type)                                                                                       \
    static inline void name##_run(const type *from, int32_t at, int32_t count, type outside, type *to)                 \
    {                                                                                                                  \
        if (from)                                                                                                      \
            memcpy(to, from + at, (size_t)count * sizeof(type));                                                       \
        else                                                                                                           \
            for (int32_t i = 0; i < count; i++) to[i] = outside;                                                       \
    }                                                                                                                  \
    static inline void name##_rows(const mo_grid *g, const type *field, int32_t tile, int32_t halo, type outside,      \
                                   type *block)                                                                        \
    {                                                                                                                  \
        const int32_t first[3] = {MO_TILE - halo, 0, 0}, count[3] = {halo, MO_TILE, halo};                             \
        for (int32_t z = 0; z < 3; z++)                                                                                \
            for (int32_t k = 0; k < count[z]; k++)                                                                     \
                for (int32_t y = 0; y < 3; y++) {                                                                      \
                    const int32_t *t = g->neighbour[tile] + 3 * y + 9 * z;                                             \
                    const type *from[3];                                                                               \
                    for (int x = 0; x < 3; x++) from[x] = t[x] < 0 ? NULL : field + (int64_t)t[x] * MO_TILE_CELLS;     \
                    for (int32_t j = 0; j < count[y]; j++) {                                                           \
                        int32_t at = 8 * (first[y] + j + 8 * (first[z] + k));                                          \
                        name##_run(from[0], at + MO_TILE - halo, halo, outside, block);                                \
                        name##_run(from[1], at, MO_TILE, outside, block + halo);                                       \
                        name##_run(from[2], at, halo, outside, block + halo + MO_TILE);                                \
                        block += MO_TILE + 2 * halo;                                                                   \
                    }                                                                                                  \
                }                                                                                                      \
    }                                                                                                                  \
    void name(const mo_grid *g, const type *field, int32_t tile, int32_t halo, type outside, type *block)              \
    {                                                                                                                  \
        MO_ASSERT(tile >= 0 && tile < g->tiles && halo >= 1 && halo <= MO_TILE);                                       \
        if (halo == 1)                                                                                                 \
            name##_rows(g, field, tile, 1, outside, block);                                                            \
        else if (halo == 2)                                                                                            \
            name##_rows(g, field, tile, 2, outside, block);                                                            \
        else if (halo == 3)                                                                                            \
            name##_rows(g, field, tile, 3, outside, block);                                                            \
        else if (halo == 4)                                                                                            \
            name##_rows(g, field, tile, 4, outside, block);                                                            \
        else                                                                                                           \
            name##_rows(g, field, tile, halo, outside, block);                                                         \
    }

DEFINE_BLOCK(mo_grid_block, float)
DEFINE_BLOCK(mo_grid_block_u8, uint8_t)
