/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/framework/steps/step_bounds.h"
#include "analyse/framework/steps/step_causes.h"
#include "raw/chip.h"
#include "raw/framework_values.h"
#include "raw/sampler.h"

enum { MOST = 32, MS = 1000000 };

/* A collection of one device, made of columns. Times are ms. */
struct made {
    struct collection collection;
    struct device device;
    struct arena *mem;
};

static void *column(struct made *m, size_t size)
{
    void *c = arena_take(m->mem, MOST, size);
    assert_non_null(c);
    return c;
}
#define COLUMN(m, c) ((c) = column((m), sizeof *(c)))

static void made_init(struct made *m)
{
    *m = (struct made){ .mem = arena_new() };
    struct collection *s = &m->collection;
    s->profile.names = names_new();
    s->profile.chip = chip_of(5);
    s->profile.device = &m->device;
    s->profile.n_devices = 1;
    struct profiler_steps *t = &s->steps;
    COLUMN(m, t->op), COLUMN(m, t->thread), COLUMN(m, t->id), COLUMN(m, t->host_begin_ns), COLUMN(m, t->host_end_ns);
    COLUMN(m, t->begin_ns), COLUMN(m, t->end_ns), COLUMN(m, t->has_work);
    struct framework_ops *o = &s->framework.ops;
    COLUMN(m, o->begin_ns), COLUMN(m, o->end_ns), COLUMN(m, o->name);
    COLUMN(m, s->tree.self_ns), COLUMN(m, s->tree.by_begin);
    for (int k = 0; k < OVERLAP_KINDS; k++)
        COLUMN(m, m->device.overlap.kind[k].begin_ns), COLUMN(m, m->device.overlap.kind[k].end_ns);
    struct tasks *k = &m->device.tasks;
    COLUMN(m, k->op), COLUMN(m, k->is_hidden), COLUMN(m, k->begin_ns), COLUMN(m, k->dur_ns);
    COLUMN(m, k->copy_kind), COLUMN(m, k->stream), COLUMN(m, k->type);
    COLUMN(m, s->profile.host.ops.op_type), COLUMN(m, s->profile.host.ops.name);
    struct comm_ops *c = &m->device.comm.ops;
    COLUMN(m, c->group), COLUMN(m, c->is_shown), COLUMN(m, c->op_type), COLUMN(m, c->name), COLUMN(m, c->begin_ns),
        COLUMN(m, c->dur_ns);
    struct comm_tasks *ct = &m->device.comm.tasks;
    COLUMN(m, ct->is_master), COLUMN(m, ct->name), COLUMN(m, ct->op), COLUMN(m, ct->begin_ns), COLUMN(m, ct->dur_ns);
}

static void made_fini(struct made *m)
{
    names_free(m->collection.profile.names);
    arena_free(m->mem);
}

static name_id name(struct made *m, const char *text)
{
    return names_addz(m->collection.profile.names, text);
}

static uint32_t add_op(struct made *m, const char *what, int64_t begin_ms, int64_t self_ms)
{
    struct framework_ops *o = &m->collection.framework.ops;
    o->begin_ns[o->n] = begin_ms * MS;
    o->end_ns[o->n] = (begin_ms + self_ms) * MS;
    o->name[o->n] = name(m, what);
    m->collection.tree.self_ns[o->n] = self_ms * MS;
    m->collection.tree.by_begin[o->n] = (uint32_t)o->n;
    return (uint32_t)o->n++;
}

/* A step on the host, with an operator that takes all of it but `outside_ms`, and when the device ends with it. */
static void add_step(struct made *m, int64_t begin_ms, int64_t end_ms, int64_t device_end_ms, int64_t outside_ms)
{
    struct profiler_steps *t = &m->collection.steps;
    t->id[t->n] = names_number(m->collection.profile.names, t->n);
    t->op[t->n] = add_op(m, "ProfilerStep#", begin_ms, outside_ms);
    t->host_begin_ns[t->n] = begin_ms * MS;
    t->host_end_ns[t->n] = end_ms * MS;
    t->begin_ns[t->n] = begin_ms * MS;
    t->end_ns[t->n] = device_end_ms * MS;
    t->has_work[t->n++] = true;
    add_op(m, "aten::mm", begin_ms + outside_ms, end_ms - begin_ms - outside_ms);
}

