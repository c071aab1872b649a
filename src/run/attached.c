/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/session/message.h"
#include "collect/session/recorder_session.h"

/* A command to a collector is one byte; the collector answers with a struct answer. It ends when its socket is
 * closed. */
enum { COMMAND_START = 's', COMMAND_STOP = 't' };
struct attached_answer {
    bool is_done;
    char text[PATH_MAX]; /* path of the collection, or why there is none */
};

struct attached {
    pid_t pid, collector;
    int to; /* socket to its collector; -1: the process or the collector has ended */
};

/* ---- the collector of one process ---- */

static struct ascope_session *session;
static struct run_sample sample;   /* describes the request in sample.json; released when the collector exits */
static int library = DYNAMIC_NONE; /* connection to the vendor's library in the process, which records the device */

/* Starts the device's recording if the process has loaded the vendor's library. The host is recorded in any case. */
static void library_start(const struct recorded_run *r, pid_t pid, struct error *e)
{
    if (r->sample_config && library == DYNAMIC_NONE)
        library = dynamic_connect(pid, NULL, r->sample_config, e);
    if (library != DYNAMIC_NONE)
        dynamic_request(library, pid, DYNAMIC_START, e);
}

static void attached_start(const struct recorded_run *r, pid_t pid, struct attached_answer *out)
{
    struct ascope_error why = { "" };
    if (session) {
        snprintf(out->text, sizeof out->text, "already recording");
        return;
    }
    struct error no_memory = { 0 };
    const bool has_sample = sample.root || run_sample_init(&sample, r, &no_memory);
    const struct session_target of = { .pid = pid, .command = has_sample ? &sample.command : NULL };
    session = session_new_for(&of, &r->recorder, false, &why);
    if (session && ascope_session_start(session, &why)) {
        struct error e = { 0 };
        library_start(r, pid, &e);
        out->is_done = true;
        snprintf(out->text, sizeof out->text, "%s", ascope_session_path(session));
        if (e.fault != FAULT_NONE)
            message(ASCOPE_WARNING, "%s; recording the host only", e.text);
        return;
    }
    ascope_session_discard(session);
    session = NULL;
    snprintf(out->text, sizeof out->text, "%s", why.text);
}

static void attached_stop(pid_t pid, struct attached_answer *out)
{
    struct ascope_error why = { "" };
    struct error e = { 0 };
    if (!session) {
        snprintf(out->text, sizeof out->text, "not recording; enter start to begin");
        return;
    }
    snprintf(out->text, sizeof out->text, "%s", ascope_session_path(session));
    if (library != DYNAMIC_NONE && !dynamic_request(library, pid, DYNAMIC_STOP, &e))
        message(ASCOPE_WARNING, "%s", e.text);
    out->is_done = ascope_session_end(session, &why);
    session = NULL;
    if (!out->is_done)
        snprintf(out->text, sizeof out->text, "%s", why.text);
}

static _Noreturn void collector(const struct recorded_run *r, pid_t pid, int from)
{
    char command;
    while (TEMP_FAILURE_RETRY(read(from, &command, 1)) == 1) {
        struct attached_answer out = { .is_done = false };
        if (command == COMMAND_START)
            attached_start(r, pid, &out);
        else
            attached_stop(pid, &out);
        if (TEMP_FAILURE_RETRY(send(from, &out, sizeof out, MSG_NOSIGNAL)) != sizeof out)
            break;
    }
    struct attached_answer last;
    if (session)
        attached_stop(pid, &last);
    if (library != DYNAMIC_NONE)
        dynamic_request(library, pid, DYNAMIC_QUIT, &(struct error){ 0 });
    _exit(0);
}

/* Forks the collector of process i. The child closes its copies of the sockets of earlier collectors: an open copy
 * would keep those collectors from noticing that the command has ended. */
static bool collector_start(const struct recorded_run *r, struct attached *of, size_t i, struct error *e)
{
    struct attached *const a = &of[i];
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return error_set(e, FAULT_LIMIT, "process %d: %s", (int)a->pid, strerror(errno));
    a->collector = fork();
    const int why = errno;
    if (a->collector == 0) {
        close(pair[0]);
        while (i > 0)
            close(of[--i].to);
        collector(r, a->pid, pair[1]);
    }
    close(pair[1]);
    a->to = pair[0];
    if (a->collector > 0)
        return true;
    close(a->to);
    a->to = -1;
    return error_set(e, FAULT_LIMIT, "process %d: %s", (int)a->pid, strerror(why));
}

