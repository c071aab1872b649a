/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/ascending.h"
#include "cli/commands.h"

#include <ctype.h>
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/file.h"
#include "base/files/inside.h"
#include "base/files/outdir.h"
#include "base/memory/large_memory.h"
#include "base/process/pool.h"
#include "base/process/progress.h"
#include "base/text/framework_names.h"
#include "base/text/json_memory.h"
#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "cli/options/work.h"
#include "open/run_explain.h"
#include "pipeline/collection_write.h"
#include "pipeline/rank_load.h"
#include "report/judge_report.h"
#include "report/rank_table.h"
#include "report/term.h"

enum { SHOWN_WHOLE = 4 }; /* more directories than this get one line each */

/* The result of one directory, kept until those before it have been printed. */
struct directory_report {
    enum exit_status status;
    char *output, *complaints; /* for stdout and stderr */
    json_t *json;
    struct rank_row rank; /* of a collection, if has_row */
    bool has_row;
    struct arena *mem;     /* of its steps */
    bool is_ended, is_cut; /* is_cut: a part is missing for want of memory */
};

struct analyse_analysis {
    struct arguments *a;
    struct inputs inputs;
    struct directory_report *report;  /* one per input */
    size_t n_collections;             /* of frameworks: they are ranks of a job */
    bool has_lines;                   /* print one line per directory instead of its summary */
    struct progress progress, *shown; /* shown: receives the stages of the only directory; NULL: there are several */
    pthread_mutex_t lock;             /* protects the fields below, stdout and stderr */
    size_t n_shown, n_ended;
    struct results_tally tally;
};

/* The captured output of one directory, while others are analysed. */
struct analyse_captured {
    FILE *out, *err;
    char *out_text, *err_text;
    size_t out_len, err_len;
};

static bool captured_open(struct analyse_captured *v)
{
    v->out = open_memstream(&v->out_text, &v->out_len);
    v->err = v->out ? open_memstream(&v->err_text, &v->err_len) : NULL;
    return v->err != NULL;
}

/* False: the output is incomplete for want of memory. */
static bool captured_close(struct analyse_captured *v)
{
    const bool is_whole = v->out && v->err && !ferror(v->out) && !ferror(v->err);
    const bool out_is_closed = !v->out || fclose(v->out) == 0, err_is_closed = !v->err || fclose(v->err) == 0;
    return is_whole && out_is_closed && err_is_closed && v->out_text && v->err_text;
}

static enum exit_status status_of(const struct account *a, const struct losses *lost)
{
    return account_is_lossy(a, lost) ? STATUS_LOSSES : STATUS_DONE;
}

/* The rank in the name profiler_info_N.json of a directory, for the name of its summary; -1: none. */
static int64_t rank_at(const char *path)
{
    static const char before[] = "profiler_info_";
    int64_t rank = -1;
    int why = 0;
    DIR *dir = inside_list(path);
    for (const char *name; dir && (name = dir_next(dir, &why));) {
        const char *digits = name + strlen(before);
        if (strncmp(name, before, strlen(before)) != 0 || !isdigit((unsigned char)*digits))
            continue;
        char *end;
        const int64_t number = strtoll(digits, &end, 10);
        if (strcmp(end, ".json") == 0 && (rank < 0 || number < rank))
            rank = number;
    }
    if (dir)
        closedir(dir);
    return rank;
}

