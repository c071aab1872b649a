/* SPDX-License-Identifier: Apache-2.0 */
#include "open/run_read.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/judge/job_peers.h"
#include "answers/judge/job_waits.h"
#include "base/process/pool.h"
#include "cluster/job/job.h"

/* Of several directories with the same rank, the newest counts, as in ascope cluster: they are runs after each other. */

struct rank_place {
    const char *path; /* of its directory; devices of the same directory have the same pointer */
    bool has_rank;    /* false: it is never another one's older run */
    int64_t rank;
    bool is_older; /* result */
};

struct dated {
    struct rank_place *place;
    uint64_t stamp;
};

/* By rank, the newest directory first; entries without a rank last. */
static int by_rank_and_age(const void *left, const void *right)
{
    const struct dated *a = left, *b = right;
    if (a->place->has_rank != b->place->has_rank)
        return a->place->has_rank ? -1 : 1;
    if (a->place->has_rank && a->place->rank != b->place->rank)
        return a->place->rank < b->place->rank ? -1 : 1;
    if (a->stamp != b->stamp)
        return a->stamp > b->stamp ? -1 : 1;
    return strcmp(b->place->path, a->place->path); /* of those without a time the last one, as in ascope cluster */
}

/* Sets is_older of each entry whose rank is in a newer directory, and warns of them in one line. False: no memory. */
static bool newest_ranks(struct rank_place *at, size_t n, void (*warn)(const char *line))
{
    struct dated *sorted = calloc(n + 1, sizeof *sorted);
    if (!sorted)
        return false;
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct dated){ &at[i], job_stamp(at[i].path) };
    qsort(sorted, n, sizeof *sorted, by_rank_and_age);
    const struct dated *newest = sorted;
    const char *reported = NULL;
    struct ranks_twice twice = { 0 };
    for (size_t i = 0; i < n && sorted[i].place->has_rank; i++) {
        struct rank_place *r = sorted[i].place;
        if (r->rank != newest->place->rank || r->path == newest->place->path) {
            newest = r->rank != newest->place->rank ? &sorted[i] : newest;
            continue;
        }
        r->is_older = true;
        if (r->path != reported)
            ranks_twice_add(&twice, r->rank, newest->place->path, r->path, newest->stamp > sorted[i].stamp);
        reported = r->path;
    }
    char line[RANKS_TWICE_LINE];
    if (ranks_twice_line(line, &twice))
        warn(line);
    free(sorted);
    return true;
}

/* The data of one input after it was read. */
struct run_input {
    LIST(struct run_member) ranks;
    LIST(void *) more;
    struct arena *mem;      /* owns both lists */
    struct recording *open; /* NULL: it was closed */
    bool is_done, is_lossy;
    const char *loss; /* a line that describes the losses; NULL: none */
    struct error e;
};

struct run_read_reading {
    struct run *run;
    unsigned n_threads;   /* of one input */
    pthread_mutex_t lock; /* protects the rest */
    uint64_t kept_bytes;
    size_t n_ended;
};

