/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/device/device_analysis.h"
#include "raw/sampler.h"

enum { MOST_ROWS = 8, MS = 1000000 };

/* Samples by hand: at[i] is in ms; value[i] are the columns from 1 on. */
struct sheet {
    struct samples s;
    int64_t at_ns[MOST_ROWS];
    uint64_t time[MOST_ROWS], cell[SAMPLES_MOST_COLUMNS][MOST_ROWS];
    double real[SAMPLES_MOST_COLUMNS][MOST_ROWS];
};

static const struct samples *sheet(struct sheet *t, size_t n, const int64_t *at_ms, unsigned n_columns,
                                   const double *value, bool is_real)
{
    *t = (struct sheet){ .s = { .n = n, .at_ns = t->at_ns } };
    for (size_t i = 0; i < n; i++) {
        t->at_ns[i] = at_ms[i] * MS;
        t->time[i] = (uint64_t)at_ms[i] * MS;
        for (unsigned c = 1; c < n_columns; c++) {
            t->cell[c][i] = (uint64_t)value[i * (n_columns - 1) + c - 1];
            t->real[c][i] = value[i * (n_columns - 1) + c - 1];
        }
    }
    t->s.column[0].at = t->time;
    t->s.column[0].width = 8;
    for (unsigned c = 1; c < n_columns; c++) {
        t->s.column[c].at = is_real ? (void *)t->real[c] : (void *)t->cell[c];
        t->s.column[c].width = 8;
        t->s.column[c].is_real = is_real;
    }
    return &t->s;
}

static void close_to(double is, double wanted)
{
    if (!(is >= wanted - 1e-9 * (1 + wanted) && is <= wanted + 1e-9 * (1 + wanted)))
        fail_msg("%.12g; wanted %.12g", is, wanted);
}

static void hbm_is_counted_from_the_same_part_s_sample_before(void **state)
{
    static const int64_t at[] = { 1, 1, 3, 3, 4, 4 };
    /* count, event, unit: 32768 bursts of 256 bits are a MB */
    static const double value[] = { 9, 0, 0, 9, 1, 0, 32768, 0, 0, 65536, 1, 0, 32768, 0, 0, 32768, 0, 3 };
    static const double mbs[] = { 0, 0, 500, 1000, 1000, 0 };
    struct arena *mem = arena_new();
    struct sheet t;
    struct samples out;
    assert_true(rates_hbm(sheet(&t, 6, at, TRAFFIC_FIELDS, value, false), mem, &out));
    assert_int_equal(out.n, 6);
    for (size_t i = 0; i < 6; i++)
        close_to(samples_real(&out, HBM_RATE_MBS, i), mbs[i]);
    assert_int_equal(samples_uint(&out, HBM_RATE_UNIT, 5), 3);
    assert_int_equal(samples_uint(&out, HBM_RATE_IS_WRITE, 3), 1);
    arena_free(mem);
    (void)state;
}

static void ddr_adds_up_the_controllers(void **state)
{
    static const int64_t at[] = { 2, 2, 2, 4 };
    const double all = UINT32_MAX;
    /* count, event, unit, master: 65536 bursts of 128 bits are a MB */
    const double value[] = { 65536, 0, 0, all, 65536, 0, 1, all, 7, 1, 0, 5, 131072, 1, 0, all };
    struct arena *mem = arena_new();
    struct sheet t;
    struct samples out;
    assert_true(rates_ddr(sheet(&t, 4, at, DDR_FIELDS, value, false), 1 * MS, 128, mem, &out));
    assert_int_equal(out.n, 2);
    close_to(samples_real(&out, DDR_RATE_READ_MBS, 0), 2000);
    close_to(samples_real(&out, DDR_RATE_WRITE_MBS, 0), 0); /* of one master only: not of all */
    close_to(samples_real(&out, DDR_RATE_READ_MBS, 1), 0);
    close_to(samples_real(&out, DDR_RATE_WRITE_MBS, 1), 1000);
    arena_free(mem);
    (void)state;
}

static void llc_has_hits_and_traffic(void **state)
{
    /* One time for each sample of eight counters; the second has lost one that hits need. */
    static const uint8_t event[] = { 0x00, 0x01, 0x02, 0x13, 0x20, 0x22, 0x34, 0x36 };
    static const double count[][8] = { { 0, 0, 1, 1, 8, 1, 8, 1 }, { 128, 128, 1, 1, 8, 1, 8, 0 } };
    struct arena *mem = arena_new();
    struct samples out, in = { 0 };
    int64_t at[15];
    uint64_t column[TRAFFIC_FIELDS][15];
    for (size_t i = 0; i < 15; i++) {
        at[i] = i < 8 ? 1 * MS : 2 * MS;
        column[TRAFFIC_EVENT][i] = event[i % 8];
        column[TRAFFIC_COUNT][i] = (uint64_t)count[i / 8][i % 8];
        column[TRAFFIC_UNIT][i] = 1;
    }
    in.n = 15;
    in.at_ns = at;
    for (unsigned c = 0; c < TRAFFIC_FIELDS; c++) {
        in.column[c].at = column[c];
        in.column[c].width = 8;
    }
    assert_true(rates_llc(&in, 2, false, mem, &out));
    assert_int_equal(out.n, 2);
    close_to(samples_real(&out, LLC_RATE_HITS, 0), 0.25);
    close_to(samples_real(&out, LLC_RATE_MBS, 0), 0);
    close_to(samples_real(&out, LLC_RATE_HITS, 1), 0);
    close_to(samples_real(&out, LLC_RATE_MBS, 1), 1000); /* 256 transfers, each counted 64 times 64 bytes, in 1 ms */
    assert_true(rates_llc(&in, 1, false, mem, &out));    /* a chip with fewer slices has no number 1 */
    assert_int_equal(out.n, 0);
    arena_free(mem);
    (void)state;
}

