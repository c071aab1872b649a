/* copies.h - how much each memory copy moved, and where to. */
#ifndef ASCOPE_ANALYSE_COPIES_H
#define ASCOPE_ANALYSE_COPIES_H

#include "profile/profile.h"

/* After tasks_analyse(): fills tasks.copy_bytes and copy_kind of MEMCPY_ASYNC tasks. */
bool copies_analyse(struct profile *p, struct device *d, struct error *e);

#endif
