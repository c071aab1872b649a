/* SPDX-License-Identifier: Apache-2.0 */
#include "report/compare_page.h"

#include <stdio.h>

#include "base/text/html.h"

enum { ROWS_MOST = 300, PATH_BYTES = 4200 };

static const char *const head =
    "<!DOCTYPE html>\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>ascope compare</title>\n<style>\n"
    ":root { color-scheme: light dark; --bad: #b3261e; --good: #1b6e3c; --dim: #6b6b6b; --line: #8884; }\n"
    "@media (prefers-color-scheme: dark) { :root { --bad: #ffb4ab; --good: #8fd8a8; --dim: #a0a0a0; } }\n"
    "body { font: 14px/1.45 system-ui, sans-serif; margin: 1.5rem auto; padding: 0 1rem; max-width: 80rem; }\n"
    "table { border-collapse: collapse; width: 100%; } th, td { padding: .2rem .5rem; border-bottom: 1px solid var(--line); }\n"
    "th { text-align: right; position: sticky; top: 0; background: Canvas; } td { text-align: right; }\n"
    "td.name, th.name { text-align: left; overflow-wrap: anywhere; unicode-bidi: isolate; } .more { color: var(--bad); }\n"
    ".less { color: var(--good); } .noise { color: var(--dim); } summary { font-weight: 600; cursor: pointer; margin: 1rem 0 .3rem; }\n"
    "td { font-variant-numeric: tabular-nums; }\n</style></head><body>\n";

static void put_us(struct out *o, double ns)
{
    html_put(o, "<td>%.3f</td>", ns / 1000);
}

static void put_difference(struct out *o, const struct difference *d)
{
    const char *class = d->state == DIFFERENCE_NOISE ? "noise" : d->b > d->a ? "more" : d->b < d->a ? "less" : "noise";
    put_us(o, d->a);
    put_us(o, d->b);
    html_put(o, "<td class=\"%s\">%+.3f</td>", class, (d->b - d->a) / 1000);
    if (d->a > 0)
        html_put(o, "<td class=\"%s\">%+.1f %%</td>", class, (d->b - d->a) / d->a * 100);
    else
        html_raw(o, "<td></td>");
    if (d->state == DIFFERENCE_UNKNOWN)
        html_raw(o, "<td class=\"noise\">unknown</td>");
    else
        html_put(o, "<td class=\"%s\">%.3f%s</td>", class, d->noise_ns / 1000,
                 d->state == DIFFERENCE_REAL ? ", real" : "");
}

static const char *const difference_head =
    "<th>A, us per step</th><th>B</th><th>difference</th><th></th><th>noise</th>";

static void put_row(struct out *o, const struct comparison *c, const struct compared_row *r, bool with_kind)
{
    html_raw(o, "<tr><td class=\"name\">");
    if (with_kind)
        html_put(o, "%s ", measure_key[r->kind]);
    html_text(o, names_text(c->names, r->name));
    if (r->detail != NAME_EMPTY) {
        html_raw(o, " <span class=\"noise\">");
        html_text(o, names_text(c->names, r->detail));
        html_raw(o, "</span>");
    }
    html_raw(o, "</td>");
    put_difference(o, &r->difference);
    html_put(o, "<td>%.4g</td><td>%.4g</td>", r->a.runs, r->b.runs);
    if (c->n_pairs > 1) {
        char rank[RANK_TEXT];
        html_put(o, "<td>%s, %+.3f</td>", rank_text(rank, c->pair[r->pair].b), r->pair_ns / 1000);
    }
    html_raw(o, "</tr>\n");
}

static void put_rows_head(struct out *o, const struct comparison *c)
{
    html_raw(o, "<table><thead><tr><th class=\"name\">name</th>");
    html_raw(o, difference_head);
    html_put(o, "<th>runs A</th><th>runs B</th>%s</tr></thead><tbody>\n", c->n_pairs > 1 ? "<th>most on, us</th>" : "");
}

/* The number of rows that are not on the page. */
static void put_more(struct out *o, size_t n)
{
    if (n > ROWS_MOST)
        html_put(o, "<p>and %zu more, in the tables beside this page</p>\n", n - ROWS_MOST);
}

