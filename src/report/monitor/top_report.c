/* SPDX-License-Identifier: Apache-2.0 */
#include "report/monitor/top_report.h"

#include <math.h>
#include <string.h>

#include "base/process/robust.h"
#include "base/text/json_memory.h"
#include "report/judge_report.h"

enum { RANKS_SHOWN = 8, CELLS_OF_LINE = 64, BAR_COLUMNS = 40 };

static const char *const part_words[3][JUDGED_PARTS] = {
    { "computing", "communication", "rest" },
    { "running", "communication", "rest" },
    { "running", "blocked", "rest" }, /* communication is not recorded */
};

static double own_ns(const struct window_rank *r)
{
    return r->step_ns - r->part_ns[JUDGED_EXPOSED];
}

/* ---- text ---- */

static void head_put(const struct term *t, const struct monitor_window *w, const char *dir, int64_t now_ns)
{
    char count[READABLE_MOST], ago[READABLE_MOST];
    int64_t step = 0;
    for (size_t i = 0; i < w->n; i++)
        step = w->rank[i].last_step > step ? w->rank[i].last_step : step;
    term_text(t, dir, 0);
    fprintf(t->to, ": %zu rank%s, %zu alive; %.3g steps/s, step %s", w->n, w->n == 1 ? "" : "s", w->n_alive,
            w->steps_per_s, readable_count(count, (uint64_t)step));
    fprintf(t->to, "; last record %s ago\n",
            readable_duration(ago, now_ns > w->end_ns ? (double)(now_ns - w->end_ns) : 0));
}

static void bar_put(const struct term *t, const char *word, double ns, double all_ns)
{
    char text[READABLE_MOST];
    const double share = all_ns > 0 ? ns / all_ns : 0;
    fprintf(t->to, "  %-14s %10s %5.1f %%  ", word, readable_duration(text, ns), 100 * share);
    for (int i = 0; i < (int)(share * BAR_COLUMNS + 0.5); i++)
        fputc('#', t->to);
    fputc('\n', t->to);
}

static const struct window_rank *slowest_of(const struct monitor_window *w)
{
    const struct window_rank *slowest = NULL;
    for (size_t i = 0; i < w->n; i++)
        if (!slowest || own_ns(&w->rank[i]) > own_ns(slowest))
            slowest = &w->rank[i];
    return slowest;
}

static void parts_put(const struct term *t, const struct monitor_window *w)
{
    char text[READABLE_MOST];
    const struct window_rank *const r = slowest_of(w);
    if (!r || r->step_ns <= 0)
        return;
    fprintf(t->to, "usual step of %s: %s\n", r->name, readable_duration(text, r->step_ns));
    for (int p = 0; p < JUDGED_PARTS; p++)
        if (p != JUDGED_EXPOSED || w->is_waiting_guessed || !isnan(r->value[ASCOPE_MONITOR_COMMUNICATION]))
            bar_put(t, part_words[w->is_waiting_guessed ? 2 : w->run.is_host][p], r->part_ns[p], r->step_ns);
    if (w->is_waiting_guessed)
        fputs("  (communication was not recorded; the time in which the thread was blocked stands for it)\n", t->to);
}

/* One character for each rank: its own time against the median rank. */
static bool heat_put(const struct term *t, const struct monitor_window *w, struct arena *mem)
{
    static const struct {
        double above;
        char cell;
        enum ink ink;
    } scale[] = { { 0.5, '#', INK_BAD }, { 0.1, '*', INK_WARN }, { 0.02, '+', INK_DIM }, { -INFINITY, '.', INK_GOOD } };
    double *const own = arena_take(mem, w->n, sizeof *own);
    if (!own)
        return false;
    for (size_t i = 0; i < w->n; i++)
        own[i] = own_ns(&w->rank[i]);
    const double median_ns = lower_median(own, w->n);
    fputs("ranks, own time against the median: . to 2 %, + to 10 %, * to 50 %, # more\n", t->to);
    for (size_t i = 0; i < w->n; i++) {
        const double more = median_ns > 0 ? own_ns(&w->rank[i]) / median_ns - 1 : 0;
        size_t at = 0;
        while (more <= scale[at].above)
            at++;
        if (i % CELLS_OF_LINE == 0)
            fprintf(t->to, "%s  %5d ", i ? "\n" : "", (int)monitor_rank_number(w->rank[i].of));
        fprintf(t->to, "%s%c%s", term_ink(t, scale[at].ink), scale[at].cell, term_ink(t, INK_END));
    }
    fputc('\n', t->to);
    return true;
}

static int by_own(const void *a, const void *b)
{
    const double x = own_ns(*(const struct window_rank *const *)a), y = own_ns(*(const struct window_rank *const *)b);
    return (x < y) - (x > y);
}

static void value_cell(const struct term *t, const struct window_rank *r, enum ascope_monitor_value value)
{
    char text[READABLE_MOST] = "-";
    const double v = r->value[value];
    if (!isnan(v) && monitor_value_rows[value].unit == MONITOR_BYTES)
        readable_bytes(text, (uint64_t)v);
    else if (!isnan(v))
        readable_duration(text, v);
    fprintf(t->to, " %10s", text);
}

