/* SPDX-License-Identifier: Apache-2.0 */
#include "view/server/view_server.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "sql/sql_run.h"
#include "view/server/http.h"

/* The pages of the viewer, which are part of the program. */

struct view_page {
    const char *name, *type, *text;
};

#define HTML   "text/html; charset=utf-8"
#define STYLE  "text/css; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"

/* Made of the files in pages/ when the program is built; a row here is a file there. */
#define PAGES(X)                                                                                                       \
    X("index.html", HTML, view_index_html)                                                                             \
    X("view.css", STYLE, view_view_css)                                                                                \
    X("advice.js", SCRIPT, view_advice_js)                                                                             \
    X("api.js", SCRIPT, view_api_js)                                                                                   \
    X("axis.js", SCRIPT, view_axis_js)                                                                                 \
    X("block_cache.js", SCRIPT, view_block_cache_js)                                                                   \
    X("card.js", SCRIPT, view_card_js)                                                                                 \
    X("chart.js", SCRIPT, view_chart_js)                                                                               \
    X("colours.js", SCRIPT, view_colours_js)                                                                           \
    X("details.js", SCRIPT, view_details_js)                                                                           \
    X("elements.js", SCRIPT, view_elements_js)                                                                         \
    X("fit.js", SCRIPT, view_fit_js)                                                                                   \
    X("flame.js", SCRIPT, view_flame_js)                                                                               \
    X("handling.js", SCRIPT, view_handling_js)                                                                         \
    X("heat.js", SCRIPT, view_heat_js)                                                                                 \
    X("job.js", SCRIPT, view_job_js)                                                                                   \
    X("layout.js", SCRIPT, view_layout_js)                                                                             \
    X("main.js", SCRIPT, view_main_js)                                                                                 \
    X("memory.js", SCRIPT, view_memory_js)                                                                             \
    X("minimap.js", SCRIPT, view_minimap_js)                                                                           \
    X("overview.js", SCRIPT, view_overview_js)                                                                         \
    X("paint.js", SCRIPT, view_paint_js)                                                                               \
    X("picture.js", SCRIPT, view_picture_js)                                                                           \
    X("ranks.js", SCRIPT, view_ranks_js)                                                                               \
    X("roofline.js", SCRIPT, view_roofline_js)                                                                         \
    X("sentences.js", SCRIPT, view_sentences_js)                                                                       \
    X("strip.js", SCRIPT, view_strip_js)                                                                               \
    X("tables.js", SCRIPT, view_tables_js)                                                                             \
    X("text.js", SCRIPT, view_text_js)                                                                                 \
    X("timeline.js", SCRIPT, view_timeline_js)                                                                         \
    X("timeline_state.js", SCRIPT, view_timeline_state_js)

#define DECLARE(name, type, symbol) extern const char symbol[];
PAGES(DECLARE)

#define ROW(name, type, symbol) { name, type, symbol },
static const struct view_page pages[] = { PAGES(ROW) };

/* NULL: there is none */
static const struct view_page *view_page_find(const char *name)
{
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (!strcmp(pages[i].name, name))
            return &pages[i];
    return NULL;
}

enum { THREADS = 8, URL = 128 };

static const char safety[] = "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
                             "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
                             "frame-ancestors 'none'\r\n"
                             "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
                             "Cross-Origin-Resource-Policy: same-origin\r\nCache-Control: no-store\r\n";
static const char opening[] = "/open/";

struct view_server {
    const struct view *view;
    struct http *http;
    char token[VIEW_TOKEN + 1], key[VIEW_TOKEN + 1]; /* of the pages, and of the address that leads to them */
    char url[URL], user_url[URL];
    char to_pages[sizeof safety + URL]; /* the headers that lead there */
    atomic_bool is_opened;              /* somebody whose user is not known was led to the pages */
};

static bool token_make(char token[VIEW_TOKEN + 1], struct error *e)
{
    unsigned char bits[VIEW_TOKEN / 2];
    if (getrandom(bits, sizeof bits, 0) != (ssize_t)sizeof bits)
        return error_set(e, FAULT_IO, "no random numbers for the address of the viewer");
    for (size_t i = 0; i < sizeof bits; i++)
        snprintf(token + 2 * i, 3, "%02x", bits[i]);
    return true;
}

