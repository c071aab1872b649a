/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd_view.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/framework_names.h"
#include "base/large_memory.h"
#include "cli/exit_status.h"
#include "cli/summary.h"
#include "cli/view_collection.h"
#include "cli/view_database.h"
#include "cli/view_results.h"
#include "cli/work.h"
#include "load/chrome_load.h"
#include "view/bus_guard.h"
#include "view/db_reader.h"
#include "view/view_server.h"

static const char loopback[] = "127.0.0.1";

/* What was asked for: files as they are, directories as targets_find() finds them. */
struct viewing {
    struct arguments *a;
    struct targets targets;
    struct view_collection *collection;
    LIST(const char *) files;
    struct view view;
};

/* Takes the files, and folders of results, out of the words; what is left are directories with collections. */
static bool take_files(struct viewing *v)
{
    size_t n = 0;
    for (size_t i = 0; i < v->a->n_words; i++) {
        struct stat st;
        const char *word = v->a->word[i];
        const char *shown = stat(word, &st) != 0  ? NULL
                            : S_ISREG(st.st_mode) ? word
                            : S_ISDIR(st.st_mode) ? view_results_file(word, v->a->mem)
                                                  : NULL;
        if (!shown) {
            v->a->word[n++] = word;
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

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static bool inputs_make(struct viewing *v)
{
    const size_t n = v->files.n + v->targets.list.n;
    struct view_input *in = arena_take(v->a->mem, n, sizeof *in);
    v->collection = arena_take(v->a->mem, n, sizeof *v->collection);
    if (!in || !v->collection)
        return false;
    for (size_t i = 0; i < v->files.n; i++) {
        const bool is_database = db_is_database(v->files.at[i]);
        in[i] = (struct view_input){ .path = v->files.at[i],
                                     .kind = is_database ? "database" : "Chrome trace",
                                     .load = is_database ? view_database_load : view_load_chrome };
    }
    for (size_t i = 0; i < v->targets.list.n; i++) {
        const struct target *t = &v->targets.list.at[i];
        v->collection[i] = (struct view_collection){ t, &v->a->options };
        in[v->files.n + i] =
            (struct view_input){ .path = t->path,
                                 .kind = t->kind ? framework_names[t->kind->id].name : "PROF directory",
                                 .load = view_collection_load,
                                 .context = &v->collection[i] };
    }
    for (size_t i = 0; i < n; i++) {
        in[i].name = name_of(in[i].path);
        view_input_init(&in[i]);
    }
    v->view = (struct view){ in, n };
    return true;
}

/* The user's browser, without waiting for it. */
static void browser_open(const char *url)
{
    const pid_t child = fork();
    if (child != 0) {
        while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
        return;
    }
    if (fork() == 0) {
        if (freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr))
            execlp("xdg-open", "xdg-open", url, (char *)NULL);
    }
    _exit(0);
}

static enum exit_status serve(struct viewing *v, const sigset_t *ends)
{
    struct error e = { 0 };
    struct view_server *s = view_server_open(&v->view, loopback, (unsigned)v->a->port, &e);
    if (!s) {
        complain("%s", e.text);
        return STATUS_NOTHING;
    }
    printf("%s\n", view_server_url(s));
    if (!v->a->quiet)
        puts("Open this address in a browser; Ctrl-C ends the viewer. From another machine: ssh -L with this port.");
    fflush(stdout);
    enum exit_status status = STATUS_DONE;
    for (size_t i = 0; i < v->view.n_inputs && status == STATUS_DONE; i++)
        if (!view_input_start(&v->view.input[i], &e)) {
            complain("%s", e.text);
            status = STATUS_NOTHING;
        }
    if (status == STATUS_DONE) {
        if (!v->a->no_open && getenv("DISPLAY"))
            browser_open(view_server_url(s));
        int signal;
        sigwait(ends, &signal);
    }
    view_server_close(s);
    for (size_t i = 0; i < v->view.n_inputs; i++)
        view_input_close(&v->view.input[i]);
    return status;
}

int run_view(struct arguments *a)
{
    struct viewing v = { .a = a };
    sigset_t ends;
    if (!take_files(&v)) {
        complain_no_memory("the list of files");
        return exit_code(a->face, STATUS_NOTHING);
    }
    if (a->n_words > 0 || a->dir || v.files.n == 0) {
        const enum exit_status status = targets_find(&v.targets, a, false);
        if (v.targets.list.n == 0 && v.files.n == 0)
            return exit_code(a->face, status);
    }
    if (!inputs_make(&v)) {
        complain_no_memory("the list of inputs");
        return exit_code(a->face, STATUS_NOTHING);
    }
    if (!bus_guard_set())
        complain("a file that becomes shorter while it is shown will end the viewer: %s", strerror(errno));
    work_memory(a, v.targets.list.n ? v.targets.list.at[0].path : memory_dir());
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ends, NULL); /* before the first thread: one of them would be killed by it */
    const enum exit_status status = serve(&v, &ends);
    memory_unwatch();
    return exit_code(a->face, status);
}
