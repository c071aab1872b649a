/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd_why.h"

#include <pthread.h>

#include "base/large_memory.h"
#include "base/pool.h"
#include "base/progress.h"
#include "cli/cmd_recover.h"
#include "cli/collections.h"
#include "cli/exit_status.h"
#include "cli/loaded.h"
#include "cli/summary.h"
#include "cli/why_report.h"
#include "cli/work.h"

/* What is known of one directory, once it was read. */
struct read_one {
    LIST(struct job_rank) ranks;
    struct arena *mem; /* of these */
    bool is_done, is_lossy;
    struct error e;
};

struct asking {
    struct arguments *a;
    struct targets targets;
    struct read_one *one;
    struct loaded only; /* the only directory stays in memory */
    unsigned n_threads; /* of one directory */
    struct progress progress;
    pthread_mutex_t lock; /* of what follows, and of the progress */
    size_t n_ended;
};

static bool add_ranks(struct read_one *r, const struct loaded *l, size_t target, const char *path)
{
    for (size_t i = 0; i < loaded_n_devices(l); i++) {
        struct job_rank *rank = list_add(&r->ranks, r->mem);
        if (!rank || !job_rank_of(rank, l->profile, loaded_device(l, i), l->collection, r->mem))
            return error_no_memory(&r->e, path);
        rank->target = target;
        rank->device_row = i;
        rank->path = path;
    }
    return true;
}

static void read_one(void *context, size_t i)
{
    struct asking *q = context;
    struct read_one *r = &q->one[i];
    const struct target *target = &q->targets.list.at[i];
    struct loaded local = { 0 }, *l = q->targets.list.n == 1 ? &q->only : &local;
    r->mem = arena_new();
    recover_first(q->a, target->path, stderr);
    r->is_done = r->mem ? loaded_open(l, target, q->n_threads, &r->e) && add_ranks(r, l, i, target->path)
                        : error_no_memory(&r->e, target->path);
    r->is_lossy = l->is_lossy;
    loaded_close(&local);
    pthread_mutex_lock(&q->lock);
    char what[48];
    const double done = (double)++q->n_ended / (double)q->targets.list.n;
    snprintf(what, sizeof what, "%zu of %zu", q->n_ended, q->targets.list.n);
    progress_stage(&q->progress, q->targets.list.n > 1 ? what : "analysing", done, done, 0);
    pthread_mutex_unlock(&q->lock);
}

static void read_all(struct asking *q)
{
    const size_t n = q->targets.list.n;
    const unsigned n_threads = q->a->options.n_threads, at_once = n < n_threads ? (unsigned)n : n_threads;
    q->n_threads = n_threads / at_once > 0 ? n_threads / at_once : 1;
    pthread_mutex_init(&q->lock, NULL);
    progress_begin(&q->progress, stderr, !q->a->quiet);
    pool_run(n, at_once, read_one, q);
    progress_end(&q->progress);
    pthread_mutex_destroy(&q->lock);
}

/* The directory of a rank, which is read again unless it is the only one. NULL: with the reason in e. */
static const struct loaded *reopen(struct asking *q, const struct job_rank *r, struct loaded *again, struct error *e)
{
    if (q->targets.list.n == 1)
        return &q->only;
    return loaded_open(again, &q->targets.list.at[r->target], q->a->options.n_threads, e) ? again : NULL;
}

static bool explain(struct asking *q, const struct job_rank *rank, const struct job_choice *c, struct why_answer *out,
                    struct error *e)
{
    const struct job_rank *r = &rank[c->rank];
    struct arena *mem = q->a->mem;
    struct loaded again = { 0 };
    struct step_profile other;
    const struct loaded *l = NULL;
    bool done = true;
    if (c->mode == WHY_RANK) {
        const struct job_rank *reference = &rank[c->reference];
        l = reopen(q, reference, &again, e);
        done = l && (why_usual(&other, l->profile, loaded_device(l, reference->device_row), l->collection, mem) ||
                     error_no_memory(e, reference->path));
        loaded_close(&again);
    }
    l = done ? reopen(q, r, &again, e) : NULL;
    if (l) {
        const struct device *d = loaded_device(l, r->device_row);
        done = c->mode == WHY_RANK ? why_rank(out, l->profile, d, l->collection, &other, q->a->top, mem)
                                   : why_step(out, l->profile, d, l->collection, c->step[c->at].name, q->a->top, mem);
        done = done || error_no_memory(e, r->path);
    }
    loaded_close(&again);
    return done && l;
}

