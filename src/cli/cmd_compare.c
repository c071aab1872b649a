/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd_compare.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "answers/run_chrome.h"
#include "answers/run_collection.h"
#include "base/large_memory.h"
#include "base/pool.h"
#include "base/progress.h"
#include "cli/cmd_recover.h"
#include "cli/collections.h"
#include "cli/compare_files.h"
#include "cli/compare_report.h"
#include "cli/exit_status.h"
#include "cli/given.h"
#include "open/newest_ranks.h"
#include "open/recording_open.h"
#include "cli/summary.h"
#include "cli/work.h"

enum { SIDES = 2 };

/* A directory or file of one side, and its ranks after it was read. */
struct item {
    unsigned side;
    struct input input;
    struct arena *mem;
    LIST(struct measured_rank) ranks;
    bool is_done, is_lossy;
    struct error e;
};

struct comparing {
    struct arguments *a;
    struct names *names; /* of both sides */
    LIST(struct item) items;
    size_t n_refused;   /* directories that could not be read at all */
    unsigned n_threads; /* of one item */
    struct progress progress;
    pthread_mutex_t lock; /* protects n_ended and progress; also held while printing */
    size_t n_ended;
};

/* ---- what is compared ---------------------------------------------------------------------------------------------- */

static bool add_item(struct comparing *q, unsigned side, const struct input *input)
{
    struct item *new = list_add(&q->items, q->a->mem);
    if (!new)
        complain_no_memory("the list of directories");
    else
        *new = (struct item){ .side = side, .input = *input };
    return new != NULL;
}

static enum exit_status add_side(struct comparing *q, unsigned side, const char *given)
{
    const char *path = path_expand(q->a, side == 0 ? "A" : "B", given);
    if (!path)
        return arena_failed(q->a->mem) ? STATUS_NOTHING : STATUS_PATH;
    struct inputs inputs = { .mem = q->a->mem };
    enum exit_status status = given_add(&inputs, path, INPUT_RESULTS);
    if (status == STATUS_NOTHING && inputs.list.n > 0 &&
        !arena_failed(q->a->mem)) { /* the usable directories are compared */
        q->n_refused++;
        status = STATUS_DONE;
    }
    for (size_t i = 0; i < inputs.list.n && status == STATUS_DONE; i++)
        status = add_item(q, side, &inputs.list.at[i]) ? STATUS_DONE : STATUS_NOTHING;
    return status;
}

/* ---- reading ------------------------------------------------------------------------------------------------------- */

static bool read_chrome(struct comparing *q, struct item *x)
{
    struct opened_trace t = { 0 };
    struct measured_rank *rank = list_add(&x->ranks, x->mem);
    if (!rank)
        return error_no_memory(&x->e, x->input.path);
    const bool done = trace_open(&t, &x->input, &x->e) && run_of_chrome(rank, &t.trace, q->names, x->mem, &x->e);
    rank->path = x->input.path;
    x->is_lossy = losses_damage(&t.trace.lost) > 0;
    if (x->is_lossy) {
        pthread_mutex_lock(&q->lock);
        complain_losses(x->input.path, &t.trace.lost);
        pthread_mutex_unlock(&q->lock);
    }
    trace_close(&t);
    return done;
}

static bool read_collection(struct comparing *q, struct item *x)
{
    struct recording l = { 0 };
    recover_first(q->a, x->input.path, stderr);
    bool done = recording_open(&l, &x->input, q->n_threads, &x->e);
    for (size_t i = 0; done && i < recording_n_devices(&l); i++) {
        struct measured_rank *rank = list_add(&x->ranks, x->mem);
        done = rank &&
               (run_of_collection(rank, l.profile, recording_device(&l, i), l.collection, q->names, x->mem, &x->e) ||
                x->e.fault != FAULT_NONE);
        if (!done)
            error_no_memory(&x->e, x->input.path);
        else
            rank->path = x->input.path;
    }
    x->is_lossy = l.is_lossy;
    const char *const loss = done && l.is_lossy ? recording_loss(&l, x->input.path, x->mem) : NULL;
    if (loss) {
        pthread_mutex_lock(&q->lock);
        complain("%s", loss);
        pthread_mutex_unlock(&q->lock);
    }
    recording_close(&l);
    return done && x->e.fault == FAULT_NONE;
}

static void read_one(void *context, size_t i)
{
    struct comparing *q = context;
    struct item *x = &q->items.at[i];
    x->mem = arena_new();
    x->is_done = !x->mem         ? error_no_memory(&x->e, x->input.path)
                 : x->input.file ? read_chrome(q, x)
                                 : read_collection(q, x);
    pthread_mutex_lock(&q->lock);
    char what[48];
    const double done = (double)++q->n_ended / (double)q->items.n;
    snprintf(what, sizeof what, "%zu of %zu", q->n_ended, q->items.n);
    progress_stage(&q->progress, what, done, done, 0);
    pthread_mutex_unlock(&q->lock);
}

static void read_all(struct comparing *q)
{
    const size_t n = q->items.n;
    const unsigned n_threads = q->a->options.n_threads, at_once = n < n_threads ? (unsigned)n : n_threads;
    q->n_threads = n_threads / at_once > 0 ? n_threads / at_once : 1;
    progress_begin(&q->progress, stderr, !q->a->quiet);
    pool_run(n, at_once, read_one, q);
    progress_end(&q->progress);
}

