// The blocks of viscous liquids against dense references on small random worlds: operators, dual matrix, solutions,
// schemes, rounds, threads, lack of memory. The physics: test_system_stress_physics.c.
#include "stress_test.h"

// ---- The blocks from the weights, by loops over lattice coordinates ----

typedef struct reference { // one entry per field index; stress kinds and 3 = the pressure
    const world *w;
    const mo_stress_def *d;
    const mo_liquid_system *s;
    int32_t *face[3], *row[8];
    double *all[3], *stick[3]; // sum over solids of their part times their velocity
} reference;

static double clamped(const mo_stress_def *d, double w) { return w <= 0 ? 0 : fmax(w, d->clamp); }

static double slippery(const mo_stress_def *d, int kind, int32_t i)
{
    return 1.0 - d->weights->fluid[kind][i] - d->weights->stick[kind][i];
}

static void make_reference(reference *r, const world *w, const mo_stress_def *d, const mo_liquid_system *s)
{
    const mo_grid *g = d->grid;
    int64_t cells = mo_grid_cells(g);
    *r = (reference){.w = w, .d = d, .s = s};
    for (int a = 0; a < 3; a++) {
        r->face[a] = malloc(sizeof(int32_t) * (size_t)cells), r->all[a] = dense(cells), r->stick[a] = dense(cells);
        for (int64_t i = 0; i < cells; i++) r->face[a][i] = -1;
    }
    for (int k = 0; k < 8; k++) {
        r->row[k] = malloc(sizeof(int32_t) * (size_t)cells);
        for (int64_t i = 0; i < cells; i++) r->row[k][i] = -1;
    }
    const mo_system *y = &s->system;
    for (int32_t f = 0; f < y->faces.count; f++)
        r->face[mo_face_axis(s->face_at[f])][mo_face_sample(s->face_at[f])] = f;
    for (int32_t p = 0; p < y->block[MO_BLOCK_PRESSURE]->rows; p++) r->row[3][s->cell_at[p]] = p;
    for (int32_t p = 0; p < y->block[MO_BLOCK_STRESS]->rows; p++) r->row[s->sample_at[p] & 7][s->sample_at[p] >> 3] = p;
    for (int32_t k = 0; k < d->weights->covers; k++) {
        const mo_cover *c = &d->weights->cover[k];
        for (int a = 0; a < 3; a++)
            for (int32_t l = 0; l < MO_TILE_CELLS; l++) {
                int32_t i = c->tile * MO_TILE_CELLS + l;
                double v = mo_get(world_velocity(w, c->solid, face_position(g, i, a)), a) * c->part[a][l];
                r->all[a][i] += v;
                if (!w->slip[c->solid]) r->stick[a][i] += v;
            }
    }
}

static void destroy_reference(reference *r)
{
    for (int a = 0; a < 3; a++) free(r->face[a]), free(r->all[a]), free(r->stick[a]);
    for (int k = 0; k < 8; k++) free(r->row[k]);
}

static bool is_dead(const mo_stress_def *d, const int32_t c[3], int kind)
{
    int32_t i = mo_grid_index(d->grid, c[0], c[1], c[2]);
    if (i < 0 || d->weights->liquid[kind][i] <= 0) return false;
    return kind == MO_SAMPLE_CELL ? d->weights->fluid[kind][i] <= 0 : d->weights->stick[kind][i] >= 1;
}

// Whether the face is unknown, air or known, from the weights alone.
static int expected_state(const mo_stress_def *d, const int32_t c[3], int axis, bool flat)
{
    int32_t i = mo_grid_index(d->grid, c[0], c[1], c[2]);
    if (d->fixed && d->fixed[axis][i]) return MO_FACE_SOLID;
    if (d->weights->fluid[MO_SAMPLE_FACE + axis][i] <= 0) return MO_FACE_SOLID;
    if (d->weights->liquid[MO_SAMPLE_FACE + axis][i] <= 0) return MO_FACE_AIR;
    int32_t o[3] = {c[0], c[1], c[2]};
    bool dead = is_dead(d, c, MO_SAMPLE_CELL);
    o[axis]--;
    dead |= is_dead(d, o, MO_SAMPLE_CELL), o[axis]++;
    for (int b = 0; b < 3; b++) {
        if (b == axis || (flat && b == 2)) continue;
        dead |= is_dead(d, c, MO_SAMPLE_EDGE + 3 - axis - b);
        o[b]++;
        dead |= is_dead(d, o, MO_SAMPLE_EDGE + 3 - axis - b), o[b]--;
    }
    return dead ? MO_FACE_SOLID : MO_FACE_FREE;
}

