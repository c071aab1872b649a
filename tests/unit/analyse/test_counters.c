/* SPDX-License-Identifier: Apache-2.0 */
#include "settings_of.h"
#include "test.h"

#include "guarded.h"
#include "load/prof/prof.h"
#include "raw/sampler.h"

/* A device whose clock was read at 7000 ns of the host's: tick 40 there is 7000 here, 300 ns of its own clock too. Wall
 * minus monotonic is 1 s, and the collection begins at 1 s + 8000 ns. */
enum { WALL = 1000000000, BEGIN = WALL + 8000 };

static struct device device_of(const char *version, const char *mode, const char *family, const void *bytes,
                               size_t size)
{
    struct source s = { .path = "device_0", .name = "device_0", .platform = 5, .chip = chip_of(5), .mem = arena_new() };
    s.settings = settings_of(json_pack("{s:s}", "version", version),
                             json_pack("{s:s, s:s}", "ai_core_profiling_mode", mode, "llc_profiling", "read"), s.mem);
    s.host_clock = (struct clock){ .tick = { 10, 1 }, .cnt = 100, .ns = 7000 };
    s.device_clock = (struct clock){ .tick = { 20, 1 }, .cnt = 40, .ns = 7000 };
    s.host_mono_ns = 7000;
    s.device_mono_ns = 300;
    s.wall_offset_ns = WALL;
    s.begin_ns = BEGIN;
    s.stream = arena_take(s.mem, 1, sizeof *s.stream);
    s.n_streams = 1;
    *s.stream = (struct stream){ .family = family, .n_slices = 1 };
    s.stream->slice = arena_take(s.mem, 1, sizeof *s.stream->slice);
    *s.stream->slice = (struct slice){ .name = "sample", .data = guarded_copy(bytes, size), .size = size };
    return (struct device){ .source = s };
}

static void device_forget(struct device *d)
{
    guarded_free(d->source.stream->slice->data, d->source.stream->slice->size);
    arena_free(d->source.mem);
}

static void every_sampler_has_its_own_clock(void **state)
{
    enum { AT = WALL + 12000 }; /* where each of them is */
    static const struct {
        const char *what, *version, *stream;
        const struct layout *layout;
        enum sampler sampler;
        uint64_t time;
    } row[] = {
        /* clang-format off */
        { "HBM counts us from the start",        "1.0", "hbm.data",     &hbm_layout,        SAMPLER_HBM,         5 },
        { "HBM of version 2 has the wall clock", "2.0", "hbm.data",     &hbm_v2_layout,     SAMPLER_HBM,         AT },
        { "LLC counts us from the start",        "1.0", "llc.data",     &llc_layout,        SAMPLER_LLC,         5 },
        { "LLC of version 2 has the wall clock", "2.0", "llc.data",     &llc_v2_layout,     SAMPLER_LLC,         AT },
        { "memory in use counts us",             "1.0", "npu_mem.app",  &npu_mem_layout,    SAMPLER_NPU_MEM_APP, 5 },
        { "and in version 2 elsewhere",          "2.0", "npu_mem.data", &npu_mem_v2_layout, SAMPLER_NPU_MEM,     5 },
        { "modules, the host's counter", "1.0", "npu_module_mem.data", &module_mem_layout, SAMPLER_MODULE_MEM, 600 },
        { "PCIe has the device's clock",         "1.0", "pcie.data",    &pcie_layout,       SAMPLER_PCIE,        5300 },
        { "QoS has the device's counter",        "1.0", "qos.data",     &qos_layout,        SAMPLER_QOS,         290 },
        { "the log of tasks holds samples too",  "1.0", "stars_soc.data", &acc_pmu_layout,  SAMPLER_ACC_LOG,     290 },
        { "sampled cores, the device's clock", "1.0", "ffts_profile.data", &core_sample_layout, SAMPLER_CORE, 5300 },
        /* clang-format on */
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        uint8_t rec[1024];
        struct error e = { 0 };
        print_message("  %s\n", row[i].what);
        layout_init(row[i].layout, rec);
        layout_put(row[i].layout, 0, rec, row[i].time);
        const bool is_core = row[i].sampler == SAMPLER_CORE;
        if (is_core)
            layout_put(row[i].layout, CORE_MODE, rec, 1);
        struct device d =
            device_of(row[i].version, is_core ? "sample-based" : "", row[i].stream, rec, row[i].layout->size);
        assert_true(counters_load(&d, 0, &e));
        assert_int_equal(d.counters.raw[row[i].sampler].n, 1);
        assert_int_equal(d.counters.raw[row[i].sampler].at_ns[0], AT);
        assert_int_equal(losses_damage(&d.source.lost), 0);
        device_forget(&d);
    }
    (void)state;
}

