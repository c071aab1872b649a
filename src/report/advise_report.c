/* SPDX-License-Identifier: Apache-2.0 */
#include "report/advise_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/text/json_memory.h"
#include "report/judge_report.h"
#include "report/place_report.h"

enum { PLACE_INDENT = 13 };

size_t advise_n_found(const struct advise_report *r)
{
    size_t n = 0;
    while (n < n_advise_checks && r->advice[n].finding.state == CHECK_FOUND)
        n++;
    return n;
}

const char *advice_change(const struct advice *a)
{
    return a->check->change[a->is_gpu];
}

const char *advice_needs(const struct advice *a)
{
    return a->check->needs[a->is_gpu];
}

bool advice_is_for(const struct advice *a)
{
    return a->check->change[a->is_gpu] != NULL;
}

const char *advise_rank_text(const struct advise_report *r, uint32_t rank, char out[RANK_TEXT])
{
    out[0] = '\0';
    if (rank == NO_ROW || r->n_ranks < 2)
        return out;
    const struct run_member *one = &r->rank[rank].rank;
    if (one->has_rank)
        snprintf(out, RANK_TEXT, "rank %" PRId64, one->rank);
    else if (one->has_device)
        snprintf(out, RANK_TEXT, "device %u", one->device);
    else
        snprintf(out, RANK_TEXT, "directory %u", rank + 1);
    return out;
}

const char *advice_saves(const struct advise_report *r, const struct advice *a, char out[SAVES_TEXT])
{
    const struct finding *f = &a->finding;
    char gain[READABLE_MOST], all[READABLE_MOST];
    if (f->where)
        snprintf(out, SAVES_TEXT, "costs %s %.80s (%.1f %% of the run)", readable_duration(gain, finding_lost_ns(f)),
                 f->where, 100 * a->share);
    else
        snprintf(out, SAVES_TEXT, "saves up to %s of %s%s (%.1f %%)", readable_duration(gain, f->gain_ns),
                 readable_duration(all, f->of_ns), r->rank[a->rank].rank.n > 0 ? " a step" : "", 100 * a->share);
    if (f->more) {
        const size_t n = strlen(out);
        snprintf(out + n, SAVES_TEXT - n, ", and %s more %.80s", readable_duration(gain, f->more_ns), f->more);
    }
    return out;
}

static void put_advice(const struct term *t, const struct advise_report *r, const struct advice *a, size_t number)
{
    char saves[SAVES_TEXT], rank[RANK_TEXT];
    const struct run_member *of = &r->rank[a->rank].rank;
    fprintf(t->to, "\n%s%zu. %s: ", term_ink(t, INK_BOLD), number, a->check->title);
    term_text(t, advice_saves(r, a, saves), 0);
    fputs(term_ink(t, INK_END), t->to);
    if (*advise_rank_text(r, a->rank, rank))
        fprintf(t->to, " on %s%s", rank, a->n_ranks > 1 ? ", the worst" : "");
    if (a->n_ranks > 1)
        fprintf(t->to, "; %zu of %zu ranks are affected", a->n_ranks, r->n_ranks);
    fprintf(t->to, "\n   found:  ");
    term_text(t, a->finding.found ? a->finding.found : "", 0);
    fputc('\n', t->to);
    for (size_t i = 0; i < a->finding.n; i++) {
        const struct evidence *e = &a->finding.evidence[i];
        fputs("           ", t->to);
        term_text(t, e->text, 0);
        fputc('\n', t->to);
        place_put(t, &e->place, PLACE_INDENT);
    }
    fputs("   change: ", t->to);
    fputs(advice_change(a), t->to);
    fputs("\n   where:  ", t->to);
    term_text(t, of->path, 0);
    fputc('\n', t->to);
}

/* A line for each of the first findings, so that all of them are on the first screen. Not those that the caller reports
 * itself, as verdicts with their causes: about slow steps, about ranks. */
static size_t put_short(const struct term *t, const struct advise_report *r, size_t number, bool has_steps,
                        bool has_ranks)
{
    enum { SHORT = 6 };
    const size_t n_found = advise_n_found(r);
    size_t n = 0;
    for (size_t i = 0; i < n_found; i++) {
        const struct advice *a = &r->advice[i];
        char saves[SAVES_TEXT];
        if (a->finding.is_verdict && (a->check->run_job ? has_ranks : has_steps))
            continue;
        if (n++ < SHORT) {
            fprintf(t->to, "  %zu. %s: ", ++number, a->check->title);
            term_text(t, advice_saves(r, a, saves), 0);
            fputc('\n', t->to);
        } else {
            fprintf(t->to, "%s%s", n == SHORT + 1 ? "     smaller: " : ", ", a->check->title);
        }
    }
    fputs(n > SHORT ? "\n" : "", t->to);
    return number;
}

size_t advise_put_short(const struct term *t, const struct advise_report *r, size_t number, bool has_ranks)
{
    const size_t last = put_short(t, r, number, true, has_ranks);
    if (last > number)
        fputs("     ascope advise has the evidence and what to change\n", t->to);
    return last;
}

