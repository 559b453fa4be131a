// Bounds of friction and their fixed point.
#include "system/friction_bounds.h"
#include "base/parallel.h"
#include "sparse/dense.h"
#include <math.h>
#include <string.h>

enum {
    KEPT = MO_BOUNDS_KEPT,
    FIRST = 3 // rounds before, in which steps of Newton's method are large, tell nothing of the fixed point
};

void mo_friction_bounds_destroy(mo_friction_bounds *k)
{
    mo_free(k->b); // all of it
    *k = (mo_friction_bounds){0};
}

bool mo_system_rubs(const mo_system *s)
{
    const mo_block *z = s->block[MO_BLOCK_FRICTION];
    return z && z->rows > 0 && s->block[MO_BLOCK_CONTACT];
}

static mo_status allocate(mo_friction_bounds *k, int32_t n)
{
    if (k->b) return MO_OK;
    k->b = mo_calloc(sizeof(double) * 2 * (KEPT + 1) * (size_t)n);
    if (!k->b) return MO_ERROR_MEMORY;
    k->f = k->b + n;
    for (int32_t j = 0; j < KEPT; j++) k->db[j] = k->f + (2 * j + 1) * n, k->df[j] = k->db[j] + n;
    return MO_OK;
}

// mu n. Contacts that cling may pull.
static double coulomb(const mo_system *s, int32_t contact)
{
    return s->friction[contact] * fmax(s->block[MO_BLOCK_CONTACT]->x[contact], 0);
}

// Stores the bounds b of a round, and their error, mu n - b.
static void note(mo_friction_bounds *k, const mo_system *s)
{
    const mo_block *z = s->block[MO_BLOCK_FRICTION];
    int32_t n = z->rows / 2, slot = k->rounds > FIRST ? (k->rounds - FIRST - 1) % KEPT : 0;
    for (int32_t i = 0; i < n; i++) {
        double b = z->upper[2 * i], f = coulomb(s, i) - b;
        if (k->rounds > FIRST) k->db[slot][i] = b - k->b[i], k->df[slot][i] = f - k->f[i];
        k->b[i] = b, k->f[i] = f;
    }
    k->rounds++;
}

// The mixture g of earlier changes; returns of how many.
static int32_t mix(const mo_friction_bounds *k, int32_t n, double g[KEPT])
{
    const double least = 1e-10; // of a change that others do not have too
    int32_t count = k->rounds - FIRST - 1;
    count = count < 0 ? 0 : count < KEPT ? count : KEPT;
    double A[KEPT * KEPT];
    for (int32_t i = 0; i < count; i++) {
        g[i] = mo_dot_product(n, k->df[i], k->f);
        for (int32_t j = 0; j < count; j++) A[i * count + j] = mo_dot_product(n, k->df[i], k->df[j]);
    }
    mo_dense_factor(count, A, least);
    mo_dense_solve(count, A, g);
    return count;
}

// The next bound of a contact, from mu n; of one that does not press, none.
static double next_bound(const mo_friction_bounds *k, int32_t i, double b, int32_t count, const double g[KEPT])
{
    if (b == 0) return 0;
    for (int32_t j = 0; j < count; j++) b -= g[j] * (k->db[j][i] + k->df[j][i]);
    return fmax(b, 0);
}

mo_status mo_friction_bound(mo_friction_bounds *k, mo_system *s, bool cone, double *change)
{
    mo_block *z = s->block[MO_BLOCK_FRICTION];
    int32_t n = z->rows / 2;
    double largest = 0, force = 0, g[KEPT];
    *change = 0;
    MO_ASSERT(mo_system_rubs(s) && s->block[MO_BLOCK_CONTACT]->rows == n);
    MO_TRY(allocate(k, n));
    note(k, s);
    int32_t count = mix(k, n, g);
    for (int32_t i = 0; i < z->rows; i++) {
        double own = coulomb(s, i / 2), bound = next_bound(k, i / 2, own, count, g);
        if (!cone || i % 2 == 0) force = cone ? hypot(z->x[i], z->x[i + 1]) : fabs(z->x[i]);
        bool holds = force < (1 - 1e-12) * z->upper[i];
        *change = fmax(*change, holds ? force - own : fabs(own - z->upper[i]));
        largest = fmax(largest, own);
        z->upper[i] = bound, z->lower[i] = -bound;
        if (force > bound) z->x[i] *= bound / force;
    }
    *change = largest > 0 ? *change / largest : *change > 0 ? INFINITY : 0;
    return MO_OK;
}
