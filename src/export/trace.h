/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - a timeline in the Trace Event format of Chrome and Perfetto, written incrementally.
 *
 * An event is begun, given arguments, and ended:
 *     trace_slice(t, name, len, pid, tid, begin_ns, dur_ns);
 *     trace_args(t);
 *     trace_arg_uint(t, "Task Id", 7);
 *     trace_end(t);
 * Times are wall-clock ns. With a time base they are counted from there and written as numbers, small enough for the
 * doubles of viewers; without one they are microseconds since 1970, as text, as the reference writes them.
 *
 * With a sink (profile/chrome_sink.h), events are handed over as structs instead of being written and read again; only
 * their arguments are text. The caller owns everything that the struct points to.
 */
#ifndef ASCOPE_EXPORT_TRACE_H
#define ASCOPE_EXPORT_TRACE_H

#include "base/files/out.h"
#include "base/memory/names.h"
#include "export/lanes.h"
#include "export/places.h"
#include "export/trace_split.h"
#include "export/window.h"
#include "profile/chrome_sink.h"

/* A cache of pid and tid as text: most events are on the track of an event shortly before. Each slot has the last place
 * that was hashed to it. */
enum { TRACE_PLACES = 8, TRACE_PLACE_BYTES = 64 };
struct trace_place {
    uint32_t pid;
    int64_t tid;
    size_t len; /* 0: none */
    char text[TRACE_PLACE_BYTES];
};

struct trace {
    struct out *out; /* with a sink: the one that the open event is written to */
    const struct names *names;
    const struct escaped *escaped; /* the names in JSON's spelling; NULL: they are escaped each time */
    bool has_base;
    int64_t base_ns;
    const struct window
        *window; /* only events that overlap one of these are wanted; NULL: all are; see trace_wants() */
    size_t n_windows;
    struct lanes *lanes; /* gives overlapping slices of a track further lanes; NULL: every slice stays on its track */
    bool keeps_overlaps; /* with lanes: no slice is moved all the same */
    bool keeps_moves;    /* lanes_moved() will be called, so that moves are remembered */
    bool has_no_memory;  /* a move could not be remembered */
    uint64_t n_events;
    bool one_per_line;
    bool has_one_npu;        /* its label has no number */
    const char *device_word; /* "NPU" */
    bool has_text_dur;       /* without a time base durations are text, too: "12.345" */
    bool first_arg;
    const struct chrome_sink *sink; /* NULL: events are written */
    bool is_straight;               /* the open event is the struct `event` for the sink, and not text */
    struct chrome_event event;
    char flow_id[96]; /* of `event`, while it is open for arguments */
    uint32_t pid;     /* of the last event */
    struct trace_place place[TRACE_PLACES];
};

void trace_begin(struct trace *t);
void trace_finish(struct trace *t);

/* True when an event of this time lies in the window. To be asked before slices, counters and flow events are
 * written. */
bool trace_wants(const struct trace *t, int64_t begin_ns, int64_t end_ns);

/* A metadata event about the whole timeline, in the process of the last event; arguments follow, until trace_end(). */
void trace_metadata(struct trace *t, const char *what);

/* Name, label (NULL: none) and place of a process. */
void trace_process(struct trace *t, uint32_t pid, const char *name, const char *label, unsigned sort_index);
void trace_process_name(struct trace *t, uint32_t pid, const char *name); /* without label and sort index */
void trace_process_npu(struct trace *t, uint32_t pid, const char *name, unsigned device, unsigned sort_index);
void trace_thread(struct trace *t, uint32_t pid, int64_t tid, const char *name, int64_t sort_index);
void trace_thread_name(struct trace *t, uint32_t pid, int64_t tid, const char *name); /* without a sort index */

/* The duration is a double: a counter of 48 MHz gives fractions of a nanosecond. */
void trace_slice(struct trace *t, const char *name, size_t len, uint32_t pid, int64_t tid, int64_t begin_ns,
                 double dur_ns);