typedef struct stencil {
    int32_t at[6][3];
    int axis[6], n;
    double sign[6];
} stencil;

static void add_term(stencil *t, const int32_t c[3], int step, int axis, int along, double sign)
{
    memcpy(t->at[t->n], c, sizeof t->at[0]);
    if (step) t->at[t->n][along] += step;
    t->axis[t->n] = axis, t->sign[t->n++] = sign;
}

static stencil stencil_of(const int32_t c[3], int kind, bool flat, bool reduced)
{
    stencil t = {.n = 0};
    if (kind == 3) // minus the divergence
        for (int a = 0; a < (flat ? 2 : 3); a++) add_term(&t, c, 0, a, a, 1), add_term(&t, c, 1, a, a, -1);
    else if (kind < 3) {
        int last = flat ? 1 : 2;
        add_term(&t, c, 1, kind, kind, 1), add_term(&t, c, 0, kind, kind, -1);
        if (reduced) add_term(&t, c, 1, last, last, -1), add_term(&t, c, 0, last, last, 1);
    } else {
        int a = kind == 4 ? 1 : 0, b = kind == 6 ? 1 : 2;
        add_term(&t, c, 0, a, b, 1), add_term(&t, c, -1, a, b, -1);
        add_term(&t, c, 0, b, a, 1), add_term(&t, c, -1, b, a, -1);
    }
    return t;
}

static int state_at(const reference *r, const int32_t c[3], int axis)
{
    int32_t i = mo_grid_index(r->d->grid, c[0], c[1], c[2]);
    return i < 0 ? MO_FACE_AIR : r->s->state[axis * mo_grid_cells(r->d->grid) + i];
}

static bool all_known(const reference *r, const stencil *t, bool stress)
{
    bool any = false;
    for (int k = 0; k < t->n; k++) {
        int state = state_at(r, t->at[k], t->axis[k]);
        if (state == MO_FACE_AIR || (stress && state == MO_FACE_SLIP)) return false;
        int32_t i = mo_grid_index(r->d->grid, t->at[k][0], t->at[k][1], t->at[k][2]);
        double wet = r->d->weights->liquid[MO_SAMPLE_FACE + t->axis[k]][i];
        if (stress && state == MO_FACE_FREE && wet < fmax(r->d->clamp, mo_weight_least)) return false; // light
        any |= state == MO_FACE_FREE;
    }
    return any;
}

static double stress_part(const mo_stress_def *d, int kind, int32_t i) // WL of a stress sample
{
    return clamped(d, d->weights->liquid[kind][i] * (1 - slippery(d, kind, i)));
}

