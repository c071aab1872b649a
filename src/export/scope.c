/* SPDX-License-Identifier: Apache-2.0 */
#include "export/scope.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/memory/sort.h"

static const uint64_t MODEL_OF_STEPS = 4294967295u;

/* Whether an iteration is of the kind that is exported: a training step, or an iteration of any model. */
static bool is_candidate(const struct export *x, const struct iterations *t, size_t i)
{
    return t->is_step[i] == (x->scope == SCOPE_STEP);
}

static bool is_of_model(const struct export *x, const struct iterations *t, size_t i)
{
    return is_candidate(x, t, i) && (x->scope == SCOPE_STEP || t->model[i] == x->model);
}

/* The ids that --model-id takes, as a list for a message: the first ones, if there are many. Training steps, if they
 * can be exported, have the id of no model. */
enum { MODELS_LISTED = 8, MODELS_TEXT = (MODELS_LISTED + 1) * 24 };
static void known_models(const struct export *x, char text[MODELS_TEXT])
{
    uint64_t known[MODELS_LISTED + 1]; /* one more, to see that there are more */
    size_t n = 0, at = 0;
    for (size_t d = 0; d < x->profile->n_devices; d++) {
        const struct iterations *t = &x->profile->device[d].steps.iterations;
        for (size_t i = 0; i < t->n && n <= MODELS_LISTED; i++) {
            const uint64_t model = t->is_step[i] ? MODEL_OF_STEPS : t->model[i];
            bool seen = t->is_step[i] ? !x->profile->has_unique_ids : model == MODEL_OF_STEPS;
            for (size_t k = n; k-- > 0 && !seen;)
                seen = known[k] == model;
            if (!seen)
                known[n++] = model;
        }
    }
    text[0] = 0;
    for (size_t k = 0; k < n && k < MODELS_LISTED; k++)
        at += (size_t)snprintf(text + at, MODELS_TEXT - at, "%s%" PRIu64, k ? ", " : "", known[k]);
    if (n > MODELS_LISTED)
        snprintf(text + at, MODELS_TEXT - at, ", ...");
}

/* The window of a device: from the begin of its first exported iteration to the end of its last one. */
static struct window window_of(const struct export *x, const struct device *d)
{
    const struct iterations *t = &d->steps.iterations;
    uint64_t begin = UINT64_MAX, end = 0, before = 0;
    struct window w = { .lead_ns = INT64_MIN, .shown_ns = INT64_MIN };
    for (size_t i = 0; i < t->n; i++) {
        if (!is_of_model(x, t, i) || t->index[i] < x->first_iteration || t->index[i] > x->last_iteration)
            continue;
        begin = t->begin[i] < begin ? t->begin[i] : begin;
        end = t->end[i] > end ? t->end[i] : end;
        w.has_any = true;
    }
    if (!w.has_any)
        return w;
    for (size_t i = 0; i < t->n; i++)
        if (is_candidate(x, t, i) && t->end[i] < begin && t->end[i] > before)
            before = t->end[i];
    w.begin_ns = source_device_ns(&d->source, begin);
    w.end_ns = source_device_ns(&d->source, end);
    if (before > 0)
        w.lead_ns = source_device_ns(&d->source, before);
    if (x->first_iteration > 1)
        w.shown_ns = w.begin_ns;
    return w;
}

/* The iterations that can be chosen, over all devices. */
struct offer {
    bool has_any;         /* some model has iterations */
    uint64_t first, last; /* of the chosen model; first > last: it has none */
};

static struct offer offer_of(const struct export *x)
{
    struct offer o = { .first = UINT64_MAX };
    for (size_t d = 0; d < x->profile->n_devices; d++) {
        const struct iterations *t = &x->profile->device[d].steps.iterations;
        for (size_t i = 0; i < t->n; i++) {
            o.has_any = o.has_any || is_candidate(x, t, i);
            if (!is_of_model(x, t, i))
                continue;
            o.first = t->index[i] < o.first ? t->index[i] : o.first;
            o.last = t->index[i] > o.last ? t->index[i] : o.last;
        }
    }
    return o;
}

/* Sets an error that lists the iterations that can be chosen. Always false. */
static bool no_such_iteration(const struct export *x, struct offer o, struct error *e)
{
    const char *path = x->profile->path;
    char models[MODELS_TEXT];
    known_models(x, models);
    if (x->scope == SCOPE_STEP ? !o.has_any : !*models)
        return error_set(e, FAULT_ASKED, "%s: has no %s; remove --model-id and --iteration-id", path,
                         x->scope == SCOPE_STEP ? "training steps" : "iterations (single operators only)");
    if (o.first > o.last)
        return error_set(e, FAULT_ASKED, "%s: has no model %" PRIu64 "; its models are %s", path, x->model, models);
    char what[64] = "has steps";
    if (x->scope == SCOPE_GRAPH)
        snprintf(what, sizeof what, "model %" PRIu64 " has iterations", x->model);
    return error_set(e, FAULT_ASKED, "%s: %s %" PRIu64 " to %" PRIu64 ", not %" PRIu64 " to %" PRIu64, path, what,
                     o.first, o.last, x->first_iteration, x->last_iteration);
}

