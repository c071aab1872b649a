/* marks.h - what the user marked: on the host, and where a device saw it. */
#ifndef ASCOPE_ANALYSE_MARKS_H
#define ASCOPE_ANALYSE_MARKS_H

#include "profile/profile.h"

/* Joins the segments of long messages and puts the host's marks in order. False only without memory. */
bool marks_analyse(struct profile *p, struct error *e);

/* Fills d->steps.marks from the device's stamps. A mark that a device saw carries the id that the host gave it. */
bool device_marks_analyse(struct profile *p, struct device *d, struct error *e);

/* Marks have connection ids of their own, above those of calls. */
static const uint64_t MARK_WITHOUT_ID = 4000000000u;
static inline uint64_t mark_connection(uint64_t id)
{
    return MARK_WITHOUT_ID + 1 + id;
}

#endif