// Expects a row where the rules of VS 5.3 want one, with the entries of weight * stencil * open part.
static int32_t check_row(const reference *r, const int32_t c[3], int kind)
{
    const mo_stress_def *d = r->d;
    bool flat = r->w->flat, pressure = kind == 3;
    int32_t i = mo_grid_index(d->grid, c[0], c[1], c[2]), sample = kind < 4 ? MO_SAMPLE_CELL : kind;
    stencil t = stencil_of(c, kind, flat, d->reduced), cell = stencil_of(c, 3, flat, d->reduced);
    bool expected = d->weights->liquid[sample][i] > 0 && all_known(r, kind < 4 ? &cell : &t, !pressure);
    if (kind < 4) expected &= d->weights->fluid[sample][i] > 0;
    if (!pressure) expected &= stress_part(d, sample, i) > 0 && d->weights->stick[sample][i] < 1;
    int32_t row = r->row[kind][i];
    assert_int_equal(row >= 0, expected);
    if (row < 0) return 0;
    const mo_block *b = r->s->system.block[pressure ? MO_BLOCK_PRESSURE : MO_BLOCK_STRESS];
    assert_memory_equal(b->coord[row], c, sizeof b->coord[row]);
    double weight = pressure ? 1 : stress_part(d, sample, i), known = 0;
    int32_t entries = 0;
    for (int k = 0; k < t.n; k++) {
        int32_t at = mo_grid_index(d->grid, t.at[k][0], t.at[k][1], t.at[k][2]), a = t.axis[k], face = r->face[a][at];
        double value = weight * t.sign[k] / d->grid->dx, open = 0, solid = 0, taken;
        double covered = 1.0 - d->weights->fluid[MO_SAMPLE_FACE + a][at],
               held = d->weights->stick[MO_SAMPLE_FACE + a][at];
        if (d->fixed && d->fixed[a][at]) {
            known += value * d->u[a][at];
            continue;
        }
        taken = pressure || face < 0 ? covered : held;
        if (face >= 0) open = 1 - taken;
        if (taken > 0) solid = (pressure || face < 0 ? r->all : r->stick)[a][at] / taken;
        known += value * (1 - open) * solid;
        if (face < 0) continue;
        double found = 0;
        for (int64_t e = b->on[MO_FACES].row[row]; e < b->on[MO_FACES].row[row + 1]; e++)
            if (b->on[MO_FACES].col[e] == face) found = b->on[MO_FACES].val[e];
        assert_true(fabs(found - value * open) <= 1e-13 * fabs(value));
        entries++;
    }
    assert_int_equal(b->on[MO_FACES].row[row + 1] - b->on[MO_FACES].row[row], entries);
    for (int64_t e = b->on[MO_FACES].row[row] + 1; e < b->on[MO_FACES].row[row + 1]; e++)
        assert_true(b->on[MO_FACES].col[e - 1] < b->on[MO_FACES].col[e]);
    assert_true(fabs(b->rhs[row] + known) < 2e-6 * weight / d->grid->dx * 4);
    return 1;
}

// S = W / (2 eta) [2 1; 1 2], W / eta for edges, W / (2 eta) for each of all diagonal stresses.
static void check_compliance(const reference *r, int32_t row)
{
    const mo_stress_def *d = r->d;
    const mo_csr *S = &r->s->system.block[MO_BLOCK_STRESS]->compliance;
    int32_t i = r->s->sample_at[row] >> 3, kind = r->s->sample_at[row] & 7, sample = kind < 4 ? MO_SAMPLE_CELL : kind;
    double W = stress_part(d, sample, i) * clamped(d, 1.0 - d->weights->stick[sample][i]) / (2 * r->w->viscosity);
    bool pair = d->reduced && !r->w->flat && kind < 2;
    assert_int_equal(S->row[row + 1] - S->row[row], 1 + pair);
    for (int64_t e = S->row[row]; e < S->row[row + 1]; e++) {
        double expected = S->col[e] != row ? W : kind >= 4 || d->reduced ? 2 * W : W;
        if (S->col[e] != row) assert_int_equal(S->col[e], r->row[1 - kind][i]);
        assert_true(fabs(S->val[e] - expected) <= 1e-7 * expected); // the viscosity is a float
    }
}

// Faces that follow another are light, their hosts not, and beside them across the axis. Returns how many follow.
static int32_t check_followers(const mo_stress_def *d, const mo_liquid_system *l)
{
    int32_t followers = 0;
    for (int32_t f = 0; f < l->system.faces.count; f++) {
        if (l->host[f] < 0 || l->host[f] == f) continue;
        int32_t face = l->face_at[f], host = l->face_at[l->host[f]], axis = mo_face_axis(face), a[3], b[3], apart = 0;
        const float *wet = d->weights->liquid[MO_SAMPLE_FACE + axis];
        double light = fmax(d->clamp, mo_weight_least);
        assert_int_equal(axis, mo_face_axis(host));
        assert_true(wet[mo_face_sample(face)] < light && wet[mo_face_sample(host)] >= light);
        mo_grid_cell(d->grid, mo_face_sample(face), a), mo_grid_cell(d->grid, mo_face_sample(host), b);
        assert_int_equal(a[axis], b[axis]);
        for (int e = 0; e < 3; e++) apart += abs(a[e] - b[e]);
        assert_int_equal(apart, 1);
        followers++;
    }
    return followers;
}

