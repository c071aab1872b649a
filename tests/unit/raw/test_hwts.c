/* SPDX-License-Identifier: Apache-2.0 */
#include "settings_of.h"
#include "test.h"

#include "analyse/device/counters/device_counters.h"
#include "analyse/device/tasks/device_tasks.h"
#include "analyse/host/host_analysis.h"
#include "guarded.h"
#include "load/prof/prof.h"
#include "raw/device_records.h"
#include "raw/hwts.h"

enum { MOST = 16 };

/* A log in words: "2a(100" is the beginning of task a of stream 2 at tick 100, "2a)150" its end. */
static size_t edges_read(struct edges *e, const char *text)
{
    int used = 0, stream, tick;
    char task, side;
    e->n = 0;
    for (; sscanf(text, " %d%c%c%d%n", &stream, &task, &side, &tick, &used) == 4; text += used) {
        e->id[e->n] = (uint32_t)stream << 16 | (uint32_t)(task - 'a');
        e->tick[e->n] = (uint64_t)tick;
        e->type[e->n] = 0;
        e->is_end[e->n++] = side == ')';
    }
    return e->n;
}

static void an_end_belongs_to_the_last_beginning_before_it(void **state)
{
    static const struct {
        const char *what, *log, *tasks; /* tasks: as edges, by id */
        uint64_t unpaired;
    } row[] = {
        { "nothing", "", "", 0 },
        { "one task", "2a(100 2a)150", "2a(100 2a)150", 0 },
        { "tasks of several streams", "2a(100 3a(110 2a)150 3a)160", "2a(100 2a)150 3a(110 3a)160", 0 },
        { "an id that is used again", "2a(100 2a)150 2a(200 2a)250", "2a(100 2a)150 2a(200 2a)250", 0 },
        { "a beginning without an end vanishes", "2a(100 2b(110 2b)150", "2b(110 2b)150", 1 },
        { "an end without a beginning, too", "2a)100 2b(110 2b)150", "2b(110 2b)150", 1 },
        { "a later beginning replaces an earlier one", "2a(100 2a(120 2a)150", "2a(120 2a)150", 1 },
        { "a second end has nothing to end", "2a(100 2a)150 2a)160", "2a(100 2a)150", 1 },
        { "the order of the file counts", "2a(200 2a)250 2a(100 2a)150", "2a(200 2a)250 2a(100 2a)150", 0 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        uint32_t id[MOST], wanted_id[MOST], order[MOST], task[MOST], context[MOST];
        uint64_t tick[MOST], wanted_tick[MOST], begin[MOST], end[MOST], unpaired = 0;
        uint16_t stream[MOST];
        uint8_t type[MOST], log_type[MOST];
        uint8_t is_end[MOST], wanted_is_end[MOST];
        struct edges e = { .id = id, .tick = tick, .type = type, .is_end = is_end },
                     wanted = { .id = wanted_id, .tick = wanted_tick, .type = type, .is_end = wanted_is_end };
        struct device_log log = {
            .stream = stream, .task = task, .context = context, .begin = begin, .end = end, .type = log_type
        };
        print_message("  %s\n", row[i].what);
        edges_read(&e, row[i].log);
        for (uint32_t k = 0; k < e.n; k++)
            order[k] = k;
        assert_true(edges_pair(&log, &e, order, &unpaired));
        assert_int_equal(unpaired, row[i].unpaired);
        assert_int_equal(2 * log.n, edges_read(&wanted, row[i].tasks));
        for (size_t k = 0; k < log.n; k++) {
            assert_int_equal((uint32_t)stream[k] << 16 | task[k], wanted_id[2 * k]);
            assert_int_equal(begin[k], wanted_tick[2 * k]);
            assert_int_equal(end[k], wanted_tick[2 * k + 1]);
            assert_int_equal(context[k], NO_CONTEXT);
        }
    }
    (void)state;
}

static void batches_are_counted_by_flips(void **state)
{
    enum { DESTROYED = 65535 };
    static const struct {
        const char *what;
        size_t n, n_flips;
        uint64_t time[4];
        uint32_t task[4];
        uint64_t flip_time[3];
        uint16_t flip_task[3], flip_number[3];
        uint16_t batch[4];
    } row[] = {
        { "no flips", 4, 0, { 10, 20, 30, 40 }, { 1, 2, 3, 4 }, { 0 }, { 0 }, { 0 }, { 0, 0, 0, 0 } },
        { "a flip between two tasks",
          4,
          1,
          { 10, 20, 30, 40 },
          { 65534, 65535, 0, 1 },
          { 25 },
          { 0 },
          { 1 },
          { 0, 0, 1, 1 } },
        { "at the very time of a task",
          4,
          1,
          { 10, 20, 30, 40 },
          { 65534, 65535, 0, 1 },
          { 30 },
          { 0 },
          { 1 },
          { 0, 0, 1, 1 } },
        { "a late one: ids below its own",
          4,
          1,
          { 10, 20, 30, 40 },
          { 65535, 0, 1, 2 },
          { 35 },
          { 2 },
          { 1 },
          { 0, 1, 1, 1 } },
        { "its own id is not below itself",
          4,
          1,
          { 10, 20, 30, 40 },
          { 65535, 2, 1, 3 },
          { 35 },
          { 2 },
          { 1 },
          { 0, 0, 1, 1 } },
        { "a stream that ends takes nothing",
          4,
          1,
          { 10, 20, 30, 40 },
          { 7, 0, 1, 2 },
          { 35 },
          { 9 },
          { DESTROYED },
          { 0, 0, 0, 1 } },
        { "two flips at once",
          4,
          2,
          { 10, 20, 30, 40 },
          { 5, 6, 0, 1 },
          { 25, 25 },
          { 0, 0 },
          { DESTROYED, 1 },
          { 0, 0, 2, 2 } },
        { "after all tasks", 4, 1, { 10, 20, 30, 40 }, { 5, 6, 7, 8 }, { 90 }, { 0 }, { 1 }, { 0, 0, 0, 0 } },
        { "before all tasks", 4, 1, { 10, 20, 30, 40 }, { 5, 6, 7, 8 }, { 1 }, { 0 }, { 1 }, { 1, 1, 1, 1 } },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        static const uint32_t order[] = { 0, 1, 2, 3 };
        uint16_t batch[4];
        print_message("  %s\n", row[i].what);
        batch_of_older(order, row[i].n, row[i].time, row[i].task, batch, row[i].n_flips, row[i].flip_time,
                       row[i].flip_task, row[i].flip_number);
        assert_memory_equal(batch, row[i].batch, sizeof batch);
    }
    (void)state;
}

/* A device whose files are in memory. */
struct bench {
    struct profile profile;
    struct device device;
    struct slice slice;
    struct stream stream;
    uint8_t log[MOST * 64];
    uint16_t track_stream[MOST], track_task[MOST], track_type[MOST];
    uint64_t track_tick[MOST];
    uint8_t track_state[MOST];
};

static struct bench *bench_new(int platform)
{
    struct bench *b = calloc(1, sizeof *b);
    struct source *s = &b->device.source;
    s->mem = arena_new();
    s->path = "test";
    s->chip = chip_of(platform);
    b->profile.chip = s->chip;
    b->profile.has_unique_ids = true;
    b->profile.names = names_new();
    assert_true(known_names_add(b->profile.names));
    b->slice = (struct slice){ .name = "hwts.data.0.slice_0" };
    b->stream = (struct stream){ .family = "hwts.data", .slice = &b->slice, .n_slices = 1 };
    s->stream = &b->stream;
    s->n_streams = 1;
    b->device.log.states.stream = b->track_stream;
    b->device.log.states.task = b->track_task;
    b->device.log.states.type = b->track_type;
    b->device.log.states.tick = b->track_tick;
    b->device.log.states.state = b->track_state;
    return b;
}

static void bench_free(struct bench *b)
{
    arena_free(b->device.source.mem);
    names_free(b->profile.names);
    free(b);
}

static void log_add(struct bench *b, uint32_t stream, uint16_t task, uint8_t type, uint64_t tick, bool is_end)
{
    uint8_t *rec = b->log + b->slice.size;
    layout_init(&hwts_layout, rec);
    layout_put(&hwts_layout, HWTS_HEAD, rec, is_end);
    layout_put(&hwts_layout, HWTS_TYPE, rec, type);
    layout_put(&hwts_layout, HWTS_TASK, rec, task);
    layout_put(&hwts_layout, HWTS_TICK, rec, tick);
    layout_put(&hwts_layout, HWTS_STREAM, rec, stream);
    b->slice.size += hwts_layout.size;
}

static void state_add(struct bench *b, uint16_t task, uint16_t type, uint8_t state, uint64_t tick)
{
    const size_t i = b->device.log.states.n++;
    b->track_stream[i] = 3;
    b->track_task[i] = task;
    b->track_type[i] = type;
    b->track_state[i] = state;
    b->track_tick[i] = tick;
}

/* The same files mean something else on each chip. */
static void what_the_log_leaves_out_is_in_the_track(void **state)
{
    enum { AI_CPU = 1, MODEL_EXECUTE = 13, OF_NO_INTEREST = 5 };
    static const struct {
        const char *what;
        int platform;
        size_t n;
        uint8_t type[3]; /* of tasks 1 (in the log), 7 (AI CPU) and 8 (a graph) of stream 3 */
    } row[] = {
        { "the 910 tracks kernels of its AI CPU", 1, 2, { 0, AI_CPU } },
        { "the 310P tracks what its scheduler does", 4, 2, { 0, TYPE_OF_HOST } },
        { "on other chips everything is in the log", 3, 1, { 0 } },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct error e = { 0 };
        struct bench *b = bench_new(row[i].platform);
        print_message("  %s\n", row[i].what);
        log_add(b, 3, 1, 0, 100, false);
        log_add(b, 3, 1, 0, 200, true);
        state_add(b, 7, AI_CPU, TS_STATE_ENDED, 390); /* the order of the file means nothing */
        state_add(b, 7, AI_CPU, TS_STATE_RECEIVED, 300);
        state_add(b, 7, AI_CPU, TS_STATE_STARTED, 310);
        state_add(b, 8, MODEL_EXECUTE, TS_STATE_RECEIVED, 400);
        state_add(b, 8, MODEL_EXECUTE, TS_STATE_STARTED, 410);
        state_add(b, 8, MODEL_EXECUTE, TS_STATE_ENDED, 490);
        state_add(b, 1, MODEL_EXECUTE, TS_STATE_RECEIVED, 100); /* the log has it */
        state_add(b, 1, MODEL_EXECUTE, TS_STATE_ENDED, 200);
        state_add(b, 9, OF_NO_INTEREST, TS_STATE_RECEIVED, 500);
        state_add(b, 9, OF_NO_INTEREST, TS_STATE_ENDED, 590);
        b->slice.data = guarded_copy((const char *)b->log, b->slice.size);
        assert_true(task_log_load(&b->device, &e));
        guarded_free(b->slice.data, b->slice.size);
        assert_int_equal(b->device.log.edges[EDGES_OF_CORES].n, 2);
        assert_true(hwts_log_pair(&b->profile, &b->device, &e));
        assert_int_equal(b->device.log.edges[EDGES_OF_CORES].n, 0);
        const struct device_log *log = &b->device.log;
        assert_int_equal(log->n, row[i].n);
        for (size_t k = 0; k < log->n; k++)
            assert_int_equal(log->type[k], row[i].type[k]);
        if (log->n == 2) {
            const bool is_graph = log->type[1] == TYPE_OF_HOST;
            assert_int_equal(log->task[1], is_graph ? 8 : 7);
            assert_int_equal(log->begin[1], is_graph ? 400 : 310); /* a graph runs from when it was received */
            assert_int_equal(log->end[1], is_graph ? 490 : 390);
        }
        bench_free(b);
    }
    (void)state;
}

/* Tasks of stream 3, all of them uses of task 7, and records of both kinds of cores. */
static void counters_are_handed_out_in_turn(void **state)
{
    enum { CORE, VECTOR, CPU, OPS };
    static const char *const type_name[OPS] = { "AI_CORE", "AI_VECTOR_CORE", "AI_CPU" };
    static const struct {
        const char *what;
        const char *ops;                   /* of the tasks in the order of their beginning: c, v, p, or - for none */
        size_t n_early;                    /* of these, from before the collection */
        uint64_t of_core[4], of_vector[4]; /* cycles, 0 ends */
        uint64_t cycles[4];                /* of the tasks that are shown; 0: no counters */
        uint64_t left;
    } row[] = {
        { "first come, first served", "ccc", 0, { 11, 22, 33 }, { 0 }, { 11, 22, 33 }, 0 },
        { "fewer records than tasks", "ccc", 0, { 11 }, { 0 }, { 11, 0, 0 }, 0 },
        { "more", "c", 0, { 11, 22 }, { 0 }, { 11 }, 1 },
        { "kernels of the AI CPU are not counted", "cpc", 0, { 11, 22 }, { 0 }, { 11, 0, 22 }, 0 },
        { "nor is what is no operator", "-c", 0, { 11 }, { 0 }, { 0, 11 }, 0 },
        { "early ones were", "ccc", 1, { 11, 22, 33 }, { 0 }, { 22, 33 }, 0 },
        { "vector kernels without a file of theirs", "cv", 0, { 11, 22 }, { 0 }, { 11, 22 }, 0 },
        { "and with one", "cvc", 0, { 11, 33 }, { 22 }, { 11, 22, 33 }, 0 },
        { "what is left in the other file serves", "vv", 0, { 33 }, { 22 }, { 22, 33 }, 0 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct bench *b = bench_new(2);
        struct device *d = &b->device;
        struct error e = { 0 };
        print_message("  %s\n", row[i].what);
        d->source.settings = settings_of(
            NULL, json_pack("{s:s, s:s}", "ai_core_metrics", "PipeUtilization", "ai_core_profiling_events", "0x8,0xa"),
            d->source.mem);
        d->source.ai_core_num = d->source.aiv_num = 8;
        d->source.aic_mhz = 1000;
        name_id task_type[OPS];
        uint32_t blocks[OPS] = { 8, 8, 8 };
        for (size_t k = 0; k < OPS; k++)
            task_type[k] = names_addz(b->profile.names, type_name[k]);
        b->profile.host.ops.task_type = task_type;
        b->profile.host.ops.blocks = b->profile.host.ops.mix_blocks = blocks;

        uint16_t stream[8];
        uint32_t task[8], op[8], pmu[8];
        uint64_t begin[8];
        struct early_task early[8];
        const size_t n = strlen(row[i].ops), shown = n - row[i].n_early;
        for (size_t k = 0; k < n; k++) {
            static const char letter[] = "cvp";
            const char *found = strchr(letter, row[i].ops[k]);
            const uint32_t which = found ? (uint32_t)(found - letter) : NO_ROW;
            if (k < row[i].n_early)
                early[k] = (struct early_task){ (uint32_t)k, which };
            else
                op[k - row[i].n_early] = which;
            stream[k] = 3;
            task[k] = 7;
            begin[k] = 100 * k;
        }
        d->log.stream = stream;
        d->log.task = task;
        d->log.begin = begin;
        d->log.early = early;
        d->log.n_early = row[i].n_early;
        d->tasks = (struct tasks){ .n = shown, .stream = stream, .task = task, .op = op, .pmu = pmu };

        uint8_t record[CORES][4][128] = { 0 };
        const uint8_t *at[CORES][4];
        for (int core = 0; core < CORES; core++) {
            const uint64_t *cycles = core == CORE_AIC ? row[i].of_core : row[i].of_vector;
            size_t k = 0;
            for (; k < 4 && cycles[k]; k++) {
                at[core][k] = record[core][k];
                layout_put(&hwts_pmu_layout, HWTS_PMU_STREAM, record[core][k], 3 + 2048); /* numbers wrap */
                layout_put(&hwts_pmu_layout, HWTS_PMU_TASK, record[core][k], 7);
                layout_put(&hwts_pmu_layout, HWTS_PMU_CYCLES, record[core][k], cycles[k]);
            }
            d->pmu.of_cores[core] = (struct pmu_records){ k, at[core] };
        }
        assert_true(pmu_analyse(&b->profile, d, &e));
        for (size_t k = 0; k < shown; k++) {
            struct pmu_counts counts = { 0 };
            if (pmu[k] != NO_ROW)
                pmu_counts(&d->pmu, pmu[k], &counts);
            assert_int_equal(pmu_counts_cycles(&counts, CORE_AIC), row[i].cycles[k]);
        }
        assert_int_equal(d->source.lost.by[LOSS_UNMATCHED].n, row[i].left);
        bench_free(b);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_belongs_to_the_last_beginning_before_it),
        cmocka_unit_test(batches_are_counted_by_flips),
        cmocka_unit_test(what_the_log_leaves_out_is_in_the_track),
        cmocka_unit_test(counters_are_handed_out_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
