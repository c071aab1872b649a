/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/framework/steps/iteration.h"

static void a_name_says_what_it_is(void **state)
{
    /* clang-format off */
    static const struct { const char *name, *says; } row[] = {
        { "execute_context_0(0)_generation_2(2)", "decode 2 2 0" },
        { "execute_context_3(192)_generation_0(0)", "prefill 3 192 0" },
        { "execute_context_1(512)_generation_7(7)", "mixed 8 519 0" },
        { "execute_context_0(0)_generation_0(0)", "idle 0 0 0" },
        { "execute_515_context_1(sq512sk600sqsq262144sqsk307200)_generation_3(sq3sk90sqsq3sqsk90)", "mixed 4 515 690" },
        { "execute_new_context_1(512)_generation_7(7)", "mixed 8 519 0" },
        { "step[EXTEND bs=2 toks=700]", "prefill 2 700 0" },
        { "step[DECODE bs=5]", "decode 5 5 0" },
        { "step[DECODE bs=5 g_sq=5 g_sqsq=5 g_sqsk=400 g_sk=400]", "decode 5 5 400" },
        { "step[MIXED bs=6 toks=300 c=1 g=5]", "mixed 6 300 0" },
        { "step[TARGET_VERIFY bs=4]", "decode 4 0 0" },
        { "step[IDLE bs=0]", "idle 0 0 0" },
        { "prefill", "prefill 0 0 0" },
        { "decode 17", "decode 0 0 0" },
        { "decode bs=4", "decode 4 4 0" },
        { "Prefill (tokens=99)", "prefill 0 99 0" },
        { "train_step", "other 0 0 0" },
        { "decoder_layer", "other 0 0 0" },
        { "", "other 0 0 0" },
        { "execute_context_", "other 0 0 0" },
        { "execute_generation_1(1)_context_1(1)", "other 0 0 0" },
        { "execute_context_1(_generation_1(1)", "other 0 0 0" },
        { "execute_context_x(1)_generation_1(1)", "other 0 0 0" },
        { "execute_context_1(sq)_generation_1(1)", "other 0 0 0" },
        { "execute_context_0(0)_generation_1(1", "other 0 0 0" },
        { "execute_context_0(0)_generation_99999999999999999999999(2)", "idle 0 2 0" },
        { "step[", "other 0 0 0" },
        { "step[DECODE bs=", "decode 0 0 0" },
        { "step[DECODE bs=-3]", "decode 0 0 0" },
        { "step[DECODE xbs=3]", "decode 0 0 0" },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        char says[120];
        const struct iteration x = iteration_of(row[i].name);
        snprintf(says, sizeof says, "%s %llu %llu %llu", iteration_class_keys[x.class_of],
                 (unsigned long long)x.requests, (unsigned long long)x.tokens, (unsigned long long)x.kv);
        print_message("  %s\n", row[i].name);
        assert_string_equal(says, row[i].says);
    }
    (void)state;
}

static void classes_are_numbered_without_gaps(void **state)
{
    const struct iteration v[] = { { ITERATION_DECODE, 2, 2, 0 }, { ITERATION_MIXED, 3, 0, 0 }, { 0 } };
    uint32_t class_of[ROWS(v)];
    double size[ROWS(v)];
    assert_true(iterations_sort(v, ROWS(v), class_of, size));
    assert_int_equal(class_of[2], 0);
    assert_int_equal(class_of[0], 1);
    assert_int_equal(class_of[1], 2);
    assert_true(size[0] == 2 && size[1] == 3 && size[2] == 0);
    assert_true(iterations_sort(v, 1, class_of, size));
    assert_false(iterations_sort(v + 2, 1, class_of, size));
    assert_false(iterations_sort(v, 0, class_of, size));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_says_what_it_is),
        cmocka_unit_test(classes_are_numbered_without_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
