/* SPDX-License-Identifier: Apache-2.0 */
/* core_events.h - the groups of events that AI cores count, by chip: as collectors request them, and as in sample.json. */
#ifndef ASCOPE_RAW_CORE_EVENTS_H
#define ASCOPE_RAW_CORE_EVENTS_H

#include "raw/chip.h"

struct core_events {
    const char *name; /* "PipeUtilization" */
    unsigned on;      /* groups of chips */
    const char *cube_name, *cube_events;
    const char *vector_name, *vector_events;
};

const struct core_events *core_events_find(const char *name, const struct chip *chip); /* NULL: the chip has none */

/* Events of a real device, where they differ from those of the simulator. NULL: the chip has none. */
const struct core_events *core_events_asked(const char *name, const struct chip *chip);
const char *core_events_name(size_t i); /* of each group, from 0 on; NULL: there are no more */

#endif
