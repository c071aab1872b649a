/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/cluster_launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/inside.h"
#include "cli/options/command.h"
#include "cluster/job/manifest.h"
#include "report/term.h"

extern char **environ;

bool launch_manifest_of(struct manifest_of *out, struct arguments *a, struct error *e)
{
    const char **root = arena_take(a->mem, a->n_words, sizeof *root);
    *out = (struct manifest_of){ root, a->n_words, a->job.ranks };
    for (size_t i = 0; i < a->n_words && root; i++) {
        const char *path = path_expand(a, "DIR", a->word[i]);
        char *real = path ? realpath(path, NULL) : NULL;
        if (!real)
            return error_set(e, FAULT_IO, "%s: %s", a->word[i], strerror(errno));
        root[i] = arena_text(a->mem, real, strlen(real));
        free(real);
    }
    return !arena_failed(a->mem) || error_no_memory(e, "the list of ranks");
}

const char *launch_manifest(const struct cluster_launch *l, struct error *e)
{
    struct manifest_of of;
    const char *path = arena_printf(l->a->mem, "%s/ranks.manifest", l->dir);
    if (!path)
        error_no_memory(e, "the list of ranks");
    return path && launch_manifest_of(&of, l->a, e) && manifest_write(l->job, &of, path, e) ? path : NULL;
}

/* One part of the ranks. */
struct process {
    pid_t pid; /* 0: not running */
    unsigned n_tries;
    bool is_done;
};

struct local {
    struct process *process;
    const char *manifest;
    sigset_t signals, before; /* the signals that local_watch() waits for; the mask before they were blocked */
};

/* Without /proc, the name by which this process was started. */
static const char *own_program(void)
{
    static const char own[] = "/proc/self/exe";
    return access(own, X_OK) == 0 ? own : (const char *)getauxval(AT_EXECFN);
}

static bool cluster_launch_start(const struct cluster_launch *l, struct process *p, size_t part, struct error *e)
{
    enum { OWN_WORDS = 14 };
    const struct local *local = l->state;
    const struct arguments *a = l->a;
    char shard[48], threads[16] = "1", log[48];
    const char **word = arena_take(a->mem, a->n_words + OWN_WORDS, sizeof *word);
    size_t at = 0;
    snprintf(shard, sizeof shard, "%zu/%zu", part + 1, l->n_parts);
    snprintf(log, sizeof log, LAUNCH_LOG, part + 1);
    const char *log_path = word ? arena_printf(a->mem, "%s/%s", l->dir, log) : NULL;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    if (!log_path || posix_spawnattr_init(&how) != 0 || posix_spawn_file_actions_init(&files) != 0)
        return error_no_memory(e, "--launcher local");
    posix_spawnattr_setsigmask(&how, &local->before);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
    word[at++] = "ascope";
    word[at++] = "cluster";
    const char *const more[] = {
        "--shard",   shard,       "--manifest", local->manifest, "--out",
        l->dir,      "--threads", threads,      "--quiet",       a->job.ranks ? "--ranks" : NULL,
        a->job.ranks
    };
    for (size_t i = 0; i < sizeof more / sizeof *more && more[i]; i++)
        word[at++] = more[i];
    word[at++] = "--"; /* the names of directories may begin with a - */
    for (size_t i = 0; i < a->n_words; i++)
        word[at++] = a->word[i];
    p->n_tries++;
    int why = posix_spawn_file_actions_addopen(&files, 2, log_path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (why == 0)
        why = posix_spawn(&p->pid, own_program(), &files, &how, (char **)word, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    return why == 0 || error_set(e, FAULT_IO, "--launcher local: cannot start a process: %s", strerror(why));
}

/* Whether a shard was written: exit status 0 or 3. */
static bool ended_well(int status)
{
    return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3);
}

static size_t local_parts(const struct arguments *a, size_t n_ranks)
{
    const size_t wanted = a->job.processes ? a->job.processes : a->options.n_threads;
    return wanted < n_ranks ? wanted : n_ranks;
}

static bool local_submit(struct cluster_launch *l, struct error *e)
{
    /* A hidden directory: a part that searches the collections must not find the shards of other parts. */
    const char *name = arena_printf(l->a->mem, "%s/.ascope_shards", l->beside);
    struct local *local = arena_take(l->a->mem, 1, sizeof *local);
    struct process *process = arena_take(l->a->mem, l->n_parts, sizeof *process);
    if (!name || !process || !local)
        return error_no_memory(e, "--launcher local");
    /* Interrupts are handled by local_watch(), which ends the processes before the directory is removed. */
    ending_fini();
    ending_signals(&local->signals);
    sigaddset(&local->signals, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &local->signals, &local->before);
    leftovers_sweep_of(name);
    if (leftover_dir(&l->half, name) != 0) {
        const int why = errno;
        pthread_sigmask(SIG_SETMASK, &local->before, NULL);
        return error_set(e, FAULT_IO, "%s: cannot be created: %s", name, write_trouble(why));
    }
    l->dir = l->half.path;
    l->state = local;
    local->process = process;
    local->manifest = launch_manifest(l, e);
    for (size_t i = 0; i < l->n_parts && local->manifest; i++)
        if (!cluster_launch_start(l, &process[i], i, e))
            break;
    return true; /* also after a failure: local_watch() waits for those that run, and reports it */
}

/* An interrupt ends the processes, removes the directory, and ends this process by the same signal. */
static _Noreturn void interrupted(struct cluster_launch *l, int number)
{
    const struct local *local = l->state;
    for (size_t i = 0; i < l->n_parts; i++)
        if (local->process[i].pid > 0)
            kill(local->process[i].pid, SIGTERM);
    for (size_t i = 0; i < l->n_parts; i++)
        if (local->process[i].pid > 0)
            waitpid(local->process[i].pid, NULL, 0);
    leftover_settle(&l->half, NULL);
    complain("interrupted: nothing is written");
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &local->signals, NULL);
    raise(number);
    _exit(128 + number);
}

