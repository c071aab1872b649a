/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <glob.h>
#include <inttypes.h>
#include <sqlite3.h>

#include "analyse/framework/steps/step_times.h"

enum { MOST = 8 };

struct spans {
    size_t n;
    int64_t begin[MOST], end[MOST];
    bool is_receive[MOST];
};

/* "10-20 30-40r": the second one is a receive. */
static struct spans spans_of(const char *text)
{
    struct spans s = { 0 };
    for (int used; sscanf(text, " %" SCNd64 "-%" SCNd64 "%n", &s.begin[s.n], &s.end[s.n], &used) == 2; s.n++) {
        text += used;
        s.is_receive[s.n] = *text == 'r';
        text += *text == 'r';
    }
    return s;
}

static void times_are_those_of_the_unions(void **state)
{
    static const struct {
        const char *what, *compute, *comm;
        int64_t begin, end;
        struct step_time t;
    } row[] = {
        { "nothing", "", "", 0, 100, { 0 } },
        { "one kernel", "10-30", "", 0, 100, { 20, 0, 0, 0, 0, 20, true, 10 } },
        { "a gap is free", "10-30 40-50", "", 0, 100, { 30, 0, 0, 10, 0, 40, true, 10 } },
        { "two at once count once", "10-30 20-25 28-40", "", 0, 100, { 30, 0, 0, 0, 0, 30, true, 10 } },
        { "communication alone is exposed", "", "10-30", 0, 100, { 0, 20, 20, 0, 0, 20, true, 10 } },
        { "hidden behind a kernel it is not", "10-30", "15-20", 0, 100, { 20, 5, 0, 0, 0, 20, true, 10 } },
        { "half of it", "10-30", "20-40", 0, 100, { 20, 20, 10, 0, 0, 30, true, 10 } },
        { "a kernel in its middle", "15-20", "10-30", 0, 100, { 5, 20, 15, 0, 0, 20, true, 10 } },
        { "several kernels behind one collective",
          "15-20 25-28 35-40",
          "10-30",
          0,
          100,
          { 13, 20, 12, 5, 0, 30, true, 10 } },
        { "what is received is a bubble", "50-60", "10-30r 20-40r", 0, 100, { 10, 30, 30, 10, 40, 10, true, 10 } },
        { "what began before is left out", "10-30 40-50", "", 20, 100, { 10, 0, 0, 0, 0, 10, true, 40 } },
        { "what began at its end too", "10-30 40-50", "", 0, 40, { 20, 0, 0, 0, 0, 20, true, 10 } },
        { "what began in it counts to its own end", "10-300", "", 0, 40, { 290, 0, 0, 0, 0, 290, true, 10 } },
        { "a range that ends before it begins", "10-30", "10-30r", 50, 0, { 0 } },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        const struct spans c = spans_of(row[i].compute), m = spans_of(row[i].comm);
        const struct device_work w = { .compute = { c.n, c.begin, c.end },
                                       .comm = { m.n, m.begin, m.end },
                                       .is_receive = m.is_receive };
        const struct step_time t = step_time_of(&w, row[i].begin, row[i].end), *want = &row[i].t;
        print_message("  %s\n", row[i].what);
        assert_int_equal(t.computing_ns, want->computing_ns);
        assert_int_equal(t.communication_ns, want->communication_ns);
        assert_int_equal(t.exposed_ns, want->exposed_ns);
        assert_int_equal(t.free_ns, want->free_ns);
        assert_int_equal(t.bubble_ns, want->bubble_ns);
        assert_int_equal(t.stage_ns, want->stage_ns);
        assert_int_equal(t.has_any, want->has_any);
        assert_int_equal(t.first_ns, want->first_ns);
    }
    (void)state;
}

/* Databases of real devices: how their steps went follows from their other tables. */
struct columns {
    size_t n;
    int64_t begin[100000], end[100000];
    bool is_receive[100000];
};

