// Ghost cells behind the faces that sheets occlude, as sites of the grid. See ghosts.h.
#include "grid/ghosts.h"
#include "base/union_find.h"
#include "grid/ghost_faces.h"
#include <stdlib.h>
#include <string.h>

void mo_ghosts_destroy(mo_ghosts *s)
{
    if (!s) return;
    mo_free(s->side), mo_free(s->first_wall), mo_free(s->wall), mo_free(s->link), mo_free(s->own);
    mo_free(s->first_side), mo_free(s->side_of);
    mo_free(s);
}

// ---- Queries ----

int32_t mo_ghost_owner(const mo_grid *g, int axis, int32_t sample)
{
    if (!mo_ghosts_of(g) || !mo_site_is_cut(g, sample)) return -1;
    mo_sample p = mo_sites_sample(g, axis, sample);
    return p.axis != axis || !mo_sample_is_own(g, &p) ? -1 : p.low < 0 ? p.high : p.low;
}

int32_t mo_ghost_face(const mo_grid *g, int32_t cell, int axis, int side)
{
    const mo_ghosts *s = mo_ghosts_of(g);
    int32_t cut = s ? g->sites->cut[cell / MO_TILE_CELLS] : -1;
    int32_t own = cut < 0 ? -1 : s->own[(int64_t)cut * MO_TILE_CELLS + cell % MO_TILE_CELLS][2 * axis + side];
    return own >= 0 ? own : side ? mo_grid_step(g, cell, axis, 1) : cell;
}

int mo_row_faces(const mo_grid *g, int32_t row, mo_row_sample six[6], const mo_row_sample **list)
{
    int count = 0;
    if (!mo_ghosts_of(g)) return mo_row_samples(g, row, six, list);
    *list = six;
    for (int8_t k = 0; k < 6 && row < mo_grid_cells(g); k++) {
        int32_t sample = mo_ghost_face(g, row, k / 2, k & 1);
        if (sample >= 0) six[count++] = (mo_row_sample){sample, (int8_t)(k / 2), (int8_t)(k & 1)};
    }
    return count;
}

int mo_ghost_terms(const mo_grid *g, const mo_ghost_side *s, const double along[3], mo_ghost_term term[MO_GHOST_TERMS])
{
    int count = 0;
    for (int a = 0; a < mo_grid_axes(g); a++) {
        if (a == s->axis) {
            term[count++] = (mo_ghost_term){s->own, a, along[a]};
            continue;
        }
        for (int k = 0; k < 2; k++) {
            int32_t sample = mo_ghost_face(g, s->cell, a, k);
            if (sample >= 0) term[count++] = (mo_ghost_term){sample, a, 0.5 * along[a]};
        }
    }
    return count;
}

// ---- Building ----

typedef struct piece { // of a face, before it has its number
    mo_sample sample;
    int32_t order;  // among those of its face
    int32_t *index; // where its number goes; NULL: nobody asks
} piece;

typedef struct builder {
    mo_grid *g;
    mo_ghost_faces faces;
    mo_ghosts *s;
    int32_t *first, *at; // sides sorted by the cell behind them: [places + 1], [sides]
    int32_t places;      // cells with ghosts
    int32_t *ghost_cell; // [ghosts]
    int64_t wall_room, link_room, piece_room, pieces;
    mo_ghost_link *link;
    struct {
        int32_t low, high; // rows of a link
    } * ends;
    int64_t end_room;
    piece *piece;
} builder;

static void builder_destroy(builder *b)
{
    mo_ghost_faces_destroy(&b->faces);
    mo_free(b->first), mo_free(b->at), mo_free(b->ghost_cell), mo_free(b->ends), mo_free(b->piece);
}

static bool add_walls(builder *b, int32_t k, const mo_ghost_patch *patch)
{
    mo_ghosts *s = b->s;
    int32_t count = s->first_wall[k];
    if (!mo_reserve((void **)&s->wall, &b->wall_room, count + patch->count + 1, sizeof *s->wall)) return false;
    for (int32_t i = 0; i < patch->count; i++) {
        mo_site_wall *w = &s->wall[count + i];
        *w = (mo_site_wall){.row = s->side[k].cell, .triangle = patch->piece[i].triangle};
        for (int c = 0; c < 3; c++) {
            w->vertex[c] = b->faces.sheet.triangle[w->triangle][c];
            w->vector[c] = patch->piece[i].part * patch->normal[c], w->weight[c] = patch->piece[i].weight[c];
        }
    }
    s->first_wall[k + 1] = count + patch->count;
    return true;
}

