/* SPDX-License-Identifier: Apache-2.0 */
#include "report/gate/gate_report.h"

#include <math.h>
#include <string.h>

#include "base/text/json_memory.h"
#include "base/files/out.h"
#include "base/text/utf8.h"

const char *const gate_measure_key[GATE_MEASURES] = { "step", "computing", "communication", "free", "slow", "memory" };
static const char *const measure_word[GATE_MEASURES] = { "step", "computing",  "exposed communication",
                                                         "free", "slow steps", "memory" };
static const char *const verdict_text[GATE_REGRESSED + 1] = { "PASS", "INCONCLUSIVE", "REGRESSED" };
enum { VALUE_TEXT = READABLE_MOST + 16 };
const char *const gate_verdict_key[GATE_REGRESSED + 1] = { "pass", "inconclusive", "regressed" };
static const char *const doubt_key[GATE_DOUBTS] = { NULL, "losses", "devices", "steps", "ranks" };

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static char *value_text(char out[VALUE_TEXT], enum gate_measure measure, double value, const char *plus)
{
    char number[READABLE_MOST];
    if (measure == GATE_MEMORY)
        readable_bytes(number, (uint64_t)fabs(value));
    else
        readable_duration(number, fabs(value));
    snprintf(out, VALUE_TEXT, "%s%s", value < 0 ? "-" : plus, number);
    return out;
}

static char *percent_text(char out[VALUE_TEXT], double part_ns, double of_ns, bool has_sign)
{
    if (!(of_ns > 0) || isnan(part_ns))
        snprintf(out, VALUE_TEXT, "%s", isnan(part_ns) ? "unknown" : "");
    else
        snprintf(out, VALUE_TEXT, has_sign ? "%+.2f %%" : "%.2f %%", 100 * part_ns / of_ns);
    return out;
}

/* What 100 % are. */
static double reference_of(const struct gate *g, enum gate_measure measure)
{
    return measure == GATE_SLOW ? g->row[GATE_STEP].a : g->row[measure].a;
}

/* "step: 2.372 ms -> 2.443 ms, +3.0 % (allowed 1 %, noise 0.2 %)" */
static const char *measured_text(const struct gate *g, enum gate_measure k, struct arena *mem)
{
    const struct gate_row *r = &g->row[k];
    const double of = reference_of(g, k);
    char a[VALUE_TEXT], b[VALUE_TEXT], more[VALUE_TEXT], noise[VALUE_TEXT];
    if (!r->is_recorded)
        return arena_printf(mem, "%s: not recorded in all runs", measure_word[k]);
    const char *text =
        arena_printf(mem, "%s: %s -> %s, %s (allowed %g %%", measure_word[k], value_text(a, k, r->a, ""),
                     value_text(b, k, r->b, ""), percent_text(more, r->b - r->a, of, true), 100 * r->allowed);
    if (!text || k > GATE_FREE)
        return text ? arena_printf(mem, "%s)", text) : NULL;
    return arena_printf(mem, "%s, noise %s)", text, percent_text(noise, r->noise, of, false));
}

/* What would make a measure conclusive. */
static const char *wanted_text(const struct gate *g, enum gate_measure k, const struct comparison *c, struct arena *mem)
{
    const struct gate_row *r = &g->row[k];
    if (k == GATE_MEMORY)
        return "record memory in all of them, or do not judge it";
    const char *what = "noise exceeds what is allowed";
    if (k == GATE_SLOW)
        what = arena_printf(mem, "%zu and %zu slow steps, which may be chance", r->events[0], r->events[1]);
    else if (isnan(r->noise))
        return "noise is unknown: a run has fewer than three usual steps; record ten at least, or several runs of each side";
    if (!what)
        return NULL;
    if (r->for_runs > 0)
        return arena_printf(mem, "%s: about %zu runs of each side would decide (now %zu and %zu)", what, r->for_runs,
                            c->n_a, c->n_b);
    if (r->for_steps > 0)
        return arena_printf(mem, "%s: about %zu steps in each run would decide (now %zu)", what, r->for_steps,
                            g->n_steps);
    return arena_printf(mem, "%s, also with ten thousand times as much: allow more, or make the runs more alike", what);
}

static const char *doubt_text(const struct gate *g, const struct comparison *c, struct arena *mem)
{
    switch (g->doubt) {
    case DOUBT_LOSSES: return "some of the data could not be read, see the messages: record again";
    case DOUBT_DEVICES: return "the runs are of different devices";
    case DOUBT_STEPS: return "some runs have steps, others do not: mark the steps in all of them";
    default:
        return arena_printf(mem, "not all ranks are in all runs (%zu of A and %zu of B are not): read the same ranks",
                            c->n_alone_a, c->n_alone_b);
    }
}

