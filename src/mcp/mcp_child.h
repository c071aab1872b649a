/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_child.h - ascope as a child of the server: its input, the first part of its output, its end.
 *
 * The caller waits for its descriptors with poll(), beside its own. A child does not outlive the server.
 */
#ifndef ASCOPE_MCP_MCP_CHILD_H
#define ASCOPE_MCP_MCP_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/text/error.h"

enum { MCP_OUTPUT_BYTES = 4 << 20, MCP_MESSAGE_BYTES = 4000 }; /* what is kept of its standard output and error */

struct mcp_stream {
    int fd; /* -1: it has ended */
    char *text;
    size_t n, cap;
};

struct mcp_child {
    pid_t pid; /* 0: none runs */
    struct mcp_stream out, messages;
    int status; /* exit code; 128 + signal; below 0: it still runs */
};

/* word[] ends with NULL; word[0] is the program. `input` is given as a whole. False: e says why. */
bool mcp_child_start(struct mcp_child *c, const char *const *word, const char *input, struct error *e);
/* Takes what there is. False: it has ended, and status is set. */
bool mcp_child_take(struct mcp_child *c);
void mcp_child_kill(struct mcp_child *c);
void mcp_child_free(struct mcp_child *c); /* kills it if it runs; one that is all zero is fine */

#endif
