/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/own_path.h"
#include "cli/run/collecting.h"
#include "live/live_job.h"
#include "report/term.h"
#include "run/run.h"

enum { CODE_NOT_STARTED = 127, CODE_OF_SIGNAL = 128, MOST_COLLECTIONS = 4096 };

extern char **environ;

/* A recording of the program or of one of its processes. */
struct supervised_recording {
    char *path;
    int pid;
    bool has_ended; /* by its process; false: that process is gone, and the recording has to be recovered */
};

struct supervised_recordings {
    struct supervised_recording *at;
    size_t n;
};

/* ---- what the front ends report ---- */

/* Creates the file of notes and names it in the environment. False: there is no place for it, and what a killed process
 * recorded is not listed. */
static bool supervised_notes_make(char path[PATH_MAX])
{
    const char *const place = getenv("TMPDIR");
    snprintf(path, PATH_MAX, "%s/ascope-run-XXXXXX", place && *place ? place : "/tmp");
    const int fd = mkstemp(path);
    if (fd < 0)
        return false;
    close(fd);
    return setenv("ASCOPE_SUPERVISED", path, 1) == 0;
}

static struct supervised_recording *supervised_find(struct supervised_recordings *all, const char *path)
{
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->at[i].path, path) == 0)
            return &all->at[i];
    return NULL;
}

/* A line is "+PID PATH" at the begin of a recording and "-PID PATH" at its end. Recordings that were discarded no longer
 * exist. */
static void supervised_note_take(struct supervised_recordings *all, char *line)
{
    char *path;
    const long pid = strtol(line + 1, &path, 10);
    if ((*line != '+' && *line != '-') || *path != ' ')
        return;
    path[1 + strcspn(path + 1, "\n")] = '\0';
    struct supervised_recording *r = supervised_find(all, ++path);
    struct stat s;
    if (!r && *line == '+' && all->n < MOST_COLLECTIONS && stat(path, &s) == 0 && S_ISDIR(s.st_mode)) {
        struct supervised_recording *const more = realloc(all->at, (all->n + 1) * sizeof *more);
        char *const own = more ? strdup(path) : NULL;
        all->at = more ? more : all->at;
        if (own)
            all->at[all->n++] = (struct supervised_recording){ .path = own, .pid = (int)pid };
    }
    if (r && *line == '-')
        r->has_ended = true;
}

static void supervised_notes_read(struct supervised_recordings *all, const char *path)
{
    char line[PATH_MAX + 32];
    FILE *const notes = fopen(path, "re");
    while (notes && fgets(line, sizeof line, notes))
        supervised_note_take(all, line);
    if (notes)
        fclose(notes);
    unlink(path);
    snprintf(line, sizeof line, "%s.analysed", path); /* of the front end, which removes it unless it is killed */
    unlink(line);
}

/* ---- the program's end ---- */

/* Runs this program with the words from argv[1] on, its output on standard error. */
static void supervised_ascope(char **argv)
{
    char self[PATH_MAX];
    if (!own_path(self))
        return;
    argv[0] = self;
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, 2, 1);
    pid_t child;
    const int why = posix_spawn(&child, self, &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    if (why == 0)
        TEMP_FAILURE_RETRY(waitpid(child, NULL, 0));
}

/* `ascope COMMAND PATH...` */
static void supervised_answer(const char *command, const struct supervised_recordings *all, bool of_killed,
                              bool is_quiet)
{
    size_t n = 1;
    char **const argv = calloc(all->n + 4, sizeof *argv);
    if (!argv)
        return;
    argv[n++] = (char *)command;
    if (is_quiet)
        argv[n++] = (char *)"--quiet";
    for (size_t i = 0; i < all->n; i++)
        if (!of_killed || !all->at[i].has_ended)
            argv[n++] = all->at[i].path;
    supervised_ascope(argv);
    free(argv);
}

/* Recovers and analyses what killed processes left. Several processes that recorded are the ranks of a job, whose
 * verdict follows. */
