// The container of payloads.
#include "view/payload.h"

mo_payload mo_payload_begin(mo_text *out)
{
    mo_payload p = {.out = out};
    mo_json_begin(&p.describe, NULL, '{');
    return p;
}

void *mo_payload_array(mo_payload *p, const char *name, const char *type, int64_t count, int64_t bytes)
{
    static const char zeros[8];
    mo_text_add(p->out, zeros, (size_t)(-p->out->bytes & 7));
    int64_t offset = p->out->bytes;
    if (p->out->failed || !mo_reserve((void **)&p->out->data, &p->out->capacity, offset + bytes + 1, 1)) {
        p->out->failed = true;
        return NULL;
    }
    p->out->bytes += bytes;
    p->out->data[p->out->bytes] = 0;
    mo_json_begin(&p->describe, name, '{');
    mo_json_string(&p->describe, "type", type);
    mo_json_integer(&p->describe, "offset", offset);
    mo_json_integer(&p->describe, "count", count);
    return p->out->data + offset;
}

void mo_payload_array_end(mo_payload *p)
{
    if (!p->out->failed) mo_json_end(&p->describe, '}');
}

mo_status mo_payload_end(mo_payload *p, mo_error *err)
{
    mo_json_end(&p->describe, '}');
    uint32_t bytes = (uint32_t)p->describe.bytes;
    if (p->describe.failed) p->out->failed = true;
    if (!p->out->failed) mo_text_add(p->out, p->describe.data, bytes);
    mo_text_add(p->out, (const char *)&bytes, sizeof bytes);
    mo_text_destroy(&p->describe);
    return p->out->failed ? mo_fail_memory(err) : MO_OK;
}
