/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/memory_timeline/op_schemas.h"

static void the_table_can_be_searched(void **state)
{
    assert_true(n_op_schemas > 2000);
    for (size_t i = 0; i < n_op_schemas; i++) {
        assert_non_null(strstr(op_schema_table[i].name, "::"));
        if (i > 0)
            assert_true(strcmp(op_schema_table[i - 1].name, op_schema_table[i].name) < 0);
        assert_int_equal(strspn(op_schema_table[i].overloads, "atolpsATOLPS ."), strlen(op_schema_table[i].overloads));
        for (const char *o = op_schema_table[i].overloads; *o; o += strspn(o, " ")) {
            assert_true(strcspn(o, " ") <= OP_SCHEMA_MOST_INPUTS);
            o += strcspn(o, " ");
        }
    }
    assert_null(op_schema_find("aten::nothing_of_this_name"));
    assert_null(op_schema_find(""));
    (void)state;
}

/* n none, s other, t tensor, l list of tensors, b list with holes */
static void overloads_say_what_is_written(void **state)
{
    static const struct {
        const char *what, *name, *inputs;
        bool matches;
        uint64_t written;
    } row[] = {
        { "a sum of two", "aten::add", "tts", true, 0 },
        { "of a tensor and a number", "aten::add", "tss", true, 0 },
        { "into another", "aten::add", "ttst", true, 1 << 3 },
        { "in place", "aten::add_", "tts", true, 1 },
        { "too few inputs", "aten::add_", "t", false, 0 },
        { "a list where there is none", "aten::add_", "tls", false, 0 },
        { "a matrix product of a layer", "aten::addmm", "tttss", true, 0 },
        { "a bias that is there", "aten::linear", "ttt", true, 0 },
        { "a bias that is not", "aten::linear", "ttn", true, 0 },
        { "a number is no bias", "aten::linear", "tts", false, 0 },
        { "a list of tensors", "aten::cat", "ls", true, 0 },
        { "a list with holes is not a list", "aten::cat", "bs", false, 0 },
        { "a list that is written to", "aten::_foreach_add_", "lls", true, 1 },
        { "what may be left out, may", "aten::empty", "snnnnn", true, 0 },
        { "an optimizer in one kernel", "aten::_fused_adamw_", "llllllsssssssnn", true, 0x1f },
        { "its learning rate as a tensor, and its scaler", "aten::_fused_adamw_", "lllllltsssssstt", true, 0x1f },
        { "momentum", "aten::_fused_sgd_", "lllsssssssnn", true, 7 },
        { "the same number for a list", "aten::_foreach_mul_", "lt", true, 1 },
        { "attention in one kernel", "aten::_scaled_dot_product_flash_attention", "tttssss", true, 0 },
        { "its backward pass on a CPU", "aten::_scaled_dot_product_flash_attention_for_cpu_backward", "ttttttssns",
          true, 0 },
        { "a product of 8 bits", "aten::_scaled_mm", "ttttnnss", true, 0 },
        { "attention of an NPU", "npu::npu_fusion_attention", "tttssnnnssssssssssssnnss", true, 0 },
        { "a format of an NPU", "npu::npu_format_cast_", "tsss", true, 1 },
        { "running means and variances", "aten::batch_norm", "tttttssss", true, 0 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        static const uint8_t kind_of['z'] = { ['n'] = INPUT_NONE,
                                              ['s'] = INPUT_OTHER,
                                              ['t'] = INPUT_TENSOR,
                                              ['l'] = INPUT_TENSORS,
                                              ['b'] = INPUT_SOME_TENSORS };
        const size_t n = strlen(row[i].inputs);
        uint8_t kind[OP_SCHEMA_MOST_INPUTS];
        uint64_t written;
        print_message("  %s\n", row[i].what);
        for (size_t k = 0; k < n; k++)
            kind[k] = kind_of[(unsigned char)row[i].inputs[k]];
        const struct op_schema *s = op_schema_find(row[i].name);
        assert_non_null(s);
        assert_int_equal(op_schema_match(s, kind, n, &written), row[i].matches);
        if (row[i].matches)
            assert_int_equal(written, row[i].written);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_can_be_searched),
        cmocka_unit_test(overloads_say_what_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
