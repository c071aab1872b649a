/* SPDX-License-Identifier: Apache-2.0 */
/* mode_verdicts.c - what is wrong with a job, and its critical path: tables, and the first screen of `ascope
 * cluster`. */
#include "cluster/modes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/run/collective_match.h"
#include "base/process/robust.h"
#include "cluster/job/job.h"
#include "cluster/rank/summary_parts.h"
#include "cluster/results/recipe.h"
#include "cluster/verdicts/verdicts.h"

enum { SHOWN = 6, LEAST_ENDS = 3 };
static const double LEAST_CLOCK_NS = 20000, CLOCK_SPREADS = 5; /* docs/cluster.md */

static const struct result_column verdict_columns[] = {
    COLUMN("kind", "TEXT"),  COLUMN("rankId", "INTEGER"), COLUMN("otherRank", "INTEGER"), COLUMN("step", "TEXT"),
    COLUMN("ratio", "REAL"), COLUMN("ms", "REAL"),        COLUMN("text", "TEXT"),
};
static const struct result_column path_columns[] = {
    COLUMN("step", "TEXT"),          COLUMN("kind", "TEXT"),       COLUMN("rankId", "INTEGER"),
    COLUMN("name", "TEXT"),          COLUMN("groupName", "TEXT"),  COLUMN("count", "INTEGER"),
    COLUMN("durationNs", "INTEGER"), COLUMN("savedNs", "INTEGER"),
};

struct verdicts_state {
    struct groups groups;
    struct collective_match match;
    struct step_verdicts steps;
    struct link_verdicts links;
    struct critical_path path;
    struct keys step_ids;
    LIST(int64_t) step_ns; /* by step_ids: the longest on any rank */
    size_t n_mismatches;
    struct job_report *report;
};

static void *verdicts_begin(struct mode_context *c)
{
    struct verdicts_state *const s = arena_take(c->mem, 1, sizeof *s);
    if (s)
        *s = (struct verdicts_state){ .groups = { .names = c->names, .mem = c->mem },
                                      .match = { .names = c->names, .mem = c->mem },
                                      .steps = { .names = c->names, .mem = c->mem },
                                      .links = { .names = c->names, .mem = c->mem },
                                      .path = { .names = c->names, .mem = c->mem },
                                      .report = c->report };
    return s;
}

static bool verdicts_add_steps(struct verdicts_state *s, const struct rank_steps *steps, struct arena *mem)
{
    for (size_t i = 0; i < steps->n; i++) {
        const uint32_t at = keys_add(&s->step_ids, (uint64_t)steps->id[i], mem);
        const int64_t ns = steps->end_ns[i] - steps->begin_ns[i];
        if (at == KEYS_NO_MEMORY || (at == s->step_ns.n && !list_add(&s->step_ns, mem)))
            return false;
        s->step_ns.at[at] = ns > s->step_ns.at[at] ? ns : s->step_ns.at[at];
    }
    return true;
}

/* The step whose critical path is reported: --step N, or the slowest one by the devices' times, or else by the
 * host's. */
static int64_t step_wanted(const struct verdicts_state *s, const struct mode_context *c)
{
    const char *const slowest = s->steps.slowest;
    size_t most = 0;
    if (c->options->has_step)
        return c->options->step;
    if (slowest) {
        char *end;
        const int64_t id = strtoll(slowest, &end, 10);
        if (*slowest && !*end && keys_find(&s->step_ids, (uint64_t)id) != KEYS_NONE)
            return id;
    }
    for (size_t i = 1; i < s->step_ns.n; i++)
        most = s->step_ns.at[i] > s->step_ns.at[most] ? i : most;
    return s->step_ns.n > 0 ? (int64_t)s->step_ids.key.at[most] : INT64_MIN;
}

static bool verdicts_add(void *state, struct mode_context *c, const struct rank_summary *r)
{
    struct verdicts_state *const s = state;
    uint32_t *const id = arena_take(c->scratch, r->collectives.ops.n + 1, sizeof *id);
    const bool done = id && groups_add(&s->groups, r) && summary_match(&s->match, r, id) &&
                      step_verdicts_add(&s->steps, r, c->options) && link_verdicts_add(&s->links, r, c->options) &&
                      verdicts_add_steps(s, &r->steps, c->mem) &&
                      critical_path_add(&s->path, r, (uint32_t)s->match.rank.n - 1, id);
    if (done && critical_path_is_full(&s->path))
        critical_path_keep(&s->path, step_wanted(s, c));
    return done;
}

