/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/host/host_analysis.h"

#include <stdlib.h>
#include <string.h>

static int by_ticks(const void *a, const void *b)
{
    const struct thread_time *x = a, *y = b;
    const uint64_t of_x = x->user_ticks + x->sys_ticks, of_y = y->user_ticks + y->sys_ticks;
    return of_x != of_y ? (of_x < of_y) - (of_x > of_y) : (x->id > y->id) - (x->id < y->id);
}

static bool sum_threads(struct host_use *out, const struct gauge *cpu, double ticks_per_s, struct arena *mem)
{
    const struct thread_times *const all = &cpu->threads;
    out->threads.at = arena_take(mem, all->n + 1, sizeof *out->threads.at);
    if (!out->threads.at)
        return false;
    out->n_threads = all->n;
    out->ticks_per_s = ticks_per_s;
    uint64_t user = 0, sys = 0;
    for (size_t i = 0; i < all->n; i++) {
        user += all->at[i].user_ticks;
        sys += all->at[i].sys_ticks;
        if (all->at[i].user_ticks + all->at[i].sys_ticks > 0)
            out->threads.at[out->threads.n++] = all->at[i];
    }
    if (out->threads.n > 1)
        qsort(out->threads.at, out->threads.n, sizeof *out->threads.at, by_ticks);
    out->user_s = ticks_per_s > 0 ? (double)user / ticks_per_s : 0;
    out->sys_s = ticks_per_s > 0 ? (double)sys / ticks_per_s : 0;
    return true;
}

static void sum_memory(struct host_use *out, const struct gauge *memory, int64_t all_kb)
{
    double most = 0;
    for (size_t i = 0; i < memory->n; i++)
        most = memory->percent[i] > most ? memory->percent[i] : most;
    out->memory_all_kb = all_kb > 0 ? (uint64_t)all_kb : 0;
    out->memory_most_kb = (uint64_t)(most / 100 * (double)out->memory_all_kb + 0.5);
}

static void sum_disk(struct host_use *out, const struct gauge *disk)
{
    double sum[2] = { 0, 0 };
    for (int way = 0; way < 2; way++)
        for (size_t i = 0; i < disk->n; i++) {
            const double kb_s = disk->speed[way][i];
            sum[way] += kb_s * 1024 * disk->period_s;
            out->disk_most_kb_s[way] = kb_s > out->disk_most_kb_s[way] ? kb_s : out->disk_most_kb_s[way];
        }
    out->disk_read = (uint64_t)(sum[0] + 0.5);
    out->disk_written = (uint64_t)(sum[1] + 0.5);
}

static void sum_network(struct host_use *out, const struct card_uses *cards)
{
    for (size_t i = 0; i < cards->n; i++) {
        const bool is_own = strcmp(cards->at[i].name, "lo") == 0; /* it receives what it sends: counted once */
        out->loopback += is_own ? cards->at[i].sent : 0;
        out->network_received += is_own ? 0 : cards->at[i].received;
        out->network_sent += is_own ? 0 : cards->at[i].sent;
    }
}

static int by_sum(const void *a, const void *b)
{
    const struct os_call_sum *x = a, *y = b;
    return x->sum_ns != y->sum_ns ? (x->sum_ns < y->sum_ns) - (x->sum_ns > y->sum_ns)
                                  : (x->name > y->name) - (x->name < y->name);
}

static bool sum_calls(struct host_use *out, const struct os_calls *c, struct arena *mem)
{
    struct tallies by_name;
    uint32_t *const row = arena_take(mem, c->n + 1, sizeof *row);
    for (size_t i = 0; row && i < c->n; i++)
        row[i] = (uint32_t)i;
    if (!row || !tally_up(&by_name, row, c->n, c->name, NULL, c->dur_ns, mem) ||
        !(out->calls = arena_take(mem, by_name.n + 1, sizeof *out->calls)))
        return false;
    for (size_t i = 0; i < by_name.n; i++) {
        const struct host_tally *const t = &by_name.at[i];
        out->calls[i] = (struct os_call_sum){ .name = t->a, .n = t->n, .sum_ns = t->sum, .most_ns = t->most };
        out->calls_n += t->n;
        out->calls_ns += t->sum;
    }
    out->n_call_names = by_name.n;
    if (by_name.n > 1)
        qsort(out->calls, by_name.n, sizeof *out->calls, by_sum);
    return true;
}

bool host_use_sum(struct host_use *out, const struct profile *p, struct arena *mem)
{
    const struct usage *const u = &p->host.usage;
    const struct source *const s = &p->host.source;
    *out = (struct host_use){ .has_cpu = u->gauge[GAUGE_CPU].threads.n > 0,
                              .has_memory = u->gauge[GAUGE_MEMORY].n > 0,
                              .has_disk = u->gauge[GAUGE_DISK].n > 0,
                              .has_network = u->gauge[GAUGE_NETWORK].cards.n > 0,
                              .wall_s = (double)(s->end_ns - s->begin_ns) / 1e9 };
    sum_memory(out, &u->gauge[GAUGE_MEMORY], s->settings.memory_kb);
    sum_disk(out, &u->gauge[GAUGE_DISK]);
    sum_network(out, &u->gauge[GAUGE_NETWORK].cards);
    return sum_threads(out, &u->gauge[GAUGE_CPU], (double)s->settings.ticks_per_s, mem) &&
           sum_calls(out, &u->calls, mem);
}
