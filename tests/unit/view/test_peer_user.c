/* SPDX-License-Identifier: Apache-2.0 */
/* http.c: who is at the other end of a connection within this machine. */
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "view/server/http.h"

/* Both ends of a connection: the client's, of version 4 or 6 of the protocol, and the server's. */
struct ends {
    int client, server;
};

static struct ends ends_open(bool is_mapped)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr_in6 mapped = { .sin6_family = AF_INET6 };
    socklen_t n = sizeof at;
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct ends e = { .client = socket(is_mapped ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .server = -1 };
    assert_return_code(bind(listener, (struct sockaddr *)&at, n), errno);
    assert_return_code(listen(listener, 1), errno);
    assert_return_code(getsockname(listener, (struct sockaddr *)&at, &n), errno);
    mapped.sin6_port = at.sin_port;
    assert_int_equal(inet_pton(AF_INET6, "::ffff:127.0.0.1", &mapped.sin6_addr), 1);
    if (e.client >= 0 && connect(e.client, is_mapped ? (struct sockaddr *)&mapped : (struct sockaddr *)&at,
                                 is_mapped ? sizeof mapped : sizeof at) == 0)
        e.server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    close(listener);
    return e;
}

static void ends_close(struct ends e)
{
    close(e.client);
    close(e.server);
}

static void a_process_of_this_user_is_known(void **state)
{
    (void)state;
    if (access("/proc/net/tcp", R_OK) != 0)
        skip();
    for (int is_mapped = 0; is_mapped < 2; is_mapped++) {
        const struct ends e = ends_open(is_mapped);
        if (is_mapped && e.server < 0) {
            print_message("  this machine has no version 6 of the protocol\n");
            continue;
        }
        assert_int_equal(peer_user_of(e.server), PEER_SAME);
        ends_close(e);
    }
}

static void one_that_has_closed_half_of_the_connection_is_not_trusted(void **state)
{
    (void)state;
    if (access("/proc/net/tcp", R_OK) != 0)
        skip();
    const struct ends e = ends_open(false);
    char end;
    assert_return_code(shutdown(e.client, SHUT_WR), errno);
    assert_int_equal(read(e.server, &end, 1), 0);
    assert_int_equal(peer_user_of(e.server), PEER_OTHER);
    ends_close(e);
}

static void what_is_no_such_connection_is_unknown(void **state)
{
    (void)state;
    int pair[2];
    assert_return_code(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), errno);
    assert_int_equal(peer_user_of(pair[0]), PEER_UNKNOWN);
    assert_int_equal(peer_user_of(-1), PEER_UNKNOWN);
    ends_close((struct ends){ pair[0], pair[1] });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_of_this_user_is_known),
        cmocka_unit_test(one_that_has_closed_half_of_the_connection_is_not_trusted),
        cmocka_unit_test(what_is_no_such_connection_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
