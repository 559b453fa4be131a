// The light along one path: nearest surface, its material, the sun's share, and on to the next.
#include "render/path.h"

#define LIQUID_INDEX 1.333f
#define GLASS_INDEX  1.5f
#define PI           3.14159265f

typedef struct medium { // what a ray travels in; glass wins over liquid
    bool liquid, glass;
} medium;

typedef struct surface {
    float distance;
    mo_vec3f place, normal;        // geometric, unit, out of the object
    mo_vec3f smooth;               // interpolated, on the same side
    const mo_stage_object *object; // NULL: the ground
    mo_vec3f color;
} surface;

static float index_of(medium m) { return m.glass ? GLASS_INDEX : m.liquid ? LIQUID_INDEX : 1; }

// ---- Finding surfaces ----

static struct RTCRayHit make_ray(mo_vec3f o, mo_vec3f d)
{
    return (struct RTCRayHit){.ray = {.org_x = o.x,
                                      .org_y = o.y,
                                      .org_z = o.z,
                                      .dir_x = d.x,
                                      .dir_y = d.y,
                                      .dir_z = d.z,
                                      .tfar = INFINITY,
                                      .mask = ~0u},
                              .hit = {.geomID = RTC_INVALID_GEOMETRY_ID, .instID = {RTC_INVALID_GEOMETRY_ID}}};
}

// A flat ground with a soft checker, plain at a distance where the tiles would flicker.
static mo_vec3f ground_color(const mo_tracer_def *d, mo_vec3f p)
{
    if (d->ground_tile <= 0) return d->ground_color;
    float x = (p.x - d->centre.x) / d->ground_tile, z = (p.z - d->centre.z) / d->ground_tile;
    int odd = ((int)floorf(x) + (int)floorf(z)) & 1;
    float far = (x * x + z * z) * 0.004f, fade = 1 / (1 + far * far);
    return mo_f3_scale(odd ? 1 : 1 - 0.20f * fade, d->ground_color);
}

static bool hit_ground(const mo_tracer *t, mo_vec3f o, mo_vec3f d, surface *s)
{
    if (!t->def.ground || d.y >= 0 || o.y <= t->def.ground_y) return false;
    float distance = (t->def.ground_y - o.y) / d.y;
    if (!(distance < s->distance) || !(distance < 1e4f * t->def.size)) return false;
    mo_vec3f place = mo_f3_mad(o, distance, d);
    place.y = t->def.ground_y;
    *s = (surface){distance, place, {0, 1, 0}, {0, 1, 0}, NULL, ground_color(&t->def, place)};
    return true;
}

static mo_vec3f smooth_normal(const mo_stage_object *object, const struct RTCHit *hit, mo_vec3f flat)
{
    if (!object->normal) return flat;
    const int32_t *corner = object->triangle + 3 * (int64_t)hit->primID;
    float weight[3] = {1 - hit->u - hit->v, hit->u, hit->v};
    mo_vec3f n = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        const float *c = object->normal + 3 * (int64_t)corner[i];
        n = mo_f3_mad(n, weight[i], mo_f3(c[0], c[1], c[2]));
    }
    n = mo_f3_unit(n);
    return mo_f3_dot(n, flat) > 0.05f ? n : flat;
}

static mo_vec3f paint_at(const mo_stage_object *object, const struct RTCHit *hit)
{
    const int32_t *corner = object->triangle + 3 * (int64_t)hit->primID;
    float weight[3] = {1 - hit->u - hit->v, hit->u, hit->v};
    mo_vec3f c = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        const float *p = object->paint + 3 * (int64_t)corner[i];
        c = mo_f3_mad(c, weight[i], mo_f3(p[0], p[1], p[2]));
    }
    return c;
}

// Does the ray meet the box of everything there is? Most rays between ground and sky do not.
static bool near_stage(const mo_tracer *t, mo_vec3f o, mo_vec3f d)
{
    float x = 1 / d.x, y = 1 / d.y, z = 1 / d.z;
    float x0 = (t->lo.x - o.x) * x, x1 = (t->hi.x - o.x) * x;
    float y0 = (t->lo.y - o.y) * y, y1 = (t->hi.y - o.y) * y;
    float z0 = (t->lo.z - o.z) * z, z1 = (t->hi.z - o.z) * z;
    float enter = mo_maxf(mo_minf(x0, x1), mo_maxf(mo_minf(y0, y1), mo_minf(z0, z1)));
    float leave = mo_minf(mo_maxf(x0, x1), mo_minf(mo_maxf(y0, y1), mo_maxf(z0, z1)));
    return !(leave < 0 || enter > leave); // true also for the NaN of a ray in the plane of a side
}

