/* SPDX-License-Identifier: Apache-2.0 */
#include "view/server/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decodes n bytes of `from` into `to`, which may be the same buffer, and appends a NUL. False: invalid, a NUL inside,
 * or too long. */
static bool decode(char *to, size_t cap, const char *from, size_t n, bool plus_is_blank)
{
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        char c = from[i];
        if (c == '%') {
            const int high = i + 2 < n ? hex(from[i + 1]) : -1, low = i + 2 < n ? hex(from[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(high * 16 + low);
            i += 2;
        } else if (c == '+' && plus_is_blank) {
            c = ' ';
        }
        if (!c || len + 1 >= cap)
            return false;
        to[len++] = c;
    }
    to[len] = '\0';
    return true;
}

/* The end of the headers: where the first empty line ends. NULL: not there yet. */
static char *headers_end(char *buffer, size_t n)
{
    char *end = memmem(buffer, n, "\r\n\r\n", 4);
    return end ? end + 4 : NULL;
}

/* Headers that a request has at most once. Of two, a proxy may believe the one, and this server the other. */
static const char *const once[] = { "Host", "Origin", "Content-Length", "Transfer-Encoding", "Authorization" };

/* Characters of a header's name. */
static size_t name_len(const char *line)
{
    return strspn(line, "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
}

/* Keeps the value of a header "Name: value" that is used here; `seen` has a bit for each of `once`. 0, or a status. */
static int keep_header(struct http_request *q, char *line, unsigned *seen)
{
    const size_t n_name = name_len(line);
    if (n_name == 0 || line[n_name] != ':')
        return 400;
    char *value = line + n_name;
    *value++ = '\0';
    value += strspn(value, " \t");
    for (size_t n = strlen(value); n && (value[n - 1] == ' ' || value[n - 1] == '\t'); n--)
        value[n - 1] = '\0';
    for (unsigned i = 0; i < sizeof once / sizeof *once; i++) {
        if (strcasecmp(line, once[i]))
            continue;
        if (*seen & 1U << i)
            return 400;
        *seen |= 1U << i;
    }
    if (!strcasecmp(line, "Host"))
        q->host = value;
    else if (!strcasecmp(line, "Origin"))
        q->origin = value;
    else if (!strcasecmp(line, "Authorization"))
        q->authorization = value;
    else if (!strcasecmp(line, "Connection"))
        q->keeps_alive = strcasestr(value, "close") ? false : strcasestr(value, "keep-alive") ? true : q->keeps_alive;
    else if (!strcasecmp(line, "Transfer-Encoding"))
        return 413; /* requests with a body are refused */
    else if (!strcasecmp(line, "Content-Length"))
        return !*value || strspn(value, "0123456789") < strlen(value) ? 400
               : strspn(value, "0") < strlen(value)                   ? 413
                                                                      : 0;
    return 0;
}

/* "GET /path?query HTTP/1.1": 0, or a status. */
static int read_line(struct http_request *q, char *line)
{
    char *target = strchr(line, ' '), *version = target ? strchr(target + 1, ' ') : NULL;
    if (!version || strchr(version + 1, ' '))
        return 400;
    *target++ = *version++ = '\0';
    if (strncmp(version, "HTTP/1.", 7) || strlen(version) != 8 || version[7] < '0' || version[7] > '9')
        return 505;
    q->keeps_alive = version[7] != '0';
    q->is_head = !strcmp(line, "HEAD");
    if (!q->is_head && strcmp(line, "GET"))
        return 405;
    char *query = strchr(target, '?');
    if (query)
        *query++ = '\0';
    q->query = query ? query : "";
    if (*target != '/' || !decode(target, strlen(target) + 1, target, strlen(target), false))
        return 400;
    q->path = target;
    return 0;
}

int http_request_read(struct http_request *q, char *buffer, size_t n)
{
    *q = (struct http_request){ .path = "/", .query = "", .host = "", .origin = "", .authorization = "", .socket = -1 };
    char *end = headers_end(buffer, n);
    if (!end)
        return n >= HTTP_REQUEST_BYTES ? -431 : 0;
    if (memchr(buffer, '\0', (size_t)(end - buffer)))
        return -400;
    end[-2] = '\0'; /* the empty line; the byte behind it belongs to the next request */
    int status = -1;
    unsigned seen = 0;
    for (char *line = buffer, *next; *line; line = next) {
        char *stop = strstr(line, "\r\n");
        next = stop ? stop + 2 : line + strlen(line);
        if (stop)
            *stop = '\0';
        if (strpbrk(line, "\r\n"))
            return -400;
        status = status < 0 ? read_line(q, line) : keep_header(q, line, &seen);
        if (status)
            return -status;
    }
    return status ? -400 : (int)(end - buffer);
}

bool http_parameter(const struct http_request *q, const char *key, char *out, size_t cap)
{
    const size_t len = strlen(key);
    for (const char *at = q->query; *at;) {
        const size_t n = strcspn(at, "&");
        if (n > len && !strncmp(at, key, len) && at[len] == '=')
            return decode(out, cap, at + len + 1, n - len - 1, true);
        at += n + (at[n] == '&');
    }
    return false;
}

bool http_parameter_i64(const struct http_request *q, const char *key, int64_t *out)
{
    char text[24], *end;
    if (!http_parameter(q, key, text, sizeof text) || !text[0] || strspn(text, "-0123456789") != strlen(text))
        return false;
    errno = 0;
    const long long v = strtoll(text, &end, 10);
    if (errno || *end)
        return false;
    *out = v;
    return true;
}
