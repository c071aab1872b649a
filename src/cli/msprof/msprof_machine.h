/* SPDX-License-Identifier: Apache-2.0 */
/* msprof_machine.h - describes this machine for the command line of msprof. */
#ifndef ASCOPE_CLI_MSPROF_MSPROF_MACHINE_H
#define ASCOPE_CLI_MSPROF_MSPROF_MACHINE_H

#include "cli/msprof/msprof_line.h"
#include "collect/session/devices.h"

/* The result refers to `devices`. */
struct msprof_machine machine_here(struct devices_online *devices);

#endif
