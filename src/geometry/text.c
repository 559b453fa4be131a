// Words and numbers of text files.
#include "geometry/text.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 30, LONGEST_NUMBER = 63 };

static mo_status read_all(FILE *file, const char *path, mo_text *t, mo_error *err)
{
    int64_t capacity = 0, bytes = 0;
    for (size_t got = 1; got > 0; bytes += (int64_t)got) {
        if (bytes > MAX_BYTES)
            return mo_fail(err, MO_ERROR_INPUT, "%s: the file is larger than %d MB", path, MAX_BYTES >> 20);
        if (!mo_reserve((void **)&t->start, &capacity, bytes + (1 << 16) + 1, 1)) return mo_fail_memory(err);
        got = fread(t->start + bytes, 1, 1 << 16, file);
    }
    if (ferror(file)) return mo_fail(err, MO_ERROR_FILE, "%s: cannot read the mesh: %s", path, strerror(errno));
    if (bytes == 0) return mo_fail(err, MO_ERROR_INPUT, "%s: the file is empty", path);
    t->start[bytes] = 0;
    t->at = t->start;
    t->end = t->start + bytes;
    return MO_OK;
}

mo_status mo_text_open(const char *path, mo_text *t, mo_error *err)
{
    *t = (mo_text){.path = path, .line = 1, .word_line = 1, .word = ""};
    FILE *file = fopen(path, "rb");
    if (!file) return mo_fail(err, MO_ERROR_FILE, "%s: cannot open the mesh: %s", path, strerror(errno));
    mo_status status = read_all(file, path, t, err);
    fclose(file);
    if (status == MO_OK) t->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (status == MO_OK && !t->locale) status = mo_fail_memory(err);
    if (status != MO_OK) mo_text_close(t);
    return status;
}

void mo_text_close(mo_text *t)
{
    mo_free(t->start);
    if (t->locale) freelocale(t->locale);
    *t = (mo_text){0};
}

mo_status mo_text_fail(const mo_text *t, mo_error *err, const char *format, ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return mo_fail(err, MO_ERROR_INPUT, "%s:%d: %s", t->path, t->word_line, text);
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

void mo_text_skip_line(mo_text *t)
{
    while (t->at < t->end && *t->at != '\n') t->at++;
}

bool mo_text_more(mo_text *t)
{
    while (t->at < t->end && *t->at != '\n' && is_space(*t->at)) t->at++;
    return t->at < t->end && *t->at != '\n' && !(t->comments && *t->at == '#');
}

static void skip_space(mo_text *t)
{
    for (; t->at < t->end; t->at++) {
        if (t->comments && *t->at == '#') mo_text_skip_line(t);
        if (t->at == t->end || !is_space(*t->at)) return;
        t->line += *t->at == '\n';
    }
}

bool mo_text_next(mo_text *t)
{
    skip_space(t);
    t->word = t->at;
    t->word_line = t->line;
    while (t->at < t->end && !is_space(*t->at) && !(t->comments && *t->at == '#')) t->at++;
    t->length = (int32_t)(t->at - t->word);
    return t->length > 0;
}

bool mo_text_is(const mo_text *t, const char *word)
{
    return (size_t)t->length == strlen(word) && memcmp(t->word, word, strlen(word)) == 0;
}

// The last word for a message, without what cannot be printed.
typedef struct shown {
    char text[32];
} shown;

static shown show(const mo_text *t)
{
    shown s = {""};
    int32_t n = 0;
    for (; n < t->length && n < 24; n++) s.text[n] = t->word[n] > ' ' && t->word[n] < 127 ? t->word[n] : '?';
    if (t->length > n) memcpy(s.text + n, "...", 3), n += 3;
    s.text[n] = 0;
    return s;
}

static mo_status missing(const mo_text *t, const char *what, mo_error *err)
{
    return mo_text_fail(t, err, "the file ends where %s should be", what);
}

mo_status mo_text_expect(mo_text *t, const char *word, mo_error *err)
{
    if (!mo_text_next(t)) return missing(t, word, err);
    if (!mo_text_is(t, word)) return mo_text_fail(t, err, "'%s' where %s should be", show(t).text, word);
    return MO_OK;
}

mo_status mo_text_integer(mo_text *t, const char *what, int64_t least, int64_t most, int64_t *out, mo_error *err)
{
    if (!mo_text_next(t)) return missing(t, what, err);
    int32_t i = t->word[0] == '-' || t->word[0] == '+', first = i;
    int64_t value = 0;
    for (; i < t->length && i < first + 18 && t->word[i] >= '0' && t->word[i] <= '9'; i++)
        value = 10 * value + (t->word[i] - '0');
    if (i == first || i < t->length) return mo_text_fail(t, err, "'%s' is no %s", show(t).text, what);
    value = t->word[0] == '-' ? -value : value;
    if (value < least || value > most)
        return mo_text_fail(t, err, "%s is %lld, must be %lld..%lld", what, (long long)value, (long long)least,
                            (long long)most);
    *out = value;
    return MO_OK;
}

mo_status mo_text_number(mo_text *t, const char *what, double *out, mo_error *err)
{
    if (!mo_text_next(t)) return missing(t, what, err);
    char text[LONGEST_NUMBER + 1], *end = text;
    bool plain = t->length <= LONGEST_NUMBER;
    for (int32_t i = 0; plain && i < t->length; i++)
        plain = t->word[i] != 0 && strchr("0123456789+-.eE", t->word[i]) != NULL;
    double value = 0;
    if (plain) {
        memcpy(text, t->word, (size_t)t->length);
        text[t->length] = 0;
        value = strtod_l(text, &end, t->locale);
        plain = *end == 0;
    }
    if (!plain) return mo_text_fail(t, err, "'%s' is no %s", show(t).text, what);
    if (!(fabs(value) < 1e18)) return mo_text_fail(t, err, "%s is %s, not a usable number", what, show(t).text);
    *out = value;
    return MO_OK;
}
