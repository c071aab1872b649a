/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files/outdir.h"
#include "base/memory/large_memory.h"
#include "base/text/json_memory.h"
#include "cli/commands/cluster_launch.h"
#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "cli/options/work.h"
#include "cluster/cluster.h"
#include "cluster/job/manifest.h"
#include "cluster/job/rank_readers.h"
#include "cluster/modes.h"
#include "open/recording_open.h"
#include "pipeline/rank_load.h"
#include "report/term.h"
#include "report/verdict_report.h"

struct clustering {
    struct arguments *a;
    struct job job;
    struct cluster_options options;
    LIST(const struct mode *) modes;
    struct cluster_result result;
    size_t n_copies; /* of --rank-databases */
    bool is_part;    /* `job` has the ranks of the part of --shard alone */
};

static bool mode_add(struct clustering *n, const struct mode *mode)
{
    const struct mode **slot = list_add(&n->modes, n->a->mem);
    if (slot)
        *slot = mode;
    else
        complain_no_memory("the list of modes");
    return slot != NULL;
}

/* Reads "slow_rank,hccl_sum", or "all-modes", which leaves out the base modes that are parts of the mode all. */
static enum exit_status modes_read(struct clustering *n)
{
    const char *text = n->a->job.modes ? n->a->job.modes : "all,verdicts";
    if (strcmp(text, "all-modes") == 0) {
        n->options.is_all_modes = true;
        for (size_t i = 0; modes[i]; i++)
            if (!modes[i]->is_part && !mode_add(n, modes[i]))
                return STATUS_NOTHING;
        return STATUS_DONE;
    }
    do {
        const size_t len = strcspn(text, ",");
        const struct mode *mode = mode_find(text, len);
        if (!mode) {
            complain("--mode %.*s: unknown mode; ascope help cluster lists them", len > 0 ? (int)len : 2,
                     len > 0 ? text : "\"\"");
            return STATUS_PARAMETER;
        }
        if (!mode_add(n, mode))
            return STATUS_NOTHING;
        text += len + (text[len] == ',');
    } while (*text);
    return STATUS_DONE;
}

static bool types_read(struct clustering *n)
{
    unsigned want = 0;
    if (!export_types_read(n->a->export_type, &want))
        return false;
    n->options.wants_text = want ? want & WANT_TEXT : n->job.is_text;
    n->options.wants_db = want ? want & WANT_DB : !n->job.is_text;
    return true;
}

static size_t report_notes(const struct clustering *n)
{
    enum { SHOWN = 20 };
    size_t n_losses = 0, n_shown = 0;
    for (size_t i = 0; i < n->job.notes.n; i++) {
        const struct job_line *line = &n->job.notes.at[i];
        n_losses += line->is_loss;
        if (n_shown++ >= SHOWN)
            continue;
        if (line->is_loss)
            complain("%s", line->text);
        else
            advise(n->a, "%s", line->text);
    }
    if (n_shown > SHOWN)
        complain("and %zu more line%s; --json lists them", n_shown - SHOWN, n_shown - SHOWN == 1 ? "" : "s");
    for (size_t i = 0; i < n->result.notes.n && i < SHOWN; i++)
        advise(n->a, "%s", n->result.notes.at[i]);
    return n_losses;
}

/* Takes a part of the ranks from the list that --manifest names. */
static enum exit_status list_ranks(struct clustering *n)
{
    struct arguments *a = n->a;
    struct error e = { 0 };
    struct manifest_of of;
    size_t part, n_parts, n_all = 0;
    if (!shard_of_text(a->job.shard, &part, &n_parts))
        return STATUS_DONE; /* run_shard() refuses it */
    if (!launch_manifest_of(&of, a, &e) || !manifest_read(&n->job, &of, a->job.manifest, part, n_parts, &n_all, &e)) {
        complain("%s", e.text);
        return e.fault == FAULT_ASKED ? STATUS_PARAMETER : STATUS_NOTHING;
    }
    n->is_part = true;
    job_use_raw(&n->job, RANK_ALL);
    return STATUS_DONE;
}

