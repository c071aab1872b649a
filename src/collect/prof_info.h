/* SPDX-License-Identifier: Apache-2.0 */
/* prof_info.h - info.json, start and end of a PROF directory: the machine, its devices and clocks. */
#ifndef ASCOPE_COLLECT_PROF_INFO_H
#define ASCOPE_COLLECT_PROF_INFO_H

#include "collect/recorder_session.h"

bool info_begin(const struct ascope_session *s, struct error *e);
bool info_end(const struct ascope_session *s, struct error *e); /* and rewrites frequencies as measured */
double info_device_mhz(const struct session_device *d);         /* as well as it is known */

#endif
