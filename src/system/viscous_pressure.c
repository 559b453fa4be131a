// The pressure's part of the form `viscous`: its Poisson problem, null spaces, Schur complement.
#include "base/parallel.h"
#include "base/union_find.h"
#include "sparse/dense.h"
#include "system/viscous_solver.h"
#include <math.h>
#include <string.h>

enum { SMALL = 4096, MOST_WET = 36 };

// What stress adds to a face's entry on the diagonal of K.
static double stress_part(const mo_viscous_form *f, int32_t face)
{
    return mo_csr_entry(&f->K, face, face) - f->mass[face];
}

// Marks the rows of cells that have a face without stress. Nearly empty cells at the surface are such.
static void find_slack_rows(const mo_viscous_form *f, uint8_t *slack)
{
    double largest = 0;
    for (int32_t i = 0; i < f->faces; i++) largest = fmax(largest, stress_part(f, i));
    for (int32_t i = 0; i < f->faces; i++)
        for (int64_t k = f->Bpt.row[i]; k < f->Bpt.row[i + 1] && stress_part(f, i) <= 1e-14 * largest; k++)
            slack[f->Bpt.col[k]] = 1;
}

// Finds how far each face gives way in L, in 1/kg s. A cell with a face without stress gives way by that face, whose
// mass alone resists: there wd is 0, and L has to tell the whole of the Schur complement. The other faces of the cell
// are held by stress, so that they count with it; by their mass alone, as elsewhere, they would seem to pass the
// pressure on to their other cells. It counts by a half, for neighbours go along.
static void find_yielding(const mo_viscous_form *f, const uint8_t *slack, double *weight)
{
    const double held = 0.5;
#pragma omp parallel for schedule(static) if (f->faces > SMALL)
    for (int32_t i = 0; i < f->faces; i++) {
        bool beside = false;
        for (int64_t k = f->Bpt.row[i]; k < f->Bpt.row[i + 1]; k++) beside |= slack[f->Bpt.col[k]];
        weight[i] = f->system->dt / f->system->faces.mass[i];
        if (beside) weight[i] *= f->mass[i] / (f->mass[i] + held * stress_part(f, i));
    }
}

// b V^-1 b^T of one row, V = K less the mass, restricted to the faces of the row's cell.
static double local_schur(const mo_viscous_form *f, int32_t r)
{
    enum { FACES = 8 };
    double A[FACES * FACES] = {0}, b[FACES], y[FACES], sum = 0;
    int32_t face[FACES], n = 0;
    for (int64_t k = f->Bp.row[r]; k < f->Bp.row[r + 1] && n < FACES; k++)
        if (f->Bp.col[k] < f->faces) face[n] = f->Bp.col[k], b[n] = y[n] = f->Bp.val[k], n++;
    for (int32_t i = 0; i < n; i++) {
        for (int64_t k = f->K.row[face[i]]; k < f->K.row[face[i] + 1]; k++)
            for (int32_t j = 0; j < n; j++)
                if (face[j] == f->K.col[k]) A[i * n + j] = f->K.val[k];
        A[i * n + i] -= f->mass[face[i]];
    }
    mo_dense_factor(n, A, 1e-13);
    mo_dense_solve(n, A, y);
    for (int32_t i = 0; i < n; i++) sum += b[i] * y[i];
    return sum;
}

// Inside the liquid the inverse is 7/3 eta: the factor makes it 2 eta.
static void find_wd(const mo_viscous_form *f, const uint8_t *slack, double *wd)
{
    const double factor = 0.85;
#pragma omp parallel for schedule(static) if (f->pressures > SMALL)
    for (int32_t r = 0; r < f->pressures; r++) {
        double sum = slack[r] ? 0 : local_schur(f, r);
        wd[r] = sum > 0 ? factor / sum : 0;
    }
}

mo_status mo_viscous_schur(mo_viscous_solver *s)
{
    const mo_viscous_form *f = &s->form;
    const mo_csr *B = &f->pressure->on[MO_FACES];
    double *weight = mo_alloc(sizeof(double) * (size_t)f->faces);
    uint8_t *slack = mo_calloc((size_t)f->pressures);
    mo_csr Bt = {0};
    s->wd = mo_alloc(sizeof(double) * 2 * (size_t)f->pressures);
    mo_status status = weight && slack && s->wd ? mo_csr_transpose(B, &Bt) : MO_ERROR_MEMORY;
    if (status == MO_OK) {
        s->narrow = s->wd + f->pressures;
        find_slack_rows(f, slack);
        find_wd(f, slack, s->wd);
        find_yielding(f, slack, weight);
        status = mo_csr_weighted_square(B, &Bt, weight, &s->L);
    }
    mo_csr_destroy(&Bt);
    mo_free(weight), mo_free(slack);
    return status;
}

// ---- Specks ----

enum { SPECK = 200, SPECK_FACES = 600 };

void mo_viscous_specks_destroy(mo_viscous_specks *k)
{
    mo_free(k->first), mo_free(k->row), mo_free(k->first_face), mo_free(k->face), mo_free(k->start), mo_free(k->factor);
    *k = (mo_viscous_specks){0};
}

