/* SPDX-License-Identifier: Apache-2.0 */
#include "report/compare_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text/json_memory.h"
#include "base/process/robust.h"
#include "report/judge_report.h"

enum { NAME_COLUMNS = 60, DETAIL_COLUMNS = 40, RANKS_SHOWN = 8, STEPS_SHOWN = 5 };

const char *const measure_key[MEASURE_KINDS] = { "kernel",   "shape", "collective", "copy",
                                                 "operator", "class", "host",       "call" };
const char *const measure_title[MEASURE_KINDS] = {
    "Kernels",
    "Kernels by shapes",
    "Collectives",
    "Copies",
    "Operators, time of their kernels on the device",
    "Classes of kernels",
    "Operators, own time on the host",
    "Calls of libraries, own time",
};
const char *const difference_key[DIFFERENCE_REAL + 1] = { "unknown", "noise", "real" };
const char *const part_key[RUN_PARTS] = { "step", "computing", "communication", "free" };
const char *const part_title[RUN_PARTS] = { "step", "computing", "exposed communication", "free" };

const char *rank_text(char out[RANK_TEXT], const struct measured_rank *r)
{
    if (r->has_rank)
        snprintf(out, RANK_TEXT, "rank %" PRId64, r->rank);
    else if (r->has_device)
        snprintf(out, RANK_TEXT, "device %u", r->device);
    else
        snprintf(out, RANK_TEXT, "host");
    return out;
}

static char *more_text(char out[READABLE_MOST + 2], double ns)
{
    char number[READABLE_MOST];
    snprintf(out, READABLE_MOST + 2, "%s%s", ns < 0 ? "-" : "+", readable_duration(number, fabs(ns)));
    return out;
}

static void put_percent(const struct term *t, double a, double b)
{
    if (a > 0)
        fprintf(t->to, " %+7.1f %%", (b - a) / a * 100);
    else
        fprintf(t->to, " %9s", b > 0 ? "new" : "");
}

static void put_state(const struct term *t, const struct difference *d)
{
    char noise[READABLE_MOST];
    if (d->state == DIFFERENCE_UNKNOWN)
        fputs("  noise unknown", t->to);
    else if (d->state == DIFFERENCE_REAL)
        fprintf(t->to, "  %sreal%s, noise %s", term_ink(t, d->b > d->a ? INK_BAD : INK_GOOD), term_ink(t, INK_END),
                readable_duration(noise, d->noise_ns));
    else if (d->noise_ns > fmax(d->a, d->b))
        fprintf(t->to, "  %stoo few independent steps%s", term_ink(t, INK_DIM), term_ink(t, INK_END));
    else
        fprintf(t->to, "  %sno difference, noise %s%s", term_ink(t, INK_DIM), readable_duration(noise, d->noise_ns),
                term_ink(t, INK_END));
}

static void put_difference(const struct term *t, const char *what, const struct difference *d)
{
    char a[READABLE_MOST], b[READABLE_MOST], more[READABLE_MOST + 2];
    fprintf(t->to, "  %-22s %11s %11s %12s", what, readable_duration(a, d->a), readable_duration(b, d->b),
            more_text(more, d->b - d->a));
    put_percent(t, d->a, d->b);
    put_state(t, d);
    fputc('\n', t->to);
}

static void put_run(const struct term *t, const struct comparison *c, size_t i)
{
    const struct measured_rank *first = c->pair[0].of_run[i];
    const bool is_b = i >= c->n_a;
    const size_t number = is_b ? i - c->n_a + 1 : i + 1;
    size_t n_slow = 0;
    for (size_t k = 0; k < first->n_steps; k++)
        n_slow += first->step[k].is_slow;
    fprintf(t->to, "%s%c", term_ink(t, INK_BOLD), "AB"[is_b]);
    if ((is_b ? c->n_b : c->n_a) > 1)
        fprintf(t->to, "%zu", number);
    fprintf(t->to, "%s  ", term_ink(t, INK_END));
    term_text(t, c->run[i].name, 0);
    fprintf(t->to, " (%s, ", !first->has_device ? "host" : first->is_gpu ? "GPU" : "NPU");
    if (c->n_pairs > 1)
        fprintf(t->to, "%zu ranks, ", c->n_pairs);
    if (!first->has_steps)
        fputs("no steps)\n", t->to);
    else if (n_slow == 0)
        fprintf(t->to, "%zu step%s)\n", first->n_steps, first->n_steps == 1 ? "" : "s");
    else
        fprintf(t->to, "%zu steps, of which slow and left out: %zu)\n", first->n_steps, n_slow);
}

