/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/text/readable.h"

static char *count(char *out, double v)
{
    return readable_count(out, (uint64_t)v);
}

static char *bytes(char *out, double v)
{
    return readable_bytes(out, (uint64_t)v);
}

static void numbers_are_texts_for_people(void **state)
{
    static const struct {
        char *(*write)(char *out, double v);
        double v;
        const char *text;
    } row[] = {
        { count, 0, "0" },
        { count, 999, "999" },
        { count, 1000, "1,000" },
        { count, 12345678, "12,345,678" },
        { readable_runs, 0.25, "0.25" },
        { readable_runs, 12, "12" },
        { readable_runs, 999.4, "999.4" },
        { readable_runs, 999.9, "1,000" },
        { readable_runs, 10944.2, "10,944" },
        { bytes, 998, "998 B" },
        { bytes, 1023, "1.0 KiB" },
        { bytes, 35 << 20, "35 MiB" },
        { readable_duration, 999, "999 ns" },
        { readable_duration, 999.7, "1 us" },
        { readable_duration, 75.8e3, "75.8 us" },
        { readable_duration, 999.6e3, "1.000 ms" },
        { readable_duration, 14.125e6, "14.125 ms" },
        { readable_duration, 1.204e9, "1.204 s" },
        { readable_duration, 125e9, "2 min 05 s" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char out[READABLE_MOST];
        assert_string_equal(row[i].write(out, row[i].v), row[i].text);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(numbers_are_texts_for_people) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
