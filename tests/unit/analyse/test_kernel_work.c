/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/kernel_work.h"

#include "test.h"

struct row {
    const char *what, *type, *in, *in_types, *in_formats, *out, *out_types, *out_formats;
    double operations, bytes;
    enum number_kind numbers;
};

static void work_is(const struct row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &row[i];
        struct kernel_work w;
        print_message("  %s\n", r->what);
        kernel_work_find(
            &w, &(struct kernel_tensors){
                    r->type, { r->in, r->out }, { r->in_types, r->out_types }, { r->in_formats, r->out_formats } });
        assert_true(w.operations == r->operations);
        assert_true(w.bytes == r->bytes);
        assert_int_equal(w.numbers, r->numbers);
    }
}
#define HALF  "FLOAT16;FLOAT16", "ND;ND"
#define FIRST "FLOAT16", "ND"

/* 2 * 3 * 5 * 7 = 210 operations; 15 + 35 + 21 numbers. */
static void products(void **state)
{
    static const struct row row[] = {
        { "[3, 5] by [5, 7]", "MatMulV2", "3,5;5,7", HALF, "3,7", FIRST, 210, 142, NUMBERS_16 },
        { "a version is the operator", "MatMulV3", "3,5;5,7", HALF, "3,7", FIRST, 210, 142, NUMBERS_16 },
        { "the first operand transposed", "MatMul", "5,3;5,7", HALF, "3,7", FIRST, 210, 142, NUMBERS_16 },
        { "the second", "MatMul", "3,5;7,5", HALF, "3,7", FIRST, 210, 142, NUMBERS_16 },
        { "both", "MatMul", "5,3;7,5", HALF, "3,7", FIRST, 210, 142, NUMBERS_16 },
        { "a bias is read, too", "MatMulV2", "3,5;5,7;7", "FLOAT16;FLOAT16;FLOAT", "ND;ND;ND", "3,7", FIRST, 210, 170,
          NUMBERS_16 },
        { "an input that is not there", "MatMulV2", "3,5;5,7;;", "FLOAT16;FLOAT16;;", "ND;ND;;", "3,7", FIRST, 210, 142,
          NUMBERS_16 },
        { "quotes around, as tables have them", "MatMulV2", "\"3,5;5,7\"", HALF, "\"3,7\"", FIRST, 210, 142,
          NUMBERS_16 },
        { "types of different sizes", "MatMulV2", "3,5;5,7", "INT8;INT8", "ND;ND", "3,7", "INT32", "ND", 210, 134,
          NUMBERS_INT8 },
        { "a batch", "BatchMatMulV2", "2,3,5;2,5,7", HALF, "2,3,7", FIRST, 420, 284, NUMBERS_16 },
        { "the second is the same for all of it", "BatchMatMulV2", "2,3,5;5,7", HALF, "2,3,7", FIRST, 420, 214,
          NUMBERS_16 },
        { "two batches that are spread", "BatchMatMul", "4,1,3,5;1,2,5,7", HALF, "4,2,3,7", FIRST, 1680, 596,
          NUMBERS_16 },
        { "blocks of 16: [32, 48] by [48, 64]", "MatMulV2", "3,2,16,16;4,3,16,16", "FLOAT16;FLOAT16",
          "FRACTAL_NZ;FRACTAL_NZ", "4,2,16,16", "FLOAT16", "FRACTAL_NZ", 2 * 32 * 48 * 64,
          2 * (32 * 48 + 48 * 64 + 32 * 64), NUMBERS_16 },
        { "blocks are padded: [30, 40] by [40, 60]", "MatMulV2", "30,40;4,3,16,16", "FLOAT16;FLOAT16", "ND;FRACTAL_NZ",
          "30,60", FIRST, 2 * 30 * 40 * 60, 2 * (30 * 40 + 48 * 64 + 30 * 60), NUMBERS_16 },
        { "a format without its blocks", "MatMulV2", "3,5;5,7", "FLOAT16;FLOAT16", "ND;FRACTAL_NZ", "3,7", FIRST, 210,
          142, NUMBERS_16 },
        { "no format: blocks are seen", "MatMulV2", "3,2,16,16;4,3,16,16", "FLOAT16;FLOAT16", "", "4,2,16,16",
          "FLOAT16", "", 2 * 32 * 48 * 64, 2 * (32 * 48 + 48 * 64 + 32 * 64), NUMBERS_16 },
        { "four dimensions that are no blocks", "BatchMatMul", "2,4,16,16;2,4,16,16", HALF, "2,4,16,16", FIRST,
          2.0 * 8 * 16 * 16 * 16, 2 * 3 * 8 * 256, NUMBERS_16 },
        { "numbers of unknown size", "MatMulV2", "3,5;5,7", "NEW;NEW", "ND;ND", "3,7", "NEW", "ND", 210, 0,
          NUMBERS_UNKNOWN },
        { "no types", "MatMulV2", "3,5;5,7", "N/A", "N/A", "3,7", "N/A", "N/A", 210, 0, NUMBERS_UNKNOWN },
    };
    work_is(row, ROWS(row));
    (void)state;
}

