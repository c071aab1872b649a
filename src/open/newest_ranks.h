/* SPDX-License-Identifier: Apache-2.0 */
/* newest_ranks.h - of several directories with the same rank, the newest counts, as in ascope cluster: they are runs
 * after each other. */
#ifndef ASCOPE_OPEN_NEWEST_RANKS_H
#define ASCOPE_OPEN_NEWEST_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rank_place {
    const char *path; /* of its directory; devices of the same directory have the same pointer */
    bool has_rank;    /* false: it is never another one's older run */
    int64_t rank;
    bool is_older; /* result */
};

/* Sets is_older of each entry whose rank is in a newer directory, and warns of them in one line. False: no memory. */
bool newest_ranks(struct rank_place *at, size_t n, void (*warn)(const char *line));

#endif
