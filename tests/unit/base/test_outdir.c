/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>
#include <sys/file.h>

#include "base/files/outdir.h"
#include "child.h"
#include "folder.h"

static void a_folder_inside_a_collection_is_no_link(void **state)
{
    (void)state;
    struct error e = { 0 };
    assert_true(outdir_make(folder_path("elsewhere"), &e));
    assert_int_equal(symlink("elsewhere", folder_path("link")), 0);
    assert_int_equal(symlink("elsewhere", folder_path("inner")), 0);
    assert_int_equal(symlink("nowhere", folder_path("dangling")), 0);
    assert_true(outdir_make(folder_path("link"), &e)); /* the user's own may be one */
    if (geteuid() == 0) {                              /* and another's, in a directory like /tmp, may not */
        char trap[600];
        snprintf(trap, sizeof trap, "%s/", folder_path("link"));
        assert_int_equal(chmod(folder, 01777) + lchown(folder_path("link"), 65534, 65534), 0);
        assert_false(outdir_make(folder_path("link"), &e));
        assert_non_null(strstr(e.text, "Permission denied"));
        e = (struct error){ 0 };
        assert_false(outdir_make(trap, &e));
        e = (struct error){ 0 };
        assert_int_equal(chmod(folder, 0700), 0);
        assert_true(outdir_make(folder_path("link"), &e));
    }
    static const char *const name[] = { "inner", "dangling" };
    for (size_t i = 0; i < ROWS(name); i++) {
        e = (struct error){ 0 };
        assert_false(outdir_is_inside(folder_path(name[i]), &e));
        assert_false(outdir_make_inside(folder_path(name[i]), &e));
        assert_int_equal(outdir_lock(folder_path(name[i]), 0, &e), -1);
        assert_non_null(strstr(e.text, "is a symbolic link"));
    }
    e = (struct error){ 0 };
    assert_true(outdir_is_inside(folder_path("missing"), &e));
    assert_true(outdir_make_inside(folder_path("new"), &e));
    assert_true(outdir_make_inside(folder_path("new"), &e));
}

static void one_writes_and_another_waits_or_says_so(void **state)
{
    (void)state;
    struct error e = { 0 };
    const int held = outdir_lock(folder_path("out"), 0, &e);
    assert_true(held >= 0);
    const int other = outdir_lock(folder_path("out"), 0, &e);
    assert_int_equal(other, -1);
    assert_non_null(strstr(e.text, "another process is writing"));

    const pid_t child = child_fork(); /* holds a copy of the descriptor, as a program that is started does not */
    if (child == 0) {
        struct error none = { 0 };
        close(held);
        _exit(outdir_lock(folder_path("out"), 3600000, &none) >= 0 ? 0 : 1);
    }
    close(held); /* it waits, or comes now: it gets the lock either way */
    child_end_well(child);
}

/* Who had nothing to write removes the folder that another waits for. */
static void a_folder_that_was_removed_is_made_again(void **state)
{
    (void)state;
    struct error e = { 0 };
    const int held = outdir_lock(folder_path("out"), 0, &e);
    const pid_t child = child_fork();
    if (child == 0) {
        struct error none = { 0 };
        close(held);
        const int got = outdir_lock(folder_path("out"), 3600000, &none);
        _exit(got >= 0 && access(folder_path("out"), F_OK) == 0 ? 0 : 1);
    }
    assert_int_equal(rmdir(folder_path("out")), 0);
    close(held);
    child_end_well(child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_folder_inside_a_collection_is_no_link, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(one_writes_and_another_waits_or_says_so, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_folder_that_was_removed_is_made_again, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
