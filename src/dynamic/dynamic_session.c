/* SPDX-License-Identifier: Apache-2.0 */
#include "dynamic/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ascope/schedule.h"
#include "collect/session/message.h"

static struct {
    struct ascope_profiler *profiler;
    bool analyse, async_mode;
    char path[PATH_MAX]; /* of the collection; "": not complete */
} now;

static void ready(const char *path, void *unused)
{
    (void)unused;
    snprintf(now.path, sizeof now.path, "%s", path);
}

/* Registers ascope_dynamic_end() after the session's own function, so that it is called first at exit, while there is
 * data to analyse. */
static void end_at_exit_first(void)
{
    static bool is_registered;
    if (!is_registered)
        is_registered = atexit(ascope_dynamic_end) == 0;
}

bool dynamic_session_begin(const struct ascope_dynamic_request *r, void *unused)
{
    const struct ascope_schedule plan = {
        .size = sizeof plan, .active = r->active, .warmup = r->warmup, .repeat = 1, .first_step = r->step
    };
    struct ascope_options o = *r->options;
    struct ascope_error e;
    (void)unused;
    o.rank = r->rank;
    now.path[0] = '\0';
    now.analyse = r->analyse;
    now.async_mode = r->async_mode;
    now.profiler = ascope_profiler_new(&o, &plan, ready, NULL);
    ascope_profiler_start(now.profiler);
    struct ascope_session *const s = ascope_profiler_session(now.profiler);
    if (!s) {
        ascope_profiler_free(now.profiler);
        now.profiler = NULL;
        return false;
    }
    end_at_exit_first();
    for (uint64_t i = 0; i < r->n_metadata; i++)
        if (!ascope_metadata_json(s, r->metadata[i].key, r->metadata[i].json, &e))
            message(ASCOPE_WARNING, "metadata: %s", e.text);
    return true;
}

void dynamic_session_step(void *unused)
{
    (void)unused;
    ascope_profiler_step(now.profiler);
}

/* ---- analysis ---- */

extern char **environ;

/* Its standard output is discarded, because it would mix with that of the job; its messages on stderr are not. */
static pid_t command_start(const char *path)
{
    char *const arg[] = { (char *)"ascope", (char *)"analyse", (char *)path, NULL };
    posix_spawn_file_actions_t files;
    pid_t pid = -1;
    if (posix_spawn_file_actions_init(&files) != 0)
        return -1;
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&pid, arg[0], &files, NULL, arg, environ) != 0)
        pid = -1;
    posix_spawn_file_actions_destroy(&files);
    return pid;
}

/* Forgets an analysis that ran beside the job and has ended. */
static void reap(pid_t *pid)
{
    if (*pid > 0 && waitpid(*pid, NULL, WNOHANG) != 0)
        *pid = -1;
}

static void analyse(const char *path)
{
    static pid_t beside[16] = { 0 };
    int status = 0;
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        reap(&beside[i]);
    const pid_t pid = command_start(path);
    if (pid > 0 && now.async_mode) {
        size_t i = 0;
        while (i + 1 < sizeof beside / sizeof *beside && beside[i] > 0)
            i++;
        beside[i] = pid;
        return;
    }
    if (pid > 0 && TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)) < 0)
        status = errno == ECHILD ? 0 : 1; /* the job ignores SIGCHLD: how it ended is not known */
    const bool has_losses =
        WIFEXITED(status) && WEXITSTATUS(status) == 3; /* it has reported them, and written results */
    if (pid < 0 || (status != 0 && !has_losses))
        message(ASCOPE_WARNING, "%s: the command ascope %s; analyse it with: ascope analyse %s", path,
                pid < 0 ? "was not found in PATH" : "failed", path);
}

const char *dynamic_session_end(bool is_cut, void *unused)
{
    (void)unused, (void)is_cut;
    ascope_profiler_free(now.profiler); /* stops it; after a warm-up alone nothing is left */
    now.profiler = NULL;
    if (!now.path[0])
        return NULL;
    if (now.analyse)
        analyse(now.path);
    return now.path;
}
