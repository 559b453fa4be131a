// What tests of the system share.
#ifndef SYSTEM_TEST_H
#define SYSTEM_TEST_H

#include "solver_test.h"
#include "system/system.h"

// The faces of a domain as a group; the domain's masses stay its own.
static inline void take_faces(const domain *D, mo_group *faces)
{
    if (mo_faces_create(D->faces, faces) != MO_OK) abort();
    memcpy(faces->mass, D->mass, sizeof(double) * (size_t)D->faces);
}

#endif
