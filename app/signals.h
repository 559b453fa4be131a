// SIGINT, SIGTERM and SIGHUP: how the commands that write files end.
//
// The first signal asks to stop, and the program ends by itself as soon as it looks. Long work that never looks (making
// meshes, filling liquids, tracing a picture) is cut off 0.7 s later, with exit code 130: files are complete or absent
// at any moment, so nothing is lost but that work. Only a step of a simulation, and the checkpoint behind it, may take
// as long as they need. A second signal ends the program at once.
#ifndef SIGNALS_H
#define SIGNALS_H

#include <stdbool.h>

void signals_catch(bool quiet);         // from now on
bool signals_stop(void);                // somebody asked to stop
void signals_patient(bool patient);     // true: a step is under way, and its end is waited for
void signals_remove(const char *empty); // a directory that goes if the program is cut off and it is empty; NULL: none

#endif
