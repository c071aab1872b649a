/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.h - registry: the list of a job's ranks as a file: made once, so that the tasks that read parts of a job need not
 * search all of it.
 *
 * A header with a checksum: version, number of ranks, the directories in which they were searched, and --ranks. Then
 * the place of each rank's entry, and the entries, each with a checksum: number, source, and the names of its files
 * below one of the directories. Little endian.
 *
 * Whoever can write the file must not make us read other files: it is used only with the directories that it was made
 * from, which the reader names himself, and no path leaves them.
 */
#ifndef ASCOPE_CLUSTER_JOB_MANIFEST_H
#define ASCOPE_CLUSTER_JOB_MANIFEST_H

#include "base/process/progress.h"
#include "cluster/job/job.h"

/* Where ranks were searched. */
struct manifest_of {
    const char *const *root; /* real paths */
    size_t n_roots;
    const char *wanted; /* as of job_complete() */
};

/* For a completed job. False: a rank is below none of the directories, or the file cannot be written. */
bool manifest_write(const struct job *j, const struct manifest_of *of, const char *path, struct error *e);

/* Adds the ranks of part 0 … n_parts - 1 to a job, which is complete then, and reads nothing about the others. *n_all:
 * ranks in all parts. False: the file cannot be read, is damaged, or is of another job. */
bool manifest_read(struct job *j, const struct manifest_of *of, const char *path, size_t part, size_t n_parts,
                   size_t *n_all, struct error *e);

/* shard.c: summaries of many ranks in one file: a part of a job, or several parts joined.
 *
 * Parts may be joined in any order and depth: a rank is counted once. Ranks that have a summary already are copied as
 * they are, the others are read and summarised, several at a time. */

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
