/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/comm/comm_analysis.h"

#include "analyse/device/tasks/device_tasks.h"
#include "analyse/host/host_analysis.h"
#include "base/files/bytes.h"
#include "base/memory/sort.h"
#include "raw/enums.h"

#define TAKE(column, n) ((column) = arena_take(mem, (n), sizeof *(column)))

enum { STREAM_IDS = UINT16_MAX + 1 };
static const char aicpu_file[] = "aicpu.data";

static void unpack(const struct profile *p, size_t n, uint16_t *stream, uint16_t *task)
{
    for (size_t i = 0; i < n; i++) {
        const struct stream_task id =
            stream_task_unpack(stream[i], task[i], SQE_AI_CPU, p->host.records.streams_expanded);
        stream[i] = id.stream;
        task[i] = id.task;
    }
}

/* The same for task ids of 32 bits. The log has only the lower half of them; the upper half is kept. */
static void unpack_wide(const struct profile *p, size_t n, uint16_t *stream, uint32_t *task)
{
    for (size_t i = 0; i < n; i++) {
        const struct stream_task id =
            stream_task_unpack(stream[i], (uint16_t)task[i], SQE_AI_CPU, p->host.records.streams_expanded);
        stream[i] = id.stream;
        task[i] = (task[i] & 0xFFFF0000u) | id.task;
    }
}

void aicpu_ids_unpack(const struct profile *p, struct device *d)
{
    struct aicpu_comm *c = &d->aicpu_comm;
    for (int k = 0; k < TURN_KINDS; k++)
        unpack(p, c->turns[k].n, c->turns[k].stream, c->turns[k].task);
    unpack(p, c->flips.n, c->flips.stream, c->flips.task);
    unpack(p, c->marks.n, c->marks.aicpu_stream, c->marks.aicpu_task);
    unpack(p, c->marks.n, c->marks.stream, c->marks.task);
    unpack_wide(p, c->ops.n, c->ops.stream, c->ops.task);
    unpack_wide(p, c->tasks.n, c->tasks.stream, c->tasks.task);
}

/* The groups that use stream s: group[first[s]] … group[first[s + 1] - 1], ascending. */
struct stream_groups {
    uint32_t *first;
    uint64_t *group;
};

static bool find_groups(const struct profile *p, struct arena *mem, struct stream_groups *out)
{
    const struct mc2_groups *g = &p->host.records.mc2_groups;
    size_t most = 0, n = 0;
    for (size_t i = 0; i < g->n; i++)
        most += g->stream_count[i];
    uint16_t *stream;
    uint64_t *group;
    uint32_t *order;
    TAKE(stream, most), TAKE(group, most), TAKE(order, most), TAKE(out->first, STREAM_IDS + 1), TAKE(out->group, most);
    if (arena_failed(mem))
        return false;
    for (size_t i = 0; i < g->n; i++)
        for (uint32_t k = 0; k < g->stream_count[i]; k++) {
            const uint32_t id = le32(g->streams[i] + 4 * k);
            if (id >= STREAM_IDS)
                continue; /* counted when it was loaded */
            stream[n] = (uint16_t)id;
            group[n++] = g->group[i];
        }
    order_fill(order, n);
    if (!order_by_u64(order, n, group) || !order_by_u16(order, n, stream))
        return false;
    uint32_t kept = 0;
    size_t at = 0;
    for (uint32_t s = 0; s < STREAM_IDS; s++) {
        out->first[s] = kept;
        for (; at < n && stream[order[at]] == s; at++)
            if (kept == out->first[s] || out->group[kept - 1] != group[order[at]])
                out->group[kept++] = group[order[at]];
    }
    out->first[STREAM_IDS] = kept;
    return true;
}

/* Wrap-arounds by (stream, time). */
struct flips {
    size_t n;
    const uint16_t *stream, *number;
    const uint64_t *tick;
};

