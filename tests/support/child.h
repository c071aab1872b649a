/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - a forked child of a test, whose parent never waits for ever.
 *
 * The child never returns into the test library: an assertion that fails in it prints what it found and aborts, and an
 * alarm ends it when it hangs. The alarm survives exec. The parent learns of both by a message that says which it was.
 */
#ifndef ASCOPE_TESTS_CHILD_H
#define ASCOPE_TESTS_CHILD_H

#include "test.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_SECONDS = 60 };

/* As fork(). The child ends by _exit(), exit(), exec or a signal. */
static inline pid_t child_fork(void)
{
    fflush(NULL);                        /* what is buffered is printed once */
    setenv("CMOCKA_TEST_ABORT", "1", 1); /* before: a child of several threads should not allocate */
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(CHILD_SECONDS);
        return 0;
    }
    unsetenv("CMOCKA_TEST_ABORT");
    if (child < 0)
        fail_msg("no child process");
    return child;
}

/* Fails: it ended in another way than the test wants. */
static inline void child_fail(int status)
{
    if (!WIFSIGNALED(status))
        fail_msg("the child ended with exit status %d", WEXITSTATUS(status));
    if (WTERMSIG(status) == SIGALRM)
        fail_msg("the child hung: it did not end within %d s", CHILD_SECONDS);
    if (WTERMSIG(status) == SIGABRT)
        fail_msg("the child failed: it says why above");
    fail_msg("the child was killed by signal %d", WTERMSIG(status));
}

/* Waits until it has ended: its status, as waitpid() gives it. */
static inline int child_end(pid_t child)
{
    int status = 0;
    assert_int_equal(TEMP_FAILURE_RETRY(waitpid(child, &status, 0)), child);
    return status;
}

/* Stops it, and waits until none of its threads runs; SIGCONT continues it. */
static inline void child_stop(pid_t child)
{
    int status = 0;
    assert_int_equal(kill(child, SIGSTOP), 0);
    assert_int_equal(TEMP_FAILURE_RETRY(waitpid(child, &status, WUNTRACED)), child);
    if (!WIFSTOPPED(status))
        child_fail(status);
}

/* The same as child_end() for a child that ends with exit status 0. */
static inline void child_end_well(pid_t child)
{
    const int status = child_end(child);
    if (status != 0)
        child_fail(status);
}

/* The same for a child that a signal ends. */
static inline void child_end_by(pid_t child, int signal)
{
    const int status = child_end(child);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != signal)
        child_fail(status);
}

/* For a parent that waits for something that the child will do: fails when it has ended before. */
static inline void child_runs(pid_t child)
{
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == 0)
        return;
    print_error("the child ended too early\n");
    child_fail(status);
}

/* Emulators of other processors accept MADV_WIPEONFORK and do not do it; nor MADV_DONTFORK. */
static inline bool children_get_wiped_pages(void)
{
    const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    char *const page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    *page = 1;
    if (madvise(page, bytes, MADV_WIPEONFORK) != 0)
        return false;
    const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0)
        _exit(*page);
    const int status = child_end(child);
    munmap(page, bytes);
    return status == 0;
}

#endif