/* "; most of it computing, +71.8 us: kernel MatMulV2 +71.8 us" */
static const char *cause_text(const struct gate *g, const struct comparison *c, struct arena *mem)
{
    char more[VALUE_TEXT], of_row[VALUE_TEXT];
    if (g->first > GATE_FREE || g->grown == RUN_STEP)
        return "";
    const struct difference *d = &c->part[g->grown];
    const char *text =
        arena_printf(mem, "; most of it %s, %s", part_title[g->grown], value_text(more, GATE_STEP, d->b - d->a, "+"));
    if (!g->cause || !text)
        return text;
    d = &g->cause->difference;
    return arena_printf(mem, "%s: %s %.200s, %s", text, measure_key[g->cause->kind],
                        names_text(c->names, g->cause->name), value_text(of_row, GATE_STEP, d->b - d->a, "+"));
}

/* What a measure says, without its verdict. */
static const char *row_text(const struct gate *g, enum gate_measure k, const struct comparison *c, struct arena *mem)
{
    const char *measured = measured_text(g, k, mem), *more = "";
    if (g->row[k].verdict == GATE_INCONCLUSIVE)
        more = wanted_text(g, k, c, mem);
    else if (g->row[k].verdict == GATE_REGRESSED && k == g->first)
        more = cause_text(g, c, mem);
    if (!measured || !more)
        return NULL;
    return arena_printf(mem, "%s%s%s", measured, g->row[k].verdict == GATE_INCONCLUSIVE ? "; " : "", more);
}

const char *gate_sentence(const struct gate *g, const struct comparison *c, struct arena *mem)
{
    const bool has_doubt = g->doubt != DOUBT_NONE;
    const char *doubt = has_doubt ? doubt_text(g, c, mem) : "",
               *text = has_doubt ? measured_text(g, g->first, mem) : row_text(g, g->first, c, mem);
    if (!doubt || !text)
        return NULL;
    return arena_printf(mem, "%s: %s%s%s", verdict_text[g->verdict], doubt, has_doubt ? "; " : "", text);
}

bool gate_cases(const struct gate_report *r, struct arena *mem, struct gate_case out[GATE_MEASURES], size_t *n)
{
    const struct gate *g = r->gate;
    *n = 0;
    for (unsigned k = 0; g && g->doubt == DOUBT_NONE && k < GATE_MEASURES; k++)
        if (!isnan(g->row[k].allowed)) {
            out[*n] = (struct gate_case){ gate_measure_key[k], g->row[k].verdict, row_text(g, k, r->compare.c, mem) };
            if (!out[(*n)++].text)
                return false;
        }
    if (*n == 0) /* what prevents the comparison is one case */
        out[(*n)++] =
            (struct gate_case){ "runs", GATE_INCONCLUSIVE, r->sentence + strlen(verdict_text[GATE_INCONCLUSIVE]) + 2 };
    return true;
}

/* ---- the terminal ------------------------------------------------------------------------------------------------ */

static void put_row(const struct term *t, const struct gate *g, enum gate_measure k)
{
    const struct gate_row *r = &g->row[k];
    const double of = reference_of(g, k);
    char a[VALUE_TEXT], b[VALUE_TEXT], more[VALUE_TEXT], percent[VALUE_TEXT], noise[VALUE_TEXT] = "";
    if (!r->is_recorded && isnan(r->allowed))
        return;
    if (k <= GATE_FREE)
        percent_text(noise, r->noise, of, false);
    fprintf(t->to, "  %-22s", measure_word[k]);
    if (r->is_recorded)
        fprintf(t->to, " %11s %11s %12s %9s", value_text(a, k, r->a, ""), value_text(b, k, r->b, ""),
                value_text(more, k, r->b - r->a, "+"), percent_text(percent, r->b - r->a, of, true));
    else
        fprintf(t->to, " %46s", "not recorded in all runs");
    if (*noise || !isnan(r->allowed))
        fprintf(t->to, " %9s", noise);
    if (!isnan(r->allowed))
        fprintf(t->to, " %6g %%  %s", 100 * r->allowed, gate_verdict_key[r->verdict]);
    fputc('\n', t->to);
}

