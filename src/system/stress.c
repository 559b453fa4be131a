// Assembly of the pressure and stress blocks of a viscous liquid on volume weights.
#include "base/parallel.h"
#include "system/stress_assembly.h"
#include <math.h>
#include <string.h>

enum { PRESSURE = 7 }; // bit of the pressure among the samples of a cell; bits 0..6 are MO_STRESS_...

// ---- Samples ----

// The axes across the edge of a sample, along `component - MO_STRESS_YZ`.
static void edge_axes(int component, int *b, int *c)
{
    *b = component == MO_STRESS_YZ, *c = component == MO_STRESS_XY ? 1 : 2;
}

// The faces of D_aa at cell i: (u_a(i + a) - u_a(i)) / dx.
static int diagonal_terms(const mo_stress_assembly *s, int32_t i, int axis, int sign, mo_stress_term *t)
{
    t[0] = (mo_stress_term){i, axis, -sign};
    t[1] = (mo_stress_term){mo_grid_step(s->g, i, axis, 1), axis, sign};
    return 2;
}

int mo_stress_strain_terms(const mo_stress_assembly *s, int32_t i, int kind, mo_stress_term t[4])
{
    if (kind >= MO_STRESS_YZ) { // du_b/dx_c + du_c/dx_b
        int b, c;
        edge_axes(kind, &b, &c);
        t[0] = (mo_stress_term){i, b, 1}, t[1] = (mo_stress_term){mo_grid_step(s->g, i, c, -1), b, -1};
        t[2] = (mo_stress_term){i, c, 1}, t[3] = (mo_stress_term){mo_grid_step(s->g, i, b, -1), c, -1};
        return 4;
    }
    int n = diagonal_terms(s, i, kind, 1, t);
    return s->d->reduced ? n + diagonal_terms(s, i, s->axes - 1, -1, t + n) : n;
}

int mo_stress_pressure_terms(const mo_stress_assembly *s, int32_t i, mo_stress_term t[6])
{
    int n = 0;
    for (int a = 0; a < s->axes; a++) n += diagonal_terms(s, i, a, -1, t + n);
    return n;
}

// Whether all faces of a row are known or unknown, not air, and some unknown.
static bool has_faces(const mo_stress_assembly *s, const mo_stress_term *t, int n, bool stress)
{
    bool any = false;
    for (int k = 0; k < n; k++) {
        uint8_t state = t[k].at < 0 ? MO_FACE_AIR : s->state[t[k].axis][t[k].at];
        if (state == MO_FACE_AIR || (stress && state == MO_FACE_SLIP)) return false;
        if (stress && state == MO_FACE_FREE && mo_face_is_light(s->d, t[k].axis, t[k].at)) return false;
        any |= state == MO_FACE_FREE;
    }
    return any;
}

void mo_stress_cells_round(const mo_grid *g, int32_t cell, int component, int32_t round[4])
{
    round[0] = cell, round[1] = round[2] = round[3] = -1;
    if (component < MO_STRESS_YZ) return;
    int b, c;
    edge_axes(component, &b, &c);
    round[1] = mo_grid_step(g, cell, b, -1), round[2] = mo_grid_step(g, cell, c, -1);
    round[3] = round[1] < 0 ? -1 : mo_grid_step(g, round[1], c, -1);
}

// Harmonic mean of the known viscosities round a sample; 0: none.
static double viscosity_at(const mo_stress_assembly *s, int32_t i, int stress)
{
    const float *eta = s->d->viscosity;
    int32_t cell[4];
    double sum = 0;
    int n = 0;
    mo_stress_cells_round(s->g, i, stress, cell);
    for (int k = 0; k < 4; k++) {
        if (cell[k] < 0 || eta[cell[k]] < 0) continue;
        if (eta[cell[k]] == 0) return 0;
        sum += 1.0 / eta[cell[k]], n++;
    }
    return n ? n / sum : 0;
}

