/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ascope/schedule.h"

static unsigned n_warnings;

static void count_warning(enum ascope_severity severity, const char *text, void *user)
{
    (void)text;
    (void)user;
    n_warnings += severity == ASCOPE_WARNING;
}

/* "-" none, "w" warm-up, "r" record, "s" record and save: the steps from 0 on. */
static void actions_follow_the_plan(void **state)
{
    static const struct {
        const char *what;
        struct ascope_schedule plan;
        const char *actions;
    } row[] = {
        { "one step, again and again", { .active = 1 }, "ssssss" },
        { "repeat 0 never ends", { .wait = 1, .warmup = 1, .active = 2 }, "-wrs-wrs-wrs" },
        { "once", { .wait = 1, .warmup = 1, .active = 2, .repeat = 1 }, "-wrs--------" },
        { "twice", { .wait = 1, .warmup = 1, .active = 2, .repeat = 2 }, "-wrs-wrs----" },
        { "after the first three",
          { .wait = 1, .warmup = 1, .active = 2, .repeat = 1, .skip_first = 3 },
          "----wrs-----" },
        { "no waiting at the first cycle",
          { .wait = 2, .warmup = 1, .active = 1, .repeat = 2, .skip_first_wait = 1 },
          "ws--ws------" },
        { "skipped, and no waiting", { .wait = 1, .active = 1, .skip_first = 2, .skip_first_wait = 1 }, "--s-s-s-" },
        { "a first wait of any number but 0", { .wait = 2, .active = 1, .skip_first_wait = -5 }, "s--s--s" },
        { "no warm-up", { .wait = 2, .active = 3 }, "--rrs--rrs" },
        { "no wait", { .warmup = 2, .active = 1, .repeat = 3 }, "wwswwswws---" },
        { "long", { .active = 5, .repeat = 1 }, "rrrrs-----" },
    };
    static const char letter[] = {
        [ASCOPE_NONE] = '-', [ASCOPE_WARMUP] = 'w', [ASCOPE_RECORD] = 'r', [ASCOPE_RECORD_AND_SAVE] = 's'
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        print_message("  %s\n", row[i].what);
        struct ascope_schedule plan = row[i].plan;
        plan.size = sizeof plan;
        for (size_t step = 0; row[i].actions[step]; step++)
            assert_int_equal(letter[ascope_schedule_action(&plan, step)], row[i].actions[step]);
    }
    (void)state;
}

static void enormous_numbers_do_no_harm(void **state)
{
    const struct ascope_schedule all = { sizeof all, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, 0, 0, 0 };
    assert_int_equal(ascope_schedule_action(&all, UINT64_MAX), ASCOPE_RECORD);
    const struct ascope_schedule none = { .size = sizeof none }, below = { sizeof below, -1, -1, -1, -1, -1, 0, 0 };
    assert_int_equal(ascope_schedule_action(&none, 5), ASCOPE_RECORD_AND_SAVE); /* active is 1 at least */
    assert_int_equal(ascope_schedule_action(&below, UINT64_MAX), ASCOPE_RECORD_AND_SAVE);
    (void)state;
}

static void wrong_numbers_become_defaults(void **state)
{
    static const struct {
        const char *what;
        struct ascope_schedule in, out;
        unsigned warnings;
    } row[] = {
        { "nothing wrong", { 0, 1, 2, 1, 3, 4, 1, 7 }, { 0, 1, 2, 1, 3, 4, 1, 7 }, 0 },
        { "no warm-up is reported", { 0, 1, 2, 0, 3, 4, 0, 7 }, { 0, 1, 2, 0, 3, 4, 0, 7 }, 1 },
        { "active is at least 1", { 0, 0, 0, 1, 0, 0, 0, 7 }, { 0, 0, 1, 1, 0, 0, 0, 7 }, 1 },
        { "all below 0", { 0, -1, -1, -1, -1, -1, -1, 7 }, { 0, 0, 1, 0, 0, 0, -1, 7 }, 6 },
    };
    ascope_on_message(count_warning, NULL);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct ascope_schedule s = row[i].in;
        s.size = sizeof s;
        print_message("  %s\n", row[i].what);
        n_warnings = 0;
        ascope_schedule_check(&s);
        assert_int_equal(s.size, sizeof s);
        assert_memory_equal(&s.wait, &row[i].out.wait, sizeof s - offsetof(struct ascope_schedule, wait));
        assert_int_equal(n_warnings, row[i].warnings);
    }
    ascope_on_message(NULL, NULL);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(actions_follow_the_plan),
        cmocka_unit_test(enormous_numbers_do_no_harm),
        cmocka_unit_test(wrong_numbers_become_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