static bool find_surface(const mo_tracer *t, RTCScene scene, mo_vec3f o, mo_vec3f d, surface *s)
{
    struct RTCRayHit ray = make_ray(o, d);
    struct RTCIntersectContext context;
    s->distance = INFINITY;
    if (!near_stage(t, o, d)) return false;
    rtcInitIntersectContext(&context);
    rtcIntersect1(scene, &context, &ray);
    if (ray.hit.geomID == RTC_INVALID_GEOMETRY_ID) return false;
    const mo_stage_object *object = &t->object[ray.hit.geomID];
    s->distance = ray.ray.tfar;
    s->place = mo_f3_mad(o, s->distance, d);
    s->normal = mo_f3_unit(mo_f3(ray.hit.Ng_x, ray.hit.Ng_y, ray.hit.Ng_z));
    s->smooth = smooth_normal(object, &ray.hit, s->normal);
    s->object = object;
    s->color = object->color;
    if (object->colors) {
        const float *c = object->colors + 3 * (int64_t)ray.hit.primID;
        s->color = mo_f3(c[0], c[1], c[2]);
    }
    if (object->paint) s->color = paint_at(object, &ray.hit);
    return true;
}

// ---- Dielectrics ----

// Share of unpolarised light reflected; ratio = index before / index behind. *cos_behind of the refracted ray.
static float fresnel(float cosine, float ratio, float *cos_behind)
{
    float sine2 = ratio * ratio * (1 - cosine * cosine);
    if (sine2 >= 1) return 1;
    float behind = sqrtf(1 - sine2);
    *cos_behind = behind;
    float s = (ratio * cosine - behind) / (ratio * cosine + behind);
    float p = (ratio * behind - cosine) / (ratio * behind + cosine);
    return 0.5f * (s * s + p * p);
}

// Of a pane, with all that goes to and fro inside it: r + t^2 r + t^2 r^3 + ... = 2 r / (1 + r).
static float pane(float cosine, medium m)
{
    float behind, r = fresnel(cosine, index_of(m) / GLASS_INDEX, &behind);
    return 2 * r / (1 + r);
}

static mo_vec3f reflect(mo_vec3f d, mo_vec3f n) { return mo_f3_mad(d, -2 * mo_f3_dot(d, n), n); }

static bool is_clear(const surface *s)
{
    return s->object && (s->object->kind == MO_SURFACE_LIQUID ||
                         (s->object->kind == MO_SURFACE_SOLID && s->object->material == MO_MATERIAL_GLASS));
}

// The medium behind a clear surface; a pane has the same on both sides.
static medium cross(const surface *s, medium m, bool entering)
{
    if (s->object->thin) return m;
    if (s->object->kind == MO_SURFACE_LIQUID)
        m.liquid = entering;
    else
        m.glass = entering;
    return m;
}

static mo_vec3f absorbed(const mo_tracer *t, medium m, float distance, mo_vec3f light)
{
    if (!m.liquid || m.glass) return light;
    mo_vec3f a = t->def.absorption;
    return mo_f3_mul(light, mo_f3(expf(-a.x * distance), expf(-a.y * distance), expf(-a.z * distance)));
}

// ---- The sun ----

// What of the sun's light arrives along a straight line through liquid and glass.
static mo_vec3f sun_passes(const mo_tracer *t, mo_vec3f o, mo_vec3f d, medium m)
{
    mo_vec3f light = {1, 1, 1};
    if (!near_stage(t, o, d)) return light;
    struct RTCRayHit ray = make_ray(o, d);
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    rtcOccluded1(t->opaque, &context, &ray.ray);
    if (ray.ray.tfar < 0) return mo_f3(0, 0, 0);
    for (int i = 0; i < 16 && t->clear_count; i++) {
        surface s;
        if (!find_surface(t, t->clear, o, d, &s)) return light;
        bool entering = mo_f3_dot(d, s.normal) < 0;
        medium behind = cross(&s, m, entering);
        light = absorbed(t, m, s.distance, light);
        float cos_behind, ratio = index_of(m) / index_of(behind);
        // Straight lines leave a liquid at angles where refracted ones would not: take the way in instead.
        if (ratio > 1) ratio = 1 / ratio;
        if (s.object->thin)
            light = mo_f3_mul(s.color, mo_f3_scale(1 - pane(fabsf(mo_f3_dot(d, s.smooth)), m), light)),
            entering = false;
        if (ratio != 1) light = mo_f3_scale(1 - fresnel(fabsf(mo_f3_dot(d, s.smooth)), ratio, &cos_behind), light);
        if (s.object->kind == MO_SURFACE_SOLID && entering) light = mo_f3_mul(light, s.color);
        m = behind;
        o = mo_f3_mad(s.place, t->def.offset, d);
    }
    return light;
}

