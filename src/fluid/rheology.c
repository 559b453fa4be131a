// Herschel-Bulkley viscosity (MO eq. 27) with the textbook's shear rate, r = sqrt(2 D:D): in simple shear the stress is
// consistency r^flow_index + yield_stress. Below the threshold the viscosity is constant.
#include "fluid/rheology.h"
#include "base/base.h"
#include "base/elementary.h"
#include <float.h>
#include <math.h>

bool mo_rheology_is_newtonian(const mo_rheology *r)
{
    return r->yield_stress == 0 && (r->flow_index == 1 || r->consistency == 0);
}

static double viscosity_at(const mo_rheology *r, double rate)
{
    double power_law = r->consistency > 0 ? r->consistency * mo_pow(rate, r->flow_index - 1) : 0;
    return power_law + r->yield_stress / rate;
}

double mo_rheology_viscosity(const mo_rheology *r, double shear_rate)
{
    MO_ASSERT(!(shear_rate < 0)); // a NaN may come
    if (mo_rheology_is_newtonian(r)) return r->consistency;
    double eta = viscosity_at(r, shear_rate < r->threshold ? r->threshold : shear_rate);
    return eta > FLT_MAX ? FLT_MAX : eta; // thickening has no bound, but fields hold floats; a NaN stays one
}

mo_status mo_rheology_check(const mo_rheology *r, const char *place, mo_error *err)
{
    const struct {
        const char *name, *range;
        double value;
        bool good;
    } number[] = {{"consistency", ">= 0", r->consistency, r->consistency >= 0},
                  {"flow_index", "> 0", r->flow_index, r->flow_index > 0},
                  {"yield_stress", ">= 0", r->yield_stress, r->yield_stress >= 0},
                  {"threshold", ">= 0", r->threshold, r->threshold >= 0}};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        if (!number[i].good)
            return mo_fail(err, MO_ERROR_INPUT, "%s: rheology.%s must be %s, got %g", place, number[i].name,
                           number[i].range, number[i].value);
        if (isinf(number[i].value))
            return mo_fail(err, MO_ERROR_INPUT, "%s: rheology.%s must be finite", place, number[i].name);
    }
    bool bends = r->flow_index != 1;
    if ((bends || r->yield_stress > 0) && r->threshold == 0)
        return mo_fail(err, MO_ERROR_INPUT,
                       "%s: rheology.threshold must be > 0 with a %s of %g: it is the shear rate (1/s) below which the "
                       "viscosity stays constant, well below those of the flow, for example 0.01",
                       place, bends ? "flow_index" : "yield_stress", bends ? r->flow_index : r->yield_stress);
    if (r->consistency > FLT_MAX)
        return mo_fail(err, MO_ERROR_INPUT, "%s: rheology.consistency is too large, %g", place, r->consistency);
    double limit = mo_rheology_is_newtonian(r) ? r->consistency : viscosity_at(r, r->threshold);
    if (!(limit <= FLT_MAX))
        return mo_fail(
            err, MO_ERROR_INPUT,
            "%s: rheology: the viscosity at the threshold, %g Pa s, is too large: take another threshold than %g",
            place, limit, r->threshold);
    return MO_OK;
}
