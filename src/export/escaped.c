/* SPDX-License-Identifier: Apache-2.0 */
#include "export/trace_split.h"

#include <stdlib.h>

/* Limits of the bytes and of the names that are kept: enough for real programs, and little beside the records that have
 * them. */
enum { TEXT_MOST = 12 << 20, NAMES_MOST = 1 << 18 };

struct escaped {
    struct out text;
    size_t n;
    uint32_t end[]; /* where each name ends in the text; it begins where the previous one ends */
};

struct escaped *escaped_new(const struct names *names)
{
    const size_t count = names_count(names), most = count < NAMES_MOST ? count : NAMES_MOST;
    struct escaped *e = malloc(sizeof *e + most * sizeof *e->end);
    struct error unused = { 0 };
    if (!e || !out_open_memory(&e->text, &unused)) {
        free(e);
        return NULL;
    }
    for (e->n = 0; e->n < most && e->text.n < TEXT_MOST; e->n++) {
        const name_id name = (name_id)e->n;
        const size_t len = names_len(names, name);
        if (len > TEXT_MOST / 8)
            break;
        out_json_inner(&e->text, names_text(names, name), len);
        e->end[name] = (uint32_t)e->text.n;
    }
    if (!e->text.failed_errno)
        return e;
    escaped_free(e);
    return NULL;
}

void escaped_free(struct escaped *e)
{
    if (e)
        out_discard(&e->text);
    free(e);
}

void escaped_write(const struct escaped *e, const struct names *names, name_id name, struct out *o)
{
    if (e && name < e->n) {
        const size_t first = name > 0 ? e->end[name - 1] : 0;
        out_bytes(o, e->text.buf + first, e->end[name] - first);
    } else {
        out_json_inner(o, names_text(names, name), names_len(names, name));
    }
}
