/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/samplers/proc_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_MOST = 4096 };
static const uint64_t LIST_NS = 1000000000; /* at least so often: not every kernel counts the links */

static bool number_after(const char *text, const char *key, uint64_t *out)
{
    const char *const at = strstr(text, key);
    if (at)
        *out = strtoull(at + strlen(key), NULL, 10);
    return at;
}

/* ---- threads ---- */

static void thread_drop(struct proc_tree *t, struct proc_thread *thread)
{
    proc_file_close(&t->files, &thread->stat);
    proc_file_close(&t->files, &thread->schedstat);
    free(thread->line);
}

/* Those that stay keep their files. */
static void threads_list(struct proc_tree *t, struct proc_process *p)
{
    size_t n, old = 0;
    pid_t *const tid = proc_numbers(p->tasks, ".", &n);
    struct proc_thread *const now = tid ? malloc(n * sizeof *now) : NULL;
    p->has_ended = n == 0 && errno != EMFILE && errno != ENFILE && errno != ENOMEM;
    if (!now) { /* or no memory: as before */
        free(tid);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        while (old < p->n_threads && p->threads[old].tid < tid[i])
            thread_drop(t, &p->threads[old++]);
        if (old < p->n_threads && p->threads[old].tid == tid[i])
            now[i] = p->threads[old++];
        else
            now[i] = (struct proc_thread){ .tid = tid[i], .stat = PROC_FILE_CLOSED, .schedstat = PROC_FILE_CLOSED };
    }
    while (old < p->n_threads)
        thread_drop(t, &p->threads[old++]);
    free(p->threads);
    free(tid);
    p->threads = now;
    p->n_threads = n;
    p->is_stale = false;
}

/* The line as the files have it: one, whatever the thread is called. */
static bool line_keep(struct proc_thread *thread, char *text, size_t n)
{
    if (text[n - 1] != '\n')
        text[n++] = '\n';
    for (char *at = text; (at = memchr(at, '\n', n - 1 - (size_t)(at - text)));)
        *at = ' ';
    if (n > thread->room) {
        char *const more = realloc(thread->line, n + 64);
        if (!more)
            return thread->line;
        thread->line = more;
        thread->room = n + 64;
    }
    memcpy(thread->line, text, n);
    thread->bytes = n;
    return true;
}

bool proc_thread_read(struct proc_tree *t, const struct proc_process *p, struct proc_thread *thread, bool is_exact)
{
    char name[64], text[TEXT_MOST];
    snprintf(name, sizeof name, "%d/schedstat", (int)thread->tid);
    const size_t known = proc_file_read(&t->files, &thread->schedstat, p->tasks, name, text, sizeof text);
    const uint64_t ran_ns = known > 0 ? strtoull(text, NULL, 10) : 0;
    if (known == 0 && (errno == ESRCH || errno == ENOENT) && thread->schedstat.fd >= 0)
        return false;
    if (!is_exact && thread->line && ran_ns > 0 && ran_ns == thread->ran_ns)
        return true;
    snprintf(name, sizeof name, "%d/stat", (int)thread->tid);
    const size_t n = proc_file_read(&t->files, &thread->stat, p->tasks, name, text, sizeof text - 1);
    thread->ran_ns = ran_ns;
    return n > 0 && line_keep(thread, text, n);
}

/* ---- processes ---- */

static struct proc_process *process_of(struct proc_tree *t, pid_t pid)
{
    for (size_t i = t->n; i-- > 0;) /* the newest has the most children to come */
        if (t->processes[i].pid == pid && !t->processes[i].has_ended)
            return &t->processes[i];
    return NULL;
}

