// Forms: the ways in which a set of blocks can be solved. They stand in one list (form.c), which is used in order. If a
// form stalls, the next one that applies follows; the last one always applies. Route paper uses only the last one, the
// papers' dual form, except for rows of slip.
//
//     slip       pressure with rows of slip along sheets, on both routes; no other form follows it
//     draped     cloth in liquid that touches something: contacts are springs, beside a multigrid cycle and a factor
//     joint      sets with nodes but without stress: MPRGP with exact solves for the nodes
//     contacts   solids in contact without liquid: Newton's method on the law of contact, dense clusters
//     bodies     pressure of an inviscid liquid with bodies, with or without contacts: the same about a multigrid cycle
//     viscous    velocities kept, stress eliminated: flexible GMRES
//     pressure   the dual form of hard rows: conjugate gradients with a multigrid cycle, SSOR for small sets
//     applied    the same for any rows with many of them on nodes: their inverse is applied, not formed
//     dual       the dual form of any rows, as in the papers
#ifndef MO_FORM_H
#define MO_FORM_H

#include "system/system.h"

typedef struct mo_form {
    const char *name; // in the statistics
    bool (*applies)(const mo_system *s, uint32_t set);
    // Changes velocities and multipliers if info->solve.reason says converged or nothing to do. After a stall they are
    // as they were, or the multipliers are the best found.
    mo_status (*solve)(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info, mo_error *err);
    void (*forget)(mo_system *s); // drops what is kept on the system for further solves; NULL: nothing is kept
} mo_form;

// Solves a set of blocks (bits 1 << MO_BLOCK_...) by the first form that can.
mo_status mo_forms_solve(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info, mo_error *err);
void mo_forms_forget(mo_system *s); // masses, rows or coefficients changed

#endif
