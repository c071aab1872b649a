/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_log.h - the tasks of a GPU as rows of the device's log: CUPTI reports each one whole, so nothing is paired. */
#ifndef ASCOPE_ANALYSE_DEVICE_CUDA_LOG_H
#define ASCOPE_ANALYSE_DEVICE_CUDA_LOG_H

#include "profile/profile.h"

bool cuda_log_take(struct profile *p, struct device *d, struct error *e);
void cuda_copies(struct device *d); /* after the tasks: bytes of copies and sets */

#endif
