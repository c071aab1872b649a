/* SPDX-License-Identifier: Apache-2.0 */
#include "device/ascend/ascend_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

uint32_t ascend_limit_s(void)
{
    enum { MOST = 3600 };
    const char *const text = getenv("ASCOPE_ASCEND_LIMIT_S");
    char *end = NULL;
    const long value = text ? strtol(text, &end, 10) : ASCEND_LIMIT_S;
    return text && (end == text || *end || value < 1 || value > MOST) ? ASCEND_LIMIT_S : (uint32_t)value;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- on a thread ---- */

struct waited {
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool is_done, is_left; /* left: nobody waits any more, and the thread frees it */
    void (*call)(void *);
    void *job;
};

static void waited_free(struct waited *w)
{
    pthread_cond_destroy(&w->done);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

static void *call_main(void *at)
{
    struct waited *w = at;
    pthread_setname_np(pthread_self(), "ascope-ascend");
    w->call(w->job);
    pthread_mutex_lock(&w->lock);
    w->is_done = true;
    pthread_cond_signal(&w->done);
    const bool is_left = w->is_left;
    pthread_mutex_unlock(&w->lock);
    if (is_left)
        waited_free(w);
    return NULL;
}

/* With the signals of the calling thread: threads that the library makes have them, too. */
static bool thread_make(struct waited *w)
{
    pthread_attr_t detached;
    pthread_t thread;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    const int why = pthread_create(&thread, &detached, call_main, w);
    pthread_attr_destroy(&detached);
    return why == 0;
}

bool ascend_call(void (*call)(void *job), void *job, uint32_t limit_s)
{
    struct waited *w = calloc(1, sizeof *w);
    pthread_condattr_t monotonic;
    if (!w)
        return false;
    w->call = call;
    w->job = job;
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->done, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (!thread_make(w)) {
        waited_free(w);
        return false;
    }
    const uint64_t until_ns = now_ns() + (uint64_t)limit_s * 1000000000;
    const struct timespec until = { .tv_sec = (time_t)(until_ns / 1000000000),
                                    .tv_nsec = (long)(until_ns % 1000000000) };
    int why = 0;
    pthread_mutex_lock(&w->lock);
    while (!w->is_done && why == 0)
        why = pthread_cond_timedwait(&w->done, &w->lock, &until);
    const bool is_done = w->is_done;
    w->is_left = !is_done;
    pthread_mutex_unlock(&w->lock);
    if (is_done)
        waited_free(w);
    return is_done;
}

/* ---- in a child ---- */

/* What goes wrong in it is our business: no core file, no handler of the program's, no text of the library's on the terminal. */
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

enum ascend_child ascend_child(void (*call)(void *shared), void *shared, uint32_t limit_s, int *signal_is)
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
            return CHILD_DONE; /* the program has waited for all of its children: what is in the memory counts */
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
