/* SPDX-License-Identifier: Apache-2.0 */
/* torch_load.h - the files of PyTorch's FRAMEWORK directory, and how each is read into columns. */
#ifndef ASCOPE_LOAD_FRAMEWORK_TORCH_LOAD_H
#define ASCOPE_LOAD_FRAMEWORK_TORCH_LOAD_H

#include "load/framework/framework_load.h"

extern const struct framework_format torch_format;

#endif
