/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/rank/rank_columns.h"

#include <string.h>

const uint8_t column_bytes[COLUMN_KINDS] = {
    [COLUMN_NAME] = sizeof(name_id), [COLUMN_U8] = sizeof(uint8_t),  [COLUMN_U32] = sizeof(uint32_t),
    [COLUMN_I64] = sizeof(int64_t),  [COLUMN_REAL] = sizeof(double), [COLUMN_ENUM] = sizeof(enum gap_reason),
};

#define IN(type, member) offsetof(struct type, member)

static const struct column_row steps[] = {
    { IN(rank_steps, id), COLUMN_I64 },
    { IN(rank_steps, begin_ns), COLUMN_I64 },
    { IN(rank_steps, end_ns), COLUMN_I64 },
    { IN(rank_steps, mark), COLUMN_NAME },
};

#define STEP_TRACE(column)                                                                                             \
    {                                                                                                                  \
        IN(rank_step_trace, us) + (column) * sizeof(double *), COLUMN_REAL                                             \
    }
static const struct column_row step_trace[] = {
    { IN(rank_step_trace, step), COLUMN_NAME },
    STEP_TRACE(STEP_COLUMN_COMPUTING),
    STEP_TRACE(STEP_COLUMN_EXPOSED),
    STEP_TRACE(STEP_COLUMN_OVERLAPPED),
    STEP_TRACE(STEP_COLUMN_COMMUNICATION),
    STEP_TRACE(STEP_COLUMN_FREE),
    STEP_TRACE(STEP_COLUMN_STAGE),
    STEP_TRACE(STEP_COLUMN_BUBBLE),
    STEP_TRACE(STEP_COLUMN_EXPOSED_NO_RECEIVE),
    STEP_TRACE(STEP_COLUMN_PREPARING),
};
_Static_assert(sizeof step_trace / sizeof *step_trace == STEP_COLUMNS + 1, "all columns of step_trace_time");

static const struct column_row comm_time[] = {
    { IN(rank_comm_time, op), COLUMN_NAME },
    { IN(rank_comm_time, group), COLUMN_NAME },
    { IN(rank_comm_time, step), COLUMN_NAME },
    { IN(rank_comm_time, type), COLUMN_NAME },
    { IN(rank_comm_time, start_us), COLUMN_REAL },
    { IN(rank_comm_time, elapse_ms), COLUMN_REAL },
    { IN(rank_comm_time, transit_ms), COLUMN_REAL },
    { IN(rank_comm_time, wait_ms), COLUMN_REAL },
    { IN(rank_comm_time, synchronization_ms), COLUMN_REAL },
    { IN(rank_comm_time, idle_ms), COLUMN_REAL },
    { IN(rank_comm_time, wait_ratio), COLUMN_REAL },
    { IN(rank_comm_time, synchronization_ratio), COLUMN_REAL },
};

static const struct column_row comm_bandwidth[] = {
    { IN(rank_comm_bandwidth, op), COLUMN_NAME },
    { IN(rank_comm_bandwidth, group), COLUMN_NAME },
    { IN(rank_comm_bandwidth, step), COLUMN_NAME },
    { IN(rank_comm_bandwidth, type), COLUMN_NAME },
    { IN(rank_comm_bandwidth, transport), COLUMN_NAME },
    { IN(rank_comm_bandwidth, transit_mb), COLUMN_REAL },
    { IN(rank_comm_bandwidth, transit_ms), COLUMN_REAL },
    { IN(rank_comm_bandwidth, gbs), COLUMN_REAL },
    { IN(rank_comm_bandwidth, large_packet_ratio), COLUMN_REAL },
    { IN(rank_comm_bandwidth, package_mb), COLUMN_REAL },
    { IN(rank_comm_bandwidth, count), COLUMN_REAL },
    { IN(rank_comm_bandwidth, total_ms), COLUMN_REAL },
};

