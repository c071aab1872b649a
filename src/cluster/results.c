/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/results.h"

#include <stdarg.h>
#include <stdio.h>

bool results_add(struct results *r, const struct result_table *t)
{
    struct result_table *new = list_add(&r->tables, r->mem);
    if (!new)
        return false;
    *new = *t;
    return true;
}

bool results_note(struct results *r, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const char **note = n < 0 ? NULL : list_add(&r->notes, r->mem);
    if (!note)
        return false;
    const size_t len = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    *note = arena_text(r->mem, text, len);
    return *note != NULL;
}
