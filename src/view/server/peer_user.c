/* SPDX-License-Identifier: Apache-2.0 */
#include "view/server/http.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
