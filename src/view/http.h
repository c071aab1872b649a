/* SPDX-License-Identifier: Apache-2.0 */
/* http.h - a server for the pages of one user on this machine.
 *
 * A few threads share all connections; each request is answered by the first that is free, so that one slow answer holds up
 * nobody else. Connections are bounded: the one that was quiet longest makes room for a new one. A client that reads slowly costs the
 * memory of its answer and no thread.
 *
 * Written here instead of taken from a library: it has to be in the static program, too, for which none is packaged.
 */
#ifndef ASCOPE_VIEW_HTTP_H
#define ASCOPE_VIEW_HTTP_H

#include "base/error.h"
#include "base/out.h"
#include "view/http_request.h"

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
