// The look in run.json.
#include "output/look.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

void mo_look_record(mo_text *t, const mo_look_def *look)
{
    mo_json_begin(t, "look", '{');
    if (look->camera) {
        mo_json_vector(t, "eye", look->eye);
        mo_json_vector(t, "target", look->target);
    }
    mo_json_number(t, "fov", look->fov);
    mo_json_string(t, "sky", mo_sky_name(look->sky));
    mo_json_vector(t, "sun", look->sun);
    mo_json_boolean(t, "ground", look->ground);
    mo_json_vector(t, "ground_color", look->ground_color);
    mo_json_vector(t, "liquid_color", look->liquid_color);
    mo_json_boolean(t, "opaque", look->opaque);
    mo_json_vector(t, "smoke_color", look->smoke_color);
    mo_json_number(t, "exposure", look->exposure);
    mo_json_boolean(t, "edges", look->edges);
    mo_json_end(t, '}');
}

void mo_solid_look_record(mo_text *t, const mo_solid_look *look)
{
    mo_json_vector(t, "color", look->color);
    mo_json_string(t, "material", mo_material_name(look->material));
    mo_json_boolean(t, "visible", look->visible);
}

// ---- In ----

static bool get_vector(const cJSON *object, const char *key, double lo, double hi, mo_vec3 *out)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(object, key);
    double v[3];
    for (int i = 0; i < 3; i++) {
        const cJSON *item = cJSON_GetArrayItem(array, i);
        if (!cJSON_IsNumber(item) || !(item->valuedouble >= lo && item->valuedouble <= hi)) return false;
        v[i] = item->valuedouble;
    }
    *out = (mo_vec3){v[0], v[1], v[2]};
    return true;
}

static void get_number(const cJSON *object, const char *key, double lo, double hi, double *out)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (cJSON_IsNumber(item) && item->valuedouble >= lo && item->valuedouble <= hi) *out = item->valuedouble;
}

static void get_boolean(const cJSON *object, const char *key, bool *out)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (cJSON_IsBool(item)) *out = cJSON_IsTrue(item);
}

static bool is_text(const cJSON *object, const char *key, const char *text)
{
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    return value && strcmp(value, text) == 0;
}

mo_look_def mo_look_parse(const cJSON *json)
{
    mo_look_def look = mo_look_def_default();
    if (!cJSON_IsObject(json)) return look;
    look.camera = get_vector(json, "eye", -1e9, 1e9, &look.eye) && get_vector(json, "target", -1e9, 1e9, &look.target);
    get_number(json, "fov", 1, 150, &look.fov);
    for (int sky = MO_SKY_DAY; sky <= MO_SKY_WHITE; sky++)
        if (is_text(json, "sky", mo_sky_name((mo_sky)sky))) look.sky = (mo_sky)sky;
    get_vector(json, "sun", -1e9, 1e9, &look.sun);
    get_boolean(json, "ground", &look.ground);
    get_vector(json, "ground_color", 0, 1, &look.ground_color);
    get_vector(json, "liquid_color", 1e-300, 1, &look.liquid_color);
    get_boolean(json, "opaque", &look.opaque);
    get_vector(json, "smoke_color", 0, 1, &look.smoke_color);
    get_number(json, "exposure", 1e-9, 1e9, &look.exposure);
    get_boolean(json, "edges", &look.edges);
    return look;
}

mo_solid_look mo_solid_look_parse(const cJSON *json)
{
    mo_solid_look look = mo_solid_def_default().look;
    if (!cJSON_IsObject(json)) return look;
    get_vector(json, "color", 0, 1, &look.color);
    for (int material = MO_MATERIAL_DIFFUSE; material <= MO_MATERIAL_COAT; material++)
        if (is_text(json, "material", mo_material_name((mo_material)material))) look.material = (mo_material)material;
    get_boolean(json, "visible", &look.visible);
    return look;
}