/* The classes of an engine's iterations on both sides. */
static void put_iterations(const struct term *t, const struct comparison *c)
{
    char a[READABLE_MOST], b[READABLE_MOST];
    for (int k = 0; c->alike != ITERATION_OTHER && k < ITERATION_CLASSES; k++) {
        const struct compared_class *x = &c->of_class[k];
        if (x->n[0] + x->n[1] == 0)
            continue;
        fprintf(t->to, "  %-8s %zu in A, %zu in B, median %s, %s", iteration_class_keys[k], x->n[0], x->n[1],
                x->n[0] > 0 ? readable_duration(a, x->median_ns[0]) : "-",
                x->n[1] > 0 ? readable_duration(b, x->median_ns[1]) : "-");
        if (x->tokens_per_s[0] > 0 && x->tokens_per_s[1] > 0)
            fprintf(t->to, ", %.0f and %.0f tokens/s", x->tokens_per_s[0], x->tokens_per_s[1]);
        fputc('\n', t->to);
    }
    if (c->alike == ITERATION_OTHER)
        return;
    fprintf(t->to, "what follows compares %s iterations", iteration_class_keys[c->alike]);
    if (c->alike_size > 0)
        fprintf(t->to, " of size %.0f (tokens, or requests)", c->alike_size);
    fprintf(t->to, ", of which each run has %zu at least\n", c->n_alike);
}

void compare_print_runs(const struct term *t, const struct comparison *c)
{
    for (size_t i = 0; i < c->n_a + c->n_b; i++)
        put_run(t, c, i);
    steps_by_put(t, c->pair[0].of_run[0]->steps_by);
    put_iterations(t, c);
    if (c->n_alone_a + c->n_alone_b > 0)
        fprintf(t->to, "ranks that are not in all runs, not compared: %zu of A, %zu of B\n", c->n_alone_a,
                c->n_alone_b);
}

/* Prints that steps count less than their number, if they do by a fifth. */
static void put_dependence(const struct term *t, const struct comparison *c)
{
    const double rho = c->part_chance[RUN_STEP].dependence, part = independent_number(1, rho);
    if (c->is_noise_known && part < 0.8)
        fprintf(t->to,
                "  steps are like those before them (autocorrelation %.2f): %d %% of them count as independent\n", rho,
                (int)(part * 100));
}

static void put_memory(const struct term *t, const char *what, int64_t a, int64_t b)
{
    char x[READABLE_MOST], y[READABLE_MOST], number[READABLE_MOST], more[READABLE_MOST + 2];
    if (a < 0 || b < 0)
        return;
    snprintf(more, sizeof more, "%c%s", b < a ? '-' : '+', readable_bytes(number, (uint64_t)(b < a ? a - b : b - a)));
    fprintf(t->to, "  %-22s %11s %11s %12s", what, readable_bytes(x, (uint64_t)a), readable_bytes(y, (uint64_t)b),
            more);
    put_percent(t, (double)a, (double)b);
    fputc('\n', t->to);
}

static void put_name(const struct term *t, const struct comparison *c, const struct compared_row *row)
{
    fprintf(t->to, "%s ", measure_key[row->kind]);
    term_text(t, names_text(c->names, row->name), NAME_COLUMNS);
    if (row->detail != NAME_EMPTY) {
        fputs(" [", t->to);
        term_text(t, names_text(c->names, row->detail), DETAIL_COLUMNS);
        fputc(']', t->to);
    }
}

/* Prints how an entry changed (number and duration of its runs) and, with several ranks, where it changed most. */
static void put_how(const struct term *t, const struct comparison *c, const struct compared_row *row)
{
    char a[READABLE_MOST], b[READABLE_MOST], a_n[READABLE_MOST], b_n[READABLE_MOST], rank[RANK_TEXT],
        more[READABLE_MOST + 2];
    const struct difference *d = &row->difference;
    const double a_runs = row->a.runs, b_runs = row->b.runs;
    if (a_runs == 0 || b_runs == 0)
        fprintf(t->to, "only in %c: %s runs of %s", a_runs > 0 ? 'A' : 'B', readable_runs(a_n, a_runs + b_runs),
                readable_duration(a, a_runs > 0 ? d->a / a_runs : d->b / fmax(b_runs, 1e-9)));
    else if (fabs(b_runs - a_runs) > 0.001 * a_runs)
        fprintf(t->to, "%s -> %s runs of %s -> %s", readable_runs(a_n, a_runs), readable_runs(b_n, b_runs),
                readable_duration(a, d->a / a_runs), readable_duration(b, d->b / b_runs));
    else
        fprintf(t->to, "%s runs of %s -> %s", readable_runs(a_n, a_runs), readable_duration(a, d->a / a_runs),
                readable_duration(b, d->b / b_runs));
    if (c->n_pairs > 1)
        fprintf(t->to, "; most on %s: %s", rank_text(rank, c->pair[row->pair].b), more_text(more, row->pair_ns));
}

