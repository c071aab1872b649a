/* SPDX-License-Identifier: Apache-2.0 */
#include "load/samplers/usage_load.h"

#include <stdlib.h>

/* A sample is a head, a line of /proc/uptime, and one stat line for each thread. */

struct thread {
    uint64_t id, ticks, user, sys;
    struct word name;
    uint32_t cpu;
};

/* The CPU time of a thread since the first sample. */
struct followed {
    struct thread_time use;
    uint64_t user, sys; /* in the sample before */
};

struct share {
    uint32_t cpu;
    uint64_t spent; /* by one thread, in the unit of uptime */
};

struct cpu_sample {
    enum { SAMPLE_NONE, SAMPLE_BROKEN, SAMPLE_HEAD, SAMPLE_WHOLE } state;
    int64_t at_ns;
    uint64_t uptime; /* µs times ticks per second: a tick is 1000000 of these */
    LIST(struct thread) threads;
};

struct cpu_reader {
    struct source *source;
    struct gauge *gauge;
    uint64_t ticks_per_s, n_cpus;
    struct cpu_sample sample[2], *now, *before;
    LIST(struct share) shares;
    LIST(struct followed) followed; /* by id */
};

static int by_id(const void *a, const void *b)
{
    const struct thread *x = a, *y = b;
    return x->id != y->id ? (x->id > y->id) - (x->id < y->id) : (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

static int by_cpu(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

/* Computes the CPU time of each thread between the two samples. New threads have none; a thread whose ticks decreased
 * is another one with the same id. The time is limited to what elapsed. */
static void find_shares(struct cpu_reader *r, uint64_t elapsed)
{
    const struct cpu_sample *now = r->now, *before = r->before;
    r->shares.n = 0;
    for (size_t i = 0, k = 0; i < now->threads.n; i++) {
        const struct thread *t = &now->threads.at[i];
        while (k < before->threads.n && before->threads.at[k].id < t->id)
            k++;
        if (k == before->threads.n || before->threads.at[k].id != t->id || before->threads.at[k].ticks > t->ticks)
            continue;
        const u128 spent = (u128)(t->ticks - before->threads.at[k].ticks) * 1000000;
        struct share *share = list_add(&r->shares, r->source->mem);
        if (share)
            *share = (struct share){ t->cpu, spent < elapsed ? (uint64_t)spent : elapsed };
    }
    if (r->shares.n > 0)
        qsort(r->shares.at, r->shares.n, sizeof *r->shares.at, by_cpu);
}

static void add_cpu_rows(struct cpu_reader *r)
{
    const int64_t begin_ns = r->before->at_ns;
    const uint64_t elapsed = r->now->uptime - r->before->uptime;
    find_shares(r, elapsed);
    u128 total = 0;
    for (size_t i = 0; i < r->shares.n;) {
        const uint32_t cpu = r->shares.at[i].cpu;
        u128 spent = 0;
        for (; i < r->shares.n && r->shares.at[i].cpu == cpu; i++)
            spent += r->shares.at[i].spent;
        total += spent;
        const double percent = gauge_percent(spent, elapsed);
        if (percent <= 100) /* the time of a thread counts for its last CPU, which may exceed 100 % */
            r->gauge->cpu[gauge_add(r->gauge, begin_ns, percent)] = cpu;
    }
    const double average = r->n_cpus > 0 ? gauge_percent(total, (u128)elapsed * r->n_cpus) : 0;
    r->gauge->cpu[gauge_add(r->gauge, begin_ns, average)] = CPU_AVERAGE;
}

static int by_use_id(const void *a, const void *b)
{
    const struct followed *x = a, *y = b;
    return (x->use.id > y->use.id) - (x->use.id < y->use.id);
}

/* Time before the first sample does not count. Threads that appear later, or reuse an id, began at 0. */
static void follow(const struct thread *t, struct followed *f, bool is_first)
{
    if (t->user < f->user || t->sys < f->sys)
        f->user = f->sys = 0;
    if (!is_first) {
        f->use.user_ticks += t->user - f->user;
        f->use.sys_ticks += t->sys - f->sys;
    }
    f->user = t->user;
    f->sys = t->sys;
    word_copy(f->use.name, sizeof f->use.name, t->name);
}

static void follow_all(struct cpu_reader *r)
{
    const bool is_first = r->before->state == SAMPLE_NONE;
    const size_t n_known = r->followed.n;
    for (size_t i = 0, k = 0; i < r->now->threads.n; i++) {
        const struct thread *const t = &r->now->threads.at[i];
        while (k < n_known && r->followed.at[k].use.id < t->id)
            k++;
        const bool is_known = k < n_known && r->followed.at[k].use.id == t->id;
        struct followed *const f = is_known ? &r->followed.at[k] : list_add(&r->followed, r->source->mem);
        if (!f)
            return;
        f->use.id = t->id;
        follow(t, f, is_first);
    }
    if (r->followed.n > n_known)
        qsort(r->followed.at, r->followed.n, sizeof *r->followed.at, by_use_id);
}

static void keep_followed(struct cpu_reader *r)
{
    struct thread_times *const out = &r->gauge->threads;
    out->at = arena_take(r->source->mem, r->followed.n + 1, sizeof *out->at);
    for (size_t i = 0; out->at && i < r->followed.n; i++)
        out->at[out->n++] = r->followed.at[i].use;
}

static void end_cpu_sample(struct cpu_reader *r)
{
    struct cpu_sample *now = r->now;
    if (now->state != SAMPLE_WHOLE)
        return;
    if (now->threads.n > 0)
        qsort(now->threads.at, now->threads.n, sizeof *now->threads.at, by_id);
    size_t n = 0;
    for (size_t i = 0; i < now->threads.n; i++)
        if (n == 0 || now->threads.at[i].id != now->threads.at[n - 1].id)
            now->threads.at[n++] = now->threads.at[i];
    now->threads.n = n;
    follow_all(r);
    if (r->before->state == SAMPLE_WHOLE && now->uptime > r->before->uptime)
        add_cpu_rows(r);
    r->now = r->before;
    r->before = now;
}

static bool read_uptime(const struct cpu_reader *r, struct word line, uint64_t *out)
{
    struct word word;
    uint64_t us;
    if (line_words(line.at, line.len, &word, 1) == 0 || !word_fixed(word, 6, &us))
        return false;
    return !__builtin_mul_overflow(us, r->ticks_per_s, out) && *out < INT64_MAX;
}

static void cpu_line(struct cpu_reader *r, struct text *t, struct word line)
{
    struct cpu_sample *now = r->now;
    struct proc_stat stat;
    if (now->state == SAMPLE_HEAD) {
        now->state = read_uptime(r, line, &now->uptime) ? SAMPLE_WHOLE : SAMPLE_BROKEN;
        if (now->state == SAMPLE_BROKEN)
            text_lost(t, LOSS_BAD_TEXT);
    } else if (now->state == SAMPLE_WHOLE && proc_stat(line, true, &stat)) {
        struct thread *thread = list_add(&now->threads, r->source->mem);
        if (thread) /* the sum may wrap in a damaged file; only differences are used */
            *thread = (struct thread){ stat.id, stat.user + stat.sys, stat.user, stat.sys, stat.name, stat.cpu };
    } else if (now->state != SAMPLE_BROKEN) {
        text_lost(t, LOSS_BAD_TEXT);
    }
}

bool gauge_load_cpu(struct source *s, struct text *t, struct gauge *g)
{
    struct cpu_reader r = { .source = s,
                            .gauge = g,
                            .ticks_per_s = gauge_setting(s, "sysClockFreq", s->settings.ticks_per_s, 1000000),
                            .n_cpus = gauge_setting(s, "cpuNums", s->settings.n_cpus, UINT16_MAX) };
    r.now = &r.sample[0];
    r.before = &r.sample[1];
    if (r.ticks_per_s == 0)
        return true;
    int64_t at_ns;
    for (struct word line; text_next(t, &line);) {
        if (line.len > 0 && !gauge_head(s, line, &at_ns)) {
            cpu_line(&r, t, line);
        } else if (line.len > 0) {
            end_cpu_sample(&r);
            r.now->state = at_ns == NO_TIME ? SAMPLE_BROKEN : SAMPLE_HEAD;
            r.now->at_ns = at_ns;
            r.now->threads.n = 0;
            if (r.now->state == SAMPLE_BROKEN)
                text_lost(t, LOSS_BAD_TEXT);
        }
    }
    end_cpu_sample(&r);
    keep_followed(&r);
    return true;
}