/* Finds the ranks in all directories of the command line. */
static enum exit_status find_ranks(struct clustering *n)
{
    struct arguments *a = n->a;
    struct error e = { 0 };
    if (a->n_words == 0) {
        complain("missing directory; give the directory that contains the collections of the ranks");
        return STATUS_USAGE;
    }
    if (a->job.shard && a->job.manifest)
        return list_ranks(n);
    n->job.steps_by = a->steps_by;
    for (size_t i = 0; i < a->n_words; i++) {
        const char *path = path_expand(a, "DIR", a->word[i]);
        if (!path)
            return STATUS_PATH;
        if (!job_find(&n->job, path, &e)) {
            complain("%s", e.text);
            return e.fault == FAULT_ASKED ? STATUS_PATH : STATUS_NOTHING;
        }
    }
    if (!job_complete(&n->job, a->job.ranks, &e)) {
        complain("%s", e.text);
        return e.fault == FAULT_ASKED ? STATUS_PARAMETER : STATUS_NOTHING;
    }
    unsigned needs = a->job.shard || a->job.join ? RANK_ALL : 0;
    for (size_t i = 0; i < n->modes.n; i++)
        needs |= n->modes.at[i]->needs;
    job_use_raw(&n->job, needs);
    if (n->job.ranks.n == 0) {
        const char *path = path_expand(a, "DIR", a->word[0]), *is = path ? results_instead_of_ranks(path) : NULL;
        struct stat st;
        if (is)
            complain("%s: only %s", path, is);
        else
            report_notes(n); /* they say what could not be read */
        if (!is && (n->job.notes.n == 0 || !path || stat(path, &st) != 0 || S_ISDIR(st.st_mode)))
            complain("%s: no ranks found; give a directory that contains *_ascend_pt, *_ascend_ms or PROF_XXX "
                     "directories, their results, traces, or summaries of ranks",
                     a->word[0]);
    }
    return n->job.ranks.n > 0 ? STATUS_DONE : STATUS_NOTHING;
}

static void print_result(const struct clustering *n)
{
    struct term t;
    char number[READABLE_MOST];
    term_init(&t, stdout);
    printf("%s%s rank%s%s, %zu with losses, %zu left out\n", term_ink(&t, INK_BOLD),
           readable_count(number, n->result.n_ranks), n->result.n_ranks == 1 ? "" : "s", term_ink(&t, INK_END),
           n->result.n_lossy, n->result.n_failed);
    for (size_t i = 0; i < n->result.findings.n; i++) {
        fputs("  ", stdout);
        term_text(&t, n->result.findings.at[i], 0);
        putchar('\n');
    }
    if (n->result.report.is_judged)
        verdicts_print(&n->result.report, &t);
    for (size_t i = 0; i < n->result.files.n; i++) {
        const struct results_file *f = &n->result.files.at[i];
        term_text(&t, f->path, 0);
        if (f->rows > 0)
            printf("  %s %s", readable_count(number, f->rows), f->rows == 1 ? "row" : "rows");
        putchar('\n');
    }
    if (n->n_copies > 0) {
        term_text(&t, n->a->options.out_dir, 0);
        printf("  %zu %s of ranks\n", n->n_copies, n->n_copies == 1 ? "database" : "databases");
    }
}

static json_t *lines_json(const char *const *line, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, text_json(line[i]));
    return list;
}

static enum exit_status print_json(const struct clustering *n, enum exit_status status)
{
    json_t *files = json_array(), *notes = json_array(), *ranks = json_array();
    for (size_t i = 0; i < n->result.files.n; i++)
        json_array_append_new(files, json_pack("{s:o, s:I}", "path", text_json(n->result.files.at[i].path), "rows",
                                               (json_int_t)n->result.files.at[i].rows));
    for (size_t i = 0; i < n->job.notes.n; i++)
        json_array_append_new(notes, json_pack("{s:o, s:b}", "text", text_json(n->job.notes.at[i].text), "is_loss",
                                               n->job.notes.at[i].is_loss));
    for (size_t i = 0; i < n->job.ranks.n; i++)
        json_array_append_new(ranks, json_pack("{s:I, s:o, s:s}", "rank", (json_int_t)n->job.ranks.at[i].rank, "path",
                                               text_json(n->job.ranks.at[i].path), "source",
                                               rank_source_name[n->job.ranks.at[i].source]));
    json_t *more =
        json_pack("{s:o, s:o, s:o, s:o, s:I, s:I, s:I}", "tables", files, "notes", notes, "findings",
                  lines_json(n->result.findings.at, n->result.findings.n), "mode_notes",
                  lines_json(n->result.notes.at, n->result.notes.n), "ranks_read", (json_int_t)n->result.n_ranks,
                  "ranks_with_losses", (json_int_t)n->result.n_lossy, "ranks_left_out", (json_int_t)n->result.n_failed);
    if (n->result.report.is_judged)
        verdicts_json(&n->result.report, more);
    return json_report_more(n->a, "job_ranks", ranks, more, status);
}

