/* prof_write.h - one collection from its directory to its results.
 *
 * Loads, analyses and writes; what was written, what it holds and what was lost comes back as data, for the command line
 * to show. Nothing here prints.
 */
#ifndef ASCOPE_PIPELINE_PROF_WRITE_H
#define ASCOPE_PIPELINE_PROF_WRITE_H

#include "pipeline/account.h"
#include "export/export.h"

enum { WANT_TIMELINE = 1, WANT_SUMMARY = 2, WANT_DB = 4, WANT_ALL = 7 };
enum format { FORMAT_CSV, FORMAT_JSON };

struct request {
    unsigned want;      /* WANT_* */
    enum format format; /* of the summary */
    enum dialect dialect;
    bool has_iteration;           /* model, iteration and count are set */
    uint64_t model, iteration;    /* model 4294967295: by step */
    unsigned iteration_count;     /* 1 to 5 */
    const char *const *processes; /* words of a -reports file that are switched on; NULL: all */
    size_t n_processes;
    bool from_start;    /* --time-base start */
    bool csv_is_safe;   /* --csv-safe */
    uint64_t max_bytes; /* of the text of a timeline; 0: no limit; see trace_split.h */
    bool gzips;         /* timelines are compressed */
    bool clear;         /* remove the reference's sqlite folders afterwards */
    unsigned n_threads;
    const char *out_dir; /* instead of the collection's own directory; NULL: that one */
    const char *stamp;   /* YYYYMMDDhhmmss for the file names; NULL: now */
    void (*progress)(void *context, const char *what, double from, double until, uint64_t expected); /* NULL: none */
    void *progress_context;
};

struct result {
    struct profile profile; /* as analysed; live until result_free() */
    struct account account;
};

/* False: nothing could be exported, and e says why. True with problems or losses: see there. */
bool prof_export(const char *prof_path, const struct request *r, struct result *out, struct error *e);
void result_clear(struct result *r); /* removes the intermediate databases that the reference has left */
void result_free(struct result *r);

#endif
