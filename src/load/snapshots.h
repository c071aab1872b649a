/* SPDX-License-Identifier: Apache-2.0 */
/* snapshots.h - loads snapshots of /proc into tables. */
#ifndef ASCOPE_LOAD_SNAPSHOTS_H
#define ASCOPE_LOAD_SNAPSHOTS_H

#include "load/usage_load.h"

bool snapshots_load(struct profile *p, struct source *s, struct usage *u, struct error *e); /* blocks of /proc text */

#endif
