/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to `ascope mcp`, a line each. Calls are planned, and not run. */
#include <stdbool.h>

#include "fuzz.h"

#include "mcp/mcp_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const root[] = { "/usr/share", "/proc/self/status" };
    const struct mcp_roots roots = { root, 2 };
    for (const uint8_t *line = data, *end; line < data + size; line = end + 1) {
        end = memchr(line, '\n', (size_t)(data + size - line));
        end = end ? end : data + size;
        struct mcp_call call;
        const struct mcp_reaction r = mcp_react((const char *)line, (size_t)(end - line), &roots, &call);
        if (r.kind == MCP_REPLY && !json_object_get(r.reply, "result") == !json_object_get(r.reply, "error"))
            abort(); /* one of both */
        if (r.kind == MCP_CALL) {
            if (call.plan.commands.n == 0 && !call.plan.text)
                abort();
            for (size_t i = 0; i < call.plan.commands.n; i++)
                for (size_t k = 1; k < call.plan.commands.at[i].word.n; k++) {
                    const char *word = call.plan.commands.at[i].word.at[k];
                    const bool is_value = strncmp(call.plan.commands.at[i].word.at[k - 1], "--", 2) == 0;
                    if (!is_value && *word == '/' && strncmp(word, root[0], strlen(root[0])) != 0 &&
                        strcmp(word, root[1]) != 0)
                        abort(); /* a path from elsewhere */
                }
            json_decref(mcp_call_result(&call));
            mcp_call_free(&call);
        }
        json_decref(r.reply);
        json_decref(r.id);
    }
    return 0;
}
