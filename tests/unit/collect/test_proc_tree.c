/* SPDX-License-Identifier: Apache-2.0 */
#include "worker.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "collect/samplers/proc_files.h"

/* ---- what the process under test does ---- */

enum { BYTES = 1000000, HANDSHAKES = 4096 };
enum { WRITE, FORK, FORK_AND_WRITE, LET_END, LET_VANISH, IGNORE, SHORT_LIVED, THREAD, JOIN, NAME, FORK_DEEP };

static void write_bytes(void)
{
    static char bytes[BYTES];
    const int fd = open("/dev/null", O_WRONLY);
    if (write(fd, bytes, sizeof bytes) != sizeof bytes)
        abort();
    close(fd);
}

/* A child that waits to be let go. */
static struct {
    pid_t pid;
    int hold, ready;
} child;

static uint64_t fork_child(bool writes)
{
    int hold[2], ready[2];
    if (pipe(hold) != 0 || pipe(ready) != 0)
        abort();
    child.pid = child_fork();
    if (child.pid == 0) {
        close(hold[1]);
        if (writes)
            write_bytes();
        worker_send(ready[1], 1);
        uint64_t nothing;
        worker_receive(hold[0], &nothing);
        _exit(0);
    }
    close(hold[0]);
    close(ready[1]);
    uint64_t is_ready;
    if (!worker_receive(ready[0], &is_ready))
        abort();
    child.hold = hold[1];
    close(ready[0]);
    return (uint64_t)child.pid;
}

static uint64_t let_end(bool is_waited_for)
{
    close(child.hold);
    if (is_waited_for)
        child_end_well(child.pid);
    while (kill(child.pid, 0) == 0) /* until the kernel has let go of it */
        sched_yield();
    return 0;
}

/* The child is gone before anybody looks; its own child stays, and belongs to somebody else then. */
static uint64_t fork_deep(void)
{
    int deep[2];
    if (pipe(deep) != 0)
        abort();
    const pid_t between = child_fork();
    if (between == 0) {
        const pid_t below = child_fork();
        if (below == 0)
            for (;;)
                pause();
        worker_send(deep[1], (uint64_t)below);
        _exit(0);
    }
    uint64_t below = 0;
    if (!worker_receive(deep[0], &below))
        abort();
    child_end_well(between);
    close(deep[0]);
    close(deep[1]);
    return below;
}

static sem_t may_end;
static pthread_t thread;
static pid_t thread_number;
static sem_t is_there;

static void *wait_to_end(void *unused)
{
    thread_number = gettid();
    sem_post(&is_there);
    sem_wait(&may_end);
    return unused;
}

static uint64_t serve(uint64_t asked)
{
    switch (asked) {
    case WRITE: write_bytes(); return 0;
    case FORK: return fork_child(false);
    case FORK_AND_WRITE: return fork_child(true);
    case LET_END: return let_end(true);
    case LET_VANISH: return let_end(false);
    case IGNORE: signal(SIGCHLD, SIG_IGN); return 0;
    case SHORT_LIVED: fork_child(true); return let_end(true);
    case THREAD:
        sem_init(&may_end, 0, 0);
        sem_init(&is_there, 0, 0);
        if (pthread_create(&thread, NULL, wait_to_end, NULL) != 0)
            abort();
        sem_wait(&is_there);
        return (uint64_t)thread_number;
    case JOIN:
        sem_post(&may_end);
        pthread_join(thread, NULL);
        return 0;
    case NAME: prctl(PR_SET_NAME, "a) R\n1 (\\ 2"); return 0;
    case FORK_DEEP: return fork_deep();
    default: abort();
    }
}

/* ---- what is seen of it ---- */

static uint64_t at_ns = 1000000000; /* of looks: nothing here depends on time but the list that is made once a second */

static void look(struct proc_tree *t)
{
    proc_tree_look(t, at_ns += 20000000);
    proc_tree_io(t);
}

static const struct proc_process *process_of(const struct proc_tree *t, uint64_t pid)
{
    for (size_t i = 0; i < t->n; i++)
        if ((uint64_t)t->processes[i].pid == pid && !t->processes[i].has_ended)
            return &t->processes[i];
    return NULL;
}

static void assert_written(const struct proc_tree *t, unsigned times)
{
    const uint64_t wanted = (uint64_t)times * BYTES, found = t->io[IO_WRITE_CHARS];
    if (found < wanted || found > wanted + HANDSHAKES)
        fail_msg("%llu bytes written, %u times %d counted", (unsigned long long)found, times, BYTES);
}