static void groups(void **state)
{
    static const struct row row[] = {
        { "rows of all groups in one input", "GroupedMatmul", "6,5;3,5,7", HALF, "6,7", FIRST, 420, 2 * (30 + 105 + 42),
          NUMBERS_16 },
        { "weights transposed", "GroupedMatmul", "6,5;3,7,5", HALF, "6,7", FIRST, 420, 2 * (30 + 105 + 42),
          NUMBERS_16 },
        { "a tensor for each group", "GroupedMatmul", "2,5;4,3;5,7;3,9", "FLOAT16;FLOAT16;FLOAT16;FLOAT16", "",
          "2,7;4,9", "FLOAT16;FLOAT16", "", 2 * (2 * 5 * 7 + 4 * 3 * 9), 2 * (10 + 12 + 35 + 27 + 14 + 36),
          NUMBERS_16 },
        { "one output of several inputs", "GroupedMatmul", "2,5;4,5;5,7;5,7", "FLOAT16;FLOAT16;FLOAT16;FLOAT16", "",
          "6,7", "FLOAT16", "", 2 * 6 * 5 * 7, 2 * (10 + 20 + 35 + 35 + 42), NUMBERS_16 },
        { "gradient of the weights", "GroupedMatmul", "5,6;6,7", HALF, "3,5,7", FIRST, 2 * 5 * 6 * 7,
          2 * (30 + 42 + 105), NUMBERS_16 },
        { "weights of another size", "GroupedMatmul", "6,5;3,4,7", HALF, "6,7", FIRST, 0, 0, NUMBERS_UNKNOWN },
        { "fewer rows than the output has", "GroupedMatmul", "4,5;3,5,7", HALF, "6,7", FIRST, 0, 0, NUMBERS_UNKNOWN },
    };
    work_is(row, ROWS(row));
    (void)state;
}