static void add_interval(struct made *m, enum overlap_kind kind, int64_t begin_ms, int64_t ms)
{
    struct intervals *v = &m->device.overlap.kind[kind];
    v->begin_ns[v->n] = begin_ms * MS;
    v->end_ns[v->n++] = (begin_ms + ms) * MS;
}

static void add_kernel(struct made *m, const char *type, int64_t begin_ms, int64_t ms)
{
    struct tasks *t = &m->device.tasks;
    struct ops *o = &m->collection.profile.host.ops;
    o->op_type[o->n] = o->name[o->n] = name(m, type);
    t->copy_kind[t->n] = COPY_NONE;
    t->op[t->n] = (uint32_t)o->n++;
    t->begin_ns[t->n] = begin_ms * MS;
    t->dur_ns[t->n++] = (double)(ms * MS);
    add_interval(m, OVERLAP_COMPUTING, begin_ms, ms);
}

static void add_collective(struct made *m, const char *type, int64_t begin_ms, int64_t ms, int64_t wait_ms)
{
    struct comm_ops *o = &m->device.comm.ops;
    struct comm_tasks *t = &m->device.comm.tasks;
    o->is_shown[o->n] = true;
    o->op_type[o->n] = o->name[o->n] = name(m, type);
    o->begin_ns[o->n] = begin_ms * MS;
    o->dur_ns[o->n] = (double)(ms * MS);
    t->is_master[t->n] = true;
    t->name[t->n] = name(m, "Notify_Wait");
    t->op[t->n] = (uint32_t)o->n++;
    t->begin_ns[t->n] = begin_ms * MS;
    t->dur_ns[t->n++] = (double)(wait_ms * MS);
    add_interval(m, OVERLAP_COMMUNICATION, begin_ms, ms);
    add_interval(m, OVERLAP_EXPOSED, begin_ms, ms);
}

/* Five steps of 10 ms: 6 computing, 3 communicating, 1 free. The one in the middle has more of one thing. */
struct more {
    int64_t kernel_ms, transfer_ms, wait_ms, operator_ms, outside_ms;
};

static void make_job(struct made *m, struct more more)
{
    made_init(m);
    int64_t at = 0;
    for (int i = 0; i < 5; i++) {
        const struct more x = i == 2 ? more : (struct more){ 0 };
        const int64_t host_ms = x.operator_ms + x.outside_ms, comm_ms = 3 + x.transfer_ms + x.wait_ms,
                      end = at + 10 + x.kernel_ms + x.transfer_ms + x.wait_ms + host_ms;
        add_step(m, at, end, end, 1 + x.outside_ms);
        add_op(m, "aten::item", at + 1 + x.outside_ms, x.operator_ms);
        m->collection.tree.self_ns[m->collection.framework.ops.n - 2] -= x.operator_ms * MS;
        add_kernel(m, "MatMul", at + host_ms + 1, 4);
        add_kernel(m, "Softmax", at + host_ms + 5, 2 + x.kernel_ms);
        add_collective(m, "hcom_allReduce_", end - comm_ms, comm_ms, 1 + x.wait_ms);
        at = end;
    }
}

/* Computing and what overlaps it: 5+1, 6+4, 9+0. The medians of both, 6 and 1, are not what half of the steps compute. */
static void the_median_of_computing_is_of_all_of_it(void **state)
{
    static const int64_t computing_ms[] = { 6, 10, 9 }, overlapped_ms[] = { 1, 4, 0 };
    struct made m;
    struct step_series s;
    made_init(&m);
    for (int64_t i = 0; i < 3; i++) {
        add_step(&m, i * 20, i * 20 + 20, i * 20 + 20, 1);
        add_kernel(&m, "MatMul", i * 20, computing_ms[i]);
        if (overlapped_ms[i] > 0)
            add_interval(&m, OVERLAP_COMMUNICATION, i * 20, overlapped_ms[i]);
    }
    assert_true(step_series_of_collection(&s, &m.collection, &m.device, NULL, m.mem));
    assert_int_equal(s.median_part_ns[STEP_COMPUTING] + s.median_part_ns[STEP_OVERLAPPED], 9 * MS);
    assert_int_equal(s.median_part_ns[STEP_OVERLAPPED], 1 * MS);
    made_fini(&m);
    (void)state;
}

