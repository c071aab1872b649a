/* SPDX-License-Identifier: Apache-2.0 */
/* msprof_request.h - converts a valid command line of msprof to a request for the recorder. */
#ifndef ASCOPE_CLI_MSPROF_MSPROF_REQUEST_H
#define ASCOPE_CLI_MSPROF_MSPROF_REQUEST_H

#include "cli/msprof/msprof_line.h"
#include "run/run.h"

/* For a line that collects. Texts belong to the line. */
struct recorded_run msprof_request(const struct msprof_line *l);

#endif
