/* SPDX-License-Identifier: Apache-2.0 */
#include "export/samplers/sampler_outputs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "export/scope.h"
#include "raw/sampler.h"

enum { FREQ_SORT = 15, VOLTAGE_SORT = 16 };

/* The reference writes every event of AI Core Freq twice. Besides, two of its parsers read lpmFreqConv.data, which
 * newer collectors do not write, into one table, unless the metrics are custom events or the stream has several slices:
 * then AICORE_FREQ in the database and the timeline of a whole collection have each change twice. */
enum { TIMES_DRAWN = 2 };

static unsigned times_read(const struct device *d)
{
    size_t n;
    const struct stream *stream = source_streams(&d->source, "lpmFreqConv.data", &n);
    const bool is_custom = strncmp(d->source.settings.metrics[CORE_AIC], "Custom", 6) == 0;
    return stream && stream->n_slices == 1 && !is_custom ? 2 : 1;
}

struct point {
    int64_t at_ns;
    uint64_t value;
};
struct points {
    LIST(struct point) list;
    struct arena *mem;
};

static void add_point(struct points *p, int64_t at_ns, uint64_t value)
{
    struct point *slot = list_add(&p->list, p->mem);
    if (slot)
        *slot = (struct point){ at_ns, value };
}

/* The frequency at the begin of the collection, at each change, and at the end. */
static struct points freq_points(const struct export *x, const struct device *d)
{
    const struct source *s = &d->source;
    const struct samples *freq = &d->counters.rate[SAMPLER_FREQ];
    struct points p = { .mem = x->mem };
    uint64_t at_begin = (uint64_t)s->aic_mhz, at_end = at_begin;
    size_t first = 0;
    for (; first < freq->n && freq->at_ns[first] < s->begin_ns; first++)
        at_begin = at_end = samples_uint(freq, LPM_ENTRY_VALUE, first);
    add_point(&p, s->begin_ns, at_begin);
    const unsigned times = samples_cores(x->profile) || !s->chip->is_native ? 1 : times_read(d);
    for (size_t row = first; row < freq->n && d->counters.raw[SAMPLER_FREQ].n > 0; row++) {
        at_end = samples_uint(freq, LPM_ENTRY_VALUE, row);
        for (unsigned k = 0; k < times; k++)
            add_point(&p, freq->at_ns[row], at_end);
    }
    if (s->has_end)
        add_point(&p, s->end_ns, at_end);
    return p;
}

static void draw_point(const struct source *s, struct trace *t, uint32_t pid, const char *name, const char *unit,
                       int64_t at_ns, uint64_t value)
{
    if (at_ns < s->begin_ns || !trace_wants(t, at_ns, at_ns))
        return;
    trace_counter(t, name, pid, 0, at_ns);
    trace_arg_uint(t, unit, value);
    trace_end(t);
}

/* The generic presentation repeats a value every ms until it changes, and once more at the end. Repeats are limited to
 * two minutes in all: a damaged end may be centuries away, and viewers keep showing the last value. */
static void draw_steady(const struct source *s, const struct samples *changes, struct trace *t, uint32_t pid,
                        const char *name, const char *unit)
{
    enum { MS = 1000000, US = 1000, MOST_REPEATS = 120 * 1000 };
    unsigned repeats = 0;
    for (size_t row = 0; row < changes->n; row++) {
        const bool is_last = row + 1 == changes->n;
        const int64_t at_ns = changes->at_ns[row];
        const int64_t end_ns = s->has_end ? s->end_ns : at_ns + US;
        const int64_t next_ns = is_last ? end_ns : changes->at_ns[row + 1];
        const uint64_t value = samples_uint(changes, LPM_ENTRY_VALUE, row);
        draw_point(s, t, pid, name, unit, at_ns, value);
        /* Nothing is repeated outside of the collection. */
        const int64_t begin_ns = at_ns < s->begin_ns ? at_ns + (s->begin_ns - at_ns) / MS * MS : at_ns;
        const int64_t last_ns = next_ns - US < s->end_ns ? next_ns - US : s->end_ns;
        for (int64_t fill_ns = begin_ns + MS; fill_ns <= last_ns && repeats < MOST_REPEATS; fill_ns += MS, repeats++)
            draw_point(s, t, pid, name, unit, fill_ns, value);
        if (is_last)
            draw_point(s, t, pid, name, unit, end_ns, value);
    }
}

enum { FREQ_DIES = 2 };

static uint64_t freq_die(const struct samples *s, size_t row)
{
    return samples_uint(s, SOC_HEAD, row) >> SOC_HEAD_TYPE_SHIFT;
}

/* Chips with two dies report the frequency of each. The reference shows it in the generic presentation of whole
 * collections, and in the newer one of chips that store it. */
