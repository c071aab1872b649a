/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_events.h - registry: adds the events of a trace in Chrome's format, one by one, to the columns of a struct chrome_trace.
 *
 * At the end, begin and end events are joined, and slices are sorted. Asynchronous events, which belong to no thread,
 * are joined by their ids and are on one track for each category of a process.
 */
#ifndef ASCOPE_LOAD_TRACE_CHROME_EVENTS_H
#define ASCOPE_LOAD_TRACE_CHROME_EVENTS_H

#include "base/memory/keys.h"
#include "profile/chrome_sink.h"
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
/* Reads the fields of the event that the scan is in. False: the scan is stuck. */
bool chrome_event_fields(struct json_scan *event, struct json_span field[CHROME_FIELDS]);

/* A cache of texts that repeat in the file: raw texts whose ids are known. A slot contains the last text with its hash. */
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
    uint64_t group; /* an end belongs to the last begin of its group: a track, or one asynchronous activity */
    bool is_end;
};

/* The slices of a track in the order of the file, in pieces that do not move when more are added. */
enum { PIECE_LEAST = 1 << 4, PIECE_MOST = 1 << 16 };
struct slice_piece {
    struct slice_row *row;
    size_t n, cap;
};
struct track_slices {
    LIST(struct slice_piece) pieces;
    size_t n;
    int64_t begin_ns, dur_ns; /* of the last one */
    bool is_mixed;            /* they are not in order */
};

struct chrome_events {
    struct chrome_trace *t;
    struct arena *work;               /* released with chrome_events_free() */
    uint64_t text_at;                 /* offset of t->text in the whole text, to which offsets of arguments refer */
    LIST(struct track_slices) slices; /* by track */
    LIST(struct edge_row) edges;
    struct keys process_keys, track_keys, async_keys, async_groups, async_ids;
    LIST(uint32_t) async_tracks;    /* by async_keys */
    struct known_name *known_names; /* NULL: no cache, because the text is not kept */
    struct known_track *known_tracks;
    char *scratch; /* for texts with escapes */
    size_t scratch_bytes;
    bool failed; /* no memory */
};

bool chrome_events_init(struct chrome_events *r, struct chrome_trace *t);
bool chrome_events_know(struct chrome_events *r); /* caches texts that repeat and stay valid; false: no memory */
/* Allocates lists for all events, estimated from those in the first `read` of `all` bytes, so that lists are not copied
 * while they grow. */
void chrome_events_expect(struct chrome_events *r, uint64_t read, uint64_t all);
/* An event with these fields, which begins at an offset. */
void chrome_events_add(struct chrome_events *r, const struct json_span field[CHROME_FIELDS], uint64_t at);
/* The same for events of a writer in this program, which are not text. */
uint32_t chrome_events_track(struct chrome_events *r, struct json_span pid, struct json_span tid);
void chrome_events_count(struct chrome_events *r, uint32_t track); /* counts an event of the track */
void chrome_events_slice(struct chrome_events *r, const struct slice_row *row);
void chrome_events_instant(struct chrome_events *r, const struct slice_row *row, char scope);
void chrome_events_flow(struct chrome_events *r, const struct chrome_flow *flow);
name_id chrome_events_name(struct chrome_events *r, struct json_span raw);
bool chrome_events_finish(struct chrome_events *r); /* false: no memory */
void chrome_events_free(struct chrome_events *r);

/* chrome_straight.c: a trace whose events come directly from a writer in this program, without JSON in between. */

/* A cache: a slot contains the last track with its hash. */
enum { STRAIGHT_TRACKS = 256 };
struct straight_track {
    uint32_t pid, track;
    int64_t tid;
    bool is_set;
};

struct chrome_straight {
    struct chrome_sink sink;
    struct chrome_events events;
    struct names_recent names;
    struct straight_track track[STRAIGHT_TRACKS];
};

/* `t` must be all zero; chrome_straight_finish() completes it. The addresses of both must not change. Call
 * chrome_straight_end() in any case. False: no memory. */
bool chrome_straight_begin(struct chrome_straight *s, struct chrome_trace *t, const char *path);
/* With the text of the arguments. False: no memory. */
bool chrome_straight_finish(struct chrome_straight *s, const char *text, size_t n_bytes);
void chrome_straight_end(struct chrome_straight *s);

#endif
