/* SPDX-License-Identifier: Apache-2.0 */
#include "view/inputs/view_inputs.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/sort.h"
#include "base/text/json_memory.h"
#include "cluster/cluster.h"
#include "cluster/modes.h"
#include "cluster/verdicts/verdicts.h"
#include "load/trace/db_reader.h"
#include "load/trace/trace_readers.h"
#include "open/recording_open.h"
#include "pipeline/rank_load.h"
#include "report/verdict_report.h"

enum { MOST_DRAWN = 8 }; /* timelines that are drawn by default */

static bool view_job_find(struct job *job, const struct view_job *j, struct error *e)
{
    bool done = job_init(job, e);
    for (size_t i = 0; done && i < j->n_paths; i++)
        done = job_find(job, j->path[i], e);
    job->load = rank_load;
    job->steps_by = j->steps_by;
    return done;
}

/* Ranks are sorted by job_complete(). */
static struct view_job_rank *rank_of(const struct view_job_answer *a, int64_t rank)
{
    const size_t at = SEARCH_FIRST_NOT(i, 0, a->ranks.n, a->ranks.at[i].rank < rank);
    return at < a->ranks.n && a->ranks.at[at].rank == rank ? &a->ranks.at[at] : NULL;
}

static void draw(struct view_job_answer *a, int64_t rank, size_t *n)
{
    struct view_job_rank *r = rank < 0 || *n >= MOST_DRAWN ? NULL : rank_of(a, rank);
    if (r && (r->is_raw || r->file) && !r->is_drawn) {
        r->is_drawn = true;
        ++*n;
    }
}

/* Marks the ranks of --ranks for drawing, as ascope cluster reads the list. False: see e. */
static bool draw_wanted(struct view_job_answer *a, const struct view_job *j, struct error *e)
{
    struct job job = { 0 };
    const bool done = view_job_find(&job, j, e) && job_complete(&job, j->wanted, e);
    for (size_t i = 0; done && i < job.ranks.n; i++) {
        struct view_job_rank *r = rank_of(a, job.ranks.at[i].rank);
        if (r)
            r->is_drawn = r->is_raw || r->file;
    }
    job_fini(&job);
    return done;
}

/* Marks the ranks of verdicts for drawing, each with one that waits for it; then the first ranks. */
static void draw_conspicuous(struct view_job_answer *a, const struct job_report *report)
{
    size_t n = 0;
    for (size_t i = 0; i < report->verdicts.n && a->ranks.n > MOST_DRAWN; i++) {
        const struct verdict *v = &report->verdicts.at[i];
        draw(a, v->rank, &n);
        draw(a, v->other, &n);
        if (v->place.collective)
            draw(a, v->place.waiting, &n);
    }
    for (size_t i = 0; i < a->ranks.n; i++)
        draw(a, a->ranks.at[i].rank, &n);
}

/* The file with the timeline of a rank without recorded data; NULL: none. */
static const char *timeline_of(const char *path, struct arena *mem)
{
    struct results_files files;
    if (chrome_is_name(path) || db_is_database(path))
        return path;
    return results_of_ranks(&files, path, mem) && files.list.n > 0 ? files.list.at[0] : NULL;
}

static bool list_ranks(struct view_job_answer *a, const struct job *job, const struct job_report *report,
                       struct arena *mem)
{
    for (size_t i = 0; i < job->ranks.n; i++) {
        struct view_job_rank *to = list_add(&a->ranks, mem);
        if (!to || !(to->path = arena_text(mem, job->ranks.at[i].path, strlen(job->ranks.at[i].path))))
            return false;
        to->rank = job->ranks.at[i].rank;
        to->is_raw = results_have_raw(to->path);
        to->file = to->is_raw ? NULL : timeline_of(to->path, mem);
    }
    for (size_t i = 0; i < report->clocks.n; i++) {
        struct view_job_rank *of = rank_of(a, report->clocks.at[i].rank);
        if (of)
            of->ahead_ns = report->clocks.at[i].ahead_ns;
    }
    return true;
}

