/* SPDX-License-Identifier: Apache-2.0 */
/* ascend.h - Ascend NPUs, through the libraries of the vendor: aclprof starts its own engine, which writes a PROF
 * directory.
 *
 * The program initialises ACL and chooses its device; aclprof is asked to record that one. Calls that may take long run
 * with a limit (base/process/limited_call.h). If one does not return, the device is given up and the libraries are not
 * called again in this process. A crash inside the libraries ends the program; only the probe for devices is protected
 * from that (ascend_probe.c).
 */
#ifndef ASCOPE_DEVICE_ASCEND_ASCEND_H
#define ASCOPE_DEVICE_ASCEND_ASCEND_H

#include "device/device.h"

extern const struct device_kind ascend_kind;

#endif
