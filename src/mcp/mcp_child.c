/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/mcp_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static bool stream_init(struct mcp_stream *s, int fd, size_t cap)
{
    *s = (struct mcp_stream){ .fd = fd, .text = malloc(cap + 1), .cap = cap };
    if (s->text)
        s->text[0] = '\0';
    return s->text && fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
}

/* A file with the text, at its begin: a pipe would have to be fed while the child runs. */
static int input_file(const char *text)
{
    const size_t n = text ? strlen(text) : 0;
    const int fd = memfd_create("ascope mcp", MFD_CLOEXEC);
    if (fd >= 0 && (write(fd, text, n) != (ssize_t)n || lseek(fd, 0, SEEK_SET) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* In the child, between fork() and exec(): only what a signal handler may call. */
static _Noreturn void child_become(const char *const *word, int in, int out, int messages)
{
    sigset_t none;
    sigemptyset(&none);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would take its answer */
    if (sigprocmask(SIG_SETMASK, &none, NULL) == 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(messages, STDERR_FILENO) >= 0)
        execv(word[0], (char *const *)word);
    _exit(127);
}

bool mcp_child_start(struct mcp_child *c, const char *const *word, const char *input, struct error *e)
{
    int out[2] = { -1, -1 }, messages[2] = { -1, -1 };
    *c = (struct mcp_child){ .out.fd = -1, .messages.fd = -1, .status = -1 };
    const int in = input_file(input);
    bool done = in >= 0 && pipe2(out, O_CLOEXEC) == 0 && pipe2(messages, O_CLOEXEC) == 0;
    int why = errno;
    done = done && stream_init(&c->out, out[0], MCP_OUTPUT_BYTES) &&
           stream_init(&c->messages, messages[0], MCP_MESSAGE_BYTES);
    if (done && (c->pid = fork()) == 0)
        child_become(word, in, out[1], messages[1]);
    if (done && c->pid < 0) {
        why = errno;
        done = false;
    }
    close(in);
    close(out[1]);
    close(messages[1]);
    if (done)
        return true;
    if (c->out.fd < 0)
        close(out[0]);
    if (c->messages.fd < 0)
        close(messages[0]);
    c->pid = 0;
    mcp_child_free(c);
    return error_set(e, FAULT_LIMIT, "%s cannot be started: %s", word[0], strerror(why));
}

static void stream_take(struct mcp_stream *s)
{
    enum { MOST_READS = 64 }; /* the caller has other things to do, too */
    char more[1 << 16];
    for (int i = 0; s->fd >= 0 && i < MOST_READS; i++) {
        const ssize_t n = read(s->fd, more, sizeof more);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            close(s->fd);
            s->fd = -1;
            return;
        }
        const size_t room = s->cap - s->n, kept = (size_t)n < room ? (size_t)n : room; /* more is no answer */
        memcpy(s->text + s->n, more, kept);
        s->n += kept;
        s->text[s->n] = '\0';
    }
}

static void child_reap(struct mcp_child *c)
{
    int status = 0;
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    c->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    c->pid = 0;
}

bool mcp_child_take(struct mcp_child *c)
{
    stream_take(&c->out);
    stream_take(&c->messages);
    if (c->out.fd >= 0 || c->messages.fd >= 0)
        return true;
    if (c->pid > 0)
        child_reap(c);
    return false;
}

void mcp_child_kill(struct mcp_child *c)
{
    if (c->pid <= 0)
        return;
    kill(c->pid, SIGKILL);
    child_reap(c);
}

void mcp_child_free(struct mcp_child *c)
{
    mcp_child_kill(c);
    if (c->out.text && c->out.fd >= 0)
        close(c->out.fd);
    if (c->messages.text && c->messages.fd >= 0)
        close(c->messages.fd);
    free(c->out.text);
    free(c->messages.text);
    *c = (struct mcp_child){ 0 };
}
