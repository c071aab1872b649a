/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/cluster.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "analyse/framework/step_marks.h"
#include "base/process/pool.h"
#include "cluster/results/base_tables.h"

/* A rank between its reader and the modes. */
struct arrival {
    struct rank_summary summary;
    struct rank whole;
    unsigned parts;    /* that were read */
    struct arena *mem; /* NULL: not read yet, or freed */
    struct error e;
    bool is_claimed, is_there;
};

/* Ranks that lack something: how many, and the first of them as a text, "2, 5, 6 ...". */
struct lack {
    size_t n;
    char ranks[200];
};

/* A mode while it runs. */
struct running {
    const struct mode *mode;
    struct mode_context context;
    void *state;
    struct results results;
    bool is_skipped;  /* of --mode all-modes: it lacks an option or data */
    bool waits;       /* postponed for lack of memory: it runs in the next round */
    bool is_over;     /* its results are written */
    struct lack lack; /* ranks that lack what it needs */
};

/* Parts that either all ranks of a job have or none, and the files that they come from. */
static const struct {
    unsigned part;
    const char *what;
} alike[] = {
    { RANK_STEP_TRACE, "the times of their steps (analysis.db, step_trace_time.csv)" },
    { RANK_COMM_TABLES, "the times of their communication (analysis.db, communication.json)" },
    { RANK_COMM_MATRIX, "the traffic of their links (analysis.db, communication_matrix.json)" },
};
enum { ALIKE = sizeof alike / sizeof *alike };

struct drive {
    struct job *job;
    const struct cluster_request *r;
    struct cluster_result *out;
    struct arrival *arrival;
    struct running *running;
    unsigned parts, round;
    unsigned single; /* of recorded data, which would else be analysed again */
    double shown;    /* part of the progress that was reported so far; it never goes back */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t n_claimed, n_used;
    uint64_t held_bytes;
    bool is_over; /* after an error: the threads stop reading */
    size_t n_without_step;
    struct lack lack[ALIKE];
    struct error *e;
};

/* An estimate of the memory that a rank takes, by its source. */
static uint64_t bytes_held(const struct job_rank *r)
{
    static const uint64_t factor[] = { [SOURCE_NONE] = 0, [SOURCE_COLLECTION] = 0, [SOURCE_TEXT] = 4,
                                       [SOURCE_DB] = 3,   [SOURCE_SUMMARY] = 8,    [SOURCE_TRACE] = 3 };
    enum { LEAST = 1 << 18, RAW = 1 << 27 };
    return LEAST + (r->source == SOURCE_COLLECTION ? RAW : factor[r->source] * r->bytes);
}

static void read_rank(struct drive *d, size_t i)
{
    struct arrival *a = &d->arrival[i];
    a->mem = arena_new();
    a->parts = d->parts | (d->job->ranks.at[i].source == SOURCE_COLLECTION ? d->single : 0);
    if (!a->mem)
        error_no_memory(&a->e, d->job->ranks.at[i].path);
    else
        job_summary(d->job, i, a->parts, a->mem, &a->summary, &a->whole, &a->e);
}

/* Takes the next rank that no thread has begun to read. The lock is held. */
static size_t claim(struct drive *d)
{
    const size_t i = d->n_claimed++;
    d->arrival[i].is_claimed = true;
    d->held_bytes += bytes_held(&d->job->ranks.at[i]);
    return i;
}

static void arrive(struct drive *d, size_t i)
{
    pthread_mutex_unlock(&d->lock);
    read_rank(d, i);
    pthread_mutex_lock(&d->lock);
    d->arrival[i].is_there = true;
    pthread_cond_broadcast(&d->changed);
}