static bool local_watch(struct cluster_launch *l, enum exit_status *status, struct error *e)
{
    enum { TRIES = 2 };
    (void)status;
    struct local *local = l->state;
    struct process *process = local->process;
    size_t n_running = 0;
    for (size_t i = 0; i < l->n_parts; i++)
        n_running += process[i].pid > 0;
    while (n_running > 0) {
        int ended;
        const pid_t pid = waitpid(-1, &ended, WNOHANG);
        if (pid < 0 && errno != EINTR)
            break;
        if (pid <= 0) {
            const int number = sigwaitinfo(&local->signals, NULL);
            if (number > 0 && number != SIGCHLD)
                interrupted(l, number);
            continue;
        }
        for (size_t i = 0; i < l->n_parts; i++) {
            struct process *p = &process[i];
            if (p->pid != pid)
                continue;
            p->pid = 0;
            p->is_done = ended_well(ended);
            n_running--;
            if (!p->is_done && p->n_tries < TRIES)
                n_running += cluster_launch_start(l, p, i, e);
            else if (!p->is_done &&
                     !job_note(l->job, true, "part %zu of %zu: its process %s %d, twice", i + 1, l->n_parts,
                               WIFSIGNALED(ended) ? "was killed by signal" : "ended with exit status",
                               WIFSIGNALED(ended) ? WTERMSIG(ended) : WEXITSTATUS(ended)))
                return error_no_memory(e, "--launcher local");
        }
    }
    pthread_sigmask(SIG_SETMASK, &local->before, NULL);
    ending_prepare(l->a->face);
    return e->fault == FAULT_NONE;
}

static void local_end(struct cluster_launch *l)
{
    if (l->dir)
        leftover_settle(&l->half, NULL);
}

static const struct launcher launchers[] = {
    { "local", local_parts, local_submit, local_watch, local_end, .runs_modes = false },
    { "slurm", slurm_parts, slurm_submit, slurm_watch, slurm_end, .runs_modes = true },
};

const struct launcher *launcher_find(const char *name)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (strcmp(launchers[i].name, name) == 0)
            return &launchers[i];
    return NULL;
}

static bool is_log(const char *name)
{
    return strncmp(name, "part_", 5) == 0 && strstr(name, ".log") != NULL;
}

static int cluster_launch_by_number(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Adds the lines of a part's log to the notes. Logs are short; the limits are for files of other origin. */
static bool note_log(struct job *j, const char *dir, const char *name, struct error *e)
{
    enum { MOST_LINES = 1000 };
    static const char before[] = "ascope: ";
    char line[1024];
    struct stat st;
    int why = ENOMEM;
    const char *path = arena_printf(j->mem, "%s/%s", dir, name);
    const int fd = path ? file_open(AT_FDCWD, path, &st, &why) : -1;
    FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
    bool done = path != NULL;
    for (size_t i = 0; f && done && i < MOST_LINES && fgets(line, sizeof line, f); i++) {
        line[strcspn(line, "\n")] = 0;
        const char *text = strncmp(line, before, sizeof before - 1) == 0 ? line + sizeof before - 1 : line;
        done = !*text || job_note(j, true, "%s", text);
    }
    if (done && fd < 0 && why != ENOENT) /* a missing log is not reported: a missing shard is */
        done = job_note(j, true, "%s: cannot be read: %s", path, read_trouble(why));
    if (f)
        fclose(f);
    else if (fd >= 0)
        close(fd);
    return done || error_no_memory(e, dir);
}

/* Messages that all parts report appear once: job_note() drops duplicates. */
static bool note_logs(struct job *j, const char *dir, struct error *e)
{
    struct dir_names logs;
    int why;
    if (!dir_names_read(&logs, dir, is_log, &why))
        return error_set(e, FAULT_IO, "%s: %s", dir, read_trouble(why));
    bool done = true;
    if (logs.n > 0)
        qsort(logs.at, logs.n, sizeof *logs.at, cluster_launch_by_number);
    for (size_t i = 0; done && i < logs.n; i++)
        done = note_log(j, dir, logs.at[i], e);
    dir_names_free(&logs);
    return done;
}

bool launch_gather(struct job *j, const char *dir, const char *wanted, struct error *e)
{
    struct job whole = *j;
    const size_t n = whole.ranks.n;
    inside_enter(dir);
    bool done = job_init(j, e);
    for (size_t i = 0; done && i < whole.notes.n; i++)
        done = job_note(j, whole.notes.at[i].is_loss, "%s", whole.notes.at[i].text) || error_no_memory(e, dir);
    done = done && note_logs(j, dir, e) && job_find(j, dir, e) && job_complete(j, wanted, e);
    j->load = whole.load;
    j->world = n > 0 && !whole.is_filtered ? whole.ranks.at[n - 1].rank + 1 : 0;
    if (done && j->ranks.n == 0)
        done = error_set(e, FAULT_IO, "%s: no part of the ranks has left a summary; see the lines above", dir);
    job_fini(&whole);
    return done;
}