void compare_print_changes(const struct term *t, const struct compare_report *r)
{
    const struct comparison *c = r->c;
    size_t n = 0;
    char more[READABLE_MOST + 2];
    for (unsigned k = 0; k < MEASURE_KINDS; k++)
        n += c->first[k + 1] - c->first[k];
    fprintf(t->to, "\n%sWhat changed%s, in a step, largest first\n", term_ink(t, INK_BOLD), term_ink(t, INK_END));
    for (size_t i = 0; i < r->n_changes && i < r->top; i++) {
        const struct compared_row *row = r->change[i];
        fprintf(t->to, "  %12s", more_text(more, row->difference.b - row->difference.a));
        put_percent(t, row->difference.a, row->difference.b);
        fputs("  ", t->to);
        put_name(t, c, row);
        fputs(": ", t->to);
        put_how(t, c, row);
        fputc('\n', t->to);
    }
    if (r->n_changes > r->top)
        fprintf(t->to, "  and %zu more; --top N shows them, -o DIR writes all\n", r->n_changes - r->top);
    if (r->n_changes == 0)
        fprintf(t->to, "  nothing: %zu names were compared, and none differs by more than noise and a hundredth\n", n);
    if (!c->is_noise_known)
        fputs("  noise is unknown: it takes three steps on each side; differences may be chance\n", t->to);
}

static void put_steps(const struct term *t, const struct comparison *c)
{
    size_t n = 0;
    char a[READABLE_MOST], b[READABLE_MOST];
    for (size_t i = 0; i < c->n_steps; i++) {
        const struct compared_step *s = &c->step[i];
        if (s->a_is_slow == s->b_is_slow)
            continue;
        if (n == 0)
            fprintf(t->to, "\n%sSteps that are slow on one side%s; ascope why explains them\n", term_ink(t, INK_BOLD),
                    term_ink(t, INK_END));
        if (n++ >= STEPS_SHOWN)
            continue;
        fprintf(t->to, "  step ");
        term_text(t, names_text(c->names, s->b_is_slow ? s->b : s->a), NAME_COLUMNS);
        fprintf(t->to, " of %c: %s in A, %s in B\n", s->b_is_slow ? 'B' : 'A', readable_duration(a, (double)s->a_ns),
                readable_duration(b, (double)s->b_ns));
    }
    if (n > STEPS_SHOWN)
        fprintf(t->to, "  and %zu more\n", n - STEPS_SHOWN);
}

static double own_change(const struct compared_pair *p)
{
    return (p->part[RUN_STEP].b - p->part[RUN_COMMUNICATION].b) - (p->part[RUN_STEP].a - p->part[RUN_COMMUNICATION].a);
}

/* Prints the ranks whose time without communication changed most: the other ranks wait for them. */
static void put_ranks(const struct term *t, const struct comparison *c)
{
    uint32_t shown[RANKS_SHOWN];
    size_t n = 0;
    if (c->n_pairs < 2)
        return;
    for (uint32_t i = 0; i < c->n_pairs; i++) { /* keep the largest changes, sorted by insertion */
        size_t at = n < RANKS_SHOWN ? n++ : RANKS_SHOWN;
        while (at > 0 && fabs(own_change(&c->pair[i])) > fabs(own_change(&c->pair[shown[at - 1]]))) {
            if (at < RANKS_SHOWN)
                shown[at] = shown[at - 1];
            at--;
        }
        if (at < RANKS_SHOWN)
            shown[at] = i;
    }
    fprintf(t->to, "\n%sRanks%s, by their own time in a step (without exposed communication)\n", term_ink(t, INK_BOLD),
            term_ink(t, INK_END));
    for (size_t i = 0; i < n; i++) {
        const struct compared_pair *p = &c->pair[shown[i]];
        char rank[RANK_TEXT], own[READABLE_MOST + 2], computing[READABLE_MOST + 2], exposed[READABLE_MOST + 2],
            free_text[READABLE_MOST + 2];
        const double a = p->part[RUN_STEP].a - p->part[RUN_COMMUNICATION].a;
        fprintf(t->to, "  %-12s %12s", rank_text(rank, p->b), more_text(own, own_change(p)));
        put_percent(t, a, a + own_change(p));
        fprintf(t->to, "  computing %s, exposed communication %s, free %s\n",
                more_text(computing, p->part[RUN_COMPUTING].b - p->part[RUN_COMPUTING].a),
                more_text(exposed, p->part[RUN_COMMUNICATION].b - p->part[RUN_COMMUNICATION].a),
                more_text(free_text, p->part[RUN_FREE].b - p->part[RUN_FREE].a));
    }
    if (c->n_pairs > n)
        fprintf(t->to, "  and %zu more, which changed less\n", c->n_pairs - n);
}

