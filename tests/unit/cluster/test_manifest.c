/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/job/manifest.h"

#include <unistd.h>

#include "test.h"

static char folder[] = "/tmp/ascope-manifest-XXXXXX";
static char path[sizeof folder + 20];

static const char *const roots[] = { "/data/a", "/data/b", "/" };

static void rank_add(struct job *j, struct job_rank r)
{
    struct job_rank *slot = list_add(&j->ranks, j->mem);
    assert_non_null(slot);
    *slot = r;
}

static struct job job_make(void)
{
    struct job j;
    struct error e = { 0 };
    assert_true(job_init(&j, &e));
    return j;
}

/* A job of each source. */
static struct job job_of_five(void)
{
    struct job j = job_make();
    rank_add(&j, (struct job_rank){ .rank = 0,
                                    .path = "/data/a/r0_ascend_pt",
                                    .source = SOURCE_COLLECTION,
                                    .stamp = 7,
                                    .framework = FRAMEWORK_MINDSPORE });
    rank_add(&j, (struct job_rank){ .rank = 2,
                                    .path = "/data/a/r2",
                                    .output = "/data/a/r2/out",
                                    .source = SOURCE_TEXT,
                                    .has_raw = true,
                                    .bytes = 9 });
    rank_add(
        &j,
        (struct job_rank){
            .rank = 3, .path = "/data/b/r3", .db = "/data/b/r3/x.db", .comm = "/data/b/r3/y.db", .source = SOURCE_DB });
    rank_add(&j, (struct job_rank){ .rank = 5,
                                    .path = "/data/b",
                                    .summary = "/data/b/all.summary",
                                    .source = SOURCE_SUMMARY,
                                    .offset = 12345678901 });
    rank_add(&j, (struct job_rank){
                     .rank = INT32_MAX, .path = "/data/a/t.json", .trace = "/data/a/t.json", .source = SOURCE_TRACE });
    return j;
}

static struct manifest_of of_two(const char *wanted)
{
    return (struct manifest_of){ roots, 2, wanted };
}

static void text_same(const char *a, const char *b)
{
    assert_int_equal(!a, !b);
    if (a)
        assert_string_equal(a, b);
}

static void rank_same(const struct job_rank *a, const struct job_rank *b)
{
    assert_true(a->rank == b->rank && a->source == b->source && a->has_raw == b->has_raw &&
                a->framework == b->framework && a->bytes == b->bytes && a->stamp == b->stamp && a->offset == b->offset);
    text_same(a->path, b->path);
    text_same(a->summary, b->summary);
    text_same(a->output, b->output);
    text_same(a->db, b->db);
    text_same(a->comm, b->comm);
    text_same(a->trace, b->trace);
}

static void parts_are_the_whole(void **state)
{
    const struct manifest_of of = of_two("0-9");
    struct job j = job_of_five();
    struct error e = { 0 };
    assert_true(manifest_write(&j, &of, path, &e));
    for (size_t n_parts = 1; n_parts <= 7; n_parts++) {
        size_t n = 0, n_all;
        for (size_t part = 0; part < n_parts; part++) {
            struct job k = job_make();
            assert_true(manifest_read(&k, &of, path, part, n_parts, &n_all, &e));
            assert_int_equal(n_all, 5);
            for (size_t i = 0; i < k.ranks.n; i++)
                rank_same(&k.ranks.at[i], &j.ranks.at[n + i]);
            n += k.ranks.n;
            job_fini(&k);
        }
        assert_int_equal(n, 5);
    }
    job_fini(&j);
    (void)state;
}

static bool is_read(const struct manifest_of *of, struct error *e)
{
    struct job k = job_make();
    size_t n_all;
    *e = (struct error){ 0 };
    const bool done = manifest_read(&k, of, path, 0, 1, &n_all, e);
    for (size_t i = 0; done && i < k.ranks.n; i++)
        assert_non_null(k.ranks.at[i].path);
    assert_int_equal(done, e->fault == FAULT_NONE);
    job_fini(&k);
    return done;
}

static void only_for_its_job(void **state)
{
    static const char *const swapped[] = { "/data/b", "/data/a" }, *const more[] = { "/data/a", "/data/b", "/data" };
    const struct {
        const char *what;
        struct manifest_of of;
        bool is_read;
    } row[] = {
        { "the same", of_two("0-9"), true },
        { "all ranks", of_two(NULL), false },
        { "other ranks", of_two("0-8"), false },
        { "one directory", { roots, 1, "0-9" }, false },
        { "another order", { swapped, 2, "0-9" }, false },
        { "one more directory", { more, 3, "0-9" }, false },
    };
    struct job j = job_of_five();
    struct error e = { 0 };
    assert_true(manifest_write(&j, &row[0].of, path, &e));
    job_fini(&j);
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        assert_int_equal(is_read(&row[i].of, &e), row[i].is_read);
        if (!row[i].is_read)
            assert_int_equal(e.fault, FAULT_ASKED);
    }
    (void)state;
}