/* What the slowest step had most more of. */
static struct step_item largest_cause(struct made *m, const struct step_series *s, const struct device *d)
{
    struct step_division division;
    struct step_difference x;
    assert_true(
        step_division_find(&division, s, &m->collection.profile, d, &m->collection, NULL, &s->slowest[0], 1, m->mem));
    assert_true(step_difference_find(&x, &division.of[0], &division.usual, (double)s->time_ns[s->slowest[0]],
                                     (double)s->median_ns, 0, m->mem));
    return x.item[0];
}

static void a_slow_step_has_more_of_something(void **state)
{
    /* clang-format off */
    static const struct { const char *what; struct more more; int64_t time_ms; enum step_cause cause;
                          const char *name; int64_t name_ms; } row[] = {
        { "an operator of the device", { .kernel_ms = 20 }, 30, CAUSE_LONGER, "Softmax", 20 },
        { "a collective that moves its data slowly", { .transfer_ms = 15 }, 25, CAUSE_TRANSFER, "hcom_allReduce_", 15 },
        { "a collective that waits for another rank", { .wait_ms = 15 }, 25, CAUSE_WAIT, "hcom_allReduce_", 15 },
        { "an operator of the host", { .operator_ms = 30 }, 40, CAUSE_HOST, "aten::item", 30 },
        { "the host outside of operators", { .outside_ms = 30 }, 40, CAUSE_HOST, "", 30 },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        struct made m;
        struct step_series s;
        print_message("  %s\n", row[i].what);
        make_job(&m, row[i].more);
        assert_true(step_series_of_collection(&s, &m.collection, &m.device, NULL, m.mem));
        const struct step_item item = largest_cause(&m, &s, &m.device);
        assert_int_equal(s.median_ns, 10 * MS);
        assert_int_equal(s.median_part_ns[STEP_COMPUTING], 6 * MS);
        assert_int_equal(s.median_part_ns[STEP_COMMUNICATION], 3 * MS);
        assert_int_equal(s.median_part_ns[STEP_FREE], 1 * MS);
        assert_int_equal(s.n_slow, 1);
        assert_int_equal(s.slowest[0], 2);
        assert_int_equal(s.time_ns[2], row[i].time_ms * MS);
        assert_int_equal(item.cause, row[i].cause);
        assert_int_equal(item.named, row[i].more.outside_ms ? NAMED_OUTSIDE : NAMED_OPERATOR);
        assert_string_equal(item.name, row[i].name);
        assert_int_equal((int64_t)item.more_ns, row[i].name_ms * MS);
        made_fini(&m);
    }
    (void)state;
}