static mo_vec3f sun_on(const mo_tracer *t, mo_vec3f place, mo_vec3f normal, medium m, mo_sampler *sampler)
{
    float u, v;
    mo_sample_pair(sampler, &u, &v);
    if (mo_luminance(t->def.light.irradiance) <= 0) return mo_f3(0, 0, 0);
    mo_vec3f d = mo_light_sample(&t->def.light, u, v);
    float cosine = mo_f3_dot(d, normal);
    if (cosine <= 0) return mo_f3(0, 0, 0);
    mo_vec3f origin = mo_f3_mad(place, t->def.offset, normal);
    float clear = mo_smoke_passes(t->smoke, origin, d, INFINITY, sampler);
    return mo_f3_scale(clear * cosine / PI, mo_f3_mul(t->def.light.irradiance, sun_passes(t, origin, d, m)));
}

// The sun's light that soot at a place scatters into any direction: alike into all.
static mo_vec3f sun_in_smoke(const mo_tracer *t, mo_vec3f place, medium m, mo_sampler *sampler)
{
    float u, v;
    mo_sample_pair(sampler, &u, &v);
    if (mo_luminance(t->def.light.irradiance) <= 0) return mo_f3(0, 0, 0);
    mo_vec3f d = mo_light_sample(&t->def.light, u, v);
    return mo_f3_scale(mo_smoke_clear(t->smoke, place) / (4 * PI),
                       mo_f3_mul(t->def.light.irradiance, sun_passes(t, place, d, m)));
}

// ---- Surfaces ----

typedef struct path {
    mo_vec3f origin, direction, weight, light;
    medium in;
    int diffuse; // diffuse surfaces met
    int smoke;   // times that soot scattered it
    bool first;  // still on its way to the first surface
    mo_sampler *sampler;
} path;

// Adds light, but no more than MO_FIREFLY_CLAMP once the path has left its first surface.
static void add_light(path *p, mo_vec3f radiance)
{
    mo_vec3f c = mo_f3_mul(p->weight, radiance);
    float bright = mo_luminance(c);
    if (!p->first && bright > MO_FIREFLY_CLAMP) c = mo_f3_scale(MO_FIREFLY_CLAMP / bright, c);
    p->light = mo_f3_add(p->light, c);
}

static mo_vec3f cosine_direction(mo_vec3f n, float u, float v)
{
    mo_vec3f s, t;
    mo_f3_frame(n, &s, &t);
    float r = sqrtf(u), angle = 2 * PI * v;
    return mo_f3_unit(mo_f3_mad(mo_f3_mad(mo_f3_scale(sqrtf(1 - u), n), r * cosf(angle), s), r * sinf(angle), t));
}

static void go_on(const mo_tracer *t, path *p, mo_vec3f place, mo_vec3f normal, mo_vec3f direction)
{
    float side = mo_f3_dot(direction, normal) > 0 ? t->def.offset : -t->def.offset;
    p->origin = mo_f3_mad(place, side, normal);
    p->direction = direction;
    p->first = false;
}

// False: the path ends here.
static bool at_diffuse(const mo_tracer *t, path *p, const surface *s)
{
    mo_vec3f flat = s->normal, n = s->smooth;
    if (mo_f3_dot(p->direction, flat) > 0) flat = mo_f3_scale(-1, flat), n = mo_f3_scale(-1, n);
    p->weight = mo_f3_mul(p->weight, s->color);
    add_light(p, sun_on(t, mo_f3_mad(s->place, t->def.offset, flat), n, p->in, p->sampler));
    if (++p->diffuse >= MO_PATH_DIFFUSE) {
        add_light(p, mo_f3_scale(t->def.light.kind == MO_SKY_WHITE ? 1 : 0.5f, t->def.light.ambient));
        return false;
    }
    float u, v;
    mo_sample_pair(p->sampler, &u, &v);
    mo_vec3f d = cosine_direction(n, u, v);
    if (mo_f3_dot(d, flat) <= 0) d = reflect(d, flat); // the smooth normal leans over the edge
    go_on(t, p, s->place, flat, d);
    return true;
}

