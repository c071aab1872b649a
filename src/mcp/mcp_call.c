/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/mcp_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/file_tree.h"
#include "base/memory/large_memory.h"
#include "base/text/json_memory.h"

/* The exit codes of ascope. */
enum { EXIT_DONE = 0, EXIT_LOSSES = 3 };

static bool folder_make(struct mcp_call *c)
{
    const int n = snprintf(c->folder, sizeof c->folder, "%s/ascope-mcp-XXXXXX", memory_dir());
    if (n > 0 && (size_t)n < sizeof c->folder && mkdtemp(c->folder))
        return true;
    c->folder[0] = '\0';
    return error_set(&c->error, FAULT_IO, "no temporary directory in %s", memory_dir());
}

static void folder_remove(struct mcp_call *c)
{
    if (c->folder[0])
        (void)tree_remove_path(c->folder);
    c->folder[0] = '\0';
}

bool mcp_call_next(struct mcp_call *c, const char *program)
{
    if (c->error.fault != FAULT_NONE || c->at >= c->plan.commands.n || c->n_done == sizeof c->done / sizeof *c->done)
        return false;
    const struct mcp_command *of = &c->plan.commands.at[c->at++];
    const char **word = arena_take(c->plan.mem, of->word.n + 4, sizeof *word);
    size_t n = 0;
    if (!word)
        return error_no_memory(&c->error, c->tool->name);
    word[n++] = program;
    memcpy(word + n, of->word.at, of->word.n * sizeof *word);
    n += of->word.n;
    if (of->needs_folder && !folder_make(c))
        return false;
    if (of->needs_folder) {
        word[n++] = "--out";
        word[n++] = c->folder;
    }
    c->done[c->n_done].title = of->title;
    return mcp_child_start(&c->child, word, of->input, &c->error);
}

/* Lines that name the folder are about files that are gone. */
static void without_folder(char *text, const char *folder)
{
    char *to = text;
    for (char *line = text; *line;) {
        const size_t len = strcspn(line, "\n"), whole = len + (line[len] == '\n');
        const char *at = strstr(line, folder);
        const bool is_about = at && at < line + len;
        if (!is_about)
            memmove(to, line, whole);
        to += is_about ? 0 : whole;
        line += whole;
    }
    *to = '\0';
}