/* The same stall of the host, with what else was recorded of it. */
static void what_the_host_did_has_a_name_where_one_was_recorded(void **state)
{
    static int64_t begin_ns[] = { 1 * MS, 0, 20 * MS, 19 * MS }, end_ns[] = { 3 * MS, 10 * MS, 48 * MS, 50 * MS };
    static uint32_t thread[4];
    static uint64_t mark_begin[] = { 1 * MS, 22 * MS, 20 * MS }, mark_end[] = { 2 * MS, 49 * MS, 60 * MS };
    static const struct {
        const char *what;
        size_t n_python, n_marks;
        enum step_named named;
        const char *name;
        int64_t name_ms;
        int64_t range_begin_ms, range_ms; /* of the user, among the operators; 0: none */
    } row[] = { { "nothing", 0, 0, NAMED_OUTSIDE, "", 30, 0, 0 },
                { "a range, which is not that of the step itself", 0, 3, NAMED_RANGE, "next batch", 27, 0, 0 },
                { "Python functions, of which the inner one counts", 4, 2, NAMED_PYTHON, "load", 28, 0, 0 },
                { "also in a range of the user", 4, 2, NAMED_PYTHON, "load", 28, 19, 31 },
                { "a range of the user in Python functions", 4, 2, NAMED_OPERATOR, "attempt", 26, 21, 26 } };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct made m;
        struct step_series s;
        print_message("  %s\n", row[i].what);
        make_job(&m, (struct more){ .outside_ms = 30 });
        COLUMN(&m, m.collection.framework.ops.scope);
        if (row[i].range_ms > 0)
            m.collection.framework.ops.scope[add_op(&m, "attempt", row[i].range_begin_ms, row[i].range_ms)] =
                OP_SCOPE_USER;
        name_id text[] = { name(&m, "load"), name(&m, "loop"), name(&m, "load"), name(&m, "loop") };
        name_id message[] = { name(&m, "next batch"), name(&m, "next batch"), name(&m, "ProfilerStep#2") };
        m.collection.framework.python = (struct python_calls){
            .n = row[i].n_python, .begin_ns = begin_ns, .end_ns = end_ns, .thread = thread, .name = text
        };
        m.collection.profile.host.source.path = "host";
        m.collection.profile.host.source.host_clock.tick = (struct ticks){ 1, 1 };
        m.collection.profile.host.records.marks =
            (struct marks){ .n = row[i].n_marks, .begin = mark_begin, .end = mark_end, .message = message };
        assert_true(step_series_of_collection(&s, &m.collection, &m.device, NULL, m.mem));
        const struct step_item item = largest_cause(&m, &s, &m.device);
        assert_int_equal(item.cause, CAUSE_HOST);
        assert_int_equal(item.named, row[i].named);
        assert_string_equal(item.name, row[i].name);
        assert_int_equal((int64_t)item.more_ns / MS, row[i].name_ms);
        made_fini(&m);
    }
    (void)state;
}

