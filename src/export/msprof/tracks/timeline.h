/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.h - all processes of a collection on one timeline. */
#ifndef ASCOPE_EXPORT_MSPROF_TRACKS_TIMELINE_H
#define ASCOPE_EXPORT_MSPROF_TRACKS_TIMELINE_H

#include "export/export.h"

/* Draws the tracks of all processes that the options select, or with own_file those that have a file of this name. `x`
 * is a request after scope_resolve(). False: e has the reason. */
bool timeline_draw(const struct export *x, const char *own_file, struct trace *t, struct error *e);

#endif
