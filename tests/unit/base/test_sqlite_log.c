/* SPDX-License-Identifier: Apache-2.0 */
/* Databases with a write-ahead log beside them: every commit in it is read, and nothing else of it. */
#include "test.h"

#include <sqlite3.h>

#include "base/files/bytes.h"
#include "base/sqlite/untrusted_db.h"
#include "folder.h"

enum { COMMITS = 6, PAGE = 512, LOG_HEADER = 32, FRAME = 24 + PAGE, FIRST_ROWS = 20 };

/* A file in memory. */
struct image {
    uint8_t *at;
    size_t n;
};

/* A database and its log, and how long the log was behind each commit: each adds 10 rows, beside FIRST_ROWS. */
struct pair {
    struct image db, log;
    size_t end[COMMITS + 1];
};

static struct image take(const char *name)
{
    struct image i = { .at = malloc(1 << 20) };
    FILE *f = fopen(folder_path(name), "rb");
    assert_non_null(f);
    i.n = fread(i.at, 1, 1 << 20, f);
    fclose(f);
    return i;
}

static void put(const char *name, const uint8_t *at, size_t n)
{
    FILE *f = fopen(folder_path(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(at, 1, n, f), n);
    fclose(f);
}

static void run(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

/* `more` is done to the database before there is a log. Row `first` and the following are added by its commits. */
static struct pair make(const char *more, int first)
{
    struct pair p = { 0 };
    sqlite3 *db;
    assert_int_equal(sqlite3_open(folder_path("made.db"), &db), SQLITE_OK);
    run(db, "PRAGMA page_size = 512; CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE TABLE u (b);"
            "WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 20) "
            "INSERT INTO t SELECT n, 'row ' || n FROM i");
    run(db, more);
    run(db, "PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0");
    for (int i = 0; i < COMMITS; i++) {
        char sql[200];
        snprintf(sql, sizeof sql,
                 "WITH RECURSIVE i(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n < 9) "
                 "INSERT INTO t SELECT %d + n, hex(zeroblob(40)) FROM i",
                 first + 10 * i);
        run(db, sql);
        struct image log = take("made.db-wal");
        p.end[i + 1] = log.n;
        free(log.at);
    }
    p.db = take("made.db");
    p.log = take("made.db-wal");
    sqlite3_close(db);
    remove(folder_path("made.db"));
    assert_int_equal(p.log.n, p.end[COMMITS]);
    return p;
}

static void pair_free(struct pair *p)
{
    free(p->db.at);
    free(p->log.at);
}

/* The rows of t of a database with a log. */
static int rows_of(const struct image *db, const uint8_t *log, size_t n_log, char trouble[static 160])
{
    struct untrusted_db u;
    struct error e = { 0 };
    sqlite3_stmt *s;
    put("a.db", db->at, db->n);
    put("a.db-wal", log, n_log);
    const size_t n_files = folder_count();
    if (!untrusted_db_open(&u, folder_path("a.db"), &e))
        fail_msg("%s", e.text);
    assert_int_equal(sqlite3_prepare_v2(u.db, "SELECT COUNT(1) FROM t", -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    const int n = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    memcpy(trouble, u.log_trouble, sizeof u.log_trouble);
    untrusted_db_close(&u);
    assert_int_equal(folder_count(), n_files); /* nothing is created beside it */
    return n;
}

static int commits_before(const struct pair *p, size_t bytes)
{
    int n = 0;
    while (n < COMMITS && p->end[n + 1] <= bytes)
        n++;
    return n;
}

static void a_log_that_is_cut_has_its_whole_commits(void **state)
{
    struct pair p = make("SELECT 1", 100);
    char trouble[160];
    for (size_t n = 0; n <= p.log.n; n += n % FRAME == LOG_HEADER % FRAME || n + 1 == p.log.n ? 1 : 67) {
        const int commits = commits_before(&p, n);
        assert_int_equal(rows_of(&p.db, p.log.at, n, trouble), FIRST_ROWS + 10 * commits);
        assert_int_equal(trouble[0] == '\0', n == 0 || n == LOG_HEADER || (commits > 0 && p.end[commits] == n));
    }
    pair_free(&p);
    (void)state;
}

static void damage_ends_what_is_read(void **state)
{
    struct pair p = make("SELECT 1", 100);
    char trouble[160];
    uint64_t random = RANDOM_SEED;
    for (size_t n = 0; n < p.log.n; n += n < 2 * FRAME ? 1 : 1 + random_next(&random) % 97) {
        const size_t frame = n < LOG_HEADER ? 0 : LOG_HEADER + (n - LOG_HEADER) / FRAME * FRAME;
        const bool is_salt = n >= LOG_HEADER && n - frame >= 8 && n - frame < 16; /* may be a frame of an earlier log */
        const uint8_t flip = (uint8_t)(1 << random_next(&random) % 8);
        p.log.at[n] ^= flip;
        assert_int_equal(rows_of(&p.db, p.log.at, p.log.n, trouble), FIRST_ROWS + 10 * commits_before(&p, frame));
        assert_true(trouble[0] != '\0' || is_salt);
        p.log.at[n] ^= flip;
    }
    pair_free(&p);
    (void)state;
}

static void put_be32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* The log as a machine with the other order of bytes would write it: the checksums are of big-endian words. */
static void to_big_endian(struct image *log)
{
    uint32_t a = 0, b = 0;
    put_be32(log->at, be32(log->at) | 1);
    for (size_t at = 0; at < log->n; at += at ? FRAME : LOG_HEADER) {
        const size_t n_header = at ? 8 : 24;
        for (size_t i = 0; i < n_header + (at ? PAGE : 0); i += 8) {
            const uint8_t *word = log->at + at + (i < n_header ? i : i + 24 - n_header);
            a += be32(word) + b;
            b += be32(word + 4) + a;
        }
        put_be32(log->at + at + (at ? 16 : 24), a);
        put_be32(log->at + at + (at ? 20 : 28), b);
    }
}

static void a_log_that_is_not_of_the_database_is_ignored(void **state)
{
    struct pair p = make("SELECT 1", 100), later = make("CREATE TABLE v (c); CREATE TABLE w (d)", 100),
                other = make("DROP TABLE u; CREATE TABLE a (b); INSERT INTO a SELECT hex(zeroblob(900)) FROM t", 500),
                big = make("SELECT 1", 100), plain = make("SELECT 1", 100);
    to_big_endian(&big.log);
    plain.db.at[18] = plain.db.at[19] = 1;
    const struct {
        const char *what;
        const struct image *db, *log;
        int rows;
        const char *trouble;
    } row[] = {
        { "its own", &p.db, &p.log, FIRST_ROWS + 10 * COMMITS, "" },
        { "from a machine with other words", &big.db, &big.log, FIRST_ROWS + 10 * COMMITS, "" },
        { "of another database", &p.db, &other.log, FIRST_ROWS, "ignored: " },
        { "the other way around", &other.db, &p.log, FIRST_ROWS, "ignored: " },
        { "from before the database changed", &later.db, &p.log, FIRST_ROWS, "ignored: the database is newer" },
        { "the database was written anew", &plain.db, &p.log, FIRST_ROWS,
          "ignored: the database was written without it" },
        { "of a database with more tables", &p.db, &later.log, FIRST_ROWS, "ignored: it does not fit the database" },
        { "no log, but a database", &p.db, &p.db, FIRST_ROWS, "ignored: its header is damaged" },
    };
    char trouble[160];
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        assert_int_equal(rows_of(row[i].db, row[i].log->at, row[i].log->n, trouble), row[i].rows);
        print_message("    %s\n", trouble);
        assert_int_equal(strncmp(trouble, row[i].trouble, strlen(row[i].trouble)), 0);
        assert_int_equal(trouble[0] == '\0', row[i].trouble[0] == '\0');
    }
    struct pair *const all[] = { &p, &later, &other, &big, &plain };
    for (size_t i = 0; i < ROWS(all); i++)
        pair_free(all[i]);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_log_that_is_cut_has_its_whole_commits, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(damage_ends_what_is_read, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_log_that_is_not_of_the_database_is_ignored, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