/* What a step has more of by 5 ms, each put into the middle one of the job above; the sums are exact. */
static void parts_of_a_step_add_up(void **state)
{
    enum { RUNS, CLOCK, COPY, GC, DATA, REQUESTS, SPLIT };
    /* clang-format off */
    static const struct { const char *what; int kind; enum step_cause cause; const char *name; double more_ms; } row[] = {
        { "one more run", RUNS, CAUSE_RUNS, "MatMul", 4 },
        { "a clock of a half", CLOCK, CAUSE_CLOCK, "Softmax", 4 },
        { "a copy while nothing else ran", COPY, CAUSE_MEMORY, "MEMCPY_ASYNC", 5 },
        { "a garbage collection inside an operator", GC, CAUSE_GC, "", 5 },
        { "an operator that loads data, with one inside of it", DATA, CAUSE_DATA, "enumerate(DataLoader)", 5 },
        { "a server that waits for requests", REQUESTS, CAUSE_REQUESTS, "recv_requests", 5 },
        { "of two kernels at the same time the first one counts", SPLIT, CAUSE_RUNS, "Cast", 4 },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        static int64_t gc_begin[] = { 21 * MS }, gc_end[] = { 26 * MS };
        static uint32_t gc_process[1];
        struct made m;
        struct step_series s;
        struct step_division division;
        struct step_difference x;
        const uint32_t wanted = 2;
        const int kind = row[i].kind;
        print_message("  %s\n", row[i].what);
        make_job(&m, (struct more){ .operator_ms = kind == RUNS || kind == SPLIT ? 0
                                                   : kind == CLOCK               ? 0
                                                                                 : 5,
                                    .kernel_ms = kind == CLOCK ? 6 : 0,
                                    .outside_ms = kind == RUNS    ? 4
                                                  : kind == SPLIT ? 1
                                                                  : 0 });
        struct tasks *t = &m.device.tasks;
        if (kind == RUNS || kind == SPLIT) { /* before the others: tasks are sorted by their begin */
            memmove(&t->begin_ns[5], &t->begin_ns[4], 6 * sizeof *t->begin_ns);
            memmove(&t->dur_ns[5], &t->dur_ns[4], 6 * sizeof *t->dur_ns);
            memmove(&t->op[5], &t->op[4], 6 * sizeof *t->op);
            t->n++;
            t->copy_kind[10] = COPY_NONE;
            t->begin_ns[4] = 20 * MS + MS;
            t->dur_ns[4] = 4 * MS;
            t->op[4] = 4; /* a MatMul */
        }
        if (kind == SPLIT) { /* 3 of its 4 ms are beside the MatMul */
            m.collection.profile.host.ops.op_type[10] = m.collection.profile.host.ops.name[10] = name(&m, "Cast");
            t->op[4] = 10;
        }
        struct samples *f = &m.device.counters.rate[SAMPLER_FREQ];
        static int64_t at_ns[] = { 0, 20 * MS, 36 * MS };
        static uint64_t mhz[] = { 1800, 900, 1800 };
        if (kind == CLOCK) {
            f->n = m.device.counters.raw[SAMPLER_FREQ].n = ROWS(at_ns);
            f->at_ns = at_ns;
            f->column[LPM_ENTRY_VALUE].at = mhz;
            f->column[LPM_ENTRY_VALUE].width = sizeof *mhz;
        }
        if (kind == COPY) {
            memmove(&t->begin_ns[5], &t->begin_ns[4], 6 * sizeof *t->begin_ns);
            memmove(&t->dur_ns[5], &t->dur_ns[4], 6 * sizeof *t->dur_ns);
            memmove(&t->op[5], &t->op[4], 6 * sizeof *t->op);
            t->n++;
            t->copy_kind[10] = COPY_NONE;
            t->copy_kind[4] = 0;
            t->op[4] = NO_ROW;
            t->begin_ns[4] = 21 * MS;
            t->dur_ns[4] = 5 * MS;
            t->type[4] = name(&m, "MEMCPY_ASYNC");
        }
        if (kind == GC)
            m.collection.framework.gc = (struct collected_garbage){ 1, gc_begin, gc_end, gc_process };
        if (kind == DATA || kind == REQUESTS)
            for (size_t k = 0; k < m.collection.framework.ops.n; k++)
                if (m.collection.framework.ops.begin_ns[k] == 21 * MS &&
                    m.collection.framework.ops.end_ns[k] == 26 * MS) {
                    m.collection.framework.ops.name[k] =
                        name(&m, kind == DATA ? "enumerate(DataLoader)" : "recv_requests");
                    add_op(&m, "aten::stack", 22, 2);
                    break;
                }
        assert_true(step_series_of_collection(&s, &m.collection, &m.device, NULL, m.mem));
        assert_int_equal(s.requests_ns[2], kind == REQUESTS ? 5 * MS : 0);
        assert_int_equal(s.is_slow[2], kind != REQUESTS);
        assert_true(step_division_find(&division, &s, &m.collection.profile, &m.device, &m.collection, NULL, &wanted, 1,
                                       m.mem));
        assert_true(step_difference_find(&x, &division.of[0], &division.usual, (double)s.time_ns[2],
                                         (double)s.median_ns, 0, m.mem));
        assert_int_equal(division.n_usual, 4);
        assert_int_equal((int64_t)division.of[0].time_ns, s.time_ns[2]); /* without a rest */
        assert_int_equal((int64_t)division.usual.time_ns, 10 * MS);
        assert_int_equal(x.item[0].cause, row[i].cause);
        assert_string_equal(x.item[0].name, row[i].name);
        assert_int_equal((int64_t)x.item[0].more_ns, (int64_t)(row[i].more_ms * MS));
        double sum_ns = x.rest_ns;
        for (size_t k = 0; k < x.n; k++)
            sum_ns += x.item[k].more_ns;
        assert_int_equal((int64_t)sum_ns, (int64_t)x.more_ns);
        made_fini(&m);
    }
    (void)state;
}

