/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.h - all processes of a collection on one timeline. */
#ifndef ASCOPE_EXPORT_MSPROF_TIMELINE_H
#define ASCOPE_EXPORT_MSPROF_TIMELINE_H

#include "export/export.h"

/* Of the processes that the options ask for all tracks, or with own_file those of that file of their own. `x` is as
 * scope_resolve() leaves it. Slices go where t says. */
bool timeline_draw(const struct export *x, const char *own_file, struct trace *t, struct error *e);

#endif
