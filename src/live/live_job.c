/* SPDX-License-Identifier: Apache-2.0 */
#include "live/live_job.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/files/file.h"
#include "live/remote_memory.h"
#include "profile/snapshot/program_file.h"

enum { LOOK_NS = 400000000, MOST_LIVE = 4096 };

/* ---- /proc ------------------------------------------------------------------------------------------------------- */

static size_t live_proc_text(char *to, size_t room, const char *path)
{
    size_t n = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    for (ssize_t got; n < room - 1 && (got = TEMP_FAILURE_RETRY(read(fd, to + n, room - 1 - n))) > 0;)
        n += (size_t)got;
    close(fd);
    to[n] = '\0';
    return n;
}

struct live_stat {
    char name[32], state;
    pid_t parent;
};

/* "PID (NAME) STATE PARENT ...": the name may hold anything. */
static bool live_stat_read(struct live_stat *out, const char *path)
{
    char text[512];
    *out = (struct live_stat){ 0 };
    if (live_proc_text(text, sizeof text, path) == 0)
        return false;
    char *const begin = strchr(text, '('), *const end = strrchr(text, ')');
    if (!begin || !end || end < begin || end[1] != ' ' || !end[2])
        return false;
    *end = '\0';
    snprintf(out->name, sizeof out->name, "%.31s", begin + 1);
    out->state = end[2];
    out->parent = (pid_t)strtol(end + 3, NULL, 10);
    return true;
}

bool live_thread_state(pid_t pid, pid_t tid, char *state, char *name, size_t name_bytes)
{
    char path[64];
    struct live_stat s;
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)tid);
    const bool is_there = live_stat_read(&s, path);
    *state = s.state;
    snprintf(name, name_bytes, "%s", s.name);
    return is_there;
}

