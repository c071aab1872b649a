/* SPDX-License-Identifier: Apache-2.0 */
#include "view/report/report_answers.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/ascending.h"
#include "base/text/html.h"
#include "base/memory/sort.h"
#include "base/text/stamp.h"
#include "view/report/report_heat.h"

enum { MOST_CELLS = 100000, MOST_CHANGES = 20 };

struct report_answers_page {
    struct out *o;
    const struct view_input *in;
    struct arena *mem;
    bool has_failed; /* no memory */
};

static const char *report_answers_text_of(const json_t *of, const char *key)
{
    const char *text = json_string_value(json_object_get(of, key));
    return text ? text : "";
}

static double report_answers_number_of(const json_t *of, const char *key)
{
    return json_number_value(json_object_get(of, key));
}

static long long integer_of(const json_t *of, const char *key)
{
    return json_integer_value(json_object_get(of, key));
}

static void put_element(struct out *o, const char *begin, const char *text, const char *end)
{
    html_raw(o, begin);
    html_text(o, text);
    html_raw(o, end);
}

/* Writes the time of something relative to the begin of the timeline. Times of an answer are relative to its own
 * base_ns. */
static void put_moment(const struct report_answers_page *p, const json_t *answer, int64_t begin_ns)
{
    const struct view_timeline *t = &p->in->timeline;
    const int64_t ns = stamp_add(strtoll(report_answers_text_of(answer, "base_ns"), NULL, 10), begin_ns);
    if (t->end_ns > t->begin_ns) {
        out_lit(p->o, " at ");
        html_duration(p->o, (double)wrap_sub(ns, t->begin_ns));
        out_lit(p->o, " of the timeline");
    }
}

/* ---- a job
 * --------------------------------------------------------------------------------------------------------- */

static void put_job(struct report_answers_page *p, const json_t *job)
{
    const json_t *ranks = json_object_get(job, "job_ranks"), *steps = json_object_get(job, "steps"), *one;
    size_t i, n_drawn = 0, n_steps = 0;
    json_array_foreach(ranks, i, one) n_drawn += json_is_true(json_object_get(one, "is_drawn"));
    json_array_foreach(steps, i, one) n_steps += json_string_length(one) > 0;
    html_put(p->o, "<h2>%zu rank%s, %zu step%s</h2><p class=\"dim\">%zu of them %s in the timeline.</p>\n",
             json_array_size(ranks), json_array_size(ranks) == 1 ? "" : "s", n_steps, n_steps == 1 ? "" : "s", n_drawn,
             n_drawn == 1 ? "is" : "are");
}

static void put_verdicts(struct report_answers_page *p, const json_t *job)
{
    const json_t *verdicts = json_object_get(job, "verdicts"), *one;
    size_t i;
    out_lit(p->o, "<h2>Verdicts</h2>\n");
    if (json_array_size(verdicts) == 0)
        html_raw(p->o,
                 json_is_false(json_object_get(job, "has_compared"))
                     ? "<p>Nothing is compared: that takes two ranks or three steps whose times are recorded.</p>\n"
                     : "<p>No rank, host, link, step or stage differs from its kind.</p>\n");
    json_array_foreach(verdicts, i, one)
    {
        const json_t *place = json_array_get(json_object_get(job, "places"), i);
        put_element(p->o, "<p>", report_answers_text_of(one, "text"), "");
        if (json_is_string(json_object_get(one, "about")))
            put_element(p->o, " <span class=\"dim\">", report_answers_text_of(one, "about"), "</span>");
        if (json_is_object(place)) {
            html_put(p->o, " <span class=\"dim\">(rank %lld waits for it in ", integer_of(place, "waiting_rank"));
            html_text(p->o, report_answers_text_of(place, "collective"));
            put_moment(p, job, integer_of(place, "begin"));
            out_lit(p->o, ")</span>");
        }
        out_lit(p->o, "</p>\n");
    }
    json_array_foreach(json_object_get(job, "notes"), i, one)
        put_element(p->o, json_is_true(json_object_get(one, "is_loss")) ? "<p class=\"warn\">" : "<p class=\"dim\">",
                    report_answers_text_of(one, "text"), "</p>\n");
}