static const struct column_row comm_matrix[] = {
    { IN(rank_comm_matrix, op), COLUMN_NAME },         { IN(rank_comm_matrix, group), COLUMN_NAME },
    { IN(rank_comm_matrix, step), COLUMN_NAME },       { IN(rank_comm_matrix, type), COLUMN_NAME },
    { IN(rank_comm_matrix, transport), COLUMN_NAME },  { IN(rank_comm_matrix, op_name), COLUMN_NAME },
    { IN(rank_comm_matrix, src), COLUMN_I64 },         { IN(rank_comm_matrix, dst), COLUMN_I64 },
    { IN(rank_comm_matrix, transit_mb), COLUMN_REAL }, { IN(rank_comm_matrix, transit_ms), COLUMN_REAL },
    { IN(rank_comm_matrix, gbs), COLUMN_REAL },
};

static const struct column_row collectives[] = {
    { IN(summary_collectives, ops.name), COLUMN_NAME },     { IN(summary_collectives, ops.group), COLUMN_NAME },
    { IN(summary_collectives, ops.type), COLUMN_NAME },     { IN(summary_collectives, ops.data_type), COLUMN_NAME },
    { IN(summary_collectives, ops.begin_ns), COLUMN_I64 },  { IN(summary_collectives, ops.end_ns), COLUMN_I64 },
    { IN(summary_collectives, ops.launch_ns), COLUMN_I64 }, { IN(summary_collectives, ops.connection), COLUMN_I64 },
    { IN(summary_collectives, ops.count), COLUMN_REAL },    { IN(summary_collectives, ops.src), COLUMN_I64 },
    { IN(summary_collectives, ops.dst), COLUMN_I64 },       { IN(summary_collectives, step), COLUMN_U32 },
    { IN(summary_collectives, exposed_ns), COLUMN_I64 },    { IN(summary_collectives, computing_ns), COLUMN_I64 },
    { IN(summary_collectives, copying_ns), COLUMN_I64 },    { IN(summary_collectives, free_ns), COLUMN_I64 },
    { IN(summary_collectives, longest), COLUMN_NAME },      { IN(summary_collectives, longest_ns), COLUMN_I64 },
};

static const struct column_row sums[] = {
    { IN(summary_step_sums, copy_ns), COLUMN_I64 },
    { IN(summary_step_sums, copy_exposed_ns), COLUMN_I64 },
    { IN(summary_step_sums, last_collective_end_ns), COLUMN_I64 },
    { IN(summary_step_sums, tail_computing_ns), COLUMN_I64 },
    { IN(summary_step_sums, tail_free_ns), COLUMN_I64 },
};

static const struct column_row calls[] = {
    { IN(summary_calls, name), COLUMN_NAME },  { IN(summary_calls, step), COLUMN_U32 },
    { IN(summary_calls, count), COLUMN_I64 },  { IN(summary_calls, total_ns), COLUMN_I64 },
    { IN(summary_calls, min_ns), COLUMN_I64 }, { IN(summary_calls, max_ns), COLUMN_I64 },
    { IN(summary_calls, q1_ns), COLUMN_REAL }, { IN(summary_calls, median_ns), COLUMN_REAL },
    { IN(summary_calls, q3_ns), COLUMN_REAL }, { IN(summary_calls, stdev_ns), COLUMN_REAL },
};

static const struct column_row gaps[] = {
    { IN(summary_gaps, step), COLUMN_U32 },
    { IN(summary_gaps, begin_ns), COLUMN_I64 },
    { IN(summary_gaps, end_ns), COLUMN_I64 },
    { IN(summary_gaps, framework_idle_ns), COLUMN_I64 },
    { IN(summary_gaps, runtime_idle_ns), COLUMN_I64 },
    { IN(summary_gaps, reason), COLUMN_ENUM },
    { IN(summary_gaps, reason_ns), COLUMN_I64 },
    { IN(summary_gaps, tasks), COLUMN_NAME },
};

