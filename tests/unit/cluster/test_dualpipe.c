/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "cluster/modes/mode_parts.h"

/* Names and phases are those of msprof-analyze's pp_chart. */
static void passes_of_a_stage_in_their_order(void **state)
{
    static const struct {
        const char *what;
        int64_t stages, batches, stage;
        const char *wanted;
    } row[] = {
        { "a single stage computes the loss", 1, 2, 0, "0:1 2:1 logits:3 1F:3 2B:3 3F+0B:3 logits:5 3B:5 1B:6" },
        { "the first of two", 2, 4, 0,
          "0:0 1:0 2:1 4:1 logits:2 4b:2 4w:2 5:2 logits:3 3F+5B:3 6F+0B:3 logits:4 6B:4 7F+1B:4 logits:5 7B:5 2B:6 3B:6" },
        { "the last of two does its first pair one behind the other", 2, 4, 1,
          "0:1 4:1 1:1 5:1 2F:3 4B:3 6F+0B:3 3F+5B:3 7F+1B:3 6B:5 2B:5 7B:6 3B:6" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct arena *mem = arena_new();
        struct dualpipe d = { 0 };
        char text[1000] = "";
        print_message("  %s\n", row[i].what);
        assert_true(dualpipe_stage(&d, row[i].stages, row[i].batches, row[i].stage, mem));
        for (size_t k = 0, used = 0; k < d.passes.n; k++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s:%d", k ? " " : "", d.passes.at[k].name,
                                     d.passes.at[k].phase);
        assert_string_equal(text, row[i].wanted);
        arena_free(mem);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(passes_of_a_stage_in_their_order) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
