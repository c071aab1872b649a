/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_trace.h - a trace in Chrome's JSON form, in memory: the files of torch.profiler, trace_view.json, and their like.
 *
 * Times are nanoseconds since the epoch if the writer's are, else since its own beginning. Slices are in the order of their
 * tracks; on a track by begin, longer ones first, then as in the file: an enclosing slice precedes what it encloses. Other
 * events are in the order of the file. Arguments are not decoded: a place in `text` says where they are, for json_scan.h.
 */
#ifndef ASCOPE_PROFILE_CHROME_TRACE_H
#define ASCOPE_PROFILE_CHROME_TRACE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json_scan.h"
#include "base/large_memory.h"
#include "base/names.h"

/* The text of a process or thread id, and the number that it is. */
struct chrome_id {
    name_id text;
    bool is_number;
    int64_t number;
};

struct chrome_process {
    struct chrome_id id;
    name_id name, labels; /* NAME_EMPTY: none */
    bool has_sort_index;
    int64_t sort_index;
    size_t n_events; /* of all kinds but metadata */
};

/* A thread, a stream, or what else the writer takes for one. */
struct chrome_track {
    uint32_t process;
    struct chrome_id id;
    name_id name;
    bool has_sort_index;
    int64_t sort_index;
    size_t n_events;        /* of all kinds but metadata */
    size_t first, n_slices; /* its slices are first … first + n_slices - 1 */
};

struct chrome_slices {
    size_t n;
    int64_t *begin_ns, *dur_ns;
    uint64_t *args_at;  /* offset of its arguments in the text */
    uint32_t *args_len; /* 0: it has none */
    name_id *name, *category;
    uint32_t *track;
};

struct chrome_instant {
    int64_t ns;
    uint64_t args_at;
    uint32_t args_len;
    name_id name, category;
    uint32_t track;
    char scope; /* 't' of the thread, 'p' of the process, 'g' of all; 0: not given */
};

/* One value of one series: an event may have several. */
struct chrome_counter {
    int64_t ns;
    double value; /* may be no number */
    name_id name, series;
    uint32_t track; /* the series belongs to the process of it */
};

struct chrome_flow {
    int64_t ns;
    uint64_t id; /* the number, or a name_id if is_text; flows are one if category, name and id are the same */
    name_id name, category;
    uint32_t track;
    char phase; /* 's' begins, 't' passes through, 'f' ends */
    bool is_text;
    bool binds_enclosing; /* to the slice around it, not to the next one */
};

/* Slices that are joined although no event says so: those of a collective on several ranks. */
struct chrome_tie {
    uint32_t from, to; /* rows of slices */
};

/* A key beside traceEvents, and its value. */
struct chrome_fact {
    name_id key;
    struct json_span value;
};

struct chrome_trace {
    const char *path; /* as given; lent */
    struct arena *mem;
    struct names *names;
    struct mapped map; /* of the file, or of what it was decompressed into */
    const char *text;
    size_t n_bytes;

    int64_t base_ns; /* was added to all times */
    LIST(struct chrome_process) processes;
    LIST(struct chrome_track) tracks;
    struct chrome_slices slices;
    LIST(struct chrome_instant) instants;
    LIST(struct chrome_counter) counters;
    LIST(struct chrome_flow) flows;
    LIST(struct chrome_tie) ties;
    LIST(struct chrome_fact) facts;

    /* Every event is one of: a slice (two, if begin and end are apart), instant, counter, flow event, or one of these. */
    size_t n_events, n_metadata, n_counter_events, n_pairs;
    struct losses lost;
};

void chrome_trace_free(struct chrome_trace *t); /* one that is all zero is fine */

struct json_span chrome_fact(const struct chrome_trace *t, const char *key); /* the last one; its `at` is NULL: none */
/* The arguments of a slice, an object; its `at` is NULL: none. */
static inline struct json_span chrome_slice_args(const struct chrome_trace *t, size_t i)
{
    const uint32_t len = t->slices.args_len[i];
    return (struct json_span){ len > 0 ? t->text + t->slices.args_at[i] : NULL, len };
}

#endif