static bool is_number(const char *name)
{
    return name[0] >= '1' && name[0] <= '9' && name[strspn(name, "0123456789")] == '\0';
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

struct live_pid {
    pid_t pid, parent;
    bool is_in;
};

static bool live_pid_is_in(const struct live_pid *all, size_t n, pid_t pid)
{
    for (size_t i = 0; i < n; i++)
        if (all[i].pid == pid)
            return all[i].is_in;
    return false;
}

pid_t *live_job_pids(const pid_t *root, size_t n_roots, size_t *n)
{
    struct dir_names names;
    int why = 0;
    *n = 0;
    if (!dir_names_read(&names, "/proc", is_number, &why))
        return NULL;
    struct live_pid *const all = calloc(names.n + 1, sizeof *all);
    pid_t *const out = calloc(names.n + 1, sizeof *out);
    for (size_t i = 0; all && i < names.n; i++) {
        char path[64];
        struct live_stat s;
        snprintf(path, sizeof path, "/proc/%.20s/stat", names.at[i]);
        all[i] = (struct live_pid){ .pid = (pid_t)strtol(names.at[i], NULL, 10) };
        all[i].parent = live_stat_read(&s, path) ? s.parent : 0;
        for (size_t k = 0; k < n_roots; k++)
            all[i].is_in |= all[i].pid == root[k];
    }
    for (bool has_changed = all != NULL; has_changed;) {
        has_changed = false;
        for (size_t i = 0; i < names.n; i++)
            if (!all[i].is_in && all[i].parent > 0 && live_pid_is_in(all, names.n, all[i].parent))
                has_changed = all[i].is_in = true;
    }
    for (size_t i = 0; all && out && i < names.n; i++)
        if (all[i].is_in && all[i].pid != getpid() && *n < MOST_LIVE)
            out[(*n)++] = all[i].pid;
    dir_names_free(&names);
    free(all);
    return out;
}

static bool live_has_open(const char *pid, const char *dir, size_t bytes)
{
    char path[PATH_MAX], to[PATH_MAX];
    struct dir_names names;
    int why = 0;
    bool has = false;
    snprintf(path, sizeof path, "/proc/%.20s/fd", pid);
    if (!dir_names_read(&names, path, name_is_visible, &why))
        return false;
    for (size_t i = 0; i < names.n && !has; i++) {
        snprintf(path, sizeof path, "/proc/%.20s/fd/%.20s", pid, names.at[i]);
        const ssize_t n = readlink(path, to, sizeof to - 1);
        has = n > (ssize_t)bytes && memcmp(to, dir, bytes) == 0 && to[bytes] == '/';
    }
    dir_names_free(&names);
    return has;
}

pid_t *live_job_roots(const char *dir, size_t *n)
{
    char real[PATH_MAX];
    struct dir_names names;
    int why = 0;
    *n = 0;
    if (!realpath(dir, real) || !dir_names_read(&names, "/proc", is_number, &why))
        return NULL;
    pid_t *const out = calloc(names.n + 1, sizeof *out);
    for (size_t i = 0; out && i < names.n; i++)
        if (live_has_open(names.at[i], real, strlen(real)))
            out[(*n)++] = (pid_t)strtol(names.at[i], NULL, 10);
    dir_names_free(&names);
    return out;
}

/* What the front end of this process notes. 0: nothing. */
static uint64_t live_address(pid_t pid)
{
    static const char *const prefix[] = { "_core." };
    const uint64_t at = remote_symbol(pid, prefix, 1, "ascope_live");
    struct ascope_live head;
    const size_t n = offsetof(struct ascope_live, group);
    return at != 0 && remote_read(pid, at, &head, n) && head.magic == ASCOPE_LIVE_MAGIC &&
                   head.version == ASCOPE_LIVE_VERSION && head.bytes == sizeof head && head.pid == pid
               ? at
               : 0;
}

static uint64_t live_count(pid_t pid, uint64_t at)
{
    struct ascope_live head;
    return at != 0 && remote_read(pid, at, &head, offsetof(struct ascope_live, group))
               ? head.n_steps + head.n_calls + head.n_done
               : 0;
}

uint64_t live_job_progress(const pid_t *root, size_t n_roots, size_t *n_ranks)
{
    size_t n;
    uint64_t sum = 0;
    pid_t *const pid = live_job_pids(root, n_roots, &n);
    *n_ranks = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t at = live_address(pid[i]);
        sum += live_count(pid[i], at);
        *n_ranks += at != 0;
    }
    free(pid);
    return sum;
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* The names of those in which threads of training jobs wait; of another one its number. */
static const char *live_call_name(long number, struct arena *mem)
{
    static const struct {
        long number;
        const char *name;
    } row[] = {
#define ROW(name) { SYS_##name, #name },
        ROW(read) ROW(write) ROW(pread64) ROW(pwrite64) ROW(readv) ROW(writev) ROW(futex) ROW(nanosleep)
            ROW(clock_nanosleep) ROW(ppoll) ROW(pselect6) ROW(epoll_pwait) ROW(recvfrom) ROW(recvmsg) ROW(sendto)
                ROW(sendmsg) ROW(accept) ROW(accept4) ROW(connect) ROW(wait4) ROW(waitid) ROW(fsync) ROW(fdatasync)
                    ROW(flock) ROW(openat) ROW(ioctl) ROW(mmap) ROW(munmap) ROW(sched_yield) ROW(semop) ROW(semtimedop)
                        ROW(msgrcv) ROW(rt_sigtimedwait) ROW(rt_sigsuspend)
#ifdef SYS_poll
                            ROW(poll) ROW(select) ROW(epoll_wait) ROW(pause) ROW(open)
#endif
#undef ROW
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (row[i].number == number)
            return row[i].name;
    return arena_printf(mem, "system call %ld", number);
}

/* False: no memory. */
static bool live_thread_read(struct live_process *p, pid_t tid, struct arena *mem)
{
    char path[64], text[256], *end;
    struct live_stat s;
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)p->pid, (int)tid);
    if (!live_stat_read(&s, path))
        return true; /* it has ended */
    struct live_thread *const t = list_add(&p->thread, mem);
    if (!t)
        return false;
    t->tid = tid;
    t->state = s.state;
    t->name = arena_text(mem, s.name, strlen(s.name));
    snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", (int)p->pid, (int)tid);
    if (s.state != 'R' && live_proc_text(text, sizeof text, path) > 0) {
        const long number = strtol(text, &end, 10);
        if (end != text && number >= 0 && !(t->call = live_call_name(number, mem)))
            return false;
    }
    for (size_t i = 0; i < p->python.thread.n; i++)
        if (p->python.thread.at[i].tid == tid)
            t->python = &p->python.thread.at[i];
    return t->name;
}

static bool live_threads_read(struct live_process *p, struct arena *mem)
{
    char path[64];
    struct dir_names names;
    int why = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)p->pid);
    if (!live_thread_read(p, p->pid, mem))
        return false;
    if (!dir_names_read(&names, path, is_number, &why))
        return true;
    bool is_read = true;
    for (size_t i = 0; i < names.n && is_read; i++) {
        const pid_t tid = (pid_t)strtol(names.at[i], NULL, 10);
        is_read = tid == p->pid || live_thread_read(p, tid, mem);
    }
    dir_names_free(&names);
    return is_read;
}

/* ---- the job ----------------------------------------------------------------------------------------------------- */

