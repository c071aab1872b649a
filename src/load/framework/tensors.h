/* SPDX-License-Identifier: Apache-2.0 */
/* tensors.h - shapes, data types and formats of operators, from numbers to the texts of the reports. */
#ifndef ASCOPE_LOAD_FRAMEWORK_TENSORS_H
#define ASCOPE_LOAD_FRAMEWORK_TENSORS_H

#include "profile/profile.h"

bool tensors_load(struct profile *p, struct error *e);      /* tensor_info: one row for each operator */
bool captured_ops_load(struct profile *p, struct error *e); /* capture_op_info, in its fixed and its variable form */

#endif
