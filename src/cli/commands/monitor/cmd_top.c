/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <time.h>
#include <unistd.h>

#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "report/monitor/top_report.h"

enum { WINDOW_S = 600, LOOK_S = 2 };
static const int64_t SECOND_NS = 1000000000;

static int64_t now_unix_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * SECOND_NS + t.tv_nsec;
}

/* Shows the state once. */
static enum exit_status top_show(struct arguments *a, struct monitor_ranks *m, int64_t window_ns, bool clears)
{
    struct error e = { 0 };
    struct monitor_window w;
    struct term t;
    struct arena *const mem = arena_new();
    enum exit_status status = STATUS_DONE;
    if (!monitor_ranks_look(m, INT64_MAX, &e)) {
        complain("%s", e.text);
        status = STATUS_NOTHING;
    } else if (!mem || !monitor_window_of(&w, m, window_ns, mem)) {
        complain_no_memory(m->dir);
        status = STATUS_NOTHING;
    } else if (w.n == 0 && !clears) {
        complain("%s: no records of a monitored process; start the job with ascope run --monitor %s", m->dir, m->dir);
        status = STATUS_NOTHING;
    } else if (a->json) {
        json_t *list = json_array();
        json_list_add(&list, top_json(&w, m->dir, mem));
        status = json_report(a, "monitors", list, status);
    } else if (!a->quiet) {
        term_init(&t, stdout);
        if (clears)
            fputs("\033[H\033[J", stdout);
        top_print_window(&t, &w, m->dir, now_unix_ns(), mem);
        fflush(stdout);
    }
    arena_free(mem);
    return status;
}

int run_top(struct arguments *a)
{
    struct error e = { 0 };
    struct monitor_ranks m;
    if (a->n_words != 1) {
        complain("top: expected one directory, that of the monitored job");
        return exit_code(a->face, STATUS_USAGE);
    }
    const char *const dir = path_expand(a, "DIR", a->word[0]);
    if (!dir)
        return exit_code(a->face, arguments_refused(a));
    const int64_t window_ns = (int64_t)(a->monitor.window_s ? a->monitor.window_s : WINDOW_S) * SECOND_NS;
    const bool is_once = a->monitor.once || a->json || a->quiet || !isatty(STDOUT_FILENO);
    if (!monitor_ranks_open(&m, dir, window_ns, &e)) {
        complain("%s", e.text);
        return exit_code(a->face, STATUS_NOTHING);
    }
    enum exit_status status;
    while ((status = top_show(a, &m, window_ns, !is_once)) == STATUS_DONE && !is_once)
        sleep(LOOK_S);
    monitor_ranks_close(&m);
    if (status == STATUS_NOTHING && a->json)
        status = json_report(a, "monitors", json_array(), status);
    return exit_code(a->face, status);
}
