/* SPDX-License-Identifier: Apache-2.0 */
/* call_stacks.h - call stacks by number: a frame is announced once, operators name their innermost one, and the text is
 * made here, by the writer's thread or by recovery, while operators are appended to their file.
 *
 * A record of STREAM_FRAME is a struct frame_bytes and the frame's text ("train.py(12): step"). Its caller is an
 * earlier frame, so that whatever a damaged file says, stacks end. An operator that names a frame has it in front of
 * its other fields, as a field of type TORCH_FRAME that no file holds.
 *
 * The name, types and shapes of an operator are announced in the same way, as a frame without a caller, whose text is
 * those fields as they are in the file: its label (TORCH_LABEL).
 */
#ifndef ASCOPE_COLLECT_RING_CALL_STACKS_H
#define ASCOPE_COLLECT_RING_CALL_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ascope/record.h"

enum { FRAMES_MOST = 1 << 20, FRAMES_BYTES_MOST = 256 << 20, STACK_BYTES_MOST = 16384 };
enum { LABELS_MOST = 1 << 17, LABEL_BYTES_MOST = 1024 }; /* they leave room for frames */

struct __attribute__((packed)) frame_bytes {
    uint32_t id, caller, text_bytes; /* caller: 0 for the outermost */
};

struct stacks {
    struct stack_frame {
        uint32_t caller, n;
        size_t at; /* in text */
    } * frame;     /* by number; those that were never announced have n == 0 */
    size_t n_frames, frames_room;
    char *text;
    size_t n_text, text_room;
    uint32_t made_of; /* the frame whose stack `made` holds; 0: none */
    uint32_t made_n;
    char made[STACK_BYTES_MOST];
};

/* False: it is damaged, or there is no memory for it. */
bool stacks_note(struct stacks *s, const uint8_t *record, size_t bytes);

/* Of the frame and its callers, innermost first; without the outermost where they are too long. { NULL, 0 }: nobody
 * announced the frame. Until the next call. */
struct ascope_text stacks_text(struct stacks *s, uint32_t frame);

/* What was announced by that number, without its callers. { NULL, 0 }: nothing was. Until the next stacks_note(). */
struct ascope_text stacks_label(const struct stacks *s, uint32_t label);

void stacks_fini(struct stacks *s); /* fine when zeroed */

#endif
