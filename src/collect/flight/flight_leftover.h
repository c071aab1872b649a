/* SPDX-License-Identifier: Apache-2.0 */
/* flight_leftover.h - the history that a flight recorder left when its program was killed, for recover.h.
 *
 * It is beside the rings, under their name with another suffix. Only what the last commit of the rings covers is used.
 */
#ifndef ASCOPE_COLLECT_FLIGHT_FLIGHT_LEFTOVER_H
#define ASCOPE_COLLECT_FLIGHT_FLIGHT_LEFTOVER_H

#include <jansson.h>

#include "collect/flight/flight_history.h"
#include "collect/ring/rings_left.h"

struct flight_leftover {
    struct history history;
    int beside; /* the folder of the rings; stays the caller's */
    int dir;    /* -1: not open */
    uint64_t last_ns;
    char name[NAME_MAX + 1], path[PATH_MAX];
};

/* The last `last_ns` before the program was killed; 0: all that it was to keep. */
bool leftover_open(struct flight_leftover *l, int beside, const char *rings_path, uid_t owner,
                   const struct rings_left *left, uint64_t last_ns, struct error *e);
/* The member "flight" of ascope.json, instead of the recorder's. */
json_t *leftover_facts(const struct flight_leftover *l, const json_t *was);
void leftover_remove(const struct flight_leftover *l); /* removes its files, and no others */
void leftover_close(struct flight_leftover *l);        /* fine when it is not open */

#endif
