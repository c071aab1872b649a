/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/files/destination.h"
#include "base/files/gzip.h"
#include "base/files/out.h"
#include "folder.h"

static char *path_of(const char *name)
{
    char *path = strdup(folder_path(name));
    assert_non_null(path);
    return path;
}

static void put_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void expect_file(const char *path, const char *text)
{
    char got[100] = "";
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    got[fread(got, 1, sizeof got - 1, f)] = 0;
    fclose(f);
    assert_string_equal(got, text);
}

static bool write_named(const char *name, const char *text, struct error *e)
{
    struct out o;
    *e = (struct error){ 0 };
    if (!out_open_named(&o, name, e))
        return false;
    out_bytes(&o, text, strlen(text));
    return out_close(&o, e);
}

static void links_are_followed_to_the_folder_of_their_target(void **state)
{
    (void)state;
    static const struct {
        const char *what, *target;
        bool is_there;
    } row[] = {
        { "a link beside its target", "real.json", true },
        { "a link into a folder", "below/real.json", true },
        { "a link to what is not there yet", "below/new.json", false },
        { "a link to a link", "below/again", true },
    };
    struct error e;
    mkdir(folder_path("below"), 0700);
    assert_int_equal(symlink("../real.json", folder_path("below/again")), 0);
    for (size_t i = 0; i < ROWS(row); i++) {
        struct stat st;
        char *target = path_of(row[i].target);
        print_message("  %s\n", row[i].what);
        put_file(folder_path("real.json"), "old");
        if (row[i].is_there && strcmp(row[i].target, "below/real.json") == 0)
            put_file(target, "old");
        unlink(folder_path("link"));
        assert_int_equal(symlink(row[i].target, folder_path("link")), 0);
        assert_true(write_named(folder_path("link"), "new", &e));
        assert_int_equal(lstat(folder_path("link"), &st), 0);
        assert_true(S_ISLNK(st.st_mode));
        expect_file(target, "new");
        free(target);
    }
    struct destination d;
    assert_int_equal(symlink("round", folder_path("round")), 0);
    assert_false(write_named(folder_path("round"), "new", &e));
    assert_false(destination_look(&d, folder_path("below"), &e));
    assert_false(destination_look(&d, folder_path("no/such/folder"), &e));
}

static void *read_all(void *path)
{
    char *text = calloc(1, 100);
    FILE *f = fopen(path, "r");
    const size_t n = f ? fread(text, 1, 99, f) : 0;
    text[n] = 0;
    if (f)
        fclose(f);
    return text;
}

