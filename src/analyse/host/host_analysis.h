/* SPDX-License-Identifier: Apache-2.0 */
/* host_analysis.h - registry: what is computed of the host: the tree of its calls, its operators, and what they
 * launched. */
#ifndef ASCOPE_ANALYSE_HOST_HOST_ANALYSIS_H
#define ASCOPE_ANALYSE_HOST_HOST_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "profile/profile.h"

/* by_call.c: rows of a table by the call that they belong to. */

struct by_call {
    const uint32_t *call; /* of each row, or NO_ROW */
    uint32_t *order;      /* rows by ascending call, else as they were */
    size_t n, last;       /* last: the position that was found last */
    uint32_t *by_name;    /* the same rows by (call, name), made when first needed */
};

bool by_call_init(struct by_call *b, struct arena *mem, const uint32_t *call, size_t n); /* false: no memory */
size_t by_call_first(struct by_call *b, uint32_t call);              /* position in `order` of a call's first row */
bool by_call_has(const struct by_call *b, size_t at, uint32_t call); /* is the row at that position one of the call? */
/* The last row of a call: of two records the later one counts. NO_ROW: there is none. */
uint32_t by_call_last(struct by_call *b, uint32_t call);

/* The last row of a call that bears a name, or NO_ROW. `name` is the table's column of names. */
uint32_t by_call_named(struct by_call *b, struct arena *mem, uint32_t call, const uint64_t *name, uint64_t wanted);

/* captured.c: graphs that were captured from a stream and replayed: the model of a task, and its description when it
 * was captured. */

/* Streams that were filled by a captured graph: a task of this stream and batch, from `since` on, belongs to the
 * model. */
struct capture {
    uint16_t device, stream, batch;
    uint32_t model;
    uint64_t since;
};

struct captured {
    const struct profile *p;
    LIST(struct capture) captures; /* by (device, stream, batch) */
    uint32_t *op_order;            /* captured_ops by (device, stream, task) */
};

bool captured_init(struct captured *c, const struct profile *p, struct arena *mem); /* false: no memory */
uint32_t captured_model(const struct captured *c, size_t track);                    /* NO_MODEL: none */
uint32_t captured_op(const struct captured *c, size_t track); /* the last description, or NO_ROW */

/* cuda_operators.c: the host's side of what ran on GPUs: the call that launched each task, by correlation id, and
 * kernels as operators. A task whose call was not recorded has no connection. */

bool cuda_operators_analyse(struct profile *p, struct error *e); /* after calls_analyse(); false only without memory */

/* op_memory.c: lifetimes of the memory of operators: each allocation with its release. */

/* Fills op_memory.lives. An allocation ends with the next release of the same operator, address and device; unpaired
 * ones are counted as losses. False: out of memory. */
bool memory_analyse(struct profile *p, struct error *e);

/* call_tree.c: the call tree of each thread, and the call that each record belongs to. */

/* Fills calls.parent, in_tree, is_shown and the threads, and the `call` of every record that was reported inside
 * one. */
bool calls_analyse(struct profile *p, struct error *e);

/* The calls around a row of the tree, the nearest of each level; NO_ROW where there is none. */
struct call_path {
    uint32_t model, node, communication;
};
struct call_path call_path_of(const struct calls *c, uint32_t call);

/* operators.c: what the host launched, from tasks and the calls around them: host tasks, compute operators,
 * collectives. */

/* After calls_analyse(). Fills host.tasks, host.ops and host.comm. */
bool operators_analyse(struct profile *p, struct error *e);

/* True for operators that only schedule communication: they run on the stream of a scheduler or have its name. They do
 * not count as computing. */
bool op_is_schedule(const struct profile *p, uint16_t stream, uint32_t op);

/* batch.c: distinguishes tasks whose 16-bit ids were reused.
 *
 * Each time the ids of a stream wrap around (or the stream is destroyed and its number reused), a flip is recorded.
 * The batch of a task is the number of flips before it, corrected around the flip by comparing task ids, because the
 * clocks of tasks and flips are read at slightly different times. */

/* The device's rule. Tasks are the rows order[0..n) of one stream by ascending time; flips are those of the stream. */
void batch_of_device(const uint32_t *order, size_t n, const uint64_t *time, const uint32_t *task, uint16_t *batch,
                     size_t n_flips, const uint64_t *flip_time, const uint16_t *flip_task);

/* The host's rule, which looks at the flip's number too. */
void batch_of_host(const uint32_t *order, size_t n, const uint64_t *time, const uint32_t *task, uint16_t *batch,
                   size_t n_flips, const uint64_t *flip_time, const uint16_t *flip_task, const uint16_t *flip_number);

/* The rule of the older presentation for devices: as the host's, but a task at the very time of a flip comes after
 * it. */
void batch_of_older(const uint32_t *order, size_t n, const uint64_t *time, const uint32_t *task, uint16_t *batch,
                    size_t n_flips, const uint64_t *flip_time, const uint16_t *flip_task, const uint16_t *flip_number);

/* The AI CPUs' rule: a flip has the number of the round that it begins, and a destroyed stream begins a round of its
 * own. Nothing is corrected around a flip. */
void batch_by_number(const uint32_t *order, size_t n, const uint64_t *time, uint16_t *batch, size_t n_flips,
                     const uint64_t *flip_time, const uint16_t *flip_number);

/* batch.c: counts and sums by two keys.
 *
 * Sums do not wrap: they stop at UINT64_MAX. */

struct host_tally {
    uint32_t a, b;
    uint64_t n, sum, least, most;
};

struct tallies {
    size_t n;
    struct host_tally *at;
};

/* Sums the rows in `row`, which is reordered, by the keys (a, b); the result is sorted by them. b may be NULL; without
 * values only n is counted. False: no memory. */
bool tally_up(struct tallies *out, uint32_t *row, size_t n, const uint32_t *a, const uint32_t *b, const uint64_t *value,
              struct arena *mem);

/* call_tree.c: spans in the order of their nesting. */

/* Sorts rows by begin. Of spans that begin together, the longest is the outermost and comes first. Of spans that also
 * end together, the one that was recorded last comes first: a record is written when its span ends, and inner spans end
 * first. Spans without duration stay in the order of the records. False: no memory. */
bool nesting_order(uint32_t *order, size_t n, const int64_t *begin_ns, const int64_t *end_ns);

/* host_use.c: resources of the host that the sampled program used, in sums: CPU time by thread, memory, disk, network,
 * system calls by name. For the report at the end of a run; tables and timelines show the samples. */

struct os_call_sum {
    name_id name;
    uint64_t n, sum_ns, most_ns;
};

struct host_use {
    bool has_cpu, has_memory, has_disk, has_network;
    double wall_s;               /* of the collection */
    double user_s, sys_s;        /* CPU time of all threads */
    struct thread_times threads; /* by descending CPU time; without threads that used none */
    size_t n_threads;            /* number of all threads */
    double ticks_per_s;
    uint64_t memory_most_kb, memory_all_kb;
    uint64_t disk_read, disk_written;        /* bytes */
    double disk_most_kb_s[2];                /* read, written */
    uint64_t network_received, network_sent; /* bytes, without the loopback device */
    uint64_t loopback;                       /* bytes sent over the loopback device */
    struct os_call_sum *calls;               /* by descending time */
    size_t n_call_names;
    uint64_t calls_n, calls_ns; /* of all */
};

/* The results are allocated in mem. False: no memory. */
bool host_use_sum(struct host_use *out, const struct profile *p, struct arena *mem);

#endif
