/* SPDX-License-Identifier: Apache-2.0 */
/* collection_analyse.h - registry: the relations in a collection of a framework: operators and what they started on the device,
 * and steps. */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_COLLECTION_ANALYSE_H
#define ASCOPE_ANALYSE_FRAMEWORK_COLLECTION_ANALYSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/framework/memory_series.h"
#include "analyse/framework/steps/step_series.h"
#include "profile/collection.h"
#include "profile/framework.h"
#include "profile/profile.h"

/* After pt_load(): analyses the device's profile, then fills kernels, tree and steps. */
bool collection_analyse(struct collection *s, unsigned n_threads, struct error *e);

/* Whether its device is simulated: the times of the device are not measured. */
bool collection_is_simulated(const struct collection *s);

/* Adds the losses of its device and framework parts. */
void collection_losses(const struct collection *s, struct losses *out);

/* replays.c: which operators of a capture the kernels of replayed graphs are of. Part of the analysis. */

bool replays_find(struct collection *s); /* false: no memory */

/* Row of s->profile.captured's operators, of a row of s->kernels; NO_ROW: none is known. */
uint32_t kernel_replays(const struct collection *s, size_t kernel);

/* The same of a task. */
static inline uint32_t task_replays(const struct device *d, size_t task)
{
    return d->gpu.captured ? d->gpu.captured[d->tasks.task[task]] : NO_ROW;
}

/* connections.c: the connection ids of operators in the database: with their backward operators, and with calls of the
 * runtime.
 *
 * The id of a task of the queue is the framework's number of it plus CONNECTION_FRAMEWORK. Pairs of forward and
 * backward operators have the ids after these. Calls of the runtime have their own ids. */

static const uint64_t CONNECTION_FRAMEWORK = UINT64_C(5) << 28; /* above every number of a call */

struct connections {
    uint32_t *op;      /* rows of framework_ops: operators, then ranges of the user whose names begin with "mstx_" */
    size_t n, n_plain; /* all of them, and those before the ranges */
    uint32_t *first;   /* by position in `op`: n + 1 positions in `id` */
    uint64_t *id;      /* of each: its pair, then the calls that it made in order of begin */
    uint32_t *dequeue; /* by row of framework.enqueue: row of framework.dequeue, or NO_ROW */
};

/* For the framework of a collection or of a part of it; allocated in mem. Operators are in file order, or sorted by
 * begin if the runtime launched anything. False: out of memory. */
bool connections_find(struct connections *c, const struct collection *s, const struct framework *f, struct arena *mem);

/* collection_part.c: some steps of a collection: their times, and the framework's data of these times.
 *
 * What began between the begin and the end of a step belongs to it: on the host as the framework marked it, on the
 * devices as kernel_details counts it. A task that was enqueued in a step belongs to it, whenever it was dequeued. */

/* The requested steps, first and last included. is_counted: 1 is the step with the least number; otherwise these are
 * step numbers. */
struct step_range {
    int64_t first, last;
    bool is_counted;
};

struct collection_part {
    bool *has_step;           /* by row of collection.steps */
    int64_t first, last;      /* the least and the greatest number of them */
    int64_t begin_ns, end_ns; /* on the host; here and below, both limits are included */
    int64_t launched_ns;      /* when the last of its tasks had been dequeued; at least end_ns */
    bool is_on_device;        /* its steps started something there */
    int64_t device_begin_ns, device_end_ns;
    struct framework framework; /* the framework's data of the part; memory is that of the whole collection */
    uint32_t *op_row;           /* by row of collection.framework.ops: row of framework.ops, or NO_ROW */
};

/* Whether anything counted steps, after collection_analyse(). */
bool collection_has_steps(const struct collection *s);

/* The steps of the range that there are. Allocated in mem. False: there is none of them, and e lists which there are;
 * or out of memory. */
bool collection_part_find(struct collection_part *p, const struct collection *s, const struct step_range *asked,
                          struct arena *mem, struct error *e);

/* python_self.c: how long each Python function ran, without the calls inside it. */

struct python_self {
    uint64_t n; /* calls */
    int64_t ns;
};

/* Sums by name: `by_name` has a zeroed row for each name. Threads with less than a tenth of the calls of the busiest
 * thread do not count: they wait for queues, locks and processes most of the time. False only without memory. */
bool python_self_sum(struct python_self *by_name, const struct python_calls *c);

/* ranges.c: statistics of the ranges that the user named, by domain and name: count and durations. Ranges are those of
 * marks, and operators of the user's scope: record_function() of PyTorch, and what PyTorch names itself, such as steps
 * of optimizers.
 *
 * Built on demand from columns, after the analysis; its memory is the arena's that it was built in. */

struct range_sum {
    name_id domain; /* NAME_EMPTY: none, which is the default domain */
    name_id name;
    uint64_t n;
    double total_ns;
    int64_t p50_ns, p99_ns, max_ns; /* durations that occurred: the n/2-th and the 0.99 n-th, rounded up */
};

struct ranges {
    size_t n; /* by total, the largest first; of equal ones by text */
    struct range_sum *at;
};

/* Times are those on the host. Points are left out, and the ranges of steps, which have names of their own. Without a
 * framework: no operators (NULL). False only without memory. */
bool ranges_sum(struct ranges *r, const struct profile *p, const struct framework_ops *ops, struct arena *mem);

/* enclosing.c: which span of a host thread contains another one.
 *
 * A span contains those of its thread that begin no earlier and end no later. One that begins when another one ends is
 * behind it, even if neither has a duration. Of spans that overlap without nesting none contains the other. */

