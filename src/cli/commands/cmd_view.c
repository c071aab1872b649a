/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/destination.h"
#include "base/files/file.h"
#include "base/files/inside.h"
#include "base/files/leftover.h"
#include "base/memory/large_memory.h"
#include "base/sqlite/untrusted_db.h"
#include "cli/options/command.h"
#include "cli/options/work.h"
#include "load/trace/db_reader.h"
#include "load/trace/trace_readers.h"
#include "open/recording_open.h"
#include "sql/sql_run.h"
#include "view/inputs/view_any.h"
#include "view/inputs/view_inputs.h"
#include "view/report/view_report.h"
#include "view/server/bus_guard.h"
#include "view/server/view_server.h"

static const char loopback[] = "127.0.0.1";

/* The inputs: files as given, directories as found by given_inputs(). */
struct viewing {
    struct arguments *a;
    struct inputs inputs;
    struct view_collection *collection;
    LIST(const char *) files;
    struct view_joint joint;
    bool has_joint;
    size_t n_refused; /* files that are no input; reported */
    struct view view;
};

static const char *view_name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static const char *results_in(const char *dir, struct arena *mem)
{
    inside_enter(dir);
    return results_file(dir, mem);
}

static bool database_check(const char *path, struct error *e)
{
    struct untrusted_db db;
    sqlite3_stmt *table = NULL;
    if (!untrusted_db_open(&db, path, e))
        return false;
    const bool has_tables =
        sqlite3_prepare_v2(db.db, "SELECT 1 FROM sqlite_schema WHERE type = 'table'", -1, &table, NULL) != SQLITE_OK ||
        sqlite3_step(table) != SQLITE_DONE; /* damage is shown on the page */
    sqlite3_finalize(table);
    untrusted_db_close(&db);
    return has_tables || error_set(e, FAULT_FORMAT, "%s: a database without tables", path);
}

/* Whether a file is worth a page, by its first bytes. */
static bool file_check(const char *path, struct error *e)
{
    const size_t n = strlen(path);
    if (db_is_database(path))
        return database_check(path, e);
    if (n > 3 && strcmp(path + n - 3, ".db") == 0)
        return error_set(e, FAULT_FORMAT, "%s: is no SQLite database", path);
    const char *is = results_instead(path);
    return is ? error_set(e, FAULT_FORMAT, "%s: only %s", path, is) : chrome_look(path, e);
}

/* Moves files and folders of results from the words to `files`; the remaining words are directories with
 * collections. False: no memory. */
static bool take_files(struct viewing *v)
{
    size_t n = 0;
    for (size_t i = 0; i < v->a->n_words; i++) {
        struct stat st;
        const char *word = v->a->word[i];
        const char *shown = stat(word, &st) != 0  ? NULL
                            : S_ISREG(st.st_mode) ? word
                            : S_ISDIR(st.st_mode) ? results_in(word, v->a->mem)
                                                  : NULL;
        if (!shown) {
            v->a->word[n++] = word;
            continue;
        }
        struct error e = { 0 };
        if (stat(shown, &st) == 0 && S_ISREG(st.st_mode) && !file_check(shown, &e)) {
            complain("%s", e.text);
            v->n_refused++;
            continue;
        }
        const char **file = list_add(&v->files, v->a->mem);
        if (!file)
            return false;
        *file = shown;
    }
    v->a->n_words = n;
    return true;
}

/* The shortest end of a path, of whole parts, with which the other path does not end. */
static const char *name_beside(const char *path, const char *other)
{
    const char *name = view_name_of(path);
    const size_t n_other = strlen(other);
    for (size_t n = strlen(name); name > path && n <= n_other && strcmp(other + n_other - n, name) == 0;
         n = strlen(name))
        for (name--; name > path && name[-1] != '/';)
            name--;
    return name;
}

