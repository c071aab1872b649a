/* SPDX-License-Identifier: Apache-2.0 */
/* Links of single operators as links of kinds of operators. */
#include "cluster/rank/rank_parts.h"

#include "test.h"

enum { MOST = 8 };

static void a_kind_has_its_sum_and_its_extremes(void **state)
{
    static const struct {
        const char *op;
        int64_t src, dst;
        double mb, ms;
    } row[] = { { "hcom_allReduce__1_0_1", 0, 1, 8, 4 }, { "hcom_allReduce__1_1_1", 0, 1, 8, 1 },
                { "hcom_allReduce__1_2_1", 0, 1, 8, 8 }, { "hcom_send__1_3_1", 0, 1, 6, 2 },
                { "hcom_allReduce__1_4_1", 0, 1, 8, 2 }, { "hcom_allReduce__1_0_1", 1, 0, 8, 4 },
                { "hcom_allReduce__1_1_1", 1, 0, 4, 0 } };
    static const struct {
        const char *op, *op_name;
        int64_t src;
        double mb, ms, gbs;
    } wanted[] = {
        { "hcom_allReduce-top1", "hcom_allReduce__1_2_1", 0, 8, 8, 1 },
        { "hcom_allReduce-middle", "hcom_allReduce__1_4_1", 0, 8, 2, 4 },
        { "hcom_allReduce-bottom3", "hcom_allReduce__1_0_1", 0, 8, 4, 2 },
        { "hcom_allReduce-bottom2", "hcom_allReduce__1_4_1", 0, 8, 2, 4 },
        { "hcom_allReduce-bottom1", "hcom_allReduce__1_1_1", 0, 8, 1, 8 },
        { "hcom_allReduce-total", "", 0, 32, 15, 32. / 15 },
        { "hcom_send-top1", "hcom_send__1_3_1", 0, 6, 2, 3 },
        { "hcom_send-middle", "hcom_send__1_3_1", 0, 6, 2, 3 },
        { "hcom_send-bottom1", "hcom_send__1_3_1", 0, 6, 2, 3 },
        { "hcom_send-total", "", 0, 6, 2, 3 },
        { "hcom_allReduce-top1", "hcom_allReduce__1_1_1", 1, 4, 0, 0 },
        { "hcom_allReduce-middle", "hcom_allReduce__1_0_1", 1, 8, 4, 2 },
        { "hcom_allReduce-bottom2", "hcom_allReduce__1_1_1", 1, 4, 0, 0 },
        { "hcom_allReduce-bottom1", "hcom_allReduce__1_0_1", 1, 8, 4, 2 },
        { "hcom_allReduce-total", "", 1, 12, 4, 3 },
    };
    struct arena *const mem = arena_new();
    struct names *const names = names_new();
    name_id op[MOST], same[MOST];
    int64_t src[MOST], dst[MOST];
    double mb[MOST], ms[MOST], gbs[MOST];
    for (size_t i = 0; i < ROWS(row); i++) {
        op[i] = names_addz(names, row[i].op);
        same[i] = names_addz(names, "HCCS");
        src[i] = row[i].src;
        dst[i] = row[i].dst;
        mb[i] = row[i].mb;
        ms[i] = row[i].ms;
        gbs[i] = row[i].ms > 0 ? row[i].mb / row[i].ms : 0;
    }
    struct rank_comm_matrix m = { ROWS(row), op, same, same, same, same, same, src, dst, mb, ms, gbs };
    assert_true(links_by_kind(&m, names, mem));
    assert_int_equal(m.n, ROWS(wanted));
    for (size_t i = 0; i < m.n; i++) {
        assert_string_equal(names_text(names, m.op[i]), wanted[i].op);
        assert_string_equal(names_text(names, m.op_name[i]), wanted[i].op_name);
        assert_string_equal(names_text(names, m.transport[i]), "HCCS");
        assert_int_equal(m.src[i], wanted[i].src);
        assert_int_equal(m.dst[i], 1 - wanted[i].src);
        assert_true(m.transit_mb[i] == wanted[i].mb && m.transit_ms[i] == wanted[i].ms && m.gbs[i] == wanted[i].gbs);
    }
    m.n = 0;
    assert_true(links_by_kind(&m, names, mem));
    assert_int_equal(m.n, 0);
    names_free(names);
    arena_free(mem);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_kind_has_its_sum_and_its_extremes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
