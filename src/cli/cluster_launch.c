/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cluster_launch.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

/* One part of the ranks. */
struct process {
    pid_t pid; /* 0: not running */
    unsigned n_tries;
    bool is_done;
};

static bool start(struct arguments *a, struct process *p, const char *dir, size_t part, size_t n, struct error *e)
{
    enum { OWN_WORDS = 12 };
    char shard[48], threads[16] = "1";
    const char **word = arena_take(a->mem, a->n_words + OWN_WORDS, sizeof *word);
    size_t at = 0;
    if (!word)
        return error_no_memory(e, "--launcher local");
    snprintf(shard, sizeof shard, "%zu/%zu", part + 1, n);
    word[at++] = "ascope";
    word[at++] = "cluster";
    for (size_t i = 0; i < a->n_words; i++)
        word[at++] = a->word[i];
    const char *const more[] = { "--shard",   shard,   "--out",   dir,
                                 "--threads", threads, "--quiet", a->job.ranks ? "--ranks" : NULL,
                                 a->job.ranks };
    for (size_t i = 0; i < sizeof more / sizeof *more && more[i]; i++)
        word[at++] = more[i];
    p->n_tries++;
    const int why = posix_spawn(&p->pid, "/proc/self/exe", NULL, NULL, (char **)word, environ);
    return why == 0 || error_set(e, FAULT_IO, "--launcher local: cannot start a process: %s", strerror(why));
}

/* How it ended: 0 or 3 is a shard, anything else is none. */
static bool ended_well(int status)
{
    return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3);
}

bool launch_local(struct arguments *a, struct job *j, const char *dir, size_t n, struct error *e)
{
    enum { TRIES = 2 };
    struct process *process = arena_take(a->mem, n, sizeof *process);
    size_t n_running = 0;
    if (!process)
        return error_no_memory(e, "--launcher local");
    for (size_t i = 0; i < n; i++)
        n_running += start(a, &process[i], dir, i, n, e);
    while (n_running > 0) {
        int status;
        const pid_t pid = waitpid(-1, &status, 0);
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid < 0)
            break;
        for (size_t i = 0; i < n; i++) {
            struct process *p = &process[i];
            if (p->pid != pid)
                continue;
            p->pid = 0;
            p->is_done = ended_well(status);
            n_running--;
            if (!p->is_done && p->n_tries < TRIES)
                n_running += start(a, p, dir, i, n, e);
            else if (!p->is_done &&
                     !job_note(j, true, "part %zu of %zu: its process %s %d, twice; its ranks are missing", i + 1, n,
                               WIFSIGNALED(status) ? "was killed by signal" : "ended with exit status",
                               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)))
                return error_no_memory(e, "--launcher local");
        }
    }
    return e->fault == FAULT_NONE;
}
