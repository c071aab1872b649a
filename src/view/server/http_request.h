/* SPDX-License-Identifier: Apache-2.0 */
/* http_request.h - parses a request of a browser.
 *
 * Supports the part of HTTP/1.1 that the pages need: GET and HEAD without a body. Other requests, those that do not fit
 * into the buffer, and those that two programs may read in two ways (two Host headers, a header without a colon, a
 * lone line feed) are refused with the status that says why. The bytes are not trusted.
 */
#ifndef ASCOPE_VIEW_SERVER_HTTP_REQUEST_H
#define ASCOPE_VIEW_SERVER_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HTTP_REQUEST_BYTES = 32 * 1024
}; /* of the line and the headers; SQL and addresses of states are part of the line */

struct http_request {
    bool is_head;
    bool keeps_alive;
    bool takes_gzip;
    const char *path;   /* decoded, begins with '/', NUL-terminated; in the buffer, which is changed */
    const char *query;  /* not decoded; "" */
    const char *host;   /* "" */
    const char *origin; /* "": the request is not from another page */
    const char *etag;   /* If-None-Match; "" */
    int socket;         /* of the connection, lent; -1: none */
};

/* How many bytes were used; 0: more are needed; below 0: minus the status to refuse it with. The buffer has a byte
 * behind n. */
int http_request_read(struct http_request *q, char *buffer, size_t n);

/* A parameter of the query, decoded. False: it is absent, is not valid, or does not fit. */
bool http_parameter(const struct http_request *q, const char *key, char *out, size_t cap);
bool http_parameter_i64(const struct http_request *q, const char *key, int64_t *out); /* a whole decimal number */

#endif