static void at_mirror(const mo_tracer *t, path *p, const surface *s, float roughness)
{
    float u, v;
    mo_sample_pair(p->sampler, &u, &v);
    mo_vec3f flat = s->normal, n = s->smooth;
    if (mo_f3_dot(p->direction, flat) > 0) flat = mo_f3_scale(-1, flat), n = mo_f3_scale(-1, n);
    mo_vec3f d = reflect(p->direction, n);
    if (roughness > 0) d = mo_f3_unit(mo_f3_mad(d, roughness * sqrtf(u), cosine_direction(d, 0.5f * u, v)));
    if (mo_f3_dot(d, flat) <= 0) d = reflect(p->direction, flat);
    go_on(t, p, s->place, flat, d);
}

static void at_metal(const mo_tracer *t, path *p, const surface *s)
{
    float c = 1 - fabsf(mo_f3_dot(p->direction, s->smooth)), c5 = c * c * c * c * c;
    p->weight = mo_f3_mul(p->weight, mo_f3_mix(s->color, mo_f3(1, 1, 1), c5));
    at_mirror(t, p, s, 0.08f);
}

static bool at_coat(const mo_tracer *t, path *p, const surface *s)
{
    float u, v, behind;
    float ratio = index_of(p->in) / GLASS_INDEX;
    float share = fresnel(fabsf(mo_f3_dot(p->direction, s->smooth)), ratio, &behind);
    mo_sample_pair(p->sampler, &u, &v);
    if (u >= share) return at_diffuse(t, p, s);
    at_mirror(t, p, s, 0.0f);
    return true;
}

// Glass without thickness: light goes straight on, or is reflected.
static void at_pane(const mo_tracer *t, path *p, const surface *s)
{
    float u, v, share = pane(fabsf(mo_f3_dot(p->direction, s->smooth)), p->in);
    float chance = p->diffuse ? 0 : p->first && share < 1 ? mo_clampf(share, 0.2f, 0.8f) : share;
    mo_sample_pair(p->sampler, &u, &v);
    if (u < chance) {
        p->weight = mo_f3_scale(share / chance, p->weight);
        at_mirror(t, p, s, 0);
        return;
    }
    p->weight = mo_f3_mul(s->color, mo_f3_scale((1 - share) / (1 - chance), p->weight));
    p->origin = mo_f3_mad(s->place, t->def.offset, p->direction);
}

static void at_clear(const mo_tracer *t, path *p, const surface *s)
{
    bool entering = mo_f3_dot(p->direction, s->normal) < 0;
    medium behind = cross(s, p->in, entering);
    float ratio = index_of(p->in) / index_of(behind);
    mo_vec3f flat = entering ? s->normal : mo_f3_scale(-1, s->normal);
    // Liquid inside glass is no surface to see. Light from a diffuse surface goes straight on, as the sun's does.
    if (ratio == 1 || p->diffuse) {
        if (s->object->kind == MO_SURFACE_SOLID && entering) p->weight = mo_f3_mul(p->weight, s->color);
        p->in = behind;
        p->origin = mo_f3_mad(s->place, -t->def.offset, flat);
        return;
    }
    mo_vec3f n = entering ? s->smooth : mo_f3_scale(-1, s->smooth);
    float cosine = -mo_f3_dot(p->direction, n), cos_behind = 0, u, v;
    if (cosine <= 0) n = flat, cosine = -mo_f3_dot(p->direction, n);
    float share = fresnel(cosine, ratio, &cos_behind);
    // The first surface sends more paths into the weaker branch, against noise.
    float chance = p->first && share < 1 ? mo_clampf(share, 0.2f, 0.8f) : share;
    mo_sample_pair(p->sampler, &u, &v);
    if (u < chance) {
        p->weight = mo_f3_scale(share / chance, p->weight);
        mo_vec3f d = reflect(p->direction, n);
        if (mo_f3_dot(d, flat) <= 0) d = reflect(p->direction, flat);
        go_on(t, p, s->place, flat, d);
        return;
    }
    p->weight = mo_f3_scale((1 - share) / (1 - chance), p->weight);
    if (s->object->kind == MO_SURFACE_SOLID && entering) p->weight = mo_f3_mul(p->weight, s->color);
    mo_vec3f d = mo_f3_unit(mo_f3_mad(mo_f3_scale(ratio, p->direction), ratio * cosine - cos_behind, n));
    if (mo_f3_dot(d, flat) >= 0) d = p->direction;
    p->in = behind;
    go_on(t, p, s->place, flat, d);
}

