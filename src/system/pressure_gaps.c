// Gaps where sheets end, in the pressure block.
#include "system/pressure_gaps.h"

enum { WIDTH = 512 }; // entries of a row, with gaps

static bool is_wet(const mo_pressure_def *d, const mo_gap *gap)
{
    return gap->area > 0 && (d->liquid[gap->low] == 1 || d->liquid[gap->high] == 1);
}

int32_t mo_pressure_gaps(const mo_pressure_def *d)
{
    int32_t count = 0;
    for (int32_t k = 0; d->grid->sites && k < d->grid->sites->gaps; k++) count += is_wet(d, &d->grid->sites->gap[k]);
    return count;
}

// ---- n . W ----

typedef struct means {
    const mo_pressure_def *d;
    int32_t *const *face;
    const int32_t *gap_at;
} means;

// Adds to an ascending list, where columns may be there already. Returns the number of entries, -1: too many.
static int32_t add_entry(int32_t count, int32_t column, double value, int32_t *col, double *val)
{
    int32_t p = count;
    while (p > 0 && col[p - 1] > column) p--;
    if (p > 0 && col[p - 1] == column) {
        val[p - 1] += value;
        return count;
    }
    if (count < 0 || count == WIDTH) return -1;
    for (int32_t k = count; k > p; k--) col[k] = col[k - 1], val[k] = val[k - 1];
    col[p] = column, val[p] = value;
    return count + 1;
}

typedef struct visit { // the open samples of one face of a cell
    int axis, side;
    double area;  // of all
    double scale; // 0: areas are summed; else entries of weight scale * area are added
} visit;

static int32_t visit_row(const means *m, int32_t row, visit *v, int32_t count, int32_t *col, double *val)
{
    const mo_row_sample *list;
    for (int k = 0, n = mo_sites_of_row(m->d->grid, row, &list); k < n; k++) {
        int32_t face = m->face[v->axis][list[k].sample];
        if (list[k].axis != v->axis || list[k].side != v->side || face < 0) continue;
        double area = mo_sample_area(m->d->grid, v->axis, list[k].sample);
        if (v->scale == 0)
            v->area += area;
        else
            count = add_entry(count, face, v->scale * area, col, val);
    }
    return count;
}

// All rows of a cell.
static int32_t visit_cell(const means *m, int32_t cell, visit *v, int32_t count, int32_t *col, double *val)
{
    int32_t first, end;
    count = visit_row(m, cell, v, count, col, val);
    mo_sites_rows(m->d->grid, cell / MO_TILE_CELLS, &first, &end);
    for (int32_t row = first; row < end; row++)
        if (mo_site_cell(m->d->grid, row) == cell) count = visit_row(m, row, v, count, col, val);
    return count;
}

static int32_t find_mean(void *user, int32_t k, int32_t thread, int32_t *col, double *val)
{
    (void)thread;
    const means *m = user;
    const mo_gap *gap = &m->d->grid->sites->gap[m->gap_at[k]];
    int32_t count = 0;
    for (int a = 0; a < mo_grid_axes(m->d->grid); a++) {
        visit face[2] = {{a, 0, 0, 0}, {a, 1, 0, 0}};
        for (int s = 0; s < 2; s++) visit_cell(m, gap->cell, &face[s], 0, NULL, NULL);
        bool both = face[0].area > 0 && face[1].area > 0;
        for (int s = 0; s < 2; s++) {
            face[s].scale = face[s].area > 0 ? (both ? 0.5 : 1) * gap->normal[a] / face[s].area : 0;
            if (face[s].scale != 0) count = visit_cell(m, gap->cell, &face[s], count, col, val);
        }
    }
    return count;
}

// ---- Rows ----

typedef struct rows {
    const mo_pressure_def *d;
    const mo_liquid_system *out;
    int32_t faces;
    int64_t *first; // [rows + 1] gaps of each row
    int32_t *list;  // 2 gap + (1: the row is its high one)
} rows;

