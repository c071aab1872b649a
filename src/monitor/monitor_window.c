/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/monitor_window.h"

#include <math.h>
#include <string.h>

static const double SECOND_NS = 1e9;

/* Row of the first record in the window. */
static size_t rank_from(const struct monitor_rank *r, int64_t begin_ns)
{
    size_t from = 0;
    while (from < r->n && r->at[from].begin_unix_ns < begin_ns)
        from++;
    return from;
}

/* A restarted rank has several files: the newest one counts, and one without a number always. */
static bool is_newest(const struct monitor_ranks *m, size_t i)
{
    return i + 1 == m->n || monitor_rank_number(m->rank[i]) < 0 ||
           monitor_rank_number(m->rank[i]) != monitor_rank_number(m->rank[i + 1]);
}

/* ---- blocks ---- */

static uint32_t block_over(uint32_t block, const struct monitor_record *r)
{
    const uint32_t most = 1u << 30;
    while (block < most && r->n_steps > 0 && r->step / block != (r->step + r->n_steps - 1) / block)
        block *= 2;
    return block;
}

static int64_t known(int64_t n)
{
    return n == MONITOR_UNKNOWN ? 0 : n;
}

static bool is_known(const struct monitor_record *r, enum ascope_monitor_value value)
{
    return r->value[value] != MONITOR_UNKNOWN;
}

/* Whether blocked time has to stand for communication. Who is alone waits for nobody. */
static bool is_guessed(const struct monitor_record *r, bool is_alone)
{
    return !is_alone && !is_known(r, ASCOPE_MONITOR_COMMUNICATION) && !is_known(r, ASCOPE_MONITOR_COMPUTING) &&
           !is_known(r, ASCOPE_MONITOR_ALLOCATED) && is_known(r, ASCOPE_MONITOR_CPU) &&
           is_known(r, ASCOPE_MONITOR_PREEMPTED);
}

static int64_t within(int64_t n, int64_t most)
{
    return n < 0 ? 0 : n > most ? most : n;
}

static void parts_of(const struct monitor_record *r, bool is_alone, int64_t part_ns[JUDGED_PARTS])
{
    const int64_t *const v = r->value;
    const bool has_device = is_known(r, ASCOPE_MONITOR_COMPUTING);
    const int64_t computing = within(known(v[has_device ? ASCOPE_MONITOR_COMPUTING : ASCOPE_MONITOR_CPU]), r->time_ns);
    int64_t exposed = known(v[ASCOPE_MONITOR_COMMUNICATION]);
    if (is_guessed(r, is_alone))
        exposed = r->time_ns - computing - v[ASCOPE_MONITOR_PREEMPTED] - known(v[ASCOPE_MONITOR_DATA]);
    exposed = within(exposed, r->time_ns - (has_device ? computing : 0)); /* a thread also runs while it communicates */
    part_ns[JUDGED_COMPUTING] = within(computing, r->time_ns - exposed);
    part_ns[JUDGED_EXPOSED] = exposed;
    part_ns[JUDGED_FREE] = r->time_ns - exposed - part_ns[JUDGED_COMPUTING];
}

/* The mean steps of the blocks of a rank. */
static bool steps_fill(struct judged_rank *out, const struct monitor_rank *r, size_t from, uint32_t block,
                       bool is_alone, struct arena *mem)
{
    struct rank_step *const step = arena_take(mem, r->n - from, sizeof *step);
    size_t n = 0;
    if (!step)
        return false;
    for (size_t i = from, end; i < r->n; i = end) {
        struct rank_step s = { .begin_ns = r->at[i].begin_unix_ns };
        const int64_t number = r->at[i].step / block;
        uint64_t n_steps = 0;
        for (end = i; end < r->n && (end == i || r->at[end].step / block == number); end++) {
            int64_t part_ns[JUDGED_PARTS];
            parts_of(&r->at[end], is_alone, part_ns);
            n_steps += r->at[end].n_steps;
            s.time_ns += r->at[end].time_ns;
            for (int p = 0; p < JUDGED_PARTS; p++)
                s.part_ns[p] += part_ns[p];
        }
        if (n_steps != block)
            continue;
        s.time_ns /= block;
        for (int p = 0; p < JUDGED_PARTS; p++)
            s.part_ns[p] /= block;
        s.name = arena_printf(mem, "%lld", (long long)(number * block));
        if (!s.name)
            return false;
        step[n++] = s;
    }
    out->step = step;
    out->n = n;
    return true;
}

/* ---- the usual step of a rank ---- */

