/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_operators.h - the host's side of what ran on GPUs: the call that launched each task, by correlation id, and
 * kernels as operators. A task whose call was not recorded has no connection.
 */
#ifndef ASCOPE_ANALYSE_HOST_CUDA_OPERATORS_H
#define ASCOPE_ANALYSE_HOST_CUDA_OPERATORS_H

#include "profile/profile.h"

bool cuda_operators_analyse(struct profile *p, struct error *e); /* after calls_analyse(); false only without memory */

#endif
