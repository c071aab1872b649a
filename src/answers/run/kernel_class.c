/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/run/kernel_class.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The first row that fits: words of the operator come before words of the kernel. */
static const struct {
    const char *word, *class;
    bool of_operator, of_kernel;
} classes[] = {
    { "flash_attention", "attention", true, true },
    { "flashattention", "attention", true, true },
    { "flash_attn", "attention", true, true },
    { "flashattn", "attention", true, true },
    { "fusion_attention", "attention", true, true },
    { "fusionattention", "attention", true, true },
    { "scaled_dot_product", "attention", true, true },
    { "fmha", "attention", true, true },
    { "flash_fwd", "attention", false, true },
    { "flash_bwd", "attention", false, true },
    { "paged_attention", "attention", true, true },
    { "pagedattention", "attention", true, true },
    { "convolution", "conv", true, true },
    { "aten::conv", "conv", true, false },
    { "cudnn_conv", "conv", true, true },
    { "aten::addmm", "matmul", true, false },
    { "aten::bmm", "matmul", true, false },
    { "aten::mm", "matmul", true, false },
    { "aten::matmul", "matmul", true, false },
    { "aten::linear", "matmul", true, false },
    { "matmul", "matmul", true, true },
    { "gemm", "matmul", false, true },
    { "gemv", "matmul", false, true },
    { "cutlass", "matmul", false, true },
    { "nvjet", "matmul", false, true },      /* cuBLAS on Hopper and later */
    { "cijk_", "matmul", false, true },      /* rocBLAS, hipBLASLt */
    { "convert", "transpose", false, true }, /* of types and layouts: no convolution */
    { "wgrad", "conv", false, true },
    { "conv", "conv", false, true },
    { "transdata", "transpose", false, true },
    { "transpose", "transpose", false, true },
    { "cast", "transpose", false, true },
};

const char *kernel_class(const char *operator_name, const char *kernel)
{
    static const char *const backwards[] = { "bwd", "backward", "grad" };
    const char *class = NULL;
    for (size_t i = 0; i < sizeof classes / sizeof *classes && !class; i++)
        class = classes[i].of_operator && strcasestr(operator_name, classes[i].word) ? classes[i].class : NULL;
    for (size_t i = 0; i < sizeof classes / sizeof *classes && !class; i++)
        class = classes[i].of_kernel && strcasestr(kernel, classes[i].word) ? classes[i].class : NULL;
    if (!class)
        return "vector";
    if (strcmp(class, "attention") != 0 && strcmp(class, "conv") != 0)
        return class;
    bool is_backward = false;
    for (size_t i = 0; i < sizeof backwards / sizeof *backwards; i++)
        is_backward |= strcasestr(operator_name, backwards[i]) || strcasestr(kernel, backwards[i]);
    return class[0] == 'a' ? (is_backward ? "attention backward" : "attention forward")
                           : (is_backward ? "conv backward" : "conv forward");
}
