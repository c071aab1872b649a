/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/session/host_clock.h"

/* Runs in the child of a process with threads: allocates nothing. */
static _Noreturn void become(char *const argv[], int out, int trouble)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nothing = open("/dev/null", O_RDONLY), to = fcntl(out, F_DUPFD, STDERR_FILENO + 1);
    if (nothing >= 0 && to >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(to, STDOUT_FILENO) >= 0 &&
        dup2(to, STDERR_FILENO) >= 0)
        execv(argv[0], argv);
    const int why = errno;
    if (write(trouble, &why, sizeof why) != sizeof why)
        _exit(126);
    _exit(127);
}

/* Reads all available output. False: the output has ended, or is too long. */
static bool program_output_take(int fd, struct program_output *out)
{
    for (;;) {
        const size_t room = PROGRAM_OUTPUT_MOST - out->n_bytes;
        char more;
        const ssize_t n = room > 0 ? read(fd, out->text + out->n_bytes, room) : read(fd, &more, 1);
        if (n > 0 && room == 0)
            out->is_cut = true;
        if (n > 0 && room > 0)
            out->n_bytes += (size_t)n;
        if (n == 0 || out->is_cut)
            return false;
        if (n < 0 && errno != EINTR)
            return errno == EAGAIN;
    }
}

/* Reads the output until the program ends, prints too much, or exceeds its time. Descendants may keep the pipe open;
 * they are not waited for. */
static void follow(pid_t pid, int fd, unsigned limit_ms, struct program_output *out)
{
    const uint64_t until_ns = host_clock_raw_ns() + limit_ms * UINT64_C(1000000);
    bool is_open = true, is_over = false;
    while (!is_over && !out->is_cut && !out->is_late) {
        struct pollfd p = { .fd = is_open ? fd : -1, .events = POLLIN };
        poll(&p, 1, is_open ? 20 : 2);
        siginfo_t ended = { 0 };
        is_over = waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == pid;
        if (is_open)
            is_open = program_output_take(fd, out);
        out->is_late = !is_over && host_clock_raw_ns() >= until_ns;
    }
    int status = 0;
    kill(-pid, SIGKILL); /* its descendants, too; it is not reaped yet, so that its process group id is still its own */
    waitpid(pid, &status, 0);
    out->exit_code = is_over && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void program_run(char *const argv[], unsigned limit_ms, struct program_output *out)
{
    int said[2] = { -1, -1 }, trouble[2] = { -1, -1 };
    out->why = 0;
    out->n_bytes = 0;
    out->is_late = out->is_cut = false;
    out->exit_code = -1;
    pid_t pid = -1;
    if (pipe2(said, O_CLOEXEC) == 0 && pipe2(trouble, O_CLOEXEC) == 0 && fcntl(said[0], F_SETFL, O_NONBLOCK) == 0)
        pid = fork();
    if (pid == 0)
        become(argv, said[1], trouble[1]);
    out->why = pid < 0 ? errno : 0;
    close(said[1]);
    close(trouble[1]);
    if (pid > 0) {
        setpgid(pid, pid); /* the child does the same; whichever is first */
        if (read(trouble[0], &out->why, sizeof out->why) == sizeof out->why)
            waitpid(pid, NULL, 0);
        else
            follow(pid, said[0], limit_ms, out);
    }
    close(said[0]);
    close(trouble[0]);
    out->text[out->n_bytes] = '\0';
}
