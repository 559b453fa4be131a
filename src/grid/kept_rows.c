// Values of rows in cut cells, kept while sites are made anew.
#include "grid/kept_rows.h"
#include "grid/cut_finder.h"
#include <stdlib.h>
#include <string.h>

static int64_t lattice_cell(const mo_grid *g, int32_t index)
{
    int32_t c[3];
    mo_grid_cell(g, index, c);
    return c[0] + g->n[0] * (c[1] + (int64_t)g->n[1] * c[2]);
}

static int by_cell(const void *a, const void *b)
{
    const mo_kept_row *x = a, *y = b;
    if (x->cell != y->cell) return x->cell < y->cell ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

typedef struct key { // by which a row of a cell is recognised
    int32_t row, key;
} key;

// The keys of cut cell c; returns how many.
static int32_t find_keys(const mo_grid *g, int32_t c, bool still, key *out)
{
    const mo_cut_finder *f = g->sites->finder;
    int32_t count = 0, cell = f->cell[c];
    if (still) {
        out[count++] = (key){cell, 0};
        for (int32_t r = f->second[c]; r < mo_grid_rows(g) && mo_site_cell(g, r) == cell; r++, count++)
            out[count] = (key){r, count};
        return count;
    }
    for (int64_t k = f->first[c]; k < f->first[c + 1]; k++) {
        const mo_cut_facing *t = &f->facing[k];
        const int16_t side[2] = {t->plus, t->minus};
        for (int s = 0; s < 2; s++)
            if (side[s] >= 0)
                out[count++] = (key){side[s] == 0 ? cell : f->second[c] + side[s] - 1, 2 * t->triangle + s};
    }
    return count;
}

enum { KEYS = 2 * MO_CUT_TRIANGLES + 256 };

mo_status mo_rows_keep(const mo_grid *g, bool still, const float *const field[MO_KEPT_FIELDS], mo_kept_rows *out,
                       mo_error *err)
{
    const mo_cut_finder *f = g->sites ? g->sites->finder : NULL;
    *out = (mo_kept_rows){.still = still};
    if (!f) return MO_OK;
    key keys[KEYS];
    int64_t total = 0;
    for (int32_t c = 0; c < f->cells; c++) total += find_keys(g, c, still, keys);
    out->row = mo_alloc(sizeof *out->row * (size_t)(total + 1));
    if (!out->row) return mo_fail_memory(err);
    for (int32_t c = 0; c < f->cells; c++)
        for (int32_t k = 0, count = find_keys(g, c, still, keys); k < count; k++) {
            mo_kept_row *r = &out->row[out->count++];
            *r = (mo_kept_row){.cell = lattice_cell(g, f->cell[c]), .key = keys[k].key};
            for (int i = 0; i < MO_KEPT_FIELDS; i++) r->value[i] = field[i][keys[k].row];
        }
    qsort(out->row, (size_t)out->count, sizeof *out->row, by_cell);
    return MO_OK;
}

void mo_kept_rows_destroy(mo_kept_rows *k)
{
    mo_free(k->row);
    *k = (mo_kept_rows){0};
}

// Forgets values in cells that were cut: the value of their first side belongs to another row now, or to none.
static void forget_cut(const mo_grid *g, const mo_kept_rows *k, uint8_t *known)
{
    for (int64_t i = 0; i < k->count; i++) {
        int64_t c = k->row[i].cell;
        int32_t index = mo_grid_index(g, (int32_t)(c % g->n[0]), (int32_t)(c / g->n[0] % g->n[1]),
                                      (int32_t)(c / g->n[0] / g->n[1]));
        if (index >= 0) known[index] = 0;
    }
}

void mo_rows_recall(const mo_grid *g, const mo_kept_rows *k, float *const field[MO_KEPT_FIELDS], uint8_t *known)
{
    const mo_cut_finder *f = g->sites ? g->sites->finder : NULL;
    key keys[KEYS];
    if (known) {
        memset(known, 1, (size_t)mo_grid_fields(g));
        if (!k->still) forget_cut(g, k, known);
        for (int32_t c = 0; f && !k->still && c < f->cells; c++) known[f->cell[c]] = 0;
        for (int32_t i = (int32_t)mo_grid_cells(g); i < mo_grid_rows(g); i++) known[i] = k->still;
    }
    for (int32_t c = 0; f && k->count && c < f->cells; c++)
        for (int32_t i = 0, count = find_keys(g, c, k->still, keys); i < count; i++) {
            mo_kept_row asked = {.cell = lattice_cell(g, f->cell[c]), .key = keys[i].key};
            const mo_kept_row *r = bsearch(&asked, k->row, (size_t)k->count, sizeof asked, by_cell);
            if (!r) continue;
            for (int n = 0; n < MO_KEPT_FIELDS; n++) field[n][keys[i].row] = r->value[n];
            if (known) known[keys[i].row] = 1;
        }
}
