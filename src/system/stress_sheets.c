// The stress block where sheets are: its rows, compliance, solids, and forces.
#include "system/stress_sheets.h"
#include "base/parallel.h"
#include "system/solid_rows.h"
#include "system/strain_rows.h"
#include <math.h>
#include <string.h>

typedef struct assembly {
    mo_strain_world w;
    int32_t rows;
    mo_strain_site *site;
    mo_block *block;
} assembly;

// ---- Preparation ----

// Stress does not act on samples with hardly any liquid, as away from sheets (mo_face_is_light).
static bool is_light(const mo_strain_world *w, int32_t f, int axis, int32_t sample)
{
    double open = mo_sample_area(w->g, axis, sample) * w->p->area[axis][sample];
    return w->l->system.faces.mass[f] < mo_weight_clamp * w->p->density * open;
}

static mo_status start(const mo_sheet_stress_def *d, const mo_liquid_system *l, mo_arena *arena, mo_strain_world *w,
                       mo_error *err)
{
    int64_t fields = mo_grid_fields(d->pressure->grid);
    *w = (mo_strain_world){.d = d, .p = d->pressure, .g = d->pressure->grid, .l = l};
    w->axes = mo_grid_axes(w->g);
    w->row = MO_ARENA_ARRAY(arena, int32_t, fields + 1);
    for (int a = 0; a < 3; a++) w->face[a] = MO_ARENA_ARRAY(arena, int32_t, fields + 1);
    if (!w->row || !w->face[0] || !w->face[1] || !w->face[2]) return mo_fail_memory(err);
    memset(w->row, 0xff, sizeof(int32_t) * (size_t)fields);
    for (int a = 0; a < 3; a++) memset(w->face[a], 0xff, sizeof(int32_t) * (size_t)fields);
    for (int32_t r = 0; r < l->system.block[MO_BLOCK_PRESSURE]->rows; r++) w->row[l->cell_at[r]] = r;
    for (int32_t f = 0; f < l->system.faces.count - l->gaps; f++) {
        int axis = mo_face_axis(l->face_at[f]);
        int32_t i = mo_face_sample(l->face_at[f]);
        if (!is_light(w, f, axis, i)) w->face[axis][i] = f;
    }
    return MO_OK;
}

static mo_status list_rows(assembly *s, mo_arena *arena, mo_error *err)
{
    int32_t tiles = s->w.g->tiles, *first = MO_ARENA_ARRAY(arena, int32_t, tiles + 1);
    if (!first) return mo_fail_memory(err);
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t t = 0; t < tiles; t++) first[t] = mo_strain_list(&s->w, t, NULL);
    s->rows = (int32_t)mo_prefix_sum(tiles, first);
    s->site = MO_ARENA_ARRAY(arena, mo_strain_site, s->rows + 1);
    if (!s->site) return mo_fail_memory(err);
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t t = 0; t < tiles; t++) mo_strain_list(&s->w, t, s->site + first[t]);
    return MO_OK;
}

// ---- The block ----

static mo_status allocate(assembly *s, mo_liquid_system *l)
{
    size_t rows = (size_t)s->rows;
    mo_block *b = s->block = l->system.block[MO_BLOCK_STRESS] = mo_calloc(sizeof *b);
    if (!b) return MO_ERROR_MEMORY;
    b->rows = s->rows;
    b->rhs = mo_calloc(sizeof(double) * rows), b->x = mo_calloc(sizeof(double) * rows);
    b->coord = mo_alloc(sizeof *b->coord * rows);
    l->sample_at = mo_alloc(sizeof(int32_t) * rows), l->viscosity = mo_alloc(sizeof(double) * rows);
    l->unit_compliance = mo_alloc(sizeof(double) * 2 * rows);
    bool ok = b->rhs && b->x && b->coord && l->sample_at && l->viscosity && l->unit_compliance;
    return ok ? mo_csr_create(s->rows, s->rows, 2 * (int64_t)s->rows, &b->compliance) : MO_ERROR_MEMORY;
}

