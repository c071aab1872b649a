/* SPDX-License-Identifier: Apache-2.0 */
#include "live/live_samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "live/live_job.h"

enum { STACK_BYTES = 16384, FRAMES_IN_STACK = 256 };
static const int64_t SECOND_NS = 1000000000;

/* A process that is sampled, and what is known of it. */
struct sampled_process {
    pid_t pid;
    struct python_process python;
};

struct sampled_list {
    LIST(struct sampled_process) process;
    int64_t listed_ns; /* new ones are looked for once a second */
};

bool live_samples_init(struct live_samples *s)
{
    *s = (struct live_samples){ .names = names_new(), .mem = arena_new() };
    return s->names && s->mem;
}

void live_samples_fini(struct live_samples *s)
{
    names_free(s->names);
    arena_free(s->mem);
}

static int64_t sample_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND_NS + t.tv_nsec;
}

static bool live_table_add(struct live_table *t, name_id id, bool is_on, struct arena *mem)
{
    while (t->row.n <= id)
        if (!list_add(&t->row, mem))
            return false;
    t->row.at[id].on += is_on;
    t->row.at[id].off += !is_on;
    return true;
}

/* ";" separates frames, and a blank the count. */
static size_t stack_append(char *to, size_t used, const char *text)
{
    if (used > 0 && used < STACK_BYTES - 1)
        to[used++] = ';';
    for (; *text && used < STACK_BYTES - 1; text++)
        to[used++] = *text == ';' || *text == '\n' ? ':' : *text;
    return used;
}

static bool sample_thread(struct live_samples *s, const struct sampled_process *p, const char *process,
                          const struct python_thread *t)
{
    char name[32], state, stack[STACK_BYTES], frame[4096];
    name_id seen[FRAMES_IN_STACK];
    size_t n_seen = 0;
    if (t->frame.n == 0 || !live_thread_state(p->pid, t->tid, &state, name, sizeof name))
        return true;
    const bool is_on = state == 'R';
    size_t used = stack_append(stack, 0, process);
    used = stack_append(stack, used, t->tid == p->pid ? "main thread" : name);
    for (size_t i = t->frame.n; i-- > 0;) {
        const struct live_frame *const f = &t->frame.at[i];
        snprintf(frame, sizeof frame, "%s (%s:%lld)", f->function, f->file, (long long)f->line);
        used = stack_append(stack, used, frame);
        const name_id id = names_addz(s->names, frame);
        bool is_again = false; /* of recursion: once a stack */
        for (size_t k = 0; k < n_seen; k++)
            is_again |= seen[k] == id;
        if (!is_again && n_seen < FRAMES_IN_STACK) {
            seen[n_seen++] = id;
            if (!live_table_add(&s->total, id, is_on, s->mem))
                return false;
        }
        if (i == 0 && !live_table_add(&s->self, id, is_on, s->mem))
            return false;
    }
    s->all.on += is_on;
    s->all.off += !is_on;
    s->n_threads++;
    return live_table_add(&s->stack, names_add(s->names, stack, used), is_on, s->mem) && !names_failed(s->names);
}

static bool sample_process(struct live_samples *s, struct sampled_process *p)
{
    struct python_stacks stacks;
    char process[64], name[32], state;
    struct arena *const mem = arena_new();
    bool is_taken = mem && python_stacks_read(&stacks, &p->python, PYTHON_FIRST_LINES, mem);
    if (is_taken && live_thread_state(p->pid, p->pid, &state, name, sizeof name)) {
        snprintf(process, sizeof process, "%s %d", name, (int)p->pid);
        s->n_processes += stacks.thread.n > 0;
        for (size_t i = 0; is_taken && i < stacks.thread.n; i++)
            is_taken = sample_thread(s, p, process, &stacks.thread.at[i]);
    }
    arena_free(mem);
    return is_taken;
}

/* False: the root has ended, or no memory. */
static bool sampled_list_look(struct live_samples *s, struct sampled_list *l, pid_t root)
{
    size_t n;
    pid_t *const pid = live_job_pids(&root, 1, &n);
    struct sampled_list now = { .listed_ns = sample_now_ns() };
    for (size_t i = 0; i < n; i++) {
        struct sampled_process p = { .pid = pid[i] };
        bool is_known = false;
        for (size_t k = 0; k < l->process.n && !is_known; k++)
            if (l->process.at[k].pid == pid[i]) {
                p = l->process.at[k];
                is_known = true;
            }
        if (!is_known)
            python_open(&p.python, pid[i], s->mem);
        if (!p.python.is_python)
            continue;
        if (p.python.why_not) {
            s->why_not = p.python.why_not;
            continue;
        }
        struct sampled_process *const to = list_add(&now.process, s->mem);
        if (to)
            *to = p;
    }
    free(pid);
    *l = now;
    return n > 0 && !arena_failed(s->mem);
}

bool live_samples_take(struct live_samples *s, pid_t root, double hz, double seconds)
{
    struct sampled_list list = { 0 };
    const int64_t period_ns = (int64_t)((double)SECOND_NS / hz), begin_ns = sample_now_ns(),
                  end_ns = begin_ns + (int64_t)(seconds * (double)SECOND_NS);
    int64_t next_ns = begin_ns;
    while (next_ns < end_ns) {
        const struct timespec at = { next_ns / SECOND_NS, next_ns % SECOND_NS };
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
        if ((list.listed_ns == 0 || sample_now_ns() - list.listed_ns >= SECOND_NS) &&
            !sampled_list_look(s, &list, root))
            break;
        s->n_processes = s->n_threads = 0;
        for (size_t i = 0; i < list.process.n; i++)
            if (!sample_process(s, &list.process.at[i]))
                return false;
        s->n_ticks++;
        for (next_ns += period_ns; next_ns + period_ns < sample_now_ns(); next_ns += period_ns)
            s->n_late++;
    }
    s->seconds = (double)(sample_now_ns() - begin_ns) / (double)SECOND_NS;
    return !arena_failed(s->mem);
}