/* Compares in constant time: the duration does not show how many characters of a guess are right. */
static bool is_token(const char token[VIEW_TOKEN + 1], const char *guess)
{
    unsigned char differs = strnlen(guess, VIEW_TOKEN) < VIEW_TOKEN;
    for (size_t i = 0; i < VIEW_TOKEN && guess[i]; i++)
        differs = (unsigned char)(differs | (guess[i] ^ token[i]));
    return !differs;
}

/* Whether a Host header names the loopback address, with any port: a tunnel may have changed the port. */
static bool is_loopback(const char *host)
{
    static const char *const names[] = { "127.0.0.1", "localhost" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t n = strlen(names[i]);
        if (!strncmp(host, names[i], n) &&
            (!host[n] || (host[n] == ':' && strspn(host + n + 1, "0123456789") == strlen(host + n + 1))))
            return true;
    }
    return false;
}

static bool is_from_here(const struct http_request *q)
{
    static const char scheme[] = "http://";
    return is_loopback(q->host) && (!q->origin[0] || (!strncmp(q->origin, scheme, sizeof scheme - 1) &&
                                                      !strcmp(q->origin + sizeof scheme - 1, q->host)));
}

static void view_server_refuse(struct http_reply *r, int status, const char *why)
{
    r->status = status;
    r->body = why;
    r->body_bytes = strlen(why);
}

/* Leads to the pages. Without a table of users the address works once: who reads it elsewhere comes too late, or is
 * noticed. */
static void answer_opening(struct view_server *s, const struct http_request *q, struct http_reply *r)
{
    const enum peer_user user = peer_user_of(q->socket);
    if (user == PEER_OTHER)
        return view_server_refuse(
            r, 403,
            "this address is for the user who started ascope view; the one that their browser shows then, "
            "or that ascope view --no-open prints, is for everybody");
    if (user == PEER_UNKNOWN && atomic_exchange(&s->is_opened, true))
        return view_server_refuse(r, 403, "this address works once; ascope view --no-open prints one that works again");
    view_server_refuse(r, 303, "");
    r->headers = s->to_pages;
}

static void view_server_answer(void *context, const struct http_request *q, struct http_reply *r)
{
    struct view_server *s = context;
    const size_t n_opening = sizeof opening - 1;
    r->headers = safety;
    if (!is_from_here(q))
        return view_server_refuse(r, 403, "this server answers only under 127.0.0.1 or localhost");
    if (!strncmp(q->path, opening, n_opening) && is_token(s->key, q->path + n_opening) &&
        !q->path[n_opening + VIEW_TOKEN])
        return answer_opening(s, q, r);
    if (!is_token(s->token, q->path + 1) || q->path[VIEW_TOKEN + 1] != '/')
        return view_server_refuse(r, 403, "incomplete address: use the one that ascope view printed");
    const char *what = q->path + VIEW_TOKEN + 2;
    if (!strncmp(what, "api/", 4))
        return view_answer(s->view, what + 4, q, r);
    const struct view_page *page = view_page_find(*what ? what : "index.html");
    if (!page)
        return view_server_refuse(r, 404, "no such page");
    r->type = page->type;
    r->body = page->text;
    r->body_bytes = strlen(page->text);
}

struct view_server *view_server_open(const struct view *v, const char *address, unsigned port, struct error *e)
{
    struct view_server *s = calloc(1, sizeof *s);
    if (!s) {
        error_no_memory(e, "viewer");
        return NULL;
    }
    s->view = v;
    const struct http_options options = {
        .address = address, .port = port, .n_threads = THREADS, .answer = view_server_answer, .context = s
    };
    atomic_init(&s->is_opened, false);
    const bool has_tokens = token_make(s->token, e) && token_make(s->key, e);
    snprintf(s->to_pages, sizeof s->to_pages, "%sLocation: /%s/\r\n", safety, s->token);
    s->http = has_tokens ? http_open(&options, e) : NULL;
    if (!s->http) {
        free(s);
        return NULL;
    }
    snprintf(s->url, sizeof s->url, "http://%s:%u/%s/", address, http_port(s->http), s->token);
    snprintf(s->user_url, sizeof s->user_url, "http://%s:%u%s%s", address, http_port(s->http), opening, s->key);
    return s;
}

const char *view_server_url(const struct view_server *s)
{
    return s->url;
}

const char *view_server_user_url(const struct view_server *s)
{
    return s->user_url;
}

unsigned view_server_port(const struct view_server *s)
{
    return http_port(s->http);
}

void view_server_close(struct view_server *s)
{
    if (!s)
        return;
    sql_end();
    http_close(s->http);
    free(s);
}
