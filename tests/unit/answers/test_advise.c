/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <math.h>

#include "answers/checks/advise_checks.h"
#include "raw/chip.h"
#include "raw/enums.h"
#include "raw/host_records.h"

enum { MOST = 64, STEPS = 2 };

/* What a check looks at, made of columns: two steps of 10 ms each, 5 ms of which are transfers alone. */
struct made {
    struct profile p;
    struct device d;
    struct checked_rank s;
    struct spent spent[4];
    int64_t step_ns[2]; /* begin and end of the only row of the series */
};

static void *column(struct made *m, size_t size)
{
    void *c = arena_take(m->s.spare, MOST, size);
    assert_non_null(c);
    return c;
}
#define COLUMN(m, c) ((c) = column((m), sizeof *(c)))

static void made_init(struct made *m)
{
    *m = (struct made){
        .s = { .mem = arena_new(), .spare = arena_new(), .n_steps = STEPS, .per = "a step", .step_ns = 10e6 }
    };
    m->p.names = m->p.dictionary.names = names_new();
    m->p.chip = chip_of(5);
    m->s.rank = (struct run_rank){ .profile = &m->p, .device = &m->d, .names = m->p.names };
    m->step_ns[1] = INT64_MAX;
    m->s.series = (struct step_series){ .n = 1,
                                        .is_whole = true,
                                        .begin_ns = &m->step_ns[0],
                                        .end_ns = &m->step_ns[1],
                                        .host_begin_ns = &m->step_ns[0],
                                        .host_end_ns = &m->step_ns[1] };
    m->s.has_device = true;
    m->spent[0] = (struct spent){ SPENT_TRANSFER, "hcom_allReduce_", 5e6, 3, 0, { 0 } };
    m->spent[1] = (struct spent){ SPENT_HOST, "aten::item", 2e6, 3, 0, { 0 } };
    m->s.mean = (struct step_profile){ 2, m->spent, 10e6 };
    struct comm_ops *o = &m->d.comm.ops;
    COLUMN(m, o->name), COLUMN(m, o->group), COLUMN(m, o->begin_ns), COLUMN(m, o->dur_ns), COLUMN(m, o->is_shown);
    o->n = 1;
    struct comm_tasks *t = &m->d.comm.tasks;
    COLUMN(m, t->op), COLUMN(m, t->group), COLUMN(m, t->begin_ns), COLUMN(m, t->dur_ns), COLUMN(m, t->moved_bytes),
        COLUMN(m, t->moved_ns);
    COLUMN(m, t->src_rank), COLUMN(m, t->dst_rank), COLUMN(m, t->transport), COLUMN(m, t->link), COLUMN(m, t->size);
    COLUMN(m, t->has_info);
}

static void made_fini(struct made *m)
{
    names_free(m->p.names);
    dictionary_fini(&m->p.dictionary);
    arena_free(m->s.mem);
    arena_free(m->s.spare);
}

/* Once all columns are there. */
static void made_look(struct made *m)
{
    assert_true(rank_spans_find(&m->s.spans, &m->s.rank, &m->s.series, m->s.spare));
}

/* Transfers of the same size and speed. */
struct transfers {
    size_t n;
    uint32_t transport, to;
    uint64_t bytes;
    double gbs;
};

static void add_transfers(struct made *m, struct transfers x)
{
    struct comm_tasks *t = &m->d.comm.tasks;
    for (size_t i = 0; i < x.n; i++, t->n++) {
        assert_true(t->n < MOST);
        t->transport[t->n] = x.transport;
        t->link[t->n] = HCCL_LINK_HCCS;
        t->dst_rank[t->n] = x.to;
        t->size[t->n] = x.bytes;
        t->moved_bytes[t->n] = (double)x.bytes;
        t->moved_ns[t->n] = t->dur_ns[t->n] = (double)x.bytes / x.gbs;
        t->has_info[t->n] = true;
    }
}

