// The hierarchy of multigrid on faces: which unknowns are solved directly, its levels, one cycle.
#include "base/parallel.h"
#include "sparse/dense.h"
#include "sparse/face_level.h"
#include <math.h>
#include <string.h>

// SPLIT: levels that are coarsened by strain; beyond, products are cheap. TWICE: coarse levels up to this one are
// corrected twice from the next.
enum { MAX_LEVELS = 24, COARSEST = 400, SMALL_PIECE = 300, SMALL = 4096, SPLIT = 1, TWICE = 1 };

struct mo_face_multigrid {
    int32_t levels;
    mo_face_level level[MAX_LEVELS];
    mo_direct direct;    // on the finest level
    mo_direct second;    // on the next
    mo_direct last;      // all of the coarsest one
    mo_face_nodes nodes; // beside the finest level
    int32_t *place;      // [rows] row of level 0 for each row of K
    double *work;        // [members of the larger direct set]
    double *corner; // [carried x carried] as built; factored, as it is now; Schur complements of it on the finest and
                    // the coarsest level; scratch of one row
    float *change;  // [rows of the largest level]
    double scale;   // level 0 holds K / scale
    mo_face_multigrid_info info;
};

void mo_face_multigrid_destroy(mo_face_multigrid *mg)
{
    if (!mg) return;
    for (int32_t l = 0; l < mg->levels; l++) mo_face_level_destroy(&mg->level[l]);
    mo_direct_destroy(&mg->direct), mo_direct_destroy(&mg->second), mo_direct_destroy(&mg->last);
    mo_face_nodes_destroy(&mg->nodes);
    mo_free(mg->place), mo_free(mg->work), mo_free(mg->change), mo_free(mg->corner);
    mo_free(mg);
}

// ---- What is solved directly ----

// Pieces of the graph of faces, with nodes between them; small ones get label -1.
static mo_status label_pieces(const mo_face_multigrid_def *def, int32_t *label, mo_face_nodes *nodes)
{
    int32_t faces = def->faces;
    const mo_csr *K = def->K;
    mo_csr graph = {.rows = faces, .cols = faces, .row = K->row, .col = K->col, .val = K->val};
    int32_t pieces = mo_csr_components(&graph, label), *size = NULL;
    if (pieces >= 0) size = mo_calloc(sizeof(int32_t) * ((size_t)pieces + 1));
    if (!size) return MO_ERROR_MEMORY;
    mo_status status = def->nodes ? mo_face_nodes_label(def->nodes, faces, pieces, label, nodes->label) : MO_OK;
    for (int32_t i = 0; status == MO_OK && i < faces; i++) size[label[i]]++;
    for (int32_t i = 0; status == MO_OK && i < faces; i++)
        if (size[label[i]] <= SMALL_PIECE) label[i] = -1;
    for (int32_t i = 0; status == MO_OK && def->nodes && i < def->nodes->count; i++)
        if (nodes->label[i] >= 0 && size[nodes->label[i]] <= SMALL_PIECE) nodes->label[i] = -1;
    mo_free(size);
    return status;
}

static const double stiff = 300; // diagonal over mass: below, bending is no matter of many steps

// Marks the neighbours of row p, and theirs. With one ring alone a lump between a slender part and a thick one turned
// almost freely: neither the coarse grids nor the direct solve held all of it.
static void mark_rings(const mo_face_level *l, int32_t p, uint8_t *marked)
{
    const mo_csr *A = &l->A;
    for (int64_t k = A->row[p]; k < A->row[p + 1]; k++) {
        int32_t q = A->col[k];
        marked[q] = 1;
        for (int64_t m = A->row[q]; q < l->faces && m < A->row[q + 1]; m++) marked[A->col[m]] = 1;
    }
}