static void warn(const struct run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void warn(const struct run *r, const char *fmt, ...)
{
    char line[600];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    r->of.warn(line);
}

static bool add_ranks(const struct run *run, struct run_input *r, const struct recording *l, size_t input)
{
    const char *path = run->of.inputs->list.at[input].path;
    for (size_t i = 0; i < recording_n_devices(l); i++) {
        const struct run_rank view = recording_rank(l, i);
        struct run_member *rank = list_add(&r->ranks, r->mem);
        void **more = list_add(&r->more, r->mem);
        if (!rank || !more || (!run->of.only_look && !run_member_of(rank, &view, r->mem)))
            return error_no_memory(&r->e, path);
        rank->has_rank = run_rank_number(&view, &rank->rank);
        if (run->of.look && !(*more = run->of.look(run->of.look_of, l, i, r->mem, &r->e)))
            return r->e.fault != FAULT_NONE ? false : error_no_memory(&r->e, path);
        rank->input = input;
        rank->device_row = i;
        rank->path = path;
    }
    return true;
}

/* Closes a recording that was read, unless there is room to keep it. */
static void keep_or_close(struct run_read_reading *q, struct run_input *r, struct recording *l)
{
    const uint64_t bytes = recording_bytes(l);
    pthread_mutex_lock(&q->lock);
    const bool is_kept = r->is_done && !q->run->of.only_look &&
                         (q->run->of.inputs->list.n == 1 || q->kept_bytes + bytes <= q->run->of.keep_bytes);
    q->kept_bytes += is_kept ? bytes : 0;
    pthread_mutex_unlock(&q->lock);
    if (is_kept) {
        r->open = l;
        return;
    }
    recording_close(l);
    free(l);
}

static void read_input(void *context, size_t i)
{
    struct run_read_reading *q = context;
    const struct run_request *of = &q->run->of;
    struct run_input *r = &q->run->input[i];
    const struct input *input = &of->inputs->list.at[i];
    struct recording *l = calloc(1, sizeof *l);
    r->mem = arena_new();
    if (of->prepare && !input->file)
        of->prepare(of->context, input->path);
    r->is_done = r->mem && l ? recording_open(l, input, of->without, q->n_threads, &r->e) && add_ranks(q->run, r, l, i)
                             : error_no_memory(&r->e, input->path);
    r->is_lossy = l && l->is_lossy;
    r->loss = r->is_done && r->is_lossy ? recording_loss(l, input->path, r->mem) : NULL;
    if (l)
        keep_or_close(q, r, l);
    pthread_mutex_lock(&q->lock);
    char what[48];
    const size_t n = of->inputs->list.n;
    const double done = (double)++q->n_ended / (double)n;
    snprintf(what, sizeof what, "%zu of %zu", q->n_ended, n);
    progress_stage(of->progress, n > 1 ? what : "analysing", done, done, 0);
    pthread_mutex_unlock(&q->lock);
}

static void read_them(struct run *r)
{
    struct run_read_reading q = { .run = r };
    const size_t n = r->of.inputs->list.n;
    const unsigned n_threads = r->of.n_threads, at_once = n < n_threads ? (unsigned)n : n_threads;
    q.n_threads = n_threads / at_once > 0 ? n_threads / at_once : 1;
    pthread_mutex_init(&q.lock, NULL);
    pool_run(n, at_once, read_input, &q);
    pthread_mutex_destroy(&q.lock);
}

static bool has_steps(const struct run_input *r)
{
    for (size_t i = 0; i < r->ranks.n; i++)
        if (r->ranks.at[i].n > 0)
            return true;
    return false;
}

/* Where the ranks of the group of rank `first` end. */
static size_t group_end(const struct run *r, size_t first)
{
    size_t end = first;
    while (end < r->n && (!r->of.group || r->of.group[r->rank[end].input] == r->of.group[r->rank[first].input]))
        end++;
    return end;
}

/* Leaves out the older runs of ranks that several directories have. False: no memory. */
static bool keep_newest(struct run *r)
{
    struct rank_place *place = arena_take(r->mem, r->n, sizeof *place);
    for (size_t i = 0; place && i < r->n; i++)
        place[i] = (struct rank_place){ .path = r->rank[i].path, r->rank[i].has_rank, r->rank[i].rank };
    bool done = place != NULL;
    for (size_t i = 0, end; done && i < r->n; i = end) {
        end = group_end(r, i);
        done = newest_ranks(place + i, end - i, r->of.warn);
    }
    if (!done)
        return false;
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        if (!place[i].is_older) {
            r->rank[n] = r->rank[i];
            r->more[n++] = r->more[i];
        }
    r->n = n;
    return true;
}

/* Collects the ranks of all inputs; those that could not be read are reported and left out. False: no memory. */
static bool run_read_gather(struct run *run)
{
    const struct inputs *inputs = run->of.inputs;
    size_t most = 0;
    bool is_any = false; /* some inputs have steps; only these are used then */
    for (size_t i = 0; i < inputs->list.n; i++) {
        most += run->input[i].is_done ? run->input[i].ranks.n : 0;
        is_any = is_any || (run->of.needs_steps && run->input[i].is_done && has_steps(&run->input[i]));
    }
    run->rank = arena_take(run->mem, most, sizeof *run->rank);
    run->more = arena_take(run->mem, most, sizeof *run->more);
    if (!run->rank || !run->more)
        return false;
    for (size_t i = 0; i < inputs->list.n; i++) {
        const struct run_input *r = &run->input[i];
        const bool is_used = r->is_done && (!is_any || has_steps(r));
        if (!r->is_done)
            warn(run, "%s", r->e.text);
        else if (!is_used)
            warn(run, "%s: no steps were recorded; compared without it", inputs->list.at[i].path);
        if (is_used && r->loss)
            run->of.warn(r->loss);
        run->n_failed += !is_used;
        run->n_lossy += is_used && r->is_lossy;
        run->n_done += is_used && !r->is_lossy;
        for (size_t k = 0; is_used && k < r->ranks.n; k++)
            if (!is_any || r->ranks.at[k].n > 0) {
                run->rank[run->n] = r->ranks.at[k];
                run->more[run->n++] = r->more.at[k];
            }
    }
    return keep_newest(run);
}

bool run_read(struct run *r, const struct run_request *q, struct arena *mem)
{
    *r = (struct run){ .of = *q, .mem = mem };
    r->input = arena_take(mem, q->inputs->list.n, sizeof *r->input);
    if (!r->input)
        return false;
    read_them(r);
    return run_read_gather(r) &&
           (q->only_look || (job_waits_find(r->rank, r->n, mem) && job_peers_find(r->rank, r->n, mem)));
}

bool run_of_members(struct run *r, const struct run_request *q, struct run_member *rank, size_t n, struct arena *mem)
{
    *r = (struct run){ .n = n, .rank = rank, .of = *q, .mem = mem };
    r->input = arena_take(mem, q->inputs->list.n, sizeof *r->input);
    return r->input != NULL;
}

const struct recording *run_recording(struct run *r, const struct run_member *rank, struct recording *again,
                                      struct error *e)
{
    if (r->input[rank->input].open)
        return r->input[rank->input].open;
    return recording_open(again, &r->of.inputs->list.at[rank->input], r->of.without, r->of.n_threads, e) ? again : NULL;
}

void run_end(struct run *r)
{
    for (size_t i = 0; r->input && i < r->of.inputs->list.n; i++) {
        struct run_input *input = &r->input[i];
        if (input->open)
            recording_close(input->open);
        free(input->open);
        arena_free(input->mem);
    }
}
