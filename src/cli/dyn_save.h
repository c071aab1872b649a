/* SPDX-License-Identifier: Apache-2.0 */
/* dyn_save.h - `ascope dyn DIR save`: the last seconds of every flight recorder that DIR leads to become collections. */
#ifndef ASCOPE_CLI_DYN_SAVE_H
#define ASCOPE_CLI_DYN_SAVE_H

#include "cli/dyn_verb.h"

bool dyn_save(struct dyn *d, struct error *e);

#endif
