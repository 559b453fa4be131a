// Reading and writing the checkpoint file.
#include "output/checkpoint.h"
#include "output/file.h"
#include "base/base.h"
#include <string.h>

enum { FORMAT = 2 };
static const char magic[8] = {'M', 'O', 'C', 'H', 'E', 'C', 'K', '\n'};

typedef struct header { // as on disk; no padding
    char magic[8];
    uint32_t format, header_bytes;
    char version[16];
    uint64_t scene_hash, settings_hash, files_hash;
    char build[16];
    uint64_t mixed;
    int64_t start, stats_bytes, bodies_bytes, frame, payload_bytes;
    uint64_t payload_sum, header_sum; // header_sum: of everything before it
} header;
_Static_assert(sizeof(header) == 136, "the header is written as it lies in memory");

static uint64_t header_sum(const header *h) { return mo_checksum(FORMAT, h, offsetof(header, header_sum)); }

mo_status mo_checkpoint_write(const char *path, const mo_checkpoint *c, mo_error *err)
{
    MO_ASSERT(c->payload_bytes >= 0 && (c->payload || c->payload_bytes == 0));
    MO_ASSERT(c->frame >= 0 && c->stats_bytes >= 0 && c->bodies_bytes >= 0);
    header h = {.format = FORMAT,
                .header_bytes = sizeof h,
                .scene_hash = c->scene_hash,
                .settings_hash = c->settings_hash,
                .files_hash = c->files_hash,
                .mixed = c->mixed,
                .start = c->start,
                .stats_bytes = c->stats_bytes,
                .bodies_bytes = c->bodies_bytes,
                .frame = c->frame,
                .payload_bytes = c->payload_bytes,
                .payload_sum = mo_checksum(0, c->payload, (size_t)c->payload_bytes)};
    memcpy(h.magic, magic, sizeof magic);
    strncpy(h.version, mo_version(), sizeof h.version - 1);
    memcpy(h.build, c->build, sizeof h.build);
    h.header_sum = header_sum(&h);

    mo_file *f;
    MO_TRY(mo_file_create(path, &f, err));
    mo_file_write(f, &h, sizeof h);
    mo_file_write(f, c->payload, (size_t)c->payload_bytes);
    return mo_file_commit(f, err);
}

static mo_status check(const char *path, const header *h, size_t bytes, const char *payload, mo_error *err)
{
    if (bytes < sizeof *h || memcmp(h->magic, magic, sizeof magic) != 0)
        return mo_fail(err, MO_ERROR_FILE, "%s: not a checkpoint (damaged or another kind of file)", path);
    if (h->format != FORMAT)
        return mo_fail(err, MO_ERROR_FILE, "%s: checkpoint format %u, this program reads format %d", path, h->format,
                       FORMAT);
    if (h->header_bytes != sizeof *h || h->header_sum != header_sum(h))
        return mo_fail(err, MO_ERROR_FILE, "%s: damaged checkpoint (the header's checksum does not match)", path);
    if (strncmp(h->version, mo_version(), sizeof h->version) != 0)
        return mo_fail(err, MO_ERROR_FILE, "%s: written by monolith %.16s, this is %s: it could not continue exactly",
                       path, h->version, mo_version());
    if ((uint64_t)h->payload_bytes != bytes - sizeof *h)
        return mo_fail(err, MO_ERROR_FILE, "%s: damaged checkpoint (%zu bytes, should be %lld)", path, bytes,
                       (long long)h->payload_bytes + (long long)sizeof *h);
    if (h->payload_sum != mo_checksum(0, payload, bytes - sizeof *h))
        return mo_fail(err, MO_ERROR_FILE, "%s: damaged checkpoint (the checksum does not match)", path);
    return MO_OK;
}

mo_status mo_checkpoint_read(const char *path, mo_checkpoint *out, bool *missing, mo_error *err)
{
    char *data;
    size_t bytes;
    MO_TRY(mo_file_read(path, &data, &bytes, missing, err));
    if (*missing) return MO_OK;
    header h = {0};
    memcpy(&h, data, bytes < sizeof h ? bytes : sizeof h);
    mo_status status = check(path, &h, bytes, data + sizeof h, err);
    if (status != MO_OK) {
        mo_free(data);
        return status;
    }
    memmove(data, data + sizeof h, (size_t)h.payload_bytes);
    *out = (mo_checkpoint){.scene_hash = h.scene_hash,
                           .settings_hash = h.settings_hash,
                           .files_hash = h.files_hash,
                           .mixed = h.mixed != 0,
                           .start = h.start,
                           .stats_bytes = h.stats_bytes,
                           .bodies_bytes = h.bodies_bytes,
                           .frame = (int32_t)h.frame,
                           .payload_bytes = h.payload_bytes,
                           .payload = data};
    memcpy(out->build, h.build, sizeof out->build);
    return MO_OK;
}
