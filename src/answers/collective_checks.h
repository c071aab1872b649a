/* SPDX-License-Identifier: Apache-2.0 */
/* collective_checks.h - checks of which collectives a step has: many small ones, those of batch normalisation, gradients that are reduced too
 * often, one that hangs. They need no transfers, as those of comm_checks.h do.
 */
#ifndef ASCOPE_ANSWERS_COLLECTIVE_CHECKS_H
#define ASCOPE_ANSWERS_COLLECTIVE_CHECKS_H

#include "answers/advise.h"

enum check_state check_small_collectives(const struct advise_subject *s, struct finding *out);
enum check_state check_sync_batchnorm(const struct advise_subject *s, struct finding *out);
enum check_state check_no_sync(const struct advise_subject *s, struct finding *out);
enum check_state check_hanging(const struct advise_subject *s, struct finding *out);

/* By row of the series: the time of collectives in which nothing computes. Exchanges of two ranks (stages of a pipeline) do not count, nor
 * what is known to be waiting for other ranks. NULL: no memory. */
double *exposed_collectives(const struct advise_subject *s);

/* What a check of collectives answers where there are none: they do not apply to a job of one process; in a job of several there
 * was nothing to find; or they were not recorded. */
enum check_state state_without_collectives(const struct advise_subject *s);

#endif
