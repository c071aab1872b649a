/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/snapshot/memory_snapshot.h"

#include <string.h>

/* What a frame says of the memory below it. Parts of paths and whole names, of PyTorch and of what follows its
 * manners. */
uint8_t snapshot_frame_parts(const char *file, const char *function)
{
    static const struct {
        const char *file, *function; /* NULL: any */
        enum snapshot_part part;
    } row[] = {
        { "/optim/", NULL, PART_OPTIMIZER },         { "/optimizers/", NULL, PART_OPTIMIZER },
        { NULL, "zero_grad", PART_ZERO_GRAD },       { NULL, "backward", PART_BACKWARD },
        { "/torch/autograd/", NULL, PART_BACKWARD }, { NULL, "_call_impl", PART_FORWARD },
        { NULL, "forward", PART_FORWARD },           { "/nn/modules/module.py", "_apply", PART_MODULE },
        { "/nn/modules/", "__init__", PART_MODULE }, { "/nn/modules/", "reset_parameters", PART_MODULE },
        { NULL, "load_state_dict", PART_MODULE },    { NULL, "from_pretrained", PART_MODULE },
    };
    uint8_t parts = strncmp(function, "torch::autograd::", 17) == 0 || strncmp(function, "autograd::", 10) == 0
                        ? PART_BACKWARD
                    : strncmp(function, "Optimizer.zero_grad", 19) == 0 ? PART_ZERO_GRAD
                    : strncmp(function, "Optimizer.step", 14) == 0      ? PART_OPTIMIZER
                                                                        : 0;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if ((!row[i].file || strstr(file, row[i].file)) && (!row[i].function || strcmp(function, row[i].function) == 0))
            parts |= (uint8_t)row[i].part;
    return parts;
}

bool snapshot_stack_begin(struct memory_snapshot *s, struct arena *mem)
{
    struct snapshot_stack *empty = list_add(&s->stack, mem);
    if (empty)
        *empty = (struct snapshot_stack){ .outermost = SNAPSHOT_NONE, .place = SNAPSHOT_NONE };
    return empty;
}

bool snapshot_stack_add(struct memory_snapshot *s, stack_id inner, frame_id outermost, struct arena *mem)
{
    struct snapshot_stack *to = list_add(&s->stack, mem);
    if (!to)
        return false;
    const struct snapshot_stack *in = &s->stack.at[inner];
    const struct snapshot_frame *frame = s->frame.at;
    const bool is_place = in->place == SNAPSHOT_NONE || (frame[outermost].is_program && !frame[in->place].is_program);
    *to = (struct snapshot_stack){ .inner = inner,
                                   .outermost = outermost,
                                   .place = is_place ? outermost : in->place,
                                   .parts = in->parts | frame[outermost].parts };
    return true;
}
