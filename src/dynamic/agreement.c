/* SPDX-License-Identifier: Apache-2.0 */
#include "dynamic/watch.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dynamic/config.h"

enum {
    STEPS_BETWEEN = 2
}; /* at least: the next step of the rank that is ahead may begin at any moment, the one after it is safe */

/* Removes the files of older requests of this job, which no host needs any more. */
static void remove_older(const struct agreement *a, const char *keep, uint64_t group)
{
    char end[40], path[PATH_MAX];
    snprintf(end, sizeof end, "_%016llx", (unsigned long long)group);
    DIR *const dir = opendir(a->config_dir);
    for (const struct dirent *d; dir && (d = readdir(dir));) {
        const size_t n = strlen(d->d_name);
        if (strncmp(d->d_name, AGREEMENT_PREFIX, strlen(AGREEMENT_PREFIX)) != 0 || n < strlen(end) ||
            strcmp(d->d_name + n - strlen(end), end) != 0 || strcmp(d->d_name, keep) == 0)
            continue;
        if (snprintf(path, sizeof path, "%s/%s", a->config_dir, d->d_name) < (int)sizeof path)
            unlink(path);
    }
    if (dir)
        closedir(dir);
}

int64_t agreement_of_hosts(const struct agreement *a, uint64_t group, int64_t proposed)
{
    char name[80], path[PATH_MAX], text[32];
    struct error ignored = { 0 };
    struct config_text chosen;
    bool is_new = false;
    snprintf(name, sizeof name, AGREEMENT_PREFIX "%016llx_%016llx", (unsigned long long)a->id,
             (unsigned long long)group);
    if (snprintf(path, sizeof path, "%s/%s", a->config_dir, name) >= (int)sizeof path)
        return proposed;
    snprintf(text, sizeof text, "%lld\n", (long long)proposed);
    config_file_create(path, text, &is_new, &ignored);
    if (is_new) {
        remove_older(a, name, group);
        return proposed;
    }
    const bool is_read = config_text_read(&chosen, path, &ignored);
    const int64_t step = is_read ? strtoll(chosen.text, NULL, 10) : 0;
    config_text_fini(&chosen);
    return step > 0 ? step : proposed; /* no file can be created here: each host decides for itself */
}

/* The offer to the ranks of one job, which all have the same group. */
static struct board_offer offer_to(const struct agreement *a, const struct config *c, const struct board_rank *rank,
                                   size_t n, uint64_t group, bool is_known)
{
    int64_t top = 0, free_at = 0;
    uint64_t n_members = 0, n_asked = 0, world = 0;
    for (size_t i = 0; i < n; i++) {
        if (rank[i].group != group)
            continue;
        n_members++;
        world = rank[i].world_size > world ? rank[i].world_size : world;
        if (!config_has_rank(c, rank[i].rank))
            continue;
        n_asked++;
        top = rank[i].step > top ? rank[i].step : top;
        if (rank[i].state == ASCOPE_DYNAMIC_RUNNING && rank[i].stop_step >= free_at && rank[i].stop_step < INT64_MAX)
            free_at = rank[i].stop_step + 1;
    }
    const bool has_other_hosts = world > n_members;
    if (c->when == WHEN_AT)
        return (struct board_offer){ .step = top, .is_passed = n_asked > 1 && top >= c->start_step };
    if (c->when != WHEN_NEXT || n_asked == 0 || (n_asked == 1 && !has_other_hosts))
        return (struct board_offer){ 0 };
    if (!is_known)
        return (struct board_offer){ .step = OFFER_OPEN };
    const double steps = a->steps_per_s * (has_other_hosts ? a->hosts_spread_s : a->spread_s);
    int64_t step = top + STEPS_BETWEEN + (steps < 1e15 ? (int64_t)steps : (int64_t)1e15);
    step = step < free_at ? free_at : step;
    return (struct board_offer){ .step = has_other_hosts ? agreement_of_hosts(a, group, step) : step };
}

void agreement_make(const struct agreement *a, const struct config *c, const struct board_rank *rank,
                    const unsigned *slot, size_t n, bool is_known, struct board_offer offer[BOARD_RANKS])
{
    memset(offer, 0, BOARD_RANKS * sizeof *offer);
    for (size_t i = 0; i < n; i++) {
        size_t first = 0;
        while (rank[first].group != rank[i].group)
            first++;
        offer[slot[i]] = first < i ? offer[slot[first]] : offer_to(a, c, rank, n, rank[i].group, is_known);
    }
}
