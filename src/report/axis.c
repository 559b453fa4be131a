// Axes: ranges that end on ticks at 1, 2, 5 times a power of ten, or at decades.
#include "report/plot.h"
#include <math.h>

// The nice step at or above `rough`.
static double nice_step(double rough)
{
    double power = pow(10, floor(log10(rough))), m = rough / power;
    return power * (m <= 1.0001 ? 1 : m <= 2.0001 ? 2 : m <= 5.0001 ? 5 : 10);
}

mo_axis mo_axis_linear(double lo, double hi, int32_t wanted, bool whole)
{
    MO_ASSERT(wanted > 0);
    mo_axis a = {0};
    // A constant still needs a height, and rounding noise is no signal.
    double size = fmax(fabs(lo), fabs(hi));
    if (!(hi - lo > 1e-9 * size)) {
        lo = fmin(lo, 0), hi = fmax(hi, 0);
        if (!(hi - lo > 1e-300)) lo = 0, hi = 1;
    }
    double step = nice_step((hi - lo) / wanted);
    if (whole && step < 1) step = 1;
    double first = floor(lo / step + 1e-6), last = ceil(hi / step - 1e-6);
    if (last <= first) last = first + 1;
    a.lo = first * step, a.hi = last * step;
    for (double k = first; k <= last && a.ticks < MO_TICKS; k++) a.tick[a.ticks++] = k == 0 ? 0 : k * step;
    a.decimals = (int)fmax(0, ceil(-log10(step) - 1e-6));
    return a;
}

mo_axis mo_axis_log(double lo, double hi, int32_t wanted)
{
    MO_ASSERT(lo > 0 && hi >= lo && wanted > 0);
    mo_axis a = {.log = true};
    int first = (int)floor(log10(lo) + 1e-6), last = (int)ceil(log10(hi) - 1e-6);
    if (last <= first) last = first + 1;
    int stride = (last - first + wanted - 1) / wanted;
    if (stride < 1) stride = 1;
    a.lo = first, a.hi = last;
    for (int e = first; e <= last && a.ticks < MO_TICKS; e++)
        if (e % stride == 0) a.tick[a.ticks++] = pow(10, e);
    return a;
}

double mo_axis_place(const mo_axis *axis, double value)
{
    MO_ASSERT(axis->hi > axis->lo);
    return ((axis->log ? log10(value) : value) - axis->lo) / (axis->hi - axis->lo);
}
