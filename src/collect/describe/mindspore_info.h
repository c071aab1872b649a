/* SPDX-License-Identifier: Apache-2.0 */
/* mindspore_info.h - profiler_info_{rank}.json of a collection of MindSpore: the parameters of its Profiler, rank,
 * device, versions.
 *
 * Each member has a row: its value follows from the options of the session, unless the front end has said it
 * (framework_info).
 */
#ifndef ASCOPE_COLLECT_DESCRIBE_MINDSPORE_INFO_H
#define ASCOPE_COLLECT_DESCRIBE_MINDSPORE_INFO_H

#include "collect/session/recorder_session.h"

bool mindspore_info_write(const struct ascope_session *s, struct error *e);

#endif
