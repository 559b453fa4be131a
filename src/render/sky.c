// Skies: smooth gradients, chosen to look right rather than measured.
#include "render/sky.h"

typedef struct preset {
    mo_vec3f zenith, horizon, below, sun, irradiance;
    float degrees; // radius of the sun's disc
} preset;

static const preset presets[] = {
    [MO_SKY_DAY] = {{0.13f, 0.29f, 0.66f},
                    {0.56f, 0.70f, 0.86f},
                    {0.30f, 0.29f, 0.27f},
                    {-0.72f, 0.80f, 0.12f},
                    {3.4f, 3.05f, 2.5f},
                    1.6f},
    [MO_SKY_STUDIO] = {{0.30f, 0.31f, 0.33f},
                       {0.42f, 0.44f, 0.47f},
                       {0.30f, 0.30f, 0.31f},
                       {-0.60f, 0.95f, 0.35f},
                       {2.2f, 2.12f, 2.0f},
                       9},
    [MO_SKY_DUSK] = {{0.08f, 0.12f, 0.30f},
                     {0.95f, 0.52f, 0.30f},
                     {0.16f, 0.13f, 0.12f},
                     {-0.75f, 0.30f, -0.45f},
                     {2.8f, 1.6f, 0.8f},
                     2},
    [MO_SKY_WHITE] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 1, 0}, {0, 0, 0}, 1},
};

// A soft box of the studio: a rounded square of light about a direction.
static float soft_box(mo_vec3f d, mo_vec3f centre, float size)
{
    mo_vec3f s, t;
    mo_f3_frame(centre, &s, &t);
    float depth = mo_f3_dot(d, centre);
    if (depth <= 0.05f) return 0;
    float x = mo_f3_dot(d, s) / (depth * size), y = mo_f3_dot(d, t) / (depth * size);
    float r = x * x * x * x + y * y * y * y;
    float edge = mo_clampf(1.6f - r, 0, 1);
    return edge * edge * (3 - 2 * edge);
}

mo_light mo_light_create(mo_sky sky, mo_vec3 sun)
{
    const preset *p = &presets[sky];
    mo_light l = {.kind = sky, .irradiance = p->irradiance};
    l.sun = mo_f3_unit(mo_norm(sun) > 0 ? mo_f3_from(mo_normalize(sun)) : p->sun);
    l.cos_radius = cosf(p->degrees * 3.14159265f / 180);
    l.radiance = mo_f3_scale(1 / (6.2831853f * (1 - l.cos_radius)), l.irradiance);
    l.ambient = sky == MO_SKY_WHITE ? mo_f3(1, 1, 1) : mo_f3_scale(0.5f, mo_f3_add(p->zenith, p->horizon));
    return l;
}

mo_vec3f mo_light_sky(const mo_light *l, mo_vec3f d)
{
    const preset *p = &presets[l->kind];
    if (l->kind == MO_SKY_WHITE) return p->zenith;
    float up = d.y > 0 ? d.y : 0, toward = 1 - up;
    toward *= toward * toward;
    mo_vec3f c = mo_f3_mix(p->zenith, p->horizon, toward);
    if (d.y < 0) c = mo_f3_mix(p->horizon, p->below, mo_clampf(-12 * d.y, 0, 1));
    if (l->kind == MO_SKY_STUDIO) return c;
    // Haze about the sun.
    float near = mo_clampf(mo_f3_dot(d, l->sun), 0, 1), glow = near * near * near * near;
    return mo_f3_mad(c, 0.25f * glow * glow, l->irradiance);
}

mo_vec3f mo_light_lamps(const mo_light *l, mo_vec3f d)
{
    if (l->kind != MO_SKY_STUDIO) return mo_f3_dot(d, l->sun) >= l->cos_radius ? l->radiance : mo_f3(0, 0, 0);
    float box = 2.4f * soft_box(d, l->sun, 0.42f) + 1.2f * soft_box(d, mo_f3_unit(mo_f3(0.9f, 0.5f, -0.4f)), 0.5f);
    return mo_f3_scale(box, mo_f3(1, 0.98f, 0.95f));
}

mo_vec3f mo_light_sample(const mo_light *l, float u, float v)
{
    mo_vec3f s, t;
    mo_f3_frame(l->sun, &s, &t);
    float c = 1 - u * (1 - l->cos_radius), r = sqrtf(mo_clampf(1 - c * c, 0, 1)), angle = 6.2831853f * v;
    return mo_f3_mad(mo_f3_mad(mo_f3_scale(c, l->sun), r * cosf(angle), s), r * sinf(angle), t);
}