/* 2 images of 4 channels become 6 channels of 8x9, each of 4 x 3 x 3 numbers. */
static void convolutions(void **state)
{
    enum { Y = 2 * 6 * 8 * 9, X = 2 * 4 * 10 * 11, W = 6 * 4 * 3 * 3, OPERATIONS = 2 * Y * 36 };
    static const struct row row[] = {
        { "forward", "Conv2D", "2,4,10,11;6,4,3,3", "FLOAT;FLOAT", "NCHW;NCHW", "2,6,8,9", "FLOAT", "NCHW", OPERATIONS,
          4 * (X + W + Y), NUMBERS_FP32 },
        { "channels last", "Conv2D", "2,10,11,4;6,3,3,4", "FLOAT;FLOAT", "NHWC;NHWC", "2,8,9,6", "FLOAT", "NHWC",
          OPERATIONS, 4 * (X + W + Y), NUMBERS_FP32 },
        { "two groups", "Conv2D", "2,4,10,11;6,2,3,3", "FLOAT;FLOAT", "NCHW;NCHW", "2,6,8,9", "FLOAT", "NCHW",
          OPERATIONS / 2, 4 * (X + W / 2 + Y), NUMBERS_FP32 },
        { "gradient of the input, behind its sizes", "Conv2DBackpropInput", "4;6,4,3,3;2,6,8,9", "INT32;FLOAT;FLOAT",
          "ND;NCHW;NCHW", "2,4,10,11", "FLOAT", "NCHW", OPERATIONS, 4 * (4 + W + Y + X), NUMBERS_FP32 },
        { "gradient of the weights", "Conv2DBackpropFilter", "2,4,10,11;4;2,6,8,9", "FLOAT;INT32;FLOAT", "NCHW;ND;NCHW",
          "6,4,3,3", "FLOAT", "NCHW", OPERATIONS, 4 * (X + 4 + Y + W), NUMBERS_FP32 },
        { "blocks of channels", "Conv2D", "32,24,13,13,8;216,24,16,8;384", "FLOAT;FLOAT;FLOAT",
          "NC1HWC0;FRACTAL_Z;NCHW", "32,48,13,13,8", "FLOAT", "NC1HWC0", 2.0 * 32 * 384 * 169 * 216 * 8,
          4.0 * (32 * 192 * 169 + 216 * 24 * 128 + 384 + 32 * 384 * 169), NUMBERS_FP32 },
        { "groups of blocks are not known", "Conv2D", "32,24,13,13,8;432,12,16,8", "FLOAT;FLOAT", "NC1HWC0;FRACTAL_Z",
          "32,48,13,13,8", "FLOAT", "NC1HWC0", 0, 0, NUMBERS_UNKNOWN },
        { "three dimensions", "Conv3D", "2,4,5,10,11;6,4,3,3,3", "FLOAT16;FLOAT16", "NCDHW;NCDHW", "2,6,3,8,9",
          "FLOAT16", "NCDHW", 2 * 2 * 6 * 3 * 72 * 108, 2 * (2 * 4 * 550 + 6 * 108 + 2 * 6 * 216), NUMBERS_16 },
        { "channels of unknown place", "Conv2D", "2,4,10,11;6,4,3,3", "FLOAT;FLOAT", "", "2,6,8,9", "FLOAT", "", 0, 0,
          NUMBERS_UNKNOWN },
        { "weights of other channels", "Conv2D", "2,4,10,11;5,4,3,3", "FLOAT;FLOAT", "NCHW;NCHW", "2,6,8,9", "FLOAT",
          "NCHW", 0, 0, NUMBERS_UNKNOWN },
    };
    work_is(row, ROWS(row));
    (void)state;
}