static void draw_dies(const struct export *x, const struct device *d, struct trace *t, uint32_t pid)
{
    const struct samples *s = &d->counters.raw[SAMPLER_LOW_POWER];
    for (size_t row = s->n_early; row < s->n; row++) {
        const uint64_t die = freq_die(s, row);
        char name[48];
        if (die >= FREQ_DIES || !trace_wants(t, s->at_ns[row], s->at_ns[row]))
            continue;
        snprintf(name, sizeof name, "AI Core Freq Die %" PRIu64, die);
        for (unsigned k = 0; k < (x->is_generic ? 1 : TIMES_DRAWN); k++) {
            trace_counter(t, name, pid, x->is_generic ? (int64_t)die : 0, s->at_ns[row]);
            trace_arg_uint(t, x->is_generic ? "value" : "MHz", samples_uint(s, POWER_FREQ, row));
            trace_end(t);
        }
    }
}

bool freq_track(const struct export *x, struct trace *t, struct error *e)
{
    static const char name[] = "AI Core Freq", unit[] = "MHz";
    for (size_t i = 0; i < x->profile->n_devices; i++) {
        const struct device *d = &x->profile->device[i];
        const struct source *s = &d->source;
        const bool has_dies = (x->is_generic || s->chip->stores_die_freq) && x->scope == SCOPE_ALL &&
                              d->counters.raw[SAMPLER_LOW_POWER].n > 0;
        if (!s->chip->draws_freq && !has_dies)
            continue;
        const uint32_t pid = trace_pid(s->pid, FREQ_SORT, s->device);
        scope_set_window(x, t, i);
        for (unsigned k = 0; k < (x->is_generic ? 1 : TIMES_DRAWN); k++)
            trace_process_npu(t, pid, name, s->device, FREQ_SORT);
        if (x->is_generic) {
            if (s->chip->draws_freq)
                draw_steady(s, &d->counters.rate[SAMPLER_FREQ], t, pid, name, unit);
        }
        if (has_dies)
            draw_dies(x, d, t, pid);
        if (x->is_generic || !s->chip->draws_freq)
            continue;
        const struct points p = freq_points(x, d);
        for (size_t k = 0; k < p.list.n * TIMES_DRAWN; k++)
            draw_point(s, t, pid, name, unit, p.list.at[k / TIMES_DRAWN].at_ns, p.list.at[k / TIMES_DRAWN].value);
        if (arena_failed(x->mem))
            return error_no_memory(e, s->path);
    }
    return true;
}

bool voltage_track(const struct export *x, struct trace *t, struct error *e)
{
    static const struct {
        enum sampler sampler;
        const char *name;
    } voltage[] = { { SAMPLER_CORE_VOLTAGE, "Aicore Voltage" }, { SAMPLER_BUS_VOLTAGE, "Bus Voltage" } };
    (void)e;
    for (size_t i = 0; i < x->profile->n_devices && x->is_generic; i++) {
        const struct device *d = &x->profile->device[i];
        const struct source *s = &d->source;
        const uint32_t pid = trace_pid(s->pid, VOLTAGE_SORT, s->device);
        bool is_named = false;
        scope_set_window(x, t, i);
        for (size_t k = 0; k < COUNT_OF(voltage) && s->chip->draws_voltage; k++) {
            const struct samples *changes = &d->counters.rate[voltage[k].sampler];
            if (changes->n == 0)
                continue;
            if (!is_named)
                trace_process_npu(t, pid, "Voltage Info", s->device, VOLTAGE_SORT);
            is_named = true;
            draw_steady(s, changes, t, pid, voltage[k].name, "mV");
        }
    }
    return true;
}

bool freq_db(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = { { "deviceId", "INTEGER", NULL },
                                               { "timestampNs", "NUMERIC", NULL },
                                               { "freq", "INTEGER", NULL },
                                               { "dieId", "NUMERIC", NULL } };
    struct grid g = { .n_columns = COUNT_OF(column), .mem = x->mem };
    for (size_t i = 0; i < x->profile->n_devices; i++) {
        const struct device *d = &x->profile->device[i];
        const struct samples *s = &d->counters.raw[SAMPLER_LOW_POWER];
        for (size_t row = s->n_early; row < s->n && d->source.chip->stores_die_freq; row++)
            if (freq_die(s, row) < FREQ_DIES)
                grid_row(&g,
                         (struct cell[]){ cell_uint(d->source.device), cell_time(s->at_ns[row]),
                                          cell_uint(samples_uint(s, POWER_FREQ, row)), cell_uint(freq_die(s, row)) });
        if (!d->source.chip->stores_freq)
            continue;
        const struct points p = freq_points(x, d);
        for (size_t k = 0; k < p.list.n; k++)
            grid_row(&g, (struct cell[]){ cell_uint(d->source.device), cell_time(p.list.at[k].at_ns),
                                          cell_uint(p.list.at[k].value), cell_int(-1) });
    }
    if (arena_failed(x->mem))
        return error_no_memory(e, x->profile->path);
    const struct db_table t = { .name = "AICORE_FREQ",
                                .column = column,
                                .n_columns = COUNT_OF(column),
                                .n_rows = g.cells.n / COUNT_OF(column),
                                .grid = g.cells.at };
    return db_table(db, &t, e);
}
