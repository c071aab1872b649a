/* SPDX-License-Identifier: Apache-2.0 */
#include "report/why_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text/json_memory.h"
#include "report/place_report.h"
#include "report/judge_report.h"
#include "report/serving/engine_report.h"
#include "report/serving/request_report.h"
#include "answers/judge/job_waits.h"

enum {
    NAME_COLUMNS = 8,
    WHAT_COLUMNS = 60,
    NAME_OF_USE = 40,
    PLACE_INDENT = 31,
    LEAST_SHARE = 200 /* smaller items are counted, not listed */
};

/* What a step spends its time on, where there is no other step that could have more or less of it. */
static const char *const spent_words[CAUSES] = {
    [CAUSE_RUNS] = "operators",
    [CAUSE_LONGER] = "operators",
    [CAUSE_CLOCK] = "operators",
    [CAUSE_TRANSFER] = "transfer",
    [CAUSE_WAIT] = "waiting for ranks",
    [CAUSE_DATA] = "waiting for data",
    [CAUSE_REQUESTS] = "waiting for requests",
    [CAUSE_MEMORY] = "memory",
    [CAUSE_GC] = "garbage collection",
    [CAUSE_HOST] = "host",
};

/* "rank 3", "device 1", or the directory. */
static void put_rank(const struct term *t, const struct run_member *r)
{
    if (r->has_rank)
        fprintf(t->to, "rank %" PRId64, r->rank);
    else if (r->has_device)
        fprintf(t->to, "device %u", r->device);
    else
        term_text(t, r->path, WHAT_COLUMNS);
}

/* The finding that is explained in detail; NULL: none. */
static const struct explained *main_finding(const struct why_report *r)
{
    return causes_of(r->explained, r->choice->finding);
}

/* There is nothing to compare with: the step by itself is explained. */
static bool is_alone(const struct why_report *r)
{
    return r->choice->mode == WHY_STEP && main_finding(r)->answer.n_usual == 0;
}

static double share_of(const struct step_difference *d, double ns)
{
    return d->more_ns != 0 ? 100 * ns / d->more_ns : 0;
}

static double share(const struct why_report *r, double ns)
{
    return share_of(&main_finding(r)->answer.difference, ns);
}

static const char *word_of_steps(const struct why_report *r)
{
    return r->rank[r->choice->rank].has_model ? "iteration" : "step";
}

/* How much of its time the device computes, or the host is in operators. */
static void put_utilisation(const struct term *t, const struct why_report *r)
{
    const struct step_use *u = r->use;
    char part[READABLE_MOST], whole[READABLE_MOST];
    const double busy_ns = u->part[SPENT_OPERATOR].ns;
    fputs(u->is_host ? "the host is in operators for " : "the device computes for ", t->to);
    fprintf(t->to, "%s of %s%s (%.1f %%)", readable_duration(part, busy_ns), readable_duration(whole, u->step_ns),
            u->is_whole ? "" : " in a usual step", u->step_ns > 0 ? 100 * busy_ns / u->step_ns : 0);
    if (r->n_ranks > 1) {
        fputs(" on ", t->to);
        put_rank(t, &r->rank[r->choice->rank]);
    }
    fputs(u->is_by_type
              ? ", by the types of its tasks: nothing was recorded of the host, and collectives are not known\n"
              : "\n",
          t->to);
}

/* Where a usual step goes, without parts of less than 0.5 %. */
static void put_use(const struct term *t, const struct why_report *r)
{
    const struct step_use *u = r->use;
    char number[READABLE_MOST];
    fprintf(t->to, "\nwhere %s goes", u->is_whole ? "the time" : "a usual step");
    if (u->n_steps > 1)
        fprintf(t->to, " (mean of %zu)", u->n_steps);
    fputs(":\n", t->to);
    for (int k = 0; k < SPENT_KINDS; k++) {
        const struct use_part *p = &u->part[k];
        if (p->ns * LEAST_SHARE < u->step_ns || p->ns <= 0)
            continue;
        fprintf(t->to, "  %6.1f %% %11s  %s", 100 * p->ns / u->step_ns, readable_duration(number, p->ns),
                use_part_words(u, (enum spent_kind)k));
        for (size_t i = 0; i < p->n && p->most[i].ns * LEAST_SHARE >= u->step_ns; i++) {
            fputs(i > 0 ? ", " : ": ", t->to);
            term_text(t, p->most[i].name, NAME_OF_USE);
            fprintf(t->to, " %s", readable_duration(number, p->most[i].ns));
        }
        fputc('\n', t->to);
    }
}