/* 2 x 3 heads of 10 queries and 20 keys, 4 wide. */
static void attentions(void **state)
{
    enum { SCORES = 2 * 3 * 10 * 20, FORWARD = 2 * SCORES * 8, GRADIENT = 2 * SCORES * 20, Q = 240, K = 480, S = 480 };
    static const char three[] = "DT_BF16;DT_BF16;DT_BF16", soft[] = "FLOAT;FLOAT;DT_BF16;DT_BF16";
    static const struct row row[] = {
        { "heads before queries", "FlashAttentionScore", "2,3,10,4;2,3,20,4;2,3,20,4", three, "",
          "2,3,10,8;2,3,10,8;;2,3,10,4", soft, "", FORWARD, 2 * (Q + K + K) + 8 * S + 2 * Q, NUMBERS_16 },
        { "queries before heads", "FlashAttentionScore", "2,10,3,4;2,20,3,4;2,20,3,4", three, "",
          "2,3,10,8;2,3,10,8;;2,10,3,4", soft, "", FORWARD, 2 * (Q + K + K) + 8 * S + 2 * Q, NUMBERS_16 },
        { "all heads in one dimension", "FlashAttentionScore", "2,10,12;2,20,12;2,20,12", three, "",
          "2,3,10,8;2,3,10,8;;2,10,12", soft, "", FORWARD, 2 * (Q + K + K) + 8 * S + 2 * Q, NUMBERS_16 },
        { "queries first", "FlashAttentionScore", "10,2,12;20,2,12;20,2,12", three, "", "2,3,10,8;2,3,10,8;;10,2,12",
          soft, "", FORWARD, 2 * (Q + K + K) + 8 * S + 2 * Q, NUMBERS_16 },
        { "one head of keys for all", "FlashAttentionScore", "2,3,10,4;2,1,20,4;2,1,20,4", three, "",
          "2,3,10,8;2,3,10,8;;2,3,10,4", soft, "", FORWARD, 2 * (Q + 160 + 160) + 8 * S + 2 * Q, NUMBERS_16 },
        { "narrower values", "FlashAttentionScore", "2,3,10,4;2,3,20,4;2,3,20,2", three, "",
          "2,3,10,8;2,3,10,8;;2,3,10,2", soft, "", 2 * SCORES * 6, 2 * (Q + K + 240) + 8 * S + 2 * 120, NUMBERS_16 },
        { "as many heads as queries: both orders are possible", "FlashAttentionScore", "2,3,3,4;2,3,20,4;2,3,20,4",
          three, "", "2,3,3,8;2,3,3,8;;2,3,3,4", soft, "", 0, 0, NUMBERS_UNKNOWN },
        { "sequences of their own lengths", "FlashAttentionScore", "20,3,4;40,3,4;40,3,4", three, "",
          "20,3,8;20,3,8;;20,3,4", soft, "", 0, 0, NUMBERS_UNKNOWN },
        { "the gradient", "FlashAttentionScoreGrad", "2,3,10,4;2,3,20,4;2,3,20,4;2,3,10,4;;;;;2,3,10,8;2,3,10,8",
          "DT_BF16;DT_BF16;DT_BF16;DT_BF16;;;;;FLOAT;FLOAT", "", "2,3,10,4;2,3,20,4;2,3,20,4", three, "", GRADIENT,
          2 * (Q + K + K + Q) + 8 * S + 2 * (Q + K + K), NUMBERS_16 },
        { "a gradient without what the softmax left", "FlashAttentionScoreGrad", "2,3,10,4;2,3,20,4;2,3,20,4;2,3,10,4",
          "DT_BF16;DT_BF16;DT_BF16;DT_BF16", "", "2,3,10,4;2,3,20,4;2,3,20,4", three, "", 0, 0, NUMBERS_UNKNOWN },
    };
    work_is(row, ROWS(row));
    struct kernel_work w;
    kernel_work_find(&w,
                     &(struct kernel_tensors){ row[0].type, { row[0].in, row[0].out }, { three, soft }, { "", "" } });
    assert_true(w.is_most); /* a mask may leave half of it out */
    kernel_work_find(&w, &(struct kernel_tensors){ "MatMul", { "3,5;5,7", "3,7" }, { "", "" }, { "", "" } });
    assert_false(w.is_most);
    (void)state;
}

