/* SPDX-License-Identifier: Apache-2.0 */
/* run_acl.h - `ascope run --acl-json FILE`: what is recorded is what the program's own acl.json asks for. */
#ifndef ASCOPE_CLI_RUN_ACL_H
#define ASCOPE_CLI_RUN_ACL_H

#include "cli/option_table.h"
#include "run/run.h"

enum run_acl { RUN_ACL_ON, RUN_ACL_OFF, RUN_ACL_REFUSED };

/* Replaces the recorder's options of a request that has a program; device and directory of the command line stay. Texts are in a->mem.
 * chip: platform number, -1 for none. Refused: the reasons were printed. */
enum run_acl run_acl_fill(const struct arguments *a, struct run_request *r, int chip);

#endif
