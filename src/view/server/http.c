/* SPDX-License-Identifier: Apache-2.0 */
#include "view/server/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/process/background.h"

enum {
    CONNECTIONS = 256,
    MOST_THREADS = 16,
    QUIET_MS = 120 * 1000,  /* connections without traffic for this long are closed */
    LISTENER = CONNECTIONS, /* in events, instead of the number of a connection */
    WAKER,
};

/* A slot for a connection. Each connection of a slot has another number, so that late events of its predecessor are
 * ignored. */
struct connection {
    int fd; /* -1: free */
    uint32_t number;
    bool is_busy; /* a thread is serving it; only this thread uses the fields below */
    uint64_t quiet_since_ns;
    bool ends; /* it is closed when the reply has been sent */
    size_t n_in;
    char *in; /* HTTP_REQUEST_BYTES and one */
    struct out head, body;
    const char *lent; /* instead of body */
    size_t lent_bytes, sent;
    bool has_reply, has_body;
    bool has_more; /* `in` has more requests */
};

struct http {
    struct http_options options;
    int listener, epoll, waker;
    unsigned port;
    bool is_ending;
    pthread_mutex_t lock; /* of fd, number, is_busy and quiet_since_ns of all connections, and of is_ending */
    struct connection connection[CONNECTIONS];
    pthread_t thread[MOST_THREADS];
    unsigned n_threads;
};

static const char *reason_of(int status)
{
    static const struct {
        int status;
        const char *reason;
    } known[] = { { 200, "OK" },
                  { 303, "See Other" },
                  { 400, "Bad Request" },
                  { 403, "Forbidden" },
                  { 404, "Not Found" },
                  { 405, "Method Not Allowed" },
                  { 409, "Conflict" },
                  { 413, "Content Too Large" },
                  { 431, "Request Header Fields Too Large" },
                  { 503, "Service Unavailable" },
                  { 505, "HTTP Version Not Supported" } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].status == status)
            return known[i].reason;
    return "Internal Server Error";
}

static bool watch(struct http *h, int how, int fd, uint32_t events, uint64_t data)
{
    struct epoll_event event = { .events = events, .data.u64 = data };
    return !epoll_ctl(h->epoll, how, fd, &event);
}

/* With the lock. */
static void drop(struct connection *c)
{
    close(c->fd); /* and with it its place in epoll */
    free(c->in);
    out_discard(&c->head);
    out_discard(&c->body);
    *c = (struct connection){ .fd = -1, .number = c->number + 1 };
}

/* The connection that was quiet longest; NULL: there is none, or all are busy. With the lock. */
static struct connection *quietest(struct http *h)
{
    struct connection *oldest = NULL;
    for (size_t i = 0; i < CONNECTIONS; i++) {
        struct connection *c = &h->connection[i];
        if (c->fd >= 0 && !c->is_busy && (!oldest || c->quiet_since_ns < oldest->quiet_since_ns))
            oldest = c;
    }
    return oldest;
}

/* A slot for a new connection: a free one, or that of the quietest connection. NULL: all are busy. With the lock. */
static struct connection *place_for_new(struct http *h)
{
    for (size_t i = 0; i < CONNECTIONS; i++)
        if (h->connection[i].fd < 0)
            return &h->connection[i];
    struct connection *c = quietest(h);
    if (c)
        drop(c);
    return c;
}

/* The process has no descriptor for a client that waits: the quietest connection gives up its own. Without one, waits a
 * moment, because the listener stays ready and would keep all threads busy. */
static void descriptor_free(struct http *h)
{
    enum { MOMENT_US = 10000 };
    pthread_mutex_lock(&h->lock);
    struct connection *c = quietest(h);
    if (c)
        drop(c);
    pthread_mutex_unlock(&h->lock);
    if (!c)
        usleep(MOMENT_US);
}