static void hccs_grows(void **state)
{
    static const struct {
        const char *what;
        size_t n;
        double amount[MOST_ROWS]; /* sent; received is twice that, a sample every 1024 ms */
        size_t n_rates;
        double mbs[MOST_ROWS];
    } row[] = {
        { "nothing grows by itself", 1, { 5 }, 0, { 0 } },
        { "the last interval is missing", 3, { 0, 1048576, 3145728 }, 1, { 0.977 } },
        { "unless it is the only one", 2, { 0, 1048576 }, 1, { 0.977 } },
        { "a new beginning is passed over", 4, { 0, 1048576, 0, 1048576 }, 1, { 0.977 } },
        { "a link at rest has all of them", 3, { 7, 7, 7 }, 2, { 0, 0 } },
    };
    static const int64_t at[] = { 0, 1024, 2048, 3072 };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct arena *mem = arena_new();
        struct sheet t;
        struct samples out;
        double value[2 * MOST_ROWS];
        print_message("  %s\n", row[i].what);
        for (size_t k = 0; k < row[i].n; k++) {
            value[2 * k] = row[i].amount[k];
            value[2 * k + 1] = row[i].amount[k] * 2;
        }
        const struct samples *in = sheet(&t, row[i].n, at, HCCS_WORDS, value, true);
        t.s.n_early = in->n; /* all from before the collection began: none may be counted that is not there */
        assert_true(rates_hccs(in, mem, &out));
        assert_int_equal(out.n, row[i].n_rates);
        assert_int_equal(out.n_early, out.n);
        for (size_t k = 0; k < out.n; k++)
            close_to(samples_real(&out, HCCS_RATE_TX_MBS, k), row[i].mbs[k]);
        arena_free(mem);
    }
    (void)state;
}

static void ports_without_packets_have_no_errors(void **state)
{
    static const int64_t at[] = { 1, 2, 3 };
    static const double value[] = {
        8, 10, 1048576, 100, 1, 5, 0, 20, 0, 0,   1, 3, 4, 2, /* 8 Mb/s are one MB/s: in full use */
        8, 0,  0,       0,   0, 0, 0, 0,  0, 0,   0, 0, 0, 2,
        0, 1,  1,       1,   1, 1, 1, 1,  1, 100, 1, 1, 1, 2, /* a port that is down */
    };
    struct arena *mem = arena_new();
    struct sheet t;
    struct samples out;
    assert_true(rates_port(sheet(&t, 3, at, PORT_WORDS, value, true), mem, &out));
    assert_int_equal(out.n, 2);
    assert_int_equal(samples_uint(&out, PORT_RATE_FUNCTION, 0), 2);
    close_to(samples_real(&out, PORT_RATE_RX + PORT_RATE_EFFICIENCY, 0), 1);
    close_to(samples_real(&out, PORT_RATE_RX + PORT_RATE_PACKETS, 0), 10);
    close_to(samples_real(&out, PORT_RATE_RX + PORT_RATE_ERRORS, 0), 0.05);
    close_to(samples_real(&out, PORT_RATE_TX + PORT_RATE_ERRORS, 0), 0);
    close_to(samples_real(&out, PORT_RATE_TX + PORT_RATE_PACKETS, 0), 20);
    arena_free(mem);
    (void)state;
}

static void netdev_counts_are_differences(void **state)
{
    static const int64_t at[] = { 1, 1, 501 };
    double value[3 * (NETDEV_WORDS - 1)];
    for (size_t i = 0; i < ROWS(value); i++)
        value[i] = (double)(i / (NETDEV_WORDS - 1) * 100);
    value[2 * (NETDEV_WORDS - 1)] = 0; /* the first counter began anew */
    struct arena *mem = arena_new();
    struct sheet t;
    struct samples out;
    assert_true(rates_netdev(sheet(&t, 3, at, NETDEV_WORDS, value, true), mem, &out));
    assert_int_equal(out.n, 1); /* two samples of one time say nothing */
    close_to(samples_real(&out, 0, 0), 0);
    close_to(samples_real(&out, 1, 0), 200);
    close_to(samples_real(&out, 2, 0), 200);
    close_to(samples_real(&out, 3, 0), 400); /* bytes/s follow the bytes */
    close_to(samples_real(&out, 18, 0), 400);
    arena_free(mem);
    (void)state;
}

