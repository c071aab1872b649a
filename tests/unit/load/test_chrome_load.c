/* SPDX-License-Identifier: Apache-2.0 */
#include "load/trace/trace_readers.h"

#include <unistd.h>

#include "guarded.h"
#include "test.h"

#define X(more) "{\"ph\": \"X\", \"name\": \"a\", \"pid\": 1, \"tid\": 2, \"ts\": 5, \"dur\": 1" more "}"

static void counts_what_it_finds(void **state)
{
    static const struct {
        const char *what, *in;
        size_t slices, others; /* instants, counters and flow events */
        enum loss why;
        uint64_t n_lost, lost_at;
    } row[] = {
        { "an empty list", "[]", 0, 0, 0, 0, 0 },
        { "an empty file of events", "{\"traceEvents\": []}", 0, 0, 0, 0, 0 },
        { "one slice", "[" X("") "]", 1, 0, 0, 0, 0 },
        { "a byte order mark", "\xEF\xBB\xBF[" X("") "]", 1, 0, 0, 0, 0 },
        { "other keys around the events", "{\"a\": \"]}\", \"traceEvents\": [" X("") "], \"b\": {\"traceEvents\": 5}}",
          1, 0, 0, 0, 0 },
        { "a comma behind the last", "[" X("") ",]", 1, 0, 0, 0, 0 },
        { "a bare list needs no end", "[" X("") ",\n", 1, 0, 0, 0, 0 },
        { "an object does", "{\"traceEvents\": [" X("") ",\n", 1, 0, LOSS_CUT_SHORT, 1, 82 },
        { "cut in an event", "[" X("") ",{\"ph\": \"X\", \"na", 1, 0, LOSS_CUT_SHORT, 1, 65 },
        { "no comma between two", "[" X("") X("") "]", 2, 0, LOSS_BAD_TEXT, 1, 64 },
        { "an event that is a number", "[5, " X("") "]", 1, 0, LOSS_BAD_VALUE, 1, 1 },
        { "one without a phase", "[{\"name\": \"a\"}, " X("") "]", 1, 0, LOSS_BAD_VALUE, 1, 1 },
        { "one without a time", "[{\"ph\": \"X\", \"name\": \"a\"}, " X("") "]", 1, 0, LOSS_BAD_VALUE, 1, 1 },
        { "a time that is no number", "[{\"ph\": \"X\", \"ts\": NaN}, " X("") "]", 1, 0, LOSS_BAD_VALUE, 1, 1 },
        { "a huge time", "[{\"ph\": \"X\", \"ts\": 1e99}, " X("") "]", 1, 0, LOSS_BAD_VALUE, 1, 1 },
        { "an unknown phase", "[{\"ph\": \"?\", \"ts\": 1}, " X("") "]", 1, 0, LOSS_BAD_VALUE, 1, 1 },
        { "a phase that nobody draws", "[{\"ph\": \"N\", \"ts\": 1}, " X("") "]", 1, 0, LOSS_OTHER_KIND, 1, 1 },
        { "a quote in a name", "[{\"ph\": \"X\", \"name\": \"f(\"x\")\", \"ts\": 1}, " X("") "]", 2, 0, LOSS_REPAIRED,
          1, 1 },
        { "a broken event", "[{\"ph\": \"X\", \"ts\": !}, " X("") "]", 1, 0, LOSS_BAD_TEXT, 1, 1 },
        { "broken, the last", "{\"traceEvents\": [" X("") ", {\"ph\": !} ], \"baseTimeNanoseconds\": 7}", 1, 0,
          LOSS_BAD_TEXT, 1, 82 },
        { "a pair", "[{\"ph\": \"B\", \"ts\": 1}, {\"ph\": \"E\", \"ts\": 3}]", 1, 0, 0, 0, 0 },
        { "ends in another order than begins", "[{\"ph\": \"E\", \"ts\": 3}, {\"ph\": \"B\", \"ts\": 1}]", 1, 0, 0, 0,
          0 },
        { "a begin without an end", "[{\"ph\": \"B\", \"ts\": 1}, " X("") "]", 1, 0, LOSS_UNPAIRED, 1, 1 },
        { "an end without a begin", "[" X("") ", {\"ph\": \"E\", \"ts\": 1}]", 1, 0, LOSS_UNPAIRED, 1, 66 },
        { "ends of another thread", "[{\"ph\": \"B\", \"ts\": 1, \"tid\": 1}, {\"ph\": \"E\", \"ts\": 3}]", 0, 0,
          LOSS_UNPAIRED, 2, 1 },
        { "two series of a counter", "[{\"ph\": \"C\", \"ts\": 1, \"args\": {\"a\": 1, \"b\": Infinity, \"c\": []}}]",
          0, 2, 0, 0, 0 },
        { "a counter without values", "[{\"ph\": \"C\", \"ts\": 1}]", 0, 0, LOSS_BAD_VALUE, 1, 1 },
        { "an instant and both ends of a flow",
          "[{\"ph\": \"i\", \"ts\": 1, \"s\": \"g\"}, {\"ph\": \"s\", \"ts\": 1, \"id\": 3}, {\"ph\": \"f\", \"ts\": 1, \"id\": \"x\"}]",
          0, 3, 0, 0, 0 },
        { "a flow without an id", "[{\"ph\": \"s\", \"ts\": 1}]", 0, 0, LOSS_BAD_VALUE, 1, 1 },
        { "damage in front of the events", "{\"a\": !, \"traceEvents\": [" X("") "]}", 1, 0, LOSS_BAD_TEXT, 1, 6 },
        { "a negative duration is invalid", "[{\"ph\": \"X\", \"ts\": 1, \"dur\": -5}]", 1, 0, 0, 0, 0 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        const size_t size = strlen(row[i].in);
        const char *text = (const char *)guarded_copy(row[i].in, size);
        struct chrome_trace t;
        struct error e = { 0 };
        print_message("  %s\n", row[i].what);
        assert_true(chrome_parse(&t, text, size, "t", &e));
        assert_int_equal(t.slices.n, row[i].slices);
        assert_int_equal(t.instants.n + t.counters.n + t.flows.n, row[i].others);
        for (unsigned k = 0; k < LOSS_KINDS; k++)
            assert_int_equal(t.lost.by[k].n, k == row[i].why && row[i].n_lost ? row[i].n_lost : 0);
        if (row[i].n_lost)
            assert_int_equal(t.lost.by[row[i].why].first_at, row[i].lost_at);
        chrome_trace_free(&t);
        guarded_free((const uint8_t *)text, size);
    }
    (void)state;
}

static void refuses_what_is_no_trace(void **state)
{
    static const char *const row[] = { "",         " ",      "5", "{}", "{\"a\": 1}", "{\"traceEvents\": 5}",
                                       "\x1F\x8B", "\"[]\"", "{" };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct chrome_trace t;
        struct error e = { 0 };
        assert_false(chrome_parse(&t, row[i], strlen(row[i]), "t.json", &e));
        assert_int_equal(e.fault, FAULT_FORMAT);
        assert_memory_equal(e.text, "t.json: ", 8);
    }
    (void)state;
}

