// What `monolith view` gives to a browser: the routes of its server, and the payloads with which they answer. The
// exported page holds the same payloads under the same paths.
#ifndef MO_VIEW_H
#define MO_VIEW_H

#include "output/json.h"
#include "output/reader.h"

// ---- Routes ------------------------------------------------------------------------------------------------------

typedef enum mo_view_kind {
    MO_VIEW_NOTHING, // not ours: 404
    MO_VIEW_PAGE,
    MO_VIEW_RUN,
    MO_VIEW_STATS,
    MO_VIEW_SURFACE,
    MO_VIEW_PARTICLES,
    MO_VIEW_BODIES,
    MO_VIEW_ELASTIC,
    MO_VIEW_SMOKE,
    MO_VIEW_BODY,
    MO_VIEW_SKIN,
} mo_view_kind;

typedef struct mo_view_route {
    mo_view_kind kind;
    int32_t number; // frame, or first step of the statistics
    char name[512]; // of a body, decoded; of an elastic one: MO_VIEW_SKIN
} mo_view_route;

// Finds the route of a request's path as it came over the wire, not yet decoded. The table is fixed, and no path ever
// reaches the file system: a frame is a number, and a body is compared with the names that the run has.
mo_view_route mo_view_find_route(const char *path);
// Whether a Host header is our own machine's name. Any other name belongs to a page of somebody else that was made to
// point at us (DNS rebinding).
bool mo_view_host_is_local(const char *host);
// Appends the path "body/NAME" of a body, or "skin/NAME" of an elastic one, percent-encoded.
void mo_view_add_body_path(mo_text *t, const char *name);
void mo_view_add_skin_path(mo_text *t, const char *name);

// ---- Payloads ----------------------------------------------------------------------------------------------------

// A browser can use a payload without parsing: it consists of arrays, each starting at a multiple of 8 bytes, then a
// JSON object that says where they are, then the length of that object (uint32). All numbers are little endian.
//     {"frame":3, "position":{"type":"f32","offset":0,"count":300}, ...}
// Compact payloads (of exported pages) hold positions as u16 with "origin" and "scale", normals as i8 / 127 and
// triangles as "delta": differences of successive indices, zigzag, 7 bits per byte.
typedef struct mo_view_frames { // which frames a summary lists
    int32_t every;              // each k-th, and always the last
    bool exported;
} mo_view_frames;

// A frame with more particles than this is thinned out: one of each `stride` is sent. Pages hold all frames, so they
// get fewer.
enum { MO_VIEW_MAX_PARTICLES = 500000, MO_VIEW_MAX_COMPACT_PARTICLES = 50000 };
// Smoke has at most so many cells along an axis; pages get fewer.
enum { MO_VIEW_MAX_SMOKE = 96, MO_VIEW_MAX_COMPACT_SMOKE = 64 };

mo_status mo_view_summary(const mo_reader *r, mo_view_frames frames, mo_text *out, mo_error *err); // JSON only
bool mo_view_frame_chosen(const mo_reader *r, mo_view_frames frames, int32_t i);
mo_status mo_view_pack_stats(const mo_reader *r, int32_t first_step, mo_text *out, mo_error *err);
mo_status mo_view_pack_mesh(const mo_mesh *mesh, bool compact, mo_text *out, mo_error *err);
mo_status mo_view_pack_points(const mo_points *points, int64_t most, bool compact, mo_text *out, mo_error *err);
mo_status mo_view_pack_bodies(const mo_reader *r, int32_t frame, mo_text *out, mo_error *err);
// Elastic bodies: the triangles of one, which never change, and a frame of all: "position0", "normal0", "stress0" (von
// Mises, Pa) of the first, and so on. A body whose file is missing is left out.
mo_status mo_view_pack_skin(const mo_reader *r, int32_t elastic, bool compact, mo_text *out, mo_error *err);
mo_status mo_view_pack_elastic(const mo_reader *r, int32_t frame, bool compact, mo_text *out, mo_error *err);
// Smoke: the density of soot in a box of "cells" of the edge "cell" (m) from the corner "lo" on, as bytes of which 255
// is "most" (kg/m^3), x fastest. The outermost cells are empty. Without soot there are no cells.
mo_status mo_view_pack_smoke(const mo_vdb *density, int32_t most, mo_text *out, mo_error *err);
// Packs the answer of any route but the page. MO_ERROR_INPUT: the run has no such frame or body.
mo_status mo_view_pack(const mo_reader *r, const mo_view_route *route, bool compact, mo_text *out, mo_error *err);

void mo_view_add_base64(mo_text *t, const void *data, size_t bytes);

// ---- The page ----------------------------------------------------------------------------------------------------

// Loads the text of the viewer's page from `path`, or from where the build and the installation put it, seen from the
// running program. Free it with mo_free_block.
mo_status mo_view_load_page(const char *path, char **text, size_t *bytes, mo_error *err);

#endif
