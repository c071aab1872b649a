/* SPDX-License-Identifier: Apache-2.0 */
/* mode_communication_bottleneck.c - why the longest collectives of a rank took so long: which rank came late to them,
 * and what it did longer than the one that waited most. */
#include "cluster/modes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/tuples.h"
#include "base/text/stamp.h"
#include "cluster/job/job.h"
#include "cluster/job/rank_readers.h"
#include "cluster/modes/mode_parts.h"
#include "cluster/rank/rank_parts.h"
#include "cluster/results/recipe.h"
#include "profile/calls.h"

enum { DEFAULT_TOP = 10, CACHED = 4, DEVICE_WAITS_NS = 100000 };
static const double slow_above = 0.05, device_bound_above = 0.5;

static const struct result_column columns[] = {
    COLUMN_CSV("startTime(us)", "TEXT", "Start Time(us)"),
    COLUMN_CSV("endTime(us)", "TEXT", "End Time(us)"),
    COLUMN_CSV("duration(us)", "REAL", "Duration(us)"),
    COLUMN_CSV("communicationOp", "TEXT", "Communication Op"),
    COLUMN_CSV("slowRankId", "REAL", "Slow Rank ID"),
    COLUMN_CSV("fastRankId", "REAL", "Fast Rank ID"),
    COLUMN_CSV("reason", "TEXT", "Reason"),
};
enum { CELLS = sizeof columns / sizeof *columns };

/* One rank's part of an operator. */
struct communication_bottleneck_part {
    bool is_there;
    int64_t rank, begin_ns, end_ns;
};

/* An operator of the rank that is asked about. */
struct asked {
    name_id name, group;
    uint32_t which; /* how many of its name in its group came before it */
    bool is_p2p;    /* then by these three: the counterpart has another name */
    int64_t from, to;
    uint32_t n;
    size_t n_parts; /* ranks that have it */
    struct communication_bottleneck_part own, slow, fast;
};

/* A rank that was read again. */
struct cached {
    int64_t rank;
    size_t used; /* when it was last asked for */
    struct arena *mem;
    struct rank r;
};

struct communication_bottleneck_state {
    bool has_asked, has_rank;
    LIST(struct asked) asked;
    struct cached cached[CACHED];
    size_t n_asked;
};

static void *begin(struct mode_context *c)
{
    return arena_take(c->mem, 1, sizeof(struct communication_bottleneck_state));
}

static int64_t length(const struct communication_bottleneck_part *p)
{
    return p->end_ns - p->begin_ns;
}

static int by_length(const void *a, const void *b)
{
    const struct asked *const x = a, *const y = b;
    const int64_t p = length(&x->own), q = length(&y->own);
    return p != q ? (p > q ? -1 : 1) : (x->own.begin_ns > y->own.begin_ns) - (x->own.begin_ns < y->own.begin_ns);
}

/* How many operators of the same name and group came before each. */
static uint32_t *number_ops(const struct rank_collectives *ops, struct arena *mem)
{
    struct tuples keys = { 0 };
    LIST(uint32_t) next = { 0 };
    uint32_t *const which = arena_take(mem, ops->n, sizeof *which);
    for (size_t i = 0; which && i < ops->n; i++) {
        const uint32_t at = tuple_add(&keys, (const uint32_t[]){ ops->group[i], ops->name[i] }, 2, mem);
        if (at == KEYS_NO_MEMORY || (at == next.n && !list_add(&next, mem)))
            return NULL;
        which[i] = next.at[at]++;
    }
    return which;
}

/* The longest operators of the rank. */
static bool ask(struct communication_bottleneck_state *s, struct mode_context *c, const struct rank_summary *r,
                struct arena *scratch)
{
    const struct rank_collectives *const ops = &r->collectives.ops;
    const struct chosen_step step = step_choose(c->options, &r->steps);
    const size_t top = c->options->top ? c->options->top : DEFAULT_TOP;
    s->has_rank = true;
    const uint32_t *const which = number_ops(ops, scratch);
    struct p2p_ops p2p = { 0 };
    if (!which || !p2p_find(&p2p, c, r, scratch))
        return false;
    for (size_t i = 0, k = 0; i < ops->n; i++) {
        while (k < p2p.list.n && p2p.list.at[k].row < i)
            k++;
        if (!step_has_time(&step, ops->begin_ns[i]) || !step_has_time(&step, ops->end_ns[i]))
            continue;
        struct asked *const a = list_add(&s->asked, c->mem);
        if (!a)
            return false;
        *a = (struct asked){ .name = ops->name[i],
                             .group = ops->group[i],
                             .which = which[i],
                             .own = { true, r->identity.rank, ops->begin_ns[i], ops->end_ns[i] } };
        const struct p2p_op *const op = k < p2p.list.n && p2p.list.at[k].row == i ? &p2p.list.at[k] : NULL;
        if (op && op->from >= 0) {
            a->is_p2p = true;
            a->from = op->from;
            a->to = op->to;
            a->n = op->n;
        }
    }
    if (s->asked.n > 0)
        qsort(s->asked.at, s->asked.n, sizeof *s->asked.at, by_length);
    if (s->asked.n > top)
        s->asked.n = top;
    return true;
}

