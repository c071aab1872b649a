/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/comm/comm_analysis.h"
#include "raw/enums.h"

/* A device whose counter counts microseconds, with the small tasks of one collective. */
struct sample {
    struct profile profile;
    struct device device;
    struct comm_event event[32];
    size_t n;
    struct comm_sorter sorter;
    struct arena *mem;
};

static void take(struct sample *s, size_t n)
{
    struct tasks *t = &s->device.tasks;
    s->device.source.device_clock = (struct clock){ .tick = { 1000, 1 } };
    t->begin_tick = arena_take(s->mem, n, sizeof *t->begin_tick);
    t->end_tick = arena_take(s->mem, n, sizeof *t->end_tick);
    assert_true(comm_tasks_resize(&s->device.comm.tasks, n, s->mem));
    assert_true(comm_sorter_init(&s->sorter, &s->profile, n, s->mem));
}

/* "name plane begin-end bytes src>dst link", with a word for each kind of task; '*' before it: on the master stream. */
static void add(struct sample *s, const char *text)
{
    static const struct {
        const char *word, *name;
        uint32_t transport, rdma;
    } kind[] = {
        { "copy", "Memcpy", TRANSPORT_SDMA, UINT32_MAX },
        { "reduce", "Reduce_Inline", TRANSPORT_SDMA, UINT32_MAX },
        { "local", "Memcpy", TRANSPORT_LOCAL, UINT32_MAX },
        { "wait", "Notify_Wait", TRANSPORT_SDMA, UINT32_MAX },
        { "record", "Notify_Record", TRANSPORT_SDMA, UINT32_MAX },
        { "send", "RDMASend", TRANSPORT_RDMA, RDMA_SEND_PAYLOAD },
    };
    struct comm_tasks *t = &s->device.comm.tasks;
    const size_t i = s->n++;
    const bool is_master = *text == '*';
    char word[16];
    unsigned plane, begin, end, bytes, from, to, link;
    assert_int_equal(
        sscanf(text + is_master, "%15s %u %u-%u %u %u>%u %u", word, &plane, &begin, &end, &bytes, &from, &to, &link),
        8);
    for (size_t k = 0; k < ROWS(kind); k++)
        if (strcmp(kind[k].word, word) == 0) {
            t->name[i] = names_addz(s->profile.names, kind[k].name);
            t->transport[i] = kind[k].transport;
            t->rdma[i] = kind[k].rdma;
        }
    t->plane[i] = (int32_t)plane;
    t->size[i] = bytes;
    t->src_rank[i] = from;
    t->dst_rank[i] = to == 99 ? UINT32_MAX : to;
    t->link[i] = link;
    t->is_master[i] = is_master;
    t->has_info[i] = true;
    t->task_row[i] = (uint32_t)i;
    s->device.tasks.begin_tick[i] = begin;
    s->device.tasks.end_tick[i] = end;
    s->event[i] = (struct comm_event){ &s->device, (uint32_t)i };
}

static struct sample *sample_of(const char *const *line)
{
    struct sample *s = calloc(1, sizeof *s);
    s->mem = arena_new();
    s->profile.names = names_new();
    take(s, ROWS(s->event));
    for (; *line; line++)
        add(s, *line);
    return s;
}

static void sample_free(struct sample *s)
{
    names_free(s->profile.names);
    arena_free(s->mem);
    free(s);
}

