// Does a run fit into this machine? Asked before it starts, because the system would kill it after minutes.
#ifndef MEMORY_H
#define MEMORY_H

#include "monolith/monolith.h"

int64_t memory_free(void); // bytes that this process may still get, by the machine, its container and its limits

// The most memory that a scene could need, from its domain and meshes alone; far above what it does need.
int64_t memory_bound(const mo_sim_def *def);

#endif
