/* SPDX-License-Identifier: Apache-2.0 */
/* prof_info.h - info.json, start and end of a PROF directory: the machine, its devices and clocks. */
#ifndef ASCOPE_COLLECT_DESCRIBE_PROF_INFO_H
#define ASCOPE_COLLECT_DESCRIBE_PROF_INFO_H

#include "collect/session/recorder_session.h"
#include "raw/chip.h"

bool info_begin(const struct ascope_session *s, struct error *e);
bool info_end(const struct ascope_session *s, struct error *e); /* and rewrites frequencies as measured */
double info_device_mhz(const struct session_device *d);         /* as well as it is known */

const struct chip *info_chip(
    const struct ascope_session *s); /* of the devices; one that stands for it where there are none */
bool info_is_simulated(const struct ascope_session *s);
void info_first_line(const char *path, char *text, size_t size); /* of a small file; "": none */

#endif
