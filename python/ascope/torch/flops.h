/* SPDX-License-Identifier: Apache-2.0 */
/* flops.h - floating-point operations of a PyTorch operator, from its inputs: a multiplication is one, an addition
 * another.
 *
 * Only products of matrices and what is made of them (convolutions, attention) are counted: beside them nothing else
 * weighs. A bias is not counted, and a mask leaves nothing out.
 */
#pragma once

#include <ATen/core/TensorBody.h>
#include <ATen/core/ivalue.h>
#include <c10/util/SmallVector.h>

#include <string>
#include <unordered_map>
#include <vector>

namespace
{

using values = c10::ArrayRef<const c10::IValue>;
using sizes = c10::IntArrayRef;
enum : int64_t { NOT_COUNTED = -1 };

bool is_plain(const at::Tensor &t)
{
    return t.defined() && !t.unsafeGetTensorImpl()->key_set().has(c10::DispatchKey::NestedTensor) &&
           !t.unsafeGetTensorImpl()->has_symbolic_sizes_strides();
}

/* Empty: not a tensor. */
sizes sizes_of(values in, size_t i)
{
    return i < in.size() && in[i].isTensor() && is_plain(in[i].toTensor()) ? in[i].toTensor().sizes() : sizes();
}

int64_t product(sizes s)
{
    int64_t p = 1;
    for (const int64_t size : s)
        p *= size;
    return p;
}

/* The last two dimensions multiply as matrices, the others are repeated as they have to be; a vector is a matrix of one
 * row. */
int64_t of_matmul(sizes a, sizes b)
{
    if (a.empty() || b.empty())
        return NOT_COUNTED;
    const int64_t m = a.size() > 1 ? a[a.size() - 2] : 1, k = a.back(), n = b.size() > 1 ? b.back() : 1;
    int64_t batch = 1;
    for (size_t i = 2; i < a.size() || i < b.size(); i++) {
        const int64_t of_a = i < a.size() ? a[a.size() - 1 - i] : 1, of_b = i < b.size() ? b[b.size() - 1 - i] : 1;
        batch *= of_a == 1 ? of_b : of_a;
    }
    return 2 * batch * m * k * n;
}

template <size_t A, size_t B> int64_t matmul(values in)
{
    return of_matmul(sizes_of(in, A), sizes_of(in, B));
}

int64_t linear(values in)
{
    const sizes x = sizes_of(in, 0), weight = sizes_of(in, 1);
    return x.empty() || weight.empty() ? int64_t{ NOT_COUNTED } : 2 * product(x) * (weight.size() > 1 ? weight[0] : 1);
}

/* One number stands for all dimensions. */
int64_t number_at(values in, size_t which, size_t i, int64_t otherwise)
{
    if (which >= in.size() || !in[which].isIntList())
        return otherwise;
    const auto list = in[which].toIntVector();
    return list.empty() ? otherwise : list[i < list.size() ? i : 0];
}

/* Each element of the result is a product of the weights of its channel; of a transposed one, each element of the input
 * is. */
int64_t of_convolution(sizes many, sizes weight)
{
    const size_t n = weight.size() < 2 ? 0 : weight.size() - 2;
    if (n == 0 || many.size() < n + 1)
        return NOT_COUNTED;
    return 2 * (many.size() > n + 1 ? many[0] : 1) * product(many.slice(many.size() - n)) * product(weight);
}

template <bool IS_TRANSPOSED> int64_t convolution(values in)
{
    enum : size_t { INPUT, WEIGHT, BIAS, STRIDE, PADDING, DILATION, TRANSPOSED };
    const sizes x = sizes_of(in, INPUT), weight = sizes_of(in, WEIGHT);
    const bool is_transposed =
        IS_TRANSPOSED || (in.size() > TRANSPOSED && in[TRANSPOSED].isBool() && in[TRANSPOSED].toBool());
    if (is_transposed || weight.size() < 3 || x.size() + 1 < weight.size())
        return is_transposed ? of_convolution(x, weight) : int64_t{ NOT_COUNTED };
    const size_t n = weight.size() - 2;
    const bool is_same = in.size() > PADDING && in[PADDING].isString() && in[PADDING].toStringRef() == "same";
    c10::SmallVector<int64_t, 8> result(x.begin(), x.end());
    for (size_t i = 0; i < n && !is_same; i++) {
        const int64_t stride = number_at(in, STRIDE, i, 1), reach = number_at(in, DILATION, i, 1) * (weight[2 + i] - 1);
        int64_t &size = result[x.size() - n + i];
        size = stride > 0 ? (size + 2 * number_at(in, PADDING, i, 0) - reach - 1) / stride + 1 : 0;
    }
    return of_convolution(result, weight);
}

/* As much as the forward pass for each of the two requested gradients. */
int64_t convolution_backward(values in)
{
    enum : size_t { RESULT, INPUT, WEIGHT, TRANSPOSED = 7, MASK = 10 };
    const bool is_transposed = in.size() > TRANSPOSED && in[TRANSPOSED].isBool() && in[TRANSPOSED].toBool();
    const int64_t once = of_convolution(sizes_of(in, is_transposed ? INPUT : RESULT), sizes_of(in, WEIGHT));
    int64_t n = 2;
    if (in.size() > MASK && in[MASK].isBoolList()) {
        const auto mask = in[MASK].toBoolList();
        n = mask.size() > 1 ? int64_t{ mask.get(0) } + int64_t{ mask.get(1) } : n;
    }
    return once == NOT_COUNTED ? once : n * once;
}

/* Groups of rows, or of columns, are each multiplied with a matrix of their own: together all rows once. */
int64_t grouped_matmul(values in)
{
    const sizes a = sizes_of(in, 0), b = sizes_of(in, 1);
    if (a.size() < 2 || b.size() < 2)
        return NOT_COUNTED;
    return (a.size() > 2 && b.size() > 2 ? 2 * a[0] : 2) * a[a.size() - 2] * a.back() * b.back();
}

/* How often the product of the scores' size is taken over the width of the keys, and of the values. */
template <size_t QUERY, int64_t OF_KEYS, int64_t OF_VALUES> int64_t attention(values in)
{
    const sizes q = sizes_of(in, QUERY), k = sizes_of(in, QUERY + 1), v = sizes_of(in, QUERY + 2);
    if (q.size() < 2 || k.size() < 2 || v.size() < 2)
        return NOT_COUNTED;
    const int64_t scores = product(q.slice(0, q.size() - 1)) * k[k.size() - 2];
    return 2 * scores * (OF_KEYS * q.back() + OF_VALUES * v.back());
}

/* Of a mask that leaves the upper half out, aligned at the first row (2) or at the last one (3): the scores that are
 * left. */
int64_t scores_of(int64_t q, int64_t k, int64_t mode)
{
    const int64_t least = q < k ? q : k, half = least * least / 2, rest = q * k - half;
    return mode == 0 ? q * k : mode == 2 ? (q >= k ? rest : half) : mode == 3 ? (q >= k ? half : rest) : NOT_COUNTED;
}

/* Sequences of different lengths in one, which end at these places. */
int64_t scores_of_ends(const std::vector<int64_t> &q, const std::vector<int64_t> &k)
{
    int64_t scores = 0;
    for (size_t i = 0; i < q.size() && i < k.size(); i++)
        scores += (q[i] - (i > 0 ? q[i - 1] : 0)) * (k[i] - (i > 0 ? k[i - 1] : 0));
    return q.empty() || q.size() != k.size() ? int64_t{ NOT_COUNTED } : scores;
}

/* Attention of an NPU: the layout says where batches (B), heads (N), places (S) and the width of a head (D) are; H is N
 * times D, and T all places of all batches. */
int64_t npu_attention(values in)
{
    enum : size_t { QUERY, KEY, VALUE, HEADS, LAYOUT, ENDS_OF_QUERY = 14, ENDS_OF_KEY, MODE };
    const sizes q = sizes_of(in, QUERY), k = sizes_of(in, KEY), v = sizes_of(in, VALUE);
    if (in.size() <= MODE || !in[HEADS].isInt() || !in[LAYOUT].isString() || !in[MODE].isInt())
        return NOT_COUNTED;
    const std::string &layout = in[LAYOUT].toStringRef();
    const size_t batch = layout.find('B'), place = layout.find('S'), heads = layout.find('N');
    const bool is_packed = layout == "TND", is_wide = layout == "BSH" || layout == "SBH";
    if (!is_packed && !is_wide && layout != "BSND" && layout != "BNSD")
        return NOT_COUNTED;
    const int64_t n = is_wide ? in[HEADS].toInt() : q.size() == layout.size() ? q[heads] : 0;
    if (q.size() != layout.size() || k.size() != q.size() || v.size() != q.size() || n <= 0 ||
        (is_wide && q.back() < n) || k.back() == 0)
        return NOT_COUNTED;
    if (is_packed && !(in[ENDS_OF_QUERY].isIntList() && in[ENDS_OF_KEY].isIntList()))
        return NOT_COUNTED;
    const int64_t of_query = is_wide ? q.back() / n : q.back(),
                  of_value = is_wide ? v.back() * of_query / k.back() : v.back();
    const int64_t scores = is_packed ? scores_of_ends(in[ENDS_OF_QUERY].toIntVector(), in[ENDS_OF_KEY].toIntVector())
                                     : scores_of(q[place], k[place], in[MODE].toInt());
    return scores < 0 ? int64_t{ NOT_COUNTED } : 2 * (is_packed ? 1 : q[batch]) * n * scores * (of_query + of_value);
}

/* NOT_COUNTED, too: its shapes are not what they should be. PyTorch will say so. */
int64_t flops_of(const char *name, values in)
{
    using count = int64_t (*)(values);
    static const auto *const rows = new std::unordered_map<std::string, count>{
        { "mm", matmul<0, 1> },
        { "bmm", matmul<0, 1> },
        { "matmul", matmul<0, 1> },
        { "mv", matmul<0, 1> },
        { "dot", matmul<0, 1> },
        { "vdot", matmul<0, 1> },
        { "_scaled_mm", matmul<0, 1> },
        { "_scaled_mm_v2", matmul<0, 1> },
        { "_int_mm", matmul<0, 1> },
        { "_grouped_mm", grouped_matmul },
        { "_scaled_grouped_mm", grouped_matmul },
        { "_scaled_grouped_mm_v2", grouped_matmul },
        { "addmm", matmul<1, 2> },
        { "addmm_", matmul<1, 2> },
        { "_addmm_activation", matmul<1, 2> },
        { "addmv", matmul<1, 2> },
        { "addmv_", matmul<1, 2> },
        { "addbmm", matmul<1, 2> },
        { "addbmm_", matmul<1, 2> },
        { "baddbmm", matmul<1, 2> },
        { "baddbmm_", matmul<1, 2> },
        { "linear", linear },
        { "conv1d", convolution<false> },
        { "conv2d", convolution<false> },
        { "conv3d", convolution<false> },
        { "convolution", convolution<false> },
        { "_convolution", convolution<false> },
        { "conv_transpose1d", convolution<true> },
        { "conv_transpose2d", convolution<true> },
        { "conv_transpose3d", convolution<true> },
        { "convolution_backward", convolution_backward },
        { "scaled_dot_product_attention", attention<0, 1, 1> },
        { "_scaled_dot_product_attention", attention<0, 1, 1> },
        { "_scaled_dot_product_flash_attention", attention<0, 1, 1> }, /* torch.compile() calls these */
        { "_scaled_dot_product_flash_attention_for_cpu", attention<0, 1, 1> },
        { "_scaled_dot_product_efficient_attention", attention<0, 1, 1> },
        { "_scaled_dot_product_cudnn_attention", attention<0, 1, 1> },
        { "_scaled_dot_product_fused_attention_overrideable", attention<0, 1, 1> },
        { "_scaled_dot_product_fused_attention_overrideable_backward", attention<1, 3, 2> },
        { "npu_fusion_attention", npu_attention },
        { "_scaled_dot_product_flash_attention_backward", attention<1, 3, 2> },
        { "_scaled_dot_product_flash_attention_for_cpu_backward", attention<1, 3, 2> },
        { "_scaled_dot_product_efficient_attention_backward", attention<1, 3, 2> },
        { "_scaled_dot_product_cudnn_attention_backward", attention<1, 3, 2> },
    };
    const auto row = rows->find(name);
    return row == rows->end() ? int64_t{ NOT_COUNTED } : row->second(in);
}

} // namespace
