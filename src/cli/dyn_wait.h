/* SPDX-License-Identifier: Apache-2.0 */
/* dyn_wait.h - `ascope dyn DIR wait`: until each rank that the newest request asks for has its result, or will have none. */
#ifndef ASCOPE_CLI_DYN_WAIT_H
#define ASCOPE_CLI_DYN_WAIT_H

#include "cli/dyn_verb.h"

bool dyn_wait(struct dyn *d, struct error *e);

#endif