/* Adds a process that is a rank, or runs Python. False: no memory. */
static bool live_process_read(struct live_job *job, pid_t pid, uint64_t noted_at, struct arena *mem)
{
    char path[64];
    struct live_stat s;
    struct python_process python;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (!live_stat_read(&s, path))
        return true;
    python_open(&python, pid, mem);
    if (noted_at == 0 && !python.is_python)
        return true;
    struct live_process *const p = list_add(&job->process, mem);
    struct ascope_live *const noted = noted_at ? arena_take(mem, 1, sizeof *noted) : NULL;
    if (!p || (noted_at && !noted))
        return false;
    *p = (struct live_process){
        .pid = pid, .parent = s.parent, .rank = -1, .state = s.state, .no_stacks = python.why_not
    };
    p->name = arena_text(mem, s.name, strlen(s.name));
    if (noted && remote_read(pid, noted_at, noted, sizeof *noted)) {
        p->noted = noted;
        p->rank = noted->rank;
    }
    return p->name && python_stacks_read(&p->python, &python, PYTHON_LINES, mem) && live_threads_read(p, mem);
}

bool live_job_read(struct live_job *out, const pid_t *root, size_t n_roots, struct arena *mem)
{
    size_t n;
    bool is_read = true;
    *out = (struct live_job){ 0 };
    pid_t *const pid = live_job_pids(root, n_roots, &n);
    uint64_t *const at = calloc(n + 1, sizeof *at), *const count = calloc(n + 1, sizeof *count);
    if (!pid || !at || !count)
        n = 0;
    for (size_t i = 0; i < n; i++)
        count[i] = live_count(pid[i], at[i] = live_address(pid[i]));
    nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
    for (size_t i = 0; i < n && is_read; i++) {
        is_read = live_process_read(out, pid[i], at[i], mem);
        out->has_moved |= at[i] && live_count(pid[i], at[i]) != count[i];
    }
    free(pid);
    free(at);
    free(count);
    return is_read;
}

/* ---- where a thread is ------------------------------------------------------------------------------------------- */

bool live_is_ours(const char *file)
{
    return strstr(file, "/ascope/torch/") || strstr(file, "/ascope/_") || strstr(file, "/ascope/__main__.py");
}

/* What is above of it in the stack of a forked process is where its parent was. */
static bool live_is_begin(const struct live_frame *f)
{
    static const char name[] = "/multiprocessing/process.py";
    const size_t n = strlen(f->file);
    return n >= sizeof name - 1 && strcmp(f->file + n - (sizeof name - 1), name) == 0;
}

const struct live_frame *live_place(const struct live_thread *t)
{
    const struct live_frame *any = NULL;
    for (size_t i = 0; t->python && i < t->python->frame.n; i++) {
        const struct live_frame *const f = &t->python->frame.at[i];
        if (live_is_begin(f))
            break;
        if (live_is_ours(f->file) || f->file[0] == '<')
            continue;
        if (program_file(f->file))
            return f;
        any = any ? any : f;
    }
    return any;
}

const char *live_doing(const struct live_thread *t, struct arena *mem)
{
    switch (t->state) {
    case 'T': return "is stopped by a signal";
    case 't': return "is stopped by a debugger";
    case 'Z':
    case 'X': return "has ended";
    case 'R': return t->python && t->python->holds_gil ? "runs, and holds the GIL" : "runs";
    case 'D': return arena_printf(mem, t->call ? "waits for a device or a disk in %s" : "waits in the kernel", t->call);
    default: return t->call ? arena_printf(mem, "waits in %s", t->call) : "waits";
    }
}

/* ---- as dumps have it -------------------------------------------------------------------------------------------- */

/* False: no memory. */
static bool live_group(struct flight_job *job, const struct ascope_live *noted, uint32_t i, uint32_t *number,
                       struct arena *mem)
{
    const struct ascope_live_group *const is = &noted->group[i];
    const bool has_members = is->first <= ASCOPE_LIVE_MEMBERS && is->n <= ASCOPE_LIVE_MEMBERS - is->first;
    struct flight_group g = { .n_ranks = has_members ? is->n : 0 };
    g.name = arena_text(mem, is->name, strnlen(is->name, ASCOPE_LIVE_NAME));
    g.desc = arena_text(mem, is->desc, strnlen(is->desc, ASCOPE_LIVE_NAME));
    g.rank = arena_take(mem, g.n_ranks + 1, sizeof *g.rank);
    if (!g.name || !g.desc || !g.rank)
        return false;
    memcpy(g.rank, noted->member + is->first * has_members, g.n_ranks * sizeof *g.rank);
    for (*number = 0; *number < job->group.n; ++*number) {
        const struct flight_group *const old = &job->group.at[*number];
        if (strcmp(old->name, g.name) == 0 && old->n_ranks == g.n_ranks &&
            memcmp(old->rank, g.rank, g.n_ranks * sizeof *g.rank) == 0)
            return true;
    }
    struct flight_group *const to = list_add(&job->group, mem);
    if (to)
        *to = g;
    return to;
}