// Marks, by rows of the finest level: small pieces; dangling faces; slender ones that are stiff, with two rings of
// neighbours; carried unknowns with the faces they couple to.
static void mark_direct(const mo_face_multigrid_def *def, const mo_face_multigrid *mg, uint8_t *marked)
{
    const mo_face_level *l = &mg->level[0];
    const mo_csr *A = &l->A;
    for (int32_t i = 0; i < def->faces; i++) {
        int32_t p = mg->place[i];
        bool bends = def->slender[i] == 1 && mg->scale * l->diagonal[p] > stiff * def->mass[i];
        if (l->label[p] < 0 || def->dangling[i]) marked[p] = 1;
        if (bends) mark_rings(l, p, marked);
    }
    for (int32_t i = l->faces; i < l->rows; i++)
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) marked[A->col[k]] = 1;
}

// The same for the next level: what is slender there and interpolates to stiff faces.
static void mark_second(const mo_face_multigrid_def *def, const mo_face_multigrid *mg, uint8_t *marked)
{
    const mo_face_level *l = &mg->level[0];
    for (int32_t i = 0; i < def->faces; i++) {
        int32_t p = mg->place[i];
        bool bends = def->slender[i] == 2 && mg->scale * l->diagonal[p] > stiff * def->mass[i];
        for (int64_t k = l->up.row[p]; bends && k < l->up.row[p + 1]; k++) marked[l->up.col[k]] = 1;
    }
}

// Direct solver of the marked rows of a level (NULL: all).
static mo_status solve_directly(const mo_face_level *l, const uint8_t *marked, mo_direct *out)
{
    size_t n = (size_t)l->rows;
    uint8_t *all = marked ? NULL : mo_alloc(n);
    int32_t(*at)[4] = mo_calloc(sizeof *at * n);
    mo_status status = MO_ERROR_MEMORY;
    if (at && (marked || all)) {
        if (all) memset(all, 1, n);
        for (int32_t i = 0; i < l->rows; i++) {
            at[i][3] = i >= l->faces;
            for (int a = 0; a < 3 && i < l->faces; a++) at[i][a] = 2 * l->coord[i][a] + (a != l->coord[i][3]);
        }
        status = mo_direct_create(&l->A, marked ? marked : all, (const int32_t(*)[4])at, out);
    }
    mo_free(all), mo_free(at);
    return status;
}

// ---- Carried unknowns ----

static int32_t carried(const mo_face_multigrid *mg) { return mg->level[0].rows - mg->level[0].faces; }

// The factor of the block that ends with the carried unknowns, NULL = none: where its last columns begin.
static mo_direct *block_of_carried(mo_face_multigrid *mg, bool last, int32_t *first)
{
    mo_direct *d = last ? &mg->last : &mg->direct;
    const mo_face_level *l = &mg->level[last ? mg->levels - 1 : 0];
    for (int32_t b = 0; b < d->ldl.blocks; b++) {
        *first = d->ldl.block[b + 1] - carried(mg);
        if (*first >= d->ldl.block[b] && d->ldl.member[d->ldl.block[b + 1] - 1] >= l->faces) return d;
    }
    return NULL;
}

// What elimination of the faces left of the corner: L D L^T of the last columns. Members are in an order of their own.
static void schur_complement(const mo_ldl *f, int32_t first, int32_t n, int32_t faces, double *S)
{
    const int32_t *member = f->member + first;
    memset(S, 0, sizeof(double) * (size_t)n * (size_t)n);
    for (int32_t k = 0; k < n; k++) {
        const double *column = f->val + f->start[first + k];
        double d = f->inverse[first + k] > 0 ? 1 / f->inverse[first + k] : 0;
        for (int32_t i = k; i < n; i++)
            for (int32_t j = k; j < n; j++)
                S[(member[i] - faces) * n + member[j] - faces] +=
                    (i == k ? 1 : column[i - k - 1]) * d * (j == k ? 1 : column[j - k - 1]);
    }
}

