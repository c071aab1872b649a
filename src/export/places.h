/* SPDX-License-Identifier: Apache-2.0 */
/* places.h - the places of device work on the timeline.
 *
 * A place is a process (pid) and a track in it (tid). Tasks are on the tracks of their streams, collectives on those of
 * their groups.
 */
#ifndef ASCOPE_EXPORT_PLACES_H
#define ASCOPE_EXPORT_PLACES_H

#include "base/memory/keys.h"
#include "profile/profile.h"

/* The order of processes on the timeline, and a part of their pids. */
enum { PLACE_MARKS = 6, PLACE_CANN = 7, PLACE_HARDWARE = 14, PLACE_COMM = 16, PLACE_COMM_GENERIC = 17 };

enum { TRACE_HOST = 31 }; /* the device part of a host process' pid */
static inline uint32_t trace_pid(uint32_t process, unsigned sort_index, unsigned device)
{
    return process << 10 | sort_index << 5 | device;
}

/* The track of each of the 65536 physical streams: the number of its logic stream if it belongs to one, else its own.
 * NULL: no memory. */
uint32_t *stream_rows(const struct profile *p, struct arena *mem);

/* The communicators of a device with their tracks: one for its collectives, followed by one for each plane. */
struct comm_group {
    name_id name;
    int64_t first_row;  /* tid of the track of its collectives */
    int32_t most_plane; /* the highest plane that is shown; -1: none */
    bool has_plane[64];
};
struct comm_groups {
    struct keys names; /* gives the index of a group in `at` by its name */
    LIST(struct comm_group) at;
};

/* The groups of those tasks for which is_wanted is true (NULL: all of them), with tracks from *next_row on, which is
 * advanced. Out of memory: arena_failed(mem). */
struct comm_groups comm_groups_find(const struct profile *p, const struct device *d, const bool *is_wanted,
                                    int64_t *next_row, struct arena *mem);
/* The group of a name, added without a track if it is new. Lent until the next one is added; NULL: no memory. */
struct comm_group *comm_group_of(struct comm_groups *g, name_id name, struct arena *mem);

#endif