static uint8_t find_rows(const mo_stress_assembly *s, int32_t i)
{
    const mo_stress_def *d = s->d;
    mo_stress_term t[MO_STRESS_ENTRIES];
    uint8_t rows = 0;
    if (mo_weight_liquid(d, MO_SAMPLE_CELL, i) > 0 && mo_weight_fluid(d, MO_SAMPLE_CELL, i) > 0) {
        int n = mo_stress_pressure_terms(s, i, t);
        if (has_faces(s, t, n, false)) rows |= 1u << PRESSURE;
        bool stressed = rows && has_faces(s, t, n, true) && mo_stress_liquid(d, MO_SAMPLE_CELL, i) > 0 &&
                        mo_stress_fluid(d, MO_SAMPLE_CELL, i) > 0 && viscosity_at(s, i, MO_STRESS_XX) > 0;
        for (int a = 0; stressed && a < s->axes - d->reduced; a++) rows |= 1u << a;
    }
    for (int kind = s->axes == 2 ? MO_STRESS_XY : MO_STRESS_YZ; kind <= MO_STRESS_XY; kind++)
        if (mo_stress_liquid(d, kind, i) > 0 && mo_stress_fluid(d, kind, i) > 0 &&
            has_faces(s, t, mo_stress_strain_terms(s, i, kind, t), true) && viscosity_at(s, i, kind) > 0)
            rows |= 1u << kind;
    return rows;
}

// ---- Numbering ----

static mo_status number_unknowns(mo_stress_assembly *s, mo_arena *arena, mo_error *err)
{
    int32_t tiles = s->g->tiles;
    int64_t cells = mo_grid_cells(s->g);
    int32_t *first = MO_ARENA_ARRAY(arena, int32_t, tiles + 1);
    s->pressure = MO_ARENA_ARRAY(arena, int32_t, tiles + 1), s->stress = MO_ARENA_ARRAY(arena, int32_t, tiles + 1);
    s->rows = MO_ARENA_ARRAY(arena, uint8_t, cells + 1);
    for (int a = 0; a < 3; a++) s->face[a] = MO_ARENA_ARRAY(arena, int32_t, cells + 1);
    if (!first || !s->pressure || !s->stress || !s->rows || !s->face[0] || !s->face[1] || !s->face[2])
        return mo_fail_memory(err);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles; t++) {
        int32_t faces = 0, pressures = 0, stresses = 0;
        for (int32_t i = t * MO_TILE_CELLS; i < (t + 1) * MO_TILE_CELLS; i++) {
            s->rows[i] = find_rows(s, i);
            pressures += s->rows[i] >> PRESSURE;
            stresses += __builtin_popcount(s->rows[i] & ((1u << PRESSURE) - 1));
            for (int a = 0; a < 3; a++) s->face[a][i] = s->state[a][i] == MO_FACE_FREE ? faces++ : -1;
        }
        first[t] = faces, s->pressure[t] = pressures, s->stress[t] = stresses;
    }
    s->faces = (int32_t)mo_prefix_sum(tiles, first);
    s->pressures = (int32_t)mo_prefix_sum(tiles, s->pressure);
    s->stresses = (int32_t)mo_prefix_sum(tiles, s->stress);
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles; t++)
        for (int32_t i = t * MO_TILE_CELLS; i < (t + 1) * MO_TILE_CELLS; i++)
            for (int a = 0; a < 3; a++)
                if (s->face[a][i] >= 0) s->face[a][i] += first[t];
    return MO_OK;
}

// ---- Storage ----

static mo_block *new_block(int32_t rows, int32_t faces, int32_t entries)
{
    mo_block *b = mo_calloc(sizeof *b);
    if (!b) return NULL;
    b->rows = rows;
    b->rhs = mo_calloc(sizeof(double) * (size_t)rows);
    b->x = mo_calloc(sizeof(double) * (size_t)rows);
    b->coord = mo_alloc(sizeof *b->coord * (size_t)rows);
    if (b->rhs && b->x && b->coord && mo_csr_create(rows, faces, (int64_t)entries * rows, &b->on[MO_FACES]) == MO_OK)
        return b;
    mo_block_destroy(b);
    return NULL;
}

