/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_sink.h - where a writer of events puts them if nobody wants them as text: into the columns of a struct chrome_trace.
 *
 * Only arguments stay text, which the writer puts into a file; an event has their place there. Events of rare kinds (names of
 * tracks, counters), or with unusual times, are handed over as the text that they are in a file. What comes of all that is
 * what reading the whole text would give; only flows are numbered without their names, which say the same once more.
 */
#ifndef ASCOPE_PROFILE_CHROME_SINK_H
#define ASCOPE_PROFILE_CHROME_SINK_H

#include "base/names.h"
#include "base/out.h"

struct chrome_event {
    char phase; /* 'X', 'i', or of a flow 's', 't', 'f' */
    char scope; /* of an instant */
    bool binds_enclosing;
    uint32_t pid;
    int64_t tid, ns, dur_ns;
    name_id name, category; /* as the sink numbers them */
    const char *id;         /* of a flow; NULL: it is `number` */
    uint64_t number;
    uint64_t args_at; /* in the file of arguments */
    size_t args_len;  /* 0: it has none */
};

struct chrome_sink {
    void *context;
    name_id (*name)(void *context, const char *text, size_t len);
    void (*add)(void *context, const struct chrome_event *e);
    void (*add_text)(void *context, const char *text, size_t len, uint64_t at); /* which is at `at` of the file */
    struct out *args, *text; /* for the writer: the file, and memory for one event */
};

#endif