/* The longest part is that of the rank which waited most, the shortest that of the one which came last. */
static void add_part(struct asked *a, struct communication_bottleneck_part p)
{
    a->n_parts++;
    if (!a->fast.is_there || length(&p) > length(&a->fast))
        a->fast = p;
    if (!a->slow.is_there || length(&p) <= length(&a->slow))
        a->slow = p;
}

static bool compare_parts(struct communication_bottleneck_state *s, const struct mode_context *c,
                          const struct rank_summary *r, struct arena *scratch)
{
    const struct rank_collectives *const ops = &r->collectives.ops;
    const uint32_t *const which = number_ops(ops, scratch);
    struct p2p_ops p2p = { 0 };
    if (!which || !p2p_find(&p2p, c, r, scratch))
        return false;
    for (size_t k = 0; k < s->asked.n; k++) {
        struct asked *const a = &s->asked.at[k];
        size_t found = ops->n;
        for (size_t i = 0; !a->is_p2p && found == ops->n && i < ops->n; i++)
            if (ops->name[i] == a->name && ops->group[i] == a->group && which[i] == a->which)
                found = i;
        for (size_t i = 0; a->is_p2p && found == ops->n && i < p2p.list.n; i++) {
            const struct p2p_op *const op = &p2p.list.at[i];
            if (op->from == a->from && op->to == a->to && op->n == a->n && ops->group[op->row] == a->group)
                found = op->row;
        }
        if (found < ops->n)
            add_part(a, (struct communication_bottleneck_part){ true, r->identity.rank, ops->begin_ns[found],
                                                                ops->end_ns[found] });
    }
    return true;
}

/* It is not the first rank: it is read before its turn. */
static bool ask_rank(struct communication_bottleneck_state *s, struct mode_context *c, struct arena *scratch)
{
    enum { PARTS = RANK_COLLECTIVES | RANK_STEPS | RANK_CALLS };
    const size_t i = job_place(c->job, c->options->rank_id);
    struct error why = { 0 };
    struct rank_summary r;
    if (i < c->job->ranks.n && job_summary(c->job, i, PARTS, scratch, &r, NULL, &why))
        return !(r.has & RANK_COLLECTIVES) || ask(s, c, &r, scratch);
    return why.fault != FAULT_LIMIT || error_set(c->e, FAULT_LIMIT, "%s", why.text);
}

static bool communication_bottleneck_add(void *state, struct mode_context *c, const struct rank_summary *r)
{
    struct communication_bottleneck_state *const s = state;
    bool works = true;
    if (!s->has_asked) {
        s->has_asked = true;
        works = r->identity.rank == c->options->rank_id ? ask(s, c, r, c->scratch) : ask_rank(s, c, c->scratch);
    }
    return works && compare_parts(s, c, r, c->scratch);
}

/* All that is known of a rank; lent until CACHED others were asked for. NULL: only its summary is here; or see e. */
static const struct rank *rank_again(struct communication_bottleneck_state *s, struct mode_context *c, int64_t rank,
                                     struct error *e)
{
    enum { PARTS = RANK_TASKS | RANK_COLLECTIVES | RANK_CALLS | RANK_OPS };
    struct cached *to = &s->cached[0];
    bool is_there = false;
    s->n_asked++;
    for (size_t i = 0; i < CACHED; i++) {
        struct cached *const at = &s->cached[i];
        if (at->mem && at->rank == rank) {
            at->used = s->n_asked;
            return &at->r;
        }
        if (at->used < to->used)
            to = at;
    }
    to->used = s->n_asked;
    arena_free(to->mem);
    to->mem = arena_new();
    to->rank = rank;
    if (!to->mem)
        error_no_memory(e, c->mode->name);
    else if (rank_reload(c, rank, PARTS, to->mem, &to->r, &is_there, e) && is_there)
        return &to->r;
    arena_free(to->mem);
    to->mem = NULL;
    return NULL;
}

enum { DEVICE, FRAMEWORK, RUNTIME };

static bool put_task(struct walk_tasks *out, name_id name, int64_t begin, int64_t end, struct arena *mem)
{
    struct walk_task *const t = list_add(&out->list, mem);
    if (t)
        *t = (struct walk_task){ begin, end - begin, name };
    return t != NULL;
}

