/* SPDX-License-Identifier: Apache-2.0 */
/* places.h - the places of device work on the timeline.
 *
 * A place is a process (pid) and a track in it (tid). Tasks are on the tracks of their streams, collectives on those of their
 * groups.
 */
#ifndef ASCOPE_EXPORT_PLACES_H
#define ASCOPE_EXPORT_PLACES_H

#include "base/keys.h"
#include "profile/profile.h"

/* The order of processes on the timeline, and a part of their pids. */
enum { PLACE_MARKS = 6, PLACE_HARDWARE = 14, PLACE_COMM = 16, PLACE_COMM_GENERIC = 17 };

enum { TRACE_HOST = 31 }; /* the device part of a host process' pid */
static inline uint32_t trace_pid(uint32_t process, unsigned sort_index, unsigned device)
{
    return process << 10 | sort_index << 5 | device;
}

/* The row of each physical stream, of which there are 65536: that of its logic stream, when it belongs to one. NULL: no memory. */
uint32_t *stream_rows(const struct profile *p, struct arena *mem);

/* The communicators of a device, with the rows that they take: first their operators, then their planes. */
struct comm_group {
    name_id name;
    int64_t first_row;
    int32_t most_plane; /* -1: none is shown */
    bool has_plane[64];
};
struct comm_groups {
    struct keys names; /* place of a group in `at`, by its name */
    LIST(struct comm_group) at;
};

/* Those of the tasks that are wanted (NULL: all), in rows from *next_row on. Memory is short: arena_failed(mem). */
struct comm_groups comm_groups_find(const struct profile *p, const struct device *d, const bool *is_wanted,
                                    int64_t *next_row, struct arena *mem);
struct comm_group *comm_group_of(struct comm_groups *g, name_id name, struct arena *mem); /* NULL: no memory */

#endif
