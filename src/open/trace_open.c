/* SPDX-License-Identifier: Apache-2.0 */
#include "open/trace_open.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "answers/run/chrome_kinds.h"
#include "answers/run/trace_steps.h"
#include "cluster/results/cluster_steps.h"
#include "cluster/job/rank_text.h"
#include "cluster/job/rank_trace.h"
#include "load/trace/chrome_load.h"
#include "load/trace/db_trace.h"

enum { NO_RANK = -1 };

/* ---- which rank it is of ------------------------------------------------------------------------------------------ */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The rank of a file of results, and the number of ranks of its job (0: unknown), from the collection that it is a part of. */
static int64_t rank_of_results(const char *file, int64_t *world, struct arena *mem)
{
    const char *dir = file;
    int64_t rank = NO_RANK;
    for (int level = 0; level < 2 && dir && rank == NO_RANK; level++) {
        const char *slash = strrchr(dir, '/');
        dir = !slash ? NULL : arena_text(mem, dir, (size_t)(slash - dir));
        rank = dir ? rank_in_info(dir) : NO_RANK;
        json_t *metadata = dir ? rank_text_json(arena_printf(mem, "%s/profiler_metadata.json", dir)) : NULL;
        char *args = metadata ? json_dumps(json_object_get(metadata, "distributed_args"), JSON_ENCODE_ANY) : NULL;
        *world = args ? world_size(args) : *world;
        free(args);
        json_decref(metadata);
    }
    return rank;
}

/* Adds the fact of the rank, if the trace itself does not say. False: no memory. */
static bool find_rank(struct chrome_trace *t, const char *file, int64_t of_database)
{
    int64_t rank, world = 0;
    if (chrome_rank(t, &rank))
        return true;
    rank = rank_of_results(file, &world, t->mem);
    rank = rank != NO_RANK ? rank : of_database;
    rank = rank != NO_RANK ? rank : rank_in_name(last_part(file));
    if (rank == NO_RANK)
        return !arena_failed(t->mem);
    const char *text = arena_printf(t->mem, "{\"rank\":%lld,\"world_size\":%lld}", (long long)rank, (long long)world);
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

static bool convert(struct opened_trace *t, const char *file, int64_t *rank, struct error *e)
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
        *rank = rank_in_database(&r);
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
    int64_t of_database = NO_RANK;
    *t = (struct opened_trace){ 0 };
    const bool done =
        db_is_database(input->file) ? convert(t, input->file, &of_database, e) : chrome_load(&t->trace, input->file, e);
    return done && trace_steps_find(&t->trace, input->steps_by, e) &&
           ((chrome_unknown(&t->trace) && find_rank(&t->trace, input->file, of_database)) ||
            error_no_memory(e, input->path));
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
