/* SPDX-License-Identifier: Apache-2.0 */
/* launch_checks.h - checks of how the host launches work: whether it waits after each launch, waits in between, is too slow, or hangs once. */
#ifndef ASCOPE_ANSWERS_LAUNCH_CHECKS_H
#define ASCOPE_ANSWERS_LAUNCH_CHECKS_H

#include "answers/advise.h"

enum check_state check_launch_blocking(const struct advise_subject *s, struct finding *out);
enum check_state check_synchronisation(const struct advise_subject *s, struct finding *out);
enum check_state check_launch_bound(const struct advise_subject *s, struct finding *out);
enum check_state check_launch_outlier(const struct advise_subject *s, struct finding *out);

#endif