/* ---- the command, which talks to the collectors ---- */

static bool is_there(pid_t pid)
{
    return kill(pid, 0) == 0 || errno == EPERM;
}

static void print_line(const struct recorded_run *r, const struct attached *a, const char *text)
{
    char line[PATH_MAX + 64];
    snprintf(line, sizeof line, "process %d: %s", (int)a->pid, text);
    if (r->listener && r->listener->answer)
        r->listener->answer(line);
}

static bool ask(struct attached *a, char command, struct attached_answer *out)
{
    if (a->to >= 0 && send(a->to, &command, 1, MSG_NOSIGNAL) == 1 &&
        recv(a->to, out, sizeof *out, MSG_WAITALL) == sizeof *out)
        return true;
    *out = (struct attached_answer){ .text = "its collector has ended" };
    return false;
}

/* Lets a collector end, and waits until it has. */
static void collector_end(struct attached *a)
{
    close(a->to);
    a->to = -1;
    waitpid(a->collector, NULL, 0);
}

struct conversation {
    const struct recorded_run *r;
    struct attached *of;
    size_t n;
    void (*found)(void *to, const char *path);
    void *to;
};

static void command_all(const struct conversation *c, char command)
{
    for (size_t i = 0; i < c->n; i++) {
        struct attached_answer out;
        char text[PATH_MAX + 32];
        if (c->of[i].to < 0)
            continue;
        ask(&c->of[i], command, &out);
        if (out.is_done && command == COMMAND_STOP)
            c->found(c->to, out.text);
        snprintf(text, sizeof text, "%s%s",
                 !out.is_done               ? ""
                 : command == COMMAND_START ? "recording "
                                            : "stopped ",
                 out.text);
        print_line(c->r, &c->of[i], text);
    }
}

/* Ends the collectors of processes that have ended; their recordings are complete. Returns how many are left. */
static size_t drop_ended(const struct conversation *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        struct attached *const a = &c->of[i];
        if (a->to >= 0 && !is_there(a->pid)) {
            struct attached_answer out;
            if (ask(a, COMMAND_STOP, &out) && out.is_done)
                c->found(c->to, out.text);
            print_line(c->r, a, "has ended");
            collector_end(a);
        }
        n += a->to >= 0;
    }
    return n;
}

static bool command_do(const struct conversation *c, const char *line)
{
    if (strcmp(line, "start") == 0)
        command_all(c, COMMAND_START);
    else if (strcmp(line, "stop") == 0)
        command_all(c, COMMAND_STOP);
    else if (strcmp(line, "quit") == 0 || strcmp(line, "q") == 0)
        return false;
    else if (*line && c->r->listener && c->r->listener->answer)
        c->r->listener->answer("commands: start, stop, quit (q), help (h)");
    return true;
}

static void converse(const struct conversation *c, struct run_events *v, struct run_result *out)
{
    const uint64_t second = 1000000000;
    bool shows_prompt = true;
    v->has_input = true;
    for (bool goes_on = true; goes_on && drop_ended(c) > 0;) {
        if (shows_prompt && c->r->listener && c->r->listener->prompt)
            c->r->listener->prompt();
        const enum run_event event = run_events_next(v, run_now_ns() + second);
        shows_prompt = event != RUN_TIME;
        if (event == RUN_LINE)
            goes_on = command_do(c, v->line);
        else if (event == RUN_INTERRUPTED)
            goes_on = !(out->was_interrupted = true);
        else if (event == RUN_END_OF_INPUT)
            goes_on = false;
    }
}

bool attached_collect(const struct recorded_run *r, struct run_result *out, struct run_events *v,
                      void (*found)(void *to, const char *path), struct error *e)
{
    struct attached *const of = calloc(r->n_pids, sizeof *of);
    struct conversation c = { .r = r, .of = of, .n = r->n_pids, .found = found, .to = out };
    if (!of)
        return error_no_memory(e, "the processes");
    bool is_done = true;
    for (size_t i = 0; i < c.n; i++)
        of[i] = (struct attached){ .pid = r->pids[i], .to = -1 };
    for (size_t i = 0; i < c.n && is_done; i++)
        is_done = collector_start(r, of, i, e);
    if (is_done)
        converse(&c, v, out);
    for (size_t i = 0; i < c.n; i++) {
        struct attached_answer last;
        if (of[i].to < 0)
            continue;
        if (ask(&of[i], COMMAND_STOP, &last) && last.is_done)
            found(out, last.text);
        collector_end(&of[i]);
    }
    free(of);
    return is_done;
}
