// Rows on rigid bodies.
#include "system/rigid_rows.h"
#include "base/parallel.h"
#include <omp.h>
#include <string.h>

mo_status mo_cover_index_create(const mo_grid *g, const mo_solid_set *solids, const mo_cover *cover, int32_t covers,
                                mo_arena *arena, mo_cover_index *out, mo_error *err)
{
    int32_t *first = MO_ARENA_ARRAY(arena, int32_t, g->tiles + 1);
    *out = (mo_cover_index){g, solids, cover, first};
    if (!first) return mo_fail_memory(err);
    for (int32_t t = 0, k = 0; t <= g->tiles; t++) {
        while (k < covers && cover[k].tile < t) k++;
        first[t] = k;
    }
    return MO_OK;
}

void mo_rigid_row_add(mo_rigid_row *row, const mo_cover_index *index, int32_t solid, int32_t face, int axis,
                      double value)
{
    const mo_grid *g = index->grid;
    int32_t body = index->solids->body[solid], c[3], at = 0;
    while (at < row->count && row->body[at] < body) at++;
    if (at == row->count || row->body[at] != body) {
        for (int32_t k = row->count; k > at; k--) {
            row->body[k] = row->body[k - 1];
            memcpy(row->part[k], row->part[k - 1], sizeof row->part[k]);
        }
        row->body[at] = body, row->count++;
        memset(row->part[at], 0, sizeof row->part[at]);
    }
    mo_grid_cell(g, face, c);
    mo_vec3 x = mo_grid_world(g, c[0] + 0.5 * (axis != 0), c[1] + 0.5 * (axis != 1), c[2] + 0.5 * (axis != 2));
    mo_vec3 e = {axis == 0, axis == 1, axis == 2}, turn = mo_cross(mo_sub(x, index->solids->centre[solid]), e);
    double *part = row->part[at];
    part[axis] += value;
    part[3] += value * turn.x, part[4] += value * turn.y, part[5] += value * turn.z;
}

// A row for every thread, in one piece of memory that the first one's bodies begin. NULL: no memory.
static mo_rigid_row *create_scratch(int32_t bodies)
{
    size_t threads = (size_t)mo_thread_count(), parts = sizeof(double[6]) * (size_t)bodies;
    char *memory = mo_alloc(threads * (sizeof(mo_rigid_row) + parts + sizeof(int32_t) * (size_t)bodies));
    if (!memory) return NULL;
    mo_rigid_row *row = (mo_rigid_row *)memory;
    double(*part)[6] = (double(*)[6])(memory + threads * sizeof(mo_rigid_row));
    int32_t *body = (int32_t *)(part + threads * (size_t)bodies);
    for (size_t t = 0; t < threads; t++)
        row[t] = (mo_rigid_row){0, body + t * (size_t)bodies, part + t * (size_t)bodies};
    return row;
}

static mo_rigid_row *find_row(mo_rigid_row *scratch, mo_rigid_row_fn find, const void *user, int32_t i)
{
    mo_rigid_row *row = &scratch[omp_get_thread_num()];
    row->count = 0;
    find(user, i, row);
    return row;
}

mo_status mo_rigid_rows_create(int32_t rows, int32_t bodies, mo_rigid_row_fn find, const void *user, mo_csr *out)
{
    int64_t *length = mo_calloc(sizeof(int64_t) * ((size_t)rows + 1));
    mo_rigid_row *scratch = create_scratch(bodies);
    *out = (mo_csr){0};
    mo_status status = length && scratch ? MO_OK : MO_ERROR_MEMORY;
    if (status == MO_OK) {
#pragma omp parallel for schedule(dynamic, 1024)
        for (int32_t i = 0; i < rows; i++) length[i + 1] = 6 * find_row(scratch, find, user, i)->count;
        for (int32_t i = 0; i < rows; i++) length[i + 1] += length[i];
        status = mo_csr_create(rows, 6 * bodies, length[rows], out);
    }
    if (status == MO_OK) {
        memcpy(out->row, length, sizeof(int64_t) * ((size_t)rows + 1));
#pragma omp parallel for schedule(dynamic, 1024)
        for (int32_t i = 0; i < rows; i++) {
            if (out->row[i + 1] == out->row[i]) continue;
            const mo_rigid_row *row = find_row(scratch, find, user, i);
            for (int32_t k = 0; k < row->count; k++)
                for (int a = 0; a < 6; a++) {
                    out->col[out->row[i] + 6 * k + a] = 6 * row->body[k] + a;
                    out->val[out->row[i] + 6 * k + a] = row->part[k][a];
                }
        }
    }
    mo_free(length), mo_free(scratch);
    return status;
}