// The other diagonal row of a cell in three dimensions, with which it has a compliance; -1: none.
static int32_t partner_of(const assembly *s, int32_t r)
{
    int component = s->site[r].component, other = component == MO_STRESS_XX ? r + 1 : r - 1;
    if (!s->w.d->reduced || s->w.axes == 2 || component > MO_STRESS_YY || other < 0 || other >= s->rows) return -1;
    bool paired = s->site[other].at == s->site[r].at && s->site[other].component == MO_STRESS_YY - component;
    return paired ? other : -1;
}

static void store_compliance(const assembly *s, mo_liquid_system *l, int32_t r, double W)
{
    mo_csr *S = &s->block->compliance;
    int64_t at = S->row[r];
    int32_t partner = partner_of(s, r);
    double own = s->site[r].component >= MO_STRESS_YZ || s->w.d->reduced ? W : 0.5 * W;
    if (partner < 0) {
        S->col[at] = r, l->unit_compliance[at] = own;
        return;
    }
    bool first = r < partner;
    S->col[at] = first ? r : partner, S->col[at + 1] = first ? partner : r;
    l->unit_compliance[at] = first ? own : 0.5 * W, l->unit_compliance[at + 1] = first ? 0.5 * W : own;
}

static int32_t cell_of(const assembly *s, int32_t r)
{
    const mo_strain_site *site = &s->site[r];
    if (site->component == MO_STRAIN_GAP) return s->w.g->sites->gap[s->w.l->gap_at[site->at]].cell;
    return site->component >= MO_STRESS_YZ ? site->at : mo_site_cell(s->w.g, site->at);
}

// The solid that the solve moves; -1: none. Cloth is none.
static int32_t unknown_of(const mo_strain_world *w, const mo_mover *by)
{
    if (by->triangle >= 0) return w->p->sheet_solid ? w->p->sheet_solid[by->triangle] : -1;
    return by->solid >= 0 && mo_solid_moves(w->p->solids, by->solid) ? by->solid : -1;
}

static int32_t fill_row(void *user, int32_t r, int32_t thread, int32_t *col, double *val)
{
    assembly *s = user;
    mo_strain_row row;
    (void)thread;
    mo_strain_row_find(&s->w, &s->site[r], &row);
    memcpy(col, row.col, sizeof(int32_t) * (size_t)row.count);
    memcpy(val, row.val, sizeof(double) * (size_t)row.count);
    return row.count;
}

static void fill_rest(const assembly *s, mo_liquid_system *l, int32_t r)
{
    mo_strain_row row;
    mo_strain_row_find(&s->w, &s->site[r], &row);
    double c = -row.known;
    for (int32_t k = 0; k < row.moves; k++) {
        const mo_strain_move *m = &row.move[k];
        mo_column own[MO_CLOTH_COLUMNS];
        bool moves = unknown_of(&s->w, &m->by) >= 0 || mo_mover_columns(&s->w, &m->by, m->x, m->axis, own);
        if (!moves) c -= m->factor * mo_mover_velocity(&s->w, &m->by, m->x, m->axis);
    }
    int32_t cell = cell_of(s, r);
    s->block->rhs[r] = c;
    mo_grid_cell(s->w.g, cell, s->block->coord[r]);
    l->sample_at[r] = mo_stress_code(cell, s->site[r].component), l->viscosity[r] = row.viscosity;
    store_compliance(s, l, r, row.weight);
}

static void couple_row(const void *user, int32_t r, mo_solid_row *out)
{
    const assembly *s = user;
    mo_strain_row row;
    mo_strain_row_find(&s->w, &s->site[r], &row);
    for (int32_t k = 0; k < row.moves; k++) {
        const mo_strain_move *m = &row.move[k];
        int32_t solid = unknown_of(&s->w, &m->by);
        mo_vec3 e = {m->axis == 0, m->axis == 1, m->axis == 2};
        mo_column own[MO_CLOTH_COLUMNS];
        bool cloth = mo_mover_columns(&s->w, &m->by, m->x, m->axis, own);
        for (int v = 0; cloth && v < MO_CLOTH_COLUMNS; v++) mo_solid_row_merge(out, 1, &own[v], m->factor);
        if (solid >= 0) mo_solid_row_add(out, s->w.p->solids, solid, m->x, e, m->factor);
    }
}