/* Writes only the summary of the rank, unless it is up to date. */
static void summarise(struct analyse_analysis *n, const struct input *input, struct directory_report *t,
                      const struct term *term, FILE *err)
{
    const struct output_options *o = &n->a->options;
    struct error e = { 0 };
    struct arena *mem = arena_new();
    const char *path = mem ? summary_path(input->path, o->out_dir, rank_at(input->path), mem) : NULL;
    const uint64_t source = summary_source(input->path);
    int code = 0;
    const bool is_current = path && summary_is_current(path, source, &code);
    bool done = is_current;
    if (!path)
        error_no_memory(&e, input->path);
    else if (!is_current)
        done = (!o->out_dir ||
                (outdir_make(o->out_dir, &e) &&
                 outdir_make_inside(arena_printf(mem, "%.*s", (int)(strrchr(path, '/') - path), path), &e))) &&
               summary_of_path(input->path, o, source, path, &code, &e);
    t->status = !done ? STATUS_NOTHING : code == 0 ? STATUS_DONE : STATUS_LOSSES;
    if (!done)
        complain_to(err, "%s", e.text);
    else if (code != 0)
        complain_to(err, "%s: analysed with losses; ascope analyse without --summary lists them", input->path);
    if (n->a->json)
        t->json = done ? json_pack("{s:o, s:o, s:b}", "path", text_json(input->path), "summary", text_json(path),
                                   "is_current", is_current)
                       : json_pack("{s:o, s:o}", "path", text_json(input->path), "error", text_json(e.text));
    else if (done && !n->a->quiet) {
        term_text(term, path, 0);
        fputs(is_current ? " (up to date)\n" : "\n", term->to);
    }
    arena_free(mem);
}

static void analyse_collection(struct analyse_analysis *n, const struct input *input, struct directory_report *t,
                               const struct term *term, FILE *err)
{
    struct collection_result r = { 0 };
    struct error e = { 0 };
    if (collection_export(input->kind, input->path, &n->a->options, n->shown, &r, &e)) {
        t->status = status_of(&r.account, &r.collection.lost);
        complain_problems(err, input->path, &r.account);
        const struct step_choice chosen = { .first = r.part ? (uint64_t)r.part->first : 0,
                                            .last = r.part ? (uint64_t)r.part->last : 0 };
        const struct step_choice *choice = r.part ? &chosen : NULL;
        const bool is_of_job = n->n_collections > 1;
        if (n->a->json)
            t->json = collection_summary_json(n->a, choice, &r, is_of_job);
        else if (!n->has_lines && !collection_summary_print(term, n->a, choice, &r, is_of_job))
            t->is_cut = true;
        t->mem = is_of_job ? arena_new() : NULL;
        t->has_row = t->mem && rank_row_of(&t->rank, &r.collection, t->mem);
        t->is_cut |= is_of_job && !t->has_row;
    } else {
        t->status = STATUS_NOTHING;
        complain_failed(err, &e, &r.collection.lost);
        if (n->a->json)
            t->json = json_pack("{s:o, s:o}", "path", text_json(input->path), "error", text_json(e.text));
    }
    collection_result_free(&r);
}

/* Writes the summary of the rank after other results, which are kept if it fails. */
static void summarise_too(struct analyse_analysis *n, const struct input *input, struct directory_report *t, FILE *err)
{
    struct directory_report own = { 0 };
    struct term term;
    term_init(&term, err);
    summarise(n, input, &own, &term, err);
    json_decref(own.json);
    if (own.status == STATUS_NOTHING)
        t->status = STATUS_LOSSES;
}

static void analyse_prof(struct analyse_analysis *n, const struct input *input, struct directory_report *t,
                         const struct term *term, FILE *err)
{
    const char *path = input->path;
    char names[FRAMEWORK_PATTERNS];
    struct result r = { 0 };
    struct error e = { 0 };
    if (n->a->options.has_steps)
        error_set(&e, FAULT_ASKED,
                  "%s: --steps applies to %s directories only; use ascope export with --model-id and --iteration-id",
                  path, framework_patterns(names));
    if (e.fault == FAULT_NONE && prof_export(path, &n->a->options, n->shown, &r, &e)) {
        t->status = status_of(&r.account, &r.profile.lost);
        complain_problems(err, path, &r.account);
        if (n->a->json)
            t->json = summary_json(n->a, &r);
        else if (!summary_print(term, n->a, &r))
            t->is_cut = true;
    } else {
        t->status = STATUS_NOTHING;
        complain_failed(err, &e, &r.profile.lost);
        if (n->a->json)
            t->json = json_pack("{s:o, s:o}", "path", text_json(path), "error", text_json(e.text));
    }
    result_free(&r);
}