static void without_a_device_steps_are_those_of_the_host(void **state)
{
    static const struct {
        const char *what;
        struct more more;
        enum step_cause cause;
        const char *name;
    } row[] = { { "an operator", { .operator_ms = 30 }, CAUSE_RUNS, "aten::item" },
                { "outside of operators", { .outside_ms = 30 }, CAUSE_HOST, "" } };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct made m;
        struct step_series s;
        print_message("  %s\n", row[i].what);
        make_job(&m, row[i].more);
        m.collection.profile.n_devices = 0;
        assert_true(step_series_of_collection(&s, &m.collection, NULL, NULL, m.mem));
        const struct step_item item = largest_cause(&m, &s, NULL);
        assert_true(s.is_host);
        assert_int_equal(s.median_ns, 10 * MS);
        assert_int_equal(s.median_part_ns[STEP_COMPUTING], 9 * MS);
        assert_int_equal(s.median_part_ns[STEP_FREE], 1 * MS);
        assert_int_equal(item.cause, row[i].cause);
        assert_string_equal(item.name, row[i].name);
        made_fini(&m);
    }
    (void)state;
}

static void steps_do_not_overlap(void **state)
{
    enum { STEPS = 2, WORK = 4, NONE = -1 };
    /* clang-format off */
    static const struct { const char *what; int64_t host[STEPS][2]; struct { int64_t launch, begin, end; bool is_kernel; } work[WORK];
                          int64_t time[STEPS][2], device_end[STEPS]; int step[WORK]; } row[] = {
        { "the host waits for the device", { { 10, 20 }, { 20, 30 } }, { { 11, 12, 20, true }, { 21, 22, 30, true } },
          { { 10, 20 }, { 20, 30 } }, { 20, 30 }, { 0, 1 } },
        { "the host runs ahead: a step begins when the device gets to it", { { 10, 14 }, { 14, 18 } }, { { 11, 12, 20, true }, { 15, 20, 30, true } },
          { { 10, 20 }, { 20, 30 } }, { 20, 30 }, { 0, 1 } },
        { "what is between two steps belongs to none", { { 10, 20 }, { 25, 30 } }, { { 11, 12, 20, true }, { 26, 26, 30, true } },
          { { 10, 20 }, { 25, 30 } }, { 20, 30 }, { 0, 1 } },
        { "but what is launched there belongs to the one before", { { 10, 20 }, { 25, 30 } }, { { 21, 22, 24, true }, { 26, 26, 30, true } },
          { { 10, 24 }, { 25, 30 } }, { 24, 30 }, { 0, 1 } },
        { "waiting before the first kernel belongs to the step that waits", { { 10, 20 }, { 20, 70 } }, { { 11, 12, 20, true }, { 60, 60, 70, true } },
          { { 10, 20 }, { 20, 70 } }, { 20, 70 }, { 0, 1 } },
        { "a collective beyond the end of its step delays no step", { { 10, 20 }, { 20, 30 } },
          { { 11, 12, 20, true }, { 12, 20, 29, false }, { 21, 22, 30, true } }, { { 10, 22 }, { 22, 30 } }, { 29, 30 }, { 0, 0, 1 } },
        { "nor does one that outlasts all steps", { { 10, 20 }, { 20, 30 } }, { { 11, 12, 40, false }, { 11, 12, 20, true }, { 21, 22, 30, true } },
          { { 10, 22 }, { 22, 40 } }, { 40, 30 }, { 0, 0, 1 } },
        { "without kernels its own first work counts", { { 10, 20 }, { 20, 30 } }, { { 11, 12, 28, false }, { 21, 24, 30, false } },
          { { 10, 24 }, { 24, 30 } }, { 28, 30 }, { 0, 1 } },
        { "what began before the steps delays the first one", { { 10, 20 }, { 20, 30 } }, { { 5, 6, 14, true }, { 11, 14, 20, true } },
          { { 14, 20 }, { 20, 30 } }, { 20, INT64_MIN }, { NONE, 0 } },
        { "what is launched behind the last step is in none", { { 10, 20 }, { 20, 30 } }, { { 31, 32, 40, true } },
          { { 10, 20 }, { 20, 30 } }, { INT64_MIN, INT64_MIN }, { NONE } },
    };
    /* clang-format on */
    struct arena *mem = arena_new();
    for (size_t i = 0; i < ROWS(row); i++) {
        const int64_t host_begin[STEPS] = { row[i].host[0][0], row[i].host[1][0] },
                      host_end[STEPS] = { row[i].host[0][1], row[i].host[1][1] };
        int64_t begin[STEPS], end[STEPS], device_end[STEPS];
        struct step_bounds b;
        print_message("  %s\n", row[i].what);
        assert_true(step_bounds_begin(&b, host_begin, host_end, STEPS, mem));
        for (size_t k = 0; k < WORK && row[i].work[k].end > 0; k++)
            assert_int_equal(step_bounds_add(&b, row[i].work[k].launch, row[i].work[k].begin, row[i].work[k].end,
                                             row[i].work[k].is_kernel),
                             row[i].step[k] == NONE ? NO_ROW : (uint32_t)row[i].step[k]);
        step_bounds_end(&b, begin, end, device_end);
        for (size_t k = 0; k < STEPS; k++) {
            assert_int_equal(begin[k], row[i].time[k][0]);
            assert_int_equal(end[k], row[i].time[k][1]);
            assert_int_equal(device_end[k], row[i].device_end[k]);
        }
    }
    arena_free(mem);
    (void)state;
}

