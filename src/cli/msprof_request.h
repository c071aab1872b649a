/* SPDX-License-Identifier: Apache-2.0 */
/* msprof_request.h - what a good command line of msprof asks the recorder for. */
#ifndef ASCOPE_CLI_MSPROF_REQUEST_H
#define ASCOPE_CLI_MSPROF_REQUEST_H

#include "cli/msprof_line.h"
#include "run/run.h"

/* Of a line that collects. Texts are the line's. */
struct run_request msprof_request(const struct msprof_line *l);

#endif
