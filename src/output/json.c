// JSON text: building it with correct escaping and numbers, and walking the members of one object.
#include "output/json.h"
#include "base/base.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mo_text_destroy(mo_text *t)
{
    mo_free(t->data);
    *t = (mo_text){0};
}

void mo_text_clear(mo_text *t)
{
    t->bytes = 0;
    t->failed = false;
}

static bool text_room(mo_text *t, size_t bytes)
{
    int64_t need = t->bytes + (int64_t)bytes + 1;
    if (!t->failed && !mo_reserve((void **)&t->data, &t->capacity, need < 256 ? 256 : need, 1)) t->failed = true;
    return !t->failed;
}

void mo_text_add(mo_text *t, const char *data, size_t bytes)
{
    if (!text_room(t, bytes)) return;
    MO_ASSERT(t->bytes + (int64_t)bytes < t->capacity);
    memcpy(t->data + t->bytes, data, bytes);
    t->bytes += (int64_t)bytes;
    t->data[t->bytes] = 0;
}

// ---- Out ----

// A few formatted characters.
__attribute__((format(printf, 2, 3))) static void add_format(mo_text *t, const char *format, ...)
{
    char small[64];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    MO_ASSERT(n >= 0 && n < (int)sizeof small);
    mo_text_add(t, small, (size_t)n);
}

// Length of the well-formed UTF-8 sequence at s, 0 if there is none (overlong forms and surrogates are none).
static size_t utf8_length(const unsigned char *s)
{
    size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : 4;
    if (n == 4 && (s[0] < 0xf0 || s[0] > 0xf4)) return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)) return 0;
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) return 0;
    return n;
}

static void add_quoted(mo_text *t, const char *value)
{
    static const char names[] = "\"\"\\\\\bb\ff\nn\rr\tt"; // pairs: byte, letter of its escape
    mo_text_add(t, "\"", 1);
    for (const unsigned char *s = (const unsigned char *)value; *s;) {
        const char *name = NULL;
        for (const char *p = names; *p && !name; p += 2)
            if (*p == (char)*s) name = p + 1;
        size_t n = name || *s < 0x20 ? 1 : utf8_length(s);
        if (name)
            add_format(t, "\\%c", *name);
        else if (*s < 0x20)
            add_format(t, "\\u%04x", *s);
        else if (n)
            mo_text_add(t, (const char *)s, n);
        else
            mo_text_add(t, "\xef\xbf\xbd", 3);
        s += n ? n : 1;
    }
    mo_text_add(t, "\"", 1);
}

// The comma and key before a value.
static void add_key(mo_text *t, const char *key)
{
    char last = t->bytes ? t->data[t->bytes - 1] : '\n';
    if (!strchr("{[\n", last)) mo_text_add(t, ",", 1);
    if (key) {
        add_quoted(t, key);
        mo_text_add(t, ":", 1);
    }
}

void mo_json_begin(mo_text *t, const char *key, char bracket)
{
    MO_ASSERT(bracket == '{' || bracket == '[');
    add_key(t, key);
    mo_text_add(t, &bracket, 1);
}

void mo_json_end(mo_text *t, char bracket)
{
    MO_ASSERT(bracket == '}' || bracket == ']');
    mo_text_add(t, &bracket, 1);
}

void mo_json_string(mo_text *t, const char *key, const char *value)
{
    add_key(t, key);
    if (value)
        add_quoted(t, value);
    else
        mo_text_add(t, "null", 4);
}

void mo_format_double(double value, char text[32])
{
    MO_ASSERT(isfinite(value));
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    for (char *c = text; *c; c++)
        if (!strchr("0123456789+-e", *c)) *c = '.';
}

void mo_json_number(mo_text *t, const char *key, double value)
{
    char text[32] = "null";
    if (isfinite(value)) mo_format_double(value, text);
    add_key(t, key);
    mo_text_add(t, text, strlen(text));
}

void mo_json_integer(mo_text *t, const char *key, int64_t value)
{
    add_key(t, key);
    add_format(t, "%lld", (long long)value);
}

void mo_json_boolean(mo_text *t, const char *key, bool value)
{
    add_key(t, key);
    add_format(t, "%s", value ? "true" : "false");
}

void mo_json_vector(mo_text *t, const char *key, mo_vec3 value)
{
    mo_json_begin(t, key, '[');
    mo_json_number(t, NULL, value.x);
    mo_json_number(t, NULL, value.y);
    mo_json_number(t, NULL, value.z);
    mo_json_end(t, ']');
}

// ---- In ----

static const char *skip_space(const char *s) { return s + strspn(s, " \t\r\n"); }

// A quoted string into text (cut at size - 1); returns the place after it, NULL if it does not end.
static const char *take_string(const char *s, char *text, size_t size)
{
    size_t n = 0;
    for (s++; *s != '"'; s++) {
        if (!*s || (*s == '\\' && !s[1])) return NULL;
        char c = *s;
        if (c == '\\') {
            c = *++s;
            c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
        }
        if (n + 1 < size) text[n++] = c;
    }
    text[n] = 0;
    return s + 1;
}

// A bare value (number, word, nested object or array) up to its comma or brace.
static const char *take_bare(const char *s, char *text, size_t size)
{
    size_t n = 0;
    int depth = 0;
    for (; *s && (depth || (*s != ',' && *s != '}')); s++) {
        depth += (*s == '{' || *s == '[') - (*s == '}' || *s == ']');
        if (n + 1 < size) text[n++] = *s;
    }
    while (n && strchr(" \t\r\n", text[n - 1])) n--;
    text[n] = 0;
    return n && *s ? s : NULL;
}

int mo_json_next(const char **cursor, mo_json_member *member)
{
    const char *s = skip_space(*cursor);
    if (*s != '{' && *s != ',' && *s != '}') return -1;
    bool first = *s == '{';
    if (*s != '}') s = skip_space(s + 1);
    if (*s == '}') return first || **cursor == '}' ? 0 : -1;
    if (*s != '"' || !(s = take_string(s, member->key, sizeof member->key))) return -1;
    s = skip_space(s);
    if (*s != ':') return -1;
    s = skip_space(s + 1);
    member->is_string = *s == '"';
    s = (member->is_string ? take_string : take_bare)(s, member->value, sizeof member->value);
    if (!s) return -1;
    s = skip_space(s);
    if (*s != ',' && *s != '}') return -1;
    *cursor = s;
    return 1;
}
