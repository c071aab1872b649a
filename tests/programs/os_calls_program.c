/* SPDX-License-Identifier: Apache-2.0 */
/* A program that makes calls, which test_os_calls.c counts: `os_calls_program WHAT N`. It knows nothing of the
 * recorder. Ends with 0 when every call gave what it gives without one. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(is_so)                                                                                                   \
    do {                                                                                                               \
        if (!(is_so)) {                                                                                                \
            fprintf(stderr, "line %d: %s\n", __LINE__, #is_so);                                                        \
            _exit(3);                                                                                                  \
        }                                                                                                              \
    } while (0)

static int null_fd;
static const char *program;

static void writes(int n)
{
    for (int i = 0; i < n; i++)
        CHECK(write(null_fd, "x", 1) == 1);
}

static int reads(int n)
{
    char byte;
    const int zero = open("/dev/zero", O_RDONLY);
    for (int i = 0; i < n; i++)
        CHECK(read(zero, &byte, 1) == 1 && byte == 0);
    writes(n);
    return 0;
}

static void *writes_main(void *n)
{
    writes(*(int *)n);
    return NULL;
}

static int threads(int n)
{
    for (int i = 0; i < n; i++) {
        pthread_t t;
        int once = 1;
        CHECK(pthread_create(&t, NULL, writes_main, &once) == 0);
        CHECK(pthread_join(t, NULL) == 0);
    }
    return 0;
}

/* ---- waiting: whoever has the lock gives it back only when the other one sleeps in the kernel ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t is_held, semaphore;
static pid_t waiter;

static void wait_until_asleep(pid_t tid)
{
    char path[64], text[32];
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", tid);
    for (;;) {
        FILE *const f = fopen(path, "r");
        CHECK(f);
        const bool is_there = fgets(text, sizeof text, f) != NULL;
        fclose(f);
        if (is_there && atoi(text) == SYS_futex && strncmp(text, "running", 7) != 0)
            return;
        sched_yield();
    }
}

static void *hold_main(void *n)
{
    for (int i = 0; i < *(int *)n; i++) {
        CHECK(pthread_mutex_lock(&mutex) == 0);
        sem_post(&is_held);
        wait_until_asleep(waiter);
        pthread_mutex_unlock(&mutex);
        while (sem_trywait(&semaphore) != 0)
            sched_yield();
    }
    return NULL;
}

static int mutexes(int n)
{
    pthread_t t;
    waiter = gettid();
    sem_init(&is_held, 0, 0);
    sem_init(&semaphore, 0, 0);
    CHECK(pthread_create(&t, NULL, hold_main, &n) == 0);
    for (int i = 0; i < n; i++) {
        while (sem_trywait(&is_held) != 0)
            sched_yield();
        CHECK(pthread_mutex_lock(&mutex) == 0);
        pthread_mutex_unlock(&mutex);
        for (int k = 0; k < 10; k++) { /* nobody else wants it: not a wait */
            CHECK(pthread_mutex_lock(&mutex) == 0);
            pthread_mutex_unlock(&mutex);
        }
        sem_post(&semaphore);
    }
    CHECK(pthread_join(t, NULL) == 0);
    pthread_mutex_t made;
    pthread_attr_t attr;
    CHECK(pthread_mutex_init(&made, NULL) == 0 && pthread_attr_init(&attr) == 0);
    return 0;
}

/* ---- processes ---- */

static void child_waited(pid_t child)
{
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static int forks(int n)
{
    const pid_t child = fork();
    if (child == 0) {
        pthread_t t;
        writes(n);
        CHECK(pthread_create(&t, NULL, writes_main, &n) == 0 && pthread_join(t, NULL) == 0);
        _exit(0);
    }
    child_waited(child);
    writes(n);
    return 0;
}

static int raw_forks(int n) /* behind libc's back */
{
    const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        writes(n);
        _exit(0);
    }
    child_waited(child);
    writes(n);
    return 0;
}

static int vforks(int n)
{
    const pid_t child = vfork();
    if (child == 0) {
        for (int i = 0; i < n; i++)
            if (write(null_fd, "x", 1) != 1)
                _exit(1);
        _exit(0);
    }
    child_waited(child);
    writes(n);
    return 0;
}

static int execs(int n)
{
    char count[16];
    pid_t child;
    snprintf(count, sizeof count, "%d", n);
    char *const arguments[] = { (char *)(uintptr_t)program, "writes", count, NULL };
    CHECK(posix_spawn(&child, program, NULL, NULL, arguments, environ) == 0);
    child_waited(child);
    if ((child = vfork()) == 0) {
        execv(program, arguments);
        _exit(1);
    }
    child_waited(child);
    return 0;
}

