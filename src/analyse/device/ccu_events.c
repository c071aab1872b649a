/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/device_analysis.h"

#include "analyse/device/tasks/device_tasks.h"
#include "base/files/bytes.h"
#include "base/memory/sort.h"
#include "raw/ccu_records.h"

static uint64_t instr_get(const uint8_t *instr, unsigned field)
{
    return layout_get(&ccu_instr_layout, field, instr);
}

/* Stream, task and instruction in one number. */
static uint64_t instr_key(uint64_t stream, uint64_t task, uint64_t instr)
{
    return stream << 48 | task << 16 | instr;
}

/* Plans by their keys; of equal ones the first of the file. */
struct plan_index {
    const struct ccu_records *of;
    uint64_t *key;
    uint32_t *order;
};

static bool plan_index_make(struct plan_index *x, const struct ccu_records *of, struct arena *mem)
{
    const struct layout *l = &ccu_group_layout; /* both forms begin alike */
    *x = (struct plan_index){ of, arena_take(mem, of->n, sizeof *x->key), arena_take(mem, of->n, sizeof *x->order) };
    if (arena_failed(mem))
        return false;
    for (size_t i = 0; i < of->n; i++)
        x->key[i] = instr_key(layout_get(l, CCU_PLAN_STREAM, of->at[i]), layout_get(l, CCU_PLAN_TASK, of->at[i]),
                              layout_get(l, CCU_PLAN_INSTR, of->at[i]));
    order_fill(x->order, of->n);
    return order_by_u64(x->order, of->n, x->key);
}

static const uint8_t *plan_find(const struct plan_index *x, uint64_t key)
{
    const size_t at = order_first_u64(x->order, x->of->n, x->key, key);
    return at < x->of->n && x->key[x->order[at]] == key ? x->of->at[x->order[at]] : NULL;
}

/* The mean delays of each channel on either die, by time, each with the greatest so far. */
struct channel_delays {
    struct delays {
        size_t n;
        uint64_t *tick;
        uint32_t *most;
    } of[CCU_CHANNELS];
};

static bool delays_of(const struct ccu *c, unsigned channel, struct delays *out, struct arena *mem)
{
    const size_t most = c->stat[0].n + c->stat[1].n;
    uint64_t *tick = arena_take(mem, most, sizeof *tick);
    uint32_t *avg = arena_take(mem, most, sizeof *avg), *order = arena_take(mem, most, sizeof *order), highest = 0;
    *out = (struct delays){ .tick = arena_take(mem, most, sizeof *out->tick),
                            .most = arena_take(mem, most, sizeof *out->most) };
    if (arena_failed(mem))
        return false;
    for (unsigned die = 0; die < CCU_DIES; die++)
        for (size_t i = 0; i < c->stat[die].n; i++) {
            const uint8_t *at = c->stat[die].at[i] + ccu_channel_at(channel);
            tick[out->n] = layout_get(&ccu_channel_layout, CCU_STAT_TIME, at);
            avg[out->n] = (uint32_t)layout_get(&ccu_channel_layout, CCU_STAT_AVG, at);
            out->n += tick[out->n] != 0;
        }
    order_fill(order, out->n);
    if (!order_by_u64(order, out->n, tick))
        return false;
    for (size_t i = 0; i < out->n; i++) {
        highest = avg[order[i]] > highest ? avg[order[i]] : highest;
        out->tick[i] = tick[order[i]];
        out->most[i] = highest;
    }
    return true;
}

/* The slowest of the channels of a signal until the wait for it ended. */
static void find_slow_channel(struct ccu_events *ev, size_t k, const uint8_t *signal, uint64_t end,
                              const struct channel_delays *delays)
{
    for (size_t i = 0; i < CCU_ENTRIES; i++) {
        const uint16_t channel = le16(signal + CCU_FIRST_CHANNEL + 2 * i);
        if (channel >= CCU_CHANNELS || le32(signal + CCU_FIRST_RANK + 4 * i) == UINT32_MAX)
            continue;
        const struct delays *d = &delays->of[channel];
        const size_t later = SEARCH_FIRST_NOT(at, 0, d->n, d->tick[at] < end);
        if (later > 0 && (ev->slow_channel[k] < 0 || d->most[later - 1] > ev->channel_ticks[k])) {
            ev->slow_channel[k] = channel;
            ev->channel_ticks[k] = d->most[later - 1];
        }
    }
}

static unsigned slowest_rank(const uint8_t *instr)
{
    unsigned slowest = CCU_RANKS - 1;
    for (unsigned rank = CCU_RANKS - 1; rank-- > 0;)
        if (ccu_delay(instr, rank) > ccu_delay(instr, slowest))
            slowest = rank;
    return slowest;
}

