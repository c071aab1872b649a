/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/run/collective_calls.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/framework/collection_analyse.h"
#include "analyse/framework/steps/step_bounds.h"
#include "answers/run/chrome_kinds.h"
#include "answers/run/rank_spans.h"
#include "base/memory/keys.h"

struct call_gathering {
    const struct run_rank *q;
    const struct step_series *s;
    struct names *known;     /* of texts that are in `mem` */
    LIST(const char *) text; /* by name in `known` */
    LIST(struct collective_call) list;
    struct arena *mem, *work;
    bool failed;
};

/* A text in `mem`, each once. */
static const char *text_kept(struct call_gathering *g, const char *text, size_t len)
{
    const name_id id = names_add(g->known, text, len);
    while (g->text.n <= id && !g->failed)
        g->failed |= !list_add(&g->text, g->work);
    if (!g->failed && !g->text.at[id])
        g->text.at[id] = arena_text(g->mem, text, len);
    g->failed |= g->failed || !g->text.at[id];
    return g->failed ? "" : g->text.at[id];
}

static bool is_p2p_kind(const char *name)
{
    char kind[COLLECTIVE_KIND];
    collective_kind(kind, name);
    return strcmp(kind, "send") == 0 || strcmp(kind, "recv") == 0 || strcmp(kind, "sendrecv") == 0 ||
           strcasestr(name, "receive");
}

/* The number of the step that launched something. */
static int64_t step_number_at(const struct call_gathering *g, int64_t launch_ns)
{
    const struct step_series *s = g->s;
    const uint32_t row = s->is_whole ? NO_ROW : step_launching(s->host_begin_ns, s->host_end_ns, s->n, launch_ns);
    const char *name = row == NO_ROW ? "" : names_text(g->q->names, s->name[row]);
    return isdigit((unsigned char)*name) ? strtoll(name, NULL, 10) : INT64_MIN;
}

static void call_add(struct call_gathering *g, const struct collective_call *x)
{
    struct collective_call *new = list_add(&g->list, g->work);
    g->failed |= !new;
    if (new)
        *new = *x;
}

/* ---- collections ------------------------------------------------------------------------------------------------ */

/* Both ends of a send or receive, from a task that moves data to another rank. */
static void find_ends(struct call_gathering *g, const struct communication *comm, const uint32_t *call_of_op)
{
    const struct comm_tasks *t = &comm->tasks;
    for (size_t i = 0; i < t->n; i++) {
        const uint32_t at = t->op[i] < comm->ops.n ? call_of_op[t->op[i]] : NO_ROW;
        struct collective_call *x = at == NO_ROW ? NULL : &g->list.at[at];
        if (!x || !x->is_p2p || !t->has_info[i] || t->src_rank[i] == t->dst_rank[i] || t->src_rank[i] == NO_ROW ||
            t->dst_rank[i] == NO_ROW)
            continue;
        x->src = t->src_rank[i];
        x->dst = t->dst_rank[i];
    }
}

static bool take_device(struct call_gathering *g)
{
    const struct device *d = g->q->device;
    const struct comm_ops *o = &d->comm.ops;
    const struct names *names = g->q->profile->names;
    struct work_launches w = { 0 };
    uint32_t *call_of_op = arena_take(g->work, o->n, sizeof *call_of_op);
    if (!call_of_op || (g->q->collection && o->n > 0 && !work_launches_find(&w, g->q->collection, d, g->work)))
        return false;
    for (uint32_t i = 0; i < o->n; i++) {
        const name_id group = o->group[i] != NAME_NA      ? o->group[i]
                              : o->group_id[i] != NAME_NA ? o->group_id[i]
                                                          : NAME_EMPTY;
        const name_id name = o->op_type[i] == NAME_NA || o->op_type[i] == NAME_EMPTY ? o->name[i] : o->op_type[i];
        call_of_op[i] = o->is_shown[i] ? (uint32_t)g->list.n : NO_ROW;
        if (!o->is_shown[i])
            continue;
        const struct collective_call x = {
            .group = text_kept(g, names_text(names, group), names_len(names, group)),
            .name = text_kept(g, names_text(names, name), names_len(names, name)),
            .begin_ns = o->begin_ns[i],
            .end_ns = stamp_add(o->begin_ns[i], (int64_t)o->dur_ns[i]),
            .step = step_number_at(g, w.collective_ns ? w.collective_ns[i] : o->begin_ns[i]),
            .src = -1,
            .dst = -1,
            .size = o->rank_size && o->rank_size[i] != NO_ROW ? o->rank_size[i] : 0,
            .row = i,
            .is_p2p = is_p2p_kind(names_text(names, name)),
        };
        call_add(g, &x);
    }
    if (!g->failed)
        find_ends(g, &d->comm, call_of_op);
    return true;
}

