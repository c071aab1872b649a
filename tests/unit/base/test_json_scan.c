/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json_scan.h"

#include <math.h>

#include "base/text/stamp.h"
#include "guarded.h"
#include "test.h"

static struct json_span span_of(const char *text)
{
    return (struct json_span){ text, strlen(text) };
}

static void numbers_are_exact_decimals(void **state)
{
    static const struct {
        const char *what, *in;
        unsigned decimals;
        bool ok;
        int64_t out;
    } row[] = {
        { "whole microseconds", "130", 3, true, 130000 },
        { "three decimals", "1000000000010.001", 3, true, 1000000000010001 },
        { "nineteen digits, which no double holds", "1794789512999998.123", 3, true, 1794789512999998123 },
        { "zeros may be missing", "68.0", 3, true, 68000 },
        { "more decimals are rounded", "0.0005", 3, true, 1 },
        { "down, too", "0.00049999999999999999999999999999999999999999", 3, true, 0 },
        { "eighteen digits without a point", "999999999999999999", 0, true, 999999999999999999 },
        { "a negative one", "-1.5", 3, true, -1500 },
        { "rounded away from zero", "-0.0005", 3, true, -1 },
        { "a text", "\"1700000000000000.123\"", 3, true, 1700000000000000123 },
        { "an exponent", "1.5e3", 3, true, 1500000 },
        { "a negative exponent", "15E-1", 3, true, 1500 },
        { "an exponent of nothing", "0e999999999999999999999", 3, true, 0 },
        { "far below a nanosecond", "1e-999999999", 3, true, 0 },
        { "the largest", "4611686018427387903", 0, true, STAMP_MOST },
        { "one more", "4611686018427387904", 0, false, 0 },
        { "huge", "1e300", 3, false, 0 },
        { "many digits", "99999999999999999999999999999999999999999999999999999999999999", 3, false, 0 },
        { "no number", "NaN", 3, false, 0 },
        { "infinite", "-Infinity", 3, false, 0 },
        { "nothing", "", 3, false, 0 },
        { "an empty text", "\"\"", 3, false, 0 },
        { "a sign", "-", 3, false, 0 },
        { "a point", ".", 3, false, 0 },
        { "two points", "1.2.3", 3, false, 0 },
        { "an exponent without digits", "1e", 3, false, 0 },
        { "something behind it", "12x", 3, false, 0 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        int64_t out = 0;
        print_message("  %s\n", row[i].what);
        assert_int_equal(json_fixed(span_of(row[i].in), row[i].decimals, &out), row[i].ok);
        assert_int_equal(row[i].ok ? out : 0, row[i].out);
    }
    int64_t nothing;
    uint64_t u;
    double f;
    assert_false(json_fixed((struct json_span){ 0 }, 3, &nothing)); /* as json_find() returns it */
    assert_true(json_u64(span_of("18446744073709551615"), &u) && u == UINT64_MAX);
    assert_false(json_u64(span_of("18446744073709551616"), &u));
    assert_false(json_u64(span_of("01"), &u)); /* as a text it is another id than 1 */
    assert_true(json_double(span_of("-Infinity"), &f) && isinf(f));
    assert_false(json_double(span_of("N/A"), &f));
    (void)state;
}

static void texts_are_decoded(void **state)
{
    static const struct {
        const char *what, *in, *out;
    } row[] = {
        { "plain", "\"a b\"", "a b" },
        { "escapes", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t" },
        { "a code", "\"\\u00e9\\u20AC\"", "\xC3\xA9\xE2\x82\xAC" },
        { "a pair", "\"\\ud83d\\ude00\"", "\xF0\x9F\x98\x80" },
        { "half a pair", "\"\\ud83dx\\ude00\"", "\xEF\xBF\xBDx\xEF\xBF\xBD" },
        { "half a code", "\"\\u12\"", "\\u12" },
        { "no escape", "\"C:\\dir\\x\"", "C:\\dir\\x" },
        { "a scalar", "12.5", "12.5" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        char out[64];
        print_message("  %s\n", row[i].what);
        const size_t n = json_decode(span_of(row[i].in), out);
        assert_true(n <= strlen(row[i].in));
        assert_int_equal(n, strlen(row[i].out));
        assert_memory_equal(out, row[i].out, n);
    }
    (void)state;
}

/* What is at the keys of an object, one after the other, with '|' behind each; '!' and the place where the scan was
 * stuck. */
static void describe(const char *in, bool repairs, char *out, size_t size)
{
    const size_t len = strlen(in);
    const char *text = (const char *)guarded_copy(in, len);
    struct json_scan s;
    struct json_span key, value;
    size_t n = 0;
    out[0] = 0;
    if (json_enter(&s, text, text + len, '{')) {
        s.repairs = repairs;
        while (json_next_key(&s, &key) && json_pass(&s, &value))
            n += (size_t)snprintf(out + n, size - n, "%.*s=%.*s|", (int)key.len, key.at, (int)value.len, value.at);
    }
    if (s.is_stuck)
        snprintf(out + n, size - n, "!%zu", (size_t)(s.at - text));
    guarded_free((const uint8_t *)text, len);
}

static void objects_are_walked(void **state)
{
    static const struct {
        const char *what, *in, *strict, *repaired; /* NULL: the same */
    } row[] = {
        { "empty", "{}", "", NULL },
        { "values of all kinds",
          "{\"a\": 1, \"b\": \"x\", \"c\": [1, {\"d\": []}], \"e\": NaN, \"f\": N/A, \"g\":-Infinity}",
          "\"a\"=1|\"b\"=\"x\"|\"c\"=[1, {\"d\": []}]|\"e\"=NaN|\"f\"=N/A|\"g\"=-Infinity|", NULL },
        { "a comma in front of the end", "{\"a\": [1,],}", "\"a\"=[1,]|", NULL },
        { "brackets in a text", "{\"a\": \"]}{\"}", "\"a\"=\"]}{\"|", NULL },
        { "a quote that is not escaped", "{\"a\": \"x\"y\", \"b\": 1}", "\"a\"=\"x\"|!9", "\"a\"=\"x\"y\"|\"b\"=1|" },
        { "one at the end of a text", "{\"a\": \"f(\"x\")\", \"b\": 1}", "\"a\"=\"f(\"|!10",
          "\"a\"=\"f(\"x\")\"|\"b\"=1|" },
        { "one in an array", "{\"a\": [\"x\"y\", 2]}", "!10", "\"a\"=[\"x\"y\", 2]|" },
        { "one in a key", "{\"a\"b\": 1}", "!4", "\"a\"b\"=1|" },
        { "a control character", "{\"a\": \"x\ty\"}", "!8", "\"a\"=\"x\ty\"|" },
        { "a path that ends with a backslash", "{\"a\": \"C:\\\", \"b\": 1}", "\"a\"=\"C:\\\", \"|!14",
          "\"a\"=\"C:\\\"|\"b\"=1|" },
        { "no comma", "{\"a\": 1 \"b\": 2}", "\"a\"=1|!8", NULL },
        { "no key", "{1: 2}", "!1", NULL },
        { "no value", "{\"a\": }", "!6", NULL },
        { "wrong brackets", "{\"a\": [1}}", "!8", NULL },
        { "cut in a key", "{\"a", "!3", NULL },
        { "cut in a text", "{\"a\": \"x\\", "!9", NULL },
        { "cut in an array", "{\"a\": [1, ", "!10", NULL },
        { "cut behind a value", "{\"a\": 1", "\"a\"=1|!7", NULL },
        { "no object", "[]", "!0", NULL },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        char out[400];
        print_message("  %s\n", row[i].what);
        describe(row[i].in, false, out, sizeof out);
        assert_string_equal(out, row[i].strict);
        describe(row[i].in, true, out, sizeof out);
        assert_string_equal(out, row[i].repaired ? row[i].repaired : row[i].strict);
    }
    (void)state;
}

static void deep_nesting_is_refused(void **state)
{
    enum { DEEPEST = JSON_DEPTH, DEEP = 1 << 20 };
    static char text[2 * DEEP + 1];
    static const struct {
        size_t depth;
        bool ok;
    } row[] = { { 64, true }, { 65, true }, { DEEPEST, true }, { DEEPEST + 1, false }, { DEEP, false } };
    for (size_t i = 0; i < ROWS(row); i++) {
        const size_t n = row[i].depth;
        memset(text, '[', n);
        memset(text + n, ']', n);
        struct json_scan s = { .at = text, .end = text + 2 * n };
        struct json_span value;
        assert_int_equal(json_pass(&s, &value), row[i].ok);
    }
    (void)state;
}

static void the_last_of_equal_members_counts(void **state)
{
    const struct json_span object = span_of("{\"a\": 1, \"b\": {\"a\": 7}, \"a\": 2}");
    assert_true(json_is(json_find(object, "a"), "2"));
    assert_true(json_is(json_find(json_find(object, "b"), "a"), "7"));
    assert_null(json_find(object, "c").at);
    assert_true(
        json_is(json_find(span_of("{\"x\": \"a\"b\", \"a\": 3}"), "a"), "3")); /* it was repaired when it was read */
    assert_null(json_find((struct json_span){ 0 }, "a").at);
    static const char *const keys[] = { "b", "c", "a" };
    struct json_span found[3] = { object, object, object };
    json_find_each(object, keys, found, 3);
    assert_true(json_is(json_find(found[0], "a"), "7"));
    assert_null(found[1].at);
    assert_true(json_is(found[2], "2"));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_exact_decimals),
        cmocka_unit_test(texts_are_decoded),
        cmocka_unit_test(objects_are_walked),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(the_last_of_equal_members_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
