// Reads our own geometry files back: the PLY and VTP of writers.h. A file that is damaged or cut short is refused by
// name.
#ifndef MO_READER_FILES_H
#define MO_READER_FILES_H

#include "output/reader.h"

// Also reads PLY without normals or velocities; these are NULL then.
mo_status mo_read_ply(const char *path, mo_mesh *out, mo_error *err);
// The same with the numbers of the property von_mises, [vertex_count], for mo_free; NULL: there is none.
mo_status mo_read_skin(const char *path, mo_mesh *out, float **von_mises, mo_error *err);
// Arrays that the file lacks are NULL, except the positions.
mo_status mo_read_vtp(const char *path, mo_points *out, mo_error *err);

#endif
