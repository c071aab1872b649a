/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <float.h>
#include <math.h>
#include <sqlite3.h>
#include <sys/statvfs.h>

#include "base/sqlite/db.h"
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
    { "id", "INTEGER PRIMARY KEY", NULL },
    { "name", "INTEGER", NULL },
    { "plain", "TEXT", NULL },
    { "value", "NUMERIC", NULL },
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
    const struct db_table bare = { .name = "BARE", .column = columns, .n_columns = 4, .is_made_empty = true };
    const char *path = folder_path("a.db");
    struct error e = { 0 };
    struct db *db = db_open(path, names, &e);
    assert_non_null(db);
    assert_true(db_table(db, &t, &e));
    assert_true(db_table(db, &none, &e));
    assert_true(db_table(db, &bare, &e));
    assert_int_equal(db_string(db, add), db_string(db, add));
    assert_int_not_equal(access(path, F_OK), 0);
    assert_true(db_close(db, &e));
    assert_int_equal(folder_count(), 1);

    static const struct {
        const char *what, *sql, *answer;
    } row[] = {
        { "the file is sound", "PRAGMA integrity_check", "ok" },
        { "all rows", "SELECT count(*) FROM T", "4" },
        { "a table without rows is not made", "SELECT count(*) FROM sqlite_master WHERE name='EMPTY'", "0" },
        { "unless it is wanted", "SELECT count(*) FROM BARE", "0" },
        { "the index is there", "SELECT tbl_name FROM sqlite_master WHERE name='T_VALUE'", "T" },
        { "ids in order of use", "SELECT group_concat(id || value) FROM (SELECT * FROM STRING_IDS WHERE id > 0)",
          "1Add,2late" },
        { "equal strings, equal ids", "SELECT count(DISTINCT name) FROM T WHERE id IN (2, 4)", "1" },
        { "names resolve", "SELECT STRING_IDS.value FROM STRING_IDS JOIN T ON name=STRING_IDS.id WHERE T.id=3",
          "late" },
        { "a NUL inside survives", "SELECT hex(value) FROM STRING_IDS WHERE id=0", "6100622722" },
        { "text columns hold text", "SELECT plain FROM T WHERE id=2", "it's" },
        { "names too", "SELECT plain FROM T WHERE id=1", "Add" },
        { "not available is NULL", "SELECT count(*) FROM T WHERE plain IS NULL OR value IS NULL", "2" },
        { "reals keep all digits", "SELECT value = 0.1 FROM T WHERE id=1", "1" },
        { "times are integers of ns", "SELECT value FROM T WHERE id=3", "1717200000123456789" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        assert_string_equal(answer(path, row[i].sql), row[i].answer);
    }
    names_free(names);
    (void)state;
}

static bool is_even(const void *context, int64_t number)
{
    assert_string_equal(context, "context");
    return number % 2 == 0;
}

CELL_GETTER(letter, char, cell_uint((uint64_t)r[i]))
CELL_GETTER(twice, char, cell_uint((uint64_t)r[i] * 2))
CELL_GETTER(number, char, cell_uint(i))

static void rows_of_several_kinds_have_getters_of_their_own(void **state)
{
    static const struct db_kind_column column[] = {
        { "value", "INTEGER", { letter, twice } },
        { "row", "INTEGER", { number, number } },
        { "only", "INTEGER", { NULL, letter } },
    };
    static const uint32_t shown[] = { 2, 0 };
    static const struct db_table first = { .name = "T", .n_rows = 2, .rows = "AB" },
                                 second = { .name = "T", .n_rows = 2, .rows = "abc", .shown = shown };
    struct names *names = names_new();
    const char *path = folder_path("a.db");
    struct error e = { 0 };
    struct db *db = db_open(path, names, &e);
    assert_non_null(db);
    assert_true(db_table_kind(db, first, KIND_COLUMNS(column), 0, &e));
    assert_true(db_table_kind(db, second, KIND_COLUMNS(column), 1, &e));
    assert_true(db_close(db, &e));
    assert_string_equal(answer(path, "SELECT group_concat(value || ' ' || row || ' ' || ifnull(only, '-')) FROM T"),
                        "65 0 -,66 1 -,198 2 99,194 0 97");
    names_free(names);
    (void)state;
}

