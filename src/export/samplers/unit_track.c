/* SPDX-License-Identifier: Apache-2.0 */
#include "export/samplers/unit_track.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "raw/instr.h"

static const char *const unit_name[INSTR_UNITS] = { "SU", "VEC", "CUBE", "MTE1", "MTE2", "MTE3", "FIXP" };

/* The newer presentation cuts times to ticks and durations to whole µs. */
static void draw_unit(const struct export *x, const struct device *d, const struct unit_track *u, size_t i,
                      struct trace *t, uint32_t pid, int64_t tid)
{
    enum { NS_PER_US = 1000 };
    const struct ticks tick = d->source.device_clock.tick;
    const double begin = floor(u->begin[i]), end = floor(u->end[i]);
    const uint64_t begin_tick = begin < 0x1p63 ? (uint64_t)begin : INT64_MAX,
                   ticks = end > begin && end - begin < 0x1p62 ? (uint64_t)(end - begin) : 0;
    const int64_t begin_ns = source_device_ns(&d->source, begin_tick);
    double dur_ns = (double)(ticks_to_ns(tick, (int64_t)ticks) / NS_PER_US * NS_PER_US);
    if (x->is_generic)
        dur_ns = u->end[i] > u->begin[i] ? (u->end[i] - u->begin[i]) * (double)tick.num / (double)tick.den : 0;
    if (!trace_wants(t, begin_ns, stamp_add(begin_ns, (int64_t)dur_ns)))
        return;
    trace_slice(t, unit_name[u->unit[i]], strlen(unit_name[u->unit[i]]), pid, tid, begin_ns, dur_ns);
    trace_args(t);
    trace_arg_text(t, "Core Type", u->core);
    trace_arg_uint(t, "Block Id", u->block[i]);
    if (x->is_generic && u->check_point[i] >= 0)
        trace_arg_uint(t, "Checkpoint Info", (uint64_t)u->check_point[i]);
    trace_end(t);
}

static bool units_are_there(const struct device *d)
{
    return d->units.n_tracks > 0;
}

static void draw_units(const struct export *x, const struct device *d, struct trace *t, uint32_t pid)
{
    for (size_t k = 0; k < d->units.n_tracks; k++) {
        const struct unit_track *u = &d->units.track[k];
        char name[64];
        snprintf(name, sizeof name, "Group%u-%.40s", u->group, u->core);
        trace_thread_name(t, pid, (int64_t)k, name);
        for (size_t i = 0; i < u->n; i++)
            draw_unit(x, d, u, i, t, pid, (int64_t)k);
    }
}

const struct counter_process unit_process = {
    .name = "Biu Perf", .sort = 32, .needs_all = true, .is_there = units_are_there, .draw_device = draw_units
};
