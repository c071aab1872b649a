/* SPDX-License-Identifier: Apache-2.0 */
#include "view/report/view_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/text/html.h"
#include "base/memory/sort.h"
#include "base/text/stamp.h"
#include "view/report/report_answers.h"

enum { WIDTH = 1600, NAMES = 220, LEVEL = 18, PROCESS = 22, COUNTER = 40, STRIP = 140, COLOURS = 12 };
enum { CUT = 4 }; /* bars are cut off at this many medians: otherwise one stall would make all other bars invisible */
enum { MOST_BLOCKS = 200000, MOST_STEPS = 20000, LABEL_LEAST = 24 };

/* The colours of the viewer, pages/colours.js, so that a name has the same here. */
static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>\n"
    ":root{--back:#fff;--text:#1c1e21;--faint:#63676d;--line:#d5d8dc;--panel:#f4f5f7;--label:#fff;--accent:#0b5cad;--warn:#a33b00;"
    "--p0:#0072b2;--p1:#56b4e9;--p2:#e69f00;--p3:#c3c7cc;--c0:#0072b2;--c1:#e69f00;--c2:#009e73;--c3:#cc79a7;--c4:#56b4e9;--c5:#d55e00;"
    "--c6:#8c6d31;--c7:#637939;--c8:#5254a3;--c9:#ad494a;--c10:#7b4173;--c11:#8ca252;color-scheme:light dark}\n"
    "@media(prefers-color-scheme:dark){:root{--back:#17191c;--text:#e6e8ea;--faint:#9aa0a6;--line:#3a3e44;--panel:#202327;--label:#000;"
    "--accent:#6cb2ff;--warn:#ff9d66;--p0:#4aa3df;--p1:#7cc8f2;--p2:#f0b840;--p3:#50555c;--c0:#4aa3df;--c1:#f0b840;--c2:#2fc39a;--c3:#e29bc4;"
    "--c4:#7cc8f2;--c5:#f08040;--c6:#b8964f;--c7:#94ad5a;--c8:#8889d6;--c9:#d87b7c;--c10:#b478aa;--c11:#b5cf6b}}\n"
    "body{margin:1em 2em;background:var(--back);color:var(--text);font:14px/1.5 system-ui,\"Segoe UI\",\"Noto Sans\",\"Noto Sans CJK SC\",sans-serif}\n"
    "h1{font-size:1.3em}h2{font-size:1.1em}h3{font-size:1em}.dim{color:var(--faint)}p,dd{overflow-wrap:anywhere}.wide{overflow-x:auto}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 14px}dt{color:var(--faint)}dd{margin:0}\n"
    "svg{display:block;max-width:100%;height:auto}text{font-size:11px;fill:var(--text);dominant-baseline:central}text.l{fill:var(--label)}"
    "text.f{fill:var(--faint)}.warn{color:var(--warn)}svg.heat{max-width:none}svg.scale{display:inline}table{border-collapse:collapse}"
    "th,td{padding:2px 12px 2px 0;text-align:left;border-bottom:1px solid var(--line)}.n{text-align:right}.panel{fill:var(--panel)}.line{fill:var(--line)}.area{fill:var(--accent);opacity:.5}.slow{fill:var(--warn)}.cut{fill:var(--back)}\n"
    ".p0{fill:var(--p0)}.p1{fill:var(--p1)}.p2{fill:var(--p2)}.p3{fill:var(--p3)}.median{stroke:var(--text);stroke-dasharray:6 4}\n"
    ".c0{fill:var(--c0)}.c1{fill:var(--c1)}.c2{fill:var(--c2)}.c3{fill:var(--c3)}.c4{fill:var(--c4)}.c5{fill:var(--c5)}.c6{fill:var(--c6)}"
    ".c7{fill:var(--c7)}.c8{fill:var(--c8)}.c9{fill:var(--c9)}.c10{fill:var(--c10)}.c11{fill:var(--c11)}\n</style>\n<title>";

void view_report_begin(struct out *o, const char *title)
{
    html_raw(o, head);
    html_text(o, title);
    out_lit(o, "</title></head><body>\n");
}

void view_report_end(struct out *o)
{
    out_lit(o, "<p class=\"dim\">Written by ascope " ASCOPE_VERSION ".</p></body></html>\n");
}

/* ---- overview
 * ------------------------------------------------------------------------------------------------------ */