/* A thread that reads ranks ahead, as far as memory allows. */
static void read_ahead(struct drive *d)
{
    pthread_mutex_lock(&d->lock);
    while (!d->is_over && d->n_claimed < d->job->ranks.n) {
        const uint64_t next = bytes_held(&d->job->ranks.at[d->n_claimed]);
        if (d->held_bytes > 0 && d->held_bytes + next > d->r->memory_bytes)
            pthread_cond_wait(&d->changed, &d->lock);
        else
            arrive(d, claim(d));
    }
    pthread_mutex_unlock(&d->lock);
}

static void lack_add(struct lack *l, int64_t rank)
{
    const size_t used = strlen(l->ranks);
    if (used < sizeof l->ranks - 32)
        snprintf(l->ranks + used, sizeof l->ranks - used, "%s%lld", used ? ", " : "", (long long)rank);
    else if (used < sizeof l->ranks - 8 && l->ranks[used - 1] != '.')
        snprintf(l->ranks + used, sizeof l->ranks - used, " ...");
    l->n++;
}

/* With --mode all-modes, a mode that needs an option or single tasks is skipped with a note: true, and the error is
 * cleared. */
static bool skip(struct drive *d, struct running *m)
{
    m->is_skipped =
        d->r->options->is_all_modes && d->e->fault == FAULT_ASKED && job_note(d->job, false, "%s", d->e->text);
    if (m->is_skipped)
        *d->e = (struct error){ 0 };
    return m->is_skipped;
}

static bool is_running(const struct running *m)
{
    return !m->is_skipped && !m->waits && !m->is_over;
}

/* Postpones the mode that keeps most, as long as the modes keep more than they may and another one remains. */
static void make_room(struct drive *d)
{
    for (;;) {
        struct running *largest = NULL;
        uint64_t all = 0;
        size_t n = 0;
        for (size_t k = 0; k < d->r->n_modes; k++) {
            struct running *m = &d->running[k];
            if (!is_running(m))
                continue;
            const size_t bytes = arena_bytes(m->context.mem);
            all += bytes;
            n++;
            if (!m->mode->streams && (!largest || bytes > arena_bytes(largest->context.mem)))
                largest = m;
        }
        if (!largest || n < 2 || d->r->modes_bytes == 0 || all <= d->r->modes_bytes)
            return;
        arena_free(largest->context.mem);
        largest->context.mem = NULL;
        largest->waits = true;
    }
}

static bool add_rank(struct running *m, const struct rank_summary *s)
{
    m->context.scratch = arena_new();
    const bool works = m->context.scratch && m->mode->add(m->state, &m->context, s);
    arena_free(m->context.scratch);
    m->context.scratch = NULL;
    return works;
}

static bool feed(struct drive *d, const struct arrival *a)
{
    const struct rank_summary *const s = &a->summary;
    for (size_t k = 0; k < d->r->n_modes; k++) {
        struct running *m = &d->running[k];
        if (!is_running(m))
            continue;
        if ((s->has & m->mode->needs) != m->mode->needs) {
            lack_add(&m->lack, s->identity.rank);
            continue;
        }
        m->context.rank = a->whole.mem ? &a->whole : NULL;
        m->context.rank_parts = a->parts;
        const bool works = add_rank(m, s);
        m->context.rank = NULL; /* its memory ends before the mode does */
        if (!works && !skip(d, m))
            return d->e->fault != FAULT_NONE ? false : error_no_memory(d->e, m->mode->name);
    }
    make_room(d);
    return true;
}

/* Whether a rank has the step of --step; true if no step is asked for, or if no mode looks at steps. */
static bool has_step(const struct drive *d, const struct rank_summary *s)
{
    bool found = !d->r->options->has_step || !(d->parts & RANK_STEPS);
    char wanted[32];
    snprintf(wanted, sizeof wanted, "%lld", (long long)d->r->options->step);
    for (size_t i = 0; i < s->steps.n && !found; i++)
        found = s->steps.id[i] == d->r->options->step;
    for (size_t i = 0; i < s->step_trace.n && !found; i++) /* all that text results have */
        found = strcmp(names_text(s->names, s->step_trace.step[i]), wanted) == 0;
    return found;
}