// From every loose face one comes to ever wetter faces beside it and to one that is not loose: its velocity can be
// continued. Returns how many are loose.
static int32_t check_loose(const mo_stress_def *d, const mo_liquid_system *l)
{
    int64_t cells = mo_grid_cells(d->grid);
    int32_t loose = 0, *number = malloc(sizeof(int32_t) * 3 * (size_t)cells);
    for (int64_t i = 0; i < 3 * cells; i++) number[i] = -1;
    for (int32_t f = 0; f < l->system.faces.count; f++)
        number[mo_face_axis(l->face_at[f]) * cells + mo_face_sample(l->face_at[f])] = f;
    for (int32_t f = 0; f < l->system.faces.count; f++) {
        int32_t axis = mo_face_axis(l->face_at[f]), at = mo_face_sample(l->face_at[f]);
        const float *wet = d->weights->liquid[MO_SAMPLE_FACE + axis];
        loose += l->host[f] < 0;
        for (int32_t now = f, from = at; l->host[now] < 0; from = at, now = number[axis * cells + at]) {
            for (int e = 0; e < 6; e++) {
                int32_t n = mo_grid_step(d->grid, from, e >> 1, e & 1 ? 1 : -1);
                if (n >= 0 && number[axis * cells + n] >= 0 && wet[n] > wet[at]) at = n;
            }
            assert_true(wet[at] > wet[from]);
        }
    }
    free(number);
    return loose;
}

// Scattered, a follower changes by as much as its host, loose faces stay as they are, others get what the system found.
static void check_scatter(const mo_stress_def *d, const mo_liquid_system *l)
{
    size_t cells = (size_t)mo_grid_cells(d->grid);
    float *u[3];
    for (int a = 0; a < 3; a++) u[a] = memcpy(malloc(cells * sizeof(float)), d->u[a], cells * sizeof(float));
    for (int32_t f = 0; f < l->system.faces.count; f++) l->system.faces.velocity[f] += 0.25 + f % 7;
    mo_liquid_scatter(l, u, NULL);
    for (int32_t f = 0; f < l->system.faces.count; f++) {
        int32_t axis = mo_face_axis(l->face_at[f]), i = mo_face_sample(l->face_at[f]), host = l->host[f];
        float own = (float)l->system.faces.velocity[f], old = d->u[axis][i], now = u[axis][i];
        if (host < 0) assert_true(now == old);
        if (host == f) assert_true(now == own);
        if (host >= 0 && host != f) assert_true(fabs(now - old - 0.25 - host % 7) < 1e-5);
        l->system.faces.velocity[f] = old;
    }
    for (int a = 0; a < 3; a++) free(u[a]);
}

static void check_blocks(const world *w, const mo_stress_def *d, const mo_liquid_system *s)
{
    reference r;
    make_reference(&r, w, d, s);
    const mo_grid *g = d->grid;
    const mo_system *y = &s->system;
    int32_t pressures = 0, stresses = 0, faces = 0, axes = w->flat ? 2 : 3;
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
        int32_t c[3];
        mo_grid_cell(g, i, c);
        if (c[0] >= g->n[0] || c[1] >= g->n[1] || c[2] >= g->n[2]) { // tiles reach beyond the lattice
            for (int k = 0; k < 8; k++) assert_int_equal(r.row[k][i], -1);
            continue;
        }
        for (int a = 0; a < axes; a++) {
            int state = s->state[a * mo_grid_cells(g) + i], expected = expected_state(d, c, a, w->flat);
            bool slips = slippery(d, MO_SAMPLE_FACE + a, i) > d->weights->stick[MO_SAMPLE_FACE + a][i];
            assert_true(state == expected || (state == MO_FACE_SLIP && expected == MO_FACE_SOLID && slips));
            assert_int_equal(r.face[a][i] >= 0, state == MO_FACE_FREE);
            if (state != MO_FACE_FREE) continue;
            double mass =
                d->density * d->weights->fluid[MO_SAMPLE_FACE + a][i] * d->weights->liquid[MO_SAMPLE_FACE + a][i];
            assert_true(fabs(y->faces.mass[r.face[a][i]] - mass) <= 1e-12 * mass && mass > 0);
            assert_true(y->faces.velocity[r.face[a][i]] == d->u[a][i]);
            faces++;
        }
        pressures += check_row(&r, c, 3);
        for (int k = 0; k < axes - d->reduced; k++) stresses += check_row(&r, c, k);
        for (int k = w->flat ? 6 : 4; k < 7; k++) stresses += check_row(&r, c, k);
    }
    assert_int_equal(faces, y->faces.count);
    assert_int_equal(pressures, y->block[MO_BLOCK_PRESSURE]->rows);
    assert_int_equal(stresses, y->block[MO_BLOCK_STRESS]->rows);
    for (int32_t row = 0; row < stresses; row++) check_compliance(&r, row);
    assert_true(pressures > 10 && stresses > 10);
    destroy_reference(&r);
}

