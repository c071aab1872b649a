#include "export/scope.h"

#include <inttypes.h>
#include <stdio.h>

enum { PLATFORM_A2 = 5 };
static const uint64_t MODEL_OF_STEPS = 4294967295u;

/* The ids of models that have iterations, as a list for a message. */
static void known_models(const struct profile *p, char *text, size_t size)
{
    size_t at = 0;
    text[0] = 0;
    for (size_t d = 0; d < p->n_devices; d++) {
        const struct steps *s = &p->device[d].steps;
        for (size_t i = 0; i < s->n; i++) {
            bool seen = false;
            for (size_t k = 0; k < i && !seen; k++)
                seen = s->model[k] == s->model[i];
            if (!seen && d == 0 && at < size)
                at += (size_t)snprintf(text + at, size - at, "%s%" PRIu64, at ? ", " : "", s->model[i]);
        }
    }
}

bool scope_resolve(struct export *x, const struct request *r, struct error *e)
{
    const struct profile *p = x->profile;
    x->is_generic = p->platform != PLATFORM_A2;
    if (!r->has_iteration)
        return true;
    x->scope = r->model == MODEL_OF_STEPS ? SCOPE_STEP : SCOPE_GRAPH;
    x->is_generic = true;
    x->model = r->model;
    x->first_iteration = r->iteration;
    x->last_iteration = r->iteration + (r->iteration_count ? r->iteration_count : 1) - 1;

    uint64_t first = UINT64_MAX, last = 0;
    bool has_steps = false, found = false;
    for (size_t d = 0; d < p->n_devices; d++) {
        const struct steps *s = &p->device[d].steps;
        for (size_t i = 0; i < s->n; i++) {
            has_steps = true;
            if (s->model[i] != x->model)
                continue;
            first = s->index[i] < first ? s->index[i] : first;
            last = s->index[i] > last ? s->index[i] : last;
            if (s->index[i] < x->first_iteration || s->index[i] > x->last_iteration)
                continue;
            x->begin_ns = !found || s->begin_ns[i] < x->begin_ns ? s->begin_ns[i] : x->begin_ns;
            x->end_ns = !found || s->end_ns[i] > x->end_ns ? s->end_ns[i] : x->end_ns;
            found = true;
        }
    }
    x->lead_ns = INT64_MIN;
    for (size_t d = 0; d < p->n_devices; d++) {
        const struct steps *s = &p->device[d].steps;
        for (size_t i = 0; i < s->n; i++)
            if (s->end_ns[i] < x->begin_ns && s->end_ns[i] > x->lead_ns)
                x->lead_ns = s->end_ns[i];
    }
    char models[256];
    known_models(p, models, sizeof models);
    if (!has_steps)
        return error_set(e, FAULT_ASKED,
                         "%s: has no iterations (single operators only); leave out --model-id and --iteration-id",
                         p->path);
    if (first == UINT64_MAX)
        return error_set(e, FAULT_ASKED, "%s: has no model %" PRIu64 "; its models are %s", p->path, x->model, models);
    if (x->first_iteration < first || x->last_iteration > last)
        return error_set(e, FAULT_ASKED,
                         "%s: model %" PRIu64 " has iterations %" PRIu64 " to %" PRIu64 ", not %" PRIu64 " to %" PRIu64,
                         p->path, x->model, first, last, x->first_iteration, x->last_iteration);
    return true;
}

bool scope_has_task(const struct export *x, const struct tasks *t, size_t row)
{
    return x->scope == SCOPE_ALL || (t->begin_ns[row] >= x->begin_ns && t->begin_ns[row] <= x->end_ns);
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
