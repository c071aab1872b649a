/* SPDX-License-Identifier: Apache-2.0 */
/* mspti.h - Ascend NPUs, through MSPTI: kernels, collectives, copies, calls and marks while the program runs.
 *
 * The records go into rings, so that a flight recorder and a program recorded from outside have them. There are no
 * counters, no shapes and no parts of collectives: a session that may write a PROF directory takes ascend.h instead.
 */
#ifndef ASCOPE_DEVICE_ASCEND_MSPTI_H
#define ASCOPE_DEVICE_ASCEND_MSPTI_H

#include "device/device.h"

extern const struct device_kind mspti_kind;

#endif
