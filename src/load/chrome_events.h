/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_events.h - the events of a trace in Chrome's form, one by one, into the columns of a struct chrome_trace.
 *
 * Begin and end events are joined, and slices sorted, when all of them are there. Asynchronous events, which belong to no thread, are on a
 * track for each category of a process, and are joined by their ids.
 */
#ifndef ASCOPE_LOAD_CHROME_EVENTS_H
#define ASCOPE_LOAD_CHROME_EVENTS_H

#include "base/keys.h"
#include "profile/chrome_trace.h"

enum chrome_field {
    CHROME_PH,
    CHROME_NAME,
    CHROME_CAT,
    CHROME_PID,
    CHROME_TID,
    CHROME_TS,
    CHROME_DUR,
    CHROME_ARGS,
    CHROME_ID,
    CHROME_BP,
    CHROME_SCOPE,
    CHROME_ID2,
    CHROME_FIELDS,
};
enum chrome_field chrome_field(struct json_span key); /* CHROME_FIELDS: none of them */
/* Those of the event in which the scan is. False: stuck. */
bool chrome_event_fields(struct json_scan *event, struct json_span field[CHROME_FIELDS]);

/* What the file repeats: raw texts whose ids are known. A slot has the last text that fell into it. */
enum { NAME_SLOTS = 4096, TRACK_SLOTS = 256 };
struct known_name {
    struct json_span raw;
    name_id id;
};
struct known_track {
    struct json_span pid, tid;
    uint32_t track;
    bool is_set;
};

struct slice_row {
    int64_t begin_ns, dur_ns;
    uint64_t args_at;
    uint32_t args_len;
    name_id name, category;
    uint32_t track;
};

/* One of a pair of events that make a slice. */
struct edge_row {
    struct slice_row row;
    uint64_t at;    /* in the file */
    uint64_t group; /* ends end the last begin of their group: a track, or what is one asynchronous activity */
    bool is_end;
};

/* The slices of a track as they come, in pieces, which do not move when more come. */
enum { PIECE_LEAST = 1 << 4, PIECE_MOST = 1 << 16 };
struct slice_piece {
    struct slice_row *row;
    size_t n, cap;
};
struct track_slices {
    LIST(struct slice_piece) pieces;
    size_t n;
    int64_t begin_ns, dur_ns; /* of the last one */
    bool is_mixed;            /* they do not come in their order */
};

struct chrome_events {
    struct chrome_trace *t;
    struct arena *work;               /* released with chrome_events_free() */
    uint64_t text_at;                 /* where the text of the trace begins, of which the places of arguments count */
    LIST(struct track_slices) slices; /* by track */
    LIST(struct edge_row) edges;
    struct keys process_keys, track_keys, async_keys, async_groups, async_ids;
    LIST(uint32_t) async_tracks;    /* by async_keys */
    struct known_name *known_names; /* NULL: none are known, as the text does not stay */
    struct known_track *known_tracks;
    char *scratch; /* for texts with escapes */
    size_t scratch_bytes;
    bool failed; /* no memory */
};

bool chrome_events_init(struct chrome_events *r, struct chrome_trace *t);
bool chrome_events_know(struct chrome_events *r); /* texts that repeat, which stay where they are; false: no memory */
/* Makes room for all events, by those of the first `read` of `all` bytes: a list that grows is copied again and again. */
void chrome_events_expect(struct chrome_events *r, uint64_t read, uint64_t all);
/* An event with these fields, which begins at an offset. */
void chrome_events_add(struct chrome_events *r, const struct json_span field[CHROME_FIELDS], uint64_t at);
/* The same by kinds, for a writer that has no text of them. */
uint32_t chrome_events_track(struct chrome_events *r, struct json_span pid, struct json_span tid);
void chrome_events_count(struct chrome_events *r, uint32_t track); /* an event that is on it */
void chrome_events_slice(struct chrome_events *r, const struct slice_row *row);
void chrome_events_instant(struct chrome_events *r, const struct slice_row *row, char scope);
void chrome_events_flow(struct chrome_events *r, const struct chrome_flow *flow);
name_id chrome_events_name(struct chrome_events *r, struct json_span raw);
bool chrome_events_finish(struct chrome_events *r); /* false: no memory */
void chrome_events_free(struct chrome_events *r);

#endif
