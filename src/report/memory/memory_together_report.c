/* SPDX-License-Identifier: Apache-2.0 */
#include "report/memory/memory_together_report.h"

#include <inttypes.h>

#include "base/text/json_memory.h"

static const char *const series_key[SERIES_KINDS] = { "none", "even", "uneven", "steady", "grows" };

static const char *series_line(const struct memory_kept *k, struct arena *mem)
{
    return !k->file    ? "an unknown line (no stack)"
           : !*k->file ? k->function
                       : arena_printf(mem, "%.600s:%u (%.200s)", k->file, k->line, k->function);
}

const char *memory_together_sentence(const struct memory_together *x, struct arena *mem)
{
    char a[READABLE_MOST], b[READABLE_MOST], c[READABLE_MOST], d[READABLE_MOST];
    const struct memory_moment *first = &x->at.at[0], *last = &x->at.at[x->at.n - 1], *most = &x->at.at[x->most];
    switch (x->kind) {
    case SERIES_UNEVEN:
        return arena_printf(
            mem,
            "Ranks are uneven: rank %" PRId64
            " has at most %s in use, the median of %zu ranks %s; most of the difference is %s, %s (median %s)",
            most->rank, readable_bytes(a, most->peak_bytes), x->at.n, readable_bytes(b, x->median),
            memory_purpose_name[x->purpose], readable_bytes(c, most->of[x->purpose]),
            readable_bytes(d, x->purpose_median));
    case SERIES_EVEN:
        return arena_printf(
            mem, "Ranks are alike: at most %s are in use, on rank %" PRId64 ", the median of %zu ranks is %s",
            readable_bytes(a, most->peak_bytes), most->rank, x->at.n, readable_bytes(b, x->median));
    case SERIES_GROWS:
        return arena_printf(
            mem,
            "Memory grows from snapshot to snapshot: in use at the end are %s, then %s after %zu of them; most of it, %s, is allocated at %s",
            readable_bytes(a, first->end_bytes), readable_bytes(b, last->end_bytes), x->at.n,
            readable_bytes(c, x->grown.bytes), series_line(&x->grown, mem));
    default:
        return arena_printf(
            mem, "Memory does not grow from snapshot to snapshot: in use at the end are %s, then %s after %zu of them",
            readable_bytes(a, first->end_bytes), readable_bytes(b, last->end_bytes), x->at.n);
    }
}

void memory_together_print(const struct term *t, const struct memory_together *x, const char *sentence)
{
    char a[READABLE_MOST], b[READABLE_MOST], c[READABLE_MOST];
    const bool are_ranks = x->kind == SERIES_EVEN || x->kind == SERIES_UNEVEN;
    fputc('\n', t->to);
    term_text(t, sentence, 0);
    fprintf(t->to, "\n\n  %s       at most    reserved  at the end  snapshot\n", are_ranks ? "  rank" : "device");
    for (size_t i = 0; i < x->at.n; i++) {
        const struct memory_moment *m = &x->at.at[i];
        fprintf(t->to, "  %6" PRId64 "    %10s  %10s  %10s  ", are_ranks ? m->rank : (int64_t)m->device,
                readable_bytes(a, m->peak_bytes), readable_bytes(b, m->peak_reserved), readable_bytes(c, m->end_bytes));
        term_text(t, m->path, 0);
        fputc('\n', t->to);
    }
}

json_t *memory_together_json(const struct memory_together *x, const char *sentence)
{
    json_t *list = json_array();
    for (size_t i = 0; i < x->at.n; i++) {
        const struct memory_moment *m = &x->at.at[i];
        json_array_append_new(list, json_pack("{s:o, s:o, s:I, s:I, s:I, s:I}", "path", text_json(m->path), "rank",
                                              m->rank < 0 ? json_null() : json_integer((json_int_t)m->rank), "device",
                                              (json_int_t)m->device, "peak_bytes", (json_int_t)m->peak_bytes,
                                              "peak_reserved_bytes", (json_int_t)m->peak_reserved, "end_bytes",
                                              (json_int_t)m->end_bytes));
    }
    return json_pack("{s:s, s:o, s:o}", "kind", series_key[x->kind], "text", text_json(sentence), "snapshots", list);
}