// ---- Many worlds: 2D and 3D, raw and clamped ----

typedef struct variant {
    uint32_t seed;
    bool flat, raw, inside;
    int32_t cells;
} variant;

// k = 0 .. 15.
static variant variant_of(int k)
{
    bool flat = k & 1;
    return (variant){100 + (uint32_t)k, flat, k >> 1 & 1, k >> 2 & 1, flat ? 10 + k / 4 : k >> 2 & 1 ? 8 : 6};
}
enum { VARIANTS = 16 };

static void open_variant(int k, world *w)
{
    variant v = variant_of(k);
    *w = random_world(v.seed, v.flat, v.cells, v.inside);
    start_world(w);
    stir(w, v.seed);
}

static void blocks_are_those_of_the_weights(void **state)
{
    (void)state;
    mo_use_threads(1);
    int32_t followers = 0, loose = 0;
    for (int k = 0; k < 2 * VARIANTS; k++) {
        world w;
        open_variant(k % VARIANTS, &w);
        mo_solver_def solver = exact_solver(k < VARIANTS ? "" : "P-V-P", variant_of(k % VARIANTS).raw);
        mo_liquid_system s;
        assert_int_equal(mo_case_stokes_assemble(&w.c, w.dt, &solver, &s, NULL), MO_OK);
        mo_stress_def d = mo_case_stress_def(&w.c, w.dt, &solver);
        assert_int_equal(d.reduced, k < VARIANTS);
        check_blocks(&w, &d, &s);
        check_scatter(&d, &s);
        followers += check_followers(&d, &s), loose += check_loose(&d, &s);
        mo_liquid_destroy(&s);
        // The same with faces of prescribed velocity.
        uint8_t *fixed[3];
        for (int a = 0; a < 3; a++) {
            fixed[a] = calloc((size_t)mo_grid_cells(w.c.grid), 1);
            for (int64_t i = 0; i < mo_grid_cells(w.c.grid); i++)
                fixed[a][i] = mo_hash((uint32_t)i, (uint32_t)a, 5) % 16 == 0;
        }
        d.fixed = (const uint8_t *const *)fixed;
        assert_int_equal(mo_stress_assemble(&d, w.c.arena, &s, NULL), MO_OK);
        check_blocks(&w, &d, &s);
        mo_liquid_destroy(&s);
        for (int a = 0; a < 3; a++) free(fixed[a]);
        end_world(&w);
    }
    assert_true(followers > 20 && loose > 20);
}

// ---- The dual matrix ----

