/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/kernel_work.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "raw/host_records.h"

/* ---- tensors
 * ------------------------------------------------------------------------------------------------------ */

/* A grouped product has two tensors for each of up to 128 groups, and biases. */
enum { MOST_TENSORS = 320, MOST_DIMENSIONS = 8 };
static const double MOST_SIZE = 1e15; /* of a dimension: all numbers up to it are exact */

struct kernel_work_tensor {
    unsigned n; /* dimensions; 0: a scalar, or nothing */
    double dim[MOST_DIMENSIONS];
    const char *format; /* "ND"; its length; NULL: not known */
    size_t format_len;
    double size; /* of an element; 0: not known */
    enum number_kind numbers;
};

struct kernel_work_tensors {
    size_t n;
    struct kernel_work_tensor at[MOST_TENSORS];
};

static const struct {
    const char *name;
    double bytes;
    enum number_kind numbers;
} element_types[] = {
    { "FLOAT", 4, NUMBERS_FP32 },
    { "FLOAT16", 2, NUMBERS_16 },
    { "DT_BF16", 2, NUMBERS_16 },
    { "INT8", 1, NUMBERS_INT8 },
    { "UINT8", 1, NUMBERS_INT8 },
    { "DOUBLE", 8, NUMBERS_FP64 },
    { "DT_HIFLOAT8", 1, NUMBERS_FP8 },
    { "DT_FLOAT8_E5M2", 1, NUMBERS_FP8 },
    { "DT_FLOAT8_E4M3FN", 1, NUMBERS_FP8 },
    { "DT_FLOAT8_E8M0", 1, NUMBERS_UNKNOWN },
    { "DT_INT4", 0.5, NUMBERS_UNKNOWN },
    { "BOOL", 1, NUMBERS_UNKNOWN },
    { "INT16", 2, NUMBERS_UNKNOWN },
    { "UINT16", 2, NUMBERS_UNKNOWN },
    { "INT32", 4, NUMBERS_UNKNOWN },
    { "UINT32", 4, NUMBERS_UNKNOWN },
    { "INT64", 8, NUMBERS_UNKNOWN },
    { "UINT64", 8, NUMBERS_UNKNOWN },
    { "COMPLEX64", 8, NUMBERS_UNKNOWN },
    { "COMPLEX128", 16, NUMBERS_UNKNOWN },
    /* As PyTorch calls them. */
    { "float", 4, NUMBERS_FP32 },
    { "double", 8, NUMBERS_FP64 },
    { "c10::Half", 2, NUMBERS_16 },
    { "c10::BFloat16", 2, NUMBERS_16 },
    { "c10::Float8_e4m3fn", 1, NUMBERS_FP8 },
    { "c10::Float8_e5m2", 1, NUMBERS_FP8 },
    { "signed char", 1, NUMBERS_INT8 },
    { "unsigned char", 1, NUMBERS_INT8 },
    { "bool", 1, NUMBERS_UNKNOWN },
    { "int", 4, NUMBERS_UNKNOWN },
    { "long int", 8, NUMBERS_UNKNOWN },
    { "long", 8, NUMBERS_UNKNOWN },
};

const char *number_kind_text(enum number_kind kind)
{
    static const char *const text[NUMBER_KINDS] = { "", "FP64", "FP32", "FP16, BF16", "FP8", "INT8" };
    return text[kind];
}

static bool is_word(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && memcmp(text, word, len) == 0;
}

/* Some texts have quotes or line breaks around their parts. */
static bool is_around(char c)
{
    return c == '"' || isspace((unsigned char)c);
}

/* The next part of "a;b;c", without what is around it. False: there are no more. */
static bool part_next(const char **text, const char **part, size_t *len)
{
    const char *from = *text;
    if (!from)
        return false;
    const char *end = from + strcspn(from, ";");
    *text = *end ? end + 1 : NULL;
    while (from < end && is_around(*from))
        from++;
    while (end > from && is_around(end[-1]))
        end--;
    *part = from;
    *len = (size_t)(end - from);
    return true;
}

static bool dimensions_read(struct kernel_work_tensor *t, const char *text, size_t len)
{
    const char *const end = text + len;
    while (text < end) {
        char *behind;
        if (t->n == MOST_DIMENSIONS || !isdigit((unsigned char)*text))
            return false;
        const unsigned long long v = strtoull(text, &behind, 10);
        if ((double)v > MOST_SIZE || (behind < end && *behind != ','))
            return false;
        t->dim[t->n++] = (double)v;
        for (text = behind; text < end && (*text == ',' || is_around(*text));)
            text++;
    }
    return true;
}