static void take_host(struct call_gathering *g)
{
    const struct framework_ops *o = &g->q->collection->framework.ops;
    const struct names *names = g->q->profile->names;
    for (uint32_t i = 0; i < o->n; i++) {
        const char *name = names_text(names, o->name[i]);
        if (!name_is_collective(name))
            continue;
        const struct collective_call x = { .group = "",
                                           .name = text_kept(g, name, strlen(name)),
                                           .begin_ns = o->begin_ns[i],
                                           .end_ns = o->end_ns[i],
                                           .step = step_number_at(g, o->begin_ns[i]),
                                           .src = -1,
                                           .dst = -1,
                                           .row = i,
                                           .is_p2p = is_p2p_kind(name) };
        call_add(g, &x);
    }
}

/* ---- traces ------------------------------------------------------------------------------------------------------ */

static const char *plain_kept(struct call_gathering *g, struct json_span value)
{
    struct json_span plain;
    return value.at && json_plain(value, &plain) ? text_kept(g, plain.at, plain.len) : "";
}

/* How many ranks "[0, 1, 2, 3]" has; 0: it is cut, as long ones are. */
static uint32_t n_listed(const char *ranks)
{
    uint32_t n = *ranks == '[' && isdigit((unsigned char)ranks[1]);
    if (strstr(ranks, "..."))
        return 0;
    for (const char *c = ranks; n > 0 && *c; c++)
        n += *c == ',';
    return n;
}

/* As torch.profiler writes it: its group has a name, ranks, and a size. */
static struct collective_call kineto_call(struct call_gathering *g, uint32_t slice)
{
    static const char *const key[] = { "Collective name", "Process Group Name", "Process Group Ranks", "Group size" };
    struct json_span value[4];
    uint64_t size = 0;
    json_find_each(chrome_slice_args(g->q->trace, slice), key, value, 4);
    const char *name = plain_kept(g, value[0]), *group = plain_kept(g, value[1]), *ranks = plain_kept(g, value[2]);
    const char *kernel = names_text(g->q->trace->names, g->q->trace->slices.name[slice]);
    char *both = arena_printf(g->work, "%.200s %.800s", group, ranks);
    size_t len = 0;
    for (const char *c = both; both && *c; c++) /* "0 [0,1]": the ranks without blanks */
        if (*c != ' ' || (size_t)(c - both) == strlen(group))
            both[len++] = *c;
    char kind[COLLECTIVE_KIND];
    collective_kind(kind, *name ? name : kernel);
    size = value[3].at && json_u64(value[3], &size) && size < UINT32_MAX ? size : n_listed(ranks);
    return (struct collective_call){ .group = (*group || *ranks) && both ? text_kept(g, both, len) : "",
                                     .name = *name   ? name
                                             : *kind ? text_kept(g, kind, strlen(kind))
                                                     : text_kept(g, kernel, strlen(kernel)),
                                     .size = (uint32_t)size,
                                     .is_p2p = is_p2p_kind(*name ? name : kernel) };
}

/* Of timelines and databases. The track has the name of the group; else "hcom_allReduce__622_3_1" has its number, the
 * same on all ranks. */
static struct collective_call hcom_call(struct call_gathering *g, uint32_t slice)
{
    static const char of_group[] = "Group ", behind[] = " Communication";
    const struct chrome_trace *t = g->q->trace;
    const char *name = names_text(t->names, t->slices.name[slice]), *end = strstr(name, "__");
    const char *track = names_text(t->names, t->tracks.at[t->slices.track[slice]].name);
    size_t n = 0;
    while (end && isdigit((unsigned char)end[2 + n]))
        n++;
    const bool is_named = strncmp(track, of_group, sizeof of_group - 1) == 0;
    const char *id = is_named ? track + sizeof of_group - 1 : track, *rest = is_named ? strstr(id, behind) : NULL;
    return (struct collective_call){ .group = is_named ? text_kept(g, id, rest ? (size_t)(rest - id) : strlen(id))
                                              : n > 0 ? text_kept(g, end + 2, n)
                                                       : "",
                                     .name = text_kept(g, name, end ? (size_t)(end - name) : strlen(name)),
                                     .is_p2p = is_p2p_kind(name) };
}