/* Ranks of the job that were not read. */
static int64_t ranks_not_read(const struct why_report *r)
{
    return job_world(r->rank, r->n_ranks) - (int64_t)r->n_ranks;
}

/* " (1, 2)": which ones, if they are a few. */
static void put_not_read(const struct term *t, const struct why_report *r)
{
    enum { MOST = 8 };
    const char *before = " (";
    for (size_t i = 0; i < r->n_ranks; i++)
        if (!r->rank[i].has_rank)
            return;
    for (int64_t k = 0; ranks_not_read(r) <= MOST && k < job_world(r->rank, r->n_ranks); k++) {
        bool is_read = false;
        for (size_t i = 0; i < r->n_ranks && !is_read; i++)
            is_read = r->rank[i].rank == k;
        if (is_read)
            continue;
        fprintf(t->to, "%s%" PRId64, before, k);
        before = ", ";
    }
    fputs(before[0] == ',' ? ")" : "", t->to);
}

static void put_heading(const struct term *t, const struct why_report *r)
{
    const int64_t n_not_read = ranks_not_read(r);
    const struct job_steps *job = &r->choice->job;
    char number[READABLE_MOST], slowest[READABLE_MOST];
    const char *word = word_of_steps(r);
    if (r->n_ranks > 1)
        fprintf(t->to, "%zu ranks, ", r->n_ranks);
    if (job->run.n == 0)
        fputs("no steps were recorded: the whole recording counts as one\n", t->to);
    else if (job->run.n == 1)
        fprintf(t->to, "1 %s: there is no other %s to compare it with\n", word, word);
    else
        fprintf(t->to, "%zu %ss, median %s, slowest %s\n", job->run.n, word,
                readable_duration(number, (double)job->median_ns),
                readable_duration(slowest, (double)job->step[job->slowest[0]].time_ns));
    steps_by_put(t, r->rank[r->choice->rank].steps_by);
    engine_put(t, &r->serving->engine);
    requests_put(t, &r->serving->requests);
    if (r->serving->n_unknown > 0)
        fprintf(t->to,
                "of %" PRIu64 " kernels of replayed graphs %" PRIu64
                " (%.1f %% of their time) have no operator: nobody "
                "watched when their graphs were captured\n",
                r->serving->n_replayed, r->serving->n_unknown, 100 * r->serving->unknown_share);
    if (n_not_read > 0)
        fprintf(t->to, "%" PRId64 " of %" PRId64 " ranks %s not read", n_not_read, n_not_read + (int64_t)r->n_ranks,
                n_not_read == 1 ? "was" : "were");
    if (n_not_read > 0) {
        put_not_read(t, r);
        fputs(": a wait for one of them looks like a transfer\n", t->to);
    }
}

static void put_steps(const struct term *t, const struct why_report *r)
{
    const struct job_steps *job = &r->choice->job;
    char number[READABLE_MOST];
    const char *word = word_of_steps(r);
    if (job->run.n < 2)
        return;
    fprintf(t->to, "\nthe slowest %ss:\n  %-*s %10s %8s%s\n", word, NAME_COLUMNS, word, "time", "x median",
            r->n_ranks > 1 ? "  longest without communication" : "");
    for (size_t i = 0; i < job->run.n && i < r->top; i++) {
        const struct job_step *s = &job->step[job->slowest[i]];
        fprintf(t->to, "  %s", s->is_slow ? term_ink(t, INK_WARN) : "");
        term_text(t, s->name, NAME_COLUMNS);
        fprintf(t->to, "%*s %10s %8.2f%s", term_width(s->name) < NAME_COLUMNS ? NAME_COLUMNS - term_width(s->name) : 0,
                "", readable_duration(number, (double)s->time_ns),
                job->median_ns > 0 ? (double)s->time_ns / (double)job->median_ns : 1.0,
                s->is_slow ? term_ink(t, INK_END) : "");
        if (r->n_ranks > 1) {
            fputs("  ", t->to);
            put_rank(t, &r->rank[s->longest]);
        }
        fputc('\n', t->to);
    }
    if (job->run.n > r->top)
        fprintf(t->to, "  and %zu more; --top N shows them\n", job->run.n - r->top);
}

