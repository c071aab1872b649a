/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/ascending.h"
#include "export/msprof/prof_outputs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_TID = 70000 }; /* behind the tracks of all streams */

/* The process of one device on the timeline, with its rows. */
struct step_track_place {
    struct trace *trace;
    const struct step_rows *rows;
    uint32_t pid;
    uint64_t pid_in_ids; /* of ids of flow events: the older presentation writes the raw pid there, not that of the
                       process */
    uint64_t *model;     /* the models of the rows, ascending; each has a track */
    size_t n_models;
    size_t *n_reduces; /* the newer presentation numbers reductions over all devices */
};

static bool collect_models(struct step_track_place *p, struct arena *mem)
{
    const struct step_rows *r = p->rows;
    p->model = arena_take(mem, r->n, sizeof *p->model);
    if (!p->model)
        return false;
    for (size_t i = 0; i < r->n; i++)
        p->model[i] = r->steps->iterations.model[r->row[i]];
    qsort(p->model, r->n, sizeof *p->model, compare_u64s);
    for (size_t i = 0; i < r->n; i++)
        if (p->n_models == 0 || p->model[i] != p->model[p->n_models - 1])
            p->model[p->n_models++] = p->model[i];
    return true;
}

static int64_t tid_of(const struct step_track_place *p, uint64_t model)
{
    if (!p->rows->is_generic)
        return (int64_t)(int32_t)(uint32_t)model + FIRST_TID;
    const uint64_t *at = bsearch(&model, p->model, p->n_models, sizeof *p->model, compare_u64s);
    return (int64_t)p->rows->source->pid + (at ? at - p->model : 0) + FIRST_TID;
}

static void write_metadata(const struct step_track_place *p, bool is_bare)
{
    struct trace *t = p->trace;
    if (is_bare)
        trace_process_name(t, p->pid, "Step Trace");
    else
        trace_process_npu(t, p->pid, chip_words(p->rows->source->chip)->hardware, p->rows->source->device,
                          PLACE_HARDWARE);
    for (size_t i = 0; i < p->n_models; i++) {
        char name[64];
        snprintf(name, sizeof name, is_bare ? "Model ID:%" PRIu64 : "Step Trace(Model ID:%" PRIu64 ")", p->model[i]);
        const int64_t tid = tid_of(p, p->model[i]);
        trace_thread(t, p->pid, tid, name, p->rows->is_generic ? (int64_t)p->model[i] + FIRST_TID : tid);
    }
}

static void arg_time(const struct step_track_place *p, const char *key, uint64_t tick)
{
    if (tick)
        trace_arg_time(p->trace, key, source_device_ns(p->rows->source, tick));
    else
        trace_arg_text(p->trace, key, "N/A");
}

/* The newer presentation has whole nanoseconds, the older one the exact time of the ticks. */
static double dur_ns_of(const struct step_rows *r, uint64_t ticks)
{
    return r->is_generic ? ticks_to_ns_exact(r->source->device_clock.tick, ticks) : (double)step_ns(r, ticks);
}

static double dur_us_of(const struct step_rows *r, uint64_t ticks)
{
    return r->is_generic ? step_us(r, ticks) : (double)step_ns(r, ticks) / 1000;
}

/* One iteration. Times are ticks. */
struct step_track_part {
    const struct step_track_place *place;
    int64_t tid;
    uint64_t index, begin, end, fp, bp, data_aug;
    bool has_before, has_after; /* the neighbouring iteration of the same model is shown and has both passes */
};

static void slice(const struct step_track_part *r, const char *kind, const char *category, int64_t begin_ns,
                  uint64_t ticks)
{
    struct trace *t = r->place->trace;
    char name[64];
    const int len = snprintf(name, sizeof name, "%s %" PRIu64, kind, r->index);
    trace_slice(t, name, (size_t)len, r->place->pid, r->tid, begin_ns, dur_ns_of(r->place->rows, ticks));
    trace_category(t, category);
    trace_args(t);
    trace_arg_uint(t, "Iteration ID", r->index);
}

