// Part of monolith.h: status and errors, memory and log, vectors.
#ifndef MONOLITH_BASE_H
#define MONOLITH_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Status and errors -------------------------------------------------------------------------------------------

typedef enum mo_status {
    MO_OK = 0,
    MO_ERROR_FAILED,  // the run itself failed (not the caller's fault)
    MO_ERROR_INPUT,   // the caller's mistake: scene, mesh, parameter
    MO_ERROR_FILE,    // a file could not be read or written
    MO_ERROR_MEMORY,  // out of memory
    MO_ERROR_STOPPED, // a callback asked to stop
} mo_status;

// Every function that can fail fills one; pass NULL if the text is not wanted.
typedef struct mo_error {
    mo_status status;
    char text[1000]; // one line, names the place: "scene.lua:12: rigid 'bowl': density must be > 0, got -3"
} mo_error;

// ---- Memory and log ----------------------------------------------------------------------------------------------

// Sets one hook for every allocation of the library in this process; call it before anything else. `resize(user, p,
// bytes)` behaves like realloc, and like free for bytes = 0. NULL restores the functions of the C library.
typedef void *(*mo_resize_fn)(void *user, void *p, size_t bytes);
void mo_set_allocator(mo_resize_fn resize, void *user);
int64_t mo_memory_in_use(void); // bytes allocated now
int64_t mo_memory_peak(void);   // largest value of the above since the last reset
void mo_memory_reset_peak(void);

typedef enum mo_log_level { MO_LOG_DEBUG, MO_LOG_INFO, MO_LOG_WARNING } mo_log_level;
typedef void (*mo_log_fn)(void *user, mo_log_level level, const char *text);

// ---- Vectors -----------------------------------------------------------------------------------------------------

typedef struct mo_vec3 {
    double x, y, z;
} mo_vec3;
typedef struct mo_quat {
    double w, x, y, z;
} mo_quat; // unit quaternion
typedef struct mo_pose {
    mo_vec3 position;
    mo_quat rotation;
} mo_pose;
typedef struct mo_box3 {
    mo_vec3 lo, hi;
} mo_box3;

#ifdef __cplusplus
}
#endif
#endif
