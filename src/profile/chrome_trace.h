/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_trace.h - a trace in Chrome's JSON format, in memory: files of torch.profiler, trace_view.json and similar
 * ones.
 *
 * Times are nanoseconds since the epoch if the file has such times, otherwise since the beginning that its writer
 * chose. Slices are sorted by track, then by begin, longer ones first, then by position in the file: an enclosing slice
 * precedes what it encloses. Other events are in file order. Arguments are not decoded: an event has the offset of its
 * arguments in `text`, for json_scan.h.
 */
#ifndef ASCOPE_PROFILE_CHROME_TRACE_H
#define ASCOPE_PROFILE_CHROME_TRACE_H

#include "base/memory/arena.h"
#include "base/text/error.h"
#include "base/text/json_scan.h"
#include "base/memory/large_memory.h"
#include "base/memory/names.h"

/* A process or thread id: its text, and its value if it is a number. */
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

/* A track: a thread, a stream, or anything else for which the file has a thread id. */
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
    double value; /* may be NAN or infinite */
    name_id name, series;
    uint32_t track; /* the series belongs to the process of this track */
};

struct chrome_flow {
    int64_t ns;
    uint64_t id; /* a number, or a name_id if is_text; events with the same category, name and id are one flow */
    name_id name, category;
    uint32_t track;
    char phase; /* 's' begins, 't' passes through, 'f' ends */
    bool is_text;
    bool binds_enclosing; /* an end binds to the slice that encloses it, not to the next one that begins */
};

/* A connection between two slices without a flow event, such as that of a collective on two ranks. */
struct chrome_tie {
    uint32_t from, to; /* rows of slices */
};

/* The ranges of the host that are the steps, by begin: those of the profiler, or what repeats
 * (answers/run/trace_steps.h). */
struct chrome_steps {
    size_t n;
    name_id *id;         /* "3" */
    name_id *annotation; /* the range that each begins with */
    int64_t *begin_ns, *end_ns;
    const char *by;   /* which ranges they are; NULL: the profiler's own */
    bool *is_of_name; /* by name: slices of it are steps, and say nothing about what is in a step */
    size_t n_names;
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
    struct chrome_steps steps;

    /* Every event of the file is one of: a slice, half of a slice (n_pairs slices are made of a begin and an end
     * event), an instant, a flow event, a counter event, metadata, or a loss. */
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

static inline bool chrome_is_step(const struct chrome_trace *t, size_t i)
{
    const name_id name = t->slices.name[i];
    return name < t->steps.n_names && t->steps.is_of_name[name];
}

#endif