// The ground dissolves into the horizon.
static void at_distance(const mo_tracer *t, path *p, const surface *s, bool *gone)
{
    float x = s->place.x - t->def.centre.x, z = s->place.z - t->def.centre.z;
    float far = (x * x + z * z) / (t->def.size * t->def.size * 250), haze = 1 - expf(-far);
    mo_vec3f level = {p->direction.x, 0, p->direction.z};
    mo_vec3f all = p->weight;
    p->weight = mo_f3_scale(haze, all);
    add_light(p, mo_light_sky(&t->def.light, mo_f3_unit(level)));
    p->weight = mo_f3_scale(1 - haze, all);
    *gone = haze > 0.98f;
}

static bool at_surface(const mo_tracer *t, path *p, const surface *s)
{
    if (is_clear(s)) {
        if (s->object->thin)
            at_pane(t, p, s);
        else
            at_clear(t, p, s);
        return true;
    }
    if (!s->object) {
        bool gone;
        at_distance(t, p, s, &gone);
        return !gone && at_diffuse(t, p, s);
    }
    if (s->object->kind == MO_SURFACE_MARK) {
        if (p->first) add_light(p, mo_f3_mul(s->color, t->def.light.ambient));
        // Seen by nobody else: the ray goes on.
        p->origin = mo_f3_mad(s->place, t->def.offset, p->direction);
        return !p->first;
    }
    if (s->object->kind == MO_SURFACE_SPHERES || s->object->material == MO_MATERIAL_COAT) return at_coat(t, p, s);
    if (s->object->material == MO_MATERIAL_METAL) {
        at_metal(t, p, s);
        return true;
    }
    return at_diffuse(t, p, s);
}

// Soot at a distance scatters the path; false: it ends here.
static bool in_smoke(const mo_tracer *t, path *p, float distance)
{
    float u, v;
    p->origin = mo_f3_mad(p->origin, distance, p->direction);
    p->weight = mo_f3_mul(p->weight, t->def.smoke_color);
    p->first = false;
    add_light(p, sun_in_smoke(t, p->origin, p->in, p->sampler));
    if (++p->smoke >= MO_PATH_SMOKE) {
        add_light(p, t->def.light.ambient);
        return false;
    }
    // What soot swallows ends paths, in the mean as much as it would take from all of them.
    float survive = fminf(mo_luminance(t->def.smoke_color), 1);
    mo_sample_pair(p->sampler, &u, &v);
    if (p->smoke > 2 && u >= survive) return false;
    if (p->smoke > 2) p->weight = mo_f3_scale(1 / survive, p->weight);
    mo_sample_pair(p->sampler, &u, &v);
    float z = 1 - 2 * u, r = sqrtf(fmaxf(1 - z * z, 0)), angle = 2 * PI * v;
    p->direction = mo_f3(r * cosf(angle), z, r * sinf(angle));
    return true;
}

mo_vec3f mo_path_light(const mo_tracer *t, mo_vec3f origin, mo_vec3f direction, mo_sampler *sampler)
{
    path p = {.origin = origin, .direction = direction, .weight = {1, 1, 1}, .first = true, .sampler = sampler};
    for (int length = 0; length < MO_PATH_LENGTH; length++) {
        surface s;
        bool found = find_surface(t, t->all, p.origin, p.direction, &s);
        found |= hit_ground(t, p.origin, p.direction, &s);
        float soot = mo_smoke_meet(t->smoke, p.origin, p.direction, s.distance, sampler);
        if (soot < s.distance) {
            if (!in_smoke(t, &p, soot)) return p.light;
            continue;
        }
        if (!found) {
            mo_vec3f sky = mo_light_sky(&t->def.light, p.direction);
            // Behind a diffuse surface and in smoke the lamps were counted already.
            if (!p.diffuse && !p.smoke) sky = mo_f3_add(sky, mo_light_lamps(&t->def.light, p.direction));
            add_light(&p, sky);
            return p.light;
        }
        p.weight = absorbed(t, p.in, s.distance, p.weight);
        if (!at_surface(t, &p, &s)) return p.light;
    }
    // Trapped between mirrors: what it would have brought on average.
    add_light(&p, t->def.light.ambient);
    return p.light;
}
