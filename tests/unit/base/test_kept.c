/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/files/file_lock.h"
#include "child.h"
#include "folder.h"
#include "refused.h"

static char ours[100], theirs[100];

static int setup(void **state)
{
    const int why = folder_make(state);
    snprintf(ours, sizeof ours, "%s/ours", folder);
    snprintf(theirs, sizeof theirs, "%s/theirs", folder);
    return why;
}

static struct kept kept_now(void)
{
    struct kept k = KEPT_NONE;
    assert_true(kept_open(&k, AT_FDCWD, ours, O_RDWR | O_CREAT | O_TRUNC, 0600));
    return k;
}

static void the_program_takes(int number)
{
    const int fd = open(theirs, O_RDWR | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(dup2(fd, number), number);
    close(fd);
}

static void close_it(struct kept *k)
{
    close(k->fd);
}

static void replace_it(struct kept *k)
{
    the_program_takes(k->fd);
}

static void replace_the_file(struct kept *k)
{
    the_program_takes(k->fd);
    assert_int_equal(rename(theirs, ours), 0);
}

static void leave_it(struct kept *k)
{
    (void)k;
}

static void what_a_program_does_to_a_descriptor(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        void (*happens)(struct kept *k);
        bool is_there, is_theirs, opens_again;
    } row[] = {
        { "nothing", leave_it, true, false, true },
        { "it closes it", close_it, false, false, true },
        { "it gives its number to a file of its own", replace_it, false, true, true },
        { "the same, and the name is another file's by now", replace_the_file, false, true, false },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        print_message("  %s\n", row[i].what);
        struct kept k = kept_now(), again = k;
        const int number = k.fd;
        row[i].happens(&k);
        assert_int_equal(kept_fd(&k), row[i].is_there ? number : -1);
        assert_true(kept_close(&k));
        assert_int_equal(fcntl(number, F_GETFD) >= 0, row[i].is_theirs); /* what is not ours stays open */
        errno = 0;
        assert_int_equal(kept_open(&again, AT_FDCWD, ours, O_RDWR, 0), row[i].opens_again);
        assert_int_equal(errno == ESTALE, !row[i].opens_again);
        kept_close(&again);
        close(number);
        unlink(ours);
    }
}

/* The numbers that a program gets are the lowest free ones. */
static void the_number_is_high_and_closed_at_exec(void **state)
{
    (void)state;
    struct kept k = kept_now();
    const int low = open(ours, O_RDONLY);
    assert_true(k.fd > 100 && low >= 0 && low < 100);
    assert_int_equal(fcntl(k.fd, F_GETFD), FD_CLOEXEC);
    close(low);
    kept_close(&k);
    unlink(ours);
}

static void nothing_is_kept_of_a_file_that_is_not_there(void **state)
{
    (void)state;
    struct kept k = KEPT_NONE;
    assert_false(kept_open(&k, AT_FDCWD, ours, O_RDWR, 0));
    assert_int_equal(errno, ENOENT);
    assert_int_equal(kept_fd(&k), -1);
    assert_true(kept_close(&k));
}

static bool is_held(void)
{
    int why;
    const int fd = open(ours, O_RDONLY | O_CREAT, 0600);
    const bool is = lock_is_held(fd, 0, 0, &why);
    assert_int_equal(why, 0);
    close(fd);
    return is;
}

static void a_lock_needs_no_descriptor(void **state)
{
    (void)state;
    const int fd = open(ours, O_RDWR | O_CREAT, 0600);
    assert_false(is_held());
    assert_true(lock_try(fd, 0, 0));
    void *const kept = lock_keep(fd);
    assert_non_null(kept);
    close(fd);
    assert_true(is_held()); /* which opens and closes the file, as a copy of it does */
    assert_true(is_held());
    const pid_t child = child_fork();
    if (child == 0)
        _exit(is_held() ? 0 : 1);
    assert_int_equal(child_end(child), 0);
    lock_release(kept);
    assert_false(is_held());
    unlink(ours);
}

static void a_lock_ends_with_its_process_and_not_with_its_children(void **state)
{
    (void)state;
    int ready[2];
    char byte;
    if (!children_get_wiped_pages())
        skip(); /* a child of an emulator holds the lock */
    assert_int_equal(pipe(ready), 0);
    const pid_t child = child_fork();
    if (child == 0) {
        const int fd = open(ours, O_RDWR | O_CREAT, 0600);
        const bool is_locked = lock_try(fd, 0, 0) && lock_keep(fd);
        close(fd);
        const pid_t grandchild = child_fork();
        if (grandchild == 0)
            for (;;)
                pause();
        if (!is_locked || write(ready[1], &grandchild, sizeof grandchild) != sizeof grandchild)
            _exit(1);
        for (;;)
            pause();
    }
    pid_t grandchild;
    assert_int_equal(read(ready[0], &grandchild, sizeof grandchild), sizeof grandchild);
    close(ready[1]);
    assert_true(is_held());
    kill(child, SIGKILL);
    child_end(child);
    assert_false(is_held());
    kill(grandchild, SIGKILL);
    assert_int_equal(read(ready[0], &byte, 1), 0); /* it has ended, too */
    close(ready[0]);
    unlink(ours);
}

/* ---- a table of its own ---- */

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
static int of_program;
static bool is_apart;

static void *thread_apart(void *sees_it)
{
    is_apart = descriptors_apart();
    *(bool *)sees_it = fcntl(of_program, F_GETFD) >= 0;
    for (int fd = 0; is_apart && fd < 3; fd++)
        close(fd); /* which the program does not notice */
    return NULL;
}

/* 0: it has a table of its own, with nothing of the program's. 1: it has not. 2: as it must not be. 3: there are no
 * filters here. */
static int apart_without(unsigned one, unsigned other)
{
    bool sees_it = false;
    pthread_t thread;
    of_program = dup2(open("/dev/null", O_RDONLY), 77);
    if (one != 0 && !calls_refuse(one, other))
        return 3;
    if (pthread_create(&thread, NULL, thread_apart, &sees_it) != 0 || pthread_join(thread, NULL) != 0)
        return 2;
    const bool is_open = fcntl(of_program, F_GETFD) >= 0 && fcntl(0, F_GETFD) >= 0;
    return !is_open || sees_it == is_apart ? 2 : !is_apart;
}

static void a_thread_gets_descriptors_of_its_own(void **state)
{
    static const struct {
        const char *what;
        unsigned one, other; /* are refused */
        bool is_apart;
    } row[] = {
        { "as the kernel is", 0, 0, true },
        { "a kernel without close_range()", SYS_close_range, SYS_close_range, true },
        { "a filter that permits nothing", SYS_close_range, SYS_unshare, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        print_message("  %s\n", row[i].what);
        const pid_t child = child_fork();
        if (child == 0)
            _exit(apart_without(row[i].one, row[i].other));
        const int status = child_end(child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
            print_message("  ... no filters here\n");
        else
            assert_int_equal(status, row[i].is_apart ? 0 : 1 << 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_program_does_to_a_descriptor),
        cmocka_unit_test(the_number_is_high_and_closed_at_exec),
        cmocka_unit_test(nothing_is_kept_of_a_file_that_is_not_there),
        cmocka_unit_test(a_lock_needs_no_descriptor),
        cmocka_unit_test(a_lock_ends_with_its_process_and_not_with_its_children),
        cmocka_unit_test(a_thread_gets_descriptors_of_its_own),
    };
    return cmocka_run_group_tests(tests, setup, folder_remove);
}
