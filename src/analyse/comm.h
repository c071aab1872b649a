/* comm.h - collectives as they ran: their small tasks found on the device, gathered into operators. */
#ifndef ASCOPE_ANALYSE_COMM_H
#define ASCOPE_ANALYSE_COMM_H

#include "profile/profile.h"

/* After tasks_analyse(). */
bool comm_analyse(struct profile *p, struct device *d, struct error *e);

/* Fills the bandwidth of all tasks. */
bool comm_bandwidths(const struct profile *p, struct communication *c, struct arena *mem);

#endif
