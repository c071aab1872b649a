/* SPDX-License-Identifier: Apache-2.0 */
/* frames.h - the time of operators, summed by the Python frames and operators that contain them.
 *
 * A tree: the root is everything; below it are Python frames from the outermost to the innermost, and in that the
 * operators that it called, each with those that it called itself. Steps are not operators and only provide their
 * stack: the own time of a step is the time between its operators. Operators without a stack (backward passes, internal
 * calls of the library) are in the operator that contains them, or in a frame of their own.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_FRAMES_H
#define ASCOPE_ANALYSE_FRAMEWORK_FRAMES_H

#include "profile/collection.h"

enum frame_kind { FRAME_ROOT, FRAME_PYTHON, FRAME_LIBRARY, FRAME_OPERATOR, FRAME_NO_STACK };
enum { FRAMES_DEEPEST = 255 }; /* deeper frames are counted in the frame of this depth */

struct frame {
    uint32_t parent; /* its own number at the root, which is 0; else a smaller one */
    name_id name;
    uint8_t kind, depth;
    uint32_t n_operators; /* that spent time in it or below */
    double self_us, total_us;
};

struct frames {
    LIST(struct frame) at;
    uint32_t *child;       /* by parent, the longest first */
    uint32_t *first_child; /* n + 1 positions in child */
};

/* The time that is summed. */
enum time_metric { TIME_OF_HOST, TIME_OF_DEVICE };

/* The time of an operator without those that it called; 0 or negative: none. */
double op_self_us(const struct collection *s, enum time_metric metric, uint32_t at); /* at: position in tree.by_begin */

bool frames_build(struct frames *f, const struct collection *s, enum time_metric metric,
                  struct arena *mem); /* false: no memory */

/* The part of a stack (";\r\n" between the frames, innermost first) that begins at *at, without blanks around it. Moves
 * *at behind it; false at the end. */
struct stack_part {
    const char *text;
    size_t len;
};
bool stack_next(const char *stack, size_t len, size_t *at, struct stack_part *part);

#endif
