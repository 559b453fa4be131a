// Contacts of cloth, which is a surface of triangles with two sides, with shapes, with elastic bodies, with other cloth
// and with itself. Half the thickness of cloth is on each side of its triangles.
//
//     against a shape           vertices; edges and triangles where the shape comes nearer to them than to their ends:
//                               there edges and corners of the shape, or what is round of it, reach between vertices
//     against an elastic body   vertices of each against the other's surface
//     cloth                     vertices against triangles, edges against edges (cloth_pairs.h)
//
// Vertices count within the reach of all contacts; the others if they could touch in the step.
#ifndef MO_CLOTH_CONTACT_H
#define MO_CLOTH_CONTACT_H

#include "solid/cloth_pairs.h"
#include "solid/elastic_contact.h"

// Adds the contacts of all cloth among the colliders, in no particular order.
mo_status mo_cloth_contacts_add(const mo_collider *collider, int32_t count, const mo_contact_def *def, mo_contacts *out,
                                mo_arena *arena, mo_error *err);

// Finds what comes nearer to a solid than a twentieth of the thickness, and to cloth than a tenth, on the ways of its
// drapes, with other colliders at their next poses: out->contact holds a contact for each, for a plane between the two
// that they shall not cross, with the gap at the start.
mo_status mo_cloth_impacts_find(const mo_collider *collider, int32_t count, double dt, mo_contacts *out,
                                mo_arena *arena, mo_error *err);

#endif
