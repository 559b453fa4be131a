// Any bytes as the files of a run directory, which reports, pictures and the viewer read. The input is split at zero
// bytes into run.json, stats.jsonl, bodies.jsonl, a surface, particles and a body.
#include "fuzz.h"
#include "monolith/monolith.h"
#include "output/reader.h"
#include "view/view.h"

static const char *const files[] = {"run.json",
                                    "stats.jsonl",
                                    "bodies.jsonl",
                                    "frames/surface_liquid_00000.ply",
                                    "frames/particles_liquid_00000.vtp",
                                    "bodies/ball.ply"};
enum { FILES = sizeof files / sizeof *files };

static void write_files(const uint8_t *data, size_t bytes)
{
    char folder[160];
    snprintf(folder, sizeof folder, "%s/frames", fuzz_place());
    mkdir(folder, 0700);
    snprintf(folder, sizeof folder, "%s/bodies", fuzz_place());
    mkdir(folder, 0700);
    for (int i = 0; i < FILES; i++) {
        const uint8_t *end = i < FILES - 1 && bytes ? memchr(data, 0, bytes) : NULL;
        size_t n = end ? (size_t)(end - data) : bytes;
        fuzz_file(files[i], data, n);
        data += n + (end != NULL), bytes -= n + (end != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char *const paths[] = {"/run.json",          "/stats",          "/frame/0/surface",
                                        "/frame/0/particles", "/frame/0/bodies", "/body/ball"};
    write_files(data, bytes);
    mo_reader *reader = NULL;
    mo_error err = {0};
    if (mo_reader_open(fuzz_place(), &reader, &err) == MO_OK) {
        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
            mo_view_route route = mo_view_find_route(paths[i]);
            mo_text payload = {0};
            mo_view_pack(reader, &route, false, &payload, &err);
            mo_text_destroy(&payload);
        }
        mo_reader_close(reader);
    } else if (!err.text[0]) {
        abort();
    }
    const char *dir = fuzz_place();
    char page[160];
    snprintf(page, sizeof page, "%s/report.html", dir);
    unlink(page);
    if (mo_report_write(&dir, 1, page, &err) != MO_OK && !err.text[0]) abort();
    return 0;
}