/* Prints results in the order of the list, not of completion: each waits for those before it. */
static void report_in_order(struct analyse_analysis *n)
{
    for (; n->n_shown < n->inputs.list.n && n->report[n->n_shown].is_ended; n->n_shown++) {
        struct directory_report *t = &n->report[n->n_shown];
        if (t->is_cut) {
            complain_no_memory(n->inputs.list.at[n->n_shown].path);
            t->status = t->status == STATUS_DONE ? STATUS_LOSSES : t->status;
        }
        progress_hold();
        if (t->complaints)
            fputs(t->complaints, stderr);
        if (t->output && *t->output) {
            if (n->n_shown > 0 && !n->has_lines)
                putchar('\n');
            fputs(t->output, stdout);
            fflush(stdout);
        }
        progress_release();
        free(t->output);
        free(t->complaints);
        t->output = t->complaints = NULL;
        n->tally.n_done += t->status == STATUS_DONE;
        n->tally.n_lossy += t->status == STATUS_LOSSES;
        n->tally.n_failed += t->status == STATUS_NOTHING;
    }
}

static void run_one(void *context, size_t i)
{
    struct analyse_analysis *n = context;
    const struct input *input = &n->inputs.list.at[i];
    struct directory_report *t = &n->report[i];
    struct analyse_captured v = { 0 };
    struct term term;
    term_init(&term, stdout);
    t->status = STATUS_NOTHING;
    if (captured_open(&v)) {
        term.to = v.out;
        recover_first(n->a, input->path, v.err);
        if (n->a->summary && !n->a->export_type)
            summarise(n, input, t, &term, v.err);
        else
            (input->kind ? analyse_collection : analyse_prof)(n, input, t, &term, v.err);
        if (n->a->summary && n->a->export_type && t->status != STATUS_NOTHING)
            summarise_too(n, input, t, v.err);
    }
    t->is_cut |= !captured_close(&v);
    pthread_mutex_lock(&n->lock);
    t->output = v.out_text;
    t->complaints = v.err_text;
    t->is_ended = true;
    n->n_ended++;
    if (n->inputs.list.n > 1) {
        char what[48];
        snprintf(what, sizeof what, "%zu of %zu", n->n_ended, n->inputs.list.n);
        const double done = (double)n->n_ended / (double)n->inputs.list.n;
        progress_stage(&n->progress, what, done, done, 0);
    }
    report_in_order(n);
    pthread_mutex_unlock(&n->lock);
}

/* Several directories are analysed in parallel; a single one is analysed by several threads. */
static void run_all(struct analyse_analysis *n)
{
    const unsigned n_threads = n->a->options.n_threads;
    const size_t n_inputs = n->inputs.list.n;
    const uint64_t most = n->a->max_processes > 0 ? n->a->max_processes : n_threads;
    const unsigned at_once = (unsigned)(most < n_inputs ? most : n_inputs);
    if (n_inputs == 1)
        n->shown = &n->progress;
    else
        n->a->options.n_threads = at_once > 0 && n_threads > at_once ? n_threads / at_once : 1;
    n->has_lines = n_inputs > SHOWN_WHOLE && n->a->verbose == 0 && !n->a->quiet && !n->a->json;
    for (size_t i = 0; i < n_inputs; i++)
        n->n_collections += n->inputs.list.at[i].kind != NULL;
    n->has_lines = n->has_lines && n->n_collections == n_inputs;
    pthread_mutex_init(&n->lock, NULL);
    progress_begin(&n->progress, stderr, !n->a->quiet);
    pool_run(n_inputs, at_once, run_one, n);
    progress_end(&n->progress);
    pthread_mutex_destroy(&n->lock);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Reports each rank that several directories have, in one line: their number, and the first two. */
static void report_duplicates(const struct rank_row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t n_same = 0, second = i;
        bool is_first = row[i].is_twice;
        for (size_t k = 0; is_first && k < n; k++)
            if (row[k].is_twice && row[k].of.rank == row[i].of.rank) {
                is_first = k >= i;
                second = second == i ? k : second;
                n_same++;
            }
        if (is_first)
            complain(
                "rank %lld: in %zu directories, %s and %s%s; they belong to different runs, or to processes without a rank of their own",
                (long long)row[i].of.rank, n_same, row[i].name, row[second].name, n_same > 2 ? " among them" : "");
    }
}

