/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/serving/requests.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/framework/steps/request_name.h"
#include "answers/run/chrome_kinds.h"
#include "profile/profile.h"

struct request_sighting {
    name_id id;
    enum request_event event;
    int64_t begin_ns, end_ns;
};

struct request_gathering {
    struct names *ids;
    struct arena *mem;
    uint8_t *kind; /* by name of the recording: event + 1; 0: not looked at */
    const struct names *names;
    size_t n_names;
    LIST(struct request_sighting) seen;
};

static void request_gather(struct request_gathering *g, name_id name, int64_t begin_ns, int64_t end_ns)
{
    if (name >= g->n_names || g->kind[name] == 1 + REQUEST_NONE)
        return;
    const struct request_name x = request_name_of(names_text(g->names, name));
    g->kind[name] = (uint8_t)(1 + x.event);
    struct request_sighting *new = x.event == REQUEST_NONE ? NULL : list_add(&g->seen, g->mem);
    if (new)
        *new = (struct request_sighting){ names_add(g->ids, x.id, x.n), x.event, begin_ns, end_ns };
}

static bool requests_of_trace(struct request_gathering *g, const struct chrome_trace *t)
{
    struct chrome_kinds kinds;
    if (!chrome_kinds_init(&kinds, t, g->mem))
        return false;
    for (size_t i = 0; i < t->slices.n; i++) {
        const enum slice_kind kind = chrome_kind(&kinds, (uint32_t)i);
        if (kind < SLICE_KERNEL)
            request_gather(g, t->slices.name[i], t->slices.begin_ns[i], t->slices.begin_ns[i] + t->slices.dur_ns[i]);
    }
    for (size_t i = 0; i < t->instants.n; i++)
        request_gather(g, t->instants.at[i].name, t->instants.at[i].ns, t->instants.at[i].ns);
    return true;
}

static void requests_of_profile(struct request_gathering *g, const struct run_rank *q)
{
    const struct profile *p = q->profile;
    const struct marks *k = &p->host.records.marks;
    for (size_t i = 0; profile_has_host(p) && i < k->n; i++)
        request_gather(g, k->message[i], source_host_ns(&p->host.source, k->begin[i]),
                       source_host_ns(&p->host.source, k->end[i]));
    const struct framework_ops *o = q->collection ? &q->collection->framework.ops : NULL;
    for (size_t i = 0; o && i < o->n; i++)
        request_gather(g, o->name[i], o->begin_ns[i], o->end_ns[i]);
}

static int request_sightings_order(const void *a, const void *b)
{
    const struct request_sighting *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    const bool x_is_range = x->event == REQUEST_RANGE, y_is_range = y->event == REQUEST_RANGE;
    const int64_t x_ns = x_is_range ? x->begin_ns : x->end_ns, y_ns = y_is_range ? y->begin_ns : y->end_ns;
    return x_ns != y_ns ? (x_ns < y_ns ? -1 : 1) : (int)x->event - (int)y->event;
}

static int requests_order(const void *a, const void *b)
{
    const struct request *x = a, *y = b;
    return x->begin_ns != y->begin_ns ? (x->begin_ns < y->begin_ns ? -1 : 1) : strcmp(x->id, y->id);
}

/* A sighting begins another request of the same id: a new range, behind the end of the one before. */
static bool begins_another(const struct request *r, const struct request_sighting *x)
{
    return (x->event == REQUEST_RANGE || x->event == REQUEST_BEGIN) && (r->has_begin || r->has_end) &&
           x->begin_ns >= r->end_ns;
}

static void request_add(struct request *r, const struct request_sighting *x)
{
    const bool is_range = x->event == REQUEST_RANGE;
    r->begin_ns = x->begin_ns < r->begin_ns ? x->begin_ns : r->begin_ns;
    r->end_ns = x->end_ns > r->end_ns ? x->end_ns : r->end_ns;
    r->has_begin |= is_range || x->event == REQUEST_BEGIN;
    r->has_end |= is_range || x->event == REQUEST_END;
    if (x->event != REQUEST_FIRST_TOKEN && x->event != REQUEST_TOKEN)
        return;
    r->has_first |= r->n_tokens == 0 && x->event == REQUEST_FIRST_TOKEN;
    r->token_ns[r->n_tokens++] = x->end_ns;
}

