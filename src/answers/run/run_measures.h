/* SPDX-License-Identifier: Apache-2.0 */
/* run_measures.h - what one rank of a run did, by name and by step: a side of a comparison.
 *
 * It has the same form for every kind of recording. A measure has sums over the whole recording, a mean over the usual
 * steps (without the start-up and those that judge.h finds slow by a tenth at least; `ascope why` explains them), and
 * its time in each of them. Texts of both sides are interned in one set of names, so that the sides are joined by
 * integers.
 */
#ifndef ASCOPE_ANSWERS_RUN_RUN_MEASURES_H
#define ASCOPE_ANSWERS_RUN_RUN_MEASURES_H

#include "analyse/framework/steps/iteration.h"
#include "base/memory/keys.h"
#include "base/memory/names.h"

enum measure_kind {
    MEASURE_KERNEL,     /* by the type of its operator, or by name: time on the device */
    MEASURE_SHAPE,      /* the same by type and shapes, where these are known */
    MEASURE_COLLECTIVE, /* kind of collective, its size and group */
    MEASURE_COPY,       /* between memories */
    MEASURE_OPERATOR,   /* of the framework: time on the device of the kernels that it launched itself */
    MEASURE_CLASS,      /* see kernel_class.h: time on the device */
    MEASURE_HOST,       /* operator of the framework: its own time on the host */
    MEASURE_CALL,       /* of the vendor's libraries: its own time */
    MEASURE_KINDS
};

struct measure {
    enum measure_kind kind;
    name_id name, detail;
    uint64_t n; /* runs in the whole recording, as the next three */
    double total_ns, min_ns, max_ns;
    double mean_ns, runs; /* of a usual step */
    size_t first,
        n_shares; /* rows of measured_rank.share, by step; it did not occur in usual steps that are not there */
};

struct measured_share {
    uint32_t step;
    float ns, runs;
};

enum run_part { RUN_STEP, RUN_COMPUTING, RUN_COMMUNICATION, RUN_FREE, RUN_PARTS }; /* communication: exposed */

struct run_step {
    name_id name;
    int64_t part_ns[RUN_PARTS];
    /* Of traces only, as in struct step_series; overlapped: of computing, with communication meanwhile. */
    int64_t begin_ns, end_ns, host_begin_ns, host_end_ns, device_end_ns, overlapped_ns, requests_ns;
    struct iteration iteration;
    double usual_ns; /* of iterations of an engine: the median of its class and size; 0: the usual step of the rank */
    bool is_slow;
    bool is_apart; /* of another class or size than those that are compared */
};

static inline bool run_step_is_usual(const struct run_step *s)
{
    return !s->is_slow && !s->is_apart;
}

struct measured_rank {
    const char *path;
    bool has_rank, has_device, is_gpu;
    int64_t rank;
    unsigned device;
    const char *steps_by; /* as in struct step_series */
    bool has_steps;       /* false: the only step is the whole recording */
    size_t n_steps, n_usual;
    size_t n_startup;          /* leading steps that take longer; they are slow, too */
    struct run_step *step;     /* by begin */
    double part_ns[RUN_PARTS]; /* of a usual step */
    size_t n;
    struct measure *at; /* by kind, then by the ids of name and detail */
    struct measured_share *share;
    int64_t allocated_bytes, reserved_bytes; /* at most; -1: not recorded */
};

/* A rank while it is measured. */
struct measuring {
    struct measured_rank *out;
    struct names *names;
    struct arena *mem, *work; /* of the result; until measuring_end() */
    struct keys rows, cells;  /* names; names in steps */
    LIST(struct measure) list;
    LIST(struct measure_cell {
        double ns;
        uint64_t runs;
    })
    sums; /* as `cells` */
    bool failed;
};

/* out->step, n_steps, has_steps are set. False: no memory. */
bool measuring_begin(struct measuring *m, struct measured_rank *out, struct names *names, struct arena *mem);
/* Rows of steps by class and size of their iterations. NULL: no memory. */
uint32_t *run_steps_order(const struct run_step *step, size_t n, struct arena *mem);

/* From now on, only some steps are usual: means are those of a class of iterations, and of a size unless it is 0. */
void measured_rank_restrict(struct measured_rank *r, enum iteration_class class_of, double size);

enum { NO_STEP = UINT32_MAX };
void measuring_add(struct measuring *m, enum measure_kind kind, name_id name, name_id detail, uint32_t step, double ns);
bool measuring_end(struct measuring *m); /* in any case, also after a failure; false: no memory */

#endif