/* Counts and reports what the results lack because of this rank, once for all rounds. */
static bool account_rank(struct drive *d, size_t i)
{
    const struct arrival *a = &d->arrival[i];
    const struct job_rank *r = &d->job->ranks.at[i];
    bool done = true;
    if (d->round > 0)
        return true;
    if (a->e.fault != FAULT_NONE) {
        d->out->n_failed++;
        done = job_note(d->job, true, "rank %lld: %s; it is left out", (long long)r->rank, a->e.text);
    } else {
        const struct rank_losses lost = job_losses(&a->summary);
        d->out->n_ranks++;
        d->n_without_step += !has_step(d, &a->summary);
        for (size_t k = 0; k < ALIKE; k++)
            if (d->parts & alike[k].part & ~a->summary.has)
                lack_add(&d->lack[k], a->summary.identity.rank);
        if (d->job->world == 0)
            d->job->world = world_size(a->summary.identity.distributed_args);
        const char *trouble = a->summary.identity.log_trouble;
        d->out->n_lossy += lost.is_lossy || trouble;
        const char *by = a->summary.identity.steps_by;
        done = job_note_losses(d->job, r, &lost) && (!by || job_note(d->job, false, STEPS_BY, by)) &&
               (!trouble || job_note(d->job, true, "rank %lld: %s", (long long)r->rank, trouble));
    }
    return done || error_no_memory(d->e, r->path);
}

/* Reports ranks that were not found although the job has them, or although they are below the highest one: "2, 5-7". */
static bool report_missing(struct drive *d)
{
    const size_t n = d->job->ranks.n;
    int64_t end = n > 0 ? d->job->ranks.at[n - 1].rank + 1 : 0;
    char gaps[JOB_GAPS];
    if (d->job->is_filtered)
        return true;
    end = d->job->world > end && d->job->world <= INT32_MAX ? d->job->world : end;
    const int64_t n_missing = job_gaps(d->job, 0, end - 1, gaps);
    return n_missing == 0 ||
           job_note(d->job, true, "%lld of %lld ranks are missing: %s", (long long)n_missing, (long long)end, gaps) ||
           error_no_memory(d->e, "ascope cluster");
}

/* Reports parts that only some of the ranks have: in the tables the other ranks are missing. */
static bool report_unlike(struct drive *d)
{
    bool done = true;
    for (size_t k = 0; done && k < ALIKE; k++)
        if (d->lack[k].n > 0 && d->lack[k].n < d->out->n_ranks)
            done = job_note(d->job, true, "ranks %s lack %s; these are missing from the results", d->lack[k].ranks,
                            alike[k].what);
    return done || error_no_memory(d->e, "ascope cluster");
}

static bool report_step(struct drive *d)
{
    return d->n_without_step == 0 ||
           job_note(d->job, true, "step %lld: %zu of %zu ranks do not have it; they are left out",
                    (long long)d->r->options->step, d->n_without_step, d->out->n_ranks) ||
           error_no_memory(d->e, "ascope cluster");
}

static void give_back(struct drive *d, size_t i)
{
    arena_free(d->arrival[i].mem);
    d->arrival[i].mem = NULL;
}

/* Feeds the ranks to the modes in their order. A rank that no other thread has begun to read is read here. */
static void use_all(struct drive *d)
{
    const size_t n = d->job->ranks.n;
    bool done = true;
    for (size_t i = 0; i < n && done; i++) {
        struct arrival *a = &d->arrival[i];
        pthread_mutex_lock(&d->lock);
        if (!a->is_claimed)
            arrive(d, claim(d));
        while (!a->is_there)
            pthread_cond_wait(&d->changed, &d->lock);
        pthread_mutex_unlock(&d->lock);
        if (a->e.fault == FAULT_LIMIT)
            done = error_set(d->e, FAULT_LIMIT, "%s", a->e.text);
        done = done && account_rank(d, i) && (a->e.fault != FAULT_NONE || feed(d, a));
        give_back(d, i);
        pthread_mutex_lock(&d->lock);
        d->n_used++;
        d->held_bytes -= bytes_held(&d->job->ranks.at[i]);
        d->is_over = !done;
        pthread_cond_broadcast(&d->changed);
        pthread_mutex_unlock(&d->lock);
        d->shown = fmax(d->shown, 0.9 * (double)(i + 1) / (double)n);
        progress_stage(d->r->progress, "ranks", d->shown, d->shown, 0);
    }
}

