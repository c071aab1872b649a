/* SPDX-License-Identifier: Apache-2.0 */
/* profile_analyse.h - the analysis of one PROF directory: all steps, in order. */
#ifndef ASCOPE_ANALYSE_PROFILE_ANALYSE_H
#define ASCOPE_ANALYSE_PROFILE_ANALYSE_H

#include "profile/profile.h"

/* False only without memory. Devices are independent of each other and share the threads. */
bool profile_analyse(struct profile *p, unsigned n_threads, struct error *e);
uint64_t profile_analyse_steps(const struct profile *p); /* that it will count by progress_work() */

#endif
