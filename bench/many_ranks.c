/* SPDX-License-Identifier: Apache-2.0 */
/* many_ranks.c - a job of many ranks, as summaries, of a smaller one: other ranks in groups of their own, the same
 * work.
 *
 *     bench_many_ranks SUMMARIES COPIES OUT
 *
 * Simulating and analysing 10,000 ranks takes 34 GB and most of an hour; what `ascope cluster` has to read of them does
 * not. A copy has the numbers of ranks and the names of groups shifted, everywhere. The world is the sum of all copies.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/job/job.h"
#include "cluster/rank/summary_file.h"

/* Names of groups in this copy: their texts, and the numbers of these. */
struct renaming {
    struct names *names;
    size_t copy;
    name_id from[4096], to[4096];
    size_t n;
};

static void rename_add(struct renaming *r, name_id from, const char *to)
{
    if (r->n == sizeof r->from / sizeof *r->from)
        exit(2);
    r->from[r->n] = from;
    r->to[r->n++] = names_addz(r->names, to);
}

static name_id renamed(struct renaming *r, name_id from)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->from[i] == from)
            return r->to[i];
    return from;
}

static void rename_column(struct renaming *r, name_id *column, size_t n)
{
    for (size_t i = 0; i < n; i++)
        column[i] = renamed(r, column[i]);
}

/* The groups that the rank noted, with their members shifted. */
static char *shift_groups(struct renaming *r, const char *info, int64_t by)
{
    char text[600], number[2][32];
    json_t *const old = json_loads(info, 0, NULL), *const made = json_object();
    const char *id;
    json_t *group;
    json_object_foreach(old, id, group)
    {
        json_t *const members = json_object_get(group, "global_ranks");
        for (size_t i = 0; i < json_array_size(members); i++)
            json_array_set_new(members, i, json_integer(json_integer_value(json_array_get(members, i)) + by));
        snprintf(text, sizeof text, "%s_%zu", id, r->copy);
        json_object_set(made, text, group);
        snprintf(number[0], sizeof number[0], "%" PRIu64, group_number(id, strlen(id)));
        snprintf(number[1], sizeof number[1], "%" PRIu64, group_number(text, strlen(text)));
        rename_add(r, names_addz(r->names, id), text);
        rename_add(r, names_addz(r->names, number[0]), number[1]);
    }
    char *const shifted = json_dumps(made, 0);
    json_decref(old);
    json_decref(made);
    return shifted;
}

static char *larger_world(const char *args, int64_t world, int64_t copies)
{
    json_t *const all = json_loads(args, 0, NULL);
    json_object_set_new(all, "world_size", json_integer(world));
    json_object_set_new(all, "data_parallel_size",
                        json_integer(json_integer_value(json_object_get(all, "data_parallel_size")) * copies));
    char *const text = json_dumps(all, 0);
    json_decref(all);
    return text;
}

static bool write_copy(const struct job *j, size_t i, size_t copy, size_t copies, const char *out, struct error *e)
{
    struct arena *const mem = arena_new();
    struct renaming *const r = calloc(1, sizeof *r);
    struct rank_summary s;
    char name[SUMMARY_NAME], path[4096], *groups = NULL, *args = NULL;
    bool done = mem && r && job_summary(j, i, RANK_ALL, mem, &s, NULL, e);
    if (done) {
        const int64_t n = (int64_t)j->ranks.n;
        *r = (struct renaming){ .names = j->names, .copy = copy };
        if (s.identity.parallel_group_info)
            s.identity.parallel_group_info = groups =
                shift_groups(r, s.identity.parallel_group_info, (int64_t)copy * n);
        if (s.identity.distributed_args)
            s.identity.distributed_args = args =
                larger_world(s.identity.distributed_args, n * (int64_t)copies, (int64_t)copies);
        s.identity.rank += (int64_t)copy * n;
        rename_column(r, s.comm_time.group, s.comm_time.n);
        rename_column(r, s.comm_bandwidth.group, s.comm_bandwidth.n);
        rename_column(r, s.comm_matrix.group, s.comm_matrix.n);
        rename_column(r, s.collectives.ops.group, s.collectives.ops.n);
        snprintf(path, sizeof path, "%s/%s", out, summary_name(name, s.identity.rank));
        done = summary_save(&s, j->ranks.at[i].stamp, 0, path, e);
    }
    free(groups);
    free(args);
    free(r);
    arena_free(mem);
    return done;
}

int main(int argc, char **argv)
{
    struct job j = { 0 };
    struct error e = { 0 };
    const size_t copies = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
    if (copies == 0) {
        fprintf(stderr, "usage: bench_many_ranks SUMMARIES COPIES OUT\n");
        return 2;
    }
    bool done = job_init(&j, &e) && job_find(&j, argv[1], &e) && job_complete(&j, NULL, &e);
    for (size_t copy = 0; done && copy < copies; copy++)
        for (size_t i = 0; done && i < j.ranks.n; i++)
            done = write_copy(&j, i, copy, copies, argv[3], &e);
    if (!done)
        fprintf(stderr, "bench_many_ranks: %s\n", e.text);
    job_fini(&j);
    return done ? 0 : 1;
}
