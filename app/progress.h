// How a run shows its progress on stderr: a bar for a terminal, plain lines for anything else.
#ifndef PROGRESS_H
#define PROGRESS_H

#include "monolith/monolith.h"

typedef struct progress {
    bool quiet, terminal, shown;
    int32_t first, frames; // frame at which this process started, frames of the run
    int64_t iterations;    // since the last frame
    int32_t steps;
    double difference;    // largest of the velocities since then, of verified steps
    double started, last; // wall seconds
} progress;

progress progress_begin(bool quiet, int32_t first, int32_t frames);
void progress_step(progress *p, const mo_stats *stats, int32_t frames_done); // after every step
// Any other work: the ETA goes behind the words.
void progress_show(progress *p, int32_t done, const char *format, ...) __attribute__((format(printf, 3, 4)));
void progress_clear(progress *p); // removes the bar, so that a message can be printed
void progress_note(progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
