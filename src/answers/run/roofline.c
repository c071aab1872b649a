/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/run/roofline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/device/device_analysis.h"
#include "analyse/framework/collection_analyse.h"

void roofline_begin(struct roofline *r, const struct names *names, struct arena *mem)
{
    *r = (struct roofline){ .names = names, .mem = mem };
}

/* The row of a key. The parts are added one after the other, each together with the number of the parts before it. */
static uint32_t roofline_row_of(struct roofline *r, const struct roofline_key *key)
{
    name_id part[sizeof *key / sizeof(name_id)];
    memcpy(part, key, sizeof part);
    uint32_t at = part[0];
    for (size_t i = 1; i < sizeof part / sizeof *part && at != KEYS_NO_MEMORY; i++)
        at = keys_add(&r->keys[i - 1], (uint64_t)at << 32 | part[i], r->mem);
    return at;
}

static void work_find(const struct roofline *r, const struct roofline_key *key, struct kernel_work *out)
{
    struct kernel_tensors t = { .type = names_text(r->names, key->name) };
    for (int i = 0; i < 2; i++) {
        t.shapes[i] = names_text(r->names, key->shapes[i]);
        t.types[i] = names_text(r->names, key->types[i]);
        t.formats[i] = names_text(r->names, key->formats[i]);
    }
    kernel_work_find(out, &t);
}

/* Until roofline_end(), operations and bytes of a row are those of one run. */
bool roofline_add(struct roofline *r, const struct roofline_key *key, const struct roofline_run *run)
{
    const uint32_t at = roofline_row_of(r, key);
    if (at == KEYS_NO_MEMORY)
        return false;
    if (at == r->rows.n) {
        struct roofline_row *new = list_add(&r->rows, r->mem);
        struct kernel_work work;
        if (!new)
            return false;
        work_find(r, key, &work);
        *new = (struct roofline_row){ .key = *key,
                                      .operations = work.operations,
                                      .bytes = work.bytes,
                                      .numbers = work.numbers,
                                      .is_most = work.is_most,
                                      .begin_ns = run->begin_ns,
                                      .end_ns = run->end_ns };
    }
    struct roofline_row *to = &r->rows.at[at];
    if ((uint64_t)run->end_ns - (uint64_t)run->begin_ns > (uint64_t)to->end_ns - (uint64_t)to->begin_ns) {
        to->begin_ns = run->begin_ns;
        to->end_ns = run->end_ns;
    }
    to->count++;
    to->time_ns += run->time_ns;
    to->counted_operations += run->counted_operations;
    to->counted_bytes += run->counted_bytes;
    r->time_ns += run->time_ns;
    return true;
}

