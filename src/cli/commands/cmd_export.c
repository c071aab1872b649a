/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <string.h>
#include <unistd.h>

#include "cli/options/command.h"
#include "cli/options/work.h"
#include "report/reports.h"
#include "report/term.h"

static const struct {
    const char *word;
    unsigned want;
} what_word[] = { { "timeline", WANT_TIMELINE }, { "summary", WANT_SUMMARY }, { "db", WANT_DB }, { "all", WANT_ALL } };

static unsigned what_find(const char *word)
{
    for (size_t i = 0; i < sizeof what_word / sizeof *what_word; i++)
        if (strcmp(what_word[i].word, word) == 0)
            return what_word[i].want;
    return 0;
}

/* Options that affect only some kinds of output. */
static const struct {
    enum option_id option;
    unsigned needs;
    const char *where;
} goes_with[] = {
    { OPT_REPORTS, WANT_TIMELINE, "timeline or all" },
    { OPT_TIME_BASE, WANT_TIMELINE, "timeline or all" },
    { OPT_MAX_SIZE, WANT_TIMELINE, "timeline or all" },
    { OPT_GZIP, WANT_TIMELINE, "timeline or all" },
    { OPT_FORMAT, WANT_SUMMARY, "summary or all" },
    { OPT_CSV_SAFE, WANT_SUMMARY, "summary or all" },
    { OPT_MODEL, WANT_TIMELINE | WANT_SUMMARY, "timeline, summary or all" },
    { OPT_ITERATION, WANT_TIMELINE | WANT_SUMMARY, "timeline, summary or all" },
    { OPT_ITERATION_COUNT, WANT_TIMELINE | WANT_SUMMARY, "timeline, summary or all" },
};

static bool options_fit(const struct arguments *a)
{
    for (size_t i = 0; i < sizeof goes_with / sizeof *goes_with; i++)
        if (arguments_have(a, goes_with[i].option) && !(a->options.want & goes_with[i].needs)) {
            complain("%s%s: requires %s; see ascope help export",
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
        complain("%s %llu: requires %s; give both or neither", model ? "--model-id" : "--iteration-id",
                 (unsigned long long)(model ? a->options.model : a->options.iteration),
                 model ? "--iteration-id" : "--model-id");
        return false;
    }
    if (!model && arguments_have(a, OPT_ITERATION_COUNT))
        advise(a, "--iteration-count %llu has no effect: without --model-id and --iteration-id everything is exported",
               (unsigned long long)a->options.iteration_count);
    return true;
}

static bool export_one(const void *context, const char *path, struct progress *progress, struct result *r,
                       struct error *e)
{
    return prof_export(path, context, progress, r, e);
}

static bool check_one(const void *context, const char *path, struct progress *progress, struct result *r,
                      struct error *e)
{
    const struct output_options *options = context;
    return work_load(path, 0, options->n_threads, progress, r, e);
}

/* Checks words that are not existing directories: typing errors, and words in the wrong place. False: reported. */
static bool words_fit(const struct arguments *a, size_t first_dir)
{
    for (size_t i = first_dir; i < a->n_words; i++) {
        const char *const word = a->word[i];
        if (strchr(word, '/') || !*word || access(word, F_OK) == 0)
            continue;
        if (what_find(word)) {
            complain("export %s: only the first word selects what is written; use all for everything", word);
            return false;
        }
        if (i == 0) {
            complain("export %s: no such directory; accepted words are timeline, summary, db and all", word);
            return false;
        }
    }
    return true;
}

int run_export(struct arguments *a)
{
    size_t first_dir = 0;
    if (a->face == FACE_ASCOPE) {
        a->options.want = a->n_words > 0 ? what_find(a->word[0]) : 0;
        first_dir = a->options.want ? 1 : 0;
        if (!words_fit(a, first_dir))
            return exit_code(a->face, STATUS_USAGE);
        a->options.want = a->options.want ? a->options.want : WANT_ALL;
    }
    return export_run(a, first_dir);
}

int export_run(struct arguments *a, size_t first_dir)
{
    if (!options_fit(a))
        return exit_code(a->face, STATUS_USAGE);
    if (!iteration_fits(a))
        return exit_code(a->face, STATUS_PARAMETER);
    struct processes processes = { 0 };
    struct error e = { 0 };
    if (a->reports && !reports_read(a->reports, a->mem, &processes, &e)) {
        complain("-reports: %s", e.text);
        return exit_code(a->face, e.fault == FAULT_LIMIT ? STATUS_NOTHING : STATUS_PATH);
    }
    if (*processes.advice)
        advise(a, "-reports: %s", processes.advice);
    a->options.has_iteration = arguments_have(a, OPT_MODEL);
    a->options.processes = processes.name;
    a->options.n_processes = processes.n;
    return work_run(a, first_dir, &(struct work){ export_one, &a->options });
}

int run_import(struct arguments *a)
{
    if (a->cluster)
        advise(a, "--cluster: each collection is checked separately; no cluster database is written");
    return work_run(a, 0, &(struct work){ check_one, &a->options });
}
