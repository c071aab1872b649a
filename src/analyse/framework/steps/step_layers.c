/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/steps/step_layers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/keys.h"
#include "base/memory/sort.h"

/* A piece of a step that no layer has taken yet. Pieces are disjoint and ascending. */
struct left {
    int64_t begin_ns, end_ns;
    uint32_t step;
};

/* A kind and name: the sums over all usual steps, and the cell of the wanted step that was used last. */
struct slot {
    enum spent_kind kind;
    name_id name;
    double ns, runs, mhz_ns, clocked_ns;
    struct spent_place place;
    int64_t longest_ns;
    uint32_t cell, cell_step; /* the last one; steps come in order, mostly */
};
struct step_layers_cell {
    uint32_t slot, wanted;
    double ns, runs, mhz_ns, clocked_ns;
    struct spent_place place;
    int64_t longest_ns;
};

struct thread_counts { /* of spans */
    struct keys threads;
    LIST(size_t) count;
};

struct step_layers {
    const struct step_series *s;
    const struct names *names;
    uint32_t *wanted_of;            /* by step: its number among the wanted; NO_ROW */
    uint32_t *slot_of[SPENT_KINDS]; /* by name: slot + 1 */
    uint8_t *host_kind;             /* by name: spent_kind + 1; 0: not known yet */
    size_t n_names, n_usual, n_wanted;
    LIST(struct slot) slots;
    LIST(struct step_layers_cell) cells;
    LIST(struct left) now, next; /* the pieces for this layer, and those that it leaves for the next one */
    size_t at;                   /* position in `now` */
    int64_t reach_ns;            /* spans of this layer have taken the time until then */
    size_t step;                 /* of the last run that was counted */
    struct thread_counts seen;   /* the spans of all nests so far */
    struct arena *mem;
};

static struct slot *slot_get(struct step_layers *v, enum spent_kind kind, name_id name)
{
    if (name >= v->n_names)
        return NULL;
    if (!v->slot_of[kind] && !(v->slot_of[kind] = arena_take(v->mem, v->n_names, sizeof **v->slot_of)))
        return NULL;
    uint32_t *at = &v->slot_of[kind][name];
    if (*at == 0) {
        struct slot *fresh = list_add(&v->slots, v->mem);
        if (!fresh)
            return NULL;
        *fresh = (struct slot){ .kind = kind, .name = name, .cell_step = NO_ROW };
        *at = (uint32_t)v->slots.n;
    }
    return &v->slots.at[*at - 1];
}

static struct step_layers_cell *cell_get(struct step_layers *v, struct slot *slot, uint32_t step)
{
    if (slot->cell_step != step) {
        struct step_layers_cell *fresh = list_add(&v->cells, v->mem);
        if (!fresh)
            return NULL;
        *fresh = (struct step_layers_cell){ .slot = (uint32_t)(slot - v->slots.at), .wanted = v->wanted_of[step] };
        slot->cell = (uint32_t)(v->cells.n - 1);
        slot->cell_step = step;
    }
    return &v->cells.at[slot->cell];
}

static void step_layers_add(struct step_layers *v, uint32_t step, const struct spent_span *x, double ns, bool is_run)
{
    const bool is_wanted = v->wanted_of[step] != NO_ROW;
    if (!is_wanted && !step_is_usual(v->s, step))
        return;
    struct slot *slot = slot_get(v, x->kind, x->name);
    struct step_layers_cell *cell = slot && is_wanted ? cell_get(v, slot, step) : NULL;
    if (!slot || (is_wanted && !cell))
        return; /* no memory: the arena knows */
    *(is_wanted ? &cell->ns : &slot->ns) += ns;
    *(is_wanted ? &cell->runs : &slot->runs) += is_run;
    if (x->mhz > 0) {
        *(is_wanted ? &cell->mhz_ns : &slot->mhz_ns) += x->mhz * ns;
        *(is_wanted ? &cell->clocked_ns : &slot->clocked_ns) += ns;
    }
    int64_t *longest_ns = is_wanted ? &cell->longest_ns : &slot->longest_ns;
    if ((int64_t)ns > *longest_ns) {
        *longest_ns = (int64_t)ns;
        *(is_wanted ? &cell->place : &slot->place) = x->place;
    }
}

static void keep(struct step_layers *v, int64_t begin_ns, int64_t end_ns, uint32_t step)
{
    struct left *left = begin_ns < end_ns ? list_add(&v->next, v->mem) : NULL;
    if (left)
        *left = (struct left){ begin_ns, end_ns, step };
}

