/* SPDX-License-Identifier: Apache-2.0 */
/* A program that is recorded from outside: it opens no session.
 *
 *     run_program marks N THREADS     N marks and N ranges on each of so many threads, one after the other N times
 *     run_program children N HOW      N children, one after the other, with a mark each; HOW: fork, raw (a system call), exec
 *     run_program bare                closes all descriptors, forgets its environment and its directory, marks, forks, marks
 *     run_program exit CODE | kill SIGNAL
 *     run_program wait                a mark, "ready" on standard output, and the next line of standard input, again and again
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ascope/ascope.h"

static void mark_and_range(void)
{
    ascope_mark(NULL, "mark", NULL);
    ascope_range_end(NULL, ascope_range_begin(NULL, "range", NULL));
}

static void *marker(void *n)
{
    for (long i = 0; i < *(const long *)n; i++)
        mark_and_range();
    return NULL;
}

static int marks(long n, long n_threads)
{
    pthread_t *const thread = calloc((size_t)n_threads, sizeof *thread);
    for (long i = 0; i < n_threads; i++)
        pthread_create(&thread[i], NULL, marker, &n);
    for (long i = 0; i < n_threads; i++)
        pthread_join(thread[i], NULL);
    free(thread);
    return 0;
}

static int children(char *self, long n, const char *how)
{
    ascope_mark(NULL, "parent", NULL); /* it has a ring before it forks */
    for (long i = 0; i < n; i++) {
        const pid_t child = strcmp(how, "raw") == 0 ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
        int status;
        if (child == 0 && strcmp(how, "exec") == 0) {
            execl(self, self, "marks", "1", "1", NULL);
            _exit(1);
        }
        if (child == 0) {
            alarm(60);
            mark_and_range();
            _exit(0);
        }
        if (waitpid(child, &status, 0) != child || status != 0)
            return 1;
    }
    return 0;
}

static int bare(void)
{
    int status;
    if (close_range(0, ~0u, 0) != 0 || clearenv() != 0 || chdir("/") != 0)
        return 1;
    marks(10, 2);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        mark_and_range();
        _exit(0);
    }
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

static int wait_for_lines(void)
{
    for (char line[16]; mark_and_range(), puts("ready"), fflush(stdout), fgets(line, sizeof line, stdin);)
        ;
    return 0;
}

int main(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "";
    const long number = argc > 2 ? atol(argv[2]) : 0;
    alarm(60); /* whoever hangs is ended, also in a child */
    if (strcmp(what, "marks") == 0 && argc > 3)
        return marks(number, atol(argv[3]));
    if (strcmp(what, "children") == 0 && argc > 3)
        return children(argv[0], number, argv[3]);
    if (strcmp(what, "bare") == 0)
        return bare();
    if (strcmp(what, "wait") == 0)
        return wait_for_lines();
    if (strcmp(what, "kill") == 0)
        raise((int)number);
    return (int)number;
}
