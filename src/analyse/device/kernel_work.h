/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_work.h - the work of a kernel, from the shapes and types of its tensors: operations and bytes.
 *
 * A table has a formula for each supported type of operator: matrix products (also batched and grouped), convolutions,
 * attention, and their gradients. A multiplication and an addition count as two operations. The bytes are the minimum:
 * each input is read once and each output is written once. If the type is not in the table or the shapes do not match,
 * the work is not known; it is never estimated.
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
    bool is_most;             /* an upper limit: a mask, which shapes do not show, may save operations */
};

void kernel_work_find(struct kernel_work *out, const struct kernel_tensors *k);
bool kernel_type_is_known(const char *type);         /* it is in the table */
enum number_kind kernel_numbers(const char *types);  /* of the first of them that can be multiplied */
const char *number_kind_text(enum number_kind kind); /* "FP16, BF16" */

#endif
