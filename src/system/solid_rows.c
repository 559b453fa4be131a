// Rows on solids.
#include "system/solid_rows.h"
#include "base/parallel.h"
#include <omp.h>
#include <string.h>

// ---- Columns ----

int32_t mo_rigid_columns(int32_t body, mo_vec3 arm, mo_vec3 direction, mo_column *out)
{
    MO_ASSERT(body >= 0);
    mo_vec3 turn = mo_cross(arm, direction);
    const double part[MO_BODY_UNKNOWNS] = {direction.x, direction.y, direction.z, turn.x, turn.y, turn.z};
    for (int32_t k = 0; k < MO_BODY_UNKNOWNS; k++)
        out[k] = (mo_column){MO_BODIES, MO_BODY_UNKNOWNS * body + k, part[k]};
    return MO_BODY_UNKNOWNS;
}

int32_t mo_solid_columns(const mo_solid_set *s, int32_t solid, mo_vec3 x, mo_vec3 direction,
                         mo_column out[MO_SOLID_COLUMNS])
{
    MO_ASSERT(solid >= 0 && solid < s->count);
    if (!mo_solid_moves(s, solid)) return 0;
    if (s->columns) return s->columns(s->user, solid, x, direction, out);
    return mo_rigid_columns(s->body[solid], mo_sub(x, s->centre[solid]), direction, out);
}

int32_t mo_solid_unknowns(const mo_solid_set *s, int32_t group)
{
    return group == MO_BODIES ? MO_BODY_UNKNOWNS * s->bodies : group == MO_NODES ? s->nodes : 0;
}

// ---- One row ----

static int32_t compare(mo_column a, mo_column b)
{
    return a.group != b.group ? a.group - b.group : a.unknown - b.unknown;
}

void mo_solid_row_merge(mo_solid_row *row, int32_t n, const mo_column *own, double value)
{
    for (int32_t k = 0, at = 0; k < n; k++) { // both ascend
        while (at < row->count && compare(row->column[at], own[k]) < 0) at++;
        if (at == row->count || compare(row->column[at], own[k]) != 0) {
            memmove(row->column + at + 1, row->column + at, sizeof *own * (size_t)(row->count++ - at));
            row->column[at] = (mo_column){own[k].group, own[k].unknown, 0};
        }
        row->column[at].weight += value * own[k].weight;
    }
}

void mo_solid_row_add(mo_solid_row *row, const mo_solid_set *s, int32_t solid, mo_vec3 x, mo_vec3 direction,
                      double value)
{
    mo_column own[MO_SOLID_COLUMNS];
    int32_t n = mo_solid_columns(s, solid, x, direction, own);
    MO_ASSERT(n >= 0 && n <= MO_SOLID_COLUMNS);
    mo_solid_row_merge(row, n, own, value);
}

// ---- All rows ----

// A row for every thread, in one piece of memory that the rows begin. NULL: no memory.
static mo_solid_row *create_scratch(int32_t unknowns)
{
    size_t threads = (size_t)mo_thread_count(), room = (size_t)unknowns;
    char *memory = mo_alloc(threads * (sizeof(mo_solid_row) + sizeof(mo_column) * room));
    mo_solid_row *row = (mo_solid_row *)memory;
    mo_column *column = (mo_column *)(memory + threads * sizeof(mo_solid_row));
    for (size_t t = 0; row && t < threads; t++) row[t] = (mo_solid_row){0, column + t * room};
    return row;
}

static const mo_solid_row *find_row(mo_solid_row *scratch, mo_solid_row_fn find, const void *user, int32_t i)
{
    mo_solid_row *row = &scratch[omp_get_thread_num()];
    row->count = 0;
    find(user, i, row);
    return row;
}

// Room for the rows once the lengths of all are known, one place late.
static mo_status create_rows(int32_t rows, const mo_solid_set *solids, int64_t *const length[MO_GROUPS],
                             mo_csr on[MO_GROUPS])
{
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++) {
        if (!length[g]) continue;
        for (int32_t i = 0; i < rows; i++) length[g][i + 1] += length[g][i];
        MO_TRY(mo_csr_create(rows, mo_solid_unknowns(solids, g), length[g][rows], &on[g]));
        memcpy(on[g].row, length[g], sizeof(int64_t) * ((size_t)rows + 1));
    }
    return MO_OK;
}

