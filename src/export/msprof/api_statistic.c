/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/prof_outputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/table.h"
#include "export/scope.h"

/* Calls of one name and level. */
struct api_statistic_group {
    name_id name;
    uint16_t level;
    uint32_t next; /* another group of the same name, or NO_ROW */
    struct call_statistics time;
};

struct api_statistic_groups {
    size_t n, cap;
    struct api_statistic_group *at;
    uint32_t *of_name; /* by name_id: one of its groups, or NO_ROW */
};

/* The newer presentation subtracts times in whole nanoseconds, the older one converts the ticks between them. */
static double duration_ns(const struct export *x, size_t row)
{
    const struct calls *c = &x->profile->host.calls;
    const struct source *s = &x->profile->host.source;
    if (x->is_generic && c->end[row] >= c->begin[row])
        return ticks_to_ns_exact(s->host_clock.tick, c->end[row] - c->begin[row]);
    return (double)(source_host_ns(s, c->end[row]) - source_host_ns(s, c->begin[row]));
}

/* The index of the group of a name and level, which is added if it is new. NO_ROW: no memory. */
static uint32_t api_statistic_group_of(struct api_statistic_groups *g, name_id name, uint16_t level, struct arena *mem)
{
    uint32_t i = g->of_name[name];
    while (i != NO_ROW && g->at[i].level != level)
        i = g->at[i].next;
    if (i != NO_ROW)
        return i;
    struct api_statistic_group *group = list_grow(mem, (void **)&g->at, &g->n, &g->cap, sizeof *g->at);
    if (!group)
        return NO_ROW;
    *group = (struct api_statistic_group){ .name = name, .level = level, .next = g->of_name[name] };
    return g->of_name[name] = (uint32_t)(g->n - 1);
}

struct api_statistic_sorting {
    const struct export *x;
    const struct names *names;
    bool by_level_text; /* false: by the number of the level */
};

static int api_statistic_compare(const void *a, const void *b, void *context)
{
    const struct api_statistic_group *l = a, *r = b;
    const struct api_statistic_sorting *s = context;
    const int by_name = names_compare(s->names, l->name, r->name);
    if (by_name)
        return by_name;
    return s->by_level_text ? strcmp(call_level_text(s->x, l->level), call_level_text(s->x, r->level))
                            : l->level - r->level;
}

/* Adds up the calls that belong to a device, or with SCOPE_HOST to any device. False: no memory. */
static bool group_calls(const struct export *x, size_t device, struct api_statistic_groups *out)
{
    *out = (struct api_statistic_groups){ 0 };
    const struct profile *p = x->profile;
    const struct calls *c = &p->host.calls;
    struct arena *mem = arena_new(); /* given back at once: it grows with the number of calls */
    uint32_t *of_call = mem ? arena_take(mem, c->n, sizeof *of_call) : NULL; /* first its name, then its group */
    for (size_t i = 0; i < c->n && of_call; i++)
        of_call[i] = scope_has_call(x, device, i) ? call_api_name(p, i) : NO_ROW;
    const size_t n_names = names_count(p->names);
    out->of_name = of_call ? arena_take(mem, n_names, sizeof *out->of_name) : NULL;
    bool done = out->of_name != NULL;
    if (done)
        memset(out->of_name, 0xFF, n_names * sizeof *out->of_name);
    for (size_t i = 0; i < c->n && done; i++) {
        if (of_call[i] == NO_ROW)
            continue;
        of_call[i] = api_statistic_group_of(out, of_call[i], c->level[i], x->mem);
        done = of_call[i] != NO_ROW;
        if (done)
            call_statistics_add(&out->at[of_call[i]].time, duration_ns(x, i));
    }
    for (size_t i = 0; i < out->n; i++)
        call_statistics_settle(&out->at[i].time, x->is_generic);
    for (size_t i = 0; i < c->n && done; i++)
        if (of_call[i] != NO_ROW)
            call_statistics_spread(&out->at[of_call[i]].time, duration_ns(x, i), x->is_generic);
    arena_free(mem);
    out->of_name = NULL;
    struct api_statistic_sorting sorting = { x, p->names, x->is_generic };
    if (out->n > 1)
        qsort_r(out->at, out->n, sizeof *out->at, api_statistic_compare, &sorting);
    return done;
}

/* A row of the table: a group, in the older presentation one of each device. */
struct api_row {
    struct cell device;
    struct api_statistic_group group;
};