static bool is_hcom(const struct chrome_kinds *kinds, uint32_t slice, enum slice_kind kind)
{
    const struct chrome_trace *t = kinds->t;
    return (kinds->is_timeline && chrome_is_on_group(t, slice)) ||
           (kind == SLICE_COLLECTIVE &&
            strcmp(names_text(t->names, t->slices.category[slice]), "COMMUNICATION_OP") == 0);
}

/* When collectives were launched, by correlation. */
static bool find_launches(struct call_gathering *g, const struct chrome_kinds *kinds)
{
    const struct chrome_trace *t = g->q->trace;
    struct keys wanted = { 0 };
    uint64_t number;
    int64_t *launch_ns = arena_take(g->work, g->list.n, sizeof *launch_ns);
    for (size_t i = 0; launch_ns && i < g->list.n; i++)
        if (chrome_correlation(t, g->list.at[i].row, &number) && keys_add(&wanted, number, g->work) == KEYS_NO_MEMORY)
            return false;
    for (size_t i = 0; launch_ns && i < g->list.n; i++)
        launch_ns[i] = INT64_MIN;
    for (uint32_t i = 0; launch_ns && wanted.key.n > 0 && i < t->slices.n; i++)
        if (chrome_kind(kinds, i) == SLICE_CALL && chrome_correlation(t, i, &number)) {
            const uint32_t at = keys_find(&wanted, number);
            if (at != KEYS_NONE)
                launch_ns[at] = t->slices.begin_ns[i];
        }
    for (size_t i = 0; launch_ns && i < g->list.n; i++) {
        struct collective_call *x = &g->list.at[i];
        const uint32_t at = chrome_correlation(t, x->row, &number) ? keys_find(&wanted, number) : KEYS_NONE;
        x->step = step_number_at(g, at == KEYS_NONE || launch_ns[at] == INT64_MIN ? x->begin_ns : launch_ns[at]);
    }
    return launch_ns != NULL;
}

static bool take_trace(struct call_gathering *g)
{
    const struct chrome_trace *t = g->q->trace;
    struct chrome_kinds kinds;
    if (!chrome_kinds_init(&kinds, t, g->work))
        return false;
    for (uint32_t i = 0; i < t->slices.n && !g->failed; i++) {
        const enum slice_kind kind = chrome_kind(&kinds, i);
        const bool is_of_group = is_hcom(&kinds, i, kind),
                   is_host = g->s->is_host && chrome_is_host_collective(&kinds, i);
        if (!is_of_group && kind != SLICE_COLLECTIVE && !is_host)
            continue;
        struct collective_call x = is_of_group ? hcom_call(g, i) : kineto_call(g, i);
        x.begin_ns = t->slices.begin_ns[i];
        x.end_ns = x.begin_ns + t->slices.dur_ns[i];
        x.src = x.dst = -1;
        x.row = i;
        call_add(g, &x);
    }
    return g->failed || find_launches(g, &kinds);
}

static int call_by_begin(const void *a, const void *b)
{
    const struct collective_call *x = a, *y = b;
    return x->begin_ns != y->begin_ns ? (x->begin_ns < y->begin_ns ? -1 : 1) : x->row < y->row ? -1 : x->row > y->row;
}

bool collective_calls_find(struct collective_calls *out, const struct run_rank *q, const struct step_series *s,
                           struct arena *mem)
{
    struct call_gathering g = { .q = q, .s = s, .known = names_new(), .mem = mem, .work = arena_new() };
    bool done = g.known && g.work;
    if (done && q->trace)
        done = take_trace(&g);
    else if (done && q->device)
        done = take_device(&g);
    else if (done && q->collection)
        take_host(&g);
    done = done && !g.failed && !names_failed(g.known);
    *out = (struct collective_calls){ .n = done ? g.list.n : 0, .at = arena_take(mem, g.list.n, sizeof *out->at) };
    if (done && out->at && out->n > 0) {
        memcpy(out->at, g.list.at, out->n * sizeof *out->at);
        qsort(out->at, out->n, sizeof *out->at, call_by_begin);
    }
    names_free(g.known);
    arena_free(g.work);
    return done && out->at;
}
