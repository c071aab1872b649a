/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/monitor_metrics.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct metrics {
    struct out *o;
    const struct monitor_window *w;
    bool is_openmetrics;
};

__attribute__((format(printf, 2, 3))) static void put(const struct metrics *m, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    out_bytes(m->o, text, strlen(text));
}

enum metric_type { METRIC_COUNTER, METRIC_GAUGE };

/* OpenMetrics names a family without the suffix of its samples. */
static void head_put(const struct metrics *m, const char *name, enum metric_type type, const char *help)
{
    const char *const suffix = type == METRIC_COUNTER && !m->is_openmetrics ? "_total" : "";
    put(m, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, suffix, help, name, suffix,
        type == METRIC_COUNTER ? "counter" : "gauge");
}

/* "" or a further label: `,part="gc"`. */
static void sample_put(const struct metrics *m, const char *name, enum metric_type type, size_t rank, const char *label,
                       double value)
{
    const struct monitor_rank *const r = m->w->rank[rank].of;
    const int32_t number = monitor_rank_number(r);
    put(m, "%s%s{rank=\"", name, type == METRIC_COUNTER ? "_total" : "");
    if (number >= 0)
        put(m, "%d", (int)number);
    else
        put(m, "pid %lld", (long long)r->head.pid);
    put(m, "\"%s} %.17g\n", label, value);
}

struct metric_row {
    enum ascope_monitor_value value;
    const char *name, *label;
    double factor;
};

/* Rows of the same name follow each other. */
static const struct metric_row metric_rows[] = {
    { ASCOPE_MONITOR_COMPUTING, "ascope_step_part_seconds", ",part=\"computing\"", 1e-9 },
    { ASCOPE_MONITOR_COMMUNICATION, "ascope_step_part_seconds", ",part=\"communication\"", 1e-9 },
    { ASCOPE_MONITOR_WAIT, "ascope_step_part_seconds", ",part=\"wait\"", 1e-9 },
    { ASCOPE_MONITOR_TRANSFER, "ascope_step_part_seconds", ",part=\"transfer\"", 1e-9 },
    { ASCOPE_MONITOR_COPY, "ascope_step_part_seconds", ",part=\"copy\"", 1e-9 },
    { ASCOPE_MONITOR_DATA, "ascope_step_part_seconds", ",part=\"data\"", 1e-9 },
    { ASCOPE_MONITOR_GC, "ascope_step_part_seconds", ",part=\"gc\"", 1e-9 },
    { ASCOPE_MONITOR_CPU, "ascope_step_part_seconds", ",part=\"cpu\"", 1e-9 },
    { ASCOPE_MONITOR_PREEMPTED, "ascope_step_part_seconds", ",part=\"preempted\"", 1e-9 },
    { ASCOPE_MONITOR_TOKENS, "ascope_tokens", "", 1 },
    { ASCOPE_MONITOR_ALLOCATED, "ascope_memory_bytes", ",kind=\"allocated\"", 1 },
    { ASCOPE_MONITOR_RESERVED, "ascope_memory_bytes", ",kind=\"reserved\"", 1 },
    { ASCOPE_MONITOR_PEAK, "ascope_memory_bytes", ",kind=\"peak\"", 1 },
    { ASCOPE_MONITOR_RESIDENT, "ascope_memory_bytes", ",kind=\"resident\"", 1 },
    { ASCOPE_MONITOR_CLOCK_MHZ, "ascope_device_clock_hertz", "", 1e6 },
    { ASCOPE_MONITOR_POWER_MW, "ascope_device_power_watts", "", 1e-3 },
};

static const char *help_of(enum ascope_monitor_value value)
{
    return value <= ASCOPE_MONITOR_PREEMPTED   ? "Time of steps by what it was spent on; parts overlap."
           : value == ASCOPE_MONITOR_TOKENS    ? "Tokens, or samples."
           : value <= ASCOPE_MONITOR_RESIDENT  ? "Memory of the device, and (resident) of the process."
           : value == ASCOPE_MONITOR_CLOCK_MHZ ? "Clock of the device."
                                               : "Power of the device.";
}

