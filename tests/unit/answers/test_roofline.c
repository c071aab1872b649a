/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/run/roofline.h"

#include <math.h>

#include "test.h"

static struct names *names;
static struct arena *mem;

static int begin(void **state)
{
    (void)state;
    names = names_new();
    mem = arena_new();
    return names && mem ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    names_free(names);
    arena_free(mem);
    return 0;
}

static struct roofline_key key_of(const char *type, const char *in, const char *types, const char *out)
{
    return (struct roofline_key){ names_addz(names, type),
                                  { names_addz(names, in), names_addz(names, out) },
                                  { names_addz(names, types), names_addz(names, types) },
                                  { NAME_NA, NAME_NA } };
}

static void add(struct roofline *r, struct roofline_key key, double ns, double counted_operations, double counted_bytes)
{
    static int64_t now;
    now += 1000000;
    assert_true(
        roofline_add(r, &key, &(struct roofline_run){ ns, now, now + (int64_t)ns, counted_operations, counted_bytes }));
}

static const char *name_of(const struct roofline *r, size_t row)
{
    return names_text(names, r->rows.at[row].key.name);
}

/* A device of 24 cores of 1.8 GHz: 353.8944 T operations of 16 bits a second, 1.6 TB/s. */
static const uint32_t N_CORES = 24;
static const double MHZ = 1800;

static void rows_reach_a_share_of_their_roof(void **state)
{
    struct roofline r;
    roofline_begin(&r, names, mem);
    const struct roofline_key wide = key_of("MatMul", "4096,4096;4096,4096", "FLOAT16;FLOAT16", "4096,4096"),
                              narrow = key_of("MatMul", "4096,16;16,4096", "FLOAT16;FLOAT16", "4096,4096"),
                              single = key_of("MatMul", "64,64;64,64", "FLOAT;FLOAT", "64,64"),
                              sum = key_of("Add", "1000000;1000000", "FLOAT16;FLOAT16", "1000000");
    add(&r, wide, 1e6, 0, 0);
    add(&r, wide, 3e6, 0, 0);
    add(&r, narrow, 1e6, 0, 0);
    add(&r, single, 5e5, 0, 0);
    add(&r, sum, 1e5, 0, 0);
    add(&r, key_of("Unknown", "5", "FLOAT", "5"), 4e5, 0, 0);
    roofline_end(&r, &(struct device_facts){ chip_of(5), N_CORES, MHZ, NULL });
    assert_int_equal(r.rows.n, 4);
    assert_true(r.time_ns == 6e6 && r.known_ns == 5.6e6);
    assert_true(r.peak_operations[NUMBERS_16] == 353.8944e12 && r.peak_bytes == 1.6e12 && !r.is_observed);

    const struct roofline_row *row = r.rows.at; /* the longest first */
    assert_true(row[0].count == 2 && row[0].time_ns == 4e6 && row[0].operations == 2 * 2.0 * 4096 * 4096 * 4096);
    assert_true(row[0].end_ns - row[0].begin_ns == 3000000); /* its longest run */
    assert_true(fabs(row[0].share - 2 * 2.0 * 4096 * 4096 * 4096 / 353.8944e12 / 4e-3) < 1e-12);
    /* 15.9 operations for each byte: the memory is the lower roof. */
    assert_true(row[1].bytes == 2.0 * (2 * 4096 * 16 + 4096 * 4096));
    assert_true(fabs(row[1].share - row[1].bytes / 1.6e12 / 1e-3) < 1e-12);
    /* How fast FP32 is multiplied is not known: the memory is the only roof. */
    assert_true(row[2].numbers == NUMBERS_FP32 && fabs(row[2].share - row[2].bytes / 1.6e12 / 5e-4) < 1e-12);
    assert_true(row[3].operations == 0 && row[3].bytes == 6e6 && fabs(row[3].share - 6e6 / 1.6e12 / 1e-4) < 1e-12);
    (void)state;
}

static void an_unknown_memory_is_as_fast_as_was_observed(void **state)
{
    struct roofline r;
    roofline_begin(&r, names, mem);
    add(&r, key_of("Add", "1000;1000", "FLOAT16;FLOAT16", "1000"), 1000, 0, 0);
    add(&r, key_of("Mul", "1000;1000", "FLOAT16;FLOAT16", "1000"), 4000, 0, 0);
    roofline_end(&r, &(struct device_facts){ chip_of(5), 20, MHZ, NULL });
    assert_true(r.is_observed && r.peak_bytes == 6e9);
    assert_string_equal(name_of(&r, 0), "Mul");
    assert_true(fabs(r.rows.at[0].share - 0.25) < 1e-12 && fabs(r.rows.at[1].share - 1) < 1e-12);

    roofline_begin(&r, names, mem);
    add(&r, key_of("MatMul", "3,5;5,7", "NEW;NEW", "3,7"), 1000, 0, 0);
    roofline_end(&r, &(struct device_facts){ chip_of(5), 20, MHZ, NULL });
    assert_true(r.rows.n == 1 && isnan(r.rows.at[0].share)); /* neither roof is known */
    assert_true(!r.is_observed && r.peak_bytes == 0);
    (void)state;
}

