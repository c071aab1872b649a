/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/collection_analyse.h"

#include "base/memory/keys.h"
#include "base/memory/sort.h"

enum { ALLOCATED, RESERVED, COUNTERS };

/* What a device's allocators reported last. */
struct memory_peaks_holding {
    int64_t bytes[COUNTERS][MEMORY_SOURCES];
};

/* One report: a row of framework_memory, of ms_memory_totals, or of the host's op_memory. */
struct memory_peaks_report {
    enum memory_source source;
    uint32_t row;
};

struct search {
    const struct collection *s;
    const struct memory_device *device; /* NULL: any of the type */
    int32_t type;
    struct keys devices;
    LIST(struct memory_peaks_holding) holding; /* by place of the device */
    LIST(struct memory_peaks_report) report;
    struct arena *mem;
};

/* Older releases of MindSpore recorded no blocks, only what their pool held. */
static bool has_only_totals(const struct collection *s)
{
    return s->framework.memory.n == 0 && s->framework.ms.totals.n > 0;
}

/* Where memory was recorded: on devices, else on the CPU. */
static int32_t recorded_type(const struct collection *s)
{
    const struct framework_memory *m = &s->framework.memory;
    if (has_only_totals(s))
        return MEMORY_ON_NPU;
    for (size_t i = 0; i < m->n; i++)
        if (memory_is_on_device(m->device_type[i]))
            return m->device_type[i];
    return s->profile.host.records.op_memory.n > 0 ? MEMORY_ON_NPU : MEMORY_ON_CPU;
}

static bool add_report(struct search *q, enum memory_source source, uint32_t row)
{
    struct memory_peaks_report *r = list_add(&q->report, q->mem);
    if (r)
        *r = (struct memory_peaks_report){ source, row };
    return r != NULL;
}

static bool find_reports(struct search *q)
{
    const struct framework_memory *m = &q->s->framework.memory;
    const struct op_memory *g = &q->s->profile.host.records.op_memory;
    const bool is_only = q->s->profile.n_devices == 1; /* see memory_device() */
    for (uint32_t i = 0; i < m->n; i++) {
        if (m->device_type[i] == q->type && (!q->device || m->device[i] == q->device->number) &&
            !add_report(q, memory_source_of(m, i), i))
            return false;
    }
    for (uint32_t i = 0; q->type == MEMORY_ON_NPU && has_only_totals(q->s) && i < q->s->framework.ms.totals.n; i++)
        if (!add_report(q, MEMORY_OF_FRAMEWORK, i))
            return false;
    for (uint32_t i = 0; q->type == MEMORY_ON_NPU && i < g->n; i++)
        if ((!q->device || is_only || g->device[i] == (uint32_t)q->device->number) &&
            !add_report(q, MEMORY_OF_GRAPHS, i))
            return false;
    return true;
}

static int64_t report_ns(const struct collection *s, struct memory_peaks_report r)
{
    if (r.source == MEMORY_OF_GRAPHS)
        return graph_memory_ns(&s->profile, r.row);
    return (has_only_totals(s) ? s->framework.ms.totals.time_ns : s->framework.memory.time_ns)[r.row];
}

static int64_t report_device(const struct collection *s, struct memory_peaks_report r)
{
    if (r.source == MEMORY_OF_GRAPHS)
        return s->profile.host.records.op_memory.device[r.row];
    if (has_only_totals(s)) /* the process has one device */
        return s->profile.n_devices > 0 ? (int64_t)s->profile.device[0].source.device : s->settings.rank;
    return memory_device(s, r.row);
}

/* By time; of equal ones the framework's come first. */
static uint32_t *order_reports(const struct search *q)
{
    uint32_t *order = arena_take(q->mem, q->report.n, sizeof *order);
    uint64_t *time = arena_take(q->mem, q->report.n, sizeof *time);
    if (!order || !time)
        return NULL;
    order_fill(order, q->report.n);
    for (size_t i = 0; i < q->report.n; i++)
        time[i] = (uint64_t)report_ns(q->s, q->report.at[i]) ^ UINT64_C(1) << 63;
    return order_by_u64(order, q->report.n, time) ? order : NULL;
}