/* The next check, from `at` on, that lacks what `like` needs; n_advise_checks: none. */
static size_t next_unrecorded(const struct advise_report *r, size_t at, const char *like)
{
    while (at < n_advise_checks &&
           (r->advice[at].finding.state != CHECK_UNRECORDED || strcmp(advice_needs(&r->advice[at]), like) != 0))
        at++;
    return at;
}

/* Checks with the same need are one line: "small_packets, slow_link: needs collectives ...". */
static void put_unrecorded(const struct term *t, const struct advise_report *r)
{
    const char *heading = "\nnot checked, because it was not recorded:\n";
    for (size_t i = 0; i < n_advise_checks; i++) {
        const char *const needs = advice_needs(&r->advice[i]);
        if (next_unrecorded(r, 0, needs) != i)
            continue;
        fprintf(t->to, "%s  %s", heading, r->advice[i].check->key);
        heading = "";
        for (size_t k = i; (k = next_unrecorded(r, k + 1, needs)) < n_advise_checks;)
            fprintf(t->to, ", %s", r->advice[k].check->key);
        fprintf(t->to, ": needs %s\n", needs);
    }
}

void advise_print(const struct term *t, const struct advise_report *r)
{
    const size_t n_found = advise_n_found(r);
    if (r->run)
        judge_put(t, r->run, 0, r->mem);
    size_t n[CHECK_STATES] = { 0 };
    for (size_t i = 0; i < n_advise_checks; i++)
        n[r->advice[i].finding.state]++;
    /* What each step spends alike is how the program is written, and no fault of this run. */
    bool is_usual = r->rank->rank.n > 0 && r->run && run_findings(r->run->run) == 0;
    for (size_t i = 0; i < n_found; i++)
        is_usual = is_usual && !r->advice[i].finding.where && !r->advice[i].finding.more;
    if (n_found == 0)
        fputs(n[CHECK_FINE] > 0 ? "nothing found that would save 3 % of a step" : "nothing could be checked", t->to);
    else
        fprintf(t->to, "%zu %s%s%s, by estimated gain; gains may overlap and do not add up", n_found,
                is_usual ? "way" : "finding", n_found == 1 ? "" : "s", is_usual ? " to make each step shorter" : "");
    fprintf(t->to, " (%zu checks, %zu fine", n_advise_checks, n[CHECK_FINE]);
    if (n[CHECK_ELSEWHERE] > 0)
        fprintf(t->to, ", %zu not applicable", n[CHECK_ELSEWHERE]);
    fputs(")\n", t->to);
    steps_by_put(t, r->n_ranks > 0 ? r->rank[0].rank.steps_by : NULL);
    if (n_found > 2)
        put_short(t, r, 0, false, false);
    for (size_t i = 0; i < n_found; i++)
        put_advice(t, r, &r->advice[i], i + 1);
    put_unrecorded(t, r);
    if (r->page) {
        fputs("\nwritten to ", t->to);
        term_text(t, r->page, 0);
        fputc('\n', t->to);
    }
}

/* ---- for machines ---------------------------------------------------------------------------------------------- */

static json_t *evidence_json(const struct finding *f)
{
    json_t *list = json_array();
    for (size_t i = 0; i < f->n; i++) {
        const struct evidence *e = &f->evidence[i];
        json_array_append_new(list, json_pack("{s:o, s:f, s:o}", "text", text_json(e->text), "gain_us", e->ns / 1000,
                                              "place", place_json(&e->place)));
    }
    return list;
}

json_t *advise_json(const struct advise_report *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < advise_n_found(r); i++) {
        const struct advice *a = &r->advice[i];
        const struct run_member *of = &r->rank[a->rank].rank;
        json_t *one =
            json_pack("{s:s, s:s, s:o, s:o, s:f, s:f, s:I}", "check", a->check->key, "title", a->check->title, "rank",
                      of->has_rank ? json_integer(of->rank) : json_null(), "path", text_json(of->path), "gain_us",
                      a->finding.gain_ns / 1000, "share", a->share, "ranks", (json_int_t)a->n_ranks);
        json_object_set_new(one, "startup_steps", json_integer((json_int_t)r->rank[a->rank].n_startup));
        json_object_set_new(one, "once", text_or_null(a->finding.once));
        json_object_set_new(one, "where", text_or_null(a->finding.where));
        json_object_set_new(one, "lost_us", json_real(finding_lost_ns(&a->finding) / 1000));
        json_object_set_new(one, "more_us", json_real(a->finding.more_ns / 1000));
        json_object_set_new(one, "more", text_or_null(a->finding.more));
        json_object_set_new(one, "found", text_json(a->finding.found ? a->finding.found : ""));
        json_object_set_new(one, "change", json_string(advice_change(a)));
        json_object_set_new(one, "evidence", evidence_json(&a->finding));
        json_array_append_new(list, one);
    }
    return list;
}

json_t *advise_checks_json(const struct advise_report *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n_advise_checks; i++) {
        const struct advice *const a = &r->advice[i];
        if (advice_is_for(a))
            json_array_append_new(list,
                                  json_pack("{s:s, s:s, s:s, s:s}", "check", a->check->key, "title", a->check->title,
                                            "state", check_state_key(a->finding.state), "needs", advice_needs(a)));
    }
    return list;
}
