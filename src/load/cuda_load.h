/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_load.h - what ran on a GPU, from ascope_cuda.data. */
#ifndef ASCOPE_LOAD_CUDA_LOAD_H
#define ASCOPE_LOAD_CUDA_LOAD_H

#include "profile/profile.h"

bool cuda_load(struct device *d, struct error *e); /* false only without memory */

#endif