static void add_of_thread(struct made *m, const char *what, unsigned thread, unsigned scope, int64_t begin_ms,
                          int64_t end_ms)
{
    const uint32_t row = add_op(m, what, begin_ms, end_ms - begin_ms);
    m->collection.framework.ops.thread[row] = thread;
    m->collection.framework.ops.scope[row] = (uint8_t)scope;
}

/* One step of 20 ms on thread 1. */
static void without_a_device_collectives_are_communication(void **state)
{
    enum { OP = 0, RANGE = OP_SCOPE_USER };
    static const struct {
        const char *what;
        struct {
            const char *name;
            unsigned thread, scope;
            int64_t begin_ms, end_ms;
        } op[4];
        int64_t part_ms[STEP_PARTS]; /* computing, overlapped, communication, free */
        bool has_communication;
    } row[] = {
        { "operators alone", { { "aten::mm", 1, OP, 2, 8 } }, { 6, 0, 0, 14 }, false },
        { "the step's thread waits outside of operators",
          { { "aten::mm", 1, OP, 2, 8 }, { "gloo:all_reduce", 2, RANGE, 10, 18 } },
          { 6, 0, 8, 6 },
          true },
        { "it computes meanwhile",
          { { "gloo:all_reduce", 2, RANGE, 1, 11 }, { "aten::mm", 1, OP, 2, 8 } },
          { 0, 6, 4, 10 },
          true },
        { "what other threads compute hides no wait",
          { { "gloo:all_reduce", 2, RANGE, 1, 11 }, { "aten::mm", 3, OP, 2, 8 } },
          { 0, 0, 10, 10 },
          true },
        { "an operator around the call waits, too",
          { { "c10d::allreduce_", 1, OP, 5, 15 }, { "gloo:all_reduce", 2, RANGE, 6, 14 } },
          { 2, 0, 8, 10 },
          true },
        { "so does a range that the user has put around the wait",
          { { "gloo:all_reduce", 2, RANGE, 5, 15 }, { "wait", 1, RANGE, 10, 16 } },
          { 1, 0, 10, 9 },
          true },
        { "two at the same time count once",
          { { "gloo:all_reduce", 2, RANGE, 5, 15 }, { "gloo:broadcast", 3, RANGE, 7, 17 } },
          { 0, 0, 12, 8 },
          true },
        { "a range around several steps says nothing about one of them",
          { { "epoch", 1, RANGE, 1, 30 }, { "aten::mm", 1, OP, 2, 8 } },
          { 6, 0, 0, 14 },
          false },
        { "a colon alone makes no collective", { { "mpi::rank", 1, OP, 2, 8 } }, { 6, 0, 0, 14 }, false },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct made m;
        struct step_series s;
        print_message("  %s\n", row[i].what);
        made_init(&m);
        struct framework_ops *o = &m.collection.framework.ops;
        struct profiler_steps *t = &m.collection.steps;
        COLUMN(&m, o->thread), COLUMN(&m, o->scope);
        add_of_thread(&m, "ProfilerStep#0", 1, RANGE, 0, 20);
        for (size_t k = 0; k < ROWS(row[i].op) && row[i].op[k].name; k++)
            add_of_thread(&m, row[i].op[k].name, row[i].op[k].thread, row[i].op[k].scope, row[i].op[k].begin_ms,
                          row[i].op[k].end_ms);
        t->id[0] = name(&m, "0");
        t->host_end_ns[0] = 20 * MS;
        add_of_thread(&m, "ProfilerStep#1", 7, RANGE, 20, 30); /* on another thread, where it computes all the time */
        add_of_thread(&m, "aten::mm", 7, OP, 20, 30);
        t->id[1] = name(&m, "1");
        t->op[1] = (uint32_t)o->n - 2;
        t->thread[0] = o->thread[0];
        t->thread[1] = o->thread[t->op[1]];
        t->host_begin_ns[1] = 20 * MS;
        t->host_end_ns[1] = 30 * MS;
        t->n = 2;
        assert_true(step_series_of_collection(&s, &m.collection, NULL, NULL, m.mem));
        assert_int_equal(s.has_communication, row[i].has_communication);
        for (int part = 0; part < STEP_PARTS; part++)
            assert_int_equal(s.part_ns[part][0], row[i].part_ms[part] * MS);
        assert_int_equal(s.part_ns[STEP_COMPUTING][1], 10 * MS);
        made_fini(&m);
    }
    (void)state;
}