/* µs, count, event, unit of each sample. */
static size_t put_hbm(uint8_t *to, const uint64_t (*sample)[4], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        layout_init(&hbm_layout, to + i * hbm_layout.size);
        for (unsigned f = 0; f < TRAFFIC_FIELDS; f++)
            layout_put(&hbm_layout, f, to + i * hbm_layout.size, sample[i][f]);
    }
    return n * hbm_layout.size;
}

/* Their differences would not fit a signed number. */
static void impossible_times_stay_within_the_range_of_stamps(void **state)
{
    static const struct {
        const char *what, *version, *stream;
        const struct layout *layout;
        enum sampler sampler;
    } row[] = {
        { "us from the start", "1.0", "hbm.data", &hbm_layout, SAMPLER_HBM },
        { "the wall clock", "2.0", "hbm.data", &hbm_v2_layout, SAMPLER_HBM },
        { "the device's clock", "1.0", "pcie.data", &pcie_layout, SAMPLER_PCIE },
        { "the device's counter", "1.0", "qos.data", &qos_layout, SAMPLER_QOS },
    };
    static const uint64_t time[] = { INT64_MAX, UINT64_C(1) << 63, UINT64_MAX / 1000, UINT64_MAX / 2000 };
    for (size_t i = 0; i < ROWS(row) * ROWS(time); i++) {
        uint8_t rec[1024];
        struct error e = { 0 };
        const struct layout *l = row[i % ROWS(row)].layout;
        print_message("  %s, %llx\n", row[i % ROWS(row)].what, (unsigned long long)time[i / ROWS(row)]);
        layout_init(l, rec);
        layout_put(l, 0, rec, time[i / ROWS(row)]);
        struct device d = device_of(row[i % ROWS(row)].version, "", row[i % ROWS(row)].stream, rec, l->size);
        assert_true(counters_load(&d, 0, &e));
        const struct samples *const s = &d.counters.raw[row[i % ROWS(row)].sampler];
        assert_int_equal(s->n, 1);
        assert_true(s->at_ns[0] >= -STAMP_MOST && s->at_ns[0] <= STAMP_MOST);
        device_forget(&d);
    }
    (void)state;
}

