// Constants of the format that the writer and the reader of OpenVDB files share.
#ifndef MO_VDB_FORMAT_H
#define MO_VDB_FORMAT_H

#include <stdint.h>

#define MO_VDB_MAGIC   ((int64_t)0x56444220)
#define MO_VDB_MAP     "UniformScaleTranslateMap"
#define MO_VDB_FLOATS  "Tree_float_5_4_3"
#define MO_VDB_VECTORS "Tree_vec3s_5_4_3"

enum {
    MO_VDB_FORMAT = 224,
    MO_VDB_ZIP = 1,           // values are compressed by zlib
    MO_VDB_ACTIVE_MASK = 2,   // only active values are stored
    MO_VDB_UPPER_WORDS = 512, // 64-bit words of the mask of a node with 32^3 children
    MO_VDB_LOWER_WORDS = 64,  // of one with 16^3
};

// In the file z runs fastest, here x. This converts the number of a voxel in a leaf from one order to the other; it is
// its own inverse.
static inline int mo_vdb_voxel(int n) { return n >> 6 | (n & 0x38) | (n & 7) << 6; }

#endif
