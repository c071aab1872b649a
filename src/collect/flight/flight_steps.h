/* SPDX-License-Identifier: Apache-2.0 */
/* flight_steps.h - which step is slow: longer than a multiple of the median of the last hundred. */
#ifndef ASCOPE_COLLECT_FLIGHT_FLIGHT_STEPS_H
#define ASCOPE_COLLECT_FLIGHT_FLIGHT_STEPS_H

#include <stdbool.h>
#include <stdint.h>

enum { FLIGHT_STEPS = 100, FLIGHT_STEPS_LEAST = 10 };

struct flight_steps { /* all zeros: none yet */
    uint64_t ns[FLIGHT_STEPS], sorted[FLIGHT_STEPS];
    uint32_t n, next;
};

uint64_t flight_steps_median(const struct flight_steps *s); /* 0: fewer than FLIGHT_STEPS_LEAST */
void flight_steps_add(struct flight_steps *s, uint64_t ns);

#endif
