// The law of contact and friction, its linearisation and springs.
#include "system/contact_law.h"
#include "system/solids.h"
#include <math.h>
#include <string.h>

void mo_contact_law_destroy(mo_contact_law *l)
{
    mo_csr_destroy(&l->B);
    mo_free(l->c);
    *l = (mo_contact_law){0};
}

// A row's block and its number there.
static mo_block *block_of(const mo_system *s, const mo_contact_law *l, int32_t i, int32_t *row)
{
    bool normal = i < l->contacts;
    *row = normal ? i : i - l->contacts;
    return s->block[normal ? MO_BLOCK_CONTACT : MO_BLOCK_FRICTION];
}

// Takes the data of row i from the blocks and the solids' masses.
static void take_row(const mo_system *s, mo_contact_law *l, int32_t i)
{
    int32_t row;
    const mo_block *b = block_of(s, l, i, &row);
    l->mobility[i] = s->dt * mo_solids_yield(s, b, row);
    double S = mo_block_softness(b, row) * l->mobility[i];
    l->stiffness[i] = S > 0 ? 1 / S : 0;
    l->c[i] = b->rhs[row], l->lower[i] = b->lower[row], l->upper[i] = b->upper[row];
    l->anchor[i] = i < l->contacts ? 0 : b->x[row];
}

mo_status mo_contact_law_create(const mo_system *s, uint32_t set, bool cone, mo_contact_law *l)
{
    MO_ASSERT(s->dt >= 0);
    mo_block *const block[2] = {mo_set_has(s, set, MO_BLOCK_CONTACT) ? s->block[MO_BLOCK_CONTACT] : NULL,
                                mo_set_has(s, set, MO_BLOCK_FRICTION) ? s->block[MO_BLOCK_FRICTION] : NULL};
    *l = (mo_contact_law){.unknowns = mo_solids_count(s), .cone = cone};
    if (!block[0] && !block[1]) return MO_OK;
    l->contacts = block[0] ? block[0]->rows : 0, l->rows = l->contacts + (block[1] ? block[1]->rows : 0);
    size_t n = (size_t)l->rows;
    mo_status status = mo_solids_rows(s, 2, block, &l->B);
    if (status == MO_OK && !(l->c = mo_calloc(sizeof(double) * 10 * n))) status = MO_ERROR_MEMORY;
    if (status != MO_OK) {
        mo_contact_law_destroy(l);
        return status;
    }
    double **part[] = {&l->stiffness, &l->anchor, &l->lower,  &l->upper,   &l->x,
                       &l->slope,     &l->cross,  &l->offset, &l->mobility};
    for (size_t k = 0; k < 9; k++) *part[k] = l->c + (k + 1) * n;
    for (int32_t i = 0; i < l->rows; i++) take_row(s, l, i);
    for (int32_t i = l->contacts; cone && i < l->rows; i += 2) { // of a vector: the same in all directions
        l->stiffness[i] = l->stiffness[i + 1] = fmin(l->stiffness[i], l->stiffness[i + 1]);
        l->mobility[i] = l->mobility[i + 1] = fmax(l->mobility[i], l->mobility[i + 1]);
    }
    return MO_OK;
}

// Row i with force t before bounds.
static void set_row(mo_contact_law *l, int32_t i, double t)
{
    MO_ASSERT(i >= 0 && i < l->rows && l->lower[i] <= l->upper[i]);
    bool holds = l->stiffness[i] > 0 && t > l->lower[i] && t < l->upper[i];
    l->slope[i] = holds ? l->stiffness[i] : 0, l->cross[i] = 0;
    l->x[i] = l->stiffness[i] > 0 ? fmin(fmax(t, l->lower[i]), l->upper[i]) : 0;
    l->offset[i] = holds ? l->anchor[i] - l->stiffness[i] * l->c[i] : l->x[i];
}

// Both tangents of a contact, force t before bounds, moving with Bv: x = b t/|t|, D = k b/|t| (1 - t t^T/|t|^2).
static void set_pair(mo_contact_law *l, int32_t i, const double t[2], const double Bv[2])
{
    MO_ASSERT(i >= l->contacts && i + 1 < l->rows && l->upper[i] >= 0);
    double length = hypot(t[0], t[1]), bound = l->upper[i], k = l->stiffness[i];
    if (!(length > bound)) {
        for (int a = 0; a < 2; a++) {
            l->slope[i + a] = k, l->cross[i + a] = 0;
            l->x[i + a] = t[a], l->offset[i + a] = l->anchor[i + a] - k * l->c[i + a];
        }
        return;
    }
    double n[2] = {t[0] / length, t[1] / length}, d = k * bound / length;
    for (int a = 0; a < 2; a++) {
        l->x[i + a] = bound * n[a];
        l->slope[i + a] = d * n[1 - a] * n[1 - a], l->cross[i + a] = -d * n[0] * n[1];
        l->offset[i + a] = l->x[i + a] - l->slope[i + a] * Bv[a] - l->cross[i + a] * Bv[1 - a];
    }
}

double mo_contact_law_last(const mo_contact_law *l, const mo_system *s, int32_t i)
{
    return i < l->contacts ? s->block[MO_BLOCK_CONTACT]->x[i] : l->anchor[i];
}

void mo_contact_law_start(const mo_system *s, mo_contact_law *l)
{
    for (int32_t i = 0; i < l->rows; i++) set_row(l, i, mo_contact_law_last(l, s, i));
}

// Force of row i before bounds.
static double tried(const mo_contact_law *l, int32_t i, double Bv)
{
    return l->anchor[i] + l->stiffness[i] * (Bv - l->c[i]);
}