static void iterations_are_chosen_by_model(void **state)
{
    /* Model 3: 1 and 2; training steps: 7, 8, 9. */
    static uint64_t model[] = { 3, 3, 9, 9, 9 }, index[] = { 1, 2, 7, 8, 9 }, begin[] = { 0, 10, 0, 10, 20 },
                    end[] = { 10, 30, 10, 20, 50 };
    static bool is_step[] = { false, false, true, true, true }, is_none[5];
    /* clang-format off */
    const struct { const char *what; bool *is_step; const struct step_choice *choice; size_t n, n_chosen; const char *slowest; bool has_model; } row[] = {
        { "training steps where there are some", is_step, NULL, 3, 3, "9", false },
        { "else the model that took most time", is_none, NULL, 3, 3, "9", true },
        { "the model that was asked for", is_step, &(struct step_choice){ 3, 1, 1 }, 2, 1, "2", true },
        { "the training steps that were asked for", is_step, &(struct step_choice){ 4294967295, 8, 9 }, 3, 2, "9", false },
        { "a model that is not there", is_step, &(struct step_choice){ 5, 1, 1 }, 0, 0, NULL, false },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        struct made m;
        struct step_series s;
        size_t n_chosen = 0;
        print_message("  %s\n", row[i].what);
        made_init(&m);
        m.device.source.device_clock.tick = (struct ticks){ 1, 1 };
        m.device.steps.iterations = (struct iterations){
            .n = 5, .model = model, .index = index, .begin = begin, .end = end, .is_step = row[i].is_step
        };
        assert_true(step_series_of_profile(&s, &m.collection.profile, &m.device, row[i].choice, m.mem));
        for (size_t k = 0; k < s.n; k++)
            n_chosen += s.is_chosen[k];
        assert_int_equal(s.n, row[i].n);
        assert_int_equal(n_chosen, row[i].n_chosen);
        assert_int_equal(s.has_model, row[i].has_model);
        if (row[i].slowest)
            assert_string_equal(names_text(m.collection.profile.names, s.name[s.slowest[0]]), row[i].slowest);
        made_fini(&m);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_median_of_computing_is_of_all_of_it),
        cmocka_unit_test(a_slow_step_has_more_of_something),
        cmocka_unit_test(what_the_host_did_has_a_name_where_one_was_recorded),
        cmocka_unit_test(parts_of_a_step_add_up),
        cmocka_unit_test(without_a_device_steps_are_those_of_the_host),
        cmocka_unit_test(without_a_device_collectives_are_communication),
        cmocka_unit_test(steps_do_not_overlap),
        cmocka_unit_test(iterations_are_chosen_by_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