static void put_factor(mo_ldl *f, int32_t first, int32_t n, const double *L)
{
    for (int32_t k = 0; k < n; k++) {
        double *column = f->val + f->start[first + k];
        f->inverse[first + k] = L[k * n + k];
        for (int32_t i = k + 1; i < n; i++) column[i - k - 1] = L[i * n + k];
    }
}

static const double least_pivot = 1e-11;

static mo_status build_corner(mo_face_multigrid *mg)
{
    int32_t n = carried(mg);
    size_t size = (size_t)n * (size_t)n;
    if (n == 0) return MO_OK;
    double *corner = mo_face_level_copy_corner(&mg->level[0]);
    mg->corner = mo_alloc(sizeof(double) * (4 * size + (size_t)n));
    if (mg->corner && corner) {
        memcpy(mg->corner, corner, sizeof(double) * size);
        memcpy(mg->corner + size, corner, sizeof(double) * size);
        mo_dense_factor(n, mg->corner + size, least_pivot);
    }
    mo_free(corner);
    return mg->corner && corner ? MO_OK : MO_ERROR_MEMORY;
}

// Once all is built.
static void finish_corner(mo_face_multigrid *mg)
{
    int32_t n = carried(mg), first;
    size_t size = (size_t)n * (size_t)n;
    for (int32_t l = 0; n > 0 && l < mg->levels; l++)
        mg->level[l].corner = mg->corner + size, mg->level[l].carried = mg->corner + 4 * size;
    for (int k = 0; n > 0 && k < 1 + (mg->levels > 1); k++) {
        mo_direct *d = block_of_carried(mg, k, &first);
        int32_t faces = mg->level[k ? mg->levels - 1 : 0].faces;
        if (d) schur_complement(&d->ldl, first, n, faces, mg->corner + (2 + (size_t)k) * size);
    }
}

void mo_face_multigrid_corner(mo_face_multigrid *mg, const double *springs, double *scratch)
{
    int32_t n = carried(mg), first;
    size_t size = (size_t)n * (size_t)n;
    double *factor = mg->corner + size;
    for (size_t k = 0; k < size; k++) scratch[k] = mg->corner[k] + springs[k] / mg->scale;
    for (int32_t l = 0; l < mg->levels; l++) mo_face_level_corner(&mg->level[l], scratch);
    memcpy(factor, scratch, sizeof(double) * size);
    mo_dense_factor(n, factor, least_pivot);
    for (int k = 0; k < 1 + (mg->levels > 1); k++) {
        mo_direct *d = block_of_carried(mg, k, &first);
        if (!d) continue;
        const double *S = mg->corner + (2 + (size_t)k) * size;
        const int32_t *member = d->ldl.member + first, faces = mg->level[k ? mg->levels - 1 : 0].faces;
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++) {
                int32_t at = (member[i] - faces) * n + member[j] - faces;
                scratch[i * n + j] = S[at] + springs[at] / mg->scale;
            }
        mo_dense_factor(n, scratch, least_pivot);
        put_factor(&d->ldl, first, n, scratch);
    }
}

void mo_face_multigrid_resistance(const mo_face_multigrid *mg, double *S)
{
    size_t size = (size_t)carried(mg) * (size_t)carried(mg);
    for (size_t k = 0; k < size; k++) S[k] = mg->scale * mg->corner[2 * size + k];
}

// Those among carried unknowns go to every level.
static mo_status spring_corner(mo_face_multigrid *mg, const mo_csr *springs)
{
    int32_t n = carried(mg);
    if (n == 0) return MO_OK;
    double *dense = mo_calloc(sizeof(double) * 2 * (size_t)n * (size_t)n);
    if (!dense) return MO_ERROR_MEMORY;
    for (int32_t i = 0; springs && i < n; i++)
        for (int64_t k = springs->row[i]; k < springs->row[i + 1]; k++)
            if (springs->col[k] < n) dense[i * n + springs->col[k]] = springs->val[k];
    mo_face_multigrid_corner(mg, dense, dense + (size_t)n * (size_t)n);
    mo_free(dense);
    return MO_OK;
}