/* Where the thread is that made the call, if it still waits in it. */
static void live_entry_place(struct flight_entry *e, const struct live_process *p, uint32_t thread)
{
    e->file = e->function = "";
    for (size_t i = 0; !e->is_completed && i < p->thread.n; i++) {
        const struct live_frame *const f =
            (uint32_t)p->thread.at[i].tid == thread ? live_place(&p->thread.at[i]) : NULL;
        if (f) {
            e->file = f->file;
            e->function = f->function;
            e->line = f->line;
        }
    }
}

static bool live_entry(struct flight_job *job, struct flight_rank *rank, const struct live_process *p,
                       const uint32_t *group, const struct ascope_live_call *c, struct arena *mem)
{
    if (c->state == ASCOPE_LIVE_UNUSED || c->group >= ASCOPE_LIVE_GROUPS || group[c->group] >= job->group.n)
        return true;
    struct flight_entry *const e = list_add(&rank->entry, mem);
    if (!e)
        return false;
    *e = (struct flight_entry){ .group = group[c->group],
                                .is_p2p = c->from != -2,
                                .number = (int64_t)c->number,
                                .from = c->from,
                                .to = c->to,
                                .n_input = c->n_elements,
                                .n_output = c->n_elements };
    e->is_started = true;
    e->is_completed = c->state != ASCOPE_LIVE_WAITS;
    e->kind = arena_text(mem, c->kind, strnlen(c->kind, sizeof c->kind));
    e->types = arena_text(mem, c->type, strnlen(c->type, sizeof c->type));
    e->sizes = c->n_elements ? arena_printf(mem, "of %llu", (unsigned long long)c->n_elements) : "";
    live_entry_place(e, p, c->thread);
    return e->kind && e->types && e->sizes;
}

/* What the main thread of a rank does, and where the processes are that it started, such as those that load data. NULL: no
 * memory. */
static const char *live_rank_doing(const struct live_job *live, const struct live_process *p, struct arena *mem)
{
    const char *text = p->thread.n > 0 ? live_doing(&p->thread.at[0], mem) : "has ended";
    for (size_t i = 0; text && i < live->process.n; i++) {
        const struct live_process *const q = &live->process.at[i];
        const struct live_frame *const f =
            q->parent == p->pid && !q->noted && q->thread.n > 0 ? live_place(&q->thread.at[0]) : NULL;
        const char *const doing = f && program_file(f->file) ? live_doing(&q->thread.at[0], mem) : NULL;
        if (doing)
            text = arena_printf(mem, "%s, its process %d is at %s:%lld (%s) and %s", text, (int)q->pid, f->file,
                                (long long)f->line, f->function, doing);
    }
    return text;
}

static bool live_rank(struct flight_job *job, const struct live_job *live, const struct live_process *p,
                      struct arena *mem)
{
    const struct ascope_live *const noted = p->noted;
    uint32_t group[ASCOPE_LIVE_GROUPS];
    const uint32_t n_groups = noted->n_groups < ASCOPE_LIVE_GROUPS ? noted->n_groups : ASCOPE_LIVE_GROUPS;
    memset(group, 0xFF, sizeof group);
    struct flight_rank *const rank = list_add(&job->rank, mem);
    struct flight_place *const now = arena_take(mem, 1, sizeof *now);
    if (!rank || !now)
        return false;
    rank->rank = (uint32_t)p->rank;
    rank->path = arena_printf(mem, "process %d", (int)p->pid);
    const struct live_frame *const f = p->thread.n > 0 ? live_place(&p->thread.at[0]) : NULL;
    *now = (struct flight_place){ .file = f ? f->file : "", .function = f ? f->function : "", .line = f ? f->line : 0 };
    now->doing = live_rank_doing(live, p, mem);
    rank->now = now;
    for (uint32_t i = 0; i < n_groups; i++)
        if (!live_group(job, noted, i, &group[i], mem))
            return false;
    const uint64_t end = noted->n_calls, n = end < ASCOPE_LIVE_CALLS ? end : ASCOPE_LIVE_CALLS;
    for (uint64_t i = end - n; i < end; i++)
        if (!live_entry(job, rank, p, group, &noted->call[i % ASCOPE_LIVE_CALLS], mem))
            return false;
    return rank->path && now->doing;
}

bool live_job_ranks(struct flight_job *out, const struct live_job *live, struct arena *mem)
{
    *out = (struct flight_job){ .is_live = true };
    for (size_t i = 0; i < live->process.n; i++) {
        const struct live_process *const p = &live->process.at[i];
        if (p->noted && p->rank >= 0 && p->rank < INT32_MAX && !live_rank(out, live, p, mem))
            return false;
    }
    return true;
}
