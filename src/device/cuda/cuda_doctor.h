/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_doctor.h - looks for the vendor's libraries and the GPUs of this machine in a child process, where a library
 * that crashes or hangs does no harm.
 */
#ifndef ASCOPE_DEVICE_CUDA_CUDA_DOCTOR_H
#define ASCOPE_DEVICE_CUDA_CUDA_DOCTOR_H

#include "base/text/error.h"
#include "base/text/finding.h"

/* Whether a process that has not loaded CUDA can do so. False: e has the reason. The child process runs only once. */
bool cuda_can_load(struct error *e);

/* For `ascope doctor`. */
void cuda_examine(finding_report *report, void *to);

#endif
