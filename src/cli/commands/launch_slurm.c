/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/cluster_launch.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/files/file_tree.h"
#include "base/files/out.h"
#include "base/files/own_path.h"
#include "base/process/progress.h"
#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "cli/options/work.h"
#include "cluster/job/manifest.h"
#include "doctor/check.h"
#include "report/term.h"

enum { MOST_TASKS = 1000 /* Slurm's own limit is 1001 unless configured */, TOOL_MS = 60000 };
static const char no_memory_for[] = "--launcher slurm";

/* The state of a task or job according to Slurm. */
struct launch_slurm_seen {
    char state[24], node[64];
};

struct slurm {
    char array[24], reduce[24]; /* job ids; "": not submitted */
    char cluster[64];           /* the cluster of the jobs; "": the default one */
    struct launch_slurm_seen *part, reduced;
    size_t n_running;
    struct program_output *out;
    sigset_t signals, before;
};

typedef LIST(const char *) words;

static bool launch_slurm_add(struct cluster_launch *l, words *w, const char *text)
{
    const char **slot = text ? list_add(w, l->a->mem) : NULL;
    if (slot)
        *slot = text;
    return slot != NULL;
}

size_t slurm_parts(const struct arguments *a, size_t n_ranks)
{
    const size_t wanted = a->job.processes ? a->job.processes : MOST_TASKS;
    return wanted < n_ranks ? wanted : n_ranks;
}

/* Runs a command of Slurm. False: it is missing, or it failed; e has the last line of its output. */
static bool tool(struct cluster_launch *l, words *w, struct error *e)
{
    const struct slurm *s = l->state;
    if (!list_add(w, l->a->mem)) /* the NULL at the end */
        return error_no_memory(e, no_memory_for);
    program_run((char **)w->at, TOOL_MS, s->out); /* at[0] is env, which searches PATH */
    const struct program_output *o = s->out;
    if (o->exit_code == 0 || o->is_cut)
        return true;
    if (o->exit_code == 127)
        return error_set(e, FAULT_IO, "--launcher slurm: %s: not found; install Slurm's commands, or add them to PATH",
                         w->at[1]);
    if (o->is_late)
        return error_set(e, FAULT_IO, "--launcher slurm: %s: no answer for %d s", w->at[1], TOOL_MS / 1000);
    size_t end = o->n_bytes;
    while (end > 0 && isspace((unsigned char)o->text[end - 1]))
        end--;
    size_t at = end;
    while (at > 0 && o->text[at - 1] != '\n')
        at--;
    const char *const said[] = { w->at[1], ": ", "error: " }; /* "sbatch: error: " before the reason */
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (strncmp(o->text + at, said[i], strlen(said[i])) == 0)
            at += strlen(said[i]);
    return error_set(e, FAULT_IO, "--launcher slurm: %s: %.*s", w->at[1], end > at ? (int)(end - at) : 6,
                     end > at ? o->text + at : "failed");
}

static words tool_words(struct cluster_launch *l, const char *name)
{
    const struct slurm *s = l->state;
    words w = { 0 };
    launch_slurm_add(l, &w, "/usr/bin/env");
    launch_slurm_add(l, &w, name);
    if (s->cluster[0])
        launch_slurm_add(l, &w, arena_printf(l->a->mem, "--clusters=%s", s->cluster));
    return w;
}

/* Splits the value of --launcher-args into words: "--partition=cpu --comment='a b'". */
static bool add_user_words(struct cluster_launch *l, words *w, const char *text, struct error *e)
{
    while (text && *(text += strspn(text, " \t\n"))) {
        char *word = arena_take(l->a->mem, strlen(text) + 1, 1), quote = 0;
        size_t n = 0;
        for (; word && *text && (quote || !strchr(" \t\n", *text)); text++) {
            if (quote ? *text == quote : *text == '\'' || *text == '"')
                quote = quote ? 0 : *text;
            else
                word[n++] = *text;
        }
        if (quote)
            return error_set(e, FAULT_ASKED, "--launcher-args: unbalanced %c", quote);
        if (!launch_slurm_add(l, w, word))
            return error_no_memory(e, no_memory_for);
    }
    return true;
}

