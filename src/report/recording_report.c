/* SPDX-License-Identifier: Apache-2.0 */
#include "report/recording_report.h"

#include <inttypes.h>
#include <math.h>

#include "base/text/json_memory.h"

enum { STEPS_SHOWN = 3, COST_COLUMNS = 24 };

/* ---- for people ----------------------------------------------------------------------------------------------- */

static void put_ending(const struct term *t, const struct collector *c)
{
    static const char *const ending[COLLECTOR_ENDS] = {
        [COLLECTOR_ENDED_UNKNOWN] = "; unknown how it ended",
        [COLLECTOR_STOPPED] = "; stopped normally",
        [COLLECTOR_RECOVERED] = "; killed, and recovered from its rings",
        [COLLECTOR_RUNNING] = "; never stopped: the program was killed",
    };
    if (c->is_running) {
        fprintf(t->to, "; %sstill being recorded%s\n", term_ink(t, INK_WARN), term_ink(t, INK_END));
        return;
    }
    fprintf(t->to, "%s%s%s\n", term_ink(t, c->ended == COLLECTOR_RUNNING ? INK_WARN : INK_END), ending[c->ended],
            term_ink(t, INK_END));
    if (c->has_rings)
        fputs("    some of its records are only in ascope.rings; `ascope recover` moves them to their files\n", t->to);
}

/* ", accurate to 35 ns at the start and 41 ns at the stop" */
static void put_uncertainty(const struct term *t, uint64_t start_ns, uint64_t stop_ns)
{
    char time[READABLE_MOST];
    if (start_ns != NOT_KNOWN)
        fprintf(t->to, ", accurate to %s at the start", readable_duration(time, (double)start_ns));
    if (stop_ns != NOT_KNOWN)
        fprintf(t->to, "%s %s at the stop", start_ns != NOT_KNOWN ? " and" : ", accurate to",
                readable_duration(time, (double)stop_ns));
}

static void put_clocks(const struct term *t, const struct collector *c)
{
    static const char *const clock[COLLECTOR_CLOCKS] = {
        [COLLECTOR_CLOCK_UNKNOWN] = "clock",
        [COLLECTOR_CLOCK_COUNTER] = "clock: the CPU's counter",
        [COLLECTOR_CLOCK_NS] = "clock: the raw monotonic clock",
    };
    fprintf(t->to, "    %s", clock[c->clock]);
    if (!isnan(c->mhz))
        fprintf(t->to, ", %.9g MHz", c->mhz);
    if (!isnan(c->first_mhz) && !isnan(c->mhz) && c->first_mhz != c->mhz)
        fprintf(t->to, " (%+.3f ppm from the estimate at the start)", 1e6 * (c->mhz / c->first_mhz - 1));
    put_uncertainty(t, c->start_uncertainty_ns, c->stop_uncertainty_ns);
    fputc('\n', t->to);
    for (size_t i = 0; i < c->n_devices; i++) {
        const struct collector_device *d = &c->devices[i];
        fprintf(t->to, "    clock of device %" PRIu64, d->id);
        if (!isnan(d->mhz))
            fprintf(t->to, ", %.9g MHz", d->mhz);
        if (!isnan(d->nominal_mhz))
            fprintf(t->to, " (nominally %.9g)", d->nominal_mhz);
        if (!isnan(d->drift_ppm))
            fprintf(t->to, ", drift %+.3f ppm", d->drift_ppm);
        put_uncertainty(t, d->start_uncertainty_ns, d->stop_uncertainty_ns);
        fputc('\n', t->to);
    }
}

static void put_written(const struct term *t, const struct collector *c)
{
    char records[READABLE_MOST], bytes[READABLE_MOST], threads[READABLE_MOST], lag[READABLE_MOST], hooks[READABLE_MOST];
    fprintf(t->to,
            "    %s records, %s, from %s thread%s; %s in hooks; rings at most %" PRIu64
            " %% full, writer at most %s late\n",
            readable_count(records, c->records), readable_bytes(bytes, c->bytes), readable_count(threads, c->threads),
            c->threads == 1 ? "" : "s", readable_duration(hooks, (double)c->hook_ns), c->fill_most_percent,
            readable_duration(lag, (double)c->lag_most_ns));
    if (c->n_dropped == 0)
        fputs("    nothing was dropped\n", t->to);
    for (size_t i = 0; i < c->n_dropped; i++) {
        fprintf(t->to, "%s%s", i == 0 ? "    " : ", ", i == 0 ? term_ink(t, INK_WARN) : "");
        fprintf(t->to, "%s", i == 0 ? "dropped: " : "");
        term_text(t, c->dropped[i].what, 40);
        fprintf(t->to, " %s (", readable_count(records, c->dropped[i].n));
        term_text(t, c->dropped[i].reason, 40);
        fputs(")", t->to);
    }
    if (c->n_dropped > 0)
        fprintf(t->to, "%s\n", term_ink(t, INK_END));
    if (c->aged_slices > 0 || c->aged_bytes > 0)
        fprintf(t->to, "    deleted to stay within the storage limit: %s slices, %s\n",
                readable_count(records, c->aged_slices), readable_bytes(bytes, c->aged_bytes));
    if (c->open_ranges > 0)
        fprintf(t->to, "    %s ranges of marks never ended\n", readable_count(records, c->open_ranges));
}