static int only_writes(int n)
{
    writes(n);
    return 0;
}

/* ---- what interrupts ---- */

static int pipes[2];

static void *read_main(void *n)
{
    char byte;
    (void)n;
    while (read(pipes[0], &byte, 1) == 1)
        writes(1);
    return NULL;
}

static int cancels(int n)
{
    for (int i = 0; i < n; i++) {
        pthread_t t;
        void *value = NULL;
        CHECK(pipe(pipes) == 0);
        CHECK(pthread_create(&t, NULL, read_main, NULL) == 0);
        CHECK(write(pipes[1], "x", 1) == 1); /* wherever it is cancelled */
        CHECK(pthread_cancel(t) == 0);
        CHECK(pthread_join(t, &value) == 0 && value == PTHREAD_CANCELED);
        close(pipes[0]);
        close(pipes[1]);
    }
    writes(n);
    return 0;
}

static int zero_fd;

static void on_signal(int number)
{
    char byte;
    (void)number;
    errno = EXDEV;
    CHECK(read(zero_fd, &byte, 1) == 1);
    CHECK(errno == EXDEV);
}

static int handlers(int n)
{
    zero_fd = open("/dev/zero", O_RDONLY);
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < n; i++) {
        writes(1);
        raise(SIGUSR1);
    }
    return 0;
}

static sigjmp_buf back;

static void on_alarm(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

static int jumps(int n) /* out of a call that never ends */
{
    volatile int done = 0;
    char byte;
    CHECK(pipe(pipes) == 0);
    signal(SIGALRM, on_alarm);
    while (done < n)
        if (sigsetjmp(back, 1) == 0) {
            ualarm(2000, 0);
            CHECK(read(pipes[0], &byte, 1) == -2);
        } else {
            done++;
        }
    writes(n);
    return 0;
}

/* ---- errors ---- */

static int errors(int n)
{
    pthread_mutexattr_t checked;
    pthread_mutex_t own;
    char byte;
    (void)n;
    errno = 0;
    CHECK(read(-1, &byte, 1) == -1 && errno == EBADF);
    CHECK(open("/no/such/file", O_RDONLY) == -1 && errno == ENOENT);
    CHECK(mmap(NULL, 0, PROT_READ, MAP_PRIVATE, -1, 0) == MAP_FAILED && errno == EBADF);
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ .tv_nsec = -1 }, NULL) == EINVAL);
    errno = ERANGE;
    writes(1);
    CHECK(errno == ERANGE);
    pthread_mutexattr_init(&checked);
    pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&own, &checked);
    CHECK(pthread_mutex_lock(&own) == 0 && pthread_mutex_lock(&own) == EDEADLK);
    sem_t one;
    sem_init(&one, 0, 1);
    errno = ERANGE;
    CHECK(sem_wait(&one) == 0 && errno == ERANGE);
    CHECK(sem_timedwait(&one, &(struct timespec){ 0 }) == -1 && errno == ETIMEDOUT);
    return 0;
}

/* It has no descriptor, no directory, no environment and no rights any more. */
static int leaves(int n)
{
    char name[] = "/dev/null";
    null_fd = open(name, O_WRONLY);
    writes(n);
    closefrom(3);
    CHECK(chdir("/") == 0 && clearenv() == 0);
    CHECK(geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0));
    null_fd = open(name, O_WRONLY);
    CHECK(null_fd == 3);
    writes(n);
    return 0;
}

/* Before any constructor: what wraps the call has not begun. */
static void early(void)
{
    const int fd = open("/dev/null", O_WRONLY);
    CHECK(write(fd, "x", 1) == 1);
    close(fd);
}
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = early;

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int n);
    } all[] = {
        { "reads", reads },     { "writes", only_writes },  { "threads", threads }, { "mutexes", mutexes },
        { "forks", forks },     { "raw_forks", raw_forks }, { "vforks", vforks },   { "execs", execs },
        { "cancels", cancels }, { "handlers", handlers },   { "jumps", jumps },     { "errors", errors },
        { "leaves", leaves },
    };
    program = argv[0];
    null_fd = open("/dev/null", O_WRONLY);
    printf("%s\n", argc > 1 ? argv[1] : "");
    fflush(stdout);
    for (size_t i = 0; argc == 3 && i < sizeof all / sizeof *all; i++)
        if (strcmp(argv[1], all[i].name) == 0)
            return all[i].run(atoi(argv[2]));
    return 2;
}
