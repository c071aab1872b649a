/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <glob.h>
#include <sqlite3.h>

#include "analyse/framework/collection_analyse.h"
#include "analyse/host/host_analysis.h"
#include "profile/calls.h"

enum { A = 1, B = 2 };

static void the_innermost_span_of_the_thread_is_found(void **state)
{
    static const int64_t begin[] = { 10, 20, 30, 30, 60, 10, 100 }, end[] = { 100, 50, 40, 45, 90, 1000, 200 };
    static const uint64_t thread[] = { A, A, A, A, A, B, A };
    const struct host_spans outer = { ROWS(begin), begin, end, thread };
    static const struct {
        const char *what;
        int64_t begin, end;
        uint64_t thread;
        uint32_t found;
    } row[] = {
        { "in nothing", 5, 6, A, NO_ROW },
        { "directly in the outermost", 12, 13, A, 0 },
        { "in a child", 22, 25, A, 1 },
        { "of two that begin together, in the shorter", 32, 35, A, 2 },
        { "in the longer one, behind the shorter", 41, 42, A, 3 },
        { "again in the outermost, behind a child", 51, 52, A, 0 },
        { "in a second child", 61, 62, A, 4 },
        { "what begins together is inside", 60, 62, A, 4 },
        { "what ends together is inside", 65, 90, A, 4 },
        { "of two that begin together with it, in the shorter", 30, 35, A, 2 },
        { "or in the longer, when the shorter ends before it", 30, 41, A, 3 },
        { "all of it", 60, 90, A, 4 },
        { "without duration at the begin", 60, 60, A, 4 },
        { "without duration at the end", 90, 90, A, 4 },
        { "where one ends and another begins, in the other", 100, 101, A, 6 },
        { "across the end of a child", 85, 95, A, 0 },
        { "across the end of all", 95, 150, A, NO_ROW },
        { "on another thread", 22, 25, B, 5 },
        { "on a thread that has none", 22, 25, 3, NO_ROW },
        { "on a thread below all others", 22, 25, 0, NO_ROW },
        { "without duration", 31, 31, A, 2 },
        { "that ends before it begins", 110, 105, A, 6 },
    };
    int64_t inner_begin[ROWS(row)], inner_end[ROWS(row)];
    uint64_t inner_thread[ROWS(row)];
    uint32_t found[ROWS(row)];
    for (size_t i = 0; i < ROWS(row); i++) {
        inner_begin[i] = row[i].begin;
        inner_end[i] = row[i].end;
        inner_thread[i] = row[i].thread;
    }
    assert_true(enclosing_find(&outer, &(struct host_spans){ ROWS(row), inner_begin, inner_end, inner_thread }, found));
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        assert_int_equal(found[i], row[i].found);
    }
    (void)state;
}

static void spans_are_in_the_innermost_one_that_contains_them(void **state)
{
    /* clang-format off */
    static const struct { const char *what; struct { int64_t begin, end; uint64_t thread; } span[4]; const char *tree; } row[] = {
        { "one", { { 0, 10, A } }, "- 10" },
        { "one inside another", { { 2, 5, A }, { 0, 10, A } }, "1 3, - 7" },
        { "the same time on another thread", { { 2, 5, B }, { 0, 10, A } }, "- 3, - 10" },
        { "of equal ones the last in the file is around", { { 0, 5, A }, { 0, 5, A } }, "1 5, - 0" },
        { "one that begins when another ends", { { 0, 5, A }, { 5, 9, A } }, "- 5, - 4" },
        { "the same inside a third", { { 0, 5, A }, { 5, 9, A }, { 0, 9, A } }, "2 5, 2 4, - 0" },
        { "a moment at the end", { { 0, 5, A }, { 5, 5, A } }, "- 5, - 0" },
        { "a moment at the begin", { { 0, 5, A }, { 0, 0, A } }, "- 5, 0 0" },
        { "two moments", { { 5, 5, A }, { 5, 5, A } }, "- 0, - 0" },
        { "overlapping", { { 0, 10, A }, { 5, 15, A } }, "- 5, - 10" },
        { "overlapping in a third", { { 0, 10, A }, { 5, 15, A }, { 0, 20, A } }, "2 5, 2 10, - 5" },
        { "two that a third outlives", { { 0, 10, A }, { 3, 8, A }, { 5, 20, A } }, "- 3, 0 2, - 15" },
        { "one that ends before it begins", { { 5, 3, A }, { 0, 10, A } }, "1 0, - 10" },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        int64_t begin[4], end[4], self[4];
        uint64_t thread[4];
        uint32_t order[4], parent[4];
        size_t n = 0;
        char text[100] = "";
        print_message("  %s\n", row[i].what);
        for (; n < 4 && row[i].span[n].thread; n++) {
            begin[n] = row[i].span[n].begin;
            end[n] = row[i].span[n].end;
            thread[n] = row[i].span[n].thread;
        }
        assert_true(nesting_order(order, n, begin, end));
        assert_true(enclosing_tree(&(struct host_spans){ n, begin, end, thread }, order, parent, self));
        for (size_t k = 0; k < n; k++) {
            const size_t at = strlen(text);
            char in[12] = "-";
            if (parent[k] != NO_ROW)
                snprintf(in, sizeof in, "%u", parent[k]);
            snprintf(text + at, sizeof text - at, "%s%s %ld", k ? ", " : "", in, (long)self[k]);
        }
        assert_string_equal(text, row[i].tree);
    }
    (void)state;
}

