// The position correction and angular momentum: a piece of liquid that touches nothing keeps it.
#include "sim_test.h"
#include "sim/sim.h"

// The angular momentum that the matrix of a particle carries, over its volume: 1/6 is the mean second moment of a hat.
static mo_vec3 own_spin(const mo_particles *p, int32_t q)
{
    return mo_v3((p->c[2][1][q] - p->c[1][2][q]) / 6, (p->c[0][2][q] - p->c[2][0][q]) / 6,
                 (p->c[1][0][q] - p->c[0][1][q]) / 6);
}

// Momentum, and angular momentum about their centre, of the particles left (side 0) or right of the middle, cells.
static void sum_momenta(const mo_sim *sim, int side, mo_vec3 *momentum, mo_vec3 *spin, double *speeds)
{
    const mo_particles *p = &sim->particles;
    mo_vec3 centre = {0, 0, 0};
    double volume = 0;
    *momentum = *spin = mo_v3(0, 0, 0), *speeds = 0;
    for (int32_t q = 0; q < p->count; q++) {
        if ((p->x[0][q] > 0.5f * (float)sim->grid->n[0]) != (side == 1)) continue;
        mo_vec3 v = {p->v[0][q], p->v[1][q], p->v[2][q]}, x = {p->x[0][q], p->x[1][q], p->x[2][q]};
        *momentum = mo_mad(*momentum, p->volume[q], v), *speeds += p->volume[q] * mo_norm(v);
        *spin = mo_mad(*spin, p->volume[q], mo_add(mo_cross(x, v), own_spin(p, q)));
        centre = mo_mad(centre, p->volume[q], x), volume += p->volume[q];
    }
    *spin = mo_sub(*spin, mo_cross(mo_mul(1 / volume, centre), *momentum));
}

static mo_status turn(void *user, mo_vec3 x, mo_vec3 *velocity, mo_error *err)
{
    const mo_vec3 *centre = user;
    (void)err;
    *velocity = mo_add(mo_v3(0.2, 0.1, 0), mo_cross(mo_v3(0.6, -0.3, 1), mo_sub(x, *centre)));
    if (centre->z == 0) velocity->z = 0;
    return MO_OK;
}

// A ball turns freely, another one touches the floor; then all particles are moved, as the correction may do.
static void free_pieces_keep_their_spin(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        scene s;
        scene_start(&s, 24, flat ? 0 : 1);
        double depth = flat ? 0 : 0.5;
        mo_vec3 centre[2] = {mo_v3(0.25, 0.5, depth), mo_v3(0.75, 0.15, depth)};
        for (int k = 0; k < 2; k++) {
            mo_liquid_def *l = scene_liquid(&s, ball_at(centre[k].x, centre[k].y, centre[k].z, 0.17));
            l->velocity_fn = turn, l->user = &centre[k];
        }
        mo_sim *sim = scene_create(&s);
        mo_particles *p = &sim->particles;
        mo_vec3 momentum[2][2], spin[2][2];
        double speeds;
        mo_spins spins;
        mo_error err;
        size_t mark = mo_arena_mark(sim->arena);
        for (int k = 0; k < 2; k++) sum_momenta(sim, k, &momentum[0][k], &spin[0][k], &speeds);
        assert_int_equal(mo_sim_note_spins(sim, &spins, &err), MO_OK);
        assert_true(spins.last && !spins.last->next); // the one that is free
        for (int32_t q = 0; q < p->count; q++) {      // towards the middle of the box, more so in x
            p->x[0][q] += 0.02f * (0.5f * (float)sim->grid->n[0] - p->x[0][q]);
            p->x[1][q] += 0.01f * (0.5f * (float)sim->grid->n[1] - p->x[1][q]);
        }
        mo_vec3 moved;
        sum_momenta(sim, 0, &momentum[1][0], &moved, &speeds);
        mo_sim_restore_spins(sim, &spins);
        for (int k = 0; k < 2; k++) sum_momenta(sim, k, &momentum[1][k], &spin[1][k], &speeds);
        double scale = mo_norm(spin[0][0]), lost = mo_norm(mo_sub(moved, spin[0][0])) / scale,
               left = mo_norm(mo_sub(spin[1][0], spin[0][0])) / scale,
               drift = mo_norm(mo_sub(momentum[1][0], momentum[0][0])) / speeds;
        print_message("%s: spin moved by %.2e, restored to %.1e, momentum to %.1e\n", flat ? "disc" : "ball", lost,
                      left, drift);
        assert_true(lost > 1e-3 && left < 1e-6 && drift < 1e-6);
        assert_true(mo_norm(mo_sub(momentum[1][1], momentum[0][1])) == 0); // the other one stays as it was
        mo_arena_release(sim->arena, mark);
        mo_sim_destroy(sim);
        scene_end(&s);
    }
}

// Keeps the first three particles and puts them beside each other, hardly off a line.
static void keep_three(mo_sim *sim)
{
    mo_particles *p = &sim->particles;
    mo_error err;
    uint8_t *remove = malloc((size_t)p->count);
    assert_non_null(remove);
    for (int32_t q = 0; q < p->count; q++) remove[q] = q > 2;
    mo_particles_remove(p, remove);
    free(remove);
    for (int32_t q = 0; q < 3; q++) {
        for (int a = 0; a < 3; a++) p->x[a][q] = 0.5f * (float)sim->grid->n[a] + 0.5f, p->v[a][q] = 0;
        p->x[0][q] += 0.8f * (float)(q - 1), p->x[1][q] += q == 1 ? 2e-3f : 0, p->v[1][q] = q == 1 ? 1 : 0;
    }
    assert_int_equal(mo_sim_follow_particles(sim, 0, &err), MO_OK);
}

// Three drops in a line: what one of them loses by a displacement across it cannot turn them fast about the line.
static void drops_in_a_line_hardly_turn(void **state)
{
    (void)state;
    scene s;
    scene_start(&s, 16, 1);
    scene_liquid(&s, ball_at(0.5, 0.5, 0.5, 0.17));
    mo_sim *sim = scene_create(&s);
    mo_particles *p = &sim->particles;
    mo_spins spins;
    mo_error err;
    keep_three(sim);
    assert_int_equal(mo_sim_note_spins(sim, &spins, &err), MO_OK);
    assert_true(spins.last && !spins.last->next && spins.last->cells == 3);
    for (int32_t q = 0; q < 3; q++) p->x[2][q] += p->v[1][q] > 0.5f ? 0.1f : 0;
    mo_sim_restore_spins(sim, &spins);
    float most = 0;
    for (int32_t q = 0; q < 3; q++)
        for (int a = 0; a < 9; a++) most = fmaxf(most, fabsf(p->c[a / 3][a % 3][q]));
    print_message("three drops: matrices of up to %.3g m/s per cell\n", most);
    assert_true(most > 1e-3 && most < 0.2); // 2/3 V 0.1 of 3 V/3
    mo_sim_destroy(sim);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(free_pieces_keep_their_spin),
                                       cmocka_unit_test(drops_in_a_line_hardly_turn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
