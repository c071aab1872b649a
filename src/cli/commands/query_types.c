/* SPDX-License-Identifier: Apache-2.0 */
/* What msprof.py query has with --data-type, from the collections themselves: there is no database to import first. */
#include "cli/commands.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyse/profile_analyse.h"
#include "base/files/outdir.h"
#include "base/memory/large_memory.h"
#include "cli/options/command.h"
#include "cli/options/work.h"
#include "export/msprof/query.h"
#include "load/prof/prof.h"
#include "report/term.h"

enum { TYPE_SCENE, TYPE_STEPS, TYPES = 11 };

/* Who has the answer of a type that is not one of query's. */
static const struct {
    const char *what, *where;
} elsewhere[TYPES] = {
    [2] = { "FLOPs of operators", "op_summary of ascope export, recorded with --aic-metrics=ArithmeticUtilization" },
    [3] = { "queues of the data preparation", "the tables aicpu and aicpu_mi of ascope export" },
    [4] = { "advice about parallel training", "ascope advise DIR" },
    [5] = { "times of the parts of parallel training", "ascope cluster DIR" },
    [6] = { "collectives of all ranks", "ascope cluster DIR" },
    [7] = { "transfers between ranks", "ascope communication DIR for a rank, ascope cluster DIR for all" },
    [8] = { "use of the host", "the tables host_* of ascope export" },
    [9] = { "collectives on the critical path", "ascope cluster DIR" },
    [10] = { "transfers on the critical path", "ascope cluster DIR" },
};

struct typed_query {
    struct arguments *a;
    struct query_steps steps;
    struct out text; /* of the steps found */
    size_t n_steps;
    LIST(int64_t) rank, device; /* of each folder of a device */
};

/* ---- which collections are ranks of one job ---- */

