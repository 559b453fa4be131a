// The triangles of stuffing in two dimensions: what of each triangle of the lattice is inside.
#include "geometry/stuffing.h"

static void add(mo_stuffing *s, int32_t a, int32_t b, int32_t c)
{
    int32_t vertex[3] = {a, b, c};
    mo_stuffing_add(s, vertex);
}

// p and q are inside, m is outside: p, q and the cuts of q m and p m remain. The diagonal that halves them
// starts at the one whose edge keeps more: angles are then within 20 .. 120 degrees. If both keep the same, it starts
// at p.
static void add_two(mo_stuffing *s, int32_t p, int32_t q, int32_t m)
{
    int32_t a = mo_stuffing_cut_between(s, p, m), b = mo_stuffing_cut_between(s, q, m);
    const mo_stuffing_cut *pm = &s->cut[a - s->count], *qm = &s->cut[b - s->count];
    double p_keeps = pm->point == p ? pm->fraction : 1 - pm->fraction;
    double q_keeps = qm->point == q ? qm->fraction : 1 - qm->fraction;
    if (p_keeps >= q_keeps) {
        add(s, p, q, b);
        add(s, p, b, a);
    } else {
        add(s, p, q, a);
        add(s, q, b, a);
    }
}

// The triangle is oriented; turning it round keeps that, so that an inside corner comes first, and of two the second
// comes next.
static void add_lattice_triangle(mo_stuffing *s, int32_t p, int32_t q, int32_t r)
{
    if (p < 0 || q < 0 || r < 0) return; // a point that was not kept has no neighbour inside
    int32_t v[3] = {p, q, r};
    int inside = 0, outside = 0;
    for (int i = 0; i < 3; i++) inside += s->label[v[i]] > 0, outside += s->label[v[i]] < 0;
    if (inside == 0) return;
    int first = 0;
    while (s->label[v[first]] <= 0 || (inside == 2 && s->label[v[(first + 1) % 3]] <= 0)) first++;
    p = v[first], q = v[(first + 1) % 3], r = v[(first + 2) % 3];
    if (outside == 0)
        add(s, p, q, r);
    else if (inside == 2)
        add_two(s, p, q, r);
    else
        add(s, p, s->label[q] < 0 ? mo_stuffing_cut_between(s, p, q) : q,
            s->label[r] < 0 ? mo_stuffing_cut_between(s, p, r) : r);
}

// The two triangles above a point. Both have it as a corner: of those that matter all corners were kept.
void mo_stuffing_triangles(mo_stuffing *s)
{
    for (int32_t p = 0; p < s->count; p++) {
        int32_t x = s->at[p][0], y = s->at[p][1], up = mo_stuffing_find(s, x, y + 1, 0);
        add_lattice_triangle(s, p, mo_stuffing_find(s, x + 1, y, 0), up);
        add_lattice_triangle(s, p, up, mo_stuffing_find(s, x - 1, y + 1, 0));
    }
}
