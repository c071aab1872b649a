/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_pages.h - the pages of the documentation that agents can read, and the schema of SQL. */
#ifndef ASCOPE_MCP_MCP_PAGES_H
#define ASCOPE_MCP_MCP_PAGES_H

#include <jansson.h>

#include "base/memory/arena.h"

json_t *mcp_pages_list(void);            /* as resources/list has them */
json_t *mcp_pages_read(const char *uri); /* as resources/read has it; NULL: there is none, or no memory */
/* Where the pages and the schema say something about a term. NULL: nowhere. */
const char *mcp_pages_explain(const char *term, struct arena *mem);

#endif
