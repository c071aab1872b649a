/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "cluster/modes/mode_parts.h"

enum { MARK = 3, RANGE = 2, MOST = 8, NO = -1 };

/* device: begin of its task, which lasts 1000 times as long as the range; NO: it has none. */
struct made_mark {
    int type; /* 0: behind the last */
    const char *text;
    uint64_t thread;
    int64_t begin, end, device;
};

static void marks_pair_up_and_ranges_are_nested(void **state)
{
    static const struct {
        const char *what;
        struct made_mark mark[MOST];
        size_t n_unpaired;
        struct {
            const char *name; /* NULL: behind the last */
            int64_t begin, end, device;
        } wanted[MOST];
    } row[] = {
        { "nothing", { { 0 } }, 0, { { 0 } } },
        { "a pair, with the time between its tasks",
          { { MARK, "a_start", 1, 5, 5, 50 }, { MARK, "a_stop", 1, 9, 9, 95 } },
          0,
          { { "a", 5, 9, 45 } } },
        { "a pair without tasks",
          { { MARK, "a_start", 1, 5, 5, NO }, { MARK, "a_stop", 1, 9, 9, 95 } },
          0,
          { { "a", 5, 9, 0 } } },
        { "the last start first",
          { { MARK, "a_start", 1, 1, 1, NO },
            { MARK, "a_start", 1, 2, 2, NO },
            { MARK, "a_stop", 1, 3, 3, NO },
            { MARK, "a_stop", 1, 4, 4, NO } },
          0,
          { { "a", 2, 3, 0 }, { "a", 1, 4, 0 } } },
        { "other threads and names do not pair up",
          { { MARK, "a_start", 1, 1, 1, NO },
            { MARK, "a_stop", 2, 2, 2, NO },
            { MARK, "b_stop", 1, 3, 3, NO },
            { MARK, "plain", 1, 4, 4, NO } },
          3,
          { { 0 } } },
        { "ranges behind pairs; the inner one has both names",
          { { RANGE, "outer", 1, 0, 100, 1 },
            { MARK, "a_start", 1, 5, 5, NO },
            { RANGE, "inner", 1, 10, 20, 2 },
            { RANGE, "late", 1, 90, 110, NO },
            { MARK, "a_stop", 1, 200, 200, NO } },
          0,
          { { "a", 5, 200, 0 },
            { "outer", 0, 100, 100000 },
            { "outer::inner", 10, 20, 10000 },
            { "late", 90, 110, INT64_MIN } } },
        { "of ranges that begin together the longer one contains the other",
          { { RANGE, "short", 1, 0, 10, NO }, { RANGE, "long", 1, 0, 20, NO } },
          0,
          { { "long", 0, 20, INT64_MIN }, { "long::short", 0, 10, INT64_MIN } } },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct arena *mem = arena_new();
        struct names *names = names_new();
        name_id message[MOST];
        int64_t begin[MOST], end[MOST], device_begin[MOST], device_end[MOST], framework[MOST];
        uint64_t thread[MOST], connection[MOST];
        uint8_t type[MOST];
        size_t n = 0;
        print_message("  %s\n", row[i].what);
        for (const struct made_mark *m = row[i].mark; m->type; m++, n++) {
            message[n] = names_addz(names, m->text);
            begin[n] = m->begin;
            end[n] = m->end;
            thread[n] = m->thread;
            type[n] = (uint8_t)m->type;
            connection[n] = n;
            framework[n] = INT64_MIN;
            device_begin[n] = m->device == NO ? INT64_MIN : m->device;
            device_end[n] = m->device == NO ? INT64_MIN : m->device + 1000 * (m->end - m->begin);
        }
        const struct rank_summary r = { .has = RANK_TASKS | RANK_MARKS,
                                        .marks = { { n, message, message, begin, end, type, thread, connection },
                                                   device_begin,
                                                   device_end,
                                                   framework },
                                        .names = names,
                                        .mem = mem };
        struct mark_spans spans = { 0 };
        assert_true(mark_spans_find(&spans, &r, &(const struct chosen_step){ .is_all = true }, mem));
        assert_int_equal(spans.n_unpaired, row[i].n_unpaired);
        size_t k = 0;
        for (; row[i].wanted[k].name; k++) {
            assert_true(k < spans.list.n);
            assert_string_equal(names_text(names, spans.list.at[k].name), row[i].wanted[k].name);
            assert_int_equal(spans.list.at[k].begin_ns, row[i].wanted[k].begin);
            assert_int_equal(spans.list.at[k].end_ns, row[i].wanted[k].end);
            assert_int_equal(spans.list.at[k].device_ns, row[i].wanted[k].device);
        }
        assert_int_equal(spans.list.n, k);
        names_free(names);
        arena_free(mem);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(marks_pair_up_and_ranges_are_nested) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
