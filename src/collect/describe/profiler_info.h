/* SPDX-License-Identifier: Apache-2.0 */
/* profiler_info.h - profiler_info.json: the options and clocks of a collection of PyTorch. */
#ifndef ASCOPE_COLLECT_DESCRIBE_PROFILER_INFO_H
#define ASCOPE_COLLECT_DESCRIBE_PROFILER_INFO_H

#include "collect/session/recorder_session.h"

bool profiler_info_write(const struct ascope_session *s, struct error *e);

#endif