// The two sides of every occluded face, and the sheet beside them.
static mo_status list_sides(builder *b)
{
    mo_ghosts *s = b->s;
    s->side = mo_calloc(sizeof *s->side * (2 * (size_t)b->faces.count + 1));
    s->first_wall = mo_calloc(sizeof(int32_t) * (2 * (size_t)b->faces.count + 1));
    if (!s->side || !s->first_wall) return MO_ERROR_MEMORY;
    for (int32_t k = 0; k < 2 * b->faces.count; k++) {
        int32_t high = b->faces.face[k / 2] / 3, axis = b->faces.face[k / 2] % 3,
                low = mo_grid_step(b->g, high, axis, -1);
        mo_ghost_side *q = &s->side[s->sides++];
        mo_ghost_patch patch;
        *q = (mo_ghost_side){.cell = k & 1 ? high : low, .other = k & 1 ? low : high, .axis = (int8_t)axis};
        q->side = !(k & 1);
        mo_ghost_find_patch(&b->faces, q, &patch);
        memcpy(q->normal, patch.normal, sizeof q->normal);
        if (!add_walls(b, k, &patch)) return MO_ERROR_MEMORY;
    }
    return MO_OK;
}

static int by_place(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : (x[1] > y[1]) - (x[1] < y[1]);
}

// Sorts the sides by the cells behind them.
static mo_status list_places(builder *b)
{
    const mo_ghosts *s = b->s;
    int32_t(*pair)[2] = mo_alloc(sizeof *pair * ((size_t)s->sides + 1));
    b->first = mo_alloc(sizeof(int32_t) * ((size_t)s->sides + 1)),
    b->at = mo_alloc(sizeof(int32_t) * ((size_t)s->sides + 1));
    if (pair && b->first && b->at) {
        for (int32_t k = 0; k < s->sides; k++) pair[k][0] = s->side[k].other, pair[k][1] = k;
        qsort(pair, (size_t)s->sides, sizeof *pair, by_place);
        for (int32_t k = 0; k < s->sides; k++) {
            b->at[k] = pair[k][1];
            if (k == 0 || pair[k][0] != pair[k - 1][0]) b->first[b->places++] = k;
        }
        b->first[b->places] = s->sides;
    }
    bool ok = pair && b->first && b->at;
    mo_free(pair);
    return ok ? MO_OK : MO_ERROR_MEMORY;
}

// Whether two cells are at most `steps` (0..2) open steps apart.
static bool joined(const builder *b, int32_t from, int32_t to, int steps)
{
    if (from == to) return true;
    for (int e = 0; steps > 0 && e < 2 * mo_grid_axes(b->g); e++) {
        int32_t n = mo_ghost_open_step(&b->faces, from, e / 2, e & 1 ? 1 : -1);
        if (n >= 0 && joined(b, n, to, steps - 1)) return true;
    }
    return false;
}

// Sides whose real cells are near each other share the ghost at their place. Ghosts are numbered by place.
static mo_status make_ghosts(builder *b)
{
    mo_ghosts *s = b->s;
    int32_t *root = mo_alloc(sizeof(int32_t) * ((size_t)s->sides + 1));
    b->ghost_cell = mo_alloc(sizeof(int32_t) * ((size_t)s->sides + 1));
    if (!root || !b->ghost_cell) {
        mo_free(root);
        return MO_ERROR_MEMORY;
    }
    for (int32_t k = 0; k < s->sides; k++) root[k] = k, s->side[k].ghost = -1;
    for (int32_t p = 0; p < b->places; p++)
        for (int32_t i = b->first[p]; i < b->first[p + 1]; i++)
            for (int32_t k = b->first[p]; k < i; k++)
                if (joined(b, s->side[b->at[i]].cell, s->side[b->at[k]].cell, 2))
                    mo_join_sets(root, b->at[i], b->at[k]);
    for (int32_t i = 0; i < s->sides; i++) {
        mo_ghost_side *top = &s->side[mo_find_root(root, b->at[i])];
        if (top->ghost < 0) b->ghost_cell[s->rows] = top->other, top->ghost = (int32_t)mo_grid_cells(b->g) + s->rows++;
        s->side[b->at[i]].ghost = top->ghost;
    }
    mo_free(root);
    return MO_OK;
}

