/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "export/framework/communication_matrix.h"

static void a_collective_has_a_type(void **state)
{
    static const struct {
        const char *name, *type;
    } row[] = {
        { "hcom_allReduce__483_0_1", "allreduce" },
        { "hcom_allGather__483_0_1", "allgather" },
        { "hcom_broadcast__483_0_1", "broadcast" },
        { "hcom_reduceScatter__483_0_1",
          "reduce" }, /* as in the reference: the shorter word stands before the longer one */
        { "hcom_scatter__483_0_1", "scatter" },
        { "hcom_alltoallvc__483_0_1", "alltoall" },
        { "hcom_send__483_0_1", "send" },
        { "hcom_batchSendRecv__483_0_1", "batchsendrecv" },
        { "hcom_receive__483_0_1", "receive" },
        { "HCOM_ALLREDUCE_", "allreduce" },
        { "hcom_other__483_0_1", "hcom_other" },
        { "other", "other" },
    };
    struct names *names = names_new();
    for (size_t i = 0; i < ROWS(row); i++)
        assert_string_equal(names_text(names, collective_type(&matrix_rules[FRAMEWORK_PYTORCH], false, names,
                                                              names_addz(names, row[i].name), names_addz(names, "42"))),
                            row[i].type);
    names_free(names);
    (void)state;
}

/* Unknown ones keep their name, in small letters; send and receive are unknown among collectives. */
static void mindspore_knows_other_types(void **state)
{
    static const struct {
        const char *name, *type;
        bool is_p2p;
    } row[] = {
        { "hcom_allReduce__483_0_1", "allreduce", false },
        { "Default/AllReduce-op12", "allreduce", false },
        { "Default/net/Other-op12", "other", false },
        { "hcom_send__483_0_1", "hcom_send__483_0_1@42", false },
        { "Default/X_Y", "x_y@42", false },
        { "Send-op1", "send", true },
    };
    struct names *names = names_new();
    for (size_t i = 0; i < ROWS(row); i++)
        assert_string_equal(names_text(names, collective_type(&matrix_rules[FRAMEWORK_MINDSPORE], row[i].is_p2p, names,
                                                              names_addz(names, row[i].name), names_addz(names, "42"))),
                            row[i].type);
    names_free(names);
    (void)state;
}

/* "allReduce_0 0>1 8/2, ...": a collective moved 8 MB from rank 0 to rank 1 in 2 ms. The same name again: another
 * link of it. */
static void load(struct matrix *m, const char *transfers)
{
    const name_id group = names_addz(m->names, "42");
    struct comm_links links = { .mem = m->mem };
    char copy[512], *rest = copy, before[64] = "";
    snprintf(copy, sizeof copy, "%s", transfers);
    for (char *token; (token = strsep(&rest, ","));) {
        char name[64];
        unsigned from, to;
        double mb, ms;
        assert_int_equal(sscanf(token, " %63s %u>%u %lf/%lf", name, &from, &to, &mb, &ms), 5);
        if (*before && strcmp(before, name) != 0) {
            assert_true(matrix_add(m, names_addz(m->names, before), group, &links));
            comm_links_clear(&links);
        }
        keys_add(&links.pairs, (uint64_t)from << 32 | to, m->mem);
        *list_add(&links.link, m->mem) = (struct comm_link){ from == to ? "LOCAL" : "HCCS", mb, ms };
        snprintf(before, sizeof before, "%s", name);
    }
    if (*before)
        assert_true(matrix_add(m, names_addz(m->names, before), group, &links));
}

