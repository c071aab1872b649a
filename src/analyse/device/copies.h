/* SPDX-License-Identifier: Apache-2.0 */
/* copies.h - size and direction of memory copies. */
#ifndef ASCOPE_ANALYSE_DEVICE_COPIES_H
#define ASCOPE_ANALYSE_DEVICE_COPIES_H

#include "profile/profile.h"

/* Tasks of a device that may be copies, and the columns to fill. */
struct copying {
    size_t n;
    const uint32_t *host;   /* rows of host_tasks, or NO_ROW */
    const uint16_t *stream; /* as the device knows it */
    uint64_t *bytes;
    uint16_t *kind; /* unchanged for tasks that are not copies */
};
bool copies_measure(const struct profile *p, const struct device *d, const struct copying *c); /* false: no memory */

/* After tasks_analyse(): fills tasks.copy_bytes and copy_kind of MEMCPY_ASYNC tasks. */
bool copies_analyse(struct profile *p, struct device *d, struct error *e);

#endif