static void check_dual(const mo_system *y, uint32_t set)
{
    mo_dual d;
    assert_int_equal(mo_dual_create(y, set, &d, NULL), MO_OK);
    int32_t rows = 0, faces = y->faces.count;
    for (int k = 0; k <= MO_BLOCK_STRESS; k++) {
        assert_int_equal(d.place[k] != NULL, set >> k & 1 && y->block[k]->rows > 0);
        if (d.place[k]) rows += y->block[k]->rows;
    }
    assert_int_equal(d.rows, rows);
    assert_int_equal(d.Bt.rows, faces);
    double *B = dense((int64_t)rows * faces), *A = dense((int64_t)rows * rows), *found = dense((int64_t)rows * rows);
    uint8_t *seen = calloc((size_t)rows + 1, 1);
    for (int k = 0; k <= MO_BLOCK_STRESS; k++)
        for (int32_t i = 0; d.place[k] && i < y->block[k]->rows; i++) {
            const mo_block *b = y->block[k];
            int32_t to = d.place[k][i];
            assert_true(to >= 0 && to < rows && !seen[to]++);
            double r = -b->rhs[i];
            for (int64_t e = b->on[MO_FACES].row[i]; e < b->on[MO_FACES].row[i + 1]; e++) {
                B[(int64_t)to * faces + b->on[MO_FACES].col[e]] = b->on[MO_FACES].val[e];
                r += b->on[MO_FACES].val[e] * y->faces.velocity[b->on[MO_FACES].col[e]];
            }
            assert_true(fabs(d.rhs[to] - r) <= 1e-12 * (1 + fabs(r)));
            assert_true(d.x[to] == b->x[i]);
            assert_int_equal(d.hard[to], k == MO_BLOCK_PRESSURE);
            assert_memory_equal(d.coord[to], b->coord[i], sizeof b->coord[i]);
            for (int64_t e = b->compliance.rows ? b->compliance.row[i] : 0,
                         end = b->compliance.rows ? b->compliance.row[i + 1] : 0;
                 e < end; e++)
                A[(int64_t)to * rows + d.place[k][b->compliance.col[e]]] += b->compliance.val[e];
        }
    for (int32_t f = 0; f < faces; f++)
        for (int64_t e = d.Bt.row[f]; e < d.Bt.row[f + 1]; e++) {
            double *entry = &B[(int64_t)d.Bt.col[e] * faces + f];
            assert_true(*entry == d.Bt.val[e]);
        }
    int64_t entries = 0;
    for (int k = 0; k <= MO_BLOCK_STRESS; k++) entries += d.place[k] ? mo_csr_entries(&y->block[k]->on[MO_FACES]) : 0;
    assert_int_equal(mo_csr_entries(&d.Bt), entries);
    // Rows of one tile are contiguous, cells ascend.
    for (int32_t i = 1; i < rows; i++) {
        bool same = true;
        for (int a = 0; a < 3; a++) same &= d.coord[i][a] >> 3 == d.coord[i - 1][a] >> 3;
        for (int32_t j = 0; !same && j < i - 1; j++) {
            bool back = true;
            for (int a = 0; a < 3; a++) back &= d.coord[i][a] >> 3 == d.coord[j][a] >> 3;
            assert_false(back);
        }
    }
    add_dense(&d.A, 1, found, rows);
    for (int32_t i = 0; i < rows; i++)
        for (int32_t j = 0; j <= i; j++) {
            double sum = A[(int64_t)i * rows + j], size = fabs(sum);
            assert_true(found[(int64_t)i * rows + j] == found[(int64_t)j * rows + i]); // to the last bit
            if (found[(int64_t)i * rows + j] == 0 && (i + j) % 7) continue;            // a sample of the zeros
            for (int32_t f = 0; f < faces; f++) {
                double t = y->dt * B[(int64_t)i * faces + f] * B[(int64_t)j * faces + f] / y->faces.mass[f];
                sum += t, size += fabs(t);
            }
            assert_true(fabs(found[(int64_t)i * rows + j] - sum) <= 1e-12 * size);
        }
    free(B), free(A), free(found), free(seen);
    mo_dual_destroy(&d);
}

static void dual_matrix_is_that_of_the_blocks(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        world w;
        open_variant(k, &w);
        mo_solver_def solver = exact_solver("", variant_of(k).raw);
        mo_liquid_system s;
        assert_int_equal(mo_case_stokes_assemble(&w.c, w.dt, &solver, &s, NULL), MO_OK);
        for (int b = 0; b <= MO_BLOCK_STRESS; b++)
            for (int32_t i = 0; i < s.system.block[b]->rows; i++) s.system.block[b]->x[i] = b + 0.1 * i;
        for (uint32_t set = 1; set < 4; set++) check_dual(&s.system, set);
        mo_liquid_destroy(&s);
        end_world(&w);
    }
}

// Counts null vectors of the dual matrix of pressure and stress and compares with what the route finds.
static int32_t check_null_space(world *w, bool raw)
{
    mo_solver_def solver = exact_solver("PV-unified", raw);
    mo_liquid_system s;
    mo_system_info info;
    mo_dual d;
    assert_int_equal(mo_case_stokes_assemble(&w->c, w->dt, &solver, &s, NULL), MO_OK);
    assert_int_equal(mo_dual_create(&s.system, 3, &d, NULL), MO_OK);
    double *M = dense((int64_t)d.rows * d.rows), least;
    add_dense(&d.A, 1, M, d.rows);
    int32_t null = nullity(d.rows, M, &least);
    free(M);
    mo_dual_destroy(&d);
    assert_int_equal(mo_system_solve(&s.system, &solver, &info, NULL), MO_OK);
    if (null != info.enclosed)
        fail_msg("%d null vectors, %d found enclosed (least pivot %g)", null, info.enclosed, least);
    mo_liquid_destroy(&s);
    return null;
}