// The rows of the grid in whose liquid each row of strain lies: counts them, or writes them.
static void list_homes(const assembly *s, mo_liquid_system *l, bool write)
{
#pragma omp parallel for schedule(static)
    for (int32_t r = 0; r < s->rows; r++) {
        mo_strain_row row;
        mo_strain_row_find(&s->w, &s->site[r], &row);
        if (write)
            memcpy(l->home + l->first_home[r], row.home, sizeof(int32_t) * (size_t)row.homes);
        else
            l->first_home[r + 1] = row.homes;
    }
}

static mo_status find_homes(const assembly *s, mo_liquid_system *l)
{
    l->first_home = mo_calloc(sizeof(int64_t) * ((size_t)s->rows + 1));
    if (!l->first_home) return MO_ERROR_MEMORY;
    list_homes(s, l, false);
    for (int32_t r = 0; r < s->rows; r++) l->first_home[r + 1] += l->first_home[r];
    l->home = mo_alloc(sizeof(int32_t) * ((size_t)l->first_home[s->rows] + 1));
    if (!l->home) return MO_ERROR_MEMORY;
    list_homes(s, l, true);
    return MO_OK;
}

static mo_status fill(assembly *s, mo_liquid_system *l)
{
    mo_block *b = s->block;
    const mo_solid_set *solids = s->w.p->solids;
    MO_TRY(mo_csr_collect(s->rows, l->system.faces.count, MO_STRAIN_WIDTH, fill_row, s, &b->on[MO_FACES]));
    for (int32_t r = 0; r < s->rows; r++)
        b->compliance.row[r + 1] = b->compliance.row[r] + (partner_of(s, r) >= 0 ? 2 : 1);
#pragma omp parallel for schedule(static)
    for (int32_t r = 0; r < s->rows; r++) fill_rest(s, l, r);
    mo_stress_set_viscosity(l, l->viscosity);
    if (s->w.d->varies) MO_TRY(find_homes(s, l));
    return solids && solids->body ? mo_solid_rows_create(s->rows, solids, couple_row, s, b->on) : MO_OK;
}

// ---- The lattice of the form `viscous` ----

// Gaps belong to the axis along which they lead most.
static void place_face(const mo_strain_world *w, int32_t f, int32_t out[4])
{
    const mo_liquid_system *l = w->l;
    int32_t code = l->face_at[f], faces = l->system.faces.count - l->gaps;
    int axis = 0;
    if (f < faces) {
        axis = mo_face_axis(code);
        mo_grid_cell(w->g, mo_sample_cell(w->g, axis, mo_face_sample(code)), out);
    } else {
        const mo_gap *gap = &w->g->sites->gap[l->gap_at[f - faces]];
        for (int a = 1; a < w->axes; a++)
            if (fabs(gap->normal[a]) > fabs(gap->normal[axis])) axis = a;
        mo_grid_cell(w->g, gap->cell, out);
    }
    out[3] = axis;
}

// The trace that the rows of a side lack: 2 eta W (D:D - div^2 / axes), with the volume's divergence.
static void find_traces(const assembly *s, mo_face_lattice *t)
{
    const mo_strain_world *w = &s->w;
    for (int32_t r = 0; r < w->l->system.block[MO_BLOCK_PRESSURE]->rows; r++) t->strain[r] = -1, t->trace[r] = 0;
    for (int32_t r = 0; r < s->rows && w->d->reduced; r++) {
        if (s->site[r].component != MO_STRESS_XX || (w->axes == 3 && partner_of(s, r) < 0)) continue;
        int32_t p = w->row[s->site[r].at];
        double wet = mo_strain_wet(w, s->site[r].at);
        t->strain[p] = r, t->trace[p] = 2 * wet * wet / w->axes;
    }
}

