/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Unless they are ignored (nohup): those that end a recording, then those that a supervisor only forwards. */
static const int asked[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT };
enum { N_ENDING = 3 };

bool run_events_begin(struct run_events *v, struct error *e)
{
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGCHLD);
    for (size_t i = 0; i < (v->forwards ? sizeof asked / sizeof *asked : N_ENDING); i++) {
        struct sigaction now;
        if (sigaction(asked[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&ours, asked[i]);
    }
    pthread_sigmask(SIG_BLOCK, &ours, &v->mask);
    sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = SIG_DFL },
              &v->child_was); /* with SIG_IGN, which a caller may have set, children cannot be waited for */
    v->signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    if (v->signals >= 0)
        return true;
    const int why = errno;
    sigaction(SIGCHLD, &v->child_was, NULL);
    pthread_sigmask(SIG_SETMASK, &v->mask, NULL);
    return error_set(e, FAULT_LIMIT, "signals cannot be awaited: %s", strerror(why));
}

uint64_t run_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Does not reap the program: its entry in /proc stays, for the last samples. */
static bool program_ended(struct run_events *v)
{
    siginfo_t info = { .si_pid = 0 };
    if (v->program <= 0 || v->has_ended || waitid(P_PID, (id_t)v->program, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid != v->program)
        return false;
    v->ended_ns = run_now_ns();
    return v->has_ended = true;
}

void run_events_reap(struct run_events *v)
{
    if (v->has_ended)
        TEMP_FAILURE_RETRY(wait4(v->program, &v->status, 0, &v->use));
}

/* Reads pending signals. True: one of them ends a recording. */
static bool signal_take(struct run_events *v)
{
    struct signalfd_siginfo s;
    bool is_interrupt = false;
    while (!is_interrupt && read(v->signals, &s, sizeof s) == sizeof s) {
        if (s.ssi_signo == SIGCHLD)
            continue;
        is_interrupt = true;
        v->number = (int)s.ssi_signo;
        v->is_sent = s.ssi_code <= 0;
    }
    return is_interrupt;
}

/* Ctrl-C reaches the program, too, and the program may end before our SIGINT is read. Signals that are pending here
 * have had their effect; they are consumed, so that they do not end this process when the mask is restored. */
bool run_events_end(struct run_events *v)
{
    const bool was_interrupted = signal_take(v);
    while (signal_take(v))
        ;
    close(v->signals);
    if (v->other > 0)
        close(v->other);
    sigaction(SIGCHLD, &v->child_was, NULL);
    pthread_sigmask(SIG_SETMASK, &v->mask, NULL);
    return was_interrupted;
}

/* Moves the next line of the input to v->line. A full buffer and the rest before the end of the input count as
 * lines. */
static bool line_take(struct run_events *v)
{
    char *const end = memchr(v->input, '\n', v->n_input);
    const size_t n = end ? (size_t)(end - v->input) : v->n_input;
    if (!end && (v->has_input ? v->n_input < sizeof v->input - 1 : n == 0))
        return false;
    memcpy(v->line, v->input, n);
    v->line[n] = '\0';
    v->n_input -= n + (end != NULL);
    memmove(v->input, v->input + n + (end != NULL), v->n_input);
    return true;
}

static void input_read(struct run_events *v)
{
    const ssize_t got = read(0, v->input + v->n_input, sizeof v->input - 1 - v->n_input);
    if (got > 0)
        v->n_input += (size_t)got;
    else if (got == 0 || (errno != EINTR && errno != EAGAIN))
        v->has_input = false;
}

static int timeout_ms(uint64_t until_ns)
{
    if (until_ns == 0)
        return -1;
    const uint64_t now = run_now_ns(), ms = until_ns > now ? (until_ns - now + 999999) / 1000000 : 0;
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

enum run_event run_events_next(struct run_events *v, uint64_t until_ns)
{
    const bool had_input = v->has_input;
    for (;;) {
        if (program_ended(v))
            return RUN_PROGRAM_ENDED;
        if (line_take(v))
            return RUN_LINE;
        if (had_input && !v->has_input)
            return RUN_END_OF_INPUT;
        struct pollfd of[] = { { .fd = v->signals, .events = POLLIN },
                               { .fd = v->has_input ? 0 : -1, .events = POLLIN },
                               { .fd = v->other > 0 ? v->other : -1, .events = POLLIN } };
        const int n = poll(of, sizeof of / sizeof *of, timeout_ms(until_ns));
        if (of[0].revents && signal_take(v))
            return RUN_INTERRUPTED;
        if (n > 0 && of[1].revents)
            input_read(v);
        if (n > 0 && of[2].revents)
            return RUN_PROGRAM_ENDED;
        if (n == 0 && until_ns && run_now_ns() >= until_ns)
            return RUN_TIME;
    }
}