static void drive_job(void *context, size_t i)
{
    struct drive *d = context;
    if (i == 0)
        use_all(d);
    else
        read_ahead(d);
}

static bool read_all(struct drive *d)
{
    const size_t n = d->job->ranks.n;
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    for (size_t i = 0; i < n; i++)
        d->arrival[i] = (struct arrival){ 0 };
    d->n_claimed = d->n_used = 0;
    d->held_bytes = 0;
    pool_run(d->r->n_threads, d->r->n_threads, drive_job, d);
    for (size_t i = 0; i < n; i++)
        give_back(d, i);
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
    return !d->is_over;
}

static bool begin_mode(struct drive *d, struct running *m, const struct mode *mode, struct results_writer *writer)
{
    struct arena *mem = arena_new();
    *m = (struct running){ .mode = mode,
                           .context = { .mode = mode,
                                        .options = d->r->options,
                                        .job = d->job,
                                        .names = d->job->names,
                                        .mem = mem,
                                        .writer = writer,
                                        .report = &d->out->report,
                                        .e = d->e },
                           .results = { .class_name = mode->class_name, .mem = mem } };
    m->state = mem ? mode->begin(&m->context) : NULL;
    return m->state != NULL || skip(d, m) || (d->e->fault != FAULT_NONE ? false : error_no_memory(d->e, mode->name));
}

static bool add_line(struct cluster_result *out, bool is_finding, const char *text)
{
    const char *copy = arena_text(out->mem, text, strlen(text));
    const char **slot = is_finding ? list_add(&out->findings, out->mem) : list_add(&out->notes, out->mem);
    if (slot)
        *slot = copy;
    return slot && copy;
}

static bool report_lack(struct drive *d, const struct running *m)
{
    bool is_text = false;
    if (m->lack.n == 0)
        return true;
    for (size_t i = 0; i < d->job->ranks.n; i++)
        is_text = is_text || d->job->ranks.at[i].source == SOURCE_TEXT;
    const bool is_all = m->lack.n >= d->out->n_ranks, is_asked = !d->r->options->is_all_modes;
    return is_all
               ? job_note(d->job, is_asked, "%s: no rank has the required data; nothing is written (%s)", m->mode->name,
                          is_text ? "tables are not enough: it needs databases, summaries or trace_view.json"
                                  : "it was not recorded: profiler_level Level1 or higher, steps of a framework")
               : job_note(d->job, true, "%s: ranks %s lack the required data; they are left out", m->mode->name,
                          m->lack.ranks);
}

static bool end_mode(struct drive *d, struct running *m, struct results_writer *writer)
{
    if (m->waits || m->is_over)
        return true;
    m->is_over = true;
    bool done = m->is_skipped || report_lack(d, m);
    if (done && !m->is_skipped && (m->lack.n < d->out->n_ranks || d->out->n_ranks == 0))
        done = (m->mode->finish(m->state, &m->context, &m->results, d->e) &&
                (!writer || writer_results(writer, &m->results, d->e))) ||
               skip(d, m);
    for (size_t i = 0; done && i < m->results.notes.n; i++)
        done = add_line(d->out, false, m->results.notes.at[i]);
    for (size_t i = 0; done && i < m->results.findings.n; i++)
        done = add_line(d->out, true, m->results.findings.at[i]);
    if (arena_failed(m->context.mem))
        done = false;
    arena_free(m->context.mem);
    m->context.mem = NULL;
    return done || (d->e->fault != FAULT_NONE ? false : error_no_memory(d->e, m->mode->name));
}

