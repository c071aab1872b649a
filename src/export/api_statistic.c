#include "export/api_statistic.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "export/cann.h"
#include "export/statistics.h"

/* Calls of one name and level: rows first to first + n of the durations. */
struct group {
    name_id name;
    uint16_t level;
    size_t first, n;
};

struct calls_by_name {
    size_t n_groups;
    struct group *group;
    double *duration_ns;
};

static bool is_wanted(const struct export *x, size_t row)
{
    const struct calls *c = &x->profile->host.calls;
    const struct source *s = &x->profile->host.source;
    return c->is_shown[row] && (x->scope == SCOPE_ALL || (source_host_ns(s, c->begin[row]) <= x->end_ns &&
                                                          source_host_ns(s, c->end[row]) >= x->lead_ns));
}

/* The newer presentation subtracts whole nanoseconds, the older one counts ticks. */
static double duration_ns(const struct export *x, size_t row)
{
    const struct calls *c = &x->profile->host.calls;
    const struct source *s = &x->profile->host.source;
    if (x->is_generic && c->end[row] >= c->begin[row])
        return ticks_to_ns_exact(s->host_clock.tick, c->end[row] - c->begin[row]);
    return (double)(source_host_ns(s, c->end[row]) - source_host_ns(s, c->begin[row]));
}

static bool group_calls(const struct export *x, struct calls_by_name *out)
{
    const struct profile *p = x->profile;
    const struct calls *c = &p->host.calls;
    uint64_t *key = arena_take(x->mem, c->n, sizeof *key);
    uint32_t *order = arena_take(x->mem, c->n, sizeof *order);
    out->duration_ns = arena_take(x->mem, c->n, sizeof *out->duration_ns);
    if (!key || !order || !out->duration_ns)
        return false;
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (!is_wanted(x, i))
            continue;
        key[i] = (uint64_t)call_api_name(p, i) << 16 | c->level[i];
        order[n++] = (uint32_t)i;
    }
    if (!order_by_u64(order, n, key))
        return false;
    size_t n_groups = 0;
    for (size_t i = 0; i < n; i++)
        n_groups += i == 0 || key[order[i]] != key[order[i - 1]];
    out->group = arena_take(x->mem, n_groups, sizeof *out->group);
    if (!out->group)
        return false;
    for (size_t i = 0; i < n; i++) {
        const uint32_t row = order[i];
        if (i == 0 || key[row] != key[order[i - 1]])
            out->group[out->n_groups++] = (struct group){ (name_id)(key[row] >> 16), c->level[row], i, 0 };
        out->group[out->n_groups - 1].n++;
        out->duration_ns[i] = duration_ns(x, row);
    }
    return true;
}

struct sorting {
    const struct names *names;
    bool by_level_text; /* else by its number */
};

static int compare(const void *a, const void *b, void *context)
{
    const struct group *l = a, *r = b;
    const struct sorting *s = context;
    const int by_name = names_compare(s->names, l->name, r->name);
    if (by_name)
        return by_name;
    return s->by_level_text ? strcmp(call_level_text(l->level), call_level_text(r->level)) : l->level - r->level;
}

static struct cell number(const struct export *x, double us)
{
    return x->is_generic ? cell_real(round_exact(us, 3)) : cell_short(us);
}

static void add_rows(const struct export *x, struct grid *grid, const struct calls_by_name *calls, struct cell device)
{
    for (size_t i = 0; i < calls->n_groups; i++) {
        const struct group *g = &calls->group[i];
        const struct call_statistics s = call_statistics_of(calls->duration_ns + g->first, g->n, x->is_generic);
        const struct cell cells[] = { device,
                                      cell_text(call_level_text(g->level)),
                                      cell_name(g->name),
                                      number(x, s.total_us),
                                      cell_uint(s.n),
                                      number(x, s.average_us),
                                      number(x, s.min_us),
                                      number(x, s.max_us),
                                      number(x, s.variance) };
        grid_row(grid, cells);
    }
}

bool api_statistic_report(const struct export *x, struct table *out, struct error *e)
{
    static const struct column column[] = {
        {"Device_id", NULL},
        { "Level",    NULL},
        { "API Name", NULL},
        { "Time(us)", NULL},
        { "Count",    NULL},
        { "Avg(us)",  NULL},
        { "Min(us)",  NULL},
        { "Max(us)",  NULL},
        { "Variance", NULL},
    };
    const struct profile *p = x->profile;
    struct calls_by_name calls = { 0 };
    if (!group_calls(x, &calls))
        return error_set(e, FAULT_LIMIT, "api_statistic: no memory");
    struct sorting sorting = { p->names, x->is_generic };
    if (calls.n_groups > 1)
        qsort_r(calls.group, calls.n_groups, sizeof *calls.group, compare, &sorting);
    struct grid grid = { .n_columns = sizeof column / sizeof *column, .mem = x->mem };
    if (!x->is_generic || p->n_devices == 0)
        add_rows(x, &grid, &calls, cell_text("host"));
    else /* the older presentation lists them for each device */
        for (size_t i = 0; i < p->n_devices; i++)
            add_rows(x, &grid, &calls, cell_uint(p->device[i].source.device));
    *out = grid_table(&grid, "api_statistic", column, p->names);
    return true;
}
