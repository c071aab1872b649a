/* SPDX-License-Identifier: Apache-2.0 */
#include "report/advise_page.h"

#include <stdio.h>

#include "base/text/html.h"

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>ascope advise</title>\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<style>\n"
    ":root{--paper:#fff;--ink:#1f2430;--dim:#69707d;--line:#d9dde3;--bar:#3b82f6;color-scheme:light dark}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#16181d;--ink:#e6e8ec;--dim:#9aa1ad;--line:#343945}}\n"
    "body{margin:2em auto;max-width:68em;padding:0 1em;background:var(--paper);color:var(--ink);"
    "font:15px/1.5 system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif}\n"
    "h1{font-size:1.3em}h2{font-size:1.1em;margin:1.6em 0 .2em}p{margin:.3em 0}.dim,small{color:var(--dim)}\n"
    "li{overflow-wrap:anywhere}code{font-size:.9em}.bar{height:6px;background:var(--line);border-radius:3px}"
    ".bar div{height:6px;background:var(--bar);border-radius:3px;min-width:2px}\n"
    "table{border-collapse:collapse;margin:.5em 0}td,th{text-align:left;padding:.2em 1em .2em 0;border-bottom:1px solid var(--line)}\n"
    "</style></head><body>\n";

static void put_place(struct out *o, const struct why_place *p)
{
    if (!p->process)
        return;
    out_lit(o, "<br><small>at ");
    out_us(o, p->begin_ns);
    out_lit(o, " us, ");
    out_us(o, p->dur_ns);
    out_lit(o, " us long: ");
    const char *part[] = { p->process, p->thread, p->event };
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        if (part[i]) {
            html_raw(o, i > 0 ? ", " : "");
            html_text(o, part[i]);
        }
    out_lit(o, "</small>");
}

static void put_finding(struct out *o, const struct advise_report *r, const struct advice *a, size_t number)
{
    char text[200], saves[SAVES_TEXT], rank[RANK_TEXT];
    const struct run_member *of = &r->rank[a->rank].rank;
    snprintf(text, sizeof text, "<h2 id=\"%s\">%zu. ", a->check->key, number);
    html_raw(o, text);
    html_text(o, a->check->title);
    html_raw(o, ": ");
    html_text(o, advice_saves(r, a, saves));
    snprintf(text, sizeof text, "</h2><div class=\"bar\"><div style=\"width:%.1f%%\"></div></div>\n<p>",
             100 * a->share);
    html_raw(o, text);
    html_text(o, a->finding.found ? a->finding.found : "");
    out_lit(o, "</p><p class=\"dim\">");
    if (*advise_rank_text(r, a->rank, rank)) {
        html_text(o, rank);
        snprintf(text, sizeof text, ", %zu of %zu ranks are affected; ", a->n_ranks, r->n_ranks);
        html_raw(o, text);
    }
    html_text(o, of->path);
    out_lit(o, "</p><ul>\n");
    for (size_t i = 0; i < a->finding.n; i++) {
        out_lit(o, "<li>");
        html_text(o, a->finding.evidence[i].text);
        put_place(o, &a->finding.evidence[i].place);
        out_lit(o, "</li>\n");
    }
    out_lit(o, "</ul><p><b>Change:</b> ");
    html_text(o, advice_change(a));
    out_lit(o, "</p>\n");
}

static void put_checks(struct out *o, const struct advise_report *r)
{
    html_raw(o, "<h2>All checks</h2><table><tr><th>check</th><th>result</th><th>needs</th></tr>\n");
    for (size_t i = 0; i < n_advise_checks; i++) {
        const struct advice *a = &r->advice[i];
        if (!advice_is_for(a))
            continue;
        out_lit(o, "<tr><td>");
        html_text(o, a->check->title);
        out_lit(o, "</td><td>");
        html_text(o, check_state_key(a->finding.state));
        out_lit(o, "</td><td>");
        html_text(o, a->finding.state == CHECK_UNRECORDED ? advice_needs(a) : "");
        out_lit(o, "</td></tr>\n");
    }
    out_lit(o, "</table>\n");
}

bool advise_page_write(const struct advise_report *r, const char *path, struct error *e)
{
    struct out o;
    const size_t n_found = advise_n_found(r);
    char text[200];
    if (!out_open_named(&o, path, e))
        return false;
    html_raw(&o, head);
    snprintf(
        text, sizeof text,
        "<h1>%zu finding%s</h1><p class=\"dim\">%zu rank%s. Gains are estimates. They may overlap and do not add up.</p>\n",
        n_found, n_found == 1 ? "" : "s", r->n_ranks, r->n_ranks == 1 ? "" : "s");
    html_raw(&o, text);
    for (size_t i = 0; i < n_found; i++)
        put_finding(&o, r, &r->advice[i], i + 1);
    put_checks(&o, r);
    out_lit(&o, "</body></html>\n");
    return out_close(&o, e);
}
