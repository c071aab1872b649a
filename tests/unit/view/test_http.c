/* SPDX-License-Identifier: Apache-2.0 */
/* The viewer's server with one thread: whose turn it is, and who gives way when the process has no descriptors left. */
#include <arpa/inet.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "test.h"
#include "view/server/http.h"

enum { REQUESTS = 200 };

struct answered {
    atomic_uint n_first; /* of the connection that asks for much at once */
    atomic_uint n_before_second;
};

static void answer(void *context, const struct http_request *q, struct http_reply *r)
{
    struct answered *a = context;
    if (strcmp(q->path, "/second") == 0)
        atomic_store(&a->n_before_second, atomic_load(&a->n_first));
    else
        atomic_fetch_add(&a->n_first, 1);
    usleep(2000);
    out_lit(r->out, "~");
}

static int connected(unsigned port)
{
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons((uint16_t)port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static void one_that_asks_for_much_holds_up_nobody(void **state)
{
    (void)state;
    static const char request[] = "GET /first HTTP/1.1\r\n\r\n", second[] = "GET /second HTTP/1.1\r\n\r\n";
    struct answered a = { .n_before_second = REQUESTS };
    struct error e = { 0 };
    char all[REQUESTS * (sizeof request - 1)], reply[4096];
    struct http *h = http_open(
        &(struct http_options){ .address = "127.0.0.1", .n_threads = 1, .answer = answer, .context = &a }, &e);
    assert_non_null(h);
    for (size_t i = 0; i < REQUESTS; i++)
        memcpy(all + i * (sizeof request - 1), request, sizeof request - 1);
    const int first = connected(http_port(h)), other = connected(http_port(h));
    assert_int_equal(send(first, all, sizeof all, 0), sizeof all);
    while (atomic_load(&a.n_first) == 0)
        usleep(100);
    assert_int_equal(send(other, second, sizeof second - 1, 0), sizeof second - 1);
    assert_true(recv(other, reply, sizeof reply, 0) > 0);
    assert_in_range(atomic_load(&a.n_before_second), 1, REQUESTS - 1);
    for (unsigned n = 0; n < REQUESTS;) { /* and it gets all of its answers */
        const ssize_t got = recv(first, reply, sizeof reply, 0);
        assert_true(got > 0);
        for (ssize_t i = 0; i < got; i++)
            n += reply[i] == '~';
    }
    close(first);
    close(other);
    http_close(h);
}

static void without_descriptors_a_quiet_client_gives_way_to_a_new_one(void **state)
{
    (void)state;
    static const char request[] = "GET /first HTTP/1.1\r\n\r\n";
    const struct timeval limit = { .tv_sec = 20 };
    struct answered a = { 0 };
    struct error e = { 0 };
    struct rlimit was;
    char reply[4096];
    struct http *h = http_open(
        &(struct http_options){ .address = "127.0.0.1", .n_threads = 1, .answer = answer, .context = &a }, &e);
    assert_non_null(h);
    const int quiet = connected(http_port(h)), late = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(send(quiet, request, sizeof request - 1, 0), sizeof request - 1);
    assert_true(recv(quiet, reply, sizeof reply, 0) > 0); /* the server has a descriptor for it */
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    const int lowest = dup(quiet); /* all below are in use */
    assert_int_equal(close(lowest), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ (rlim_t)lowest, was.rlim_max }), 0);
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons((uint16_t)http_port(h)),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    assert_int_equal(setsockopt(late, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
    assert_int_equal(connect(late, (const struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(send(late, request, sizeof request - 1, 0), sizeof request - 1);
    assert_true(recv(late, reply, sizeof reply, 0) > 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
    close(quiet);
    close(late);
    http_close(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(one_that_asks_for_much_holds_up_nobody),
                                        cmocka_unit_test(without_descriptors_a_quiet_client_gives_way_to_a_new_one) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
