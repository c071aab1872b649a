/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/framework_files.h"

#include <ctype.h>
#include <string.h>

#include "base/memory/sort.h"
#include "base/text/stamp.h"

/* True when the text begins with the word, followed by a digit. */
static bool digits_follow(const char *text, const char *word)
{
    const size_t len = strlen(word);
    return strncmp(text, word, len) == 0 && isdigit((unsigned char)text[len]);
}

/* True for a collective between stages of a pipeline, by the begin of its name: hcom_send__1, hcom_receive__1,
 * hcom_<word>SendRecv__1, Send-op…, Receive-op… */
static bool is_receive(const char *name)
{
    static const char *const word[] = { "hcom_send__", "hcom_receive__" };
    if (strncmp(name, "Receive-op", 10) == 0 || strncmp(name, "Send-op", 7) == 0)
        return true;
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (digits_follow(name, word[i]))
            return true;
    if (strncmp(name, "hcom_", 5) != 0)
        return false;
    for (const char *at = name + 6; at[-1] && (isalnum((unsigned char)at[-1]) || at[-1] == '_'); at++)
        if (digits_follow(at, "SendRecv__"))
            return true;
    return false;
}

/* Collectives and their tasks, as the timeline shows them. */
struct comm_events {
    size_t n;
    uint64_t *begin; /* with the sign bit flipped, so that they sort as unsigned */
    int64_t *dur_ns;
    bool *is_receive;
    uint32_t *order;          /* by begin */
    int64_t *received_before; /* by position in `order`: the sum of all receives before it; n + 1 of them */
};
static const uint64_t SIGN = UINT64_C(1) << 63;

static bool find_comm(struct comm_events *c, const struct profile *p, struct arena *mem)
{
    size_t n = 0;
    for (size_t d = 0; d < p->n_devices; d++)
        n += p->device[d].comm.ops.n + p->device[d].comm.tasks.n;
    *c = (struct comm_events){ .begin = arena_take(mem, n, sizeof *c->begin),
                               .dur_ns = arena_take(mem, n, sizeof *c->dur_ns),
                               .is_receive = arena_take(mem, n, sizeof *c->is_receive),
                               .order = arena_take(mem, n, sizeof *c->order),
                               .received_before = arena_take(mem, n + 1, sizeof *c->received_before) };
    if (arena_failed(mem))
        return false;
    for (size_t d = 0; d < p->n_devices; d++) {
        const struct communication *m = &p->device[d].comm;
        for (size_t i = 0; i < m->ops.n; i++) {
            if (!m->ops.is_shown[i])
                continue;
            c->begin[c->n] = (uint64_t)m->ops.begin_ns[i] ^ SIGN;
            c->dur_ns[c->n] = wrap_sub(m->ops.end_ns[i], m->ops.begin_ns[i]);
            c->is_receive[c->n++] = is_receive(names_text(p->names, m->ops.name[i]));
        }
        for (size_t i = 0; i < m->tasks.n && !p->is_level0; i++) {
            if (m->tasks.plane[i] < 0)
                continue;
            c->begin[c->n] = (uint64_t)m->tasks.begin_ns[i] ^ SIGN;
            c->dur_ns[c->n++] = m->tasks.dur_ns[i] > 0 && m->tasks.dur_ns[i] < 9e18 ? (int64_t)m->tasks.dur_ns[i] : 0;
        }
    }
    order_fill(c->order, c->n);
    if (!order_by_u64(c->order, c->n, c->begin))
        return false;
    for (size_t i = 0; i < c->n; i++)
        c->received_before[i + 1] =
            wrap_add(c->received_before[i], c->is_receive[c->order[i]] ? c->dur_ns[c->order[i]] : 0);
    return true;
}

/* The time of one step. */
struct ms_step_trace_share {
    int64_t begin_ns, end_ns; /* both belong to the step */
    bool is_all;              /* there are no steps: this is the whole collection */
    int64_t sum_ns[OVERLAP_KINDS];
    int64_t stage_ns, bubble_ns;
    bool has_comm;
    int64_t first_ns; /* begin of the first computing or communication in it or later; INT64_MAX: there is none */
};

