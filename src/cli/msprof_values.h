/* SPDX-License-Identifier: Apache-2.0 */
/* msprof_values.h - is this a value of that option? By kind, and for some options by rules of their own. */
#ifndef ASCOPE_CLI_MSPROF_VALUES_H
#define ASCOPE_CLI_MSPROF_VALUES_H

#include "cli/msprof_line.h"

/* False: a message has said why not. *value may be replaced by what is meant. */
bool msprof_value_check(struct msprof_line *l, const struct msprof_row *r, const char **value);

/* What it accepts, in words, on the line's chip: "on, off"; "integers from 1 to 100". In the line's memory. */
const char *msprof_accepted(const struct msprof_line *l, const struct msprof_row *r);

/* Rules of rows. */
#define MSPROF_RULE(name) bool name(struct msprof_line *l, const struct msprof_row *r, const char **value)
MSPROF_RULE(msprof_check_application);
MSPROF_RULE(msprof_check_storage_limit);
MSPROF_RULE(msprof_check_program_file);
MSPROF_RULE(msprof_check_pids);
MSPROF_RULE(msprof_check_live_pid);
MSPROF_RULE(msprof_check_devices);
MSPROF_RULE(msprof_check_sorted_names);
MSPROF_RULE(msprof_check_npu_events);
MSPROF_RULE(msprof_check_core_metrics);
MSPROF_RULE(msprof_check_nts_metrics);
MSPROF_RULE(msprof_check_memory_rate);
MSPROF_RULE(msprof_check_going_away);

/* --output, when everything else is good: parsing reads it, collecting creates it. */
bool msprof_check_output(struct msprof_line *l, bool must_exist);

#endif
