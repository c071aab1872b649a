/* SPDX-License-Identifier: Apache-2.0 */
/* rank_spans.h - the work of one rank as spans of a few kinds, in the same form whatever it was recorded by.
 *
 * Made from a rank: the columns of a collection, or the slices of a trace of torch.profiler. A span is read when it
 * is asked for; only the order of the spans and the times in which the device works are kept. What a source does not
 * have is unknown: it is said by the result of a getter, never guessed.
 *
 * Spans of the device are sorted by begin. Spans of the host are sorted by track (a thread), and on a track an
 * enclosing span precedes what it encloses. Steps themselves (ProfilerStep#3) are no spans.
 *
 * A view: rank, series and arena are the caller's, for as long as it is used.
 */
#ifndef ASCOPE_ANSWERS_RUN_RANK_SPANS_H
#define ASCOPE_ANSWERS_RUN_RANK_SPANS_H

#include "analyse/framework/steps/step_layers.h"
#include "answers/run/chrome_kinds.h"
#include "answers/run/run_rank.h"
#include "base/memory/keys.h"

enum span_kind {
    SPAN_KERNEL,     /* computes on the device */
    SPAN_COLLECTIVE, /* communicates on the device */
    SPAN_COPY,       /* of memory, by the device */
    SPAN_CALL,       /* of the vendor's libraries, on the host, as all that follow */
    SPAN_OPERATOR,   /* of the framework */
    SPAN_RANGE,      /* that the user or a library marked */
    SPAN_PYTHON,     /* a function */
    SPAN_GC,         /* a garbage collection */
    SPAN_KINDS
};

struct rank_span {
    const char *name; /* not trusted */
    name_id id;       /* the same in the names of the view */
    int64_t begin_ns, end_ns;
    uint32_t track; /* stream of the device, thread of the host */
    uint32_t step;  /* row of the series: of work of a device, the step that launched it; NO_ROW: none */
};

/* Disjoint times, ascending; before_ns[i] is the sum of those before i. */
struct busy_times {
    size_t n;
    int64_t *begin_ns, *end_ns, *before_ns;
};

struct rank_spans {
    struct run_rank of;
    const struct step_series *series;
    const struct names *names;
    size_t n[SPAN_KINDS];
    bool is_npu;                 /* false: a GPU, or no device */
    struct busy_times computing; /* the device runs kernels */
    struct busy_times working;   /* kernels or collectives */
    struct busy_times busy;      /* kernels, collectives, or copies */

    /* Private. */
    uint32_t *row[SPAN_KINDS], *step[SPAN_CALL]; /* step: as in rank_span */
    struct chrome_kinds kinds;
    struct span_links {
        struct keys key;
        LIST(uint32_t) row; /* in the order of the keys */
    } calls, operators;     /* of a trace: by correlation; by external id. Values are rows of slices */
    uint32_t *task_call;    /* of a device: by row of its tasks, row of calls; NO_ROW */
    uint32_t *task_op;      /* by row of its tasks, row of framework_ops; NO_ROW. Both NULL: unknown */
};

bool rank_spans_find(struct rank_spans *v, const struct run_rank *q, const struct step_series *s, struct arena *mem);

struct rank_span rank_span(const struct rank_spans *v, enum span_kind kind, size_t i);
/* Its id alone: most callers look for spans of a few names among millions, whose times nobody asks for. */
name_id rank_span_id(const struct rank_spans *v, enum span_kind kind, size_t i);
struct spent_place rank_span_place(const struct rank_spans *v, enum span_kind kind, size_t i);

/* Of kernels, collectives and copies: the call that launched it. False: unknown. */
bool rank_span_launch(const struct rank_spans *v, enum span_kind kind, size_t i, struct rank_span *call);
/* The operator that launched it; "": unknown. */
const char *rank_span_owner(const struct rank_spans *v, enum span_kind kind, size_t i);
/* Of kernels: which cores ran it ("AI_CPU"; "": unknown), in how many blocks (0: unknown), and the type of its
 * operator, or else its name, in the names of the view. */
const char *rank_span_cores(const struct rank_spans *v, size_t i);
uint32_t rank_span_blocks(const struct rank_spans *v, size_t i);
name_id rank_span_type(const struct rank_spans *v, size_t i);

/* Of kernels of a GPU: how its blocks fit the SMs. */
struct span_grid {
    uint64_t blocks;
    uint32_t n_sm, at_once; /* at_once: blocks that an SM runs at the same time */
};
bool rank_span_grid(const struct rank_spans *v, size_t i, struct span_grid *out); /* false: unknown */

struct span_copy {
    uint64_t bytes;                /* 0: unknown */
    bool is_to_host, is_to_device; /* neither: within a device, or unknown */
    bool is_pageable,
        knows_memory; /* the host's memory is pageable; knows_memory: and would otherwise be known not to be */
};
struct span_copy rank_span_copy(const struct rank_spans *v, size_t i);

enum { COLLECTIVE_KIND = 40 };
struct span_collective {
    uint64_t elements, bytes, ranks; /* 0: unknown */
    char kind[COLLECTIVE_KIND];      /* "allreduce": letters only, in lower case */
};
struct span_collective rank_span_collective(const struct rank_spans *v, size_t i);
/* "allreduce" of "ncclDevKernel_AllReduce_Sum_f32_RING_LL", of "hcom_allReduce_" and of "_allreduce_"; "": of none. */
void collective_kind(char out[COLLECTIVE_KIND], const char *name);

/* How much of an interval is among the times. */
int64_t busy_within(const struct busy_times *b, int64_t begin_ns, int64_t end_ns);
/* The end of the last of them that begins before a moment, or is open then; INT64_MIN: none. */
int64_t busy_end_before(const struct busy_times *b, int64_t ns);

/* Intervals as they are found. Where few of many spans are wanted, room for all of them would not be small. */
struct found_times {
    LIST(int64_t) begin_ns, end_ns;
};
void times_add(struct found_times *t, int64_t begin_ns, int64_t end_ns, struct arena *mem); /* unless it is empty */

/* Sorts and joins intervals. The times are in `mem`. False: no memory. */
bool busy_join(struct busy_times *out, const int64_t *begin_ns, const int64_t *end_ns, size_t n, struct arena *mem);

#endif