void layers_count(struct step_layers *v, const struct spent_span *x)
{
    while (v->step < v->s->n && v->s->end_ns[v->step] <= x->begin_ns)
        v->step++;
    if (v->step < v->s->n && v->s->begin_ns[v->step] <= x->begin_ns)
        step_layers_add(v, (uint32_t)v->step, x, 0, true);
}

void layers_spend(struct step_layers *v, const struct spent_span *x)
{
    const int64_t from_ns = x->begin_ns > v->reach_ns ? x->begin_ns : v->reach_ns;
    if (x->end_ns <= from_ns)
        return;
    for (; v->at < v->now.n && v->now.at[v->at].end_ns <= from_ns; v->at++)
        keep(v, v->now.at[v->at].begin_ns, v->now.at[v->at].end_ns, v->now.at[v->at].step);
    for (; v->at < v->now.n && v->now.at[v->at].begin_ns < x->end_ns; v->at++) {
        struct left *left = &v->now.at[v->at];
        const int64_t begin_ns = left->begin_ns > from_ns ? left->begin_ns : from_ns,
                      end_ns = left->end_ns < x->end_ns ? left->end_ns : x->end_ns;
        keep(v, left->begin_ns, begin_ns, left->step);
        step_layers_add(v, left->step, x, (double)span_ns(begin_ns, end_ns), false);
        left->begin_ns = end_ns;
        if (left->end_ns > x->end_ns)
            break;
    }
    v->reach_ns = x->end_ns;
}

void layers_take(struct step_layers *v, const struct spent_span *x)
{
    layers_count(v, x);
    layers_spend(v, x);
}

void layers_next(struct step_layers *v)
{
    for (; v->at < v->now.n; v->at++)
        keep(v, v->now.at[v->at].begin_ns, v->now.at[v->at].end_ns, v->now.at[v->at].step);
    const __typeof__(v->now) spare = v->now;
    v->now.at = v->next.at, v->now.n = v->next.n, v->now.cap = v->next.cap;
    v->next.at = spare.at, v->next.n = 0, v->next.cap = spare.cap;
    v->at = v->step = 0;
    v->reach_ns = INT64_MIN;
}

static bool thread_add(struct thread_counts *c, uint32_t thread, struct arena *mem)
{
    const uint32_t at = keys_add(&c->threads, thread, mem);
    size_t *fresh = at == c->count.n ? list_add(&c->count, mem) : NULL;
    if (fresh)
        *fresh = 0;
    if (at >= c->count.n) /* without memory */
        return false;
    c->count.at[at]++;
    return true;
}

/* Finds the threads of a nest that are not idle. False: no memory. */
static bool threads_choose(const struct step_layers *v, const struct layer_nest *nest, struct keys *chosen)
{
    enum {
        LEAST_SHARE = 10
    }; /* of the spans of the busiest one; it counts as many spans in the nests before, or in this */
    struct thread_counts here = { 0 };
    for (size_t i = 0; i < nest->n; i++) {
        struct spent_span x;
        if (nest->span(nest->context, nest->order[i], &x) && !thread_add(&here, x.place.number, v->mem))
            return false;
    }
    size_t most[2] = { 0 };
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < here.count.n; i++) {
            const uint32_t at = keys_find(&v->seen.threads, here.threads.key.at[i]);
            const size_t n[2] = { here.count.at[i], at == KEYS_NONE ? 0 : v->seen.count.at[at] };
            const int by = most[1] > 0;
            if (pass == 0)
                for (int k = 0; k < 2; k++)
                    most[k] = n[k] > most[k] ? n[k] : most[k];
            else if (n[by] * LEAST_SHARE >= most[by] &&
                     keys_add(chosen, here.threads.key.at[i], v->mem) == KEYS_NO_MEMORY)
                return false;
        }
    return true;
}

/* The innermost open span of a thread. Only damaged files have a thousand open spans. */
static const struct spent_span *around(const struct spent_span *open, size_t n, uint32_t thread)
{
    enum { DEEPEST = 1000 };
    for (size_t i = 0; i < n && i < DEEPEST; i++)
        if (open[n - 1 - i].place.number == thread)
            return &open[n - 1 - i];
    return NULL;
}

