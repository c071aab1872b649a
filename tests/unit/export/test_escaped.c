/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "export/trace_split.h"

static void escaped_names_read_as_those_that_are_not_kept(void **state)
{
    static const char *const text[] = { "aten::add", "a\"b\\c", "line;\r\nline", "\xc3\xa4 and \x01", "" };
    struct names *names = names_new();
    struct error e = { 0 };
    struct out kept, made;
    (void)state;
    assert_true(out_open_memory(&kept, &e) && out_open_memory(&made, &e));
    for (size_t i = 0; i < ROWS(text); i++)
        names_addz(names, text[i]);
    struct escaped *escaped = escaped_new(names);
    assert_non_null(escaped);
    names_addz(names, "later \"than\" the others");
    for (name_id i = 0; i < names_count(names); i++) {
        escaped_write(escaped, names, i, &kept);
        escaped_write(NULL, names, i, &made);
    }
    assert_int_equal(kept.n, made.n);
    assert_memory_equal(kept.buf, made.buf, made.n);
    out_discard(&kept);
    out_discard(&made);
    escaped_free(escaped);
    names_free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escaped_names_read_as_those_that_are_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