/* PyTorch records inputs only. */
static void operators_of_pytorch(void **state)
{
    static const struct row row[] = {
        { "mm", "aten::mm", "3, 5;\n5, 7;\n", "float;\nfloat;\n", "", "", "", "", 210, 284, NUMBERS_FP32 },
        { "addmm", "aten::addmm", "7;3,5;5,7;;", "float;float;float;Scalar;Scalar", "", "", "", "", 210, 312,
          NUMBERS_FP32 },
        { "bmm", "aten::bmm", "2,3,5;2,5,7", "c10::BFloat16;c10::BFloat16", "", "", "", "", 420, 284, NUMBERS_16 },
        { "linear", "aten::linear", "2,3,5;7,5;7", "c10::Half;c10::Half;c10::Half", "", "", "", "", 420,
          2 * (30 + 35 + 7 + 42), NUMBERS_16 },
        { "an inner dimension that differs", "aten::mm", "3,5;6,7", "float;float", "", "", "", "", 0, 0,
          NUMBERS_UNKNOWN },
        { "attention", "aten::_flash_attention_forward", "2,10,3,4;2,20,3,4;2,20,3,4;;",
          "c10::Half;c10::Half;c10::Half;;", "", "", "", "", 2 * 2 * 3 * 10 * 20 * 8, 2 * (240 + 480 + 480 + 240),
          NUMBERS_16 },
        { "its gradient", "aten::_flash_attention_backward", "2,10,3,4;2,10,3,4;2,20,3,4;2,20,3,4",
          "c10::Half;c10::Half;c10::Half;c10::Half", "", "", "", "", 2 * 2 * 3 * 10 * 20 * 20,
          2 * (240 + 240 + 480 + 480 + 240 + 480 + 480), NUMBERS_16 },
        { "no inputs", "aten::mm", "", "", "", "", "", "", 0, 0, NUMBERS_UNKNOWN },
        { "one input", "aten::mm", "3,5", "float", "", "", "", "", 0, 0, NUMBERS_UNKNOWN },
    };
    work_is(row, ROWS(row));
    (void)state;
}

static void bytes_alone(void **state)
{
    static const struct row row[] = {
        { "each element is read and written once", "Add", "3,5;5", "FLOAT;FLOAT", "ND;ND", "3,5", "FLOAT", "ND", 0, 140,
          NUMBERS_UNKNOWN },
        { "another type is written", "Cast", "3,5", "FLOAT", "ND", "3,5", "DT_BF16", "ND", 0, 90, NUMBERS_UNKNOWN },
        { "an operator that may read a part", "GatherV2", "3,5;2", "FLOAT;INT64", "ND;ND", "2,5", "FLOAT", "ND", 0, 0,
          NUMBERS_UNKNOWN },
    };
    work_is(row, ROWS(row));
    (void)state;
}

static void what_makes_no_sense_gives_nothing(void **state)
{
    static const struct row row[] = {
        { "shapes that are not a product's", "BatchMatMul", "8,128,1024;8,256,1024", HALF, "8,384,1024", FIRST, 0, 0,
          0 },
        { "an empty one", "MatMul", "0,5;5,7", HALF, "0,7", FIRST, 0, 0, 0 },
        { "one dimension", "MatMul", "5;5", HALF, "1", FIRST, 0, 0, 0 },
        { "more dimensions than there are", "MatMul", "1,1,1,1,1,1,1,1,5;5,7", HALF, "1,7", FIRST, 0, 0, 0 },
        { "a number that is too large", "MatMul", "3,99999999999999999999;5,7", HALF, "3,7", FIRST, 0, 0, 0 },
        { "a negative one", "MatMul", "-3,5;5,7", HALF, "3,7", FIRST, 0, 0, 0 },
        { "no number", "MatMul", "3,x;5,7", HALF, "3,7", FIRST, 0, 0, 0 },
        { "only separators", "MatMul", ";;;", HALF, ";", FIRST, 0, 0, 0 },
        { "unknown shapes", "MatMul", "N/A", "N/A", "N/A", "N/A", "N/A", "N/A", 0, 0, 0 },
        { "no operator", "", "3,5;5,7", HALF, "3,7", FIRST, 0, 0, 0 },
        { "only a version", "V2", "3,5;5,7", HALF, "3,7", FIRST, 0, 0, 0 },
    };
    static char many[4096];
    for (size_t i = 0; i + 5 < sizeof many; i += 4)
        memcpy(many + i, "1,1;", 5);
    const struct row more[] = { { "more tensors than there are", "GroupedMatmul", many, "", "", many, "", "", 0, 0,
                                  0 } };
    work_is(row, ROWS(row));
    work_is(more, ROWS(more));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),
        cmocka_unit_test(groups),
        cmocka_unit_test(convolutions),
        cmocka_unit_test(attentions),
        cmocka_unit_test(operators_of_pytorch),
        cmocka_unit_test(bytes_alone),
        cmocka_unit_test(what_makes_no_sense_gives_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