mo_status mo_face_multigrid_springs(mo_face_multigrid *mg, const mo_csr *springs)
{
    MO_ASSERT(mg->nodes.count > 0);
    MO_TRY(spring_corner(mg, springs));
    return mo_face_nodes_factor(&mg->nodes, springs, mg->scale);
}

void mo_face_multigrid_give(const mo_face_multigrid *mg, const double *force, double *v)
{
    mo_face_nodes_give(&mg->nodes, force, v);
    for (int32_t i = 0; i < carried(mg) + mg->nodes.count; i++) v[i] /= mg->scale;
}

// ---- Building ----

static mo_status split_finest(const mo_face_multigrid_def *def, mo_face_multigrid *mg)
{
    double *mass = mo_alloc(sizeof(double) * (size_t)def->faces);
    if (!mass) return MO_ERROR_MEMORY;
    for (int32_t i = 0; i < def->faces; i++) mass[mg->place[i]] = def->mass[i] / mg->scale;
    mo_status status = mo_face_level_split(&mg->level[0], mass);
    mo_free(mass);
    return status;
}

static mo_status build_finest(const mo_face_multigrid_def *def, mo_face_multigrid *mg)
{
    mo_face_level *l = &mg->level[0];
    int32_t *label = mo_alloc(sizeof(int32_t) * (size_t)def->faces);
    uint8_t *marked = mo_calloc((size_t)def->K->rows);
    mg->levels = 1;
    mg->place = mo_alloc(sizeof(int32_t) * (size_t)def->K->rows);
    bool ok = label && marked && mg->place;
    if (def->nodes) ok &= (mg->nodes.label = mo_alloc(sizeof(int32_t) * ((size_t)def->nodes->count + 1))) != NULL;
    mo_status status = ok ? label_pieces(def, label, &mg->nodes) : MO_ERROR_MEMORY;
    if (status == MO_OK) status = mo_face_level_create(def, label, mg->place, l);
    if (status == MO_OK) {
        double largest = 0;
        for (int64_t k = 0; k < l->A.row[l->rows]; k++) largest = l->A.val[k] > largest ? l->A.val[k] : largest;
        mg->scale = largest > 0 ? largest : 1;
        for (int64_t k = 0; k < l->A.row[l->rows]; k++) l->A.val[k] /= mg->scale; // within the range of float
        status = mo_face_level_compress(l);
        if (status == MO_OK) mark_direct(def, mg, marked);
        if (status == MO_OK && def->nodes)
            status = mo_face_nodes_create(def->nodes, l->rows, mg->place, mg->scale, &mg->nodes);
        if (status == MO_OK && def->nodes) status = mo_face_nodes_collect(&mg->nodes, l, def->nodes->springs);
        if (status == MO_OK && def->nodes) status = mo_face_nodes_factor(&mg->nodes, NULL, 1);
    }
    if (status == MO_OK) status = split_finest(def, mg);
    if (status == MO_OK) status = solve_directly(l, marked, &mg->direct);
    if (status == MO_OK) status = build_corner(mg);
    mo_free(label), mo_free(marked);
    return status;
}

static mo_status build_second(const mo_face_multigrid_def *def, mo_face_multigrid *mg)
{
    uint8_t *marked = mo_calloc((size_t)mg->level[1].rows);
    if (!marked) return MO_ERROR_MEMORY;
    mark_second(def, mg, marked);
    mo_status status = solve_directly(&mg->level[1], marked, &mg->second);
    mo_free(marked);
    return status;
}