static void put_step(struct out *o, const struct view_step *step, double x, double width, double most)
{
    double y = STRIP;
    out_lit(o, "<g><title>Step ");
    html_text(o, step->name);
    out_lit(o, ": ");
    html_duration(o, (double)step->time_ns);
    out_lit(o, "</title>");
    for (int p = 0; p < 4; p++) {
        const double h = step->part_ns[p] > 0 ? fmin((double)step->part_ns[p] / most * (STRIP - 8), y - 8) : 0;
        y -= h;
        if (h > 0)
            html_put(o, "<rect class=\"p%d\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>", p, x, y, width,
                     h);
    }
    if ((double)step->time_ns > most)
        html_put(o, "<rect class=\"cut\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"3\"/>", x, y + 8, width);
    if (step->is_slow)
        html_put(o, "<rect class=\"slow\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"4\"/>", x, y - 5, width);
    out_lit(o, "</g>\n");
}

static void put_series(struct out *o, const struct view_series *s)
{
    const size_t n = s->steps.n < MOST_STEPS ? s->steps.n : MOST_STEPS;
    double most = (double)s->median_ns * 1.2;
    out_lit(o, "<h2>");
    html_text(o, s->title);
    out_lit(o, "</h2>\n");
    if (n == 0)
        return;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, (double)s->steps.at[i].time_ns);
    const double limit = (double)s->median_ns * CUT;
    const bool is_cut = limit > 0 && most > limit;
    most = is_cut ? limit : most > 0 ? most : 1;
    html_raw(o, s->is_host ? "<p class=\"dim\">blue: operators; light blue: operators and communication; orange: "
                             "communication; grey: outside operators"
                           : "<p class=\"dim\">blue: computing; light blue: computing and communication; orange: "
                             "exposed communication; grey: free");
    if (is_cut)
        html_put(o, "; a bar with a gap is cut off at %d medians", CUT);
    html_raw(o, "</p>");
    html_put(o, "<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n", WIDTH, STRIP, WIDTH, STRIP);
    const double each = (double)WIDTH / (double)n;
    for (size_t i = 0; i < n; i++)
        put_step(o, &s->steps.at[i], (double)i * each, fmax(0.5, each - (each > 4 ? 1 : 0)), most);
    const double y = STRIP - (double)s->median_ns / most * (STRIP - 8);
    html_put(o, "<line class=\"median\" x1=\"0\" x2=\"%d\" y1=\"%.2f\" y2=\"%.2f\"/></svg>\n", WIDTH, y, y);
    if (n < s->steps.n)
        html_put(o, "<p class=\"dim\">The first %zu of %zu steps.</p>\n", n, s->steps.n);
}

static void put_sentences(struct out *o, const struct view_sentence *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out_lit(o, "<p>");
        html_text(o, s[i].text);
        out_lit(o, "</p>\n");
    }
}

/* What is slow, with the largest causes. */
static void put_findings(struct out *o, const struct view_input *in)
{
    bool is_first = true;
    for (size_t i = 0; i < in->series.n; i++) {
        const struct view_series *s = &in->series.at[i];
        for (size_t k = 0; k < s->findings.n; k++) {
            const struct view_finding *f = &s->findings.at[k];
            html_raw(o, is_first ? "<h2>Verdicts</h2>\n" : "");
            is_first = false;
            html_raw(o, f->is_start_up ? "<p class=\"dim\">" : "<p>");
            html_text(o, f->says.text);
            out_lit(o, "</p>\n");
            if (f->because.text) {
                out_lit(o, "<ul><li>");
                html_text(o, f->because.text);
                out_lit(o, "</li></ul>\n");
            }
        }
    }
}

/* Only damage, as on the page: records that are unpaired at the begin and the end of a collection are not worth a line. */
static void put_losses(struct out *o, const struct view_input *in)
{
    bool is_first = true;
    for (size_t i = 0; i < in->losses.n; i++) {
        const struct view_loss *l = &in->losses.at[i];
        if (!l->is_damage)
            continue;
        html_raw(o, is_first ? "<h2>What could not be read</h2>\n" : "");
        is_first = false;
        html_put(o, "<p class=\"warn\">%" PRIu64 ": ", l->n);
        html_text(o, l->what);
        if (*l->file) {
            out_lit(o, "; the first is in ");
            html_text(o, l->file);
            html_put(o, " at byte %" PRIu64, l->at);
        }
        out_lit(o, "</p>\n");
    }
}