static void rank_mean(struct window_rank *w, size_t from, bool is_alone)
{
    const struct monitor_rank *const r = w->of;
    double n_steps = 0, time_ns = 0, sum[MONITOR_VALUES] = { 0 };
    for (size_t v = 0; v < MONITOR_VALUES; v++)
        w->value[v] = NAN;
    for (size_t i = from; i < r->n; i++) {
        const struct monitor_record *const at = &r->at[i];
        int64_t part_ns[JUDGED_PARTS];
        parts_of(at, is_alone, part_ns);
        n_steps += at->n_steps;
        time_ns += (double)at->time_ns;
        w->longest_ns = (double)at->longest_ns > w->longest_ns ? (double)at->longest_ns : w->longest_ns;
        for (int p = 0; p < JUDGED_PARTS; p++)
            w->part_ns[p] += (double)part_ns[p];
        for (size_t v = 0; v < MONITOR_VALUES; v++)
            if (at->value[v] != MONITOR_UNKNOWN)
                w->value[v] = sum[v] =
                    monitor_value_rows[v].is_sum ? sum[v] + (double)at->value[v] : (double)at->value[v];
    }
    const struct monitor_record *const last = &r->at[r->n - 1];
    w->last_end_ns = monitor_record_end_ns(last);
    w->last_step = last->step + last->n_steps;
    if (n_steps == 0)
        return;
    w->step_ns = time_ns / n_steps;
    w->steps_per_s = time_ns > 0 ? n_steps / time_ns * SECOND_NS : 0;
    for (int p = 0; p < JUDGED_PARTS; p++)
        w->part_ns[p] /= n_steps;
    for (size_t v = 0; v < MONITOR_VALUES; v++)
        if (monitor_value_rows[v].is_sum)
            w->value[v] /= n_steps; /* NAN stays */
}

static const char *rank_name(const struct monitor_rank *r, struct arena *mem)
{
    const int32_t number = monitor_rank_number(r);
    return number >= 0 ? arena_printf(mem, "rank %d", (int)number)
                       : arena_printf(mem, "%.64s %lld", r->head.host, (long long)r->head.pid);
}

static bool rows_time(struct monitor_window *w, struct arena *mem)
{
    int64_t *const at = arena_take(mem, w->run.n, sizeof *at);
    for (size_t row = 0; at && row < w->run.n; row++)
        for (size_t r = 0; r < w->run.n_ranks && at[row] == 0; r++)
            at[row] = w->run.at[r * w->run.n + row] ? w->run.at[r * w->run.n + row]->begin_ns : 0;
    w->row_unix_ns = at;
    return at != NULL;
}

bool monitor_window_of(struct monitor_window *out, const struct monitor_ranks *m, int64_t length_ns, struct arena *mem)
{
    struct monitor_window w = { .block = 1 };
    const bool is_alone = m->n == 1;
    bool is_host = true;
    for (size_t i = 0; i < m->n; i++)
        if (m->rank[i]->n > 0 && monitor_record_end_ns(&m->rank[i]->at[m->rank[i]->n - 1]) > w.end_ns)
            w.end_ns = monitor_record_end_ns(&m->rank[i]->at[m->rank[i]->n - 1]);
    w.begin_ns = w.end_ns - length_ns;
    w.rank = arena_take(mem, m->n, sizeof *w.rank);
    struct judged_rank *const judged = arena_take(mem, m->n, sizeof *judged);
    size_t *const from = arena_take(mem, m->n, sizeof *from);
    if (!w.rank || !judged || !from)
        return false;
    for (size_t i = 0; i < m->n; i++) {
        const struct monitor_rank *const r = m->rank[i];
        const size_t first = rank_from(r, w.begin_ns);
        if (first == r->n || !is_newest(m, i))
            continue;
        w.n_alive += r->is_alive && !r->is_ended;
        from[w.n] = first;
        struct window_rank *const one = &w.rank[w.n++];
        *one = (struct window_rank){ .of = r, .name = rank_name(r, mem) };
        rank_mean(one, first, is_alone);
        if (!one->name)
            return false;
        if (one->steps_per_s > 0 && (w.steps_per_s == 0 || one->steps_per_s < w.steps_per_s)) {
            w.steps_per_s = one->steps_per_s;
            w.step_ns = one->step_ns;
        }
        for (size_t k = first; k < r->n; k++) {
            w.block = block_over(w.block, &r->at[k]);
            w.is_waiting_guessed |= is_guessed(&r->at[k], is_alone);
            is_host &= !is_known(&r->at[k], ASCOPE_MONITOR_COMPUTING);
        }
    }
    for (size_t i = 0; i < w.n; i++) {
        judged[i].name = w.rank[i].name;
        if (!steps_fill(&judged[i], w.rank[i].of, from[i], w.block, is_alone, mem))
            return false;
    }
    *out = w;
    if (!run_judge(&out->run, judged, w.n, "step", is_host, mem))
        return false;
    for (size_t i = 0; i < out->run.of.n; i++)
        out->run.of.at[i].lost_ns *= w.block; /* a row is the mean of so many steps */
    return rows_time(out, mem);
}