enum view_paths view_job_look(struct view_job_answer *out, const struct view_job *j, struct arena *mem)
{
    struct job job = { 0 };
    struct error e = { 0 };
    *out = (struct view_job_answer){ 0 };
    enum view_paths are = j->n_paths == 2 ? PATHS_RUNS : PATHS_APART;
    if (view_job_find(&job, j, &e)) {
        const size_t n = job.ranks.n;
        bool is_known = n > 1;
        for (size_t i = 0; i < n; i++)
            is_known = is_known && job.ranks.at[i].rank >= 0;
        if (is_known && job_complete(&job, NULL, &e) && job.ranks.n > 1 && (j->n_paths == 1 || job.ranks.n == n))
            are = list_ranks(out, &job, &(struct job_report){ 0 }, mem) ? PATHS_JOB : are;
    }
    job_fini(&job);
    return are;
}

/* ---- data for the pages ------------------------------------------------------------------------------------------- */

/* Times on the common clock, relative to the first step: numbers of a page are exact only up to 2^53. */
struct times {
    const struct view_job_answer *a;
    int64_t base_ns;
};

static json_t *time_json(const struct times *t, int64_t ns)
{
    return json_integer((json_int_t)(ns - t->base_ns));
}

static int64_t common_ns(const struct times *t, int64_t rank, int64_t ns)
{
    const struct view_job_rank *r = rank_of(t->a, rank);
    return r ? ns - r->ahead_ns : ns;
}

static json_t *ranks_json(const struct view_job_answer *a, const struct job *job)
{
    json_t *list = json_array();
    for (size_t i = 0; i < a->ranks.n; i++) {
        const struct view_job_rank *r = &a->ranks.at[i];
        json_array_append_new(list, json_pack("{s:I, s:o, s:s, s:b, s:I}", "rank", (json_int_t)r->rank, "path",
                                              text_json(r->path), "source", rank_source_name[job->ranks.at[i].source],
                                              "is_drawn", r->is_drawn, "clock_ahead_ns", (json_int_t)r->ahead_ns));
    }
    return list;
}

static json_t *cells_json(const struct times *t, const struct job_overview *o)
{
    json_t *list = json_array();
    for (size_t i = 0; i < o->cells.n; i++) {
        const struct overview_cell *c = &o->cells.at[i];
        json_t *begin = c->has_range ? time_json(t, common_ns(t, c->rank, c->begin_ns)) : json_null();
        json_t *end = c->has_range ? time_json(t, common_ns(t, c->rank, c->end_ns)) : json_null();
        json_array_append_new(list, json_pack("[I, I, f, f, f, o, o]", (json_int_t)c->rank, (json_int_t)c->step,
                                              c->us[OVERVIEW_COMPUTING], c->us[OVERVIEW_COMMUNICATION],
                                              c->us[OVERVIEW_FREE], begin, end));
    }
    return list;
}

static json_t *groups_json(const struct job_overview *o)
{
    json_t *list = json_array();
    for (size_t i = 0; i < o->groups.n; i++) {
        json_t *ranks = json_array();
        for (size_t k = 0; k < o->groups.at[i].n; k++)
            json_array_append_new(ranks, json_integer(o->groups.at[i].rank[k]));
        json_array_append_new(list, json_pack("{s:o, s:o}", "name", text_json(o->groups.at[i].name), "ranks", ranks));
    }
    return list;
}

static json_t *links_json(const struct job_overview *o)
{
    json_t *list = json_array();
    for (size_t i = 0; i < o->links.n; i++) {
        const struct overview_link *l = &o->links.at[i];
        json_array_append_new(list, json_pack("{s:o, s:I, s:I, s:f, s:f}", "transport", text_json(l->transport), "src",
                                              (json_int_t)l->src, "dst", (json_int_t)l->dst, "mb", l->mb, "ms", l->ms));
    }
    return list;
}

