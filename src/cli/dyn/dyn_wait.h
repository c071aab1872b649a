/* SPDX-License-Identifier: Apache-2.0 */
/* dyn_wait.h - `ascope dyn DIR wait`: waits until each rank of the newest request has its result, or cannot get one. */
#ifndef ASCOPE_CLI_DYN_DYN_WAIT_H
#define ASCOPE_CLI_DYN_DYN_WAIT_H

#include "cli/dyn/dyn_verb.h"

bool dyn_wait(struct dyn *d, struct error *e);

#endif