static mo_status allocate(const mo_stress_assembly *s, mo_liquid_system *out, mo_error *err)
{
    mo_system *y = &out->system;
    y->dt = s->d->dt;
    out->face_at = mo_alloc(sizeof(int32_t) * (size_t)s->faces);
    out->cell_at = mo_alloc(sizeof(int32_t) * (size_t)s->pressures);
    out->sample_at = mo_alloc(sizeof(int32_t) * (size_t)s->stresses);
    out->viscosity = mo_alloc(sizeof(double) * (size_t)s->stresses);
    out->unit_compliance = mo_alloc(sizeof(double) * 2 * (size_t)s->stresses);
    mo_block *p = y->block[MO_BLOCK_PRESSURE] = new_block(s->pressures, s->faces, MO_STRESS_ENTRIES);
    mo_block *v = y->block[MO_BLOCK_STRESS] = new_block(s->stresses, s->faces, 4);
    bool ok = mo_faces_create(s->faces, &y->faces) == MO_OK && out->face_at && out->cell_at && out->sample_at &&
              out->viscosity && out->unit_compliance && p && v;
    if (!ok || mo_csr_create(s->stresses, s->stresses, 2 * (int64_t)s->stresses, &v->compliance) != MO_OK)
        return mo_fail_memory(err);
    return MO_OK;
}

// ---- Rows ----

static void fill_face(const mo_stress_assembly *s, mo_liquid_system *out, int32_t i, int axis)
{
    const mo_stress_def *d = s->d;
    int32_t f = s->face[axis][i], kind = MO_SAMPLE_FACE + axis;
    out->system.faces.mass[f] = d->density * mo_weight_fluid(d, kind, i) * mo_weight_liquid(d, kind, i);
    out->system.faces.velocity[f] = d->u[axis][i];
    out->face_at[f] = mo_face_code(i, axis);
}

int mo_stress_row_entries(const mo_stress_assembly *s, const mo_stress_term *t, int n, double weight, bool stress,
                          mo_stress_entry *e, double *c)
{
    const mo_stress_def *d = s->d;
    int count = 0;
    *c = 0;
    for (int k = 0; k < n; k++) {
        int32_t at = t[k].at, kind = MO_SAMPLE_FACE + t[k].axis, face = s->face[t[k].axis][at];
        double value = weight * t[k].sign / s->g->dx, open = 0;
        if (face >= 0) open = stress ? mo_stress_fluid(d, kind, at) : mo_weight_fluid(d, kind, at);
        if (s->solid[0]) {
            const float *v = stress && face >= 0 ? s->stick[t[k].axis] : s->solid[t[k].axis];
            *c -= value * (1 - open) * v[at];
        }
        if (face < 0) continue;
        int p = count++;
        for (; p > 0 && e[p - 1].col > face; p--) e[p] = e[p - 1];
        e[p] = (mo_stress_entry){face, value * open};
    }
    return count;
}

static void store_row(mo_block *b, int32_t row, const mo_stress_entry *e, int count, double c, const mo_grid *g,
                      int32_t i)
{
    MO_ASSERT(row >= 0 && row < b->rows && count >= 0);
    for (int k = 0; k < count; k++) {
        b->on[MO_FACES].col[b->on[MO_FACES].row[row] + k] = e[k].col;
        b->on[MO_FACES].val[b->on[MO_FACES].row[row] + k] = e[k].val;
    }
    b->rhs[row] = c;
    mo_grid_cell(g, i, b->coord[row]);
}

