/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "export/trace_split.h"
#include "folder.h"

static void events_are_read_as_they_were_written(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        char phase;
        bool has_time;
        int64_t ns, dur_ns;
    } row[] = {
        { "{\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":\"1717200000123456.789\",\"dur\":1.5,\"ph\":\"X\"}", 'X', true,
          1717200000123456789, 1500 },
        { "{\"name\":\"a \\\"}, {\\\\\",\"ts\":-0.001,\"ph\":\"C\",\"args\":{\"ts\":7,\"x\":[{\"ph\":\"}\"}]}}", 'C',
          true, -1, 0 },
        { "{\"name\":\"thread_name\",\"pid\":1,\"tid\":0,\"ph\":\"M\",\"args\":{\"name\":\"\\\\\"}}", 'M', false, 0,
          0 },
        { "{\"ph\": \"i\", \"ts\": 12.3, \"dur\": 1e-3, \"flag\": true, \"none\": null}", 'i', true, 12300, 1 },
        { "{\"name\":\"a\",\"ts\":\"1717200000123456.789\",\"dur\":\"12.345\",\"ph\":\"X\"}", 'X', true,
          1717200000123456789, 12345 },
        { "{}", 0, false, 0, 0 },
    };
    char all[2000] = "[";
    for (size_t i = 0; i < ROWS(row); i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i > 0 ? ",\n" : "", row[i].text);
    strcat(all, "]\n");
    struct trace_scan s = { .text = all, .size = strlen(all) };
    struct trace_event e;
    for (size_t i = 0; i < ROWS(row); i++) {
        assert_true(trace_scan_next(&s, &e));
        assert_int_equal(e.len, strlen(row[i].text));
        assert_memory_equal(all + e.at, row[i].text, e.len);
        assert_int_equal(e.phase, row[i].phase);
        assert_int_equal(e.has_time, row[i].has_time);
        assert_int_equal(e.ns, row[i].ns);
        assert_int_equal(e.dur_ns, row[i].dur_ns);
    }
    assert_false(trace_scan_next(&s, &e));
    for (size_t n = 0; n < strlen(all); n++) { /* nor is anything read behind a text that was cut */
        char *cut = malloc(n + 1);
        memcpy(cut, all, n);
        s = (struct trace_scan){ .text = cut, .size = n };
        while (trace_scan_next(&s, &e))
            assert_true(e.at + e.len <= n);
        free(cut);
    }
}

enum { EVENTS = 40000 };

/* One slice each microsecond; from each but the quiet one a flow leads to the next. */
static void put_events(struct out *o, size_t quiet)
{
    out_lit(o, "[{\"name\":\"process_name\",\"ph\":\"M\",\"args\":{\"name\":\"p\"}}");
    for (size_t i = 0; i < EVENTS; i++) {
        char text[200];
        int n = snprintf(text, sizeof text,
                         ",{\"name\":\"e\",\"pid\":1,\"tid\":1,\"ts\":\"%08zu.000\",\"dur\":0.5,\"ph\":\"X\"}", i);
        out_bytes(o, text, (size_t)n);
        if (i == quiet)
            continue;
        n = snprintf(text, sizeof text, ",{\"name\":\"f\",\"ph\":\"s\",\"cat\":\"c\",\"id\":%zu,\"ts\":\"%08zu.000\"}",
                     i, i);
        out_bytes(o, text, (size_t)n);
        n = snprintf(text, sizeof text, ",{\"name\":\"f\",\"ph\":\"f\",\"cat\":\"c\",\"id\":%zu,\"ts\":\"%08zu.000\"}",
                     i, i + 1);
        out_bytes(o, text, (size_t)n);
    }
    out_lit(o, "]\n");
}

static char *read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *text = malloc(16 << 20);
    *n = fread(text, 1, 16 << 20, f);
    fclose(f);
    return text;
}

struct seen {
    uint64_t n, n_meta;
    int64_t first, last;
};

static struct seen look(const char *path)
{
    struct seen r = { .first = INT64_MAX, .last = INT64_MIN };
    size_t n;
    char *text = read_file(path, &n);
    struct trace_scan s = { .text = text, .size = n };
    assert_true(n > 3 && text[0] == '[' && memcmp(text + n - 3, "}]\n", 3) == 0);
    for (struct trace_event e; trace_scan_next(&s, &e);) {
        if (e.phase == 'M') {
            r.n_meta++;
            continue;
        }
        r.n++;
        r.first = e.ns < r.first ? e.ns : r.first;
        r.last = e.ns > r.last ? e.ns : r.last;
    }
    free(text);
    return r;
}

