/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/utf8.h"

#include "test.h"

static void bytes_that_are_no_text_are_replaced_one_for_one(void **state)
{
    static const struct {
        const char *what, *in, *out;
    } row[] = {
        { "nothing", "", "" },
        { "plain text", "a mark that is longer than a word", "a mark that is longer than a word" },
        { "other letters", "Größe ★ 大小 😀", "Größe ★ 大小 😀" },
        { "a byte of another encoding",
          "Gr\xf6\xdf"
          "e",
          "Gr??e" },
        { "behind the first words", "0123456789abcdef\xff", "0123456789abcdef?" },
        { "a character that is cut", "a\xe5\xa4", "a??" },
        { "half of a pair", "\xed\xa0\x80", "???" },
        { "longer than it need be", "\xc0\xaf", "??" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char out[64] = { 0 };
        print_message("  %s\n", row[i].what);
        utf8_copy(out, row[i].in, strlen(row[i].in));
        assert_string_equal(out, row[i].out);
    }
    (void)state;
}

static void what_a_terminal_would_obey_is_not_shown(void **state)
{
    static const struct {
        const char *what, *in;
        size_t len;
        bool is_shown;
    } row[] = {
        { "a letter", "a", 1, true },
        { "escape", "\x1b[31m", 1, false },
        { "delete", "\x7f", 1, false },
        { "a letter of two bytes", "ö", 2, true },
        { "U+009B, which is ESC [", "\xc2\x9b", 2, false },
        { "the first behind these", "\xc2\xa0", 2, true },
        { "the same as a single byte", "\x9b", 1, false },
        { "a byte of another encoding", "\xf6", 1, true },
        { "a character that is cut", "\xe5\xa4", 1, true },
        { "Chinese", "大小", 3, true },
        { "from right to left", "\xe2\x80\xae", 3, false },
        { "an isolate", "\xe2\x81\xa6", 3, false },
        { "the dash before these", "\xe2\x80\x93", 3, true },
        { "a character of four bytes", "😀", 4, true },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        bool is_shown;
        print_message("  %s\n", row[i].what);
        assert_int_equal(utf8_shown(row[i].in, &is_shown), row[i].len);
        assert_int_equal(is_shown, row[i].is_shown);
    }
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = { cmocka_unit_test(bytes_that_are_no_text_are_replaced_one_for_one),
                                               cmocka_unit_test(what_a_terminal_would_obey_is_not_shown) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
