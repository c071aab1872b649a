/* SPDX-License-Identifier: Apache-2.0 */
/* flight_save.h - one save of a flight recorder: the last seconds of its history become a collection.
 *
 * It is made inside the recorder's home and renamed when it is complete: readers never see a part of it.
 */
#ifndef ASCOPE_COLLECT_FLIGHT_FLIGHT_SAVE_H
#define ASCOPE_COLLECT_FLIGHT_FLIGHT_SAVE_H

#include "collect/flight/flight_clocks.h"

#define FLIGHT_SAVING "saving" /* the folder of the home */

struct flight_saving {
    const struct ascope_session *home;
    struct flight_clocks *clocks;
    uint64_t last_ns;
    const char *trigger;
    uint64_t n_skipped; /* triggers since the last save that came too early after another */
};
bool flight_save(const struct flight_saving *of, char path[PATH_MAX], struct error *e);

#endif
