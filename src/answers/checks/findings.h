/* SPDX-License-Identifier: Apache-2.0 */
/* findings.h - filling a finding: its sentence, and its evidence, of which the largest are kept. */
#ifndef ASCOPE_ANSWERS_CHECKS_FINDINGS_H
#define ASCOPE_ANSWERS_CHECKS_FINDINGS_H

#include "answers/checks/advise.h"

void finding_say(const struct checked_rank *s, struct finding *out, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* `place` may be NULL. */
void finding_add(const struct checked_rank *s, struct finding *out, double ns, const struct spent_place *place,
                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Time that the finding loses in a step (a row of the series): run_check() makes the gain of the sum. False: no memory. */
bool finding_lose(const struct checked_rank *s, struct finding *out, uint32_t step, double ns);

/* Adds up what steps spent on some kinds (bits), as gain and as evidence. `is_of` chooses among them; NULL: all. */
void finding_of_kinds(const struct checked_rank *s, struct finding *out, unsigned kinds,
                      bool (*is_of)(const struct checked_rank *s, const struct spent *x));

#endif