static bool put_overview(struct out *o, const struct view_input *in)
{
    put_losses(o, in);
    bool done = report_answers(o, in, REPORT_ABOVE_STEPS);
    put_findings(o, in);
    for (size_t i = 0; i < in->series.n; i++) {
        const struct view_step *slowest = view_slowest(&in->series.at[i]);
        put_series(o, &in->series.at[i]);
        put_sentences(o, slowest ? slowest->why.at : NULL, slowest ? slowest->why.n : 0);
    }
    put_sentences(o, in->sentences.at, in->sentences.n);
    done = report_answers(o, in, REPORT_BELOW_STEPS) && done;
    out_lit(o, "<dl>");
    for (size_t i = 0; i < in->facts.n; i++) {
        out_lit(o, "<dt>");
        html_text(o, in->facts.at[i].name);
        out_lit(o, "</dt><dd>");
        html_text(o, in->facts.at[i].text);
        out_lit(o, "</dd>");
    }
    out_lit(o, "</dl>\n");
    return done;
}

/* ---- timeline
 * ------------------------------------------------------------------------------------------------------ */

struct view_report_drawing {
    struct out *o;
    const struct view_timeline *t;
    int64_t begin_ns, end_ns; /* of the trace */
    double scale;             /* pixels a ns */
    double y;
    size_t n_left; /* blocks */
    struct block *block;
};

static double x_of(const struct view_report_drawing *d, int64_t ns)
{
    const double x = NAMES + (double)wrap_sub(ns, d->begin_ns) * d->scale;
    return x < NAMES ? NAMES : x > WIDTH ? WIDTH : x;
}

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The colour of a name without the numbers that make it unique, by the same rule and hash as pages/colours.js: digits
 * count only right behind a letter, as in MatMulV2. */
static unsigned colour_of(const char *name, size_t n)
{
    uint32_t h = 2166136261;
    bool is_version = false; /* digits that follow a letter */
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)name[i];
        is_version = is_digit(c) ? is_version || (i > 0 && is_letter((unsigned char)name[i - 1])) : false;
        if ((is_digit(c) && !is_version) || c == '_' || c == '#')
            continue;
        h = (h ^ (c >= 'A' && c <= 'Z' ? c + 32U : c)) * 16777619;
    }
    return h % COLOURS;
}

static void put_block(struct view_report_drawing *d, const struct block *b, bool is_instant)
{
    enum { TITLE = 200 };
    const struct names *names = d->t->trace->names;
    const uint32_t number = b->slice + (is_instant ? (uint32_t)d->t->trace->slices.n : 0);
    const name_id id = view_event_name(d->t, number);
    const char *name = names_text(names, id);
    const size_t n = names_len(names, id);
    const double x = x_of(d, b->begin_ns), w = fmax(1, x_of(d, b->end_ns) - x);
    const int64_t span = wrap_sub(b->end_ns, b->begin_ns);
    const double share = b->n > 1 && span > 0 ? fmin(1, (double)b->busy_ns / (double)span) : 1;
    const double h = fmax(2, (LEVEL - 2) * share);
    out_lit(d->o, "<g><title>");
    if (b->n > 1)
        html_put(d->o, "%" PRIu32 " %s, the longest: ", b->n, is_instant ? "instants" : "slices");
    html_fitting(d->o, name, n, TITLE);
    out_lit(d->o, ", ");
    html_duration(d->o, (double)(b->n > 1 && !is_instant ? d->t->trace->slices.dur_ns[b->slice] : span));
    out_lit(d->o, "</title>");
    if (is_instant)
        html_put(d->o, "<path class=\"c%u\" d=\"M%.2f %.1fl4 14h-8Z\"/>", colour_of(name, n), x, d->y + 2);
    else
        html_put(d->o, "<rect class=\"c%u\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"/>", colour_of(name, n),
                 x, d->y + LEVEL - h, w > 3 ? w - 0.5 : w, h);
    if (w >= LABEL_LEAST && b->n == 1 && !is_instant) {
        html_put(d->o, "<text class=\"l\" x=\"%.2f\" y=\"%.1f\">", x + 3, d->y + LEVEL / 2.0 + 1);
        html_fitting(d->o, name, n, (size_t)((w - 6) / 6) + 1);
        out_lit(d->o, "</text>");
    }
    out_lit(d->o, "</g>\n");
}

