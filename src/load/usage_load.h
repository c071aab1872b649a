/* SPDX-License-Identifier: Apache-2.0 */
/* usage_load.h - loads samples of an operating system, the host's or a device's, into tables. */
#ifndef ASCOPE_LOAD_USAGE_LOAD_H
#define ASCOPE_LOAD_USAGE_LOAD_H

#include "profile/profile.h"

/* False only without memory: lines that do not follow their grammar are counted in s->lost and stepped over. */
bool usage_load(struct profile *p, struct source *s, struct usage *u, struct error *e);

#endif
