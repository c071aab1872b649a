/* SPDX-License-Identifier: Apache-2.0 */
#include "prove/prove_checks.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLACK_NS = 100000,     /* between the program's readings of the system's clock and the recorder's, which slews */
    SLACK_TICKS_NS = 2000, /* of durations: resolution of clocks */
    SPIN_MOST_NS = 100000  /* what a kernel that waits may run longer than asked for */
};

__attribute__((format(printf, 4, 5))) static void add(struct prove_run *run, const char *name, bool is_well,
                                                      const char *wanted, ...)
{
    if (run->n == PROVE_CHECKS)
        return;
    struct prove_check *const c = &run->check[run->n++];
    va_list found;
    *c = (struct prove_check){ .name = name, .state = is_well ? PROVE_OK : PROVE_FAILED };
    /* wanted and found, with a bar between them */
    char both[2 * PROVE_TEXT];
    va_start(found, wanted);
    vsnprintf(both, sizeof both, wanted, found);
    va_end(found);
    char *const bar = strchr(both, '|');
    snprintf(c->found, sizeof c->found, "%.*s", PROVE_TEXT - 1, bar ? bar + 1 : "");
    if (bar)
        *bar = '\0';
    snprintf(c->wanted, sizeof c->wanted, "%.*s", PROVE_TEXT - 1, both);
}

static void add_count(struct prove_run *run, const char *name, uint64_t wanted, uint64_t found)
{
    add(run, name, wanted == found, "%" PRIu64 "|%" PRIu64, wanted, found);
}

