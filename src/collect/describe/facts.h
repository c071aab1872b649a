/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - ascope.json: what the recorder says of a recording. */
#ifndef ASCOPE_COLLECT_DESCRIBE_FACTS_H
#define ASCOPE_COLLECT_DESCRIBE_FACTS_H

#include "collect/session/recorder_session.h"

bool facts_write(const struct ascope_session *s, struct error *e);
/* The last time: all files of the collection are durable before it says that the recording has ended, and so does it. */
bool facts_end(const struct ascope_session *s, struct error *e);
void facts_remove(const struct ascope_session *s);

#endif