/* Leaves out the older runs of ranks that several directories of a side have. False: no memory. */
static bool keep_newest(struct comparing *q, struct measured_rank *rank, size_t *n)
{
    struct rank_place *place = arena_take(q->a->mem, *n, sizeof *place);
    for (size_t i = 0; place && i < *n; i++)
        place[i] = (struct rank_place){ .path = rank[i].path, rank[i].has_rank, rank[i].rank };
    if (!place || !newest_ranks(place, *n, complain_line))
        return false;
    size_t n_kept = 0;
    for (size_t i = 0; i < *n; i++)
        if (!place[i].is_older)
            rank[n_kept++] = rank[i];
    *n = n_kept;
    return true;
}

/* Collects the ranks of a side; items that could not be read are reported and left out. NULL: no memory. */
static struct measured_rank *gather(struct comparing *q, unsigned side, size_t *n, struct tally *tally)
{
    size_t most = 0;
    for (size_t i = 0; i < q->items.n; i++)
        most += q->items.at[i].ranks.n;
    struct measured_rank *all = arena_take(q->a->mem, most, sizeof *all);
    *n = 0;
    for (size_t i = 0; i < q->items.n; i++) {
        const struct item *x = &q->items.at[i];
        if (x->side != side)
            continue;
        if (!x->is_done)
            complain("%s", x->e.text);
        tally->n_failed += !x->is_done;
        tally->n_lossy += x->is_done && x->is_lossy;
        tally->n_done += x->is_done && !x->is_lossy;
        for (size_t k = 0; all && x->is_done && k < x->ranks.n; k++)
            all[(*n)++] = x->ranks.at[k];
    }
    return all && keep_newest(q, all, n) ? all : NULL;
}

/* ---- the answer ---------------------------------------------------------------------------------------------------- */

static enum exit_status report(struct comparing *q, const struct compare_report *r, enum exit_status status)
{
    struct arguments *a = q->a;
    struct error e = { 0 };
    size_t n_written = 0;
    if (a->options.out_dir && !compare_files_write(r, a->options.out_dir, a->options.csv_is_safe, &n_written, &e)) {
        complain("%s", e.text);
        if (n_written == 0)
            return STATUS_NOTHING;
        status = STATUS_LOSSES;
    }
    if (a->json) {
        json_t *list = json_array();
        json_list_add(&list, compare_json(r));
        return json_report(a, "comparisons", list, status);
    }
    struct term t;
    term_init(&t, stdout);
    if (!a->quiet)
        compare_print(&t, r);
    return status;
}

static enum exit_status answer(struct comparing *q)
{
    struct arguments *a = q->a;
    struct tally tally = { .n_failed = q->n_refused };
    size_t n[SIDES], n_changes = 0;
    struct comparison c;
    struct error e = { 0 };
    struct measured_rank *of_a = gather(q, 0, &n[0], &tally), *of_b = gather(q, 1, &n[1], &tally);
    if (!of_a || !of_b) {
        complain_no_memory("the list of ranks");
        return STATUS_NOTHING;
    }
    for (unsigned i = 0; i < SIDES; i++)
        if (n[i] == 0) {
            complain("%s: no device was recorded, or nothing could be read: there is nothing to compare", a->word[i]);
            return STATUS_NOTHING;
        }
    if (!compare_runs(&c, of_a, n[0], of_b, n[1], q->names, a->mem, &e)) {
        complain("%s", e.text);
        return e.fault == FAULT_ASKED ? STATUS_PARAMETER : STATUS_NOTHING;
    }
    const struct compared_row **change = compare_changes(&c, &n_changes, a->mem);
    if (!change) {
        complain_no_memory("the comparison");
        return STATUS_NOTHING;
    }
    tally.n_failed += c.n_alone_a + c.n_alone_b; /* ranks without a counterpart were not compared */
    const struct compare_report r = {
        .name = { a->word[0], a->word[1] }, .c = &c, .change = change, .n_changes = n_changes, .top = a->top
    };
    return report(q, &r, tally_status(&tally));
}

int run_compare(struct arguments *a)
{
    struct comparing q = { .a = a, .names = names_new() };
    enum exit_status status = q.names ? STATUS_DONE : STATUS_NOTHING;
    if (a->n_words != SIDES) {
        complain(
            "compare: expected two paths, A and B: collections, directories of ranks, or *.json of torch.profiler; see ascope help compare");
        names_free(q.names);
        return exit_code(a->face, STATUS_USAGE);
    }
    if (!q.names)
        complain_no_memory("the table of names");
    for (unsigned i = 0; i < SIDES && status == STATUS_DONE; i++)
        status = add_side(&q, i, a->word[i]);
    if (status == STATUS_DONE) {
        work_memory(a, q.items.at[0].input.file ? "/var/tmp"
                                                : q.items.at[0].input.path); /* no temporary file beside a trace */
        pthread_mutex_init(&q.lock, NULL);
        read_all(&q);
        pthread_mutex_destroy(&q.lock);
        status = answer(&q);
        memory_unwatch();
    }
    for (size_t i = 0; i < q.items.n; i++)
        arena_free(q.items.at[i].mem);
    names_free(q.names);
    return exit_code(a->face, status);
}
