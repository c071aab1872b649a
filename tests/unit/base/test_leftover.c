/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/files/leftover.h"
#include "child.h"
#include "folder.h"

static void fill_tree(const char *path)
{
    char below[600];
    snprintf(below, sizeof below, "%s/dir", path);
    assert_int_equal(mkdir(below, 0700), 0);
    snprintf(below, sizeof below, "%s/dir/file", path);
    close(open(below, O_WRONLY | O_CREAT, 0600));
}

static void make(struct leftover *l, const char *final, bool is_tree)
{
    const int fd = is_tree ? leftover_dir(l, final) : leftover_file(l, final);
    assert_true(fd >= 0);
    if (is_tree)
        fill_tree(l->path);
    else
        close(fd);
}

static void what_is_complete_gets_its_name_and_what_is_not_is_removed(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        bool is_tree, is_whole;
    } row[] = {
        { "a file", false, true },
        { "half a file", false, false },
        { "a directory", true, true },
        { "half a directory", true, false },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct leftover l;
        make(&l, folder_path("PROF_1"), row[i].is_tree);
        assert_int_equal(folder_count(), 1);
        assert_int_not_equal(access(folder_path("PROF_1"), F_OK), 0);
        assert_int_equal(leftover_settle(&l, row[i].is_whole ? folder_path("PROF_1") : NULL), 0);
        assert_int_equal(access(folder_path("PROF_1"), F_OK) == 0, row[i].is_whole);
        assert_int_equal(folder_count(), row[i].is_whole);
        folder_remove(state);
        assert_int_equal(mkdir(folder, 0700), 0);
    }
}

static void what_could_not_be_made_or_renamed_leaves_nothing(void **state)
{
    (void)state;
    struct leftover l;
    assert_int_equal(leftover_file(&l, folder_path("no/such/a.csv")), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(leftover_settle(&l, NULL), 0);
    make(&l, folder_path("a.csv"), false);
    assert_int_equal(mkdir(folder_path("taken"), 0700), 0);
    assert_int_equal(leftover_settle(&l, folder_path("taken")), EISDIR);
    assert_int_equal(folder_count(), 1);
}

static void a_name_may_be_as_long_as_the_file_system_allows(void **state)
{
    (void)state;
    static const struct {
        const char *what, *letter, *end;
    } row[] = {
        { "a table", "n", "a.csv" },
        { "a table with characters of two bytes", "\xC3\xB6", ".csv" },
        { "a collection", "n", "_1_2_ascend_pt" },
    };
    for (size_t i = 0; i < ROWS(row); i++)
        for (unsigned cut = 0; cut < 4; cut++) {
            struct leftover l;
            char name[NAME_MAX + 1], path[600];
            const size_t len = NAME_MAX - cut, letter = strlen(row[i].letter);
            print_message("  %s, %zu bytes\n", row[i].what, len);
            memset(name, 'n', sizeof name);
            for (size_t end = len - strlen(row[i].end); end >= letter; end -= letter)
                memcpy(name + end - letter, row[i].letter, letter);
            strcpy(name + len - strlen(row[i].end), row[i].end);
            strcpy(path, folder_path(name));
            make(&l, path, false);
            assert_int_not_equal((unsigned char)strrchr(l.path, '/')[1] & 0xC0, 0x80);
            close(l.lock); /* as of a killed process */
            l.lock = -1;
            assert_int_equal(folder_count(), 1);
            if (cut % 2)
                leftovers_sweep(folder);
            else
                leftovers_sweep_of(path);
            assert_int_equal(folder_count(), 0);
            assert_int_equal(leftover_settle(&l, NULL), 0);
            make(&l, path, true);
            assert_int_equal(leftover_settle(&l, path), 0);
            assert_int_equal(access(path, F_OK), 0);
            folder_remove(state);
            assert_int_equal(mkdir(folder, 0700), 0);
        }
}

/* Two containers have the same process ids: neither name nor file may be shared. */
static void two_of_one_name_do_not_meet(void **state)
{
    (void)state;
    struct leftover a, b;
    const int first = leftover_file(&a, folder_path("a.csv")), second = leftover_file(&b, folder_path("a.csv"));
    assert_string_not_equal(a.path, b.path);
    assert_int_equal(write(first, "first", 5), 5);
    assert_int_equal(write(second, "2", 1), 1);
    close(first);
    close(second);
    leftovers_sweep(folder); /* neither is gone */
    assert_int_equal(folder_count(), 2);
    assert_int_equal(leftover_settle(&b, folder_path("a.csv")), 0);
    struct stat st;
    assert_int_equal(stat(folder_path("a.csv"), &st), 0);
    assert_int_equal(st.st_size, 1);
    assert_int_equal(leftover_settle(&a, folder_path("a.csv")), 0);
    assert_int_equal(stat(folder_path("a.csv"), &st), 0);
    assert_int_equal(st.st_size, 5);
    assert_int_equal(folder_count(), 1);
}

/* In a process of its own: afterwards nothing can be made any more. */
static void who_ends_early_removes_everything(void **state)
{
    (void)state;
    const pid_t child = child_fork();
    if (child == 0) {
        struct leftover l[3];
        make(&l[0], folder_path("a.csv"), false);
        make(&l[1], folder_path("PROF_1"), true);
        make(&l[2], folder_path("b.csv"), false);
        leftover_settle(&l[0], folder_path("a.csv"));
        leftovers_abandon();
        _exit(0);
    }
    child_end_well(child);
    assert_int_equal(folder_count(), 1);
    assert_int_equal(access(folder_path("a.csv"), F_OK), 0);
}

static void only_what_nobody_writes_any_more_is_swept_up(void **state)
{
    (void)state;
    static const struct {
        const char *what, *name;
        bool is_tree, stays;
    } row[] = {
        { "a table", "a.csv.part-0123456789abcdef", false, false },
        { "a database", "msprof_1.db.part-0123456789abcdef", false, false },
        { "a table that is called a part", "b.part-1.csv.part-0123456789abcdef", false, false },
        { "a collection", "PROF_1.part-0123456789abcdef", true, false },
        { "a collection of PyTorch", "h_1_2_ascend_pt.part-0123456789abcdef", true, false },
        { "one whose removal was interrupted", "PROF_2.part-0123456789abcdef-", true, false },
        { "a result", "c.csv", false, true },
        { "a name that only looks alike", "d.csv.part-0123456789abcdefg", false, true },
        { "another that does", "d.csv.part-4711", false, true },
        { "what others have cut into parts", "archive.tar.part-0123456789abcdef", false, true },
    };
    struct leftover mine;
    make(&mine, folder_path("b.csv"),
         false); /* as another process would: the lock is of the file, not of the process */
    assert_int_equal(symlink("/", folder_path("e.csv.part-0123456789abcdef")), 0);
    for (size_t i = 0; i < ROWS(row); i++) {
        if (!row[i].is_tree)
            close(open(folder_path(row[i].name), O_WRONLY | O_CREAT, 0600));
        else if (mkdir(folder_path(row[i].name), 0700) == 0)
            fill_tree(folder_path(row[i].name));
    }
    leftovers_sweep(folder);
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        assert_int_equal(access(folder_path(row[i].name), F_OK) == 0, row[i].stays);
    }
    assert_int_equal(access(mine.path, F_OK), 0);
    leftovers_sweep_of(folder_path("archive.tar"));
    assert_int_not_equal(access(folder_path("archive.tar.part-0123456789abcdef"), F_OK), 0);
    assert_int_equal(access(mine.path, F_OK), 0);
    assert_int_equal(leftover_settle(&mine, NULL), 0);
}

