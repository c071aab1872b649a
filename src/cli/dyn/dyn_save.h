/* SPDX-License-Identifier: Apache-2.0 */
/* dyn_save.h - `ascope dyn DIR save`: saves the last seconds of all flight recorders found through DIR as
 * collections. */
#ifndef ASCOPE_CLI_DYN_DYN_SAVE_H
#define ASCOPE_CLI_DYN_DYN_SAVE_H

#include "cli/dyn/dyn_verb.h"

bool dyn_save(struct dyn *d, struct error *e);

#endif