static void of_each_link_some_transfers_are_reported(void **state)
{
    /* clang-format off */
    static const struct {
        const char *what, *transfers;
        const char *reported[12]; /* key, ranks, MB/ms=GB/s, collective */
    } row[] = {
        { "one transfer is the fastest, the middle and the slowest", "allReduce_0 0>1 8/2",
          { "allreduce-top1@42 0-1 8/2=4 allReduce_0", "allreduce-middle@42 0-1 8/2=4 allReduce_0",
            "allreduce-bottom1@42 0-1 8/2=4 allReduce_0", "allreduce-total@42 0-1 8/2=4 ?" } },
        { "of two, the middle is the slower one", "send_0 0>1 8/4, send_1 0>1 8/2",
          { "send-top1@42 0-1 8/2=4 send_1", "send-middle@42 0-1 8/4=2 send_0", "send-bottom1@42 0-1 8/4=2 send_0",
            "send-total@42 0-1 16/6=2.6667 ?", "send-bottom2@42 0-1 8/2=4 send_1" } },
        { "of four, all are there", "send_0 0>1 8/4, send_1 0>1 8/1, send_2 0>1 8/2, send_3 0>1 8/8",
          { "send-top1@42 0-1 8/1=8 send_1", "send-middle@42 0-1 8/4=2 send_0", "send-bottom1@42 0-1 8/8=1 send_3",
            "send-total@42 0-1 32/15=2.1333 ?", "send-bottom2@42 0-1 8/4=2 send_0", "send-bottom3@42 0-1 8/2=4 send_2" } },
        { "equally fast ones stay in their order", "send_0 0>1 8/2, send_1 0>1 4/1",
          { "send-top1@42 0-1 8/2=4 send_0", "send-middle@42 0-1 4/1=4 send_1", "send-bottom1@42 0-1 4/1=4 send_1",
            "send-total@42 0-1 12/3=4 ?", "send-bottom2@42 0-1 8/2=4 send_0" } },
        { "links of a collective stand side by side", "send_0 0>1 8/2, send_0 0>2 8/4",
          { "send-top1@42 0-1 8/2=4 send_0", "send-top1@42 0-2 8/4=2 send_0", "send-middle@42 0-1 8/2=4 send_0",
            "send-middle@42 0-2 8/4=2 send_0", "send-bottom1@42 0-1 8/2=4 send_0", "send-bottom1@42 0-2 8/4=2 send_0",
            "send-total@42 0-1 8/2=4 ?", "send-total@42 0-2 8/4=2 ?" } },
        { "types apart from each other", "send_0 0>1 8/2, receive_0 0>1 8/4",
          { "send-top1@42 0-1 8/2=4 send_0", "send-middle@42 0-1 8/2=4 send_0", "send-bottom1@42 0-1 8/2=4 send_0",
            "send-total@42 0-1 8/2=4 ?", "receive-top1@42 0-1 8/4=2 receive_0", "receive-middle@42 0-1 8/4=2 receive_0",
            "receive-bottom1@42 0-1 8/4=2 receive_0", "receive-total@42 0-1 8/4=2 ?" } },
        { "nothing in no time has no speed", "send_0 0>1 0/0",
          { "send-top1@42 0-1 0/0=0 send_0", "send-middle@42 0-1 0/0=0 send_0", "send-bottom1@42 0-1 0/0=0 send_0",
            "send-total@42 0-1 0/0=0 ?" } },
    };
    /* clang-format on */
    struct matrix m = { .rules = &matrix_rules[FRAMEWORK_PYTORCH], .names = names_new(), .mem = arena_new() };
    for (size_t i = 0; i < ROWS(row); i++) { /* one matrix serves them all: each begins with a clear one */
        struct grid g = { .n_columns = MATRIX_COLUMNS, .mem = m.mem };
        const struct collective_place place = { names_addz(m.names, "step1"), names_addz(m.names, "p2p"), true };
        size_t n = 0;
        print_message("  %s\n", row[i].what);
        matrix_clear(&m);
        load(&m, row[i].transfers);
        assert_true(matrix_finish(&m));
        assert_true(matrix_rows(&m, &place, &g));
        for (; n < ROWS(row[i].reported) && row[i].reported[n]; n++) {
            const struct cell *c = &g.cells.at[n * MATRIX_COLUMNS];
            char text[200];
            assert_true(n * MATRIX_COLUMNS < g.cells.n);
            snprintf(text, sizeof text, "%s@%s %u-%u %g/%g=%.9g %s", c[0].text, names_text(m.names, c[1].name),
                     (unsigned)c[2].u, (unsigned)c[3].u, c[5].f, c[6].f, c[7].f,
                     c[10].kind == CELL_NAME ? names_text(m.names, c[10].name) : "?");
            assert_string_equal(text, row[i].reported[n]);
            assert_string_equal(c[4].text, "HCCS");
        }
        assert_int_equal(g.cells.n, n * MATRIX_COLUMNS);
    }
    arena_free(m.mem);
    names_free(m.names);
    (void)state;
}

static void as_json_links_stand_in_their_objects(void **state)
{
    static const char wanted[] =
        "{\"send-top1@42\": {\"0-0\": {\"Transport Type\": \"LOCAL\", \"Transit Size(MB)\": 8.0, \"Transit Time(ms)\": 2.0, "
        "\"Bandwidth(GB/s)\": 4.0, \"Op Name\": \"send_0\"}, \"0-1\": {\"Transport Type\": \"HCCS\", \"Transit Size(MB)\": "
        "0.0, \"Transit Time(ms)\": 0.0, \"Bandwidth(GB/s)\": 0, \"Op Name\": \"send_0\"}}, \"send-middle@42\": ";
    struct matrix m = { .rules = &matrix_rules[FRAMEWORK_PYTORCH], .names = names_new(), .mem = arena_new() };
    struct error e = { 0 };
    struct out o;
    assert_true(out_open_memory(&o, &e));
    assert_true(matrix_finish(&m));
    assert_true(matrix_put(&m, &o));
    assert_int_equal(o.n, 2);
    assert_memory_equal(o.buf, "{}", 2);
    load(&m, "send_0 0>0 8/2, send_0 0>1 0/0");
    assert_true(matrix_finish(&m));
    o.n = 0;
    assert_true(matrix_put(&m, &o));
    assert_true(o.n > sizeof wanted);
    assert_memory_equal(o.buf, wanted, sizeof wanted - 1);
    assert_memory_equal(o.buf + o.n - 3, "}}}", 3);
    out_discard(&o);
    arena_free(m.mem);
    names_free(m.names);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mindspore_knows_other_types),
        cmocka_unit_test(a_collective_has_a_type),
        cmocka_unit_test(of_each_link_some_transfers_are_reported),
        cmocka_unit_test(as_json_links_stand_in_their_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