// Compliance of one row for viscosity 1 (docs/math.md 2.3): edges W, diagonal samples W/2 [2 1; 1 2],
// [2], or unreduced [1].
static void store_compliance(const mo_stress_assembly *s, mo_liquid_system *out, int32_t i, int32_t row, int stress)
{
    mo_csr *S = &out->system.block[MO_BLOCK_STRESS]->compliance;
    int kind = mo_stress_sample_kind(stress);
    double W = mo_stress_liquid(s->d, kind, i) * mo_stress_fluid(s->d, kind, i);
    int64_t at = S->row[row];
    bool paired = S->row[row + 1] - at == 2;
    int32_t partner = stress == MO_STRESS_XX ? row + 1 : row - 1;
    double own = stress >= MO_STRESS_YZ || s->d->reduced ? W : 0.5 * W;
    if (paired) {
        S->col[at] = row < partner ? row : partner, S->col[at + 1] = row < partner ? partner : row;
        out->unit_compliance[at] = row < partner ? own : 0.5 * W,
        out->unit_compliance[at + 1] = row < partner ? 0.5 * W : own;
    } else
        S->col[at] = row, out->unit_compliance[at] = own;
}

// The diagonal rows of a cell are coupled in 3D, where both are there.
static bool is_paired(const mo_stress_assembly *s, uint8_t rows, int stress)
{
    return s->d->reduced && s->axes == 3 && stress <= MO_STRESS_YY && (rows & 3) == 3;
}

// Visits the rows of a tile: lengths only, or contents too.
static void tile_rows(const mo_stress_assembly *s, mo_liquid_system *out, int32_t tile, bool contents)
{
    const mo_stress_def *d = s->d;
    mo_block *p = out->system.block[MO_BLOCK_PRESSURE], *v = out->system.block[MO_BLOCK_STRESS];
    int32_t pressure = s->pressure[tile], stress = s->stress[tile];
    mo_stress_term t[MO_STRESS_ENTRIES];
    mo_stress_entry e[MO_STRESS_ENTRIES];
    double c;
    for (int32_t i = tile * MO_TILE_CELLS; i < (tile + 1) * MO_TILE_CELLS; i++) {
        for (int a = 0; contents && a < s->axes; a++)
            if (s->face[a][i] >= 0) fill_face(s, out, i, a);
        if (s->rows[i] >> PRESSURE) {
            int n = mo_stress_row_entries(s, t, mo_stress_pressure_terms(s, i, t), 1, false, e, &c);
            if (contents)
                store_row(p, pressure, e, n, c, s->g, i), out->cell_at[pressure] = i;
            else
                p->on[MO_FACES].row[pressure + 1] = n;
            pressure++;
        }
        for (int kind = 0; kind < PRESSURE; kind++) {
            if (!(s->rows[i] >> kind & 1)) continue;
            double weight = mo_stress_liquid(d, mo_stress_sample_kind(kind), i);
            int n = mo_stress_row_entries(s, t, mo_stress_strain_terms(s, i, kind, t), weight, true, e, &c);
            if (contents) {
                store_row(v, stress, e, n, c, s->g, i);
                store_compliance(s, out, i, stress, kind);
                out->sample_at[stress] = mo_stress_code(i, kind);
                out->viscosity[stress] = viscosity_at(s, i, kind);
            } else
                v->on[MO_FACES].row[stress + 1] = n, v->compliance.row[stress + 1] = 1 + is_paired(s, s->rows[i], kind);
            stress++;
        }
    }
}

static void sum_rows(mo_csr *A)
{
    for (int32_t i = 0; i < A->rows; i++) A->row[i + 1] += A->row[i];
}

static void fill(const mo_stress_assembly *s, mo_liquid_system *out)
{
    mo_block *p = out->system.block[MO_BLOCK_PRESSURE], *v = out->system.block[MO_BLOCK_STRESS];
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < s->g->tiles; t++) tile_rows(s, out, t, false);
    sum_rows(&p->on[MO_FACES]), sum_rows(&v->on[MO_FACES]), sum_rows(&v->compliance);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < s->g->tiles; t++) tile_rows(s, out, t, true);
}

// ---- Assembly ----