static int by_id(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool are_different(int64_t *id, size_t n)
{
    qsort(id, n, sizeof *id, by_id);
    for (size_t i = 1; i < n; i++)
        if (id[i] == id[i - 1])
            return false;
    return n > 0;
}

static bool scene_add(struct typed_query *q, const struct profile *p, struct error *e)
{
    for (size_t d = 0; d < p->n_devices; d++) {
        int64_t *rank = list_add(&q->rank, q->a->mem), *device = list_add(&q->device, q->a->mem);
        if (!rank || !device)
            return error_no_memory(e, p->path);
        *rank = p->device[d].source.settings.rank;
        *device = p->device[d].source.device;
    }
    return true;
}

static bool is_same_place(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* As the reference decides: ranks that differ; without ranks, several devices that differ. A collection is no job. */
static bool is_job(struct typed_query *q, const struct collections *found)
{
    size_t n_without = 0;
    if (found->n > 0 && is_same_place(found->path[0], q->a->dir))
        return false;
    for (size_t i = 0; i < q->rank.n; i++)
        n_without += q->rank.at[i] < 0;
    return are_different(q->rank.at, q->rank.n) ||
           (n_without == q->rank.n && q->device.n > 1 && are_different(q->device.at, q->device.n));
}

/* ---- the command ---- */

static bool number_read(const char *text, int64_t *out)
{
    char *end;
    *out = strtoll(text, &end, 10);
    return *text && !*end && *out >= -1 && *out <= UINT32_MAX;
}

/* Whether the options of the steps fit each other, by the reference's rules. */
static bool steps_asked(struct typed_query *q)
{
    const struct arguments *const a = q->a;
    if (!a->query_id || !number_read(a->query_id, &q->steps.id) || !arguments_have(a, OPT_MODEL))
        complain("--data-type 1: wanted --id, a rank or device or -1 for all, and --model-id");
    else if ((q->steps.id < 0) != arguments_have(a, OPT_ITERATION))
        complain("--data-type 1: --iteration-id belongs to --id -1, which requires it");
    else
        return true;
    return false;
}

static void typed_query_add(struct typed_query *q, const char *path, struct results_tally *tally)
{
    enum { NOT_OF_STEPS = PROFILE_COUNTED | PROFILE_SAMPLED | PROFILE_MEMORY | PROFILE_TENSORS | PROFILE_TASKS };
    struct result r = { 0 };
    struct error e = { 0 };
    struct progress progress;
    progress_begin(&progress, stderr, true);
    bool done = work_load(path, NOT_OF_STEPS, q->a->options.n_threads, &progress, &r, &e);
    if (done && q->a->data_type == TYPE_SCENE)
        done = scene_add(q, &r.profile, &e);
    else if (done)
        done = query_steps_put(&r.profile, &q->steps, &q->text, &q->n_steps, &e);
    progress_end(&progress);
    if (!done)
        complain("%s", e.text);
    const bool is_lossy = done && losses_damage(&r.profile.lost) > 0;
    if (is_lossy)
        complain("%s: some records could not be used; ascope analyse lists the reasons", path);
    tally->n_failed += !done;
    tally->n_lossy += is_lossy;
    tally->n_done += done && !is_lossy;
    profile_free(&r.profile);
}

static void answer_print(bool has_failed, const char *why, const char *data)
{
    struct out text;
    struct error e = { 0 };
    if (!out_open_memory(&text, &e))
        return;
    out_lit(&text, "{\"status\": ");
    out_u64(&text, has_failed);
    out_lit(&text, ", \"info\": ");
    out_json(&text, why, strlen(why));
    out_lit(&text, ", \"data\": ");
    out_json(&text, data, strlen(data));
    out_lit(&text, "}\n");
    fwrite(text.buf, 1, text.n, stdout);
    out_discard(&text);
}

/* query/step_trace_ID_MODEL_ITERATION.json beside the collections. */
static bool steps_write(struct typed_query *q, struct error *e)
{
    char real[PATH_MAX]; /* the path goes to programs that may work elsewhere */
    const char *const dir = arena_printf(q->a->mem, "%s/query", realpath(q->a->dir, real) ? real : q->a->dir);
    const char *const path =
        arena_printf(q->a->mem, "%s/step_trace_%" PRId64 "_%" PRIu64 "_%" PRId64 ".json", dir, q->steps.id,
                     q->steps.model, q->steps.iteration > 0 ? (int64_t)q->steps.iteration : -1);
    struct out file;
    if (!dir || !path)
        return error_no_memory(e, q->a->dir);
    if (!outdir_make_inside(dir, e) || !out_open(&file, path, e))
        return false;
    out_char(&file, '[');
    out_bytes(&file, q->text.buf, q->text.n);
    out_lit(&file, "]\n");
    if (!out_close(&file, e))
        return false;
    answer_print(false, "", path);
    return true;
}

static enum exit_status typed_query_end(struct typed_query *q, const struct collections *found,
                                        const struct results_tally *tally)
{
    struct error e = { 0 };
    if (q->a->data_type == TYPE_SCENE) {
        answer_print(false, "", is_job(q, found) ? "1" : "0");
        return tally_status(tally);
    }
    if (q->n_steps > 0 && !q->text.failed_errno && steps_write(q, &e))
        return tally_status(tally);
    if (q->text.failed_errno)
        error_no_memory(&e, q->a->dir);
    answer_print(true, q->n_steps > 0 ? e.text : "there are no such steps; msprof.py query lists models and iterations",
                 "");
    return STATUS_NOTHING;
}

int run_query_type(struct arguments *a)
{
    struct typed_query q = { .a = a, .steps = { .model = a->options.model, .iteration = a->options.iteration } };
    struct error e = { 0 };
    struct collections found;
    if (elsewhere[a->data_type].what) {
        complain("--data-type %" PRIu64 " (%s): not answered by query; see %s", a->data_type,
                 elsewhere[a->data_type].what, elsewhere[a->data_type].where);
        return exit_code(a->face, STATUS_NOTHING);
    }
    if (a->data_type == TYPE_STEPS && !steps_asked(&q))
        return exit_code(a->face, STATUS_PARAMETER);
    enum exit_status status = collections_find(a, 0, &found);
    struct results_tally tally = { .n_failed = found.n_refused };
    work_memory(a, found.n > 0 ? found.path[0] : NULL);
    const bool is_open = out_open_memory(&q.text, &e);
    for (size_t i = 0; is_open && i < found.n; i++)
        typed_query_add(&q, found.path[i], &tally);
    memory_unwatch();
    if (!is_open)
        complain("%s", e.text);
    if (status == STATUS_DONE)
        status = is_open ? typed_query_end(&q, &found, &tally) : STATUS_NOTHING;
    if (is_open)
        out_discard(&q.text);
    collections_free(&found);
    return exit_code(a->face, status);
}