static bool sort_flips(const struct aicpu_comm *c, struct arena *mem, struct flips *out)
{
    const size_t n = c->flips.n;
    uint32_t *order;
    uint16_t *stream, *number;
    uint64_t *tick;
    if (!TAKE(order, n) || !TAKE(stream, n) || !TAKE(number, n) || !TAKE(tick, n))
        return false;
    order_fill(order, n);
    if (!order_by_u64(order, n, c->flips.tick) || !order_by_u16(order, n, c->flips.stream))
        return false;
    for (size_t i = 0; i < n; i++) {
        stream[i] = c->flips.stream[order[i]];
        number[i] = (uint16_t)c->flips.number[order[i]];
        tick[i] = c->flips.tick[order[i]];
    }
    *out = (struct flips){ n, stream, number, tick };
    return true;
}

/* Records with the id of a task: tasks that ran, tasks as they were launched, or marks. */
struct ids {
    size_t n;
    const uint16_t *stream;
    const uint32_t *task;
    const uint64_t *tick;
    uint64_t *key;   /* task_key(), with the round as batch */
    uint32_t *order; /* rows by (key, tick) */
};

static bool number_ids(struct ids *ids, const struct flips *flips, struct arena *mem)
{
    uint16_t *round;
    if (!TAKE(ids->key, ids->n) || !TAKE(ids->order, ids->n) || !TAKE(round, ids->n))
        return false;
    order_fill(ids->order, ids->n);
    if (!order_by_u64(ids->order, ids->n, ids->tick) || !order_by_u16(ids->order, ids->n, ids->stream))
        return false;
    size_t flip = 0;
    for (size_t i = 0, end; i < ids->n; i = end) {
        const uint16_t s = ids->stream[ids->order[i]];
        for (end = i; end < ids->n && ids->stream[ids->order[end]] == s;)
            end++;
        while (flip < flips->n && flips->stream[flip] < s)
            flip++;
        size_t last = flip;
        while (last < flips->n && flips->stream[last] == s)
            last++;
        batch_by_number(ids->order + i, end - i, ids->tick, round, last - flip, flips->tick + flip,
                        flips->number + flip);
    }
    for (size_t i = 0; i < ids->n; i++)
        ids->key[i] = task_key(ids->stream[i], round[i], ids->task[i]);
    return order_by_u64(ids->order, ids->n, ids->key);
}

/* The tasks that ran on the streams of groups, by begin, and the records that were matched with them. */
struct aicpu_tasks_runs {
    struct ids ids;
    uint32_t *row;   /* of the device's tasks */
    uint32_t *entry; /* row of aicpu_comm.tasks, or NO_ROW */
    bool *is_wanted, *is_head;
};

static bool find_runs(const struct device *d, const struct stream_groups *groups, struct arena *mem,
                      struct aicpu_tasks_runs *r)
{
    const struct tasks *t = &d->tasks;
    const struct flips flips = { d->log.flips.n, d->log.flips.stream, d->log.flips.number, d->log.flips.tick };
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += groups->first[t->stream[i]] < groups->first[t->stream[i] + 1];
    uint16_t *stream;
    uint32_t *task;
    uint64_t *tick;
    TAKE(stream, n), TAKE(task, n), TAKE(tick, n), TAKE(r->row, n), TAKE(r->entry, n), TAKE(r->is_wanted, n);
    if (!TAKE(r->is_head, n) || arena_failed(mem))
        return false;
    n = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        if (groups->first[t->stream[i]] == groups->first[t->stream[i] + 1])
            continue;
        stream[n] = t->stream[i];
        task[n] = t->task[i];
        tick[n] = t->begin_tick[i];
        r->entry[n] = NO_ROW;
        r->row[n++] = i;
    }
    r->ids = (struct ids){ .n = n, .stream = stream, .task = task, .tick = tick };
    return number_ids(&r->ids, &flips, mem);
}