static int longest_first(const void *a, const void *b, void *names)
{
    const struct roofline_row *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? 1 : -1;
    const int by_name = names_compare(names, x->key.name, y->key.name);
    if (by_name)
        return by_name;
    const int by_shape = names_compare(names, x->key.shapes[0], y->key.shapes[0]);
    return by_shape ? by_shape : (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static void totals_find(struct roofline_row *row)
{
    row->has_counted_operations = !(row->operations > 0) && row->counted_operations > 0;
    row->has_counted_bytes = !(row->bytes > 0) && row->counted_bytes > 0;
    row->operations = row->has_counted_operations ? row->counted_operations : row->operations * (double)row->count;
    row->bytes = row->has_counted_bytes ? row->counted_bytes : row->bytes * (double)row->count;
}

/* The share of the roof that a row reaches: the least time that its operations and bytes need, divided by its time. */
static double share_of(const struct roofline *r, const struct roofline_row *row)
{
    const double computed_s =
                     r->peak_operations[row->numbers] > 0 ? row->operations / r->peak_operations[row->numbers] : 0,
                 moved_s = r->peak_bytes > 0 ? row->bytes / r->peak_bytes : 0, least_s = fmax(computed_s, moved_s);
    return least_s > 0 && row->time_ns > 0 ? least_s / (row->time_ns / 1e9) : NAN;
}

void roofline_end(struct roofline *r, const struct device_facts *d)
{
    size_t n = 0;
    for (int i = 0; i < NUMBER_KINDS; i++)
        r->peak_operations[i] = device_peak_operations(d, (enum number_kind)i);
    r->peak_bytes = device_peak_bytes(d);
    r->is_observed = !(r->peak_bytes > 0);
    for (size_t i = 0; i < r->rows.n; i++) {
        struct roofline_row *row = &r->rows.at[i];
        totals_find(row);
        if (!(row->operations > 0) && !(row->bytes > 0))
            continue;
        r->known_ns += row->time_ns;
        if (r->is_observed && row->time_ns > 0)
            r->peak_bytes = fmax(r->peak_bytes, row->bytes / (row->time_ns / 1e9));
        r->rows.at[n++] = *row;
    }
    r->rows.n = n;
    r->is_observed = r->is_observed && r->peak_bytes > 0;
    for (size_t i = 0; i < n; i++)
        r->rows.at[i].share = share_of(r, &r->rows.at[i]);
    if (n > 0)
        qsort_r(r->rows.at, n, sizeof *r->rows.at, longest_first, (void *)r->names);
}

/* ---- NPUs ------------------------------------------------------------------------------------------------------- */

/* Adds what the cores counted: operations, and bytes to and from the memory. */
static void counted(const struct pmu *pmu, uint32_t row, struct roofline_run *run)
{
    struct pmu_counts counts;
    pmu_counts(pmu, row, &counts);
    for (size_t i = 0; i < pmu->columns.n; i++) {
        const struct metric_column *c = &pmu->columns.column[i];
        if (c->is_unknown || c->is_hidden) /* a counter of a unit that this kind of core does not have */
            continue;
        const double value = pmu_counts_value(&counts, c, false);
        if (c->metric.kind == METRIC_OPS)
            run->counted_operations += value;
        else if (c->metric.kind == METRIC_BANDWIDTH && strncmp(c->metric.name, "main_mem_", 9) == 0 &&
                 pmu->nominal_mhz > 0) /* GB/s of 2^30 bytes for one core; the cycles are sums over all cores */
            run->counted_bytes +=
                value * 1024 * 1024 * 1024 * (double)pmu_counts_cycles(&counts, c->core) / (pmu->nominal_mhz * 1e6);
    }
}

static bool is_kernel(const struct profile *p, const struct tasks *t, size_t row)
{
    return t->op[row] != NO_ROW && !t->is_hidden[row] && task_is_computing(p, t, row);
}

static bool add_tasks(struct roofline *r, const struct profile *p, const struct device *d)
{
    const struct tasks *t = &d->tasks;
    const struct ops *o = &p->host.ops;
    for (size_t i = 0; i < t->n; i++) {
        const uint32_t op = t->op[i];
        if (!is_kernel(p, t, i))
            continue;
        const bool has_type = o->op_type[op] != NAME_NA && o->op_type[op] != NAME_EMPTY;
        const struct roofline_key key = { has_type ? o->op_type[op] : o->name[op],
                                          { o->shapes[0][op], o->shapes[1][op] },
                                          { o->types[0][op], o->types[1][op] },
                                          { o->formats[0][op], o->formats[1][op] } };
        struct roofline_run run = { .time_ns = t->dur_ns[i], .begin_ns = t->begin_ns[i], .end_ns = t->end_ns[i] };
        if (t->pmu[i] != NO_ROW)
            counted(&d->pmu, t->pmu[i], &run);
        if (!roofline_add(r, &key, &run))
            return false;
    }
    return true;
}

/* ---- GPUs --------------------------------------------------------------------------------------------------------- */

static name_id known(name_id name)
{
    return name == (name_id)NO_NAME ? NAME_EMPTY : name;
}

struct roofline_kernels {
    struct roofline_run run;
    uint32_t captured; /* what they are of, for a replay */
};

static bool add_kernels(struct roofline *r, const struct collection *c, const struct roofline_kernels *of)
{
    const struct graph_capture *o = &c->profile.captured;
    const struct roofline_key key = { o->name[of->captured],
                                      { o->shapes[of->captured], NAME_EMPTY },
                                      { o->types[of->captured], NAME_EMPTY },
                                      { NAME_EMPTY, NAME_EMPTY } };
    return roofline_add(r, &key, &of->run);
}

static void roofline_join(struct roofline_run *run, int64_t begin, int64_t end)
{
    run->time_ns += (double)(end - begin);
    run->begin_ns = begin < run->begin_ns ? begin : run->begin_ns;
    run->end_ns = end > run->end_ns ? end : run->end_ns;
}

/* The same for operators of captured graphs, in each replay: kernels are sorted by launch, and by begin. */
static bool add_captured(struct roofline *r, const struct profile *p, const struct collection *c)
{
    const struct kernels *k = &c->kernels;
    struct roofline_kernels of = { .captured = NO_ROW };
    bool done = true;
    for (size_t i = 0; done && i < k->n; i++) {
        const struct device *d = &p->device[k->device[i]];
        const uint32_t op = k->is_collective[i] ? NO_ROW : task_replays(d, k->row[i]);
        if (op == NO_ROW || !is_kernel(p, &d->tasks, k->row[i]))
            continue;
        if (op != of.captured || i == 0 || k->launch_ns[i] != k->launch_ns[i - 1]) {
            done = of.captured == NO_ROW || add_kernels(r, c, &of);
            of = (struct roofline_kernels){ { .begin_ns = INT64_MAX, .end_ns = INT64_MIN }, op };
        }
        roofline_join(&of.run, k->begin_ns[i], k->end_ns[i]);
    }
    return done && (of.captured == NO_ROW || add_kernels(r, c, &of));
}

/* Adds the kernels that an operator launched itself as one run, because a product may be computed by several kernels. */
static bool add_operators(struct roofline *r, const struct profile *p, const struct collection *c)
{
    const struct framework_ops *o = &c->framework.ops;
    const struct kernels *kernels = &c->kernels;
    for (size_t at = 0; c->tree.first_started && at < o->n; at++) {
        const uint32_t op = c->tree.by_begin[at];
        struct roofline_run run = { .begin_ns = INT64_MAX, .end_ns = INT64_MIN };
        for (uint32_t i = c->tree.first_started[at]; i < c->tree.first_started[at + 1]; i++) {
            const uint32_t k = c->tree.started[i];
            const struct tasks *t = &p->device[kernels->device[k]].tasks;
            if (kernels->is_collective[k] || !is_kernel(p, t, kernels->row[k]) ||
                task_replays(&p->device[kernels->device[k]], kernels->row[k]) != NO_ROW)
                continue;
            roofline_join(&run, kernels->begin_ns[k], kernels->end_ns[k]);
        }
        const struct roofline_key key = { o->name[op],
                                          { known(o->shapes[op]), NAME_EMPTY },
                                          { known(o->types[op]), NAME_EMPTY },
                                          { NAME_EMPTY, NAME_EMPTY } };
        if (run.end_ns >= run.begin_ns && !roofline_add(r, &key, &run))
            return false;
    }
    return true;
}

/* The time of all kernels, with those that no operator launched. */
static double kernels_ns(const struct profile *p)
{
    double sum = 0;
    for (size_t d = 0; d < p->n_devices; d++)
        for (size_t i = 0; i < p->device[d].tasks.n; i++)
            sum += is_kernel(p, &p->device[d].tasks, i) ? p->device[d].tasks.dur_ns[i] : 0;
    return sum;
}

bool roofline_find(struct roofline *r, const struct profile *p, const struct collection *c, struct arena *mem)
{
    const bool is_gpu = p->chip && p->chip->group == ON_CUDA;
    bool done = true;
    roofline_begin(r, p->names, mem);
    if (p->n_devices == 0)
        return true;
    for (size_t i = 0; done && !is_gpu && i < p->n_devices; i++)
        done = add_tasks(r, p, &p->device[i]);
    if (is_gpu && c) {
        done = add_operators(r, p, c) && add_captured(r, p, c);
        r->time_ns = kernels_ns(p);
    }
    const struct source *s = &p->device[0].source;
    if (done)
        roofline_end(r, &(struct device_facts){ s->chip, s->ai_core_num, s->aic_mhz, is_gpu ? &s->gpu : NULL });
    return done;
}
