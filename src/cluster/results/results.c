/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/results/results.h"

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

static const char *line_of(struct arena *mem, const char *fmt, va_list args)
{
    char text[1024];
    const int n = vsnprintf(text, sizeof text, fmt, args);
    return n < 0 ? NULL : arena_text(mem, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

bool results_note(struct results *r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const char *text = line_of(r->mem, fmt, args), **note = text ? list_add(&r->notes, r->mem) : NULL;
    va_end(args);
    if (note)
        *note = text;
    return note != NULL;
}

bool results_finding(struct results *r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const char *text = line_of(r->mem, fmt, args), **finding = text ? list_add(&r->findings, r->mem) : NULL;
    va_end(args);
    if (finding)
        *finding = text;
    return finding != NULL;
}
