/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - an id of this machine, for databases of collections that contain none. */
#ifndef ASCOPE_BASE_PROCESS_MACHINE_H
#define ASCOPE_BASE_PROCESS_MACHINE_H

#include <stdint.h>

/* The number that collectors compute from the addresses of the network cards; 0 without any. */
uint64_t machine_uid(void);

#endif