/* Writes a word quoted for the shell. */
static void quoted(struct out *o, const char *text)
{
    out_bytes(o, " '", 2);
    for (; *text; text++) {
        if (*text == '\'')
            out_bytes(o, "'\\'", 3);
        out_char(o, *text);
    }
    out_char(o, '\'');
}

static void plain(struct out *o, const char *text)
{
    out_bytes(o, text, strlen(text));
}

/* Writes the beginning of both scripts: the directory, the path of ascope or else the one in PATH, and a thread per
 * allocated CPU. */
static bool script_open(struct cluster_launch *l, const char *name, struct out *o, const char **path, struct error *e)
{
    char self[PATH_MAX];
    *path = arena_printf(l->a->mem, "%s/%s", l->dir, name);
    if (!*path)
        return error_no_memory(e, no_memory_for);
    if (!out_open(o, *path, e))
        return false;
    (void)own_path(self);
    plain(o, "#!/bin/sh\n# by ascope cluster --launcher slurm\nset --");
    quoted(o, self);
    quoted(o, l->dir);
    plain(o, "\nascope=$1 dir=$2\ntest -x \"$ascope\" || ascope=ascope\n"
             "threads=${SLURM_CPUS_PER_TASK:-1}\ntest \"$threads\" -le 64 || threads=64\n");
    return true;
}

static bool write_parts(struct cluster_launch *l, const char **path, struct error *e)
{
    const struct arguments *a = l->a;
    struct out o;
    struct manifest_of of;
    char n[24];
    snprintf(n, sizeof n, "%zu", l->n_parts);
    if (!launch_manifest(l, e) || !launch_manifest_of(&of, l->a, e) || !script_open(l, "parts.sh", &o, path, e))
        return false;
    plain(
        &o,
        "part=$SLURM_ARRAY_TASK_ID\nlog=$dir/part_$part.log\n"
        "if test \"${SLURM_RESTART_COUNT:-0}\" -gt 1; then\n"
        "    echo \"ascope: part $part: started again once already; it is not tried a third time\" >\"$log\"\n    exit 1\nfi\n"
        "for try in 1 2; do\n    \"$ascope\" cluster --shard \"$part/");
    plain(&o, n);
    plain(&o, "\" --manifest \"$dir/ranks.manifest\" --out \"$dir\" --threads \"$threads\" --quiet");
    if (a->job.ranks) {
        plain(&o, " --ranks");
        quoted(&o, a->job.ranks);
    }
    plain(&o, " --");
    for (size_t i = 0; i < of.n_roots; i++)
        quoted(&o, of.root[i]);
    plain(&o, " </dev/null 2>\"$log\"\n    code=$?\n    case $code in 0 | 3) exit 0 ;; esac\n"
              "    echo \"ascope: part $part: ascope ended with exit status $code\" >>\"$log\"\ndone\nexit $code\n");
    return out_close(&o, e);
}

/* The second script runs this command line again, with the shards in place of the ranks. */
static bool write_reduce(struct cluster_launch *l, const char **path, struct error *e)
{
    const struct arguments *a = l->a;
    struct out o;
    char *here = realpath(".", NULL);
    bool done = here || error_set(e, FAULT_IO, "the current directory: %s", strerror(errno));
    done = done && script_open(l, "reduce.sh", &o, path, e);
    if (done) {
        plain(&o, "cd");
        quoted(&o, here);
        plain(&o, " 2>/dev/null\n\"$ascope\" cluster --shards \"$dir\"");
        if (!arguments_have(a, OPT_THREADS))
            plain(&o, " --threads \"$threads\"");
        for (size_t i = 0; i < a->n_argv; i++)
            quoted(&o, a->argv[i]);
        plain(&o, " </dev/null >\"$dir/report\" 2>\"$dir/messages\"\n"
                  "echo $? >\"$dir/code.part\" && mv \"$dir/code.part\" \"$dir/code\"\n");
        done = out_close(&o, e);
    }
    free(here);
    return done;
}

/* Finds the job id that sbatch --parsable prints: "123" or "123;cluster", possibly after warnings. */
static bool job_number(struct slurm *s, char out[24])
{
    for (const char *line = s->out->text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        const size_t n = strspn(line, "0123456789");
        if (n == 0 || n >= 24 || (line[n] != ';' && line[n] != '\n' && line[n] != 0))
            continue;
        memcpy(out, line, n);
        out[n] = 0;
        if (line[n] == ';')
            snprintf(s->cluster, sizeof s->cluster, "%.*s", (int)strcspn(line + n + 1, "\n"), line + n + 1);
        return true;
    }
    return false;
}

