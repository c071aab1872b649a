/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_sink.h - receives the events of a timeline without the detour of writing JSON text and parsing it again.
 *
 * The writer of a timeline passes each event to a sink, which adds it to the columns of a struct chrome_trace. Only the
 * arguments of events are written as text, to a file; an event has their offset and length there. Events of rare kinds
 * (names of tracks, counters) and events with unusual times are passed as JSON text and parsed. The result is the same
 * as that of parsing the whole text, with one exception: flows are identified by their numbers alone, because their
 * names only repeat them.
 */
#ifndef ASCOPE_PROFILE_CHROME_SINK_H
#define ASCOPE_PROFILE_CHROME_SINK_H

#include "base/memory/names.h"
#include "base/files/out.h"

struct chrome_event {
    char phase; /* 'X', 'i', or of a flow 's', 't', 'f' */
    char scope; /* of an instant */
    bool binds_enclosing;
    uint32_t pid;
    int64_t tid, ns, dur_ns;
    name_id name, category; /* as the sink numbers them */
    const char *id;         /* of a flow; NULL: `number` is its id */
    uint64_t number;
    uint64_t args_at; /* offset in the file of arguments */
    size_t args_len;  /* 0: the event has no arguments */
};

struct chrome_sink {
    void *context;
    name_id (*name)(void *context, const char *text, size_t len);
    void (*add)(void *context, const struct chrome_event *e);
    void (*add_text)(void *context, const char *text, size_t len, uint64_t at); /* at: offset of the text in the file */
    struct out *args, *text; /* for the writer: the file of arguments, and memory for the text of one event */
};

#endif