static bool events_take(struct ccu_events *ev, size_t n, struct arena *mem)
{
    *ev = (struct ccu_events){ .instr = arena_take(mem, n, sizeof *ev->instr),
                               .is_wait = arena_take(mem, n, sizeof *ev->is_wait),
                               .rank = arena_take(mem, n, sizeof *ev->rank),
                               .plan = arena_take(mem, n, sizeof *ev->plan),
                               .slow_channel = arena_take(mem, n, sizeof *ev->slow_channel),
                               .channel_ticks = arena_take(mem, n, sizeof *ev->channel_ticks) };
    return !arena_failed(mem);
}

/* A record with a wait shows it. Of groups of loops with one key the last record counts: `order` has the records by
 * their keys. */
static void find_shown(const struct ccu *c, const uint64_t *key, const uint32_t *order, bool *is_shown)
{
    for (size_t i = 0, end; i < c->instr.n; i = end) {
        uint32_t last_loop = UINT32_MAX;
        for (end = i; end < c->instr.n && key[order[end]] == key[order[i]]; end++) {
            const uint8_t *instr = c->instr.at[order[end]];
            if (instr_get(instr, CCU_WAIT_BEGIN) != 0)
                is_shown[order[end]] = true;
            else if (instr_get(instr, CCU_LOOP_BEGIN) != 0)
                last_loop = order[end];
        }
        if (last_loop != UINT32_MAX)
            is_shown[last_loop] = true;
    }
}

static bool fill_events(const struct ccu_plans *plans, struct ccu *c, struct arena *to, struct arena *mem)
{
    struct plan_index groups, signals;
    struct channel_delays *delays = arena_take(mem, 1, sizeof *delays);
    uint64_t *key = arena_take(mem, c->instr.n, sizeof *key);
    uint32_t *order = arena_take(mem, c->instr.n, sizeof *order);
    bool *is_shown = arena_take(mem, c->instr.n, sizeof *is_shown);
    bool done = !arena_failed(mem) && plan_index_make(&groups, &plans->groups, mem) &&
                plan_index_make(&signals, &plans->signals, mem) && events_take(&c->events, c->instr.n, to);
    for (unsigned i = 0; i < CCU_CHANNELS && done; i++)
        done = delays_of(c, i, &delays->of[i], mem);
    if (!done)
        return false;
    for (size_t i = 0; i < c->instr.n; i++) {
        const uint8_t *instr = c->instr.at[i];
        const bool is_wait = instr_get(instr, CCU_WAIT_BEGIN) != 0;
        key[i] = instr_key(c->stream[i], instr_get(instr, CCU_TASK),
                           instr_get(instr, is_wait ? CCU_WAIT_INSTR : CCU_LOOP_INSTR));
    }
    order_fill(order, c->instr.n);
    if (!order_by_u64(order, c->instr.n, key))
        return false;
    find_shown(c, key, order, is_shown);
    for (uint32_t i = 0; i < c->instr.n; i++) {
        const uint8_t *instr = c->instr.at[i];
        struct ccu_events *ev = &c->events;
        const size_t k = ev->n;
        if (!is_shown[i])
            continue;
        ev->n++;
        ev->instr[k] = i;
        ev->is_wait[k] = instr_get(instr, CCU_WAIT_BEGIN) != 0;
        ev->plan[k] = plan_find(ev->is_wait[k] ? &signals : &groups, key[i]);
        ev->slow_channel[k] = -1;
        if (!ev->is_wait[k])
            continue;
        ev->rank[k] = (uint8_t)slowest_rank(instr);
        if (ev->plan[k])
            find_slow_channel(ev, k, ev->plan[k], instr_get(instr, CCU_WAIT_BEGIN) + ccu_delay(instr, ev->rank[k]),
                              delays);
    }
    return true;
}

bool ccu_analyse(struct profile *p, struct device *d, struct error *e)
{
    struct ccu *c = &d->ccu;
    if (c->instr.n == 0)
        return true;
    struct arena *mem = arena_new();
    struct task_streams streams;
    c->stream = arena_take(d->source.mem, c->instr.n, sizeof *c->stream);
    bool done = mem && c->stream && task_streams_take(&p->host.tasks, d->source.device, mem, &streams);
    for (size_t i = 0; done && i < c->instr.n; i++)
        c->stream[i] = task_streams_find(&streams, (uint32_t)instr_get(c->instr.at[i], CCU_TASK));
    done = done && fill_events(&p->host.records.ccu_plans, c, d->source.mem, mem);
    arena_free(mem);
    return done || error_no_memory(e, d->source.path);
}
