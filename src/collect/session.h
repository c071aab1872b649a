/* session.h - what the open session tells the other parts of the collector.
 *
 * Recording functions look at ascope_recording only. These are for what happens once a session: filters of domains, the
 * devices' switches.
 */
#ifndef ASCOPE_COLLECT_SESSION_H
#define ASCOPE_COLLECT_SESSION_H

#include "ascope/schedule.h"

/* Checked, with the defaults filled in; live until the session ends. NULL: no session is open. */
const struct ascope_options *session_options(void);

/* For profiler_info.json: the schedule that drives this session. Before it starts. Without a plan: some function. */
void session_schedule(struct ascope_session *s, const struct ascope_schedule *plan);

#endif
