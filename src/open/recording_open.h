/* SPDX-License-Identifier: Apache-2.0 */
/* recording_open.h - registry: an input, read and analysed: a collection of a framework, a PROF directory, or a file (a trace, a
 * database), which is a trace from then on. */
#ifndef ASCOPE_OPEN_RECORDING_OPEN_H
#define ASCOPE_OPEN_RECORDING_OPEN_H

#include "answers/run/run_rank.h"
#include "base/memory/arena.h"
#include "open/inputs.h"
#include "profile/chrome_trace.h"

/* trace_open.c: the file of an input (open/inputs.h) as a trace in memory: Chrome's JSON format, or a database of
 * results, which is converted.
 *
 * Which rank it is of is the fact "distributedInfo" of the trace, as in files of torch.profiler, also where another
 * file of the results or the name of the file says so. */

struct opened_trace {
    struct chrome_trace trace;
    struct mapped text; /* of a database that was converted */
};

/* The struct must not be moved before trace_close(), which must be called in any case; one that is all zero is fine.
 * False: see e. */
bool trace_open(struct opened_trace *t, const struct input *input, struct error *e);
void trace_close(struct opened_trace *t);
/* Moves the columns out, which are the caller's then. Their text stays mapped until trace_close(). */
struct chrome_trace trace_take(struct opened_trace *t);

struct recording {
    struct profile own; /* of a PROF directory */
    struct collection of_framework;
    struct opened_trace of_file;
    struct names *step_names;            /* of a trace; NULL: not a trace */
    const struct profile *profile;       /* NULL: a trace */
    const struct collection *collection; /* NULL: a PROF directory, or a trace */
    struct losses lost;
    bool is_lossy; /* some records could not be used, or the device's part */
};

/* The struct must not be moved before recording_close(), which must be called in any case. False: see e. */
/* `without`: enum profile_part. */
bool recording_open(struct recording *l, const struct input *input, unsigned without, unsigned n_threads,
                    struct error *e);
void recording_close(struct recording *l);

/* The devices of a recording. A trace, and a collection without devices, count as one whose device is NULL. */
size_t recording_n_devices(const struct recording *l);
const struct device *recording_device(const struct recording *l, size_t i); /* NULL: no device */
struct run_rank recording_rank(const struct recording *l, size_t i);
uint64_t recording_bytes(const struct recording *l); /* of memory */
bool recording_is_simulated(const struct recording *l);
/* If it is lossy: a line that describes what is missing. NULL: no memory. */
const char *recording_loss(const struct recording *l, const char *path, struct arena *mem);

/* results_file.c: folders of results (ASCEND_PROFILER_OUTPUT, cluster_analysis_output): which files in them are read
 * or shown. */

/* The file to open for a folder with results and without raw data; the folder itself, if its tables are shown; NULL: it
 * is not a folder of results. */
const char *results_file(const char *dir, struct arena *mem);
bool results_have_raw(const char *dir); /* recorded data, of which a timeline can be drawn */

/* The files with the timelines of ranks in a directory, its ASCEND_PROFILER_OUTPUT or mindstudio_profiler_output:
 * databases, or else a trace. Recorded data beside them is not looked at. False: no memory. */
struct results_files {
    LIST(const char *) list;
};
bool results_of_ranks(struct results_files *out, const char *dir, struct arena *mem);

/* What a directory or a file is that has no timeline, and what reads it, as the end of a sentence. NULL: nothing that
 * is known. */
const char *results_instead(const char *path);
const char *results_instead_of_ranks(const char *path); /* the same where ascope cluster has found nothing */

#endif
