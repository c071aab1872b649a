/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void input_close(void)
{
    const int fd = open("/dev/null", O_RDONLY);
    if (fd > 0) {
        dup2(fd, 0);
        close(fd);
    }
}

/* Runs in the child. If the parent ends before launch_go(), the read fails and the child exits silently. */
static _Noreturn void child(const struct launch_of *of, int go, int trouble)
{
    char byte;
    if (TEMP_FAILURE_RETRY(read(go, &byte, 1)) != 1)
        _exit(0);
    if (of->no_input)
        input_close();
    pthread_sigmask(SIG_SETMASK, of->mask, NULL);
    execvpe(of->program[0], of->program, of->environment);
    const int why = errno;
    if (write(trouble, &why, sizeof why) != sizeof why)
        _exit(126);
    _exit(127);
}

bool launch_hold(struct run_launch *l, const struct launch_of *of, struct error *e)
{
    int go[2], trouble[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) != 0)
        return error_set(e, FAULT_LIMIT, "%s: cannot be started: %s", of->program[0], strerror(errno));
    if (pipe2(trouble, O_CLOEXEC) != 0) {
        close(go[0]);
        close(go[1]);
        return error_set(e, FAULT_LIMIT, "%s: cannot be started: %s", of->program[0], strerror(errno));
    }
    l->pid = fork();
    if (l->pid == 0) {
        close(go[1]);
        close(trouble[0]);
        child(of, go[0], trouble[1]);
    }
    const int why = errno;
    close(go[0]);
    close(trouble[1]);
    l->go = go[1];
    l->trouble = trouble[0];
    if (l->pid > 0)
        return true;
    close(l->go);
    close(l->trouble);
    return error_set(e, FAULT_LIMIT, "%s: cannot be started: %s", of->program[0], strerror(why));
}

bool launch_go(struct run_launch *l, const char *name, struct error *e)
{
    int why = 0;
    /* A socket, not a pipe: if the child was killed, writing to a pipe would end this process by SIGPIPE. */
    const bool is_gone = TEMP_FAILURE_RETRY(send(l->go, "g", 1, MSG_NOSIGNAL)) != 1;
    close(l->go);
    /* exec() closes the child's end: nothing to read means success. */
    const ssize_t got = TEMP_FAILURE_RETRY(read(l->trouble, &why, sizeof why));
    close(l->trouble);
    if (!is_gone && got == 0)
        return true;
    TEMP_FAILURE_RETRY(waitpid(l->pid, NULL, 0));
    return error_set(e, FAULT_ASKED, "%s: cannot be started: %s", name,
                     got == sizeof why ? strerror(why) : "its process has ended");
}

void launch_abandon(struct run_launch *l)
{
    close(l->go);
    close(l->trouble);
    TEMP_FAILURE_RETRY(waitpid(l->pid, NULL, 0));
}
