/* SPDX-License-Identifier: Apache-2.0 */
/* stall_checks.h - checks of what the host does while the device has nothing to do: Python, compilation, checkpoints, pauses. */
#ifndef ASCOPE_ANSWERS_STALL_CHECKS_H
#define ASCOPE_ANSWERS_STALL_CHECKS_H

#include "answers/advise.h"

enum check_state check_slow_python(const struct advise_subject *s, struct finding *out);
enum check_state check_recompilation(const struct advise_subject *s, struct finding *out);
enum check_state check_checkpoint(const struct advise_subject *s, struct finding *out);
enum check_state check_unrecorded(const struct advise_subject *s, struct finding *out);
enum check_state check_gil(const struct advise_subject *s, struct finding *out);
enum check_state check_host_starved(const struct advise_subject *s, struct finding *out);

#endif
