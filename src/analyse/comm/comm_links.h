/* SPDX-License-Identifier: Apache-2.0 */
/* comm_links.h - bytes and times of a collective from rank to rank. One struct is used for many collectives and cleared
 * in between. */
#ifndef ASCOPE_ANALYSE_COMM_COMM_LINKS_H
#define ASCOPE_ANALYSE_COMM_COMM_LINKS_H

#include "analyse/comm/comm_events.h"

struct comm_link {
    const char *transport; /* NULL: none that reports have a name for */
    double size_mb, time_ms;
};

struct comm_links {
    struct keys pairs; /* source << 32 | destination, in the order in which they were first used */
    LIST(struct comm_link) link;
    struct arena *mem;
};

static inline uint32_t link_source(const struct comm_links *l, size_t i)
{
    return (uint32_t)(l->pairs.key.at[i] >> 32);
}

static inline uint32_t link_destination(const struct comm_links *l, size_t i)
{
    return (uint32_t)l->pairs.key.at[i];
}

struct amount link_gbs(const struct comm_link *l);

/* As comm_cost_fill(). */
bool comm_links_fill(struct comm_links *l, struct comm_sorter *s, struct comm_event *events, size_t n, size_t closing);
bool comm_links_add(struct comm_links *total, const struct comm_links *l);
void comm_links_clear(struct comm_links *l);

#endif