static void put_level(struct view_report_drawing *d, size_t level)
{
    const int64_t least_ns = (int64_t)(2 / d->scale);
    const size_t n_levels = d->t->levels.n;
    const bool is_instant = level >= n_levels;
    const size_t n =
        is_instant
            ? instants_view(&d->t->instants, level - n_levels, d->begin_ns, d->end_ns, least_ns, d->block, d->n_left)
            : level_view(&d->t->levels, level, d->begin_ns, d->end_ns, least_ns, d->block, d->n_left);
    for (size_t i = 0; i < n; i++)
        put_block(d, &d->block[i], is_instant);
    d->n_left -= n;
    d->y += LEVEL;
}

static bool is_level_used(const struct view_report_drawing *d, size_t level)
{
    size_t first, end;
    view_range(d->t, level, d->begin_ns, d->end_ns, &first, &end);
    return end > first;
}

static void put_name(struct view_report_drawing *d, name_id name, const struct chrome_id *id, bool is_process)
{
    const struct names *names = d->t->trace->names;
    const name_id shown = name != NAME_EMPTY ? name : id->text;
    if (is_process)
        html_put(d->o, "<rect class=\"panel\" x=\"0\" y=\"%.1f\" width=\"%d\" height=\"%d\"/>", d->y, WIDTH, PROCESS);
    html_put(
        d->o,
        "<rect class=\"line\" x=\"0\" y=\"%.1f\" width=\"%d\" height=\"1\"/><text class=\"%s\" x=\"%d\" y=\"%.1f\">",
        d->y, WIDTH, is_process ? "" : "f", is_process ? 8 : 16, d->y + (is_process ? PROCESS : LEVEL) / 2.0);
    html_fitting(d->o, names_text(names, shown), names_len(names, shown), is_process ? 200 : 34);
    out_lit(d->o, "</text>\n");
}

static void put_track(struct view_report_drawing *d, uint32_t row)
{
    const struct chrome_track *track = &d->t->trace->tracks.at[row];
    const uint32_t instants = d->t->instants.row_of_track[row];
    bool is_named = false;
    for (size_t level = d->t->levels.first_level[row]; level < d->t->levels.first_level[row + 1]; level++)
        if (is_level_used(d, level)) {
            if (!is_named)
                put_name(d, track->name, &track->id, false);
            is_named = true;
            put_level(d, level);
        }
    if (instants && is_level_used(d, d->t->levels.n + instants - 1)) {
        if (!is_named)
            put_name(d, track->name, &track->id, false);
        put_level(d, d->t->levels.n + instants - 1);
    }
}

/* The largest value of each two pixels, as an area. */
static void put_counter(struct view_report_drawing *d, const struct view_counter *c)
{
    const int64_t *ns = d->t->counter_ns + c->first, least_ns = (int64_t)(2 / d->scale);
    const double *value = d->t->counter_value + c->first;
    size_t first = SEARCH_FIRST_NOT(i, 0, c->n, ns[i] <= d->begin_ns);
    double most = 0;
    first -= first > 0;
    for (size_t i = first; i < c->n && ns[i] < d->end_ns; i++)
        most = isfinite(value[i]) ? fmax(most, value[i]) : most;
    if (first >= c->n || ns[first] >= d->end_ns)
        return;
    put_name(d, c->name, &(struct chrome_id){ 0 }, false);
    html_put(d->o, "<path class=\"area\" d=\"M%.2f %.1f", x_of(d, ns[first]), d->y + COUNTER - 2);
    for (size_t i = first; i < c->n && ns[i] < d->end_ns && d->n_left > 0; d->n_left--) {
        const int64_t from_ns = ns[i];
        double highest = 0;
        for (; i < c->n && ns[i] < d->end_ns && wrap_sub(ns[i], from_ns) <= least_ns; i++)
            highest = isfinite(value[i]) ? fmax(highest, value[i]) : highest;
        html_put(d->o, "H%.2fV%.1f", x_of(d, from_ns),
                 d->y + COUNTER - 2 - (most > 0 ? highest / most : 0) * (COUNTER - 6));
    }
    html_put(d->o, "H%d V%.1fZ\"/><text class=\"f\" x=\"%d\" y=\"%.1f\">%g</text>\n", WIDTH, d->y + COUNTER - 2,
             NAMES + 4, d->y + 8, most);
    d->y += COUNTER;
}