/* For each verdict, the collective at which others wait, or null. */
static json_t *places_json(const struct times *t, const struct job_report *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->verdicts.n; i++) {
        const struct verdict_place *p = &r->verdicts.at[i].place;
        json_array_append_new(list, p->collective
                                        ? json_pack("{s:o, s:o, s:o, s:I}", "collective", text_json(p->collective),
                                                    "begin", time_json(t, p->begin_ns), "end", time_json(t, p->end_ns),
                                                    "waiting_rank", (json_int_t)p->waiting)
                                        : json_null());
    }
    return list;
}

static const char *answer_text(const struct view_job_answer *a, const struct job *job, const struct cluster_result *r,
                               struct arena *mem)
{
    const struct job_overview *o = r->report.overview;
    struct times t = { a, 0 };
    bool has_base = false;
    for (size_t i = 0; i < o->cells.n; i++) {
        const struct overview_cell *c = &o->cells.at[i];
        const int64_t ns = common_ns(&t, c->rank, c->begin_ns);
        if (c->has_range && (!has_base || ns < t.base_ns)) {
            t.base_ns = ns;
            has_base = true;
        }
    }
    for (size_t i = 0; !has_base && i < r->report.verdicts.n; i++)
        t.base_ns = r->report.verdicts.at[i].place.collective ? r->report.verdicts.at[i].place.begin_ns : t.base_ns;
    json_t *steps = json_array(), *notes = json_array();
    for (size_t i = 0; i < o->steps.n; i++)
        json_array_append_new(steps, text_json(o->steps.at[i]));
    for (size_t i = 0; i < job->notes.n; i++)
        json_array_append_new(notes, json_pack("{s:o, s:b}", "text", text_json(job->notes.at[i].text), "is_loss",
                                               job->notes.at[i].is_loss));
    char base[24];
    snprintf(base, sizeof base, "%lld", (long long)t.base_ns);
    json_t *all = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "base_ns", base, "job_ranks",
                            ranks_json(a, job), "steps", steps, "cells", cells_json(&t, o), "groups", groups_json(o),
                            "links", links_json(o), "places", places_json(&t, &r->report), "notes", notes);
    if (all)
        verdicts_json(&r->report, all);
    char *text = all ? json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    const char *kept = text ? arena_text(mem, text, strlen(text)) : NULL;
    free(text);
    json_decref(all);
    return kept;
}

bool view_job_read(struct view_job_answer *out, const struct view_job *j, struct arena *mem, struct error *e)
{
    const struct mode *const wanted[] = { mode_find("verdicts", strlen("verdicts")), &mode_overview };
    const struct cluster_options options = { 0 };
    const struct cluster_request request = { .mode = wanted,
                                             .n_modes = sizeof wanted / sizeof *wanted,
                                             .options = &options,
                                             .n_threads = j->n_threads,
                                             .memory_bytes = j->memory_bytes };
    struct job job = { 0 };
    struct cluster_result result = { 0 };
    *out = (struct view_job_answer){ 0 };
    bool done = view_job_find(&job, j, e) && job_complete(&job, NULL, e) && cluster_run(&job, &request, &result, e);
    if (done && result.n_ranks == 0)
        done = error_set(e, FAULT_ASKED, "%s: no rank could be read", j->path[0]);
    for (size_t i = 0; i < job.notes.n; i++)
        out->is_lossy |= job.notes.at[i].is_loss;
    done = done && (list_ranks(out, &job, &result.report, mem) || error_no_memory(e, j->path[0]));
    if (done && j->wanted)
        done = draw_wanted(out, j, e);
    else if (done)
        draw_conspicuous(out, &result.report);
    if (done && !(out->json = answer_text(out, &job, &result, mem)))
        done = error_no_memory(e, j->path[0]);
    cluster_result_fini(&result);
    job_fini(&job);
    return done;
}
