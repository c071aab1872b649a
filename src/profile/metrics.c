/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/files/bytes.h"
#include "base/text/table.h"
#include "profile/metric_groups.h"

/* How each kind is shown in tables. */
static const char *const unit_of_kind[] = {
    [METRIC_TOTAL_TIME] = "(us)",
    [METRIC_CYCLES] = "",
    [METRIC_RATIO] = "",
    [METRIC_TIME] = "(us)",
    [METRIC_RATE] = "",
    [METRIC_BANDWIDTH] = "(GB/s)",
    [METRIC_BANDWIDTHS] = "(GB/s)",
    [METRIC_OPS] = "",
    [METRIC_AMOUNT] = "(KB)",
    [METRIC_COUNT] = "",
};

static const char *const prefix_of_core[CORES] = { [CORE_AIC] = "aic_", [CORE_AIV] = "aiv_" };
static const char *const total_time_label[CORES] = { [CORE_AIC] = "aicore_time(us)", [CORE_AIV] = "aiv_time(us)" };

struct event_list event_list_parse(const char *text, unsigned most)
{
    struct event_list e = { 0 };
    while (e.n < most && e.n < METRIC_MOST_COUNTERS) {
        char *end;
        const unsigned long id = strtoul(text, &end, 16);
        if (end == text || id > UINT16_MAX)
            break;
        e.id[e.n++] = (uint16_t)id;
        text = *end == ',' ? end + 1 : end;
    }
    return e;
}

bool event_list_find(const struct event_list *l, uint16_t event, uint8_t *counter)
{
    for (unsigned i = 0; i < l->n; i++)
        if (l->id[i] == event) {
            *counter = (uint8_t)i;
            return true;
        }
    return false;
}

static bool find_counters(struct metric_column *c, const struct event_list *events)
{
    for (unsigned i = 0; i < c->metric.n_events; i++)
        if (!event_list_find(events, c->metric.event[i], &c->counter[i]))
            return false;
    return true;
}

/* Where columns are added, and the properties that the new ones have in common. */
struct metrics_adding {
    struct metric_columns *to;
    enum core core;
    const struct chip *chip;
    const struct chip *one_core; /* the chip, if it has one kind of core; NULL: it has two */
    struct event_list events;
    bool is_custom;
    struct arena *mem;
};

static void add_column(struct metrics_adding *a, const struct metric *m)
{
    struct metric_column c = { .metric = *m, .core = a->core, .is_custom = a->is_custom };
    const bool is_other_chip =
        a->one_core && m->vector != ANY_VECTOR && (m->vector == NARROW_VECTOR) != a->one_core->has_narrow_vector;
    if (is_other_chip || !find_counters(&c, &a->events))
        return;
    c.is_hidden = !a->one_core && m->hidden_of[a->core];
    c.is_unknown = a->one_core && a->one_core->counts_no_vector && m->is_of_vector;
    c.name = arena_printf(a->mem, "%s%s", a->one_core ? "" : prefix_of_core[a->core], m->name);
    c.label = m->kind == METRIC_TOTAL_TIME ? total_time_label[a->core]
                                           : arena_printf(a->mem, "%s%s", c.name, unit_of_kind[m->kind]);
    a->to->column[a->to->n++] = c;
}

static bool add_group(struct metrics_adding *a, const char *group)
{
    static const char custom[] = "Custom:";
    static const struct metric always[] = {
        { .name = "total_time", .kind = METRIC_TOTAL_TIME },
        { .name = "total_cycles", .kind = METRIC_CYCLES },
    };
    struct metric_columns *to = a->to;
    const struct metric_group *known = metric_group_find(group, a->chip);
    a->is_custom = strncmp(group, custom, sizeof custom - 1) == 0;
    if (!known && !a->is_custom)
        return false;
    struct metric_column *grown = arena_take(a->mem, to->n + 2 + (known ? known->n : a->events.n), sizeof *grown);
    if (!grown)
        return false;
    if (to->n > 0)
        memcpy(grown, to->column, to->n * sizeof *grown);
    to->column = grown;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        add_column(a, &always[i]);
    for (size_t i = 0; known && i < known->n; i++)
        add_column(a, &known->metric[i]);
    for (unsigned i = 0; a->is_custom && i < a->events.n; i++) {
        const struct metric m = { .name = arena_printf(a->mem, "r%x", a->events.id[i]),
                                  .kind = METRIC_COUNT,
                                  .n_events = 1,
                                  .event = { a->events.id[i] } };
        add_column(a, &m);
    }
    return !arena_failed(a->mem);
}