/* How far a time lies outside of a span. */
static uint64_t outside(const struct prove_span *s, int64_t at_ns)
{
    const int64_t before = (int64_t)s->before_ns, after = (int64_t)s->after_ns;
    return at_ns < before ? (uint64_t)(before - at_ns) : at_ns > after ? (uint64_t)(at_ns - after) : 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void add_when(struct prove_run *run, const char *name, uint64_t worst_ns)
{
    add(run, name, worst_ns <= SLACK_NS,
        "between the program's readings of the clock, within %d us|at most %.1f us outside", SLACK_NS / 1000,
        (double)worst_ns / 1000);
}

/* ---- the host ---- */

/* The number behind a prefix; -1: the text is another. */
static int number_behind(const char *text, const char *prefix, int most)
{
    const size_t n = strlen(prefix);
    char *end = NULL;
    const long number = strncmp(text, prefix, n) == 0 ? strtol(text + n, &end, 10) : -1;
    return number >= 0 && number < most && end && *end == '\0' ? (int)number : -1;
}

static void marks_check(struct prove_run *run, const struct prove_facts *f, const struct profile *p)
{
    const struct marks *m = &p->host.records.marks;
    const struct source *s = &p->host.source;
    unsigned n_marks = 0, n_ranges = 0, n_seen[PROVE_MARKS] = { 0 }, n_once = 0;
    uint64_t marks_ns = 0, ranges_ns = 0, lengths_ns = 0;
    for (size_t i = 0; i < m->n; i++) {
        const char *text = names_text(p->names, m->message[i]);
        const int mark = number_behind(text, "prove mark ", PROVE_MARKS),
                  range = number_behind(text, "prove range ", PROVE_RANGES);
        const int64_t begin = source_host_ns(s, m->begin[i]), end = source_host_ns(s, m->end[i]);
        if (mark >= 0) {
            n_marks++;
            n_seen[mark]++;
            marks_ns = larger(marks_ns, outside(&f->mark[mark], begin));
        }
        if (range >= 0) {
            const struct prove_span *const b = &f->range[range].begin, *const e = &f->range[range].end;
            const struct prove_span length = { e->before_ns - b->after_ns, e->after_ns - b->before_ns };
            n_ranges++;
            ranges_ns = larger(ranges_ns, larger(outside(b, begin), outside(e, end)));
            lengths_ns = larger(lengths_ns, outside(&length, end - begin));
        }
    }
    for (int i = 0; i < PROVE_MARKS; i++)
        n_once += n_seen[i] == 1;
    add_count(run, "marks", PROVE_MARKS, n_marks);
    add_count(run, "marks that are there once", PROVE_MARKS, n_once);
    add_when(run, "when marks were", marks_ns);
    add_count(run, "ranges", PROVE_RANGES, n_ranges);
    add_when(run, "when ranges were", ranges_ns);
    add(run, "how long ranges were", lengths_ns <= SLACK_TICKS_NS,
        "as measured, within %d us|at most %.1f us from that", SLACK_TICKS_NS / 1000, (double)lengths_ns / 1000);
}

/* ---- a device ---- */

struct prove_kernel {
    uint32_t row;
    int index; /* in the program */
};

static const struct tasks *sorted_tasks;
static int prove_kernel_by_begin(const void *a, const void *b)
{
    const struct prove_kernel *x = a, *y = b;
    const struct tasks *t = sorted_tasks;
    if (t->stream[x->row] != t->stream[y->row])
        return t->stream[x->row] < t->stream[y->row] ? -1 : 1;
    return t->begin_ns[x->row] < t->begin_ns[y->row] ? -1 : t->begin_ns[x->row] > t->begin_ns[y->row];
}

static bool is_kernel(const struct profile *p, const struct tasks *t, size_t row)
{
    if (t->is_hidden[row] || t->op[row] == NO_ROW)
        return false;
    return strncmp(names_text(p->names, p->host.ops.name[t->op[row]]), "prove_", 6) == 0;
}

/* Kernels by stream, then by time; of names that say nothing, the first stream that began has the even ones. */
static size_t prove_kernels_find(const struct prove_facts *f, const struct profile *p, const struct tasks *t,
                                 struct prove_kernel *kernel, size_t most, size_t n_of[PROVE_STREAMS])
{
    size_t n = 0, n_streams = 0;
    for (size_t i = 0; i < t->n && n < most; i++)
        if (is_kernel(p, t, i))
            kernel[n++] = (struct prove_kernel){ (uint32_t)i, -1 };
    sorted_tasks = t;
    qsort(kernel, n, sizeof *kernel, prove_kernel_by_begin);
    size_t first[PROVE_STREAMS] = { 0 };
    for (size_t i = 0; i < n; i++) {
        const bool is_next = i == 0 || t->stream[kernel[i].row] != t->stream[kernel[i - 1].row];
        if (is_next && n_streams < PROVE_STREAMS)
            first[n_streams] = i;
        n_streams += is_next;
        if (n_streams <= PROVE_STREAMS)
            n_of[n_streams - 1]++;
    }
    const int swapped =
        n_streams == PROVE_STREAMS && t->begin_ns[kernel[first[1]].row] < t->begin_ns[kernel[first[0]].row];
    for (size_t i = 0; i < n; i++) {
        const int stream = n_streams == PROVE_STREAMS && i >= first[1], k = (int)(i - first[stream]);
        const char *name = names_text(p->names, p->host.ops.name[t->op[kernel[i].row]]);
        kernel[i].index = f->names_kernels ? number_behind(name, "prove_kernel_", PROVE_KERNELS)
                                           : k * PROVE_STREAMS + (stream ^ swapped);
        if (kernel[i].index >= PROVE_KERNELS)
            kernel[i].index = -1;
    }
    return n;
}

static void kernels_check(struct prove_run *run, const struct prove_facts *f, const struct profile *p,
                          const struct tasks *t)
{
    struct prove_kernel kernel[4 * PROVE_KERNELS];
    size_t n_of[PROVE_STREAMS] = { 0 }, n_ordered = 0, n_apart = 0, n_known = 0, n_joined = 0;
    const size_t n = prove_kernels_find(f, p, t, kernel, sizeof kernel / sizeof *kernel, n_of);
    uint64_t when_ns = 0, short_ns = 0, long_ns = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t row = kernel[i].row, host = t->host[row];
        const bool is_first = i == 0 || t->stream[row] != t->stream[kernel[i - 1].row];
        n_ordered += is_first || kernel[i].index > kernel[i - 1].index;
        n_apart += is_first || t->begin_ns[row] >= t->end_ns[kernel[i - 1].row];
        n_joined += host != NO_ROW && p->host.tasks.time[host] != 0;
        n_known += kernel[i].index >= 0;
        if (kernel[i].index < 0)
            continue;
        const struct prove_span *const at = &f->kernel[kernel[i].index];
        const uint64_t least = f->kernel_ns[kernel[i].index];
        when_ns = larger(when_ns, larger(outside(at, t->begin_ns[row]), outside(at, t->end_ns[row])));
        if (least > 0 && t->dur_ns[row] < (double)least)
            short_ns = larger(short_ns, least - (uint64_t)t->dur_ns[row]);
        else if (least > 0)
            long_ns = larger(long_ns, (uint64_t)t->dur_ns[row] - least);
    }
    add_count(run, "kernels", PROVE_KERNELS, n);
    add(run, "streams", n_of[0] == PROVE_KERNELS / 2 && n_of[1] == PROVE_KERNELS / 2, "%d and %d kernels|%zu and %zu",
        PROVE_KERNELS / 2, PROVE_KERNELS / 2, n_of[0], n_of[1]);
    add_count(run, "kernels in the order of their launches", n, n_ordered);
    add_count(run, "kernels after the one before on their stream", n, n_apart);
    add_count(run, "kernels with the call that launched them", n, n_joined);
    add_when(run, "when kernels were", n_known == n ? when_ns : UINT32_MAX);
    if (f->kernel_ns[0] > 0)
        add(run, "how long kernels were", short_ns <= SLACK_TICKS_NS && long_ns <= SPIN_MOST_NS,
            "as long as asked, at most %d us longer|at most %.1f us shorter, %.1f us longer", SPIN_MOST_NS / 1000,
            (double)short_ns / 1000, (double)long_ns / 1000);
}

