#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyse/analyse.h"
#include "base/progress.h"
#include "cli/collections.h"
#include "cli/command.h"
#include "cli/reports.h"
#include "cli/summary.h"
#include "export/write.h"
#include "load/prof.h"

static const struct {
    const char *word;
    unsigned want;
} what_word[] = {
    {"timeline", WANT_TIMELINE},
    { "summary", WANT_SUMMARY },
    { "db",      WANT_DB      },
    { "all",     WANT_ALL     }
};

static unsigned what_find(const char *word)
{
    for (size_t i = 0; i < sizeof what_word / sizeof *what_word; i++)
        if (strcmp(what_word[i].word, word) == 0)
            return what_word[i].want;
    return 0;
}

/* Options that say something about one kind of output only. */
static const struct {
    enum option_id option;
    unsigned needs;
    const char *where;
} goes_with[] = {
    {OPT_REPORTS,          WANT_TIMELINE,                "timeline and all"         },
    { OPT_TIME_BASE,       WANT_TIMELINE,                "timeline and all"         },
    { OPT_FORMAT,          WANT_SUMMARY,                 "summary and all"          },
    { OPT_MODEL,           WANT_TIMELINE | WANT_SUMMARY, "timeline, summary and all"},
    { OPT_ITERATION,       WANT_TIMELINE | WANT_SUMMARY, "timeline, summary and all"},
    { OPT_ITERATION_COUNT, WANT_TIMELINE | WANT_SUMMARY, "timeline, summary and all"},
};

static bool options_fit(const struct arguments *a)
{
    for (size_t i = 0; i < sizeof goes_with / sizeof *goes_with; i++)
        if (arguments_have(a, goes_with[i].option) && !(a->want & goes_with[i].needs)) {
            complain("%s%s: goes with %s only; see ascope help export",
                     option_rows[goes_with[i].option].has_one_dash ? "-" : "--", option_rows[goes_with[i].option].name,
                     goes_with[i].where);
            return false;
        }
    return true;
}

static bool iteration_fits(const struct arguments *a)
{
    const bool model = arguments_have(a, OPT_MODEL), iteration = arguments_have(a, OPT_ITERATION);
    if (model != iteration) {
        complain("%s %llu: goes with %s only, give both or neither", model ? "--model-id" : "--iteration-id",
                 (unsigned long long)(model ? a->model : a->iteration), model ? "--iteration-id" : "--model-id");
        return false;
    }
    if (!model && arguments_have(a, OPT_ITERATION_COUNT))
        advise(a, "--iteration-count %llu has no effect: without --model-id and --iteration-id everything is exported",
               (unsigned long long)a->iteration_count);
    return true;
}

/* One run of export or import over all collections. */
struct run {
    struct arguments *a;
    struct term term;
    struct request request;
    struct tally tally;
    json_t *json; /* of each collection, with --json */
};

static void end_failed(struct run *run, const char *path, const struct error *e)
{
    complain("%s", e->text);
    run->tally.n_failed++;
    if (run->json)
        json_array_append_new(run->json, json_pack("{s:o, s:o}", "path", text_json(path), "error", text_json(e->text)));
}

static void end_done(struct run *run, const struct result *r)
{
    for (size_t i = 0; i < r->problems.n; i++)
        complain("%s", r->problems.at[i] ? r->problems.at[i] : "no memory");
    const bool lossy = r->problems.n > 0 || losses_damage(&r->profile.lost) > 0;
    run->tally.n_lossy += lossy;
    run->tally.n_done += !lossy;
    if (run->json)
        json_array_append_new(run->json, summary_json(r));
    summary_print(&run->term, run->a, r);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool check_only(const char *path, const struct request *q, struct result *r, struct error *e)
{
    *r = (struct result){ 0 };
    const double start = now_s();
    if (!profile_load(&r->profile, path, q->n_threads, e))
        return false;
    r->load_s = now_s() - start;
    if (!profile_analyse(&r->profile, q->n_threads, e))
        return false;
    r->analyse_s = now_s() - start - r->load_s;
    return true;
}

static void run_one(struct run *run, const char *path)
{
    struct progress progress;
    struct result r;
    struct error e = { 0 };
    progress_begin(&progress, stderr, !run->a->quiet);
    run->request.progress = progress_show;
    run->request.progress_context = &progress;
    const bool done =
        run->request.want ? collection_export(path, &run->request, &r, &e) : check_only(path, &run->request, &r, &e);
    progress_end(&progress);
    if (done)
        end_done(run, &r);
    else
        end_failed(run, path, &e);
    result_free(&r);
}

static int run_all(struct arguments *a, size_t first_dir, const struct processes *processes)
{
    struct collections found;
    enum outcome outcome = collections_find(a, first_dir, false, &found);
    struct run run = {
        .a = a,
        .request = {.want = a->want,
                    .format = a->format == 1 ? FORMAT_JSON : FORMAT_CSV,
                    .dialect = a->dialect == 1 ? DIALECT_CURRENT : DIALECT_SEED,
                    .has_iteration = arguments_have(a, OPT_MODEL),
                    .model = a->model,
                    .iteration = a->iteration,
                    .iteration_count = (unsigned)a->iteration_count,
                    .processes = processes ? processes->name : NULL,
                    .n_processes = processes ? processes->n : 0,
                    .from_start = a->time_base == 1,
                    .clear = a->clear,
                    .n_threads = arguments_threads(a),
                    .out_dir = a->out },
        .tally = { .n_failed = found.n_refused},
        .json = a->json ? json_array() : NULL,
    };
    term_init(&run.term, stdout);
    for (size_t i = 0; i < found.n; i++) {
        if (i > 0 && !a->quiet && !a->json)
            putchar('\n');
        run_one(&run, found.path[i]);
    }
    if (outcome == OUTCOME_DONE)
        outcome = tally_outcome(&run.tally);
    if (a->json)
        json_report(a, "collections", run.json, exit_code(a->face, outcome));
    collections_free(&found);
    return exit_code(a->face, outcome);
}

int run_export(struct arguments *a)
{
    size_t first_dir = 0;
    if (a->face == FACE_ASCOPE) {
        a->want = a->n_words > 0 ? what_find(a->word[0]) : 0;
        first_dir = a->want ? 1 : 0;
        if (!a->want && a->n_words > 0 && !strchr(a->word[0], '/') && access(a->word[0], F_OK) != 0) {
            complain("export %s: accepted are timeline, summary, db and all", a->word[0]);
            return exit_code(a->face, OUTCOME_USAGE);
        }
        a->want = a->want ? a->want : WANT_ALL;
    }
    if (!options_fit(a))
        return exit_code(a->face, OUTCOME_USAGE);
    if (!iteration_fits(a))
        return exit_code(a->face, OUTCOME_PARAMETER);
    struct processes processes = { 0 };
    struct error e = { 0 };
    if (a->reports && !reports_read(a->reports, a->mem, &processes, &e)) {
        complain("-reports: %s", e.text);
        return exit_code(a->face, OUTCOME_PATH);
    }
    if (*processes.advice)
        advise(a, "-reports: %s", processes.advice);
    return run_all(a, first_dir, &processes);
}

int run_import(struct arguments *a)
{
    a->want = 0;
    if (a->cluster)
        advise(a, "--cluster: each collection is checked by itself; there is no cluster database to write");
    return run_all(a, 0, NULL);
}
