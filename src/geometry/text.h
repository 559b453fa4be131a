// Reads text files word by word; binary parts can be read behind the words. Messages begin with file:line.
#ifndef MO_TEXT_H
#define MO_TEXT_H

#include "base/base.h"
#include <locale.h>

typedef struct mo_text {
    const char *path;
    char *start;          // the whole file, and a 0 behind it
    const char *at, *end; // the rest that is still to be read
    int32_t line;         // of `at`, from 1
    bool comments;        // from # to the end of a line
    const char *word;     // the last word read
    int32_t length;       // of it, at most INT32_MAX
    int32_t word_line;    // where it is
    locale_t locale;      // numbers have a point everywhere
} mo_text;

mo_status mo_text_open(const char *path, mo_text *t, mo_error *err);
void mo_text_close(mo_text *t);
// Fails at the last word, or at the end of the file.
mo_status mo_text_fail(const mo_text *t, mo_error *err, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool mo_text_next(mo_text *t);                       // reads the next word; false at the end of the file
bool mo_text_is(const mo_text *t, const char *word); // whether the last word is this one
void mo_text_skip_line(mo_text *t);                  // goes on at the end of the line
bool mo_text_more(mo_text *t);                       // whether another word stands on this line
// Read a word that must be of this kind; `what` is for messages, as in "coordinate x of vertex".
mo_status mo_text_expect(mo_text *t, const char *word, mo_error *err);
mo_status mo_text_integer(mo_text *t, const char *what, int64_t least, int64_t most, int64_t *out, mo_error *err);
mo_status mo_text_number(mo_text *t, const char *what, double *out, mo_error *err);

#endif
