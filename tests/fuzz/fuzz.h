// What fuzz targets share: the input as a file.
#ifndef MO_FUZZ_H
#define MO_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

// A directory of this process, in memory where there is such a place.
static inline const char *fuzz_place(void)
{
    static char place[64];
    if (!place[0]) {
        snprintf(place, sizeof place, "%s/mo_fuzz_%d", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", getpid());
        mkdir(place, 0700);
    }
    return place;
}

// Writes PLACE/NAME and returns its path, which is valid until the next call.
static inline const char *fuzz_file(const char *name, const uint8_t *data, size_t bytes)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", fuzz_place(), name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes || fclose(f) != 0) abort();
    return path;
}

#endif