static double between_ns(uint64_t begin_ns, uint64_t end_ns)
{
    return end_ns > begin_ns ? (double)(end_ns - begin_ns) : 0;
}

static void put_flight(const struct term *t, const struct collector_flight *f)
{
    char time[READABLE_MOST], records[READABLE_MOST];
    if (!f->trigger)
        return;
    fputs("    saved by a flight recorder: ", t->to);
    term_text(t, f->trigger, 0);
    fprintf(t->to, "; the last %s, %s records\n", readable_duration(time, between_ns(f->begin_unix_ns, f->end_unix_ns)),
            readable_count(records, f->records));
    if (f->dropped_end_unix_ns > f->dropped_begin_unix_ns)
        fprintf(t->to, "    overwritten: %s before that\n",
                readable_duration(time, between_ns(f->dropped_begin_unix_ns, f->dropped_end_unix_ns)));
    if (f->short_ns > 0)
        fprintf(t->to, "    %sthe memory was too small for %s of what was asked for%s\n", term_ink(t, INK_WARN),
                readable_duration(time, (double)f->short_ns), term_ink(t, INK_END));
}

void recording_print(const struct term *t, const struct collector *c)
{
    if (!c->is_there && !c->has_rings)
        return;
    fputs("  recorded by ascope", t->to);
    if (!c->is_there) {
        put_ending(t,
                   &(struct collector){ .has_rings = true, .is_running = c->is_running, .ended = COLLECTOR_RUNNING });
        return;
    }
    fputs(*c->version ? " " : "", t->to);
    term_text(t, c->version, 40);
    fputs(c->is_simulated ? ", simulated device " : ", device ", t->to);
    term_text(t, *c->device ? c->device : "unknown", 40);
    put_ending(t, c);
    put_flight(t, &c->flight);
    put_clocks(t, c);
    if (c->ended != COLLECTOR_RUNNING)
        put_written(t, c);
}

static void put_cost(const struct term *t, const char *what, const struct collector_step *s)
{
    char records[READABLE_MOST], bytes[READABLE_MOST], dropped[READABLE_MOST], hooks[READABLE_MOST], lag[READABLE_MOST];
    fprintf(t->to, "    %-*s %11s %9s %9s %11s %12s\n", COST_COLUMNS, what, readable_count(records, s->records),
            readable_bytes(bytes, s->bytes), readable_count(dropped, s->dropped),
            readable_duration(hooks, (double)s->hook_ns), readable_duration(lag, (double)s->lag_most_ns));
}

static void put_cost_of(const struct term *t, const struct collector_step *s, const char *more)
{
    char what[48];
    snprintf(what, sizeof what, "step %" PRId64 "%s", s->step, more);
    put_cost(t, what, s);
}

static uint64_t dropped_of(const struct collector *c)
{
    uint64_t n = 0;
    for (size_t i = 0; i < c->n_dropped; i++)
        n = n > UINT64_MAX - c->dropped[i].n ? UINT64_MAX : n + c->dropped[i].n;
    return n;
}

/* Uses doubles: numbers from a file may be so large that integer sums would overflow. */
static void put_average(const struct term *t, const struct collector *c)
{
    double sum[5] = { 0 };
    const double n = (double)c->n_steps;
    for (size_t i = 0; i < c->n_steps; i++) {
        const struct collector_step *s = &c->steps[i];
        const uint64_t of[] = { s->records, s->bytes, s->dropped, s->hook_ns, s->lag_most_ns };
        for (size_t k = 0; k < sizeof of / sizeof *of; k++)
            sum[k] += (double)of[k] / n;
    }
    put_cost(t, "a step, on average",
             &(struct collector_step){ 0, (uint64_t)sum[0], (uint64_t)sum[1], (uint64_t)sum[2], (uint64_t)sum[3],
                                       (uint64_t)sum[4] });
}

