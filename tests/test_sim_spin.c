// The position correction and angular momentum: a piece of liquid that touches nothing keeps it.
#include "sim_test.h"
#include "sim/sim.h"

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
        *spin = mo_mad(*spin, p->volume[q], mo_cross(x, v));
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(free_pieces_keep_their_spin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
