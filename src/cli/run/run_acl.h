/* SPDX-License-Identifier: Apache-2.0 */
/* run_acl.h - `ascope run --acl-json FILE`: records what the acl.json of the program requests. */
#ifndef ASCOPE_CLI_RUN_RUN_ACL_H
#define ASCOPE_CLI_RUN_RUN_ACL_H

#include "cli/options/option_table.h"
#include "run/run.h"

enum run_acl { RUN_ACL_ON, RUN_ACL_OFF, RUN_ACL_REFUSED };

/* Replaces the recorder options of a request with a program, except the device and directory of the command line.
 * Texts are in a->mem. chip: platform number, -1: unknown. RUN_ACL_REFUSED: reported. */
enum run_acl run_acl_fill(const struct arguments *a, struct recorded_run *r, int chip);

#endif
