/* SPDX-License-Identifier: Apache-2.0 */
/* http_request.c: what a browser, or somebody else, may send. */
#include "test.h"

#include "view/server/http.h"

static char buffer[HTTP_REQUEST_BYTES + 1];

static int read_text(struct http_request *q, const char *text)
{
    const size_t n = strlen(text);
    memcpy(buffer, text, n);
    return http_request_read(q, buffer, n);
}

static void a_request_of_a_browser_is_read(void **state)
{
    (void)state;
    struct http_request q;
    static const char text[] = "GET /t%20k/api?q=a%2Bb+c&n=-12&e=%zz HTTP/1.1\r\nHost: 127.0.0.1:80 \r\n"
                               "accept-encoding: br, gzip\r\nOrigin:http://x\r\nIf-None-Match: \"7\"\r\n\r\nGET";
    assert_int_equal(read_text(&q, text), sizeof text - 4);
    assert_string_equal(q.path, "/t k/api");
    assert_string_equal(q.host, "127.0.0.1:80");
    assert_string_equal(q.origin, "http://x");
    assert_true(q.keeps_alive && !q.is_head);
    char out[8];
    int64_t number = 0;
    assert_true(http_parameter(&q, "q", out, sizeof out));
    assert_string_equal(out, "a+b c");
    assert_true(http_parameter_i64(&q, "n", &number));
    assert_int_equal(number, -12);
    assert_false(http_parameter(&q, "e", out, sizeof out));
    assert_false(http_parameter(&q, "absent", out, sizeof out));
    assert_false(http_parameter(&q, "q", out, 5));
    assert_false(http_parameter_i64(&q, "q", &number));
}

static void what_is_no_such_request_is_refused_with_its_status(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int used;
    } cases[] = {
        { "", 0 },
        { "GET / HTTP/1.1\r\n", 0 },
        { "GET / HTTP/1.1\r\nHost: x\r\n", 0 },
        { "\r\n\r\n", -400 },
        { "GET /\r\n\r\n", -400 },
        { "GET / HTTP/1.1 more\r\n\r\n", -400 },
        { "GET x HTTP/1.1\r\n\r\n", -400 },
        { "GET /%2 HTTP/1.1\r\n\r\n", -400 },
        { "GET /%00 HTTP/1.1\r\n\r\n", -400 },
        { "GET / HTTP/2.0\r\n\r\n", -505 },
        { "GET / FTP\r\n\r\n", -505 },
        { "POST / HTTP/1.1\r\n\r\n", -405 },
        { "GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\n", -413 },
        { "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", -413 },
        { "GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 37 },
        { "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", -400 },
        { "GET / HTTP/1.1\r\nContent-Length:\r\n\r\n", -400 },
        { "GET / HTTP/1.1\r\nContent-Length: 0\r\ncontent-length: 0\r\n\r\n", -400 },
        { "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: 127.0.0.1\r\n\r\n", -400 },
        { "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nhOST: evil\r\n\r\n", -400 },
        { "GET / HTTP/1.1\r\nOrigin: a\r\nOrigin: b\r\n\r\n", -400 },
        { "GET / HTTP/1.1\r\nAccept: a\r\nAccept: b\r\n\r\n", 40 },
        { "GET / HTTP/1.1\r\nHost : x\r\n\r\n", -400 },
        { "GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n", -400 },
        { "GET / HTTP/1.1\r\nA: b\nHost: x\r\n\r\n", -400 },
        { "GET / HTTP/1.1\r\nA: b\rHost: x\r\n\r\n", -400 },
        { "GET / HTTP/1.1\r\nno colon\r\n\r\n", -400 },
        { "GET / HTTP/1.1\r\n: no name\r\n\r\n", -400 },
        { "GET / HTTP/1.x\r\n\r\n", -505 },
        { "HEAD / HTTP/1.0\r\nempty:\r\n\r\n", 27 },
    };
    struct http_request q;
    for (size_t i = 0; i < ROWS(cases); i++)
        assert_int_equal(read_text(&q, cases[i].text), cases[i].used);
    assert_true(q.is_head && !q.keeps_alive);
}

static void a_request_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct http_request q;
    memset(buffer, 'a', HTTP_REQUEST_BYTES);
    assert_int_equal(http_request_read(&q, buffer, HTTP_REQUEST_BYTES - 1), 0);
    assert_int_equal(http_request_read(&q, buffer, HTTP_REQUEST_BYTES), -431);
    static const char with_nul[] = "GET /\0 HTTP/1.1\r\n\r\n";
    memcpy(buffer, with_nul, sizeof with_nul - 1);
    assert_int_equal(http_request_read(&q, buffer, sizeof with_nul - 1), -400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_of_a_browser_is_read),
        cmocka_unit_test(what_is_no_such_request_is_refused_with_its_status),
        cmocka_unit_test(a_request_that_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