static void put_sentence(const struct term *t, const struct why_report *r, const struct slow *s, size_t number)
{
    fprintf(t->to, "  %s%zu. ", term_ink(t, INK_BOLD), number);
    judge_put_one(t, r->explained, s, 5, r->mem);
}

static bool is_in_each_step(const struct slow *s)
{
    return s->shape != SLOW_ONCE && s->shape != SLOW_STEPS;
}

/* The stages of a pipeline that take longer than others. Returns the last number. */
static size_t put_stages(const struct term *t, const struct why_report *r, size_t number)
{
    const struct judged_run *stages = &r->choice->job.stages.run;
    for (size_t i = 0; stages->n_ranks > 0 && i < stages->of.n; i++) {
        const char *text =
            stages->of.at[i].shape == SLOW_ALWAYS ? run_finding_text(stages, &stages->of.at[i], r->mem) : NULL;
        if (text)
            fprintf(t->to, "  %s%zu. %s%s\n", term_ink(t, INK_BOLD), ++number, text, term_ink(t, INK_END));
    }
    return number;
}

static bool has_uneven_stages(const struct why_report *r)
{
    const struct judged_run *stages = &r->choice->job.stages.run;
    for (size_t i = 0; stages->n_ranks > 0 && i < stages->of.n; i++)
        if (stages->of.at[i].shape == SLOW_ALWAYS)
            return true;
    return false;
}

/* The verdicts and the advice in one list: what happens in each step, then what happened in some. */
static void put_findings(const struct term *t, const struct why_report *r)
{
    const struct judged_run *run = &r->choice->job.run;
    const size_t n = run_findings(run);
    size_t number = 0, at = 0;
    fputc('\n', t->to);
    const bool is_uneven = has_uneven_stages(r);
    if (n == 0 && run->n > 1 && !is_uneven) {
        const char *nothing = run_nothing_text(run, r->mem);
        term_text(t, nothing ? nothing : "", 0);
        fputs("; --step N explains one anyway\n", t->to);
    }
    if (n > 0 || is_uneven)
        fputs("what costs time, first in each step, then in some:\n", t->to);
    else
        fputs(advise_n_found(r->advice) > 0 ? "what would save time in each step:\n"
                                            : "nothing was found that would save 3 % of a step\n",
              t->to);
    for (; at < n && is_in_each_step(&run->of.at[at]); at++)
        put_sentence(t, r, &run->of.at[at], ++number);
    number = put_stages(t, r, number);
    number = advise_put_short(t, r->advice, number, run->n_ranks > 1);
    for (; at < n && at < r->top; at++)
        put_sentence(t, r, &run->of.at[at], ++number);
    if (at < n)
        fprintf(t->to, "  and %zu more; --top N shows them\n", n - at);
    if (n < run->of.n) {
        const char *start_up = run_finding_text(run, &run->of.at[n], r->mem);
        fputs("  ", t->to);
        term_text(t, start_up ? start_up : "", 0);
        fputc('\n', t->to);
    }
}