bool layers_nest(struct step_layers *v, const struct layer_nest *nest)
{
    LIST(struct spent_span) open = { 0 };
    int64_t now_ns = INT64_MIN;
    struct keys busy = { 0 };
    if (nest->skips_idle_threads && !threads_choose(v, nest, &busy))
        return false;
    for (size_t i = 0; i <= nest->n; i++) {
        const bool is_end = i == nest->n;
        struct spent_span x = { .begin_ns = INT64_MAX };
        if (!is_end && (!nest->span(nest->context, nest->order[i], &x) ||
                        (nest->skips_idle_threads && keys_find(&busy, x.place.number) == KEYS_NONE)))
            continue;
        if (!is_end && !thread_add(&v->seen, x.place.number, v->mem))
            return false;
        for (bool is_done = false; open.n > 0 && !is_done;) {
            struct spent_span top = open.at[open.n - 1];
            is_done = top.end_ns > x.begin_ns;
            top.begin_ns = now_ns;
            top.end_ns = is_done ? x.begin_ns : top.end_ns;
            layers_spend(v, &top);
            now_ns = top.end_ns > now_ns ? top.end_ns : now_ns;
            open.n -= !is_done;
        }
        if (is_end || x.end_ns <= x.begin_ns)
            continue;
        now_ns = x.begin_ns > now_ns ? x.begin_ns : now_ns;
        const struct spent_span *caller = around(open.at, open.n, x.place.number);
        if (caller && (caller->kind == SPENT_DATA || caller->kind == SPENT_REQUESTS)) {
            x.kind = caller->kind;
            x.name = caller->name;
        } else {
            layers_count(v, &x);
        }
        struct spent_span *top = list_add(&open, v->mem);
        if (!top)
            return false;
        *top = x;
    }
    layers_next(v);
    return true;
}

uint32_t *layers_order(struct step_layers *v, const int64_t *begin_ns, size_t n)
{
    uint32_t *order = arena_take(v->mem, n, sizeof *order);
    uint64_t *key = arena_take(v->mem, n, sizeof *key);
    if (!order || !key)
        return NULL;
    for (size_t i = 0; i < n; i++)
        key[i] = (uint64_t)begin_ns[i] ^ (uint64_t)1 << 63; /* signed times in unsigned order */
    order_fill(order, n);
    return order_by_u64(order, n, key) ? order : NULL;
}

struct step_layers *layers_begin(const struct step_series *s, const struct names *names, const uint32_t *wanted,
                                 size_t n_wanted)
{
    struct arena *mem = arena_new();
    struct step_layers *v = mem ? arena_take(mem, 1, sizeof *v) : NULL;
    uint32_t *wanted_of = v ? arena_take(mem, s->n, sizeof *wanted_of) : NULL;
    uint8_t *host_kind = wanted_of ? arena_take(mem, names_count(names), 1) : NULL;
    if (!host_kind) {
        arena_free(mem);
        return NULL;
    }
    *v = (struct step_layers){ .s = s,
                               .names = names,
                               .wanted_of = wanted_of,
                               .host_kind = host_kind,
                               .n_names = names_count(names),
                               .n_wanted = n_wanted,
                               .mem = mem };
    for (size_t i = 0; i < s->n; i++)
        wanted_of[i] = NO_ROW;
    for (size_t i = 0; i < n_wanted; i++)
        wanted_of[wanted[i]] = (uint32_t)i;
    for (size_t i = 0; i < s->n; i++) {
        keep(v, s->begin_ns[i], s->end_ns[i], (uint32_t)i);
        v->n_usual += step_is_usual(s, i) && wanted_of[i] == NO_ROW;
    }
    layers_next(v);
    return v;
}

struct arena *layers_mem(struct step_layers *v)
{
    return v->mem;
}

enum spent_kind spent_kind_of_name(const char *name)
{
    static const char *const loads[] = { "dataloader", "data_loader", "GetNext", "DatasetIterator" };
    static const char *const requests[] = { "recv_request",        "wait_for_request", "wait for request",
                                            "waiting for request", "poll_request",     "get_new_request" };
    static const char *const allocates[] = { "aclrtMalloc",   "aclrtFree",   "aclMallocMem", "aclrtMapMem",
                                             "aclrtUnmapMem", "rtMalloc",    "rtFree",       "DevMalloc",
                                             "DevFree",       "halMemAlloc", "halMemFree",   "cudaMalloc",
                                             "cudaFree",      "cuMemAlloc",  "cuMemFree",    "cuMemCreate",
                                             "cuMemMap",      "cuMemUnmap",  "cuMemRelease" };
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
        if (strcasestr(name, loads[i]))
            return SPENT_DATA;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        if (strcasestr(name, requests[i]))
            return SPENT_REQUESTS;
    const char *at = strchr(name, '@'); /* "AscendCL@aclrtMalloc" */
    name = at ? at + 1 : name;
    for (size_t i = 0; i < sizeof allocates / sizeof *allocates; i++)
        if (strncmp(name, allocates[i], strlen(allocates[i])) == 0)
            return SPENT_ALLOCATION;
    return SPENT_HOST;
}

enum spent_kind layers_host_kind(struct step_layers *v, name_id name)
{
    if (name >= v->n_names)
        return SPENT_HOST;
    if (v->host_kind[name] == 0)
        v->host_kind[name] = (uint8_t)(1 + spent_kind_of_name(names_text(v->names, name)));
    return v->host_kind[name] - 1u;
}