static void bytes_are_counted_once(void **state)
{
    const struct worker w = worker_start(serve);
    struct proc_tree t;
    worker_do(&w, WRITE); /* before anybody looks: nobody asked for it */
    proc_tree_init(&t, w.pid, getpid());
    look(&t);
    assert_written(&t, 0);
    static const struct {
        const char *what;
        int asked;
        unsigned written;
    } row[] = {
        { "the process itself", WRITE, 1 },
        { "a child that has not ended", FORK_AND_WRITE, 2 },
        { "it was waited for, and is in the counters of its parent", LET_END, 2 },
        { "two looks later", FORK, 2 },
        { "a child that wrote nothing", LET_END, 2 },
        { "a child that nobody has seen", SHORT_LIVED, 3 },
        { "the process again", WRITE, 4 },
        { "children that nobody waits for", IGNORE, 4 },
        { "one of them", FORK_AND_WRITE, 5 },
        { "its parent never gets its counters", LET_VANISH, 5 },
        { "the parent writes as much itself", WRITE, 6 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        print_message("  %s\n", row[i].what);
        worker_do(&w, (uint64_t)row[i].asked);
        look(&t);
        assert_written(&t, row[i].written);
        assert_true(t.files.n <= t.files.most);
    }
    look(&t);
    assert_int_equal(t.n, 1); /* those that have ended are forgotten */
    worker_end(&w);
    look(&t);
    assert_true(t.has_ended && t.has_io);
    assert_written(&t, 6);
    proc_tree_fini(&t);
    assert_int_equal(t.files.n, 0);
    (void)state;
}

static void descendants_are_found(void **state)
{
    const struct worker w = worker_start(serve);
    struct proc_tree t;
    const uint64_t before = worker_do(&w, FORK);
    proc_tree_init(&t, w.pid, getpid());
    assert_true(process_of(&t, (uint64_t)w.pid) && process_of(&t, before)); /* who was there before */
    worker_do(&w, LET_END);
    look(&t);
    assert_null(process_of(&t, before));
    const uint64_t later = worker_do(&w, FORK);
    look(&t);
    assert_non_null(process_of(&t, later));
    assert_int_equal(process_of(&t, later)->parent, w.pid);
    assert_null(process_of(&t, (uint64_t)getpid()));
    const uint64_t thread_of_it = worker_do(&w, THREAD);
    look(&t);
    assert_null(process_of(&t, thread_of_it)); /* a thread is no process */
    assert_int_equal(process_of(&t, (uint64_t)w.pid)->n_threads, 2);
    assert_int_equal(process_of(&t, (uint64_t)w.pid)->threads[1].tid, thread_of_it);
    worker_do(&w, JOIN);
    look(&t);
    assert_int_equal(process_of(&t, (uint64_t)w.pid)->n_threads, 1);
    worker_do(&w, LET_END);
    worker_end(&w);
    look(&t);
    assert_true(t.has_ended);
    proc_tree_fini(&t);
    (void)state;
}

/* The process that looks takes over whose parents have ended: those belong to the program, too. */
static void orphans_are_found(void **state)
{
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    const struct worker w = worker_start(serve);
    struct proc_tree t;
    proc_tree_init(&t, w.pid, getpid());
    look(&t);
    const pid_t orphan = (pid_t)worker_do(&w, FORK_DEEP);
    look(&t);
    assert_non_null(process_of(&t, (uint64_t)orphan));
    kill(orphan, SIGKILL);
    child_end_by(orphan, SIGKILL);
    worker_end(&w);
    proc_tree_fini(&t);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    (void)state;
}

static void a_line_is_one_line_whatever_the_name(void **state)
{
    const struct worker w = worker_start(serve);
    struct proc_tree t;
    worker_do(&w, NAME);
    proc_tree_init(&t, w.pid, getpid());
    look(&t);
    struct proc_process *const p = &t.processes[0];
    assert_true(proc_thread_read(&t, p, &p->threads[0], false));
    const struct proc_thread *const thread_read = &p->threads[0];
    assert_ptr_equal(memchr(thread_read->line, '\n', thread_read->bytes), thread_read->line + thread_read->bytes - 1);
    assert_int_equal(atoi(thread_read->line), w.pid);
    worker_end(&w);
    assert_false(proc_thread_read(&t, p, &p->threads[0], false)); /* it has ended since */
    proc_tree_fini(&t);
    (void)state;
}

static void what_cannot_be_read_is_not_there(void **state)
{
    struct proc_tree t;
    proc_tree_init(&t, 1 << 30, getpid()); /* no such process */
    look(&t);
    assert_int_equal(t.n, 0);
    assert_true(t.has_ended && !t.has_io);
    proc_tree_fini(&t);
    const pid_t other = child_fork();
    if (other == 0) { /* another user than the one of process 1 */
        struct stat first;
        if ((getuid() == 0 && setuid(65534) != 0) || stat("/proc/1", &first) != 0 || first.st_uid == getuid())
            _exit(0);
        proc_tree_init(&t, 1, getpid());
        look(&t);
        assert_true(t.n >= 1 && !process_of(&t, 1)->has_io);
        proc_tree_fini(&t);
        _exit(0);
    }
    child_end_well(other);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_counted_once),
        cmocka_unit_test(descendants_are_found),
        cmocka_unit_test(orphans_are_found),
        cmocka_unit_test(a_line_is_one_line_whatever_the_name),
        cmocka_unit_test(what_cannot_be_read_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