static void put_item(const struct term *t, const struct why_report *r, const struct step_item *m,
                     const struct why_place *place)
{
    char more[READABLE_MOST + 2], before[READABLE_MOST], after[READABLE_MOST];
    const bool alone = is_alone(r), is_host = r->rank[r->choice->rank].is_host;
    fprintf(t->to, "  %6.1f %% %11s  %-18s  ", share(r, m->more_ns),
            alone ? readable_duration(after, m->after_ns) : why_more_words(more, m->more_ns),
            alone && !(is_host && m->cause == CAUSE_HOST) ? spent_words[m->cause]
                                                          : why_cause_words(&main_finding(r)->answer, m->cause));
    term_text(t, why_item_words(m), WHAT_COLUMNS);
    if (!alone)
        fprintf(t->to, ": %s -> %s", readable_duration(before, m->before_ns), readable_duration(after, m->after_ns));
    if (alone && m->after_runs > 0)
        fprintf(t->to, ", %s run%s", readable_runs(after, m->after_runs), m->after_runs == 1 ? "" : "s");
    else if (m->before_runs > 0 || m->after_runs > 0)
        fprintf(t->to, ", %s -> %s runs", readable_runs(before, m->before_runs), readable_runs(after, m->after_runs));
    if (m->cause == CAUSE_CLOCK)
        fprintf(t->to, ", %.0f -> %.0f MHz", m->before_mhz, m->after_mhz);
    fputc('\n', t->to);
    place_put(t, place, PLACE_INDENT);
}

static void put_items(const struct term *t, const struct why_report *r)
{
    const struct step_difference *d = &main_finding(r)->answer.difference;
    char more[READABLE_MOST + 2];
    double others_ns = main_finding(r)->answer.others_ns;
    size_t n_others = main_finding(r)->answer.n_others;
    if (is_alone(r))
        fprintf(t->to, "\n  %8s %11s  %-18s  what\n", "share", "time", "spent on");
    else
        fprintf(t->to, "\n  %8s %11s  %-18s  what: %s\n", "share", "more", "cause",
                r->choice->mode == WHY_RANK ? "usual step of the other rank -> of this one"
                : r->choice->finding && r->choice->finding->shape == SLOW_DRIFT ? "earlier half -> later half"
                : r->choice->finding && r->choice->finding->n > 1               ? "usual step -> mean of these steps"
                                                                                : "usual step -> this step");
    for (size_t i = 0; i < d->n; i++)
        if (fabs(d->item[i].more_ns) * LEAST_SHARE >= fabs(d->more_ns)) {
            put_item(t, r, &d->item[i], &main_finding(r)->answer.place[i]);
        } else {
            others_ns += d->item[i].more_ns;
            n_others++;
        }
    if (n_others > 0)
        fprintf(t->to, "  %6.1f %% %11s  %zu smaller\n", share(r, others_ns),
                is_alone(r) ? readable_duration(more, others_ns) : why_more_words(more, others_ns), n_others);
    if (llround(d->rest_ns) != 0)
        fprintf(t->to, "  %6.1f %% %11s  rest: usual steps differ from the median\n", share(r, d->rest_ns),
                why_more_words(more, d->rest_ns));
    fprintf(t->to, "  %6.1f %% %11s  in all\n", share(r, d->more_ns),
            is_alone(r) ? readable_duration(more, d->more_ns) : why_more_words(more, d->more_ns));
}

static void put_causes(const struct term *t, const struct why_report *r)
{
    const struct step_difference *d = &main_finding(r)->answer.difference;
    bool is_put[CAUSES] = { 0 };
    const char *before = "  causes: ";
    for (int i = 0; i < CAUSES; i++) {
        int most = -1;
        for (int c = 0; c < CAUSES; c++)
            if (!is_put[c] && fabs(d->cause_ns[c]) * LEAST_SHARE >= fabs(d->more_ns) && d->cause_ns[c] != 0 &&
                (most < 0 || d->cause_ns[c] > d->cause_ns[most]))
                most = c;
        if (most < 0)
            break;
        char more[READABLE_MOST + 2];
        is_put[most] = true;
        fprintf(t->to, "%s%s %s (%.0f %%)", before,
                why_waiting_words(&main_finding(r)->answer, d, (enum step_cause)most, r->mem),
                why_more_words(more, d->cause_ns[most]), share(r, d->cause_ns[most]));
        before = ", ";
    }
    fputc('\n', t->to);
}