static void query(sqlite3 *db, const char *sql, struct columns *out)
{
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    for (out->n = 0; sqlite3_step(s) == SQLITE_ROW && out->n < ROWS(out->begin); out->n++) {
        out->begin[out->n] = sqlite3_column_int64(s, 0);
        out->end[out->n] = sqlite3_column_int64(s, 1);
        out->is_receive[out->n] = sqlite3_column_int(s, 2);
    }
    sqlite3_finalize(s);
}

static void check_step(sqlite3 *db, const struct device_work *w, const char *step, int64_t host_begin_ns,
                       int64_t host_end_ns)
{
    static const char *const column[] = { "computing",  "communication_not_overlapped",
                                          "overlapped", "communication",
                                          "free",       "stage",
                                          "bubble",     "preparing" };
    static struct columns range;
    char sql[512];
    snprintf(
        sql, sizeof sql,
        "SELECT min(startNs), max(endNs), 0 FROM TASK WHERE connectionId IN (SELECT connectionId FROM CANN_API WHERE "
        "type=10000 AND startNs>=%" PRId64 " AND endNs<=%" PRId64 ")",
        host_begin_ns, host_end_ns);
    query(db, sql, &range);
    const struct step_time t = step_time_of(w, range.begin[0], range.end[0] > host_end_ns ? range.end[0] : host_end_ns);
    const int64_t ns[] = {
        t.computing_ns, t.exposed_ns, t.communication_ns - t.exposed_ns, t.communication_ns, t.free_ns,
        t.stage_ns,     t.bubble_ns,  t.first_ns - host_begin_ns
    };
    for (size_t i = 0; i < ROWS(ns); i++) {
        snprintf(sql, sizeof sql, "SELECT CAST(round(%s * 1000) AS INTEGER), 0, 0 FROM a.StepTraceTime WHERE step='%s'",
                 column[i], step);
        query(db, sql, &range);
        print_message("  step %s: %s\n", step, column[i]);
        assert_int_equal(range.n, 1);
        assert_int_equal(ns[i], range.begin[0]);
    }
}

static void real_databases_come_out_the_same(void **state)
{
    static struct columns compute, comm, steps;
    const char *real = getenv("ASCOPE_REAL");
    glob_t found;
    char pattern[4096];
    if (!real) {
        print_message("  ASCOPE_REAL is not set: it names a folder with results of real devices\n");
        skip();
    }
    snprintf(pattern, sizeof pattern, "%s/db/*/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler*.db", real);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        sqlite3 *db;
        char sql[5000], folder[4096];
        snprintf(folder, sizeof folder, "%s", found.gl_pathv[i]);
        *strrchr(folder, '/') = '\0';
        assert_int_equal(sqlite3_open_v2(found.gl_pathv[i], &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
        snprintf(sql, sizeof sql, "ATTACH '%s/analysis.db' AS a", folder);
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        query(db, "SELECT startNs, endNs, 0 FROM COMPUTE_TASK_INFO JOIN TASK USING (globalTaskId) ORDER BY startNs",
              &compute);
        query(db,
              "SELECT startNs, endNs, value LIKE 'hcom_receive%' FROM COMMUNICATION_OP JOIN STRING_IDS ON opName=id "
              "ORDER BY startNs",
              &comm);
        const struct device_work w = { .compute = { compute.n, compute.begin, compute.end },
                                       .comm = { comm.n, comm.begin, comm.end },
                                       .is_receive = comm.is_receive };
        query(db, "SELECT startNs, endNs, 0 FROM STEP_TIME ORDER BY startNs", &steps);
        static struct columns ids;
        query(db, "SELECT id, 0, 0 FROM STEP_TIME ORDER BY startNs", &ids);
        assert_true(steps.n > 0);
        for (size_t k = 0; k < steps.n; k++) {
            char id[24];
            snprintf(id, sizeof id, "%" PRId64, ids.begin[k]);
            check_step(db, &w, id, steps.begin[k], steps.end[k]);
        }
        sqlite3_close(db);
    }
    globfree(&found);
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_those_of_the_unions),
        cmocka_unit_test(real_databases_come_out_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