static bool table_put(const struct term *t, const struct monitor_window *w, struct arena *mem)
{
    static const enum ascope_monitor_value column[] = { ASCOPE_MONITOR_CPU,       ASCOPE_MONITOR_PREEMPTED,
                                                        ASCOPE_MONITOR_DATA,      ASCOPE_MONITOR_GC,
                                                        ASCOPE_MONITOR_ALLOCATED, ASCOPE_MONITOR_RESIDENT };
    const struct window_rank **const sorted = arena_take(mem, w->n, sizeof *sorted);
    char text[READABLE_MOST];
    if (!sorted)
        return false;
    for (size_t i = 0; i < w->n; i++)
        sorted[i] = &w->rank[i];
    qsort(sorted, w->n, sizeof *sorted, by_own);
    fprintf(t->to, "%-20s %10s %10s %10s", "", "step", "own", "longest");
    for (size_t c = 0; c < sizeof column / sizeof *column; c++)
        fprintf(t->to, " %10s", monitor_value_rows[column[c]].key);
    fputc('\n', t->to);
    for (size_t i = 0; i < w->n && i < RANKS_SHOWN; i++) {
        fprintf(t->to, "%-20.20s", sorted[i]->name);
        fprintf(t->to, " %10s", readable_duration(text, sorted[i]->step_ns));
        fprintf(t->to, " %10s", readable_duration(text, own_ns(sorted[i])));
        fprintf(t->to, " %10s", readable_duration(text, sorted[i]->longest_ns));
        for (size_t c = 0; c < sizeof column / sizeof *column; c++)
            value_cell(t, sorted[i], column[c]);
        fputs(sorted[i]->of->is_ended ? "  ended\n" : sorted[i]->of->is_alive ? "\n" : "  killed\n", t->to);
    }
    if (w->n > RANKS_SHOWN)
        fprintf(t->to, "and %zu more; --json has all\n", w->n - RANKS_SHOWN);
    return true;
}

void top_print_window(const struct term *t, const struct monitor_window *w, const char *dir, int64_t now_unix_ns,
                      struct arena *mem)
{
    char span[READABLE_MOST];
    head_put(t, w, dir, now_unix_ns);
    fprintf(t->to, "\nthe last %s:\n", readable_duration(span, (double)(w->end_ns - w->begin_ns)));
    judge_put(t, &(struct explained_run){ .run = &w->run }, 2, mem);
    fputc('\n', t->to);
    parts_put(t, w);
    fputc('\n', t->to);
    if (w->n > 1 && heat_put(t, w, mem))
        fputc('\n', t->to);
    table_put(t, w, mem);
}

/* ---- JSON ---- */

static json_t *number_or_null(double v)
{
    return isnan(v) ? json_null() : json_real(v);
}

static json_t *rank_json(const struct window_rank *r)
{
    json_t *const values = json_object();
    for (size_t v = 0; values && v < MONITOR_VALUES; v++)
        json_object_set_new(
            values, monitor_value_rows[v].key,
            number_or_null(monitor_value_rows[v].unit == MONITOR_TIME ? r->value[v] / 1000 : r->value[v]));
    const int32_t number = monitor_rank_number(r->of);
    return json_pack("{s:o, s:s, s:I, s:s, s:b, s:b, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:o}", "rank",
                     number >= 0 ? json_integer(number) : json_null(), "host", r->of->head.host, "pid",
                     (json_int_t)r->of->head.pid, "file", r->of->path, "is_alive", r->of->is_alive, "has_ended",
                     r->of->is_ended, "step", (json_int_t)r->last_step, "steps_per_s", r->steps_per_s, "step_us",
                     r->step_ns / 1000, "longest_us", r->longest_ns / 1000, "computing_us",
                     r->part_ns[JUDGED_COMPUTING] / 1000, "communication_us", r->part_ns[JUDGED_EXPOSED] / 1000,
                     "free_us", r->part_ns[JUDGED_FREE] / 1000, "last_unix_ns", (json_int_t)r->last_end_ns, "values",
                     values);
}

json_t *top_json(const struct monitor_window *w, const char *dir, struct arena *mem)
{
    json_t *const ranks = json_array(), *const findings = judge_json(&(struct explained_run){ .run = &w->run }, mem);
    for (size_t i = 0; ranks && i < w->n; i++)
        json_array_append_new(ranks, rank_json(&w->rank[i]));
    for (size_t i = 0; findings && i < w->run.of.n; i++) {
        const size_t row = w->run.of.at[i].first;
        json_object_set_new(json_array_get(findings, i), "first_unix_ns",
                            json_integer(row < w->run.n ? w->row_unix_ns[row] : 0));
    }
    return json_pack("{s:o, s:I, s:I, s:i, s:I, s:f, s:f, s:b, s:o, s:o}", "path", text_json(dir), "begin_unix_ns",
                     (json_int_t)w->begin_ns, "end_unix_ns", (json_int_t)w->end_ns, "alive", (int)w->n_alive, "block",
                     (json_int_t)w->block, "steps_per_s", w->steps_per_s, "step_us", w->step_ns / 1000,
                     "is_waiting_guessed", w->is_waiting_guessed, "ranks", ranks, "findings", findings);
}
