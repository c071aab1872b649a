/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/tracks/prof_trace.h"

#include "base/memory/sort.h"
#include "export/scope.h"

const char ts_copy_name[] = "MemcopyAsync", ts_copy_type[] = "other";

static bool is_shown(const struct export *x, const struct device *d, size_t copy)
{
    return x->is_generic && scope_has_time(x, d, source_device_ns(&d->source, d->log.copies.begin[copy]));
}

static double dur_ns(const struct device *d, uint32_t copy)
{
    const uint64_t begin = d->log.copies.begin[copy], end = d->log.copies.end[copy];
    return end > begin ? ticks_to_ns_exact(d->source.device_clock.tick, end - begin) : 0;
}

uint32_t *ts_copies_order(const struct export *x, const struct device *d, size_t *n)
{
    uint32_t *order = arena_take(x->mem, d->log.copies.n, sizeof *order);
    *n = 0;
    for (size_t i = 0; order && i < d->log.copies.n; i++)
        if (is_shown(x, d, i))
            order[(*n)++] = (uint32_t)i;
    return order && order_by_u64(order, *n, d->log.copies.begin) ? order : NULL;
}

struct cell ts_copy_us(const struct device *d, uint32_t copy)
{
    const double us =
        round_exact(dur_ns(d, copy) / 1000, 3); /* the reference reads it from a database, which has 5.0 as 5 */
    return us == (double)(uint64_t)us ? cell_uint((uint64_t)us) : cell_real(us);
}

void ts_copies_mark_rows(const struct export *x, const struct device *d, const uint32_t *row_of_stream, bool *seen)
{
    for (size_t i = 0; i < d->log.copies.n; i++)
        seen[row_of_stream[d->log.copies.stream[i]] & UINT16_MAX] |= is_shown(x, d, i);
}

static void write_copy(struct trace *t, const struct device *d, uint32_t copy, uint32_t pid, uint32_t row)
{
    const struct {
        const char *name;
        uint64_t tick;
    } moment[] = {
        { "Receive Time", d->log.copies.received[copy] },
        { "Start Time", d->log.copies.begin[copy] },
        { "End Time", d->log.copies.end[copy] },
    };
    trace_slice(t, ts_copy_name, sizeof ts_copy_name - 1, pid, row, source_device_ns(&d->source, moment[1].tick),
                dur_ns(d, copy));
    trace_args(t);
    trace_arg_text(t, "Task Type", ts_copy_type);
    trace_arg_uint(t, "Stream Id", d->log.copies.stream[copy]);
    trace_arg_uint(t, "Task Id", d->log.copies.task[copy]);
    for (size_t i = 0; i < sizeof moment / sizeof *moment; i++)
        trace_arg_time(t, moment[i].name, source_device_ns(&d->source, moment[i].tick));
    trace_end(t);
}

bool ts_copies_draw(const struct export *x, struct trace *t, const struct device *d, uint32_t pid,
                    const uint32_t *row_of_stream)
{
    size_t n;
    const uint32_t *order = ts_copies_order(x, d, &n);
    for (size_t i = 0; order && i < n; i++)
        write_copy(t, d, order[i], pid, row_of_stream[d->log.copies.stream[order[i]]]);
    return order != NULL;
}
