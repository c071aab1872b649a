/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/work.h"

#include <stdio.h>

#include "analyse/profile_analyse.h"
#include "base/files/outdir.h"
#include "base/memory/large_memory.h"
#include "base/text/json_memory.h"
#include "cli/commands.h"
#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "load/framework/framework_loaders.h"
#include "load/prof/prof.h"
#include "report/loss_report.h"

struct work_run {
    struct arguments *a;
    struct term term;
    struct results_tally tally;
    json_t *json; /* of each collection, with --json */
};

static void end_failed(struct work_run *run, const char *path, const struct result *r, const struct error *e)
{
    complain_failed(stderr, e, &r->profile.lost);
    run->tally.n_failed++;
    if (run->a->json)
        json_list_add(&run->json, json_pack("{s:o, s:o}", "path", text_json(path), "error", text_json(e->text)));
}

static void end_done(struct work_run *run, const struct result *r)
{
    complain_problems(stderr, r->profile.path, &r->account);
    if (run->a->json)
        json_list_add(&run->json, summary_json(run->a, r));
    const bool is_shown = summary_print(&run->term, run->a, r);
    if (!is_shown)
        complain_no_memory(r->profile.path);
    if (run->a->face != FACE_ASCOPE) /* the exit codes of these names do not show losses */
        losses_complain(r->profile.path, &r->profile.lost);
    const bool lossy = account_is_lossy(&r->account, &r->profile.lost) || !is_shown;
    run->tally.n_lossy += lossy;
    run->tally.n_done += !lossy;
}

static void run_one(struct work_run *run, const struct work *w, const char *path)
{
    struct progress progress;
    struct result r = { 0 };
    struct error e = { 0 };
    const double start = account_clock_s();
    recover_first(run->a, path, stderr);
    progress_begin(&progress, stderr, !run->a->quiet);
    const bool done = w->run(w->context, path, &progress, &r, &e);
    progress_end(&progress);
    r.account.write_s = account_clock_s() - start - r.account.load_s - r.account.analyse_s;
    if (done)
        end_done(run, &r);
    else
        end_failed(run, path, &r, &e);
    result_free(&r);
}

void work_memory(const struct arguments *a, const char *first)
{
    enum { USUAL_LIMIT = 512 << 20 };
    struct error unused = { 0 }; /* the writer of the results will report it */
    const char *out_dir = a->options.out_dir;
    if (first && (!out_dir || outdir_make(out_dir, &unused)))
        memory_limit(a->memory ? a->memory : USUAL_LIMIT, out_dir ? out_dir : first, a->memory > 0);
    memory_watch();
}

int work_run(struct arguments *a, size_t first_dir, const struct work *w)
{
    struct collections found;
    enum exit_status status = collections_find(a, first_dir, &found);
    struct work_run run = { .a = a, .tally = { .n_failed = found.n_refused }, .json = a->json ? json_array() : NULL };
    term_init(&run.term, stdout);
    work_memory(a, found.n > 0 ? found.path[0] : NULL);
    for (size_t i = 0; i < found.n; i++) {
        if (i > 0 && !a->quiet && !a->json)
            putchar('\n');
        run_one(&run, w, found.path[i]);
    }
    memory_unwatch();
    if (status == STATUS_DONE)
        status = tally_status(&run.tally);
    if (a->json)
        status = json_report_more(a, "collections", run.json, a->more, status);
    collections_free(&found);
    return exit_code(a->face, status);
}

bool work_load(const char *path, unsigned without, unsigned n_threads, struct progress *progress, struct result *r,
               struct error *e)
{
    const double start = account_clock_s();
    progress_stage(progress, "reading", 0, 0.5, raw_bytes(path));
    if (!profile_load_without(&r->profile, path, without, n_threads, e))
        return false;
    r->account.load_s = account_clock_s() - start;
    progress_stage(progress, "analysing", 0.5, 1, profile_analyse_steps(&r->profile));
    if (!profile_analyse(&r->profile, n_threads, e))
        return false;
    r->account.analyse_s = account_clock_s() - start - r->account.load_s;
    return true;
}