/* ---- results --------------------------------------------------------------------------------------------------- */

static void take_nothing(struct step_layers *v)
{
    for (size_t i = 0; i < v->now.n; i++) {
        const struct left *left = &v->now.at[i];
        const struct spent_span x = { .kind = SPENT_NOTHING,
                                      .begin_ns = left->begin_ns,
                                      .end_ns = left->end_ns,
                                      .place = { SHOWN_NONE, 0, NULL, NULL, left->begin_ns,
                                                 span_ns(left->begin_ns, left->end_ns) } };
        layers_spend(v, &x);
    }
    layers_next(v);
}

int spent_compare(const struct spent *a, const struct spent *b)
{
    return a->kind != b->kind ? (a->kind < b->kind ? -1 : 1) : strcmp(a->name, b->name);
}

static int by_kind_and_name(const void *a, const void *b)
{
    return spent_compare(a, b);
}

static void profile_end(struct step_profile *f)
{
    if (f->n > 0)
        qsort(f->at, f->n, sizeof *f->at, by_kind_and_name);
    for (size_t i = 0; i < f->n; i++)
        f->time_ns += f->at[i].ns;
}

static bool make_usual(const struct step_layers *v, struct step_profile *out, struct arena *mem)
{
    const double n = (double)(v->n_usual > 0 ? v->n_usual : 1);
    *out = (struct step_profile){ .at = arena_take(mem, v->slots.n, sizeof *out->at) };
    for (size_t i = 0; out->at && i < v->slots.n; i++) {
        const struct slot *slot = &v->slots.at[i];
        if (slot->ns > 0 || slot->runs > 0)
            out->at[out->n++] = (struct spent){ slot->kind,
                                                names_text(v->names, slot->name),
                                                slot->ns / n,
                                                slot->runs / n,
                                                slot->clocked_ns > 0 ? slot->mhz_ns / slot->clocked_ns : 0,
                                                slot->place };
    }
    profile_end(out);
    return out->at != NULL;
}

static int by_step_and_slot(const void *a, const void *b)
{
    const struct step_layers_cell *x = a, *y = b;
    return x->wanted != y->wanted ? (x->wanted < y->wanted ? -1 : 1) : x->slot < y->slot ? -1 : x->slot > y->slot;
}

/* Sums the cells of one wanted step, which begin at `first`. A kind and name may have several cells. Returns their
 * end. */
static size_t make_one(const struct step_layers *v, size_t first, struct step_profile *out, struct arena *mem)
{
    size_t end = first;
    while (end < v->cells.n && v->cells.at[end].wanted == v->cells.at[first].wanted)
        end++;
    *out = (struct step_profile){ .at = arena_take(mem, end - first, sizeof *out->at) };
    for (size_t i = first; out->at && i < end;) {
        struct step_layers_cell sum = v->cells.at[i++];
        for (; i < end && v->cells.at[i].slot == sum.slot; i++) {
            const struct step_layers_cell *more = &v->cells.at[i];
            sum.ns += more->ns;
            sum.runs += more->runs;
            sum.mhz_ns += more->mhz_ns;
            sum.clocked_ns += more->clocked_ns;
            sum.place = more->longest_ns > sum.longest_ns ? more->place : sum.place;
            sum.longest_ns = more->longest_ns > sum.longest_ns ? more->longest_ns : sum.longest_ns;
        }
        const struct slot *slot = &v->slots.at[sum.slot];
        out->at[out->n++] = (struct spent){ slot->kind,
                                            names_text(v->names, slot->name),
                                            sum.ns,
                                            sum.runs,
                                            sum.clocked_ns > 0 ? sum.mhz_ns / sum.clocked_ns : 0,
                                            sum.place };
    }
    profile_end(out);
    return end;
}

bool layers_finish(struct step_layers *v, struct step_division *out, struct arena *mem)
{
    *out = (struct step_division){ 0 };
    if (!v)
        return false;
    take_nothing(v);
    out->of = arena_take(mem, v->n_wanted, sizeof *out->of);
    bool done = out->of && !arena_failed(v->mem) && make_usual(v, &out->usual, mem);
    if (done && v->cells.n > 0)
        qsort(v->cells.at, v->cells.n, sizeof *v->cells.at, by_step_and_slot);
    for (size_t i = 0; done && i < v->cells.n;) {
        struct step_profile *one = &out->of[v->cells.at[i].wanted];
        i = make_one(v, i, one, mem);
        done = one->at != NULL;
    }
    out->n_usual = v->n_usual;
    arena_free(v->mem);
    return done;
}
