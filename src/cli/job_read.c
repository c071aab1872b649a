/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/job_read.h"

#include <pthread.h>
#include <stdio.h>

#include "base/large_memory.h"
#include "base/pool.h"
#include "base/progress.h"
#include "cli/cmd_recover.h"
#include "cli/collections.h"
#include "cli/given.h"
#include "cli/newest_ranks.h"
#include "cli/term.h"
#include "cli/work.h"

/* The data of one directory after it was read. */
struct read_one {
    LIST(struct job_rank) ranks;
    LIST(void *) more;
    struct arena *mem; /* owns both lists */
    bool is_done, is_lossy;
    const char *loss; /* a line that describes the losses; NULL: none */
    struct error e;
};

struct reading {
    struct job_read *j;
    unsigned n_threads; /* of one directory */
    struct progress progress;
    pthread_mutex_t lock; /* protects n_ended and progress */
    size_t n_ended;
};

static bool add_ranks(const struct job_read *j, struct read_one *r, const struct recording *l, size_t input)
{
    const char *path = j->inputs.list.at[input].path;
    for (size_t i = 0; i < recording_n_devices(l); i++) {
        const struct run_rank view = recording_rank(l, i);
        struct job_rank *rank = list_add(&r->ranks, r->mem);
        void **more = list_add(&r->more, r->mem);
        if (!rank || !more || !job_rank_of(rank, &view, r->mem) ||
            (j->look && !(*more = j->look(l, view.device, r->mem))))
            return error_no_memory(&r->e, path);
        rank->input = input;
        rank->device_row = i;
        rank->path = path;
    }
    return true;
}

static void read_one(void *context, size_t i)
{
    struct reading *q = context;
    struct job_read *j = q->j;
    struct read_one *r = &j->one[i];
    const size_t n = j->inputs.list.n;
    const struct input *input = &j->inputs.list.at[i];
    struct recording local = { 0 }, *l = n == 1 ? &j->only : &local;
    r->mem = arena_new();
    if (!input->is_trace)
        recover_first(j->a, input->path, stderr);
    r->is_done = r->mem ? recording_open(l, input, q->n_threads, &r->e) && add_ranks(j, r, l, i)
                        : error_no_memory(&r->e, input->path);
    r->is_lossy = l->is_lossy;
    r->loss = r->is_done && r->is_lossy ? recording_loss(l, input->path, r->mem) : NULL;
    recording_close(&local);
    pthread_mutex_lock(&q->lock);
    char what[48];
    const double done = (double)++q->n_ended / (double)n;
    snprintf(what, sizeof what, "%zu of %zu", q->n_ended, n);
    progress_stage(&q->progress, n > 1 ? what : "analysing", done, done, 0);
    pthread_mutex_unlock(&q->lock);
}

static void read_them(struct job_read *j)
{
    struct reading q = { .j = j };
    const size_t n = j->inputs.list.n;
    const unsigned n_threads = j->a->options.n_threads, at_once = n < n_threads ? (unsigned)n : n_threads;
    q.n_threads = n_threads / at_once > 0 ? n_threads / at_once : 1;
    pthread_mutex_init(&q.lock, NULL);
    progress_begin(&q.progress, stderr, !j->a->quiet);
    pool_run(n, at_once, read_one, &q);
    progress_end(&q.progress);
    pthread_mutex_destroy(&q.lock);
}

static bool has_steps(const struct read_one *r)
{
    for (size_t i = 0; i < r->ranks.n; i++)
        if (r->ranks.at[i].n > 0)
            return true;
    return false;
}

/* Leaves out the older runs of ranks that several directories have. False: no memory. */
static bool keep_newest(struct job_read *j)
{
    struct rank_place *place = arena_take(j->a->mem, j->n, sizeof *place);
    for (size_t i = 0; place && i < j->n; i++)
        place[i] = (struct rank_place){ .path = j->rank[i].path, j->rank[i].has_rank, j->rank[i].rank };
    if (!place || !newest_ranks(place, j->n))
        return false;
    size_t n = 0;
    for (size_t i = 0; i < j->n; i++)
        if (!place[i].is_older) {
            j->rank[n] = j->rank[i];
            j->more[n++] = j->more[i];
        }
    j->n = n;
    return true;
}

/* Collects the ranks of all directories; those that could not be read are reported and left out. False: no memory. */
static bool gather(struct job_read *j, struct tally *tally)
{
    size_t most = 0;
    bool is_any = false; /* some directories have steps; only these are used then */
    for (size_t i = 0; i < j->inputs.list.n; i++) {
        most += j->one[i].is_done ? j->one[i].ranks.n : 0;
        is_any = is_any || (j->needs_steps && j->one[i].is_done && has_steps(&j->one[i]));
    }
    j->rank = arena_take(j->a->mem, most, sizeof *j->rank);
    j->more = arena_take(j->a->mem, most, sizeof *j->more);
    if (!j->rank || !j->more)
        return false;
    for (size_t i = 0; i < j->inputs.list.n; i++) {
        const struct read_one *r = &j->one[i];
        const bool is_used = r->is_done && (!is_any || has_steps(r));
        if (!r->is_done)
            complain("%s", r->e.text);
        else if (!is_used)
            complain("%s: no steps were recorded; compared without it", j->inputs.list.at[i].path);
        if (is_used && r->loss)
            complain("%s", r->loss);
        tally->n_failed += !is_used;
        tally->n_lossy += is_used && r->is_lossy;
        tally->n_done += is_used && !r->is_lossy;
        for (size_t k = 0; is_used && k < r->ranks.n; k++)
            if (!is_any || r->ranks.at[k].n > 0) {
                j->rank[j->n] = r->ranks.at[k];
                j->more[j->n++] = r->more.at[k];
            }
    }
    return keep_newest(j);
}

enum exit_status job_read_all(struct job_read *j)
{
    size_t n_refused;
    const enum exit_status found = given_inputs(&j->inputs, &n_refused, j->a, j->also);
    struct tally tally = { .n_failed = n_refused };
    const size_t n = j->inputs.list.n;
    if (n == 0)
        return found;
    j->one = arena_take(j->a->mem, n, sizeof *j->one);
    if (!j->one) {
        complain_no_memory("the list of directories");
        return STATUS_NOTHING;
    }
    work_memory(j->a, j->inputs.list.at[0].path);
    read_them(j);
    if (!gather(j, &tally)) {
        complain_no_memory("the list of ranks");
        return STATUS_NOTHING;
    }
    const enum exit_status status = tally_status(&tally);
    if (j->n > 0 || status == STATUS_NOTHING)
        return status;
    complain(
        "%s: no device was recorded: there is nothing to compare or to check; ascope export shows what the host did",
        j->inputs.list.at[0].path);
    return STATUS_NOTHING;
}

const struct recording *job_read_again(struct job_read *j, const struct job_rank *r, struct recording *again,
                                       struct error *e)
{
    if (j->inputs.list.n == 1)
        return &j->only;
    return recording_open(again, &j->inputs.list.at[r->input], j->a->options.n_threads, e) ? again : NULL;
}

void job_read_end(struct job_read *j)
{
    recording_close(&j->only);
    for (size_t i = 0; j->one && i < j->inputs.list.n; i++)
        arena_free(j->one[i].mem);
    if (j->one)
        memory_unwatch();
}
