/* SPDX-License-Identifier: Apache-2.0 */
/* region.h - memory for columns, which is reused.
 *
 * In the course of an export more than three times as much is allocated as is held at any time. Pages that the system
 * has to find and to clear cost ten times as much as clearing our own, and more where a hypervisor has to find them
 * first. A range of addresses is therefore reserved once, and what is released is kept for the next allocation: first
 * fit.
 */
#ifndef ASCOPE_BASE_MEMORY_REGION_H
#define ASCOPE_BASE_MEMORY_REGION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { REGION_LEAST = 1 << 16 }; /* what is smaller is not worth a search */

struct region {
    pthread_mutex_t lock;
    char *at; /* NULL: there is none */
    size_t bytes;
    atomic_size_t touched;   /* offset behind which nothing was ever used: there all bytes are zero and have no pages */
    struct region_run *free; /* free runs by address; neighbours are merged */
};
#define REGION_NONE                                                                                                    \
    {                                                                                                                  \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                                              \
    }

void region_open(struct region *r, size_t bytes); /* it stays closed if so much cannot be reserved */
/* Allocates zeroed memory, but none of the last `spare` bytes of the region; NULL: no room. */
void *region_take(struct region *r, size_t bytes, size_t spare);
/* Releases an allocation. False: it is not in this region. */
bool region_give(struct region *r, void *at);
bool region_trim(struct region *r, void *at, size_t bytes); /* releases all but its first bytes */
/* Returns the pages of free runs to the system, if they have more bytes than may be kept. */
void region_rest(struct region *r, size_t kept);
size_t region_touched(const struct region *r);

#endif
