/* SPDX-License-Identifier: Apache-2.0 */
/* monitor_ranks.h - the ring files of a directory, read again and again while their processes write them.
 *
 * Each look takes the records that are new. Only those that ended within the last `keep_ns` stay in memory, so that it
 * does not grow however long a job runs. A file without a valid header is left out; a record that is not valid yet, or
 * was overwritten meanwhile, is not taken. Files are opened read-only; nothing is ever written to them.
 */
#ifndef ASCOPE_MONITOR_MONITOR_RANKS_H
#define ASCOPE_MONITOR_MONITOR_RANKS_H

#include "base/text/error.h"
#include "raw/monitor/monitor_record.h"

enum { MONITOR_RANKS_MOST = 16384 };

struct monitor_rank {
    char *path;
    int fd;
    struct monitor_header head;
    uint64_t next;               /* number of the next record to take */
    bool is_alive;               /* its process has the file's lock */
    bool is_ended;               /* it has stopped in order */
    uint64_t n_steps, n_records; /* since it was first read */
    int64_t sum[MONITOR_VALUES]; /* of values that are sums, over these */
    int64_t time_ns;
    bool is_recorded[MONITOR_VALUES];
    size_t n, cap;
    struct monitor_record *at; /* by number; those that are kept */
};

struct monitor_ranks {
    char *dir;
    int64_t keep_ns;
    size_t n;
    struct monitor_rank **rank; /* by rank, then by begin: of a restarted job the old ones are before the new ones */
};

bool monitor_ranks_open(struct monitor_ranks *m, const char *dir, int64_t keep_ns, struct error *e);
/* until_ns: records that end later are left for the next look; INT64_MAX: none. False: the directory cannot be read, or
 * no memory. */
bool monitor_ranks_look(struct monitor_ranks *m, int64_t until_ns, struct error *e);
void monitor_ranks_close(struct monitor_ranks *m);

static inline int64_t monitor_record_end_ns(const struct monitor_record *r)
{
    return r->begin_unix_ns + r->time_ns;
}
/* The number of its rank; below 0: not known, or it has no records. */
static inline int32_t monitor_rank_number(const struct monitor_rank *r)
{
    return r->n > 0 ? r->at[r->n - 1].rank : -1;
}

#endif