static mo_status prepare(const mo_stress_def *d, mo_stress_assembly *s, mo_arena *arena, mo_liquid_system *out,
                         mo_error *err)
{
    int64_t cells = mo_grid_cells(d->grid);
    *s = (mo_stress_assembly){.d = d, .g = d->grid, .axes = mo_grid_axes(d->grid)};
    if (cells > INT32_MAX / 8) return mo_fail(err, MO_ERROR_INPUT, "too many cells for one system");
    out->state = mo_alloc(3 * (size_t)cells);
    if (!out->state) return mo_fail_memory(err);
    for (int a = 0; a < 3; a++) s->state[a] = out->state + a * cells;
    mo_stress_face_states(d, s->state);
    if (d->fixed || (d->solids && d->solids->velocity)) {
        for (int a = 0; a < 3; a++) {
            s->solid[a] = MO_ARENA_ARRAY(arena, float, cells + 1),
            s->stick[a] = MO_ARENA_ARRAY(arena, float, cells + 1);
            if (!s->solid[a] || !s->stick[a]) return mo_fail_memory(err);
        }
        mo_stress_solid_velocity(d, s->solid, s->stick);
    }
    return number_unknowns(s, arena, err);
}

mo_status mo_stress_assemble(const mo_stress_def *d, mo_arena *arena, mo_liquid_system *out, mo_error *err)
{
    MO_ASSERT(d->density > 0 && d->dt >= 0 && d->clamp >= 0 && d->clamp < 1);
    MO_ASSERT(d->grid && d->weights && d->solids && d->viscosity && d->u);
    size_t mark = mo_arena_mark(arena);
    mo_stress_assembly s;
    *out = (mo_liquid_system){0};
    mo_status status = prepare(d, &s, arena, out, err);
    if (status == MO_OK) status = allocate(&s, out, err);
    if (status == MO_OK) {
        fill(&s, out);
        mo_stress_set_viscosity(out, out->viscosity);
        status = mo_stress_hosts(d, arena, out, err);
        if (status == MO_OK) status = mo_stress_couple(&s, arena, out, err);
        if (status == MO_OK) status = mo_stress_lattice(d, arena, out, err);
    }
    if (status != MO_OK) mo_liquid_destroy(out);
    mo_arena_release(arena, mark);
    return status;
}

void mo_stress_set_viscosity(mo_liquid_system *s, const double *viscosity)
{
    mo_csr *S = &s->system.block[MO_BLOCK_STRESS]->compliance;
#pragma omp parallel for schedule(static)
    for (int32_t r = 0; r < S->rows; r++) {
        s->viscosity[r] = viscosity[r];
        for (int64_t k = S->row[r]; k < S->row[r + 1]; k++) S->val[k] = s->unit_compliance[k] / viscosity[r];
    }
}

// ---- Strain ----

void mo_stress_strain(const mo_liquid_system *s, double *strain)
{
    const mo_block *b = s->system.block[MO_BLOCK_STRESS];
#pragma omp parallel for schedule(static)
    for (int32_t r = 0; r < b->rows; r++) strain[r] = b->x[r] / (2 * s->viscosity[r]);
}

// B u - c = S s = (unit S) 2 D: solve the small blocks.
void mo_stress_strain_of(const mo_liquid_system *s, double *strain)
{
    const mo_block *b = s->system.block[MO_BLOCK_STRESS];
    const mo_csr *S = &b->compliance;
    mo_block_residual(&s->system, b, strain);
    for (int32_t r = 0; r < b->rows; r++) {
        const double *unit = s->unit_compliance + S->row[r];
        if (S->row[r + 1] - S->row[r] == 1) {
            strain[r] /= 2 * unit[0];
            continue;
        }
        double x = strain[r], y = strain[r + 1], det = unit[0] * unit[3] - unit[1] * unit[2];
        strain[r] = 0.5 * (unit[3] * x - unit[1] * y) / det;
        strain[r + 1] = 0.5 * (unit[0] * y - unit[2] * x) / det;
        r++;
    }
}