void mcp_call_keep(struct mcp_call *c)
{
    struct mcp_child *child = &c->child;
    if (c->folder[0])
        without_folder(child->out.text, c->folder);
    c->done[c->n_done].text = child->out.text;
    c->done[c->n_done].messages = child->messages.text;
    c->done[c->n_done++].status = child->status;
    *child = (struct mcp_child){ 0 };
    folder_remove(c);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

json_t *mcp_text_result(const char *text, bool is_error)
{
    return json_pack("{s:[{s:s, s:o}], s:b}", "content", "type", "text", "text", text_json(text), "isError", is_error);
}

/* An answer that is made of parts. */
struct mcp_text {
    struct arena *mem;
    const char *text;
    size_t left; /* of the budget, in characters */
};

/* Bytes of the longest begin of whole lines with at most `most` characters. */
static size_t lines_within(const char *text, size_t most)
{
    size_t end = 0, n = 0;
    for (size_t i = 0; text[i] && n < most; i++) {
        n += ((unsigned char)text[i] & 0xC0) != 0x80; /* a character, not the rest of one */
        if (text[i] == '\n')
            end = i + 1;
        if (!text[i + 1])
            end = i + 1;
    }
    return end;
}

static size_t characters(const char *text, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ((unsigned char)text[i] & 0xC0) != 0x80;
    return sum;
}

static void text_add(struct mcp_text *t, const char *text, size_t n)
{
    const size_t used = characters(text, n);
    t->text = arena_printf(t->mem, "%s%.*s", t->text ? t->text : "", (int)n, text);
    t->left -= used < t->left ? used : t->left;
}

enum { OF_NOTE = 90 }; /* characters of the longest note about what was left out */

/* As many whole lines as fit, and how many did not. There is room for the note. */
static void text_put(struct mcp_text *t, const char *text, size_t most)
{
    char note[OF_NOTE];
    const size_t room = most < t->left ? most : t->left;
    size_t n = lines_within(text, room), n_lines = 0;
    if (text[n])
        n = lines_within(text, room > OF_NOTE ? room - OF_NOTE : 0);
    for (const char *p = text + n; *p; p++)
        n_lines += *p == '\n' || !p[1];
    text_add(t, text, n);
    if (n_lines > 0)
        text_add(t, note,
                 (size_t)snprintf(note, sizeof note,
                                  "[%zu more lines left out; ask with a larger max_chars, or for less]\n", n_lines));
}

static bool is_failed(const struct mcp_call *c)
{
    bool is_any = false;
    for (size_t i = 0; i < c->n_done; i++)
        is_any = is_any || c->done[i].status == EXIT_DONE || c->done[i].status == EXIT_LOSSES;
    return c->error.fault != FAULT_NONE || (c->n_done > 0 && !is_any);
}

/* Whether an earlier command has said the same: several of a call read the same recording. */
static bool is_said(const struct mcp_call *c, size_t i)
{
    bool is = !c->done[i].messages[0];
    for (size_t k = 0; k < i; k++)
        is = is || strcmp(c->done[k].messages, c->done[i].messages) == 0;
    return is;
}

/* What a command has printed, below its title. False: there is no room for it. */
static bool part_put(struct mcp_text *t, const struct mcp_call *c, size_t i)
{
    enum { MOST_MESSAGES = 1000 };
    char line[200];
    const bool is_last = i + 1 == c->n_done;
    const size_t title = c->done[i].title ? strlen(c->done[i].title) + 2 : 0;
    if (t->left < title + 2 * OF_NOTE)
        return false;
    if (title > 0 && c->done[i].text[0])
        text_add(t, line, (size_t)snprintf(line, sizeof line, "%s%s\n", i ? "\n" : "", c->done[i].title));
    text_put(t, c->done[i].text, is_last ? t->left : t->left - t->left / 3); /* the first ones have the most to say */
    if (c->done[i].status >= 128 && t->left >= OF_NOTE)
        text_add(t, line, (size_t)snprintf(line, sizeof line, "ended by signal %d\n", c->done[i].status - 128));
    if (!is_said(c, i) && t->left >= OF_NOTE)
        text_put(t, c->done[i].messages, MOST_MESSAGES);
    return true;
}

json_t *mcp_call_result(const struct mcp_call *c)
{
    const bool failed = is_failed(c);
    const char *next = c->tool->next && !failed ? arena_printf(c->plan.mem, "\nNext: %s\n", c->tool->next) : "";
    if (c->error.fault != FAULT_NONE || !next)
        return mcp_text_result(next ? c->error.text : no_memory_text(), true);
    struct mcp_text t = { .mem = c->plan.mem, .left = c->budget - strlen(next) - OF_NOTE };
    size_t n_left_out = 0;
    if (c->plan.text)
        text_put(&t, c->plan.text, t.left);
    for (size_t i = 0; i < c->n_done; i++)
        n_left_out += !part_put(&t, c, i);
    if (n_left_out > 0) {
        char note[OF_NOTE];
        t.left += OF_NOTE;
        text_add(&t, note,
                 (size_t)snprintf(note, sizeof note, "\n[%zu more tables left out; ask with a larger max_chars]\n",
                                  n_left_out));
    }
    text_add(&t, next, strlen(next));
    return mcp_text_result(t.text && *t.text ? t.text : "nothing\n", failed);
}

void mcp_call_free(struct mcp_call *c)
{
    mcp_child_free(&c->child);
    folder_remove(c);
    for (size_t i = 0; i < c->n_done; i++) {
        free(c->done[i].text);
        free(c->done[i].messages);
    }
    json_decref(c->id);
    json_decref(c->token);
    arena_free(c->plan.mem);
    *c = (struct mcp_call){ 0 };
}