/* Ranks as rows of a grid. */
struct report_answers_rank_rows {
    struct arena *mem;
    size_t n, n_placed;
    int64_t *sorted;
    size_t *row_of; /* by position in `sorted`: its row + 1; 0: it has none yet */
    const char **name;
    bool *has_gap;
};

static size_t *row_of(const struct report_answers_rank_rows *r, int64_t rank) /* NULL: it is none of them */
{
    const size_t at = SEARCH_FIRST_NOT(i, 0, r->n, r->sorted[i] < rank);
    return at < r->n && r->sorted[at] == rank ? &r->row_of[at] : NULL;
}

/* Sorts the n ranks in `sorted`, removes duplicates, and allocates the other columns. */
static bool rows_sort(struct report_answers_rank_rows *r)
{
    size_t n = 0;
    qsort(r->sorted, r->n, sizeof *r->sorted, compare_i64s);
    for (size_t i = 0; i < r->n; i++)
        if (i == 0 || r->sorted[i] != r->sorted[i - 1])
            r->sorted[n++] = r->sorted[i];
    r->n = n;
    r->row_of = arena_take(r->mem, n + 1, sizeof *r->row_of);
    r->name = arena_take(r->mem, n + 1, sizeof *r->name);
    r->has_gap = arena_take(r->mem, n + 1, sizeof *r->has_gap);
    return r->row_of && r->name && r->has_gap;
}

static void rows_place(struct report_answers_rank_rows *r, int64_t rank, const char *before)
{
    size_t *row = row_of(r, rank);
    if (!row || *row)
        return;
    const char *name = arena_printf(r->mem, "%s %lld", before, (long long)rank);
    r->name[r->n_placed] = name ? name : "";
    *row = ++r->n_placed;
}

/* The first kind of which there are several groups; "": none. */
static const char *kind_of_groups(const json_t *groups)
{
    json_t *counts = json_object();
    const json_t *one;
    const char *kind = "";
    size_t i;
    json_array_foreach(groups, i, one)
    {
        const char *name = report_answers_text_of(one, "name");
        json_object_set_new(counts, name, json_integer(integer_of(counts, name) + 1));
    }
    for (i = 0; i < json_array_size(groups) && !*kind; i++) {
        const char *name = report_answers_text_of(json_array_get(groups, i), "name");
        kind = integer_of(counts, name) > 1 ? name : "";
    }
    json_decref(counts);
    return kind;
}

static bool rows_of_job(struct report_answers_rank_rows *r, const json_t *job, const char *kind)
{
    const json_t *ranks = json_object_get(job, "job_ranks"), *one;
    size_t i;
    r->n = json_array_size(ranks);
    r->sorted = arena_take(r->mem, r->n + 1, sizeof *r->sorted);
    if (!r->sorted)
        return false;
    json_array_foreach(ranks, i, one) r->sorted[i] = integer_of(one, "rank");
    if (!rows_sort(r))
        return false;
    json_array_foreach(json_object_get(job, "groups"), i, one)
    {
        const size_t before = r->n_placed;
        const json_t *rank;
        size_t k;
        if (strcmp(report_answers_text_of(one, "name"), kind) != 0)
            continue;
        json_array_foreach(json_object_get(one, "ranks"), k, rank) rows_place(r, json_integer_value(rank), "Rank");
        r->has_gap[before] |= r->n_placed > before && before > 0;
    }
    const size_t before = r->n_placed;
    json_array_foreach(ranks, i, one) rows_place(r, integer_of(one, "rank"), "Rank");
    r->has_gap[before] |= r->n_placed > before && before > 0;
    return true;
}

