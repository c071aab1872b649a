/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of a rank of a job, divided by what its device did. */
#include "test.h"

#include "cluster/rank/rank_parts.h"
#include "cluster/rank/summary_parts.h"

enum { MS = 1000000, MOST = 8 };

struct made {
    struct rank rank;
    struct arena *mem;
};

static void *column(struct made *m, size_t width)
{
    void *made = arena_take(m->mem, MOST, width);
    assert_non_null(made);
    return made;
}
#define COLUMN(m, member) ((member) = column(m, sizeof *(member)))

static void made_init(struct made *m)
{
    *m = (struct made){ .mem = arena_new() };
    struct rank *r = &m->rank;
    *r = (struct rank){ .names = names_new(), .mem = m->mem, .has = RANK_TASKS | RANK_STEPS };
    COLUMN(m, r->steps.id), COLUMN(m, r->steps.begin_ns), COLUMN(m, r->steps.end_ns);
    COLUMN(m, r->tasks.type), COLUMN(m, r->tasks.begin_ns), COLUMN(m, r->tasks.end_ns);
    COLUMN(m, r->tasks.connection), COLUMN(m, r->tasks.kernel);
    COLUMN(m, r->kernels.name);
    COLUMN(m, r->collectives.begin_ns), COLUMN(m, r->collectives.end_ns), COLUMN(m, r->collectives.launch_ns);
    COLUMN(m, r->collectives.connection);
    COLUMN(m, r->calls.begin_ns), COLUMN(m, r->calls.connection);
    COLUMN(m, r->ops.begin_ns), COLUMN(m, r->op_links.connection), COLUMN(m, r->op_links.op);
}

static void made_fini(struct made *m)
{
    names_free(m->rank.names);
    arena_free(m->mem);
}

/* What is launched at a time: by an operator, by a call, or nobody knows. */
enum { BY_OP, BY_CALL, UNKNOWN };
static uint64_t launch(struct made *m, int64_t ms, int by)
{
    struct rank *r = &m->rank;
    const uint64_t connection = r->calls.n + 1;
    if (by == UNKNOWN)
        return CONNECTION_NONE;
    r->calls.begin_ns[r->calls.n] = by == BY_OP ? 1000 * MS : ms * MS; /* another thread launches it much later */
    r->calls.connection[r->calls.n++] = connection;
    if (by == BY_OP) {
        r->ops.begin_ns[r->ops.n] = ms * MS;
        r->op_links.connection[r->op_links.n] = connection;
        r->op_links.op[r->op_links.n++] = (uint32_t)r->ops.n++;
    }
    return connection;
}

static void add_kernel(struct made *m, const char *name, int64_t launch_ms, int by, int64_t begin_ms, int64_t end_ms)
{
    struct rank *r = &m->rank;
    r->kernels.name[r->kernels.n] = names_addz(r->names, name);
    r->tasks.kernel[r->tasks.n] = (uint32_t)r->kernels.n++;
    r->tasks.type[r->tasks.n] = names_addz(r->names, "KERNEL");
    r->tasks.connection[r->tasks.n] = launch(m, launch_ms, by);
    r->tasks.begin_ns[r->tasks.n] = begin_ms * MS;
    r->tasks.end_ns[r->tasks.n++] = end_ms * MS;
}

static void add_collective(struct made *m, int64_t launch_ms, int64_t begin_ms, int64_t end_ms)
{
    struct rank_collectives *c = &m->rank.collectives;
    c->connection[c->n] = launch(m, launch_ms, BY_CALL);
    c->launch_ns[c->n] = launch_ms * MS;
    c->begin_ns[c->n] = begin_ms * MS;
    c->end_ns[c->n++] = end_ms * MS;
}

static void steps_are_divided(void **state)
{
    /* clang-format off */
    static const struct { const char *what, *kernel; int by; int64_t until, us[2][4]; } row[] = { /* computing, exposed, overlapped, free */
        { "a collective within its step", "sgemm", BY_OP, 19, { { 5000, 3000, 1000, 2000 }, { 5000, 0, 0, 5000 } } },
        { "one that lasts beyond it", "sgemm", BY_OP, 26, { { 5000, 5000, 1000, 1000 }, { 5000, 0, 5000, 4000 } } },
        { "launches are known of calls alone", "sgemm", BY_CALL, 26, { { 5000, 5000, 1000, 1000 }, { 5000, 0, 5000, 4000 } } },
        { "or of nothing", "sgemm", UNKNOWN, 26, { { 5000, 5000, 1000, 1000 }, { 5000, 0, 5000, 4000 } } },
        { "kernels of NCCL are no computing", "ncclDevKernel_AllReduce", BY_OP, 19, { { 0, 4000, 0, 6000 }, { 0, 0, 0, 10000 } } },
    };
    /* clang-format on */
    static const enum step_column column_of[] = { STEP_COLUMN_COMPUTING, STEP_COLUMN_EXPOSED, STEP_COLUMN_OVERLAPPED,
                                                  STEP_COLUMN_FREE };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct made m;
        print_message("  %s\n", row[i].what);
        made_init(&m);
        for (int64_t step = 0; step < 2; step++) {
            m.rank.steps.id[step] = 7 + step;
            m.rank.steps.begin_ns[step] = (10 + 10 * step) * MS;
            m.rank.steps.end_ns[step] = (20 + 10 * step) * MS;
            m.rank.steps.n++;
        }
        add_kernel(&m, row[i].kernel, 10, row[i].by, 11, 16);
        add_collective(&m, 12, 15, row[i].until);
        add_kernel(&m, row[i].kernel, 20, row[i].by, 21, 26);
        struct rank_summary s = { .mem = m.mem, .names = m.rank.names };
        assert_true(summarise_own_steps(&s, &m.rank));
        assert_int_equal(s.own_steps.n, 2);
        for (size_t step = 0; step < 2; step++) {
            assert_string_equal(names_text(s.names, s.own_steps.step[step]), step == 0 ? "7" : "8");
            for (size_t k = 0; k < ROWS(column_of); k++)
                assert_int_equal(s.own_steps.us[column_of[k]][step], row[i].us[step][k]);
        }
        made_fini(&m);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(steps_are_divided) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
