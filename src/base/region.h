/* SPDX-License-Identifier: Apache-2.0 */
/* region.h - memory for columns, which is reused.
 *
 * In the course of an export more than three times as much is allocated as is held at any time. Pages that the system has to
 * find and to clear cost ten times as much as clearing our own, and more where a hypervisor has to find them first. A range of
 * addresses is therefore reserved once, and what is released is kept for the next allocation: first fit.
 */
#ifndef ASCOPE_BASE_REGION_H
#define ASCOPE_BASE_REGION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { REGION_LEAST = 1 << 16 }; /* what is smaller is not worth a search */

struct region {
    pthread_mutex_t lock;
    char *at; /* NULL: there is none */
    size_t bytes;
    atomic_size_t touched; /* from here on all of it is as the system has it: zero, and no pages */
    struct run *free;      /* by address; two never touch each other */
};
#define REGION_NONE                                                                                                    \
    {                                                                                                                  \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                                              \
    }

void region_open(struct region *r, size_t bytes); /* it stays closed where so much cannot be reserved */
/* Zeroed, and not among the last `spare` bytes of it; NULL: there is no such room. */
void *region_take(struct region *r, size_t bytes, size_t spare);
/* False: this is not in it. */
bool region_give(struct region *r, void *at);
bool region_trim(struct region *r, void *at, size_t bytes); /* what lies behind so many bytes is given back */
void region_rest(struct region *r);                         /* pages of what is free go to the system */
size_t region_touched(const struct region *r);

#endif