static void element_read(struct kernel_work_tensor *t, const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof element_types / sizeof *element_types; i++)
        if (is_word(text, len, element_types[i].name)) {
            t->size = element_types[i].bytes;
            t->numbers = element_types[i].numbers;
        }
}

enum number_kind kernel_numbers(const char *types)
{
    struct kernel_work_tensor t = { 0 };
    const char *part;
    size_t len;
    while (t.numbers == NUMBERS_UNKNOWN && part_next(&types, &part, &len))
        element_read(&t, part, len);
    return t.numbers;
}

static bool is_unknown(const char *text)
{
    return !text || !*text || strcmp(text, "N/A") == 0;
}

/* False: the shapes are unknown or invalid. */
static bool tensors_read(struct kernel_work_tensors *out, const struct kernel_tensors *k, int which)
{
    const char *shapes = k->shapes[which], *types = k->types[which], *formats = k->formats[which], *part;
    size_t len;
    out->n = 0;
    if (is_unknown(shapes))
        return false;
    types = is_unknown(types) ? NULL : types;
    formats = is_unknown(formats) ? NULL : formats;
    while (part_next(&shapes, &part, &len)) {
        if (out->n == MOST_TENSORS)
            return false;
        struct kernel_work_tensor *t = &out->at[out->n++];
        *t = (struct kernel_work_tensor){ 0 };
        if (!dimensions_read(t, part, len))
            return false;
        if (part_next(&types, &part, &len))
            element_read(t, part, len);
        if (part_next(&formats, &part, &len)) {
            t->format = part;
            t->format_len = len;
        }
    }
    return true;
}

static double elements(const struct kernel_work_tensor *t)
{
    double n = t->n > 0 ? 1 : 0;
    for (unsigned i = 0; i < t->n; i++)
        n *= t->dim[i];
    return n;
}

static bool has_format(const struct kernel_work_tensor *t, const char *format)
{
    return t->format && is_word(t->format, t->format_len, format);
}

/* The bytes of all tensors; 0: the size of an element is not known. */
static double bytes_of(const struct kernel_work_tensors *t)
{
    double bytes = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (t->at[i].n > 0 && !(t->at[i].size > 0))
            return 0;
        bytes += elements(&t->at[i]) * t->at[i].size;
    }
    return bytes;
}

/* ---- products of matrices
 * ----------------------------------------------------------------------------------------- */

struct kernel_work_matrix {
    double batch, rows, columns;
    double grain; /* both are padded to multiples of it */
};

/* The shape of the format FRACTAL_NZ is (columns / c0, rows / 16, 16, c0). If a shape does not match this, it is the
 * plain shape of the matrix, whatever the format says. */
static bool is_fractal(const struct kernel_work_tensor *t)
{
    const double *d = t->dim + t->n;
    return t->n >= 4 && (!t->format || has_format(t, "FRACTAL_NZ")) && d[-2] == 16 &&
           (d[-1] == 8 || d[-1] == 16 || d[-1] == 32);
}

static bool matrix_of(const struct kernel_work_tensor *t, struct kernel_work_matrix *m)
{
    const double *d = t->dim + t->n;
    const bool has_blocks = is_fractal(t);
    if (t->n < 2)
        return false;
    *m = has_blocks ? (struct kernel_work_matrix){ 1, d[-3] * d[-2], d[-4] * d[-1], fmax(d[-2], d[-1]) }
                    : (struct kernel_work_matrix){ 1, d[-2], d[-1], 1 };
    for (unsigned i = 0; i + (has_blocks ? 4 : 2) < t->n; i++)
        m->batch *= t->dim[i];
    return m->batch > 0 && m->rows > 0 && m->columns > 0;
}

/* Whether two sizes are equal after padding to multiples of the grain. */
static bool fits(double a, double b, double grain)
{
    return ceil(a / grain) == ceil(b / grain);
}

