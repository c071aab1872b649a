/* SPDX-License-Identifier: Apache-2.0 */
/* msprof_machine.h - what the command line of msprof has to know of this machine. */
#ifndef ASCOPE_CLI_MSPROF_MACHINE_H
#define ASCOPE_CLI_MSPROF_MACHINE_H

#include "cli/msprof_line.h"
#include "collect/devices.h"

/* The answer points into `devices`. */
struct msprof_machine machine_here(struct devices_online *devices);

#endif