/* A cell is [rank, step, computing, communication, free, …]: microseconds. */
static double cell_us(const json_t *cell, size_t part)
{
    return json_number_value(json_array_get(cell, 2 + part));
}

static void show_us(struct out *o, double us)
{
    html_duration(o, us * 1000);
}

static void hint_of_step(struct out *o, const struct heat *h, const struct heat_cell *c)
{
    static const char *const part[] = { ", computing ", ", exposed communication ", ", free " };
    html_text(o, h->row[c->row]);
    html_raw(o, json_string_length(json_array_get(h->context, c->column)) > 0 ? ", step " : ", ");
    html_text(o, h->column[c->column]);
    out_lit(o, ": step time ");
    show_us(o, cell_us(c->of, 0) + cell_us(c->of, 1) + cell_us(c->of, 2));
    for (size_t i = 0; i < 3; i++) {
        html_raw(o, part[i]);
        show_us(o, cell_us(c->of, i));
    }
}

static void put_steps(struct report_answers_page *p, const json_t *job)
{
    const json_t *cells = json_object_get(job, "cells"), *steps = json_object_get(job, "steps"), *one;
    const char *kind = kind_of_groups(json_object_get(job, "groups"));
    struct report_answers_rank_rows rows = { .mem = p->mem };
    struct heat h = { .shown = show_us, .hint = hint_of_step, .context = steps };
    size_t i;
    if (json_array_size(cells) == 0 || !rows_of_job(&rows, job, kind))
        return;
    const size_t n_steps = json_array_size(steps), most = MOST_CELLS / (rows.n ? rows.n : 1) + 1;
    const char **column = arena_take(p->mem, n_steps + 1, sizeof *column);
    if (!column)
        return;
    h.n_columns = n_steps < most ? n_steps : most;
    h.n_rows = rows.n_placed;
    h.row = rows.name;
    h.has_gap = rows.has_gap;
    h.column = column;
    json_array_foreach(steps, i, one) column[i] = json_string_length(one) > 0 ? json_string_value(one) : "whole range";
    json_array_foreach(cells, i, one)
    {
        const size_t *row = row_of(&rows, json_integer_value(json_array_get(one, 0)));
        const size_t step = (size_t)json_integer_value(json_array_get(one, 1));
        struct heat_cell *to = row && *row && step < h.n_columns ? list_add(&h.cells, p->mem) : NULL;
        if (to)
            *to = (struct heat_cell){ *row - 1, step, cell_us(one, 0), one };
    }
    html_raw(p->o, "<h2>Ranks and steps</h2><p class=\"dim\">Colours: computing");
    put_element(p->o, *kind ? "; ranks of a group together: " : "", kind, ".</p>\n");
    report_heat(p->o, &h, p->mem);
    if (h.n_columns < n_steps)
        html_put(p->o, "<p class=\"dim\">The first %zu of %zu steps.</p>\n", h.n_columns, n_steps);
}

static void show_bandwidth(struct out *o, double gb)
{
    html_put(o, "%.2f GB/s", gb);
}

static void hint_of_link(struct out *o, const struct heat *h, const struct heat_cell *c)
{
    (void)h;
    html_put(o, "%lld → %lld: %.2f GB/s, %.1f MB, ", integer_of(c->of, "src"), integer_of(c->of, "dst"), c->value,
             report_answers_number_of(c->of, "mb"));
    html_duration(o, report_answers_number_of(c->of, "ms") * 1e6);
}