/* The operations of a * b = c, where a and b may be transposed; 0: the shapes do not match. */
static double product_of(const struct kernel_work_matrix *a, const struct kernel_work_matrix *b,
                         const struct kernel_work_matrix *c)
{
    const double grain = fmax(a->grain, fmax(b->grain, c->grain));
    if (fmod(c->batch, a->batch) != 0 || fmod(c->batch, b->batch) != 0)
        return 0;
    for (unsigned way = 0; way < 4; way++) {
        const bool is_a = way & 1, is_b = way & 2; /* transposed */
        const double m = is_a ? a->columns : a->rows, inner = is_a ? a->rows : a->columns,
                     n = is_b ? b->rows : b->columns, other = is_b ? b->columns : b->rows;
        if (fits(m, c->rows, grain) && fits(n, c->columns, grain) && fits(inner, other, grain))
            return 2 * c->batch * fmin(m, c->rows) * fmin(n, c->columns) * fmin(inner, other);
    }
    return 0;
}

static double product(const struct kernel_work_tensors *in, const struct kernel_work_tensors *out, size_t first)
{
    struct kernel_work_matrix a, b, c;
    return in->n >= first + 2 && out->n > 0 && matrix_of(&in->at[first], &a) && matrix_of(&in->at[first + 1], &b) &&
                   matrix_of(&out->at[0], &c)
               ? product_of(&a, &b, &c)
               : 0;
}

/* The gradient of the weights: the inner dimension is divided among the groups, [m, all] * [all, n] = [groups, m,
 * n]. */
static double grouped_inner(const struct kernel_work_tensor *x, const struct kernel_work_tensor *w,
                            const struct kernel_work_tensor *y)
{
    const struct kernel_work_matrix c = { 1, y->dim[1], y->dim[2], 1 };
    struct kernel_work_matrix a, b;
    return matrix_of(x, &a) && matrix_of(w, &b) ? product_of(&a, &b, &c) : 0;
}

/* Whether a tensor has these dimensions, in either order. */
static bool are_weights(const struct kernel_work_tensor *t, double inner, double columns)
{
    struct kernel_work_matrix w;
    return matrix_of(t, &w) && ((fits(w.rows, inner, w.grain) && fits(w.columns, columns, w.grain)) ||
                                (fits(w.columns, inner, w.grain) && fits(w.rows, columns, w.grain)));
}

/* Each row of the inputs belongs to one group and is multiplied by the weights of that group. The first inputs have as
 * many rows as the outputs; the weights of the first group follow them. */
static double grouped(const struct kernel_work_tensors *in, const struct kernel_work_tensors *out, size_t first)
{
    double operations = 0, left = 0;
    size_t i = first, k = 0;
    if (in->n < first + 2 || out->n == 0)
        return 0;
    const struct kernel_work_tensor *x = &in->at[first], *y = &out->at[0];
    if (out->n == 1 && y->n == 3 && x->n == 2 && x[1].n == 2)
        return grouped_inner(x, x + 1, y);
    for (; k < out->n && i < in->n; i++) {
        x = &in->at[i];
        y = &out->at[k];
        if (x->n < 2 || y->n < 2)
            return 0;
        const double columns = y->dim[y->n - 1], inner = x->dim[x->n - 1], rows = elements(x) / inner;
        left = (left > 0 ? left : elements(y) / columns) - rows;
        if (!(rows > 0) || !(left >= 0))
            return 0;
        k += left == 0;
        operations += 2 * rows * inner * columns;
    }
    x = &in->at[first];
    y = &out->at[0];
    return k == out->n && i < in->n && are_weights(&in->at[i], x->dim[x->n - 1], y->dim[y->n - 1]) ? operations : 0;
}

/* ---- convolutions
 * ------------------------------------------------------------------------------------------------- */

static bool has_channels_first(const struct kernel_work_tensor *t)
{
    return t->n >= 3 && (has_format(t, "NCHW") || has_format(t, "NCDHW"));
}

static bool has_channels_last(const struct kernel_work_tensor *t)
{
    return t->n >= 3 && (has_format(t, "NHWC") || has_format(t, "NDHWC"));
}

/* The number of channels; 0: the dimension of the channels is not known. */
static double channels(const struct kernel_work_tensor *t)
{
    if (has_format(t, "NC1HWC0") && t->n == 5)
        return t->dim[1] * t->dim[4];
    if (has_format(t, "NDC1HWC0") && t->n == 6)
        return t->dim[2] * t->dim[5];
    return has_channels_last(t) ? t->dim[t->n - 1] : has_channels_first(t) ? t->dim[1] : 0;
}

