/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "base/files/out.h"
#include "folder.h"

static struct out o; /* text in memory, begun anew by say() */

static const char *text(void)
{
    o.buf[o.n] = 0; /* the slack has room for it */
    return o.buf;
}

static int begin(void **state)
{
    struct error e = { 0 };
    (void)state;
    return out_open_memory(&o, &e) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    out_discard(&o);
    return 0;
}

static const char *real(double v)
{
    o.n = 0;
    out_real(&o, v);
    return text();
}

static void integers_print_as_printf_prints_them(void **state)
{
    static const uint64_t row[] = { 0, 1, 9, 10, 99, 100, 101, 12345, INT64_MAX, 1ull << 63, UINT64_MAX };
    char want[64];
    for (size_t i = 0; i < ROWS(row); i++) {
        o.n = 0;
        out_u64(&o, row[i]);
        snprintf(want, sizeof want, "%" PRIu64, row[i]);
        assert_string_equal(text(), want);
        o.n = 0;
        out_i64(&o, (int64_t)row[i]);
        snprintf(want, sizeof want, "%" PRId64, (int64_t)row[i]);
        assert_string_equal(text(), want);
    }
    uint64_t random = RANDOM_SEED;
    for (int i = 0; i < 200000; i++) {
        const uint64_t v = random_next(&random) >> (i % 64);
        o.n = 0;
        out_u64(&o, v);
        snprintf(want, sizeof want, "%" PRIu64, v);
        assert_string_equal(text(), want);
    }
    (void)state;
}

