/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what chrome_load() finds in a trace, a row for each thing, for tests that compare it with another reader.
 *   dump_chrome FILE [--counts]       --counts: only how many of each there are, and the sum of the durations
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "load/trace/trace_readers.h"

static void put_text(const struct chrome_trace *t, name_id id)
{
    const char *text = names_text(t->names, id);
    putchar('\t');
    for (size_t i = 0; i < names_len(t->names, id); i++) {
        if (text[i] == '\t' || text[i] == '\n' || text[i] == '\r' || text[i] == '\\' || text[i] == 0)
            printf("\\x%02x", (unsigned)(unsigned char)text[i]);
        else
            putchar(text[i]);
    }
}

static void put_place(const struct chrome_trace *t, uint32_t track)
{
    put_text(t, t->processes.at[t->tracks.at[track].process].id.text);
    put_text(t, t->tracks.at[track].id.text);
}

static void put_args(const struct chrome_trace *t, uint64_t at, uint32_t len)
{
    putchar('\t');
    for (uint32_t i = 0; i < len; i++)
        putchar(strchr("\t\n\r", t->text[at + i]) ? ' ' : t->text[at + i]);
    putchar('\n');
}

static void put_rows(const struct chrome_trace *t)
{
    for (size_t i = 0; i < t->slices.n; i++) {
        printf("slice\t%" PRId64 "\t%" PRId64, t->slices.begin_ns[i], t->slices.dur_ns[i]);
        put_text(t, t->slices.name[i]);
        put_text(t, t->slices.category[i]);
        put_place(t, t->slices.track[i]);
        put_args(t, t->slices.args_at[i], t->slices.args_len[i]);
    }
    for (size_t i = 0; i < t->instants.n; i++) {
        const struct chrome_instant *x = &t->instants.at[i];
        printf("instant\t%" PRId64 "\t%c", x->ns, x->scope ? x->scope : '-');
        put_text(t, x->name);
        put_text(t, x->category);
        put_place(t, x->track);
        put_args(t, x->args_at, x->args_len);
    }
    for (size_t i = 0; i < t->flows.n; i++) {
        const struct chrome_flow *f = &t->flows.at[i];
        printf("flow\t%" PRId64 "\t%c%s", f->ns, f->phase, f->binds_enclosing ? "e" : "");
        put_text(t, f->name);
        put_text(t, f->category);
        put_place(t, f->track);
        if (f->is_text)
            put_text(t, (name_id)f->id);
        else
            printf("\t%" PRIu64, f->id);
        putchar('\n');
    }
    for (size_t i = 0; i < t->counters.n; i++) {
        const struct chrome_counter *c = &t->counters.at[i];
        printf("counter\t%" PRId64 "\t%.17g", c->ns, c->value);
        put_text(t, c->name);
        put_text(t, c->series);
        put_place(t, c->track);
        putchar('\n');
    }
}

static void put_tracks(const struct chrome_trace *t)
{
    for (size_t i = 0; i < t->processes.n; i++) {
        const struct chrome_process *p = &t->processes.at[i];
        printf("process\t%" PRId64 "\t%zu", p->has_sort_index ? p->sort_index : -1, p->n_events);
        put_text(t, p->id.text);
        put_text(t, p->name);
        put_text(t, p->labels);
        putchar('\n');
    }
    for (size_t i = 0; i < t->tracks.n; i++) {
        const struct chrome_track *p = &t->tracks.at[i];
        printf("track\t%" PRId64 "\t%zu\t%zu", p->has_sort_index ? p->sort_index : -1, p->n_events, p->n_slices);
        put_place(t, (uint32_t)i);
        put_text(t, p->name);
        putchar('\n');
    }
    for (size_t i = 0; i < t->facts.n; i++) {
        printf("fact");
        put_text(t, t->facts.at[i].key);
        put_args(t, (uint64_t)(t->facts.at[i].value.at - t->text), (uint32_t)t->facts.at[i].value.len);
    }
}

static void put_counts(const struct chrome_trace *t)
{
    uint64_t dur_ns = 0;
    for (size_t i = 0; i < t->slices.n; i++)
        dur_ns += (uint64_t)t->slices.dur_ns[i];
    printf("counts\t%zu\t%zu\t%zu\t%zu\t%zu\t%zu\t%" PRIu64 "\n", t->n_events, t->slices.n, t->instants.n, t->flows.n,
           t->counters.n, t->n_metadata, dur_ns);
    for (unsigned k = 0; k < LOSS_KINDS; k++) {
        if (t->lost.by[k].n > 0)
            printf("lost\t%s\t%" PRIu64 "\t%" PRIu64 "\n", loss_key(k), t->lost.by[k].n, t->lost.by[k].first_at);
    }
}

int main(int argc, char **argv)
{
    struct chrome_trace t;
    struct error e = { 0 };
    if (argc < 2)
        return 2;
    memory_watch();
    if (!chrome_load(&t, argv[1], &e)) {
        fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    if (argc == 2) {
        put_rows(&t);
        put_tracks(&t);
    }
    put_counts(&t);
    chrome_trace_free(&t);
    memory_unwatch();
    return 0;
}
