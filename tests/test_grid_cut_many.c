// Cut cells of a thousand random sheets.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cut_oracles.h"

static void rows_are_exact(void **state)
{
    (void)state;
    check_exactness(1000);
}
static void sides_are_what_a_flood_finds(void **state)
{
    (void)state;
    check_floods(1000);
}
static void closed_sheets_are_tight(void **state)
{
    (void)state;
    check_tightness(300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_exact), cmocka_unit_test(sides_are_what_a_flood_finds),
                                       cmocka_unit_test(closed_sheets_are_tight)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