static void put_classes(const struct term *t, const struct comparison *c)
{
    char a[READABLE_MOST], b[READABLE_MOST], more[READABLE_MOST + 2];
    if (c->first[MEASURE_CLASS] == c->first[MEASURE_CLASS + 1])
        return;
    fprintf(t->to, "\n%s%s%s, in a step\n", term_ink(t, INK_BOLD), measure_title[MEASURE_CLASS], term_ink(t, INK_END));
    for (size_t i = c->first[MEASURE_CLASS]; i < c->first[MEASURE_CLASS + 1]; i++) {
        const struct difference *d = &c->row[i].difference;
        fprintf(t->to, "  %-22s %11s %11s %12s", names_text(c->names, c->row[i].name), readable_duration(a, d->a),
                readable_duration(b, d->b), more_text(more, d->b - d->a));
        put_percent(t, d->a, d->b);
        put_state(t, d);
        fputc('\n', t->to);
    }
}

void compare_print(const struct term *t, const struct compare_report *r)
{
    const struct comparison *c = r->c;
    compare_print_runs(t, c);
    if (c->is_across)
        fputs("devices of different kinds: kernels are compared by the operator that launched them\n", t->to);
    if (c->pair[0].a->has_steps != c->pair[0].b->has_steps)
        fprintf(t->to, "only %c has steps: a step is compared with the whole of the other run\n",
                c->pair[0].a->has_steps ? 'A' : 'B');
    fprintf(t->to, "\n  %-22s %11s %11s %12s\n", c->pair[0].a->has_steps ? "usual step" : "everything", "A", "B",
            "difference");
    for (unsigned k = 0; k < RUN_PARTS; k++)
        put_difference(t, part_title[k], &c->part[k]);
    put_dependence(t, c);
    put_memory(t, "memory, allocated", c->memory_a[0], c->memory_b[0]);
    put_memory(t, "memory, reserved", c->memory_a[1], c->memory_b[1]);
    compare_print_changes(t, r);
    put_steps(t, c);
    put_ranks(t, c);
    put_classes(t, c);
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------- */

static json_t *us(double ns)
{
    return json_real(round(ns) / 1000);
}

static json_t *difference_json(const struct difference *d)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:s}", "a_us", us(d->a), "b_us", us(d->b), "more_us", us(d->b - d->a),
                     "noise_us", d->state == DIFFERENCE_UNKNOWN ? json_null() : us(d->noise_ns), "state",
                     difference_key[d->state]);
}

static json_t *parts_json(const struct difference part[RUN_PARTS])
{
    json_t *out = json_object();
    for (unsigned k = 0; k < RUN_PARTS; k++)
        json_object_set_new(out, part_key[k], difference_json(&part[k]));
    return out;
}

static json_t *side_json(const struct compared_side *s)
{
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:f}", "count", (json_int_t)s->n, "total_us", us(s->total_ns),
                     "mean_us", s->n > 0 ? us(s->total_ns / (double)s->n) : json_null(), "min_us", us(s->min_ns),
                     "max_us", us(s->max_ns), "runs", s->runs);
}

static json_t *row_json(const struct comparison *c, const struct compared_row *r)
{
    json_t *out = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "kind", measure_key[r->kind], "name",
                            text_json(names_text(c->names, r->name)), "detail",
                            r->detail == NAME_EMPTY ? json_null() : text_json(names_text(c->names, r->detail)), "step",
                            difference_json(&r->difference), "a", side_json(&r->a), "b", side_json(&r->b));
    json_object_set_new(out, "because_of_runs_us", us(r->runs_ns));
    json_object_set_new(out, "most_on", json_integer((json_int_t)r->pair));
    json_object_set_new(out, "most_us", us(r->pair_ns));
    return out;
}

static json_t *bytes_json(int64_t bytes)
{
    return bytes < 0 ? json_null() : json_integer(bytes);
}

