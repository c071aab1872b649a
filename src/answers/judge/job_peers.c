/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/judge/job_peers.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "answers/run/chrome_kinds.h"
#include "base/text/json_memory.h"

static const char of_groups[] = "parallel_group_info";

static const char *json_kept(const json_t *value, struct arena *mem)
{
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    const char *kept = text ? arena_text(mem, text, strlen(text)) : NULL;
    free(text);
    return kept;
}

/* The groups of a trace of torch.profiler. Its collectives name a group and its ranks: "0 [0,1]". */
static json_t *groups_of_kineto(const json_t *config)
{
    json_t *all = json_object(), *group;
    size_t i;
    json_array_foreach((json_t *)config, i, group)
    {
        json_error_t unused;
        const char *name = json_string_value(json_object_get(group, "pg_name")),
                   *about = json_string_value(json_object_get(group, "pg_desc"));
        const json_t *ranks = json_object_get(group, "ranks");
        json_t *list = json_is_string(ranks)
                           ? json_read(json_string_value(ranks), json_string_length(ranks), 0, &unused)
                           : json_deep_copy(ranks);
        char *text = name && json_is_array(list) ? json_dumps(list, JSON_COMPACT) : NULL, id[1024];
        if (text) {
            snprintf(id, sizeof id, "%.200s %.800s", name, text);
            json_object_set_new(
                all, id, json_pack("{s:s, s:O}", "group_name", about && *about ? about : name, "global_ranks", list));
        }
        free(text);
        json_decref(list);
    }
    return all;
}

const char *run_rank_groups(const struct run_rank *q, struct arena *mem)
{
    for (size_t i = 0; q->collection && i < q->collection->metadata.n; i++)
        if (strcmp(q->collection->metadata.row[i].key, of_groups) == 0)
            return arena_text(mem, q->collection->metadata.row[i].text, strlen(q->collection->metadata.row[i].text));
    const struct json_span info = q->trace ? chrome_fact(q->trace, "distributedInfo") : (struct json_span){ 0 };
    json_error_t unused;
    json_t *json = info.at ? json_read(info.at, info.len, 0, &unused) : NULL;
    const json_t *noted = json_object_get(json, of_groups), *config = json_object_get(json, "pg_config");
    json_t *made = json_is_array(config) ? groups_of_kineto(config) : NULL;
    const char *text = json_is_object(noted) ? json_kept(noted, mem) : made ? json_kept(made, mem) : NULL;
    json_decref(made);
    json_decref(json);
    return text;
}

int64_t run_rank_world(const struct run_rank *q, const struct collective_calls *calls)
{
    int64_t n = q->trace ? chrome_world(q->trace) : 0;
    for (size_t i = 0; q->collection && i < q->collection->metadata.n; i++) {
        const struct metadata_row *row = &q->collection->metadata.row[i];
        const struct json_span all = { row->text, strlen(row->text) }, world = strcmp(row->key, "distributed_args") == 0
                                                                                   ? json_find(all, "world_size")
                                                                                   : (struct json_span){ 0 };
        n = world.at && json_fixed(world, 0, &n) ? n : 0;
        if (n > 0)
            break;
    }
    for (size_t i = 0; i < calls->n; i++)
        n = calls->at[i].size > n ? calls->at[i].size : n;
    return n > 0 ? n : 0;
}

/* Groups by id, sends and receives apart from collectives. */
struct peer_groups {
    struct names *ids;
    struct keys key; /* (id, is_p2p) */
    LIST(struct peer_group {
        name_id id;
        bool is_p2p;
        const char *name;
        LIST(int64_t) rank;
    })
    list;
    struct arena *mem;
};

static struct peer_group *group_at(struct peer_groups *g, const char *id, bool is_p2p)
{
    const name_id name = names_addz(g->ids, id);
    const uint32_t at = keys_add(&g->key, (uint64_t)name << 1 | is_p2p, g->mem);
    struct peer_group *new = at == g->list.n ? list_add(&g->list, g->mem) : NULL;
    if (new)
        *new = (struct peer_group){ .id = name, .is_p2p = is_p2p };
    return at < g->list.n ? &g->list.at[at] : NULL;
}

static bool rank_in_group(struct peer_group *to, int64_t rank, struct arena *mem)
{
    for (size_t i = 0; i < to->rank.n; i++)
        if (to->rank.at[i] == rank)
            return true;
    int64_t *new = list_add(&to->rank, mem);
    if (new)
        *new = rank;
    return new != NULL;
}

/* The ranks that call a group, once for each rank. */
static bool take_calls(struct peer_groups *g, const struct run_member *r)
{
    for (size_t i = 0; i < r->calls.n; i++) {
        const struct collective_call *x = &r->calls.at[i];
        if (!*x->group || (i > 0 && x->group == x[-1].group && x->is_p2p == x[-1].is_p2p))
            continue;
        struct peer_group *to = group_at(g, x->group, x->is_p2p);
        if (!to || (!(to->rank.n > 0 && to->rank.at[to->rank.n - 1] == r->rank) && !rank_in_group(to, r->rank, g->mem)))
            return false;
    }
    return true;
}

/* What the job recorded about groups that communicate: their names, and all of their ranks. */
static bool take_noted(struct peer_groups *g, const char *text)
{
    json_error_t unused;
    json_t *json = text ? json_read(text, strlen(text), 0, &unused) : NULL, *value, *rank;
    const char *id;
    bool done = !json_memory_failed();
    json_object_foreach(json, id, value)
    {
        const char *name = json_string_value(json_object_get(value, "group_name"));
        const json_t *ranks = json_object_get(value, "global_ranks");
        for (int is_p2p = 0; done && is_p2p < 2; is_p2p++) {
            const uint32_t at = keys_find(&g->key, (uint64_t)names_addz(g->ids, id) << 1 | (uint64_t)is_p2p);
            struct peer_group *to = at == KEYS_NONE ? NULL : &g->list.at[at];
            size_t i;
            if (to && name && !to->name)
                done = (to->name = arena_text(g->mem, name, strlen(name))) != NULL;
            if (to)
                json_array_foreach((json_t *)ranks, i, rank) done =
                    done && (!json_is_integer(rank) || rank_in_group(to, json_integer_value(rank), g->mem));
        }
    }
    json_decref(json);
    return done;
}

bool job_peers_find(struct run_member *rank, size_t n, struct arena *mem)
{
    struct peer_groups g = { .ids = names_new(), .mem = mem };
    struct stages *stages = arena_take(mem, 1, sizeof *stages);
    bool done = g.ids && stages;
    for (size_t i = 0; done && i < n; i++)
        done = !rank[i].has_rank || take_calls(&g, &rank[i]);
    for (size_t i = 0; done && i < n; i++)
        done = i > 0 && rank[i].groups && rank[i - 1].groups && strcmp(rank[i].groups, rank[i - 1].groups) == 0
                   ? true
                   : take_noted(&g, rank[i].groups);
    struct stage_group *group = done ? arena_take(mem, g.list.n, sizeof *group) : NULL;
    for (size_t i = 0; group && i < g.list.n; i++)
        group[i] =
            (struct stage_group){ g.list.at[i].rank.at, g.list.at[i].rank.n, g.list.at[i].is_p2p, g.list.at[i].name };
    done = group && stages_find(stages, group, g.list.n, mem) && !names_failed(g.ids);
    for (size_t i = 0; done && i < n; i++)
        rank[i].stages = stages;
    names_free(g.ids);
    return done;
}
