/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/files/file_tree.h"
#include "folder.h"

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2
#endif

/* Somebody who exchanges "tree/dir" for a link when the removal reaches a name. */
static struct {
    const char *name;
    bool is_before, is_done;
} exchange;

static void exchange_if(const char *name, bool is_before)
{
    char dir[600], link[600];
    if (exchange.is_done || !exchange.name || strcmp(name, exchange.name) != 0 || is_before != exchange.is_before)
        return;
    snprintf(dir, sizeof dir, "%s/tree/dir", folder);
    snprintf(link, sizeof link, "%s/link", folder);
    exchange.is_done = syscall(SYS_renameat2, AT_FDCWD, dir, AT_FDCWD, link, RENAME_EXCHANGE) == 0;
}

/* In place of that of the C library. */
int unlinkat(int dir, const char *name, int flags)
{
    exchange_if(name, true);
    const int failed = (int)syscall(SYS_unlinkat, dir, name, flags), why = errno;
    exchange_if(name, false);
    errno = why;
    return failed;
}

static void put(const char *name, bool is_dir)
{
    const int fd = is_dir ? mkdir(folder_path(name), 0700) : open(folder_path(name), O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    if (!is_dir)
        close(fd);
}

static bool is_there(const char *name)
{
    struct stat st;
    return lstat(folder_path(name), &st) == 0;
}

static void make_tree(void)
{
    char to[600];
    put("outside", true);
    put("outside/file", false);
    put("tree", true);
    put("tree/dir", true);
    put("tree/dir/file", false);
    put("tree/dir/empty", true);
    snprintf(to, sizeof to, "%s/outside", folder);
    assert_int_equal(symlink(to, folder_path("link")), 0);
    assert_int_equal(symlink(to, folder_path("tree/alias")), 0);
}

static int remove_tree(const char *name)
{
    return tree_remove_path(folder_path(name));
}

static void a_tree_is_removed_and_its_links_are_not_followed(void **state)
{
    (void)state;
    make_tree();
    assert_int_equal(remove_tree("tree"), 0);
    assert_int_equal(remove_tree("link"), 0);
    assert_false(is_there("tree") || is_there("link"));
    assert_true(is_there("outside/file"));
    assert_int_equal(remove_tree("tree"), ENOENT);
    assert_int_equal(remove_tree("outside/file"), 0);
    assert_int_equal(remove_tree("outside"), 0);
    assert_int_equal(folder_count(), 0);
}

static void a_directory_may_become_a_link_meanwhile(void **state)
{
    static const struct {
        const char *what, *name;
        bool is_before;
    } row[] = {
        { "before it is looked at", "dir", true },
        { "when it is known to be a directory, and not yet open", "dir", false },
        { "before a file in it is removed", "file", true },
        { "before a directory in it is removed", "empty", true },
        { "when that is known to be one", "empty", false },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        make_tree();
        exchange.name = row[i].name;
        exchange.is_before = row[i].is_before;
        exchange.is_done = false;
        remove_tree("tree");
        exchange.name = NULL;
        assert_true(exchange.is_done);
        assert_true(is_there("outside/file"));
        folder_remove(state);
        assert_int_equal(mkdir(folder, 0700), 0);
    }
}

static void what_cannot_be_removed_is_reported_and_the_rest_is_removed(void **state)
{
    (void)state;
    char path[600]; /* of directories that are too deep: a closed one is none for root */
    make_tree();
    snprintf(path, sizeof path, "%s/tree/deep", folder);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(mkdir(path, 0700), 0);
        strcat(path, "/d");
    }
    assert_int_equal(remove_tree("tree"), ENOTEMPTY);
    assert_true(is_there("tree/deep"));
    assert_false(is_there("tree/dir") || is_there("tree/alias"));
}

static void a_directory_is_emptied(void **state)
{
    (void)state;
    make_tree();
    const int dir = open(folder_path("tree"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(tree_empty(dir), 0);
    close(dir);
    assert_int_equal(rmdir(folder_path("tree")), 0);
    assert_int_equal(tree_empty(-1), EBADF);
    assert_true(is_there("outside/file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_tree_is_removed_and_its_links_are_not_followed, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_directory_may_become_a_link_meanwhile, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(what_cannot_be_removed_is_reported_and_the_rest_is_removed, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(a_directory_is_emptied, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