void gate_print(const struct term *t, const struct gate_report *r)
{
    static const enum ink ink[] = { INK_GOOD, INK_WARN, INK_BAD };
    const enum gate_verdict verdict = r->gate ? r->gate->verdict : GATE_INCONCLUSIVE;
    const size_t n = strlen(verdict_text[verdict]);
    fprintf(t->to, "%s%.*s%s", term_ink(t, ink[verdict]), (int)n, r->sentence, term_ink(t, INK_END));
    term_text(t, r->sentence + n, 0);
    fputs("\n", t->to);
    if (!r->gate)
        return;
    fprintf(t->to, "\n  %-22s %11s %11s %12s %9s %9s %8s\n", "in a step", "A", "B", "difference", "", "noise",
            "allowed");
    for (unsigned k = 0; k < GATE_MEASURES; k++)
        put_row(t, r->gate, (enum gate_measure)k);
    compare_print_changes(t, &r->compare);
    fputs("\n", t->to);
    compare_print_runs(t, r->compare.c);
    fputs("ascope compare with the same words shows more; -o DIR writes all\n", t->to);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static json_t *number_json(double v, enum gate_measure k)
{
    return isnan(v) ? json_null() : k == GATE_MEMORY ? json_integer((json_int_t)v) : json_real(round(v) / 1000);
}

static json_t *count_json(size_t n)
{
    return n > 0 ? json_integer((json_int_t)n) : json_null();
}

static json_t *measure_json(const struct gate *g, enum gate_measure k)
{
    const struct gate_row *r = &g->row[k];
    const double none = r->is_recorded ? 0 : NAN;
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "measure", gate_measure_key[k], "unit",
                     k == GATE_MEMORY ? "bytes" : "us", "a", number_json(r->a + none, k), "b",
                     number_json(r->b + none, k), "noise", number_json(k > GATE_FREE ? NAN : r->noise, k),
                     "allowed_percent", isnan(r->allowed) ? json_null() : json_real(100 * r->allowed), "verdict",
                     isnan(r->allowed) ? json_null() : json_string(gate_verdict_key[r->verdict]), "steps_wanted",
                     count_json(r->for_steps), "runs_wanted", count_json(r->for_runs));
}

json_t *gate_json(const struct gate_report *r)
{
    const struct gate *g = r->gate;
    json_t *measures = json_array();
    for (unsigned k = 0; g && k < GATE_MEASURES; k++)
        json_array_append_new(measures, measure_json(g, (enum gate_measure)k));
    const char *doubt = g ? doubt_key[g->doubt] : "nothing_read";
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "verdict", gate_verdict_key[g ? g->verdict : GATE_INCONCLUSIVE],
                     "text", text_json(r->sentence), "doubt", doubt ? json_string(doubt) : json_null(), "decided_by",
                     g ? json_string(gate_measure_key[g->first]) : json_null(), "measures", measures, "comparison",
                     g ? compare_json(&r->compare) : json_null());
}

/* ---- Markdown ---------------------------------------------------------------------------------------------------- */

/* Names may contain anything: whatever Markdown or HTML could interpret is written as its number. */
static void markdown_text(struct out *o, const char *text, size_t most)
{
    char number[16];
    bool is_shown;
    for (size_t i = 0, n; text[i] && i < most; i += n) {
        n = utf8_shown(text + i, &is_shown);
        const unsigned char c = (unsigned char)text[i];
        const bool is_plain = c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                              strchr(" ,.:;%/=+-?", c);
        if (!is_shown || (c >= 0x80 && n == 1))
            out_lit(o, "?");
        else if (is_plain)
            out_bytes(o, text + i, n);
        else
            out_bytes(o, number, (size_t)snprintf(number, sizeof number, "&#%u;", c));
    }
}

static void markdown_put(struct out *o, const char *text)
{
    out_bytes(o, text, strlen(text));
}