static void put_kind_of_link(struct report_answers_page *p, const char *kind, const json_t *links)
{
    struct report_answers_rank_rows from = { .mem = p->mem };
    struct heat h = { .shown = show_bandwidth, .hint = hint_of_link };
    const json_t *one;
    const size_t n = json_array_size(links);
    size_t i;
    from.n = 2 * n;
    from.sorted = arena_take(p->mem, 2 * n + 1, sizeof *from.sorted);
    const char **column = arena_take(p->mem, 2 * n + 1, sizeof *column);
    if (!from.sorted || !column)
        return;
    json_array_foreach(links, i, one)
    {
        from.sorted[2 * i] = integer_of(one, "src");
        from.sorted[2 * i + 1] = integer_of(one, "dst");
    }
    if (!rows_sort(&from))
        return;
    for (i = 0; i < from.n; i++) {
        rows_place(&from, from.sorted[i], "From");
        column[i] = strchr(from.name[i], ' ') ? strchr(from.name[i], ' ') + 1 : "";
    }
    h.n_rows = h.n_columns = from.n;
    h.row = from.name;
    h.column = column;
    json_array_foreach(links, i, one)
    {
        const double ms = report_answers_number_of(one, "ms");
        struct heat_cell *to = ms > 0 && h.cells.n < MOST_CELLS ? list_add(&h.cells, p->mem) : NULL;
        if (to)
            *to = (struct heat_cell){ *row_of(&from, integer_of(one, "src")) - 1,
                                      *row_of(&from, integer_of(one, "dst")) - 1,
                                      report_answers_number_of(one, "mb") / ms, one };
    }
    put_element(p->o, "<h3>", kind, " (GB/s)</h3>\n");
    report_heat(p->o, &h, p->mem);
    if (n > MOST_CELLS)
        html_put(p->o, "<p class=\"dim\">The first %d of %zu links.</p>\n", MOST_CELLS, n);
}

static void put_links(struct report_answers_page *p, const json_t *job)
{
    json_t *kinds = json_object(), *one, *of; /* kind: links */
    const char *kind;
    size_t i;
    json_array_foreach(json_object_get(job, "links"), i, one)
    {
        kind = report_answers_text_of(one, "transport");
        if (!json_object_get(kinds, kind))
            json_object_set_new(kinds, kind, json_array());
        p->has_failed |= json_array_append(json_object_get(kinds, kind), one) != 0;
    }
    if (json_object_size(kinds) > 0)
        out_lit(p->o, "<h2>Bandwidth of links</h2>\n");
    json_object_foreach(kinds, kind, of) put_kind_of_link(p, kind, of);
    json_decref(kinds);
}

static void put_part_of_path(struct report_answers_page *p, const json_t *part, double whole_ns)
{
    const double ns = report_answers_number_of(part, "ns");
    const json_t *rank = json_object_get(part, "rank");
    const char *group = report_answers_text_of(part, "group_name");
    html_put(p->o, "<tr><td class=\"n\">%.1f %%</td><td class=\"n\">", 100 * ns / whole_ns);
    html_duration(p->o, ns);
    out_lit(p->o, "</td><td class=\"n\">");
    html_duration(p->o, report_answers_number_of(part, "saved_ns"));
    put_element(p->o, "</td><td>", report_answers_text_of(part, "kind"), "</td><td>");
    if (json_is_integer(rank))
        html_put(p->o, "%lld", (long long)json_integer_value(rank));
    put_element(p->o, "</td><td>", report_answers_text_of(part, "name"), "</td><td>");
    put_element(p->o, "", *group ? group : report_answers_text_of(part, "group"), "</td></tr>\n");
}