static void data_aug_flow(const struct step_track_part *r, char end, uint64_t number, int64_t at_ns)
{
    char name[64], id[96];
    snprintf(name, sizeof name, "Data_aug Bound %" PRIu64, number);
    snprintf(id, sizeof id, "Data_aug Bound %" PRIu64 "_%" PRId64, r->place->pid_in_ids, r->tid);
    trace_flow_args(r->place->trace, &(struct flow){ end, false, name, "Data_aug Bound", id, 0 }, r->place->pid, r->tid,
                    at_ns);
}

static void write_training(const struct step_track_part *r)
{
    const struct step_track_place *p = r->place;
    const struct source *s = p->rows->source;
    struct trace *t = p->trace;
    const int64_t fp_ns = source_device_ns(s, r->fp), bp_ns = source_device_ns(s, r->bp);
    const int64_t begin_ns = p->rows->is_generic ? source_device_ns(s, r->begin)
                                                 : source_device_ns(s, r->end) - step_ns(p->rows, r->end - r->begin);
    slice(r, "Iteration", "Iteration Time", begin_ns, r->end - r->begin);
    arg_time(p, "FP Start", r->fp);
    arg_time(p, "BP End", r->bp);
    arg_time(p, "Iteration End", r->end);
    trace_arg_real(t, "Iteration Time(us)", dur_us_of(p->rows, r->end - r->begin));
    trace_end(t);
    if (r->fp == 0 || r->bp == 0)
        return;

    slice(r, "FP_BP Time", "FP_BP Time", fp_ns, r->bp - r->fp);
    arg_time(p, "FP Start", r->fp);
    arg_time(p, "BP End", r->bp);
    trace_arg_real(t, "FP_BP Time(us)", dur_us_of(p->rows, r->bp - r->fp));
    trace_end(t);

    slice(r, "Iteration Refresh", "Iteration Refresh", bp_ns, r->end - r->bp);
    arg_time(p, "BP End", r->bp);
    arg_time(p, "Iteration End", r->end);
    trace_arg_real(t, "Iteration Refresh(us)", dur_us_of(p->rows, r->end - r->bp));
    trace_end(t);

    /* A flow leads from the end of the backward pass to the forward pass of the next iteration; a slice is at both
     * ends. */
    if (r->has_before) {
        data_aug_flow(r, 't', r->index - 1, fp_ns);
        trace_arg_uint(t, "Iteration ID", r->index);
        trace_end(t);
    }
    if (r->has_after) {
        data_aug_flow(r, 's', r->index, bp_ns);
        trace_arg_real(t, "Data_aug Bound(us)", dur_us_of(p->rows, r->data_aug));
        trace_end(t);
    }
}

/* The same for a span with two stamps: the newer presentation subtracts the times that it shows. */
static double dur_ns_between(const struct step_rows *r, uint64_t begin, uint64_t end)
{
    return r->is_generic ? ticks_to_ns_exact(r->source->device_clock.tick, end - begin)
                         : (double)(source_device_ns(r->source, end) - source_device_ns(r->source, begin));
}

static void write_reduce(const struct step_track_place *p, uint32_t i, size_t number)
{
    const struct step_rows *r = p->rows;
    const struct iterations *it = &r->steps->iterations;
    const uint32_t iteration = r->steps->reduces.iteration[i];
    const int64_t ns[2] = { source_device_ns(r->source, r->steps->reduces.begin[i]),
                            source_device_ns(r->source, r->steps->reduces.end[i]) };
    char name[64], text[24];
    const int len = snprintf(name, sizeof name, "Reduce_%" PRIu64 "_%zu", it->index[iteration], number);
    trace_slice(p->trace, name, (size_t)len, p->pid, tid_of(p, it->model[iteration]), ns[0],
                dur_ns_between(r, r->steps->reduces.begin[i], r->steps->reduces.end[i]));
    trace_category(p->trace, "Reduce");
    trace_args(p->trace);
    trace_arg_uint(p->trace, "Iteration ID", it->index[iteration]);
    for (int k = 0; k < 2; k++) {
        snprintf(name, sizeof name, "Reduce %s %zu", k == 0 ? "Start" : "End", number);
        snprintf(text, sizeof text, "%" PRId64, ns[k]); /* the newer presentation has ns here, as the reference */
        if (r->is_generic)
            trace_arg_time(p->trace, name, ns[k]);
        else
            trace_arg_text(p->trace, name, text);
    }
    trace_end(p->trace);
}

