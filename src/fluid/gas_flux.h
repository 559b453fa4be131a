// One sweep of the flow of soot and heat along an axis. Internal to fluid/: gas_flux.c sweeps lines of the lattice,
// gas_flux_near.c rows that sheets may part.
#ifndef MO_GAS_FLUX_H
#define MO_GAS_FLUX_H

#include "fluid/gas.h"
#include <math.h>

typedef struct mo_gas_sweep {
    const mo_grid *g;
    const mo_gas_flux *flux;
    int axis;
    float step;                    // cells per m/s
    const float *content, *volume; // of rows, in parts of a cell
    float *next_content, *next_volume;
} mo_gas_sweep;

// The density of a row; one that is nearly full counts as larger.
static inline float mo_gas_value(const mo_gas_sweep *s, float content, float volume)
{
    return volume > 0 ? content / mo_maxf(volume, s->flux->least) : 0;
}

// The slope of a field in a cell: the mean one, but at most twice the smaller of those to the two sides.
static inline float mo_gas_slope(float low, float here, float high)
{
    float a = here - low, b = high - here;
    if (a * b <= 0) return 0;
    float least = 2 * mo_minf(fabsf(a), fabsf(b)), mean = 0.5f * fabsf(a + b);
    return copysignf(mo_minf(least, mean), a);
}

// The amount that the volume `flow` takes along, upwards, from the cell in the middle of three: the mean over the part
// of it that flows out.
static inline float mo_gas_passing(float flow, const float value[3], const float volume[3])
{
    if (flow == 0 || volume[1] <= 0) return 0;
    float part = mo_minf(fabsf(flow) / volume[1], 1), half = flow > 0 ? 0.5f : -0.5f;
    float slope = volume[0] > 0 && volume[2] > 0 ? mo_gas_slope(value[0], value[1], value[2]) : 0;
    return flow * (value[1] + half * (1 - part) * slope);
}

// The part of the content that leaves which a cell may give: it may not give more than it has.
static inline float mo_gas_spare(float content, float leaves)
{
    return leaves > fabsf(content) ? fabsf(content) / leaves : 1;
}
// What an amount that passes upwards takes from a cell of this content, if it leaves it: through its high side, or low.
static inline float mo_gas_leaving(float content, float passed, float flow, int side)
{
    float sign = (content < 0) == (side > 0) ? -1.0f : 1.0f;
    return (side > 0 ? flow > 0 : flow < 0) ? mo_maxf(sign * passed, 0) : 0;
}

// ---- Near sheets (gas_flux_near.c) ----

// Whether a tile, or one beside it, has rows that sheets part.
bool mo_gas_is_near(const mo_grid *g, int32_t tile);
// Sweeps all rows of such a tile.
void mo_gas_sweep_near(const mo_gas_sweep *s, int32_t tile);
// Groups flow as one: their first row has all contents and volumes. `gather` sums them up, `spread` gives every row its
// share by its open part.
void mo_gas_gather(const mo_grid *g, const mo_gas_flux *f, float *content, float *volume);
void mo_gas_spread(const mo_grid *g, const mo_gas_flux *f, float *content);

// Cells that solids leave little room take the mean density of themselves and the rows that they are open to
// (gas_room.c). In a sweep far more may flow through such a cell than it holds, and its content is then wrong.
void mo_gas_share_slivers(const mo_grid *g, const mo_gas_flux *f, float *content);

#endif
