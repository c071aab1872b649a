/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>

#include "base/files/inside.h"
#include "child.h"
#include "folder.h"
#include "refused.h"

static const char *path_of(const char *name)
{
    static char path[2][600];
    static unsigned next;
    char *to = path[next++ % 2];
    snprintf(to, sizeof path[0], "%s/%s", folder, name);
    return to;
}

static void put_dir(const char *name)
{
    assert_int_equal(mkdir(path_of(name), 0700), 0);
}

static void put_link(const char *to, const char *name)
{
    assert_int_equal(symlink(to, path_of(name)), 0);
}

static void put_file(const char *name)
{
    FILE *f = fopen(path_of(name), "w");
    assert_non_null(f);
    fclose(f);
}

static void make_collection(void)
{
    put_dir("elsewhere");
    put_file("elsewhere/secret");
    put_dir("c");
    put_dir("c/dir");
    put_file("c/dir/file");
    put_link("dir", "c/link");
    put_link("../elsewhere", "c/out");
    put_link("file", "c/dir/alias");
    put_link("c", "typed");
}

static void check_rows(void)
{
    enum { READ = O_RDONLY | O_CLOEXEC, LIST = READ | O_DIRECTORY, MAKE = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC };
    static const struct {
        const char *what, *path;
        int flags, why;
    } row[] = {
        { "a file", "c/dir/file", READ, 0 },
        { "the root itself", "c", LIST, 0 },
        { "slashes are no names", "c///dir//file", READ, 0 },
        { "a link that the user typed is followed", "typed/dir/file", READ, 0 },
        { "a link on the way", "c/link/file", READ, ELOOP },
        { "a link out of the collection", "c/out/secret", READ, ELOOP },
        { "a link to a directory", "c/out", LIST, ELOOP },
        { "a link that is the file", "c/dir/alias", READ, ELOOP },
        { "a way up", "c/dir/../../elsewhere/secret", READ, EXDEV },
        { "a file on the way", "c/dir/file/more", READ, ENOTDIR },
        { "a file for a directory", "c/dir/file", LIST, ENOTDIR },
        { "nothing", "c/dir/nothing", READ, ENOENT },
        { "a new file", "c/dir/new", MAKE, 0 },
        { "a new file behind a link", "c/out/new", MAKE, ELOOP },
        { "a new file in place of a link", "c/dir/alias", MAKE, EEXIST },
        { "a user's name below no root is resolved as usual", "elsewhere/../elsewhere/secret", READ, 0 },
    };
    make_collection();
    assert_true(inside_enter(path_of("c/")));
    assert_true(inside_enter(path_of("typed")));
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        const int fd = inside_open(path_of(row[i].path), row[i].flags);
        assert_int_equal(fd < 0 ? errno : 0, row[i].why);
        if (fd >= 0)
            close(fd);
    }
    struct stat st;
    assert_int_equal(inside_stat(path_of("c/link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(inside_make(path_of("c/out/made")), -1);
    assert_int_equal(inside_remove(path_of("c/out/secret"), 0), -1);
    assert_int_equal(access(path_of("elsewhere/secret"), F_OK), 0);
    assert_int_equal(inside_make(path_of("c/dir/made")), 0);
    assert_int_equal(inside_remove(path_of("c/dir/made"), AT_REMOVEDIR), 0);
    assert_true(inside_enter(path_of("c/out"))); /* typed, too */
    const int fd = inside_open(path_of("c/out/secret"), READ);
    assert_true(fd >= 0);
    close(fd);
}

static void no_part_of_a_way_is_a_link(void **state)
{
    static const unsigned without[] = { 0, ENOSYS, EPERM };
    (void)state;
    for (size_t i = 0; i < ROWS(without); i++) {
        print_message(" openat2(): %s\n", without[i] ? strerror((int)without[i]) : "works");
        const pid_t child = child_fork();
        if (child == 0) {
            if (without[i] == 0 || openat2_fails(without[i]))
                check_rows();
            _exit(0);
        }
        child_end_well(child);
        folder_remove(NULL);
        assert_int_equal(mkdir(folder, 0700), 0);
    }
}

/* What is held is the directory that the user named, wherever its name leads by now. */
static void a_root_is_resolved_once(void **state)
{
    (void)state;
    const pid_t child = child_fork();
    if (child == 0) {
        make_collection();
        assert_true(inside_enter(path_of("c")));
        assert_int_equal(rename(path_of("c"), path_of("moved")), 0);
        put_link("elsewhere", "c");
        struct stat st;
        assert_int_equal(inside_stat(path_of("c/secret"), &st), -1);
        assert_int_equal(inside_stat(path_of("c/dir/file"), &st), 0);
        inside_again();
        assert_int_equal(inside_stat(path_of("c/secret"), &st), 0);
        assert_int_equal(inside_stat(path_of("c/dir/file"), &st), -1);
        assert_int_equal(unlink(path_of("c")), 0);
        inside_again();
        assert_int_equal(inside_stat(path_of("c/secret"), &st), -1);
        assert_int_equal(errno, ENOENT);
        _exit(0);
    }
    child_end_well(child);
}

static unsigned n_descriptors(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void many_roots_hold_few_descriptors(void **state)
{
    enum { MANY = 300, FEW = 40 };
    (void)state;
    const pid_t child = child_fork();
    if (child == 0) {
        const unsigned before = n_descriptors();
        char name[64];
        struct stat st;
        for (unsigned i = 0; i < MANY; i++) {
            snprintf(name, sizeof name, "rank_%u", i);
            put_dir(name);
            assert_true(inside_enter(path_of(name)));
            strcat(name, "/file");
            put_file(name);
        }
        for (unsigned i = 0; i < MANY; i++) {
            snprintf(name, sizeof name, "rank_%u/file", i);
            assert_int_equal(inside_stat(path_of(name), &st), 0);
        }
        assert_true(n_descriptors() < before + FEW);
        assert_int_equal(rename(path_of("rank_0"), path_of("was_0")), 0); /* its descriptor was given up */
        put_dir("other");
        put_file("other/file");
        put_link("other", "rank_0");
        assert_int_equal(inside_stat(path_of("rank_0/file"), &st), -1);
        assert_int_equal(errno, ESTALE);
        _exit(0);
    }
    child_end_well(child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_part_of_a_way_is_a_link, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_root_is_resolved_once, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(many_roots_hold_few_descriptors, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
