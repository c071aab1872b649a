/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - the ranks of a job: where each one's data lies, and how it becomes a summary.
 *
 * job_find() walks directories and adds the ranks that it finds; job_complete() sorts them. If a rank has several
 * collections, the newest is used. Of the sources of a rank the first one of these is used: a summary of `ascope
 * analyse --summary`, a database, text results, the collection itself, a trace. Ranks of a job may have different
 * sources. Each thing that is missing or left out is a line of `notes`.
 */
#ifndef ASCOPE_CLUSTER_JOB_JOB_H
#define ASCOPE_CLUSTER_JOB_JOB_H

#include "cluster/rank/rank_summary.h"

enum rank_source {
    SOURCE_NONE,
    SOURCE_COLLECTION, /* raw: analysed in memory */
    SOURCE_TEXT,       /* step_trace_time.csv, communication.json … */
    SOURCE_DB,
    SOURCE_SUMMARY,
    SOURCE_TRACE, /* of torch.profiler, or trace_view.json alone */
};
extern const char *const rank_source_name[]; /* "database" */

struct job_rank {
    int64_t rank;        /* below 0: no number is recorded; job_complete() gives it a free one */
    const char *path;    /* of the collection, or of the file with the summary */
    const char *summary; /* the file with the summary; NULL: none */
    const char *output;  /* the folder with its results; NULL: none */
    const char *db;      /* ascend_pytorch_profiler_N.db and the like; NULL: none */
    const char *comm;    /* analysis.db or communication_analyzer.db; NULL: none */
    const char *trace;   /* a trace of torch.profiler, or trace_view.json; NULL: none */
    enum rank_source source;
    bool has_raw; /* the raw data of the device is still there, beside text results */
    enum framework_id framework;
    uint64_t bytes;  /* size of what is read */
    uint64_t stamp;  /* time of the collection: the newest of a rank is used */
    uint64_t offset; /* of a summary in its file */
};

struct job_line {
    const char *text;
    bool is_loss; /* something of the job is missing from the results */
};

/* Analyses a collection in memory. It is a pointer because the analysis is in a module above this one. */
typedef bool rank_loader(const char *path, unsigned parts, struct rank *out, int *exit_code, struct error *e);

struct job {
    LIST(struct job_rank) ranks; /* by rank */
    LIST(const char *)
    loose; /* JSON files that are not named as traces of ranks are: traces where there is nothing else */
    LIST(struct job_line) notes;
    bool is_text;         /* all ranks have text results only; then text is what is written by default */
    bool is_filtered;     /* --ranks was given: ranks that are not in the list are not missing */
    int64_t world;        /* number of ranks of the job, as it recorded it; 0: unknown */
    const char *steps_by; /* --steps-by, lent; NULL: not given */
    rank_loader *load;    /* NULL: raw collections cannot be read */
    struct names *names;
    struct names *said; /* texts of notes, to add each once */
    struct arena *mem;
};

/* Directories with a rank that another one has, too: one line for all of them, which names the first. */
struct ranks_twice {
    uint64_t n; /* directories that are not used */
    int64_t rank;
    const char *used, *unused; /* of the first; lent */
    bool is_newer;
};
void ranks_twice_add(struct ranks_twice *t, int64_t rank, const char *used, const char *unused, bool is_newer);
enum { RANKS_TWICE_LINE = 2 * 4096 + 200 };
bool ranks_twice_line(char out[RANKS_TWICE_LINE], const struct ranks_twice *t); /* false: there are none */

/* When a collection was recorded, from its name, as a number that grows with time; 0: the name does not say. */
uint64_t job_stamp(const char *path);

bool job_init(struct job *j, struct error *e);
void job_fini(struct job *j); /* a zeroed job is fine */

/* Adds the ranks below a directory, or those of a file: summaries, a database, a trace. Of traces between collections
 * those count that are named as torch.profiler names them, of a directory of traces all. False: it cannot be read, or
 * there is no memory. */
bool job_find(struct job *j, const char *path, struct error *e);
/* Once, after the last job_find(): numbers and sorts the ranks, drops older collections of a rank, and ranks that are
 * not in the list `wanted` ("0,3-5"; NULL: all). False: the list is invalid, or there is no memory. */
bool job_complete(struct job *j, const char *wanted, struct error *e);
/* After job_complete(): if text results do not have all of these parts, the ranks are read from their raw data instead,
 * where it exists. */
void job_use_raw(struct job *j, unsigned parts);
/* Adds a line, unless it is there already. False: no memory. */
bool job_note(struct job *j, bool is_loss, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* What is missing from the numbers of a rank. job_note_losses() adds the line about it. */
struct rank_losses {
    bool is_lossy;
    uint64_t n_damaged; /* values and records */
    const char *path;   /* of the collection, lent; NULL: unknown */
};
struct rank_losses job_losses(const struct rank_summary *s);
bool job_note_losses(struct job *j, const struct job_rank *r, const struct rank_losses *lost);

/* The place of a rank in `ranks`; ranks.n: it is not there. For a completed job. */
size_t job_place(const struct job *j, int64_t rank);

/* How many of the ranks first … last are missing, and which, as a text of at most 8 ranges: "2, 5-7". For a completed
 * job. */
enum { JOB_GAPS = 400 };
int64_t job_gaps(const struct job *j, int64_t first, int64_t last, char out[JOB_GAPS]);

/* Reads some parts (enum rank_part) of a rank. Columns are in mem, texts in j->names. Several threads may call both
 * functions at the same time. False: the rank cannot be read. */
bool job_load(const struct job *j, size_t i, unsigned parts, struct arena *mem, struct rank *out, int *exit_code,
              struct error *e);
/* *whole: what it was made of, with these parts; its mem is NULL: there was only a summary. May be NULL. */
bool job_summary(const struct job *j, size_t i, unsigned parts, struct arena *mem, struct rank_summary *out,
                 struct rank *whole, struct error *e);

#endif
