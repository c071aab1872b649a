/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_server.h - `ascope mcp`: messages from standard input, replies to standard output, until the input ends.
 *
 * One call runs at a time; others wait for it. Meanwhile messages are read: a call can be cancelled, and everything that
 * needs no command is answered.
 */
#ifndef ASCOPE_MCP_MCP_SERVER_H
#define ASCOPE_MCP_MCP_SERVER_H

#include "mcp/mcp_tools.h"

enum {
    MCP_LINE_BYTES = 4 << 20, /* of a message */
    MCP_WAITING = 64,         /* calls */
    MCP_SECONDS = 600,        /* of a call */
};

struct mcp_server_options {
    const char *program; /* ascope itself */
    struct mcp_roots roots;
    int in, out;
};

/* False: e says why it has ended before its input. */
bool mcp_serve(const struct mcp_server_options *o, struct error *e);

#endif
