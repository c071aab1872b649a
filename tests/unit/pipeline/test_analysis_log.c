/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "folder.h"
#include "pipeline/analysis_log.h"

static unsigned logs_count(bool is_empty)
{
    unsigned n = 0;
    DIR *dir = opendir(folder_path("logs"));
    assert_non_null(dir);
    for (struct dirent *d; (d = readdir(dir));) {
        struct stat st;
        if (d->d_name[0] != '.' && fstatat(dirfd(dir), d->d_name, &st, 0) == 0)
            n += (st.st_size == 0) == is_empty;
    }
    closedir(dir);
    return n;
}

/* Processes of two containers may have the same number, and be at it in the same second. */
static void an_analysis_does_not_replace_the_log_of_another(void **state)
{
    enum { LOGS = 5 };
    struct error e = { 0 };
    struct collection_result r = { .collection.name = "node_1_20240101000000000_ascend_pt" };
    r.account.mem = arena_new();
    for (unsigned i = 0; i < LOGS; i++)
        if (!analysis_log_write(&r, folder, &e))
            fail_msg("%s", e.text);
    assert_int_equal(logs_count(false), LOGS);
    assert_int_equal(logs_count(true), 0);

    folder_limit(1); /* no room for what is in it: not even its name stays */
    assert_false(analysis_log_write(&r, folder, &e));
    folder_limit(0);
    assert_int_equal(logs_count(false), LOGS);
    assert_int_equal(logs_count(true), 0);
    arena_free(r.account.mem);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_analysis_does_not_replace_the_log_of_another, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
