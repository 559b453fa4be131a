// What the page must know of a run before it asks for frames, as JSON.
#include "view/view.h"

bool mo_view_frame_chosen(const mo_reader *r, mo_view_frames frames, int32_t i)
{
    MO_ASSERT(i >= 0 && i < mo_reader_frame_count(r));
    return i % frames.every == 0 || i == mo_reader_frame_count(r) - 1;
}

static void add_domain(const mo_reader *r, mo_text *out)
{
    mo_box3 domain = mo_reader_domain(r);
    mo_json_vector(out, "lo", domain.lo);
    mo_json_vector(out, "hi", domain.hi);
    mo_json_number(out, "cell", mo_reader_cell(r));
    mo_json_boolean(out, "flat", mo_reader_flat(r));
    mo_look_def look = mo_reader_look(r);
    mo_json_vector(out, "smoke_color", look.smoke_color);
    if (!look.camera) return;
    mo_json_begin(out, "camera", '{');
    mo_json_vector(out, "eye", look.eye);
    mo_json_vector(out, "target", look.target);
    mo_json_number(out, "fov", look.fov);
    mo_json_end(out, '}');
}

// One solid, whose mesh `add_path` tells where to find.
static void add_solid(mo_text *out, const char *name, mo_solid_look look, bool shell,
                      void (*add_path)(mo_text *, const char *))
{
    mo_text path = {0};
    add_path(&path, name);
    mo_json_begin(out, NULL, '{');
    mo_json_string(out, "name", name);
    mo_json_string(out, "path", path.data);
    mo_json_vector(out, "color", look.color);
    mo_json_boolean(out, "visible", look.visible);
    if (shell) mo_json_boolean(out, "shell", true);
    if (shell && look.material == MO_MATERIAL_GLASS) mo_json_boolean(out, "clear", true);
    mo_json_end(out, '}');
    if (path.failed) out->failed = true;
    mo_text_destroy(&path);
}

static void add_bodies(const mo_reader *r, mo_text *out)
{
    mo_json_begin(out, "bodies", '[');
    for (int32_t b = 0; b < mo_reader_body_count(r); b++)
        add_solid(out, mo_reader_body_name(r, b), mo_reader_body_look(r, b), mo_reader_body_shell(r, b),
                  mo_view_add_body_path);
    mo_json_end(out, ']');
}

static void add_elastics(const mo_reader *r, mo_text *out)
{
    mo_json_begin(out, "elastics", '[');
    for (int32_t i = 0; i < mo_reader_elastic_count(r) && mo_reader_writes(r, "elastic"); i++)
        add_solid(out, mo_reader_elastic_name(r, i), mo_reader_elastic_look(r, i), false, mo_view_add_skin_path);
    mo_json_end(out, ']');
}

mo_status mo_view_summary(const mo_reader *r, mo_view_frames frames, mo_text *out, mo_error *err)
{
    mo_json_begin(out, NULL, '{');
    mo_json_string(out, "version", mo_version());
    mo_json_string(out, "directory", mo_reader_directory(r));
    mo_json_boolean(out, "exported", frames.exported);
    mo_json_string(out, "status", mo_reader_status(r));
    mo_json_number(out, "fps", mo_reader_fps(r));
    mo_json_integer(out, "steps", mo_reader_step_count(r));
    mo_json_boolean(out, "surface", mo_reader_writes(r, "surface"));
    mo_json_boolean(out, "particles", mo_reader_writes(r, "particles"));
    mo_json_boolean(out, "smoke", mo_reader_air(r) && mo_reader_writes(r, "smoke"));
    add_domain(r, out);
    add_bodies(r, out);
    add_elastics(r, out);
    mo_json_begin(out, "stages", '[');
    for (int s = 0; s < MO_STAGE_COUNT; s++) mo_json_string(out, NULL, mo_stage_name[s]);
    mo_json_end(out, ']');
    mo_json_begin(out, "frames", '[');
    for (int32_t i = 0; i < mo_reader_frame_count(r); i++)
        if (mo_view_frame_chosen(r, frames, i)) mo_json_integer(out, NULL, mo_reader_frame(r, i));
    mo_json_end(out, ']');
    // As a text: the file may be from another version, or edited.
    mo_json_string(out, "settings", mo_reader_settings(r));
    mo_json_end(out, '}');
    return out->failed ? mo_fail_memory(err) : MO_OK;
}