static void what_another_user_has_put_there_stays(void **state)
{
    (void)state;
    static const char *const names[] = { "a.csv.part-0123456789abcdef", "PROF_1.part-0123456789abcdef" };
    if (geteuid() != 0)
        skip();
    close(open(folder_path(names[0]), O_WRONLY | O_CREAT, 0600));
    assert_int_equal(mkdir(folder_path(names[1]), 0700), 0);
    fill_tree(folder_path(names[1]));
    for (size_t i = 0; i < ROWS(names); i++)
        assert_int_equal(chown(folder_path(names[i]), 65534, 65534), 0);
    leftovers_sweep(folder);
    for (size_t i = 0; i < ROWS(names); i++)
        assert_int_equal(access(folder_path(names[i]), F_OK), 0);
    assert_int_not_equal(rmdir(folder_path(names[1])), 0); /* with what is in it */
}

/* It is somebody else's, and may be as deep as it likes: removing it must not exhaust the stack. */
static void a_tree_that_is_deeper_than_ours_stays(void **state)
{
    (void)state;
    enum { LEVELS = 40 };
    const char *const name = folder_path("a.csv.part-0123456789abcdef");
    char below[600];
    size_t n = (size_t)snprintf(below, sizeof below, "%s", name);
    for (int i = 0; i < LEVELS; i++) {
        assert_int_equal(mkdir(below, 0700), 0);
        n += (size_t)snprintf(below + n, sizeof below - n, "/d");
    }
    leftovers_sweep(folder);
    assert_int_equal(access(name, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_complete_gets_its_name_and_what_is_not_is_removed, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(what_could_not_be_made_or_renamed_leaves_nothing, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_name_may_be_as_long_as_the_file_system_allows, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(two_of_one_name_do_not_meet, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(who_ends_early_removes_everything, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(only_what_nobody_writes_any_more_is_swept_up, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(what_another_user_has_put_there_stays, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_tree_that_is_deeper_than_ours_stays, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
