/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_class.h - what kind of work a kernel does, by names: for comparisons of devices whose kernels have other
 * names. */
#ifndef ASCOPE_ANSWERS_RUN_KERNEL_CLASS_H
#define ASCOPE_ANSWERS_RUN_KERNEL_CLASS_H

/* "matmul", "conv forward", "attention backward", "transpose", "vector": by the operator that launched it ("" is fine),
 * else by its own name. Static. */
const char *kernel_class(const char *operator_name, const char *kernel);

#endif
