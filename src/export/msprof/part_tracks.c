/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/prof_outputs.h"

#include <stdio.h>
#include <string.h>

#include "export/scope.h"
#include "raw/device_records.h"
#include "raw/enums.h"

/* What a part ran on: by the highest bit of its kind that is set. */
static const char *part_kind(uint16_t part, unsigned *die)
{
    static const char *const name[] = { "CPU", "AICPU", "AICORE", "CCU", "CCU" };
    enum { KINDS = sizeof name / sizeof *name, FIRST_CCU = 3 };
    *die = 0;
    for (unsigned k = KINDS; k-- > 0;)
        if (part >> k & 1) {
            *die = k > FIRST_CCU;
            return name[k];
        }
    return "UNKNOWN";
}

static void draw_fused(const struct device *d, struct trace *t, uint32_t pid, size_t i)
{
    const struct fused_parts *f = &d->log.fused;
    const int64_t begin_ns = source_device_ns(&d->source, f->begin[i]),
                  end_ns = source_device_ns(&d->source, f->end[i]);
    unsigned die;
    const char *kind = part_kind(f->part[i], &die), *type = enum_text(&sqe_950_types, f->type[i]);
    char name[32];
    if (end_ns < d->source.begin_ns || !trace_wants(t, begin_ns, end_ns))
        return;
    const int len = snprintf(name, sizeof name, "Fusion %s", kind);
    const uint64_t ticks = f->end[i] > f->begin[i] ? f->end[i] - f->begin[i] : 0;
    trace_slice(t, name, (size_t)len, pid, 0, begin_ns, ticks_to_ns_exact(d->source.device_clock.tick, ticks));
    trace_args(t);
    trace_arg_uint(t, "Task Id", f->task[i]);
    trace_arg_uint(t, "Acc Id", f->acc[i]);
    trace_arg_word(t, "Task Type", type ? type : "UNKNOWN");
    trace_arg_word(t, "Fusion Task Type", kind);
    if (strcmp(kind, "CCU") == 0) {
        trace_arg_uint(t, "Mission Id", f->part[i] >> STARS_PART_MISSION_SHIFT & STARS_PART_MISSION_MASK);
        trace_arg_uint(t, "Ccu Die Id", die);
    }
    trace_end(t);
}

bool fused_track(const struct export *x, struct trace *t, struct error *e)
{
    enum { SORT = 35, SORT_GENERIC = 18 };
    static const char name[] = "Fusion Task";
    (void)e;
    for (size_t k = 0; k < x->profile->n_devices && x->scope == SCOPE_ALL; k++) {
        const struct device *d = &x->profile->device[k];
        const unsigned sort = x->is_generic ? SORT_GENERIC : SORT;
        const uint32_t pid = trace_pid(d->source.pid, sort, d->source.device);
        if (d->log.fused.n == 0)
            continue;
        scope_set_window(x, t, k);
        trace_process_npu(t, pid, name, d->source.device, sort);
        if (x->is_generic)
            trace_thread_name(t, pid, 0, name);
        else
            trace_thread(t, pid, 0, name, 0);
        for (size_t i = 0; i < d->log.fused.n; i++)
            draw_fused(d, t, pid, i);
    }
    return true;
}

/* The reference cuts the length of a block to whole µs. */
static void draw_block(const struct export *x, const struct device *d, struct trace *t, uint32_t pid, size_t task,
                       const uint8_t *block, unsigned end)
{
    static const char *const thread[BLOCK_ENDS] = { "AIC Earliest", "AIC Latest", "AIV Earliest", "AIV Latest" };
    enum { NS_PER_US = 1000 };
    const struct layout *l = &pmu_ten_block_layout;
    const struct tasks *tasks = &d->tasks;
    const uint32_t op = tasks->op[task];
    const uint64_t begin = layout_get(l, PMU_TEN_BEGIN, block), stop = layout_get(l, PMU_TEN_END, block);
    const int64_t us = ticks_to_ns(d->source.device_clock.tick, stop > begin ? (int64_t)(stop - begin) : 0) / NS_PER_US;
    char prefix[32];
    snprintf(prefix, sizeof prefix, "Stream %u ", tasks->stream[task]);
    const char *name = op == NO_ROW ? "" : names_text(t->names, x->profile->host.ops.name[op]);
    const char *text = arena_printf(x->mem, "%s%s", prefix, name);
    if (!text)
        return;
    trace_thread_name(t, pid, 1 + end, thread[end]); /* for every block, as in the reference */
    trace_slice(t, text, strlen(text), pid, 1 + end, source_device_ns(&d->source, begin), (double)(us * NS_PER_US));
    trace_args(t);
    trace_arg_uint(t, "Physic Stream Id", tasks->stream[task]);
    trace_arg_uint(t, "Task Id", tasks->task[task]);
    trace_arg_uint(t, "Batch Id", tasks->batch[task]);
    trace_arg_uint(t, "Subtask Id", tasks->context[task]);
    trace_arg_uint(t, "Core Id", layout_get(l, PMU_TEN_CORE, block));
    trace_end(t);
}

bool block_track(const struct export *x, struct trace *t, struct error *e)
{
    enum { SORT = 34 };
    for (size_t k = 0; k < x->profile->n_devices && !x->is_generic; k++) {
        const struct device *d = &x->profile->device[k];
        const struct block_spreads *s = &d->pmu.spreads;
        const uint32_t pid = trace_pid(d->source.pid, SORT, d->source.device);
        if (s->n == 0)
            continue;
        scope_set_window(x, t, k);
        trace_process_npu(t, pid, "Block Detail", d->source.device, SORT);
        for (size_t i = 0; i < s->n; i++)
            for (unsigned end = 0; end < BLOCK_ENDS; end++)
                if (s->block[i][end] && scope_has_task(x, &d->tasks, s->task[i]))
                    draw_block(x, d, t, pid, s->task[i], s->block[i][end], end);
    }
    return !arena_failed(x->mem) || error_no_memory(e, x->profile->path);
}
