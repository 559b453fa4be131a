// The softness of contacts (MO 4.4.5), so that they hold whatever the masses above them are.
//
// A contact row yields by S n, S = gamma dt (B W B^T)_ii. With one gamma for all contacts, the compliance is that of
// the lightest body of the row, but the force n can be the weight of much heavier bodies that stand on it: a light box
// between the floor and a body of mass ratio r sinks in r times as fast, and from r = 1/gamma on the contact no longer
// holds. So gamma is relative to the heaviest body that could lean on a contact:
//
//     gamma_i = min(1e-4, 1e-3 m_i / M_i)   m_i  the lightest body of the contact, along its lightest axis
//                                           M_i  the heaviest of all bodies that contacts join to it, elastic ones
//                                                between them or not, or the liquid that one of them displaces:
//                                                buoyancy presses, too
//
// Then S n is at most about 1e-3 g dt, a step's gain of velocity, however heavy the load is. Among bodies whose masses
// differ by less than a factor of ten nothing changes. The thousandth makes contacts softer than necessary, which keeps
// matrices better conditioned.
//
// Anchoring normal forces at those of the last step instead, as friction is anchored, was tried and rejected: contacts
// become springs, n' = k (x' + beta x / dt) of the overlap x, and M x'' = -n with the integral of x in n is damped by
// the implicit step alone: stacks of mass ratio 1e4 jumped and gained energy.
#ifndef MO_CONTACT_SOFTNESS_H
#define MO_CONTACT_SOFTNESS_H

#include "system/contact_rows.h"

// Sets the softness of the rows of contact and friction of a system. Without contacts it does nothing.
mo_status mo_contact_soften(const mo_contact_rows_def *def, mo_system *s);

#endif
