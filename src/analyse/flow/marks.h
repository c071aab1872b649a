/* SPDX-License-Identifier: Apache-2.0 */
/* marks.h - marks of the user: on the host, and on a device. */
#ifndef ASCOPE_ANALYSE_FLOW_MARKS_H
#define ASCOPE_ANALYSE_FLOW_MARKS_H

#include "profile/profile.h"

/* Joins the segments of long messages and puts the host's marks in order. False only without memory. */
bool marks_analyse(struct profile *p, struct error *e);

/* Fills d->steps.marks from the device's stamps. A stamp has the id of the host's mark. If several marks have this id,
 * it belongs to the latest one before it, preferably of a thread that launches tasks on this device. */
bool device_marks_analyse(struct profile *p, struct device *d, struct error *e);

/* A unique id of a mark: ids have 32 bits; the bits above them count repetitions. */
static inline uint64_t mark_unique_id(const struct marks *m, size_t row)
{
    return m->id[row] + ((uint64_t)m->repeat[row] << 32);
}

/* Marks have connection ids of their own, above those of calls. */
static const uint64_t MARK_WITHOUT_ID = 4000000000u;
static inline uint64_t mark_connection(uint64_t unique_id)
{
    return MARK_WITHOUT_ID + 1 + unique_id;
}

/* The same for a mark of a device. */
static inline uint64_t seen_unique_id(const struct profile *p, const struct device_marks *seen, size_t row)
{
    const uint32_t host = seen->host[row];
    return host == NO_ROW ? seen->id[row] : mark_unique_id(&p->host.records.marks, host);
}

#endif
