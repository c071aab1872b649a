/* SPDX-License-Identifier: Apache-2.0 */
/* findings.h - filling a finding: its sentence, and its evidence, of which the largest are kept. */
#ifndef ASCOPE_ANSWERS_FINDINGS_H
#define ASCOPE_ANSWERS_FINDINGS_H

#include "answers/advise.h"

void finding_say(const struct advise_subject *s, struct finding *out, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* `place` may be NULL. */
void finding_add(const struct advise_subject *s, struct finding *out, double ns, const struct spent_place *place,
                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Adds up what the mean step spent on some kinds (bits), as gain and as evidence. */
void finding_of_kinds(const struct advise_subject *s, struct finding *out, unsigned kinds);

#endif