static void put_kind(struct out *o, const struct comparison *c, enum measure_kind kind)
{
    const size_t first = c->first[kind], n = c->first[kind + 1] - first;
    if (n == 0)
        return;
    html_put(o, "<details><summary>%s: %zu, of which %zu differ</summary>\n", measure_title[kind], n, c->n_real[kind]);
    put_rows_head(o, c);
    for (size_t i = 0; i < n && i < ROWS_MOST; i++)
        put_row(o, c, &c->row[first + i], false);
    html_raw(o, "</tbody></table>\n");
    put_more(o, n);
    html_raw(o, "</details>\n");
}

static void put_parts(struct out *o, const char *what, const struct difference part[RUN_PARTS])
{
    for (unsigned k = 0; k < RUN_PARTS; k++) {
        html_put(o, "<tr><td class=\"name\">%s%s</td>", what, part_title[k]);
        put_difference(o, &part[k]);
        html_raw(o, "</tr>\n");
    }
}

static void put_overall(struct out *o, const struct comparison *c)
{
    html_raw(o, "<table><thead><tr><th class=\"name\">usual step</th>");
    html_raw(o, difference_head);
    html_raw(o, "</tr></thead><tbody>\n");
    put_parts(o, "", c->part);
    html_raw(o, "</tbody></table>\n");
    if (c->n_pairs < 2)
        return;
    html_put(o, "<details><summary>Ranks: %zu</summary>\n<table><thead><tr><th class=\"name\">rank</th>", c->n_pairs);
    html_raw(o, difference_head);
    html_raw(o, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < c->n_pairs; i++) {
        char rank[RANK_TEXT], what[RANK_TEXT + 2];
        snprintf(what, sizeof what, "%s, ", rank_text(rank, c->pair[i].b));
        put_parts(o, what, c->pair[i].part);
    }
    html_raw(o, "</tbody></table></details>\n");
}

static void put_steps(struct out *o, const struct comparison *c)
{
    html_put(
        o,
        "<details><summary>Steps: %zu</summary>\n<table><thead><tr><th class=\"name\">A</th><th class=\"name\">B</th>"
        "<th>A, us</th><th>B, us</th><th>difference</th></tr></thead><tbody>\n",
        c->n_steps);
    for (size_t i = 0; i < c->n_steps && i < ROWS_MOST; i++) {
        const struct compared_step *s = &c->step[i];
        html_raw(o, "<tr><td class=\"name\">");
        html_text(o, names_text(c->names, s->a));
        html_raw(o, s->a_is_slow ? " (slow)</td><td class=\"name\">" : "</td><td class=\"name\">");
        html_text(o, names_text(c->names, s->b));
        html_raw(o, s->b_is_slow ? " (slow)</td>" : "</td>");
        put_us(o, (double)s->a_ns);
        put_us(o, (double)s->b_ns);
        html_put(o, "<td>%+.3f</td></tr>\n", ((double)s->b_ns - (double)s->a_ns) / 1000);
    }
    html_raw(o, "</tbody></table>\n");
    put_more(o, c->n_steps);
    html_raw(o, "</details>\n");
}

bool compare_page_write(const struct compare_report *r, const char *dir, struct error *e)
{
    const struct comparison *c = r->c;
    char path[PATH_BYTES];
    struct out out, *o = &out;
    if (snprintf(path, sizeof path, "%s/comparison.html", dir) >= (int)sizeof path)
        return error_set(e, FAULT_IO, "%s: path too long", dir);
    if (!out_open(o, path, e))
        return false;
    html_raw(o, head);
    for (size_t i = 0; i < c->n_a + c->n_b; i++) {
        html_put(o, "<p><b>%c</b> ", "AB"[i >= c->n_a]);
        html_text(o, c->run[i].name);
        html_raw(o, "</p>\n");
    }
    if (!c->is_noise_known)
        html_raw(o, "<p>Noise is unknown: it takes three steps on each side. Differences may be chance.</p>\n");
    put_overall(o, c);
    html_raw(o, "<h2>What changed</h2>\n");
    if (r->n_changes == 0)
        html_raw(o, "<p>Nothing differs by more than noise and a hundredth.</p>\n");
    else
        put_rows_head(o, c);
    for (size_t i = 0; i < r->n_changes && i < ROWS_MOST; i++)
        put_row(o, c, r->change[i], true);
    if (r->n_changes > 0)
        html_raw(o, "</tbody></table>\n");
    put_more(o, r->n_changes);
    for (unsigned k = 0; k < MEASURE_KINDS; k++)
        put_kind(o, c, (enum measure_kind)k);
    put_steps(o, c);
    html_raw(o, "</body></html>\n");
    return out_close(o, e);
}
