/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - which machine this is, as a database says it that no collector has signed. */
#ifndef ASCOPE_BASE_MACHINE_H
#define ASCOPE_BASE_MACHINE_H

#include <stdint.h>

/* The number that the collectors make of the addresses of its network cards; 0 without any. */
uint64_t machine_uid(void);

#endif
