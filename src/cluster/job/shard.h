/* SPDX-License-Identifier: Apache-2.0 */
/* shard.h - summaries of many ranks in one file: a part of a job, or several parts joined.
 *
 * Parts may be joined in any order and depth: a rank is counted once. Ranks that have a summary already are copied as
 * they are, the others are read and summarised, several at a time.
 */
#ifndef ASCOPE_CLUSTER_JOB_SHARD_H
#define ASCOPE_CLUSTER_JOB_SHARD_H

#include "base/process/progress.h"
#include "cluster/job/job.h"

struct shard_request {
    size_t part, n_parts; /* the ranks of part 0 … n_parts - 1, in runs of their order */
    const char *path;
    bool is_named; /* by the user: see out_open_named() */
    unsigned n_threads;
    struct progress *progress;
};

struct shard_result {
    size_t n_ranks, n_failed, n_lossy;
    uint64_t bytes;
};

/* "2/8": the second of eight parts. False: the text is invalid. */
bool shard_of_text(const char *text, size_t *part, size_t *n_parts);

/* The first rank of a part, by its place in the job; that of part n_parts is the end. */
static inline size_t shard_first(size_t n_ranks, size_t part, size_t n_parts)
{
    return n_ranks * part / n_parts;
}

/* What cannot be read is a line of the job's notes. False: nothing is written. */
bool shard_write(struct job *j, const struct shard_request *r, struct shard_result *out, struct error *e);

#endif