static bool has_waiting(const struct drive *d)
{
    bool found = false;
    for (size_t k = 0; k < d->r->n_modes; k++)
        found = found || d->running[k].waits;
    return found;
}

/* Feeds all ranks to the modes that are not done yet. At least one of them is done afterwards; others may be
 * postponed. */
static bool run_round(struct drive *d, struct results_writer *writer)
{
    d->parts = d->single = 0;
    for (size_t k = 0; k < d->r->n_modes; k++) {
        const struct mode *mode = d->r->mode[k];
        if (d->running[k].is_over)
            continue;
        d->parts |= mode->needs | mode->uses;
        d->single |= mode->single;
        if (!begin_mode(d, &d->running[k], mode, writer))
            return false;
    }
    if (!read_all(d))
        return false;
    for (size_t k = 0; k < d->r->n_modes; k++)
        if (!end_mode(d, &d->running[k], writer))
            return false;
    return true;
}

static bool write_all(struct drive *d, struct results_writer *writer)
{
    if (names_failed(d->job->names))
        return error_no_memory(d->e, "ascope cluster");
    if (!writer)
        return true;
    if (!writer_close(writer, d->e))
        return false;
    size_t n;
    const struct results_file *file = writer_files(writer, &n);
    for (size_t i = 0; i < n; i++) {
        struct results_file *slot = list_add(&d->out->files, d->out->mem);
        if (!slot || !(slot->path = arena_text(d->out->mem, file[i].path, strlen(file[i].path))))
            return error_no_memory(d->e, "ascope cluster");
        slot->rows = file[i].rows;
    }
    return true;
}

static struct results_writer *open_writer(struct drive *d)
{
    const char **folder = NULL;
    size_t n = 0;
    while (modes[n])
        n++;
    folder = arena_take(d->out->mem, n + 1, sizeof *folder);
    struct results_request request = { .dir = d->r->out_dir,
                                       .wants_text = d->r->options->wants_text,
                                       .wants_db = d->r->options->wants_db,
                                       .csv_is_safe = d->r->options->csv_is_safe,
                                       .folder = folder,
                                       .names = d->job->names };
    for (size_t i = 0, k = 0; folder && i < n; i++)
        if (modes[i]->class_name)
            folder[k++] = modes[i]->class_name;
    for (size_t k = 0; k < d->r->n_modes; k++)
        request.is_new |= d->r->mode[k]->is_base;
    if (!folder) {
        error_no_memory(d->e, "ascope cluster");
        return NULL;
    }
    return writer_open(&request, d->e);
}

bool cluster_run(struct job *j, const struct cluster_request *r, struct cluster_result *out, struct error *e)
{
    *out = (struct cluster_result){ .mem = arena_new() };
    if (!out->mem)
        return error_no_memory(e, "ascope cluster");
    out->report.mem = out->mem;
    struct drive d = { .job = j, .r = r, .out = out, .e = e };
    d.arrival = arena_take(out->mem, j->ranks.n, sizeof *d.arrival);
    d.running = arena_take(out->mem, r->n_modes, sizeof *d.running);
    if (!d.arrival || !d.running)
        return error_no_memory(e, "ascope cluster");
    struct results_writer *writer = r->out_dir ? open_writer(&d) : NULL;
    bool done =
        (writer || !r->out_dir) && run_round(&d, writer) && report_missing(&d) && report_unlike(&d) && report_step(&d);
    for (d.round = 1; done && has_waiting(&d); d.round++)
        done = run_round(&d, writer);
    done = done && write_all(&d, writer);
    writer_free(writer);
    for (size_t k = 0; k < r->n_modes; k++)
        arena_free(d.running[k].context.mem);
    return done;
}

void cluster_result_fini(struct cluster_result *r)
{
    arena_free(r->mem);
    *r = (struct cluster_result){ 0 };
}