static void samples_come_in_the_order_of_time(void **state)
{
    static const uint64_t sample[][4] = { { 9, 1, 0, 7 }, { 3, 2, 1, 6 }, { 9, 3, 0, 5 }, { 0, 4, 1, 4 } };
    uint8_t bytes[4 * 24];
    struct error e = { 0 };
    struct device d = device_of("1.0", "", "hbm.data", bytes, put_hbm(bytes, sample, 4));
    assert_true(counters_load(&d, 0, &e));
    const struct samples *s = &d.counters.raw[SAMPLER_HBM];
    static const uint64_t unit[] = { 4, 6, 7, 5 }; /* equal times as they came */
    assert_int_equal(s->n, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(samples_uint(s, TRAFFIC_UNIT, i), unit[i]);
    assert_int_equal(s->at_ns[1], WALL + 10000);
    assert_int_equal(s->n_early, 1); /* 7000 ns is before the beginning */
    assert_int_equal(d.source.lost.by[LOSS_OUTSIDE].n, 1);
    device_forget(&d);
    (void)state;
}

static void every_prefix_of_a_stream_is_read_as_far_as_it_goes(void **state)
{
    static const uint64_t sample[][4] = { { 2, 1, 0, 0 }, { 3, 2, 0, 0 }, { 4, 3, 0, 0 } };
    uint8_t bytes[3 * 24];
    const size_t size = put_hbm(bytes, sample, 3);
    for (size_t n = 0; n <= size; n++) {
        struct error e = { 0 };
        struct device d = device_of("1.0", "", "hbm.data", bytes, n);
        assert_true(counters_load(&d, 0, &e));
        assert_int_equal(d.counters.raw[SAMPLER_HBM].n, n / 24);
        assert_int_equal(d.source.lost.by[LOSS_CUT_SHORT].n, n % 24 != 0);
        device_forget(&d);
    }
    (void)state;
}

static void lines_that_are_no_samples_are_reported(void **state)
{
    static const struct {
        const char *what;
        enum sampler sampler;
        const char *stream, *text;
        size_t n;
        uint64_t bad;
    } row[] = {
        /* clang-format off */
        { "nothing", SAMPLER_HCCS, "hccs.data", "", 0, 0 },
        { "a heading and a sample", SAMPLER_HCCS, "hccs.data", "timestamp: txAmount rxAmount\n1300: 5 6\n", 1, 0 },
        { "a sample without an end of line", SAMPLER_HCCS, "hccs.data", "1300: 5 6", 1, 0 },
        { "a sample that is cut", SAMPLER_HCCS, "hccs.data", "1300: 5 6\n2300: 5", 1, 1 },
        { "words for numbers", SAMPLER_HCCS, "hccs.data", "1300: 5 six\nx: 5 6\n2300: -5 6\n3300: 1 nan\n", 0, 4 },
        { "a port without its function", SAMPLER_NIC, "nic.data", "1300: 1 2 3 4 5 6 7 8 9 10 11 12 13\n", 1, 0 },
        { "a port with one word too many", SAMPLER_ROCE, "roce.data", "9: 1 2 3 4 5 6 7 8 9 10 11 12 13 0 1\n", 1, 0 },
        { "a port with two words too few", SAMPLER_NIC, "nic.data", "1300: 1 2 3 4 5 6 7 8 9 10 11 12\n", 0, 1 },
        { "fractions are fine", SAMPLER_NIC, "nic.data", "1300: 1 2.5 3 4 5 6 7 8 9 10 11 12 13 0\n", 1, 0 },
        { "counts of all packets", SAMPLER_NETDEV, "netdev_stats.data", "9 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6\n", 1, 0 },
        /* clang-format on */
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct error e = { 0 };
        print_message("  %s\n", row[i].what);
        struct device d = device_of("1.0", "", row[i].stream, row[i].text, strlen(row[i].text));
        assert_true(counters_load(&d, 0, &e));
        assert_int_equal(d.counters.raw[row[i].sampler].n, row[i].n);
        assert_int_equal(d.source.lost.by[LOSS_BAD_TEXT].n, row[i].bad);
        device_forget(&d);
    }
    (void)state;
}

static void changes_are_taken_out_of_their_records(void **state)
{
    static const struct {
        const char *what, *stream;
        uint32_t count, kind;
        enum sampler sampler;
        size_t n;
        uint64_t bad;
    } row[] = {
        { "frequencies", "lpmFreqConv.data", 2, 0, SAMPLER_FREQ, 2, 0 },
        { "of whatever kind it says", "lpmFreqConv.data", 2, 7, SAMPLER_FREQ, 2, 0 },
        { "frequencies among others", "lpmInfoConv.data", 55, 0, SAMPLER_FREQ, 55, 0 },
        { "voltages of cores", "lpmInfoConv.data", 1, 1, SAMPLER_CORE_VOLTAGE, 1, 0 },
        { "voltages of the bus", "lpmInfoConv.data", 1, 2, SAMPLER_BUS_VOLTAGE, 1, 0 },
        { "none", "lpmInfoConv.data", 0, 2, SAMPLER_BUS_VOLTAGE, 0, 0 },
        { "an unknown kind", "lpmInfoConv.data", 1, 3, SAMPLER_BUS_VOLTAGE, 0, 1 },
        { "more than fit", "lpmInfoConv.data", 56, 1, SAMPLER_CORE_VOLTAGE, 0, 1 },
        { "many more than fit", "lpmFreqConv.data", UINT32_MAX, 0, SAMPLER_FREQ, 0, 1 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        uint8_t rec[LPM_FIRST + LPM_MOST * 16];
        struct error e = { 0 };
        print_message("  %s\n", row[i].what);
        layout_init(&lpm_layout, rec);
        layout_put(&lpm_layout, LPM_COUNT, rec, row[i].count);
        layout_put(&lpm_layout, LPM_KIND, rec, row[i].kind);
        for (unsigned k = 0; k < LPM_MOST; k++) {
            layout_put(&lpm_entry_layout, LPM_ENTRY_TIME, rec + LPM_FIRST + k * 16, 100 + k);
            layout_put(&lpm_entry_layout, LPM_ENTRY_VALUE, rec + LPM_FIRST + k * 16, 1000 + k);
        }
        struct device d = device_of("1.0", "", row[i].stream, rec, sizeof rec);
        assert_true(counters_load(&d, 0, &e));
        const struct samples *s = &d.counters.raw[row[i].sampler];
        assert_int_equal(s->n, row[i].n);
        for (size_t k = 0; k < s->n; k++) {
            assert_int_equal(s->at_ns[k], WALL + 7000 + (60 + (int64_t)k) * 20);
            assert_int_equal(samples_uint(s, LPM_ENTRY_VALUE, k), 1000 + k);
        }
        assert_int_equal(d.source.lost.by[LOSS_BAD_VALUE].n, row[i].bad);
        device_forget(&d);
    }
    (void)state;
}

/* The unaging stream of a family is read before the other one: room is needed for the entries of both. */
static void changes_of_both_streams_of_a_family_have_room(void **state)
{
    enum { RECORDS = 100 };
    uint8_t rec[RECORDS][LPM_FIRST + LPM_MOST * 16];
    struct error e = { 0 };
    for (unsigned i = 0; i < RECORDS; i++) {
        layout_init(&lpm_layout, rec[i]);
        layout_put(&lpm_layout, LPM_COUNT, rec[i], LPM_MOST);
        for (unsigned k = 0; k < LPM_MOST; k++) {
            layout_put(&lpm_entry_layout, LPM_ENTRY_TIME, rec[i] + LPM_FIRST + k * 16, 100 + i * LPM_MOST + k);
            layout_put(&lpm_entry_layout, LPM_ENTRY_VALUE, rec[i] + LPM_FIRST + k * 16, i * LPM_MOST + k);
        }
    }
    struct device d = device_of("1.0", "", "lpmFreqConv.data", rec[0], sizeof rec[0]);
    struct slice rest = { .name = "rest", .data = rec[1], .size = sizeof rec - sizeof rec[0] };
    struct stream both[] = { *d.source.stream, *d.source.stream };
    both[0].is_unaging = true;
    both[1].slice = &rest;
    d.source.stream = both;
    d.source.n_streams = ROWS(both);
    assert_true(counters_load(&d, 0, &e));
    const struct samples *s = &d.counters.raw[SAMPLER_FREQ];
    assert_int_equal(s->n, RECORDS * LPM_MOST);
    for (size_t k = 0; k < s->n; k++) {
        assert_int_equal(samples_uint(s, LPM_ENTRY_TIME, k), 100 + k);
        assert_int_equal(samples_uint(s, LPM_ENTRY_VALUE, k), k);
    }
    device_forget(&d);
    (void)state;
}

static void cores_end_at_unused_space_and_need_their_mode(void **state)
{
    uint8_t bytes[3 * 96];
    for (size_t i = 0; i < 3; i++) {
        layout_init(&core_sample_layout, bytes + i * 96);
        layout_put(&core_sample_layout, CORE_MODE, bytes + i * 96, i != 1);
    }
    static const char *const mode[] = { "sample-based", "task-based" };
    for (size_t i = 0; i < ROWS(mode); i++) {
        struct error e = { 0 };
        struct device d = device_of("1.0", mode[i], "ffts_profile.data", bytes, sizeof bytes);
        assert_true(counters_load(&d, 0, &e));
        assert_int_equal(d.counters.raw[SAMPLER_CORE].n, i == 0);
        device_forget(&d);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sampler_has_its_own_clock),
        cmocka_unit_test(impossible_times_stay_within_the_range_of_stamps),
        cmocka_unit_test(samples_come_in_the_order_of_time),
        cmocka_unit_test(every_prefix_of_a_stream_is_read_as_far_as_it_goes),
        cmocka_unit_test(lines_that_are_no_samples_are_reported),
        cmocka_unit_test(changes_are_taken_out_of_their_records),
        cmocka_unit_test(changes_of_both_streams_of_a_family_have_room),
        cmocka_unit_test(cores_end_at_unused_space_and_need_their_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