// Label of every face: pieces that neither stress nor pressure joins. Returns their number, -1 = no memory.
static int32_t label_faces(const mo_viscous_form *f, int32_t *label)
{
    mo_csr graph = {.rows = f->faces, .cols = f->faces, .row = f->K.row, .col = f->K.col, .val = f->K.val};
    int32_t pieces = mo_csr_components(&graph, label), *parent = NULL;
    if (pieces < 0 || !(parent = mo_alloc(sizeof(int32_t) * (size_t)pieces))) return -1;
    for (int32_t q = 0; q < pieces; q++) parent[q] = q;
    for (int32_t r = 0; r < f->pressures; r++) {
        int32_t one = -1;
        for (int64_t k = f->Bp.row[r]; k < f->Bp.row[r + 1]; k++) {
            if (f->Bp.col[k] >= f->faces) continue;
            int32_t q = mo_find_root(parent, label[f->Bp.col[k]]);
            if (one < 0)
                one = q;
            else
                parent[q] = one;
        }
    }
    for (int32_t i = 0; i < f->faces; i++) label[i] = mo_find_root(parent, label[i]);
    mo_free(parent);
    return pieces;
}

// The piece of a pressure row, -1 = it has no faces.
static int32_t piece_of(const mo_viscous_form *f, const int32_t *label, int32_t r)
{
    for (int64_t k = f->Bp.row[r]; k < f->Bp.row[r + 1]; k++)
        if (f->Bp.col[k] < f->faces) return label[f->Bp.col[k]];
    return -1;
}

typedef struct counts { // of a piece
    int32_t faces, rows, number;
    bool enclosed, pushes; // pushes nodes, or bodies as a whole: it gives way with them, which its faces do not tell
} counts;

static void count_pieces(const mo_viscous_solver *s, const int32_t *label, counts *piece)
{
    const mo_viscous_form *f = &s->form;
    const mo_csr *nodes = &f->pressure->on[MO_NODES];
    for (int32_t i = 0; i < f->faces; i++) piece[label[i]].faces++;
    for (int32_t r = 0; r < f->pressures; r++) {
        int32_t q = piece_of(f, label, r);
        if (q < 0) continue;
        uint8_t kind = s->pieces.kind[s->pieces.of[r]];
        piece[q].rows++, piece[q].enclosed |= kind == MO_PIECE_ENCLOSED;
        piece[q].pushes |= kind == MO_PIECE_PUSHES || mo_csr_end(nodes, r) > mo_csr_begin(nodes, r);
    }
}

// Numbers the specks, and makes room for their lists, whose beginnings it finds.
static mo_status number_specks(counts *piece, int32_t pieces, mo_viscous_specks *k)
{
    int32_t faces = 0, rows = 0;
    for (int32_t q = 0; q < pieces; q++) {
        counts *c = &piece[q];
        bool speck = c->rows > 0 && c->rows <= SPECK && c->faces <= SPECK_FACES && !c->enclosed && !c->pushes;
        c->number = speck ? k->count++ : -1;
        if (speck) faces += c->faces, rows += c->rows;
    }
    size_t n = (size_t)k->count + 1;
    k->first = mo_calloc(sizeof(int32_t) * n), k->row = mo_alloc(sizeof(int32_t) * (size_t)rows);
    k->first_face = mo_calloc(sizeof(int32_t) * n), k->face = mo_alloc(sizeof(int32_t) * (size_t)faces);
    k->start = mo_calloc(sizeof(int64_t) * n);
    if (!k->first || !k->row || !k->first_face || !k->face || !k->start) return MO_ERROR_MEMORY;
    for (int32_t q = 0; q < pieces; q++) {
        counts *c = &piece[q];
        int32_t m = c->number;
        if (m < 0) continue;
        k->first[m + 1] = k->first[m] + c->rows, k->first_face[m + 1] = k->first_face[m] + c->faces;
        k->start[m + 1] = k->start[m] + (int64_t)c->rows * c->rows;
    }
    return MO_OK;
}

static mo_status list_specks(const mo_viscous_solver *s, const int32_t *label, counts *piece, int32_t pieces,
                             mo_viscous_specks *k)
{
    const mo_viscous_form *f = &s->form;
    count_pieces(s, label, piece);
    MO_TRY(number_specks(piece, pieces, k));
    for (int32_t q = 0; q < pieces; q++) piece[q].rows = piece[q].faces = 0; // filled so far
    for (int32_t r = 0; r < f->pressures; r++) {
        int32_t q = piece_of(f, label, r);
        if (q >= 0 && piece[q].number >= 0) k->row[k->first[piece[q].number] + piece[q].rows++] = r;
    }
    for (int32_t i = 0; i < f->faces; i++) {
        counts *c = &piece[label[i]];
        if (c->number >= 0) k->face[k->first_face[c->number] + c->faces++] = i;
    }
    return MO_OK;
}

