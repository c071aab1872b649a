/* SPDX-License-Identifier: Apache-2.0 */
/* waiting_checks.h - checks of what the device waits for on the host. */
#ifndef ASCOPE_ANSWERS_WAITING_CHECKS_H
#define ASCOPE_ANSWERS_WAITING_CHECKS_H

#include "answers/advise.h"

enum check_state check_gc(const struct advise_subject *s, struct finding *out);
enum check_state check_data_loader(const struct advise_subject *s, struct finding *out);
enum check_state check_memory_operators(const struct advise_subject *s, struct finding *out);
enum check_state check_free_time(const struct advise_subject *s, struct finding *out);

#endif
