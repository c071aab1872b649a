/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/mcp_pages.h"

#include <string.h>

#include "sql/sql_schema.h"

extern const char mcp_page_agents[], mcp_page_answers[], mcp_page_cluster[], mcp_page_compare[], mcp_page_glossary[],
    mcp_page_hang[], mcp_page_inputs[], mcp_page_sql[];

/* In the order in which a term is looked up. */
static const struct mcp_page {
    const char *uri, *name, *text;
} mcp_page_rows[] = {
    { "ascope://docs/glossary.md", "the words of answers", mcp_page_glossary },
    { "ascope://docs/answers.md", "what is slow, causes, checks: the rules", mcp_page_answers },
    { "ascope://docs/sql.md", "SQL: tables, columns, examples, limits", mcp_page_sql },
    { "ascope://docs/compare.md", "comparing two runs, and what is noise", mcp_page_compare },
    { "ascope://docs/cluster.md", "jobs of several ranks", mcp_page_cluster },
    { "ascope://docs/hang.md", "jobs that hang", mcp_page_hang },
    { "ascope://docs/inputs.md", "what can be opened", mcp_page_inputs },
    { "ascope://docs/agents.md", "how these tools are used", mcp_page_agents },
};
enum { MCP_PAGES = sizeof mcp_page_rows / sizeof *mcp_page_rows };
static const char schema_uri[] = "ascope://schema";

json_t *mcp_pages_list(void)
{
    json_t *list = json_array();
    json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "uri", schema_uri, "name", "tables and columns of SQL",
                                          "mimeType", "application/json"));
    for (size_t i = 0; i < MCP_PAGES; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "uri", mcp_page_rows[i].uri, "name",
                                              mcp_page_rows[i].name, "mimeType", "text/markdown"));
    return json_pack("{s:o}", "resources", list);
}

static json_t *content_json(const char *uri, const char *type, const char *text)
{
    return json_pack("{s:[{s:s, s:s, s:s}]}", "contents", "uri", uri, "mimeType", type, "text", text);
}

json_t *mcp_pages_read(const char *uri)
{
    if (strcmp(uri, schema_uri) == 0) {
        json_t *schema = sql_schema_json();
        char *text = schema ? json_dumps(schema, JSON_COMPACT) : NULL;
        json_t *made = text ? content_json(uri, "application/json", text) : NULL;
        json_decref(schema);
        free(text);
        return made;
    }
    for (size_t i = 0; i < MCP_PAGES; i++)
        if (strcmp(mcp_page_rows[i].uri, uri) == 0)
            return content_json(uri, "text/markdown", mcp_page_rows[i].text);
    return NULL;
}

/* ---- terms ------------------------------------------------------------------------------------------------------- */

enum { MOST_FOUND = 12 };

/* What was found, in the order of its worth. */
struct mcp_found {
    struct arena *mem;
    const char *text;
    size_t n;
};

static void found_add(struct mcp_found *f, const char *where, const char *what, size_t len)
{
    if (f->n++ >= MOST_FOUND)
        return;
    f->text = arena_printf(f->mem, "%s%s: %.*s\n", f->text ? f->text : "", where, (int)len, what);
}

static bool holds(const char *text, size_t len, const char *term)
{
    const char *at = strcasestr(text, term);
    return at && at + strlen(term) <= text + len;
}

/* Rows of tables whose first cell has the term, or else all lines that have it. */
static void page_search(struct mcp_found *f, const struct mcp_page *page, const char *term, bool is_row)
{
    enum { OF_A_PAGE = 4 };
    size_t n = 0;
    for (const char *line = page->text; *line && n < OF_A_PAGE;) {
        const size_t len = strcspn(line, "\n");
        const char *cell = *line == '|' ? memchr(line + 1, '|', len > 0 ? len - 1 : 0) : NULL;
        if (is_row ? cell && holds(line, (size_t)(cell - line), term) : holds(line, len, term)) {
            found_add(f, page->uri, line, len);
            n++;
        }
        line += len + (line[len] == '\n');
    }
}

const char *mcp_pages_explain(const char *term, struct arena *mem)
{
    struct mcp_found f = { .mem = mem };
    if (!*term)
        return NULL;
    for (size_t i = 0; i < MCP_PAGES; i++)
        page_search(&f, &mcp_page_rows[i], term, true);
    for (size_t i = 0; i < SQL_TABLES; i++) {
        const struct sql_table *t = &sql_tables[i];
        if (strcasecmp(t->name, term) == 0)
            found_add(&f, "table of sql", t->meaning, strlen(t->meaning));
        for (size_t k = 0; k < t->n_columns; k++)
            if (strcasecmp(t->column[k].name, term) == 0)
                found_add(&f, arena_printf(mem, "column of %s", t->name), t->column[k].meaning,
                          strlen(t->column[k].meaning));
    }
    for (size_t i = 0; i < MCP_PAGES && f.n == 0; i++)
        page_search(&f, &mcp_page_rows[i], term, false);
    if (f.n > MOST_FOUND && f.text)
        f.text = arena_printf(mem, "%s%zu more; a longer term finds fewer\n", f.text, f.n - MOST_FOUND);
    return f.text;
}