// B K^-1 B^T of one speck. Faces ascend.
static void form_speck(const mo_viscous_form *f, const mo_viscous_specks *k, int32_t speck, int32_t *place, double *A)
{
    const int32_t *face = k->face + k->first_face[speck], *row = k->row + k->first[speck];
    int32_t n = k->first_face[speck + 1] - k->first_face[speck], rows = k->first[speck + 1] - k->first[speck];
    double *S = k->factor + k->start[speck], y[SPECK_FACES];
    memset(A, 0, sizeof(double) * (size_t)n * (size_t)n);
    for (int32_t i = 0; i < n; i++) place[face[i]] = i;
    for (int32_t i = 0; i < n; i++)
        for (int64_t e = f->K.row[face[i]]; e < f->K.row[face[i] + 1]; e++)
            if (f->K.col[e] < f->faces) A[i * n + place[f->K.col[e]]] = f->K.val[e];
    mo_dense_factor(n, A, 1e-13);
    for (int32_t i = 0; i < rows; i++) {
        memset(y, 0, sizeof(double) * (size_t)n);
        for (int64_t e = f->Bp.row[row[i]]; e < f->Bp.row[row[i] + 1]; e++)
            if (f->Bp.col[e] < f->faces) y[place[f->Bp.col[e]]] = f->Bp.val[e];
        mo_dense_solve(n, A, y);
        for (int32_t j = 0; j < rows; j++) {
            S[j * rows + i] = 0;
            for (int64_t e = f->Bp.row[row[j]]; e < f->Bp.row[row[j] + 1]; e++)
                if (f->Bp.col[e] < f->faces) S[j * rows + i] += f->Bp.val[e] * y[place[f->Bp.col[e]]];
        }
    }
    mo_dense_factor(rows, S, 1e-13);
}

mo_status mo_viscous_find_specks(mo_viscous_solver *s)
{
    const mo_viscous_form *f = &s->form;
    mo_viscous_specks *k = &s->specks;
    int32_t *label = mo_alloc(sizeof(int32_t) * (size_t)f->faces), pieces = label ? label_faces(f, label) : -1;
    counts *piece = mo_calloc(sizeof(counts) * (size_t)(pieces > 0 ? pieces : 0));
    double *A = mo_alloc(sizeof(double) * SPECK_FACES * SPECK_FACES);
    mo_status status = pieces >= 0 && piece && A ? list_specks(s, label, piece, pieces, k) : MO_ERROR_MEMORY;
    if (status == MO_OK && !(k->factor = mo_alloc(sizeof(double) * (size_t)k->start[k->count])))
        status = MO_ERROR_MEMORY;
    for (int32_t m = 0; status == MO_OK && m < k->count; m++) form_speck(f, k, m, label, A); // labels are done with
    mo_free(label), mo_free(piece), mo_free(A);
    return status;
}

void mo_viscous_specks_apply(const mo_viscous_specks *k, const double *r, double *z)
{
    for (int32_t m = 0; m < k->count; m++) {
        double x[SPECK];
        const int32_t *row = k->row + k->first[m];
        int32_t n = k->first[m + 1] - k->first[m];
        for (int32_t i = 0; i < n; i++) x[i] = r[row[i]];
        mo_dense_solve(n, k->factor + k->start[m], x);
        for (int32_t i = 0; i < n; i++) z[row[i]] = x[i];
    }
}

// ---- Solids that pressure pushes ----

mo_status mo_viscous_find_wet(mo_viscous_solver *s)
{
    const mo_viscous_form *f = &s->form;
    const mo_csr *R = &f->pressure->on[MO_BODIES];
    uint8_t *wet = mo_calloc((size_t)R->cols);
    int32_t column[MOST_WET], count = 0;
    if (!wet) return MO_ERROR_MEMORY;
    for (int64_t k = 0; k < mo_csr_entries(R); k++)
        if (R->val[k] != 0 && f->dof[R->col[k]] >= 0) wet[R->col[k]] = 1;
    for (int32_t i = 0; i < R->cols; i++) {
        if (wet[i] && count < MOST_WET) column[count] = i;
        count += wet[i];
    }
    mo_free(wet);
    mo_csr own = f->inertia; // bodies come first
    own.rows = own.cols = R->cols;
    return mo_woodbury_create(R, &own, count <= MOST_WET ? count : 0, column, s->cells, s->work, &s->wet);
}

void mo_viscous_wet_apply(mo_viscous_solver *s, const double *r, double *z)
{
    const mo_woodbury *w = &s->wet;
    if (w->columns == 0) return;
    double *x = s->dv; // free while the residual is not measured
    mo_woodbury_gather(w, 1, r, x);
    mo_clusters_solve(&s->core, x);
#pragma omp parallel for schedule(static) if (w->rows > SMALL)
    for (int32_t i = 0; i < w->rows; i++)
        for (int32_t c = 0; c < w->columns; c++)
            z[i] -= w->Z[(size_t)c * (size_t)w->rows + (size_t)i] * x[w->column[c]];
}