/* Adds the ranks of a job; for ranks without recorded data, their results. */
static bool add_ranks(struct viewing *v, const struct view_job_answer *found)
{
    v->inputs.mem = v->a->mem;
    for (size_t i = 0; i < found->ranks.n; i++) {
        int why;
        const struct view_job_rank *r = &found->ranks.at[i];
        const char *results = r->is_raw ? NULL : r->file ? r->file : results_file(r->path, v->a->mem);
        struct input *t = r->is_raw ? list_add(&v->inputs.list, v->a->mem) : NULL;
        const char **file = results ? list_add(&v->files, v->a->mem) : NULL;
        if (t)
            *t =
                (struct input){ .path = r->path, .kind = framework_kind_of(r->path, &why), .steps_by = v->a->steps_by };
        if (file)
            *file = results;
    }
    return !arena_failed(v->a->mem);
}

/* Shows each input by itself, too: directories with recorded data, and files. */
static void inputs_take(struct viewing *v, const struct inputs *from)
{
    for (size_t i = 0; i < from->list.n; i++) {
        const struct input *one = &from->list.at[i];
        struct input *t = one->file ? NULL : list_add(&v->inputs.list, v->a->mem);
        const char **file = one->file ? list_add(&v->files, v->a->mem) : NULL;
        if (t)
            *t = *one;
        if (file)
            *file = one->file;
    }
}

/* Adds both runs. */
static enum exit_status add_runs(struct viewing *v, const char *const *path)
{
    enum exit_status status = STATUS_DONE;
    const bool are_files = v->files.n > 0; /* and are shown by themselves already */
    for (size_t i = 0; i < RUNS && status == STATUS_DONE; i++) {
        struct view_run *r = &v->joint.run[i];
        *r = (struct view_run){ .name = name_beside(path[i], path[!i]),
                                .inputs = { .mem = v->a->mem, .steps_by = v->a->steps_by } };
        status = given_add(&r->inputs, are_files ? v->files.at[i] : path[i], INPUT_RESULTS);
        if (!are_files)
            inputs_take(v, &r->inputs);
    }
    return arena_failed(v->a->mem) ? STATUS_NOTHING : status;
}

/* Checks whether the paths belong together: as ranks of a job, or as two runs. */
static enum exit_status joint_find(struct viewing *v, const char *const *path, size_t n)
{
    struct arguments *a = v->a;
    struct view_job_answer found = { 0 };
    v->joint = (struct view_joint){ .job = { .path = path,
                                             .steps_by = v->a->steps_by,
                                             .n_paths = n,
                                             .wanted = a->job.ranks,
                                             .n_threads = a->options.n_threads,
                                             .memory_bytes = (a->memory ? a->memory : UINT64_C(512) << 20) / 4 },
                                    .step = a->step,
                                    .options = &a->options };
    const bool is_chrome =
        n == RUNS && v->files.n == n && chrome_is_name(v->files.at[0]) && chrome_is_name(v->files.at[1]);
    const enum view_paths are = is_chrome         ? PATHS_RUNS
                                : v->files.n == 0 ? view_job_look(&found, &v->joint.job, a->mem)
                                                  : PATHS_APART;
    v->joint.is_job = are == PATHS_JOB;
    v->has_joint = are != PATHS_APART;
    if (are == PATHS_JOB)
        return add_ranks(v, &found) ? STATUS_DONE : STATUS_NOTHING;
    return are == PATHS_RUNS ? add_runs(v, path) : STATUS_DONE;
}

/* Makes the joint input, which comes first. */
static bool joint_make(struct viewing *v, struct view_input *in)
{
    const struct view_job *j = &v->joint.job;
    const char *name = v->joint.is_job
                           ? arena_printf(v->a->mem, "%s%s", view_name_of(j->path[0]), j->n_paths > 1 ? " …" : "")
                           : arena_printf(v->a->mem, "%s | %s", v->joint.run[0].name, v->joint.run[1].name);
    *in = (struct view_input){ .path = j->path[0],
                               .more_paths = j->path + 1,
                               .n_more_paths = j->n_paths - 1,
                               .name = name,
                               .kind = v->joint.is_job ? "job" : "two runs",
                               .load = view_joint_load,
                               .context = &v->joint };
    view_input_init(in);
    return name != NULL;
}