static void times_tracks_and_order(void **state)
{
    static const char text[] =
        "{\"traceEvents\": ["
        "{\"ph\": \"X\", \"name\": \"inner\", \"pid\": 1, \"tid\": \"7\", \"ts\": 2.5, \"dur\": 1, \"args\": {\"k\": \"v\"}},"
        "{\"ph\": \"X\", \"name\": \"other\", \"pid\": \"Spans\", \"tid\": 7, \"ts\": \"0.001\"},"
        "{\"ph\": \"X\", \"name\": \"outer\", \"pid\": \"1\", \"tid\": 7, \"ts\": 2.500, \"dur\": 4},"
        "{\"ph\": \"B\", \"name\": \"pair\", \"pid\": 1, \"tid\": 7, \"ts\": 1},"
        "{\"ph\": \"E\", \"pid\": 1, \"tid\": 7, \"ts\": 1.5, \"args\": {\"e\": 1}},"
        "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": \"py\\\"thon\"}},"
        "{\"ph\": \"M\", \"name\": \"process_sort_index\", \"pid\": 1, \"args\": {\"sort_index\": -3}},"
        "{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 1, \"tid\": 7, \"args\": {\"name\": \"main\"}}],"
        "\"baseTimeNanoseconds\": 1790857026000000000, \"distributedInfo\": {\"rank\": 3}}";
    static const struct {
        const char *name;
        int64_t begin_ns, dur_ns;
        uint32_t track;
    } want[] = { { "pair", 1790857026000001000, 500, 0 },
                 { "outer", 1790857026000002500, 4000, 0 },
                 { "inner", 1790857026000002500, 1000, 0 },
                 { "other", 1790857026000000001, 0, 1 } };
    struct chrome_trace t;
    struct error e = { 0 };
    assert_true(chrome_parse(&t, text, strlen(text), "t", &e));
    assert_int_equal(t.slices.n, ROWS(want));
    for (size_t i = 0; i < ROWS(want); i++) {
        assert_string_equal(names_text(t.names, t.slices.name[i]), want[i].name);
        assert_int_equal(t.slices.begin_ns[i], want[i].begin_ns);
        assert_int_equal(t.slices.dur_ns[i], want[i].dur_ns);
        assert_int_equal(t.slices.track[i], want[i].track);
    }
    assert_true(json_is(json_find(chrome_slice_args(&t, 2), "k"), "v"));
    assert_true(json_is(json_find(chrome_slice_args(&t, 0), "e"), "1"));
    assert_null(chrome_slice_args(&t, 3).at);
    assert_int_equal(t.tracks.n, 2);
    assert_int_equal(t.tracks.at[0].first, 0);
    assert_int_equal(t.tracks.at[0].n_slices, 3);
    assert_int_equal(t.tracks.at[1].first, 3);
    assert_string_equal(names_text(t.names, t.tracks.at[0].name), "main");
    assert_true(t.tracks.at[0].id.is_number && t.tracks.at[0].id.number == 7);
    assert_string_equal(names_text(t.names, t.processes.at[0].name), "py\"thon");
    assert_true(t.processes.at[0].has_sort_index && t.processes.at[0].sort_index == -3);
    assert_false(t.processes.at[1].id.is_number);
    assert_true(json_is(json_find(chrome_fact(&t, "distributedInfo"), "rank"), "3"));
    chrome_trace_free(&t);
    (void)state;
}

