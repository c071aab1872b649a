/* SPDX-License-Identifier: Apache-2.0 */
/* device_checks.h - checks of what the cores of a device did: their clock, AI CPU operators, block numbers. */
#ifndef ASCOPE_ANSWERS_DEVICE_CHECKS_H
#define ASCOPE_ANSWERS_DEVICE_CHECKS_H

#include "answers/advise.h"

enum check_state check_frequency(const struct advise_subject *s, struct finding *out);
enum check_state check_ai_cpu(const struct advise_subject *s, struct finding *out);
enum check_state check_block_dim(const struct advise_subject *s, struct finding *out);

#endif