/* A word of a command line. */
static void markdown_word(struct out *o, const char *word)
{
    static const char quote[] = "'\\''";
    const bool is_plain =
        strspn(word, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-+=:,./%@") == strlen(word) &&
        *word;
    markdown_put(o, is_plain ? " " : " &#39;");
    for (const char *at = word; *at;) {
        const size_t n = strcspn(at, "'");
        markdown_text(o, at, n);
        at += n;
        if (*at == '\'') {
            markdown_text(o, quote, sizeof quote - 1);
            at++;
        }
    }
    markdown_put(o, is_plain ? "" : "&#39;");
}

static void markdown_measures(struct out *o, const struct gate *g)
{
    char text[VALUE_TEXT];
    markdown_put(
        o, "| in a step | base | new | change | | noise | allowed | |\n|---|---:|---:|---:|---:|---:|---:|---|\n");
    for (unsigned k = 0; k < GATE_MEASURES; k++) {
        const struct gate_row *r = &g->row[k];
        const double of = reference_of(g, k);
        if (!r->is_recorded)
            continue;
        const char *mark = isnan(r->allowed) ? "" : k == g->first ? "**" : "";
        markdown_put(o, "| ");
        markdown_put(o, measure_word[k]);
        const double value[] = { r->a, r->b, r->b - r->a };
        for (size_t i = 0; i < 3; i++) {
            markdown_put(o, " | ");
            markdown_put(o, value_text(text, k, value[i], i < 2 ? "" : "+"));
        }
        markdown_put(o, " | ");
        markdown_put(o, percent_text(text, r->b - r->a, of, true));
        markdown_put(o, " | ");
        markdown_put(o, k > GATE_FREE ? "" : percent_text(text, r->noise, of, false));
        markdown_put(o, " | ");
        text[0] = '\0';
        if (!isnan(r->allowed))
            snprintf(text, sizeof text, "%g %%", 100 * r->allowed);
        markdown_put(o, text);
        markdown_put(o, " | ");
        markdown_put(o, mark);
        markdown_put(o, isnan(r->allowed) ? "" : gate_verdict_key[r->verdict]);
        markdown_put(o, mark);
        markdown_put(o, " |\n");
    }
}

static void markdown_row(struct out *o, const struct comparison *c, const struct compared_row *row)
{
    enum { LONGEST = 200 };
    const struct difference *d = &row->difference;
    char text[VALUE_TEXT];
    markdown_put(o, "| ");
    markdown_put(o, value_text(text, GATE_STEP, d->b - d->a, "+"));
    markdown_put(o, " | ");
    markdown_put(o, percent_text(text, d->b - d->a, d->a, true));
    markdown_put(o, " | ");
    markdown_put(o, measure_key[row->kind]);
    markdown_put(o, " <code>");
    markdown_text(o, names_text(c->names, row->name), LONGEST);
    markdown_put(o, "</code>");
    if (row->detail != NAME_EMPTY) {
        markdown_put(o, " <code>");
        markdown_text(o, names_text(c->names, row->detail), LONGEST);
        markdown_put(o, "</code>");
    }
    const double runs[] = { row->a.runs, row->b.runs };
    for (size_t i = 0; i < 2; i++) {
        markdown_put(o, " | ");
        markdown_put(o, readable_runs(text, runs[i]));
    }
    markdown_put(o, " |");
    if (c->n_pairs > 1) {
        char rank[RANK_TEXT];
        markdown_put(o, " ");
        markdown_put(o, rank_text(rank, c->pair[row->pair].b));
        markdown_put(o, " |");
    }
    markdown_put(o, "\n");
}

static void markdown_changes(struct out *o, const struct compare_report *r)
{
    const bool has_ranks = r->c->n_pairs > 1;
    markdown_put(o, "\n### What changed, in a step\n\n");
    if (r->n_changes == 0) {
        markdown_put(o, "No kernel, collective or copy differs by more than noise and a hundredth.\n");
        return;
    }
    markdown_put(o, has_ranks
                        ? "| change | | what | runs, base | runs, new | most on |\n|---:|---:|---|---:|---:|---|\n"
                        : "| change | | what | runs, base | runs, new |\n|---:|---:|---|---:|---:|\n");
    for (size_t i = 0; i < r->n_changes && i < r->top; i++)
        markdown_row(o, r->c, r->change[i]);
    if (r->n_changes > r->top)
        markdown_put(o, "\nThere are more: `ascope compare` lists them.\n");
}

/* "ascope compare A… -- B… -o comparison" and what else to run where the data is. */
static void markdown_commands(struct out *o, const struct gate *g, const struct comparison *c)
{
    const struct measured_run *run = c->run;
    markdown_put(o, "\n### To look further\n\n- <code>ascope compare");
    for (size_t i = 0; i < c->n_a + c->n_b; i++) {
        markdown_put(o, i == c->n_a ? " --" : "");
        markdown_word(o, run[i].name);
    }
    markdown_put(o, "</code> with <code>-o DIR</code>: all rows, as tables and as a page\n- <code>ascope view");
    markdown_word(o, run[0].name);
    markdown_word(o, run[c->n_a].name);
    markdown_put(o, "</code>: both in one timeline\n");
    if (g->verdict == GATE_PASS)
        return;
    markdown_put(o, "- <code>ascope why");
    markdown_word(o, run[c->n_a].name);
    markdown_put(o, "</code>: what its slow steps and ranks wait for\n");
}

bool gate_markdown_write(const struct gate_report *r, const char *path, struct error *e)
{
    const enum gate_verdict verdict = r->gate ? r->gate->verdict : GATE_INCONCLUSIVE;
    struct out o;
    if (!out_open_named(&o, path, e))
        return false;
    markdown_put(&o, "## ascope gate: ");
    markdown_put(&o, verdict_text[verdict]);
    markdown_put(&o, "\n\n");
    markdown_text(&o, r->sentence + strlen(verdict_text[verdict]) + 2, SIZE_MAX);
    markdown_put(&o, "\n");
    if (r->gate) {
        markdown_put(&o, "\n");
        markdown_measures(&o, r->gate);
        markdown_changes(&o, &r->compare);
        markdown_commands(&o, r->gate, r->compare.c);
    }
    return out_close(&o, e);
}