static char *sample_read(const char *name, size_t *size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/kineto/%s", getenv("ASCOPE_SAMPLE"), name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *text = malloc(1 << 17);
    assert_non_null(text);
    *size = fread(text, 1, 1 << 17, f);
    fclose(f);
    return text;
}

/* Every event that a text has is found or accounted for; returns how many rows there are. */
static size_t rows_of(const char *text, size_t size)
{
    const char *copy = (const char *)guarded_copy(text, size);
    struct chrome_trace t;
    struct error e = { 0 };
    size_t n = 0;
    if (chrome_parse(&t, copy ? copy : "", size, "t", &e)) {
        n = t.slices.n + t.instants.n + t.flows.n + t.n_counter_events + t.n_metadata;
        assert_int_equal(n + t.n_pairs + t.lost.by[LOSS_UNPAIRED].n + t.lost.by[LOSS_OTHER_KIND].n,
                         t.n_events - t.lost.by[LOSS_BAD_VALUE].n);
        for (size_t i = 0; i < t.slices.n; i++)
            assert_true(t.slices.dur_ns[i] >= 0 && t.slices.args_at[i] + t.slices.args_len[i] <= size);
        chrome_trace_free(&t);
    } else {
        assert_int_equal(e.fault, FAULT_FORMAT);
    }
    guarded_free((const uint8_t *)copy, size);
    return n;
}

