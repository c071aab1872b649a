/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json_memory.h"
#include "cli/commands.h"
#include "export/msprof/query.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/large_memory.h"
#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "cli/options/work.h"
#include "load/prof/prof.h"
#include "report/term.h"

/* Models and their iterations are made of what the host launched and of the stamps of the scheduler. */
enum { NOT_OF_MODELS = PROFILE_COUNTED | PROFILE_SAMPLED | PROFILE_MEMORY | PROFILE_TENSORS | PROFILE_TASKS };

static void add_one(struct arguments *a, struct query *q, const char *path, struct results_tally *tally)
{
    struct result r = { 0 };
    struct error e = { 0 };
    struct progress progress;
    progress_begin(&progress, stderr, true);
    const bool done =
        work_load(path, NOT_OF_MODELS, a->options.n_threads, &progress, &r, &e) && query_add(q, &r.profile, &e);
    progress_end(&progress);
    if (!done) {
        complain("%s", e.text);
        tally->n_failed++;
    } else if (losses_damage(&r.profile.lost) > 0) {
        complain("%s: some records could not be used; ascope analyse lists the reasons", path);
        tally->n_lossy++;
    } else {
        tally->n_done++;
    }
    profile_free(&r.profile);
}

static bool print(const struct query *q)
{
    struct out text;
    struct error e = { 0 };
    if (!out_open_memory(&text, &e)) {
        complain("%s", e.text);
        return false;
    }
    const bool done = query_text(q, &text, &e) && (!text.failed_errno || error_no_memory(&e, "the models"));
    if (done)
        fwrite(text.buf, 1, text.n, stdout);
    else
        complain("%s", e.text);
    out_discard(&text);
    return done;
}

/* "N/A" and other texts that are not numbers become null. */
static json_t *number_json(const char *text)
{
    char *end;
    const long long number = strtoll(text, &end, 10);
    return *text && !*end ? json_integer(number) : json_null();
}

static json_t *known_json(const char *text)
{
    return text_or_null(strcmp(text, "N/A") != 0 ? text : NULL);
}

/* "3,1,2" */
static json_t *numbers_json(const char *text)
{
    json_t *list = json_array();
    for (const char *p = text; *p >= '0' && *p <= '9';) {
        char *end;
        json_array_append_new(list, json_integer(strtoll(p, &end, 10)));
        p = *end == ',' ? end + 1 : end;
    }
    return list;
}

static json_t *query_json(const struct query *q)
{
    size_t n;
    const struct query_row **sorted = query_rows(q, &n);
    json_t *list = sorted ? json_array() : NULL;
    for (size_t i = 0; list && i < n; i++) {
        const char *const *text = sorted[i]->text;
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "path", known_json(sorted[i]->path), "job",
                            known_json(text[QUERY_JOB]), "device", number_json(text[QUERY_DEVICE]), "folder",
                            known_json(text[QUERY_DIR]), "begin", known_json(text[QUERY_TIME]), "model",
                            number_json(text[QUERY_MODEL]), "iterations", number_json(text[QUERY_ITERATIONS]),
                            "slowest", numbers_json(text[QUERY_TOP]), "rank", number_json(text[QUERY_RANK])));
    }
    free(sorted);
    return list;
}

int run_query(struct arguments *a)
{
    if (arguments_have(a, OPT_DATA_TYPE))
        return run_query_type(a);
    struct collections found;
    enum exit_status status = collections_find(a, 0, &found);
    struct results_tally tally = { .n_failed = found.n_refused };
    struct query *q = query_new();
    work_memory(a, found.n > 0 ? found.path[0] : NULL);
    for (size_t i = 0; q && i < found.n; i++)
        add_one(a, q, found.path[i], &tally);
    memory_unwatch();
    if (!q)
        complain_no_memory("the models");
    if (status == STATUS_DONE)
        status = q && (a->json || print(q)) ? tally_status(&tally) : STATUS_NOTHING;
    if (a->json)
        status = json_report(a, "models", q ? query_json(q) : NULL, status);
    query_free(q);
    collections_free(&found);
    return exit_code(a->face, status);
}
