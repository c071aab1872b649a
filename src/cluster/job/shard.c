/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/job/manifest.h"

#include <stdlib.h>
#include <string.h>

#include "base/process/pool.h"
#include "cluster/rank/summary_file.h"

bool shard_of_text(const char *text, size_t *part, size_t *n_parts)
{
    enum { MOST = 1000000 };
    char *end;
    if (*text < '1' || *text > '9')
        return false;
    const unsigned long i = strtoul(text, &end, 10);
    if (*end != '/' || end[1] < '1' || end[1] > '9')
        return false;
    const unsigned long n = strtoul(end + 1, &end, 10);
    *part = i - 1;
    *n_parts = n;
    return *end == 0 && i <= n && n <= MOST;
}

/* The record of one rank. */
struct record {
    struct out bytes;
    bool is_there;
    struct rank_losses lost;
    struct error e;
};

struct making {
    const struct job *job;
    size_t first; /* rank of the first record */
    struct record *record;
};

/* One that exists is read as a whole: only what can be used is copied. */
static bool make_one(const struct job *j, size_t i, struct arena *mem, struct record *to)
{
    const struct job_rank *r = &j->ranks.at[i];
    struct rank_summary s;
    if (!job_summary(j, i, RANK_ALL, mem, &s, NULL, &to->e))
        return false;
    to->lost = job_losses(&s);
    if (to->lost.path) /* the summary is gone when it is reported */
        to->lost.path = names_text(j->names, names_addz(j->names, to->lost.path));
    return r->source == SOURCE_SUMMARY ? summary_copy(r->summary, r->offset, &to->bytes, &to->e)
                                       : summary_write(&s, r->stamp, 0, &to->bytes, &to->e);
}

static void make(void *context, size_t i)
{
    const struct making *m = context;
    struct record *to = &m->record[i];
    struct arena *mem = arena_new();
    const char *path = m->job->ranks.at[m->first + i].path;
    if (!mem)
        error_no_memory(&to->e, path);
    else if (out_open_memory(&to->bytes, &to->e)) {
        to->is_there = make_one(m->job, m->first + i, mem, to);
        if (to->bytes.failed_errno)
            to->is_there = error_no_memory(&to->e, path);
    }
    arena_free(mem);
}

struct shard {
    struct out out;
    LIST(struct summary_place) places;
    struct arena *mem;
};

/* Behind those before it. False: no memory. */
static bool append(struct job *j, struct shard *s, size_t i, struct record *of, struct shard_result *out,
                   struct error *e)
{
    const struct job_rank *r = &j->ranks.at[i];
    if (!of->is_there && of->e.fault == FAULT_LIMIT) {
        *e = of->e;
        return false;
    }
    if (!of->is_there) {
        out->n_failed++;
        return job_note(j, true, "rank %lld: %s; it is left out", (long long)r->rank, of->e.text) ||
               error_no_memory(e, r->path);
    }
    struct summary_place *place = list_add(&s->places, s->mem);
    if (!place)
        return error_no_memory(e, r->path);
    *place = (struct summary_place){ r->rank, r->stamp, out->bytes, of->bytes.n };
    out_bytes(&s->out, of->bytes.buf, of->bytes.n);
    out->bytes += of->bytes.n;
    out->n_ranks++;
    out->n_lossy += of->lost.is_lossy;
    return job_note_losses(j, r, &of->lost) || error_no_memory(e, r->path);
}

bool shard_write(struct job *j, const struct shard_request *r, struct shard_result *out, struct error *e)
{
    const size_t first = shard_first(j->ranks.n, r->part, r->n_parts);
    const size_t end = shard_first(j->ranks.n, r->part + 1, r->n_parts);
    struct shard s = { .mem = arena_new() };
    struct record *record = s.mem ? arena_take(s.mem, r->n_threads, sizeof *record) : NULL;
    *out = (struct shard_result){ 0 };
    if (!record)
        error_no_memory(e, r->path);
    if (!r->is_named)
        leftovers_sweep_of(r->path);
    bool done = record && (r->is_named ? out_open_named : out_open)(&s.out, r->path, e);
    const bool is_open = done;
    for (size_t at = first, n; done && at < end; at += n) {
        n = end - at < r->n_threads ? end - at : r->n_threads;
        memset(record, 0, r->n_threads * sizeof *record);
        pool_run(n, r->n_threads, make, &(struct making){ j, at, record });
        for (size_t i = 0; i < n; i++) {
            done = done && append(j, &s, at + i, &record[i], out, e);
            out_discard(&record[i].bytes);
        }
        const double part = (double)(at + n - first) / (double)(end - first);
        progress_stage(r->progress, "ranks", part, part, 0);
    }
    if (done)
        summary_index(s.places.at, s.places.n, &s.out);
    if (is_open && !done)
        out_discard(&s.out);
    else if (is_open)
        done = out_close(&s.out, e);
    arena_free(s.mem);
    return done;
}
