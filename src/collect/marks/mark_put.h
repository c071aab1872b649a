/* SPDX-License-Identifier: Apache-2.0 */
/* mark_put.h - the records of a mark: a long message makes several, which its id joins. */
#ifndef ASCOPE_COLLECT_MARKS_MARK_PUT_H
#define ASCOPE_COLLECT_MARKS_MARK_PUT_H

#include "collect/marks/mark_domain.h"

enum { MARK_MESSAGE_MOST = 4096 };
enum { MARK_POINT = 0, MARK_RANGE = 2 }; /* of mark_head.event */

struct mark_head { /* of an open range, too: plain bytes */
    uint64_t id, begin, end;
    void *stream;
    uint32_t thread, event;
};

uint64_t mark_id_next(void);
size_t mark_message_bytes(const char *message); /* how much of it is recorded */
void mark_put(const struct mark_head *m, const struct ascope_domain *d, const char *message, size_t n);

/* A mark that the vendor's library has reported; times are of host_clock_now(). */
struct mark_seen {
    const char *domain, *message; /* domain "": the default one */
    uint64_t begin, end;
    uint32_t thread;
    bool is_range;
};
void mark_put_seen(const struct mark_seen *m);

#endif