/* The number of input elements per output element; 0: not known, as for grouped convolutions with fractal weights. */
static double window(const struct kernel_work_tensor *w, double n_channels)
{
    if ((has_format(w, "FRACTAL_Z") || has_format(w, "FRACTAL_Z_3D")) && w->n == 4)
        return w->dim[1] * w->dim[2] == ceil(n_channels / 16) * 16 ? w->dim[0] * w->dim[3] : 0;
    const bool is_plain = has_channels_first(w) || has_channels_last(w);
    return is_plain && w->dim[0] == n_channels ? elements(w) / n_channels : 0;
}

/* The tensors that are images or filters. Those with one dimension are lists of sizes, or biases. */
static const struct kernel_work_tensor *spatial(const struct kernel_work_tensors *t, size_t number)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->at[i].n >= 3 && number-- == 0)
            return &t->at[i];
    return NULL;
}

static double convolved(const struct kernel_work_tensor *y, const struct kernel_work_tensor *w)
{
    return y && w ? 2 * elements(y) * window(w, channels(y)) : 0;
}

static double convolution(const struct kernel_work_tensors *in, const struct kernel_work_tensors *out, size_t first)
{
    return convolved(spatial(out, 0), spatial(in, first + 1)); /* x, w -> y */
}

static double convolution_dx(const struct kernel_work_tensors *in, const struct kernel_work_tensors *out, size_t first)
{
    return spatial(out, 0) ? convolved(spatial(in, first + 1), spatial(in, first)) : 0; /* w, dy -> dx */
}

static double convolution_dw(const struct kernel_work_tensors *in, const struct kernel_work_tensors *out, size_t first)
{
    return convolved(spatial(in, first + 1), spatial(out, 0)); /* x, dy -> dw */
}

/* ---- attention
 * ---------------------------------------------------------------------------------------------------- */

/* The number of matrix products for each head: with the width of queries and keys, and with the width of values. */
struct attention {
    double of_width, of_values;
};
static const struct attention forward = { 1, 1 }, /* scores, sums of values */
    gradient = { 3, 2 }; /* scores again, gradients of queries and of keys; of values and of the weights */

struct heads {
    double batch, heads, queries;
};

static double attended(const struct attention *a, const struct kernel_work_tensor *q,
                       const struct kernel_work_tensor *k, const struct kernel_work_tensor *v, const struct heads *h,
                       double keys)
{
    const double width = elements(q) / (h->batch * h->heads * h->queries),
                 key_heads = elements(k) / (h->batch * keys * width),
                 value_width = elements(v) / (h->batch * keys * key_heads);
    const double operations =
        2 * h->batch * h->heads * h->queries * keys * (a->of_width * width + a->of_values * value_width);
    const bool is_whole =
        fmod(width, 1) == 0 && fmod(key_heads, 1) == 0 && fmod(value_width, 1) == 0 && fmod(h->heads, key_heads) == 0;
    return is_whole && operations > 0 ? operations : 0;
}

/* The result of the softmax, [batch, heads, queries, 8], is the only tensor whose layout is always the same. The layout
 * of the other tensors follows from it. If several layouts are possible and give different results, the work is not
 * known. */
static double attention_of(const struct attention *a, const struct kernel_work_tensors *in,
                           const struct kernel_work_tensor *softmax)
{
    enum { BATCH, HEADS, QUERIES, BOTH };
    static const struct {
        unsigned n, is[3], keys; /* which dimension is what; which of the keys' is their number */
    } layout[] = {
        { 4, { BATCH, HEADS, QUERIES }, 2 },
        { 4, { BATCH, QUERIES, HEADS }, 1 },
        { 3, { BATCH, QUERIES, BOTH }, 1 },
        { 3, { QUERIES, BATCH, BOTH }, 0 },
    };
    const struct kernel_work_tensor *q = &in->at[0], *k = &in->at[1], *v = &in->at[2];
    const struct heads h = { softmax->dim[0], softmax->dim[1], softmax->dim[2] };
    const double wanted[] = { h.batch, h.heads, h.queries };
    double found = 0;
    for (size_t i = 0; i < sizeof layout / sizeof *layout; i++) {
        bool is_it = q->n == layout[i].n && k->n == q->n && v->n == q->n;
        for (unsigned d = 0; is_it && d < 3; d++)
            is_it = layout[i].is[d] == BOTH ? fmod(q->dim[d], h.heads) == 0 : q->dim[d] == wanted[layout[i].is[d]];
        const double operations = is_it ? attended(a, q, k, v, &h, k->dim[layout[i].keys]) : 0;
        if (is_it && found > 0 && operations != found)
            return 0;
        found = is_it ? operations : found;
    }
    return found;
}

