/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/path_name.h"
#include "open/recording_open.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "answers/run/chrome_kinds.h"
#include "answers/run/trace_steps.h"
#include "base/text/json_memory.h"
#include "cluster/job/rank_readers.h"
#include "cluster/results/base_tables.h"
#include "load/trace/trace_readers.h"

enum { NO_RANK = -1 };

/* ---- which rank it is of ------------------------------------------------------------------------------------------ */

/* What is known of the job of a file: from the collection that it is a part of, or from its own tables. */
struct known_job {
    int64_t rank, world; /* NO_RANK; 0: unknown */
    json_t *groups;      /* parallel_group_info; NULL: unknown */
};

static void job_take(struct known_job *job, const json_t *args, const json_t *groups)
{
    char *text = json_is_object(args) ? json_dumps(args, JSON_ENCODE_ANY) : NULL;
    if (job->world == 0)
        job->world = text ? world_size(text) : 0;
    if (!job->groups && json_is_object(groups))
        job->groups = json_incref((json_t *)groups);
    free(text);
}

static void job_of_results(struct known_job *job, const char *file, struct arena *mem)
{
    const char *dir = file;
    int64_t rank = NO_RANK;
    for (int level = 0; level < 2 && dir && rank == NO_RANK; level++) {
        const char *slash = strrchr(dir, '/');
        dir = !slash ? NULL : arena_text(mem, dir, (size_t)(slash - dir));
        rank = dir ? rank_in_info(dir) : NO_RANK;
        json_t *metadata = dir ? rank_text_json(arena_printf(mem, "%s/profiler_metadata.json", dir)) : NULL;
        job_take(job, json_object_get(metadata, "distributed_args"), json_object_get(metadata, "parallel_group_info"));
        json_decref(metadata);
    }
    job->rank = rank != NO_RANK ? rank : job->rank;
}

/* Adds the fact of the job, if the trace itself does not say. False: no memory. */
static bool find_rank(struct chrome_trace *t, const char *file, struct known_job *job)
{
    int64_t rank;
    if (chrome_rank(t, &rank))
        return true;
    job_of_results(job, file, t->mem);
    rank = job->rank != NO_RANK ? job->rank : rank_in_name(path_name(file));
    if (rank == NO_RANK)
        return !arena_failed(t->mem);
    json_t *fact_of = json_pack("{s:I, s:I}", "rank", (json_int_t)rank, "world_size", (json_int_t)job->world);
    if (job->groups)
        json_object_set(fact_of, "parallel_group_info", job->groups);
    char *made = json_dumps(fact_of, JSON_COMPACT);
    const char *text = made ? arena_text(t->mem, made, strlen(made)) : NULL;
    free(made);
    json_decref(fact_of);
    struct chrome_fact *fact = text ? list_add(&t->facts, t->mem) : NULL;
    if (fact)
        *fact = (struct chrome_fact){ names_addz(t->names, "distributedInfo"), { text, strlen(text) } };
    return fact && !names_failed(t->names);
}

/* ---- databases --------------------------------------------------------------------------------------------------- */

/* The only rank of RANK_DEVICE_MAP. */
static int64_t rank_in_database(struct db_reader *r)
{
    sqlite3_stmt *s = db_reader_rows(r, "RANK_DEVICE_MAP");
    const int column = s ? db_column(s, "rankId") : -1;
    int64_t rank = NO_RANK;
    size_t n = 0;
    while (column >= 0 && n < 2 && db_reader_next(r, s, "RANK_DEVICE_MAP")) {
        rank = sqlite3_column_int64(s, column);
        n++;
    }
    sqlite3_finalize(s);
    return n == 1 && rank >= 0 && rank <= INT32_MAX ? rank : NO_RANK;
}

/* What META_DATA says of the job. */
static void job_in_database(struct known_job *job, struct db_reader *r)
{
    sqlite3_stmt *s = db_reader_rows(r, "META_DATA");
    const int name = s ? db_column(s, "name") : -1, value = s ? db_column(s, "value") : -1;
    while (name >= 0 && value >= 0 && db_reader_next(r, s, "META_DATA")) {
        const char *key = (const char *)sqlite3_column_text(s, name),
                   *text = (const char *)sqlite3_column_text(s, value);
        json_error_t unused;
        json_t *json = key && text ? json_read(text, strlen(text), 0, &unused) : NULL;
        job_take(job, key && strcmp(key, "distributed_args") == 0 ? json : NULL,
                 key && strcmp(key, "parallel_group_info") == 0 ? json : NULL);
        json_decref(json);
    }
    sqlite3_finalize(s);
}

static bool convert(struct opened_trace *t, const char *file, struct known_job *job, struct error *e)
{
    struct db_reader r;
    struct db_trace written;
    if (!db_reader_open(&r, file, e))
        return false;
    const int fd = db_trace_unnamed(&written, &r, true, e);
    bool done =
        fd >= 0 &&
        (written.n_slices > 0 ||
         error_set(e, FAULT_FORMAT,
                   "%s: a database without tasks, collectives or operators; ascope view shows its tables", file));
    done = done && chrome_parse_unnamed(&t->trace, &t->text, fd, file, e);
    if (done) {
        job->rank = rank_in_database(&r);
        job_in_database(job, &r);
        losses_add(&t->trace.lost, LOSS_BAD_VALUE, written.n_timeless, file, 0);
        losses_add(&t->trace.lost, LOSS_CUT_SHORT, written.is_cut || r.problem[0] || r.u.log_trouble[0], file, 0);
    }
    if (fd >= 0)
        close(fd);
    db_reader_close(&r);
    return done;
}

bool trace_open(struct opened_trace *t, const struct input *input, struct error *e)
{
    struct known_job job = { .rank = NO_RANK };
    *t = (struct opened_trace){ 0 };
    bool done = db_is_database(input->file) ? convert(t, input->file, &job, e) : chrome_load(&t->trace, input->file, e);
    done = done && trace_steps_find(&t->trace, input->steps_by, e) &&
           ((chrome_unknown(&t->trace) && find_rank(&t->trace, input->file, &job)) || error_no_memory(e, input->path));
    json_decref(job.groups);
    return done;
}

struct chrome_trace trace_take(struct opened_trace *t)
{
    struct chrome_trace taken = t->trace;
    taken.map = (struct mapped){ 0 }; /* it cannot be moved */
    t->trace.mem = NULL;
    t->trace.names = NULL;
    return taken;
}

void trace_close(struct opened_trace *t)
{
    chrome_trace_free(&t->trace);
    memory_unmap(&t->text);
    *t = (struct opened_trace){ 0 };
}
