/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "base/text/error.h"

static void the_first_error_is_kept(void **state)
{
    (void)state;
    struct error e = { 0 };
    assert_false(error_set(&e, FAULT_IO, "the cause"));
    assert_false(error_set(&e, FAULT_FORMAT, "its echo"));
    assert_int_equal(e.fault, FAULT_IO);
    assert_string_equal(e.text, "the cause");
}

static void a_long_path_does_not_hide_what_is_wrong_with_it(void **state)
{
    (void)state;
    for (size_t len = 300; len < 6000; len += 7) {
        char path[6000];
        memset(path, 'x', len);
        memcpy(path, "/begin", 6);
        path[len] = 0;
        struct error e = { 0 };
        error_set(&e, FAULT_IO, "%.4500s: cannot be read", path);
        assert_memory_equal(e.text, "/begin", 6);
        assert_string_equal(e.text + strlen(e.text) - 16, ": cannot be read");
        assert_true(strlen(e.text) < sizeof e.text);
        struct error no_memory = { 0 };
        error_no_memory(&no_memory, path);
        assert_non_null(strstr(no_memory.text, ": out of memory; free some memory and try again"));
    }
}

static void no_memory_says_what_to_do_and_says_it_once(void **state)
{
    (void)state;
    struct error e = { 0 }, passed_on = { 0 };
    assert_false(error_no_memory(&e, "a"));
    assert_int_equal(e.fault, FAULT_LIMIT);
    error_set(&passed_on, e.fault, "%s", e.text);
    assert_string_equal(passed_on.text, "a: out of memory; free some memory and try again");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_error_is_kept),
        cmocka_unit_test(a_long_path_does_not_hide_what_is_wrong_with_it),
        cmocka_unit_test(no_memory_says_what_to_do_and_says_it_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
