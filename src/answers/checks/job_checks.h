/* SPDX-License-Identifier: Apache-2.0 */
/* job_checks.h - checks that compare the ranks of a job. */
#ifndef ASCOPE_ANSWERS_CHECKS_JOB_CHECKS_H
#define ASCOPE_ANSWERS_CHECKS_JOB_CHECKS_H

#include "answers/checks/advise.h"

/* What these checks need of a rank, when it is looked at. False: no memory. */
bool host_speed_find(struct host_speed *out, const struct advise_subject *s);

/* False: no memory. */
bool check_exposed_communication(struct advice *out, const struct advise_rank *rank, size_t n, struct arena *mem);
bool check_slow_host(struct advice *out, const struct advise_rank *rank, size_t n, struct arena *mem);

/* The checks of a rank run before the other ranks are read: takes off comm_ns what `rank.waits` says by now. Before
 * advise_job(). False: no memory. */
bool advise_take_waits(struct advise_rank *r, struct arena *mem);

#endif