static bool is_softmax(const struct kernel_work_tensor *t)
{
    return t->n == 4 && t->dim[3] == 8;
}

static double attention(const struct kernel_work_tensors *in, const struct kernel_work_tensors *out, size_t first)
{
    (void)first;
    return in->n >= 3 && out->n > 0 && is_softmax(&out->at[0]) ? attention_of(&forward, in, &out->at[0]) : 0;
}

static double attention_gradient(const struct kernel_work_tensors *in, const struct kernel_work_tensors *out,
                                 size_t first)
{
    (void)first, (void)out;
    for (size_t i = 4; i < in->n; i++) /* behind queries, keys, values and the gradient */
        if (is_softmax(&in->at[i]))
            return attention_of(&gradient, in, &in->at[i]);
    return 0;
}

/* PyTorch's own kernels: [batch, queries, heads, width]. */
static double attention_plain(const struct attention *a, const struct kernel_work_tensors *in, size_t first)
{
    if (in->n < first + 3)
        return 0;
    const struct kernel_work_tensor *q = &in->at[first], *k = q + 1, *v = q + 2;
    const struct heads h = { q->dim[0], q->dim[2], q->dim[1] };
    return q->n == 4 && k->n == 4 && v->n == 4 ? attended(a, q, k, v, &h, k->dim[1]) : 0;
}

static double torch_attention(const struct kernel_work_tensors *in, const struct kernel_work_tensors *out, size_t first)
{
    (void)out;
    return attention_plain(&forward, in, first);
}

static double torch_attention_gradient(const struct kernel_work_tensors *in, const struct kernel_work_tensors *out,
                                       size_t first)
{
    (void)out;
    return attention_plain(&gradient, in, first);
}

/* ---- the table
 * ---------------------------------------------------------------------------------------------------- */

/* PyTorch records no outputs. The shape of a product follows from those of its operands, which PyTorch records as
 * multiplied. */
static void output_of_product(const struct kernel_work_tensors *in, struct kernel_work_tensors *out, size_t first)
{
    if (in->n < first + 2 || in->at[first].n < 2 || in->at[first + 1].n < 2)
        return;
    struct kernel_work_tensor *c = &out->at[out->n++];
    *c = in->at[first];
    c->dim[c->n - 1] = in->at[first + 1].dim[in->at[first + 1].n - 1];
}

static void output_of_linear(const struct kernel_work_tensors *in, struct kernel_work_tensors *out, size_t first)
{
    if (in->n < first + 2 || in->at[first].n < 2 || in->at[first + 1].n != 2)
        return;
    struct kernel_work_tensor *c = &out->at[out->n++];
    *c = in->at[first];
    c->dim[c->n - 1] = in->at[first + 1].dim[0];
}

/* The output has the shape of the queries; the gradients have those of queries, keys and values. */
static void output_of_attention(const struct kernel_work_tensors *in, struct kernel_work_tensors *out, size_t first)
{
    if (in->n > first)
        out->at[out->n++] = in->at[first];
}

static void output_of_attention_gradient(const struct kernel_work_tensors *in, struct kernel_work_tensors *out,
                                         size_t first)
{
    for (size_t i = first; i < first + 3 && i < in->n; i++)
        out->at[out->n++] = in->at[i];
}

typedef double work_formula(const struct kernel_work_tensors *in, const struct kernel_work_tensors *out, size_t first);
typedef void output_rule(const struct kernel_work_tensors *in, struct kernel_work_tensors *out, size_t first);

/* A version suffix ("MatMulV3") is ignored. For operators without a formula only bytes are counted: each element is
 * read or written once. Operators that may read only part of an input, such as a gather, are not in the table. */
