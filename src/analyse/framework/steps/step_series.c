/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/steps/step_series.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/device/device_analysis.h"
#include "analyse/framework/collection_analyse.h"
#include "analyse/framework/steps/judge.h"
#include "analyse/framework/steps/step_bounds.h"
#include "analyse/framework/steps/step_layers.h"
#include "base/memory/columns.h"
#include "base/memory/sort.h"
#include "base/process/robust.h"

static const uint64_t MODEL_OF_STEPS = 4294967295u;

bool step_series_take(struct step_series *s, size_t n, struct arena *mem)
{
    arena_columns(mem, n, s->name, s->begin_ns, s->end_ns, s->host_begin_ns, s->host_end_ns, s->device_end_ns,
                  s->time_ns, s->requests_ns, s->is_slow, s->is_once, s->is_catch_up, s->is_chosen, s->slowest);
    for (int i = 0; i < STEP_PARTS; i++)
        s->part_ns[i] = arena_take(mem, n, sizeof *s->part_ns[i]);
    for (size_t i = 0; s->device_end_ns && i < n; i++)
        s->device_end_ns[i] = INT64_MIN;
    return !arena_failed(mem);
}

/* Prefix sums of intervals: the time that they cover before any given time. */
struct cover {
    const struct intervals *v;
    uint64_t *before_ns; /* by interval: of those before it */
};

static bool cover_build(struct cover *c, const struct intervals *v, struct arena *mem)
{
    *c = (struct cover){ v, arena_take(mem, v->n + 1, sizeof *c->before_ns) };
    for (size_t i = 0; c->before_ns && i < v->n; i++)
        c->before_ns[i + 1] = c->before_ns[i] + (uint64_t)span_ns(v->begin_ns[i], v->end_ns[i]);
    return c->before_ns != NULL;
}

static uint64_t cover_until(const struct cover *c, int64_t ns)
{
    const size_t n_begun = SEARCH_FIRST_NOT(i, 0, c->v->n, c->v->begin_ns[i] < ns);
    if (n_begun == 0)
        return 0;
    const int64_t end_ns = c->v->end_ns[n_begun - 1];
    return c->before_ns[n_begun - 1] + (uint64_t)span_ns(c->v->begin_ns[n_begun - 1], end_ns < ns ? end_ns : ns);
}

/* The covered time from begin to end; at most end - begin. */
static int64_t cover_between(const struct cover *c, int64_t begin_ns, int64_t end_ns)
{
    const uint64_t covered = cover_until(c, end_ns) - cover_until(c, begin_ns),
                   most = (uint64_t)span_ns(begin_ns, end_ns);
    return (int64_t)(covered < most ? covered : most);
}

static void set_parts(struct step_series *s, size_t i, int64_t computing_ns, int64_t communication_ns,
                      int64_t exposed_ns)
{
    const int64_t both_ns = span_ns(exposed_ns, communication_ns), busy_ns = computing_ns + exposed_ns;
    s->part_ns[STEP_COMPUTING][i] = span_ns(both_ns, computing_ns);
    s->part_ns[STEP_OVERLAPPED][i] = both_ns;
    s->part_ns[STEP_COMMUNICATION][i] = exposed_ns;
    s->part_ns[STEP_FREE][i] = span_ns(busy_ns, s->time_ns[i]);
}

static bool divide(struct step_series *s, const struct overlap *o, struct arena *mem)
{
    struct cover cover[OVERLAP_KINDS];
    for (int k = 0; k < OVERLAP_FREE; k++)
        if (!cover_build(&cover[k], &o->kind[k], mem))
            return false;
    for (size_t i = 0; i < s->n; i++) {
        int64_t in[OVERLAP_KINDS];
        for (int k = 0; k < OVERLAP_FREE; k++)
            in[k] = cover_between(&cover[k], s->begin_ns[i], s->end_ns[i]);
        set_parts(s, i, in[OVERLAP_COMPUTING], in[OVERLAP_COMMUNICATION], in[OVERLAP_EXPOSED]);
    }
    return true;
}

/* The overlap of the files, or without the host's records that of the types of tasks. */
static bool overlap_take(struct overlap *out, const struct profile *p, const struct device *d, struct arena *mem)
{
    const struct overlap_part by_type = { .is_by_type = true };
    *out = d->overlap;
    return profile_has_host(p) || out->kind[OVERLAP_COMPUTING].n > 0 || overlap_build(p, d, &by_type, mem, out);
}

