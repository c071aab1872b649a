/* SPDX-License-Identifier: Apache-2.0 */
/* memory_snapshot.h - a memory snapshot of PyTorch: what its caching allocator held when the snapshot was taken, and the
 * last allocations and releases before that.
 *
 * Segments are what the allocator has from the device; it divides them into blocks. Rows of blocks are in the order of
 * their addresses within a segment, those of events in the order of time. The trace is a ring: blocks from before it are
 * in the segments only.
 */
#ifndef ASCOPE_PROFILE_SNAPSHOT_MEMORY_SNAPSHOT_H
#define ASCOPE_PROFILE_SNAPSHOT_MEMORY_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "base/memory/keys.h"

/* What a frame says of the memory that is allocated below it. */
enum snapshot_part {
    PART_OPTIMIZER = 1, /* a step of an optimizer */
    PART_ZERO_GRAD = 2,
    PART_BACKWARD = 4,
    PART_FORWARD = 8, /* a module is called */
    PART_MODULE = 16, /* a module is made, moved or loaded */
};

typedef uint32_t frame_id;
typedef uint32_t stack_id; /* 0: none was recorded */
enum { SNAPSHOT_NONE = UINT32_MAX, SNAPSHOT_STREAMS = 256 };

struct snapshot_frame {
    const char *file, *function;
    uint32_t line;
    uint8_t parts;   /* enum snapshot_part */
    bool is_program; /* neither of PyTorch or another package, nor of C++ */
};

/* A stack is the stack of its inner frames, and the outermost one. */
struct snapshot_stack {
    stack_id inner;
    frame_id outermost;
    frame_id place; /* the innermost frame of the program, or else the innermost one; SNAPSHOT_NONE: no frame */
    uint8_t parts;  /* of all frames */
};

struct snapshot_segment {
    uint64_t address, bytes;
    uint32_t device, first_block, n_blocks;
    uint8_t stream;
    bool is_small; /* for blocks of at most 1 MiB */
};

struct snapshot_block {
    uint64_t address, bytes, requested_bytes;
    stack_id stack;
    bool is_allocated, is_awaiting_free; /* neither: free */
};

enum snapshot_action {
    SNAPSHOT_ALLOC,
    SNAPSHOT_FREE, /* by the program; while another stream still uses it, it is not reusable yet */
    SNAPSHOT_SEGMENT_ALLOC,
    SNAPSHOT_SEGMENT_FREE,
    SNAPSHOT_OOM,
    SNAPSHOT_ACTIONS
};

struct snapshot_events {
    size_t n, cap;
    uint64_t *bytes, *time_us;
    uint32_t *address; /* in struct memory_snapshot; of SNAPSHOT_OOM what was free on the device */
    stack_id *stack;
    uint8_t *action; /* enum snapshot_action */
    uint8_t *stream; /* numbered as they are met; the last number is that of all others */
};

struct snapshot_range {
    uint32_t first, n;
};

struct snapshot_mark {
    const char *name;
    uint64_t time_us;
    uint32_t device;
    bool is_end;
};

struct memory_snapshot {
    const char *path;
    LIST(struct snapshot_frame) frame;
    LIST(struct snapshot_stack) stack; /* [0] is empty */
    LIST(struct snapshot_segment) segment;
    LIST(struct snapshot_block) block;
    LIST(struct snapshot_range) trace; /* of events, a row for each device */
    LIST(struct snapshot_mark) mark;
    struct snapshot_events event;
    struct keys address; /* each address of events once, and what was free on the device */
    struct keys stream;
    bool is_expandable; /* the setting expandable_segments */
    bool has_stacks;
    bool is_recording; /* made of a collection: of segments only their sum is known, and events may have no stack */
};

/* enum snapshot_part of a frame. */
uint8_t snapshot_frame_parts(const char *file, const char *function);
/* The empty stack, and a new one. False: no memory. */
bool snapshot_stack_begin(struct memory_snapshot *s, struct arena *mem);
bool snapshot_stack_add(struct memory_snapshot *s, stack_id inner, frame_id outermost, struct arena *mem);

#endif
