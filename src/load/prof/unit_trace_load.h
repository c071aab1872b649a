/* SPDX-License-Identifier: Apache-2.0 */
/* unit_trace_load.h - loads the instruction traces of the cores of a device. */
#ifndef ASCOPE_LOAD_PROF_UNIT_TRACE_LOAD_H
#define ASCOPE_LOAD_PROF_UNIT_TRACE_LOAD_H

#include "profile/profile.h"

bool unit_trace_load(struct device *d, struct error *e);

#endif