/* Requests from the sorted sightings. Sightings with neither a range nor a first token make no request. */
static bool requests_make(struct requests *out, const struct request_gathering *g, struct arena *mem)
{
    const size_t n = g->seen.n;
    int64_t *token_ns = arena_take(mem, n, sizeof *token_ns);
    out->at = arena_take(mem, n, sizeof *out->at);
    if (!token_ns || !out->at)
        return false;
    for (size_t i = 0, end; i < n; i = end) {
        struct request *r = &out->at[out->n];
        const name_id id = g->seen.at[i].id;
        *r = (struct request){ .begin_ns = INT64_MAX, .end_ns = INT64_MIN, .token_ns = token_ns };
        for (end = i; end < n && g->seen.at[end].id == id && !begins_another(r, &g->seen.at[end]); end++)
            request_add(r, &g->seen.at[end]);
        if (!r->has_begin && !r->has_first)
            continue;
        r->id = arena_text(mem, names_text(g->ids, id), names_len(g->ids, id));
        token_ns += r->n_tokens;
        out->n++;
        if (!r->id)
            return false;
    }
    if (out->n > 1)
        qsort(out->at, out->n, sizeof *out->at, requests_order);
    return true;
}

double request_ttft_ns(const struct request *r)
{
    return r->has_begin && r->n_tokens > 0 ? (double)span_ns(r->begin_ns, r->token_ns[0]) : -1;
}

double request_tpot_ns(const struct request *r)
{
    return r->n_tokens > 1 ? (double)span_ns(r->token_ns[0], r->token_ns[r->n_tokens - 1]) / (double)(r->n_tokens - 1)
                           : -1;
}

static bool requests_measure(struct requests *v, struct arena *spare)
{
    size_t n_tokens = 0, n[4] = { 0 };
    for (size_t i = 0; i < v->n; i++)
        n_tokens += v->at[i].n_tokens;
    double *of[4];
    for (int k = 0; k < 4; k++)
        if (!(of[k] = arena_take(spare, k == 2 ? n_tokens : v->n, sizeof **of)))
            return false;
    for (size_t i = 0; i < v->n; i++) {
        const struct request *r = &v->at[i];
        if (request_ttft_ns(r) >= 0)
            of[0][n[0]++] = request_ttft_ns(r);
        if (request_tpot_ns(r) >= 0)
            of[1][n[1]++] = request_tpot_ns(r);
        for (size_t k = 1; k < r->n_tokens; k++)
            of[2][n[2]++] = (double)span_ns(r->token_ns[k - 1], r->token_ns[k]);
        if (r->has_begin && r->has_end)
            of[3][n[3]++] = (double)span_ns(r->begin_ns, r->end_ns);
    }
    struct quantiles *const to[] = { &v->ttft, &v->tpot, &v->itl, &v->total };
    for (int k = 0; k < 4; k++)
        *to[k] = quantiles_of(of[k], n[k]);
    return true;
}

bool requests_find(struct requests *out, const struct run_rank *q, struct arena *mem)
{
    struct request_gathering g = { .ids = names_new(), .mem = arena_new() };
    *out = (struct requests){ 0 };
    g.names = q->trace ? q->trace->names : q->profile->names;
    g.n_names = names_count(g.names);
    g.kind = g.mem ? arena_take(g.mem, g.n_names, 1) : NULL;
    bool done = g.ids && g.kind && (!q->trace || requests_of_trace(&g, q->trace));
    if (done && !q->trace)
        requests_of_profile(&g, q);
    done = done && !names_failed(g.ids) && !arena_failed(g.mem);
    if (done && g.seen.n > 1)
        qsort(g.seen.at, g.seen.n, sizeof *g.seen.at, request_sightings_order);
    done = done && requests_make(out, &g, mem) && requests_measure(out, g.mem);
    names_free(g.ids);
    arena_free(g.mem);
    return done;
}

/* By how much it is slower than the median, as a factor. */
static double slowness(const struct requests *v, const struct request *r)
{
    const double ttft = v->ttft.p50 > 0 ? request_ttft_ns(r) / v->ttft.p50 : 0,
                 tpot = v->tpot.p50 > 0 ? request_tpot_ns(r) / v->tpot.p50 : 0;
    return ttft > tpot ? ttft : tpot;
}

const struct request *request_choose(const struct requests *v, const char *id)
{
    const struct request *best = NULL;
    for (size_t i = 0; i < v->n; i++)
        if (strcmp(v->at[i].id, id) == 0)
            best = &v->at[i];
    if (best || strcmp(id, "slowest") != 0)
        return best;
    for (size_t i = 0; i < v->n; i++)
        best = !best || slowness(v, &v->at[i]) > slowness(v, best) ? &v->at[i] : best;
    return best;
}
