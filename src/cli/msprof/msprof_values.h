/* SPDX-License-Identifier: Apache-2.0 */
/* msprof_values.h - checks the values of msprof's options, by kind and by rules of single options. */
#ifndef ASCOPE_CLI_MSPROF_MSPROF_VALUES_H
#define ASCOPE_CLI_MSPROF_MSPROF_VALUES_H

#include "cli/msprof/msprof_line.h"

/* False: the value is invalid, which was reported. *value may be replaced by its normal form. */
bool msprof_value_check(struct msprof_line *l, const struct msprof_row *r, const char **value);

/* Describes the accepted values on the line's chip: "on, off"; "integers from 1 to 100". Allocated in l->mem. */
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

/* Checks --output after everything else. must_exist: it is read; otherwise it is created. */
bool msprof_check_output(struct msprof_line *l, bool must_exist);

#endif