static void time_of_a_collective(void **state)
{
    /* clang-format off */
    static const struct {
        const char *what;
        const char *line[8];
        double elapse, transit, wait, sync, idle, wait_ratio; /* us; ratio as it is */
    } row[] = {
        { "waiting alone: all of it is synchronisation", { "*wait 0 10-30 0 0>1 1" }, 20, 0, 20, 20, 0, 1 },
        { "waiting after something moved is no synchronisation",
          { "*wait 0 0-10 0 0>1 1", "*copy 0 10-30 8 0>1 1", "*wait 0 40-50 0 0>1 1" }, 50, 20, 20, 10, 10, 0.5 },
        { "a copy on the chip moves nothing", { "*copy 0 0-10 8 0>99 0", "*wait 0 10-20 0 0>1 1" }, 20, 0, 10, 10, 10, 1 },
        { "other planes do not count", { "*copy 0 0-10 8 0>1 1", "copy 1 0-99 8 0>2 1" }, 10, 10, 0, 0, 0, 0 },
        { "all tasks of the master plane count, whether on the master stream or not",
          { "*copy 0 5-10 8 0>1 1", "copy 0 0-3 8 0>1 1" }, 10, 8, 0, 0, 2, 0 },
        { "a payload is in transit until the task that closes it ends",
          { "*send 0 0-5 8 0>1 3", "*send 0 5-6 8 0>1 3", "*record 0 6-7 0 0>1 1", "*wait 0 7-8 0 0>1 1",
            "*record 0 8-9 0 0>1 1", "*wait 0 9-19 0 0>1 1", "*wait 0 19-20 0 0>1 1" }, 20, 19, 1, 0, 0, 0.05 },
        { "without that task it is not known when it ended",
          { "*send 0 0-5 8 0>1 3", "*record 0 6-7 0 0>1 1" }, 7, 0, 0, 0, 7, 0 },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct sample *s = sample_of(row[i].line);
        struct comm_cost c = { .mem = s->mem };
        assert_true(comm_cost_fill(&c, &s->sorter, s->event, s->n, comm_closing("hcom_allReduce_")));
        assert_true(c.has_master);
        const double wanted[] = { row[i].elapse, row[i].transit, row[i].wait, row[i].sync, row[i].idle };
        const double found[] = { c.elapse_ms.value, c.transit_ms.value, c.wait_ms.value, c.sync_ms.value,
                                 c.idle_ms.value };
        for (size_t k = 0; k < ROWS(wanted); k++)
            assert_float_equal(found[k] * 1000, wanted[k], 1e-9);
        assert_float_equal(c.wait_ratio.value, row[i].wait_ratio, 1e-9);
        sample_free(s);
    }
    (void)state;
}

static void nothing_and_never_are_different(void **state)
{
    struct sample *s = sample_of((const char *const[]){ "*wait 0 10-10 0 0>1 1", NULL });
    struct comm_cost c = { .mem = s->mem };
    assert_true(comm_cost_fill(&c, &s->sorter, s->event, s->n, comm_closing("")));
    assert_true(c.wait_ms.is_set && c.wait_ms.value == 0);
    assert_false(c.transit_ms.is_set);
    assert_false(c.wait_ratio.is_set); /* of nothing there is no part */
    assert_false(c.link[LINK_SDMA].size_mb.is_set);
    sample_free(s);

    s = sample_of((const char *const[]){ "wait 0 10-20 0 0>1 1", NULL });
    comm_cost_clear(&c);
    c.mem = s->mem;
    assert_true(comm_cost_fill(&c, &s->sorter, s->event, s->n, comm_closing("")));
    assert_false(c.has_master);
    sample_free(s);
    (void)state;
}

static void links_are_summed_by_kind_and_size(void **state)
{
    struct sample *s = sample_of((const char *const[]){ "*copy 0 0-10 1000000 0>1 1", "copy 1 0-10 40000000 0>2 5",
                                                        "reduce 1 10-30 1000000 0>2 1", "copy 2 0-40 2000000 0>3 2",
                                                        "copy 2 40-50 500000 0>3 255", "local 0 0-99 7 0>99 0", NULL });
    struct comm_cost c = { .mem = s->mem }, total = { .mem = s->mem };
    for (int round = 0; round < 2; round++) {
        comm_cost_clear(&c);
        assert_true(comm_cost_fill(&c, &s->sorter, s->event, s->n, comm_closing("")));
        const struct link_cost *hccs = &c.link[LINK_HCCS], *sdma = &c.link[LINK_SDMA];
        assert_float_equal(hccs->size_mb.value, 42, 1e-12);
        assert_float_equal(hccs->time_ms.value, 0.04, 1e-12);
        assert_float_equal(hccs->gbs.value, 1050, 1e-9);
        assert_float_equal(hccs->large_ratio.value, 0.3333, 1e-12);
        assert_int_equal(hccs->packets.n, 2);
        assert_float_equal(packet_size_mb(hccs, 0), 1, 0);
        assert_int_equal(hccs->packets.at[0].n, 2);
        assert_float_equal(c.link[LINK_PCIE].size_mb.value, 2, 1e-12);
        assert_float_equal(sdma->size_mb.value, 44.5, 1e-12); /* and what has no link of its own */
        assert_int_equal(sdma->packets.n, 1);
        assert_false(sdma->large_ratio.is_set);
        assert_false(c.link[LINK_SIO].size_mb.is_set);
        assert_true(comm_cost_add(&total, &c));
    }
    comm_cost_finish(&total);
    assert_float_equal(total.link[LINK_SDMA].size_mb.value, 89, 1e-12);
    assert_int_equal(total.link[LINK_SDMA].packets.n, 0);
    assert_int_equal(total.link[LINK_HCCS].packets.at[0].n, 4);
    assert_float_equal(total.link[LINK_HCCS].gbs.value, 1050, 1e-9);
    sample_free(s);
    (void)state;
}

