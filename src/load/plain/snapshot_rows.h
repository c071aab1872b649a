/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot_rows.h - rows of a memory snapshot, from the members of the dictionaries in its pickle. */
#ifndef ASCOPE_LOAD_PLAIN_SNAPSHOT_ROWS_H
#define ASCOPE_LOAD_PLAIN_SNAPSHOT_ROWS_H

#include "base/memory/names.h"
#include "base/memory/tuples.h"
#include "profile/snapshot/memory_snapshot.h"

/* The texts that have a meaning: the names of members, and some of their values. A pickle's texts are numbered, these
 * first. */
enum snapshot_word {
    WORD_EMPTY,
    WORD_NA,
    WORD_ACTION,
    WORD_ADDR,
    WORD_ADDRESS,
    WORD_ANNOTATIONS,
    WORD_BLOCKS,
    WORD_DEVICE,
    WORD_DEVICE_FREE,
    WORD_EXPANDABLE,
    WORD_FILENAME,
    WORD_FRAMES,
    WORD_LINE,
    WORD_NAME,
    WORD_REQUESTED,
    WORD_SEGMENTS,
    WORD_SEGMENT_TYPE,
    WORD_SIZE,
    WORD_STAGE,
    WORD_STATE,
    WORD_STREAM,
    WORD_TIME,
    WORD_TOTAL,
    WORD_TRACES,
    WORD_MEMBERS, /* those below are values */
    WORD_ALLOC = WORD_MEMBERS,
    WORD_FREE,
    WORD_SEGMENT_ALLOC,
    WORD_SEGMENT_MAP,
    WORD_SEGMENT_FREE,
    WORD_SEGMENT_UNMAP,
    WORD_OOM,
    WORD_SMALL,
    WORD_END,
    WORD_ALLOCATED,
    WORD_AWAITING,
    WORDS
};

struct snapshot_rows {
    struct memory_snapshot *s;
    struct arena *mem;
    struct names *names;
    struct tuples frames; /* (file, function, line) */
    struct keys stacks;   /* inner stack and outermost frame */
    const char **text;    /* of a name, once it is a frame's or a mark's */
    size_t n_texts;
    size_t n_expected; /* rows of events that the file can have */
};

/* What is known of a member of a dictionary. */
struct snapshot_member {
    uint64_t v;    /* number, number of a text, stack, or index of a range */
    bool is_there; /* it has the kind that it should have */
};

bool snapshot_rows_begin(struct snapshot_rows *r);

/* Each adds a row; false: no memory. */
bool snapshot_add_frame(struct snapshot_rows *r, const struct snapshot_member *m, frame_id *out);
bool snapshot_add_block(struct snapshot_rows *r, const struct snapshot_member *m);
bool snapshot_add_segment(struct snapshot_rows *r, const struct snapshot_member *m, struct snapshot_range blocks);
bool snapshot_add_mark(struct snapshot_rows *r, const struct snapshot_member *m);
bool snapshot_add_event(struct snapshot_rows *r, const struct snapshot_member *m); /* of some actions there is no row */
bool snapshot_add_stack(struct snapshot_rows *r, stack_id inner, frame_id outermost, stack_id *out);

#endif