/* --shard, --join: writes the summaries of ranks to one file; no modes are run. */
static enum exit_status run_shard(struct clustering *n)
{
    struct arguments *a = n->a;
    struct error e = { 0 };
    struct progress progress;
    struct shard_result made;
    struct shard_request request = { .n_parts = 1,
                                     .path = a->job.join,
                                     .is_named = !a->job.shard,
                                     .n_threads = a->options.n_threads,
                                     .progress = &progress };
    const char *dir = a->options.out_dir ? a->options.out_dir : ".";
    if (a->job.shard && !shard_of_text(a->job.shard, &request.part, &request.n_parts)) {
        complain("--shard %s: expected I/N, such as 1/8", a->job.shard);
        return STATUS_PARAMETER;
    }
    if (a->job.shard)
        request.path = arena_printf(a->mem, "%s/shard_%zu_of_%zu.summary", dir, request.part + 1, request.n_parts);
    if (n->is_part) {
        request.part = 0;
        request.n_parts = 1;
    }
    if (!request.path || (a->job.shard && !outdir_make(dir, &e))) {
        complain("%s", e.fault != FAULT_NONE ? e.text : no_memory_text());
        return STATUS_NOTHING;
    }
    work_memory(a, dir);
    progress_begin(&progress, stderr, !a->quiet);
    const bool done = shard_write(&n->job, &request, &made, &e);
    progress_end(&progress);
    memory_unwatch();
    if (!done)
        complain("%s", e.text);
    n->result.n_ranks = made.n_ranks;
    n->result.n_failed = made.n_failed;
    n->result.n_lossy = made.n_lossy;
    const size_t n_losses = report_notes(n);
    char number[READABLE_MOST];
    if (done && !a->quiet && !a->json) {
        const struct term t = { .to = report_stream(request.path) };
        term_text(&t, request.path, 0);
        fprintf(t.to, "  %zu rank%s, %s\n", made.n_ranks, made.n_ranks == 1 ? "" : "s",
                readable_bytes(number, made.bytes));
    }
    return !done ? STATUS_NOTHING : n_losses > 0 ? STATUS_LOSSES : STATUS_DONE;
}

/* --manifest without --shard: writes the list of ranks; no modes are run. */
static enum exit_status write_manifest(struct clustering *n)
{
    struct arguments *a = n->a;
    struct error e = { 0 };
    struct manifest_of of;
    const bool done = launch_manifest_of(&of, a, &e) && manifest_write(&n->job, &of, a->job.manifest, &e);
    if (!done)
        complain("%s", e.text);
    const size_t n_losses = report_notes(n);
    if (done && !a->quiet && !a->json) {
        const struct term t = { .to = report_stream(a->job.manifest) };
        term_text(&t, a->job.manifest, 0);
        fprintf(t.to, "  %zu rank%s\n", n->job.ranks.n, n->job.ranks.n == 1 ? "" : "s");
    }
    return !done ? STATUS_NOTHING : n_losses > 0 ? STATUS_LOSSES : STATUS_DONE;
}

/* Replaces the ranks that were found by the shards in a directory. */
static enum exit_status cluster_gather(struct clustering *n, const char *dir)
{
    struct error e = { 0 };
    const bool done = launch_gather(&n->job, dir, n->a->job.ranks, &e);
    if (!done) {
        report_notes(n);
        complain("%s", e.text);
    }
    return done ? STATUS_DONE : STATUS_NOTHING;
}

/* Summarises the ranks in other processes. *ran: the launcher has also run the modes and printed their report. */
static enum exit_status launch(struct clustering *n, const struct launcher *how, struct cluster_launch *l, bool *ran)
{
    struct arguments *a = n->a;
    struct error e = { 0 };
    enum exit_status status = STATUS_DONE;
    *l = (struct cluster_launch){ .a = a,
                                  .job = &n->job,
                                  .beside = a->options.out_dir ? a->options.out_dir : path_expand(a, "DIR", a->word[0]),
                                  .n_parts = how->n_parts(a, n->job.ranks.n) };
    const bool done = l->beside && (!a->options.out_dir || outdir_make(a->options.out_dir, &e)) && how->submit(l, &e) &&
                      how->watch(l, &status, &e);
    *ran = done && how->runs_modes;
    if (!done)
        complain("%s", e.fault != FAULT_NONE ? e.text : no_memory_text());
    if (!done)
        return e.fault == FAULT_ASKED ? STATUS_PARAMETER : STATUS_NOTHING;
    return *ran ? status : cluster_gather(n, l->dir);
}

/* --rank-databases. */
static bool copy_databases(struct clustering *n, const char *out_dir, struct error *e)
{
    struct manifest_of of;
    struct rank_databases r = { .results = arena_printf(n->a->mem, "%s/cluster_analysis.db", out_dir),
                                .dir = n->a->options.out_dir };
    if (!r.results || !launch_manifest_of(&of, n->a, e))
        return r.results ? false : error_no_memory(e, "--rank-databases");
    r.root = of.root;
    r.n_roots = of.n_roots;
    return rank_databases_write(&n->job, &r, &n->n_copies, e);
}