void recording_cost_print(const struct term *t, const struct collector *c, bool all)
{
    if (!c->is_there || c->ended == COLLECTOR_RUNNING)
        return;
    fprintf(t->to, "\n  %-*s %11s %9s %9s %11s %12s\n", COST_COLUMNS + 2, "the profiler's own cost", "records", "bytes",
            "dropped", "in hooks", "writer late");
    all = all || c->n_steps <= STEPS_SHOWN;
    size_t most = 0;
    for (size_t i = 0; i < c->n_steps; i++) {
        most = c->steps[i].hook_ns > c->steps[most].hook_ns ? i : most;
        if (all)
            put_cost_of(t, &c->steps[i], "");
    }
    if (!all) {
        put_average(t, c);
        put_cost_of(t, &c->steps[most], ", the most");
    }
    put_cost(t, "the whole recording",
             &(struct collector_step){ 0, c->records, c->bytes, dropped_of(c), c->hook_ns, c->lag_most_ns });
}

/* ---- for machines --------------------------------------------------------------------------------------------- */

static json_t *count_json(uint64_t n)
{
    return n == NOT_KNOWN ? json_null() : json_integer((json_int_t)n);
}

static json_t *real_json(double v)
{
    return isnan(v) ? json_null() : json_real(v);
}

static json_t *clock_json(const struct collector *c)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "kind", collector_clock_word[c->clock], "mhz", real_json(c->mhz),
                     "first_mhz", real_json(c->first_mhz), "start_uncertainty_ns", count_json(c->start_uncertainty_ns),
                     "stop_uncertainty_ns", count_json(c->stop_uncertainty_ns));
}

static json_t *devices_json(const struct collector *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->n_devices; i++) {
        const struct collector_device *d = &c->devices[i];
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "id", count_json(d->id),
                                              "start_uncertainty_ns", count_json(d->start_uncertainty_ns),
                                              "stop_uncertainty_ns", count_json(d->stop_uncertainty_ns), "nominal_mhz",
                                              real_json(d->nominal_mhz), "mhz", real_json(d->mhz), "drift_ppm",
                                              real_json(d->drift_ppm)));
    }
    return list;
}

static json_t *dropped_json(const struct collector *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->n_dropped; i++)
        json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "what", text_json(c->dropped[i].what), "count",
                                              count_json(c->dropped[i].n), "reason", text_json(c->dropped[i].reason)));
    return list;
}

static json_t *steps_json(const struct collector *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->n_steps; i++) {
        const struct collector_step *s = &c->steps[i];
        json_array_append_new(list, json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "step", (json_int_t)s->step, "records",
                                              count_json(s->records), "bytes", count_json(s->bytes), "dropped",
                                              count_json(s->dropped), "hook_ns", count_json(s->hook_ns), "lag_most_ns",
                                              count_json(s->lag_most_ns)));
    }
    return list;
}

static json_t *flight_json(const struct collector_flight *f)
{
    if (!f->trigger)
        return json_null();
    const bool has_dropped = f->dropped_end_unix_ns > f->dropped_begin_unix_ns;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "trigger", text_json(f->trigger), "begin_unix_ns",
                     count_json(f->begin_unix_ns), "end_unix_ns", count_json(f->end_unix_ns), "records",
                     count_json(f->records), "began_before", count_json(f->began_before), "dropped_history",
                     has_dropped ? json_pack("{s:o, s:o}", "begin_unix_ns", count_json(f->dropped_begin_unix_ns),
                                             "end_unix_ns", count_json(f->dropped_end_unix_ns))
                                 : json_null(),
                     "short_ns", count_json(f->short_ns));
}

json_t *recording_json(const struct collector *c)
{
    if (!c->is_there && !c->has_rings)
        return json_null();
    return json_pack(
        "{s:o, s:o, s:b, s:o, s:s, s:b, s:b, s:o, s:o, s:o, s:{s:o, s:o}, s:o, s:{s:o, s:o}, s:o, s:o, s:o, s:o, s:o, "
        "s:o}",
        "ascope", text_json(c->version), "abi", count_json(c->abi), "simulated", c->is_simulated, "device",
        text_json(c->device), "ended", collector_end_word[c->ended], "has_rings", c->has_rings, "is_running",
        c->is_running, "flight", flight_json(&c->flight), "clock", clock_json(c), "devices", devices_json(c), "written",
        "records", count_json(c->records), "bytes", count_json(c->bytes), "dropped", dropped_json(c), "aged", "slices",
        count_json(c->aged_slices), "bytes", count_json(c->aged_bytes), "open_ranges", count_json(c->open_ranges),
        "hook_ns", count_json(c->hook_ns), "lag_most_ns", count_json(c->lag_most_ns), "fill_most_percent",
        count_json(c->fill_most_percent), "threads", count_json(c->threads), "steps", steps_json(c));
}