static void take_new(struct http *h)
{
    const int fd = accept4(h->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE)
            descriptor_free(h);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    char *in = malloc(HTTP_REQUEST_BYTES + 1);
    struct error e = { 0 };
    struct out head = { 0 }, body = { 0 };
    const bool has_memory = in && out_open_memory(&head, &e) && out_open_memory(&body, &e);
    pthread_mutex_lock(&h->lock);
    struct connection *c = has_memory ? place_for_new(h) : NULL;
    if (c) {
        *c = (struct connection){
            .fd = fd, .number = c->number, .in = in, .head = head, .body = body, .quiet_since_ns = steady_ns()
        };
        if (!watch(h, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLONESHOT,
                   (uint64_t)c->number << 32 | (uint64_t)(c - h->connection)))
            drop(c);
    }
    pthread_mutex_unlock(&h->lock);
    if (!c) {
        close(fd);
        free(in);
        out_discard(&head);
        out_discard(&body);
    }
}

static void reply_begin(struct connection *c, const struct http_reply *r, bool is_head)
{
    struct out *o = &c->head;
    o->n = 0;
    const size_t n = r->body ? r->body_bytes : c->body.n;
    out_lit(o, "HTTP/1.1 ");
    out_i64(o, r->status);
    out_char(o, ' ');
    out_bytes(o, reason_of(r->status), strlen(reason_of(r->status)));
    out_lit(o, "\r\nContent-Type: ");
    out_bytes(o, r->type, strlen(r->type));
    out_lit(o, "\r\nContent-Length: ");
    out_u64(o, n);
    if (c->ends)
        out_lit(o, "\r\nConnection: close");
    out_lit(o, "\r\n");
    out_bytes(o, r->headers, strlen(r->headers));
    out_lit(o, "\r\n");
    c->lent = r->body;
    c->lent_bytes = n;
    c->has_body = !is_head;
    c->has_reply = true;
    c->sent = 0;
}

/* Sends what can be sent now. False: the client is gone. */
static bool send_some(struct connection *c)
{
    while (c->has_reply) {
        const size_t head = c->head.n, all = head + (c->has_body ? c->lent_bytes : 0);
        const char *body = c->lent ? c->lent : c->body.buf;
        const char *from = c->sent < head ? c->head.buf + c->sent : body + (c->sent - head);
        const size_t n = c->sent < head ? head - c->sent : all - c->sent;
        const ssize_t sent = n ? send(c->fd, from, n, MSG_NOSIGNAL | (c->sent < head && all > head ? MSG_MORE : 0)) : 0;
        if (sent < 0)
            return errno == EINTR || errno == EAGAIN;
        c->sent += (size_t)sent;
        if (c->sent == all) {
            c->has_reply = false;
            if (c->ends)
                return false;
        }
    }
    return true;
}

static void http_answer(struct http *h, struct connection *c, int used, const struct http_request *q)
{
    struct http_reply r = { .status = 200, .type = "text/plain; charset=utf-8", .headers = "", .out = &c->body };
    c->body.n = 0;
    if (used < 0) {
        r.status = -used;
        c->ends = true;
        out_bytes(&c->body, reason_of(r.status), strlen(reason_of(r.status)));
    } else {
        c->ends = !q->keeps_alive;
        h->options.answer(h->options.context, q, &r);
    }
    if (c->body.failed_errno) { /* of memory: there is no file */
        r = (struct http_reply){ .status = 503, .type = r.type, .headers = "", .body = no_memory_text() };
        r.body_bytes = strlen(r.body);
        c->ends = true;
    }
    reply_begin(c, &r, used > 0 && q->is_head);
}

/* Reads, answers and sends until one of them would block. After one answer it returns, so that other connections are
 * served, too. False: the connection has ended. */