static uint64_t aicpu_tasks_end_of(const struct device *d, const struct aicpu_tasks_runs *r, size_t at)
{
    return d->tasks.end_tick[r->row[r->ids.order[at]]];
}

/* A run belongs to the entry with its id that was launched last before the run ended: captured graphs run the same ids
 * repeatedly. */
static bool join_entries(struct device *d, const struct flips *flips, struct arena *mem, struct aicpu_tasks_runs *r)
{
    const struct aicpu_comm *c = &d->aicpu_comm;
    struct ids e = { .n = c->tasks.n, .stream = c->tasks.stream, .task = c->tasks.task, .tick = c->tasks.tick };
    bool *is_used;
    if (!number_ids(&e, flips, mem) || !TAKE(is_used, e.n))
        return false;
    size_t at = 0, n_used = 0;
    for (size_t i = 0; i < r->ids.n; i++) {
        const uint32_t run = r->ids.order[i];
        const uint64_t key = r->ids.key[run];
        while (at < e.n && e.key[e.order[at]] < key)
            at++;
        while (at + 1 < e.n && e.key[e.order[at + 1]] == key && e.tick[e.order[at + 1]] <= aicpu_tasks_end_of(d, r, i))
            at++;
        if (at == e.n || e.key[e.order[at]] != key || d->tasks.context[r->row[run]] != NO_CONTEXT)
            continue;
        r->entry[run] = e.order[at];
        r->is_wanted[run] = true;
        n_used += !is_used[e.order[at]];
        is_used[e.order[at]] = true;
    }
    losses_add(&d->source.lost, LOSS_UNMATCHED, e.n - n_used, aicpu_file, 0);
    return true;
}

/* A mark belongs to the first run of its task that had not ended when the mark was set. */
static bool join_marks(struct device *d, const struct flips *flips, struct arena *mem, struct aicpu_tasks_runs *r,
                       struct aicpu_marks *out)
{
    const struct aicpu_comm *c = &d->aicpu_comm;
    const size_t n = c->marks.n;
    struct ids m = { .n = n, .stream = c->marks.stream, .tick = c->marks.tick };
    uint32_t *wide, *run_of;
    TAKE(wide, n), TAKE(run_of, n), TAKE(out->stream, n), TAKE(out->tick, n), TAKE(out->task, n), TAKE(out->is_head, n);
    if (arena_failed(mem))
        return false;
    for (size_t i = 0; i < n; i++)
        wide[i] = c->marks.task[i];
    m.task = wide;
    if (!number_ids(&m, flips, mem))
        return false;
    for (size_t i = 0, at = 0; i < n; i++) {
        const uint32_t mark = m.order[i];
        while (at < r->ids.n && r->ids.key[r->ids.order[at]] < m.key[mark])
            at++;
        while (at + 1 < r->ids.n && r->ids.key[r->ids.order[at + 1]] == m.key[mark] &&
               aicpu_tasks_end_of(d, r, at) < m.tick[mark])
            at++;
        const bool is_found = at < r->ids.n && r->ids.key[r->ids.order[at]] == m.key[mark];
        run_of[mark] = is_found && r->is_wanted[r->ids.order[at]] ? r->ids.order[at] : NO_ROW;
    }
    uint32_t *order = m.order;
    order_fill(order, n);
    if (!order_by_u64(order, n, c->marks.tick) || !order_by_u16(order, n, c->marks.aicpu_stream))
        return false;
    for (size_t i = 0; i < n; i++) {
        const uint32_t mark = order[i], run = run_of[mark];
        const bool is_known = c->marks.kind[mark] == MARK_HEAD || c->marks.kind[mark] == MARK_TAIL;
        losses_add(&d->source.lost, is_known ? LOSS_UNMATCHED : LOSS_BAD_VALUE, !is_known || run == NO_ROW,
                   source_file(&d->source, aicpu_file), 0);
        if (!is_known || run == NO_ROW)
            continue;
        out->stream[out->n] = c->marks.aicpu_stream[mark];
        out->tick[out->n] = c->marks.tick[mark];
        out->task[out->n] = r->row[run];
        out->is_head[out->n] = c->marks.kind[mark] == MARK_HEAD;
        r->is_head[run] |= out->is_head[out->n++];
    }
    return true;
}

