/* SPDX-License-Identifier: Apache-2.0 */
#include "export/event_args.h"

#include <string.h>

void event_args_draw(const struct event_args *a, struct trace *t)
{
    trace_args(t);
    for (size_t i = 0; i < a->n; i++) {
        const struct cell c = a->at[i].value;
        switch (c.kind) {
        case CELL_UINT: trace_arg_uint(t, a->at[i].key, c.u); break;
        case CELL_NAME: trace_arg_name(t, a->at[i].key, c.name); break;
        case CELL_TEXT: trace_arg_text(t, a->at[i].key, c.text); break;
        default: trace_arg_real(t, a->at[i].key, c.f);
        }
    }
}

struct cell event_args_cell(const struct event_args *a, const struct export *x, struct out *text)
{
    const struct names *names = x->profile->names;
    text->n = 0;
    for (size_t i = 0; i < a->n; i++) {
        const struct cell c = a->at[i].value;
        out_char(text, i > 0 ? ',' : '[');
        out_json(text, a->at[i].key, strlen(a->at[i].key));
        out_char(text, ',');
        switch (c.kind) {
        case CELL_UINT: out_u64(text, c.u); break;
        case CELL_NAME: out_json(text, names_text(names, c.name), names_len(names, c.name)); break;
        case CELL_TEXT: out_json(text, c.text, strlen(c.text)); break;
        default: out_real(text, c.f);
        }
    }
    out_char(text, ']');
    return cell_name(names_add(x->profile->names, text->buf, text->n));
}