// What the present linearisation gives.
static double expected(const mo_contact_law *l, int32_t i, double Bv, double other)
{
    return l->offset[i] + l->slope[i] * Bv + l->cross[i] * other;
}

void mo_contact_law_admit(const mo_contact_law *l, double *x)
{
    MO_ASSERT(l->contacts >= 0 && l->contacts <= l->rows);
    for (int32_t i = 0; i < l->rows; i++) {
        if (!l->cone || i < l->contacts) {
            x[i] = l->stiffness[i] > 0 ? fmin(fmax(x[i], l->lower[i]), l->upper[i]) : 0;
            continue;
        }
        double length = hypot(x[i], x[i + 1]), part = length > l->upper[i] ? l->upper[i] / length : 1;
        x[i] *= part, x[i + 1] *= part;
        i++;
    }
}

void mo_contact_law_force(const mo_contact_law *l, const double *Bv, double *x)
{
    for (int32_t i = 0; i < l->rows; i++) x[i] = tried(l, i, Bv[i]);
    mo_contact_law_admit(l, x);
}

double mo_contact_law_residual(const mo_contact_law *l, const double *Bv, const double *x, double *scratch)
{
    MO_ASSERT(scratch != Bv && scratch != x);
    double largest = 0;
    for (int32_t i = 0; i < l->rows; i++) {
        double missing = l->stiffness[i] > 0 ? Bv[i] - l->c[i] - (x[i] - l->anchor[i]) / l->stiffness[i] : 0;
        scratch[i] = l->mobility[i] > 0 ? x[i] + missing / l->mobility[i] : 0;
    }
    mo_contact_law_admit(l, scratch);
    for (int32_t i = 0; i < l->rows; i++) largest = fmax(largest, l->mobility[i] * fabs(x[i] - scratch[i]));
    return largest;
}

double mo_contact_law_norm(const mo_contact_law *l, const double *v, double norm)
{
    for (int32_t i = 0; i < l->rows; i++) {
        if (!(l->stiffness[i] > 0)) continue;
        double Bv = mo_csr_row_product(&l->B, i, v);
        double b = Bv - l->c[i] + l->anchor[i] / l->stiffness[i], size = fabs(b);
        bool idle = (l->lower[i] == 0 && b < 0) || (l->upper[i] == 0 && b > 0); // asks for nothing (as in MPRGP)
        if (!idle) norm = size > norm || size != size ? size : norm;
    }
    return norm;
}

void mo_contact_law_expect(const mo_contact_law *l, const double *v, double *x)
{
    for (int32_t i = 0; i < l->rows; i++) {
        double across = l->cross[i] != 0 ? mo_csr_row_product(&l->B, mo_contact_law_other(l, i), v) : 0;
        x[i] = expected(l, i, mo_csr_row_product(&l->B, i, v), across);
    }
}

double mo_contact_law_linearise(mo_contact_law *l, const double *v)
{
    MO_ASSERT(l->rows == l->contacts || l->rows == 3 * l->contacts || l->contacts == 0);
    double difference = 0, largest = 0;
    for (int32_t i = 0; i < l->rows; i++) {
        bool pair = l->cone && i >= l->contacts;
        double Bv[2] = {mo_csr_row_product(&l->B, i, v), pair ? mo_csr_row_product(&l->B, i + 1, v) : 0};
        double before[2] = {expected(l, i, Bv[0], Bv[1]), pair ? expected(l, i + 1, Bv[1], Bv[0]) : 0};
        if (pair)
            set_pair(l, i, (double[2]){tried(l, i, Bv[0]), tried(l, i + 1, Bv[1])}, Bv);
        else
            set_row(l, i, tried(l, i, Bv[0]));
        for (int a = 0; a <= pair; a++) {
            difference = fmax(difference, fabs(l->x[i + a] - before[a]));
            largest = fmax(largest, fabs(l->x[i + a]));
        }
        i += pair;
    }
    return largest > 0 ? difference / largest : difference > 0 ? INFINITY : 0;
}

void mo_contact_law_hold(mo_contact_law *l, const double *x, const double *Bv)
{
    const double inside = 1 - 1e-9;
    for (int32_t i = 0; i < l->rows; i++) {
        if (!l->cone || i < l->contacts) {
            set_row(l, i, x[i]);
            continue;
        }
        double slides[2] = {tried(l, i, Bv[i]), tried(l, i + 1, Bv[i + 1])};
        set_pair(l, i, hypot(x[i], x[i + 1]) < inside * l->upper[i] ? x + i : slides, Bv + i);
        i++;
    }
}

// A += (row i)^T d (row j)
static void add_product(const mo_csr *B, int32_t i, int32_t j, double d, double *A)
{
    for (int64_t p = B->row[i]; p < B->row[i + 1]; p++)
        for (int64_t q = B->row[j]; q < B->row[j + 1]; q++)
            A[(int64_t)B->col[p] * B->cols + B->col[q]] += B->val[p] * d * B->val[q];
}

void mo_contact_law_springs(const mo_contact_law *l, double *A)
{
    for (int32_t i = 0; i < l->rows; i++) {
        if (l->slope[i] != 0) add_product(&l->B, i, i, l->slope[i], A);
        if (l->cross[i] != 0) add_product(&l->B, i, mo_contact_law_other(l, i), l->cross[i], A);
    }
}

void mo_contact_law_take(const mo_contact_law *l, mo_system *s)
{
    for (int32_t i = 0; i < l->rows; i++) {
        int32_t row;
        mo_block *b = block_of(s, l, i, &row);
        b->x[row] = l->x[i];
    }
}