static void dual_matrix_is_positive_definite(void **state)
{
    (void)state;
    for (int k = 0; k < VARIANTS; k++) {
        world w;
        open_variant(k, &w);
        check_null_space(&w, variant_of(k).raw);
        end_world(&w);
    }
}

// Two closed chambers full of liquid (a solid plane's slab between them would need two planes: balls of solid do it).
static double no_liquid_between(const void *user, mo_vec3 x)
{
    (void)user;
    return fabs(x.x - 0.5) - 0.19;
}
static double chamber_wall(const void *user, int32_t solid, mo_vec3 x)
{
    (void)solid;
    return no_liquid_between(user, x);
}

static void enclosed_pieces_have_one_null_vector_each(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        bool flat = k & 1, raw = k & 2, two = k & 4;
        world w = {.flat = flat, .full = true, .cells = {flat ? 11 : 6, flat ? 11 : 6, flat ? 1 : 6}};
        w.density = 1000, w.dt = 0.01, w.viscosity = 200;
        start_world(&w);
        if (two) w.set.count = 1, w.set.distance = chamber_wall, w.set.velocity = NULL;
        w.c.def.solids = &w.set;
        stir(&w, 7);
        assert_int_equal(check_null_space(&w, raw), 1 + two);
        end_world(&w);
    }
}

// A bubble much smaller than a cell leaves no face without liquid: the piece is as good as enclosed.
static double tiny_bubble(const void *user, mo_vec3 x)
{
    const world *w = user;
    mo_vec3 c = {0.52, 0.47, w->flat ? x.z : 0.45};
    return 0.05 - mo_norm(mo_sub(x, c));
}

static void tiny_bubbles_keep_the_null_vector(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        bool flat = k & 1, raw = k & 2;
        world w = {.flat = flat, .full = true, .cells = {flat ? 9 : 5, flat ? 9 : 5, flat ? 1 : 5}};
        w.density = 1000, w.dt = 0.01, w.viscosity = 200;
        start_world(&w);
        for (int32_t i = 0; i < (int32_t)mo_grid_cells(w.c.grid); i++) {
            int32_t at[3];
            mo_grid_cell(w.c.grid, i, at);
            w.c.phi[i] =
                (float)(tiny_bubble(&w, mo_grid_world(w.c.grid, at[0] + 0.5, at[1] + 0.5, at[2] + 0.5)) / w.c.def.dx);
        }
        stir(&w, 8);
        check_null_space(&w, raw);
        end_world(&w);
    }
}

// ---- Solutions ----

// Velocities and multipliers of [M/dt B^T; B -S] by elimination: u, then those of the pressure and the stress.
static double *direct_solution(const mo_system *y)
{
    const mo_block *p = y->block[MO_BLOCK_PRESSURE], *v = y->block[MO_BLOCK_STRESS];
    int32_t F = y->faces.count, P = p->rows, n = F + P + v->rows;
    double *K = dense((int64_t)n * n), *b = dense(n), *scale = dense(n);
    for (int32_t f = 0; f < F; f++) {
        K[(int64_t)f * n + f] = y->faces.mass[f] / y->dt;
        b[f] = y->faces.mass[f] / y->dt * y->faces.velocity[f];
        scale[f] = sqrt(y->dt / y->faces.mass[f]);
    }
    add_dense(&p->on[MO_FACES], 1, K + (int64_t)F * n, n), add_dense(&v->on[MO_FACES], 1, K + (int64_t)(F + P) * n, n);
    add_dense_transposed(&p->on[MO_FACES], K + F, n), add_dense_transposed(&v->on[MO_FACES], K + F + P, n);
    add_dense(&v->compliance, -1, K + (int64_t)(F + P) * n + F + P, n);
    for (int32_t i = 0; i < P + v->rows; i++) {
        double size = fabs(K[(int64_t)(F + i) * n + F + i]);
        for (int32_t f = 0; f < F; f++)
            size += K[(int64_t)(F + i) * n + f] * K[(int64_t)(F + i) * n + f] * scale[f] * scale[f];
        scale[F + i] = size > 0 ? 1 / sqrt(size) : 1;
        b[F + i] = i < P ? p->rhs[i] : v->rhs[i - P];
    }
    dense_lu(n, K, b, scale);
    free(K), free(scale);
    return b;
}