static void payloads_need_fewer_tasks_when_only_two_ranks_take_part(void **state)
{
    static const struct {
        const char *op;
        bool is_known;
    } row[] = { { "hcom_send_", true }, { "hcom_Receive_", true }, { "hcom_allReduce_", false } };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].op);
        struct sample *s = sample_of((const char *const[]){ "*send 0 0-5 2000000 0>1 3", "*record 0 6-7 0 0>1 1",
                                                            "*wait 0 7-20 0 0>1 1", NULL });
        struct comm_cost c = { .mem = s->mem };
        struct comm_links l = { .mem = s->mem };
        assert_true(comm_cost_fill(&c, &s->sorter, s->event, s->n, comm_closing(row[i].op)));
        assert_true(comm_links_fill(&l, &s->sorter, s->event, s->n, comm_closing(row[i].op)));
        assert_int_equal(c.link[LINK_RDMA].size_mb.is_set, row[i].is_known);
        assert_int_equal(l.link.n, row[i].is_known);
        if (row[i].is_known) {
            assert_float_equal(c.link[LINK_RDMA].time_ms.value, 0.02, 1e-12);
            assert_string_equal(l.link.at[0].transport, "RDMA");
        }
        sample_free(s);
    }
    (void)state;
}

static void links_are_those_between_ranks(void **state)
{
    struct sample *s = sample_of((const char *const[]){ "*copy 0 0-10 1000000 3>1 1", "copy 7 0-10 1000000 3>2 255",
                                                        "copy 0 10-30 3000000 3>1 1", "copy 7 10-20 500000 3>99 0",
                                                        "record 7 20-30 0 3>5 1", NULL });
    struct comm_links l = { .mem = s->mem }, total = { .mem = s->mem };
    assert_true(comm_links_fill(&l, &s->sorter, s->event, s->n, comm_closing("")));
    assert_int_equal(l.link.n, 3);
    assert_int_equal(link_source(&l, 0), 3);
    assert_int_equal(link_destination(&l, 0), 1);
    assert_float_equal(l.link.at[0].size_mb, 4, 1e-12);
    assert_float_equal(link_gbs(&l.link.at[0]).value, 133.3333, 1e-12);
    assert_string_equal(l.link.at[0].transport, "HCCS");
    assert_null(l.link.at[1].transport);
    assert_int_equal(link_destination(&l, 2), 3); /* on the chip itself */
    assert_string_equal(l.link.at[2].transport, "LOCAL");
    assert_true(comm_links_add(&total, &l) && comm_links_add(&total, &l));
    assert_float_equal(total.link.at[0].size_mb, 8, 1e-12);
    comm_links_clear(&l);
    assert_int_equal(l.link.n, 0);
    sample_free(s);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_of_a_collective),
        cmocka_unit_test(nothing_and_never_are_different),
        cmocka_unit_test(links_are_summed_by_kind_and_size),
        cmocka_unit_test(payloads_need_fewer_tasks_when_only_two_ranks_take_part),
        cmocka_unit_test(links_are_those_between_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