/* Spans that nest, in a random order; every point in time lies in the one that began last and is open. */
static void many_spans_in_any_order(void **state)
{
    enum { N = 3000, THREADS = 7 };
    static int64_t begin[N], end[N], at[N];
    static uint64_t thread[N];
    static uint32_t found[N];
    uint64_t random = RANDOM_SEED;
    for (size_t i = 0; i < N; i++) {
        thread[i] = random_next(&random) % THREADS;
        begin[i] = (int64_t)(random_next(&random) % 4096);
        end[i] = (begin[i] | 15) + 1; /* blocks of 16: those of one block end together, and nest */
        if (random_next(&random) % 8 == 0)
            end[i] = (begin[i] | 255) + 1;
        begin[i] *= 2;
        end[i] *= 2;
        at[i] = (int64_t)(random_next(&random) % 8192) | 1;
    }
    assert_true(enclosing_find(&(struct host_spans){ N, begin, end, thread }, &(struct host_spans){ N, at, at, thread },
                               found));
    for (size_t i = 0; i < N; i++) {
        int64_t latest = -1;
        for (size_t k = 0; k < N; k++)
            if (thread[k] == thread[i] && begin[k] < at[i] && end[k] > at[i] && begin[k] > latest)
                latest = begin[k];
        assert_int_equal(found[i] == NO_ROW ? -1 : begin[found[i]], latest);
    }
    (void)state;
}

/* Damage: all of them open, and none of them long enough. It must come to an end. */
static void a_million_open_spans(void **state)
{
    enum { N = 1000000 };
    int64_t *begin = calloc(N, sizeof *begin), *end = calloc(N, sizeof *end), *at = calloc(N, sizeof *at),
            *until = calloc(N, sizeof *until);
    uint64_t *thread = calloc(N, sizeof *thread);
    uint32_t *found = calloc(N, sizeof *found);
    for (int64_t i = 0; i < N; i++) {
        begin[i] = i;
        end[i] = 4 * N - i;
        at[i] = N + i;
        until[i] = 5 * N;
    }
    assert_true(enclosing_find(&(struct host_spans){ N, begin, end, thread },
                               &(struct host_spans){ N / 100, at, until, thread }, found));
    for (size_t i = 0; i < N / 100; i++)
        assert_int_equal(found[i], NO_ROW);
    free(begin);
    free(end);
    free(at);
    free(until);
    free(thread);
    free(found);
    (void)state;
}

/* Databases of real devices: which operator has launched what follows from their spans. */
struct real_spans {
    size_t n;
    int64_t begin[20000], end[20000];
    uint64_t thread[20000], id[20000];
    uint32_t found[20000];
};

