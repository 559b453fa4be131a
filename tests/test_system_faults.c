// The validators find what is planted: in matrices, the grid, particles and systems.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "fluid/particles.h"
#include "system/system.h"
#include <math.h>
#include <string.h>

// found(WHERE, VALUE, CALL): with VALUE at WHERE the validator complains, and no longer when it is as before.
#define found(where, value, call)                                                                                      \
    do {                                                                                                               \
        __typeof__(where) before_ = (where);                                                                           \
        assert_null(call);                                                                                             \
        (where) = (value);                                                                                             \
        assert_non_null(call);                                                                                         \
        (where) = before_;                                                                                             \
        assert_null(call);                                                                                             \
    } while (0)

static mo_csr make_matrix(int32_t rows, int32_t cols)
{
    mo_csr A;
    assert_int_equal(mo_csr_create(rows, cols, 2 * rows, &A), MO_OK);
    for (int32_t i = 0; i < rows; i++) {
        A.row[i + 1] = 2 * (i + 1);
        A.col[2 * i] = i % (cols - 1), A.col[2 * i + 1] = i % (cols - 1) + 1;
        A.val[2 * i] = 1, A.val[2 * i + 1] = -1;
    }
    return A;
}

static void matrices(void **state)
{
    (void)state;
    mo_csr A = make_matrix(4, 5), none = {0};
    assert_null(mo_csr_fault(&none));
    found(A.row[0], 1, mo_csr_fault(&A));
    found(A.row[2], 9, mo_csr_fault(&A));
    found(A.col[3], 5, mo_csr_fault(&A));
    found(A.col[3], -1, mo_csr_fault(&A));
    found(A.col[3], A.col[2], mo_csr_fault(&A));
    found(A.val[7], NAN, mo_csr_fault(&A));
    mo_csr_destroy(&A);
}

static mo_grid *make_grid(void)
{
    mo_grid *g;
    const int32_t cells[3] = {40, 20, 20}, lo[3] = {2, 2, 2}, hi[3] = {30, 12, 5};
    assert_int_equal(mo_grid_create(cells, 0.1, &g, NULL), MO_OK);
    mo_grid_want(g, lo, hi);
    assert_int_equal(mo_grid_activate(g, NULL), MO_OK);
    return g;
}

static void grids(void **state)
{
    (void)state;
    mo_grid *g = make_grid();
    assert_true(g->tiles > 4);
    found(g->table[0], -1, mo_grid_fault(g));
    found(g->table[1], 2, mo_grid_fault(g));
    found(g->coord[2][0], 1, mo_grid_fault(g));
    found(g->coord[2][1], 77, mo_grid_fault(g));
    found(g->neighbour[1][12], 3, mo_grid_fault(g));
    found(g->tiles, g->tiles - 1, mo_grid_fault(g));
    found(g->n[1], 3, mo_grid_fault(g));
    found(g->dx, NAN, mo_grid_fault(g));
    mo_grid_destroy(g);
}

static void particles(void **state)
{
    (void)state;
    enum { COUNT = 50 };
    mo_grid *g = make_grid();
    mo_arena *arena = mo_arena_create();
    mo_particles p = {0};
    assert_null(mo_particles_fault(&p, g));
    assert_int_equal(mo_particles_reserve(&p, COUNT, NULL), MO_OK);
    for (p.count = 0; p.count < COUNT; p.count++) {
        for (int f = 0; f < p.fields; f++) p.field[f][p.count] = 0;
        for (int a = 0; a < 3; a++) p.x[a][p.count] = 3.3f + 0.13f * (float)(p.count * (a + 1) % COUNT);
        p.volume[p.count] = 0.125f;
    }
    assert_int_equal(mo_particles_sort(&p, g, arena, NULL), MO_OK);
    found(p.x[0][7], -1, mo_particles_fault(&p, g));
    found(p.x[1][7], NAN, mo_particles_fault(&p, g));
    found(p.x[2][9], p.x[2][9] + 2, mo_particles_fault(&p, g));
    found(p.volume[3], 0, mo_particles_fault(&p, g));
    found(p.volume[3], INFINITY, mo_particles_fault(&p, g));
    found(p.start[0], 1, mo_particles_fault(&p, g));
    found(p.start[mo_grid_cells(g)], COUNT - 1, mo_particles_fault(&p, g));
    found(p.count, p.capacity + 1, mo_particles_fault(&p, g));
    mo_particles_destroy(&p);
    mo_arena_destroy(arena);
    mo_grid_destroy(g);
}

static mo_block *make_block(const mo_system *s, int32_t rows, bool soft)
{
    mo_block *b = mo_calloc(sizeof *b);
    assert_non_null(b);
    b->rows = rows;
    b->rhs = mo_calloc(sizeof(double) * (size_t)rows), b->x = mo_calloc(sizeof(double) * (size_t)rows);
    b->lower = mo_calloc(sizeof(double) * (size_t)rows), b->upper = mo_calloc(sizeof(double) * (size_t)rows);
    b->softness = mo_calloc(sizeof(double) * (size_t)rows);
    for (int32_t i = 0; i < rows; i++) b->upper[i] = b->softness[i] = 1;
    b->on[MO_FACES] = make_matrix(rows, s->faces.count);
    if (soft) {
        assert_int_equal(mo_csr_create(rows, rows, rows, &b->compliance), MO_OK);
        for (int32_t i = 0; i < rows; i++)
            b->compliance.row[i + 1] = i + 1, b->compliance.col[i] = i, b->compliance.val[i] = 0.5;
    }
    return b;
}

static void systems(void **state)
{
    (void)state;
    enum { FACES = 6, CONTACTS = 2 };
    mo_system s = {.dt = 0.1};
    assert_int_equal(mo_faces_create(FACES, &s.faces), MO_OK);
    for (int i = 0; i < FACES; i++) s.faces.mass[i] = 1;
    assert_int_equal(mo_bodies_create(1, &s.bodies), MO_OK);
    s.block[MO_BLOCK_STRESS] = make_block(&s, 4, true);
    s.block[MO_BLOCK_CONTACT] = make_block(&s, CONTACTS, false);
    s.block[MO_BLOCK_FRICTION] = make_block(&s, 2 * CONTACTS, false);
    s.friction = mo_calloc(sizeof(double) * CONTACTS);
    found(s.dt, -1, mo_system_fault(&s));
    found(s.faces.mass[2], 0, mo_system_fault(&s));
    found(s.faces.mass[2], NAN, mo_system_fault(&s));
    found(s.faces.velocity, NULL, mo_system_fault(&s));
    found(s.bodies.count, 5, mo_system_fault(&s));
    mo_block *b = s.block[MO_BLOCK_STRESS], *c = s.block[MO_BLOCK_CONTACT];
    found(b->x, NULL, mo_system_fault(&s));
    found(b->on[MO_FACES].cols, FACES + 1, mo_system_fault(&s));
    found(b->on[MO_FACES].rows, 3, mo_system_fault(&s));
    found(b->on[MO_FACES].val[1], INFINITY, mo_system_fault(&s));
    found(b->compliance.val[1], -1, mo_system_fault(&s));
    found(b->compliance.cols, 3, mo_system_fault(&s));
    found(b->lower[1], 2, mo_system_fault(&s));
    found(c->softness[0], -1, mo_system_fault(&s));
    found(s.block[MO_BLOCK_CONTACT], NULL, mo_system_fault(&s));
    found(s.friction[1], -1, mo_system_fault(&s));
    mo_system_destroy(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices),
        cmocka_unit_test(grids),
        cmocka_unit_test(particles),
        cmocka_unit_test(systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
