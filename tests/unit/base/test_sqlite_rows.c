/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that SQLite has written: what their pages say is what SQLite says, or they are left to SQLite. */
#include "test.h"

#include <sqlite3.h>

#include "base/sqlite/sqlite_rows.h"

enum { COLUMNS = 3 };

struct database {
    sqlite3 *db;
    unsigned char *image; /* what its file would be */
    sqlite3_int64 bytes;
    uint32_t root; /* of the table t */
};

static int64_t one_number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    const int64_t n = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return n;
}

static void make(struct database *d, const char *before, const char *sql)
{
    assert_int_equal(sqlite3_open(":memory:", &d->db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(d->db, before, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(d->db, sql, NULL, NULL, NULL), SQLITE_OK);
    d->image = sqlite3_serialize(d->db, "main", &d->bytes, 0);
    assert_non_null(d->image);
    d->root = (uint32_t)one_number(d->db, "SELECT rootpage FROM sqlite_master WHERE name = 't'");
}

static void unmake(struct database *d)
{
    sqlite3_free(d->image);
    sqlite3_close(d->db);
}

static bool is_same(sqlite3_stmt *s, int column, const struct stored *c, int64_t rowid)
{
    if (column == 0) /* INTEGER PRIMARY KEY: NULL in the record */
        return c->kind == STORED_NULL && sqlite3_column_int64(s, 0) == rowid;
    switch (sqlite3_column_type(s, column)) {
    case SQLITE_NULL: return c->kind == STORED_NULL;
    case SQLITE_INTEGER: return c->kind == STORED_INTEGER && c->integer == sqlite3_column_int64(s, column);
    case SQLITE_FLOAT: return c->kind == STORED_REAL && c->real == sqlite3_column_double(s, column);
    default:
        return c->kind == STORED_TEXT && c->bytes == (size_t)sqlite3_column_bytes(s, column) &&
               memcmp(c->text, sqlite3_column_text(s, column), c->bytes) == 0;
    }
}

/* The rows of t that were read before the end, or before something strange. */
static size_t compare(const struct database *d, const struct rows_file *f, enum rows_state *state)
{
    sqlite3_stmt *s;
    struct rows r;
    struct stored cell[COLUMNS];
    int64_t rowid;
    size_t n = 0;
    assert_int_equal(sqlite3_prepare_v2(d->db, "SELECT * FROM t ORDER BY id", -1, &s, NULL), SQLITE_OK);
    rows_init(&r, f, d->root);
    for (; (*state = rows_next(&r, &rowid, cell, COLUMNS)) == ROWS_ROW; n++) {
        assert_int_equal(sqlite3_step(s), SQLITE_ROW);
        for (int i = 0; i < COLUMNS; i++)
            assert_true(is_same(s, i, &cell[i], rowid));
    }
    size_t counted = 0;
    if (*state == ROWS_END) {
        assert_int_equal(sqlite3_step(s), SQLITE_DONE);
        assert_true(rows_count(f, d->root, &counted) && counted == n);
    }
    sqlite3_finalize(s);
    rows_fini(&r);
    return n;
}

#define TABLE       "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b);"
#define COUNT_TO(n) "WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < " #n ") "
/* Integers of all lengths and both signs, and what is no integer. */
#define NUMBERS                                                                                                        \
    TABLE                                                                                                              \
    "INSERT INTO t VALUES (-5, 0, 1), (1, -1, 127), (2, -128, 128), (3, 32767, -32768), (4, 8388607, -8388608),"       \
    "(5, 2147483647, -2147483648), (6, 140737488355327, -140737488355328), (7, 140737488355328, 1699999999999999999)," \
    "(8, 9223372036854775807, -9223372036854775808), (9, 0.5, -1e300), (300, NULL, ''), (70000, 'text', 'x');"

static void rows_are_those_of_sqlite(void **state)
{
    static const struct {
        const char *what, *before, *sql;
        size_t n;
        enum rows_state end;
    } row[] = {
        { "an empty table", "", TABLE, 0, ROWS_END },
        { "numbers and texts", "", NUMBERS, 12, ROWS_END },
        { "the largest pages", "PRAGMA page_size = 65536", NUMBERS, 12, ROWS_END },
        { "a tree of several levels", "PRAGMA page_size = 512",
          TABLE "INSERT INTO t " COUNT_TO(20000) "SELECT n * 3, n * n, 'row ' || n FROM i;", 20000, ROWS_END },
        { "texts around the length of a page", "PRAGMA page_size = 512",
          TABLE "INSERT INTO t " COUNT_TO(2000) "SELECT n, hex(zeroblob(n / 2)), n FROM i;", 2000, ROWS_END },
        { "deleted rows", "",
          TABLE "INSERT INTO t " COUNT_TO(5000) "SELECT n, n, 'row' FROM i; DELETE FROM t WHERE id % 7 < 5;", 1428,
          ROWS_END },
        { "a blob", "", TABLE "INSERT INTO t VALUES (1, 1, 1), (2, x'00', 2);", 1, ROWS_STRANGE },
        { "a column that was added later", "",
          "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 2); ALTER TABLE t ADD b DEFAULT 7;", 0,
          ROWS_STRANGE },
        { "no rowids", "",
          "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b) WITHOUT ROWID; INSERT INTO t VALUES (1, 2, 3);", 0,
          ROWS_STRANGE },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct database d;
        struct rows_file f;
        enum rows_state end;
        print_message("  %s\n", row[i].what);
        make(&d, row[i].before, row[i].sql);
        assert_true(rows_file_init(&f, d.image, (size_t)d.bytes));
        assert_int_equal(compare(&d, &f, &end), row[i].n);
        assert_int_equal(end, row[i].end);
        unmake(&d);
    }
    (void)state;
}

static void other_files_are_left_to_sqlite(void **state)
{
    struct database d;
    struct rows_file f;
    make(&d, "PRAGMA encoding = 'UTF-16'", NUMBERS);
    assert_false(rows_file_init(&f, d.image, (size_t)d.bytes)); /* texts in UTF-16 */
    unmake(&d);
    make(&d, "", NUMBERS);
    assert_true(rows_file_init(&f, d.image, (size_t)d.bytes));
    assert_false(rows_file_init(&f, d.image, 99)); /* cut short */
    unmake(&d);
    (void)state;
}

/* Nothing is read beyond the file, and nothing goes on forever; what is read may be anything. */
static void damage_ends(void **state)
{
    struct database d;
    make(&d, "PRAGMA page_size = 512",
         TABLE "INSERT INTO t " COUNT_TO(40) "SELECT n, n * 100000, hex(zeroblob(n * 16)) FROM i;");
    for (size_t i = 0; i < 2 * (size_t)d.bytes; i += test_stride(7)) {
        const bool is_cut = i >= (size_t)d.bytes;
        const size_t at = is_cut ? i - (size_t)d.bytes : i, size = is_cut ? at : (size_t)d.bytes;
        unsigned char *exact = malloc(size + 1); /* so that the sanitizer sees a step beyond */
        assert_non_null(exact);
        memcpy(exact, d.image, size);
        if (!is_cut)
            exact[at] ^= (unsigned char)(1 + at % 255);
        struct rows_file f;
        struct rows r;
        struct stored cell[COLUMNS];
        int64_t rowid, sum = 0;
        if (rows_file_init(&f, exact, size)) {
            size_t n = 0;
            rows_init(&r, &f, d.root);
            while (rows_next(&r, &rowid, cell, COLUMNS) == ROWS_ROW && n++ < 100000)
                for (size_t c = 0; c < COLUMNS; c++)
                    for (size_t k = 0; cell[c].kind == STORED_TEXT && k < cell[c].bytes; k++)
                        sum += cell[c].text[k];
            rows_fini(&r);
            assert_true(!rows_count(&f, d.root, &n) || n <= size / 2);
            assert_true(n < 100000 && sum >= INT64_MIN);
        }
        free(exact);
    }
    unmake(&d);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_sqlite),
        cmocka_unit_test(other_files_are_left_to_sqlite),
        cmocka_unit_test(damage_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
