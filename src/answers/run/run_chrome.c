/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/run/run_chrome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/flow/flows.h"
#include "analyse/framework/steps/step_bounds.h"
#include "analyse/framework/steps/step_layers.h"
#include "analyse/framework/steps/step_series.h"
#include "answers/run/chrome_kinds.h"
#include "answers/run/kernel_class.h"
#include "answers/run/rank_spans.h"

/* A list of slices, by their rows in the trace. */
struct slice_rows {
    LIST(uint32_t) list;
};

/* A kernel or a copy of the device. */
struct device_slice {
    uint32_t slice;
    uint32_t step;
    bool is_copy, is_collective, is_time; /* is_time: not a kernel, but an interval of the track "Overlap Analysis" */
};

struct chrome_run {
    struct measuring m;
    const struct chrome_trace *t;
    struct arena *work;
    name_id *name_of; /* by name in the trace: the name in m.names + 1; 0: not looked up yet */
    struct chrome_kinds kinds;
    struct keys launches, externals;                  /* correlation ids of launches; external ids of operators */
    struct slice_rows launch_slices, operator_slices; /* the slices, in the order of these keys */
    LIST(struct device_slice) device;
    int64_t *host_begin_ns, *host_end_ns, *begin_ns, *end_ns, *device_end_ns; /* of steps */
    bool has_times;     /* intervals of computing and communication give the parts of steps */
    bool has_operators; /* operators are wanted, too */
    bool failed;
};

static name_id name_of(struct chrome_run *r, name_id name)
{
    if (r->name_of[name] == 0)
        r->name_of[name] = 1 + names_add(r->m.names, names_text(r->t->names, name), names_len(r->t->names, name));
    return r->name_of[name] - 1;
}

static int64_t run_chrome_end_of(const struct chrome_trace *t, size_t slice)
{
    return t->slices.begin_ns[slice] + t->slices.dur_ns[slice];
}

static bool arg_of(const struct chrome_trace *t, size_t slice, const char *key, uint64_t *out)
{
    const struct json_span value = json_find(chrome_slice_args(t, slice), key);
    return value.at && json_u64(value, out);
}

static void run_chrome_add_row(struct chrome_run *r, struct slice_rows *rows, uint32_t slice)
{
    uint32_t *new = list_add(&rows->list, r->work);
    r->failed |= !new;
    if (new)
        *new = slice;
}

/* Remembers the last slice of a key: of operators that enclose each other that is the innermost. */
static void remember(struct chrome_run *r, struct keys *keys, struct slice_rows *rows, uint64_t key, uint32_t slice)
{
    const uint32_t at = keys_add(keys, key, r->work);
    r->failed |= at == KEYS_NO_MEMORY;
    if (!r->failed && at == rows->list.n)
        run_chrome_add_row(r, rows, slice);
    if (!r->failed)
        rows->list.at[at] = slice;
}

static void slices_sort_out(struct chrome_run *r)
{
    const struct chrome_trace *t = r->t;
    for (uint32_t i = 0; i < t->slices.n && !r->failed; i++) {
        uint64_t number;
        struct device_slice *new;
        const enum slice_kind kind = chrome_kind(&r->kinds, i);
        if (r->has_operators && kind == SLICE_OPERATOR && chrome_external_id(t, i, &number))
            remember(r, &r->externals, &r->operator_slices, number, i);
        if (kind == SLICE_CALL && chrome_correlation(t, i, &number))
            remember(r, &r->launches, &r->launch_slices, number, i);
        if (kind < SLICE_KERNEL)
            continue;
        const bool is_time = kind == SLICE_COMPUTING || kind == SLICE_COMMUNICATING;
        r->has_times |= is_time;
        new = list_add(&r->device, r->work);
        r->failed |= !new;
        if (new)
            *new = (struct device_slice){ i, NO_STEP, kind == SLICE_COPY,
                                          kind == SLICE_COLLECTIVE || kind == SLICE_COMMUNICATING, is_time };
    }
}

static uint32_t host_step_at(const struct chrome_run *r, int64_t ns)
{
    return r->m.out->has_steps ? step_series_at(r->host_begin_ns, r->host_end_ns, r->m.out->n_steps, ns) : 0;
}

