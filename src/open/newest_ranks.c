/* SPDX-License-Identifier: Apache-2.0 */
#include "open/newest_ranks.h"

#include <stdlib.h>
#include <string.h>

#include "cluster/job/job.h"

struct dated {
    struct rank_place *place;
    uint64_t stamp;
};

/* By rank, the newest directory first; entries without a rank last. */
static int by_rank_and_age(const void *left, const void *right)
{
    const struct dated *a = left, *b = right;
    if (a->place->has_rank != b->place->has_rank)
        return a->place->has_rank ? -1 : 1;
    if (a->place->has_rank && a->place->rank != b->place->rank)
        return a->place->rank < b->place->rank ? -1 : 1;
    if (a->stamp != b->stamp)
        return a->stamp > b->stamp ? -1 : 1;
    return strcmp(b->place->path, a->place->path); /* of those without a time the last one, as in ascope cluster */
}

bool newest_ranks(struct rank_place *at, size_t n, void (*warn)(const char *line))
{
    struct dated *sorted = calloc(n + 1, sizeof *sorted);
    if (!sorted)
        return false;
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct dated){ &at[i], job_stamp(at[i].path) };
    qsort(sorted, n, sizeof *sorted, by_rank_and_age);
    const struct dated *newest = sorted;
    const char *reported = NULL;
    struct ranks_twice twice = { 0 };
    for (size_t i = 0; i < n && sorted[i].place->has_rank; i++) {
        struct rank_place *r = sorted[i].place;
        if (r->rank != newest->place->rank || r->path == newest->place->path) {
            newest = r->rank != newest->place->rank ? &sorted[i] : newest;
            continue;
        }
        r->is_older = true;
        if (r->path != reported)
            ranks_twice_add(&twice, r->rank, newest->place->path, r->path, newest->stamp > sorted[i].stamp);
        reported = r->path;
    }
    char line[RANKS_TWICE_LINE];
    if (ranks_twice_line(line, &twice))
        warn(line);
    free(sorted);
    return true;
}
