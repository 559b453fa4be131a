// Writes the look of a run's pictures into run.json and reads it back.
#ifndef MO_LOOK_H
#define MO_LOOK_H

#include "output/json.h"

struct cJSON;
void mo_look_record(mo_text *t, const mo_look_def *look);         // the member "look"
void mo_solid_look_record(mo_text *t, const mo_solid_look *look); // members of a solid's object
mo_look_def mo_look_parse(const struct cJSON *look);              // NULL or damaged values: the defaults
mo_solid_look mo_solid_look_parse(const struct cJSON *solid);

#endif
