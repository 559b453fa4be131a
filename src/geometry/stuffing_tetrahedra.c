// The tetrahedra of isosurface stuffing: what of each tetrahedron of the body centred cubic lattice is inside.
//
// With the labels + (inside), - (outside) and 0 (on the surface), a tetrahedron without - stays whole, and one with a
// single + keeps the corner at it. The others leave a pyramid or a prism, whose four-sided faces are halved by a
// diagonal. Neighbours must choose the same one, so the choice depends on the face alone (starts_at).
#include "geometry/stuffing.h"

typedef struct corner {
    int32_t point;
    int8_t label;
} corner;

static void add(mo_stuffing *s, int32_t a, int32_t b, int32_t c, int32_t d, bool turned)
{
    int32_t vertex[4] = {a, b, turned ? d : c, turned ? c : d};
    mo_stuffing_add(s, vertex);
}

// Long edges join points that differ along one axis.
static bool is_long(const mo_stuffing *s, int32_t p, int32_t q)
{
    const int32_t *a = s->at[p], *b = s->at[q];
    return (a[0] == b[0]) + (a[1] == b[1]) + (a[2] == b[2]) == 2;
}

// The face p, q (inside), m (outside) leaves p, q and the cuts of q m and p m. True if the diagonal joins p and the cut
// of q m, false if it joins q and the cut of p m. It ends at the cut of the long edge where there is one; else p q is
// long, and of its ends the diagonal takes the one with an even number of coordinates above those of m.
static bool starts_at(const mo_stuffing *s, int32_t p, int32_t q, int32_t m)
{
    if (is_long(s, p, m)) return false;
    if (is_long(s, q, m)) return true;
    const int32_t *a = s->at[p], *b = s->at[m];
    return ((a[0] > b[0]) + (a[1] > b[1]) + (a[2] > b[2])) % 2 == 0;
}

// A prism between the triangles b and t, oriented like the tetrahedra (b0, b1, b2, t): starts[i] of the diagonals at
// column i start at b[i]. They are 2, 1 and 0 in some order: diagonals do not chase each other round the prism.
static void add_prism(mo_stuffing *s, const int32_t b[3], const int32_t t[3], const int starts[3], bool turned)
{
    MO_ASSERT(starts[0] != starts[1] && starts[1] != starts[2] && starts[2] != starts[0]);
    int order[3];
    for (int i = 0; i < 3; i++) order[2 - starts[i]] = i;
    if ((order[1] - order[0] + 3) % 3 == 2) turned = !turned; // an odd permutation
    int i = order[0], j = order[1], k = order[2];
    add(s, b[i], b[j], b[k], t[k], turned);
    add(s, b[i], b[j], t[k], t[j], turned);
    add(s, b[i], t[i], t[j], t[k], turned);
}

// One corner is cut off.
static void add_three(mo_stuffing *s, const int32_t p[3], int32_t m, bool turned)
{
    int32_t t[3];
    int starts[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        t[i] = mo_stuffing_cut_between(s, p[i], m);
        starts[starts_at(s, p[i], p[j], m) ? i : j]++;
    }
    add_prism(s, p, t, starts, turned);
}

// Cut between two edges: the third four-sided face is on the surface, and its diagonal follows from the other two,
// unless these meet, when it may be either: then the one from b[1].
static void add_two(mo_stuffing *s, int32_t p, int32_t q, int32_t m, int32_t n, bool turned)
{
    int32_t b[3] = {p, mo_stuffing_cut_between(s, p, m), mo_stuffing_cut_between(s, p, n)};
    int32_t t[3] = {q, mo_stuffing_cut_between(s, q, m), mo_stuffing_cut_between(s, q, n)};
    int starts[3] = {0, 0, 0};
    starts[starts_at(s, p, q, m) ? 0 : 1]++;
    starts[starts_at(s, p, q, n) ? 0 : 2]++;
    starts[starts[0] == 1 && starts[2] == 1 ? 2 : 1]++;
    add_prism(s, b, t, starts, turned);
}

// One corner is cut off, one is on the surface: a pyramid.
static void add_pyramid(mo_stuffing *s, int32_t p, int32_t q, int32_t m, int32_t zero, bool turned)
{
    int32_t a = mo_stuffing_cut_between(s, p, m), b = mo_stuffing_cut_between(s, q, m);
    bool from_p = starts_at(s, p, q, m);
    add(s, p, q, from_p ? b : a, zero, turned);
    add(s, from_p ? p : q, b, a, zero, turned);
}

// Only the corner at p is inside.
static void add_corner(mo_stuffing *s, const corner c[4], bool turned)
{
    int32_t v[3];
    for (int i = 0; i < 3; i++)
        v[i] = c[i + 1].label < 0 ? mo_stuffing_cut_between(s, c[0].point, c[i + 1].point) : c[i + 1].point;
    add(s, c[0].point, v[0], v[1], v[2], turned);
}

// Sorts the corners: inside, outside, on the surface. Returns whether that took an odd number of exchanges.
static bool sort_corners(corner c[4])
{
    static const int8_t rank[3] = {1, 2, 0}; // of the labels -1, 0, 1
    bool odd = false;
    for (int i = 1; i < 4; i++)
        for (int j = i; j > 0 && rank[c[j].label + 1] < rank[c[j - 1].label + 1]; j--) {
            corner swap = c[j];
            c[j] = c[j - 1], c[j - 1] = swap;
            odd = !odd;
        }
    return odd;
}

static void add_lattice_tetrahedron(mo_stuffing *s, const int32_t point[4])
{
    int inside = 0, outside = 0;
    corner c[4];
    for (int i = 0; i < 4; i++) {
        if (point[i] < 0) return; // a point that was not kept has no neighbour inside
        c[i] = (corner){point[i], s->label[point[i]]};
        inside += c[i].label > 0;
        outside += c[i].label < 0;
    }
    if (inside == 0) return;
    if (outside == 0) {
        mo_stuffing_add(s, point);
        return;
    }
    bool turned = sort_corners(c);
    int32_t p[4] = {c[0].point, c[1].point, c[2].point, c[3].point};
    if (inside == 1)
        add_corner(s, c, turned);
    else if (inside == 3)
        add_three(s, p, p[3], turned);
    else if (outside == 2)
        add_two(s, p[0], p[1], p[2], p[3], turned);
    else
        add_pyramid(s, p[0], p[1], p[2], p[3], turned);
}

// Every tetrahedron has one long edge between even points and one between odd points. About the even edge from q along
// an axis there are four odd points, and a tetrahedron to each pair of neighbours among them.
void mo_stuffing_tetrahedra(mo_stuffing *s)
{
    static const int32_t turn[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
    for (int32_t q = 0; q < s->count; q++) {
        const int32_t *c = s->at[q];
        if (c[0] & 1) continue;
        for (int axis = 0; axis < 3; axis++) {
            int i = (axis + 1) % 3, j = (axis + 2) % 3;
            int32_t end[3] = {c[0], c[1], c[2]}, ring[4];
            end[axis] += 2;
            int32_t other = mo_stuffing_find(s, end[0], end[1], end[2]);
            if (other < 0) continue;
            for (int k = 0; k < 4; k++) {
                int32_t at[3];
                at[axis] = c[axis] + 1, at[i] = c[i] + turn[k][0], at[j] = c[j] + turn[k][1];
                ring[k] = mo_stuffing_find(s, at[0], at[1], at[2]);
            }
            for (int k = 0; k < 4; k++) {
                int32_t point[4] = {q, other, ring[k], ring[(k + 1) % 4]};
                add_lattice_tetrahedron(s, point);
            }
        }
    }
}
