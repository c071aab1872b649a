/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a summary, each from a rank that is short enough to be seen at once. Times are small: 1 stands for 1 ns. */
#include "test.h"

#include "cluster/rank/summary_parts.h"
#include "profile/calls.h"

enum { MOST = 12, NONE = -1 };

/* What runs on the device: a kernel, a copy, or a task of another type; or a collective. */
enum { KERNEL, COPY, OTHER, COLLECTIVE };
struct made_task {
    int kind;
    int64_t begin, end;
    uint64_t connection; /* 0: behind the last */
};

struct made_rank {
    struct rank r;
    struct rank_summary s;
    uint32_t kernel[MOST], stream[MOST], link_op[MOST];
    name_id type[MOST], kernel_name[MOST], op_type[MOST], shapes[MOST], name[MOST], data_type[MOST];
    int64_t begin[MOST], end[MOST], c_begin[MOST], c_end[MOST], launch[MOST];
    uint64_t connection[MOST], c_connection[MOST], link[MOST];
    int64_t step_id[2], step_begin[2], step_end[2];
};

static void make(struct made_rank *m, const struct made_task *task)
{
    *m = (struct made_rank){ .r.mem = arena_new(), .r.names = names_new() };
    struct names *names = m->r.names;
    size_t n = 0, n_kernels = 0, n_collectives = 0;
    for (const struct made_task *t = task; t->connection; t++) {
        if (t->kind == COLLECTIVE) {
            m->name[n_collectives] = names_addz(names, "hcom_allReduce__1_0_1");
            m->c_begin[n_collectives] = t->begin;
            m->c_end[n_collectives] = t->end;
            m->launch[n_collectives] = t->begin;
            m->c_connection[n_collectives++] = t->connection;
            continue;
        }
        m->kernel[n] = NO_ROW;
        if (t->kind == KERNEL) {
            m->kernel_name[n_kernels] = names_addz(names, t->connection % 2 ? "odd" : "even");
            m->op_type[n_kernels] = names_addz(names, "MatMul");
            m->shapes[n_kernels] = names_addz(names, "\"2,2\"");
            m->kernel[n] = (uint32_t)n_kernels++;
        }
        m->type[n] = names_addz(names, t->kind == COPY ? "MEMCPY_ASYNC" : t->kind == OTHER ? "MsTx" : "AI_CORE");
        m->begin[n] = t->begin;
        m->end[n] = t->end;
        m->connection[n++] = t->connection;
    }
    m->r.has = RANK_TASKS | RANK_COLLECTIVES;
    m->r.tasks = (struct rank_tasks){ n, m->type, m->begin, m->end, m->connection, m->kernel, m->stream };
    m->r.kernels = (struct rank_kernels){ .n = n_kernels,
                                          .name = m->kernel_name,
                                          .op_type = m->op_type,
                                          .task_type = m->op_type,
                                          .input_shapes = m->shapes };
    m->r.collectives = (struct rank_collectives){ .n = n_collectives,
                                                  .name = m->name,
                                                  .begin_ns = m->c_begin,
                                                  .end_ns = m->c_end,
                                                  .launch_ns = m->launch,
                                                  .connection = m->c_connection };
    m->s = (struct rank_summary){ .mem = m->r.mem, .names = names };
}

/* Steps 5 and 6: 0 … 100 and 100 … 200. */
static void add_steps(struct made_rank *m)
{
    for (size_t i = 0; i < 2; i++) {
        m->step_id[i] = 5 + (int64_t)i;
        m->step_begin[i] = 100 * (int64_t)i;
        m->step_end[i] = 100 * (int64_t)i + 100;
    }
    m->s.steps = (struct rank_steps){ 2, m->step_id, m->step_begin, m->step_end, NULL };
}

static void unmake(struct made_rank *m)
{
    arena_free(m->r.mem);
    names_free(m->r.names);
}