/* Columns, in any order. */
struct host_spans {
    size_t n;
    const int64_t *begin_ns, *end_ns;
    const uint64_t *thread; /* process << 32 | thread */
};

/* found[i]: the innermost span of `outer` that contains span i of `inner`; NO_ROW: there is none. False: no memory. */
bool enclosing_find(const struct host_spans *outer, const struct host_spans *inner, uint32_t *found);

/* parent[i]: the innermost other span that contains span i, or NO_ROW. self_ns[i]: the time in which span i is the last
 * one that began and is open: it is never below 0, and those of a span and of all inside it add up to no more than its
 * duration. by_begin: the rows in nesting order (call_tree.c). False: no memory. */
bool enclosing_tree(const struct host_spans *s, const uint32_t *by_begin, uint32_t *parent, int64_t *self_ns);

/* ms_analyse.c: the relations in a collection of MindSpore: ranges and what they started on the device, and steps. */

/* After ms_load(): analyses the device's profile, then fills kernels, launches, tree, steps and lives. */
bool ms_analyse(struct collection *s, unsigned n_threads, struct error *e);

/* Whether tables assign what they show to steps. */
bool ms_has_steps(const struct collection *s);

/* memory_peaks.c: peak memory of a device, by allocator.
 *
 * There are three on a device: the framework's caching allocator, the framework's workspaces, and graphs (GE). Each
 * reports its own totals; the device holds the sum of what each reported last. Summaries, reports and the page of the
 * memory timeline all use these numbers. */

struct memory_device {
    int32_t type, number; /* MEMORY_ON_CPU, -1; MEMORY_ON_NPU or MEMORY_ON_CUDA, 0 */
};

/* When a device held most, and the operator of the allocation at that time. */
struct memory_peak {
    bool is_known; /* false: nothing was recorded, and nothing of the rest is set */
    int64_t time_ns;
    int64_t bytes;
    int64_t part[MEMORY_SOURCES]; /* their sum is bytes */
    int64_t device;
    name_id name;     /* of the operator; NAME_EMPTY: unknown */
    bool is_of_graph; /* graphs were taking it, not the framework */
};
struct memory_peaks {
    struct memory_peak allocated, reserved; /* of several equal ones the first */
    bool
        is_partial; /* memory of the CPU, or of a simulated device: only allocations during the recording are counted */
};

/* Of one device, or (NULL) of the NPU or GPU that held most; without one, of the CPU. False: no memory. */
bool memory_peaks_find(struct memory_peaks *out, const struct collection *s, const struct memory_device *device,
                       struct error *e);

/* host_work.c: when the program launched what ran on a device of a collection.
 *
 * With the framework's task queue, that is when its task was put into the queue: the call of the runtime comes later,
 * on another thread. */

/* By row of the device's tasks and of its collectives; without a known launch the begin of the work itself. */
struct work_launches {
    int64_t *task_ns, *collective_ns;
};

bool work_launches_find(struct work_launches *w, const struct collection *c, const struct device *d,
                        struct arena *mem); /* false: no memory */

/* host_work.c: what the thread of a step does, where there is no device: operators, and collectives that it waits for.
 *
 * The thread of a step is the one in which its range begins. A program that trains in a thread of its own changes it
 * after the first step.
 *
 * Operators and ranges count if they lie within one step: a range around several steps ("epoch") says nothing about
 * any of them.
 *
 * A backend of torch.distributed records a collective as an operator, usually on a thread of its own
 * ("gloo:all_reduce"): from the call until all ranks have taken part. The thread of the step goes on meanwhile.
 * Operators that it begins overlap the collective; the rest of the collective is exposed: that thread waits. What
 * encloses the call (DistributedDataParallel.forward), and ranges of the user, which may enclose the wait, overlap
 * nothing. */

bool name_is_collective(const char *name);

/* A range of the user that no step contains. */
bool range_spans_steps(const struct framework_ops *o, size_t row, const struct step_series *s);

/* Disjoint, ascending; in the arena. */
struct host_work {
    struct intervals busy; /* in operators or ranges */
    struct intervals collectives;
    struct intervals exposed;  /* of the collectives */
    struct intervals enclosed; /* of the exposed time: in operators or ranges */
};

/* False: no memory. */
bool host_work_find(struct host_work *out, const struct collection *c, const struct step_series *s, struct arena *mem);

/* collection_marks.c: the steps of a collection in which the profiler marked none: ranges of the host that repeat
 * (step_marks.h).
 *
 * They are the steps of all answers. Files of the vendor's form have no steps then, as the vendor's parser writes
 * them. */

/* A part of the analysis: its last but for memory. With s->steps_by they replace the steps of the profiler. False: see
 * e. */
bool collection_marks_find(struct collection *s, struct error *e);

/* Whether an operator is a step itself, of the profiler or marked. */
bool collection_op_is_step(const struct collection *s, size_t op);

/* memory_lifetimes.c: lifetimes of the blocks that the framework's allocators held on devices, with the operators that
 * allocated them. */

/* Fills collection.lives; needs the tree of operators. A lifetime begins with an allocation and contains the next free
 * and the next return to the pool of the same address, in any order, until one of them or an allocation repeats. The
 * release of a block from before the collection is not a lifetime. Missing events and unknown names are counted as
 * losses of the file. False: out of memory. */
bool memory_lives_analyse(struct collection *s, struct error *e);

/* The event that ended a lifetime: the free, or if it is unknown the return to the pool; NO_ROW: none. */
static inline uint32_t memory_life_end(const struct memory_lives *l, size_t life)
{
    return l->freed[life] != NO_ROW ? l->freed[life] : l->returned[life];
}

#endif