static void every_prefix_keeps_whole_events(void **state)
{
    size_t size, before = 0;
    char *text = sample_read("hand-2x.json", &size);
    for (size_t n = 0; n <= size; n++) {
        const size_t rows = rows_of(text, n);
        assert_true(rows == before || rows == before + 1); /* never one less, for a longer text */
        before = rows;
    }
    assert_int_equal(before, 38);
    free(text);
    (void)state;
}

/* A byte that changed costs the event that it is in, and at most the next; in front of all of them perhaps everything. */
static void every_flip_costs_little(void **state)
{
    static const unsigned char flips[] = { 1, 2, 8, 0x20, 0x80, 0xFF };
    size_t size;
    char *text = sample_read("hand-2x.json", &size);
    const char *events = strstr(text, "\"traceEvents\"");
    const size_t first = (size_t)(events - text) + 16;
    const unsigned stride = test_stride(7);
    for (size_t at = 0; at < size; at += stride) {
        for (size_t f = 0; f < ROWS(flips); f++) {
            text[at] ^= (char)flips[f];
            const size_t rows = rows_of(text, size);
            if (at >= first && rows + 2 < 38)
                fail_msg("byte %zu changed by %u: %zu of 38 events", at, flips[f], rows);
            text[at] ^= (char)flips[f];
        }
    }
    free(text);
    (void)state;
}

/* Texts on which a reader that starts again at each place would need minutes. */
static void hostile_texts_take_linear_time(void **state)
{
    static const char *const row[] = { "{\"a",
                                       "{\"a\":[",
                                       "{\"a\":\"b\"",
                                       "[",
                                       "{",
                                       "\"",
                                       "},{",
                                       "{\"a\":\"x\"y\",",
                                       "{\"ph\":\"X\" ] , \"",
                                       "\"traceEvents\" ",
                                       "\"baseTimeNanoseconds\" " };
    enum { SIZE = 4 << 20 };
    char *text = malloc(SIZE);
    assert_non_null(text);
    for (size_t i = 0; i < ROWS(row); i++) {
        const size_t len = strlen(row[i]);
        for (size_t at = 1; at < SIZE; at++)
            text[at] = row[i][(at - 1) % len];
        for (size_t k = 0; k < 2; k++) {
            text[0] = "[{"[k];
            rows_of(text, SIZE);
        }
    }
    free(text);
    (void)state;
}

static void long_names_and_many_keys(void **state)
{
    enum { NAME = 60000, KEYS = 20000 };
    const size_t size = NAME + KEYS * 16 + 200;
    char *text = malloc(size);
    assert_non_null(text);
    size_t n = (size_t)sprintf(text, "[{\"ph\": \"X\", \"ts\": 1, \"name\": \"\\n");
    memset(text + n, 'n', NAME);
    n += NAME;
    n += (size_t)sprintf(text + n, "\", \"args\": {");
    for (int i = 0; i < KEYS; i++)
        n += (size_t)sprintf(text + n, "\"k\": %d, ", i);
    n += (size_t)sprintf(text + n, "\"k\": -1}}]");
    struct chrome_trace t;
    struct error e = { 0 };
    assert_true(chrome_parse(&t, text, n, "t", &e));
    assert_int_equal(names_len(t.names, t.slices.name[0]), NAME + 1);
    assert_true(json_is(json_find(chrome_slice_args(&t, 0), "k"), "-1"));
    chrome_trace_free(&t);
    free(text);
    (void)state;
}

static void names_of_traces(void **state)
{
    assert_true(chrome_is_name("a/worker.1.pt.trace.json") && chrome_is_name("x.json.gz"));
    assert_false(chrome_is_name(".json") || chrome_is_name("x.json.bz2") || chrome_is_name("json"));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_what_it_finds),     cmocka_unit_test(refuses_what_is_no_trace),
        cmocka_unit_test(times_tracks_and_order),   cmocka_unit_test(every_prefix_keeps_whole_events),
        cmocka_unit_test(every_flip_costs_little),  cmocka_unit_test(hostile_texts_take_linear_time),
        cmocka_unit_test(long_names_and_many_keys), cmocka_unit_test(names_of_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