static bool inputs_make(struct viewing *v)
{
    const size_t n = v->files.n + v->inputs.list.n;
    struct view_input *first = arena_take(v->a->mem, n + 1, sizeof *first), *in = first + v->has_joint;
    v->collection = arena_take(v->a->mem, n, sizeof *v->collection);
    if (!first || !v->collection || (v->has_joint && !joint_make(v, first)))
        return false;
    for (size_t i = 0; i < v->files.n; i++)
        in[i] = view_any_file(v->files.at[i], v->a->steps_by);
    for (size_t i = 0; i < v->inputs.list.n; i++) {
        v->collection[i] = (struct view_collection){ &v->inputs.list.at[i], &v->a->options };
        in[v->files.n + i] = view_any_collection(&v->collection[i]);
    }
    for (size_t i = 0; i < n; i++) {
        in[i].name = view_name_of(in[i].path);
        in[i].is_on_demand = v->has_joint;
        view_input_init(&in[i]);
    }
    v->view = (struct view){ first, n + v->has_joint };
    return true;
}

/* Opens the user's browser without waiting for it. It runs in its own session, so that the Ctrl-C that ends the
 * viewer does not reach it, and without blocked signals. All users of the machine can read its arguments. */
static void browser_open(const char *url)
{
    char *words[] = { "xdg-open", (char *)url, NULL };
    sigset_t none;
    posix_spawnattr_t how;
    posix_spawn_file_actions_t files;
    pid_t child;
    sigemptyset(&none);
    if (posix_spawnattr_init(&how) != 0)
        return;
    if (posix_spawn_file_actions_init(&files) == 0) {
        if (posix_spawnattr_setsigmask(&how, &none) == 0 &&
            posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID) == 0 &&
            posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
            posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO) == 0)
            (void)!posix_spawnp(&child, words[0], &files, &how, words, environ);
        posix_spawn_file_actions_destroy(&files);
    }
    posix_spawnattr_destroy(&how);
}

/* Whether a browser can be opened: there is a screen, or $BROWSER is set, as by remote editors. */
static bool has_screen(void)
{
    static const char *const names[] = { "DISPLAY", "WAYLAND_DISPLAY", "BROWSER" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        if (text && *text)
            return true;
    }
    return false;
}

/* The viewer listens only on the loopback address: it has no TLS. For others the message explains an ssh tunnel. */
static bool host_check(const struct arguments *a)
{
    char name[256] = "HOST";
    if (!a->host || strcmp(a->host, loopback) == 0 || strcmp(a->host, "localhost") == 0)
        return true;
    if (gethostname(name, sizeof name - 1) != 0)
        snprintf(name, sizeof name, "HOST");
    const unsigned port = a->port ? (unsigned)a->port : 8000;
    complain(
        "--host %s: the viewer listens on %s only, without TLS; start it with --port %u, and on your machine run ssh -L "
        "%u:%s:%u %s, then open the address that it prints",
        a->host, loopback, port, port, loopback, port, name);
    return false;
}

/* Loading and SQL queries cannot be interrupted, and leave no results: the process exits at once. */
static void end_early(const struct viewing *v)
{
    bool is_busy = sql_runs();
    for (size_t i = 0; i < v->view.n_inputs; i++)
        is_busy |= atomic_load(&v->view.input[i].state) == VIEW_LOADING || atomic_load(&v->view.input[i].is_adding);
    if (!is_busy)
        return;
    leftovers_abandon();
    _exit(exit_code(v->a->face, STATUS_DONE));
}