static void counters_say_what_shapes_do_not(void **state)
{
    struct roofline r;
    roofline_begin(&r, names, mem);
    add(&r, key_of("MatMul", "3,5;5,7", "FLOAT16;FLOAT16", "3,7"), 3000, 999, 0);
    add(&r, key_of("Custom", "3,5;5,7", "FLOAT16;FLOAT16", "3,7"), 2000, 100, 0);
    add(&r, key_of("Custom", "3,5;5,7", "FLOAT16;FLOAT16", "3,7"), 500, 150, 0);
    add(&r, key_of("Other", "3,5", "FLOAT16", "3,5"), 1000, 0, 77);
    roofline_end(&r, &(struct device_facts){ chip_of(5), N_CORES, MHZ, NULL });
    const struct roofline_row *row = r.rows.at;
    assert_int_equal(r.rows.n, 3);
    assert_true(row[0].operations == 210 && row[0].counted_operations == 999 && !row[0].has_counted_operations);
    assert_true(row[1].operations == 250 && row[1].has_counted_operations && row[1].bytes == 0 && isnan(row[1].share));
    assert_true(row[2].bytes == 77 && row[2].has_counted_bytes && row[2].operations == 0);
    (void)state;
}

/* aten::mm has a product and the sum of its parts, aten::add a kernel of which nothing is known, and one kernel was
 * launched by nobody. */
static void kernels_of_gpus_have_the_work_of_their_operator(void **state)
{
    name_id kernel = names_addz(names, "gemm"),
            op_name[] = { names_addz(names, "aten::mm"), names_addz(names, "aten::add") };
    name_id shapes[] = { names_addz(names, "3, 5;\n5, 7"), (name_id)NO_NAME },
            types[] = { names_addz(names, "float;\nfloat"), (name_id)NO_NAME };
    uint32_t of_op[] = { 0, 0, 0, 0 }, device[] = { 0, 0, 0 }, row[] = { 0, 1, 2 };
    bool hidden[4] = { false }, collective[3] = { false };
    double dur_ns[] = { 1000, 500, 300, 200 };
    int64_t begin_ns[] = { 10000, 12000, 20000 }, end_ns[] = { 11000, 12500, 20300 };
    uint32_t by_begin[] = { 0, 1 }, started[] = { 0, 1, 2 }, first_started[] = { 0, 2, 3 };
    struct device gpu = {
        .source = { .chip = chip_of(PLATFORM_CUDA),
                    .gpu = { .n_sm = 132, .major = 9, .core_mhz = 1980, .memory_mhz = 3201, .bus_bits = 6144 } },
        .tasks = { .n = 4, .op = of_op, .is_hidden = hidden, .dur_ns = dur_ns }
    };
    const struct profile p = {
        .names = names, .chip = gpu.source.chip, .host.ops = { .n = 1, .name = &kernel }, .device = &gpu, .n_devices = 1
    };
    const struct collection c = {
        .framework.ops = { .n = 2, .name = op_name, .shapes = shapes, .types = types },
        .kernels = { .n = 3,
                     .begin_ns = begin_ns,
                     .end_ns = end_ns,
                     .device = device,
                     .row = row,
                     .is_collective = collective },
        .tree = { .by_begin = by_begin, .started = started, .n_started = 3, .first_started = first_started },
    };
    struct roofline r;
    assert_true(roofline_find(&r, &p, &c, mem));
    assert_int_equal(r.rows.n, 1);
    assert_string_equal(name_of(&r, 0), "aten::mm");
    assert_true(r.rows.at[0].count == 1 && r.rows.at[0].time_ns == 1500 && r.rows.at[0].operations == 210);
    assert_true(r.rows.at[0].begin_ns == 10000 && r.rows.at[0].end_ns == 12500);
    assert_true(r.time_ns == 2000 && r.known_ns == 1500);
    assert_true(r.peak_operations[NUMBERS_FP32] > 5e14 && r.peak_bytes > 4.9e12);

    assert_true(roofline_find(&r, &p, NULL, mem)); /* a PROF directory has no operators */
    assert_int_equal(r.rows.n, 0);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_reach_a_share_of_their_roof, begin, end),
        cmocka_unit_test_setup_teardown(an_unknown_memory_is_as_fast_as_was_observed, begin, end),
        cmocka_unit_test_setup_teardown(counters_say_what_shapes_do_not, begin, end),
        cmocka_unit_test_setup_teardown(kernels_of_gpus_have_the_work_of_their_operator, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
