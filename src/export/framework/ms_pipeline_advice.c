/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/framework_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { CPU_MOST_PCT = 75, CPU_LEAST_PCT = 20 };                                                    /* of each worker */
enum { LEAF_LEAST_PCT = 50, EMPTY_MOST_PCT = 60, DIFFERENCE_MOST_PCT = 50, INPUT_LEAST_PCT = 10 }; /* of queues */
enum { NO_NODE = UINT32_MAX };

const char *rounded_text(double v, int decimals, char out[PERCENT_TEXT])
{
    int len = snprintf(out, PERCENT_TEXT, "%.*f", decimals, v);
    for (; len > 2 && len < PERCENT_TEXT && out[len - 1] == '0' && out[len - 2] != '.'; len--)
        out[len - 1] = 0;
    return out;
}

struct advising {
    struct pipeline_advice *to;
    const struct ms_pipeline *p;
    const struct node_figures *f;
    const uint32_t *input; /* of each node; NO_NODE: none */
};

static bool ms_pipeline_advice_is_one_of(const char *name, const char *const *list)
{
    while (*list && strcmp(name, *list) != 0)
        list++;
    return *list;
}

/* Nodes whose number of workers cannot be set. */
static bool is_single(const char *name)
{
    static const char *const single[] = { "Barrier", "Concat", "EpochCtrl", "Rename", "Repeat",
                                          "Shuffle", "Skip",   "Take",      "Zip",    NULL };
    return ms_pipeline_advice_is_one_of(name, single);
}

static bool is_device_queue(const char *name)
{
    return strcmp(name, "DeviceQueue") == 0;
}

/* For each node: the nearest node with a queue below it, along first children. Nodes on a cycle, which only a damaged
 * file has, get NO_NODE. NULL: no memory. */
static uint32_t *find_inputs(const struct ms_pipeline *p, const struct node_figures *f, struct arena *mem)
{
    enum { UNKNOWN = UINT32_MAX - 1, ON_THE_WAY = UINT32_MAX - 2 };
    uint32_t *input = arena_take(mem, p->n, sizeof *input), *way = arena_take(mem, p->n, sizeof *way);
    for (uint32_t row = 0; input && row < p->n; row++)
        input[row] = UNKNOWN;
    for (uint32_t row = 0; input && way && row < p->n; row++) {
        size_t n = 0;
        uint32_t at = row, found = NO_NODE;
        while (input[at] == UNKNOWN && p->node[at].n_children > 0 && !f[p->node[at].child[0]].has_queue) {
            input[at] = ON_THE_WAY;
            way[n++] = at;
            at = p->node[at].child[0];
        }
        if (input[at] == UNKNOWN)
            found = input[at] = p->node[at].n_children > 0 ? p->node[at].child[0] : NO_NODE;
        else if (input[at] != ON_THE_WAY)
            found = input[at];
        while (n > 0)
            input[way[--n]] = found;
    }
    return way ? input : NULL;
}

static const char *high_cpu_text(const struct advising *a, uint32_t row)
{
    char pct[PERCENT_TEXT];
    return arena_printf(a->to->mem, "%s uses %s%% CPU per worker; num_parallel_workers above %" PRId64 " may be faster",
                        a->f[row].label, rounded_text(a->f[row].cpu_pct, 2, pct), a->p->node[row].n_workers);
}

static const char *low_cpu_text(const struct advising *a, uint32_t row)
{
    char pct[PERCENT_TEXT];
    return arena_printf(a->to->mem, "%s uses %s%% CPU per worker; num_parallel_workers below %" PRId64 " may be enough",
                        a->f[row].label, rounded_text(a->f[row].cpu_pct, 2, pct), a->p->node[row].n_workers);
}

#define ADVISE(a, list, text)                                                                                          \
    do {                                                                                                               \
        const char **slot = list_add(&(a)->to->list, (a)->to->mem);                                                    \
        if (slot)                                                                                                      \
            *slot = (text);                                                                                            \
    } while (0)

