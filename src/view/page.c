// The viewer's page: where it is found, and a run put into it (`--export`).
#include "output/file.h"
#include "view/view.h"
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DATA_MARK "<!--monolith-data-->" // where the page takes the data of a run

// ---- Finding ----

mo_status mo_view_load_page(const char *path, char **text, size_t *bytes, mo_error *err)
{
    if (path) return mo_file_read(path, text, bytes, NULL, err);
    // In the build tree it is beside the program, once installed in the share directory beside bin/.
    static const char *const places[] = {"viewer.html", "../share/monolith/viewer.html"};
    char program[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
    const char *dir = dirname(program);
    for (int i = 0; i < 2; i++) {
        char *place = mo_path(dir, "%s", places[i]);
        if (!place) return mo_fail_memory(err);
        bool missing = false;
        mo_status status = mo_file_read(place, text, bytes, &missing, err);
        mo_free(place);
        if (status != MO_OK || !missing) return status;
    }
    return mo_fail(err, MO_ERROR_FILE,
                   "the viewer's page viewer.html is neither in %s nor in %s/../share/monolith: it is built with npm "
                   "(Debian: apt-get install npm; then make again, or viewer/build.sh %s/viewer.html)",
                   dir, dir, dir);
}

// ---- Exporting ----

void mo_view_add_base64(mo_text *t, const void *data, size_t bytes)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *in = data;
    char block[4096];
    size_t n = 0;
    for (size_t i = 0; i < bytes; i += 3) {
        uint32_t b = (uint32_t)in[i] << 16;
        if (i + 1 < bytes) b |= (uint32_t)in[i + 1] << 8;
        if (i + 2 < bytes) b |= in[i + 2];
        block[n++] = digit[b >> 18];
        block[n++] = digit[b >> 12 & 63];
        block[n++] = i + 1 < bytes ? digit[b >> 6 & 63] : '=';
        block[n++] = i + 2 < bytes ? digit[b & 63] : '=';
        if (n == sizeof block) mo_text_add(t, block, n), n = 0;
    }
    mo_text_add(t, block, n);
}

typedef struct export
{
    const mo_reader *reader;
    mo_file *file;
    mo_text payload, coded;
}
export;

// One element of the page, found there by the path that a server would be asked for. Base64 has no character that
// could end the element.
static mo_status write_payload(export *e, const char *path, mo_error *err)
{
    mo_text_clear(&e->coded);
    mo_view_add_base64(&e->coded, e->payload.data, (size_t)e->payload.bytes);
    if (e->coded.failed) return mo_fail_memory(err);
    mo_file_print(e->file, "<script type=\"text/plain\" id=\"/%s\">", path);
    mo_file_write(e->file, e->coded.data, (size_t)e->coded.bytes);
    mo_file_print(e->file, "</script>\n");
    return MO_OK;
}

static mo_status write_route(export *e, const char *path, mo_error *err)
{
    char request[2048];
    snprintf(request, sizeof request, "/%s", path);
    mo_view_route route = mo_view_find_route(request);
    mo_text_clear(&e->payload);
    MO_TRY(mo_view_pack(e->reader, &route, true, &e->payload, err));
    return write_payload(e, path, err);
}

static mo_status write_frame(export *e, int32_t frame, mo_error *err)
{
    static const char *const kinds[] = {"surface", "particles", "bodies", "elastic", "smoke"};
    for (int k = 0; k < 5; k++) {
        if (k != 2 && !mo_reader_writes(e->reader, kinds[k])) continue;
        if (k == 3 && !mo_reader_elastic_count(e->reader)) continue;
        if (k == 4 && !mo_reader_air(e->reader)) continue;
        char path[64];
        snprintf(path, sizeof path, "frame/%d/%s", frame, kinds[k]);
        MO_TRY(write_route(e, path, err));
    }
    return MO_OK;
}

static mo_status write_skins(export *e, mo_error *err)
{
    for (int32_t i = 0; i < mo_reader_elastic_count(e->reader) && mo_reader_writes(e->reader, "elastic"); i++) {
        mo_text path = {0};
        mo_view_add_skin_path(&path, mo_reader_elastic_name(e->reader, i));
        mo_status status = path.failed ? mo_fail_memory(err) : write_route(e, path.data, err);
        mo_text_destroy(&path);
        MO_TRY(status);
    }
    return MO_OK;
}

static mo_status write_data(export *e, int32_t every, mo_error *err)
{
    mo_view_frames frames = {.every = every, .exported = true};
    mo_text_clear(&e->payload);
    MO_TRY(mo_view_summary(e->reader, frames, &e->payload, err));
    MO_TRY(write_payload(e, "run.json", err));
    MO_TRY(write_route(e, "stats", err));
    for (int32_t b = 0; b < mo_reader_body_count(e->reader); b++) {
        mo_text path = {0};
        mo_view_add_body_path(&path, mo_reader_body_name(e->reader, b));
        mo_status status = path.failed ? mo_fail_memory(err) : write_route(e, path.data, err);
        mo_text_destroy(&path);
        MO_TRY(status);
    }
    MO_TRY(write_skins(e, err));
    for (int32_t i = 0; i < mo_reader_frame_count(e->reader); i++)
        if (mo_view_frame_chosen(e->reader, frames, i)) MO_TRY(write_frame(e, mo_reader_frame(e->reader, i), err));
    return MO_OK;
}

static mo_status write_page(export *e, const char *page, const char *path, int32_t every, mo_error *err)
{
    const char *mark = strstr(page, DATA_MARK);
    if (!mark) return mo_fail(err, MO_ERROR_FILE, "the viewer's page has no place for data: it is of another version");
    MO_TRY(mo_page_create(path, &e->file, err));
    mo_file_write(e->file, page, (size_t)(mark - page));
    mo_status status = write_data(e, every, err);
    const char *rest = mark + strlen(DATA_MARK);
    mo_file_write(e->file, rest, strlen(rest));
    if (status == MO_OK) return mo_file_commit(e->file, err);
    mo_file_abandon(e->file);
    return status;
}

mo_status mo_view_export(const char *dir, const char *path, const mo_view_options *options, mo_error *err)
{
    mo_view_options o = options ? *options : mo_view_options_default();
    if (o.every < 1) return mo_fail(err, MO_ERROR_INPUT, "every must be at least 1, got %d", o.every);
    char *page = NULL;
    size_t bytes;
    MO_TRY(mo_view_load_page(o.page, &page, &bytes, err));
    mo_reader *reader = NULL;
    mo_status status = mo_reader_open(dir, &reader, err);
    if (status == MO_OK) {
        export e = {.reader = reader};
        status = write_page(&e, page, path, o.every, err);
        mo_text_destroy(&e.payload);
        mo_text_destroy(&e.coded);
    }
    mo_reader_close(reader);
    mo_free_block(page);
    return status;
}