static void write_get_next(const struct step_track_place *p, uint32_t i)
{
    const struct step_rows *r = p->rows;
    const uint64_t begin = r->steps->get_nexts.begin[i], end = r->steps->get_nexts.end[i];
    const int64_t begin_ns = source_device_ns(r->source, begin), end_ns = source_device_ns(r->source, end);
    const double dur_ns = dur_ns_between(r, begin, end);
    static const char name[] = "GetNext";
    trace_slice(p->trace, name, sizeof name - 1, p->pid,
                tid_of(p, r->steps->iterations.model[r->steps->get_nexts.iteration[i]]), begin_ns, dur_ns);
    trace_category(p->trace, "GetNext Time");
    trace_args(p->trace);
    trace_arg_time(p->trace, "GetNext Start", begin_ns);
    trace_arg_time(p->trace, "GetNext End", end_ns);
    trace_arg_real(p->trace, "GetNext Time(us)", dur_ns / 1000);
    trace_end(p->trace);
}

/* True when the next or the previous iteration of the same model is shown, too, and has passes for a flow between
 * them. */
static bool has_neighbour(const struct step_rows *r, uint32_t here, bool after)
{
    const struct iterations *t = &r->steps->iterations;
    const uint32_t there = after ? here + 1 : here - 1;
    return there < t->n && t->model[there] == t->model[here] && !t->is_step[there] && step_rows_have(r, there) &&
           t->fp[there] != 0 && t->bp[there] != 0;
}

static void write_rows(struct step_track_place *p)
{
    const struct step_rows *r = p->rows;
    const struct steps *s = r->steps;
    for (size_t i = 0; i < r->n; i++) {
        const uint32_t k = r->row[i];
        const struct step_track_part part = { .place = p,
                                              .tid = tid_of(p, s->iterations.model[k]),
                                              .index = s->iterations.index[k],
                                              .begin = s->iterations.begin[k],
                                              .end = s->iterations.end[k],
                                              .fp = s->iterations.fp[k],
                                              .bp = s->iterations.bp[k],
                                              .data_aug = r->data_aug[i],
                                              .has_before = has_neighbour(r, k, false),
                                              .has_after = has_neighbour(r, k, true) };
        write_training(&part);
        if (!r->is_generic)
            continue;
        for (uint32_t n = r->first_reduce[k]; n < r->first_reduce[k + 1]; n++)
            write_reduce(p, n, n - r->first_reduce[k]);
        for (uint32_t n = r->first_get_next[k]; n < r->first_get_next[k + 1]; n++)
            write_get_next(p, n);
    }
    for (uint32_t i = 0; i < s->reduces.n && !r->is_generic; i++)
        if (step_rows_show(r, s->reduces.begin[i]))
            write_reduce(p, i, (*p->n_reduces)++);
    for (uint32_t i = 0; i < s->get_nexts.n && !r->is_generic; i++)
        if (step_rows_show(r, s->get_nexts.begin[i]))
            write_get_next(p, i);
}

bool step_trace_track(const struct export *x, struct trace *t, struct error *e)
{
    size_t n_reduces = 0, n_with_steps = 0;
    for (size_t d = 0; d < x->profile->n_devices; d++)
        n_with_steps += x->profile->device[d].steps.iterations.n > 0;
    for (size_t d = 0; d < x->profile->n_devices; d++) {
        const struct device *device = &x->profile->device[d];
        struct step_rows rows;
        if (!step_rows_make(x, device, &rows, e))
            return false;
        if (x->scope != SCOPE_ALL && !x->is_own_file)
            step_rows_choose(x, &rows);
        if (rows.n == 0)
            continue;
        /* step_trace.json beside the export of a part: with one device its pid is the raw one, as in the reference. */
        const bool is_bare = x->scope != SCOPE_ALL && x->is_own_file && n_with_steps == 1;
        const uint32_t raw = device->source.pid, packed = trace_pid(raw, PLACE_HARDWARE, device->source.device);
        struct step_track_place place = { .trace = t,
                                          .rows = &rows,
                                          .pid = is_bare ? raw : packed,
                                          .pid_in_ids = x->is_generic ? raw : packed,
                                          .n_reduces = &n_reduces };
        if (!collect_models(&place, x->mem))
            return error_no_memory(e, device->source.path);
        write_metadata(&place, is_bare);
        write_rows(&place);
    }
    return true;
}
