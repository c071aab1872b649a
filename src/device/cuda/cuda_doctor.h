/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_doctor.h - the vendor's libraries and GPUs of this machine, looked for in a child process: a library that crashes or hangs there
 * does no harm.
 */
#ifndef ASCOPE_DEVICE_CUDA_CUDA_DOCTOR_H
#define ASCOPE_DEVICE_CUDA_CUDA_DOCTOR_H

#include "base/error.h"
#include "base/finding.h"

/* For a process that has no library of CUDA. False: they cannot be used, and e says why. Looks once. */
bool cuda_can_load(struct error *e);

/* For `ascope doctor`. */
void cuda_examine(finding_report *report, void *to);

#endif