/* What --rank-databases needs. */
static bool can_copy_databases(const struct clustering *n)
{
    const struct arguments *a = n->a;
    bool has_mode = false;
    for (size_t i = 0; i < n->modes.n; i++)
        has_mode = has_mode || n->modes.at[i] == &mode_p2p_pairing || n->modes.at[i] == &mode_pp_chart;
    if (has_mode && a->options.out_dir && n->options.wants_db && !a->job.launcher && !a->job.shards)
        return true;
    complain(
        "--rank-databases: needs --out, results as a database, and the mode p2p_pairing or pp_chart, without --launcher and "
        "--shards");
    return false;
}

static enum exit_status run_modes(struct clustering *n)
{
    struct arguments *a = n->a;
    struct error e = { 0 };
    struct progress progress;
    const char *dir = a->options.out_dir ? a->options.out_dir : path_expand(a, "DIR", a->word[0]);
    const char *out_dir = dir ? arena_printf(a->mem, "%s/cluster_analysis_output", dir) : NULL;
    if (!out_dir || (a->options.out_dir && !outdir_make(a->options.out_dir, &e))) {
        if (e.fault != FAULT_NONE)
            complain("%s", e.text);
        else
            complain_no_memory("ascope cluster");
        return STATUS_NOTHING;
    }
    const uint64_t limit = a->memory ? a->memory : UINT64_C(512) << 20;
    const struct cluster_request request = { .mode = n->modes.at,
                                             .n_modes = n->modes.n,
                                             .options = &n->options,
                                             .out_dir = out_dir,
                                             .n_threads = a->options.n_threads,
                                             .memory_bytes = limit / 8,
                                             .modes_bytes = limit / 2,
                                             .progress = &progress };
    work_memory(a, dir);
    progress_begin(&progress, stderr, !a->quiet);
    const bool done = cluster_run(&n->job, &request, &n->result, &e);
    const bool is_copied = !done || !a->job.rank_databases || copy_databases(n, out_dir, &e);
    progress_end(&progress);
    memory_unwatch();
    if (!done || !is_copied)
        complain("%s", e.text);
    const size_t n_losses = report_notes(n) + !is_copied;
    if (done && !a->quiet && !a->json)
        print_result(n);
    if (!done || n->result.n_ranks == 0)
        return STATUS_NOTHING;
    return n_losses > 0 ? STATUS_LOSSES : STATUS_DONE;
}

int run_cluster(struct arguments *a)
{
    struct clustering n = { .a = a,
                            .options = { .has_step = arguments_have(a, OPT_CLUSTER_STEP),
                                         .step = (int64_t)a->job.step,
                                         .rank_id = (int64_t)a->job.rank_id,
                                         .top = a->job.top,
                                         .base = a->job.base,
                                         .parallel_types = a->job.parallel_types,
                                         .csv_is_safe = a->options.csv_is_safe,
                                         .excludes_op_name = a->job.no_op_names } };
    struct error e = { 0 };
    enum exit_status status = STATUS_NOTHING;
    if (!json_has_room(a, "--join", a->job.join) || (!a->job.shard && !json_has_room(a, "--manifest", a->job.manifest)))
        return exit_code(a->face, STATUS_USAGE);
    if (a->job.manifest && (a->job.join || a->job.shards || a->job.launcher)) {
        complain("--manifest: only with --shard, or without --join, --shards and --launcher");
        return exit_code(a->face, STATUS_USAGE);
    }
    if (!job_init(&n.job, &e))
        complain("%s", e.text);
    n.job.load = rank_load;
    if (e.fault == FAULT_NONE)
        status = modes_read(&n);
    if (status == STATUS_DONE)
        status = find_ranks(&n);
    const struct launcher *how = a->job.launcher && !a->job.shards ? launcher_find(a->job.launcher) : NULL;
    struct cluster_launch launched = { 0 };
    bool ran = false;
    if (status == STATUS_DONE && !types_read(&n))
        status = STATUS_PARAMETER;
    else if (status == STATUS_DONE && a->job.rank_databases && !can_copy_databases(&n))
        status = STATUS_PARAMETER;
    else if (status == STATUS_DONE && (a->job.shard || a->job.join))
        status = run_shard(&n);
    else if (status == STATUS_DONE && a->job.manifest)
        status = write_manifest(&n);
    else if (status == STATUS_DONE && how)
        status = launch(&n, how, &launched, &ran);
    else if (status == STATUS_DONE && a->job.shards)
        status = cluster_gather(&n, a->job.shards);
    if (status == STATUS_DONE && !a->job.shard && !a->job.join && !a->job.manifest && !ran)
        status = run_modes(&n);
    if (how)
        how->end(&launched);
    if (a->json && n.job.mem && !ran)
        status = print_json(&n, status);
    cluster_result_fini(&n.result);
    job_fini(&n.job);
    return exit_code(a->face, status);
}
