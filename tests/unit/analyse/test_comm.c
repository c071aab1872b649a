/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/comm/comm_analysis.h"
#include "analyse/host/host_analysis.h"
#include "raw/enums.h"

static void flips_say_which_round_they_begin(void **state)
{
    /* clang-format off */
    static const struct {
        const char *what;
        uint64_t time[4], flip[3];
        uint16_t number[3];
        uint16_t round[4];
    } row[] = {
        { "no flip", { 1, 2, 3, 4 }, { 99, 99, 99 }, { 0 }, { 0, 0, 0, 0 } },
        { "a task at the very time of a flip is behind it", { 1, 2, 3, 4 }, { 3, 99, 99 }, { 1 }, { 0, 0, 1, 1 } },
        { "flips may have been missed", { 1, 2, 3, 4 }, { 2, 4, 99 }, { 5, 6 }, { 0, 5, 5, 6 } },
        { "a destroyed stream adds a round to all that follow", { 1, 3, 5, 7 }, { 2, 4, 6 }, { 65535, 1, 2 },
          { 0, 1, 2, 3 } },
        { "several flips between two tasks", { 1, 9, 9, 9 }, { 2, 3, 4 }, { 1, 65535, 2 }, { 0, 3, 3, 3 } },
    };
    /* clang-format on */
    static const uint32_t order[] = { 0, 1, 2, 3 };
    for (size_t i = 0; i < ROWS(row); i++) {
        uint16_t round[4];
        print_message("  %s\n", row[i].what);
        batch_by_number(order, 4, row[i].time, round, 3, row[i].flip, row[i].number);
        assert_memory_equal(round, row[i].round, sizeof round);
    }
    (void)state;
}

static void names_have_the_end_of_the_group_and_two_counts(void **state)
{
    struct profile p = { .names = names_new() };
    static const struct {
        const char *name, *wanted;
        uint64_t group;
        bool has_group;
        int64_t count;
    } row[] = {
        { "hcom_allReduce_", "hcom_allReduce__483_2_1", 7415574198778220483u, true, 2 },
        { "send", "send_7_-1_1", 7, true, -1 },
        { "send", "send_N/A_0_1", 0, false, 0 },
    };
    for (size_t i = 0; i < ROWS(row); i++)
        assert_string_equal(names_text(p.names, comm_op_name(&p, names_addz(p.names, row[i].name),
                                                             row[i].has_group ? &row[i].group : NULL, row[i].count, 1)),
                            row[i].wanted);
    names_free(p.names);
    (void)state;
}

static void tables_grow_and_are_sorted(void **state)
{
    struct arena *mem = arena_new();
    struct comm_tasks t = { 0 };
    assert_true(comm_tasks_resize(&t, 2, mem));
    t.begin_ns[0] = 5, t.plane[0] = 50, t.is_master[0] = true, t.size[0] = 500;
    t.begin_ns[1] = -7, t.plane[1] = 70, t.size[1] = 700;
    assert_true(comm_tasks_resize(&t, 4, mem));
    assert_int_equal(t.n, 4);
    assert_int_equal(t.size[1], 700);
    t.begin_ns[2] = 5, t.plane[2] = 51;
    t.begin_ns[3] = 4, t.plane[3] = 40;
    assert_true(comm_tasks_sort(&t, mem));
    static const int32_t plane[] = { 70, 40, 50, 51 };
    assert_memory_equal(t.plane, plane, sizeof plane);
    assert_true(t.is_master[2] && !t.is_master[0]);
    assert_int_equal(t.size[2], 500);

    struct comm_ops o = { 0 };
    assert_true(comm_ops_resize(&o, 1, mem));
    o.connection[0] = 9, o.is_shown[0] = true;
    assert_true(comm_ops_resize(&o, 2, mem));
    assert_true(o.connection[0] == 9 && o.is_shown[0] && !o.is_shown[1]);
    arena_free(mem);
    (void)state;
}

/* Tasks of one operator: "p" are pieces of a payload, the others are not. Every task lasts 10 ns and moves 100 bytes. */
static void pieces_of_a_payload_share_its_bandwidth(void **state)
{
    static const struct {
        const char *what, *op, *tasks;
        double gbs[8];
    } row[] = {
        { "each by itself", "reduce", "-----", { 10, 10, 10, 10, 10 } },
        { "sent and closed", "send", "-pp--", { 10, 5, 5, 10, 10 } },
        { "closed by the last task there is", "reduce", "p----", { 2, 10, 10, 10, 10 } },
        { "not closed: pieces count by themselves", "reduce", "-ppp--", { 10, 10, 10, 10, 10, 10 } },
        { "two payloads", "send", "p--pp--", { 100. / 30, 10, 10, 5, 5, 10, 10 } },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct arena *mem = arena_new();
        struct profile p = { .names = names_new() };
        struct communication c = { 0 };
        const size_t n = strlen(row[i].tasks);
        print_message("  %s\n", row[i].what);
        assert_true(comm_ops_resize(&c.ops, 1, mem) && comm_tasks_resize(&c.tasks, n, mem));
        c.ops.name[0] = names_addz(p.names, row[i].op);
        for (size_t k = 0; k < n; k++) {
            c.tasks.begin_ns[k] = (int64_t)k * 10;
            c.tasks.dur_ns[k] = 10;
            c.tasks.size[k] = 100;
            c.tasks.has_info[k] = true;
            c.tasks.rdma[k] = row[i].tasks[k] == 'p' ? RDMA_SEND_PAYLOAD : UINT32_MAX;
        }
        assert_true(comm_bandwidths(&p, &c, mem));
        for (size_t k = 0; k < n; k++)
            for (int is_generic = 0; is_generic < 2; is_generic++)
                assert_float_equal(comm_bandwidth_gbs(&c.tasks, k, is_generic), row[i].gbs[k], 1e-9);
        names_free(p.names);
        arena_free(mem);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flips_say_which_round_they_begin),
        cmocka_unit_test(names_have_the_end_of_the_group_and_two_counts),
        cmocka_unit_test(tables_grow_and_are_sorted),
        cmocka_unit_test(pieces_of_a_payload_share_its_bandwidth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
