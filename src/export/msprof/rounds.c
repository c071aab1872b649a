/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/rounds.h"

#include <stdio.h>

#include "base/text/stamp.h"

/* The name of the time from each stamp of a round to the next one. */
static const char *const part_name[TURN_KINDS][TURN_MOST_STAMPS - 1] = {
    [TURNS_COMPUTE] = { "WaitCompute", "Compute" },
    [TURNS_COMM] = { "StartServer", "TaskWaitRequest", "TaskOrchestration", "TaskLaunch", "TaskExecute", "Finalize" },
};

struct rounds_part {
    int64_t begin_ns;
    double dur_ns;
};

/* The time from stamp k of round i to the next stamp. False: it began before the collection, or lies outside of the
 * window. */
static bool part_of(const struct trace *t, const struct device *d, const struct turns *turns, size_t i, size_t k,
                    struct rounds_part *out)
{
    const uint64_t from = turns->stamp[k][i], to = turns->stamp[k + 1][i];
    out->begin_ns = source_device_ns(&d->source, from);
    out->dur_ns = to > from ? ticks_to_ns_exact(d->source.device_clock.tick, to - from) : 0;
    return out->begin_ns >= d->source.begin_ns &&
           trace_wants(t, out->begin_ns, stamp_add(out->begin_ns, (int64_t)out->dur_ns));
}

void rounds_mark_rows(const struct trace *t, const struct device *d, const uint32_t *row_of_stream, bool *is_needed)
{
    struct rounds_part part;
    for (int kind = 0; kind < TURN_KINDS; kind++) {
        const struct turns *turns = &d->aicpu_comm.turns[kind];
        for (size_t i = 0; i < turns->n; i++)
            for (size_t k = 0; k + 1 < turns->n_stamps; k++)
                is_needed[row_of_stream[turns->stream[i]] & UINT16_MAX] |= part_of(t, d, turns, i, k, &part);
    }
}

void rounds_write(struct trace *t, const struct device *d, uint32_t pid, const uint32_t *row_of_stream)
{
    for (int kind = 0; kind < TURN_KINDS; kind++) {
        const struct turns *turns = &d->aicpu_comm.turns[kind];
        for (size_t i = 0; i < turns->n; i++)
            for (size_t k = 0; k + 1 < turns->n_stamps; k++) {
                struct rounds_part part;
                char name[32];
                if (!part_of(t, d, turns, i, k, &part))
                    continue;
                const int len = snprintf(name, sizeof name, "%s %u", part_name[kind][k], (unsigned)turns->number[i]);
                trace_slice(t, name, (size_t)len, pid, row_of_stream[turns->stream[i]], part.begin_ns, part.dur_ns);
                trace_args(t);
                trace_arg_uint(t, "Physic Stream Id", turns->stream[i]);
                trace_arg_uint(t, "Task Id", turns->task[i]);
                trace_end(t);
            }
    }
}