/* Without steps the whole trace counts as one. */
static void whole_find(struct chrome_run *r)
{
    const struct chrome_trace *t = r->t;
    int64_t begin = INT64_MAX, end = INT64_MIN;
    for (size_t i = 0; i < t->slices.n; i++) {
        const enum slice_kind kind = chrome_kind(&r->kinds, i);
        if (kind == SLICE_OTHER || kind == SLICE_PYTHON)
            continue;
        begin = t->slices.begin_ns[i] < begin ? t->slices.begin_ns[i] : begin;
        end = run_chrome_end_of(t, i) > end ? run_chrome_end_of(t, i) : end;
    }
    r->host_begin_ns[0] = begin <= end ? begin : 0;
    r->host_end_ns[0] = begin <= end ? end : 0;
}

static bool steps_find(struct chrome_run *r, struct measured_rank *out)
{
    const struct chrome_steps *s = &r->t->steps;
    const size_t n = s->n > 0 ? s->n : 1;
    out->has_steps = s->n > 0;
    out->steps_by = s->by ? arena_text(r->m.mem, s->by, strlen(s->by)) : NULL;
    out->n_steps = n;
    out->step = arena_take(r->m.mem, n, sizeof *out->step);
    r->host_begin_ns = arena_take(r->work, n, sizeof *r->host_begin_ns);
    r->host_end_ns = arena_take(r->work, n, sizeof *r->host_end_ns);
    if (!out->step || arena_failed(r->work))
        return false;
    for (size_t i = 0; i < s->n; i++) {
        r->host_begin_ns[i] = s->begin_ns[i];
        r->host_end_ns[i] = s->end_ns[i];
        out->step[i].name = name_of(r, s->id[i]);
        out->step[i].iteration = iteration_of(names_text(r->t->names, s->annotation[i]));
    }
    if (s->n == 0)
        whole_find(r);
    return true;
}

/* Assigns work of the device to the step that launched it, and finds when steps begin and end. */
static bool steps_bound(struct chrome_run *r)
{
    const size_t n = r->m.out->n_steps;
    struct step_bounds b;
    r->begin_ns = arena_take(r->work, n, sizeof *r->begin_ns);
    r->end_ns = arena_take(r->work, n, sizeof *r->end_ns);
    r->device_end_ns = arena_take(r->work, n, sizeof *r->device_end_ns);
    if (!r->begin_ns || !r->end_ns || !r->device_end_ns ||
        !step_bounds_begin(&b, r->host_begin_ns, r->host_end_ns, n, r->work))
        return false;
    for (size_t i = 0; i < r->device.n; i++) {
        struct device_slice *d = &r->device.at[i];
        const int64_t begin_ns = r->t->slices.begin_ns[d->slice], end_ns = run_chrome_end_of(r->t, d->slice);
        uint64_t number;
        const uint32_t launch =
            chrome_correlation(r->t, d->slice, &number) ? keys_find(&r->launches, number) : KEYS_NONE;
        d->step = step_bounds_add(
            &b, launch == KEYS_NONE ? begin_ns : r->t->slices.begin_ns[r->launch_slices.list.at[launch]], begin_ns,
            end_ns, !d->is_copy && !d->is_collective);
        if (!r->m.out->has_steps)
            d->step = 0;
    }
    step_bounds_end(&b, r->begin_ns, r->end_ns, r->device_end_ns);
    return true;
}

/* What computes, then what communicates: of the device, or without one the operators of the host. */
struct work_times {
    int64_t *begin_ns, *end_ns;
    size_t n;
};

static void work_add(struct work_times *w, const struct chrome_trace *t, uint32_t slice)
{
    w->begin_ns[w->n] = t->slices.begin_ns[slice];
    w->end_ns[w->n++] = run_chrome_end_of(t, slice);
}

