/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/mcp_server.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process/background.h"
#include "mcp/mcp_answer.h"

enum { SECOND_NS = 1000000000 };

struct mcp_server {
    const struct mcp_server_options *o;
    struct mcp_call call[MCP_WAITING]; /* the first one runs */
    size_t n;
    bool is_running;
    char *line;
    size_t n_line;
    bool is_skipping; /* the rest of a line that is too long */
    bool input_ended; /* calls that were made before are answered */
    bool has_ended;
    struct error *e;
};

/* Writes a message, and releases it. */
static void send_message(struct mcp_server *s, json_t *message)
{
    char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
    size_t n = text ? strlen(text) : 0;
    json_decref(message);
    if (!text) {
        error_no_memory(s->e, "a reply");
        s->has_ended = true;
        return;
    }
    text[n++] = '\n'; /* instead of the NUL */
    for (size_t at = 0; at < n;) {
        const ssize_t put = write(s->o->out, text + at, n - at);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            error_set(s->e, FAULT_IO, "standard output: %s", strerror(errno));
            s->has_ended = true;
            break;
        }
        at += (size_t)put;
    }
    free(text);
}

/* Removes a call, whose command is killed if it runs. */
static void call_drop(struct mcp_server *s, size_t i)
{
    if (i == 0)
        s->is_running = false;
    mcp_call_free(&s->call[i]);
    memmove(&s->call[i], &s->call[i + 1], (s->n - i - 1) * sizeof *s->call);
    s->n--;
}

/* Starts commands until one runs, or the call has its answer. */
static void calls_run(struct mcp_server *s)
{
    while (s->n > 0 && !s->is_running) {
        struct mcp_call *c = &s->call[0];
        if (c->begin_ns == 0)
            c->begin_ns = c->progress_ns = steady_ns();
        if (mcp_call_next(c, s->o->program)) {
            s->is_running = true;
            return;
        }
        send_message(s, mcp_reply(c->id, mcp_call_result(c)));
        call_drop(s, 0);
    }
}

static void react(struct mcp_server *s, const char *line, size_t n)
{
    struct mcp_call call;
    const struct mcp_reaction r = mcp_react(line, n, &s->o->roots, &call);
    switch (r.kind) {
    case MCP_REPLY: send_message(s, r.reply); break;
    case MCP_CALL:
        if (s->n < MCP_WAITING) {
            s->call[s->n++] = call;
            break;
        }
        send_message(s,
                     mcp_reply(call.id, mcp_text_result("too many calls wait; call again when one has ended", true)));
        mcp_call_free(&call);
        break;
    case MCP_CANCEL:
        for (size_t i = s->n; i-- > 0;)
            if (json_equal(s->call[i].id, r.id))
                call_drop(s, i);
        json_decref(r.id);
        break;
    default: break;
    }
}

static void bytes_take(struct mcp_server *s, const char *at, size_t n)
{
    while (n > 0 && !s->has_ended) {
        const char *end = memchr(at, '\n', n);
        const size_t part = end ? (size_t)(end - at) : n;
        if (s->n_line + part > MCP_LINE_BYTES) {
            if (!s->is_skipping)
                send_message(s, mcp_reply_error(NULL, MCP_BAD_REQUEST, "a message of more than 4 MiB"));
            s->is_skipping = true;
        } else if (!s->is_skipping) {
            memcpy(s->line + s->n_line, at, part);
            s->n_line += part;
        }
        at += part + (end != NULL);
        n -= part + (end != NULL);
        if (!end)
            continue;
        const size_t blank = strspn(s->line, " \t\r");
        s->line[s->n_line] = '\0';
        if (!s->is_skipping && blank < s->n_line)
            react(s, s->line, s->n_line);
        s->n_line = 0;
        s->is_skipping = false;
    }
}

static void input_take(struct mcp_server *s)
{
    char more[1 << 16];
    const ssize_t n = read(s->o->in, more, sizeof more);
    if (n > 0)
        bytes_take(s, more, (size_t)n);
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        s->input_ended = true;
}

static void child_take(struct mcp_server *s)
{
    struct mcp_call *c = &s->call[0];
    const uint64_t now = steady_ns();
    if (!mcp_child_take(&c->child)) {
        mcp_call_keep(c);
        s->is_running = false;
    } else if (now - c->begin_ns > MCP_SECONDS * UINT64_C(1000000000)) {
        mcp_child_kill(&c->child);
        error_set(&c->error, FAULT_LIMIT, "stopped after %d s", MCP_SECONDS);
        s->is_running = false;
    } else if (c->token && now - c->progress_ns >= SECOND_NS) {
        c->progress_ns = now;
        send_message(s, json_pack("{s:s, s:s, s:{s:O, s:I, s:s}}", "jsonrpc", "2.0", "method", "notifications/progress",
                                  "params", "progressToken", c->token, "progress",
                                  (json_int_t)((now - c->begin_ns) / SECOND_NS), "message", "seconds so far"));
    }
}

bool mcp_serve(const struct mcp_server_options *o, struct error *e)
{
    struct mcp_server *s = calloc(1, sizeof *s);
    char *line = malloc(MCP_LINE_BYTES + 1);
    if (!s || !line) {
        free(s);
        free(line);
        return error_no_memory(e, "the server");
    }
    *s = (struct mcp_server){ .o = o, .line = line, .e = e };
    while (!s->has_ended) {
        calls_run(s);
        if (s->input_ended && s->n == 0)
            break;
        const struct mcp_child *c = s->is_running ? &s->call[0].child : NULL;
        struct pollfd fd[] = { { .fd = s->input_ended ? -1 : o->in, .events = POLLIN },
                               { .fd = c ? c->out.fd : -1, .events = POLLIN },
                               { .fd = c ? c->messages.fd : -1, .events = POLLIN } };
        if (poll(fd, 3, c ? 1000 : -1) < 0 && errno != EINTR)
            break;
        if (fd[0].revents)
            input_take(s);
        if (s->is_running && !s->has_ended)
            child_take(s);
    }
    while (s->n > 0)
        call_drop(s, s->n - 1);
    free(line);
    free(s);
    return e->fault == FAULT_NONE;
}