static enum exit_status serve(struct viewing *v, const sigset_t *ends)
{
    struct error e = { 0 };
    struct view_server *s = view_server_open(&v->view, loopback, (unsigned)v->a->port, &e);
    if (!s) {
        complain("%s", e.text);
        return STATUS_NOTHING;
    }
    /* A terminal in which the address is clicked starts a browser with it, as browser_open() does. */
    const bool opens = !v->a->no_open && has_screen();
    const char *url = opens ? view_server_user_url(s) : view_server_url(s);
    const unsigned port = view_server_port(s);
    printf("%s\n", url);
    if (!v->a->quiet)
        printf("%s; Ctrl-C ends the viewer. From another machine first: ssh -L %u:%s:%u HOST\n",
               opens ? "This address is for you; the one that the browser then shows can be sent to others"
                     : "Open this address in a browser",
               port, loopback, port);
    fflush(stdout);
    enum exit_status status = STATUS_DONE;
    for (size_t i = 0; i < v->view.n_inputs && status == STATUS_DONE; i++)
        if (!v->view.input[i].is_on_demand && !view_input_start(&v->view.input[i], &e)) {
            complain("%s", e.text);
            status = STATUS_NOTHING;
        }
    if (status == STATUS_DONE) {
        if (opens)
            browser_open(url);
        int signal;
        sigwait(ends, &signal);
        end_early(v);
    }
    view_server_close(s);
    for (size_t i = 0; i < v->view.n_inputs; i++)
        view_input_close(&v->view.input[i]);
    return status;
}

/* Finds the inputs of the command line. Anything but STATUS_DONE: there is none, and the reason was reported. */
static enum exit_status view_find(struct viewing *v)
{
    size_t n_unused;
    struct arguments *a = v->a;
    const size_t n = a->n_words + (a->dir != NULL);
    const char **path = arena_take(a->mem, n + 1, sizeof *path);
    bool is_there = path != NULL;
    for (size_t i = 0; is_there && i < n; i++)
        is_there =
            (path[i] = i < a->n_words ? path_expand(a, "DIR", a->word[i]) : a->dir) && access(path[i], F_OK) == 0;
    if (!take_files(v)) {
        complain_no_memory("the list of files");
        return STATUS_NOTHING;
    }
    if (v->n_refused > 0 && a->n_words == 0 && !a->dir && v->files.n == 0)
        return STATUS_NOTHING;
    enum exit_status status = is_there && n > 0 ? joint_find(v, path, n) : STATUS_DONE;
    if (v->has_joint || status != STATUS_DONE)
        return status;
    if (a->n_words > 0 || a->dir || v->files.n == 0) {
        struct inputs found;
        status = given_inputs(&found, &n_unused, a, INPUT_RESULTS);
        inputs_take(v, &found);
    }
    return v->inputs.list.n == 0 && v->files.n == 0 ? status : STATUS_DONE;
}

/* Reads "1.5ms" or "200" as nanoseconds. */
static bool moment_read(const char *text, char **end, int64_t *ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
    const double v = strtod(text, end);
    double size = 1;
    if (*end == text || !(v >= 0) || v > 1e15)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t n = strlen(units[i].unit);
        if (strncmp(*end, units[i].unit, n) == 0) {
            size = units[i].ns;
            *end += n;
            break;
        }
    }
    *ns = v * size < 9e18 ? (int64_t)(v * size + 0.5) : INT64_MAX;
    return true;
}

static bool range_read(const char *text, struct view_range *range)
{
    char *end;
    *range = (struct view_range){ 1, 0 };
    return !text || (moment_read(text, &end, &range->begin_ns) && *end == ',' &&
                     moment_read(end + 1, &end, &range->end_ns) && !*end && range->end_ns > range->begin_ns);
}