static bool serve(struct http *h, struct connection *c)
{
    bool is_answered = false;
    c->has_more = false;
    for (;;) {
        if (!send_some(c))
            return false;
        c->has_more = is_answered && c->n_in > 0;
        if (c->has_reply || is_answered)
            return true;
        struct http_request q;
        const int used = c->n_in ? http_request_read(&q, c->in, c->n_in) : 0;
        if (used) {
            q.socket = c->fd;
            http_answer(h, c, used, &q);
            is_answered = true;
            if (used > 0) {
                c->n_in -= (size_t)used;
                memmove(c->in, c->in + used, c->n_in);
            }
            continue;
        }
        const ssize_t n = recv(c->fd, c->in + c->n_in, HTTP_REQUEST_BYTES - c->n_in, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN;
        if (!n)
            return false;
        c->n_in += (size_t)n;
    }
}

/* The connection of an event, marked as busy; NULL: it was closed. */
static struct connection *claim(struct http *h, uint64_t data)
{
    struct connection *c = &h->connection[data & 0xffffffff];
    pthread_mutex_lock(&h->lock);
    const bool is_ours = c->fd >= 0 && c->number == data >> 32 && !c->is_busy;
    if (is_ours)
        c->is_busy = true;
    pthread_mutex_unlock(&h->lock);
    return is_ours ? c : NULL;
}

static void release(struct http *h, struct connection *c, bool goes_on)
{
    pthread_mutex_lock(&h->lock);
    c->is_busy = false;
    c->quiet_since_ns = steady_ns();
    const uint32_t wants = c->has_reply || c->has_more
                               ? EPOLLOUT
                               : EPOLLIN; /* has_more: it can be written to, so that its turn comes at once */
    const uint64_t data = (uint64_t)c->number << 32 | (uint64_t)(c - h->connection);
    if (!goes_on || !watch(h, EPOLL_CTL_MOD, c->fd, wants | EPOLLONESHOT, data))
        drop(c);
    pthread_mutex_unlock(&h->lock);
}

static void drop_quiet(struct http *h)
{
    const uint64_t now = steady_ns();
    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < CONNECTIONS; i++) {
        struct connection *c = &h->connection[i];
        if (c->fd >= 0 && !c->is_busy && now - c->quiet_since_ns > QUIET_MS * UINT64_C(1000000))
            drop(c);
    }
    pthread_mutex_unlock(&h->lock);
}

static void *http_run(void *of)
{
    struct http *h = of;
    for (;;) {
        struct epoll_event event;
        const int n = epoll_wait(h->epoll, &event, 1, QUIET_MS);
        pthread_mutex_lock(&h->lock);
        const bool is_ending = h->is_ending;
        pthread_mutex_unlock(&h->lock);
        if (is_ending || (n < 0 && errno != EINTR))
            return NULL;
        if (n <= 0) {
            drop_quiet(h);
        } else if (event.data.u64 == LISTENER) {
            take_new(h);
        } else {
            struct connection *c = claim(h, event.data.u64);
            if (c)
                release(h, c, serve(h, c));
        }
    }
}

static bool listen_at(struct http *h, struct error *e)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)h->options.port) };
    socklen_t len = sizeof at;
    if (inet_pton(AF_INET, h->options.address, &at.sin_addr) != 1)
        return error_set(e, FAULT_ASKED, "%s: not an IPv4 address", h->options.address);
    h->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (h->listener < 0 || setsockopt(h->listener, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)) ||
        bind(h->listener, (struct sockaddr *)&at, sizeof at) || listen(h->listener, 64) ||
        getsockname(h->listener, (struct sockaddr *)&at, &len))
        return error_set(e, FAULT_IO, "%s:%u: %s", h->options.address, h->options.port, strerror(errno));
    h->port = ntohs(at.sin_port);
    return true;
}

struct http *http_open(const struct http_options *options, struct error *e)
{
    struct http *h = calloc(1, sizeof *h);
    if (!h) {
        error_no_memory(e, "server");
        return NULL;
    }
    h->options = *options;
    h->listener = h->waker = -1;
    pthread_mutex_init(&h->lock, NULL);
    for (size_t i = 0; i < CONNECTIONS; i++)
        h->connection[i].fd = -1;
    h->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!listen_at(h, e))
        goto failed;
    h->waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    /* The waker is never read: once written to, it wakes every thread. */
    if (h->epoll < 0 || h->waker < 0 || !watch(h, EPOLL_CTL_ADD, h->listener, EPOLLIN | EPOLLEXCLUSIVE, LISTENER) ||
        !watch(h, EPOLL_CTL_ADD, h->waker, EPOLLIN, WAKER)) {
        error_set(e, FAULT_IO, "server: %s", strerror(errno));
        goto failed;
    }
    const unsigned wanted = options->n_threads < MOST_THREADS ? options->n_threads : MOST_THREADS;
    for (; h->n_threads < wanted; h->n_threads++) {
        const int failed = background_thread(&h->thread[h->n_threads], "ascope-view", http_run, h);
        if (failed) {
            error_set(e, FAULT_LIMIT, "server: no thread: %s", strerror(failed));
            goto failed;
        }
    }
    return h;