/* The groups of a run: the group of its entry if it uses the stream, else all groups that use the stream. Only a
 * damaged file has more than this many groups on one stream. */
enum { MOST_GROUPS_OF_STREAM = 16 };

static size_t groups_of(const struct device *d, const struct stream_groups *groups, const struct aicpu_tasks_runs *r,
                        size_t run, const uint64_t **out)
{
    const uint16_t s = r->ids.stream[run];
    const uint64_t *group = groups->group + groups->first[s];
    const size_t n = groups->first[s + 1] - groups->first[s];
    for (size_t k = 0; r->entry[run] != NO_ROW && k < n && k < MOST_GROUPS_OF_STREAM; k++)
        if (group[k] == d->aicpu_comm.tasks.group[r->entry[run]]) {
            *out = &group[k];
            return 1;
        }
    *out = group;
    return n < MOST_GROUPS_OF_STREAM ? n : MOST_GROUPS_OF_STREAM;
}

static bool aicpu_tasks_gather(const struct device *d, const struct stream_groups *groups,
                               const struct aicpu_tasks_runs *r, struct arena *mem, struct aicpu_tasks *out)
{
    const uint64_t *group;
    size_t n = 0;
    for (size_t i = 0; i < r->ids.n; i++)
        n += r->is_wanted[i] ? groups_of(d, groups, r, i, &group) : 0;
    uint32_t *run, *order;
    uint64_t *of, *end;
    TAKE(run, n), TAKE(order, n), TAKE(of, n), TAKE(end, n);
    TAKE(out->task, n), TAKE(out->entry, n), TAKE(out->group, n), TAKE(out->is_head, n);
    if (arena_failed(mem))
        return false;
    n = 0;
    for (uint32_t i = 0; i < r->ids.n; i++) {
        const size_t k = r->is_wanted[i] ? groups_of(d, groups, r, i, &group) : 0;
        for (size_t g = 0; g < k; g++) {
            run[n] = i;
            of[n] = group[g];
            end[n++] = d->tasks.end_tick[r->row[i]];
        }
    }
    order_fill(order, n);
    if (!order_by_u64(order, n, end) || !order_by_u64(order, n, of))
        return false;
    for (size_t i = 0; i < n; i++) {
        out->task[i] = r->row[run[order[i]]];
        out->entry[i] = r->entry[run[order[i]]];
        out->group[i] = of[order[i]];
        out->is_head[i] = r->is_head[run[order[i]]];
    }
    out->n = n;
    return true;
}

bool aicpu_tasks_find(const struct profile *p, struct device *d, struct arena *mem, struct aicpu_tasks *tasks,
                      struct aicpu_marks *marks)
{
    struct stream_groups groups;
    struct flips flips;
    struct aicpu_tasks_runs runs = { 0 };
    *tasks = (struct aicpu_tasks){ 0 };
    *marks = (struct aicpu_marks){ 0 };
    if (!find_groups(p, mem, &groups) || !sort_flips(&d->aicpu_comm, mem, &flips) || !find_runs(d, &groups, mem, &runs))
        return false;
    /* At level 0 there are no records of launches: every task on these streams counts. */
    for (size_t i = 0; d->aicpu_comm.tasks.n == 0 && i < runs.ids.n; i++)
        runs.is_wanted[i] = true;
    return join_entries(d, &flips, mem, &runs) && join_marks(d, &flips, mem, &runs, marks) &&
           aicpu_tasks_gather(d, &groups, &runs, mem, tasks);
}