// Whether viscosity hardly reaches beyond a cell in a step: sweeps alone then do.
static bool is_thin(const mo_face_multigrid_def *def)
{
    const double thick = 10, few = 1e-3; // of diagonal over mass, of faces
    int32_t exceed = 0;
    for (int32_t i = 0; i < def->faces; i++)
        for (int64_t k = def->K->row[i]; k < def->K->row[i + 1]; k++)
            exceed += def->K->col[k] == i && def->K->val[k] > thick * def->mass[i];
    return exceed <= few * def->faces;
}

static mo_status build(const mo_face_multigrid_def *def, mo_face_multigrid *mg)
{
    MO_TRY(build_finest(def, mg));
    bool thin = is_thin(def);
    while (true) {
        mo_face_level *l = &mg->level[mg->levels - 1];
        if (mg->levels > SPLIT) mo_face_level_join(l);
        mg->info.all_entries += mo_csr_entries(&l->A);
        bool more = l->faces > COARSEST && mg->levels < MAX_LEVELS && !thin;
        if (more) {
            mg->levels++; // whatever next holds is freed with the rest
            mo_face_nodes *beside = mg->levels == 2 && mg->nodes.count ? &mg->nodes : NULL;
            MO_TRY(mo_face_level_coarsen(l, def->axes, beside, l + 1));
            if (l[1].faces == 0) mg->levels--, more = false;
        }
        if (more && mg->levels > 2 && l[1].faces > 0.7 * l->faces) { // pieces that do not shrink further
            mo_face_level_destroy(l + 1);
            mg->levels--, more = false;
        }
        if (!more) {
            if (mg->levels > 1) MO_TRY(solve_directly(l, NULL, &mg->last));
            mo_face_level_built(l);
            return MO_OK;
        }
        MO_TRY(mo_face_level_compress(l + 1));
        if (mg->levels == 2) MO_TRY(build_second(def, mg));
        mo_face_level_built(l);
    }
}

static int32_t members_of(const mo_direct *d) { return d->ldl.blocks ? d->ldl.block[d->ldl.blocks] : 0; }
static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }
static int64_t bytes_of(const mo_direct *d) { return d->ldl.blocks ? mo_ldl_bytes(&d->ldl) : 0; }

// A coarse level may have more rows than the finest: where a body stands out of the liquid its nodes have coarse faces
// and no fine ones.
static int32_t most_rows(const mo_face_multigrid *mg)
{
    int32_t most = 0;
    for (int32_t l = 0; l < mg->levels; l++) most = larger(most, mg->level[l].rows);
    return most;
}

mo_status mo_face_multigrid_create(const mo_face_multigrid_def *def, mo_face_multigrid **out)
{
    MO_ASSERT(def->K->rows == def->K->cols && def->faces <= def->K->rows);
    *out = NULL;
    mo_face_multigrid *mg = mo_calloc(sizeof *mg);
    mo_status status = mg ? build(def, mg) : MO_ERROR_MEMORY;
    if (status == MO_OK) {
        int32_t members = members_of(&mg->direct), most = members;
        if (mg->levels > 1) most = larger(most, larger(members_of(&mg->second), members_of(&mg->last)));
        mg->work = mo_alloc(sizeof(double) * (size_t)most);
        mg->change = mo_alloc(sizeof(float) * (size_t)most_rows(mg));
        if (!mg->work || !mg->change) status = MO_ERROR_MEMORY;
        mg->info.direct = members, mg->info.shell = mg->nodes.members;
    }
    if (status != MO_OK) {
        mo_face_multigrid_destroy(mg);
        return status;
    }
    finish_corner(mg);
    mg->info.levels = mg->levels, mg->info.coarsest = mg->level[mg->levels - 1].rows;
    mg->info.factor_entries = mg->direct.factor_entries, mg->info.entries = mo_csr_entries(def->K);
    for (int32_t l = 0; l < mg->levels; l++) mg->info.bytes += mo_face_level_bytes(&mg->level[l]);
    mg->info.bytes += bytes_of(&mg->direct) + bytes_of(&mg->second) + bytes_of(&mg->last);
    if (mg->nodes.factor) mg->info.bytes += mo_cholesky_bytes(mg->nodes.factor);
    *out = mg;
    return MO_OK;
}

