/* SPDX-License-Identifier: Apache-2.0 */
/* copy_checks.h - checks of copies between memories that nothing overlaps. */
#ifndef ASCOPE_ANSWERS_COPY_CHECKS_H
#define ASCOPE_ANSWERS_COPY_CHECKS_H

#include "answers/advise.h"

enum check_state check_pageable(const struct advise_subject *s, struct finding *out);
enum check_state check_offload(const struct advise_subject *s, struct finding *out);
enum check_state check_copies(const struct advise_subject *s, struct finding *out);

#endif