/* One row for everything that a device did, if no steps were recorded. */
static void add_whole(struct step_series *s, const struct overlap *o)
{
    int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
    for (int k = 0; k < OVERLAP_KINDS; k++)
        if (o->kind[k].n > 0) { /* disjoint, by ascending begin */
            const struct intervals *v = &o->kind[k];
            begin_ns = v->begin_ns[0] < begin_ns ? v->begin_ns[0] : begin_ns;
            end_ns = v->end_ns[v->n - 1] > end_ns ? v->end_ns[v->n - 1] : end_ns;
        }
    if (begin_ns >= end_ns)
        return;
    s->is_whole = s->is_chosen[0] = true;
    s->begin_ns[0] = s->host_begin_ns[0] = begin_ns;
    s->end_ns[0] = s->host_end_ns[0] = end_ns;
    s->time_ns[0] = span_ns(begin_ns, end_ns);
    s->n = 1;
}

/* The median of each part. Computing is shown together with overlapped computing, so that its median is that of the
 * sum. `all_computing_ns` is that sum. */
static void find_medians(struct step_series *s, const int64_t *all_computing_ns, double *scratch)
{
    for (int p = -1; p < STEP_PARTS; p++) {
        const int64_t *of = p < 0 ? s->time_ns : p == STEP_COMPUTING ? all_computing_ns : s->part_ns[p];
        for (size_t i = 0; i < s->n; i++)
            scratch[i] = (double)of[i];
        *(p < 0 ? &s->median_ns : &s->median_part_ns[p]) = (int64_t)middle_of(scratch, s->n).median;
    }
    s->median_part_ns[STEP_COMPUTING] -= s->median_part_ns[STEP_OVERLAPPED];
}

/* How far the device is behind the host when a step begins. */
static int64_t lag_ns(const struct step_series *s, size_t i)
{
    return span_ns(s->host_begin_ns[i], s->begin_ns[i]);
}

/* A step that leaves the device behind by some steps more than it was, because the host did not wait for it: until the
 * device has worked that off, each step is as short as its work, and the next one begins less late. */
static void find_catch_up(struct step_series *s, double *scratch)
{
    const double least_steps = 3;
    for (size_t i = 0; i + 1 < s->n; i++)
        scratch[i] = (double)span_ns(s->host_begin_ns[i], s->host_begin_ns[i + 1]);
    const double usual_ns = s->n > 1 ? middle_of(scratch, s->n - 1).median : 0;
    for (size_t i = 0; i + 1 < s->n; i++) {
        if ((double)lag_ns(s, i + 1) - (double)lag_ns(s, i) <= least_steps * usual_ns)
            continue;
        for (i++; i + 1 < s->n && lag_ns(s, i + 1) < lag_ns(s, i); i++)
            s->is_catch_up[i] = true;
        s->is_catch_up[i] = i + 1 == s->n && s->is_catch_up[i - 1];
        i--;
    }
}

bool step_series_classify(struct step_series *s, const name_id *annotation, const struct names *names,
                          struct arena *mem)
{
    bool has_class = false;
    s->iteration = arena_take(mem, s->n, sizeof *s->iteration);
    for (size_t i = 0; s->iteration && i < s->n; i++) {
        s->iteration[i] = iteration_of(names_text(names, annotation[i]));
        has_class |= s->iteration[i].class_of != ITERATION_OTHER;
    }
    const bool done = s->iteration != NULL;
    if (!has_class)
        s->iteration = NULL;
    return done;
}

static bool is_good(const struct step_series *s, size_t i)
{
    return i >= s->n_startup && !s->is_slow[i] && !s->is_catch_up[i];
}

bool step_series_liken(struct step_series *s, size_t row, struct arena *mem)
{
    enum { FEWEST_OF_SIZE = 3 };
    size_t n = 0;
    if (!s->iteration)
        return true;
    const double size = iteration_size(&s->iteration[row]);
    s->is_like = arena_take(mem, s->n, sizeof *s->is_like);
    for (size_t i = 0; s->is_like && i < s->n; i++) {
        s->is_like[i] = s->iteration[i].class_of == s->iteration[row].class_of;
        n += s->is_like[i] && i != row && is_good(s, i) && iteration_size(&s->iteration[i]) == size;
    }
    for (size_t i = 0; s->is_like && n >= FEWEST_OF_SIZE && i < s->n; i++)
        s->is_like[i] = s->is_like[i] && iteration_size(&s->iteration[i]) == size;
    return s->is_like != NULL;
}