static void a_fifo_is_written_through_and_stays_one(void **state)
{
    (void)state;
    struct error e;
    struct stat st;
    char *fifo = path_of("fifo.json");
    pthread_t reader;
    void *got;
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(pthread_create(&reader, NULL, read_all, fifo), 0);
    assert_true(write_named(fifo, "[1, 2]", &e));
    pthread_join(reader, &got);
    assert_string_equal(got, "[1, 2]");
    assert_int_equal(lstat(fifo, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    assert_int_equal(folder_count(), 1); /* no temporary file beside it */
    free(got);
    free(fifo);
}

/* A copy of /dev/null in a folder of ours: the machine's own must not be at stake. */
static void a_device_stays_a_device(void **state)
{
    (void)state;
    struct error e;
    struct stat st;
    struct gzip g;
    if (mknod(folder_path("null"), S_IFCHR | 0600, makedev(1, 3)) != 0 ||
        close(open(folder_path("null"), O_WRONLY)) != 0)
        skip(); /* only root may, and only where the file system lets devices be opened */
    assert_true(write_named(folder_path("null"), "text", &e));
    assert_int_equal(symlink("null", folder_path("link")), 0);
    assert_true(write_named(folder_path("link"), "text", &e));
    assert_true(gzip_open(&g, folder_path("null"), &e));
    out_lit(&g.text, "text");
    assert_true(gzip_close(&g, &e));
    assert_int_equal(lstat(folder_path("null"), &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_int_equal(folder_count(), 2);
    assert_int_equal(mknod(folder_path("full"), S_IFCHR | 0600, makedev(1, 7)), 0);
    assert_false(write_named(folder_path("full"), "text", &e));
    assert_non_null(strstr(e.text, "cannot be written"));
}

/* Under its several names, when it is a file: what was there stays, and the position is kept. */
static void standard_output_is_a_descriptor_not_a_file(void **state)
{
    (void)state;
    static const char *const name[] = { "-", "/dev/stdout", "/proc/self/fd/1", "/dev/fd/1" };
    char *to = path_of("redirected"), *link = path_of("link");
    assert_int_equal(symlink("/proc/self/fd/1", link), 0);
    for (size_t i = 0; i <= ROWS(name); i++) {
        const char *now = i < ROWS(name) ? name[i] : link;
        if (strncmp(now, "/dev/", 5) == 0 && access("/dev/fd/1", F_OK) != 0)
            continue;
        struct error e;
        fflush(stdout);
        const int was = dup(STDOUT_FILENO), fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        assert_true(was >= 0 && fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
        const bool is_put = write(STDOUT_FILENO, "before ", 7) == 7, is_stdout = destination_is_stdout(now);
        const bool is_done = write_named(now, "text", &e);
        const bool is_last = write(STDOUT_FILENO, " after", 6) == 6;
        dup2(was, STDOUT_FILENO);
        close(was);
        close(fd);
        print_message("  %s\n", now);
        assert_true(is_put && is_stdout && is_done && is_last);
        expect_file(to, "before text after");
    }
    assert_false(destination_is_stdout(to));
    struct error e; /* of another process: behind what it has written */
    char other[64];
    const int fd = open(to, O_RDWR);
    snprintf(other, sizeof other, "/proc/%ld/task/%ld/fd/%d", (long)getpid(), (long)getpid(), fd);
    assert_true(write_named(other, ".", &e));
    expect_file(to, "before text after.");
    close(fd);
    free(to);
    free(link);
}

static void a_shared_folder_holds_traps_of_others(void **state)
{
    (void)state;
    struct error e;
    char *link = path_of("link"), *fifo = path_of("fifo"), *target = path_of("target");
    put_file(target, "old");
    assert_int_equal(symlink("target", link), 0);
    assert_int_equal(mkfifo(fifo, 0666), 0);
    if (geteuid() != 0 || lchown(link, 12345, 12345) != 0 || chown(fifo, 12345, 12345) != 0)
        skip();
    assert_int_equal(chmod(folder, 0777), 0);
    assert_true(write_named(link, "not sticky: as the kernel has it", &e));
    assert_int_equal(chmod(folder, 01777), 0);
    put_file(target, "old");
    assert_false(write_named(link, "new", &e));
    assert_false(write_named(fifo, "new", &e)); /* and does not wait for a reader */
    expect_file(target, "old");
    free(link);
    free(fifo);
    free(target);
}

static void a_result_is_a_plain_file_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *what, *said;
    } row[] = { { "link", "is a link" }, { "fifo", "is a FIFO" }, { "folder", "is a directory" } };
    struct error e = { 0 };
    struct out o;
    put_file(folder_path("target"), "old");
    assert_int_equal(symlink("target", folder_path("link")), 0);
    assert_int_equal(mkfifo(folder_path("fifo"), 0600), 0);
    assert_int_equal(mkdir(folder_path("folder"), 0700), 0);
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        e = (struct error){ 0 };
        assert_false(out_open(&o, folder_path(row[i].what), &e));
        assert_non_null(strstr(e.text, row[i].said));
    }
    expect_file(folder_path("target"), "old");
    e = (struct error){ 0 };
    assert_true(out_open(&o, folder_path("target"), &e));
    out_lit(&o, "new");
    assert_true(out_close(&o, &e));
    expect_file(folder_path("target"), "new");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(links_are_followed_to_the_folder_of_their_target, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_fifo_is_written_through_and_stays_one, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_device_stays_a_device, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(standard_output_is_a_descriptor_not_a_file, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_shared_folder_holds_traps_of_others, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_result_is_a_plain_file_or_refused, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
