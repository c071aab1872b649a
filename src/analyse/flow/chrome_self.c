/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/flow/flows.h"

#include "base/text/stamp.h"

static int64_t chrome_self_end_of(const struct chrome_slices *s, uint32_t slice)
{
    return stamp_add(s->begin_ns[slice], s->dur_ns[slice]);
}

/* Ends the innermost open slice, at until_ns at the latest. Returns the one around it. */
static uint32_t slice_end(int64_t *self_ns, const uint32_t *parent, const struct chrome_slices *s,
                          const struct chrome_rows *rows, uint32_t slice, int64_t until_ns)
{
    const int64_t end_ns = chrome_self_end_of(s, slice) < until_ns ? chrome_self_end_of(s, slice) : until_ns;
    const int64_t low_ns = s->begin_ns[slice] > rows->begin_ns ? s->begin_ns[slice] : rows->begin_ns;
    const int64_t high_ns = end_ns < rows->end_ns ? end_ns : rows->end_ns;
    const int64_t in_ns = high_ns > low_ns ? wrap_sub(high_ns, low_ns) : 0;
    const uint32_t around = parent[slice - rows->first];
    self_ns[slice - rows->first] = wrap_add(self_ns[slice - rows->first], in_ns);
    if (around != CHROME_NO_PARENT)
        self_ns[around - rows->first] = wrap_sub(self_ns[around - rows->first], in_ns);
    return around;
}

void chrome_self(int64_t *self_ns, uint32_t *parent, const struct chrome_slices *s, const struct chrome_rows *rows)
{
    uint32_t open = CHROME_NO_PARENT; /* the innermost one; `parent` leads to those around it */
    for (size_t i = rows->first; i < rows->end; i++) {
        const uint32_t slice = (uint32_t)i;
        const int64_t begin_ns = s->begin_ns[slice], end_ns = chrome_self_end_of(s, slice);
        const bool counts = !rows->counts || rows->counts[i - rows->first];
        self_ns[i - rows->first] = 0;
        while (open != CHROME_NO_PARENT &&
               (s->track[open] != s->track[slice] || chrome_self_end_of(s, open) <= begin_ns))
            open = slice_end(self_ns, parent, s, rows, open, INT64_MAX);
        while (counts && open != CHROME_NO_PARENT && chrome_self_end_of(s, open) < end_ns)
            open = slice_end(self_ns, parent, s, rows, open, begin_ns);
        uint32_t around = open;
        while (around != CHROME_NO_PARENT && chrome_self_end_of(s, around) < end_ns)
            around = parent[around - rows->first];
        parent[i - rows->first] = around;
        if (counts)
            open = slice;
    }
    while (open != CHROME_NO_PARENT)
        open = slice_end(self_ns, parent, s, rows, open, INT64_MAX);
}