/* The most frequent class is the usual one. */
static bool like_most(struct step_series *s, struct arena *mem)
{
    size_t n[ITERATION_CLASSES] = { 0 };
    int most = 0;
    s->is_like = s->iteration ? arena_take(mem, s->n, sizeof *s->is_like) : NULL;
    for (size_t i = 0; s->iteration && i < s->n; i++)
        n[s->iteration[i].class_of] += is_good(s, i);
    for (int c = 0; c < ITERATION_CLASSES; c++)
        most = n[c] > n[most] ? c : most;
    for (size_t i = 0; s->is_like && i < s->n; i++)
        s->is_like[i] = (int)s->iteration[i].class_of == most;
    return !s->iteration || s->is_like;
}

bool step_series_compare(struct step_series *s, struct arena *mem)
{
    uint64_t *key = arena_take(mem, s->n, sizeof *key);
    double *scratch = arena_take(mem, s->n, sizeof *scratch);
    int64_t *all_computing_ns = arena_take(mem, s->n, sizeof *all_computing_ns);
    int64_t *time_ns = arena_take(mem, s->n, sizeof *time_ns), *free_ns = arena_take(mem, s->n, sizeof *free_ns);
    uint32_t *class_of = arena_take(mem, s->n, sizeof *class_of);
    double *size = arena_take(mem, s->n, sizeof *size);
    if (!key || !scratch || !all_computing_ns || !time_ns || !free_ns || !class_of || !size)
        return false;
    const bool has_classes = s->iteration && iterations_sort(s->iteration, s->n, class_of, size);
    for (size_t i = 0; i < s->n; i++) {
        time_ns[i] = step_judged_ns(s, i);
        free_ns[i] = step_judged_free_ns(s, i);
        all_computing_ns[i] = s->part_ns[STEP_COMPUTING][i] + s->part_ns[STEP_OVERLAPPED][i];
        key[i] = UINT64_MAX - (uint64_t)s->time_ns[i];
    }
    find_medians(s, all_computing_ns, scratch);
    find_catch_up(s, scratch);
    const int64_t *const part[] = { all_computing_ns, s->part_ns[STEP_COMMUNICATION], free_ns };
    struct judgement found;
    if (!judge(&found,
               &(struct judge_table){ .n_steps = s->is_whole ? 0 : s->n,
                                      .n_ranks = 1,
                                      .time_ns = time_ns,
                                      .is_catch_up = s->is_catch_up,
                                      .n_parts = sizeof part / sizeof *part,
                                      .part_ns = part,
                                      .class_of = has_classes ? class_of : NULL,
                                      .size = has_classes ? size : NULL },
               mem))
        return false;
    if (!s->is_whole && s->n > 0) {
        memcpy(s->is_slow, found.is_slow, s->n * sizeof *s->is_slow);
        memcpy(s->is_once, found.is_once, s->n * sizeof *s->is_once);
    }
    s->n_slow = found.n_slow;
    s->n_startup = found.n_startup;
    s->usual_ns = s->is_whole ? (double)s->median_ns : found.usual_ns;
    order_fill(s->slowest, s->n);
    return like_most(s, mem) && order_by_u64(s->slowest, s->n, key);
}

static bool is_number_between(const char *text, uint64_t first, uint64_t last)
{
    char *end;
    const uint64_t number = strtoull(text, &end, 10);
    return *text && !*end && number >= first && number <= last;
}

/* Without a device, a step is its range on the host. */
static bool divide_host(struct step_series *s, const struct collection *c, struct arena *mem)
{
    struct host_work work;
    struct cover busy, collectives, exposed, enclosed;
    if (!host_work_find(&work, c, s, mem) || !cover_build(&busy, &work.busy, mem) ||
        !cover_build(&collectives, &work.collectives, mem) || !cover_build(&exposed, &work.exposed, mem) ||
        !cover_build(&enclosed, &work.enclosed, mem))
        return false;
    s->has_communication = work.collectives.n > 0;
    for (size_t i = 0; i < s->n; i++) {
        const int64_t begin_ns = s->begin_ns[i], end_ns = s->end_ns[i],
                      busy_ns = cover_between(&busy, begin_ns, end_ns),
                      exposed_ns = cover_between(&exposed, begin_ns, end_ns),
                      enclosed_ns = cover_between(&enclosed, begin_ns, end_ns),
                      both_ns = span_ns(exposed_ns, cover_between(&collectives, begin_ns, end_ns));
        s->part_ns[STEP_COMMUNICATION][i] = exposed_ns;
        s->part_ns[STEP_OVERLAPPED][i] = both_ns;
        s->part_ns[STEP_COMPUTING][i] = span_ns(enclosed_ns + both_ns, busy_ns);
        s->part_ns[STEP_FREE][i] = span_ns(busy_ns - enclosed_ns + exposed_ns, s->time_ns[i]);
    }
    return true;
}

