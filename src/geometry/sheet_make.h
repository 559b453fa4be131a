// Functions that the makers of sheets share.
#ifndef MO_SHEET_MAKE_H
#define MO_SHEET_MAKE_H

#include "geometry/sheet.h"

mo_status mo_sheet_reserve(int64_t vertices, int64_t triangles, mo_sheet *out, mo_error *err);
mo_status mo_sheet_join(mo_sheet *s, double tolerance, mo_error *err); // as mo_sheet_weld does

#endif