static bool submit(struct cluster_launch *l, const char *name, const char *how, const char *script, char out[24],
                   struct error *e)
{
    struct slurm *s = l->state;
    words w = tool_words(l, "sbatch");
    launch_slurm_add(l, &w, "--parsable");
    launch_slurm_add(l, &w, arena_printf(l->a->mem, "--job-name=%s", name));
    launch_slurm_add(l, &w, "--output=/dev/null");
    launch_slurm_add(l, &w, "--requeue");
    if (!add_user_words(l, &w, l->a->job.launcher_args, e))
        return false;
    launch_slurm_add(l, &w, how);
    launch_slurm_add(l, &w, script);
    if (arena_failed(l->a->mem))
        return error_no_memory(e, no_memory_for);
    return tool(l, &w, e) &&
           (job_number(s, out) || error_set(e, FAULT_IO, "--launcher slurm: sbatch: printed no job id"));
}

/* Cancels the submitted jobs. False: they may still run, see e. */
static bool cancel(struct cluster_launch *l, struct error *e)
{
    const struct slurm *s = l->state;
    words w = tool_words(l, "scancel");
    if (s->array[0])
        launch_slurm_add(l, &w, s->array);
    if (s->reduce[0])
        launch_slurm_add(l, &w, s->reduce);
    return (!s->array[0] && !s->reduce[0]) || tool(l, &w, e);
}

static bool make_dir(struct cluster_launch *l, struct error *e)
{
    char *real = realpath(l->beside, NULL);
    char *path = real ? arena_printf(l->a->mem, "%s/.ascope-slurm-XXXXXX", real) : NULL;
    if (path && mkdtemp(path))
        l->dir = path;
    else
        error_set(e, FAULT_IO, "%s: cannot create a folder for summaries: %s", l->beside, strerror(errno));
    free(real);
    return l->dir != NULL;
}

static void watch_signals(struct slurm *s)
{
    ending_fini(); /* an interrupt must reach slurm_watch() */
    ending_signals(&s->signals);
    pthread_sigmask(SIG_BLOCK, &s->signals, &s->before);
}

bool slurm_submit(struct cluster_launch *l, struct error *e)
{
    struct arguments *a = l->a;
    struct slurm *s = arena_take(a->mem, 1, sizeof *s);
    const char *parts, *reduce;
    if (!s || !(s->out = arena_take(a->mem, 1, sizeof *s->out)) ||
        !(s->part = arena_take(a->mem, l->n_parts, sizeof *s->part)))
        return error_no_memory(e, no_memory_for);
    l->state = s;
    watch_signals(s);
    words version = tool_words(l, "squeue");
    launch_slurm_add(l, &version,
                     "--version"); /* fails without Slurm's configuration: better before jobs are submitted */
    if (!tool(l, &version, e) || !make_dir(l, e) || !write_parts(l, &parts, e) || !write_reduce(l, &reduce, e) ||
        !submit(l, "ascope-parts", arena_printf(a->mem, "--array=1-%zu", l->n_parts), parts, s->array, e))
        return false;
    if (!submit(l, "ascope-reduce", arena_printf(a->mem, "--dependency=afterany:%s", s->array), reduce, s->reduce, e)) {
        cancel(l, &(struct error){ 0 });
        return false;
    }
    advise(a, "submitted: job %s: %zu tasks for %zu ranks; job %s: their results", s->array, l->n_parts,
           l->job->ranks.n, s->reduce);
    return true;
}

/* Reads a line of squeue or sacct: "17_4|NODE_FAIL|n2". Pending tasks share a line, "17_[5-9]|PENDING|", which is
 * ignored. */