struct api_statistic {
    const struct export *x;
    LIST(struct api_row) row;
};

CELL_GETTER(device_id, struct api_statistic, r->row.at[i].device)
CELL_GETTER(level, struct api_statistic, cell_text(call_level_text(r->x, r->row.at[i].group.level)))
CELL_GETTER(api_name, struct api_statistic, cell_name(r->row.at[i].group.name))
CELL_GETTER(total, struct api_statistic, cell_statistic(r->x, r->row.at[i].group.time.total_ns / 1000))
CELL_GETTER(count, struct api_statistic, cell_uint(r->row.at[i].group.time.n))
CELL_GETTER(average, struct api_statistic, cell_statistic(r->x, r->row.at[i].group.time.average_us))
CELL_GETTER(least, struct api_statistic, cell_statistic(r->x, r->row.at[i].group.time.min_ns / 1000))
CELL_GETTER(most, struct api_statistic, cell_statistic(r->x, r->row.at[i].group.time.max_ns / 1000))
CELL_GETTER(variance, struct api_statistic, cell_statistic(r->x, call_statistics_variance(&r->row.at[i].group.time)))

static const struct column columns[] = {
    { "Device_id", device_id }, { "Level", level },  { "API Name", api_name },
    { "Time(us)", total },      { "Count", count },  { "Avg(us)", average },
    { "Min(us)", least },       { "Max(us)", most }, { "Variance", variance },
};

static bool add_rows(struct api_statistic *s, const struct api_statistic_groups *groups, struct cell device)
{
    for (size_t i = 0; i < groups->n; i++) {
        struct api_row *row = list_add(&s->row, s->x->mem);
        if (!row)
            return false;
        *row = (struct api_row){ device, groups->at[i] };
    }
    return true;
}

bool api_statistic_report(const struct export *x, struct table *out, struct error *e)
{
    const struct profile *p = x->profile;
    struct api_statistic *s = arena_take(x->mem, 1, sizeof *s);
    struct api_statistic_groups groups = { 0 };
    const bool by_device =
        x->is_generic && p->n_devices > 0; /* the older presentation lists the calls of each device */
    bool done = s != NULL;
    if (done)
        s->x = x;
    for (size_t i = 0; i < (by_device ? p->n_devices : 1) && done; i++) {
        if (i == 0 || x->scope != SCOPE_ALL) /* in a whole collection all devices have the same calls */
            done = group_calls(x, by_device ? i : SCOPE_HOST, &groups);
        done = done && add_rows(s, &groups, by_device ? cell_uint(p->device[i].source.device) : cell_text("host"));
    }
    if (!done)
        return error_no_memory(e, "api_statistic");
    *out = (struct table){
        .name = "api_statistic", TABLE_COLUMNS(columns), .n_rows = s->row.n, .rows = s, .names = p->names
    };
    return true;
}

void task_statistics_add(struct task_statistics *s, double ns)
{
    s->min_ns = s->n == 0 || ns < s->min_ns ? ns : s->min_ns;
    s->max_ns = s->n == 0 || ns > s->max_ns ? ns : s->max_ns;
    s->total_ns += ns;
    s->has_fractions = s->has_fractions || ns != floor(ns);
    s->n++;
}

double task_statistics_average_ns(const struct task_statistics *s)
{
    if (s->n == 0)
        return 0;
    const double average = s->total_ns / (double)s->n;
    return s->has_fractions ? average : floor(average);
}

void call_statistics_add(struct call_statistics *s, double ns)
{
    s->min_ns = s->n == 0 || ns < s->min_ns ? ns : s->min_ns;
    s->max_ns = s->n == 0 || ns > s->max_ns ? ns : s->max_ns;
    s->total_ns += ns;
    s->n++;
}

void call_statistics_settle(struct call_statistics *s, bool rounds_each)
{
    const double total_us = rounds_each ? round_exact(s->total_ns / 1000, 3) : s->total_ns / 1000;
    const double average = s->n > 0 ? total_us / (double)s->n : 0;
    s->average_us = rounds_each ? round_exact(average, 3) : round_away(average, 3);
}

void call_statistics_spread(struct call_statistics *s, double ns, bool rounds_each)
{
    const double off = ns / 1000 - s->average_us;
    s->squares += rounds_each ? round_exact(off * off, 3) : off * off;
}

double call_statistics_variance(const struct call_statistics *s)
{
    return s->n > 0 ? s->squares / (double)s->n : 0;
}
