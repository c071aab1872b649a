/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_call.h - a call of a tool while its commands run, and its answer within the budget.
 *
 * The answer has whole lines. What did not fit is counted, with how to get it.
 */
#ifndef ASCOPE_MCP_MCP_CALL_H
#define ASCOPE_MCP_MCP_CALL_H

#include "base/memory/arena.h"
#include "mcp/mcp_child.h"
#include "mcp/mcp_tools.h"

struct mcp_call {
    json_t *id, *token; /* of the request; of its progress, or NULL */
    const struct mcp_tool *tool;
    struct mcp_plan plan;
    size_t budget;
    size_t at; /* the command that runs */
    struct mcp_child child;
    char folder[4096]; /* of the command that runs; "": none */
    struct {
        const char *title;
        char *text, *messages;
        int status;
    } done[4];
    size_t n_done;
    uint64_t begin_ns, progress_ns; /* of a steady clock; progress: when it was last reported */
    struct error error;
};

/* Starts the next command. False: there is none, or it cannot be started (call->error). */
bool mcp_call_next(struct mcp_call *c, const char *program);
/* After mcp_child_take() was false: keeps what the command has printed. */
void mcp_call_keep(struct mcp_call *c);
/* The result of tools/call. NULL: no memory. */
json_t *mcp_call_result(const struct mcp_call *c);
void mcp_call_free(struct mcp_call *c); /* also while a command runs, which is killed; all zero is fine */

/* A result of one text. */
json_t *mcp_text_result(const char *text, bool is_error);

#endif