/* Begins and ends from the host intervals, and from the work of the device. */
static bool bound(struct step_series *s, const struct collection *c, const struct device *d, struct arena *mem)
{
    struct step_bounds b;
    struct work_launches w = { 0 };
    if (!step_bounds_begin(&b, s->host_begin_ns, s->host_end_ns, s->n, mem) ||
        (d && !work_launches_find(&w, c, d, mem)))
        return false;
    for (size_t i = 0; d && i < d->tasks.n; i++) {
        const struct tasks *t = &d->tasks;
        const enum task_does does = task_does(&c->profile, t, i);
        if (does >= TASK_COMPUTES)
            step_bounds_add(&b, w.task_ns[i], t->begin_ns[i], stamp_add(t->begin_ns[i], (int64_t)t->dur_ns[i]),
                            does == TASK_COMPUTES);
    }
    for (size_t i = 0; d && i < d->comm.ops.n; i++)
        if (d->comm.ops.is_shown[i])
            step_bounds_add(&b, w.collective_ns[i], d->comm.ops.begin_ns[i],
                            stamp_add(d->comm.ops.begin_ns[i], (int64_t)d->comm.ops.dur_ns[i]), false);
    step_bounds_end(&b, s->begin_ns, s->end_ns, s->device_end_ns);
    for (size_t i = 0; i < s->n; i++)
        s->time_ns[i] = span_ns(s->begin_ns[i], s->end_ns[i]);
    return true;
}

struct request_wait {
    int64_t begin_ns, end_ns;
};

struct names_seen {
    size_t n;
    uint8_t *is; /* by name: 0: not known yet; 1: no; 2: it is one */
};

