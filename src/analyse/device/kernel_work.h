/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_work.h - what a kernel has to do, by the shapes and types of its tensors: operations, and bytes.
 *
 * A table has a formula for each type of operator of which it is known: products of matrices (also batched and grouped), convolutions,
 * attention, and their gradients; a multiplication and an addition are two operations. The bytes are those of a kernel that reads each
 * input once and writes each output once: fewer cannot do. Shapes that do not belong together, as far as that can be seen, and types
 * that are not in the table give nothing: there is no guess.
 */
#ifndef ASCOPE_ANALYSE_DEVICE_KERNEL_WORK_H
#define ASCOPE_ANALYSE_DEVICE_KERNEL_WORK_H

#include <stdbool.h>

/* Texts as the host recorded them; "" or "N/A": unknown. [TENSOR_INPUT], [TENSOR_OUTPUT]. */
struct kernel_tensors {
    const char *type;       /* of the operator: "MatMulV3", "aten::mm" */
    const char *shapes[2];  /* "1024,512;512,4096" */
    const char *types[2];   /* "DT_BF16;DT_BF16", "float;float" */
    const char *formats[2]; /* "ND;FRACTAL_NZ" */
};

/* In which numbers matrices are multiplied. */
enum number_kind { NUMBERS_UNKNOWN, NUMBERS_FP64, NUMBERS_FP32, NUMBERS_16, NUMBERS_FP8, NUMBERS_INT8, NUMBER_KINDS };

struct kernel_work {
    double operations;        /* 0: not known */
    double bytes;             /* 0: not known */
    enum number_kind numbers; /* of the operations */
    bool is_most;             /* fewer operations if a mask leaves some out, which shapes do not say */
};

void kernel_work_find(struct kernel_work *out, const struct kernel_tensors *k);
bool kernel_type_is_known(const char *type);         /* it is in the table */
enum number_kind kernel_numbers(const char *types);  /* of the first of them that can be multiplied */
const char *number_kind_text(enum number_kind kind); /* "FP16, BF16" */

#endif