failed:
    http_close(h);
    return NULL;
}

unsigned http_port(const struct http *h)
{
    return h->port;
}

void http_close(struct http *h)
{
    if (!h)
        return;
    pthread_mutex_lock(&h->lock);
    h->is_ending = true;
    pthread_mutex_unlock(&h->lock);
    if (h->n_threads && write(h->waker, &(uint64_t){ 1 }, sizeof(uint64_t)) < 0)
        abort(); /* an eventfd that was never written to takes a 1 */
    for (unsigned i = 0; i < h->n_threads; i++)
        pthread_join(h->thread[i], NULL);
    for (size_t i = 0; i < CONNECTIONS; i++)
        if (h->connection[i].fd >= 0)
            drop(&h->connection[i]);
    const int fds[] = { h->listener, h->epoll, h->waker };
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

enum { LINE = 256 };

/* "0100007F:9C49", as the table has it: words of the address in the order of this machine. */
static void put_end(char *out, size_t cap, const struct sockaddr_in *end, bool is_mapped)
{
    char before[25] = "";
    if (is_mapped)
        snprintf(before, sizeof before, "%08X%08X%08X", 0U, 0U, htonl(0xffff));
    snprintf(out, cap, "%s%08X:%04X", before, end->sin_addr.s_addr, ntohs(end->sin_port));
}

static bool peer_user_is_same(unsigned user)
{
    const char *sudo = getuid() == 0 ? getenv("SUDO_UID") : NULL;
    return user == 0 || user == getuid() || (sudo && *sudo && strtoul(sudo, NULL, 10) == user);
}

/* Looks for the client's own side of the connection in one table. */
static enum peer_user user_in(const char *path, const char *client_and_server)
{
    static const unsigned established = 1;
    enum peer_user found = PEER_UNKNOWN;
    char line[LINE];
    FILE *table = fopen(path, "re");
    while (table && found == PEER_UNKNOWN && fgets(line, sizeof line, table)) {
        unsigned state, user;
        const char *at = strstr(line, client_and_server);
        if (!at)
            continue;
        const bool is_read = sscanf(at + strlen(client_and_server), "%x %*s %*s %*s %u", &state, &user) == 2;
        found = is_read && state == established && peer_user_is_same(user) ? PEER_SAME : PEER_OTHER;
    }
    if (table)
        fclose(table);
    return found;
}

enum peer_user peer_user_of(int socket)
{
    static const struct {
        const char *path;
        bool is_mapped; /* connections of version 4 of sockets of version 6 */
    } tables[] = { { "/proc/net/tcp", false }, { "/proc/net/tcp6", true } };
    struct sockaddr_in client = { 0 }, server = { 0 };
    socklen_t n_client = sizeof client, n_server = sizeof server;
    enum peer_user found = PEER_UNKNOWN;
    if (getpeername(socket, (struct sockaddr *)&client, &n_client) ||
        getsockname(socket, (struct sockaddr *)&server, &n_server) || client.sin_family != AF_INET)
        return found;
    for (size_t i = 0; found == PEER_UNKNOWN && i < sizeof tables / sizeof *tables; i++) {
        char from[48], to[48], both[sizeof from + sizeof to + 3];
        put_end(from, sizeof from, &client, tables[i].is_mapped);
        put_end(to, sizeof to, &server, tables[i].is_mapped);
        snprintf(both, sizeof both, " %s %s ", from, to);
        found = user_in(tables[i].path, both);
    }
    return found;
}