static void query(sqlite3 *db, struct real_spans *out, const char *sql)
{
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    for (out->n = 0; sqlite3_step(s) == SQLITE_ROW && out->n < ROWS(out->begin); out->n++) {
        out->begin[out->n] = sqlite3_column_int64(s, 0);
        out->end[out->n] = sqlite3_column_int64(s, 1);
        out->thread[out->n] = (uint64_t)sqlite3_column_int64(s, 2);
        out->id[out->n] = (uint64_t)sqlite3_column_int64(s, 3);
    }
    sqlite3_finalize(s);
}

static struct host_spans spans_of(const struct real_spans *s)
{
    return (struct host_spans){ s->n, s->begin, s->end, s->thread };
}

static uint32_t row_of_id(const struct real_spans *s, uint64_t id)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->id[i] == id)
            return i;
    return NO_ROW;
}

static void check_launches(sqlite3 *db)
{
    static struct real_spans ops, in, out, launches, stored;
    query(
        db, &ops,
        "SELECT CAST(startNs AS INTEGER), CAST(endNs AS INTEGER), globalTid, rowid FROM PYTORCH_API WHERE type=50001");
    query(
        db, &in,
        "SELECT CAST(startNs AS INTEGER), CAST(endNs AS INTEGER), globalTid, c.connectionId FROM PYTORCH_API p JOIN "
        "CONNECTION_IDS c ON c.id=p.connectionId JOIN STRING_IDS s ON s.id=name WHERE type=50002 AND value LIKE 'Enq%'");
    query(
        db, &out,
        "SELECT CAST(startNs AS INTEGER), CAST(endNs AS INTEGER), globalTid, c.connectionId FROM PYTORCH_API p JOIN "
        "CONNECTION_IDS c ON c.id=p.connectionId JOIN STRING_IDS s ON s.id=name WHERE type=50002 AND value LIKE 'Deq%'");
    query(
        db, &launches,
        "SELECT startNs, endNs, globalTid, connectionId FROM CANN_API JOIN STRING_IDS s ON s.id=name WHERE type=10000 "
        "AND value='launch'");
    /* Numbers of the queue's tasks are not kept apart from those of calls there, but they are others in these files. */
    query(db, &stored,
          "SELECT p.rowid, 0, 0, c.connectionId FROM PYTORCH_API p JOIN CONNECTION_IDS c ON c.id=p.connectionId JOIN "
          "CANN_API a ON a.connectionId=c.connectionId JOIN STRING_IDS s ON s.id=a.name WHERE p.type=50001 AND "
          "a.type=10000 AND value='launch'");
    struct host_spans o = spans_of(&ops), i = spans_of(&in), d = spans_of(&out), l = spans_of(&launches);
    assert_true(enclosing_find(&o, &i, in.found));
    assert_true(enclosing_find(&d, &l, launches.found));
    size_t n = 0;
    for (size_t k = 0; k < launches.n; k++) {
        const uint32_t dequeue = launches.found[k],
                       enqueue = dequeue == NO_ROW ? NO_ROW : row_of_id(&in, out.id[dequeue]),
                       op = enqueue == NO_ROW ? NO_ROW : in.found[enqueue], at = row_of_id(&stored, launches.id[k]);
        assert_int_equal(op == NO_ROW ? 0 : ops.id[op], at == NO_ROW ? 0 : (uint64_t)stored.begin[at]);
        n += op != NO_ROW;
    }
    print_message("  %zu launches of %zu operators\n", n, ops.n);
    assert_true(n > 0);
}

static void real_operators_have_launched_what_they_say(void **state)
{
    const char *real = getenv("ASCOPE_REAL");
    char pattern[4096];
    glob_t found;
    if (!real) {
        print_message("  ASCOPE_REAL is not set: it names a folder with results of real devices\n");
        skip();
    }
    snprintf(pattern, sizeof pattern, "%s/db/*/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler*.db", real);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        sqlite3 *db;
        assert_int_equal(sqlite3_open_v2(found.gl_pathv[i], &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
        check_launches(db);
        sqlite3_close(db);
    }
    globfree(&found);
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_innermost_span_of_the_thread_is_found),
        cmocka_unit_test(spans_are_in_the_innermost_one_that_contains_them),
        cmocka_unit_test(many_spans_in_any_order),
        cmocka_unit_test(a_million_open_spans),
        cmocka_unit_test(real_operators_have_launched_what_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
