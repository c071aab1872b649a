/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "cluster/modes/mode_parts.h"

enum { MS = 1000000, MOST = 6 };
struct task {
    const char *name; /* NULL: behind the last */
    int64_t begin_ms, ms;
};

static void fill(struct walk_tasks *t, const struct task *task, struct names *names, struct arena *mem)
{
    for (; task->name; task++)
        *(struct walk_task *)list_add(&t->list, mem) =
            (struct walk_task){ task->begin_ms * MS, task->ms * MS, names_addz(names, task->name) };
}

static void tasks_are_paired_backwards_until_both_were_in_step(void **state)
{
    static const struct {
        const char *what;
        struct task slow[MOST], fast[MOST];
        int64_t shift_ms;
        const char *longest, *latest; /* NULL: never in step */
        int64_t longest_ms, latest_ms;
    } row[] = {
        { "nothing to compare", { { 0 } }, { { 0 } }, 0, NULL, NULL, 0, 0 },
        { "the last task took longer",
          { { "a", 0, 5 }, { "b", 5, 20 }, { "c", 25, 5 } },
          { { "a", 0, 5 }, { "b", 5, 5 }, { "c", 10, 5 } },
          0,
          "b",
          "c",
          15,
          15 },
        { "what lies before the common begin does not count",
          { { "b", 0, 90 }, { "a", 100, 5 }, { "b", 105, 6 } },
          { { "b", 50, 1 }, { "a", 100, 5 }, { "b", 103, 5 } },
          0,
          "b",
          "b",
          1,
          2 },
        { "a task that the fast rank has not is passed over",
          { { "a", 0, 5 }, { "other", 5, 50 }, { "b", 55, 5 } },
          { { "a", 0, 5 }, { "b", 5, 5 } },
          0,
          "b",
          "b",
          0,
          50 },
        { "the same name goes on where the last one was",
          { { "a", 0, 1 }, { "a", 10, 2 }, { "a", 30, 9 } },
          { { "a", 0, 1 }, { "a", 5, 1 }, { "a", 9, 1 } },
          0,
          "a",
          "a",
          8,
          21 },
        { "clocks apart", { { "a", 1000, 5 } }, { { "a", 0, 4 } }, -1000, "a", "a", 1, 0 },
        { "never in step", { { "a", 10, 5 }, { "b", 20, 5 } }, { { "a", 0, 5 }, { "b", 5, 5 } }, 0, NULL, NULL, 0, 0 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct arena *mem = arena_new();
        struct names *names = names_new();
        struct walk_tasks slow = { 0 }, fast = { 0 };
        struct walk_difference d;
        print_message("  %s\n", row[i].what);
        fill(&slow, row[i].slow, names, mem);
        fill(&fast, row[i].fast, names, mem);
        const bool was_in_step = task_walk(&slow, &fast, row[i].shift_ms * MS, &d, mem);
        assert_int_equal(was_in_step, row[i].longest != NULL);
        if (was_in_step) {
            assert_string_equal(names_text(names, d.longest), row[i].longest);
            assert_string_equal(names_text(names, d.latest), row[i].latest);
            assert_int_equal(d.longest_ns, row[i].longest_ms * MS);
            assert_int_equal(d.latest_ns, row[i].latest_ms * MS);
        }
        names_free(names);
        arena_free(mem);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(tasks_are_paired_backwards_until_both_were_in_step) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