/* Reports the ranks below the highest that no directory has, in one line: "ranks 2, 5-7". False: no memory. */
static bool report_gaps(const struct rank_row *row, size_t n, struct arena *mem)
{
    enum { GAPS_SHOWN = 5 };
    int64_t *rank = arena_take(mem, n, sizeof *rank), next = 0, n_missing = 0;
    char text[GAPS_SHOWN * 50 + 8] = "";
    size_t n_ranks = 0, n_gaps = 0, used = 0;
    if (!rank)
        return false;
    for (size_t i = 0; i < n; i++)
        if (row[i].of.has_rank && row[i].of.rank >= 0 && row[i].of.rank < INT64_MAX)
            rank[n_ranks++] = row[i].of.rank;
    qsort(rank, n_ranks, sizeof *rank, compare_i64s);
    for (size_t i = 0; i < n_ranks; i++) {
        const int64_t first = next, last = rank[i] - 1;
        next = rank[i] + 1;
        if (last < first)
            continue;
        n_missing += last - first + 1;
        if (n_gaps < GAPS_SHOWN)
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%s%lld", n_gaps > 0 ? ", " : "", (long long)first);
        if (n_gaps < GAPS_SHOWN && last > first)
            used += (size_t)snprintf(text + used, sizeof text - used, "-%lld", (long long)last);
        if (n_gaps++ == GAPS_SHOWN)
            snprintf(text + used, sizeof text - used, ", ...");
    }
    if (n_missing > 0)
        complain("rank%s %s: no directory; the comparison of ranks is incomplete", n_missing > 1 ? "s" : "", text);
    return true;
}

/* The causes of what is slow, on ranks that are read again. Where that fails (their raw data may have been removed
 * meanwhile), there are only the findings. False: no memory. */
static bool ranks_explain(const struct analyse_analysis *n, struct explained_run *out, struct run_member *of,
                          size_t n_of, const struct job_choice *job)
{
    const struct run_request how = { .inputs = &n->inputs,
                                     .without = NOT_OF_ANSWERS,
                                     .n_threads = n->a->options.n_threads };
    const struct explain_request q = { .top = n->a->top };
    struct run run;
    struct error e = { 0 };
    if (!run_of_members(&run, &how, of, n_of, n->a->mem))
        return false;
    if (!run_explain(out, &run, job, &q, n->a->mem, &e))
        *out = (struct explained_run){ .run = &job->job.run };
    return e.fault != FAULT_LIMIT;
}

