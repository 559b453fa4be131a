// Neighbours of the cells of one kind.
#include "grid/tile_bits.h"
#include "grid/reach.h"

bool mo_lattice_ends(const mo_grid *g, int site, int32_t i, int axis, int side)
{
    int32_t cell = i < mo_grid_cells(g)  ? i
                   : site == MO_SITE_ROW ? mo_site_cell(g, i)
                                         : mo_sites_sample(g, site, i).cell;
    return mo_grid_step(g, cell, axis, side) < 0;
}

bool mo_tile_bits_beside(const mo_grid *g, const uint8_t *scratch, int site, int32_t i, int kind, bool missing)
{
    int axes = mo_grid_axes(g);
    for (int a = 0; a < axes; a++)
        for (int side = -1; side <= 1; side += 2) {
            int32_t n = mo_site_step(g, site, i, a, side);
            if (n >= 0 ? mo_tile_flag(g, scratch, n, kind) : missing && mo_lattice_ends(g, site, i, a, side))
                return true;
        }
    return false;
}

// The neighbours in the lattice.
static mo_tile_bits grow_plain(const mo_grid *g, const uint8_t *scratch, int32_t tile, int kind, bool missing)
{
    const uint64_t first = 0x0101010101010101u, last = first << 7; // columns x = 0 and x = 7
    mo_tile_bits s = mo_tile_bits_get(scratch, tile, kind), d, n[6];
    static const int side[6] = {12, 14, 10, 16, 4, 22}; // x-, x+, y-, y+, z-, z+
    for (int i = 0; i < 6; i++) {
        int32_t t = g->neighbour[tile][side[i]];
        if (t >= 0)
            n[i] = mo_tile_bits_get(scratch, t, kind);
        else
            memset(&n[i], missing ? 0xff : 0, sizeof n[i]);
    }
    for (int z = 0; z < MO_TILE; z++) {
        uint64_t p = s.plane[z];
        d.plane[z] = (p << 1 & ~first) | (p >> 1 & ~last) | p << 8 | p >> 8;
        d.plane[z] |= (n[0].plane[z] >> 7 & first) | (n[1].plane[z] << 7 & last);
        d.plane[z] |= n[2].plane[z] >> 56 | n[3].plane[z] << 56;
        d.plane[z] |= z > 0 ? s.plane[z - 1] : n[4].plane[7];
        d.plane[z] |= z < 7 ? s.plane[z + 1] : n[5].plane[0];
    }
    return d;
}

// Where sheets are near, sites give the neighbours.
mo_tile_bits mo_tile_bits_grow(const mo_grid *g, const uint8_t *scratch, int site, int32_t tile, int kind, bool missing)
{
    mo_tile_bits d = grow_plain(g, scratch, tile, kind, missing);
    int32_t first = tile * MO_TILE_CELLS;
    if (!mo_site_is_cut(g, first)) return d;
    for (int z = mo_first_plane(g); z < mo_end_plane(g); z++)
        for (int i = 0; i < 64; i++) {
            int32_t at = first + 64 * z + i;
            if (mo_reach_of(g) && !mo_reach_near(g, at, 1)) continue;
            uint64_t beside = mo_tile_bits_beside(g, scratch, site, at, kind, missing), bit = (uint64_t)1 << i;
            d.plane[z] = beside ? d.plane[z] | bit : d.plane[z] & ~bit;
        }
    return d;
}