/* "node@launch" */
static name_id call_name(const struct rank *r, size_t i, struct arena *mem)
{
    const char *const text =
        arena_printf(mem, "%s@%s", names_text(r->names, r->calls.type[i]), names_text(r->names, r->calls.name[i]));
    return text ? names_addz(r->names, text) : NAME_EMPTY;
}

/* What a rank had done before a point of time, on one level. */
static bool tasks_before(struct walk_tasks *out, const struct rank *r, unsigned level, int64_t until, struct arena *mem)
{
    bool works = true;
    for (size_t i = 0; level == DEVICE && works && i < r->tasks.n; i++) {
        const bool is_kernel = r->tasks.kernel[i] != NO_ROW;
        if (r->tasks.end_ns[i] <= until && (is_kernel || name_contains_any_case(r->names, r->tasks.type[i], "memcpy")))
            works = put_task(out, is_kernel ? r->kernels.name[r->tasks.kernel[i]] : r->tasks.type[i],
                             r->tasks.begin_ns[i], r->tasks.end_ns[i], mem);
    }
    for (size_t i = 0; level == DEVICE && works && i < r->collectives.n; i++)
        if (r->collectives.end_ns[i] <= until)
            works = put_task(out, r->collectives.name[i], r->collectives.begin_ns[i], r->collectives.end_ns[i], mem);
    for (size_t i = 0; level == FRAMEWORK && works && i < r->ops.n; i++)
        if (r->ops.end_ns[i] <= until && name_contains(r->names, r->ops.name[i], "::"))
            works = put_task(out, r->ops.name[i], r->ops.begin_ns[i], r->ops.end_ns[i], mem);
    for (size_t i = 0; level == RUNTIME && works && i < r->calls.n; i++)
        if (r->calls.end_ns[i] <= until)
            works = put_task(out, call_name(r, i, mem), r->calls.begin_ns[i], r->calls.end_ns[i], mem);
    return works;
}

/* Its kernel is the collective's name. */
static bool is_of_gpu(const struct names *names, const struct asked *a)
{
    return strncmp(names_text(names, a->name), "nccl", strlen("nccl")) == 0;
}

/* "PyTorch: max duration-diff op …"; NULL: the ranks never were in step, or there is no memory. */
static const char *difference(const struct asked *a, const struct rank *slow, const struct rank *fast, unsigned level,
                              struct arena *mem)
{
    const char *const label[] = {
        [DEVICE] = "Device", [FRAMEWORK] = "PyTorch", [RUNTIME] = is_of_gpu(slow->names, a) ? "CUDA" : "CANN"
    };
    struct walk_tasks of_slow = { 0 }, of_fast = { 0 };
    struct walk_difference d;
    char longer[US_TEXT], later[US_TEXT];
    if (!tasks_before(&of_slow, slow, level, a->slow.begin_ns, mem) ||
        !tasks_before(&of_fast, fast, level, a->fast.begin_ns, mem) ||
        !task_walk(&of_slow, &of_fast, a->fast.end_ns - a->slow.end_ns, &d, mem))
        return NULL;
    us_real_text(longer, d.longest_ns);
    us_real_text(later, d.latest_ns);
    return arena_printf(mem, "%s: max duration-diff op %s, diff %s us, max start-time-diff op %s, diff %s us.",
                        label[level], names_text(slow->names, d.longest), longer, names_text(slow->names, d.latest),
                        later);
}

/* Shares of launches after which the device was late rather than the host; below 0: there are none. */
static double device_share(const struct asked *a, const struct rank *r, struct arena *mem)
{
    const int64_t from = wrap_sub(a->fast.begin_ns, a->fast.end_ns - a->slow.end_ns), until = a->slow.end_ns;
    struct by_connection calls, ops;
    const bool is_gpu = is_of_gpu(r->names, a); /* then each call with a task is a launch */
    size_t n = 0, n_device = 0;
    if (!by_connection_init(&calls, r->calls.connection, r->calls.n, mem) ||
        !by_connection_init(&ops, r->op_links.connection, r->op_links.n, mem))
        return -1;
    for (size_t i = 0; i < r->tasks.n; i++) {
        if (r->tasks.begin_ns[i] <= from || r->tasks.end_ns[i] >= until)
            continue;
        const uint32_t call = by_connection_find(&calls, r->tasks.connection[i]);
        const uint32_t link = by_connection_find(&ops, r->tasks.connection[i]);
        const bool is_launch =
            call != NO_ROW && (is_gpu || (!strcmp(names_text(r->names, r->calls.type[call]), "node") &&
                                          !strcmp(names_text(r->names, r->calls.name[call]), "launch")));
        if (!is_launch || link == NO_ROW)
            continue;
        const int64_t host = r->calls.begin_ns[call] - r->ops.end_ns[r->op_links.op[link]];
        n++;
        n_device += wrap_sub(r->tasks.begin_ns[i] - r->calls.end_ns[call], host) > DEVICE_WAITS_NS;
    }
    return n > 0 ? (double)n_device / (double)n : -1;
}

