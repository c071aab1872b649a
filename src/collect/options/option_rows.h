/* SPDX-License-Identifier: Apache-2.0 */
/* option_rows.h - the table of the recorder's options. A new option is a field of struct ascope_options and a row here;
 * names, parsing, checks of one value, profiler_info.json, the Python front end, `python3 -m ascope run` and the table
 * in docs/collector.md are made from it.
 */
#ifndef ASCOPE_COLLECT_OPTIONS_OPTION_ROWS_H
#define ASCOPE_COLLECT_OPTIONS_OPTION_ROWS_H

#include "ascope/recorder_options.h"

struct recorder_option {
    struct ascope_option is;
    uint16_t at, bytes; /* of the field */
    /* NULL: as its kind says. False: no such value. */
    bool (*set)(struct ascope_options *o, const struct recorder_option *r, const char *value);
    uint64_t (*get)(const struct ascope_options *o); /* NULL: the field */
    uint64_t initial;                                /* the field's, unless it is 0 */
    const char *initial_text;
    uint64_t bits;                     /* what its set() needs: bits of the data mask, a rate */
    const struct ascope_choice *filed; /* names in profiler_info.json; NULL: those of the choices */
    bool changes_others;               /* it has no value of its own */
};

extern const struct recorder_option recorder_options[];
extern const size_t n_recorder_options;

/* By any name; the command's spelling is accepted, too: "--task-time" is task_time. NULL: there is none. */
const struct recorder_option *recorder_option_find(const char *name);

/* Names of values that other tables need. */
extern const struct ascope_choice option_levels[], option_metrics[], option_acl_metrics[], option_host_systems[];

#endif
