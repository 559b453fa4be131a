// VTK's legacy format as text, an unstructured grid: points, cells (lists of their points, since version 5 as one list
// with offsets), and the cells' types.
#include "geometry/tets_text.h"
#include <string.h>

enum { VERTEX = 1, POLY_VERTEX = 2, LINE = 3, POLY_LINE = 4, TRIANGLE = 5, TETRAHEDRON = 10 };

typedef struct grid {
    int64_t *entry; // points of all cells
    int64_t entry_count, entry_capacity;
    int64_t *first; // [cell_count + 1] of each cell in entry[]
    int64_t cell_count, first_capacity;
    int32_t *line; // [cell_count]
    int64_t line_capacity;
    double version;
} grid;

static mo_status read_header(mo_text *t, grid *g, mo_error *err)
{
    static const char *const head[] = {"#", "vtk", "DataFile", "Version"};
    for (int i = 0; i < 4; i++) MO_TRY(mo_text_expect(t, head[i], err));
    MO_TRY(mo_text_number(t, "version", &g->version, err));
    mo_text_skip_line(t);
    if (t->at < t->end) t->at++, t->line++; // the title is a line of its own
    mo_text_skip_line(t);
    if (!mo_text_next(t) || !mo_text_is(t, "ASCII"))
        return mo_text_fail(t, err, "the file is not text: the third line must be ASCII");
    MO_TRY(mo_text_expect(t, "DATASET", err));
    return mo_text_expect(t, "UNSTRUCTURED_GRID", err);
}

static mo_status read_points(mo_text *t, mo_raw *raw, mo_error *err)
{
    int64_t count;
    MO_TRY(mo_text_integer(t, "number of points", 0, MO_RAW_MAX, &count, err));
    if (!mo_text_next(t)) return mo_text_fail(t, err, "the file ends where the type of points should be");
    for (int64_t i = 0; i < count; i++) MO_TRY(mo_raw_read_vertex(raw, t, 3, raw->vertex_count, err));
    return MO_OK;
}

static mo_status add_entry(grid *g, mo_text *t, mo_error *err)
{
    int64_t point;
    MO_TRY(mo_text_integer(t, "point of a cell", 0, INT64_MAX, &point, err));
    if (!mo_reserve((void **)&g->entry, &g->entry_capacity, g->entry_count + 1, sizeof *g->entry))
        return mo_fail_memory(err);
    g->entry[g->entry_count++] = point;
    return MO_OK;
}

// A cell begins at `first`; cells end where the next one begins.
static mo_status add_cell(grid *g, const mo_text *t, int64_t first, mo_error *err)
{
    if (!mo_reserve((void **)&g->first, &g->first_capacity, g->cell_count + 2, sizeof *g->first) ||
        !mo_reserve((void **)&g->line, &g->line_capacity, g->cell_count + 1, sizeof *g->line))
        return mo_fail_memory(err);
    g->first[g->cell_count] = first;
    g->line[g->cell_count++] = t->word_line;
    return MO_OK;
}

static mo_status read_lists(mo_text *t, int64_t count, grid *g, mo_error *err)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t points;
        MO_TRY(mo_text_integer(t, "number of points of a cell", 1, 1000000, &points, err));
        MO_TRY(add_cell(g, t, g->entry_count, err));
        for (int64_t k = 0; k < points; k++) MO_TRY(add_entry(g, t, err));
    }
    return MO_OK;
}

static mo_status read_offsets(mo_text *t, int64_t count, int64_t entries, grid *g, mo_error *err)
{
    if (!mo_text_next(t)) return mo_text_fail(t, err, "the file ends where the type of offsets should be");
    int64_t last = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t offset;
        MO_TRY(mo_text_integer(t, "offset of a cell", last, i > 0 ? entries : 0, &offset, err));
        if (i + 1 < count) MO_TRY(add_cell(g, t, offset, err));
        last = offset;
    }
    if (count > 0 && last != entries) return mo_text_fail(t, err, "the last offset must be %lld", (long long)entries);
    MO_TRY(mo_text_expect(t, "CONNECTIVITY", err));
    if (!mo_text_next(t)) return mo_text_fail(t, err, "the file ends where the type of points should be");
    for (int64_t k = 0; k < entries; k++) MO_TRY(add_entry(g, t, err));
    return MO_OK;
}