static bool is_process_used(const struct view_report_drawing *d, uint32_t process)
{
    const struct view_timeline *t = d->t;
    for (size_t i = t->first_track[process]; i < t->first_track[process + 1]; i++) {
        const uint32_t row = t->track_order[i], instants = t->instants.row_of_track[row];
        for (size_t level = t->levels.first_level[row]; level < t->levels.first_level[row + 1]; level++)
            if (is_level_used(d, level))
                return true;
        if (instants && is_level_used(d, t->levels.n + instants - 1))
            return true;
    }
    for (size_t i = t->first_counter[process]; i < t->first_counter[process + 1]; i++)
        if (t->counter_ns[t->counter[i].first] < d->end_ns)
            return true;
    return false;
}

static void put_rows(struct view_report_drawing *d)
{
    const struct chrome_trace *t = d->t->trace;
    for (size_t p = 0; p < t->processes.n && d->n_left > 0; p++) {
        const uint32_t process = d->t->process_order[p];
        if (!is_process_used(d, process))
            continue;
        put_name(d, t->processes.at[process].name, &t->processes.at[process].id, true);
        d->y += PROCESS;
        for (size_t i = d->t->first_track[process]; i < d->t->first_track[process + 1] && d->n_left > 0; i++)
            put_track(d, d->t->track_order[i]);
        for (size_t i = d->t->first_counter[process]; i < d->t->first_counter[process + 1] && d->n_left > 0; i++)
            put_counter(d, &d->t->counter[i]);
    }
}

static bool put_timeline(struct out *o, const struct view_timeline *t, int64_t begin_ns, int64_t end_ns)
{
    struct view_report_drawing d = {
        .o = o, .t = t, .begin_ns = begin_ns, .end_ns = end_ns, .n_left = MOST_BLOCKS, .y = 26
    };
    struct error e = { 0 };
    struct out rows;
    d.scale = (WIDTH - NAMES) / (double)wrap_sub(end_ns, begin_ns);
    d.block = malloc(MOST_BLOCKS * sizeof *d.block);
    if (!d.block || !out_open_memory(&rows, &e)) {
        free(d.block);
        return false;
    }
    d.o = &rows;
    put_rows(&d);
    out_lit(o, "<h2>Timeline from ");
    html_duration(o, (double)wrap_sub(begin_ns, t->begin_ns));
    out_lit(o, " to ");
    html_duration(o, (double)wrap_sub(end_ns, t->begin_ns));
    html_put(o, "</h2>\n<div class=\"wide\"><svg viewBox=\"0 0 %d %.0f\" width=\"%d\" height=\"%.0f\" role=\"img\">\n",
             WIDTH, d.y + 4, WIDTH, d.y + 4);
    for (int i = 0; i <= 10; i++) {
        const int64_t ns = wrap_sub(begin_ns, t->begin_ns) + (int64_t)((double)wrap_sub(end_ns, begin_ns) * i / 10);
        html_put(o, "<rect class=\"line\" x=\"%.1f\" y=\"18\" width=\"1\" height=\"8\"/>",
                 NAMES + (WIDTH - NAMES) * i / 10.0 - (i == 10));
        if (i == 10)
            break;
        html_put(o, "<text class=\"f\" x=\"%.1f\" y=\"10\">", NAMES + (WIDTH - NAMES) * i / 10.0 + 3);
        html_duration(o, (double)ns);
        out_lit(o, "</text>\n");
    }
    out_through(o, rows.buf, rows.n);
    out_lit(o, "</svg></div>\n");
    if (d.n_left == 0)
        html_put(o, "<p class=\"dim\">Only the first %d blocks are drawn; use a shorter range.</p>\n", MOST_BLOCKS);
    out_discard(&rows);
    free(d.block);
    return true;
}

bool view_report_put(struct out *o, const struct view_input *in, struct view_range range)
{
    const struct view_timeline *t = &in->timeline;
    const bool is_given = range.end_ns > range.begin_ns;
    int64_t begin_ns = is_given ? stamp_add(t->begin_ns, range.begin_ns) : t->shown_begin_ns;
    int64_t end_ns = is_given ? stamp_add(t->begin_ns, range.end_ns) : t->shown_end_ns;
    end_ns = end_ns > begin_ns ? end_ns : begin_ns + 1;
    out_lit(o, "<h1>");
    html_text(o, in->name);
    out_lit(o, "</h1><p class=\"dim\">");
    html_text(o, in->kind);
    html_raw(o, in->is_simulated ? ", simulated data</p>\n" : "</p>\n");
    return put_overview(o, in) && (view_n_events(t) + t->n_counters == 0 || put_timeline(o, t, begin_ns, end_ns));
}
