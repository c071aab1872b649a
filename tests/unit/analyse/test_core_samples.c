/* SPDX-License-Identifier: Apache-2.0 */
#include "settings_of.h"
#include "test.h"

#include "analyse/device/counters/device_counters.h"
#include "raw/chip.h"
#include "raw/sampler.h"

/* Three samples of core 3, which is a cube core, and one of core 40, a vector core. */
enum { ROWS_OF_CORES = 4 };
static const struct {
    int64_t at_ns;
    uint8_t core, n_events;
    uint64_t cycles, event[CORE_EVENTS];
} sample[ROWS_OF_CORES] = {
    { 1000, 3, 8, 600, { 300, 60, 7, 0, 0, 0, 1, 2 } },
    { 2000, 40, 2, 1000, { 500, 250, 999 } },
    { 3000, 3, 8, 600, { 300, 60, 7, 0, 0, 0, 1, 0 } },
    { 3000, 3, 8, 800, { 0 } },
};

static struct device sampled(const char *aic, const char *aic_events, const char *aiv, const char *aiv_events)
{
    struct device d = { .source = { .platform = 5,
                                    .chip = chip_of(5),
                                    .aic_mhz = 1000,
                                    .aiv_mhz = 500,
                                    .mem = arena_new(),
                                    .path = "device_0" } };
    d.source.settings =
        settings_of(NULL,
                    json_pack("{s:s, s:s, s:s, s:s}", "ai_core_metrics", aic, "ai_core_profiling_events", aic_events,
                              "aiv_metrics", aiv, "aiv_profiling_events", aiv_events),
                    d.source.mem);
    struct samples *s = &d.counters.raw[SAMPLER_CORE];
    s->n = ROWS_OF_CORES;
    s->at_ns = arena_take(d.source.mem, ROWS_OF_CORES, sizeof *s->at_ns);
    for (unsigned c = 0; c < CORE_FIELDS; c++) {
        s->column[c].at = arena_take(d.source.mem, ROWS_OF_CORES, sizeof(uint64_t));
        s->column[c].width = sizeof(uint64_t);
    }
    for (size_t i = 0; i < ROWS_OF_CORES; i++) {
        s->at_ns[i] = sample[i].at_ns;
        ((uint64_t *)s->column[CORE_ID].at)[i] = sample[i].core;
        ((uint64_t *)s->column[CORE_COUNT].at)[i] = sample[i].n_events;
        ((uint64_t *)s->column[CORE_CYCLES].at)[i] = sample[i].cycles;
        for (unsigned k = 0; k < CORE_EVENTS; k++)
            ((uint64_t *)s->column[CORE_EVENT + k].at)[i] = sample[i].event[k];
    }
    return d;
}

static double metric(const struct core_metrics *m, size_t row, const char *name)
{
    for (size_t i = 0; i < m->n_metrics; i++)
        if (strcmp(m->metric[i], name) == 0)
            return m->value[row * m->n_metrics + i];
    fail_msg("there is no %s", name);
    return 0;
}

static void counters_become_metrics(void **state)
{
    static const struct {
        const char *what, *aic, *events, *metric;
        double value;
    } row[] = {
        /* clang-format off */
        { "a share of the cycles", "PipeUtilization", "0x8,0xa", "vec_ratio", 0.3 },
        { "of two events together", "PipeUtilizationExct", "0x416,0x417", "mac_ratio", 0.36 },
        { "of events in another order", "PipeUtilization", "0xa,0x8", "vec_ratio", 0.06 },
        { "an event that was not counted", "PipeUtilization", "0xa", "vec_ratio", 0 },
        { "one event per other", "PipeUtilization", "0x1,0x2,0x3,0x4,0x5,0x6,0x54,0x55", "icache_miss_rate", 1 },
        { "operations", "ArithmeticUtilization", "0x49,0x4a", "cube_fops", 6881280 },
        { "amounts, less than nothing", "MemoryAccess", "0x206,0x32", "gm_to_l1_datas(KB)", -120 },
        { "a bandwidth", "Memory", "0x12", "main_mem_read_bw(GB/s)", 600 * 64 / 2e-6 / 8589934592.0 },
        { "counts by themselves", "Custom:0xabc", "0xabc", "rabc", 600 },
        { "and the time of all", "L2Cache", "0x500", "total_time(ms)", 2 },
        /* clang-format on */
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct error e = { 0 };
        print_message("  %s\n", row[i].what);
        struct device d = sampled(row[i].aic, row[i].events, "L2Cache", "0x500");
        assert_true(core_samples_analyse(NULL, &d, &e));
        assert_int_equal(d.counters.core[CORE_AIC].n_cores, 1);
        assert_int_equal(d.counters.core[CORE_AIC].core[0], 3);
        const double is = metric(&d.counters.core[CORE_AIC], 0, row[i].metric);
        if (is < row[i].value - 1e-9 || is > row[i].value + 1e-9)
            fail_msg("%.12g; wanted %.12g", is, row[i].value);
        arena_free(d.source.mem);
    }
    (void)state;
}

static void kinds_of_cores_are_distinguished(void **state)
{
    struct error e = { 0 };
    struct device d = sampled("NoSuchGroup", "0x1", "Custom:0x8,0xc,0xd", "0x8,0xc,0xd");
    assert_true(core_samples_analyse(NULL, &d, &e));
    assert_int_equal(d.counters.core[CORE_AIC].n_cores, 0); /* nobody knows what its counters mean */
    const struct core_metrics *m = &d.counters.core[CORE_AIV];
    assert_int_equal(m->n_cores, 1);
    assert_int_equal(m->core[0], 40);
    assert_true(metric(m, 0, "r8") == 500 && metric(m, 0, "rd") == 0); /* the third was not counting */
    assert_true(metric(m, 0, "total_time(ms)") == 2);

    static const uint64_t gap[] = { UINT64_MAX, UINT64_MAX, 2000, 0 };
    const struct samples *s = &d.counters.rate[SAMPLER_CORE];
    for (size_t i = 0; i < ROWS_OF_CORES; i++) {
        assert_true(samples_uint(s, CORE_RATE_GAP, i) == gap[i]);
        assert_int_equal(samples_uint(s, CORE_RATE_KIND, i), i == 1 ? CORE_AIV : CORE_AIC);
    }
    arena_free(d.source.mem);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_become_metrics),
        cmocka_unit_test(kinds_of_cores_are_distinguished),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
