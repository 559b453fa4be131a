// Viscosity that depends on the flow, renewed between rounds (MO Algorithm 2, with another renewal).
//
// The papers use the viscosity at the shear rate r just found. This is right where motion prescribes r; where forces
// prescribe the stress, a round multiplies the error of log eta by 1 - m, with m = d mo_ln(stress) / d mo_ln(r) the
// local flow index: from m = 2 on rounds never settle. In every flow a change of log eta changes log r by -C times as
// much, with 0 <= C <= 1. So the new eta is chosen as if log r followed by half of the change: the eta of the law at
// which the power eta r^2 is the one just found. That leaves at most |1 - m| / (1 + m) of the error. Near the yield
// stress m tends to 0 and this to 1, and rounds may cycle; an exponent a little above 2 leaves less, and settles for
// flow indices up to 12.
#include "base/elementary.h"
#include "base/parallel.h"
#include "fluid/rheology.h"
#include "system/stress.h"
#include <math.h>

// Mean of a parameter over the cells round a sample that know it (viscosity >= 0, as for the viscosity itself); where
// sheets are, over the rows in whose liquid it lies.
static mo_rheology parameters_at(const mo_stress_rheology *r, int32_t row)
{
    const mo_liquid_system *l = r->liquid;
    int32_t round[4], sample = l->sample_at[row], count = 4;
    const int32_t *cell = round;
    double sum[4] = {0}, n = 0;
    if (l->home) {
        cell = l->home + l->first_home[row], count = (int32_t)(l->first_home[row + 1] - l->first_home[row]);
    } else {
        mo_stress_cells_round(r->grid, mo_stress_cell(sample), mo_stress_component(sample), round);
    }
    for (int k = 0; k < count; k++) {
        if (cell[k] < 0 || r->known[cell[k]] < 0) continue;
        for (int q = 0; q < 4; q++) sum[q] += r->parameter[q][cell[k]];
        n++;
    }
    return (mo_rheology){sum[0] / n, sum[1] / n, sum[2] / n, sum[3] / n};
}

static const double kept = 2.2; // the exponent of r: eta r^kept stays the same

// The r at which K r^(n-1+kept) + tau r^(kept-1) = product, by Newton's method for log r: increasing and convex.
static double rate_of_product(const mo_rheology *p, double product)
{
    MO_ASSERT(product > 0);
    double a = p->flow_index - 1 + kept, b = kept - 1, step = 1,
           l = mo_ln(product / (p->consistency + p->yield_stress)) / (p->consistency > p->yield_stress ? a : b);
    for (int k = 0; k < 50 && fabs(step) > 1e-12; k++) {
        double viscous = p->consistency * mo_exp(a * l), plastic = p->yield_stress * mo_exp(b * l),
               sum = viscous + plastic;
        step = mo_ln(sum / product) * sum / (a * viscous + b * plastic);
        l -= step;
    }
    return mo_exp(l);
}

// The viscosity of the law that keeps eta r^kept.
static double renewed_viscosity(const mo_rheology *p, double eta, double rate)
{
    double limit = mo_rheology_viscosity(p, 0), product = eta * mo_pow(rate, kept);
    if (mo_rheology_is_newtonian(p) || product <= limit * mo_pow(p->threshold, kept)) return limit;
    return mo_rheology_viscosity(p, rate_of_product(p, product));
}

double mo_stress_renew(void *user, mo_system *system, int32_t round)
{
    MO_ASSERT(round >= 0);
    const mo_stress_rheology *r = user;
    mo_liquid_system *s = r->liquid;
    int32_t rows = system->block[MO_BLOCK_STRESS]->rows;
    size_t mark = mo_arena_mark(r->arena);
    double *rate = MO_ARENA_ARRAY(r->arena, double, rows + 1), *viscosity = MO_ARENA_ARRAY(r->arena, double, rows + 1),
           change = -1; // no memory
    if (!rate || !viscosity) return change;
    // The shear rate of u* first, then that of the stresses just found.
    if (round == 0)
        mo_stress_strain_of(s, viscosity);
    else
        mo_stress_strain(s, viscosity);
    if (mo_shear_rate(r->grid, s, viscosity, r->reduced, r->arena, rate, NULL) == MO_OK) {
#pragma omp parallel for schedule(static)
        for (int32_t i = 0; i < rows; i++) {
            mo_rheology p = parameters_at(r, i);
            double eta =
                round == 0 ? mo_rheology_viscosity(&p, rate[i]) : renewed_viscosity(&p, s->viscosity[i], rate[i]);
            viscosity[i] = eta < 1e-12 ? 1e-12 : eta; // a NaN stays one
            rate[i] = fabs(viscosity[i] - s->viscosity[i]) / fmax(viscosity[i], s->viscosity[i]);
        }
        change = rows ? mo_sum(rows, rate) / rows : 0;
        mo_stress_set_viscosity(s, viscosity);
    }
    mo_arena_release(r->arena, mark);
    return change;
}