static void process_add(struct proc_tree *t, pid_t pid, pid_t parent)
{
    char name[32];
    if (t->files.n >= t->files.most)
        return;
    if (t->n == t->room) {
        const size_t room = t->room * 2 + 16;
        struct proc_process *const more = realloc(t->processes, room * sizeof *more);
        if (!more)
            return;
        t->processes = more;
        t->room = room;
    }
    snprintf(name, sizeof name, "%d/task", (int)pid);
    const int tasks = openat(t->proc, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (tasks < 0)
        return;
    t->files.n++;
    t->processes[t->n++] = (struct proc_process){ .pid = pid,
                                                  .parent = parent,
                                                  .tasks = tasks,
                                                  .statm = PROC_FILE_CLOSED,
                                                  .io = PROC_FILE_CLOSED,
                                                  .is_stale = true };
}

/* Its files go; what it has done stays until its parent's counters are known. */
static void process_end(struct proc_tree *t, struct proc_process *p)
{
    for (size_t i = 0; i < p->n_threads; i++)
        thread_drop(t, &p->threads[i]);
    free(p->threads);
    p->threads = NULL;
    p->n_threads = 0;
    proc_file_close(&t->files, &p->statm);
    proc_file_close(&t->files, &p->io);
    proc_file_close(&t->files, &(struct proc_file){ p->tasks });
    p->tasks = -1;
    p->has_ended = true;
}

static bool is_parent(struct proc_tree *t, pid_t pid)
{
    return process_of(t, pid) || (pid == t->owner && t->root != t->owner);
}

/* A task that the kernel has given a number to. Threads are no processes: their number is not their group's. False: not
 * there. */
static bool task_probe(struct proc_tree *t, pid_t pid)
{
    char name[32], text[TEXT_MOST];
    uint64_t group = 0, parent = 0;
    if (pid == t->owner || process_of(t, pid))
        return true;
    snprintf(name, sizeof name, "%d/status", (int)pid);
    if (proc_read(t->proc, name, text, sizeof text) == 0)
        return false;
    if (number_after(text, "\nTgid:", &group) && number_after(text, "\nPPid:", &parent) && group == (uint64_t)pid &&
        is_parent(t, (pid_t)parent))
        process_add(t, pid, (pid_t)parent);
    return true;
}

/* Until no more are found: a parent may have a greater number than its child. */
static void processes_scan(struct proc_tree *t)
{
    size_t n, before;
    pid_t *const pid = proc_numbers(t->proc, ".", &n);
    do {
        before = t->n;
        for (size_t i = 0; i < n; i++)
            task_probe(t, pid[i]);
    } while (t->n != before);
    free(pid);
}

/* The number that was given last, from /proc/loadavg; 0: the kernel does not show it. */
static uint64_t newest_task(struct proc_tree *t)
{
    char text[128];
    const size_t n = proc_file_read(&t->files, &t->loadavg, t->proc, "loadavg", text, sizeof text);
    const char *const last = n > 0 ? strrchr(text, ' ') : NULL;
    return last ? strtoull(last, NULL, 10) : 0;
}

/* A number is given a moment before its task can be seen: those that were not there at the look before are tried once
 * more. */
static void processes_find(struct proc_tree *t, bool is_time)
{
    const uint64_t newest = newest_task(t), from = t->newest;
    for (size_t i = 0; i < t->n_missing; i++)
        task_probe(t, t->missing[i]);
    t->n_missing = 0;
    t->newest = newest;
    if (newest == 0 ? is_time : newest < from || newest - from > PROC_PROBED_MOST) {
        processes_scan(t);
        return;
    }
    for (uint64_t pid = from + 1; newest > 0 && pid <= newest; pid++)
        if (!task_probe(t, (pid_t)pid))
            t->missing[t->n_missing++] = (pid_t)pid;
}

static void process_look(struct proc_tree *t, struct proc_process *p, bool is_time)
{
    struct stat tasks = { 0 };
    if (fstat(p->tasks, &tasks) != 0 || p->is_stale || is_time || tasks.st_nlink != p->n_links)
        threads_list(t, p);
    p->n_links = tasks.st_nlink;
    if (p->has_ended)
        process_end(t, p);
}

void proc_tree_look(struct proc_tree *t, uint64_t now_ns)
{
    const bool is_time = now_ns - t->listed_ns >= LIST_NS;
    size_t n = 0, n_alive = 0;
    if (is_time)
        t->listed_ns = now_ns;
    processes_find(t, is_time);
    for (size_t i = 0; i < t->n; i++) {
        struct proc_process *const p = &t->processes[i];
        if (p->has_ended)
            continue; /* since the look before */
        process_look(t, p, is_time);
        n_alive += !p->has_ended;
        t->processes[n++] = *p;
    }
    t->n = n;
    t->has_ended = n_alive == 0;
}

/* ---- bytes ---- */

static bool io_read(struct proc_tree *t, struct proc_process *p)
{
    static const char *const key[PROC_IO] = {
        "rchar:", "wchar:", "syscr:", "syscw:", "\nread_bytes:", "\nwrite_bytes:"
    };
    char text[TEXT_MOST];
    if (proc_file_read(&t->files, &p->io, p->tasks, "../io", text, sizeof text) == 0)
        return false;
    for (size_t k = 0; k < PROC_IO; k++)
        if (!number_after(text, key[k], &p->seen[k]))
            return false;
    return true;
}

static bool has_all(const uint64_t *more, const uint64_t *less)
{
    for (size_t k = 0; k < PROC_IO; k++)
        if (more[k] < less[k])
            return false;
    return true;
}

/* What the process has done since it was counted. Children that it has waited for are in all of its counters at once.
 * One that could not be read any more may have been waited for after its parent was read: it is still there at the next
 * look. */
static void io_count(struct proc_tree *t, struct proc_process *p, bool is_first)
{
    uint64_t more[PROC_IO];
    if (!has_all(p->seen, p->counted))
        return;
    for (size_t k = 0; k < PROC_IO; k++)
        more[k] = p->seen[k] - p->counted[k];
    for (size_t i = 0; i < t->n; i++) {
        struct proc_process *const child = &t->processes[i];
        if (child->has_io || child->is_settled || child->parent != p->pid || !has_all(more, child->counted))
            continue;
        child->is_settled = true;
        for (size_t k = 0; k < PROC_IO; k++)
            more[k] -= child->counted[k];
    }
    for (size_t k = 0; k < PROC_IO; k++)
        t->io[k] += is_first ? 0 : more[k];
    memcpy(p->counted, p->seen, sizeof p->counted);
}

void proc_tree_io(struct proc_tree *t)
{
    const bool is_first = !t->has_io; /* what was done before nobody asked for */
    for (size_t i = 0; i < t->n; i++) {
        struct proc_process *const p = &t->processes[i];
        p->has_io = !p->has_ended && io_read(t, p);
    }
    for (size_t i = 0; i < t->n; i++) {
        if (t->processes[i].has_io)
            io_count(t, &t->processes[i], is_first);
        t->has_io |= t->processes[i].has_io;
    }
}

/* ---- begin and end ---- */

void proc_tree_init(struct proc_tree *t, pid_t root, pid_t owner)
{
    *t = (struct proc_tree){ .root = root,
                             .owner = owner,
                             .loadavg = PROC_FILE_CLOSED,
                             .files = proc_files_limit(root == owner),
                             .proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC) };
    process_add(t, root, 0);
    t->newest = newest_task(t);
    if (t->n > 0)
        processes_scan(t);
}

void proc_tree_fini(struct proc_tree *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (!t->processes[i].has_ended)
            process_end(t, &t->processes[i]);
    free(t->processes);
    proc_file_close(&t->files, &t->loadavg);
    proc_close(t->proc);
    *t = (struct proc_tree){ .proc = -1, .loadavg = PROC_FILE_CLOSED };
}
