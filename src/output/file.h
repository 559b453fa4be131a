// Files that are either complete or absent: written under a temporary name beside the target, then renamed.
#ifndef MO_FILE_H
#define MO_FILE_H

#include "monolith/monolith.h"

// Binary formats here are little endian and written straight from memory.
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a big-endian machine needs byte swapping in the writers");

// Reports a failed system call on `path` as an error: "PATH: cannot write: No space left on device". A full or broken
// disk is MO_ERROR_FAILED (the run's bad luck), anything else MO_ERROR_FILE (a path that the caller can correct).
mo_status mo_fail_file(mo_error *err, const char *path, const char *action, int error_number);

typedef struct mo_file mo_file;

// Opens PATH.tmp. Writes are buffered and their errors remembered until commit, so that writers need no checks.
// For pages: refuses to take the place of a file that is no page, such as one of a run's own.
mo_status mo_page_create(const char *path, mo_file **out, mo_error *err);
mo_status mo_file_create(const char *path, mo_file **out, mo_error *err);
void mo_file_write(mo_file *f, const void *data, size_t bytes);
void mo_file_print(mo_file *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Flushes, syncs to the disk, closes, renames to PATH; removes the temporary on any failure. Frees f in every case.
mo_status mo_file_commit(mo_file *f, mo_error *err);
void mo_file_abandon(mo_file *f); // closes and removes the temporary; NULL is fine

// Reads the whole file into memory, with a 0 behind it; free it with mo_free_block. *missing: the file is absent, which
// is then not an error, and *data = NULL. If `missing` is NULL, an absent file is an error.
mo_status mo_file_read(const char *path, char **data, size_t *bytes, bool *missing, mo_error *err);

mo_status mo_directory_create(const char *path, bool *created, mo_error *err); // and its parents; existing is fine
mo_status mo_directory_sync(const char *path, mo_error *err);                  // renames inside it survive a power cut

// Returns DIR/NAME, formatted, in memory from mo_alloc; NULL without memory.
char *mo_path(const char *dir, const char *format, ...) __attribute__((format(printf, 2, 3)));

// A log of lines that only grows at its end. A line that could not be written whole is cut off again, so that the
// file always ends with a complete line.
typedef struct mo_lines mo_lines;
mo_status mo_lines_open(const char *path, int64_t keep_bytes, mo_lines **out, mo_error *err); // cuts it to keep_bytes
mo_status mo_lines_append(mo_lines *l, const char *text, size_t bytes, mo_error *err);
mo_status mo_lines_sync(mo_lines *l, mo_error *err);
int64_t mo_lines_bytes(const mo_lines *l);
void mo_lines_close(mo_lines *l);

#endif
