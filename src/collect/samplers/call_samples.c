/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/samplers/host_sampler.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"
#include "collect/os_calls/os_call.h"
#include "collect/ring/ring.h"
#include "collect/samplers/proc_files.h"
#include "collect/session/host_clock.h"

/* A thread in a call. The stack pointer and the place in the program distinguish one call from the next one of the same
 * kind. */
struct call_samples_sampled {
    uint32_t thread, look; /* look: the last one that has seen it */
    long number;
    unsigned long long argument, stack, place;
    uint64_t begin_ns, last_ns;
    char command[OS_CALL_COMMAND];
};

struct call_samples {
    pid_t pid;
    uint32_t n_looks;
    struct call_samples_sampled *sampled;
    size_t n, room;
};

static size_t task_read(pid_t pid, const char *thread, const char *file, char *text, size_t room)
{
    char path[300];
    snprintf(path, sizeof path, "/proc/%d/task/%s/%s", (int)pid, thread, file);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? pread(fd, text, room - 1, 0) : 0;
    proc_close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

bool call_samples_permitted(pid_t pid)
{
    char thread[16], text[256];
    snprintf(thread, sizeof thread, "%d", (int)pid);
    return task_read(pid, thread, "syscall", text, sizeof text) > 0;
}

struct call_samples *call_samples_new(pid_t pid)
{
    struct call_samples *const s = calloc(1, sizeof *s);
    if (s)
        s->pid = pid;
    return s;
}

static void sampled_put(const struct call_samples_sampled *t)
{
    if (t->number < 0 || !system_call_name((unsigned)t->number))
        return;
    const struct ring_slot slot = ring_put(STREAM_SYSTEM_CALL, 0, sizeof(struct os_call));
    if (!slot.at)
        return;
    struct os_call *const c = (struct os_call *)slot.at;
    *c = (struct os_call){ .begin = t->begin_ns,
                           .duration = t->last_ns - t->begin_ns,
                           .argument = (int64_t)t->argument,
                           .result = OS_CALL_UNKNOWN,
                           .thread = t->thread,
                           .number = (uint16_t)t->number,
                           .clock = OS_CALL_RAW_NS };
    memcpy(c->command, t->command, sizeof c->command);
    ring_done(slot);
}

/* Threads come in the same order each time: `near` is where it was. NULL: no memory for another one. */
static struct call_samples_sampled *sampled_find(struct call_samples *s, uint32_t thread, size_t near)
{
    for (size_t i = 0; i < s->n; i++) {
        struct call_samples_sampled *const t = &s->sampled[(near + i) % s->n];
        if (t->thread == thread)
            return t;
    }
    if (s->n == s->room) {
        const size_t room = s->room * 2 + 64;
        struct call_samples_sampled *const more = realloc(s->sampled, room * sizeof *more);
        if (!more)
            return NULL;
        s->sampled = more;
        s->room = room;
    }
    s->sampled[s->n] = (struct call_samples_sampled){ .thread = thread, .number = -1 };
    return &s->sampled[s->n++];
}

/* "number first ... sixth stack place"; "-1 stack place" is in the kernel for another reason, "running" is not
 * there. */
static void thread_look(struct call_samples *s, const char *name, size_t near)
{
    char text[256];
    struct call_samples_sampled now = { .thread = (uint32_t)atoi(name), .number = -1 };
    if (now.thread == 0 || task_read(s->pid, name, "syscall", text, sizeof text) == 0)
        return;
    if (sscanf(text, "%ld %llx %*x %*x %*x %*x %*x %llx %llx", &now.number, &now.argument, &now.stack, &now.place) != 4)
        now.number = -1;
    struct call_samples_sampled *const t = sampled_find(s, now.thread, near);
    if (!t)
        return;
    const uint64_t at_ns = host_clock_raw_ns();
    t->look = s->n_looks;
    if (now.number >= 0 && t->number == now.number && t->stack == now.stack && t->place == now.place &&
        t->argument == now.argument) {
        t->last_ns = at_ns;
        return;
    }
    sampled_put(t);
    now.look = s->n_looks;
    now.begin_ns = now.last_ns = at_ns;
    const size_t n = task_read(s->pid, name, "comm", now.command, sizeof now.command);
    if (n > 0 && now.command[n - 1] == '\n')
        now.command[n - 1] = '\0';
    *t = now;
}

void call_samples_look(struct call_samples *s)
{
    char path[64];
    int why = 0;
    size_t near = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)s->pid);
    DIR *const dir = opendir(path);
    s->n_looks++;
    for (const char *name; dir && (name = dir_next(dir, &why));)
        thread_look(s, name, near++);
    if (dir)
        closedir(dir);
    for (size_t i = s->n; i-- > 0;) /* those that have ended */
        if (s->sampled[i].look != s->n_looks) {
            sampled_put(&s->sampled[i]);
            s->sampled[i] = s->sampled[--s->n];
        }
}

void call_samples_free(struct call_samples *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        sampled_put(&s->sampled[i]);
    free(s->sampled);
    free(s);
}