static int64_t overlap_ns(const struct ms_step_trace_share *s, int64_t begin_ns, int64_t end_ns)
{
    const int64_t from_ns = begin_ns > s->begin_ns ? begin_ns : s->begin_ns,
                  to_ns = end_ns < s->end_ns ? end_ns : s->end_ns;
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* Intervals of one kind on one device with running sums, so that a step costs a search even if all steps of a damaged
 * file overlap. */
struct ms_step_trace_running {
    const struct intervals *v;
    int64_t *before; /* n + 1 of them */
    int kind;
};

static bool find_running(struct ms_step_trace_running **out, const struct profile *p, struct arena *mem)
{
    struct ms_step_trace_running *r = *out = arena_take(mem, p->n_devices * OVERLAP_KINDS, sizeof *r);
    for (size_t i = 0; r && i < p->n_devices * OVERLAP_KINDS; i++) {
        r[i].kind = (int)(i % OVERLAP_KINDS);
        r[i].v = &p->device[i / OVERLAP_KINDS].overlap.kind[r[i].kind];
        r[i].before = arena_take(mem, r[i].v->n + 1, sizeof *r[i].before);
        for (size_t k = 0; r[i].before && k < r[i].v->n; k++)
            r[i].before[k + 1] = wrap_add(r[i].before[k], wrap_sub(r[i].v->end_ns[k], r[i].v->begin_ns[k]));
    }
    return !arena_failed(mem);
}

/* Adds the intervals that began in the step. Intervals of a kind do not overlap, so that only the one before the step
 * can reach into it, and only the last one can reach beyond its end. */
static void add_interval_sum(struct ms_step_trace_share *s, const struct ms_step_trace_running *r)
{
    const struct intervals *v = r->v;
    const size_t first = SEARCH_FIRST_NOT(i, 0, v->n, v->begin_ns[i] < s->begin_ns),
                 end = SEARCH_FIRST_NOT(i, first, v->n, v->begin_ns[i] <= s->end_ns);
    int64_t sum_ns = wrap_sub(r->before[end], r->before[first]);
    if (r->kind == OVERLAP_FREE && first > 0)
        sum_ns = wrap_add(sum_ns, overlap_ns(s, v->begin_ns[first - 1], v->end_ns[first - 1]));
    if (r->kind == OVERLAP_FREE && end > first && v->end_ns[end - 1] > s->end_ns)
        sum_ns = wrap_sub(sum_ns, v->end_ns[end - 1] - s->end_ns);
    s->sum_ns[r->kind] = wrap_add(s->sum_ns[r->kind], sum_ns);
    if ((r->kind == OVERLAP_COMPUTING || r->kind == OVERLAP_COMMUNICATION) && first < v->n &&
        v->begin_ns[first] < s->first_ns)
        s->first_ns = v->begin_ns[first];
}

static void add_comm(struct ms_step_trace_share *s, const struct comm_events *c)
{
    const size_t first = order_first_u64(c->order, c->n, c->begin, (uint64_t)s->begin_ns ^ SIGN),
                 end = order_first_u64(c->order, c->n, c->begin, ((uint64_t)s->end_ns ^ SIGN) + 1);
    s->has_comm = end > first;
    if (!s->has_comm)
        return;
    const uint32_t a = c->order[first], b = c->order[end - 1];
    s->bubble_ns = wrap_sub(c->received_before[end], c->received_before[first]);
    s->stage_ns = wrap_sub(wrap_add((int64_t)(c->begin[b] - c->begin[a]), c->dur_ns[b]), s->bubble_ns);
}

/* The time from the begin of the step to the first work on the device; without steps from the first event of the
 * host. */
static int64_t preparing_ns(const struct ms_step_trace_share *s, const struct collection *c)
{
    const struct framework_ops *o = &c->framework.ops;
    int64_t from_ns = s->begin_ns;
    if (!c->settings.has_cpu || s->first_ns == INT64_MAX || (s->is_all && o->n + c->framework.python.n == 0))
        return 0;
    if (s->is_all) {
        from_ns = INT64_MAX;
        for (size_t i = 0; i < o->n; i++)
            from_ns = o->begin_ns[i] < from_ns ? o->begin_ns[i] : from_ns;
        for (size_t i = 0; i < c->framework.python.n; i++)
            from_ns = c->framework.python.begin_ns[i] < from_ns ? c->framework.python.begin_ns[i] : from_ns;
    }
    return wrap_sub(s->first_ns, from_ns);
}

static void ms_step_trace_add_row(struct grid *g, const struct collection *c, struct cell step,
                                  struct ms_step_trace_share *s, const struct ms_step_trace_running *running,
                                  const struct comm_events *comm)
{
    s->first_ns = INT64_MAX;
    for (size_t i = 0; i < c->profile.n_devices * OVERLAP_KINDS; i++)
        add_interval_sum(s, &running[i]);
    add_comm(s, comm);
    const int64_t *sum = s->sum_ns;
    const int64_t exposed_ns = sum[OVERLAP_EXPOSED] > s->bubble_ns ? wrap_sub(sum[OVERLAP_EXPOSED], s->bubble_ns) : 0;
    const struct cell none = cell_uint(0);
    const struct cell cell[STEP_TRACE_COLUMNS] = {
        [STEP_TRACE_STEP] = step,
        [STEP_TRACE_COMPUTING] = cell_us(sum[OVERLAP_COMPUTING]),
        [STEP_TRACE_EXPOSED] = cell_us(sum[OVERLAP_EXPOSED]),
        [STEP_TRACE_OVERLAPPED] = cell_us(wrap_sub(sum[OVERLAP_COMMUNICATION], sum[OVERLAP_EXPOSED])),
        [STEP_TRACE_COMMUNICATION] = cell_us(sum[OVERLAP_COMMUNICATION]),
        [STEP_TRACE_FREE] = cell_us(sum[OVERLAP_FREE]),
        [STEP_TRACE_STAGE] = s->has_comm ? cell_us(s->stage_ns) : none,
        [STEP_TRACE_BUBBLE] = s->has_comm ? cell_us(s->bubble_ns) : none,
        [STEP_TRACE_EXPOSED_WITHOUT_RECEIVE] = cell_us(exposed_ns),
        [STEP_TRACE_PREPARING] = cell_us(preparing_ns(s, c)),
    };
    grid_row(g, cell + STEP_TRACE_STEP);
}

static bool has_overlap(const struct profile *p)
{
    size_t n = 0;
    for (size_t d = 0; d < p->n_devices; d++)
        for (int kind = 0; kind < OVERLAP_KINDS; kind++)
            n += p->device[d].overlap.kind[kind].n;
    return n > 0;
}

bool ms_step_trace_table(const struct collection_export *x, struct table *out, struct error *e)
{
    const struct collection *c = x->collection;
    const struct profiler_steps *t = &c->steps;
    struct grid grid = { .n_columns = STEP_TRACE_COLUMNS - STEP_TRACE_STEP, .mem = x->mem };
    struct comm_events comm;
    struct ms_step_trace_running *running;
    if (!find_comm(&comm, &c->profile, x->mem) || !find_running(&running, &c->profile, x->mem))
        return error_no_memory(e, "step_trace_time");
    const bool is_shown = has_overlap(&c->profile);
    for (size_t i = 0; is_shown && i < t->n; i++) {
        struct ms_step_trace_share s = { .begin_ns = t->host_begin_ns[i], .end_ns = t->host_end_ns[i] };
        if (collection_shows_step(x, i))
            ms_step_trace_add_row(&grid, c, cell_name(t->id[i]), &s, running, &comm);
    }
    if (is_shown && t->n == 0) {
        struct ms_step_trace_share all = { .begin_ns = 0, .end_ns = STAMP_MOST, .is_all = true };
        if (x->part) {
            all.begin_ns = x->part->device_begin_ns;
            all.end_ns = x->part->device_end_ns;
        }
        ms_step_trace_add_row(&grid, c, cell_uint(0), &all, running, &comm);
    }
    *out = grid_table(&grid, "step_trace_time", step_trace_columns + STEP_TRACE_STEP, c->profile.names);
    return !arena_failed(x->mem) || error_no_memory(e, "step_trace_time");
}