/* The checksums of these are right: whoever made them wants us to read something else. */
static void no_path_leaves_its_directory(void **state)
{
    static const struct {
        const char *what;
        struct job_rank rank;
        bool is_written, is_read;
    } row[] = {
        { "inside", { .path = "/data/a/x/..y", .db = "/data/a/x/.z", .source = SOURCE_DB }, true, true },
        { "the directory itself", { .path = "/data/a", .db = "/data/a/z", .source = SOURCE_DB }, true, true },
        { "above", { .path = "/data/a/../c", .db = "/data/a/x", .source = SOURCE_DB }, true, false },
        { "the database above",
          { .path = "/data/a/x", .db = "/data/a/x/../../c/x.db", .source = SOURCE_DB },
          true,
          false },
        { "up at the end", { .path = "/data/a/x/..", .source = SOURCE_COLLECTION }, true, false },
        { "itself", { .path = "/data/a/./x", .source = SOURCE_COLLECTION }, true, false },
        { "a slash too many", { .path = "/data/a/x//y", .source = SOURCE_COLLECTION }, true, false },
        { "a slash at the end", { .path = "/data/a/x/", .source = SOURCE_COLLECTION }, true, false },
        { "beside", { .path = "/data/ab/x", .source = SOURCE_COLLECTION }, false, false },
        { "a file elsewhere", { .path = "/data/a/x", .db = "/etc/passwd", .source = SOURCE_DB }, false, false },
        { "no database", { .path = "/data/a/x", .source = SOURCE_DB }, true, false },
        { "no summary", { .path = "/data/a/x", .db = "/data/a/x/y", .source = SOURCE_SUMMARY }, true, false },
        { "no source", { .path = "/data/a/x", .source = SOURCE_NONE }, true, false },
        { "no such source", { .path = "/data/a/x", .source = 77 }, true, false },
        { "no such framework",
          { .path = "/data/a/x", .source = SOURCE_COLLECTION, .framework = FRAMEWORKS },
          true,
          false },
        { "no such rank", { .rank = -1, .path = "/data/a/x", .source = SOURCE_COLLECTION }, true, false },
        { "a rank beyond all", { .rank = INT64_MAX, .path = "/data/a/x", .source = SOURCE_COLLECTION }, true, false },
    };
    const struct manifest_of of = of_two(NULL);
    for (size_t i = 0; i < ROWS(row); i++) {
        struct job j = job_make();
        struct error e = { 0 };
        print_message("  %s\n", row[i].what);
        rank_add(&j, row[i].rank);
        assert_int_equal(manifest_write(&j, &of, path, &e), row[i].is_written);
        if (row[i].is_written)
            assert_int_equal(is_read(&of, &e), row[i].is_read);
        job_fini(&j);
    }
    (void)state;
}

static void ranks_are_in_order(void **state)
{
    const struct manifest_of of = of_two(NULL);
    struct job j = job_make();
    struct error e = { 0 };
    rank_add(&j, (struct job_rank){ .rank = 3, .path = "/data/a/x", .source = SOURCE_COLLECTION });
    rank_add(&j, (struct job_rank){ .rank = 3, .path = "/data/a/y", .source = SOURCE_COLLECTION });
    assert_true(manifest_write(&j, &of, path, &e));
    assert_false(is_read(&of, &e));
    job_fini(&j);
    (void)state;
}

static void root_is_a_directory_too(void **state)
{
    const struct manifest_of of = { roots + 2, 1, NULL };
    struct job j = job_make(), k = job_make();
    struct error e = { 0 };
    size_t n_all;
    rank_add(&j, (struct job_rank){ .path = "//x", .source = SOURCE_COLLECTION });
    assert_true(manifest_write(&j, &of, path, &e));
    assert_true(manifest_read(&k, &of, path, 0, 1, &n_all, &e));
    rank_same(&j.ranks.at[0], &k.ranks.at[0]);
    job_fini(&j);
    job_fini(&k);
    (void)state;
}

static void put(const uint8_t *data, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    fclose(f);
}

/* Each prefix, and each byte changed: refused with a reason. */
static void damage_is_refused(void **state)
{
    static uint8_t data[4096];
    const struct manifest_of of = of_two("0-9");
    struct job j = job_of_five();
    struct error e = { 0 };
    assert_true(manifest_write(&j, &of, path, &e));
    job_fini(&j);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const size_t n = fread(data, 1, sizeof data, f);
    fclose(f);
    assert_true(n > 400 && n < sizeof data);
    for (size_t k = 0; k < n; k++) {
        put(data, k);
        assert_false(is_read(&of, &e));
    }
    for (size_t k = 0; k < n; k++) {
        data[k] ^= 0x41;
        put(data, n);
        assert_false(is_read(&of, &e));
        data[k] ^= 0x41;
    }
    put(data, n);
    assert_true(is_read(&of, &e));
    remove(path);
    assert_false(is_read(&of, &e));
    (void)state;
}

static int folder_make(void **state)
{
    (void)state;
    const bool done = mkdtemp(folder) != NULL;
    snprintf(path, sizeof path, "%s/ranks.manifest", folder);
    return done ? 0 : -1;
}

static int folder_remove(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_the_whole),          cmocka_unit_test(only_for_its_job),
        cmocka_unit_test(no_path_leaves_its_directory), cmocka_unit_test(ranks_are_in_order),
        cmocka_unit_test(root_is_a_directory_too),      cmocka_unit_test(damage_is_refused),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