static void exposed_is_what_kernels_leave_of_collectives(void **state)
{
    static const struct {
        const char *what;
        struct made_task task[MOST];
        size_t n;
        int64_t wanted[8]; /* begin, end … */
    } row[] = {
        { "no collective", { { KERNEL, 1, 5, 1 } }, 0, { 0 } },
        { "alone", { { COLLECTIVE, 1, 5, 1 } }, 1, { 1, 5 } },
        { "covered", { { KERNEL, 0, 9, 1 }, { COLLECTIVE, 1, 5, 2 } }, 0, { 0 } },
        { "a kernel in the middle", { { COLLECTIVE, 0, 9, 1 }, { KERNEL, 3, 5, 2 } }, 2, { 0, 3, 5, 9 } },
        { "a kernel over the end of one and the begin of the next",
          { { COLLECTIVE, 0, 9, 1 }, { KERNEL, 7, 15, 2 }, { COLLECTIVE, 12, 20, 3 } },
          2,
          { 0, 7, 15, 20 } },
        { "collectives that overlap are one",
          { { COLLECTIVE, 0, 9, 1 }, { COLLECTIVE, 5, 12, 1 }, { KERNEL, 10, 11, 2 } },
          2,
          { 0, 10, 11, 12 } },
        { "copies do not count", { { COLLECTIVE, 0, 9, 1 }, { COPY, 3, 5, 2 } }, 1, { 0, 9 } },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct made_rank m;
        print_message("  %s\n", row[i].what);
        make(&m, row[i].task);
        assert_true(summarise_exposed(&m.s, &m.r));
        assert_int_equal(m.s.exposed.n, row[i].n);
        for (size_t k = 0; k < row[i].n; k++) {
            assert_int_equal(m.s.exposed.begin_ns[k], row[i].wanted[2 * k]);
            assert_int_equal(m.s.exposed.end_ns[k], row[i].wanted[2 * k + 1]);
        }
        unmake(&m);
    }
    (void)state;
}

/* Wanted numbers of the second column are those of the peer's get_memory_not_overlap(). */
static void copies_count_in_the_step_of_their_begin(void **state)
{
    static const struct {
        const char *what;
        struct made_task task[MOST];
        int64_t copy[3], exposed[3]; /* first step, second step, none */
    } row[] = {
        { "alone", { { COPY, 10, 20, 1 } }, { 10, 0, 0 }, { 10, 0, 0 } },
        { "in each step and behind",
          { { COPY, 10, 20, 1 }, { COPY, 110, 115, 2 }, { COPY, 300, 301, 3 } },
          { 10, 5, 1 },
          { 10, 5, 1 } },
        { "half under a kernel", { { KERNEL, 5, 15, 1 }, { COPY, 10, 20, 2 } }, { 10, 0, 0 }, { 5, 0, 0 } },
        { "inside of a collective", { { COLLECTIVE, 5, 25, 1 }, { COPY, 10, 20, 2 } }, { 10, 0, 0 }, { 0, 0, 0 } },
        { "a kernel follows before its end",
          { { COPY, 10, 20, 1 }, { KERNEL, 15, 30, 2 } },
          { 10, 0, 0 },
          { 5, 0, 0 } },
        { "a kernel in the middle", { { COPY, 10, 20, 1 }, { KERNEL, 13, 15, 2 } }, { 10, 0, 0 }, { 8, 0, 0 } },
        { "a kernel without length does not count",
          { { COPY, 10, 20, 1 }, { KERNEL, 13, 13, 2 } },
          { 10, 0, 0 },
          { 10, 0, 0 } },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct made_rank m;
        int64_t copy[3] = { 0 }, exposed[3] = { 0 };
        print_message("  %s\n", row[i].what);
        make(&m, row[i].task);
        add_steps(&m);
        m.s.sums = (struct summary_step_sums){ .n = 3, .copy_ns = copy, .copy_exposed_ns = exposed };
        assert_true(summarise_copies(&m.s, &m.r));
        assert_memory_equal(copy, row[i].copy, sizeof copy);
        assert_memory_equal(exposed, row[i].exposed, sizeof exposed);
        unmake(&m);
    }
    (void)state;
}