static void put_path(struct report_answers_page *p, const json_t *job)
{
    const json_t *path = json_object_get(job, "critical_path"), *one;
    const double ns = report_answers_number_of(path, "ns");
    double rest = ns;
    size_t i;
    if (ns <= 0)
        return;
    out_lit(p->o, "<h2>Critical path");
    if (json_is_string(json_object_get(path, "step")))
        put_element(p->o, " of step ", report_answers_text_of(path, "step"), "");
    out_lit(p->o, ": ");
    html_duration(p->o, ns);
    html_put(p->o, ", %lld segments on %lld ranks</h2>\n", integer_of(path, "segments"), integer_of(path, "ranks"));
    html_raw(p->o, "<div class=\"wide\"><table><tr><th class=\"n\">Part</th><th class=\"n\">Length</th>"
                   "<th class=\"n\">Saved if 0</th><th>Kind</th><th>Rank</th><th>Name</th><th>Group</th></tr>\n");
    json_array_foreach(json_object_get(path, "parts"), i, one)
    {
        put_part_of_path(p, one, ns);
        rest -= report_answers_number_of(one, "ns");
    }
    if (rest > 0) {
        html_put(p->o, "<tr><td class=\"n\">%.1f %%</td><td class=\"n\">", 100 * rest / ns);
        html_duration(p->o, rest);
        html_raw(p->o, "</td><td></td><td colspan=\"4\">other parts</td></tr>\n");
    }
    out_lit(p->o, "</table></div>\n");
}

/* ---- two runs
 * ------------------------------------------------------------------------------------------------------ */

static void put_difference(struct out *o, const char *name, const char *detail, const json_t *d)
{
    static const struct {
        const char *key, *text;
    } states[] = { { "real", "real" }, { "noise", "within noise" }, { "unknown", "noise unknown" } };
    const double more = report_answers_number_of(d, "more_us");
    put_element(o, "<tr><td>", name, *detail ? " " : "");
    put_element(o, "", detail, "</td><td class=\"n\">");
    show_us(o, report_answers_number_of(d, "a_us"));
    out_lit(o, "</td><td class=\"n\">");
    show_us(o, report_answers_number_of(d, "b_us"));
    html_raw(o, more >= 0 ? "</td><td class=\"n\">+" : "</td><td class=\"n\">−");
    show_us(o, fabs(more));
    out_lit(o, "</td><td>");
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strcmp(states[i].key, report_answers_text_of(d, "state")) == 0)
            html_raw(o, states[i].text);
    out_lit(o, "</td></tr>\n");
}

static void begin_differences(struct out *o, const char *what)
{
    put_element(o, "<div class=\"wide\"><table><tr><th>", what, "</th><th class=\"n\">A</th><th class=\"n\">B</th>");
    html_raw(o, "<th class=\"n\">B − A</th><th></th></tr>\n");
}

static void put_comparison(struct report_answers_page *p, const json_t *c)
{
    static const struct {
        const char *key, *name;
    } parts[] = { { "step", "Step" },
                  { "computing", "Computing" },
                  { "communication", "Exposed communication" },
                  { "free", "Free" } };
    const json_t *overall = json_object_get(c, "overall"), *changes = json_object_get(c, "changes"), *one;
    size_t i;
    put_element(p->o, "<h2>A: ", report_answers_text_of(c, "a"), ", B: ");
    put_element(p->o, "", report_answers_text_of(c, "b"), "</h2>\n");
    begin_differences(p->o, "A usual step");
    for (i = 0; i < sizeof parts / sizeof *parts; i++)
        put_difference(p->o, parts[i].name, "", json_object_get(overall, parts[i].key));
    out_lit(p->o, "</table></div>\n");
    if (json_array_size(changes) == 0)
        return;
    out_lit(p->o, "<h3>What changed</h3>\n");
    begin_differences(p->o, "Name");
    json_array_foreach(changes, i, one)
    {
        if (i == MOST_CHANGES)
            break;
        put_difference(p->o, report_answers_text_of(one, "name"), report_answers_text_of(one, "detail"),
                       json_object_get(one, "step"));
    }
    out_lit(p->o, "</table></div>\n");
    if (json_array_size(changes) > MOST_CHANGES)
        html_put(p->o, "<p class=\"dim\">The first %d of %zu changes.</p>\n", MOST_CHANGES, json_array_size(changes));
}

/* ---- advice
 * -------------------------------------------------------------------------------------------------------- */

static bool is_of_job(const struct view_input *in)
{
    bool is_one = false;
    for (size_t i = 0; i < in->texts.n; i++)
        is_one |= strcmp(in->texts.at[i].key, "job") == 0;
    return is_one;
}

