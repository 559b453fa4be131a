// Nodes in the form `viscous`: where they are, for multigrid on faces, and their part of K.
#include "base/vec.h"
#include "system/nodes.h"
#include "system/viscous_solver.h"

typedef struct nodes { // that move
    int32_t count;
    double (*at)[3]; // in cells of the lattice
    uint8_t *axis;
    bool placed; // the places of all are known
} nodes;

static mo_status nodes_place(const mo_viscous_form *f, nodes *n)
{
    const mo_node_matrix *m = f->system->nodes.nodes;
    const mo_face_lattice *l = f->system->lattice;
    int32_t from = f->system->bodies.count;
    n->count = f->extra - f->carried, n->placed = true;
    n->at = mo_alloc(sizeof *n->at * (size_t)n->count), n->axis = mo_alloc((size_t)n->count);
    if (!n->at || !n->axis) return MO_ERROR_MEMORY;
    for (int32_t k = 0; k < m->parts; k++) {
        const mo_node_part *p = &m->part[k];
        n->placed &= p->place != NULL;
        for (int32_t i = 0; p->place && i < p->H.rows; i++) {
            int32_t d = f->dof[from + m->first[k] + i] - f->carried;
            mo_vec3 x = mo_mul(1 / l->dx, mo_sub(p->place[i / p->block], l->origin));
            if (d < 0) continue;
            n->axis[d] = (uint8_t)(i % p->block);
            for (int a = 0; a < 3; a++) n->at[d][a] = mo_get(x, a);
        }
    }
    return MO_OK;
}

// The part of K without nodes. Carried unknowns have a dense block, so that springs find their places.
static mo_status part_without_nodes(const mo_viscous_form *f, mo_csr *K)
{
    size_t n = (size_t)f->carried;
    double *corner = mo_calloc(sizeof(double) * n * n);
    mo_status status = corner ? mo_csr_block(&f->K, 0, f->faces, 0, f->faces + f->carried, K) : MO_ERROR_MEMORY;
    for (int32_t i = 0; status == MO_OK && i < f->carried; i++)
        for (int32_t j = 0; j < f->carried; j++)
            corner[(size_t)i * n + (size_t)j] = mo_csr_entry(&f->K, f->faces + i, f->faces + j);
    if (status == MO_OK) status = mo_csr_border(K, corner);
    mo_free(corner);
    return status;
}

mo_status mo_viscous_nodes_multigrid(const mo_viscous_form *f, const mo_csr *springs, mo_face_multigrid_def *def,
                                     mo_face_multigrid **out)
{
    int32_t own = f->faces + f->carried, count = f->n - own;
    nodes n = {0};
    mo_csr K = {0}, to = {0}, among = {0};
    mo_status status = nodes_place(f, &n);
    if (status == MO_OK) status = part_without_nodes(f, &K);
    if (status == MO_OK) status = mo_csr_block(&f->K, own, count, 0, own, &to);
    if (status == MO_OK) status = mo_csr_block(&f->K, own, count, own, count, &among);
    mo_face_nodes_def nodes_def = {count, &to, &among, n.placed ? (const double(*)[3])n.at : NULL, n.axis, springs};
    def->K = &K, def->nodes = &nodes_def;
    if (status == MO_OK) status = mo_face_multigrid_create(def, out);
    mo_csr_destroy(&K), mo_csr_destroy(&to), mo_csr_destroy(&among);
    mo_free(n.at), mo_free(n.axis);
    return status;
}
