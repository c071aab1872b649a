/* SPDX-License-Identifier: Apache-2.0 */
/* comm_checks.h - checks of what collectives moved over links: sizes, alignment, bandwidth, retransmissions. */
#ifndef ASCOPE_ANSWERS_COMM_CHECKS_H
#define ASCOPE_ANSWERS_COMM_CHECKS_H

#include "answers/advise.h"

enum check_state check_small_packets(const struct advise_subject *s, struct finding *out);
enum check_state check_byte_alignment(const struct advise_subject *s, struct finding *out);
enum check_state check_slow_link(const struct advise_subject *s, struct finding *out);
enum check_state check_retransmission(const struct advise_subject *s, struct finding *out);

#endif
