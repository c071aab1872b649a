/* SPDX-License-Identifier: Apache-2.0 */
#include "report/step_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/json_memory.h"
#include "analyse/framework/steps/step_causes.h"
#include "analyse/framework/steps/step_shares.h"
#include "answers/run/run_rank.h"
#include "report/judge_report.h"

enum { NAME_COLUMNS = 8, BAR_CELLS = 24, TABLE_COLUMNS = 67, CAUSE_COLUMNS = 40, CAUSE_NARROW = 28, NARROW = 100 };

const char *const step_part_key[STEP_PARTS] = { "computing_us", "overlapped_us", "communication_us", "free_us" };

/* How a cell of a bar looks, with and without UTF-8. */
static const struct {
    const char *block, *letter;
    enum ink ink;
} part_look[STEP_PARTS] = {
    [STEP_COMPUTING] = { "\u2588", "#", INK_GOOD },
    [STEP_OVERLAPPED] = { "\u2593", "+", INK_GOOD },
    [STEP_COMMUNICATION] = { "\u2592", "=", INK_WARN },
    [STEP_FREE] = { "\u00b7", ".", INK_DIM },
};

static bool has_utf8(void)
{
    static const char *const variable[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (size_t i = 0; i < sizeof variable / sizeof *variable; i++) {
        const char *value = getenv(variable[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

void step_bar_print(const struct term *t, const int64_t part_ns[STEP_PARTS], int64_t longest_ns, int cells)
{
    const bool utf8 = has_utf8();
    const double scale = longest_ns > 0 ? (double)cells / (double)longest_ns : 0;
    double before = 0, all_ns = 0;
    for (int i = 0; i < STEP_PARTS; i++)
        all_ns += (double)part_ns[i];
    const bool is_cut = cells > 0 && all_ns * scale >= cells + 1;
    cells -= is_cut;
    for (int i = 0; i < STEP_PARTS && longest_ns > 0; i++) {
        /* Positions are rounded, not lengths, so that the whole bar has the right length. */
        const int from = (int)(before * scale + 0.5), to = (int)((before + (double)part_ns[i]) * scale + 0.5);
        fputs(to > from ? term_ink(t, part_look[i].ink) : "", t->to);
        for (int k = from; k < to && k < cells; k++)
            fputs(utf8 ? part_look[i].block : part_look[i].letter, t->to);
        fputs(to > from ? term_ink(t, INK_END) : "", t->to);
        before += (double)part_ns[i];
    }
    fputs(is_cut ? ">" : "", t->to);
}

static const char *step_name(const struct step_series *s, const struct names *names, size_t i)
{
    return s->is_whole ? "all" : names_text(names, s->name[i]);
}

static int bar_cells(const struct term *t)
{
    const int left = t->columns - TABLE_COLUMNS;
    return t->columns == 0 || left > BAR_CELLS ? BAR_CELLS : left > 0 ? left : 0;
}

/* The time of a full bar. If one step takes much longer than the others, its bar is cut: those of usual steps have a
 * quarter of the cells at least. */
static int64_t bar_longest_ns(const struct step_series *s)
{
    const int64_t slowest_ns = s->time_ns[s->slowest[0]], usual_ns = s->median_ns;
    return usual_ns > 0 && slowest_ns / 4 > usual_ns ? 4 * usual_ns : slowest_ns;
}

/* As in step_trace_time.csv, computing includes the time that overlaps communication. */
static void put_row(const struct term *t, const struct step_series *s, const char *name, int64_t time_ns,
                    const int64_t part_ns[STEP_PARTS], enum ink ink)
{
    char number[READABLE_MOST];
    fprintf(t->to, "    %s", term_ink(t, ink));
    term_text(t, name, NAME_COLUMNS);
    fprintf(t->to, "%*s %10s", term_width(name) < NAME_COLUMNS ? NAME_COLUMNS - term_width(name) : 0, "",
            readable_duration(number, (double)time_ns));
    if (s->n > 1)
        fprintf(t->to, " %8.2f", s->median_ns > 0 ? (double)time_ns / (double)s->median_ns : time_ns > 0 ? 999.99 : 1);
    fputs(term_ink(t, ink != INK_END ? INK_END : ink), t->to);
    fprintf(t->to, " %10s", readable_duration(number, (double)(part_ns[STEP_COMPUTING] + part_ns[STEP_OVERLAPPED])));
    if (s->has_communication)
        fprintf(t->to, " %10s", readable_duration(number, (double)part_ns[STEP_COMMUNICATION]));
    fprintf(t->to, " %10s  ", readable_duration(number, (double)part_ns[STEP_FREE]));
    step_bar_print(t, part_ns, bar_longest_ns(s), bar_cells(t));
    fputc('\n', t->to);
}

static void put_heading(const struct term *t, const struct step_table *u, const struct device *d,
                        const struct step_series *s)
{
    char number[READABLE_MOST], time[READABLE_MOST];
    const char *what = s->has_model ? "iteration" : "step";
    if (s->is_whole) {
        fprintf(t->to, "\n  no steps were recorded%s", u->collection ? "" : " by the device");
    } else {
        fprintf(t->to, "\n  %s %s%s", readable_count(number, s->n), what, s->n == 1 ? "" : "s");
        if (s->has_model)
            fprintf(t->to, " of model %llu", (unsigned long long)s->model);
    }
    if (d && u->profile->n_devices > 1)
        fprintf(t->to, " on device %u", d->source.device);
    if (s->n > 1)
        fprintf(t->to, ", median %s, slowest %s", readable_duration(number, (double)s->median_ns),
                readable_duration(time, (double)s->time_ns[s->slowest[0]]));
    if (s->n_slow > 0 && !u->is_of_job)
        fprintf(t->to, ", %s%s slow%s", term_ink(t, INK_WARN), readable_count(number, s->n_slow), term_ink(t, INK_END));
    fprintf(t->to, "\n    %-*s %10s", NAME_COLUMNS, s->is_whole ? "" : what, "time");
    if (s->n > 1)
        fprintf(t->to, " %8s", "x median");
    fprintf(t->to, " %10s", s->is_host ? "operators" : "computing");
    if (s->has_communication)
        fprintf(t->to, " %10s", "communic.");
    fprintf(t->to, " %10s\n", s->is_host ? "other" : "free");
}

static void put_rest(const struct term *t, const struct step_table *u, const struct step_series *s, size_t n_left,
                     int64_t fast_ns, int64_t slow_ns)
{
    char from[READABLE_MOST], to[READABLE_MOST], number[READABLE_MOST];
    fprintf(t->to, "    and %s more from %s to %s; --top N", readable_count(number, n_left),
            readable_duration(from, (double)fast_ns), readable_duration(to, (double)slow_ns));
    const bool has_file = u->file && !s->is_host && !s->by;
    fprintf(t->to, "%s%s shows them\n", has_file ? " or " : "", has_file ? u->file : "");
}

static void put_series(const struct term *t, const struct step_table *u, const struct device *d,
                       const struct step_series *s, size_t most)
{
    size_t n_shown = 0, n_left = 0, n_chosen = 0;
    int64_t part_ns[STEP_PARTS], fast_ns = 0, slow_ns = 0;
    for (size_t i = 0; i < s->n; i++)
        n_chosen += s->is_chosen[i];
    put_heading(t, u, d, s);
    for (size_t k = 0; k < s->n; k++) {
        const uint32_t i = s->slowest[k];
        if (!s->is_chosen[i])
            continue;
        if (n_shown >= most && n_chosen > most + 1) { /* "and 1 more" would take as much space as the step */
            slow_ns = n_left++ == 0 ? s->time_ns[i] : slow_ns;
            fast_ns = s->time_ns[i];
            continue;
        }
        for (int c = 0; c < STEP_PARTS; c++)
            part_ns[c] = s->part_ns[c][i];
        put_row(t, s, step_name(s, u->profile->names, i), s->time_ns[i], part_ns,
                s->is_slow[i] && !u->is_of_job ? INK_WARN : INK_END);
        n_shown++;
    }
    if (n_left > 0)
        put_rest(t, u, s, n_left, fast_ns, slow_ns);
    if (s->n > 1)
        put_row(t, s, "median", s->median_ns, s->median_part_ns, INK_BOLD);
}

/* The steps of a device, or of the host if there are no devices, and what the judge finds in them. */
struct step_table_series {
    const struct device *d; /* NULL: of the host */
    struct step_series s;
    struct shares_difference differs; /* step_trace_time does */
    struct judged_run run;
    struct explained_run explained; /* by itself; empty if it is one of a job */
};

static bool series_find(const struct step_table *u, size_t i, size_t most, struct arena *mem,
                        struct step_table_series *out)
{
    *out = (struct step_table_series){ .d = u->profile->n_devices > 0 ? &u->profile->device[i] : NULL };
    const struct run_rank q = run_rank_of(u->profile, out->d, u->collection);
    return (u->collection ? step_series_of_collection(&out->s, u->collection, out->d, u->choice, mem)
                          : step_series_of_profile(&out->s, u->profile, out->d, u->choice, mem)) &&
           (!u->collection || !out->d || out->s.by ||
            step_shares_differ(&out->differs, u->collection, out->d, &out->s, mem)) &&
           (u->is_of_job || out->s.n == 0 || causes_of_series(&out->explained, &out->run, &out->s, &q, most, mem));
}

static size_t n_series(const struct step_table *u)
{
    return u->profile->n_devices > 0 ? u->profile->n_devices : u->collection ? 1 : 0;
}

/* Work that lasts beyond its step is divided at the end of the step here, and counted where it began there. */
static void put_differs(const struct term *t, const struct shares_difference *x)
{
    char number[READABLE_MOST];
    if (x->n_lacking > 0)
        fprintf(t->to, "    step_trace_time lacks %s of these steps", readable_count(number, x->n_lacking));
    if (x->n_others > 0)
        fprintf(t->to,
                x->n_lacking > 0 ? " and has other times of %s"
                                 : "    step_trace_time has other times of %s of these steps",
                readable_count(number, x->n_others));
    if (x->n_lacking + x->n_others > 0)
        fputs(": it counts work only in the step in which it begins\n", t->to);
}

bool step_table_print(const struct term *t, const struct step_table *u, size_t most)
{
    bool done = true;
    for (size_t i = 0; done && i < n_series(u); i++) {
        struct arena *mem = arena_new();
        struct step_table_series one;
        done = mem && series_find(u, i, most, mem, &one);
        if (done && one.s.n > 0) {
            put_series(t, u, one.d, &one.s, most);
            if (!u->is_of_job)
                judge_put(t, &one.explained, 4, mem);
            put_differs(t, &one.differs);
        }
        arena_free(mem);
    }
    return done;
}

static void parts_json(json_t *into, int64_t time_ns, const int64_t part_ns[STEP_PARTS])
{
    json_object_set_new(into, "time_us", json_real((double)time_ns / 1000));
    for (int c = 0; c < STEP_PARTS; c++)
        json_object_set_new(into, step_part_key[c], json_real((double)part_ns[c] / 1000));
}

static json_t *device_json(const struct device *d)
{
    return d ? json_integer(d->source.device) : json_null();
}

static void add_json(const struct step_table *u, const struct step_table_series *one_series, json_t *steps,
                     json_t *medians, struct arena *mem)
{
    const struct device *d = one_series->d;
    const struct step_series *s = &one_series->s;
    for (size_t i = 0; i < s->n; i++) {
        if (!s->is_chosen[i])
            continue;
        int64_t part_ns[STEP_PARTS];
        for (int c = 0; c < STEP_PARTS; c++)
            part_ns[c] = s->part_ns[c][i];
        json_t *one = json_pack("{s:o, s:o}", "device", device_json(d), "step",
                                s->is_whole ? json_null() : text_json(names_text(u->profile->names, s->name[i])));
        parts_json(one, s->time_ns[i], part_ns);
        json_object_set_new(one, "device_end_us",
                            s->device_end_ns[i] == INT64_MIN
                                ? json_null()
                                : json_real((double)span_ns(s->begin_ns[i], s->device_end_ns[i]) / 1000));
        json_object_set_new(one, "slow", json_boolean(s->is_slow[i]));
        json_array_append_new(steps, one);
    }
    json_t *median = json_pack("{s:o, s:o, s:I, s:I}", "device", device_json(d), "model",
                               s->has_model ? json_integer((json_int_t)s->model) : json_null(), "steps",
                               (json_int_t)(s->is_whole ? 0 : s->n), "slow", (json_int_t)s->n_slow);
    parts_json(median, s->median_ns, s->median_part_ns);
    json_object_set_new(median, "step_trace_time_lacks", json_integer((json_int_t)one_series->differs.n_lacking));
    json_object_set_new(median, "step_trace_time_differs", json_integer((json_int_t)one_series->differs.n_others));
    json_object_set_new(median, "judged", u->is_of_job ? json_array() : judge_json(&one_series->explained, mem));
    json_array_append_new(medians, median);
}

bool step_table_json(const struct step_table *u, size_t most, json_t *into)
{
    json_t *steps = json_array(), *medians = json_array();
    bool done = true;
    for (size_t i = 0; done && i < n_series(u); i++) {
        struct arena *mem = arena_new();
        struct step_table_series one;
        done = mem && series_find(u, i, most, mem, &one);
        if (done && one.s.n > 0)
            add_json(u, &one, steps, medians, mem);
        arena_free(mem);
    }
    json_object_set_new(into, "steps", steps);
    json_object_set_new(into, "step_medians", medians);
    return done;
}
