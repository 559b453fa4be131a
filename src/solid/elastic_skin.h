// The skin of an elastic body: the closed triangle mesh that pictures and files show. Its triangles never change, its
// vertices follow those of the body. Where the body has a sharp edge at rest, the skin has a vertex once for each side,
// so that boxes keep their edges and round bodies look round. In two dimensions it is the body's slice, `depth` thick.
#ifndef MO_ELASTIC_SKIN_H
#define MO_ELASTIC_SKIN_H

#include "solid/elastic.h"

#define MO_SKIN_CREASE 50.0 // degrees between normals at rest, from which an edge is sharp

typedef struct mo_elastic_skin {
    int32_t vertices, triangles;
    int32_t *vertex;   // [vertices] of the body
    uint8_t *front;    // [vertices] 2D: the vertex lies at z = depth, not 0
    int32_t *triangle; // [3 * triangles] counter-clockwise seen from outside
    double depth;      // m, of a body in two dimensions
} mo_elastic_skin;

// face: the body's boundary as mo_tets_boundary finds it, [dimension * faces].
mo_status mo_elastic_skin_create(const mo_elastic_body *b, const int32_t *face, int32_t faces, double depth,
                                 mo_elastic_skin *out, mo_error *err);
void mo_elastic_skin_destroy(mo_elastic_skin *s);
// Makes the skin as the body is now, with normals and velocities.
mo_status mo_elastic_skin_mesh(const mo_elastic_skin *s, const mo_elastic_body *b, mo_mesh *out, mo_error *err);
// Turns values of elements into values of the skin's vertices: the mean over the elements about each, by their rest
// volume. Values that are not finite (the stress of an element squeezed to nothing) do not count.
void mo_elastic_skin_mean(const mo_elastic_skin *s, const mo_elastic_body *b, const double *element, float *out);

#endif
