/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_log.h - the tasks of a GPU as rows of the device's log. A record of CUPTI has begin and end, so that there is
 * nothing to pair. */
#ifndef ASCOPE_ANALYSE_DEVICE_TASKS_CUDA_LOG_H
#define ASCOPE_ANALYSE_DEVICE_TASKS_CUDA_LOG_H

#include "profile/profile.h"

bool cuda_log_take(struct profile *p, struct device *d, struct error *e); /* false: no memory */
void cuda_copies(struct device *d); /* after tasks_analyse(): fills copy_bytes and copy_kind of tasks */

#endif