static void only_rows_that_are_wanted(void **state)
{
    static const struct db_column column[] = { { "id", "INTEGER PRIMARY KEY", NULL }, { "name", "INTEGER", NULL } };
    static const struct db_filter filter[] = { { "EVERY", "id", NULL }, { NULL, "id", is_even } };
    const struct cell grid[] = { cell_int(1), cell_text("odd"), cell_int(2), cell_text("even"), cell_na(), cell_na() };
    struct names *names = names_new();
    const char *path = folder_path("a.db");
    struct error e = { 0 };
    struct db *db = db_open(path, names, &e);
    struct db_table t = { .name = "SOME", .column = column, .n_columns = 2, .n_rows = 3, .grid = grid };
    db_filters(db, filter, ROWS(filter), "context");
    assert_true(db_table(db, &t, &e));
    assert_int_equal(db_rows(db), 1);
    t.name = "EVERY";
    t.n_rows = 2;
    assert_true(db_table(db, &t, &e));
    assert_int_equal(db_rows(db), 3);
    assert_true(db_close(db, &e));
    assert_string_equal(answer(path, "PRAGMA integrity_check"), "ok");
    assert_string_equal(answer(path, "SELECT group_concat(SOME.id || value) FROM SOME JOIN STRING_IDS s ON s.id=name"),
                        "2even");
    assert_string_equal(answer(path, "SELECT count(*) FROM EVERY"), "2");
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
    static const struct db_column one[] = { { "n", "INTEGER", row_number } };
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

static void a_full_disk_is_reported_and_leaves_nothing(void **state)
{
    static const struct db_column one[] = { { "n", "INTEGER", row_number } };
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

/* Rows that are made from their number alone, so that they can be asked for twice. */
struct random_rows {
    size_t first;
    const name_id *text; /* N_TEXTS of them */
};
enum { N_TEXTS = 12 };
static const size_t text_len[N_TEXTS] = { 0, 1, 7, 57, 58, 120, 1000, 4000, 4096, 5000, 8200, 100000 };

static struct cell random_number(uint64_t *dice)
{
    static const int64_t ints[] = { 0,
                                    1,
                                    2,
                                    -1,
                                    -2,
                                    127,
                                    128,
                                    -128,
                                    -129,
                                    32767,
                                    32768,
                                    -32768,
                                    -32769,
                                    8388607,
                                    8388608,
                                    -8388608,
                                    -8388609,
                                    INT32_MAX,
                                    INT32_MIN,
                                    1LL << 31,
                                    -(1LL << 31) - 1,
                                    1LL << 32,
                                    1LL << 47,
                                    -(1LL << 47),
                                    (1LL << 47) - 1,
                                    -(1LL << 47) - 1,
                                    1LL << 53,
                                    (1LL << 53) + 1,
                                    INT64_MAX,
                                    INT64_MAX - 1,
                                    INT64_MIN,
                                    INT64_MIN + 1 };
    static const double reals[] = { 0.0,
                                    -0.0,
                                    1.0,
                                    -1.0,
                                    2.0,
                                    0.5,
                                    -0.1,
                                    1e15,
                                    1e17,
                                    1e18,
                                    9e18,
                                    9.3e18,
                                    -9.3e18,
                                    1e300,
                                    1e-300,
                                    DBL_MAX,
                                    DBL_MIN,
                                    INFINITY,
                                    -INFINITY,
                                    NAN,
                                    9223372036854775807.0,
                                    -9223372036854775808.0,
                                    140737488355328.0,
                                    281474976710656.0 };
    const uint64_t pick = random_next(dice);
    double any;
    switch (pick % 8) {
    case 0: return cell_int(ints[(pick >> 8) % ROWS(ints)]);
    case 1: return cell_real(reals[(pick >> 8) % ROWS(reals)]);
    case 2: return cell_int((int64_t)random_next(dice) >> (pick >> 8) % 64);
    case 3: return cell_uint(random_next(dice));
    case 4: memcpy(&any, (uint64_t[]){ random_next(dice) }, sizeof any); return cell_real(any);
    case 5: return cell_real((double)(random_next(dice) >> 40) / 8);
    case 6: return cell_time((int64_t)(random_next(dice) >> 2));
    default: return cell_na();
    }
}

static const struct db_column random_columns[] = {
    { "a", "INTEGER", NULL }, { "b", "NUMERIC", NULL }, { "c", "REAL", NULL },
    { "d", "TEXT", NULL },    { "e", "INTEGER", NULL },
};
static const struct db_column keyed_columns[] = {
    { "a", "NUMERIC", NULL },
    { "b", "REAL", NULL },
    { "id", "INTEGER PRIMARY KEY", NULL },
    { "d", "TEXT", NULL },
};

static struct cell random_cell(const struct random_rows *r, const struct db_column *column, size_t row)
{
    uint64_t dice = RANDOM_SEED + (r->first + row) * 1000003 + (uint64_t)column->name[0];
    random_next(&dice);
    random_next(&dice);
    if (strcmp(column->type, "TEXT") != 0)
        return random_number(&dice);
    const uint64_t pick = random_next(&dice);
    if (pick % 16 == 0)
        return cell_na();
    if (pick % 16 == 1)
        return cell_int((int64_t)random_next(&dice) >> (pick >> 8) % 64);
    const size_t short_ones = pick % 1024 == 1 ? N_TEXTS : 6; /* long ones are rare */
    return cell_name(r->text[(pick >> 16) % short_ones]);
}

static struct cell unkeyed_cell(const void *rows, size_t row, size_t column)
{
    return random_cell(rows, &random_columns[column], row);
}

/* Keys with gaps, negative ones among them; the rows come in another order. */
static struct cell keyed_cell(const void *rows, size_t row, size_t column)
{
    const struct random_rows *r = rows;
    if (column != 2)
        return random_cell(r, &keyed_columns[column], row);
    const int64_t at = (int64_t)(r->first + (row ^ 1));
    return cell_int(at < 3 ? INT64_MIN + at : at < 500 ? at - 300 : at * at * at);
}

static void insert(sqlite3 *db, const struct db_table *t, const struct names *names)
{
    char create[500], add[500];
    int a = snprintf(create, sizeof create, "CREATE TABLE IF NOT EXISTS %s (", t->name);
    int b = snprintf(add, sizeof add, "INSERT INTO %s VALUES (", t->name);
    for (size_t c = 0; c < t->n_columns; c++) {
        const char *end = c + 1 < t->n_columns ? ", " : ")";
        a += snprintf(create + a, sizeof create - (size_t)a, "%s %s%s", t->column[c].name, t->column[c].type, end);
        b += snprintf(add + b, sizeof add - (size_t)b, "?%s", end);
    }
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_exec(db, create, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, add, -1, &s, NULL), SQLITE_OK);
    for (size_t r = 0; r < t->n_rows; r++) {
        for (size_t i = 0; i < t->n_columns; i++) {
            const struct cell c = t->get(t->rows, r, i);
            const int at = (int)i + 1;
            if (c.kind == CELL_REAL)
                sqlite3_bind_double(s, at, c.f);
            else if (c.kind == CELL_NAME)
                sqlite3_bind_text64(s, at, names_text(names, c.name), names_len(names, c.name), SQLITE_STATIC,
                                    SQLITE_UTF8);
            else if (c.kind == CELL_NA)
                sqlite3_bind_null(s, at);
            else
                sqlite3_bind_int64(s, at, c.i);
        }
        assert_int_equal(sqlite3_step(s), SQLITE_DONE);
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
}

/* Every value of every row has the same type and the same bits. */
static void compare(sqlite3 *theirs, sqlite3 *ours, const char *table)
{
    char sql[100];
    snprintf(sql, sizeof sql, "SELECT rowid, * FROM %s ORDER BY rowid", table);
    sqlite3_stmt *s[2];
    assert_int_equal(sqlite3_prepare_v2(theirs, sql, -1, &s[0], NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(ours, sql, -1, &s[1], NULL), SQLITE_OK);
    while (true) {
        const int step = sqlite3_step(s[0]);
        assert_int_equal(sqlite3_step(s[1]), step);
        if (step != SQLITE_ROW)
            break;
        for (int c = 0; c < sqlite3_column_count(s[0]); c++) {
            const int type = sqlite3_column_type(s[0], c);
            if (sqlite3_column_type(s[1], c) != type)
                fail_msg("%s: row %lld, column %d: '%s' is not '%s'", table, sqlite3_column_int64(s[0], 0), c,
                         sqlite3_column_text(s[1], c), sqlite3_column_text(s[0], c));
            const double f[2] = { sqlite3_column_double(s[0], c), sqlite3_column_double(s[1], c) };
            switch (type) {
            case SQLITE_INTEGER: assert_int_equal(sqlite3_column_int64(s[1], c), sqlite3_column_int64(s[0], c)); break;
            case SQLITE_FLOAT: assert_memory_equal(&f[0], &f[1], sizeof f[0]); break;
            case SQLITE_TEXT:
                assert_int_equal(sqlite3_column_bytes(s[1], c), sqlite3_column_bytes(s[0], c));
                assert_memory_equal(sqlite3_column_text(s[1], c), sqlite3_column_text(s[0], c),
                                    (size_t)sqlite3_column_bytes(s[0], c));
                break;
            default: assert_int_equal(type, SQLITE_NULL);
            }
        }
    }
    sqlite3_finalize(s[0]);
    sqlite3_finalize(s[1]);
}

static void add_texts(struct names *names, name_id *text)
{
    char *long_text = malloc(100000);
    for (size_t i = 0; i < 100000; i++)
        long_text[i] = (char)('a' + i % 26);
    for (size_t i = 0; i < N_TEXTS; i++)
        text[i] = names_add(names, long_text, text_len[i]);
    free(long_text);
}

static void rows_are_kept_as_sqlite_keeps_them(void **state)
{
    static const size_t sizes[] = { 1, 2, 3, 50, 100, 1000, 30000, 200000 };
    struct names *names = names_new();
    name_id text[N_TEXTS];
    add_texts(names, text);
    for (size_t i = 0; i < ROWS(sizes); i++) {
        struct error e = { 0 };
        struct db *db = db_open(folder_path("a.db"), names, &e);
        sqlite3 *theirs, *ours;
        assert_non_null(db);
        assert_int_equal(sqlite3_open(":memory:", &theirs), SQLITE_OK);
        assert_int_equal(sqlite3_exec(theirs, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
        /* Two tables that grow in turns. */
        const size_t part = sizes[i] > 1000 ? sizes[i] / 4 : sizes[i];
        for (size_t first = 0; first < sizes[i]; first += part) {
            const struct random_rows rows = { first, text };
            const struct db_table t[] = { { .name = "PLAIN",
                                            .column = random_columns,
                                            .n_columns = ROWS(random_columns),
                                            .n_rows = part,
                                            .rows = &rows,
                                            .get = unkeyed_cell },
                                          { .name = "KEYED",
                                            .column = keyed_columns,
                                            .n_columns = ROWS(keyed_columns),
                                            .n_rows = part / 2 * 2,
                                            .rows = &rows,
                                            .get = keyed_cell,
                                            .index = "K ON KEYED (a, d)" } };
            for (size_t k = 0; k < ROWS(t); k++) {
                if (!db_table(db, &t[k], &e))
                    fail_msg("%s", e.text);
                insert(theirs, &t[k], names);
            }
        }
        assert_true(db_close(db, &e));
        assert_string_equal(answer(folder_path("a.db"), "PRAGMA integrity_check"), "ok");
        assert_int_equal(sqlite3_open(folder_path("a.db"), &ours), SQLITE_OK);
        compare(theirs, ours, "PLAIN");
        if (sizes[i] > 1)
            compare(theirs, ours, "KEYED");
        /* It is a database like any other: more can be put into it. */
        assert_int_equal(sqlite3_exec(ours,
                                      "DELETE FROM PLAIN WHERE rowid % 3 = 0;"
                                      "INSERT INTO PLAIN SELECT * FROM PLAIN; VACUUM",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
        sqlite3_close(theirs);
        sqlite3_close(ours);
        assert_string_equal(answer(folder_path("a.db"), "PRAGMA integrity_check"), "ok");
    }
    names_free(names);
    (void)state;
}

/* A text as long as the number of the row says, by its column number longer. */
struct edge_rows {
    const char *end; /* of a text that is long enough */
    size_t first;
};

static struct cell edge_cell(const void *rows, size_t row, size_t column)
{
    const struct edge_rows *r = rows;
    return cell_text(r->end - (r->first + row + column));
}

static void texts_of_every_length_are_whole(void **state)
{
    static const struct {
        const char *what;
        size_t n_columns, first, n;
    } row[] = {
        { "around the length that still fits on a page", 1, 3900, 300 },
        { "around one overflow page", 2, 4000, 300 },
        { "around two", 1, 8000, 300 },
        { "more columns than one byte can report the header's size", 64, 50, 70 },
    };
    static struct db_column column[64];
    static char column_name[ROWS(column)][8];
    char *text = malloc(20001);
    for (size_t i = 0; i < 20000; i++)
        text[i] = (char)('A' + i % 31);
    text[20000] = 0;
    for (size_t c = 0; c < ROWS(column); c++) {
        snprintf(column_name[c], sizeof column_name[c], "c%zu", c);
        column[c] = (struct db_column){ column_name[c], "TEXT", NULL };
    }
    struct names *names = names_new();
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct error e = { 0 };
        struct db *db = db_open(folder_path("a.db"), names, &e);
        const struct edge_rows rows = { text + 20000, row[i].first };
        const struct db_table t = { .name = "T",
                                    .column = column,
                                    .n_columns = row[i].n_columns,
                                    .n_rows = row[i].n,
                                    .rows = &rows,
                                    .get = edge_cell };
        assert_non_null(db);
        assert_true(db_table(db, &t, &e));
        assert_true(db_close(db, &e));
        assert_string_equal(answer(folder_path("a.db"), "PRAGMA integrity_check"), "ok");
        sqlite3 *ours;
        sqlite3_stmt *s;
        assert_int_equal(sqlite3_open(folder_path("a.db"), &ours), SQLITE_OK);
        assert_int_equal(sqlite3_prepare_v2(ours, "SELECT * FROM T", -1, &s, NULL), SQLITE_OK);
        for (size_t r = 0; r < t.n_rows; r++) {
            assert_int_equal(sqlite3_step(s), SQLITE_ROW);
            for (size_t c = 0; c < t.n_columns; c++)
                assert_string_equal(sqlite3_column_text(s, (int)c), edge_cell(&rows, r, c).text);
        }
        sqlite3_finalize(s);
        sqlite3_close(ours);
    }
    free(text);
    names_free(names);
    (void)state;
}

/* The list of tables outgrows the first page, and then a page of children. */
static void there_may_be_many_tables(void **state)
{
    static const struct db_column one[] = { { "a_column_with_a_name_long_enough_to_fill_the_list_of_tables", "INTEGER",
                                              row_number } };
    struct names *names = names_new();
    const char *path = folder_path("a.db");
    for (unsigned n = 0; n < 60; n += n < 40 ? 1 : 10) {
        struct error e = { 0 };
        struct db *db = db_open(path, names, &e);
        char name[8], count[8];
        assert_non_null(db);
        for (unsigned i = 0; i < n; i++) {
            snprintf(name, sizeof name, "T%u", i);
            assert_true(
                db_table(db, &(struct db_table){ .name = name, .column = one, .n_columns = 1, .n_rows = i + 1 }, &e));
        }
        assert_true(db_close(db, &e));
        assert_string_equal(answer(path, "PRAGMA integrity_check"), "ok");
        snprintf(count, sizeof count, "%u", n);
        assert_string_equal(answer(path, "SELECT count(*) FROM sqlite_master WHERE sql LIKE 'CREATE TABLE T%'"), count);
        if (n > 0)
            assert_string_equal(
                answer(path, "SELECT sum(a_column_with_a_name_long_enough_to_fill_the_list_of_tables) FROM T0"), "0");
    }
    names_free(names);
    (void)state;
}

static struct cell same_key(const void *rows, size_t row)
{
    (void)rows;
    return cell_int(row < 2 ? 7 : (int64_t)row);
}

static void a_key_that_occurs_twice_is_reported(void **state)
{
    static const struct db_column one[] = { { "id", "INTEGER PRIMARY KEY", same_key } };
    struct names *names = names_new();
    struct error e = { 0 };
    struct db *db = db_open(folder_path("a.db"), names, &e);
    const struct db_table t = { .name = "T", .column = one, .n_columns = 1, .n_rows = 5 };
    assert_non_null(db);
    assert_false(db_table(db, &t, &e));
    assert_non_null(strstr(e.text, "row after 7 of T"));
    db_discard(db);
    assert_int_equal(folder_count(), 0);
    names_free(names);
    (void)state;
}

static struct cell long_cell(const void *rows, size_t row)
{
    (void)row;
    return cell_name(*(const name_id *)rows);
}

/* SQLite keeps its locks a gibibyte into the file, and no page may lie there. */
static void a_database_grows_beyond_the_place_of_its_locks(void **state)
{
    static const struct db_column column[] = { { "n", "INTEGER", row_number }, { "text", "TEXT", long_cell } };
    struct statvfs disk;
    if (statvfs(folder, &disk) != 0 || (uint64_t)disk.f_bavail * disk.f_frsize < (uint64_t)4 << 30)
        skip();
    enum { LEN = 1 << 20, N = 1050 };
    struct names *names = names_new();
    char *bytes = malloc(LEN);
    memset(bytes, 'x', LEN);
    const name_id text = names_add(names, bytes, LEN);
    free(bytes);
    struct error e = { 0 };
    struct db *db = db_open(folder_path("a.db"), names, &e);
    const struct db_table t = { .name = "T", .column = column, .n_columns = 2, .n_rows = N, .rows = &text };
    assert_non_null(db);
    assert_true(db_table(db, &t, &e));
    assert_true(db_close(db, &e));
    assert_string_equal(answer(folder_path("a.db"), "PRAGMA integrity_check"), "ok");
    assert_string_equal(answer(folder_path("a.db"), "SELECT count(*) FROM T WHERE length(text) = 1 << 20"), "1050");
    names_free(names);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_what_sqlite_reads, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(rows_of_several_kinds_have_getters_of_their_own, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(only_rows_that_are_wanted, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(any_number_of_rows_arrives_once, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(rows_are_kept_as_sqlite_keeps_them, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(texts_of_every_length_are_whole, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(there_may_be_many_tables, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_key_that_occurs_twice_is_reported, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_full_disk_is_reported_and_leaves_nothing, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_database_grows_beyond_the_place_of_its_locks, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
