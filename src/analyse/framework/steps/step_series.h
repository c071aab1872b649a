/* SPDX-License-Identifier: Apache-2.0 */
/* step_series.h - the steps of a job on one device, or on the host alone, against their median.
 *
 * Steps of a framework begin and end as step_bounds.h says, and divide the recording: they do not overlap. Steps of a
 * PROF directory are iterations stamped by the device. The parts of a step are what the device did in that time,
 * exactly: what spans two steps is split. step_trace_time.csv counts by another rule (step_shares.h).
 *
 * Built on demand from columns, after the analysis; its memory is the arena's that it was built in.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_STEPS_STEP_SERIES_H
#define ASCOPE_ANALYSE_FRAMEWORK_STEPS_STEP_SERIES_H

#include "analyse/framework/steps/iteration.h"
#include "base/text/stamp.h"
#include "profile/collection.h"

/* They add up to the whole. On the host alone: operators are computing,
 * collectives of a backend of torch.distributed are communication, what is outside of both is free. */
enum step_part {
    STEP_COMPUTING,     /* without communication at the same time */
    STEP_OVERLAPPED,    /* both at the same time */
    STEP_COMMUNICATION, /* without computing at the same time */
    STEP_FREE,          /* neither */
    STEP_PARTS
};

struct step_series {
    bool is_host;           /* there is no device */
    bool has_communication; /* always with a device; on the host where collectives were recorded */
    bool is_whole;          /* no steps were recorded: one row stands for everything */
    bool has_model;         /* iterations of a model, not training steps */
    uint64_t model;
    const char *by; /* the ranges of the host that the steps are (step_marks.h); NULL: those that the profiler marked */
    size_t n;       /* by begin */
    name_id *name;
    int64_t *begin_ns, *end_ns;
    int64_t *host_begin_ns, *host_end_ns; /* of its range: where to look for what the host did meanwhile */
    int64_t
        *device_end_ns; /* of the last work that it launched, which may be after its end; INT64_MIN: unknown, or none */
    uint32_t *thread;   /* of the host, that marked it; NULL without the framework */
    int64_t *time_ns, *part_ns[STEP_PARTS];
    int64_t
        *requests_ns; /* in which nothing ran and the host waited for requests: the judge leaves it out of step and free
                        time */
    struct iteration *iteration; /* what each is; NULL: no iterations of an inference engine */
    bool *is_like; /* of the class that is compared, the most frequent one unless step_series_liken() says otherwise;
                    NULL: all are */
    bool *is_slow; /* judge.h; those of the start-up are not */
    bool *is_once; /* of those, one of a single step or of some in a row */
    bool *is_catch_up; /* the device works off what the host launched during a far longer step: shorter than usual */
    bool *is_chosen;   /* it is one of the requested steps; all are, if none were requested */
    uint32_t *slowest; /* rows, the slowest first */
    size_t n_slow;
    size_t n_startup; /* steps at the begin that take longer because of start-up; they are not usual */
    int64_t median_ns;
    double usual_ns;                    /* judge.h */
    int64_t median_part_ns[STEP_PARTS]; /* each of its own: they need not add up */
};

/* What is judged of a step, and of the time in which its device has nothing to do. */
static inline int64_t step_judged_ns(const struct step_series *s, size_t i)
{
    return s->time_ns[i] - s->requests_ns[i];
}
static inline int64_t step_judged_free_ns(const struct step_series *s, size_t i)
{
    return s->part_ns[STEP_FREE][i] > s->requests_ns[i] ? s->part_ns[STEP_FREE][i] - s->requests_ns[i] : 0;
}

static inline bool step_is_usual(const struct step_series *s, size_t i)
{
    return i >= s->n_startup && !s->is_slow[i] && !s->is_catch_up[i] && (!s->is_like || s->is_like[i]);
}

/* Some steps, by their numbers. NULL: all. */
struct step_choice {
    uint64_t model; /* of a PROF directory; 4294967295: training steps */
    uint64_t first, last;
};

/* False only without memory. Of a collection without a device d is NULL. Of a PROF directory the training steps; where
 * there are none, the iterations of the model that took most time. */
bool step_series_of_collection(struct step_series *s, const struct collection *collection, const struct device *d,
                               const struct step_choice *choice, struct arena *mem);
bool step_series_of_profile(struct step_series *s, const struct profile *p, const struct device *d,
                            const struct step_choice *choice, struct arena *mem);

/* For those who fill a series themselves: room for n steps; and, once their times and parts are there, the median, what
 * is slow, and the order. False only without memory. */
bool step_series_take(struct step_series *s, size_t n, struct arena *mem);
bool step_series_compare(struct step_series *s, struct arena *mem);

/* Before the comparison: what the steps are, by the names of their ranges. False only without memory. */
bool step_series_classify(struct step_series *s, const name_id *annotation, const struct names *names,
                          struct arena *mem);
/* Then usual steps are those of the class of a row, and of its size where there are some of it. */
bool step_series_liken(struct step_series *s, size_t row, struct arena *mem);

/* Which step a moment belongs to, by begins and ends of a series: the last that has begun; NO_ROW: none, or it has
 * ended. */
uint32_t step_series_at(const int64_t *begin_ns, const int64_t *end_ns, size_t n, int64_t ns);

#endif
