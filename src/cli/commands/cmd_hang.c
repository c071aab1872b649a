/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"
#include "cli/dyn/dyn_verb.h"
#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "load/plain/plain_value.h"
#include "report/hang_report.h"

struct hang_input {
    struct flight_job job;
    struct live_job live; /* of processes, instead of dumps */
    LIST(pid_t) root;
    struct arena *mem;
    size_t n_refused;
};

/* "nccl_trace_rank_12", "rank3.json" */
static bool hang_is_dump_name(const char *name)
{
    const size_t n = strcspn(name, ".");
    return n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9' &&
           (!name[n] || strcmp(name + n, ".json") == 0 || strcmp(name + n, ".pickle") == 0);
}

static void hang_read_file(struct hang_input *in, const char *path)
{
    struct error e = { 0 };
    struct stat st;
    int why = 0;
    const int fd = file_open(AT_FDCWD, path, &st, &why);
    uint8_t *bytes = fd >= 0 ? arena_take(in->mem, (size_t)st.st_size + 1, 1) : NULL;
    size_t n = 0;
    if (fd < 0)
        error_set(&e, FAULT_IO, "%s: %s", path, read_trouble(why));
    else if (!bytes)
        error_no_memory(&e, path);
    else if (!file_read(fd, bytes, (size_t)st.st_size, &n, &why))
        error_set(&e, FAULT_IO, "%s: %s", path, read_trouble(why));
    else
        flight_load(&in->job, bytes, n, path, in->mem, &e);
    if (fd >= 0)
        close(fd);
    if (e.fault == FAULT_NONE)
        return;
    complain("%s", e.text);
    in->n_refused++;
}

static void hang_add_root(struct hang_input *in, pid_t pid)
{
    pid_t *const to = list_add(&in->root, in->mem);
    if (to)
        *to = pid;
}

/* The processes that listen to a directory, or record into it. False: none. */
static bool hang_find_live(struct hang_input *in, const char *path)
{
    struct listeners l;
    struct error e = { 0 };
    const size_t n_before = in->root.n;
    if (listeners_find(&l, path, in->mem, &e))
        for (size_t i = 0; i < l.list.n; i++)
            if (l.list.at[i].age_s <= 0) /* on this host */
                hang_add_root(in, l.list.at[i].is.pid);
    size_t n;
    pid_t *const root = live_job_roots(path, &n);
    for (size_t i = 0; i < n; i++)
        hang_add_root(in, root[i]);
    free(root);
    return in->root.n > n_before;
}

static bool hang_is_pid(const char *word)
{
    return word[0] >= '1' && word[0] <= '9' && strlen(word) < 10 && word[strspn(word, "0123456789")] == '\0' &&
           access(word, F_OK) != 0;
}

static void hang_read(struct hang_input *in, const char *path)
{
    struct stat st;
    struct dir_names names;
    int why = 0;
    if (hang_is_pid(path)) {
        if (kill((pid_t)atoi(path), 0) == 0 || errno == EPERM) {
            hang_add_root(in, (pid_t)atoi(path));
        } else {
            complain("process %s: there is none", path);
            in->n_refused++;
        }
        return;
    }
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
        hang_read_file(in, path);
        return;
    }
    if (!dir_names_read(&names, path, hang_is_dump_name, &why)) {
        complain("%s: %s", path, read_trouble(why));
        in->n_refused++;
        return;
    }
    for (size_t i = 0; i < names.n; i++) {
        const char *file = arena_printf(in->mem, "%s/%s", path, names.at[i]);
        if (file)
            hang_read_file(in, file);
    }
    if (names.n == 0 && !hang_find_live(in, path)) {
        complain("%s: no dumps like nccl_trace_rank_0, and no process listens to it or records into it", path);
        in->n_refused++;
    }
    dir_names_free(&names);
}

static int hang_rank_order(const void *a, const void *b)
{
    const struct flight_rank *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* False: no memory, or nothing to look at; a line says which. */
static bool hang_look(struct hang_input *in)
{
    if (in->root.n == 0)
        return true;
    if (in->job.rank.n > 0)
        complain("hang: dumps and processes were given; the processes are left out");
    else if (!live_job_read(&in->live, in->root.at, in->root.n, in->mem) ||
             !live_job_ranks(&in->job, &in->live, in->mem))
        return complain_no_memory("the processes"), false;
    else if (in->live.process.n == 0)
        return complain("hang: none of these processes runs Python"), false;
    return true;
}

static enum exit_status hang_answer(struct hang_input *in, struct arguments *a)
{
    struct hang h;
    if (!hang_look(in) || (in->job.rank.n == 0 && in->live.process.n == 0))
        return STATUS_NOTHING;
    const bool is_live = in->live.process.n > 0;
    if (in->job.rank.n > 0)
        qsort(in->job.rank.at, in->job.rank.n, sizeof *in->job.rank.at, hang_rank_order);
    const char *sentence = hang_judge(&h, &in->job, in->mem) ? hang_sentence(&h, &in->job, in->mem) : NULL;
    if (!sentence) {
        complain_no_memory("the dumps");
        return STATUS_NOTHING;
    }
    const enum exit_status status = in->n_refused > 0 ? STATUS_LOSSES : STATUS_DONE;
    if (a->json) {
        json_t *list = json_array();
        json_t *const is = hang_json(&h, &in->job, sentence);
        if (is_live)
            json_object_update_new(is, json_pack("{s:b, s:o}", "has_moved", in->live.has_moved, "processes",
                                                 live_json(&in->live, in->mem)));
        json_list_add(&list, is);
        return json_report(a, "hangs", list, status);
    }
    struct term t;
    term_init(&t, stdout);
    if (a->quiet)
        return status;
    if (in->live.has_moved)
        puts("The job is not stuck: a rank made progress while it was looked at. At that moment:");
    hang_print(&t, &h, &in->job, sentence, in->mem);
    if (is_live)
        live_print(&t, &in->live, in->mem);
    return status;
}

int run_hang(struct arguments *a)
{
    struct hang_input in = { .mem = a->mem };
    if (a->n_words == 0) {
        complain("hang: nothing given; expected a directory, a process, or files like nccl_trace_rank_0");
        return exit_code(a->face, STATUS_USAGE);
    }
    for (size_t i = 0; i < a->n_words; i++) {
        const char *path = path_expand(a, "DIR", a->word[i]);
        if (!path)
            return exit_code(a->face, arguments_refused(a));
        hang_read(&in, path);
    }
    const enum exit_status status = hang_answer(&in, a);
    if (status == STATUS_NOTHING && a->json)
        return exit_code(a->face, json_report(a, "hangs", json_array(), status));
    return exit_code(a->face, status);
}
