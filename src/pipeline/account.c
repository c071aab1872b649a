/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/account.h"

#include <string.h>
#include <time.h>

void account_problem(struct account *a, const char *text)
{
    const char **slot = list_add(&a->problems, a->mem);
    if (slot)
        *slot = text ? arena_text(a->mem, text, strlen(text)) : NULL;
    else
        a->n_omitted++;
}

double account_clock_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

bool account_is_lossy(const struct account *a, const struct losses *lost)
{
    return a->problems.n + a->n_omitted > 0 || losses_damage(lost) > 0;
}
