/* SPDX-License-Identifier: Apache-2.0 */
/* output_options.h - the options of an export: which results, of which part, in which form, and where.
 *
 * There is one instance. The command line fills it from its options; the pipeline and every output read it by pointer.
 * Zeros in all fields but n_threads are the defaults.
 */
#ifndef ASCOPE_EXPORT_OUTPUT_OPTIONS_H
#define ASCOPE_EXPORT_OUTPUT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each value is the position of its word among the choices of the option. */
enum dialect { DIALECT_DOCUMENTED, DIALECT_CURRENT };
enum time_base { TIME_BASE_EPOCH, TIME_BASE_START };
enum format { FORMAT_CSV, FORMAT_JSON };

enum { WANT_TIMELINE = 1, WANT_SUMMARY = 2, WANT_DB = 4, WANT_TEXT = 3, WANT_ALL = 7 };
enum choice { AS_RECORDED, CHOICE_ON, CHOICE_OFF };

struct output_options {
    unsigned want; /* WANT_*; 0: for a collection as set when it was recorded, for a PROF directory everything */
    enum dialect dialect;
    enum time_base time_base;     /* of timelines */
    bool is_pretty;               /* timelines have one event per line */
    bool keeps_overlaps;          /* slices of a track that overlap without nesting stay on it */
    bool gzips;                   /* timelines of PROF directories are compressed */
    uint64_t max_bytes;           /* of the text of a timeline; 0: no limit; see trace_split.h */
    const char *const *processes; /* of timelines: the words that are switched on in a -reports file; NULL: all */
    size_t n_processes;
    enum format format; /* of the summary of a PROF directory */
    bool csv_is_safe;
    bool has_steps;         /* of a collection: first_step and last_step are set */
    bool steps_are_counted; /* they count from 1, the first recorded step; false: they are the program's own step
                              numbers */
    int64_t first_step, last_step;
    bool has_iteration;        /* of a PROF directory: model, iteration and count are set */
    uint64_t model, iteration; /* model 4294967295: by step */
    unsigned iteration_count;  /* 1 to 5 */
    enum choice simplifies;    /* see simplify.h */
    bool clears;               /* removes the reference parser's sqlite folders afterwards */
    int code_of_losses;        /* the exit code when records were lost, for analyse.done */
    unsigned n_threads;
    const char *out_dir; /* NULL: results are written into the collection */
    const char *stamp;   /* YYYYMMDDhhmmss for file names of a PROF directory; NULL: now */
};

#endif