static bool report_mismatch(void *state, int64_t rank, const char *text)
{
    struct verdicts_state *const s = state;
    return s->n_mismatches++ >= SHOWN ||
           verdict_add(s->report,
                       &(struct verdict){ .kind = VERDICT_COLLECTIVES, .text = text, .rank = rank, .other = -1 });
}

static bool add_missing(struct verdicts_state *s, int64_t rank, const char *text)
{
    return verdict_add(s->report,
                       &(struct verdict){ .kind = VERDICT_COLLECTIVES, .text = text, .rank = rank, .other = -1 });
}

/* Reports ranks that are members of groups but were not read. */
static bool report_missing(struct verdicts_state *s, const struct mode_context *c)
{
    struct keys known = { 0 };
    size_t n_missing = 0;
    bool done = true;
    char text[160];
    for (size_t i = 0; done && i < s->match.rank.n; i++)
        done = keys_add(&known, (uint64_t)s->match.rank.at[i], c->mem) != KEYS_NO_MEMORY;
    for (size_t i = 0; done && !c->job->is_filtered && i < s->groups.noted.n; i++)
        for (size_t k = 0; done && k < s->groups.noted.at[i].n_global; k++) {
            const int64_t rank = s->groups.noted.at[i].global[k];
            if (keys_find(&known, (uint64_t)rank) != KEYS_NONE)
                continue;
            done = keys_add(&known, (uint64_t)rank, c->mem) != KEYS_NO_MEMORY;
            if (n_missing++ >= SHOWN)
                continue;
            snprintf(text, sizeof text,
                     "rank %lld is in groups of others but was not read; what they wait for it is not seen",
                     (long long)rank);
            done = done && add_missing(s, rank, text);
        }
    if (!done || n_missing <= SHOWN)
        return done;
    snprintf(text, sizeof text, "and %zu more %s of groups of others that %s not read", n_missing - SHOWN,
             n_missing - SHOWN == 1 ? "rank" : "ranks", n_missing - SHOWN == 1 ? "was" : "were");
    return add_missing(s, -1, text);
}

/* Reports clocks whose offset is larger than the spread of the ends of collectives. */
static bool report_clocks(struct verdicts_state *s, const struct mode_context *c)
{
    const size_t n = s->match.rank.n;
    double *const spread = arena_take(c->mem, n + 1, sizeof *spread);
    size_t n_spreads = 0, n_shown = 0;
    uint32_t most_ends = 0;
    bool done = spread != NULL;
    for (size_t i = 0; done && i < n; i++)
        if (s->match.clock.at[i].n > 0) {
            spread[n_spreads++] = s->match.clock.at[i].spread_ns;
            most_ends = s->match.clock.at[i].n > most_ends ? s->match.clock.at[i].n : most_ends;
        }
    const double usual = middle_of(spread, n_spreads).median;
    for (size_t i = 0; done && i < n; i++) {
        const struct rank_clock_error *const k = &s->match.clock.at[i];
        const double ns = fabs((double)k->ahead_ns), own = k->n > 0 ? k->spread_ns : usual;
        const uint32_t n_ends =
            k->n > 0 ? k->n : most_ends; /* others are compared with a rank that has none of its own */
        char text[240], others[40] = "the others";
        if (n_ends < LEAST_ENDS || ns <= LEAST_CLOCK_NS || ns <= CLOCK_SPREADS * own || n_shown++ >= SHOWN)
            continue;
        if (n == 2) /* which of both is wrong is unknown */
            snprintf(others, sizeof others, "that of rank %lld", (long long)s->match.rank.at[1 - i]);
        snprintf(
            text, sizeof text,
            "clock of rank %lld is %.3f ms %s %s, by the ends of its collectives (spread %.3f ms); the critical path "
            "is "
            "corrected for it",
            (long long)s->match.rank.at[i], ns / 1e6, k->ahead_ns > 0 ? "ahead of" : "behind", others, own / 1e6);
        done = verdict_add(s->report, &(struct verdict){ .kind = VERDICT_CLOCK,
                                                         .text = text,
                                                         .rank = s->match.rank.at[i],
                                                         .other = -1,
                                                         .ms = (double)k->ahead_ns / 1e6 });
    }
    return done;
}