static void put_one_advice(struct report_answers_page *p, const json_t *answer, const json_t *one)
{
    const json_t *rank = json_object_get(one, "rank"), *e;
    size_t i;
    put_element(p->o, "<li><strong>", report_answers_text_of(one, "title"), ": ");
    show_us(p->o, report_answers_number_of(one, "gain_us"));
    html_put(p->o, " a step, %.1f %%", report_answers_number_of(one, "share") * 100);
    if (is_of_job(p->in) && json_is_integer(rank))
        html_put(p->o, " (rank %lld)", (long long)json_integer_value(rank));
    put_element(p->o, "</strong><p>", report_answers_text_of(one, "found"), "</p>\n");
    json_array_foreach(json_object_get(one, "evidence"), i, e)
    {
        const json_t *place = json_object_get(e, "place");
        put_element(p->o, "<p>", report_answers_text_of(e, "text"), "<span class=\"dim\">");
        if (json_is_object(place))
            put_moment(p, answer, integer_of(place, "begin_ns"));
        out_lit(p->o, "</span></p>\n");
    }
    put_element(p->o, "<p>Change: ", report_answers_text_of(one, "change"), "</p></li>\n");
}

static void put_advice(struct report_answers_page *p, const json_t *answer)
{
    const json_t *advice = json_object_get(answer, "advice"), *one;
    const char *before = "<p class=\"dim\">Not checked, because it was not recorded: ";
    size_t i;
    out_lit(p->o, "<h2>Advice</h2>\n");
    if (json_array_size(advice) == 0)
        html_raw(p->o, "<p>Nothing was found that would save 3 % of a step.</p>\n");
    else
        out_lit(p->o, "<ol>");
    json_array_foreach(advice, i, one) put_one_advice(p, answer, one);
    if (json_array_size(advice) > 0)
        out_lit(p->o, "</ol>\n");
    json_array_foreach(json_object_get(answer, "advise_checks"), i, one)
    {
        if (strcmp(report_answers_text_of(one, "state"), "not recorded") != 0)
            continue;
        put_element(p->o, before, report_answers_text_of(one, "check"), " (");
        put_element(p->o, "", report_answers_text_of(one, "needs"), ")");
        before = "; ";
    }
    if (strcmp(before, "; ") == 0)
        out_lit(p->o, "</p>\n");
}

/* ---- all of them
 * --------------------------------------------------------------------------------------------------- */

static const struct {
    const char *key; /* of the answer */
    enum report_side side;
    void (*put)(struct report_answers_page *p, const json_t *answer);
} parts[] = {
    { "job", REPORT_ABOVE_STEPS, put_job },       { "job", REPORT_ABOVE_STEPS, put_verdicts },
    { "job", REPORT_ABOVE_STEPS, put_steps },     { "job", REPORT_ABOVE_STEPS, put_links },
    { "job", REPORT_ABOVE_STEPS, put_path },      { "comparison", REPORT_ABOVE_STEPS, put_comparison },
    { "advice", REPORT_BELOW_STEPS, put_advice },
};

bool report_answers(struct out *o, const struct view_input *in, enum report_side side)
{
    struct report_answers_page p = { .o = o, .in = in, .mem = arena_new() };
    bool done = p.mem != NULL;
    for (size_t i = 0; done && i < in->texts.n; i++) {
        const struct view_text *text = &in->texts.at[i];
        json_t *answer = NULL;
        for (size_t k = 0; done && k < sizeof parts / sizeof *parts; k++) {
            if (parts[k].side != side || strcmp(parts[k].key, text->key) != 0)
                continue;
            if (!answer && !(answer = json_loads(text->json, 0, NULL)))
                done = false;
            else
                parts[k].put(&p, answer);
        }
        json_decref(answer);
    }
    done = done && !p.has_failed && !arena_failed(p.mem);
    arena_free(p.mem);
    return done;
}
