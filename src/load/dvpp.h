/* SPDX-License-Identifier: Apache-2.0 */
/* dvpp.h - loads samples of the DVPP engines into tables. */
#ifndef ASCOPE_LOAD_DVPP_H
#define ASCOPE_LOAD_DVPP_H

#include "load/usage_load.h"

bool dvpp_load(struct profile *p, struct source *s, struct usage *u, struct error *e);

#endif
