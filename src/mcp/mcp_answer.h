/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_answer.h - the messages of the Model Context Protocol: what is answered at once, and which call is begun.
 *
 * JSON-RPC 2.0, a message a line. Clients that send no `initialize` are answered as well: nothing depends on it.
 */
#ifndef ASCOPE_MCP_MCP_ANSWER_H
#define ASCOPE_MCP_MCP_ANSWER_H

#include "mcp/mcp_call.h"

enum mcp_kind {
    MCP_NOTHING, /* a notification that needs nothing, or a reply */
    MCP_REPLY,   /* `reply` is the answer */
    MCP_CALL,    /* a tool is called: the answer follows when its commands have run */
    MCP_CANCEL,  /* the call with this id is no longer wanted */
};

struct mcp_reaction {
    enum mcp_kind kind;
    json_t *reply; /* owner: the caller; NULL: no memory */
    json_t *id;    /* of MCP_CANCEL; owner: the caller */
};

/* Reacts to a line. A call is filled for MCP_CALL only, and is the caller's then. */
struct mcp_reaction mcp_react(const char *line, size_t n, const struct mcp_roots *roots, struct mcp_call *call);

json_t *mcp_reply(json_t *id, json_t *result); /* takes the result; NULL: no memory */
json_t *mcp_reply_error(json_t *id, int code, const char *text);

enum { MCP_BAD_JSON = -32700, MCP_BAD_REQUEST = -32600, MCP_NO_METHOD = -32601, MCP_BAD_PARAMETERS = -32602 };

#endif