static void see(struct cluster_launch *l, const char *line)
{
    struct slurm *s = l->state;
    const size_t len = strcspn(line, "|\n"), n = strlen(s->array);
    if (line[len] != '|')
        return;
    const char *state = line + len + 1;
    const size_t state_len = strcspn(state, "| \n"), rest = strcspn(state, "|\n");
    const char *node = state[rest] == '|' ? state + rest + 1 : "";
    struct launch_slurm_seen *to = NULL;
    if (len == strlen(s->reduce) && strncmp(line, s->reduce, len) == 0)
        to = &s->reduced;
    if (len > n + 1 && strncmp(line, s->array, n) == 0 && line[n] == '_' && isdigit((unsigned char)line[n + 1])) {
        const unsigned long part = strtoul(line + n + 1, NULL, 10);
        to = part >= 1 && part <= l->n_parts ? &s->part[part - 1] : NULL;
        s->n_running += strncmp(state, "RUNNING", state_len) == 0;
    }
    if (to)
        snprintf(to->state, sizeof to->state, "%.*s", (int)state_len, state);
    if (to)
        snprintf(to->node, sizeof to->node, "%.*s", (int)strcspn(node, "|\n"), node);
}

/* Reads the states of the jobs with squeue or sacct. False: see e. */
static bool launch_slurm_look(struct cluster_launch *l, const char *name, struct error *e)
{
    static const struct {
        const char *name, *word[5];
    } tools[] = {
        { "squeue", { "--noheader", "--states=all", "--format=%i|%T|%N" } }, /* has recently ended jobs, too */
        { "sacct", { "--noheader", "--allocations", "--parsable2", "--format=JobID,State,NodeList" } },
    };
    struct slurm *s = l->state;
    words w = tool_words(l, name);
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        for (size_t k = 0; strcmp(tools[i].name, name) == 0 && tools[i].word[k]; k++)
            launch_slurm_add(l, &w, tools[i].word[k]);
    launch_slurm_add(l, &w, arena_printf(l->a->mem, "--jobs=%s,%s", s->array, s->reduce));
    if (!tool(l, &w, e))
        return false;
    s->n_running = 0;
    for (const char *line = s->out->text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        see(l, line);
    return true;
}

static bool is_over(const struct launch_slurm_seen *s)
{
    static const char *const ended[] = { "BOOT_FAIL", "CANCELLED",     "COMPLETED", "DEADLINE", "FAILED",
                                         "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED",  "TIMEOUT" };
    for (size_t i = 0; i < sizeof ended / sizeof *ended; i++)
        if (strcmp(s->state, ended[i]) == 0)
            return true;
    return false;
}

static bool has_shard(const struct cluster_launch *l, size_t part)
{
    char path[4096 + 80];
    snprintf(path, sizeof path, "%s/shard_%zu_of_%zu.summary", l->dir, part + 1, l->n_parts);
    return access(path, F_OK) == 0;
}

/* Reads the exit code that the second job has written; -1: not yet. */
static int code_left(struct cluster_launch *l)
{
    char path[4096 + 16];
    int code = -1;
    snprintf(path, sizeof path, "%s/code", l->dir);
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%d", &code) != 1)
        code = -1;
    if (f)
        fclose(f);
    return code;
}

static void relay(const struct cluster_launch *l, const char *name, FILE *to)
{
    char path[4096 + 16], block[8192];
    snprintf(path, sizeof path, "%s/%s", l->dir, name);
    FILE *f = fopen(path, "re");
    for (size_t n; f && (n = fread(block, 1, sizeof block, f)) > 0;)
        fwrite(block, 1, n, to);
    if (f)
        fclose(f);
}

/* Reports parts without a shard, with the final states of their tasks. */
static void report_parts(struct cluster_launch *l)
{
    enum { SHOWN = 20 };
    const struct slurm *s = l->state;
    size_t n_shown = 0, n_failed = 0;
    for (size_t i = 0; i < l->n_parts; i++)
        n_failed += !has_shard(l, i);
    if (n_failed > 0 && !launch_slurm_look(l, "squeue", &(struct error){ 0 }))
        launch_slurm_look(l, "sacct", &(struct error){ 0 });
    for (size_t i = 0; i < l->n_parts && n_failed > 0 && n_shown < SHOWN; i++) {
        if (has_shard(l, i))
            continue;
        const struct job_rank *rank = l->job->ranks.at;
        const size_t first = shard_first(l->job->ranks.n, i, l->n_parts);
        const size_t last = shard_first(l->job->ranks.n, i + 1, l->n_parts) - 1;
        const struct launch_slurm_seen *p = &s->part[i];
        char to[32] = "";
        if (last > first)
            snprintf(to, sizeof to, " to %lld", (long long)rank[last].rank);
        complain("task %s_%zu (rank %lld%s): %s%s%s; it has left no summary", s->array, i + 1,
                 (long long)rank[first].rank, to, p->state[0] ? p->state : "state unknown", p->node[0] ? " on " : "",
                 p->node);
        n_shown++;
    }
    if (n_failed > n_shown)
        complain("and %zu more tasks", n_failed - n_shown);
}

/* An interrupt cancels the jobs and ends this process by the same signal. */
static _Noreturn void interrupted(struct cluster_launch *l, int number)
{
    const struct slurm *s = l->state;
    struct error e = { 0 };
    if (cancel(l, &e))
        complain("interrupted: jobs %s and %s are cancelled", s->array, s->reduce);
    else
        complain("interrupted: jobs %s and %s may still run: %s; use: scancel %s %s", s->array, s->reduce, e.text,
                 s->array, s->reduce);
    if (l->dir)
        tree_remove_path(l->dir);
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &s->signals, NULL);
    raise(number);
    _exit(128 + number);
}