void trace_slice_name(struct trace *t, name_id name, uint32_t pid, int64_t tid, int64_t begin_ns, double dur_ns);
/* An event without duration. With a time base it is an instant, which every viewer can show; without one it is a slice
 * of length 0 as the reference writes it, which some viewers take for a slice that never ends. */
void trace_moment(struct trace *t, name_id name, uint32_t pid, int64_t tid, int64_t at_ns);
void trace_instant(struct trace *t, name_id name, uint32_t pid, int64_t tid,
                   int64_t at_ns); /* an instant in any case */
/* Named "<prefix>@<name>". */
void trace_slice_prefixed(struct trace *t, const char *prefix, name_id name, uint32_t pid, int64_t tid,
                          int64_t begin_ns, double dur_ns);
void trace_counter(struct trace *t, const char *name, uint32_t pid, int64_t tid, int64_t at_ns);
/* To be called after a slice was begun and before its arguments. `category` is written without escaping. */
static inline void trace_category(struct trace *t, const char *category)
{
    if (t->is_straight) {
        t->event.category = t->sink->name(t->sink->context, category, strlen(category));
        return;
    }
    out_lit(t->out, ",\"cat\":\"");
    out_bytes(t->out, category, strlen(category));
    out_lit(t->out, "\"");
}

void trace_args(struct trace *t);
/* Keys are constants of this program and are written without escaping. Inline, so that the compiler knows their
 * lengths. */
static inline void trace_key(struct trace *t, const char *key, size_t len)
{
    char *p = out_reserve(t->out, 2);
    *p = ',';
    p += !t->first_arg;
    *p = '"';
    out_put(t->out, p + 1);
    t->first_arg = false;
    out_bytes(t->out, key, len);
    out_lit(t->out, "\":");
}
static inline void trace_arg_uint(struct trace *t, const char *key, uint64_t v)
{
    trace_key(t, key, strlen(key));
    out_u64(t->out, v);
}
static inline void trace_arg_int(struct trace *t, const char *key, int64_t v)
{
    trace_key(t, key, strlen(key));
    out_i64(t->out, v);
}
static inline void trace_arg_real(struct trace *t, const char *key, double v)
{
    trace_key(t, key, strlen(key));
    out_real(t->out, v);
}
/* `word` is a constant of this program, written without escaping. */
static inline void trace_arg_word(struct trace *t, const char *key, const char *word)
{
    trace_key(t, key, strlen(key));
    out_char(t->out, '"');
    out_bytes(t->out, word, strlen(word));
    out_char(t->out, '"');
}
void trace_arg_text(struct trace *t, const char *key, const char *text);
void trace_arg_name(struct trace *t, const char *key, name_id name);
void trace_arg_time(struct trace *t, const char *key, int64_t ns); /* a point in time, as text */
void trace_arg_launch(struct trace *t, const name_id *name,
                      size_t row); /* "mindspore_op", if there is one; NULL: none is */
void trace_end(struct trace *t);   /* ends an event that had arguments */
/* Ends an event without arguments: with an empty object of them, or with is_bare without any. */
void trace_end_without_args(struct trace *t, bool is_bare);

/* A flow event: 's' starts a flow, 't' is a step of it, 'f' ends it. `binds`: it belongs to the slice that encloses it
 * and not to the next one. trace_flow_args() leaves the event open for arguments, until trace_end(). */
struct flow {
    char end;
    bool binds;
    const char *name, *category; /* written without escaping */
    const char *id;              /* written without escaping; NULL: the id is `number` */
    uint64_t number;
};
void trace_flow(struct trace *t, const struct flow *a, uint32_t pid, int64_t tid, int64_t at_ns);
void trace_flow_args(struct trace *t, const struct flow *a, uint32_t pid, int64_t tid, int64_t at_ns);

/* A flow event 's' or 'f' whose name is the category followed by the id, at the begin of its slice. */
void trace_flow_id(struct trace *t, char end, const char *category, const char *id, uint32_t pid, int64_t tid,
                   int64_t at_ns);

#endif