static json_t *memory_json(const struct comparison *c)
{
    return json_pack("{s:{s:o, s:o}, s:{s:o, s:o}}", "allocated", "a_bytes", bytes_json(c->memory_a[0]), "b_bytes",
                     bytes_json(c->memory_b[0]), "reserved", "a_bytes", bytes_json(c->memory_a[1]), "b_bytes",
                     bytes_json(c->memory_b[1]));
}

static json_t *run_json(const struct measured_rank *r)
{
    return json_pack("{s:o, s:o, s:o, s:s, s:I, s:I, s:o}", "path", text_json(r->path), "rank",
                     r->has_rank ? json_integer(r->rank) : json_null(), "device",
                     r->has_device ? json_integer((json_int_t)r->device) : json_null(), "kind",
                     !r->has_device ? "host"
                     : r->is_gpu    ? "gpu"
                                    : "npu",
                     "steps", (json_int_t)(r->has_steps ? r->n_steps : 0), "usual",
                     (json_int_t)(r->has_steps ? r->n_usual : 0), "steps_by", text_or_null(r->steps_by));
}

static json_t *steps_json(const struct comparison *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->n_steps; i++) {
        const struct compared_step *s = &c->step[i];
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:b, s:b}", "a",
                                              s->a ? text_json(names_text(c->names, s->a)) : json_null(), "b",
                                              s->b ? text_json(names_text(c->names, s->b)) : json_null(), "a_us",
                                              us((double)s->a_ns), "b_us", us((double)s->b_ns), "a_slow", s->a_is_slow,
                                              "b_slow", s->b_is_slow));
    }
    return list;
}

static json_t *names_json(const struct measured_run *run, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, text_json(run[i].name));
    return list;
}

static json_t *classes_json(const struct comparison *c)
{
    json_t *list = json_array();
    for (int k = 0; c->alike != ITERATION_OTHER && k < ITERATION_CLASSES; k++) {
        const struct compared_class *x = &c->of_class[k];
        if (x->n[0] + x->n[1] > 0)
            json_array_append_new(
                list, json_pack("{s:s, s:I, s:I, s:o, s:o, s:o, s:o}", "class", iteration_class_keys[k], "a_iterations",
                                (json_int_t)x->n[0], "b_iterations", (json_int_t)x->n[1], "a_median_us",
                                x->n[0] > 0 ? us(x->median_ns[0]) : json_null(), "b_median_us",
                                x->n[1] > 0 ? us(x->median_ns[1]) : json_null(), "a_tokens_per_s",
                                x->tokens_per_s[0] > 0 ? json_real(x->tokens_per_s[0]) : json_null(), "b_tokens_per_s",
                                x->tokens_per_s[1] > 0 ? json_real(x->tokens_per_s[1]) : json_null()));
    }
    return list;
}

json_t *compare_json(const struct compare_report *r)
{
    const struct comparison *c = r->c;
    json_t *ranks = json_array(), *changes = json_array(), *rows = json_array();
    for (size_t i = 0; i < c->n_pairs; i++)
        json_array_append_new(ranks, json_pack("{s:o, s:o, s:o}", "a", run_json(c->pair[i].a), "b",
                                               run_json(c->pair[i].b), "overall", parts_json(c->pair[i].part)));
    for (size_t i = 0; i < r->n_changes; i++)
        json_array_append_new(changes, row_json(c, r->change[i]));
    for (size_t i = 0; i < c->n; i++)
        json_array_append_new(rows, row_json(c, &c->row[i]));
    json_t *out = json_pack("{s:o, s:o, s:o, s:o, s:b, s:f, s:b, s:o, s:o}", "a", text_json(c->run[0].name), "b",
                            text_json(c->run[c->n_a].name), "runs_a", names_json(c->run, c->n_a), "runs_b",
                            names_json(c->run + c->n_a, c->n_b), "noise_known", c->is_noise_known, "autocorrelation",
                            c->part_chance[RUN_STEP].dependence, "different_devices", c->is_across, "overall",
                            parts_json(c->part), "memory", memory_json(c));
    json_object_set_new(out, "class",
                        c->alike == ITERATION_OTHER ? json_null() : json_string(iteration_class_keys[c->alike]));
    json_object_set_new(out, "size", c->alike_size > 0 ? json_real(c->alike_size) : json_null());
    json_object_set_new(out, "classes", classes_json(c));
    json_object_set_new(out, "ranks", ranks);
    json_object_set_new(out, "alone_a", json_integer((json_int_t)c->n_alone_a));
    json_object_set_new(out, "alone_b", json_integer((json_int_t)c->n_alone_b));
    json_object_set_new(out, "steps", steps_json(c));
    json_object_set_new(out, "changes", changes);
    json_object_set_new(out, "rows", rows);
    return out;
}