static void advise_cpu(const struct advising *a, uint32_t row)
{
    const struct node_figures *f = &a->f[row];
    if (f->cpu_pct > CPU_MOST_PCT && *f->name)
        ADVISE(a, cpu, high_cpu_text(a, row));
    else if (f->cpu_pct < CPU_LEAST_PCT && a->p->node[row].n_workers > 1)
        ADVISE(a, cpu, low_cpu_text(a, row));
}

static void advise_queue(const struct advising *a, uint32_t row)
{
    const struct node_figures *f = &a->f[row];
    const uint32_t input = a->input[row];
    char pct[PERCENT_TEXT], other[PERCENT_TEXT];
    struct arena *mem = a->to->mem;
    if (strcmp(f->name, "Batch") == 0)
        return;
    if (input == NO_NODE) {
        if (f->utilization_pct >= 0 && f->utilization_pct <= LEAF_LEAST_PCT)
            ADVISE(a, queue,
                   arena_printf(mem,
                                "%s reads data and fills its output queue to %s%%; num_parallel_workers above %" PRId64
                                " may read faster",
                                f->label, rounded_text(f->utilization_pct, 2, pct), a->p->node[row].n_workers));
        return;
    }
    const struct node_figures *in = &a->f[input];
    if (is_device_queue(f->name)) {
        rounded_text(in->empty_pct, 2, pct);
        if (in->empty_pct > EMPTY_MOST_PCT)
            ADVISE(a, queue,
                   arena_printf(
                       mem, "%s: the input queue is empty %s%% of the time; the device waits for data %s%% of the time",
                       f->label, pct, pct));
    } else if (f->utilization_pct >= 0 && in->utilization_pct - f->utilization_pct > DIFFERENCE_MOST_PCT) {
        ADVISE(
            a, queue,
            arena_printf(mem,
                         "%s: the input queue is filled to %s%%, the output queue to %s%%; %s may produce more than %s "
                         "can take; if it uses little CPU, try a larger prefetch_size or more workers",
                         f->label, rounded_text(in->utilization_pct, 2, pct),
                         rounded_text(f->utilization_pct, 2, other), in->label, f->label));
    }
}

/* From the last node to the first: of several candidates the one nearest to the device is kept. */
static void find_bottleneck(const struct advising *a)
{
    for (uint32_t row = (uint32_t)a->p->n; row-- > 0;) {
        const struct node_figures *f = &a->f[row];
        if (is_single(f->name) || is_device_queue(f->name))
            continue;
        const uint32_t input = a->input[row];
        char pct[PERCENT_TEXT];
        if (f->cpu_pct > CPU_MOST_PCT) {
            a->to->bottleneck = f->label;
            a->to->suggestion = high_cpu_text(a, row);
        } else if (f->cpu_pct < CPU_LEAST_PCT && input != NO_NODE &&
                   (a->f[input].utilization_pct < INPUT_LEAST_PCT ||
                    f->utilization_pct - a->f[input].utilization_pct > DIFFERENCE_MOST_PCT)) {
            a->to->bottleneck = f->label;
            a->to->suggestion = arena_printf(
                a->to->mem,
                "%s uses little CPU (%s%% per worker), and its queues are unusually full or empty; try a larger "
                "prefetch_size",
                f->label, rounded_text(f->cpu_pct, 2, pct));
        }
    }
}

bool ms_pipeline_advise(struct pipeline_advice *to, const struct ms_pipeline *p, const struct node_figures *f)
{
    const struct advising a = { to, p, f, find_inputs(p, f, to->mem) };
    if (!a.input)
        return false;
    for (uint32_t row = 0; row < p->n; row++)
        if (!is_single(f[row].name)) {
            advise_cpu(&a, row);
            advise_queue(&a, row);
        }
    find_bottleneck(&a);
    return !arena_failed(to->mem);
}