/* NULL: see e. */
static const char *reason_of(struct communication_bottleneck_state *s, struct mode_context *c, const struct asked *a,
                             struct error *e)
{
    const bool is_gpu = is_of_gpu(c->names, a);
    const char *const no_data = is_gpu ? "[Failed] Insufficient data for analyzing slow GPU bottleneck"
                                       : "[Failed] Insufficient data for analyzing slow NPU bottleneck";
    if (!a->fast.is_there || a->n_parts < 2) /* no other member was read */
        return no_data;
    if (length(&a->fast) <= 0 ||
        ((double)length(&a->fast) - (double)length(&a->slow)) / (double)length(&a->fast) < slow_above)
        return is_gpu ? "[Completed] No slow GPU detected: execution time difference is less than 5%"
                      : "[Completed] No slow NPU detected: execution time difference is less than 5%";
    const struct rank *const slow = rank_again(s, c, a->slow.rank, e);
    const struct rank *const fast = slow ? rank_again(s, c, a->fast.rank, e) : NULL;
    if (!fast)
        return e->fault == FAULT_NONE ? no_data : NULL;
    struct arena *const scratch = arena_new();
    if (!scratch) {
        error_no_memory(e, c->mode->name);
        return NULL;
    }
    const double share = device_share(a, slow, scratch);
    const bool is_device = share > device_bound_above;
    const char *const first = share < 0 ? NULL : difference(a, slow, fast, is_device ? DEVICE : FRAMEWORK, scratch);
    const char *const second = share < 0 || is_device || !first ? NULL : difference(a, slow, fast, RUNTIME, scratch);
    const char *const text =
        share < 0 ? no_data
        : !first  ? arena_printf(c->mem, "[%s-bound] Tasks are not aligned between slow and fast %s from the beginning",
                                is_device ? "Device" : "Host", is_gpu ? "GPU" : "NPU")
                  : arena_printf(c->mem, "%s%s%s%s", is_device ? "[Device-bound]" : "[Host-bound] ", first,
                                second ? " | " : "", second ? second : "");
    if (!text || arena_failed(scratch))
        error_no_memory(e, c->mode->name);
    arena_free(scratch);
    return e->fault == FAULT_NONE ? text : NULL;
}

static bool add_rows(struct communication_bottleneck_state *s, struct mode_context *c, struct grid *g, struct error *e)
{
    for (size_t i = 0; i < s->asked.n; i++) {
        const struct asked *const a = &s->asked.at[i];
        const char *const reason = reason_of(s, c, a, e);
        if (!reason)
            return false;
        const bool has_slow = reason[1] != 'C';
        const struct cell row[CELLS] = {
            cell_text(us_decimal(c->mem, a->own.begin_ns)),
            cell_text(us_decimal(c->mem, a->own.end_ns)),
            cell_us_short(length(&a->own)),
            cell_name(a->name),
            has_slow ? cell_real((double)a->slow.rank) : cell_na(),
            has_slow ? cell_real((double)a->fast.rank) : cell_na(),
            cell_text(reason),
        };
        if (!row[0].text || !row[1].text)
            return error_no_memory(e, c->mode->name);
        grid_row(g, row);
    }
    return true;
}

static bool communication_bottleneck_finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    struct communication_bottleneck_state *const s = state;
    struct grid g = { .n_columns = CELLS, .mem = c->mem };
    if (!s->has_rank)
        return c->options->is_all_modes ||
               error_set(e, FAULT_ASKED,
                         "%s: rank %lld has no collectives, or there is no such rank; name another with --rank-id",
                         c->mode->name, (long long)c->options->rank_id);
    const bool works =
        add_rows(s, c, &g, e) &&
        (recipe_table(out, "CommunicationBottleneck", "communication_bottleneck.csv", RECIPE_COLUMNS(columns), &g) ||
         error_no_memory(e, c->mode->name));
    for (size_t i = 0; i < CACHED; i++)
        arena_free(s->cached[i].mem);
    return works;
}

const struct mode mode_communication_bottleneck = {
    .name = "communication_bottleneck",
    .class_name = "CommunicatonBottleneckAnalysis", /* as the peer writes it */
    .about = "why the longest collectives of a rank took so long",
    .needs = RANK_COLLECTIVES,
    .uses = RANK_STEPS | RANK_CALLS,
    .begin = begin,
    .add = communication_bottleneck_add,
    .finish = communication_bottleneck_finish,
};