/* What the device holds after a report; NULL: no memory. */
static const struct memory_peaks_holding *hold(struct search *q, struct memory_peaks_report r)
{
    const struct framework_memory *m = &q->s->framework.memory;
    const struct op_memory *g = &q->s->profile.host.records.op_memory;
    const uint32_t place = keys_add(&q->devices, (uint64_t)report_device(q->s, r), q->mem);
    if (place == KEYS_NO_MEMORY || (place == q->holding.n && !list_add(&q->holding, q->mem)))
        return NULL;
    struct memory_peaks_holding *h = &q->holding.at[place];
    const struct ms_memory_totals *t = &q->s->framework.ms.totals;
    int64_t *allocated = &h->bytes[ALLOCATED][r.source], *reserved = &h->bytes[RESERVED][r.source];
    if (r.source == MEMORY_OF_GRAPHS) {
        *allocated = (int64_t)g->allocated[r.row];
        *reserved = (int64_t)g->reserved[r.row];
    } else if (has_only_totals(q->s)) {
        *allocated = (int64_t)t->allocated_bytes[r.row];
        *reserved = (int64_t)t->reserved_bytes[r.row];
    } else {
        *allocated = m->allocated_bytes[r.row];
        *reserved = m->reserved_bytes[r.row];
    }
    return h;
}

/* Who allocated the block of a row of framework_memory; lifetimes are in order of time. */
static name_id taken_by(const struct collection *s, uint32_t row)
{
    const struct memory_lives *l = &s->lives;
    const int64_t *time_ns = s->framework.memory.time_ns;
    const size_t first = SEARCH_FIRST_NOT(i, 0, l->n, time_ns[l->taken[i]] < time_ns[row]);
    for (size_t i = first; i < l->n && time_ns[l->taken[i]] == time_ns[row]; i++)
        if (l->taken[i] == row)
            return l->name[i];
    return NAME_EMPTY;
}

static name_id report_name(const struct collection *s, struct memory_peaks_report r)
{
    name_id name;
    if (r.source != MEMORY_OF_GRAPHS)
        return has_only_totals(s) ? NAME_EMPTY : taken_by(s, r.row);
    return dictionary_find(&s->profile.dictionary, s->profile.host.records.op_memory.name[r.row], &name) ? name
                                                                                                         : NAME_EMPTY;
}

static void memory_peaks_compare(struct memory_peak *most, const struct collection *s, struct memory_peaks_report r,
                                 const int64_t *part)
{
    int64_t bytes = 0;
    for (int i = 0; i < MEMORY_SOURCES; i++)
        bytes = (int64_t)((uint64_t)bytes + (uint64_t)part[i]); /* sums of a damaged file may wrap */
    if (most->is_known && bytes <= most->bytes)
        return;
    *most = (struct memory_peak){ .is_known = true,
                                  .time_ns = report_ns(s, r),
                                  .bytes = bytes,
                                  .device = report_device(s, r),
                                  .name = report_name(s, r),
                                  .is_of_graph = r.source == MEMORY_OF_GRAPHS };
    for (int i = 0; i < MEMORY_SOURCES; i++)
        most->part[i] = part[i];
}

bool memory_peaks_find(struct memory_peaks *out, const struct collection *s, const struct memory_device *device,
                       struct error *e)
{
    struct search q = { .s = s, .device = device, .mem = arena_new() };
    q.type = device ? device->type : recorded_type(s);
    *out = (struct memory_peaks){ .is_partial = q.type == MEMORY_ON_CPU || s->collector.is_simulated };
    const uint32_t *order = q.mem && find_reports(&q) ? order_reports(&q) : NULL;
    bool done = order != NULL;
    for (size_t i = 0; done && i < q.report.n; i++) {
        const struct memory_peaks_report r = q.report.at[order[i]];
        const struct memory_peaks_holding *h = hold(&q, r);
        done = h != NULL;
        if (done) {
            memory_peaks_compare(&out->allocated, s, r, h->bytes[ALLOCATED]);
            memory_peaks_compare(&out->reserved, s, r, h->bytes[RESERVED]);
        }
    }
    arena_free(q.mem);
    return done || error_no_memory(e, s->path);
}
