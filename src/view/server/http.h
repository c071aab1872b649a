/* SPDX-License-Identifier: Apache-2.0 */
/* http.h - an HTTP server for the pages of one user on this machine.
 *
 * A few threads serve all connections. Each request is answered by the first free thread, so that a slow answer does
 * not delay others. The number of connections is limited: a new one replaces the one that was quiet longest. A client
 * that reads slowly occupies the memory of its answer, but no thread.
 *
 * It is not taken from a library, because no library is packaged for the statically linked program.
 */
#ifndef ASCOPE_VIEW_SERVER_HTTP_H
#define ASCOPE_VIEW_SERVER_HTTP_H

#include "base/text/error.h"
#include "base/files/out.h"
#include "view/server/http_request.h"

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

#endif
