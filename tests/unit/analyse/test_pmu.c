/* SPDX-License-Identifier: Apache-2.0 */
#include "settings_of.h"
#include "test.h"

#include "analyse/device/counters/device_counters.h"
#include "base/files/bytes.h"
#include "raw/device_records.h"
#include "raw/sampler.h"

/* One device with a few tasks of stream 3, all of them runs of task 7, and records of its cores. */
enum { MOST = 8, RECORD = 128, STREAM = 3, TASK = 7 };

struct bench {
    struct profile profile;
    struct device device;
    uint16_t stream[MOST], batch[MOST];
    uint32_t task[MOST], context[MOST], op[MOST], pmu[MOST], by_id[MOST];
    uint64_t key[MOST], begin[MOST], end[MOST];
    uint32_t blocks[2], mix_blocks[2];
    uint8_t task_record[MOST][RECORD], block_record[MOST][RECORD];
    const uint8_t *of_tasks[MOST], *of_blocks[MOST];
};

static struct bench *bench_new(const char *sample)
{
    struct bench *b = calloc(1, sizeof *b);
    struct device *d = &b->device;
    d->source.mem = arena_new();
    d->source.path = "test";
    d->source.platform = 5;
    d->source.chip = chip_of(d->source.platform);
    d->source.settings = settings_of(NULL, json_loads(sample, 0, NULL), d->source.mem);
    d->source.ai_core_num = 24;
    d->source.aiv_num = 48;
    d->source.aic_mhz = 1800;
    d->tasks = (struct tasks){ .stream = b->stream,
                               .batch = b->batch,
                               .task = b->task,
                               .context = b->context,
                               .op = b->op,
                               .pmu = b->pmu,
                               .by_id = b->by_id,
                               .key = b->key,
                               .begin_tick = b->begin,
                               .end_tick = b->end };
    d->pmu.of_tasks.at = b->of_tasks;
    d->pmu.of_blocks.at = b->of_blocks;
    b->profile.host.ops.blocks = b->blocks;
    b->profile.host.ops.mix_blocks = b->mix_blocks;
    b->blocks[0] = 24;
    b->mix_blocks[0] = 2;
    return b;
}

static void bench_free(struct bench *b)
{
    arena_free(b->device.source.mem);
    free(b);
}

static void add_task(struct bench *b, uint32_t context, uint64_t begin, uint64_t end)
{
    const size_t i = b->device.tasks.n++;
    b->stream[i] = STREAM;
    b->task[i] = TASK;
    b->context[i] = context;
    b->key[i] = task_key(STREAM, 0, TASK);
    b->begin[i] = begin;
    b->end[i] = end;
    b->by_id[i] = (uint32_t)i; /* the tests add them in that order */
}

static void put_record(uint8_t *rec, const struct layout *l, unsigned sub_type, unsigned bits, uint64_t end,
                       uint64_t cycles)
{
    layout_init(l, rec);
    layout_put(l, PMU_STREAM, rec, STREAM);
    layout_put(l, PMU_TASK, rec, TASK);
    layout_put(l, PMU_SUB_TYPE, rec, sub_type);
    layout_put(l, PMU_FFTS_BITS, rec, bits);
    layout_put(l, PMU_END, rec, end);
    layout_put(l, PMU_CYCLES, rec, cycles);
    memcpy(rec + PMU_FIRST, &(uint64_t){ cycles / 2 }, sizeof(uint64_t)); /* the first counter */
}

enum { SUB_MIX_AIC = 6, FFTS_NONE = 0, FFTS_PLUS = 4 << 13, CORE_VECTOR_BIT = 1 };

static void add_task_record(struct bench *b, unsigned sub_type, unsigned bits, uint64_t end, uint64_t cycles)
{
    const size_t i = b->device.pmu.of_tasks.n++;
    put_record(b->task_record[i], &pmu_task_layout, sub_type, bits, end, cycles);
    b->of_tasks[i] = b->task_record[i];
}

static void add_block_record(struct bench *b, unsigned bits, uint64_t end, uint64_t cycles)
{
    const size_t i = b->device.pmu.of_blocks.n++;
    put_record(b->block_record[i], &pmu_block_layout, SUB_MIX_AIC, bits, end, cycles);
    b->of_blocks[i] = b->block_record[i];
}

static uint64_t cycles_of(const struct bench *b, size_t task, enum core core)
{
    struct pmu_counts counts;
    if (b->pmu[task] == NO_ROW)
        return 0;
    pmu_counts(&b->device.pmu, b->pmu[task], &counts);
    return pmu_counts_cycles(&counts, core);
}

static double value_of(const struct bench *b, size_t column)
{
    struct pmu_counts counts;
    pmu_counts(&b->device.pmu, 0, &counts);
    return pmu_counts_value(&counts, &b->device.pmu.columns.column[column], false);
}

static const char sample[] = "{\"ai_core_metrics\": \"Custom:0x9\", \"ai_core_profiling_events\": \"0x9\","
                             " \"aiv_metrics\": \"Custom:0x8\", \"aiv_profiling_events\": \"0x8\"}";

