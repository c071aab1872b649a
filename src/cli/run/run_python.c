/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/collecting.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/own_path.h"
#include "cli/run/supervise.h"
#include "collect/os_calls/preload.h"
#include "report/term.h"

extern char **environ;

enum run_python_answer { ANSWER_NONE, ANSWER_FRAMEWORK, ANSWER_NO_PACKAGE, ANSWER_NO_INTERPRETER };

/* Reads the package's answer about a script: the name of its framework, or "none". */
static enum run_python_answer read_answer(int fd, pid_t child)
{
    char text[32];
    size_t n = 0;
    for (ssize_t got; n < sizeof text - 1; n += (size_t)got)
        if ((got = TEMP_FAILURE_RETRY(read(fd, text + n, sizeof text - 1 - n))) <= 0)
            break;
    text[n] = 0;
    int status = 0;
    if (TEMP_FAILURE_RETRY(waitpid(child, &status, 0)) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return ANSWER_NO_PACKAGE;
    return strcmp(text, "none\n") == 0 ? ANSWER_NONE : ANSWER_FRAMEWORK;
}

static enum run_python_answer ask(const struct python_program *p, struct arena *mem)
{
    struct words w = { .mem = mem };
    words_add(&w, p->interpreter);
    for (size_t i = 0; i < p->n_options; i++)
        words_add(&w, p->option[i]);
    static const char *const more[] = { "-m", "ascope", "front-end" };
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        words_add(&w, more[i]);
    if (p->is_module)
        words_add(&w, "-m");
    words_add(&w, p->script);
    int to[2];
    if (!w.at || pipe2(to, O_CLOEXEC) != 0)
        return ANSWER_NO_PACKAGE;
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, to[1], 1);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    pid_t child;
    const int why = posix_spawnp(&child, p->interpreter, &files, NULL, w.at, environ);
    posix_spawn_file_actions_destroy(&files);
    close(to[1]);
    const enum run_python_answer answer = why == 0 ? read_answer(to[0], child) : ANSWER_NO_INTERPRETER;
    close(to[0]);
    return answer;
}

/* Asks with an additional directory in PYTHONPATH, which is kept if the package is found there. */
static enum run_python_answer ask_in(const char *place, const struct python_program *p, struct arena *mem)
{
    const char *before = getenv("PYTHONPATH");
    char *kept = before ? arena_text(mem, before, strlen(before)) : NULL;
    char *path = arena_printf(mem, "%s%s%s", place, kept && *kept ? ":" : "", kept ? kept : "");
    if (!path || access(place, F_OK) != 0)
        return ANSWER_NO_PACKAGE;
    setenv("PYTHONPATH", path, 1);
    const enum run_python_answer answer = ask(p, mem);
    if (answer != ANSWER_NO_PACKAGE)
        return answer;
    if (kept)
        setenv("PYTHONPATH", kept, 1);
    else
        unsetenv("PYTHONPATH");
    return answer;
}

/* Searches the package: in the interpreter, then in the build tree, wheel or installation of this program. */
static enum run_python_answer find_package(const struct python_program *p, const char *program, struct arena *mem)
{
    static const char *const beside[] = { "python/ascope", "..", "../lib*/python3*/*-packages/ascope" };
    enum run_python_answer answer = ask(p, mem);
    for (size_t i = 0; answer == ANSWER_NO_PACKAGE && i < sizeof beside / sizeof *beside; i++) {
        glob_t found = { 0 };
        const char *pattern =
            arena_printf(mem, "%.*s%s/_path", (int)(strrchr(program, '/') + 1 - program), program, beside[i]);
        if (pattern && glob(pattern, GLOB_NOSORT, NULL, &found) == 0)
            for (size_t j = 0; answer == ANSWER_NO_PACKAGE && j < found.gl_pathc; j++)
                answer = ask_in(found.gl_pathv[j], p, mem);
        globfree(&found);
    }
    return answer;
}

static void set_environment(const char *pairs, struct arena *mem)
{
    for (const char *at = pairs; at && *at;) {
        const size_t bytes = strcspn(at, ";");
        char *const name = arena_text(mem, at, bytes), *const sign = name ? strchr(name, '=') : NULL;
        if (sign && sign > name) {
            *sign = '\0';
            setenv(name, sign + 1, 1);
        }
        at += bytes + (at[bytes] == ';');
    }
}

/* What the front end reads from its environment. Programs that the collector records do not get these variables. */
static void set_front_end_environment(const struct python_run *r, const char *self)
{
    setenv("ASCOPE_PROGRAM", self, 0); /* the analysis is of the same version */
    if (r->dialect)
        setenv("ASCOPE_DIALECT", r->dialect, 1);
    if (r->recorder->osrt == ASCOPE_OSRT_LIBC)
        setenv("ASCOPE_OSRT", "libc", 0);
}

int run_python(const struct python_run *r, char *const *program, struct arena *mem)
{
    struct python_program p;
    char self[PATH_MAX] = "";
    if (!python_read(&p, program, mem) || !own_path(self))
        return -1;
    if (r->monitor) {
        char **const monitored = find_package(&p, self, mem) < ANSWER_NO_PACKAGE ? python_command(&p, r, mem) : NULL;
        if (monitored)
            execvp(monitored[0], monitored);
        return -1;
    }
    set_environment(r->environment, mem);
    if (p.is_module && strcmp(p.script, "ascope") == 0) {
        set_front_end_environment(r, self);
        return supervise(&(struct supervised){
            .command = program, .name = p.script, .is_quiet = r->is_quiet, .hang_after_s = r->hang_after_s });
    }
    const enum run_python_answer answer = find_package(&p, self, mem);
    char **command = answer == ANSWER_FRAMEWORK && !r->outside ? python_command(&p, r, mem) : NULL;
    if (command) {
        set_front_end_environment(r, self);
        if (r->recorder->host_sys & ASCOPE_HOST_OSRT)
            preload_set(); /* else the front end says what is missing */
        if (r->recorder->device && strcmp(r->recorder->device, "mspti") == 0 && !preload_set_mspti())
            complain("note: libmspti.so is not found (ASCEND_HOME_PATH can name its CANN)");
        return supervise(&(struct supervised){ .command = command,
                                               .name = p.script,
                                               .is_raw = r->is_raw,
                                               .is_quiet = r->is_quiet,
                                               .hang_after_s = r->hang_after_s });
    }
    if (r->is_quiet)
        return -1;
    if (answer == ANSWER_NO_PACKAGE)
        complain(
            "note: %s has no package ascope for its version; %s is recorded like any other program, without its framework",
            p.interpreter, p.script);
    else if (answer == ANSWER_FRAMEWORK)
        complain("note: %s: %s is recorded from outside, without its framework", r->outside, p.script);
    return -1;
}
