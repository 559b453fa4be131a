// What --verify found in the steps of this process, told when it ends.
#ifndef VERIFICATION_H
#define VERIFICATION_H

#include "progress.h"

typedef struct verification {
    double tolerance;                   // of the solver
    int64_t steps, beyond, unconverged; // verified; differing by more than ten times it; without a good second solve
    int64_t worst, unsolved;            // step of the largest difference, step of the largest residual
    double velocity, pressure, contact; // largest differences
    double residual;                    // largest of second solves that did not converge
    int64_t iterations[2];              // of the steps' own solves, of the second ones
    double seconds[2];                  // wall
} verification;

void verification_step(verification *v, const mo_stats *stats); // after every step, verified or not
void verification_tell(const verification *v, progress *bar);   // nothing if none was verified

#endif
