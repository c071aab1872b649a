/* SPDX-License-Identifier: Apache-2.0 */
/* option_results.h - which result files each option of profiling_options and acl.json yields after an export: the
 * option reference's table, completed. tests/test_tf_arguments.py compares it with what is exported.
 */
#ifndef ASCOPE_CLI_OPTIONS_OPTION_RESULTS_H
#define ASCOPE_CLI_OPTIONS_OPTION_RESULTS_H

#include "collect/options/option_json.h"

/* One line of the report: an option, or a value of it. Lists have commas between their items. */
struct option_result {
    enum option_key_id key;
    const char *values; /* for which it holds, with blanks between them; NULL: every one but off, none and "" */
    const char *layers; /* of the timeline; "": none */
    const char *files;  /* in mindstudio_profiler_output, without time and device; "": none of its own */
    bool needs_tasks;   /* has no result if task_time is off */
};

/* The next line that applies to these options, starting at *at (0 at first); NULL: no more. */
const struct option_result *option_result_next(const struct options_json *j, size_t *at);

#endif