static void microseconds_have_three_decimals_or_as_few_as_do(void **state)
{
    static const struct {
        int64_t ns;
        const char *text, *brief;
    } row[] = {
        { 0, "0.000", "0.0" },
        { 1, "0.001", "0.001" },
        { 10, "0.010", "0.01" },
        { 100, "0.100", "0.1" },
        { 1000, "1.000", "1.0" },
        { 75800, "75.800", "75.8" },
        { 10000, "10.000", "10.0" },
        { -1, "-0.001", "-0.001" },
        { -1500, "-1.500", "-1.5" },
        { 1717200000123456789, "1717200000123456.789", "1717200000123456.789" },
        { INT64_MAX, "9223372036854775.807", "9223372036854775.807" },
        { INT64_MIN, "-9223372036854775.808", "-9223372036854775.808" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        o.n = 0;
        out_us(&o, row[i].ns);
        assert_string_equal(text(), row[i].text);
        o.n = 0;
        out_us_short(&o, row[i].ns);
        assert_string_equal(text(), row[i].brief);
    }
    (void)state;
}

static void reals_print_as_people_write_them(void **state)
{
    static const struct {
        double v;
        const char *text;
    } row[] = {
        { 0, "0.0" },
        { -0.0, "-0.0" },
        { 0.5, "0.5" },
        { 12, "12.0" },
        { -3.25, "-3.25" },
        { 0.1 + 0.2, "0.30000000000000004" },
        { 1.0 / 3, "0.3333333333333333" },
        { 1e-5, "1e-05" },
        { 0.0001, "0.0001" },
        { 123456.789, "123456.789" },
        { 1e15, "1000000000000000.0" },
        { 9007199254740993.0, "9007199254740992.0" },
        { 1e16, "1e+16" },
        { 1.7172e15, "1717200000000000.0" },
        { DBL_MAX, "1.7976931348623157e+308" },
        { 2.2250738585072014e-308, "2.2250738585072014e-308" },
        { INFINITY, "0.0" },
        { -INFINITY, "0.0" },
        { NAN, "0.0" },
    };
    for (size_t i = 0; i < ROWS(row); i++)
        assert_string_equal(real(row[i].v), row[i].text);
    (void)state;
}

/* Times since 1970 in microseconds lie a quarter apart: as printf writes the fewest digits that read back. */
static void times_print_as_printf_prints_them(void **state)
{
    uint64_t random = RANDOM_SEED;
    for (int i = 0; i < 100000; i++) {
        const double v = ldexp((double)(4000000000000000 + random_next(&random) % 5000000000000000), -(i % 3));
        char want[64];
        for (int n = 15; n <= 17; n++) {
            snprintf(want, sizeof want, "%.*g", n, v);
            if (strtod(want, NULL) == v)
                break;
        }
        if (strstr(want, "e+"))
            snprintf(want, sizeof want, "%.1f", v);
        else if (!strchr(want, '.'))
            strcat(want, ".0");
        assert_string_equal(real(v), want);
        assert_string_equal(real(-v) + 1, want);
    }
    (void)state;
}

/* Reads back as the same double, looks like a real, and no shorter %g would have done. */
static void check_real(double v)
{
    const char *t = real(v);
    if (strtod(t, NULL) != v || !strpbrk(t, ".e"))
        fail_msg("%.17g was printed as %s", v, t);
    if (fabs(v) < DBL_MIN)
        return; /* the last of all numbers only have to read back */
    int digits = 0;
    bool leading = true;
    for (const char *p = t; *p && *p != 'e'; p++) {
        leading = leading && (*p == '0' || *p == '.' || *p == '-');
        digits += !leading && *p != '.';
    }
    char shorter[40];
    snprintf(shorter, sizeof shorter, "%.*e", digits > 3 ? digits - 2 : 0, v);
    const size_t len = strlen(t);
    const bool ends_in_zero = len > 1 && t[len - 1] == '0';
    if (digits > 3 && !ends_in_zero && strtod(shorter, NULL) == v)
        fail_msg("%.17g was printed as %s; %s would do", v, t, shorter);
}

static void reals_read_back_as_they_were(void **state)
{
    uint64_t random = RANDOM_SEED;
    for (int i = 0; i < 300000; i++) {
        const uint64_t bits = random_next(&random);
        double v;
        memcpy(&v, &bits, sizeof v);
        if (isfinite(v))
            check_real(v);
        check_real((double)(int64_t)(bits >> (i % 64)) / 1000);           /* microseconds of nanoseconds */
        check_real((double)(bits >> 40) / (double)((bits & 0xFFFF) + 1)); /* averages and ratios */
    }
    (void)state;
}

/* The first of 15, 16 and 17 digits that reads back. */
static const char *printf_real(double v)
{
    static char want[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(want, sizeof want, "%.*g", digits, v);
        if (strtod(want, NULL) == v)
            break;
    }
    return strchr(want, '.') ? want : strcat(want, ".0");
}

static void reals_have_the_digits_that_printf_finds(void **state)
{
    uint64_t random = RANDOM_SEED;
    for (int i = 0; i < 40000; i++) {
        const uint64_t bits = random_next(&random);
        const double least = 0.0001 * pow(10, i % 19), any = least * (1 + 8.9 * (double)(bits >> 11) / 0x1p53);
        const double few = strtod(printf_real(trunc(any * 1e6) / 1e6), NULL);
        const double row[] = { any,
                               nextafter(any, 0),
                               few,
                               nextafter(few, 1e300),
                               ldexp(1, i % 62 - 12),
                               nextafter(ldexp(1, i % 62 - 12), 0),
                               nextafter(ldexp(1, i % 62 - 12), 1e300),
                               least,
                               nextafter(least, 1),
                               nextafter(least, 1e300),
                               (double)(bits >> 30) + 0.5 };
        for (size_t k = 0; k < ROWS(row); k++) {
            if (row[k] < 0.0001 || row[k] >= 1e15)
                continue;
            assert_string_equal(real(row[k]), printf_real(row[k]));
            assert_string_equal(real(-row[k]), printf_real(-row[k]));
        }
    }
    (void)state;
}

static void fixed_decimals_are_printf_s(void **state)
{
    static const double row[] = { 0, 1.45, 2.5, -0.0005, 1e300, 1.0 / 3, DBL_MAX };
    for (size_t i = 0; i < ROWS(row); i++)
        for (int digits = 0; digits < 7; digits++) {
            char want[400];
            snprintf(want, sizeof want, "%.*f", digits, row[i]);
            o.n = 0;
            out_fixed(&o, row[i], digits);
            assert_string_equal(text(), want);
        }
    uint64_t random = RANDOM_SEED;
    for (size_t i = 0; i < 200000; i++) {
        const uint64_t bits = random_next(&random);
        const int digits = (int)(bits % 7);
        /* Quotients, and halves of the last digit and their neighbours, of all sizes. */
        double v = (double)(bits >> (i % 56 + 8)) / (double)(i % 3 ? 2000 : (bits & 0xFFFF) + 1);
        v = i % 5 == 0 ? nextafter(v, 0) : i % 5 == 1 ? nextafter(v, INFINITY) : v;
        char want[400];
        snprintf(want, sizeof want, "%.*f", digits, v);
        o.n = 0;
        out_fixed(&o, v, digits);
        assert_string_equal(text(), want);
    }
    (void)state;
}

static void strings_are_escaped_for_their_file(void **state)
{
    static const struct {
        const char *what, *in;
        size_t len;
        const char *json, *csv;
    } row[] = {
        { "nothing", "", 0, "\"\"", "" },
        { "plain", "aclnnAdd", 8, "\"aclnnAdd\"", "aclnnAdd" },
        { "a comma", "a,b", 3, "\"a,b\"", "\"a,b\"" },
        { "quotes", "a\"b", 3, "\"a\\\"b\"", "\"a\"\"b\"" },
        { "a quote alone", "\"", 1, "\"\\\"\"", "\"\"\"\"" },
        { "a backslash", "a\\b", 3, "\"a\\\\b\"", "a\\b" },
        { "a line break", "a\nb", 3, "\"a\\nb\"", "\"a\nb\"" },
        { "a carriage return", "a\rb", 3, "\"a\\u000db\"", "\"a\rb\"" },
        { "a tab", "a\tb", 3, "\"a\\tb\"", "a\tb" },
        { "control characters", "\1\x1f\x7f", 3, "\"\\u0001\\u001f\\u007f\"", "\1\x1f\x7f" },
        { "an umlaut", "\xc3\xa4", 2, "\"\xc3\xa4\"", "\xc3\xa4" },
        { "three bytes", "\xe7\xae\x97", 3, "\"\xe7\xae\x97\"", "\xe7\xae\x97" },
        { "four bytes", "\xf0\x9f\x98\x80", 4, "\"\xf0\x9f\x98\x80\"", "\xf0\x9f\x98\x80" },
        { "a byte that begins none",
          "a\xff"
          "b",
          3,
          "\"a\xef\xbf\xbd"
          "b\"",
          "a\xff"
          "b" },
        { "a byte that continues none", "\x80", 1, "\"\xef\xbf\xbd\"", "\x80" },
        { "cut at the end", "\xe7\xae", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"", "\xe7\xae" },
        { "overlong slash", "\xc0\xaf", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"", "\xc0\xaf" },
        { "overlong, three bytes", "\xe0\x80\xaf", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"", "\xe0\x80\xaf" },
        { "half of a pair", "\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"", "\xed\xa0\x80" },
        { "beyond the last character", "\xf4\x90\x80\x80", 4, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"",
          "\xf4\x90\x80\x80" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        o.n = 0;
        out_json(&o, row[i].in, row[i].len);
        assert_string_equal(text(), row[i].json);
        o.n = 0;
        out_csv(&o, row[i].in, row[i].len);
        assert_string_equal(text(), row[i].csv);
    }
    o.n = 0;
    out_json(&o, "a\0b", 3);
    assert_string_equal(text(), "\"a\\u0000b\"");
    /* The same in the middle of a longer text, wherever it is. */
    for (size_t i = 0; i < ROWS(row); i++)
        for (size_t before = 0; before < 20; before++)
            for (size_t after = 0; after < 20; after++) {
                static const char plain[] = "abcdefghijklmnopqrst";
                char in[64], want[96];
                memcpy(in, plain, before);
                memcpy(in + before, row[i].in, row[i].len);
                memcpy(in + before + row[i].len, plain, after);
                snprintf(want, sizeof want, "\"%.*s%.*s%.*s\"", (int)before, plain, (int)strlen(row[i].json) - 2,
                         row[i].json + 1, (int)after, plain);
                o.n = 0;
                out_json(&o, in, before + row[i].len + after);
                assert_string_equal(text(), want);
            }
    (void)state;
}

/* Byte by byte, as the rule reads: quoted if it must be, quotes twice, U+FFFD for a NUL. */
static void csv_by_rule(char *to, const char *in, size_t len)
{
    bool is_quoted = false;
    for (size_t i = 0; i < len; i++)
        is_quoted |= in[i] == 0 || strchr(",\"\n\r", in[i]) != NULL;
    if (is_quoted)
        *to++ = '"';
    for (size_t i = 0; i < len; i++) {
        const char *put = in[i] == '"' ? "\"\"" : in[i] == 0 ? "\xef\xbf\xbd" : (char[]){ in[i], 0 };
        to = stpcpy(to, put);
    }
    strcpy(to, is_quoted ? "\"" : "");
}

static void tables_quote_what_they_must(void **state)
{
    static const char kinds[] = "abcdefgh\xe9\xff\x80,\"\n\r"; /* and its NUL */
    uint32_t at = 1;
    for (int i = 0; i < 40000; i++) {
        char in[40], want[200];
        const size_t len = (size_t)(i % 40), n_kinds = i % 3 == 0 ? sizeof kinds : i % 3 == 1 ? 11 : 8;
        for (size_t k = 0; k < len; k++) {
            at = at * 1664525 + 1013904223;
            in[k] = kinds[at >> 8 & 15 ? (at >> 12) % 8 : (at >> 16) % n_kinds];
        }
        csv_by_rule(want, in, len);
        o.n = 0;
        out_csv(&o, in, len);
        assert_string_equal(text(), want);
    }
    (void)state;
}

/* The buffer is full at every possible place of every kind of item. */
static void the_end_of_the_buffer_is_nowhere_special(void **state)
{
    char big[200];
    memset(big, 'y', sizeof big);
    for (size_t short_of = 0; short_of < 120; short_of++) {
        struct error e = { 0 };
        struct out b;
        assert_true(out_open_memory(&b, &e));
        const size_t before = b.cap - short_of;
        for (size_t i = 0; i < before; i++)
            out_char(&b, 'x');
        out_i64(&b, INT64_MIN);
        out_us(&b, INT64_MIN);
        out_us_short(&b, -1717200000123450000);
        out_bytes(&b, big, sizeof big);
        out_real(&b, 1.0 / 3);
        out_char(&b, '!');
        static const char want[] = "-9223372036854775808-9223372036854775.808-1717200000123450.0";
        const size_t len = sizeof want - 1;
        assert_int_equal(b.n, before + len + sizeof big + strlen("0.3333333333333333!"));
        assert_memory_equal(b.buf + before, want, len);
        assert_memory_equal(b.buf + before + len, big, sizeof big);
        assert_memory_equal(b.buf + before + len + sizeof big, "0.3333333333333333!", 19);
        out_discard(&b);
    }
    (void)state;
}

static char *file_text(const char *path)
{
    static char got[64];
    FILE *f = fopen(path, "r");
    if (!f)
        return NULL;
    got[fread(got, 1, sizeof got - 1, f)] = 0;
    fclose(f);
    return got;
}

static void a_file_appears_when_it_is_complete(void **state)
{
    struct error e = { 0 };
    struct out f;
    const char *path = folder_path("result.csv");
    umask(0);
    assert_true(out_open(&f, path, &e));
    out_lit(&f, "hello\n");
    assert_int_not_equal(access(path, F_OK), 0);
    assert_true(out_close(&f, &e));
    assert_string_equal(file_text(path), "hello\n");
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(folder_count(), 1);

    assert_true(out_open(&f, path, &e));
    out_lit(&f, "never");
    out_discard(&f);
    assert_string_equal(file_text(path), "hello\n");
    assert_int_equal(folder_count(), 1);
    (void)state;
}

static void a_full_disk_is_reported_and_leaves_nothing(void **state)
{
    static const struct {
        const char *what;
        size_t bytes;
    } row[] = {
        { "noticed when the file is closed", 20000 },
        { "noticed in the middle", 3000000 },
    };
    const char *path = folder_path("result.csv");
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct error e = { 0 };
        struct out f;
        assert_true(out_open(&f, path, &e));
        folder_limit(10000);
        for (size_t b = 0; b < row[i].bytes; b++)
            out_char(&f, 'x');
        const bool done = out_close(&f, &e);
        folder_limit(0);
        assert_false(done);
        assert_int_equal(e.fault, FAULT_IO);
        assert_non_null(strstr(e.text, path));
        assert_int_equal(folder_count(), 0);
    }
    (void)state;
}

static void a_place_that_cannot_be_written_is_reported(void **state)
{
    struct error e = { 0 };
    struct out f;
    assert_false(out_open(&f, folder_path("no/such/folder/a.csv"), &e));
    assert_int_equal(e.fault, FAULT_IO);
    assert_non_null(strstr(e.text, "no/such/folder/a.csv"));
    out_discard(&f); /* harmless */
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(integers_print_as_printf_prints_them, begin, end),
        cmocka_unit_test_setup_teardown(microseconds_have_three_decimals_or_as_few_as_do, begin, end),
        cmocka_unit_test_setup_teardown(reals_print_as_people_write_them, begin, end),
        cmocka_unit_test_setup_teardown(times_print_as_printf_prints_them, begin, end),
        cmocka_unit_test_setup_teardown(reals_read_back_as_they_were, begin, end),
        cmocka_unit_test_setup_teardown(reals_have_the_digits_that_printf_finds, begin, end),
        cmocka_unit_test_setup_teardown(fixed_decimals_are_printf_s, begin, end),
        cmocka_unit_test_setup_teardown(strings_are_escaped_for_their_file, begin, end),
        cmocka_unit_test_setup_teardown(tables_quote_what_they_must, begin, end),
        cmocka_unit_test(the_end_of_the_buffer_is_nowhere_special),
        cmocka_unit_test_setup_teardown(a_file_appears_when_it_is_complete, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_full_disk_is_reported_and_leaves_nothing, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_place_that_cannot_be_written_is_reported, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