static mo_status read_cells(mo_text *t, grid *g, mo_error *err)
{
    int64_t count, entries;
    MO_TRY(mo_text_integer(t, "number of cells", 0, 4 * (int64_t)MO_RAW_MAX, &count, err));
    MO_TRY(mo_text_integer(t, "size of the cells", 0, 40 * (int64_t)MO_RAW_MAX, &entries, err));
    if (g->cell_count > 0) return mo_text_fail(t, err, "there are cells already");
    if (g->version >= 5) {
        MO_TRY(mo_text_expect(t, "OFFSETS", err));
        MO_TRY(read_offsets(t, count, entries, g, err));
    } else {
        MO_TRY(read_lists(t, count, g, err));
    }
    if (g->cell_count > 0) g->first[g->cell_count] = g->entry_count;
    return MO_OK;
}

static mo_status add_typed(const grid *g, int64_t cell, int64_t type, const mo_text *t, mo_raw *raw, mo_error *err)
{
    if (type >= VERTEX && type <= POLY_LINE) return MO_OK;
    int64_t points = g->first[cell + 1] - g->first[cell], want = type == TRIANGLE ? 3 : 4;
    if (type != TRIANGLE && type != TETRAHEDRON)
        return mo_text_fail(t, err, "cell %lld is of type %lld; only triangles (5) and tetrahedra (10) are read",
                            (long long)cell, (long long)type);
    if (points != want)
        return mo_text_fail(t, err, "cell %lld is of type %lld and has %lld points, must have %lld", (long long)cell,
                            (long long)type, (long long)points, (long long)want);
    mo_raw_element element = {.number = cell, .line = g->line[cell]};
    memcpy(element.vertex, g->entry + g->first[cell], sizeof(int64_t) * (size_t)want);
    return mo_raw_add_element(raw, t, (int32_t)want - 1, element, err);
}

static mo_status read_types(mo_text *t, const grid *g, mo_raw *raw, mo_error *err)
{
    int64_t count, type;
    MO_TRY(mo_text_integer(t, "number of types", 0, 4 * (int64_t)MO_RAW_MAX, &count, err));
    if (count != g->cell_count)
        return mo_text_fail(t, err, "%lld types of %lld cells", (long long)count, (long long)g->cell_count);
    for (int64_t i = 0; i < count; i++) {
        MO_TRY(mo_text_integer(t, "type of a cell", 0, 1000, &type, err));
        MO_TRY(add_typed(g, i, type, t, raw, err));
    }
    return MO_OK;
}

// Data beside the mesh may stand between the sections: words up to the next section do not matter. The types come last.
static mo_status read_sections(mo_text *t, grid *g, mo_raw *raw, mo_error *err)
{
    MO_TRY(read_header(t, g, err));
    bool skipping = false;
    while (mo_text_next(t)) {
        if (mo_text_is(t, "CELL_TYPES")) return read_types(t, g, raw, err);
        bool points = mo_text_is(t, "POINTS"), cells = mo_text_is(t, "CELLS");
        if (points)
            MO_TRY(read_points(t, raw, err));
        else if (cells)
            MO_TRY(read_cells(t, g, err));
        else if (mo_text_is(t, "METADATA") || mo_text_is(t, "FIELD"))
            skipping = true;
        else if (!skipping)
            return mo_text_fail(t, err, "POINTS, CELLS or CELL_TYPES should begin here");
        if (points || cells) skipping = false;
    }
    return mo_text_fail(t, err, "the file ends where CELL_TYPES should be");
}

mo_status mo_raw_read_vtk(mo_text *t, mo_raw *raw, mo_error *err)
{
    grid g = {0};
    mo_status status = read_sections(t, &g, raw, err);
    mo_free(g.entry);
    mo_free(g.first);
    mo_free(g.line);
    return status;
}