static mo_status make_lattice(const assembly *s, mo_liquid_system *l)
{
    const mo_strain_world *w = &s->w;
    mo_system *y = &l->system;
    size_t faces = (size_t)y->faces.count, rows = (size_t)y->block[MO_BLOCK_PRESSURE]->rows;
    mo_face_lattice *t = y->lattice = mo_calloc(sizeof *t);
    if (!t) return MO_ERROR_MEMORY;
    t->axes = w->axes, t->dx = w->g->dx, t->origin = mo_grid_world(w->g, 0, 0, 0);
    t->face = mo_alloc(sizeof *t->face * faces), t->open = mo_alloc(sizeof(double) * faces);
    t->slender = mo_calloc(faces), t->aside = mo_calloc(faces);
    t->strain = mo_alloc(sizeof(int32_t) * rows), t->trace = mo_alloc(sizeof(double) * rows);
    if (!t->face || !t->open || !t->slender || !t->aside || !t->strain || !t->trace) return MO_ERROR_MEMORY;
    for (int32_t f = 0; f < y->faces.count; f++) {
        bool gap = f >= y->faces.count - l->gaps;
        place_face(w, f, t->face[f]);
        t->open[f] = 1, t->aside[f] = gap || mo_face_sample(l->face_at[f]) >= mo_grid_cells(w->g);
    }
    find_traces(s, t);
    return MO_OK;
}

mo_status mo_sheet_stress_add(const mo_sheet_stress_def *d, mo_arena *arena, mo_liquid_system *l, mo_error *err)
{
    MO_ASSERT(d->pressure && d->viscosity && d->pressure->solids && !l->system.block[MO_BLOCK_STRESS]);
    size_t mark = mo_arena_mark(arena);
    assembly s = {.rows = 0};
    mo_status status = start(d, l, arena, &s.w, err);
    if (status == MO_OK) status = list_rows(&s, arena, err);
    if (status == MO_OK && (allocate(&s, l) != MO_OK || fill(&s, l) != MO_OK || make_lattice(&s, l) != MO_OK))
        status = mo_fail_memory(err);
    mo_arena_release(arena, mark);
    return status;
}

// ---- Forces ----

mo_status mo_sheet_stress_force(const mo_sheet_stress_def *d, const mo_liquid_system *l, mo_arena *arena,
                                const mo_sheet_stress_forces *out, mo_error *err)
{
    size_t mark = mo_arena_mark(arena);
    assembly s = {.rows = 0};
    const double *x = l->system.block[MO_BLOCK_STRESS]->x;
    double dx = d->pressure->grid->dx;
    mo_status status = start(d, l, arena, &s.w, err);
    if (status == MO_OK) status = list_rows(&s, arena, err);
    for (int32_t r = 0; status == MO_OK && r < s.rows; r++) {
        mo_strain_row row;
        mo_strain_row_find(&s.w, &s.site[r], &row);
        for (int32_t k = 0; k < row.moves; k++) {
            const mo_strain_move *m = &row.move[k];
            int32_t at = m->by.triangle >= 0 ? m->by.triangle : m->by.solid;
            mo_vec3 *force = m->by.triangle >= 0 ? out->sheet : out->solid,
                    *torque = m->by.triangle >= 0 ? out->sheet_torque : out->solid_torque;
            if (!force) continue;
            mo_vec3 e = {m->axis == 0, m->axis == 1, m->axis == 2}, f = mo_mul(-dx * dx * dx * x[r] * m->factor, e);
            force[at] = mo_add(force[at], f);
            if (torque) torque[at] = mo_add(torque[at], mo_cross(m->x, f));
        }
    }
    mo_arena_release(arena, mark);
    return status;
}
