/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - the ranks of a job: where each one's data lies, and how it becomes a summary.
 *
 * job_find() walks directories and lists ranks in ascending order, each once: of several collections of one rank the newest is
 * used. The best source of a rank counts: a summary that `ascope analyse --summary` left, a database, text results, and else
 * the collection itself. Ranks of a job may have different sources. What is missing or left out is a line of `notes`.
 */
#ifndef ASCOPE_CLUSTER_JOB_H
#define ASCOPE_CLUSTER_JOB_H

#include "cluster/rank_summary.h"

enum rank_source {
    SOURCE_NONE,
    SOURCE_COLLECTION, /* raw: analysed in memory */
    SOURCE_TEXT,       /* step_trace_time.csv, communication.json … */
    SOURCE_DB,
    SOURCE_SUMMARY,
};

struct job_rank {
    int64_t rank;        /* below 0 until job_complete(): it has none of its own */
    const char *path;    /* of the collection, or of the file with the summary */
    const char *summary; /* that file; NULL: none */
    const char *output;  /* the folder with its results; NULL: none */
    const char *db;      /* ascend_pytorch_profiler_N.db and the like; NULL: none */
    const char *comm;    /* analysis.db or communication_analyzer.db; NULL: none */
    enum rank_source source;
    bool has_raw; /* beside text results: the data of the device that they were made of */
    enum framework_id framework;
    uint64_t bytes;  /* of what is read */
    uint64_t stamp;  /* of the collection: the newest of a rank is used */
    uint64_t offset; /* of a summary in its file */
};

struct job_line {
    const char *text;
    bool is_loss; /* something of the job is missing from the results */
};

/* Analyses a collection in memory. The module that can is above this one. */
typedef bool rank_loader(const char *path, unsigned parts, struct rank *out, int *exit_code, struct error *e);

struct job {
    LIST(struct job_rank) ranks; /* by rank */
    LIST(struct job_line) notes;
    bool is_text;      /* all ranks have text results only: results are text, too */
    bool is_filtered;  /* --ranks: others are not missing */
    int64_t world;     /* number of ranks that the job says it has; 0: unknown */
    rank_loader *load; /* NULL: raw collections cannot be read */
    struct names *names;
    struct names *said; /* texts of notes */
    struct arena *mem;
};

/* When a collection was recorded, by its name: digits that grow; 0: it does not say. */
uint64_t job_stamp(const char *path);

bool job_init(struct job *j, struct error *e);
void job_fini(struct job *j); /* one that was never filled is fine */

/* Adds what lies in a directory, or a file of summaries. False: it cannot be read, or there is no memory. */
bool job_find(struct job *j, const char *path, struct error *e);
/* Once, behind the last of them: sorts, drops older collections of a rank, and those ranks that are not in the list ("0,3-5";
 * NULL: all are wanted). False: the list is invalid, no rank is left, or there is no memory. */
bool job_complete(struct job *j, const char *wanted, struct error *e);
/* After it: ranks are read from their raw data, where that is still there, if text results have not all of these parts. */
void job_use_raw(struct job *j, unsigned parts);
/* A line that is there already is not added again. False: no memory. */
bool job_note(struct job *j, bool is_loss, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* What is missing from the numbers of a rank: a line, the same one wherever it is noticed. */
struct rank_losses {
    bool is_lossy;
    uint64_t n_damaged; /* values and records */
    const char *path;   /* of the collection, lent; NULL: unknown */
};
struct rank_losses job_losses(const struct rank_summary *s);
bool job_note_losses(struct job *j, const struct job_rank *r, const struct rank_losses *lost);

/* The place of a rank; ranks.n: there is none. For a completed job. */
size_t job_place(const struct job *j, int64_t rank);

/* How many of the numbers first … last no rank has, and which: "2, 5-7", at most 8 runs of them. For a completed job. */
enum { JOB_GAPS = 400 };
int64_t job_gaps(const struct job *j, int64_t first, int64_t last, char out[JOB_GAPS]);

/* What is known of a rank: only some parts (enum rank_part) are read. Columns are in mem, texts in j->names. Several threads may call
 * both at the same time. False: it cannot be read. */
bool job_load(const struct job *j, size_t i, unsigned parts, struct arena *mem, struct rank *out, int *exit_code,
              struct error *e);
bool job_summary(const struct job *j, size_t i, unsigned parts, struct arena *mem, struct rank_summary *out,
                 struct error *e);

#endif