static void store(const mo_solid_row *row, int32_t i, mo_csr on[MO_GROUPS])
{
    for (int32_t g = MO_SOLIDS, k = 0; g < MO_GROUPS; g++)
        for (int64_t at = mo_csr_begin(&on[g], i); k < row->count && row->column[k].group == g; k++, at++)
            on[g].col[at] = row->column[k].unknown, on[g].val[at] = row->column[k].weight;
}

mo_status mo_solid_rows_create(int32_t rows, const mo_solid_set *solids, mo_solid_row_fn find, const void *user,
                               mo_csr on[MO_GROUPS])
{
    MO_ASSERT(rows >= 0 && find);
    int64_t *length[MO_GROUPS] = {0};
    int32_t unknowns = 0;
    bool ok = true;
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++) {
        int32_t count = mo_solid_unknowns(solids, g);
        unknowns += count;
        if (count) ok &= (length[g] = mo_calloc(sizeof(int64_t) * ((size_t)rows + 1))) != NULL;
    }
    mo_solid_row *scratch = create_scratch(unknowns);
    mo_status status = ok && scratch ? MO_OK : MO_ERROR_MEMORY;
    if (status == MO_OK) {
#pragma omp parallel for schedule(dynamic, 1024)
        for (int32_t i = 0; i < rows; i++) {
            const mo_solid_row *row = find_row(scratch, find, user, i);
            for (int32_t k = 0; k < row->count; k++) length[row->column[k].group][i + 1]++;
        }
        status = create_rows(rows, solids, length, on);
    }
    if (status == MO_OK) {
#pragma omp parallel for schedule(dynamic, 1024)
        for (int32_t i = 0; i < rows; i++) {
            bool any = false;
            for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++) any |= mo_csr_end(&on[g], i) > mo_csr_begin(&on[g], i);
            if (any) store(find_row(scratch, find, user, i), i, on);
        }
    }
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++) mo_free(length[g]);
    mo_free(scratch);
    return status;
}

// ---- Pieces ----

bool mo_has_pieces(const mo_solid_set *s, int32_t solid, int sample, const int32_t cell[3])
{
    const mo_surface_piece *piece;
    int32_t first;
    return s->pieces && mo_solid_moves(s, solid) && s->pieces(s->user, solid, sample, cell, &piece, &first) > 0;
}

void mo_pieces_add(mo_solid_row *row, const mo_solid_set *s, int32_t solid, int sample, const int32_t cell[3],
                   const mo_piece_row *of)
{
    const mo_surface_piece *piece;
    int32_t first, count = s->pieces(s->user, solid, sample, cell, &piece, &first);
    double size = 0, rest[3] = {of->sum[0], of->sum[1], of->sum[2]};
    for (int32_t k = 0; k < count; k++) {
        size += piece[k].size;
        for (int a = 0; a < of->axes; a++) rest[a] -= of->factor[a] * mo_get(piece[k].area, of->normal[a]);
    }
    for (int32_t k = 0; k < count; k++)
        for (int32_t v = 0; v < of->axes; v++)
            for (int a = 0; a < of->axes; a++) {
                if (of->factor[a] == 0) continue;
                double share = of->factor[a] * mo_get(piece[k].area, of->normal[a]) + rest[a] * piece[k].size / size;
                mo_column column = {MO_NODES, first + of->axes * piece[k].vertex[v] + a, share};
                mo_solid_row_merge(row, 1, &column, piece[k].weight[v]);
            }
}

// ---- Covers ----

mo_status mo_cover_index_create(const mo_grid *g, const mo_solid_set *solids, const mo_cover *cover, int32_t covers,
                                mo_arena *arena, mo_cover_index *out, mo_error *err)
{
    MO_ASSERT(covers >= 0 && (covers == 0 || cover));
    int32_t *first = MO_ARENA_ARRAY(arena, int32_t, g->tiles + 1);
    *out = (mo_cover_index){g, solids, cover, first};
    if (!first) return mo_fail_memory(err);
    for (int32_t t = 0, k = 0; t <= g->tiles; t++) {
        while (k < covers && cover[k].tile < t) k++;
        first[t] = k;
    }
    return MO_OK;
}

void mo_cover_add(mo_solid_row *row, const mo_cover_index *index, int32_t solid, int32_t cell, int axis, double value)
{
    MO_ASSERT(axis >= 0 && axis < 3 && solid >= 0 && solid < index->solids->count);
    mo_vec3 e = {axis == 0, axis == 1, axis == 2};
    mo_solid_row_add(row, index->solids, solid, mo_grid_face(index->grid, cell, axis), e, value);
}