static void copies_check(struct prove_run *run, const struct prove_facts *f, const struct device *d)
{
    const struct tasks *t = &d->tasks;
    size_t n_copies = 0, n_sets = 0;
    uint64_t bytes = 0, wanted = 0;
    bool is_there[PROVE_COPIES] = { false };
    for (size_t i = 0; i < t->n; i++) {
        n_sets += d->gpu.n > 0 && d->gpu.kind[t->task[i]] == CUDA_IS_SET;
        if (t->copy_kind[i] == COPY_NONE)
            continue;
        n_copies++;
        bytes += t->copy_bytes[i];
        for (unsigned k = 0; k < f->n_copies; k++)
            is_there[k] |= f->copy_bytes[k] == t->copy_bytes[i];
    }
    unsigned n_sizes = 0;
    for (unsigned k = 0; k < f->n_copies; k++) {
        n_sizes += is_there[k];
        wanted += f->copy_bytes[k];
    }
    add_count(run, "copies", f->n_copies, n_copies);
    add_count(run, "sizes of copies", f->n_copies, n_sizes);
    add_count(run, "bytes that were copied", wanted, bytes);
    if (f->n_sets > 0)
        add_count(run, "sets", f->n_sets, n_sets);
}

/* ---- results ---- */

static uint64_t rows_of(const struct account *a, const char *table)
{
    const size_t n = strlen(table);
    for (size_t i = 0; i < a->files.n; i++) {
        const char *const slash = strrchr(a->files.at[i].path, '/');
        if (slash && !a->files.at[i].is_timeline && strncmp(slash + 1, table, n) == 0 && slash[1 + n] == '_')
            return a->files.at[i].n_rows;
    }
    return 0;
}

void prove_check_all(struct prove_run *run, const struct prove_facts *f, const struct result *r)
{
    const struct profile *p = &r->profile;
    const uint64_t damaged = losses_damage(&p->lost) + p->collector.damaged + p->collector.n_dropped;
    add_count(run, "losses", 0, damaged);
    add_count(run, "results that could not be written", 0, r->account.problems.n + r->account.n_omitted);
    marks_check(run, f, p);
    add_count(run, "rows of msprof_tx.csv", PROVE_MARKS + PROVE_RANGES, rows_of(&r->account, "msprof_tx"));
    if (f->n_kernels + f->n_copies == 0)
        return;
    add_count(run, "devices", 1, p->n_devices);
    if (p->n_devices == 0)
        return;
    if (f->n_kernels > 0) {
        kernels_check(run, f, p, &p->device[0].tasks);
        add_count(run, "rows of op_summary.csv", f->n_kernels, rows_of(&r->account, "op_summary"));
    }
    copies_check(run, f, &p->device[0]);
}
