/* SPDX-License-Identifier: Apache-2.0 */
/* http.h - registry: an HTTP server for the pages of one user on this machine.
 *
 * A few threads serve all connections. Each request is answered by the first free thread, so that a slow answer does
 * not delay others. The number of connections is limited: a new one replaces the one that was quiet longest. A client
 * that reads slowly occupies the memory of its answer, but no thread.
 *
 * It is not taken from a library, because no library is packaged for the statically linked program.
 */
#ifndef ASCOPE_VIEW_SERVER_HTTP_H
#define ASCOPE_VIEW_SERVER_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/files/out.h"
#include "base/text/error.h"

/* http_request.c: parses a request of a browser.
 *
 * Supports the part of HTTP/1.1 that the pages need: GET and HEAD without a body. Other requests, those that do not
 * fit into the buffer, and those that two programs may read in two ways (two Host headers, a header without a colon, a
 * lone line feed) are refused with the status that says why. The bytes are not trusted. */

enum {
    HTTP_REQUEST_BYTES = 32 * 1024
}; /* of the line and the headers; SQL and addresses of states are part of the line */

struct http_request {
    bool is_head;
    bool keeps_alive;
    const char *path;          /* decoded, begins with '/', NUL-terminated; in the buffer, which is changed */
    const char *query;         /* not decoded; "" */
    const char *host;          /* "" */
    const char *origin;        /* "": the request is not from another page */
    const char *authorization; /* "" */
    int socket;                /* of the connection, lent; -1: none */
};

/* How many bytes were used; 0: more are needed; below 0: minus the status to refuse it with. The buffer has a byte
 * behind n. */
int http_request_read(struct http_request *q, char *buffer, size_t n);

/* A parameter of the query, decoded. False: it is absent, is not valid, or does not fit. */
bool http_parameter(const struct http_request *q, const char *key, char *out, size_t cap);
bool http_parameter_i64(const struct http_request *q, const char *key, int64_t *out); /* a whole decimal number */

struct http_reply {
    int status; /* 200 unless changed */
    const char *type;
    const char *headers; /* more of them, each ended by CR LF; "" */
    const char *body;    /* lent, instead of what is written into out; NULL: out has it */
    size_t body_bytes;
    struct out *out;
};

struct http_options {
    const char *address; /* "127.0.0.1" */
    unsigned port;       /* 0: any */
    unsigned n_threads;
    void (*answer)(void *context, const struct http_request *q,
                   struct http_reply *r); /* from several threads at once */
    void *context;
};

struct http;

struct http *http_open(const struct http_options *options, struct error *e); /* NULL: e says why */
unsigned http_port(const struct http *h);
void http_close(struct http *h); /* waits for answers that are being made; NULL is fine */

/* http.c: whose process is at the other end of a TCP connection within this machine.
 *
 * The system's table of connections shows the user of every socket. Anything else about a client, such as what it
 * knows, may have been read from the argument list of another process. */

enum peer_user {
    PEER_SAME,   /* this user, or root, or who started this process with sudo */
    PEER_OTHER,  /* another user, or one who has closed half of the connection, which hides the user */
    PEER_UNKNOWN /* not in the table: there is none without /proc, and clients of a virtual machine are not in it */
};

enum peer_user peer_user_of(int socket);

#endif