/* Calls and operators of connections 1 and 2: the operator ends, the call begins and ends. */
static void gaps_have_the_reason_of_the_launches_around_them(void **state)
{
    enum { US = 1000 };
    static const struct {
        const char *what;
        struct made_task task[MOST];
        int64_t host[2][3];
        enum gap_reason reason;
        int64_t ns, framework, runtime;
        const char *tasks;
    } row[] = {
        { "the framework was late",
          { { KERNEL, 0, 10, 1 }, { KERNEL, 900, 910, 2 } },
          { { 1, 2, 3 }, { 501, 502, 504 } },
          GAP_FRAMEWORK,
          500,
          500,
          501,
          "" },
        { "the launch took long",
          { { KERNEL, 0, 10, 1 }, { KERNEL, 900, 910, 2 } },
          { { 1, 2, 3 }, { 4, 60 * US, 200 * US } },
          GAP_LAUNCH,
          140 * US,
          3,
          200 * US - 3,
          "" },
        { "long between two launches",
          { { KERNEL, 0, 10, 1 }, { COLLECTIVE, 900, 910, 2 }, { OTHER, 900, 910, 2 } },
          { { 1, 2, 3 }, { 4, 60 * US, 61 * US } },
          GAP_BETWEEN_LAUNCHES,
          60 * US - 3,
          3,
          61 * US - 3,
          "" },
        { "no operator of the second",
          { { KERNEL, 0, 10, 1 }, { KERNEL, 900, 910, 3 } },
          { { 1, 2, 3 }, { 4, 5, 6 } },
          GAP_NO_OPERATOR,
          0,
          INT64_MIN,
          INT64_MIN,
          "" },
        { "other tasks ran: the most frequent type first",
          { { KERNEL, 0, 10, 1 },
            { OTHER, 20, 30, 9 },
            { COPY, 25, 40, 9 },
            { COPY, 50, 60, 9 },
            { KERNEL, 100, 110, 2 } },
          { { 1, 2, 3 }, { 4, 5, 6 } },
          GAP_TASKS,
          40,
          INT64_MIN,
          INT64_MIN,
          "2 MEMCPY_ASYNC tasks, 1 MsTx tasks" },
        { "no task before: collectives have none of their own here",
          { { COLLECTIVE, 0, 10, 1 }, { KERNEL, 100, 110, 2 } },
          { { 1, 2, 3 }, { 4, 5, 6 } },
          GAP_NO_NEIGHBOUR,
          0,
          INT64_MIN,
          INT64_MIN,
          "" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct made_rank m;
        print_message("  %s\n", row[i].what);
        make(&m, row[i].task);
        int64_t op_begin[2] = { 0, 0 }, op_end[2], call_begin[2], call_end[2];
        uint64_t connection[2] = { 1, 2 };
        uint32_t op[2] = { 0, 1 };
        for (size_t k = 0; k < 2; k++) {
            op_end[k] = row[i].host[k][0];
            call_begin[k] = row[i].host[k][1];
            call_end[k] = row[i].host[k][2];
        }
        m.r.calls = (struct rank_calls){ .n = 2, .begin_ns = call_begin, .end_ns = call_end, .connection = connection };
        m.r.ops = (struct rank_ops){ .n = 2, .begin_ns = op_begin, .end_ns = op_end };
        m.r.op_links = (struct rank_op_links){ 2, connection, op };
        assert_true(summarise_gaps(&m.s, &m.r));
        assert_int_equal(m.s.gaps.n, 1);
        assert_int_equal(m.s.gaps.reason[0], row[i].reason);
        assert_int_equal(m.s.gaps.reason_ns[0], row[i].ns);
        assert_int_equal(m.s.gaps.framework_idle_ns[0], row[i].framework);
        assert_int_equal(m.s.gaps.runtime_idle_ns[0], row[i].runtime);
        assert_string_equal(names_text(m.r.names, m.s.gaps.tasks[0]), row[i].tasks);
        unmake(&m);
    }
    (void)state;
}

static void gaps_are_ordered_and_have_steps(void **state)
{
    static const struct made_task task[MOST] = { { KERNEL, 0, 10, 1 },      { KERNEL, 15, 20, 1 },
                                                 { COLLECTIVE, 18, 30, 1 }, { COPY, 40, 50, 1 },
                                                 { KERNEL, 90, 120, 1 },    { COLLECTIVE, 120, 130, 1 },
                                                 { KERNEL, 140, 150, 1 },   { COPY, 160, 170, 1 },
                                                 { KERNEL, 250, 260, 1 } };
    static const int64_t wanted[][3] = { { 150, 250, 1 }, { 30, 90, 0 }, { 130, 140, 1 }, { 10, 15, 0 } };
    struct made_rank m;
    make(&m, task);
    add_steps(&m);
    assert_true(summarise_gaps(&m.s, &m.r));
    assert_int_equal(m.s.gaps.n, ROWS(wanted));
    for (size_t i = 0; i < ROWS(wanted); i++) {
        assert_int_equal(m.s.gaps.begin_ns[i], wanted[i][0]);
        assert_int_equal(m.s.gaps.end_ns[i], wanted[i][1]);
        assert_int_equal(m.s.gaps.step[i], wanted[i][2]);
        assert_string_equal(names_text(m.r.names, m.s.gaps.tasks[i]), i < 2 ? "1 MEMCPY_ASYNC tasks" : "");
    }
    unmake(&m);
    (void)state;
}

static void runs_and_calls_are_grouped_by_name_and_step(void **state)
{
    static const struct made_task task[MOST] = { { KERNEL, 0, 10, 1 },    { KERNEL, 20, 24, 2 },
                                                 { KERNEL, 30, 35, 1 },   { KERNEL, 100, 101, 1 },
                                                 { KERNEL, 101, 108, 1 }, { COPY, 150, 160, 4 },
                                                 { KERNEL, 300, 303, 2 } };
    struct made_rank m;
    make(&m, task);
    add_steps(&m);
    assert_true(summarise_runs(&m.s, &m.r));
    static const struct {
        const char *name;
        uint32_t step;
        size_t n;
        int64_t ns[3];
    } run[] = {
        { "even", 0, 1, { 4 } }, { "even", NO_ROW, 1, { 3 } }, { "odd", 0, 3, { 1, 5, 10 } }, { "odd", 1, 1, { 7 } }
    };
    assert_int_equal(m.s.kernels.n, ROWS(run));
    for (size_t i = 0; i < ROWS(run); i++) {
        const struct summary_runs *k = &m.s.kernels;
        assert_string_equal(names_text(m.r.names, k->name[i]), run[i].name);
        assert_string_equal(names_text(m.r.names, k->input_shapes[i]), "\"2,2\"");
        assert_int_equal(k->step[i], run[i].step);
        assert_int_equal(k->first[i + 1] - k->first[i], run[i].n);
        assert_memory_equal(k->ns + k->first[i], run[i].ns, run[i].n * sizeof *run[i].ns);
    }
    m.kernel[2] = m.kernel[0]; /* a graph that ran twice */
    m.r.kernels.n = 1;
    m.kernel[1] = m.kernel[3] = m.kernel[4] = m.kernel[6] = NO_ROW;
    assert_true(summarise_runs(&m.s, &m.r));
    assert_int_equal(m.s.kernels.first[m.s.kernels.n], 2);

    name_id name[4] = { names_addz(m.r.names, "launch"), names_addz(m.r.names, "free"), name[0], name[0] };
    int64_t begin[4] = { 1, 2, 50, 110 }, end[4] = { 5, 3, 52, 116 };
    m.r.calls = (struct rank_calls){ .n = 4, .name = name, .begin_ns = begin, .end_ns = end };
    assert_true(summarise_calls(&m.s, &m.r));
    static const struct {
        const char *name;
        uint32_t step;
        int64_t count, total, min, max;
        double q1, median, q3;
    } call[] = { { "free", 0, 1, 1, 1, 1, 1, 1, 1 },
                 { "free", NO_ROW, 1, 1, 1, 1, 1, 1, 1 },
                 { "launch", 0, 2, 6, 2, 4, 2.5, 3, 3.5 },
                 { "launch", 1, 1, 6, 6, 6, 6, 6, 6 },
                 { "launch", NO_ROW, 3, 12, 2, 6, 3, 4, 5 } };
    const struct summary_calls *c = &m.s.calls;
    assert_int_equal(c->n, ROWS(call));
    for (size_t i = 0; i < ROWS(call); i++) {
        assert_string_equal(names_text(m.r.names, c->name[i]), call[i].name);
        assert_int_equal(c->step[i], call[i].step);
        assert_int_equal(c->count[i], call[i].count);
        assert_int_equal(c->total_ns[i], call[i].total);
        assert_int_equal(c->min_ns[i], call[i].min);
        assert_int_equal(c->max_ns[i], call[i].max);
        assert_true(c->q1_ns[i] == call[i].q1 && c->median_ns[i] == call[i].median && c->q3_ns[i] == call[i].q3);
    }
    assert_true(c->stdev_ns[2] == 1);
    unmake(&m);
    (void)state;
}

static void marks_have_the_times_of_their_tasks_and_operators(void **state)
{
    static const struct made_task task[MOST] = { { OTHER, 10, 30, 7 }, { KERNEL, 40, 50, 8 } };
    struct made_rank m;
    make(&m, task);
    name_id message[3] = { names_addz(m.r.names, "forward"), names_addz(m.r.names, "backward"), message[0] };
    int64_t begin[3] = { 1, 2, 3 }, end[3] = { 4, 5, 6 }, op_begin[1] = { 77 };
    uint64_t connection[3] = { 7, 9, UINT32_MAX }, thread[3] = { 0 }, link[1] = { 9 };
    uint8_t type[3] = { 2, 3, 2 };
    uint32_t op[1] = { 0 };
    m.r.marks = (struct rank_marks){ 3, message, message, begin, end, type, thread, connection };
    m.r.ops = (struct rank_ops){ .n = 1, .begin_ns = op_begin };
    m.r.op_links = (struct rank_op_links){ 1, link, op };
    assert_true(summarise_marks(&m.s, &m.r));
    const struct summary_marks *s = &m.s.marks;
    assert_int_equal(s->marks.n, 3);
    assert_int_equal(s->marks.message[1], message[1]);
    assert_int_equal(s->device_begin_ns[0], 10);
    assert_int_equal(s->device_end_ns[0], 30);
    assert_int_equal(s->framework_ns[0], INT64_MIN);
    assert_int_equal(s->device_begin_ns[1], INT64_MIN);
    assert_int_equal(s->framework_ns[1], 77);
    assert_int_equal(s->device_end_ns[2], INT64_MIN);
    unmake(&m);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exposed_is_what_kernels_leave_of_collectives),
        cmocka_unit_test(copies_count_in_the_step_of_their_begin),
        cmocka_unit_test(gaps_have_the_reason_of_the_launches_around_them),
        cmocka_unit_test(gaps_are_ordered_and_have_steps),
        cmocka_unit_test(runs_and_calls_are_grouped_by_name_and_step),
        cmocka_unit_test(marks_have_the_times_of_their_tasks_and_operators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
