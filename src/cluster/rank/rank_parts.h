/* SPDX-License-Identifier: Apache-2.0 */
/* rank_parts.h - registry: what is computed of one rank for its summary. */
#ifndef ASCOPE_CLUSTER_RANK_RANK_PARTS_H
#define ASCOPE_CLUSTER_RANK_RANK_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/device/kernel_work.h"
#include "base/memory/arena.h"
#include "base/memory/sort.h"
#include "cluster/rank/rank.h"
#include "cluster/rank/rank_summary.h"
#include "profile/calls.h"

/* link_samples.c: links of single operators as links of kinds of operators.
 *
 * Databases of msprof and MindSpore have a row for each operator and link, those of PyTorch rows for a kind of
 * operator ("allreduce"): its sum over a step (-total), and the operators with the lowest (-top1), a middle (-middle)
 * and the highest bandwidths (-bottom1, -bottom2, -bottom3). What compares links needs the latter. */

/* Replaces the rows by those of the kinds; the kind is what is before "__" in an operator's name. False: out of memory. */
bool links_by_kind(struct rank_comm_matrix *m, struct names *names, struct arena *mem);

/* task_work.c: the operations of the kernels of a rank: as the program recorded them, or by their shapes.
 *
 * Front ends record the operations of an operator as a range around its call, of the domain "mfu_flops": "48-mm". They
 * belong to those kernels launched in it that multiply matrices, by their time; what else the operator launched, such
 * as a transposition, has none of them. */

struct task_work {
    double operations; /* 0: not known */
    enum number_kind numbers;
    name_id by;  /* the operator of the range, or the type of the kernel's */
    uint32_t op; /* that launched it: row of ops; NO_ROW: not known */
};

/* One for each task of the rank. NULL: no memory. */
struct task_work *task_work_find(const struct rank *r, struct arena *mem);

/* busy.c: times at which something ran, merged: intervals that neither overlap nor touch, ascending. */

struct busy {
    size_t n;
    int64_t *begin_ns, *end_ns;
};

enum { BUSY_KERNELS = 1, BUSY_COLLECTIVES = 2 };
bool busy_of_rank(struct busy *b, const struct rank *r, unsigned what, struct arena *mem); /* false: no memory */

/* Merges what is there, which begins in ascending order. */
void busy_merge(struct busy *b);

/* The step in which something happened.
 *
 * Both ends of a step belong to it; what happens at the moment when one ends and the next begins is in the first of
 * them. */

/* The row of steps, or NO_ROW. */
static inline uint32_t step_of(const struct rank_steps *s, int64_t ns)
{
    const size_t behind = SEARCH_FIRST_NOT(i, 0, s->n, s->begin_ns[i] <= ns);
    if (behind > 1 && s->end_ns[behind - 2] >= ns)
        return (uint32_t)behind - 2;
    return behind > 0 && s->end_ns[behind - 1] >= ns ? (uint32_t)behind - 1 : NO_ROW;
}

/* link_samples.c: rows found by the number that connects a call of the host with what it started.
 *
 * Of several rows with the same number the first is found. */

enum { CONNECTION_NONE = UINT32_MAX }; /* as the tables have it where nothing is connected */

struct by_connection {
    uint64_t least, span;
    uint32_t *place; /* row + 1 by number from least on; 0: none. NULL: the numbers are far apart */
    size_t n;
    const uint64_t *connection;
    uint32_t *order; /* of such numbers */
};

bool by_connection_init(struct by_connection *b, const uint64_t *connection, size_t n, struct arena *mem);
uint32_t by_connection_find(const struct by_connection *b, uint64_t connection); /* the row, or NO_ROW */

/* comm_totals.c: sums over the operators of a group in a step, of one rank: rows of an operator "Total Op Info". */

struct comm_totals {
    struct rank_comm_time time;
    struct rank_comm_bandwidth band; /* by transport and size of packages */
};

bool comm_totals_of(const struct rank_summary *s, struct comm_totals *out, struct arena *mem); /* false: no memory */

/* size or wait of a whole, to 4 decimals; 0 where there is none. */
double comm_ratio(double part, double other);
double comm_bandwidth(double mb, double ms);

/* rank_steps_marked.c: the steps of a rank whose source has no table of them: ranges of the host that repeat
 * (step_marks.h). */

/* Replaces r->steps, unless nothing repeats. Ranges that r->identity.steps_by begins with are used if it is set, else
 * those that are found are noted there. Operators, calls, tasks and marks are there. False: see e. */
bool rank_steps_marked(struct rank *r, struct error *e);

/* rank_summarise.c: from all that is known of a rank to what the modes need of it. */

/* Columns that are kept whole are lent from the rank, the others are taken from its memory. exit_code: of the analysis
 * of the rank. False: no memory. */
bool rank_summarise(const struct rank *r, int exit_code, struct rank_summary *out, struct error *e);

#endif
