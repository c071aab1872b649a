/* SPDX-License-Identifier: Apache-2.0 */
#include "export/pages/export_pages.h"

#include "base/files/out.h"

/* Writes the frames of a stack from the outermost one on. Recorded stacks begin with the innermost, so they are read
 * from the end. */
static void put_stack(struct out *o, const char *stack, size_t len)
{
    for (size_t end = len + 1; end > 0;) {
        size_t from = end - 1;
        while (from > 0 && stack[from - 1] != ';')
            from--;
        struct stack_part part;
        size_t at = from;
        if (stack_next(stack, end - 1, &at, &part))
            out_bytes(o, part.text, part.len);
        end = from;
        if (end > 0)
            out_lit(o, ";");
    }
}

bool stacks_write(const struct collection *s, enum time_metric metric, const char *path, uint64_t *n_lines,
                  struct error *e)
{
    const struct framework_ops *ops = &s->framework.ops;
    const struct names *names = s->profile.names;
    struct out o;
    *n_lines = 0;
    for (uint32_t at = 0; at < ops->n; at++) {
        const name_id stack = ops->stack[s->tree.by_begin[at]];
        const double us = stack == NO_NAME || stack == NAME_EMPTY ? 0 : op_self_us(s, metric, at);
        if (!(us > 0))
            continue;
        if ((*n_lines)++ == 0 && path && !out_open_named(&o, path, e))
            return false;
        if (!path)
            continue;
        if (*n_lines > 1)
            out_lit(&o, "\n");
        put_stack(&o, names_text(names, stack), names_len(names, stack));
        out_lit(&o, " ");
        out_u64(&o, us < 0x1p63 ? (uint64_t)us : UINT64_MAX);
    }
    return *n_lines == 0 || !path || out_close(&o, e);
}