// Difference of velocities over their size: in the norm of the kinetic energy.
static double velocity_error(const mo_system *y, const double *a, const double *b)
{
    double difference = 0, size = 0;
    for (int32_t f = 0; f < y->faces.count; f++)
        difference += y->faces.mass[f] * (a[f] - b[f]) * (a[f] - b[f]), size += y->faces.mass[f] * b[f] * b[f];
    return sqrt(difference / size);
}

static void solutions_are_those_of_the_indefinite_system(void **state)
{
    (void)state;
    int solved = 0;
    for (int k = 0; k < 12; k++) {
        world w;
        open_variant(k, &w);
        for (int method = 0; method < 4; method++) {
            mo_solver_def solver = exact_solver("PV-unified", variant_of(k).raw);
            solver.route = method == 3 ? MO_ROUTE_FAST : MO_ROUTE_PAPER;
            solver.preconditioner = method == 3 ? MO_PRECONDITIONER_SSOR : (mo_preconditioner)method;
            mo_liquid_system s;
            mo_system_info info;
            assert_int_equal(mo_case_stokes_assemble(&w.c, w.dt, &solver, &s, NULL), MO_OK);
            mo_system *y = &s.system;
            static double *exact; // of the same world, for all methods
            if (method == 0) exact = direct_solution(y);
            assert_int_equal(mo_system_solve(y, &solver, &info, NULL), MO_OK);
            assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
            if (!info.relaxed) {
                double error = velocity_error(y, y->faces.velocity, exact);
                if (!(error < 1e-8)) fail_msg("world %d method %d: error %g", k, method, error);
                solved += method == 0;
            }
            if (method == 3) free(exact);
            mo_liquid_destroy(&s);
        }
        end_world(&w);
    }
    assert_true(solved >= 8);
}

// Without slip all diagonal stresses add nothing to the traceless ones.
static void reduced_and_full_stress_agree(void **state)
{
    (void)state;
    for (int k = 0; k < VARIANTS; k++) {
        variant v = variant_of(k);
        world w = random_world(v.seed, v.flat, v.cells, v.inside);
        memset(w.slip, 0, sizeof w.slip), memset(w.slip_wall, 0, sizeof w.slip_wall);
        start_world(&w);
        stir(&w, v.seed);
        mo_solver_def solver = exact_solver("PV-unified", v.raw);
        mo_liquid_system reduced, full;
        mo_system_info info;
        assert_int_equal(mo_case_stokes_assemble(&w.c, w.dt, &solver, &reduced, NULL), MO_OK);
        mo_stress_def d = mo_case_stress_def(&w.c, w.dt, &solver);
        d.reduced = false;
        assert_int_equal(mo_stress_assemble(&d, w.c.arena, &full, NULL), MO_OK);
        assert_true(full.system.block[MO_BLOCK_STRESS]->rows > reduced.system.block[MO_BLOCK_STRESS]->rows);
        assert_int_equal(mo_system_solve(&reduced.system, &solver, &info, NULL), MO_OK);
        bool relaxed = info.relaxed;
        assert_int_equal(mo_system_solve(&full.system, &solver, &info, NULL), MO_OK);
        double error = velocity_error(&full.system, reduced.system.faces.velocity, full.system.faces.velocity);
        if (!relaxed && !(error < 1e-8)) fail_msg("world %d: %g", k, error);
        mo_liquid_destroy(&reduced), mo_liquid_destroy(&full);
        end_world(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_those_of_the_weights),
        cmocka_unit_test(dual_matrix_is_that_of_the_blocks),
        cmocka_unit_test(dual_matrix_is_positive_definite),
        cmocka_unit_test(enclosed_pieces_have_one_null_vector_each),
        cmocka_unit_test(tiny_bubbles_keep_the_null_vector),
        cmocka_unit_test(solutions_are_those_of_the_indefinite_system),
        cmocka_unit_test(reduced_and_full_stress_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
