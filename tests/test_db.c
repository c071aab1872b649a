#include "test.h"

#include <sqlite3.h>

#include "base/db.h"
#include "folder.h"

/* The first column of the first row of a query, as text. */
static const char *answer(const char *path, const char *sql)
{
    static char text[200];
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    const unsigned char *got = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_text(s, 0) : NULL;
    snprintf(text, sizeof text, "%s", got ? (const char *)got : "NULL");
    sqlite3_finalize(s);
    sqlite3_close(db);
    return text;
}

static const struct db_column columns[] = {
    {"id",     "INTEGER PRIMARY KEY", NULL},
    { "name",  "INTEGER",             NULL},
    { "plain", "TEXT",                NULL},
    { "value", "NUMERIC",             NULL},
};

static void what_is_written_is_what_sqlite_reads(void **state)
{
    struct names *names = names_new();
    const name_id add = names_addz(names, "Add"), odd = names_add(names, "a\0b'\"", 5);
    const struct cell grid[] = {
        cell_int(1), cell_name(odd),    cell_name(add),    cell_real(0.1),
        cell_int(2), cell_name(add),    cell_text("it's"), cell_uint(UINT64_MAX),
        cell_int(3), cell_text("late"), cell_na(),         cell_time(1717200000123456789),
        cell_int(4), cell_name(add),    cell_name(odd),    cell_na(),
    };
    const struct db_table t = {
        .name = "T", .column = columns, .n_columns = 4, .n_rows = 4, .grid = grid, .index = "T_VALUE ON T (value)"
    };
    const struct db_table none = { .name = "EMPTY", .column = columns, .n_columns = 4 };
    const char *path = folder_path("a.db");
    struct error e = { 0 };
    struct db *db = db_open(path, names, &e);
    assert_non_null(db);
    assert_true(db_table(db, &t, &e));
    assert_true(db_table(db, &none, &e));
    assert_int_equal(db_string(db, add), db_string(db, add));
    assert_int_not_equal(access(path, F_OK), 0);
    assert_true(db_close(db, &e));
    assert_int_equal(folder_count(), 1);

    static const struct {
        const char *what, *sql, *answer;
    } row[] = {
        {"the file is sound",                 "PRAGMA integrity_check",                                                            "ok"                 },
        { "all rows",                         "SELECT count(*) FROM T",                                                            "4"                  },
        { "a table without rows is not made", "SELECT count(*) FROM sqlite_master WHERE name='EMPTY'",                             "0"                  },
        { "the index is there",               "SELECT tbl_name FROM sqlite_master WHERE name='T_VALUE'",                           "T"                  },
        { "ids in order of use",              "SELECT group_concat(id || value) FROM (SELECT * FROM STRING_IDS WHERE id > 0)",
         "1Add,2late"                                                                                                                                   },
        { "equal strings, equal ids",         "SELECT count(DISTINCT name) FROM T WHERE id IN (2, 4)",                             "1"                  },
        { "names resolve",                    "SELECT STRING_IDS.value FROM STRING_IDS JOIN T ON name=STRING_IDS.id WHERE T.id=3",
         "late"                                                                                                                                         },
        { "a NUL inside survives",            "SELECT hex(value) FROM STRING_IDS WHERE id=0",                                      "6100622722"         },
        { "text columns hold text",           "SELECT plain FROM T WHERE id=2",                                                    "it's"               },
        { "names too",                        "SELECT plain FROM T WHERE id=1",                                                    "Add"                },
        { "not available is NULL",            "SELECT count(*) FROM T WHERE plain IS NULL OR value IS NULL",                       "2"                  },
        { "reals keep all digits",            "SELECT value = 0.1 FROM T WHERE id=1",                                              "1"                  },
        { "times are integers of ns",         "SELECT value FROM T WHERE id=3",                                                    "1717200000123456789"},
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        assert_string_equal(answer(path, row[i].sql), row[i].answer);
    }
    names_free(names);
    (void)state;
}

static struct cell row_number(const void *rows, size_t row)
{
    (void)rows;
    return cell_int((int64_t)row);
}

static void any_number_of_rows_arrives_once(void **state)
{
    static const struct db_column one[] = {
        {"n", "INTEGER", row_number}
    };
    static const size_t n_rows[] = { 1, 63, 64, 65, 127, 128, 1000 }; /* they are inserted some at a time */
    struct names *names = names_new();
    for (size_t i = 0; i < ROWS(n_rows); i++) {
        const struct db_table t = { .name = "T", .column = one, .n_columns = 1, .n_rows = n_rows[i] };
        const char *path = folder_path("a.db");
        char want[64];
        struct error e = { 0 };
        struct db *db = db_open(path, names, &e);
        assert_true(db_table(db, &t, &e));
        assert_true(db_close(db, &e));
        snprintf(want, sizeof want, "%zu of 0 to %zu", n_rows[i], n_rows[i] - 1);
        assert_string_equal(answer(path, "SELECT count(DISTINCT n) || ' of ' || min(n) || ' to ' || max(n) FROM T"),
                            want);
    }
    names_free(names);
    (void)state;
}

static void a_full_disk_is_told_and_leaves_nothing(void **state)
{
    static const struct db_column one[] = {
        {"n", "INTEGER", row_number}
    };
    static const size_t n_rows[] = { 50000, 3000000 }; /* noticed at the end; noticed when SQLite's cache is full */
    struct names *names = names_new();
    const char *path = folder_path("a.db");
    for (size_t i = 0; i < ROWS(n_rows); i++) {
        const struct db_table t = { .name = "T", .column = one, .n_columns = 1, .n_rows = n_rows[i] };
        struct error e = { 0 };
        struct db *db = db_open(path, names, &e);
        assert_non_null(db);
        folder_limit(100000);
        bool done = db_table(db, &t, &e);
        if (done)
            done = db_close(db, &e);
        else
            db_discard(db);
        folder_limit(0);
        assert_false(done);
        assert_int_equal(e.fault, FAULT_IO);
        assert_non_null(strstr(e.text, path));
        assert_int_equal(folder_count(), 0);
    }
    struct error e = { 0 };
    assert_null(db_open(folder_path("no/such/a.db"), names, &e));
    assert_int_equal(e.fault, FAULT_IO);
    db_discard(NULL);
    names_free(names);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_what_sqlite_reads, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(any_number_of_rows_arrives_once, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_full_disk_is_told_and_leaves_nothing, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
