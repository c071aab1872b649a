/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "load/prof/text.h"

static void a_line_falls_into_words_at_blanks(void **state)
{
    static const struct {
        const char *what, *line;
        const char *words[4];
        size_t n;
    } row[] = {
        { "nothing", "", { 0 }, 0 },
        { "only blanks", " \t\r ", { 0 }, 0 },
        { "one word", "cpu", { "cpu" }, 1 },
        { "blanks around", "  cpu \r", { "cpu" }, 1 },
        { "tabs and blanks", "a\tb  c", { "a", "b", "c" }, 3 },
        { "more words than are wanted", "a b c d e f", { "a", "b", "c", "d" }, 4 },
        { "bytes of no alphabet", "\xff \x80", { "\xff", "\x80" }, 2 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        const size_t len = strlen(row[i].line);
        char *line = malloc(len + 1); /* one byte: malloc(0) would have no end to watch */
        memcpy(line, row[i].line, len);
        struct word word[4];
        assert_int_equal(line_words(line, len, word, 4), row[i].n);
        for (size_t k = 0; k < row[i].n; k++)
            assert_true(word_is(word[k], row[i].words[k]));
        free(line);
    }
    assert_false(word_is((struct word){ "cpu", 3 }, "cp"));
    assert_false(word_is((struct word){ "cpu", 3 }, "cpu0"));
    assert_true(word_is((struct word){ "", 0 }, ""));
    (void)state;
}

static void numbers_are_whole_words(void **state)
{
    static const struct {
        const char *what, *word;
        size_t len;
        bool is_u64, is_real;
        uint64_t u;
        double f;
    } row[] = {
        { "nothing", "", 0, false, false, 0, 0 },
        { "zero", "0", 1, true, true, 0, 0 },
        { "leading zeros", "007", 3, true, true, 7, 7 },
        { "the largest", "18446744073709551615", 20, true, true, UINT64_MAX, 1.8446744073709551615e19 },
        { "one too many", "18446744073709551616", 20, false, true, 0, 1.8446744073709551616e19 },
        { "ten times too many", "99999999999999999999", 20, false, true, 0, 99999999999999999999.0 },
        { "a sign", "-1", 2, false, true, 0, -1 },
        { "a point", "1.5", 3, false, true, 0, 1.5 },
        { "an exponent", "1e3", 3, false, true, 0, 1000 },
        { "a unit", "12kB", 4, false, false, 0, 0 },
        { "infinite", "inf", 3, false, false, 0, 0 },
        { "too large for a double", "1e999", 5, false, false, 0, 0 },
        { "not a number", "nan", 3, false, false, 0, 0 },
        { "a NUL inside", "1\0002", 3, false, false, 0, 0 },
        { "the word ends before", "123", 2, true, true, 12, 12 },
        { "longer than any number", "00000000000000000000000000000000000000000000000000000000000000001", 65, true,
          false, 1, 0 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        const struct word w = { row[i].word, row[i].len };
        uint64_t u = 0;
        double f = 0;
        assert_int_equal(word_u64(w, &u), row[i].is_u64);
        assert_int_equal(word_real(w, &f), row[i].is_real);
        if (row[i].is_u64)
            assert_true(u == row[i].u);
        if (row[i].is_real)
            assert_true(f == row[i].f);
    }
    (void)state;
}

static void slices_are_joined_before_lines_are_cut(void **state)
{
    static const struct {
        const char *what;
        size_t n;
        const char *slice[3];
        const char *lines[4];
        size_t n_lines, gap; /* gap: slices that are missing before the last one */
    } row[] = {
        { "one slice", 1, { "a\nb\n" }, { "a", "b" }, 2, 0 },
        { "no newline at the end", 1, { "a\nb" }, { "a", "b" }, 2, 0 },
        { "an empty line counts", 1, { "a\n\nb\n" }, { "a", "", "b" }, 3, 0 },
        { "a line across three slices", 3, { "a", "b", "c\nd" }, { "abc", "d" }, 2, 0 },
        { "an empty slice between", 3, { "a\n", "", "b\n" }, { "a", "b" }, 2, 0 },
        { "slices are missing", 3, { "a\n", "b\n", "c\n" }, { "a", "b", "c" }, 3, 4 },
        { "all empty", 2, { "", "" }, { 0 }, 0, 0 },
        { "one empty", 1, { "" }, { 0 }, 0, 0 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct slice slice[3] = { 0 };
        for (size_t k = 0; k < row[i].n; k++) {
            slice[k].size = strlen(row[i].slice[k]);
            slice[k].number = (uint32_t)(k + (k + 1 == row[i].n ? row[i].gap : 0));
            slice[k].data = slice[k].size ? (const uint8_t *)row[i].slice[k] : NULL; /* as an empty file is mapped */
        }
        struct stream stream = { .family = "t", .slice = slice, .n_slices = row[i].n };
        struct source s = { .path = "sample", .stream = &stream, .mem = arena_new() };
        struct bytes b;
        struct error e = { 0 };
        assert_true(stream_text(&s, &stream, &b, &e));
        size_t n = 0, len;
        for (const char *line; (line = bytes_line(&b, &len)); n++) {
            assert_true(n < row[i].n_lines);
            assert_int_equal(len, strlen(row[i].lines[n]));
            assert_memory_equal(line, row[i].lines[n], len);
        }
        assert_int_equal(n, row[i].n_lines);
        assert_int_equal(s.lost.by[LOSS_MISSING_SLICE].n, row[i].gap);
        arena_free(s.mem);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_falls_into_words_at_blanks),
        cmocka_unit_test(numbers_are_whole_words),
        cmocka_unit_test(slices_are_joined_before_lines_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
