/* SPDX-License-Identifier: Apache-2.0 */
/* hardware.h - the tasks of the devices on the timeline: the process Ascend Hardware. hardware_db.h has them in the
 * database. */
#ifndef ASCOPE_EXPORT_MSPROF_HARDWARE_H
#define ASCOPE_EXPORT_MSPROF_HARDWARE_H

#include "export/export.h"

bool hardware_track(const struct export *x, struct trace *t, struct error *e);

#endif