static void pieces_hold_every_event_once_and_are_cut_where_it_is_quiet(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        size_t quiet;
    } row[] = { { "the quiet place is in the last tenth", 7000 }, { "there is none", EVENTS } };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct error e = { 0 };
        struct out o;
        struct arena *mem = arena_new();
        char *before = strdup(folder_path("t"));
        assert_true(out_open(&o, folder_path("t.json"), &e));
        put_events(&o, row[i].quiet);
        const uint64_t whole = o.written + o.n, n_events = 3 * EVENTS - 2 * (row[i].quiet < EVENTS);
        struct trace_split s = { .max_bytes = 7300 * (whole / EVENTS), .before = before, .after = ".json", .mem = mem };
        assert_true(trace_split(&s, &o, &e));
        assert_true(s.pieces.n >= 6);
        uint64_t n = 0;
        int64_t last = INT64_MIN;
        for (size_t k = 0; k < s.pieces.n; k++) {
            struct stat st;
            assert_int_equal(stat(s.pieces.at[k].path, &st), 0);
            assert_true((uint64_t)st.st_size <= s.max_bytes);
            assert_true((uint64_t)st.st_size <= s.pieces.at[k].n_text);
            const struct seen r = look(s.pieces.at[k].path);
            assert_int_equal(r.n, s.pieces.at[k].n_events);
            assert_int_equal(r.n_meta, 1);
            assert_true(r.first > last);
            last = r.last;
            n += r.n;
            if (k == 0 && row[i].quiet < EVENTS)
                assert_int_equal(r.last, (int64_t)row[i].quiet * 1000);
        }
        assert_int_equal(n, n_events);
        assert_int_equal(folder_count(), s.pieces.n); /* the whole is gone */
        free(before);
        arena_free(mem);
        folder_remove(state);
        assert_int_equal(mkdir(folder, 0700), 0);
    }
}

static void what_fits_stays_one_and_what_cannot_is_refused(void **state)
{
    (void)state;
    struct error e = { 0 };
    struct out o;
    struct arena *mem = arena_new();
    char *before = strdup(folder_path("t"));
    struct trace_split s = { .max_bytes = 1 << 24, .before = before, .after = ".json", .mem = mem };
    assert_true(out_open(&o, folder_path("t.json"), &e));
    put_events(&o, 5);
    assert_true(trace_split(&s, &o, &e));
    assert_int_equal(s.pieces.n, 1);
    assert_int_equal(look(folder_path("t.json")).n, 3 * EVENTS - 2);
    s.pieces.n = 0;
    s.max_bytes = 100; /* the metadata takes half of it */
    assert_true(out_open(&o, folder_path("t.json"), &e));
    put_events(&o, 5);
    assert_false(trace_split(&s, &o, &e));
    assert_non_null(strstr(e.text, "--max-size"));
    assert_int_equal(folder_count(), 1);

    /* All in one moment: it is not cut. */
    e = (struct error){ 0 };
    s.max_bytes = 1000;
    assert_true(out_open(&o, folder_path("u.json"), &e));
    out_char(&o, '[');
    static const char event[] = ",{\"ph\":\"i\",\"ts\":\"1.000\"}";
    for (size_t i = 0; i < 100; i++)
        out_bytes(&o, &event[i == 0], sizeof event - 1 - (i == 0));
    out_lit(&o, "]\n");
    assert_true(trace_split(&s, &o, &e));
    assert_int_equal(s.pieces.n, 1);
    assert_int_equal(look(s.pieces.at[0].path).n, 100);
    free(before);
    arena_free(mem);
}

static void only_what_viewers_cannot_open_is_worth_advice(void **state)
{
    (void)state;
    assert_null(trace_size_advice(400 << 20));
    assert_null(trace_size_advice(0x1fffffe8));
    assert_non_null(trace_size_advice(0x1fffffe9));
    assert_null(strstr(trace_size_advice(INSIGHT_MOST), "20 GiB"));
    assert_non_null(strstr(trace_size_advice(INSIGHT_MOST + 1), "20 GiB"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_read_as_they_were_written),
        cmocka_unit_test_setup_teardown(pieces_hold_every_event_once_and_are_cut_where_it_is_quiet, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(what_fits_stays_one_and_what_cannot_is_refused, folder_make, folder_remove),
        cmocka_unit_test(only_what_viewers_cannot_open_is_worth_advice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