static void show(const struct cluster_launch *l, struct progress *p)
{
    const struct slurm *s = l->state;
    char text[24];
    size_t n_done = 0;
    for (size_t i = 0; i < l->n_parts; i++)
        n_done += has_shard(l, i);
    const double done = 0.9 * (double)n_done / (double)l->n_parts;
    snprintf(text, sizeof text, "%zu/%zu, %zu running", n_done, l->n_parts, s->n_running);
    progress_stage(p, text, done, done, 0);
}

/* Waits for the exit code of the second job. A shared file system may show the file up to a minute after the job has
 * ended. */
static int wait_for_code(struct cluster_launch *l, struct progress *p, struct error *e)
{
    enum { FIRST_MS = 100, LONGEST_MS = 5000, LATE_MS = 60000, BLIND_MS = 600000 };
    struct slurm *s = l->state;
    uint64_t late_ms = 0, blind_ms = 0;
    int code;
    for (long ms = FIRST_MS; (code = code_left(l)) < 0; ms = ms * 3 / 2 < LONGEST_MS ? ms * 3 / 2 : LONGEST_MS) {
        struct error unknown = { 0 };
        const bool is_known =
            launch_slurm_look(l, "squeue", &unknown) || launch_slurm_look(l, "sacct", &(struct error){ 0 });
        blind_ms = is_known ? 0 : blind_ms + (uint64_t)ms;
        late_ms = is_over(&s->reduced) ? late_ms + (uint64_t)ms : 0;
        if (late_ms > (strcmp(s->reduced.state, "COMPLETED") == 0 ? LATE_MS : LONGEST_MS)) {
            error_set(e, FAULT_IO, "job %s: %s; there are no results", s->reduce, s->reduced.state);
            break;
        }
        if (blind_ms > BLIND_MS) {
            error_set(e, FAULT_IO, "%s; jobs %s and %s may still run in %s", unknown.text, s->array, s->reduce, l->dir);
            l->dir = NULL; /* the directory is kept: the jobs need it */
            break;
        }
        show(l, p);
        const int number = sigtimedwait(&s->signals, NULL, &(struct timespec){ ms / 1000, ms % 1000 * 1000000 });
        if (number > 0) {
            progress_end(p);
            interrupted(l, number);
        }
    }
    return code;
}

bool slurm_watch(struct cluster_launch *l, enum exit_status *status, struct error *e)
{
    static const enum exit_status status_of[] = { STATUS_DONE, STATUS_NOTHING, STATUS_PARAMETER, STATUS_LOSSES };
    struct progress progress;
    progress_begin(&progress, stderr, !l->a->quiet);
    const int code = wait_for_code(l, &progress, e);
    progress_end(&progress);
    if (l->dir)
        report_parts(l);
    if (code < 0) {
        if (l->dir)
            cancel(l, &(struct error){ 0 });
        return false;
    }
    relay(l, "messages", stderr);
    relay(l, "report", stdout);
    json_report_relayed();
    *status = code < (int)(sizeof status_of / sizeof *status_of) ? status_of[code] : STATUS_NOTHING;
    return true;
}

void slurm_end(struct cluster_launch *l)
{
    const struct slurm *s = l->state;
    if (l->dir)
        tree_remove_path(l->dir);
    if (!s)
        return;
    pthread_sigmask(SIG_SETMASK, &s->before, NULL);
    ending_prepare(l->a->face);
}