static const struct column_row marks[] = {
    { IN(summary_marks, marks.message), COLUMN_NAME },   { IN(summary_marks, marks.domain), COLUMN_NAME },
    { IN(summary_marks, marks.begin_ns), COLUMN_I64 },   { IN(summary_marks, marks.end_ns), COLUMN_I64 },
    { IN(summary_marks, marks.event_type), COLUMN_U8 },  { IN(summary_marks, marks.thread), COLUMN_I64 },
    { IN(summary_marks, marks.connection), COLUMN_I64 }, { IN(summary_marks, device_begin_ns), COLUMN_I64 },
    { IN(summary_marks, device_end_ns), COLUMN_I64 },    { IN(summary_marks, framework_ns), COLUMN_I64 },
};

static const struct column_row exposed[] = {
    { IN(summary_exposed, begin_ns), COLUMN_I64 },
    { IN(summary_exposed, end_ns), COLUMN_I64 },
};

static const struct column_row clock[] = { { IN(rank_summary, mhz) - IN(rank_summary, n_mhz), COLUMN_I64 } };

static const struct column_row runs[] = {
    { IN(summary_runs, name), COLUMN_NAME },      { IN(summary_runs, op_type), COLUMN_NAME },
    { IN(summary_runs, task_type), COLUMN_NAME }, { IN(summary_runs, input_shapes), COLUMN_NAME },
    { IN(summary_runs, step), COLUMN_U32 },
};

#define PART(name, member, array)                                                                                      \
    {                                                                                                                  \
        name, IN(rank_summary, member), array, sizeof array / sizeof *array                                            \
    }
const struct part_row summary_part[SUMMARY_PARTS] = {
    [PART_STEPS] = PART("steps", steps, steps),
    [PART_STEP_TRACE] = PART("step_trace", step_trace, step_trace),
    [PART_OWN_STEPS] = PART("own_steps", own_steps, step_trace),
    [PART_COMM_TIME] = PART("comm_time", comm_time, comm_time),
    [PART_COMM_BANDWIDTH] = PART("comm_bandwidth", comm_bandwidth, comm_bandwidth),
    [PART_COMM_MATRIX] = PART("comm_matrix", comm_matrix, comm_matrix),
    [PART_COLLECTIVES] = PART("collectives", collectives, collectives),
    [PART_SUMS] = PART("sums", sums, sums),
    [PART_CALLS] = PART("calls", calls, calls),
    [PART_GAPS] = PART("gaps", gaps, gaps),
    [PART_MARKS] = PART("marks", marks, marks),
    [PART_EXPOSED] = PART("exposed", exposed, exposed),
    [PART_CLOCK] = PART("clock", n_mhz, clock),
    [PART_RUNS] = PART("kernels", kernels, runs),
};

static bool copy_columns(enum summary_part part, void *to, const void *from, size_t n, size_t cap, struct arena *mem)
{
    const struct part_row *p = &summary_part[part];
    for (size_t i = 0; i < p->n_columns; i++) {
        const size_t width = column_bytes[p->column[i].kind];
        void *old, *new = arena_take(mem, cap, width);
        if (!new)
            return false;
        memcpy(&old, (const char *)from + p->column[i].at, sizeof old);
        if (n > 0)
            memcpy(new, old, n * width);
        memcpy((char *)to + p->column[i].at, &new, sizeof new);
    }
    return true;
}

bool part_copy(enum summary_part part, void *to, const void *from, struct arena *mem)
{
    size_t n;
    memcpy(&n, from, sizeof n);
    memcpy(to, &n, sizeof n);
    return copy_columns(part, to, from, n, n, mem);
}

bool part_grow(enum summary_part part, void *part_at, size_t *cap, struct arena *mem)
{
    size_t n;
    memcpy(&n, part_at, sizeof n);
    if (n < *cap)
        return true;
    const size_t more = *cap ? *cap * 2 : 32;
    *cap = more;
    return copy_columns(part, part_at, part_at, n, more, mem);
}