mo_face_multigrid_info mo_face_multigrid_describe(const mo_face_multigrid *mg) { return mg->info; }

// ---- Cycle ----

// A coarse level: a sweep before and after each correction; what is slender on the first of them is solved directly.
static void cycle(mo_face_multigrid *mg, int32_t number)
{
    mo_face_level *l = &mg->level[number];
    if (number == mg->levels - 1) {
        memset(l->x, 0, sizeof(float) * (size_t)l->rows);
        mo_face_level_direct(l, &mg->last, false, mg->work);
        return;
    }
    mo_face_level_forward(l, true);
    mo_face_level_residual(l, NULL);
    mo_face_level_restrict(l, l + 1);
    cycle(mg, number + 1);
    mo_face_level_interpolate(l, l + 1);
    if (number <= TWICE) {
        mo_face_level_backward(l, mg->change);
        mo_face_level_residual(l, mg->change);
        mo_face_level_restrict(l, l + 1);
        cycle(mg, number + 1);
        mo_face_level_interpolate(l, l + 1);
    }
    if (number == 1) mo_face_level_direct(l, &mg->second, true, mg->work);
    mo_face_level_backward(l, NULL);
}

// The finest level, the cheapest to sweep: what coarse levels leave sits at boundaries. One sweep before, two and a
// direct solve after; with bodies, whose shells are stiff, the same before as after.
static void finest_cycle(mo_face_multigrid *mg)
{
    mo_face_level *l = &mg->level[0];
    mo_face_nodes *nodes = mg->nodes.count ? &mg->nodes : NULL;
    bool coarser = mg->levels > 1, carries = l->rows > l->faces || nodes;
    mo_face_level_forward(l, true);
    if (carries || !coarser) {
        if (nodes) mo_face_nodes_direct(nodes, l);
        mo_face_level_direct(l, &mg->direct, false, mg->work);
        mo_face_level_backward(l, mg->change);
    }
    if (!coarser) return;
    mo_face_level_residual(l, carries ? mg->change : NULL);
    mo_face_level_restrict(l, l + 1);
    if (nodes) mo_face_nodes_restrict(nodes, l, l + 1);
    cycle(mg, 1);
    mo_face_level_interpolate(l, l + 1);
    if (nodes) mo_face_nodes_interpolate(nodes, l, l + 1);
    mo_face_level_forward(l, false);
    mo_face_level_direct(l, &mg->direct, true, mg->work);
    if (nodes) mo_face_nodes_direct(nodes, l);
    mo_face_level_backward(l, NULL);
}

void mo_face_multigrid_apply(void *context, const double *r, double *z)
{
    MO_ASSERT(r != z);
    mo_face_multigrid *mg = context;
    mo_face_level *l = &mg->level[0];
    // Scaled to the size of one: residuals near convergence must not leave the range of float.
    const double *of_nodes = r + l->rows;
    double norm = fmax(mo_max_abs(l->rows, r), mo_max_abs(mg->nodes.count, of_nodes));
    double down = norm > 0 ? 1 / norm : 0, up = norm / mg->scale;
#pragma omp parallel for schedule(static) if (l->rows > SMALL)
    for (int32_t i = 0; i < l->rows; i++) l->b[mg->place[i]] = (float)(down * r[i]);
    mo_face_nodes_start(&mg->nodes, of_nodes, down);
    finest_cycle(mg);
#pragma omp parallel for schedule(static) if (l->rows > SMALL)
    for (int32_t i = 0; i < l->rows; i++) z[i] = up * l->x[mg->place[i]];
    for (int32_t i = 0; i < mg->nodes.count; i++) z[l->rows + i] = up * mg->nodes.x[i];
}
