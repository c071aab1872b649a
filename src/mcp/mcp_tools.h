/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_tools.h - the tools of `ascope mcp`: their arguments, and the commands that answer them.
 *
 * A tool is a row. Its plan turns the arguments of a call into command lines of ascope, which run as children: a trace
 * that nobody trusts can end a child, never the server, and a cancelled call is a killed child. What a child prints is
 * for people, with evidence and units, and is passed on in part if it is long (mcp_call.h).
 */
#ifndef ASCOPE_MCP_MCP_TOOLS_H
#define ASCOPE_MCP_MCP_TOOLS_H

#include <jansson.h>

#include "base/memory/arena.h"
#include "base/text/error.h"

/* A command line, and what it reads from its standard input. */
struct mcp_command {
    const char *title;       /* above its output; NULL: none */
    LIST(const char *) word; /* without the name of the program */
    const char *input;       /* NULL: nothing */
    bool needs_folder;       /* it writes into a folder, --out, which is removed afterwards */
};

/* Where paths of a call may lead. */
struct mcp_roots {
    const char *const *path; /* resolved */
    size_t n;
};

struct mcp_plan {
    LIST(struct mcp_command) commands;
    const char *text; /* an answer that needs no command; NULL: none */
    const struct mcp_roots *roots;
    struct arena *mem;
};

enum mcp_type { MCP_TEXT, MCP_NUMBER, MCP_PATH, MCP_PATHS };
struct mcp_argument {
    const char *name;
    enum mcp_type type;
    bool is_required;
    const char *meaning;
};

enum { MCP_ARGUMENTS = 8 };
struct mcp_tool {
    const char *name, *title, *description;
    struct mcp_argument argument[MCP_ARGUMENTS]; /* a name of NULL ends them; max_chars is of all tools */
    bool (*plan)(struct mcp_plan *p, const json_t *arguments, struct error *e);
    const char *next; /* which other tools its answer leads to; NULL: none */
};
extern const struct mcp_tool mcp_tools[];
extern const size_t n_mcp_tools;

const struct mcp_tool *mcp_tool_find(const char *name); /* NULL: there is none */
json_t *mcp_tool_json(const struct mcp_tool *t);        /* as tools/list has it; NULL: no memory */

/* Checks the arguments and makes the plan. False: e says what is wrong with them. */
bool mcp_plan_make(struct mcp_plan *p, const struct mcp_tool *t, const json_t *arguments, struct error *e);

enum { MCP_LEAST_CHARS = 500, MCP_USUAL_CHARS = 6000, MCP_MOST_CHARS = 60000 };
size_t mcp_budget(const json_t *arguments); /* characters of an answer */

#endif
