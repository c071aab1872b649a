/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/mcp_answer.h"

#include <string.h>

#include "base/text/json_memory.h"
#include "mcp/mcp_pages.h"

static const char instructions[] =
    "ascope explains recordings of AI training and inference (Ascend NPU, NVIDIA GPU, hosts). Begin with overview. Its "
    "sentences have numbers with units and the places where they were found; why divides them by cause, advise says what "
    "to change. Handles: rank, step, at_us (a moment, as printed), slice (id of sql's table slices). For everything else "
    "there is sql. Answers are cut at max_chars and say what was left out. Data marked simulated is not from a device.";

json_t *mcp_reply(json_t *id, json_t *result)
{
    return json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", result);
}

json_t *mcp_reply_error(json_t *id, int code, const char *text)
{
    json_t *none = id ? json_incref(id) : json_null();
    return json_pack("{s:s, s:o, s:{s:i, s:o}}", "jsonrpc", "2.0", "id", none, "error", "code", code, "message",
                     text_json(text));
}

/* ---- methods ----------------------------------------------------------------------------------------------------- */

static json_t *initialize(const json_t *params)
{
    static const char *const known[] = { "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25" };
    enum { KNOWN = sizeof known / sizeof *known };
    const char *wanted = json_string_value(json_object_get(params, "protocolVersion")), *used = known[KNOWN - 1];
    for (size_t i = 0; wanted && i < KNOWN; i++)
        used = strcmp(wanted, known[i]) == 0 ? known[i] : used;
    return json_pack("{s:s, s:{s:{}, s:{}}, s:{s:s, s:s, s:s}, s:s}", "protocolVersion", used, "capabilities", "tools",
                     "resources", "serverInfo", "name", "ascope", "title", "ascope profiler", "version", ASCOPE_VERSION,
                     "instructions", instructions);
}

static json_t *tools_list(const json_t *params)
{
    json_t *list = json_array();
    (void)params;
    for (size_t i = 0; i < n_mcp_tools; i++)
        json_array_append_new(list, mcp_tool_json(&mcp_tools[i]));
    return json_pack("{s:o}", "tools", list);
}

static json_t *resources_list(const json_t *params)
{
    (void)params;
    return mcp_pages_list();
}

static json_t *templates_list(const json_t *params)
{
    (void)params;
    return json_pack("{s:[]}", "resourceTemplates");
}

static json_t *nothing(const json_t *params)
{
    (void)params;
    return json_object();
}

/* NULL: the parameters cannot be used. */
static json_t *resources_read(const json_t *params)
{
    const char *uri = json_string_value(json_object_get(params, "uri"));
    return uri ? mcp_pages_read(uri) : NULL;
}

static const struct mcp_method {
    const char *name;
    json_t *(*answer)(const json_t *params);
} mcp_methods[] = {
    { "initialize", initialize },
    { "ping", nothing },
    { "tools/list", tools_list },
    { "resources/list", resources_list },
    { "resources/templates/list", templates_list },
    { "resources/read", resources_read },
};

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static struct mcp_reaction react_call(json_t *id, const json_t *params, const struct mcp_roots *roots,
                                      struct mcp_call *call)
{
    const char *name = json_string_value(json_object_get(params, "name"));
    const struct mcp_tool *tool = name ? mcp_tool_find(name) : NULL;
    const json_t *arguments = json_object_get(params, "arguments");
    if (!tool || (arguments && !json_is_object(arguments)))
        return (struct mcp_reaction){
            MCP_REPLY,
            mcp_reply_error(id, MCP_BAD_PARAMETERS, tool ? "arguments: wanted an object" : "name: no such tool"), NULL
        };
    *call = (struct mcp_call){ .tool = tool,
                               .budget = mcp_budget(arguments),
                               .plan = { .roots = roots, .mem = arena_new() } };
    struct error e = { 0 };
    if (!call->plan.mem || !mcp_plan_make(&call->plan, tool, arguments, &e)) {
        mcp_call_free(call);
        return (struct mcp_reaction){ MCP_REPLY,
                                      mcp_reply(id, mcp_text_result(e.fault ? e.text : no_memory_text(), true)), NULL };
    }
    call->id = json_incref(id);
    call->token = json_incref(json_object_get(json_object_get(params, "_meta"), "progressToken"));
    return (struct mcp_reaction){ MCP_CALL, NULL, NULL };
}

static struct mcp_reaction react_request(const char *method, json_t *id, const json_t *params,
                                         const struct mcp_roots *roots, struct mcp_call *call)
{
    if (strcmp(method, "tools/call") == 0)
        return react_call(id, params, roots, call);
    for (size_t i = 0; i < sizeof mcp_methods / sizeof *mcp_methods; i++)
        if (strcmp(method, mcp_methods[i].name) == 0) {
            json_t *result = mcp_methods[i].answer(params);
            return (struct mcp_reaction){ MCP_REPLY,
                                          result ? mcp_reply(id, result)
                                                 : mcp_reply_error(id, MCP_BAD_PARAMETERS, "uri: no such resource"),
                                          NULL };
        }
    return (struct mcp_reaction){ MCP_REPLY, mcp_reply_error(id, MCP_NO_METHOD, "no such method"), NULL };
}

struct mcp_reaction mcp_react(const char *line, size_t n, const struct mcp_roots *roots, struct mcp_call *call)
{
    json_error_t why;
    json_t *message = json_read(line, n, JSON_DECODE_ANY, &why);
    json_t *id = json_object_get(message, "id");
    const char *method = json_string_value(json_object_get(message, "method"));
    const char *version = json_string_value(json_object_get(message, "jsonrpc"));
    const json_t *params = json_object_get(message, "params");
    struct mcp_reaction r = { MCP_NOTHING, NULL, NULL };
    if (!message) {
        r = (struct mcp_reaction){ MCP_REPLY, mcp_reply_error(NULL, MCP_BAD_JSON, "not JSON, or too deep"), NULL };
    } else if (json_is_object(message) && !method &&
               (json_object_get(message, "result") || json_object_get(message, "error"))) {
        /* A reply: this server asks nothing. */
    } else if (!method || !version || strcmp(version, "2.0") != 0 ||
               (id && !json_is_string(id) && !json_is_number(id)) || (params && !json_is_object(params))) {
        r = (struct mcp_reaction){ MCP_REPLY,
                                   mcp_reply_error(json_is_string(id) || json_is_number(id) ? id : NULL,
                                                   MCP_BAD_REQUEST,
                                                   "wanted a JSON-RPC 2.0 request with an object as params"),
                                   NULL };
    } else if (id) {
        r = react_request(method, id, params, roots, call);
    } else if (strcmp(method, "notifications/cancelled") == 0) {
        r = (struct mcp_reaction){ MCP_CANCEL, NULL, json_incref(json_object_get(params, "requestId")) };
    }
    json_decref(message);
    return r;
}