static void supervised_complete(const struct supervised *s, const struct supervised_recordings *all)
{
    size_t n_left = 0;
    bool is_job = false;
    for (size_t i = 0; i < all->n; i++) {
        n_left += !all->at[i].has_ended;
        is_job = is_job || all->at[i].pid != all->at[0].pid;
    }
    unsetenv("ASCOPE_SUPERVISED");
    for (size_t i = 0; s->is_raw && i < all->n; i++)
        if (!all->at[i].has_ended && !s->is_quiet)
            complain("recorded: %s; run `ascope analyse` for timeline and tables", all->at[i].path);
    if (n_left > 0 && !s->is_raw)
        supervised_answer("analyse", all, true, s->is_quiet);
    if (is_job && !s->is_raw && !s->is_quiet)
        supervised_answer("why", all, false, false);
}

/* As the program ended, so that callers see one process. Its memory was dumped already. */
static int supervised_end(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return CODE_OF_SIGNAL + WTERMSIG(status);
}

/* ---- a program that hangs ---- */

struct supervised_watch {
    uint64_t progress, since_ns, next_ns; /* next_ns: of the next look; 0: never */
    bool is_reported;
};

static void supervised_watch_next(const struct supervised *s, struct supervised_watch *w, uint64_t now_ns)
{
    const uint64_t second = 1000000000, part = s->hang_after_s * second / 8;
    w->next_ns = s->hang_after_s == 0 ? 0 : now_ns + (part < second / 4 ? second / 4 : part);
}

/* Once for each stop: what is stuck now may go on later. */
static void supervised_look(const struct supervised *s, struct supervised_watch *w, pid_t program)
{
    size_t n_ranks;
    const uint64_t progress = live_job_progress(&program, 1, &n_ranks), now_ns = run_now_ns();
    if (n_ranks == 0 || progress != w->progress || w->since_ns == 0) {
        *w = (struct supervised_watch){ .progress = progress, .since_ns = now_ns };
    } else if (!w->is_reported && now_ns - w->since_ns >= s->hang_after_s * UINT64_C(1000000000)) {
        char pid[16];
        snprintf(pid, sizeof pid, "%d", (int)program);
        w->is_reported = true;
        complain("%.300s: no rank has made progress for %u seconds", s->name, s->hang_after_s);
        supervised_ascope((char *[]){ NULL, (char *)"hang", pid, NULL });
    }
    supervised_watch_next(s, w, run_now_ns());
}

/* ---- the program ---- */

static bool supervised_run(const struct supervised *s, struct run_events *events, struct error *e)
{
    struct run_launch launch;
    const struct launch_of of = { .program = s->command, .environment = environ, .mask = &events->mask };
    if (!launch_hold(&launch, &of, e) || !launch_go(&launch, s->command[0], e))
        return false;
    events->program = launch.pid;
    struct supervised_watch watch = { 0 };
    supervised_watch_next(s, &watch, run_now_ns());
    for (enum run_event event; (event = run_events_next(events, watch.next_ns)) != RUN_PROGRAM_ENDED;)
        if (event == RUN_TIME)
            supervised_look(s, &watch, launch.pid);
        else if (events->is_sent) /* the terminal's signals have reached the program already */
            kill(launch.pid, events->number);
    run_events_reap(events);
    return true;
}

int supervise(const struct supervised *s)
{
    struct supervised_recordings all = { 0 };
    struct run_events events = { .forwards = true };
    struct error e = { 0 };
    char notes[PATH_MAX];
    const bool has_notes = supervised_notes_make(notes), is_ready = run_events_begin(&events, &e);
    const bool is_started = is_ready && supervised_run(s, &events, &e);
    if (is_ready)
        run_events_end(&events);
    if (has_notes)
        supervised_notes_read(&all, notes);
    if (is_started) {
        if (WIFSIGNALED(events.status))
            complain("%.300s was killed by signal %d (%s)", s->name, WTERMSIG(events.status),
                     signal_name(WTERMSIG(events.status)));
        supervised_complete(s, &all);
    } else {
        complain("%s", e.text);
    }
    for (size_t i = 0; i < all.n; i++)
        free(all.at[i].path);
    free(all.at);
    return is_started ? supervised_end(events.status) : CODE_NOT_STARTED;
}
