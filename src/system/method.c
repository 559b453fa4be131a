// The list of methods.
#include "system/method.h"
#include "system/anticipate.h"
#include "system/uzawa.h"
#include <stdio.h>
#include <string.h>

static const char *const alone = "elastic bodies alone, without rows of liquid and contact (scheme \"E\")";
static const char *const touching = "elastic bodies and their contacts, without liquid";
enum { NOTHING = 0, ANYTHING = ~0, CONTACT = 1 << MO_BLOCK_CONTACT, FRICTION = 1 << MO_BLOCK_FRICTION };

static bool always(const mo_system *s, uint32_t set) { return (void)s, (void)set, true; }

static const mo_method methods[] = {
    {"ldlt", MO_METHOD_LUMPED, 1, mo_factor_ldlt, ANYTHING, "", MO_METHOD_BOUNDED, {0}},
    {"natural", MO_METHOD_LUMPED, 1, mo_factor_natural, ANYTHING, "", MO_METHOD_BOUNDED, {0}},
    {"ic", MO_METHOD_LUMPED, 1, mo_factor_ic, ANYTHING, "", MO_METHOD_BOUNDED, {0}},
    {"primal", MO_METHOD_ITERATIVE, 1, NULL, NOTHING, alone, MO_METHOD_BOUNDED, {0}},
    {"ucg", MO_METHOD_EXACT, 1, NULL, ANYTHING, "", MO_METHOD_CLINGS, {"ucg", always, mo_uzawa_solve, NULL}},
    {"ucg-cg", MO_METHOD_ITERATIVE, 1, NULL, ANYTHING, "", MO_METHOD_CLINGS, {"ucg-cg", always, mo_uzawa_solve, NULL}},
    {"ica",
     MO_METHOD_ITERATIVE,
     1,
     NULL,
     CONTACT | FRICTION,
     touching,
     MO_METHOD_BOUNDED,
     {"ica", always, mo_ica_solve, NULL}},
    {"admm", MO_METHOD_ITERATIVE, 1, NULL, CONTACT, touching, MO_METHOD_SLIPS, {"admm", always, mo_admm_solve, NULL}},
    {"delassus", MO_METHOD_EXACT, 1, NULL, ANYTHING, "", MO_METHOD_BOUNDED, {0}},
    {"z1-z2", MO_METHOD_LUMPED, 0.9, mo_factor_itself, ANYTHING, "", MO_METHOD_BOUNDED, {0}},
};
enum { METHODS = sizeof methods / sizeof methods[0] };

static const mo_method *find(const char *name)
{
    for (int32_t k = 0; k < METHODS; k++)
        if (strcmp(name, methods[k].name) == 0) return &methods[k];
    return NULL;
}

mo_status mo_method_check(const char *name, mo_route route, mo_error *err)
{
    char list[300] = "";
    if (name[0] == 0) return MO_OK;
    if (find(name) && route == MO_ROUTE_PAPER) return MO_OK;
    if (find(name))
        return mo_fail(err, MO_ERROR_INPUT,
                       "solver: method \"%s\" is one of route \"paper\"; on route \"fast\" leave it out", name);
    for (int32_t k = 0; k < METHODS; k++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s\"%s\"", k ? ", " : "", methods[k].name);
    }
    return mo_fail(err, MO_ERROR_INPUT, "solver: unknown method \"%.20s\"; route \"paper\" has %s", name, list);
}

mo_status mo_method_begin(mo_system *s, const mo_solver_def *solver, mo_error *err)
{
    MO_TRY(mo_method_check(solver->method, solver->route, err));
    s->method = NULL;
    if (solver->route != MO_ROUTE_PAPER || !s->nodes.count) return MO_OK;
    const mo_method *method = solver->method[0] ? find(solver->method) : &methods[0];
    const mo_node_law *law = &s->nodes.nodes->law;
    bool known = method->nodes == MO_METHOD_EXACT || (law->mass && (method->factor != mo_factor_natural || law->modes));
    if (!known && !solver->method[0]) return MO_OK; // as delassus
    if (!known)
        return mo_fail(err, MO_ERROR_INPUT, "solver: method \"%s\" needs nodes whose masses and elements are known",
                       method->name);
    mo_status status = MO_OK;
    if (method->nodes == MO_METHOD_LUMPED) status = mo_nodes_lump(&s->nodes, method->share);
    if (method->nodes == MO_METHOD_ITERATIVE)
        status = mo_nodes_iterate(&s->nodes, 0.1 * solver->tolerance, solver->max_iterations);
    if (status != MO_OK) return mo_fail_memory(err);
    s->method = method;
    return MO_OK;
}

void mo_method_end(mo_system *s, mo_system_info *info)
{
    if (!s->method) return;
    const mo_node_guise *guise = s->nodes.nodes->guise;
    if (guise) info->inner_iterations += guise->iterations;
    if (s->method->nodes == MO_METHOD_ITERATIVE && !s->method->form.solve) { // Newton's method alone was the solve
        info->solve = guise->last;
        info->solve.iterations = (int32_t)guise->iterations;
    }
    mo_block_destroy(s->block[MO_BLOCK_ELASTIC]);
    s->block[MO_BLOCK_ELASTIC] = NULL;
    mo_nodes_bare(&s->nodes);
    s->method = NULL;
}

mo_status mo_method_renew(mo_system *s, mo_error *err)
{
    if (!s->method || !s->method->factor) return MO_OK;
    return mo_elastic_block_renew(s, s->method->factor) == MO_OK ? MO_OK : mo_fail_memory(err);
}

mo_status mo_method_admits(const mo_system *s, uint32_t set, mo_error *err)
{
    for (int32_t k = 0; s->method && k < MO_BLOCK_KINDS; k++)
        if (mo_set_has(s, set, k) && !(s->method->kinds >> k & 1))
            return mo_fail(err, MO_ERROR_INPUT, "solver: method \"%s\" is for %s", s->method->name, s->method->knows);
    return MO_OK;
}
