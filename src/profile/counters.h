/* counters.h - what the samplers of a device measured: memory, links, power, cores. */
#ifndef ASCOPE_PROFILE_COUNTERS_H
#define ASCOPE_PROFILE_COUNTERS_H

struct counters {
    int placeholder;
};

#endif
