/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/analysis_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/inside.h"
#include "base/files/out.h"
#include "base/files/outdir.h"
#include "export/msprof/prof_outputs.h"

struct log {
    struct out out;
    char stamp[64]; /* the same for all lines: the log is written at the end of the analysis */
};

__attribute__((format(printf, 3, 4))) static void line(struct log *l, const char *level, const char *fmt, ...)
{
    char head[80], text[1200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const int head_len = snprintf(head, sizeof head, "[%s] [%s] ", l->stamp, level);
    out_bytes(&l->out, head, (size_t)head_len);
    out_shown(&l->out, text); /* without control characters: logs are read on terminals */
    out_char(&l->out, '\n');
}

static void log_found(struct log *l, const struct collection *s)
{
    const struct framework *f = &s->framework;
    line(l, "INFO", "%s %s reads %s", "ascope", ASCOPE_VERSION, s->name);
    line(l, "INFO",
         "host: %zu operators, %zu tasks put in the queue, %zu taken out, %zu memory events, %zu Python calls, %zu "
         "collections of garbage",
         f->ops.n, f->enqueue.n, f->dequeue.n, f->memory.n, f->python.n, f->gc.n);
    size_t n_tasks = 0, n_collectives = 0;
    for (size_t i = 0; i < s->profile.n_devices; i++) {
        n_tasks += s->profile.device[i].tasks.n;
        n_collectives += s->profile.device[i].comm.ops.n;
    }
    if (s->has_device)
        line(l, "INFO", "device: %zu host calls, %zu tasks, %zu collectives on %zu devices", s->profile.host.calls.n,
             n_tasks, n_collectives, s->profile.n_devices);
}

/* Several facts per line, to keep the log short. */
static void log_recording(struct log *l, const struct collector *c, struct arena *mem)
{
    const struct recording_facts facts = recording_facts(c, mem);
    enum { FACTS_A_LINE = 6, STEPS_SHOWN = 100 };
    const char *text = NULL;
    for (size_t i = 0; i < facts.list.n; i++) {
        const struct recording_fact *f = &facts.list.at[i];
        text = arena_printf(mem, "%s%s%s %s", text ? text : "", text ? ", " : "", f->name, f->value);
        if (text && ((i + 1) % FACTS_A_LINE == 0 || i + 1 == facts.list.n)) {
            line(l, "INFO", "recording: %s", text);
            text = NULL;
        }
    }
    for (size_t i = 0; i < c->n_steps && i < STEPS_SHOWN; i++) {
        const struct collector_step *k = &c->steps[i];
        line(l, "INFO",
             "recording: step %" PRId64 ": records %" PRIu64 ", bytes %" PRIu64 ", dropped %" PRIu64
             ", hook_ns %" PRIu64 ", writer_lag_most_ns %" PRIu64,
             k->step, k->records, k->bytes, k->dropped, k->hook_ns, k->lag_most_ns);
    }
    if (c->n_steps > STEPS_SHOWN)
        line(l, "INFO", "recording: and %zu steps more; --json lists them all", c->n_steps - STEPS_SHOWN);
}

static void log_losses(struct log *l, const struct losses *lost)
{
    for (int why = 0; why < LOSS_KINDS; why++) {
        const enum loss_place place = loss_place((enum loss)why);
        char at[32] = "";
        if (place == LOSS_AT_BYTE)
            snprintf(at, sizeof at, ":%llu", (unsigned long long)lost->by[why].first_at);
        if (lost->by[why].n > 0)
            line(l, loss_is_damage((enum loss)why) ? "WARNING" : "INFO", "%llu %s, %s %s%s",
                 (unsigned long long)lost->by[why].n, loss_text((enum loss)why),
                 place == LOSS_REPORTED_BY ? "according to" : "first:", lost->by[why].file ? lost->by[why].file : "?",
                 at);
    }
}

/* Creates an empty file under a new name; the complete one replaces it. NULL: see e. */
static const char *log_claim(const char *logs, const char *day, struct arena *mem, struct error *e)
{
    enum { TRIES = 1000 };
    const char *path = NULL;
    for (unsigned i = 0; i < TRIES; i++) {
        char again[16] = "";
        if (i > 0)
            snprintf(again, sizeof again, "_%u", i);
        path = arena_printf(mem, "%s/profiler_%s_%d%s_ascope.log", logs, day, (int)getpid(), again);
        if (!path)
            break;
        const int fd = inside_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC);
        if (fd >= 0) {
            close(fd);
            return path;
        }
        if (errno != EEXIST)
            break;
    }
    if (path)
        error_set(e, FAULT_IO, "%s: cannot be created: %s", path, write_trouble(errno));
    else
        error_no_memory(e, logs);
    return NULL;
}

bool analysis_log_write(const struct collection_result *r, const char *dir, struct error *e)
{
    struct log l;
    const struct account *a = &r->account;
    struct timespec now;
    struct tm local;
    char day[32], file_day[32];
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &local);
    strftime(day, sizeof day, "%Y-%m-%d-%H:%M:%S", &local);
    strftime(file_day, sizeof file_day, "%Y%m%d%H%M%S", &local);
    snprintf(l.stamp, sizeof l.stamp, "%s.%03ld", day, now.tv_nsec / 1000000 % 1000);
    const char *logs = arena_printf(a->mem, "%s/logs", dir);
    if (!logs)
        return error_no_memory(e, dir);
    const char *path = outdir_make_inside(logs, e) ? log_claim(logs, file_day, a->mem, e) : NULL;
    if (!path)
        return false;
    if (!out_open(&l.out, path, e)) {
        inside_remove(path, 0);
        return false;
    }
    log_found(&l, &r->collection);
    for (size_t i = 0; i < a->files.n; i++)
        line(&l, "INFO", "wrote %s: %llu rows, %llu bytes", a->files.at[i].path,
             (unsigned long long)a->files.at[i].n_rows, (unsigned long long)a->files.at[i].n_bytes);
    log_recording(&l, &r->collection.collector, a->mem);
    log_losses(&l, &r->collection.lost);
    for (size_t i = 0; i < a->problems.n; i++)
        line(&l, "ERROR", "%s", a->problems.at[i] ? a->problems.at[i] : no_memory_text());
    line(&l, "INFO", "%.3f s reading, %.3f s analysing", a->load_s, a->analyse_s);
    const bool done = out_close(&l.out, e);
    if (!done)
        inside_remove(path, 0);
    return done;
}
