// OpenVDB files: sparse volumes that Blender, Houdini and ParaView read. A leaf of the file is a tile of the grid, 8^3
// voxels, so nothing is resampled and empty space takes no room. The writer and the reader are our own, because the
// library that belongs to the format is C++; files are of format version 224, compressed by zlib.
#ifndef MO_VDB_H
#define MO_VDB_H

#include "monolith/monolith.h"

enum { MO_VDB_LEAF = 512 }; // voxels of a leaf

typedef struct mo_vdb_grid { // one volume of a file
    char name[32];           // "density", "temperature", "velocity"
    int components;          // 1: floats, 3: vectors
    float *value[3];         // [MO_VDB_LEAF * leaves] of each component, index in the leaf x + 8 (y + 8 z)
} mo_vdb_grid;

typedef struct mo_vdb { // volumes of one file
    double voxel;       // m, the edge of a voxel
    mo_vec3 origin;     // m, the centre of voxel (0, 0, 0)
    int32_t leaves;
    int32_t (*leaf)[3]; // [leaves] the first voxel of a leaf is 8 * leaf; no two are the same
    int32_t grids;
    mo_vdb_grid *grid;
} mo_vdb;

// Writes all volumes; voxels whose value is not 0 are active, leaves without one are left out.
mo_status mo_write_vdb(const char *path, const mo_vdb *vdb, mo_error *err);

// Reads one volume of a file that mo_write_vdb wrote, as its only one: the leaves with an active voxel. Other writers'
// files may hold trees or maps that are refused with a message. Destroy *out in any case.
mo_status mo_read_vdb(const char *path, const char *name, mo_vdb *out, mo_error *err);
void mo_vdb_destroy(mo_vdb *vdb); // of a file that was read

#endif
