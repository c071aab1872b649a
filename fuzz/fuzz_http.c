/* SPDX-License-Identifier: Apache-2.0 */
/* What somebody sends to the viewer's server: requests one after the other, as its buffer holds them. */
#include "fuzz.h"
#include "view/server/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const keys[] = { "q", "t0", "rows" };
    const size_t n = size < HTTP_REQUEST_BYTES ? size : HTTP_REQUEST_BYTES;
    char *buffer = malloc(n + 1), text[64];
    int64_t number;
    memcpy(buffer, data, n);
    for (size_t at = 0; at < n;) {
        struct http_request q;
        const int used = http_request_read(&q, buffer + at, n - at);
        if (used <= 0)
            break;
        if ((size_t)used > n - at || q.path[0] != '/')
            abort();
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            (void)http_parameter(&q, keys[i], text, sizeof text);
            (void)http_parameter_i64(&q, keys[i], &number);
        }
        at += (size_t)used;
    }
    free(buffer);
    return 0;
}
