#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/leftover.h"
#include "folder.h"

static int make_file(const char *path)
{
    return open(path, O_WRONLY | O_CREAT, 0600);
}

static int make_tree(const char *path)
{
    char below[600];
    if (mkdir(path, 0700) != 0)
        return -1;
    snprintf(below, sizeof below, "%s/dir", path);
    mkdir(below, 0700);
    snprintf(below, sizeof below, "%s/dir/file", path);
    close(make_file(below));
    return 0;
}

static int make_nothing(const char *path)
{
    (void)path;
    errno = EACCES;
    return -1;
}

static void what_is_complete_gets_its_name_and_what_is_not_goes(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        int (*make)(const char *path);
        bool is_whole;
    } row[] = {
        { "a file", make_file, true },
        { "half a file", make_file, false },
        { "a directory", make_tree, true },
        { "half a directory", make_tree, false },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct leftover l = { .path = leftover_name(folder_path("PROF_1")) };
        const int fd = leftover_make(&l, row[i].make);
        assert_true(fd >= 0);
        assert_int_equal(folder_count(), 1);
        assert_int_not_equal(access(folder_path("PROF_1"), F_OK), 0);
        assert_int_equal(leftover_settle(&l, row[i].is_whole ? folder_path("PROF_1") : NULL), 0);
        assert_int_equal(access(folder_path("PROF_1"), F_OK) == 0, row[i].is_whole);
        assert_int_equal(folder_count(), row[i].is_whole);
        if (fd > 0)
            close(fd);
        free((char *)l.path);
        folder_remove(state);
        assert_int_equal(mkdir(folder, 0700), 0);
    }
}

static void what_could_not_be_made_or_renamed_leaves_nothing(void **state)
{
    (void)state;
    struct leftover l = { .path = leftover_name(folder_path("a.csv")) };
    assert_int_equal(leftover_make(&l, make_nothing), -1);
    assert_int_equal(errno, EACCES);
    const int fd = leftover_make(&l, make_file);
    assert_int_equal(leftover_settle(&l, "/no/such/directory/a.csv"), ENOENT);
    assert_int_equal(folder_count(), 0);
    close(fd);
    free((char *)l.path);
}

/* In a process of its own: afterwards nothing can be made any more. */
static void who_ends_early_takes_everything_along(void **state)
{
    (void)state;
    const pid_t child = fork();
    if (child == 0) {
        struct leftover l[] = { { .path = leftover_name(folder_path("a.csv")) },
                                { .path = leftover_name(folder_path("PROF_1")) },
                                { .path = leftover_name(folder_path("b.csv")) } };
        leftover_make(&l[0], make_file);
        leftover_make(&l[1], make_tree);
        leftover_make(&l[2], make_file);
        leftover_settle(&l[0], folder_path("a.csv"));
        leftovers_abandon();
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(folder_count(), 1);
    assert_int_equal(access(folder_path("a.csv"), F_OK), 0);
}

static void only_what_the_dead_have_left_is_swept_up(void **state)
{
    (void)state;
    const pid_t gone = fork();
    if (gone == 0)
        _exit(0);
    assert_int_equal(waitpid(gone, NULL, 0), gone);
    const struct {
        const char *what, *name;
        long pid;
        bool is_tree, stays;
    } row[] = {
        { "a table of a process that is gone", "a.csv.part-%ld", gone, false, false },
        { "a database of it", "msprof_1.db.part-%ld", gone, false, false },
        { "a collection of it", "PROF_1.part-%ld", gone, true, false },
        { "of a process that still writes", "b.csv.part-%ld", getpid(), false, true },
        { "a result", "c.csv", 0, false, true },
        { "a name that only looks alike", "d.csv.part-%ldabc", gone, false, true },
        { "what others have cut into parts", "archive.tar.part-%ld", gone, false, true },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        char name[64];
        snprintf(name, sizeof name, row[i].name, row[i].pid);
        const int fd = (row[i].is_tree ? make_tree : make_file)(folder_path(name));
        assert_true(fd >= 0);
        if (fd > 0)
            close(fd);
    }
    leftovers_sweep(folder);
    for (size_t i = 0; i < ROWS(row); i++) {
        char name[64];
        snprintf(name, sizeof name, row[i].name, row[i].pid);
        print_message("  %s\n", row[i].what);
        assert_int_equal(access(folder_path(name), F_OK) == 0, row[i].stays);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_complete_gets_its_name_and_what_is_not_goes, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(what_could_not_be_made_or_renamed_leaves_nothing, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(who_ends_early_takes_everything_along, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(only_what_the_dead_have_left_is_swept_up, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