bool metric_columns_add(struct metric_columns *to, const struct chip *chip, enum core core, const char *group,
                        const char *events, struct arena *mem)
{
    const unsigned most = chip->counts_ten ? METRIC_MOST_COUNTERS : METRIC_COUNTERS;
    struct metrics_adding a = { .to = to,
                                .core = core,
                                .chip = chip,
                                .one_core = chip->has_one_core ? chip : NULL,
                                .events = event_list_parse(events, most),
                                .mem = mem };
    return add_group(&a, group);
}

/* The blocks of a kernel run on the cores in rounds. The cycles are the sum over all blocks. */
static double total_time_us(const struct core_counts *c, bool is_coarse)
{
    if (c->spent_us >= 0)
        return c->spent_us;
    if (c->blocks == 0 || c->n_cores == 0 || !(c->mhz > 0))
        return 0;
    const uint32_t rounds = (uint32_t)(((uint64_t)c->blocks + c->n_cores - 1) / c->n_cores);
    const double hz = c->mhz * 1e6;
    const double us = (double)c->cycles * 1e6 / hz / c->blocks * rounds;
    return is_coarse ? round_exact(us, 2) : us;
}

static double count_of(const struct metric_column *m, unsigned event, const struct core_counts *c)
{
    return (double)le64(c->counters + sizeof(uint64_t) * m->counter[event]);
}

static double weighted_sum(const struct metric_column *m, const struct core_counts *c)
{
    double sum = 0;
    for (unsigned i = 0; i < m->metric.n_events; i++)
        sum += m->metric.weight[i] * count_of(m, i, c);
    return sum;
}

static double per_cycle(const struct metric_column *m, const struct core_counts *c)
{
    double sum = 0;
    for (unsigned i = 0; i < m->metric.n_events && c->cycles > 0; i++)
        sum += count_of(m, i, c) / (double)c->cycles;
    return sum;
}

static double event_rate(const struct metric_column *m, const struct core_counts *c)
{
    const double a = count_of(m, 0, c), b = count_of(m, 1, c), cycles = (double)c->cycles;
    return a > 0 && b > 0 && cycles > 0 ? a / cycles / (b / cycles) : 0;
}

/* Of so many bits. */
static double bandwidth(const struct core_counts *c, double bits)
{
    const double hz = c->nominal_mhz * 1e6;
    if (c->cycles == 0 || !(hz > 0))
        return 0;
    return bits / ((double)c->cycles / hz) / (8.0 * 1024 * 1024 * 1024);
}

static double bandwidths(const struct metric_column *m, const struct core_counts *c)
{
    double sum = 0;
    for (unsigned i = 0; i < m->metric.n_events; i++)
        sum += bandwidth(c, m->metric.weight[i] * count_of(m, i, c));
    return sum;
}

double metric_value(const struct metric_column *m, const struct core_counts *c, bool coarse_times)
{
    const bool is_coarse = coarse_times || m->is_custom;
    switch (m->metric.kind) {
    case METRIC_TOTAL_TIME: return total_time_us(c, is_coarse);
    case METRIC_CYCLES: return (double)c->cycles;
    case METRIC_RATIO: return per_cycle(m, c);
    case METRIC_TIME: return total_time_us(c, is_coarse) * per_cycle(m, c);
    case METRIC_RATE: return event_rate(m, c);
    case METRIC_BANDWIDTH: return bandwidth(c, weighted_sum(m, c));
    case METRIC_BANDWIDTHS: return bandwidths(m, c);
    case METRIC_OPS: return c->cycles > 0 ? weighted_sum(m, c) : 0;
    case METRIC_AMOUNT: return weighted_sum(m, c);
    case METRIC_COUNT: return count_of(m, 0, c);
    }
    return 0;
}