static int request_by_begin(const void *a, const void *b)
{
    const struct request_wait *x = a, *y = b;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static bool waits_for_requests(struct names_seen *seen, const struct names *names, name_id name)
{
    if (name >= seen->n)
        return false;
    uint8_t *is = &seen->is[name];
    if (*is == 0)
        *is = 1 + (spent_kind_of_name(names_text(names, name)) == SPENT_REQUESTS);
    return *is == 2;
}

/* The time of each step in which the host waits for requests, and nothing runs on the device. */
static bool take_requests(struct step_series *s, const struct collection *c, const struct overlap *o, struct arena *mem)
{
    const struct framework_ops *ops = &c->framework.ops;
    const struct python_calls *python = &c->framework.python;
    const struct names *names = c->profile.names;
    struct names_seen seen = { names_count(names), arena_take(mem, names_count(names), 1) };
    LIST(struct request_wait) found = { 0 };
    if (!seen.is)
        return false;
    for (size_t i = 0; i < ops->n + python->n; i++) {
        const bool is_op = i < ops->n;
        const size_t row = is_op ? i : i - ops->n;
        if (!waits_for_requests(&seen, names, is_op ? framework_op_label(ops, row) : python->name[row]))
            continue;
        struct request_wait *new = list_add(&found, mem);
        if (!new)
            return false;
        *new = (struct request_wait){ is_op ? ops->begin_ns[row] : python->begin_ns[row],
                                      is_op ? ops->end_ns[row] : python->end_ns[row] };
    }
    if (found.n == 0)
        return true;
    struct cover computing, exposed;
    if (!cover_build(&computing, &o->kind[OVERLAP_COMPUTING], mem) ||
        !cover_build(&exposed, &o->kind[OVERLAP_EXPOSED], mem))
        return false;
    qsort(found.at, found.n, sizeof *found.at, request_by_begin);
    int64_t reached_ns = INT64_MIN;
    for (size_t i = 0; i < found.n; i++) {
        const int64_t from = found.at[i].begin_ns > reached_ns ? found.at[i].begin_ns : reached_ns,
                      to = found.at[i].end_ns;
        for (size_t k = 0; k < s->n && from < to; k++) {
            const int64_t begin = from > s->begin_ns[k] ? from : s->begin_ns[k],
                          end = to < s->end_ns[k] ? to : s->end_ns[k];
            if (begin < end)
                s->requests_ns[k] +=
                    span_ns(begin, end) - cover_between(&computing, begin, end) - cover_between(&exposed, begin, end);
        }
        reached_ns = to > reached_ns ? to : reached_ns;
    }
    return true;
}

bool step_series_of_collection(struct step_series *s, const struct collection *collection, const struct device *d,
                               const struct step_choice *choice, struct arena *mem)
{
    const struct profiler_steps *t = collection->marked.n > 0 ? &collection->marked : &collection->steps;
    *s = (struct step_series){ .is_host = !d,
                               .has_communication = d,
                               .by = collection->marked_by,
                               .thread = arena_take(mem, t->n + 1, sizeof *s->thread) };
    struct overlap overlap;
    if (!step_series_take(s, t->n + 1, mem) || (d && !overlap_take(&overlap, &collection->profile, d, mem)))
        return false;
    for (size_t i = 0; i < t->n; i++) {
        s->name[i] = t->id[i];
        s->thread[i] = t->thread[i];
        s->host_begin_ns[i] = t->host_begin_ns[i];
        s->host_end_ns[i] = t->host_end_ns[i];
        s->is_chosen[i] =
            !choice || is_number_between(names_text(collection->profile.names, t->id[i]), choice->first, choice->last);
    }
    s->n = t->n;
    if (t == &collection->marked && !step_series_classify(s, collection->marked_name, collection->profile.names, mem))
        return false;
    if (s->n == 0 && d)
        add_whole(s, &overlap);
    else if (!bound(s, collection, d, mem))
        return false;
    return (d ? divide(s, &overlap, mem) : divide_host(s, collection, mem)) &&
           (!d || take_requests(s, collection, &overlap, mem)) && step_series_compare(s, mem);
}

/* The rows of one model, or the training steps: they stand together, as a range. */
struct step_series_rows {
    size_t first, end;
};

static bool is_same_model(const struct iterations *t, size_t a, size_t b)
{
    return t->is_step[a] == t->is_step[b] && (t->is_step[a] || t->model[a] == t->model[b]);
}

static struct step_series_rows choose_rows(const struct iterations *t, const struct step_choice *choice)
{
    struct step_series_rows best = { 0 };
    uint64_t most = 0;
    for (size_t i = 0, end; i < t->n; i = end) {
        uint64_t ticks = 0;
        for (end = i; end < t->n && is_same_model(t, i, end); end++)
            ticks += t->end[end] > t->begin[end] ? t->end[end] - t->begin[end] : 0;
        if (choice && choice->model != MODEL_OF_STEPS ? !t->is_step[i] && t->model[i] == choice->model : t->is_step[i])
            return (struct step_series_rows){ i, end };
        if (!choice && ticks > most) {
            most = ticks;
            best = (struct step_series_rows){ i, end };
        }
    }
    return best;
}

bool step_series_of_profile(struct step_series *s, const struct profile *p, const struct device *d,
                            const struct step_choice *choice, struct arena *mem)
{
    const struct iterations *t = &d->steps.iterations;
    const struct step_series_rows rows = choose_rows(t, choice);
    const size_t n = rows.end - rows.first;
    uint32_t *order = arena_take(mem, n, sizeof *order);
    *s = (struct step_series){ .has_communication = true,
                               .has_model = n > 0 && !t->is_step[rows.first],
                               .model = n > 0 ? t->model[rows.first] : 0 };
    struct overlap overlap;
    if (!order || !step_series_take(s, n + 1, mem) || !overlap_take(&overlap, p, d, mem))
        return false;
    order_fill(order, n);
    if (!order_by_u64(order, n, t->begin + rows.first))
        return false;
    for (; s->n < n; s->n++) {
        const size_t from = rows.first + order[s->n], i = s->n;
        s->name[i] = names_number(p->names, t->index[from]);
        s->begin_ns[i] = s->host_begin_ns[i] = source_device_ns(&d->source, t->begin[from]);
        s->end_ns[i] = s->host_end_ns[i] = source_device_ns(&d->source, t->end[from]);
        s->time_ns[i] = span_ns(s->begin_ns[i], s->end_ns[i]);
        s->is_chosen[i] = !choice || (t->index[from] >= choice->first && t->index[from] <= choice->last);
    }
    if (n == 0 && !choice)
        add_whole(s, &overlap);
    return divide(s, &overlap, mem) && step_series_compare(s, mem);
}

uint32_t step_series_at(const int64_t *begin_ns, const int64_t *end_ns, size_t n, int64_t ns)
{
    const size_t n_begun = SEARCH_FIRST_NOT(i, 0, n, begin_ns[i] <= ns);
    return n_begun > 0 && ns < end_ns[n_begun - 1] ? (uint32_t)(n_begun - 1) : NO_ROW;
}