bool scope_resolve(struct export *x, struct error *e)
{
    const struct output_options *o = x->options;
    const struct profile *p = x->profile;
    x->is_generic = !p->chip->is_native;
    if (!o->has_iteration)
        return true;

    x->scope = o->model == MODEL_OF_STEPS ? SCOPE_STEP : SCOPE_GRAPH;
    x->is_generic = true;
    x->model = o->model;
    x->first_iteration = o->iteration;
    x->last_iteration = x->first_iteration + (o->iteration_count ? o->iteration_count : 1) - 1;
    if (x->scope == SCOPE_STEP && !p->has_unique_ids)
        return error_set(
            e, FAULT_ASKED,
            "%s: task ids are not unique (older driver), so steps cannot be exported; select a model instead", p->path);
    const struct offer offer = offer_of(x);
    if (x->first_iteration < offer.first || x->last_iteration > offer.last)
        return no_such_iteration(x, offer, e);

    struct window *window = arena_take(p->mem, p->n_devices, sizeof *window);
    if (!window)
        return error_no_memory(e, p->path);
    bool has_any = false;
    for (size_t d = 0; d < p->n_devices; d++) {
        window[d] = window_of(x, &p->device[d]);
        has_any = has_any || window[d].has_any;
    }
    x->window = x->host_window = window;
    x->n_host_windows = p->n_devices;
    return has_any || no_such_iteration(x, offer, e);
}

/* Iterations are sorted by model, then by index, which counts from 1; training steps follow them. */
static size_t first_of_model(const struct iterations *t, uint64_t model)
{
    return SEARCH_FIRST_NOT(i, 0, t->n, !t->is_step[i] && t->model[i] < model);
}

uint64_t scope_iteration_at(const struct export *x, const struct device *d, int64_t at_ns)
{
    const struct iterations *t = &d->steps.iterations;
    const size_t first = first_of_model(t, x->model);
    for (size_t i = first + (size_t)x->first_iteration - 1; i < t->n && is_of_model(x, t, i); i++) {
        if (t->index[i] > x->last_iteration)
            break;
        if (source_device_ns(&d->source, t->begin[i]) <= at_ns && at_ns <= source_device_ns(&d->source, t->end[i]))
            return t->index[i];
    }
    return x->first_iteration;
}

void scope_set_window(const struct export *x, struct trace *t, size_t device)
{
    const bool is_cut = x->scope != SCOPE_ALL && !x->is_own_file, is_host = device == SCOPE_HOST;
    t->window = !is_cut ? NULL : is_host ? x->host_window : &x->window[device];
    t->n_windows = !is_cut ? 0 : is_host ? x->n_host_windows : 1;
}

bool scope_has_call(const struct export *x, size_t device, size_t row)
{
    const struct calls *c = &x->profile->host.calls;
    const struct source *s = &x->profile->host.source;
    if (!c->is_shown[row] || x->scope == SCOPE_ALL)
        return c->is_shown[row];
    const int64_t begin_ns = source_host_ns(s, c->begin[row]), end_ns = source_host_ns(s, c->end[row]);
    const size_t first = device == SCOPE_HOST ? 0 : device,
                 last = device == SCOPE_HOST ? x->n_host_windows : device + 1;
    bool serves = false;
    for (size_t d = first; d < last && !serves; d++) {
        const struct window *w = &x->host_window[d];
        serves = w->has_any && begin_ns <= w->end_ns && end_ns >= w->lead_ns;
    }
    return serves;
}

bool scope_has_device(const struct export *x, size_t device)
{
    return x->scope == SCOPE_ALL || x->host_window[device].has_any;
}

bool scope_has_time(const struct export *x, const struct device *d, int64_t begin_ns)
{
    if (x->scope == SCOPE_ALL)
        return true;
    const struct window *w = &x->window[d - x->profile->device];
    return w->has_any && begin_ns >= w->begin_ns && begin_ns <= w->end_ns;
}

bool scope_has_task(const struct export *x, const struct tasks *t, size_t row)
{
    const struct device *d = x->profile->device; /* one of a few */
    while (x->scope != SCOPE_ALL && &d->tasks != t)
        d++;
    return scope_has_time(x, d, t->begin_ns[row]);
}

uint32_t scope_task_host(const struct export *x, const struct tasks *t, size_t row)
{
    const struct host_tasks *h = &x->profile->host.tasks;
    const uint32_t host = t->host[row];
    if (x->scope != SCOPE_GRAPH || host == NO_ROW)
        return host;
    const bool in_iteration = h->request[host] <= 0 || ((uint64_t)h->request[host] >= x->first_iteration &&
                                                        (uint64_t)h->request[host] <= x->last_iteration);
    return h->model[host] == x->model && in_iteration ? host : NO_ROW;
}

bool scope_has_collective(const struct export *x, const struct device *d, size_t op)
{
    const struct comm_ops *o = &d->comm.ops;
    return o->is_shown[op] && scope_has_time(x, d, o->begin_ns[op]) &&
           (x->scope != SCOPE_GRAPH || o->model[op] == x->model);
}