/* Reports which records are missing from the page of an input. */
static void complain_input(const struct view_input *in)
{
    size_t n_said = 0;
    for (size_t i = 0; i < in->losses.n; i++) {
        const struct view_loss *l = &in->losses.at[i];
        char n[READABLE_MOST];
        if (!l->is_damage)
            continue;
        complain("%s: %s %s%s%s; they are missing from the page", in->name, readable_count(n, l->n), l->what,
                 *l->file ? ", first: " : "", l->file);
        n_said++;
    }
    if (n_said == 0)
        complain("%s: a part of it could not be read; the page says which", in->name);
}

/* --export: writes one page with all inputs. */
static enum exit_status write_report(struct viewing *v, struct view_range range)
{
    const char *path = v->a->report;
    struct error e = { 0 };
    struct out o;
    enum exit_status status = v->n_refused > 0 ? STATUS_LOSSES : STATUS_DONE;
    size_t n_good = 0;
    for (size_t i = 0; i < v->view.n_inputs; i++) {
        struct view_input *in = &v->view.input[i];
        if (!in->is_on_demand && view_input_start(in, &e))
            view_input_wait(in);
        n_good += atomic_load(&in->state) == VIEW_READY;
        if (!in->is_on_demand && atomic_load(&in->state) != VIEW_READY) {
            complain("%s", in->error.fault ? in->error.text : e.text);
            status = STATUS_LOSSES;
        } else if (!in->is_on_demand && in->is_lossy) {
            complain_input(in);
            status = STATUS_LOSSES;
        }
    }
    if (n_good == 0) {
        status = STATUS_NOTHING;
    } else if (!out_open_named(&o, path, &e)) {
        complain("%s", e.text);
        status = STATUS_NOTHING;
    } else {
        bool has_memory = true;
        view_report_begin(&o, v->view.input[0].name);
        for (size_t i = 0; i < v->view.n_inputs; i++)
            if (atomic_load(&v->view.input[i].state) == VIEW_READY)
                has_memory = has_memory && view_report_put(&o, &v->view.input[i], range);
        view_report_end(&o);
        if (!has_memory)
            out_discard(&o);
        if (!has_memory || !out_close(&o, &e)) {
            complain("%s", has_memory ? e.text : no_memory_text());
            status = STATUS_NOTHING;
        } else if (!v->a->quiet && !destination_is_stdout(path)) {
            printf("written to %s\n", path);
        }
    }
    for (size_t i = 0; i < v->view.n_inputs; i++)
        view_input_close(&v->view.input[i]);
    return status;
}

int run_view(struct arguments *a)
{
    struct viewing v = { .a = a };
    sigset_t ends;
    struct view_range range;
    if (!range_read(a->range, &range) || (a->range && !a->report)) {
        complain(a->report ? "--range %s: expected FROM,TO, such as 100ms,1.5s" : "--range %s: requires --export FILE",
                 a->range);
        return exit_code(a->face, STATUS_PARAMETER);
    }
    if (!host_check(a))
        return exit_code(a->face, STATUS_PARAMETER);
    const enum exit_status found = view_find(&v);
    if (found != STATUS_DONE)
        return exit_code(a->face, found);
    if (!inputs_make(&v)) {
        complain_no_memory("the list of inputs");
        return exit_code(a->face, STATUS_NOTHING);
    }
    if (!bus_guard_set())
        complain("a file that is truncated while it is shown will end the viewer: %s", strerror(errno));
    work_memory(a, v.inputs.list.n ? v.inputs.list.at[0].path : memory_dir());
    if (a->report) {
        const enum exit_status status = write_report(&v, range);
        memory_unwatch();
        return exit_code(a->face, status);
    }
    ending_fini(); /* serve() waits for signals itself */
    sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
    ending_signals(&ends);
    pthread_sigmask(SIG_BLOCK, &ends, NULL); /* before threads are created, which inherit the mask */
    const enum exit_status status = serve(&v, &ends);
    memory_unwatch();
    return exit_code(a->face, status);
}
