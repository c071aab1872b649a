/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/command.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files/leftover.h"
#include "report/term.h"

static int code_of_nothing; /* exit code */
static pthread_t watcher;
static bool is_prepared, is_watched;
static atomic_bool is_over;
static int any; /* one of the watched signals, to wake the watcher; 0: none */
static sigset_t mask_before;
static struct sigaction on_size_before;

static void *wait_for_signal(void *arg)
{
    const sigset_t *set = arg;
    int number;
    if (sigwait(set, &number) != 0 || atomic_load(&is_over))
        return NULL;
    leftovers_abandon();
    sigset_t this;
    sigemptyset(&this);
    sigaddset(&this, number);
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &this, NULL); /* only this one: another pending signal must not take effect first */
    kill(getpid(), number);
    for (;;)
        pause();
}

int ending_signals(sigset_t *set)
{
    static const int asked[] = { SIGINT, SIGTERM, SIGHUP };
    int one = 0;
    sigemptyset(set);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct sigaction now;
        if (sigaction(asked[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaddset(set, one = asked[i]);
    }
    return one;
}

static void watch_signals(void)
{
    static sigset_t set;
    any = ending_signals(&set);
    atomic_store(&is_over, false);
    pthread_sigmask(SIG_BLOCK, &set, &mask_before); /* inherited by all threads; the watcher waits for them */
    is_watched = any && pthread_create(&watcher, NULL, wait_for_signal, &set) == 0;
    if (!is_watched)
        pthread_sigmask(SIG_UNBLOCK, &set,
                        NULL); /* the process then ends at once, and the next export removes its temporary files */
}

/* The file that is mapped at an address, from /proc/self/maps: "7f00-7f01 r--p 0 fd:00 12   /path". NULL: none.
 * Async-signal-safe. */
static const char *mapped_at(const void *address)
{
    static char line[5000], chunk[4096];
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    for (ssize_t got; fd >= 0 && (got = read(fd, chunk, sizeof chunk)) > 0;)
        for (ssize_t i = 0; i < got; i++) {
            if (chunk[i] != '\n') {
                line[n] = chunk[i];
                n += n < sizeof line - 1;
                continue;
            }
            line[n] = 0;
            n = 0;
            char *end = NULL;
            const uintptr_t first = strtoumax(line, &end, 16), behind = *end == '-' ? strtoumax(end + 1, &end, 16) : 0;
            if ((uintptr_t)address >= first && (uintptr_t)address < behind) {
                close(fd);
                return strchr(end, '/');
            }
        }
    if (fd >= 0)
        close(fd);
    return NULL;
}

static void print_error(const char *text)
{
    for (size_t left = strlen(text); left > 0;) {
        const ssize_t done = write(STDERR_FILENO, text, left);
        if (done <= 0)
            return;
        text += done;
        left -= (size_t)done;
    }
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    (void)context;
    const char *path = mapped_at(info->si_addr);
    if (!path) { /* not a mapped file: a hardware error of the memory */
        signal(number, SIG_DFL);
        return;
    }
    leftovers_abandon();
    print_error(complain_name());
    print_error(": ");
    print_error(path);
    print_error(": truncated, or its disk failed, while it was read; try again when no program writes to it\n");
    _exit(code_of_nothing);
}

void ending_prepare(enum face face)
{
    code_of_nothing = exit_code(face, STATUS_NOTHING);
    watch_signals();
    struct sigaction on_bus = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };
    sigemptyset(&on_bus.sa_mask);
    sigaction(SIGBUS, &on_bus, NULL);
    sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = SIG_IGN }, &on_size_before);
    is_prepared = true;
}

void ending_fini(void)
{
    if (!is_prepared)
        return;
    is_prepared = false;
    sigaction(SIGXFSZ, &on_size_before, NULL);
    if (!is_watched)
        return;
    atomic_store(&is_over, true);
    pthread_kill(watcher, any);
    pthread_join(watcher, NULL);
    is_watched = false;
    pthread_sigmask(SIG_SETMASK, &mask_before, NULL);
}