static const struct work_row {
    const char *type;
    work_formula *formula;
    size_t first; /* operand among the inputs */
    bool is_most;
    output_rule *output;
} work_rows[] = {
    { "MatMul", product, 0, false, NULL },
    { "BatchMatMul", product, 0, false, NULL },
    { "TransposeBatchMatMul", product, 0, false, NULL },
    { "QuantBatchMatmul", product, 0, false, NULL },
    { "WeightQuantBatchMatmul", product, 0, false, NULL },
    { "GroupedMatmul", grouped, 0, false, NULL },
    { "Conv2D", convolution, 0, false, NULL },
    { "Conv3D", convolution, 0, false, NULL },
    { "Conv2DBackpropInput", convolution_dx, 0, false, NULL },
    { "Conv3DBackpropInput", convolution_dx, 0, false, NULL },
    { "Conv2DBackpropFilter", convolution_dw, 0, false, NULL },
    { "Conv3DBackpropFilter", convolution_dw, 0, false, NULL },
    { "FlashAttentionScore", attention, 0, true, NULL },
    { "FlashAttentionScoreGrad", attention_gradient, 0, true, NULL },
    { "aten::mm", product, 0, false, output_of_product },
    { "aten::bmm", product, 0, false, output_of_product },
    { "aten::_scaled_mm", product, 0, false, output_of_product },
    { "aten::addmm", product, 1, false, output_of_product },
    { "aten::baddbmm", product, 1, false, output_of_product },
    { "aten::linear", product, 0, false, output_of_linear },
    { "aten::_flash_attention_forward", torch_attention, 0, true, output_of_attention },
    { "aten::_efficient_attention_forward", torch_attention, 0, true, output_of_attention },
    { "aten::_flash_attention_backward", torch_attention_gradient, 1, true, output_of_attention_gradient },
    { "aten::_efficient_attention_backward", torch_attention_gradient, 1, true, output_of_attention_gradient },
    { .type = "Abs" },
    { .type = "Add" },
    { .type = "AddRmsNorm" },
    { .type = "Adds" },
    { .type = "ApplyAdamW" },
    { .type = "Axpy" },
    { .type = "Cast" },
    { .type = "Div" },
    { .type = "Exp" },
    { .type = "FastGelu" },
    { .type = "FastGeluGrad" },
    { .type = "Gelu" },
    { .type = "GeluGrad" },
    { .type = "LayerNorm" },
    { .type = "LogSoftmax" },
    { .type = "Maximum" },
    { .type = "Minimum" },
    { .type = "Mul" },
    { .type = "Muls" },
    { .type = "Neg" },
    { .type = "RealDiv" },
    { .type = "ReduceMean" },
    { .type = "ReduceSum" },
    { .type = "Relu" },
    { .type = "ReluGrad" },
    { .type = "RmsNorm" },
    { .type = "RmsNormGrad" },
    { .type = "RotaryMul" },
    { .type = "RotaryPositionEmbedding" },
    { .type = "Rsqrt" },
    { .type = "Sigmoid" },
    { .type = "Softmax" },
    { .type = "SoftmaxGrad" },
    { .type = "Sqrt" },
    { .type = "Square" },
    { .type = "Sub" },
    { .type = "SwiGlu" },
    { .type = "SwiGluGrad" },
    { .type = "Swiglu" },
    { .type = "Tanh" },
    { .type = "TransData" },
    { .type = "Transpose" },
};

static const struct work_row *kernel_work_row_of(const char *type)
{
    size_t len = strlen(type), digits = len;
    while (digits > 0 && isdigit((unsigned char)type[digits - 1]))
        digits--;
    if (digits > 1 && digits < len && type[digits - 1] == 'V')
        len = digits - 1;
    for (size_t i = 0; i < sizeof work_rows / sizeof *work_rows; i++)
        if (is_word(type, len, work_rows[i].type))
            return &work_rows[i];
    return NULL;
}

bool kernel_type_is_known(const char *type)
{
    return kernel_work_row_of(type) != NULL;
}

void kernel_work_find(struct kernel_work *out, const struct kernel_tensors *k)
{
    const struct work_row *row = k->type ? kernel_work_row_of(k->type) : NULL;
    struct kernel_work_tensors input, output;
    *out = (struct kernel_work){ 0 };
    if (!row || !tensors_read(&input, k, TENSOR_INPUT))
        return;
    if (row->output) {
        output.n = 0;
        row->output(&input, &output, row->first);
    } else if (!tensors_read(&output, k, TENSOR_OUTPUT))
        return;
    if (row->formula) {
        const double operations = row->formula(&input, &output, row->first);
        if (!(operations > 0)) /* the shapes do not match, so that the bytes are not known either */
            return;
        out->operations = operations;
        for (size_t i = row->first; i < input.n && out->numbers == NUMBERS_UNKNOWN; i++) /* not of a list of sizes */
            out->numbers = input.at[i].numbers;
        out->is_most = row->is_most;
    }
    const double read = bytes_of(&input), written = bytes_of(&output);
    out->bytes = read > 0 && written > 0 ? read + written : 0;
}
