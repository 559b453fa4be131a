// The node of a sheet as a solid of some thickness, for contacts: the distance to its triangles less half of that.
#include "geometry/shape_node.h"
#include "geometry/sheet_tree.h"

// Searches wider and wider round p.
static double sheet_distance(const mo_shape *s, mo_vec3 p)
{
    mo_vec3 way;
    double outside = mo_box_outside(&s->sheet.box, p), reach = fmax(1.1 * outside, s->sheet.edge), d;
    while ((d = mo_sheet_tree_near(s->sheet.tree, p, reach, &way)) >= reach) reach *= 2;
    return d - s->sheet.half;
}

static double sheet_support(const mo_shape *s, mo_vec3 u, double offset)
{
    const mo_box3 *b = &s->sheet.box;
    return u.x * (u.x > 0 ? b->hi.x : b->lo.x) + u.y * (u.y > 0 ? b->hi.y : b->lo.y) +
           u.z * (u.z > 0 ? b->hi.z : b->lo.z) + s->sheet.half + offset;
}

static bool same_sheet(const mo_shape *a, const mo_shape *b)
{
    return a->sheet.tree == b->sheet.tree && a->sheet.half == b->sheet.half;
}

static const mo_shape_kind sheet_kind = {.distance = sheet_distance, .support = sheet_support, .same = same_sheet};

mo_shape *mo_shape_of_sheet(const mo_sheet *sheet, const mo_sheet_tree *tree, double thickness)
{
    mo_shape *s = mo_shape_new(&sheet_kind, NULL, NULL);
    if (!s) return NULL;
    mo_box3 box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int32_t v = 0; v < sheet->vertices; v++) {
        const double *x = sheet->position[v];
        box.lo = mo_v3(fmin(box.lo.x, x[0]), fmin(box.lo.y, x[1]), fmin(box.lo.z, x[2]));
        box.hi = mo_v3(fmax(box.hi.x, x[0]), fmax(box.hi.y, x[1]), fmax(box.hi.z, x[2]));
    }
    s->sheet.tree = tree, s->sheet.box = box, s->sheet.half = 0.5 * thickness;
    s->sheet.edge = fmax(mo_norm(mo_sub(box.hi, box.lo)) / sqrt((double)sheet->triangles), thickness);
    return mo_shape_finish(s);
}