/* Where the thread was: what the causes above took longer for, if it had no processor. */
static void put_thread(const struct term *t, const struct why_report *r)
{
    const struct why_answer *a = &main_finding(r)->answer;
    const struct step_thread_time *u = &a->thread_usual, *x = &a->thread;
    char usual[READABLE_MOST], now[READABLE_MOST];
    if (!u->is_known || !x->is_known)
        return;
    fprintf(t->to, "  its thread: on a processor %s -> %s", readable_duration(usual, u->cpu_ns),
            readable_duration(now, x->cpu_ns));
    fprintf(t->to, ", waiting for one %s -> %s", readable_duration(usual, u->ready_ns),
            readable_duration(now, x->ready_ns));
    fprintf(t->to, ", blocked %s -> %s", readable_duration(usual, u->blocked_ns),
            readable_duration(now, x->blocked_ns));
    if (x->faults > u->faults || x->disk_faults > 0)
        fprintf(t->to, "; page faults %.0f -> %.0f, from the disk %.0f -> %.0f", u->faults, x->faults, u->disk_faults,
                x->disk_faults);
    fputc('\n', t->to);
}

static void put_hints(const struct term *t, const struct why_report *r)
{
    if (main_finding(r)->answer.lacks_python)
        fputs("\n  Python functions were not recorded; a recording with with_stack shows what the host did\n", t->to);
}

/* What is compared of the steps of a drift. */
static const char *drift_words(const struct why_report *r, uint32_t part)
{
    static const char *const of_device[JUDGED_PARTS] = { " of computing", " of exposed communication",
                                                         " in which the device does not compute" };
    static const char *const of_host[JUDGED_PARTS] = { " in operators", " of communication", " outside operators" };
    return part >= JUDGED_PARTS ? "" : r->choice->job.run.is_host ? of_host[part] : of_device[part];
}

static void put_waiting(const struct term *t, const struct job_choice *c)
{
    fputs("; the others wait for it", t->to);
    if (c->n_waited_for > 1)
        fprintf(t->to, " and for %zu more", c->n_waited_for - 1);
}

/* What is explained in detail: a rank beside another one, or steps beside the usual one. */
static void put_detail(const struct term *t, const struct why_report *r)
{
    const struct job_choice *c = r->choice;
    const struct run_member *rank = &r->rank[c->rank];
    char number[READABLE_MOST], usual[READABLE_MOST];
    if (c->mode == WHY_NOTHING)
        return;
    const struct step_difference *d = &main_finding(r)->answer.difference;
    fprintf(t->to, "\n%s", term_ink(t, INK_BOLD));
    if (c->mode == WHY_RANK) {
        put_rank(t, rank);
        fprintf(t->to, ": %s a step without communication, ", readable_duration(number, d->time_ns));
        put_rank(t, &r->rank[c->reference]);
        fprintf(t->to, " %s", readable_duration(usual, d->usual_ns));
        put_waiting(t, c);
    } else {
        const bool is_drift = c->finding && c->finding->shape == SLOW_DRIFT;
        const char *where = is_drift     ? "the later half of the steps"
                            : c->finding ? run_finding_where(&c->job.run, c->finding, r->mem)
                                         : NULL;
        if (!c->finding)
            fprintf(t->to, "%s ", word_of_steps(r));
        term_text(t, where ? where : c->job.run.step[c->at], NAME_OF_USE);
        if (r->n_ranks > 1) {
            fputs(" on ", t->to);
            put_rank(t, rank);
        }
        fprintf(t->to, ": %s", readable_duration(number, d->time_ns));
        if (is_drift)
            fprintf(t->to, "%s, the earlier half %s", drift_words(r, c->finding->part),
                    readable_duration(usual, d->usual_ns));
        else if (!is_alone(r))
            fprintf(t->to, ", usual %s", readable_duration(usual, d->usual_ns));
        if (c->is_waited_for)
            put_waiting(t, c);
        else if (c->is_slow_for_all && main_finding(r)->answer.n_usual > 0)
            fputs("; the others are slow, too", t->to);
    }
    fprintf(t->to, "%s\n  ", term_ink(t, INK_END));
    term_text(t, rank->path, 0);
    fputc('\n', t->to);
    if (!is_alone(r))
        put_causes(t, r);
    else if (c->job.run.n > 1)
        fputs("  there is no usual step to compare it with\n", t->to);
    put_thread(t, r);
    put_items(t, r);
    if (d->n > 0)
        place_put_view(t, &main_finding(r)->answer.place[0], rank->path, 2);
    put_hints(t, r);
}