static int32_t find_row(void *user, int32_t row, int32_t thread, int32_t *col, double *val)
{
    (void)thread;
    const rows *r = user;
    int32_t count = 0;
    for (int64_t i = r->first[row]; i < r->first[row + 1]; i++) {
        int32_t k = r->list[i] / 2;
        const mo_gap *gap = &r->d->grid->sites->gap[r->out->gap_at[k]];
        double flow = (r->list[i] % 2 ? 1 : -1) * gap->area / r->d->dx; // negative divergence
        const mo_csr *W = &r->out->gap_mean;
        for (int64_t e = W->row[k]; e < W->row[k + 1]; e++)
            count = add_entry(count, W->col[e], flow * W->val[e], col, val);
        count = add_entry(count, r->faces + k, flow, col, val);
    }
    return count;
}

// Lists the gaps of each row of the system.
static mo_status list_gaps(rows *r, const int32_t *row, int32_t system_rows)
{
    r->first = mo_calloc(sizeof(int64_t) * ((size_t)system_rows + 2));
    r->list = mo_alloc(sizeof(int32_t) * 2 * (size_t)r->out->gaps);
    if (!r->first || !r->list) return MO_ERROR_MEMORY;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t k = 0; k < r->out->gaps; k++) {
            const mo_gap *gap = &r->d->grid->sites->gap[r->out->gap_at[k]];
            int32_t end[2] = {row[gap->low], row[gap->high]};
            for (int s = 0; s < 2; s++) {
                if (end[s] < 0) continue;
                if (pass)
                    r->list[r->first[end[s] + 1]++] = 2 * k + s;
                else
                    r->first[end[s] + 2]++;
            }
        }
        for (int32_t i = 0; !pass && i < system_rows; i++) r->first[i + 2] += r->first[i + 1];
    }
    return MO_OK;
}

static mo_status add_rows(const mo_pressure_def *d, const int32_t *row, mo_liquid_system *out)
{
    mo_block *b = out->system.block[MO_BLOCK_PRESSURE];
    rows r = {.d = d, .out = out, .faces = out->system.faces.count - out->gaps};
    mo_csr more = {0};
    mo_status status = list_gaps(&r, row, b->rows);
    if (status == MO_OK) status = mo_csr_collect(b->rows, out->system.faces.count, WIDTH, find_row, &r, &more);
    b->on[MO_FACES].cols = out->system.faces.count;
    if (status == MO_OK) status = mo_csr_add(&b->on[MO_FACES], &more);
    mo_csr_destroy(&more);
    mo_free(r.first), mo_free(r.list);
    return status;
}

mo_status mo_pressure_add_gaps(const mo_pressure_def *d, const int32_t *row, int32_t *const face[3],
                               mo_liquid_system *out, mo_error *err)
{
    const mo_sites *s = d->grid->sites;
    int32_t faces = out->system.faces.count - out->gaps, count = 0;
    if (out->gaps == 0) return MO_OK;
    out->gap_at = mo_alloc(sizeof(int32_t) * (size_t)out->gaps);
    if (!out->gap_at) return mo_fail_memory(err);
    for (int32_t k = 0; k < s->gaps; k++) {
        const mo_gap *gap = &s->gap[k];
        if (!is_wet(d, gap)) continue;
        double theta = mo_theta(d->phi[gap->low], d->phi[gap->high], mo_theta_minimum);
        out->system.faces.mass[faces + count] = d->density * gap->area * mo_gap_depth * theta;
        out->face_at[faces + count] = -1 - k;
        out->gap_at[count++] = k;
    }
    means m = {d, face, out->gap_at};
    mo_status status = mo_csr_collect(out->gaps, faces, WIDTH, find_mean, &m, &out->gap_mean);
    if (status == MO_OK) status = add_rows(d, row, out);
    return status == MO_OK ? MO_OK : mo_fail_memory(err);
}
