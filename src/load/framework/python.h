/* SPDX-License-Identifier: Apache-2.0 */
/* python.h - makes calls of the enter and leave records of Python frames. */
#ifndef ASCOPE_LOAD_FRAMEWORK_PYTHON_H
#define ASCOPE_LOAD_FRAMEWORK_PYTHON_H

#include "load/framework/framework_load.h"

/* Of the files FRAMEWORK_PYTHON and FRAMEWORK_PYTHON_KEYS. False: no memory. */
bool python_load(struct framework *f, const struct framework_request *r);

#endif