void why_print(const struct term *t, const struct why_report *r)
{
    put_heading(t, r);
    if (r->serving->request) {
        request_put(t, &r->serving->requests, r->serving->request, &r->serving->causes, r->rank[r->choice->rank].path);
        return;
    }
    put_utilisation(t, r);
    put_findings(t, r);
    put_detail(t, r);
    put_steps(t, r);
    put_use(t, r);
}

/* ---- for machines ---------------------------------------------------------------------------------------------- */

static json_t *us(double ns)
{
    return json_real(ns / 1000);
}

static json_t *rank_json(const struct run_member *r)
{
    return json_pack("{s:o, s:o, s:o, s:I, s:o, s:o, s:o}", "path", text_json(r->path), "rank",
                     r->has_rank ? json_integer(r->rank) : json_null(), "device",
                     r->has_device ? json_integer(r->device) : json_null(), "steps", (json_int_t)r->n, "time_us",
                     us((double)r->median_ns), "own_us", us((double)r->own_median_ns), "communication_us",
                     us((double)r->communication_median_ns));
}

static json_t *count_or_null(uint64_t n)
{
    return n > 0 ? json_integer((json_int_t)n) : json_null();
}

static json_t *steps_json(const struct why_report *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->choice->job.run.n; i++) {
        const struct job_step *s = &r->choice->job.step[i];
        json_t *one =
            json_pack("{s:o, s:o, s:I, s:I, s:b}", "step", text_json(s->name), "time_us", us((double)s->time_ns),
                      "ranks", (json_int_t)s->n_ranks, "longest", (json_int_t)s->longest, "slow", s->is_slow);
        const struct iteration *x = r->choice->job.run.iteration ? &r->choice->job.run.iteration[i] : NULL;
        json_object_set_new(one, "class", x ? json_string(iteration_class_keys[x->class_of]) : json_null());
        json_object_set_new(one, "requests", count_or_null(x ? x->requests : 0));
        json_object_set_new(one, "tokens", count_or_null(x ? x->tokens : 0));
        json_object_set_new(one, "kv", count_or_null(x ? x->kv : 0));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *or_null(bool is_known, double value)
{
    return is_known ? json_real(value) : json_null();
}

static json_t *items_json(const struct why_report *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < main_finding(r)->answer.difference.n; i++) {
        const struct step_item *m = &main_finding(r)->answer.difference.item[i];
        const char *key = step_named_key(m->named);
        json_t *one = json_pack("{s:s, s:o, s:o, s:f, s:o, s:o}", "cause", step_cause_key(m->cause), "named",
                                key ? json_string(key) : json_null(), "name",
                                key && m->named != NAMED_OUTSIDE ? text_json(m->name) : json_null(), "share",
                                share(r, m->more_ns) / 100, "more_us", us(m->more_ns), "place",
                                place_json(&main_finding(r)->answer.place[i]));
        const bool has_runs = m->before_runs > 0 || m->after_runs > 0, has_mhz = m->before_mhz > 0 && m->after_mhz > 0;
        json_object_set_new(one, "before_us", us(m->before_ns));
        json_object_set_new(one, "after_us", us(m->after_ns));
        json_object_set_new(one, "before_runs", or_null(has_runs, m->before_runs));
        json_object_set_new(one, "after_runs", or_null(has_runs, m->after_runs));
        json_object_set_new(one, "before_mhz", or_null(has_mhz, m->before_mhz));
        json_object_set_new(one, "after_mhz", or_null(has_mhz, m->after_mhz));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *thread_json(const struct step_thread_time *t)
{
    if (!t->is_known)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:f, s:f}", "processor_us", us(t->cpu_ns), "ready_us", us(t->ready_ns),
                     "blocked_us", us(t->blocked_ns), "page_faults", t->faults, "disk_faults", t->disk_faults);
}

