/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "profile/metrics.h"

/* Counters 1 to 8 count 1000, 2000, … 8000 in 100000 cycles; 24 blocks on 24 cores at 1000 MHz (1800 by the label). */
static const uint64_t counters[METRIC_COUNTERS] = { 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000 };

static struct core_counts plain_counts(void)
{
    return (struct core_counts){ .spent_us = -1,
                                 .cycles = 100000,
                                 .counters = (const uint8_t *)counters,
                                 .blocks = 24,
                                 .n_cores = 24,
                                 .mhz = 1000,
                                 .nominal_mhz = 1800 };
}

#define GBS (1800e6 / 100000 / 8589934592.0) /* a bit in that time, in GB/s */

static const struct metric_column *find(const struct metric_columns *c, const char *label)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->column[i].label, label) == 0)
            return &c->column[i];
    return NULL;
}

static void formulas_give_what_a_pencil_gives(void **state)
{
    static const struct {
        const char *what;
        enum core core;
        const char *group, *events, *label;
        double value;
    } row[] = {
        { "all cycles of 24 blocks, one round", CORE_AIC, "Memory", "0x15", "aicore_time(us)", 100000 / 1000.0 / 24 },
        { "cycles as they are", CORE_AIV, "Memory", "0x15", "aiv_total_cycles", 100000 },
        { "ratio: events per cycle", CORE_AIV, "PipeUtilization", "0x8,0xa,0x9", "aiv_vec_ratio", 0.01 },
        { "time: that share of the total", CORE_AIV, "PipeUtilization", "0x8,0xa,0x9", "aiv_scalar_time(us)",
          0.03 * 100000 / 1000.0 / 24 },
        { "two events of one pipe add up", CORE_AIC, "PipeUtilizationExct", "0x417,0x9,0x416", "aic_mac_ratio",
          0.01 + 0.03 },
        { "rate: one event per other", CORE_AIC, "PipeUtilization", "0x54,0x55", "aic_icache_miss_rate", 2 },
        { "bandwidth: 64 bits each, at the label's frequency", CORE_AIC, "Memory", "0x12", "aic_main_mem_read_bw(GB/s)",
          1000.0 * 64 / (100000 / 1800e6) / 8589934592.0 },
        { "another width", CORE_AIV, "MemoryUB", "0x1,0x44", "aiv_ub_write_bw_vector(GB/s)",
          2000.0 * 256 / (100000 / 1800e6) / 8589934592.0 },
        { "operations have weights", CORE_AIC, "ArithmeticUtilization", "0x49,0x4a", "aic_cube_fops",
          1000.0 * 8192 + 2000.0 * 16384 },
        { "five of them", CORE_AIV, "ArithmeticUtilization", "0x4b,0x4c,0x4d,0x4e,0x4f", "aiv_vector_fops",
          1000.0 * 64 + 2000.0 * 128 + 3000.0 * 64 + 4000.0 * 64 + 5000.0 * 32 },
        { "amounts in KB", CORE_AIC, "MemoryAccess", "0x50d,0x50e", "aic_read_main_memory_datas(KB)", 375 },
        { "a difference may be negative", CORE_AIC, "MemoryAccess", "0x32,0x206", "aic_GM_to_L1_datas(KB)", -250 },
        { "counts as they are", CORE_AIV, "L2Cache", "0x500,0x502", "aiv_write_cache_miss_allocate", 2000 },
        { "custom events are counts", CORE_AIC, "Custom:0x9,0x302", "0x9,0x302", "aic_r302", 2000 },
        { "their time has two decimals", CORE_AIC, "Custom:0x9,0x302", "0x9,0x302", "aicore_time(us)", 4.17 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct arena *mem = arena_new();
        struct metric_columns columns = { 0 };
        const struct core_counts counts = plain_counts();
        assert_true(metric_columns_add(&columns, chip_of(5), row[i].core, row[i].group, row[i].events, mem));
        const struct metric_column *c = find(&columns, row[i].label);
        assert_non_null(c);
        const double off = metric_value(c, &counts, false) / row[i].value - 1;
        assert_true(off > -1e-12 && off < 1e-12);
        arena_free(mem);
    }
    (void)state;
}

/* Chips that count ten events have formulas of their own, and records with the time. */
static void ten_events_have_their_own_metrics(void **state)
{
    static const uint64_t ten[METRIC_MOST_COUNTERS] = { 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 0 };
    static const char pipes[] = "0x501,0x301,0x1,0x701,0x202,0x203,0x34,0x35,0x714",
                      memory[] = "0x400,0x401,0x56f,0x571,0x570,0x572,0x707,0x709";
    static const struct {
        const char *what;
        enum core core;
        const char *group, *events, *label;
        double value;
    } row[] = {
        { "the time of the record", CORE_AIC, "PipeUtilization", pipes, "aicore_time(us)", 12.34 },
        { "a ninth event", CORE_AIC, "PipeUtilization", pipes, "aic_fixpipe_ratio", 0.09 },
        { "its time", CORE_AIC, "PipeUtilization", pipes, "aic_fixpipe_time(us)", 12.34 * 0.09 },
        { "misses of requests", CORE_AIV, "PipeUtilization", pipes, "aiv_icache_miss_rate", 8000.0 / 7000 },
        { "two widths in one bandwidth", CORE_AIV, "Memory", memory, "aiv_ub_read_bw(GB/s)",
          (3000.0 * 1024 + 4000.0 * 256) / (100000 / 1e9) / 8589934592.0 },
        { "one event of two", CORE_AIV, "Memory", memory, "aiv_ub_write_bw(GB/s)",
          5000.0 * 1024 / (100000 / 1e9) / 8589934592.0 },
        { "conflicts of two units", CORE_AIV, "ResourceConflictRatio", "0x540,0x556,0x502,0x528",
          "aiv_vec_bank_cflt_ratio", 0.03 },
        { "of requests", CORE_AIV, "ResourceConflictRatio", "0x540,0x556,0x502,0x528", "aiv_vec_resc_cflt_ratio",
          4000.0 / 3000 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct arena *mem = arena_new();
        struct metric_columns columns = { 0 };
        struct core_counts counts = plain_counts();
        counts.counters = (const uint8_t *)ten;
        counts.spent_us = 12.34;
        counts.nominal_mhz = 1000;
        assert_true(metric_columns_add(&columns, chip_of(15), row[i].core, row[i].group, row[i].events, mem));
        const struct metric_column *c = find(&columns, row[i].label);
        assert_non_null(c);
        const double off = metric_value(c, &counts, false) / row[i].value - 1;
        assert_true(off > -1e-12 && off < 1e-12);
        arena_free(mem);
    }
    (void)state;
}

static void nothing_is_divided_by_nothing(void **state)
{
    static const struct {
        const char *what;
        uint64_t cycles;
        uint32_t blocks, n_cores;
        double mhz;
        const char *label;
        double value;
    } row[] = {
        { "no blocks, no time", 100000, 0, 24, 1000, "aicore_time(us)", 0 },
        { "no cores, no time", 100000, 24, 0, 1000, "aicore_time(us)", 0 },
        { "no frequency, no time", 100000, 24, 24, 0, "aicore_time(us)", 0 },
        { "no cycles, no ratio", 0, 24, 24, 1000, "aic_scalar_ratio", 0 },
        { "no cycles, no rate", 0, 24, 24, 1000, "aic_icache_miss_rate", 0 },
        { "25 blocks on 24 cores: 2 rounds", 100000, 25, 24, 1000, "aicore_time(us)", 8 },
        { "48 blocks on 24 cores: 2 rounds", 96000, 48, 24, 1000, "aicore_time(us)", 4 },
    };
    struct arena *mem = arena_new();
    struct metric_columns columns = { 0 };
    assert_true(metric_columns_add(&columns, chip_of(5), CORE_AIC, "PipeUtilization",
                                   "0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55", mem));
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct core_counts counts = plain_counts();
        counts.cycles = row[i].cycles;
        counts.blocks = row[i].blocks;
        counts.n_cores = row[i].n_cores;
        counts.mhz = row[i].mhz;
        const double off = metric_value(find(&columns, row[i].label), &counts, false) - row[i].value;
        assert_true(off > -1e-9 && off < 1e-9);
    }
    arena_free(mem);
    (void)state;
}

static void coarse_times_round_the_total_first(void **state)
{
    struct arena *mem = arena_new();
    struct metric_columns columns = { 0 };
    const struct core_counts counts = plain_counts();
    assert_true(metric_columns_add(&columns, chip_of(5), CORE_AIC, "PipeUtilization", "0x8,0xa,0x9", mem));
    const double off = metric_value(find(&columns, "aic_scalar_time(us)"), &counts, true) - 4.17 * 0.03;
    assert_true(off > -1e-12 && off < 1e-12);
    arena_free(mem);
    (void)state;
}

/* Names of the columns that tables show, and how many the database has. */
static void groups_have_the_columns_of_the_reference(void **state)
{
    static const struct {
        const char *what;
        enum core core;
        const char *group, *events;
        size_t n, n_shown;
        const char *last_shown;
    } row[] = {
        { "AIC pipes", CORE_AIC, "PipeUtilizationExct", "0x416,0x417,0x9,0x302,0xc,0x303,0x54,0x55", 13, 13,
          "aic_icache_miss_rate" },
        { "AIV pipes: no cube", CORE_AIV, "PipeUtilization", "0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55", 15, 11,
          "aiv_icache_miss_rate" },
        { "AIC arithmetic", CORE_AIC, "ArithmeticUtilization", "0x49,0x4a,0x4b,0x4c,0x4d,0x4e,0x4f", 10, 5,
          "aic_cube_fops" },
        { "AIV memory", CORE_AIV, "Memory", "0x15,0x16,0x31,0x32,0xf,0x10,0x12,0x13", 10, 8, "aiv_l2_write_bw(GB/s)" },
        { "AIC conflicts: none", CORE_AIC, "ResourceConflictRatio", "0x64,0x65,0x66", 5, 2, "aic_total_cycles" },
        { "order of the counters is free", CORE_AIC, "MemoryUB", "0x44,0x43,0x38,0x37", 6, 4,
          "aic_ub_write_bw_scalar(GB/s)" },
        { "an event was not counted: its columns are left out", CORE_AIV, "Memory", "0x15,0x16", 4, 4,
          "aiv_ub_write_bw(GB/s)" },
        { "events beyond the eighth counter were not either", CORE_AIV, "Memory", "1,2,3,4,5,6,7,8,0x15", 2, 2,
          "aiv_total_cycles" },
        { "custom", CORE_AIV, "Custom:0x9,0x302,0x416", "0x9,0x302,0x416", 5, 5, "aiv_r416" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct arena *mem = arena_new();
        struct metric_columns columns = { 0 };
        assert_true(metric_columns_add(&columns, chip_of(5), row[i].core, row[i].group, row[i].events, mem));
        assert_int_equal(columns.n, row[i].n);
        size_t n_shown = 0;
        const char *last = NULL;
        for (size_t c = 0; c < columns.n; c++)
            if (!columns.column[c].is_hidden) {
                n_shown++;
                last = columns.column[c].label;
            }
        assert_int_equal(n_shown, row[i].n_shown);
        assert_string_equal(last, row[i].last_shown);
        arena_free(mem);
    }
    (void)state;
}

/* Chips with cube and vector unit in one core: no prefix, other widths, and what some cannot report. */
static void one_core_has_columns_of_its_own(void **state)
{
    enum { P310P = 4, P910 = 1, P310B = 7 };
    static const struct {
        const char *what;
        int platform;
        const char *group, *events, *label;
        double value; /* of plain_counts(); below 0: not available */
    } row[] = {
        { "time", P910, "PipeUtilization", "0x8,0xa", "aicore_time(us)", 4.17 },
        { "time is coarse in the others, too", P910, "PipeUtilization", "0x8,0xa", "mac_time(us)", 4.17 * 0.02 },
        { "ratio", P310P, "PipeUtilization", "0x8,0xa", "vec_ratio", 0.01 },
        { "a vector unit that cannot be seen", P310B, "PipeUtilization", "0x8,0xa", "vec_ratio", -1 },
        { "executed pipelines", P310B, "PipelineExecuteUtilization", "0x12c,0x49,0x4a", "mac_exe_ratio", 0.02 + 0.03 },
        { "a narrow vector unit", P310P, "ArithmeticUtilization", "0x4c,0x4d,0x4b,0x4e,0x4f", "vector_fops",
          128e3 + 64 * 2e3 + 64 * 3e3 + 16 * 4e3 + 16 * 5e3 },
        { "a wide one", P910, "ArithmeticUtilization", "0x4c,0x4d,0x4b,0x4e,0x4f", "vector_fops",
          128e3 + 64 * 2e3 + 64 * 3e3 + 64 * 4e3 + 32 * 5e3 },
        { "traffic of the vector unit, reported so", P310P, "MemoryUB", "0x43", "ub_read_bw_vector(GB/s)",
          256 * 1e3 * GBS },
        { "or in two halves", P310B, "MemoryUB", "0x17f,0x180", "ub_read_bw_vector(GB/s)", 256 * 3e3 * GBS },
        { "l1 is written 256 bits wide", P910, "Memory", "0x32", "l1_write_bw(GB/s)", 2048 * 1e3 * GBS },
        { "custom", P910, "Custom:0x9", "0x9", "r9", 1e3 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct arena *mem = arena_new();
        struct metric_columns columns = { 0 };
        const struct core_counts counts = plain_counts();
        assert_true(metric_columns_add(&columns, chip_of(row[i].platform), CORE_AIC, row[i].group, row[i].events, mem));
        const struct metric_column *c = find(&columns, row[i].label);
        assert_int_equal(c->is_unknown, row[i].value < 0);
        const double off = metric_value(c, &counts, true) / row[i].value - 1;
        assert_true(c->is_unknown || (off > -1e-9 && off < 1e-9));
        arena_free(mem);
    }
    (void)state;
}

static void strange_groups_add_nothing(void **state)
{
    static const char *const group[] = { "", "pipeutilization", "Custom", "Memory ", "PipeUtilizationExct2" };
    struct arena *mem = arena_new();
    struct metric_columns columns = { 0 };
    for (size_t i = 0; i < ROWS(group); i++)
        assert_false(metric_columns_add(&columns, chip_of(5), CORE_AIC, group[i], "0x8", mem));
    assert_int_equal(columns.n, 0);
    arena_free(mem);
    (void)state;
}

static void events_are_read_as_far_as_they_go(void **state)
{
    static const struct {
        const char *what, *text;
        unsigned n;
        uint16_t last;
    } row[] = {
        { "none", "", 0, 0 },
        { "one", "0x9", 1, 9 },
        { "without 0x", "49,4a", 2, 0x4a },
        { "blanks", " 0x8, 0xa", 2, 0xa },
        { "garbage ends it", "0x8,oops,0x9", 1, 8 },
        { "too large ends it", "0x8,0x12345", 1, 8 },
        { "eight at most", "1,2,3,4,5,6,7,8,9,a", 8, 8 },
        { "a comma at the end", "1,2,", 2, 2 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        const struct event_list l = event_list_parse(row[i].text, METRIC_COUNTERS);
        assert_int_equal(l.n, row[i].n);
        if (l.n > 0)
            assert_int_equal(l.id[l.n - 1], row[i].last);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_give_what_a_pencil_gives),
        cmocka_unit_test(ten_events_have_their_own_metrics),
        cmocka_unit_test(nothing_is_divided_by_nothing),
        cmocka_unit_test(coarse_times_round_the_total_first),
        cmocka_unit_test(groups_have_the_columns_of_the_reference),
        cmocka_unit_test(one_core_has_columns_of_its_own),
        cmocka_unit_test(strange_groups_add_nothing),
        cmocka_unit_test(events_are_read_as_far_as_they_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