static bool times_find(struct busy_times *computing, struct busy_times *communicating, struct busy_times *all,
                       const struct chrome_run *r)
{
    const struct chrome_trace *t = r->t;
    const size_t most = r->device.n > 0 ? r->device.n : t->slices.n;
    struct work_times w = { arena_take(r->work, most, sizeof *w.begin_ns), arena_take(r->work, most, sizeof *w.end_ns),
                            0 };
    size_t n_computing = 0;
    for (int is_collective = 0; w.begin_ns && w.end_ns && is_collective < 2; is_collective++) {
        n_computing = w.n;
        for (size_t i = 0; i < r->device.n; i++) {
            const struct device_slice *d = &r->device.at[i];
            if (d->is_collective == is_collective && !d->is_copy && (!r->has_times || d->is_time))
                work_add(&w, t, d->slice);
        }
        for (uint32_t i = 0; r->device.n == 0 && i < t->slices.n; i++) {
            const bool communicates = chrome_is_host_collective(&r->kinds, i);
            if (is_collective ? communicates
                              : !communicates && chrome_kind(&r->kinds, i) == SLICE_OPERATOR && !chrome_is_step(t, i))
                work_add(&w, t, i);
        }
    }
    return w.begin_ns && w.end_ns && busy_join(computing, w.begin_ns, w.end_ns, n_computing, r->work) &&
           busy_join(communicating, w.begin_ns + n_computing, w.end_ns + n_computing, w.n - n_computing, r->work) &&
           busy_join(all, w.begin_ns, w.end_ns, w.n, r->work);
}

/* When the host waits for requests. */
static bool requests_find(struct busy_times *out, const struct chrome_run *r)
{
    const struct chrome_trace *t = r->t;
    uint8_t *is = arena_take(r->work, names_count(t->names), 1);
    LIST(uint32_t) found = { 0 };
    for (uint32_t i = 0; is && i < t->slices.n; i++) {
        const enum slice_kind kind = chrome_kind(&r->kinds, i);
        uint8_t *known = &is[t->slices.name[i]];
        if ((kind != SLICE_OPERATOR && kind != SLICE_ANNOTATION && kind != SLICE_PYTHON) || chrome_is_step(t, i))
            continue;
        if (*known == 0)
            *known = 1 + (spent_kind_of_name(names_text(t->names, t->slices.name[i])) == SPENT_REQUESTS);
        uint32_t *new = *known == 2 ? list_add(&found, r->work) : NULL;
        if (new)
            *new = i;
    }
    struct work_times w = { arena_take(r->work, found.n, sizeof *w.begin_ns),
                            arena_take(r->work, found.n, sizeof *w.end_ns), 0 };
    for (size_t i = 0; w.begin_ns && w.end_ns && i < found.n; i++)
        work_add(&w, t, found.at[i]);
    return is && w.begin_ns && w.end_ns && busy_join(out, w.begin_ns, w.end_ns, w.n, r->work);
}

/* How much of the waits within a step has nothing beside it. */
static int64_t requests_within(const struct busy_times *requests, const struct busy_times *all, int64_t begin_ns,
                               int64_t end_ns)
{
    int64_t ns = 0;
    for (size_t i = 0; i < requests->n; i++) {
        const int64_t from = requests->begin_ns[i] > begin_ns ? requests->begin_ns[i] : begin_ns,
                      to = requests->end_ns[i] < end_ns ? requests->end_ns[i] : end_ns;
        ns += from < to ? span_ns(from, to) - busy_within(all, from, to) : 0;
    }
    return ns;
}

/* Divides each step into computing, exposed communication and free time of the device; without a device operators of
 * the host compute. */