/* Whether a rank counts: of a job, those without steps do not. */
static bool has_steps(const struct read_one *r)
{
    for (size_t i = 0; i < r->ranks.n; i++)
        if (r->ranks.at[i].n > 0)
            return true;
    return false;
}

/* All ranks of all directories; what could not be read is reported, and left out. NULL: no memory. */
static struct job_rank *gather(struct asking *q, size_t *n, struct tally *tally)
{
    size_t most = 0;
    bool is_any = false;
    for (size_t i = 0; i < q->targets.list.n; i++) {
        most += q->one[i].is_done ? q->one[i].ranks.n : 0;
        is_any = is_any || (q->one[i].is_done && has_steps(&q->one[i]));
    }
    struct job_rank *all = arena_take(q->a->mem, most, sizeof *all);
    *n = 0;
    for (size_t i = 0; i < q->targets.list.n; i++) {
        const struct read_one *r = &q->one[i];
        const bool is_used = r->is_done && (!is_any || has_steps(r));
        if (!r->is_done)
            complain("%s", r->e.text);
        else if (!is_used)
            complain("%s: no steps were recorded; compared without it", q->targets.list.at[i].path);
        tally->n_failed += !is_used;
        tally->n_lossy += is_used && r->is_lossy;
        tally->n_done += is_used && !r->is_lossy;
        for (size_t k = 0; all && is_used && k < r->ranks.n; k++)
            if (!is_any || r->ranks.at[k].n > 0)
                all[(*n)++] = r->ranks.at[k];
    }
    return all;
}

static enum exit_status answer(struct asking *q, enum exit_status status, const struct job_rank *rank, size_t n)
{
    struct arguments *a = q->a;
    const struct job_question question = { a->step, arguments_have(a, OPT_WHY_RANK), a->rank };
    struct job_choice choice;
    struct why_answer found;
    struct error e = { 0 };
    if (!job_choose(&choice, rank, n, &question, a->mem, &e) ||
        (choice.mode != WHY_NOTHING && !explain(q, rank, &choice, &found, &e))) {
        complain("%s", e.text);
        return e.fault == FAULT_ASKED ? STATUS_PARAMETER : STATUS_NOTHING;
    }
    const struct why_report report = { rank, n, a->top, &choice, choice.mode == WHY_NOTHING ? NULL : &found };
    if (a->json) {
        json_t *list = json_array();
        if (json_array_append_new(list, why_json(&report)) != 0) {
            json_decref(list);
            list = NULL;
        }
        return json_report(a, "answers", list, status);
    }
    struct term t;
    term_init(&t, stdout);
    if (!a->quiet)
        why_print(&t, &report);
    return status;
}

int run_why(struct arguments *a)
{
    struct asking q = { .a = a };
    enum exit_status status = targets_find(&q.targets, a, false);
    struct tally tally = { .n_failed = q.targets.n_refused };
    const size_t n_targets = q.targets.list.n;
    if (n_targets == 0)
        return exit_code(a->face, status);
    q.one = arena_take(a->mem, n_targets, sizeof *q.one);
    if (!q.one) {
        complain_no_memory("the list of directories");
        return exit_code(a->face, STATUS_NOTHING);
    }
    work_memory(a, q.targets.list.at[0].path);
    read_all(&q);
    size_t n = 0;
    const struct job_rank *rank = gather(&q, &n, &tally);
    status = tally_status(&tally);
    if (!rank)
        complain_no_memory("the list of ranks");
    if (rank && status != STATUS_NOTHING)
        status = answer(&q, status, rank, n);
    loaded_close(&q.only);
    for (size_t i = 0; i < n_targets; i++)
        arena_free(q.one[i].mem);
    memory_unwatch();
    return exit_code(a->face, rank ? status : STATUS_NOTHING);
}