static void records_go_to_the_run_during_which_they_ended(void **state)
{
    struct error e = { 0 };
    struct bench *b = bench_new(sample);
    add_task(b, NO_CONTEXT, 1000, 1100);
    add_task(b, NO_CONTEXT, 2000, 2100); /* its record was lost */
    add_task(b, NO_CONTEXT, 3000, 3100);
    add_task_record(b, 0, FFTS_NONE, 3100, 33); /* files need not be in order */
    add_task_record(b, 0, FFTS_NONE, 1050, 11);
    add_task_record(b, 0, FFTS_NONE, 500, 5); /* before all of them */
    assert_true(pmu_prepare(&b->profile, &b->device, &e) && pmu_analyse(&b->profile, &b->device, &e));
    assert_int_equal(b->device.pmu.n, 2);
    assert_int_equal(cycles_of(b, 0, CORE_AIC), 11);
    assert_int_equal(b->pmu[1], NO_ROW);
    assert_int_equal(cycles_of(b, 2, CORE_AIC), 33);
    assert_int_equal(cycles_of(b, 2, CORE_AIV), 0); /* no vector core took part */
    assert_int_equal(b->device.source.lost.by[LOSS_UNMATCHED].n, 1);
    bench_free(b);
    (void)state;
}

static void blocks_of_mix_kernels_add_up_for_the_other_cores(void **state)
{
    static const struct {
        const char *what;
        unsigned bits;
        uint64_t end;
        bool counts;
    } block[] = {
        { "a vector core", FFTS_PLUS | CORE_VECTOR_BIT, 1010, true },
        { "a cube core: it is the main one", FFTS_PLUS, 1020, false },
        { "of another run", FFTS_PLUS | CORE_VECTOR_BIT, 1500, false },
        { "the second vector core", FFTS_PLUS | CORE_VECTOR_BIT, 1030, true },
        { "a third one for two blocks", FFTS_PLUS | CORE_VECTOR_BIT, 1040, false },
    };
    struct error e = { 0 };
    struct bench *b = bench_new(sample);
    add_task(b, 0, 1000, 1100);
    add_task_record(b, SUB_MIX_AIC, FFTS_PLUS, 1100, 100);
    uint64_t sum = 0;
    for (size_t i = 0; i < ROWS(block); i++) {
        add_block_record(b, block[i].bits, block[i].end, 10u << i);
        sum += block[i].counts ? 10u << i : 0;
    }
    assert_true(pmu_prepare(&b->profile, &b->device, &e) && pmu_analyse(&b->profile, &b->device, &e));
    assert_int_equal(cycles_of(b, 0, CORE_AIC), 100);
    assert_int_equal(cycles_of(b, 0, CORE_AIV), sum);
    /* Columns: time, cycles and the event of each kind of core. */
    assert_int_equal(b->device.pmu.columns.n, 6);
    assert_true(value_of(b, 2) == 50);
    assert_true(value_of(b, 5) == (double)sum / 2);
    bench_free(b);
    (void)state;
}

static void blocks_of_other_kernels_are_not_of_other_cores(void **state)
{
    struct error e = { 0 };
    struct bench *b = bench_new(sample);
    add_task(b, NO_CONTEXT, 1000, 1100);
    add_task_record(b, 0, FFTS_NONE, 1100, 100);
    add_block_record(b, FFTS_NONE, 1010, 10); /* of a cube core, as the kernel itself */
    assert_true(pmu_prepare(&b->profile, &b->device, &e) && pmu_analyse(&b->profile, &b->device, &e));
    assert_int_equal(b->device.pmu.other[0], NO_ROW); /* there is no sum for it: only mix kernels have one */
    assert_int_equal(cycles_of(b, 0, CORE_AIC), 100);
    assert_int_equal(cycles_of(b, 0, CORE_AIV), 0);
    bench_free(b);
    (void)state;
}

static void the_clock_of_the_moment_gives_the_time(void **state)
{
    static const struct {
        const char *what;
        uint64_t end;
        uint64_t mhz[2]; /* from ticks 1000 and 2000 on */
        double time_us;  /* 21600 cycles on 24 blocks */
    } row[] = {
        { "before the first change: as labelled", 900, { 900, 450 }, 0.5 },
        { "after it", 1500, { 900, 450 }, 1 },
        { "after the second", 2000, { 900, 450 }, 2 },
        { "a zero spoils them all", 2000, { 0, 450 }, 0.5 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct error e = { 0 };
        struct bench *b = bench_new(sample);
        uint64_t tick[2] = { 1000, 2000 }, mhz[2] = { row[i].mhz[0], row[i].mhz[1] };
        struct samples *changes = &b->device.counters.raw[SAMPLER_FREQ];
        changes->n = 2;
        changes->column[LPM_ENTRY_TIME].at = tick;
        changes->column[LPM_ENTRY_TIME].width = sizeof *tick;
        changes->column[LPM_ENTRY_VALUE].at = mhz;
        changes->column[LPM_ENTRY_VALUE].width = sizeof *mhz;
        add_task(b, NO_CONTEXT, 0, 9000);
        add_task_record(b, 0, FFTS_NONE, row[i].end, 21600);
        assert_true(pmu_prepare(&b->profile, &b->device, &e) && pmu_analyse(&b->profile, &b->device, &e));
        assert_true(value_of(b, 0) == row[i].time_us);
        bench_free(b);
    }
    (void)state;
}

static void counters_that_nobody_names_are_left_alone(void **state)
{
    struct error e = { 0 };
    struct bench *b = bench_new("{}");
    add_task(b, NO_CONTEXT, 1000, 1100);
    add_task_record(b, 0, FFTS_NONE, 1050, 11);
    assert_true(pmu_prepare(&b->profile, &b->device, &e) && pmu_analyse(&b->profile, &b->device, &e));
    assert_int_equal(b->device.pmu.n, 0);
    assert_int_equal(b->pmu[0], NO_ROW);
    bench_free(b);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_go_to_the_run_during_which_they_ended),
        cmocka_unit_test(blocks_of_mix_kernels_add_up_for_the_other_cores),
        cmocka_unit_test(blocks_of_other_kernels_are_not_of_other_cores),
        cmocka_unit_test(the_clock_of_the_moment_gives_the_time),
        cmocka_unit_test(counters_that_nobody_names_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
