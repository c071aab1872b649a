/* session.h - what belongs together in a *_ascend_pt directory: operators and what they started on the device, and steps. */
#ifndef ASCOPE_ANALYSE_SESSION_H
#define ASCOPE_ANALYSE_SESSION_H

#include "profile/session.h"

/* After session_load(): analyses the device's profile, then fills kernels, tree and steps. */
bool session_analyse(struct session *s, unsigned n_threads, struct error *e);

/* Its device is a simulated one: times of the device are of use for trying things out only. */
bool session_is_simulated(const struct session *s);

#endif
