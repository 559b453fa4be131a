// Files of elastic bodies in frames/: elastic_NAME_00042.ply, the surface, and elastic_NAME_00042.vtu, its elements.
#ifndef MO_OUTPUT_ELASTIC_H
#define MO_OUTPUT_ELASTIC_H

#include "monolith/monolith.h"

// Writes the files of one body in the simulation's frame; `file` is the beginning of their names (mo_elastic_files).
mo_status mo_write_elastic(const char *dir, const char *file, const mo_sim *sim, int32_t elastic, bool elements,
                           mo_error *err);
// Writes the series of its frames 0 .. frames - 1.
mo_status mo_write_elastic_series(const char *dir, const char *file, bool elements, int32_t frames, double fps,
                                  mo_error *err);

// The same for cloth: cloth_NAME_00042.ply.
mo_status mo_write_cloth(const char *dir, const char *file, const mo_sim *sim, int32_t cloth, mo_error *err);

#endif