static json_t *difference_json(const struct why_report *r)
{
    const struct step_difference *d = &main_finding(r)->answer.difference;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o}", "time_us", us(d->time_ns), "usual_us",
                     us(d->usual_ns), "more_us", us(d->more_ns), "causes", causes_json(d), "rest_us", us(d->rest_ns),
                     "items", items_json(r), "others_us", us(main_finding(r)->answer.others_ns), "others",
                     (json_int_t)main_finding(r)->answer.n_others, "compared",
                     (json_int_t)main_finding(r)->answer.n_usual, "thread_usual",
                     thread_json(&main_finding(r)->answer.thread_usual), "thread",
                     thread_json(&main_finding(r)->answer.thread));
}

static json_t *use_json(const struct step_use *u)
{
    json_t *parts = json_array();
    for (int k = 0; k < SPENT_KINDS; k++) {
        const struct use_part *p = &u->part[k];
        if (p->ns <= 0)
            continue;
        json_t *most = json_array();
        for (size_t i = 0; i < p->n; i++)
            json_array_append_new(
                most, json_pack("{s:o, s:o}", "name", text_json(p->most[i].name), "time_us", us(p->most[i].ns)));
        json_array_append_new(parts, json_pack("{s:s, s:o, s:f, s:o}", "part", use_part_key((enum spent_kind)k),
                                               "time_us", us(p->ns), "share", p->ns / u->step_ns, "most", most));
    }
    return json_pack("{s:o, s:I, s:b, s:b, s:b, s:b, s:o}", "time_us", us(u->step_ns), "steps", (json_int_t)u->n_steps,
                     "whole", u->is_whole, "host", u->is_host, "knows_waits", u->knows_waits, "by_type", u->is_by_type,
                     "parts", parts);
}

static json_t *stages_json(const struct why_report *r)
{
    const struct judged_run *stages = &r->choice->job.stages.run;
    json_t *list = json_array();
    for (size_t i = 0; stages->n_ranks > 0 && i < stages->of.n; i++)
        if (stages->of.at[i].shape == SLOW_ALWAYS)
            json_array_append_new(list, slow_json(&(struct explained_run){ .run = stages }, &stages->of.at[i], r->mem));
    return list;
}

json_t *why_json(const struct why_report *r)
{
    static const char *const mode[] = { [WHY_STEP] = "step", [WHY_RANK] = "rank" };
    const struct job_choice *c = r->choice;
    json_t *ranks = json_array();
    for (size_t i = 0; i < r->n_ranks; i++)
        json_array_append_new(ranks, rank_json(&r->rank[i]));
    json_t *report = json_pack("{s:o, s:o, s:o, s:I}", "steps", steps_json(r), "ranks", ranks, "median_us",
                               us((double)c->job.median_ns), "slow", (json_int_t)c->job.run.of.n_slow);
    json_object_set_new(report, "steps_by", text_or_null(r->rank[c->rank].steps_by));
    json_object_set_new(report, "iterations", engine_json(&r->serving->engine));
    json_object_set_new(report, "requests", requests_json(&r->serving->requests));
    json_object_set_new(report, "request",
                        r->serving->request ? request_json(r->serving->request, &r->serving->causes) : json_null());
    json_object_set_new(report, "not_read", json_integer(ranks_not_read(r)));
    json_object_set_new(report, "judged", judge_json(r->explained, r->mem));
    json_object_set_new(report, "stages", stages_json(r));
    const bool has_answer = c->mode != WHY_NOTHING;
    json_object_set_new(report, "explains", has_answer ? json_string(mode[c->mode]) : json_null());
    json_object_set_new(report, "step", c->mode == WHY_STEP ? text_json(c->job.run.step[c->at]) : json_null());
    json_object_set_new(report, "on", json_integer(c->rank));
    json_object_set_new(report, "compared_with", c->mode == WHY_RANK ? json_integer(c->reference) : json_null());
    json_object_set_new(report, "waited_for", json_boolean(has_answer && c->is_waited_for));
    json_object_set_new(report, "waited_us", has_answer && c->is_waited_for ? us((double)c->waited_ns) : json_null());
    json_object_set_new(report, "difference", has_answer ? difference_json(r) : json_null());
    json_object_set_new(report, "usual", use_json(r->use));
    json_object_set_new(report, "advice", advise_json(r->advice));
    return report;
}
