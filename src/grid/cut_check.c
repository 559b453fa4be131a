// Finds where sheets meet each other although they should not.
#include "grid/cut.h"
#include "grid/cut_finder.h"

static bool crosses(const mo_cut_finder *f, int32_t cell)
{
    for (int64_t i = f->first[cell]; i < f->first[cell + 1]; i++)
        for (int64_t j = f->first[cell]; j < i; j++) {
            int32_t a = f->facing[i].triangle, b = f->facing[j].triangle; // strips are not sheets
            if (a < f->mesh.real && b < f->mesh.real && mo_cut_tangled(&f->mesh, a, b)) return true;
        }
    return false;
}

int32_t mo_cut_crossings(const mo_grid *g, int32_t *first)
{
    int32_t count = 0;
    if (!g->sites || !g->sites->finder) return 0;
    const mo_cut_finder *f = g->sites->finder;
    for (int32_t c = 0; c < f->cells; c++)
        if (crosses(f, c) && count++ == 0) *first = f->cell[c];
    return count;
}
