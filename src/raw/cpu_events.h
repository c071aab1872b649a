/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_events.h - events of the performance monitors of the device's ARM cores, spelled as in the reports. */
#ifndef ASCOPE_RAW_CPU_EVENTS_H
#define ASCOPE_RAW_CPU_EVENTS_H

#include "raw/enums.h"

enum { CPU_EVENT_CYCLES = 0x11, CPU_EVENT_MOST = 0xEC };
extern const struct enum_table cpu_events;

#endif
