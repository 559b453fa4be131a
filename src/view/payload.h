// How payloads are put together: arrays, then a JSON object that describes them (view.h).
#ifndef MO_VIEW_PAYLOAD_H
#define MO_VIEW_PAYLOAD_H

#include "view/view.h"

typedef struct mo_payload {
    mo_text *out;     // the arrays; in the end everything
    mo_text describe; // the JSON object, for more members between arrays
} mo_payload;

mo_payload mo_payload_begin(mo_text *out);
// Makes room for an array of `bytes` at the next multiple of 8, described as `name`; NULL when out of memory. The
// object of the description stays open for more members until mo_payload_array_end.
void *mo_payload_array(mo_payload *p, const char *name, const char *type, int64_t count, int64_t bytes);
void mo_payload_array_end(mo_payload *p);
mo_status mo_payload_end(mo_payload *p, mo_error *err);

#endif
