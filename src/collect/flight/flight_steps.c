/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/flight/flight_parts.h"

#include <string.h>

uint64_t flight_steps_median(const struct flight_steps *s)
{
    return s->n < FLIGHT_STEPS_LEAST ? 0 : s->sorted[s->n / 2];
}

/* The position of a duration in the sorted ones, or where it would be inserted. */
static uint32_t place_of(const struct flight_steps *s, uint64_t ns)
{
    uint32_t at = 0;
    while (at < s->n && s->sorted[at] < ns)
        at++;
    return at;
}

void flight_steps_add(struct flight_steps *s, uint64_t ns)
{
    if (s->n == FLIGHT_STEPS) {
        const uint32_t oldest = place_of(s, s->ns[s->next]);
        memmove(s->sorted + oldest, s->sorted + oldest + 1, (--s->n - oldest) * sizeof *s->sorted);
    }
    const uint32_t at = place_of(s, ns);
    memmove(s->sorted + at + 1, s->sorted + at, (s->n++ - at) * sizeof *s->sorted);
    s->sorted[at] = ns;
    s->ns[s->next] = ns;
    s->next = (s->next + 1) % FLIGHT_STEPS;
}