static int32_t find_place(const builder *b, int32_t cell)
{
    int32_t lo = 0, hi = b->places;
    while (lo < hi) {
        int32_t middle = lo + (hi - lo) / 2;
        if (b->s->side[b->at[b->first[middle]]].other < cell)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < b->places && b->s->side[b->at[b->first[lo]]].other == cell ? lo : -1;
}

static bool add_link(builder *b, int axis, int32_t low, int32_t high, int32_t real_low, int32_t real_high)
{
    mo_ghosts *s = b->s;
    if (!mo_reserve((void **)&s->link, &b->link_room, s->links + 1, sizeof *s->link) ||
        !mo_reserve((void **)&b->ends, &b->end_room, s->links + 1, sizeof *b->ends))
        return false;
    b->ends[s->links].low = low, b->ends[s->links].high = high;
    s->link[s->links++] = (mo_ghost_link){.axis = axis, .cell = {real_low, real_high}};
    return true;
}

// Joins the ghosts of two neighbouring places, each pair once.
static bool join_places(builder *b, int32_t p, int32_t q, int axis)
{
    mo_ghosts *s = b->s;
    int32_t from = s->links;
    for (int32_t i = b->first[p]; i < b->first[p + 1]; i++)
        for (int32_t k = b->first[q]; k < b->first[q + 1]; k++) {
            const mo_ghost_side *x = &s->side[b->at[i]], *y = &s->side[b->at[k]];
            bool known = false;
            for (int32_t n = from; n < s->links; n++)
                known |= b->ends[n].low == x->ghost && b->ends[n].high == y->ghost;
            if (known || !joined(b, x->cell, y->cell, 1)) continue;
            if (!add_link(b, axis, x->ghost, y->ghost, x->cell, y->cell)) return false;
        }
    return true;
}

// A ghost beside a wall of the domain has a face there, as a real cell has.
static bool join_walls(builder *b, const mo_ghost_side *s)
{
    for (int e = 0; e < 2 * mo_grid_axes(b->g); e++) {
        int32_t beyond = mo_grid_step(b->g, s->other, e / 2, e & 1 ? 1 : -1);
        if (beyond < 0 || mo_ghost_in_domain(b->g, beyond)) continue;
        int32_t low = e & 1 ? s->ghost : beyond, high = e & 1 ? beyond : s->ghost;
        if (!add_link(b, e / 2, low, high, s->cell, s->cell)) return false;
    }
    return true;
}

static mo_status join_ghosts(builder *b)
{
    int32_t next = (int32_t)mo_grid_cells(b->g);
    for (int32_t p = 0; p < b->places; p++)
        for (int a = 0; a < mo_grid_axes(b->g); a++) {
            int32_t to = mo_grid_step(b->g, b->s->side[b->at[b->first[p]]].other, a, 1);
            int32_t q = to < 0 ? -1 : find_place(b, to);
            if (q >= 0 && !join_places(b, p, q, a)) return MO_ERROR_MEMORY;
        }
    for (int32_t i = 0; i < b->s->sides; i++) { // each ghost once
        const mo_ghost_side *s = &b->s->side[b->at[i]];
        if (s->ghost != next) continue;
        next++;
        if (!join_walls(b, s)) return MO_ERROR_MEMORY;
    }
    return MO_OK;
}

// ---- Samples ----

static bool add_piece(builder *b, int32_t cell, int axis, int32_t low, int32_t high, int32_t order, int32_t *index)
{
    if (!mo_reserve((void **)&b->piece, &b->piece_room, b->pieces + 1, sizeof *b->piece)) return false;
    b->piece[b->pieces++] = (piece){{cell, axis, low, high, 1, {0.5, 0.5}}, order, index};
    return true;
}

static int by_face(const void *a, const void *b)
{
    const piece *x = a, *y = b;
    if (x->sample.cell != y->sample.cell) return x->sample.cell < y->sample.cell ? -1 : 1;
    if (x->sample.axis != y->sample.axis) return x->sample.axis < y->sample.axis ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

// The pieces of an occluded face: first the sample of the cell on its high side, whose index the face has.
static bool add_side_pieces(builder *b, mo_ghost_side *s)
{
    int32_t cell = s->side ? s->other : s->cell;
    bool ok = add_piece(b, cell, s->axis, s->side ? s->cell : -1, s->side ? -1 : s->cell, s->side, &s->own);
    return ok && add_piece(b, cell, s->axis, s->side ? s->cell : s->ghost, s->side ? s->ghost : s->cell, 2 + s->side,
                           &s->beside);
}

static bool add_link_pieces(builder *b, int32_t k)
{
    int32_t low = b->ends[k].low, high = b->ends[k].high, cells = (int32_t)mo_grid_cells(b->g),
            axis = b->s->link[k].axis;
    int32_t cell = high < cells ? high : b->ghost_cell[high - cells];
    return add_piece(b, cell, axis, low, high, 4 + k, &b->s->link[k].sample);
}

// Faces with ghosts' pieces beside their own that no sheet occludes keep their whole first piece.
static mo_status add_plain_pieces(builder *b)
{
    for (int64_t k = 0, count = b->pieces; k < count; k++) {
        mo_sample p = b->piece[k].sample;
        bool first = k == 0 || b->piece[k - 1].sample.cell != p.cell || b->piece[k - 1].sample.axis != p.axis;
        if (!first || b->faces.closed[3 * (int64_t)p.cell + p.axis]) continue;
        mo_sample plain = mo_sample_plain(b->g, p.cell, p.axis);
        if (!add_piece(b, plain.cell, plain.axis, plain.low, plain.high, -1, NULL)) return MO_ERROR_MEMORY;
    }
    qsort(b->piece, (size_t)b->pieces, sizeof *b->piece, by_face);
    return MO_OK;
}

static mo_status make_pieces(builder *b)
{
    mo_ghosts *s = b->s;
    bool ok = true;
    for (int32_t k = 0; k < s->sides && ok; k++) ok = add_side_pieces(b, &s->side[k]);
    for (int32_t k = 0; k < s->links && ok; k++) ok = add_link_pieces(b, k);
    if (!ok) return MO_ERROR_MEMORY;
    if (b->pieces) qsort(b->piece, (size_t)b->pieces, sizeof *b->piece, by_face);
    MO_TRY(add_plain_pieces(b));
    int32_t more = (int32_t)mo_grid_cells(b->g);
    for (int64_t k = 0; k < b->pieces; k++) {
        const mo_sample *p = &b->piece[k].sample, *last = k ? &b->piece[k - 1].sample : p;
        bool first = k == 0 || last->cell != p->cell || last->axis != p->axis;
        int32_t index = first ? p->cell : more++;
        if (b->piece[k].index) *b->piece[k].index = index;
    }
    return MO_OK;
}

// ---- The grid's table ----

// The walls of real cells: the sheet sweeps N_a N.J V through an occluded face.
static mo_site_wall *row_walls(const mo_ghosts *s)
{
    mo_site_wall *wall = mo_alloc(sizeof *wall * ((size_t)s->first_wall[s->sides] + 1));
    for (int32_t k = 0; wall && k < s->sides; k++)
        for (int32_t i = s->first_wall[k]; i < s->first_wall[k + 1]; i++) {
            double through = (s->side[k].side ? 1 : -1) * s->side[k].normal[s->side[k].axis];
            wall[i] = s->wall[i];
            for (int a = 0; a < 3; a++) wall[i].vector[a] *= through;
        }
    return wall;
}

static mo_status create_sites(builder *b, mo_error *err)
{
    const mo_ghosts *s = b->s;
    mo_sample *sample = mo_alloc(sizeof *sample * ((size_t)b->pieces + 1));
    int32_t *row = mo_alloc(sizeof(int32_t) * ((size_t)s->rows + 1));
    double *nothing = mo_calloc(sizeof(double) * ((size_t)s->rows + 1));
    mo_site_wall *wall = row_walls(s);
    mo_status status = sample && row && nothing && wall ? MO_OK : mo_fail_memory(err);
    for (int64_t k = 0; status == MO_OK && k < b->pieces; k++) sample[k] = b->piece[k].sample;
    for (int32_t k = 0; status == MO_OK && k < s->rows; k++) row[k] = (int32_t)mo_grid_cells(b->g) + k;
    mo_sites_def def = {.sides = s->rows,
                        .side = b->ghost_cell,
                        .samples = (int32_t)b->pieces,
                        .sample = sample,
                        .volumes = s->rows,
                        .volume_row = row,
                        .volume = nothing,
                        .walls = s->first_wall[s->sides],
                        .wall = wall,
                        .ghosts = true};
    if (status == MO_OK) status = mo_sites_create(b->g, &def, err);
    mo_free(sample), mo_free(row), mo_free(nothing), mo_free(wall);
    return status;
}

// A cell's own samples, and the sides of each ghost.
static mo_status index_sides(const mo_grid *g, mo_ghosts *s)
{
    size_t cells = (size_t)g->sites->cuts * MO_TILE_CELLS;
    int32_t base = (int32_t)mo_grid_cells(g);
    s->own = mo_alloc(sizeof *s->own * (cells + 1));
    s->first_side = mo_calloc(sizeof(int32_t) * ((size_t)s->rows + 2));
    s->side_of = mo_alloc(sizeof(int32_t) * ((size_t)s->sides + 1));
    if (!s->own || !s->first_side || !s->side_of) return MO_ERROR_MEMORY;
    memset(s->own, 0xff, sizeof *s->own * cells);
    for (int32_t k = 0; k < s->sides; k++) {
        const mo_ghost_side *q = &s->side[k];
        int64_t at = (int64_t)g->sites->cut[q->cell / MO_TILE_CELLS] * MO_TILE_CELLS + q->cell % MO_TILE_CELLS;
        s->own[at][2 * q->axis + q->side] = q->own;
        s->first_side[q->ghost - base + 2]++;
    }
    for (int32_t r = 0; r < s->rows; r++) s->first_side[r + 2] += s->first_side[r + 1];
    for (int32_t k = 0; k < s->sides; k++) s->side_of[s->first_side[s->side[k].ghost - base + 1]++] = k;
    return MO_OK;
}

static void describe(const mo_grid *g, const mo_ghosts *s, mo_cut_info *info)
{
    info->sides = s->rows;
    for (int64_t i = 0; i < (int64_t)g->sites->cuts * MO_TILE_CELLS; i++) {
        bool beside = false;
        for (int k = 0; k < 6; k++) beside |= s->own[i][k] >= 0;
        info->cells += beside;
    }
}

static mo_status build(builder *b, mo_error *err)
{
    mo_status status = list_sides(b);
    if (status == MO_OK) status = list_places(b);
    if (status == MO_OK) status = make_ghosts(b);
    if (status == MO_OK) status = join_ghosts(b);
    if (status == MO_OK) status = make_pieces(b);
    if (status != MO_OK) return mo_fail_memory(err);
    MO_TRY(create_sites(b, err));
    return b->g->sites && index_sides(b->g, b->s) != MO_OK ? mo_fail_memory(err) : MO_OK;
}

mo_status mo_ghosts_cut(mo_grid *g, const mo_sheet *sheet, mo_cut_info *info, mo_error *err)
{
    builder b = {.g = g};
    mo_sites_destroy(g);
    *info = (mo_cut_info){0};
    mo_status status = mo_ghost_faces_create(g, sheet, &b.faces, err);
    if (status == MO_OK && b.faces.count) {
        b.s = mo_calloc(sizeof *b.s);
        status = b.s ? build(&b, err) : mo_fail_memory(err);
        if (status == MO_OK) describe(g, b.s, info);
        if (g->sites)
            g->sites->ghosts = b.s;
        else
            mo_ghosts_destroy(b.s);
        if (status != MO_OK) mo_sites_destroy(g);
    }
    builder_destroy(&b);
    return status;
}
