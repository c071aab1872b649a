/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process/limited_call.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

uint32_t limit_seconds(const char *variable)
{
    enum { MOST = 3600 };
    const char *const text = getenv(variable);
    char *end = NULL;
    const long value = text ? strtol(text, &end, 10) : LIMIT_S;
    return text && (end == text || *end || value < 1 || value > MOST) ? LIMIT_S : (uint32_t)value;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- on a thread ---- */

struct call {
    void (*call)(void *);
    void *job;
};

static void *call_main(void *at)
{
    const struct call c = *(struct call *)at;
    free(at);
    pthread_setname_np(pthread_self(), "ascope-vendor");
    c.call(c.job);
    return NULL;
}

/* By a clock that does not jump where the C library can: glibc from 2.31 on. */
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 31)
#define JOIN_CLOCK                CLOCK_MONOTONIC
#define join_until(thread, until) pthread_clockjoin_np(thread, NULL, JOIN_CLOCK, until)
#else
#define JOIN_CLOCK                CLOCK_REALTIME
#define join_until(thread, until) pthread_timedjoin_np(thread, NULL, until)
#endif

/* After a join the library's thread-local memory is freed. */
bool limited_join(pthread_t thread, uint32_t limit_s)
{
    struct timespec until;
    clock_gettime(JOIN_CLOCK, &until);
    until.tv_sec += (time_t)limit_s;
    const bool is_done = join_until(thread, &until) == 0;
    if (!is_done)
        pthread_detach(thread);
    return is_done;
}

/* With the signals of the calling thread: threads that the library makes have them, too. */
bool limited_call(void (*call)(void *job), void *job, uint32_t limit_s)
{
    struct call *c = malloc(sizeof *c);
    pthread_t thread;
    if (!c)
        return false;
    *c = (struct call){ call, job };
    if (pthread_create(&thread, NULL, call_main, c) != 0) {
        free(c);
        return false;
    }
    return limited_join(thread, limit_s);
}

/* ---- in a child ---- */

/* Failures of the child stay invisible: no core file, no signal handler of the program, no output of the library on the
 * terminal. */
static void child_prepare(pid_t parent)
{
    static const int crashes[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTRAP, SIGTERM, SIGINT, SIGALRM };
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        signal(crashes[i], SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; nowhere >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(nowhere, fd);
}

enum child_end limited_child(void (*call)(void *shared), void *shared, uint32_t limit_s, int *signal_is)
{
    const pid_t parent = getpid(), child = fork();
    int status = 0;
    if (child == 0) {
        child_prepare(parent);
        call(shared);
        _exit(0);
    }
    if (child < 0)
        return CHILD_NONE;
    const uint64_t until_ns = now_ns() + (uint64_t)limit_s * 1000000000;
    for (;;) {
        const pid_t ended = (pid_t)TEMP_FAILURE_RETRY(waitpid(child, &status, WNOHANG));
        if (ended < 0)
            return CHILD_DONE; /* the program itself has waited for all of its children: the shared memory has the
                                  result */
        if (ended == child)
            break;
        if (now_ns() > until_ns) {
            kill(child, SIGKILL);
            TEMP_FAILURE_RETRY(waitpid(child, &status, 0));
            return CHILD_HUNG;
        }
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    *signal_is = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return WIFSIGNALED(status) ? CHILD_CRASHED : CHILD_DONE;
}