static bool parts_find(struct chrome_run *r)
{
    struct measured_rank *out = r->m.out;
    struct busy_times computing, communicating, all, requests;
    if (!times_find(&computing, &communicating, &all, r) || !requests_find(&requests, r))
        return false;
    for (size_t i = 0; i < out->n_steps; i++) {
        const int64_t time_ns = span_ns(r->begin_ns[i], r->end_ns[i]);
        const int64_t computing_ns = busy_within(&computing, r->begin_ns[i], r->end_ns[i]);
        const int64_t communicating_ns = busy_within(&communicating, r->begin_ns[i], r->end_ns[i]);
        const int64_t all_ns = busy_within(&all, r->begin_ns[i], r->end_ns[i]);
        const int64_t exposed_ns = all_ns > computing_ns ? all_ns - computing_ns : 0;
        const int64_t free_ns = time_ns - computing_ns - exposed_ns;
        int64_t *part = out->step[i].part_ns;
        out->step[i].begin_ns = r->begin_ns[i];
        out->step[i].end_ns = r->end_ns[i];
        out->step[i].host_begin_ns = r->host_begin_ns[i];
        out->step[i].host_end_ns = r->host_end_ns[i];
        out->step[i].device_end_ns = r->device_end_ns[i];
        out->step[i].requests_ns = r->device.n > 0 ? requests_within(&requests, &all, r->begin_ns[i], r->end_ns[i]) : 0;
        out->step[i].overlapped_ns = communicating_ns > exposed_ns ? communicating_ns - exposed_ns : 0;
        part[RUN_STEP] = time_ns;
        part[RUN_COMPUTING] = computing_ns;
        part[RUN_COMMUNICATION] = exposed_ns;
        part[RUN_FREE] = free_ns > 0 ? free_ns : 0;
    }
    return true;
}

static void add_collective(struct chrome_run *r, const struct device_slice *d, double ns)
{
    char detail[64] = "";
    uint64_t count = 0, ranks = 0;
    const struct json_span name = json_find(chrome_slice_args(r->t, d->slice), "Collective name");
    struct json_span plain;
    const bool is_named = name.len > 2 && json_plain(name, &plain);
    const bool has_count = arg_of(r->t, d->slice, "In msg nelems", &count),
               has_ranks = arg_of(r->t, d->slice, "Group size", &ranks);
    if (has_count && has_ranks)
        snprintf(detail, sizeof detail, "%llu elements, %llu ranks", (unsigned long long)count,
                 (unsigned long long)ranks);
    measuring_add(&r->m, MEASURE_COLLECTIVE,
                  is_named ? names_add(r->m.names, plain.at, plain.len) : name_of(r, r->t->slices.name[d->slice]),
                  names_addz(r->m.names, detail), d->step, ns);
}

static void add_device(struct chrome_run *r)
{
    const struct chrome_trace *t = r->t;
    const name_id nobody = names_addz(r->m.names, "(no operator)");
    for (size_t i = 0; i < r->device.n; i++) {
        const struct device_slice *d = &r->device.at[i];
        const double ns = (double)t->slices.dur_ns[d->slice];
        const name_id name = name_of(r, t->slices.name[d->slice]);
        uint64_t number;
        if (d->is_time && !d->is_collective)
            continue;
        if (d->is_copy || d->is_collective) {
            if (d->is_copy)
                measuring_add(&r->m, MEASURE_COPY, name, NAME_EMPTY, d->step, ns);
            else
                add_collective(r, d, ns);
            continue;
        }
        const uint32_t op = chrome_external_id(t, d->slice, &number) ? keys_find(&r->externals, number) : KEYS_NONE;
        const name_id by = op == KEYS_NONE ? nobody : name_of(r, t->slices.name[r->operator_slices.list.at[op]]);
        const char *class =
            kernel_class(op == KEYS_NONE ? "" : names_text(r->m.names, by), names_text(r->m.names, name));
        measuring_add(&r->m, MEASURE_KERNEL, name, NAME_EMPTY, d->step, ns);
        if (!r->kinds.is_timeline) /* timelines of NPUs do not say which operator launched a kernel */
            measuring_add(&r->m, MEASURE_OPERATOR, by, NAME_EMPTY, d->step, ns);
        measuring_add(&r->m, MEASURE_CLASS, names_addz(r->m.names, class), NAME_EMPTY, d->step, ns);
    }
}