static void transfers_are_compared_with_others_of_their_kind(void **state)
{
    enum { S = TRANSPORT_SDMA, R = TRANSPORT_RDMA };
    static const uint64_t MB = 1000000;
    typedef enum check_state check(const struct checked_rank *s, struct finding *out);
    /* clang-format off */
    const struct { const char *what; check *run; struct transfers x[4]; double gain_ms; size_t n; const char *found; } row[] = {
        { "no transfers", check_small_packets, { { 0 } }, -1, 0, NULL },
        { "half of the time is lost in small ones", check_small_packets, { { 8, S, 1, 2 * MB, 5 }, { 2, S, 1, 32 * MB, 20 } }, 5 * 2.4 / 6.4, 1, "transfers a step are small" },
        { "less than a fifth is small", check_small_packets, { { 1, S, 1, 2 * MB, 5 }, { 9, S, 1, 32 * MB, 20 } }, 0, 0, NULL },
        { "small ones without large ones have nothing to be compared with", check_small_packets, { { 8, S, 1, 2 * MB, 5 } }, 0, 0, NULL },
        { "RDMA has its own limit", check_small_packets, { { 4, R, 1, 2 * MB, 5 }, { 4, R, 1, 32 * MB, 20 } }, 0, 0, NULL },
        { "small ones of both transports", check_small_packets, { { 4, S, 1, 2 * MB, 5 }, { 2, S, 1, 32 * MB, 20 }, { 6, R, 1, MB / 2, 5 }, { 2, R, 1, 32 * MB, 20 } }, 5 * 1.65 / 8.6, 2, "5 transfers a step" },
        { "small ones that are as fast as large ones", check_small_packets, { { 8, S, 1, 2 * MB, 20 }, { 2, S, 1, 32 * MB, 20 } }, 0, 0, NULL },
        { "unaligned ones at half the speed", check_byte_alignment, { { 4, S, 1, 1048577, 10 }, { 4, S, 1, 1048576, 20 } }, 5.0 / 3, 1, "4 of 8 SDMA transfers" },
        { "aligned ones of other sizes are no reference", check_byte_alignment, { { 4, S, 1, 1048577, 10 }, { 4, S, 1, 8388608, 20 } }, 0, 0, NULL },
        { "very small ones do not count", check_byte_alignment, { { 4, S, 1, 500, 1 }, { 4, S, 1, 512, 20 } }, 0, 0, NULL },
        { "a link with a tenth of the bandwidth", check_slow_link, { { 2, S, 1, MB, 20 }, { 2, S, 2, MB, 2 }, { 2, S, 3, MB, 20 } }, 5 * 0.9 / 1.2, 1, "link 0 -> 2 " },
        { "two links say nothing about each other", check_slow_link, { { 2, S, 1, MB, 20 }, { 2, S, 2, MB, 2 } }, 0, 0, NULL },
        { "links of another transport are no reference", check_slow_link, { { 2, S, 1, MB, 20 }, { 2, R, 2, MB, 2 }, { 2, S, 3, MB, 20 } }, 0, 0, NULL },
        { "a transfer that took five seconds", check_retransmission, { { 1, R, 1, 5 * MB, 0.001 }, { 4, R, 2, 5 * MB, 10 } }, 5, 1, "1 RDMA transfer took" },
        { "one of three seconds is slow, and no retransmission", check_retransmission, { { 1, R, 1, 3 * MB, 0.001 }, { 4, R, 2, 3 * MB, 10 } }, 0, 0, NULL },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        struct made m;
        struct finding f = { 0 };
        print_message("  %s\n", row[i].what);
        made_init(&m);
        for (size_t k = 0; k < ROWS(row[i].x); k++)
            add_transfers(&m, row[i].x[k]);
        const enum check_state got = row[i].run(&m.s, &f);
        assert_int_equal(got == CHECK_UNRECORDED, row[i].gain_ms < 0);
        assert_true(got != CHECK_UNRECORDED || f.gain_ns == 0);
        if (row[i].gain_ms >= 0)
            assert_true(fabs(f.gain_ns / 1e6 - row[i].gain_ms) < 0.01);
        assert_int_equal(f.n, row[i].n);
        if (row[i].found)
            assert_non_null(strstr(f.found, row[i].found));
        made_fini(&m);
    }
    (void)state;
}

