/* SPDX-License-Identifier: Apache-2.0 */
/* known.h - names that the analysis compares with. They are the first names of every profile, so that their ids are
 * constants. */
#ifndef ASCOPE_PROFILE_KNOWN_H
#define ASCOPE_PROFILE_KNOWN_H

#include <stdbool.h>

#include "base/memory/names.h"

enum {
    NAME_STEP_INFO = NAME_NA + 1,
    NAME_MODEL_LOAD,
    NAME_MASTER,
    NAME_RECORD_EVENT,
    NAME_WAIT_EVENT,
    NAME_MEMCPY_ASYNC,
    NAME_FFTS_PLUS,
    NAME_KERNEL_SIMT,
    NAME_YES,
    NAME_NO,
    NAME_STATIC,
    NAME_DYNAMIC,
    NAME_UNKNOWN,
    NAME_ZERO,
    NAMES_KNOWN
};

/* Adds them to a new, empty set. False: no memory. */
bool known_names_add(struct names *s);

#endif
