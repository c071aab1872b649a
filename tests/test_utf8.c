/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

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

int main(void)
{
    static const struct CMUnitTest tests[] = { cmocka_unit_test(bytes_that_are_no_text_are_replaced_one_for_one) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
