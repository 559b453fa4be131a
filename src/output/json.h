// Writes JSON into one growing text, and reads the little of JSON that our own flat lines need.
#ifndef MO_JSON_H
#define MO_JSON_H

#include "monolith/monolith.h"

// A text that grows. Running out of memory is remembered in `failed`, so that only the end needs a check.
typedef struct mo_text {
    char *data; // always 0-terminated once something was added
    int64_t bytes, capacity;
    bool failed;
} mo_text;
void mo_text_destroy(mo_text *t);
void mo_text_clear(mo_text *t);
void mo_text_add(mo_text *t, const char *data, size_t bytes);

// An object or array is begun, gets its members and is ended; commas are added automatically. `key` is NULL inside
// arrays.
void mo_json_begin(mo_text *t, const char *key, char bracket);       // '{' or '['
void mo_json_end(mo_text *t, char bracket);                          // '}' or ']'
void mo_json_string(mo_text *t, const char *key, const char *value); // NULL = null; bytes that are no UTF-8 = U+FFFD
void mo_json_number(mo_text *t, const char *key, double value); // shortest text that reads back equal; NaN, inf = null
void mo_json_integer(mo_text *t, const char *key, int64_t value);
void mo_json_boolean(mo_text *t, const char *key, bool value);
void mo_json_vector(mo_text *t, const char *key, mo_vec3 value); // [x,y,z]

// Writes the shortest text that strtod reads back as the same double, with a point whatever the locale. The value must
// be finite.
void mo_format_double(double value, char text[32]);

// Gives the members of a flat object in turn; *cursor is the line at the first call. Strings lose their quotes and
// simple escapes; nested values come as their text. Returns 1 for a member, 0 at the end, -1 if this is not a JSON
// object.
typedef struct mo_json_member {
    char key[64], value[256];
    bool is_string;
} mo_json_member;
int mo_json_next(const char **cursor, mo_json_member *member);

#endif
