/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_checks.h - checks of the kernels themselves: what units they use, what they are for, how fast all of them run. */
#ifndef ASCOPE_ANSWERS_KERNEL_CHECKS_H
#define ASCOPE_ANSWERS_KERNEL_CHECKS_H

#include "answers/advise.h"

/* Fills pays_ns: by how much the step gets shorter if a kernel takes no time. That is nothing if the device has to wait for the host after it
 * anyway: what the host launches next does not begin earlier. False: no memory. */
bool kernel_pays_find(struct advise_subject *s);

enum check_state check_tensor_cores(const struct advise_subject *s, struct finding *out);
enum check_state check_optimizer(const struct advise_subject *s, struct finding *out);
enum check_state check_conversions(const struct advise_subject *s, struct finding *out);
enum check_state check_waves(const struct advise_subject *s, struct finding *out);
enum check_state check_throttling(const struct advise_subject *s, struct finding *out);

#endif
