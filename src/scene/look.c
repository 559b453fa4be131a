// How a scene should look in pictures: camera{...}, look{...} and the colours of solids. Nothing here changes a run.
#include "scene/scene.h"
#include "base/vec.h"
#include <string.h>

static const char *const sky_names[] = {"day", "studio", "dusk", "white", NULL};
static const char *const material_names[] = {"diffuse", "glass", "metal", "coat", NULL};

const char *mo_sky_name(mo_sky sky)
{
    MO_ASSERT(sky >= MO_SKY_DAY && sky <= MO_SKY_WHITE);
    return sky_names[sky];
}

const char *mo_material_name(mo_material material)
{
    MO_ASSERT(material >= MO_MATERIAL_DIFFUSE && material <= MO_MATERIAL_COAT);
    return material_names[material];
}

mo_look_def mo_look_def_default(void)
{
    return (mo_look_def){
        .fov = 35,
        .sky = MO_SKY_DAY,
        .ground = true,
        .ground_color = {0.36, 0.34, 0.31},
        .liquid_color = {0.12, 0.55, 0.72},
        .smoke_color = {0.75, 0.75, 0.76},
        .exposure = 1,
        .edges = true,
    };
}

const mo_look_def *mo_scene_look(const mo_scene *scene) { return &scene->look; }

static mo_vec3 read_color(const mo_table *r, const char *key, mo_vec3 otherwise)
{
    mo_vec3 c = mo_table_vector(r, key, otherwise);
    double value[3] = {c.x, c.y, c.z};
    for (int i = 0; i < 3; i++)
        if (!(value[i] >= 0 && value[i] <= 1))
            mo_table_fail(r, key, "%s must be {red, green, blue}, each 0..1, got %g", key, value[i]);
    return c;
}

void mo_scene_read_camera(mo_scene *scene, mo_table *r)
{
    mo_look_def *look = &scene->look;
    mo_table_require(r, "eye");
    mo_table_require(r, "target");
    look->camera = true;
    look->eye = mo_table_vector(r, "eye", look->eye);
    look->target = mo_table_vector(r, "target", look->target);
    look->fov = mo_table_number(r, "fov", look->fov, MO_POSITIVE);
    if (!(look->fov >= 1 && look->fov <= 150)) mo_table_fail(r, "fov", "fov must be 1..150 degrees, got %g", look->fov);
    if (!(mo_norm(mo_sub(look->eye, look->target)) > 0)) mo_table_fail(r, "eye", "eye must not be at the target");
}

void mo_scene_read_look(mo_scene *scene, mo_table *r)
{
    mo_look_def *look = &scene->look;
    look->sky = (mo_sky)mo_table_choice(r, "sky", sky_names, (int32_t)look->sky);
    look->sun = mo_table_vector(r, "sun", look->sun);
    look->ground = mo_table_boolean(r, "ground", look->ground);
    look->ground_color = read_color(r, "ground_color", look->ground_color);
    look->liquid_color = read_color(r, "liquid_color", look->liquid_color);
    look->smoke_color = read_color(r, "smoke_color", look->smoke_color);
    mo_vec3 c = look->liquid_color;
    if (!(c.x > 0 && c.y > 0 && c.z > 0))
        mo_table_fail(r, "liquid_color", "liquid_color must be > 0: some light passes");
    look->opaque = mo_table_boolean(r, "opaque", look->opaque);
    look->exposure = mo_table_number(r, "exposure", look->exposure, MO_POSITIVE);
    look->edges = mo_table_boolean(r, "edges", look->edges);
}

mo_solid_look mo_scene_read_solid_look(const mo_table *r)
{
    mo_solid_look look = mo_solid_def_default().look;
    look.material = (mo_material)mo_table_choice(r, "material", material_names, (int32_t)look.material);
    if (look.material == MO_MATERIAL_GLASS) look.color = mo_v3(0.96, 0.98, 0.97); // what a wall lets through
    look.color = read_color(r, "color", look.color);
    look.visible = mo_table_boolean(r, "visible", look.visible);
    return look;
}
