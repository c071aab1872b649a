/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/dyn/dyn_verb.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/text/json_memory.h"
#include "dynamic/config.h"
#include "pipeline/analyse_done.h"

enum { LOOK_MS = 100, OLD_LOOKS = 3 };

enum awaited_result { RESULT_OPEN, RESULT_DONE, RESULT_CUT, RESULT_NONE };

/* One rank that the request asks for. */
struct awaited {
    struct listener who;
    enum awaited_result result;
    const char *why; /* why there is no result, or an incomplete one */
    char dir[BOARD_DIR_BYTES];
    int64_t start_step, stop_step;
};
struct dyn_wait_waiting {
    struct dyn *d;
    const char *path;
    uint64_t id;
    bool analyses;
    unsigned n_old; /* consecutive polls at which the file was older than the job */
    struct awaited *at;
    size_t n;
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- the request ---- */

static uint64_t id_now(const char *path)
{
    struct config_text t;
    struct error ignored = { 0 };
    const uint64_t id = config_text_read(&t, path, &ignored) ? board_id(t.text, t.stamp.size, t.stamp.mtime_ns) : 0;
    config_text_fini(&t);
    return id;
}

/* Reads the request of the file, and the ranks that it asks for. */
static bool request_read(struct dyn_wait_waiting *w, struct error *e)
{
    const struct listeners *const who = &w->d->who;
    struct config_text t;
    struct config c;
    w->path = arena_printf(w->d->a->mem, "%s/" CONFIG_FILE_NAME, w->d->dir);
    w->at = arena_take(w->d->a->mem, who->list.n, sizeof *w->at);
    if (!w->path || !w->at)
        return error_no_memory(e, w->d->dir);
    bool done = config_text_read(&t, w->path, e) &&
                config_read(&c, &config_kinds[who->kind], t.text, t.stamp.size, true, NULL, NULL, e);
    if (done) {
        w->id = board_id(t.text, t.stamp.size, t.stamp.mtime_ns);
        w->analyses = c.analyse && (!c.is_rank || c.async_mode);
        for (size_t i = 0; i < who->list.n; i++)
            if (config_has_rank(&c, who->list.at[i].is.rank))
                w->at[w->n++].who = who->list.at[i];
        if (c.when == WHEN_NEVER)
            done = error_set(e, FAULT_ASKED, "%s: start_step requests no profiling; use ascope dyn %s start", w->path,
                             w->d->dir);
        else if (w->n == 0)
            done = error_set(e, FAULT_ASKED, "%s: none of the ranks in rank_list is listening", w->path);
        config_fini(&c);
    }
    config_text_fini(&t);
    return done;
}

/* ---- looking ---- */

static bool is_analysed(const char *dir)
{
    char path[BOARD_DIR_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s/%s", dir, ANALYSE_RESULTS, ANALYSE_DONE);
    return access(path, F_OK) == 0;
}

/* Derives the result of a rank from its newest state. */
static void dyn_wait_judge(const struct dyn_wait_waiting *w, struct awaited *a, bool is_replaced, bool is_running)
{
    static const struct {
        enum awaited_result result;
        const char *why;
    } of_fate[] = {
        [FATE_FAILED] = { RESULT_NONE, "the collection could not begin: see the log" },
        [FATE_PASSED] = { RESULT_NONE, "its start step had passed" },
        [FATE_OTHERS] = { RESULT_NONE, "the request is for other ranks" },
        [FATE_NOT_ASKED] = { RESULT_NONE, "the request is for no profiling" },
        [FATE_REPLACED] = { RESULT_NONE, "a call of start() in the job replaced the request" },
        [FATE_INVALID] = { RESULT_NONE, "the file is not a JSON object: see the log" },
    };
    const struct board_rank *const r = &a->who.is;
    if (r->n_done > 0 && r->done_id == w->id) {
        const bool is_cut = r->id == w->id && r->fate == FATE_CUT,
                   lacks_results = w->analyses && *r->dir && !is_analysed(r->dir);
        if (lacks_results && is_running)
            return;
        a->result = is_cut ? RESULT_CUT : RESULT_DONE;
        a->why = is_cut          ? "ended before its last step"
                 : lacks_results ? "the process ended before it was analysed; use ascope analyse"
                                 : NULL;
        memcpy(a->dir, r->dir, sizeof a->dir);
        a->start_step = r->done_start_step;
        a->stop_step = r->done_stop_step;
    } else if (r->id == w->id && r->fate < sizeof of_fate / sizeof *of_fate && of_fate[r->fate].why) {
        a->result = of_fate[r->fate].result;
        a->why = of_fate[r->fate].why;
    } else if (r->id != w->id && is_replaced) {
        a->result = RESULT_NONE;
        a->why = "a newer request replaced it";
    }
}

/* Derives the result of a process that has ended from its log: "Start Dynamic Profiler at 5 step.", "Stop Dynamic
 * Profiler at 8 step. Data: DIR". True: its last collection belongs to this request. */
static bool judge_by_log(const struct dyn_wait_waiting *w, struct awaited *a)
{
    const struct board_rank *const r = &a->who.is;
    char path[PATH_MAX], line[PATH_MAX + 200];
    long long start = 0, stop = 0;
    bool is_whole = false;
    snprintf(path, sizeof path, "%s/log/dp_%s_%d_rank_%d.log", w->d->dir, a->who.host, (int)r->pid, (int)r->rank);
    struct stat st;
    int why;
    const bool is_wanted = r->id == w->id && (r->fate == FATE_RUNS || r->fate == FATE_WAITS);
    const int fd = is_wanted ? file_open(AT_FDCWD, path, &st, &why) : -1; /* any file may have this name */
    FILE *const f = fd >= 0 ? fdopen(fd, "r") : NULL;
    while (f && fgets(line, sizeof line, f)) {
        const char *const begun = strstr(line, "Start Dynamic Profiler at "), *const data =
                                                                                  strstr(line, " step. Data: ");
        const char *const ended = strstr(line, "Stop Dynamic Profiler at ");
        if (begun)
            is_whole = sscanf(begun, "Start Dynamic Profiler at %lld", &start) != 1; /* not complete before its stop */
        if (ended && data && sscanf(ended, "Stop Dynamic Profiler at %lld", &stop) == 1) {
            snprintf(a->dir, sizeof a->dir, "%s", data + strlen(" step. Data: "));
            a->dir[strcspn(a->dir, "\n")] = 0;
            is_whole = true;
        }
    }
    if (f)
        fclose(f);
    else if (fd >= 0)
        close(fd);
    if (!is_whole || start < r->start_step)
        return false;
    const bool is_cut = r->fate != FATE_RUNS || stop < r->stop_step;
    a->start_step = start;
    a->stop_step = stop;
    a->result = is_cut ? RESULT_CUT : RESULT_DONE;
    a->why = is_cut ? "the process ended before its last step" : NULL;
    return true;
}

/* Polls all ranks. Returns the number of ranks without a result so far. */
static size_t dyn_wait_look(struct dyn_wait_waiting *w)
{
    struct listeners now;
    struct error e = { 0 };
    struct arena *const mem = arena_new();
    size_t n_open = 0;
    if (!mem || !listeners_find(&now, w->d->dir, mem, &e))
        now = (struct listeners){ 0 };
    const bool is_replaced = id_now(w->path) != w->id;
    w->n_old =
        now.seen_id == w->id && now.id != w->id ? w->n_old + 1 : 0; /* a single one may be an inconsistent read */
    for (size_t i = 0; i < w->n; i++) {
        struct awaited *const a = &w->at[i];
        if (a->result != RESULT_OPEN)
            continue;
        const struct listener *const l = listeners_same(&now, &a->who);
        if (l)
            a->who.is = l->is;
        dyn_wait_judge(w, a, is_replaced, l);
        if (a->result == RESULT_OPEN && !l && !judge_by_log(w, a)) {
            a->result = RESULT_NONE;
            a->why = a->who.is.fate == FATE_RUNS && a->who.is.id == w->id ? "the process ended while it recorded"
                                                                          : "the process ended before it began";
        }
        n_open += a->result == RESULT_OPEN;
    }
    arena_free(mem);
    return n_open;
}

/* ---- the report ---- */

static json_t *results_json(const struct dyn_wait_waiting *w)
{
    static const char *const words[] = { "open", "done", "cut", "none" };
    json_t *const list = json_array();
    for (size_t i = 0; i < w->n; i++) {
        const struct awaited *const a = &w->at[i];
        const bool has_result = a->result == RESULT_DONE || a->result == RESULT_CUT;
        json_array_append_new(
            list, json_pack("{s:o, s:i, s:o, s:s, s:o, s:o, s:o, s:o}", "host", text_json(a->who.host), "pid",
                            a->who.is.pid, "rank", a->who.is.rank >= 0 ? json_integer(a->who.is.rank) : json_null(),
                            "result", words[a->result], "path", has_result && *a->dir ? text_json(a->dir) : json_null(),
                            "start_step", has_result ? json_integer(a->start_step) : json_null(), "stop_step",
                            has_result ? json_integer(a->stop_step) : json_null(), "reason",
                            a->why ? json_string(a->why) : json_null()));
    }
    return list;
}

static void results_print(const struct dyn_wait_waiting *w)
{
    const struct term *const t = &w->d->term;
    for (size_t i = 0; i < w->n; i++) {
        const struct awaited *const a = &w->at[i];
        const bool has_result = a->result == RESULT_DONE || a->result == RESULT_CUT;
        fprintf(t->to, "%s: ", listener_name(&a->who));
        if (has_result)
            term_text(t, *a->dir ? a->dir : "recorded", 0);
        if (a->why)
            fprintf(t->to, "%s%s", has_result ? "; " : "no result: ", a->why);
        fputc('\n', t->to);
    }
}

bool dyn_wait(struct dyn *d, struct error *e)
{
    struct dyn_wait_waiting w = { .d = d };
    if (!listeners_find_some(&d->who, d->dir, d->a->mem, e) || !request_read(&w, e))
        return false;
    if (dyn_prints(d)) {
        fprintf(stderr, "waiting for %zu %s\n", w.n, w.n == 1 ? "process" : "processes");
        fflush(stderr);
    }
    const int64_t begin_ms = now_ms();
    const char *gave_up = NULL;
    while (dyn_wait_look(&w) > 0) {
        const int64_t waited_ms = now_ms() - begin_ms;
        if (d->a->dyn.timeout_s > 0 && waited_ms >= 1000 * (int64_t)d->a->dyn.timeout_s)
            gave_up = "not within --timeout";
        else if (w.n_old > OLD_LOOKS)
            gave_up = "the file is older than the job, and starts nothing until it changes";
        if (gave_up)
            break;
        nanosleep(&(struct timespec){ .tv_nsec = LOOK_MS * 1000000L }, NULL);
    }
    size_t n_done = 0;
    if (!listeners_find(&d->who, d->dir, d->a->mem, e)) /* their state after waiting, for the report */
        return false;
    for (size_t i = 0; i < w.n; i++) {
        if (w.at[i].result == RESULT_OPEN)
            w.at[i].why = gave_up;
        n_done += w.at[i].result == RESULT_DONE || w.at[i].result == RESULT_CUT;
        if (w.at[i].result != RESULT_DONE)
            d->done = STATUS_LOSSES;
    }
    if (n_done == 0)
        d->done = STATUS_NOTHING;
    if (dyn_prints(d))
        results_print(&w);
    d->more = d->a->json ? json_pack("{s:o}", "waited_for", results_json(&w)) : NULL;
    return true;
}