static void values_put(const struct metrics *m)
{
    const char *family = "";
    for (size_t row = 0; row < sizeof metric_rows / sizeof *metric_rows; row++) {
        const struct metric_row *const at = &metric_rows[row];
        const enum metric_type type = monitor_value_rows[at->value].is_sum ? METRIC_COUNTER : METRIC_GAUGE;
        if (at->name != family)
            head_put(m, at->name, type, help_of(at->value));
        family = at->name;
        for (size_t i = 0; i < m->w->n; i++)
            if (m->w->rank[i].of->is_recorded[at->value])
                sample_put(m, at->name, type, i, at->label, (double)m->w->rank[i].of->sum[at->value] * at->factor);
    }
}

static void ranks_put(const struct metrics *m)
{
    const struct monitor_window *const w = m->w;
    head_put(m, "ascope_up", METRIC_GAUGE, "Whether the process of a rank runs.");
    for (size_t i = 0; i < w->n; i++)
        sample_put(m, "ascope_up", METRIC_GAUGE, i, "", w->rank[i].of->is_alive && !w->rank[i].of->is_ended);
    head_put(m, "ascope_steps", METRIC_COUNTER, "Steps that have ended.");
    for (size_t i = 0; i < w->n; i++)
        sample_put(m, "ascope_steps", METRIC_COUNTER, i, "", (double)w->rank[i].of->n_steps);
    head_put(m, "ascope_step_seconds", METRIC_COUNTER, "Time of these steps.");
    for (size_t i = 0; i < w->n; i++)
        sample_put(m, "ascope_step_seconds", METRIC_COUNTER, i, "", (double)w->rank[i].of->time_ns * 1e-9);
    head_put(m, "ascope_longest_step_seconds", METRIC_GAUGE, "The longest step of the window.");
    for (size_t i = 0; i < w->n; i++)
        sample_put(m, "ascope_longest_step_seconds", METRIC_GAUGE, i, "", w->rank[i].longest_ns * 1e-9);
    head_put(m, "ascope_last_record_timestamp_seconds", METRIC_GAUGE, "End of the newest record, Unix time.");
    for (size_t i = 0; i < w->n; i++)
        sample_put(m, "ascope_last_record_timestamp_seconds", METRIC_GAUGE, i, "",
                   (double)w->rank[i].last_end_ns * 1e-9);
}

static void alarms_put(const struct metrics *m, const struct alarms *a)
{
    head_put(m, "ascope_slow_rank", METRIC_GAUGE, "Whether an alarm about a rank goes on.");
    bool is_job = false;
    for (size_t i = 0; i < m->w->n; i++) {
        bool is_on = false;
        for (size_t k = 0; k < a->n; k++) {
            is_on |= a->at[k].is_on && !a->at[k].is_over && a->at[k].rank >= 0 &&
                     a->at[k].rank == monitor_rank_number(m->w->rank[i].of);
            is_job |= a->at[k].is_on && !a->at[k].is_over && a->at[k].rank < 0;
        }
        sample_put(m, "ascope_slow_rank", METRIC_GAUGE, i, "", is_on);
    }
    head_put(m, "ascope_slow_job", METRIC_GAUGE, "Whether an alarm about the whole job goes on.");
    put(m, "ascope_slow_job %d\n", is_job);
    head_put(m, "ascope_alarms", METRIC_COUNTER, "Alarms that have begun.");
    put(m, "ascope_alarms_total %llu\n", (unsigned long long)a->n_began);
}

void metrics_write(struct out *o, const struct monitor_window *w, const struct alarms *a, bool is_openmetrics)
{
    const struct metrics m = { .o = o, .w = w, .is_openmetrics = is_openmetrics };
    ranks_put(&m);
    values_put(&m);
    alarms_put(&m, a);
    if (is_openmetrics)
        out_lit(o, "# EOF\n");
}
