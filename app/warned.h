// The warnings of a run as the command tells them: each kind once when it first happens, all of them at the end.
#ifndef WARNED_H
#define WARNED_H

#include "progress.h"

typedef struct warned {
    bool kind[MO_WARNING_COUNT]; // told already
} warned;

warned warned_begin(const mo_sim *sim); // what a resumed run has told before is not told again
void warned_step(warned *told, const mo_sim *sim, progress *bar);
void warned_tell(const mo_sim *sim, progress *bar); // the summary; nothing if there are none
bool warned_any(const mo_sim *sim);

#endif
