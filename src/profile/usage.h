/* usage.h - how busy an operating system was, the host's or a device's: CPUs, memory, disk, network, calls. */
#ifndef ASCOPE_PROFILE_USAGE_H
#define ASCOPE_PROFILE_USAGE_H

struct usage {
    int placeholder;
};

#endif