/* Operators by their own times, and calls. */
static void add_host(struct chrome_run *r)
{
    const struct chrome_trace *t = r->t;
    const size_t n = t->slices.n;
    int64_t *self_ns = arena_take(r->work, n, sizeof *self_ns);
    uint32_t *parent = arena_take(r->work, n, sizeof *parent);
    bool *counts = arena_take(r->work, n, sizeof *counts);
    r->failed |= arena_failed(r->work);
    for (size_t i = 0; i < n && !r->failed; i++) {
        const enum slice_kind kind = chrome_kind(&r->kinds, i);
        counts[i] = kind == SLICE_OPERATOR;
        if (kind == SLICE_CALL)
            measuring_add(&r->m, MEASURE_CALL, name_of(r, t->slices.name[i]), NAME_EMPTY,
                          host_step_at(r, t->slices.begin_ns[i]), (double)t->slices.dur_ns[i]);
    }
    if (r->failed)
        return;
    chrome_self(self_ns, parent, &t->slices,
                &(struct chrome_rows){ .end = n, .counts = counts, .begin_ns = INT64_MIN, .end_ns = INT64_MAX });
    for (size_t i = 0; i < n; i++)
        if (counts[i] && !chrome_is_step(t, i))
            measuring_add(&r->m, MEASURE_HOST, name_of(r, t->slices.name[i]), NAME_EMPTY,
                          host_step_at(r, t->slices.begin_ns[i]), (double)self_ns[i]);
}

static void memory_find(struct measured_rank *out, const struct chrome_trace *t)
{
    for (size_t i = 0; i < t->instants.n; i++) {
        const struct chrome_instant *x = &t->instants.at[i];
        if (x->args_len == 0 || strcmp(names_text(t->names, x->name), "[memory]") != 0)
            continue;
        const struct json_span args = { t->text + x->args_at, x->args_len };
        int64_t type, bytes;
        if (!json_fixed(json_find(args, "Device Type"), 0, &type) || type == 0)
            continue;
        if (json_fixed(json_find(args, "Total Allocated"), 0, &bytes) && bytes > out->allocated_bytes)
            out->allocated_bytes = bytes;
        if (json_fixed(json_find(args, "Total Reserved"), 0, &bytes) && bytes > out->reserved_bytes)
            out->reserved_bytes = bytes;
    }
}

/* Finds steps and their parts. The caller frees r->work. */
static bool steps_measure(struct chrome_run *r, struct measured_rank *out, const struct chrome_trace *t,
                          struct names *names, struct arena *mem)
{
    r->t = t;
    r->work = arena_new();
    r->m.names = names;
    r->m.mem = mem;
    r->name_of = r->work ? arena_take(r->work, names_count(t->names), sizeof *r->name_of) : NULL;
    if (!r->name_of || !chrome_kinds_init(&r->kinds, t, r->work))
        return false;
    slices_sort_out(r);
    r->m.out = out;
    if (r->failed || !steps_find(r, out))
        return false;
    out->has_device = r->device.n > 0;
    out->is_gpu = out->has_device && !r->kinds.is_npu;
    if (!steps_bound(r) || !parts_find(r))
        return false;
    r->m.out = NULL;
    return !r->failed;
}

bool run_steps_of_chrome(struct measured_rank *out, const struct chrome_trace *t, struct names *names,
                         struct arena *mem)
{
    struct chrome_run r = { 0 };
    *out = (struct measured_rank){ .allocated_bytes = -1, .reserved_bytes = -1 };
    const bool done = t->steps.n == 0 || steps_measure(&r, out, t, names, mem);
    out->n_steps = out->has_steps ? out->n_steps : 0;
    arena_free(r.work);
    return done;
}

bool run_of_chrome(struct measured_rank *out, const struct chrome_trace *t, struct names *names, struct arena *mem,
                   struct error *e)
{
    *out = (struct measured_rank){ .allocated_bytes = -1, .reserved_bytes = -1 };
    out->has_rank = chrome_rank(t, &out->rank);
    struct chrome_run r = { .has_operators = true };
    bool done = steps_measure(&r, out, t, names, mem) && measuring_begin(&r.m, out, names, mem);
    if (done) {
        add_device(&r);
        add_host(&r);
    }
    done = measuring_end(&r.m) && done && !r.failed;
    memory_find(out, t);
    arena_free(r.work);
    if (!done)
        return error_no_memory(e, t->path);
    return out->n > 0 ||
           error_set(e, FAULT_FORMAT,
                     "%s: no operators and no kernels of torch.profiler in it; there is nothing to compare", t->path);
}