/* Compares the ranks of a job. False: no memory. */
static bool compare_ranks(struct analyse_analysis *n, json_t **json)
{
    struct arena *mem = n->a->mem;
    const size_t n_inputs = n->inputs.list.n;
    struct rank_row *row = arena_take(mem, n_inputs, sizeof *row);
    struct run_member *of = arena_take(mem, n_inputs, sizeof *of);
    uint32_t *order = arena_take(mem, n_inputs, sizeof *order);
    size_t n_rows = 0;
    if (!row || !of || !order)
        return false;
    for (size_t i = 0; i < n_inputs; i++)
        if (n->report[i].has_row) {
            row[n_rows] = n->report[i].rank;
            row[n_rows].of.input = i;
            row[n_rows++].name = last_part(n->inputs.list.at[i].path);
        }
    if (n_rows == 0 || n->n_collections < 2)
        return true;
    struct job_choice job;
    struct explained_run explained;
    if (!ranks_compare(&job, row, of, n_rows, order, mem) || !ranks_explain(n, &explained, of, n_rows, &job))
        return false;
    report_duplicates(row, n_rows);
    if (!report_gaps(row, n_rows, mem))
        return false;
    if (n->a->json) {
        *json = json_pack("{s:o, s:o}", "ranks", rank_table_json(&job.job, row, order, n_rows), "judged",
                          judge_json(&explained, mem));
        return *json != NULL;
    }
    if (n->a->quiet)
        return true;
    struct term term;
    term_init(&term, stdout);
    if (!n->has_lines)
        putchar('\n');
    rank_table_print(&term, &job.job, &explained, row, order, n_rows, mem);
    if (n->has_lines)
        printf("\n%zu directories; -v prints the report of each\n", n_inputs);
    return true;
}

/* Reads "3" or "2-4"; after a "+" steps are counted from 1. */
static bool steps_range(const char *text, struct output_options *o)
{
    o->steps_are_counted = text[0] == '+';
    text += o->steps_are_counted;
    const char *dash = strchr(text, '-');
    const size_t first = dash ? (size_t)(dash - text) : strlen(text);
    const char *last = dash ? dash + 1 : text;
    const size_t last_len = strlen(last);
    enum { DIGITS = 18 };
    if (first == 0 || first > DIGITS || last_len == 0 || last_len > DIGITS || strspn(text, "0123456789") != first ||
        strspn(last, "0123456789") != last_len)
        return false;
    o->has_steps = true;
    o->first_step = strtoll(text, NULL, 10);
    o->last_step = strtoll(last, NULL, 10);
    return o->first_step <= o->last_step && (!o->steps_are_counted || o->first_step > 0);
}

/* NULL: no memory for the report of some directory. An incomplete report is not printed. */
static json_t *all_json(struct analyse_analysis *n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n->inputs.list.n; i++)
        json_list_add(&list, n->report[i].json);
    return list;
}

int run_analyse(struct arguments *a)
{
    struct analyse_analysis n = { .a = a };
    struct output_options *o = &a->options;
    if (arguments_have(a, OPT_SIMPLIFY))
        o->simplifies = a->simplify ? CHOICE_ON : CHOICE_OFF;
    o->code_of_losses = exit_code(a->face, STATUS_LOSSES);
    if (!export_types_read(a->export_type, &o->want))
        return exit_code(a->face, STATUS_PARAMETER);
    if (a->steps && !steps_range(a->steps, o)) {
        complain("--steps %s: expected a step or a range: 3, 2-4; or counted from 1: +1-3", a->steps);
        return exit_code(a->face, STATUS_PARAMETER);
    }
    const enum exit_status found = given_inputs(&n.inputs, &n.tally.n_failed, a, 0);
    if (n.inputs.list.n == 0)
        return exit_code(a->face, found);
    n.report = arena_take(a->mem, n.inputs.list.n, sizeof *n.report);
    if (!n.report) {
        complain_no_memory("the list of directories");
        return exit_code(a->face, STATUS_NOTHING);
    }
    work_memory(a, n.inputs.list.at[0].path);
    run_all(&n);
    enum exit_status status = tally_status(&n.tally);
    json_t *more = NULL;
    if (!compare_ranks(&n, &more)) {
        complain_no_memory("the comparison of directories");
        status = status == STATUS_DONE ? STATUS_LOSSES : status;
    }
    memory_unwatch();
    for (size_t i = 0; i < n.inputs.list.n; i++)
        arena_free(n.report[i].mem);
    if (a->json)
        status = json_report_more(a, "directories", all_json(&n), more, status);
    return exit_code(a->face, status);
}
