/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/files/file.h"
#include "folder.h"

static void put_file(const char *name)
{
    FILE *f = fopen(folder_path(name), "w");
    assert_non_null(f);
    fputs("twelve bytes", f);
    fclose(f);
}

static void put_socket(const char *name)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path, sizeof address.sun_path, "%.100s", folder_path(name));
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    close(fd);
}

static void only_plain_files_are_opened_and_nothing_is_waited_for(void **state)
{
    (void)state;
    put_file("file");
    put_socket("socket");
    assert_int_equal(mkfifo(folder_path("fifo"), 0600), 0);
    assert_int_equal(mkdir(folder_path("dir"), 0700), 0);
    assert_int_equal(symlink("file", folder_path("link")), 0);
    static const struct {
        const char *name;
        int why;
    } row[] = {
        { "file", 0 },         { "fifo", NOT_A_FILE }, { "socket", NOT_A_FILE },
        { "dir", NOT_A_FILE }, { "link", ELOOP },      { "nothing", ENOENT },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct stat st;
        int why = 0;
        print_message("  %s\n", row[i].name);
        const int fd = file_open(AT_FDCWD, folder_path(row[i].name), &st, &why);
        assert_int_equal(why, row[i].why);
        assert_int_equal(fd >= 0, row[i].why == 0);
        if (fd < 0)
            continue;
        char text[20];
        size_t got = 0;
        assert_true(file_read(fd, text, sizeof text, &got, &why));
        assert_int_equal(got, 12);
        close(fd);
    }
}

static void the_end_of_a_directory_is_distinguished_from_trouble(void **state)
{
    (void)state;
    put_file("a");
    put_file("b");
    DIR *dir = opendir(folder);
    int why = 1;
    unsigned n = 0;
    while (dir_next(dir, &why))
        n++;
    assert_int_equal(n, 2);
    assert_int_equal(why, 0);
    closedir(dir);
}

static void troubles_come_with_a_way_out(void **state)
{
    (void)state;
    static const struct {
        int why;
        const char *reading, *writing; /* parts of the texts */
    } row[] = {
        { ENOSPC, "No space", "write elsewhere" },
        { EACCES, "ask its owner", "write elsewhere" },
        { EROFS, "Read-only", "write elsewhere" },
        { EMFILE, "ulimit -n", "ulimit -n" },
        { EFBIG, "too large", "ulimit -f" },
        { ENOMEM, "free some memory", "free some memory" },
        { ELOOP, "links are not followed", "links are not followed" },
        { NOT_A_FILE, "not a regular file", "not a regular file" },
        { ESRCH, "No such process", "No such process" }, /* there is none for this */
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        assert_non_null(strstr(read_trouble(row[i].why), row[i].reading));
        assert_non_null(strstr(write_trouble(row[i].why), row[i].writing));
    }
    write_trouble_names("--out");
    assert_non_null(strstr(write_trouble(EROFS), "; write elsewhere with --out"));
    assert_null(strstr(write_trouble(ENOMEM), "--out"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(only_plain_files_are_opened_and_nothing_is_waited_for, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(the_end_of_a_directory_is_distinguished_from_trouble, folder_make,
                                        folder_remove),
        cmocka_unit_test(troubles_come_with_a_way_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
