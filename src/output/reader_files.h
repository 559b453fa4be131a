// Reading our own geometry files back: the PLY and VTP of writers.h. Anything damaged or cut short is refused by name.
#ifndef MO_READER_FILES_H
#define MO_READER_FILES_H

#include "output/reader.h"

// Also PLY without normals (normal = NULL then).
mo_status mo_read_ply(const char *path, mo_mesh *out, mo_error *err);
// Arrays that the file lacks are NULL, except the positions.
mo_status mo_read_vtp(const char *path, mo_points *out, mo_error *err);

#endif
