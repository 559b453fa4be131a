// Contacts of cloth, which is a surface of triangles with two sides, with shapes, with elastic bodies, with other cloth
// and with itself. Half the thickness of cloth is on each side of its triangles.
//
//     against a shape           vertices; edges and triangles where the shape comes nearer to them than to their ends:
//                               there edges, corners or round parts of the shape reach between vertices
//     against an elastic body   vertices of each against the other's surface
//     cloth                     vertices against triangles, edges against edges (cloth_pairs.h)
//
// Vertices count within the reach of all contacts; edges and triangles count if they could touch in the step.
#ifndef MO_CLOTH_CONTACT_H
#define MO_CLOTH_CONTACT_H

#include "solid/cloth_pairs.h"
#include "solid/elastic_contact.h"

// Adds the contacts of all cloth among the colliders, in no particular order.
mo_status mo_cloth_contacts_add(const mo_collider *collider, int32_t count, const mo_contact_def *def, mo_contacts *out,
                                mo_arena *arena, mo_error *err);

// Finds where cloth, on the paths of its drapes, comes nearer to a solid than a twentieth of the thickness, or to cloth
// than a tenth, with other colliders at their next poses. out->contact holds a contact for each: with a plane between
// the two that they must not cross, and the gap at the start.
mo_status mo_cloth_impacts_find(const mo_collider *collider, int32_t count, double dt, mo_contacts *out,
                                mo_arena *arena, mo_error *err);

#endif
