/* steps.h - iterations of models and training steps, as the device stamped them. */
#ifndef ASCOPE_PROFILE_STEPS_H
#define ASCOPE_PROFILE_STEPS_H

#include <stddef.h>
#include <stdint.h>

/* Times are wall-clock ns, 0 where a part is missing. Sorted by end. */
struct steps {
    size_t n;
    uint64_t *model, *index;
    int64_t *begin_ns, *end_ns, *fp_ns, *bp_ns;
    int64_t *data_aug_ns; /* from the end of the iteration before to fp; -1: there was none */
    struct {              /* reductions, sorted by begin */
        size_t n;
        uint64_t *model, *index;
        int64_t *begin_ns, *end_ns, *iteration_end_ns;
    } reduces;
    struct { /* waits for the next input */
        size_t n;
        uint64_t *model, *index;
        int64_t *begin_ns, *end_ns;
    } get_nexts;
    struct { /* marks of the user that the device saw */
        size_t n;
        uint64_t *id;
        uint16_t *stream, *task;
        int64_t *begin_ns, *end_ns;
    } marks;
};

#endif