/* Calls of one thread in a row, each of 10 ticks. */
static void launches_that_wait_are_counted(void **state)
{
    enum { LAUNCH = 1, WAIT, OTHER };
    /* clang-format off */
    static const struct { const char *what; int n_launches, n_waits; bool is_gpu; enum check_state state; double lost_ns; } row[] = {
        { "no calls", 0, 0, false, CHECK_UNRECORDED, 0 },
        { "all wait", 24, 24, false, CHECK_FOUND, 220 },
        { "half of them wait", 24, 12, false, CHECK_FINE, 0 },
        { "too few to matter", 10, 10, false, CHECK_FINE, 0 },
        { "the same on a GPU, waiting less than it is free", 24, 20, true, CHECK_FOUND, 200 },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        struct made m;
        struct finding f = { 0 };
        print_message("  %s\n", row[i].what);
        made_init(&m);
        static const char *const name[][2] = { [LAUNCH] = { "launch", "cudaLaunchKernel" },
                                               [WAIT] = { "aclrtSynchronizeStream", "cudaStreamSynchronize" },
                                               [OTHER] = { "aclrtMemcpy", "cudaMemcpy" } };
        for (uint32_t k = LAUNCH; k <= OTHER; k++)
            assert_true(dictionary_add(&m.p.dictionary, dictionary_type_key(LEVEL_NODE, k),
                                       names_addz(m.p.names, name[k][row[i].is_gpu])));
        struct calls *c = &m.p.host.calls;
        COLUMN(&m, c->level), COLUMN(&m, c->type), COLUMN(&m, c->thread), COLUMN(&m, c->begin), COLUMN(&m, c->end);
        COLUMN(&m, c->first_of_thread);
        m.p.host.source.path = "host";
        m.p.host.source.host_clock.tick = (struct ticks){ 1, 1 };
        for (int k = 0; k < row[i].n_launches; k++)
            for (int which = 0; which < 2; which++, c->n++) {
                c->level[c->n] = LEVEL_NODE;
                c->type[c->n] = which == 0 ? LAUNCH : k < row[i].n_waits ? WAIT : OTHER;
                c->begin[c->n] = 100 * c->n;
                c->end[c->n] = c->begin[c->n] + 10;
            }
        c->n_threads = 1;
        c->first_of_thread[1] = (uint32_t)c->n;
        made_look(&m);
        assert_true(launch_waits_find(&m.s));
        double free_ns = 220;
        m.s.gaps.step_ns = &free_ns;
        assert_int_equal(check_launch_blocking(&m.s, &f), row[i].state);
        assert_true(fabs((f.step_ns ? f.step_ns[0] : 0) - row[i].lost_ns) < 0.01);
        m.s.gaps.sum_ns = m.s.step_ns * STEPS; /* it is free all the time, but no kernel says why */
        assert_int_equal(check_launch_bound(&m.s, &(struct finding){ 0 }), CHECK_UNRECORDED);
        made_fini(&m);
    }
    (void)state;
}

/* Kernels of 100 us each: their blocks, of 24 AI cores or 48 vector cores. */
static void blocks_and_types_of_kernels(void **state)
{
    /* clang-format off */
    static const struct { const char *what, *type; uint32_t blocks; double us; double blocks_gain_us, ai_cpu_gain_us; } row[] = {
        { "all cores", "AI_CORE", 24, 100, 0, 0 },
        { "half of them", "AI_CORE", 12, 100, 50, 0 },
        { "a second wave for one block", "AI_CORE", 25, 100, 100 * (1 - 25.0 / 48), 0 },
        { "vector cores", "AI_VECTOR_CORE", 24, 100, 50, 0 },
        { "a short one", "AI_CORE", 12, 10, 0, 0 },
        { "the AI CPU", "AI_CPU", 1, 100, 0, 100 },
        { "the AI CPU, shortly", "AI_CPU", 1, 10, 0, 0 },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        struct made m;
        struct finding blocks = { 0 }, ai_cpu = { 0 };
        print_message("  %s\n", row[i].what);
        made_init(&m);
        struct ops *o = &m.p.host.ops;
        struct tasks *t = &m.d.tasks;
        COLUMN(&m, o->name), COLUMN(&m, o->op_type), COLUMN(&m, o->task_type), COLUMN(&m, o->blocks);
        COLUMN(&m, t->op), COLUMN(&m, t->stream), COLUMN(&m, t->begin_ns), COLUMN(&m, t->dur_ns),
            COLUMN(&m, m.s.alone_ns), COLUMN(&m, t->is_hidden), COLUMN(&m, t->copy_kind), COLUMN(&m, t->type);
        m.d.source.ai_core_num = 24;
        m.d.source.aiv_num = 48;
        o->name[0] = o->op_type[0] = names_addz(m.p.names, "Mul");
        o->task_type[0] = names_addz(m.p.names, row[i].type);
        o->blocks[0] = row[i].blocks;
        t->n = 1;
        t->dur_ns[0] = m.s.alone_ns[0] = row[i].us * 1000;
        made_look(&m);
        check_block_dim(&m.s, &blocks);
        check_ai_cpu(&m.s, &ai_cpu);
        assert_true(fabs(blocks.gain_ns * STEPS / 1e3 - row[i].blocks_gain_us) < 0.01);
        assert_true(fabs(ai_cpu.gain_ns * STEPS / 1e3 - row[i].ai_cpu_gain_us) < 0.01);
        made_fini(&m);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transfers_are_compared_with_others_of_their_kind),
        cmocka_unit_test(launches_that_wait_are_counted),
        cmocka_unit_test(blocks_and_types_of_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