static void sio_knows_fractions_of_a_nanosecond(void **state)
{
    static const int64_t at[] = { 0, 0, 0, 0 };
    const unsigned n = SIO_FIELDS - 1;
    double value[4 * (SIO_FIELDS - 1)] = { 0 };
    static const double die[] = { 0, 1, 0, 5 };
    for (size_t i = 0; i < 4; i++) {
        value[i * n + SOC_ID - 1] = die[i];
        value[i * n + SOC_FIRST - 1] = 1048576;
    }
    struct arena *mem = arena_new();
    struct sheet t;
    struct samples out;
    sheet(&t, 4, at, SIO_FIELDS, value, false);
    static const uint64_t tick[] = { 10, 20, 58, 60 };
    memcpy(t.time, tick, sizeof tick);
    assert_true(rates_sio(&t.s, (struct ticks){ 125, 6 }, mem, &out)); /* 48 MHz: 48 ticks are a µs */
    assert_int_equal(out.n, 1);
    assert_int_equal(samples_uint(&out, SIO_RATE_DIE, 0), 0);
    close_to(samples_real(&out, SIO_RATE_FIRST, 0), 1e6);
    arena_free(mem);
    (void)state;
}

/* Halves of the range of 64 bits, as a damaged file may have them: the difference is more than a signed number holds. */
static void a_gap_may_be_as_long_as_the_range_of_counts(void **state)
{
    static const int64_t none[] = { 0, 0 };
    static const uint64_t tick[] = { UINT64_C(1) << 63, INT64_MAX };
    double value[2 * (SIO_FIELDS - 1)] = { 0 };
    value[SIO_FIELDS - 1 + SOC_FIRST - 1] = 1048576;
    struct arena *mem = arena_new();
    struct sheet t;
    struct samples out;
    sheet(&t, 2, none, SIO_FIELDS, value, false);
    memcpy(t.time, tick, sizeof tick);
    assert_true(rates_sio(&t.s, (struct ticks){ 1, 1 }, mem, &out));
    assert_int_equal(out.n, 1);
    close_to(samples_real(&out, SIO_RATE_FIRST, 0) * 0x1p62, 1e9); /* no distance is longer than 2^62 ns */
    arena_free(mem);
    (void)state;
}

static void what_held_at_the_start_is_the_first_point(void **state)
{
    static const struct {
        const char *what;
        size_t n;
        int64_t at_ms[MOST_ROWS];
        double value[2 * MOST_ROWS];
        size_t n_points;
        uint64_t first;
    } row[] = {
        { "no change at all", 0, { 0 }, { 0 }, 1, 1800 },
        { "one later", 1, { 9 }, { 800 }, 2, 1800 },
        { "one before", 1, { 1 }, { 800 }, 1, 800 },
        { "two before and one later", 3, { 1, 2, 9 }, { 800, 900, 700 }, 2, 900 },
        { "one just then", 1, { 5 }, { 800 }, 2, 1800 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct arena *mem = arena_new();
        struct sheet t;
        struct samples out;
        print_message("  %s\n", row[i].what);
        const struct samples *in = sheet(&t, row[i].n, row[i].at_ms, LPM_ENTRY_FIELDS, row[i].value, false);
        assert_true(rates_changes(in, 5 * MS, 1800, mem, &out));
        assert_int_equal(out.n, row[i].n_points);
        assert_int_equal(out.at_ns[0], 5 * MS);
        assert_int_equal(samples_uint(&out, LPM_ENTRY_VALUE, 0), row[i].first);
        arena_free(mem);
    }
    (void)state;
}

static void two_tables_become_one_by_time(void **state)
{
    static const int64_t at_a[] = { 1, 3 }, at_b[] = { 1, 2 };
    const double value[2 * (ACC_FIELDS - 1)] = { 0 };
    struct arena *mem = arena_new();
    struct sheet a, b;
    struct samples out;
    sheet(&a, 2, at_a, ACC_FIELDS, value, false);
    sheet(&b, 2, at_b, ACC_FIELDS, value, false);
    a.s.n_early = 1;
    assert_true(rates_acc(&a.s, &b.s, mem, &out));
    assert_int_equal(out.n, 4);
    assert_int_equal(out.n_early, 1);
    static const int64_t at_ms[] = { 1, 1, 2, 3 };
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(out.at_ns[i], at_ms[i] * MS);
    arena_free(mem);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hbm_is_counted_from_the_same_part_s_sample_before),
        cmocka_unit_test(ddr_adds_up_the_controllers),
        cmocka_unit_test(llc_has_hits_and_traffic),
        cmocka_unit_test(hccs_grows),
        cmocka_unit_test(ports_without_packets_have_no_errors),
        cmocka_unit_test(netdev_counts_are_differences),
        cmocka_unit_test(sio_knows_fractions_of_a_nanosecond),
        cmocka_unit_test(a_gap_may_be_as_long_as_the_range_of_counts),
        cmocka_unit_test(what_held_at_the_start_is_the_first_point),
        cmocka_unit_test(two_tables_become_one_by_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