/* Finds the collective in which another rank waits longest for the rank of a verdict. */
static bool find_place(const struct verdicts_state *s, struct verdict *v)
{
    const struct matched *most = NULL;
    for (size_t i = 0; i < s->match.list.n; i++) {
        const struct matched *const m = &s->match.list.at[i];
        if (m->n < 2 || m->is_p2p || s->match.rank.at[m->last] != v->rank)
            continue;
        char step[24];
        snprintf(step, sizeof step, "%lld", (long long)m->step);
        if (v->step && strcmp(v->step, step) != 0)
            continue;
        if (!most || m->most_ns - m->least_ns > most->most_ns - most->least_ns)
            most = m;
    }
    if (!most)
        return true;
    const int64_t end_ns = most->first_end_ns - s->match.clock.at[most->first].ahead_ns;
    v->place = (struct verdict_place){ .collective = arena_text(s->report->mem, names_text(s->match.names, most->name),
                                                                names_len(s->match.names, most->name)),
                                       .begin_ns = end_ns - most->most_ns,
                                       .end_ns = end_ns,
                                       .waiting = s->match.rank.at[most->longest] };
    return v->place.collective != NULL;
}

static bool add_places(struct verdicts_state *s)
{
    bool done = true;
    for (size_t i = 0; done && i < s->report->verdicts.n; i++) {
        struct verdict *const v = &s->report->verdicts.at[i];
        if ((v->kind == VERDICT_SLOW_RANK || v->kind == VERDICT_LATE_HOST) && v->rank >= 0)
            done = find_place(s, v);
    }
    for (size_t i = 0; done && i < s->match.rank.n; i++) {
        struct job_clock *const clock = list_add(&s->report->clocks, s->report->mem);
        done = clock != NULL;
        if (done)
            *clock = (struct job_clock){ s->match.rank.at[i], s->match.clock.at[i].ahead_ns };
    }
    return done;
}

static struct cell text_or_na(const char *text)
{
    return text ? cell_text(text) : cell_na();
}

static struct cell rank_or_na(int64_t rank)
{
    return rank < 0 ? cell_na() : cell_int(rank);
}

static bool tables(const struct job_report *r, struct results *out)
{
    struct grid verdicts = { .n_columns = sizeof verdict_columns / sizeof *verdict_columns, .mem = out->mem };
    struct grid path = { .n_columns = sizeof path_columns / sizeof *path_columns, .mem = out->mem };
    for (size_t i = 0; i < r->verdicts.n; i++) {
        const struct verdict *const v = &r->verdicts.at[i];
        grid_row(&verdicts, (const struct cell[]){
                                cell_text(verdict_names[v->kind]), rank_or_na(v->rank), rank_or_na(v->other),
                                text_or_na(v->step), cell_real(v->ratio), cell_real(v->ms),
                                cell_text(v->about ? arena_printf(out->mem, "%s; %s", v->text, v->about) : v->text) });
    }
    for (size_t i = 0; i < r->parts.n; i++) {
        const struct path_part *const p = &r->parts.at[i];
        grid_row(&path, (const struct cell[]){ text_or_na(r->path_step), cell_text(path_names[p->kind]),
                                               rank_or_na(p->rank), cell_text(p->name), text_or_na(p->group),
                                               cell_uint(p->n), cell_int(p->ns), cell_int(p->saved_ns) });
    }
    return recipe_table(out, "Verdicts", "verdicts.csv", RECIPE_COLUMNS(verdict_columns), &verdicts) &&
           recipe_table(out, "CriticalPath", "critical_path.csv", RECIPE_COLUMNS(path_columns), &path);
}

/* Without data of links no link can be slow: a note says that none was compared. */
static bool note_unknown_links(const struct verdicts_state *s, const struct mode_context *c, struct results *out)
{
    return s->links.uses.n > 0 || s->match.list.n == 0 || c->options->has_step ||
           results_note(out,
                        "%s: links are not compared: what the collectives moved is not known (databases of msprof: "
                        "ascope communication DIR; recordings: profiler_level Level1 or higher)",
                        c->mode->name);
}

static bool verdicts_finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    struct verdicts_state *const s = state;
    s->report->is_judged = true;
    return (note_unknown_links(s, c, out) && match_finish(&s->match) && match_report(&s->match, report_mismatch, s) &&
            report_missing(s, c) && report_clocks(s, c) &&
            step_verdicts_finish(&s->steps, &s->groups, &s->match, s->report) &&
            link_verdicts_finish(&s->links, &s->groups, s->report) &&
            critical_path_finish(&s->path, &s->match, &s->groups, step_wanted(s, c), s->report) && add_places(s) &&
            tables(s->report, out)) ||
           error_no_memory(e, c->mode->name);
}

const struct mode mode_verdicts = {
    .name = "verdicts",
    .class_name = "Verdicts",
    .about = "what is slow and why, and the critical path through all ranks",
    .uses = RANK_STEPS | RANK_STEP_TRACE | RANK_COMM_TABLES | RANK_COMM_MATRIX | RANK_COLLECTIVES | RANK_TASKS |
            RANK_CALLS | RANK_OPS,
    .begin = verdicts_begin,
    .add = verdicts_add,
    .finish = verdicts_finish,
};
