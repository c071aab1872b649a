/* SPDX-License-Identifier: Apache-2.0 */
#include "collecting.h"

#include <pthread.h>
#include <signal.h>

#include "ascope/ascope.h"
#include "ascope/sim.h"
#include "child.h"
#include "collect/marks/mark_domain.h"
#include "collect/options/options.h"
#include "collect/session/devices.h"
#include "collect/session/host_clock.h"
#include "collect/session/recording.h"
#include "device/sim_npu/sim_cost.h"
#include "device/sim_npu/sim_npu.h"
#include "device/sim_npu/sim_npu_parts.h"

/* ---- the cost model ---- */

static struct ascope_sim_tensor matrix(uint32_t type, uint32_t rows, uint32_t columns)
{
    return (struct ascope_sim_tensor){ type, 2, { rows, columns } };
}

static struct sim_work product(uint32_t type, uint32_t m, uint32_t k, uint32_t n)
{
    const struct ascope_sim_tensor in[] = { matrix(type, m, k), matrix(type, k, n) }, out = matrix(type, m, n);
    return sim_work_of(&(struct ascope_sim_kernel){ "MatMul", NULL, in, &out, 2, 1 });
}

static struct sim_work sum(const char *type, uint32_t rows)
{
    const struct ascope_sim_tensor t = matrix(ASCOPE_SIM_FLOAT16, rows, 1024), in[] = { t, t };
    return sim_work_of(&(struct ascope_sim_kernel){ type, NULL, in, &t, 2, 1 });
}

static void costs_follow_the_work(void **state)
{
    const uint32_t half = ASCOPE_SIM_FLOAT16, single = ASCOPE_SIM_FLOAT;
    struct sim_work w = product(half, 4096, 4096, 4096), twice = product(half, 4096, 8192, 4096);
    assert_true(w.core_ns > w.memory_ns);
    assert_in_range(twice.core_ns, 2 * w.core_ns - 2, 2 * w.core_ns + 2); /* twice the products, twice the time */
    twice = product(half, 8192, 4096, 4096);
    assert_in_range(twice.core_ns, 2 * w.core_ns - 2, 2 * w.core_ns + 2);
    assert_in_range(product(single, 4096, 4096, 4096).core_ns, 4 * w.core_ns - 4, 4 * w.core_ns + 4);
    assert_true(product(single, 4096, 4096, 4096).is_eligible);
    assert_int_equal(w.kind, TASK_CUBE);
    assert_int_equal(w.blocks, 24);
    assert_int_equal(product(half, 16, 16, 16).blocks, 1);

    w = sum("Add", 65536);
    twice = sum("Add", 131072);
    assert_true(w.memory_ns > w.core_ns);
    assert_in_range(twice.memory_ns, 2 * w.memory_ns - 2, 2 * w.memory_ns + 2);
    assert_int_equal(w.kind, TASK_VECTOR);
    assert_int_equal(sum("NobodyKnowsMe", 65536).memory_ns, w.memory_ns);
    assert_null(sum("NobodyKnowsMe", 65536).call);

    uint64_t before = 0;
    for (uint32_t n = 1; n <= 1 << 16; n *= 2) {
        const struct sim_work now = product(half, n, n, n);
        assert_true(sim_work_ns(&now, SIM_CORE_MHZ) >= before);
        before = sim_work_ns(&now, SIM_CORE_MHZ);
    }
    w = product(half, UINT32_MAX, UINT32_MAX, UINT32_MAX);
    assert_in_range(sim_work_ns(&w, SIM_CORE_MHZ), 1, SIM_WORK_NS_MOST + 10000u);
    (void)state;
}

static void transposed_products_cost_the_same(void **state)
{
    const uint32_t h = ASCOPE_SIM_FLOAT16;
    const struct ascope_sim_tensor plain[] = { matrix(h, 128, 4096), matrix(h, 4096, 2048) };
    const struct ascope_sim_tensor turned[] = { matrix(h, 4096, 128), matrix(h, 2048, 4096) };
    const struct ascope_sim_tensor out = matrix(h, 128, 2048);
    const struct ascope_sim_tensor batch[] = { { h, 3, { 8, 128, 4096 } }, { h, 3, { 8, 4096, 2048 } } };
    const struct ascope_sim_tensor batch_out = { h, 3, { 8, 128, 2048 } };
    const uint64_t ns = sim_work_of(&(struct ascope_sim_kernel){ "MatMul", NULL, plain, &out, 2, 1 }).core_ns;
    assert_int_equal(sim_work_of(&(struct ascope_sim_kernel){ "MatMul", NULL, turned, &out, 2, 1 }).core_ns, ns);
    assert_in_range(sim_work_of(&(struct ascope_sim_kernel){ "MatMul", NULL, batch, &batch_out, 2, 1 }).core_ns,
                    8 * ns - 8, 8 * ns + 8);
    (void)state;
}

static void slower_cores_take_longer(void **state)
{
    const struct sim_work w = product(ASCOPE_SIM_FLOAT16, 4096, 4096, 4096);
    const uint64_t fast = sim_work_ns(&w, SIM_CORE_MHZ) - w.start_ns, slow = sim_work_ns(&w, 900) - w.start_ns;
    assert_in_range(slow, 2 * fast - 2, 2 * fast + 2);
    const struct sim_work bytes = sum("Add", 65536);
    assert_int_equal(sim_work_ns(&bytes, SIM_CORE_MHZ),
                     sim_work_ns(&bytes, 1650)); /* waits for memory, not for cores */
    (void)state;
}

static void counters_agree_with_the_work(void **state)
{
    enum { MAC = 0x416, MTE2 = 0xc, FIXPIPE = 0x303, MAIN_READ = 0x12 };
    static const uint16_t event[] = { MAC, MTE2, FIXPIPE, MAIN_READ };
    const uint64_t cycles = 1000000;
    uint64_t of_product[4], of_sum[4];
    const struct sim_work w = product(ASCOPE_SIM_FLOAT16, 4096, 4096, 4096), s = sum("Add", 65536);
    sim_count(&w, cycles, event, 4, of_product);
    sim_count(&s, cycles, event, 4, of_sum);
    assert_in_range(of_product[0], cycles * 9 / 10, cycles);         /* a large product keeps the cubes busy, */
    assert_in_range(of_sum[1] + of_sum[2], cycles * 8 / 10, cycles); /* a sum the way to memory */
    assert_in_range(of_sum[0], 0, cycles / 2);
    assert_int_equal(of_sum[3], s.read_bytes / 8);
    (void)state;
}

/* ---- the device at work ---- */

struct row { /* of the task log */
    uint16_t stream, task;
    uint8_t type;
    uint64_t begin, end;
};
static struct row rows[200000];
static size_t n_rows;
static struct device_reading first_reading[2], last_reading[2];
static unsigned n_read;

static struct ascope_options options_at(uint32_t level)
{
    struct ascope_options o;
    ascope_options_init(&o);
    o.device = "sim";
    o.level = level;
    o.activities = ASCOPE_CPU | ASCOPE_NPU;
    o.mstx = true;
    return o;
}

static void record_start(struct ascope_options o)
{
    struct error e = { 0 };
    char prof[512], path[512];
    snprintf(prof, sizeof prof, "%s/PROF_1", folder);
    snprintf(path, sizeof path, "%s/" RINGS_NAME, folder);
    mkdir(prof, 0750);
    options_check(&o);
    recording_prepare();
    marks_filter(NULL, NULL);
    assert_true(rings_open(
        &(struct rings_options){ .path = path, .id = "00112233445566778899AABBCCDDEEFF", .ring_bytes = 1 << 23 }, &e));
    assert_true(writer_start(&(struct writer_options){ .prof_dir = prof, .slice_bytes = 1 << 30 }, &e));
    n_read = sim_npu_kind.probe(&e);
    for (unsigned i = 0; i < n_read && i < ROWS(first_reading); i++)
        assert_true(sim_npu_kind.read_clock(i, &first_reading[i], &e));
    assert_true(sim_npu_kind.start(&o, &e));
    recording_set(options_recorded(&o));
}

/* The whole file of the last collection; *n bytes. The caller frees it. */
static uint8_t *file_read(const char *name, size_t *n)
{
    char path[128];
    snprintf(path, sizeof path, "PROF_1/%.100s.slice_0", name);
    FILE *f = fopen(folder_path(path), "rb");
    *n = 0;
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    const long size = ftell(f);
    rewind(f);
    uint8_t *bytes = malloc((size_t)size + 1);
    assert_non_null(bytes);
    *n = fread(bytes, 1, (size_t)size, f);
    fclose(f);
    return bytes;
}

static size_t file_records(const char *name, const struct layout *l)
{
    size_t n;
    free(file_read(name, &n));
    assert_int_equal(n % l->size, 0);
    return n / l->size;
}

static void log_read(const char *name)
{
    size_t n;
    uint8_t *bytes = file_read(name, &n);
    n_rows = 0;
    for (size_t at = 0; at + 64 <= n; at += 64) {
        const uint8_t *rec = bytes + at;
        const unsigned head = (unsigned)layout_get(&stars_layout, STARS_HEAD, rec), func = head & STARS_FUNC_MASK;
        const uint16_t stream = (uint16_t)layout_get(&stars_layout, STARS_STREAM, rec),
                       task = (uint16_t)layout_get(&stars_layout, STARS_TASK, rec);
        const uint64_t tick = layout_get(&stars_layout, STARS_TICK, rec);
        assert_int_equal(layout_get(&stars_layout, STARS_HEAD, rec) >> 6 & 15, at / 64 % 16); /* none is missing */
        if (func == STARS_ACSQ_BEGIN) {
            assert_true(n_rows < ROWS(rows));
            rows[n_rows++] = (struct row){ stream, task, (uint8_t)(head >> 10), tick, 0 };
        }
        for (size_t i = n_rows; func == STARS_ACSQ_END && i-- > 0;)
            if (rows[i].stream == stream && rows[i].task == task) {
                assert_int_equal(rows[i].end, 0);
                rows[i].end = tick;
                break;
            }
    }
    for (size_t i = 0; i < n_rows; i++)
        assert_true(rows[i].end > rows[i].begin);
    free(bytes);
}

static void record_stop(void)
{
    struct error e = { 0 };
    recording_set(0);
    assert_true(sim_npu_kind.stop(&e));
    for (unsigned i = 0; i < n_read && i < ROWS(last_reading); i++)
        assert_true(sim_npu_kind.read_clock(i, &last_reading[i], &e));
    const struct writer_tally tally = collecting_stop();
    for (unsigned i = 0; i < STREAM_KINDS; i++)
        assert_int_equal(tally.dropped[i], 0);
    log_read("device_0/data/stars_soc.data.0");
}

static const struct row *row_of(const struct ascope_sim_stream *s, uint16_t task)
{
    for (size_t i = 0; i < n_rows; i++)
        if (rows[i].stream == s->id && rows[i].task == task)
            return &rows[i];
    fail_msg("task %u of stream %u was not logged", task, s->id);
    return NULL;
}

static void launch(struct ascope_sim_stream *s, const char *type, uint32_t n)
{
    const struct ascope_sim_tensor t = matrix(ASCOPE_SIM_FLOAT16, n, n), in[] = { t, t };
    ascope_sim_launch(s, &(struct ascope_sim_kernel){ type, NULL, in, &t, 2, 1 });
}

static uint16_t next_task(const struct ascope_sim_stream *s)
{
    return s->next_task; /* nobody else launches on it */
}

static void tasks_of_a_stream_run_in_order_and_streams_side_by_side(void **state)
{
    enum { TASKS = 300 };
    struct ascope_sim_stream *a = ascope_sim_stream_new(0), *b = ascope_sim_stream_new(0);
    const uint16_t first_a = next_task(a), first_b = next_task(b);
    record_start(options_at(ASCOPE_LEVEL1));
    for (unsigned i = 0; i < TASKS; i++) {
        launch(a, "MatMul", 1024);
        launch(b, "Add", 1024);
    }
    record_stop();
    assert_int_equal(n_rows, 2 * TASKS);
    const struct sim_work w = product(ASCOPE_SIM_FLOAT16, 1024, 1024, 1024);
    for (uint16_t i = 0; i < TASKS; i++) {
        const struct row *r = row_of(a, (uint16_t)(first_a + i));
        if (i > 0)
            assert_true(r->begin >= row_of(a, (uint16_t)(first_a + i - 1))->end);
        assert_int_equal(r->end - r->begin, sim_work_ns(&w, SIM_CORE_MHZ) / NPU_NS_PER_TICK);
    }
    const struct row *last_a = row_of(a, (uint16_t)(first_a + TASKS - 1));
    assert_true(row_of(b, first_b)->begin < last_a->end && row_of(a, first_a)->begin < last_a->begin);
    assert_int_equal(file_records("host/data/aging.compact.task_track", &task_track_layout), 2 * TASKS);
    assert_int_equal(file_records("host/data/aging.compact.node_basic_info", &node_basic_layout), 2 * TASKS);
    assert_int_equal(file_records("host/data/aging.additional.tensor_info", &tensor_layout), 2 * TASKS);
    assert_int_equal(file_records("device_0/data/ffts_profile.data.0", &pmu_task_layout), 2 * TASKS);
    ascope_sim_stream_free(a);
    ascope_sim_stream_free(b);
    (void)state;
}

static void an_event_holds_up_the_stream_that_waits_for_it(void **state)
{
    struct ascope_sim_stream *a = ascope_sim_stream_new(0), *b = ascope_sim_stream_new(0);
    struct ascope_sim_event *e = ascope_sim_event_new(), *never = ascope_sim_event_new();
    const uint16_t first_a = next_task(a), first_b = next_task(b);
    enum { TURNS = 20 };
    record_start(options_at(ASCOPE_LEVEL0));
    for (unsigned i = 0; i < TURNS; i++) {
        launch(a, "MatMul", 4096);
        ascope_sim_event_record(e, a);
        ascope_sim_event_wait(e, b);
        launch(b, "Add", 64);
    }
    ascope_sim_event_wait(never, b); /* is not waited for */
    record_stop();
    for (uint16_t i = 0; i < TURNS; i++) {
        const struct row *recorded = row_of(a, (uint16_t)(first_a + 2 * i + 1)),
                         *waited = row_of(b, (uint16_t)(first_b + 2 * i));
        assert_true(waited->end >= recorded->end);
        assert_true(row_of(b, (uint16_t)(first_b + 2 * i + 1))->begin >= waited->end);
    }
    ascope_sim_event_free(e);
    ascope_sim_event_free(never);
    ascope_sim_stream_free(a);
    ascope_sim_stream_free(b);
    (void)state;
}

static void a_full_queue_makes_the_launching_thread_wait(void **state)
{
    struct ascope_sim_stream *s = ascope_sim_stream_new(0);
    uint64_t most = 0;
    for (unsigned i = 0; i < 3 * NPU_QUEUE_TASKS; i++) {
        launch(s, "Add", 64);
        npu_lock();
        most = s->n > most ? s->n : most;
        npu_unlock();
    }
    assert_in_range(most, 1, NPU_QUEUE_TASKS);
    ascope_sim_synchronize(s);
    npu_lock();
    assert_int_equal(s->n, 0);
    assert_int_equal(s->n_done, s->n_launched);
    npu_unlock();
    ascope_sim_stream_free(s);
    (void)state;
}

static void what_was_launched_before_is_not_recorded(void **state)
{
    struct ascope_sim_stream *s = ascope_sim_stream_new(0);
    for (unsigned i = 0; i < 20; i++)
        launch(s, "MatMul", 2048);
    record_start(options_at(ASCOPE_LEVEL2));
    const uint16_t first = next_task(s);
    launch(s, "MatMul", 2048);
    record_stop();
    assert_int_equal(n_rows, 1);
    assert_int_equal(rows[0].task, first);
    for (unsigned i = 0; i < 20; i++)
        launch(s, "MatMul", 64); /* and after it the device works on */
    ascope_sim_stream_free(s);
    (void)state;
}

static void numbers_of_tasks_begin_again(void **state)
{
    enum { TASKS = 300 };
    struct ascope_sim_stream *s = ascope_sim_stream_new(0);
    npu_lock();
    s->next_task = (uint16_t)(UINT16_MAX - TASKS / 2 + 1);
    npu_unlock();
    record_start(options_at(ASCOPE_LEVEL0));
    for (unsigned i = 0; i < TASKS; i++)
        launch(s, "Add", 64);
    record_stop();
    size_t n;
    uint8_t *bytes = file_read("host/data/aging.compact.task_track", &n);
    assert_int_equal(n / 64, TASKS + 1);
    unsigned flips = 0;
    for (size_t at = 0; at < n; at += 64) {
        const struct layout *l = &task_track_layout;
        const bool is_flip = layout_get(l, TRACK_TYPE, bytes + at) == TRACK_TYPE_FLIP;
        flips += is_flip;
        assert_int_equal(layout_get(l, TRACK_TASK, bytes + at) >> 16, flips);
    }
    free(bytes);
    assert_int_equal(flips, 1);
    assert_int_equal(file_records("device_0/data/ts_track.data.0", &ts_flip_layout), 1);
    ascope_sim_stream_free(s);
    (void)state;
}

static void levels_decide_what_is_recorded(void **state)
{
    static const struct {
        const char *what;
        uint32_t level;
        size_t tracks, nodes, calls;
    } row[] = {
        { "Level_none: marks only", ASCOPE_LEVEL_NONE, 0, 0, 0 },
        { "Level0: launches, and the calls above the runtime", ASCOPE_LEVEL0, 3, 0, 4 },
        { "Level1: operators, too", ASCOPE_LEVEL1, 3, 1, 4 },
        { "Level2: runtime calls, too", ASCOPE_LEVEL2, 3, 1, 7 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        folder_remove(NULL);
        folder_make(NULL);
        struct ascope_sim_stream *s = ascope_sim_stream_new(0);
        record_start(options_at(row[i].level));
        launch(s, "MatMul", 256);                            /* workspace, launch, node: three calls */
        ascope_sim_copy(s, ASCOPE_SIM_HOST_TO_DEVICE, 4096); /* one */
        ascope_mark(NULL, "here", s);                        /* none */
        ascope_mark(NULL, "nowhere", (void *)&row);          /* a stream that no device has */
        record_stop();
        assert_int_equal(n_rows, row[i].tracks);
        assert_int_equal(file_records("host/data/aging.compact.task_track", &task_track_layout), row[i].tracks);
        assert_int_equal(file_records("host/data/aging.compact.node_basic_info", &node_basic_layout), row[i].nodes);
        assert_int_equal(file_records("host/data/aging.api_event.data", &api_layout), row[i].calls);
        assert_int_equal(file_records("device_0/data/ts_track.data.0", &ts_step_layout), 1);
        ascope_sim_stream_free(s);
    }
    (void)state;
}

static void large_copies_are_several_tasks_of_one_call(void **state)
{
    struct ascope_sim_stream *s = ascope_sim_stream_new(0);
    record_start(options_at(ASCOPE_LEVEL2));
    ascope_sim_copy(s, ASCOPE_SIM_DEVICE_TO_DEVICE, 200ull << 20);
    record_stop();
    size_t n;
    uint8_t *bytes = file_read("host/data/aging.compact.task_track", &n);
    assert_int_equal(n / 64, 4);
    for (size_t i = 1; i < 4; i++)
        assert_int_equal(layout_get(&task_track_layout, HEAD_TIME, bytes + 64 * i),
                         layout_get(&task_track_layout, HEAD_TIME, bytes));
    free(bytes);
    assert_int_equal(file_records("host/data/aging.compact.memcpy_info", &memcpy_layout), 1);
    ascope_sim_stream_free(s);
    (void)state;
}

static void long_work_makes_the_cores_slower(void **state)
{
    struct ascope_sim_stream *s = ascope_sim_stream_new(0);
    const uint16_t first = next_task(s);
    enum { TASKS = 80 };
    record_start(options_at(ASCOPE_LEVEL0));
    for (unsigned i = 0; i < TASKS; i++)
        launch(s, "MatMul", 8192); /* some 5 ms each */
    record_stop();
    const struct row *cold = row_of(s, first), *hot = row_of(s, (uint16_t)(first + TASKS - 1));
    assert_true(hot->end - hot->begin > cold->end - cold->begin);
    assert_true(file_records("device_0/data/lpmFreqConv.data.0", &(struct layout){ .size = 888 }) >= 2);
    ascope_sim_stream_free(s);
    (void)state;
}

static void memory_is_given_out_once_and_comes_back(void **state)
{
    enum { BLOCKS = 2000 };
    static uint64_t address[BLOCKS], bytes[BLOCKS];
    uint64_t dice = RANDOM_SEED, expected = 0;
    struct ascope_options o = options_at(ASCOPE_LEVEL0);
    o.profile_memory = true;
    record_start(o);
    for (unsigned turn = 0; turn < 5 * BLOCKS; turn++) {
        const size_t i = random_next(&dice) % BLOCKS;
        if (address[i]) {
            ascope_sim_free(0, address[i]);
            expected -= bytes[i];
            address[i] = 0;
            continue;
        }
        bytes[i] = (1 + random_next(&dice) % 4096) * 512;
        address[i] = ascope_sim_malloc(0, bytes[i] - random_next(&dice) % 512);
        assert_int_not_equal(address[i], 0);
        expected += bytes[i];
        assert_int_equal(npu.device[0]->pool.allocated, expected);
        assert_true(npu.device[0]->pool.reserved >= expected);
        for (unsigned k = 0; turn % 97 == 0 && k < BLOCKS; k++)
            assert_true(k == i || !address[k] || address[k] + bytes[k] <= address[i] ||
                        address[i] + bytes[i] <= address[k]);
    }
    for (unsigned i = 0; i < BLOCKS; i++)
        ascope_sim_free(0, address[i]); /* 0 and what is free already change nothing */
    assert_int_equal(npu.device[0]->pool.allocated, 0);
    assert_int_equal(npu.device[0]->pool.n_gaps, 1);
    assert_int_equal(ascope_sim_malloc(0, UINT64_C(1) << 50), 0);
    assert_int_equal(ascope_sim_malloc(0, UINT64_MAX), 0);
    assert_int_equal(ascope_sim_malloc(99, 1), 0);
    record_stop();

    size_t n;
    int64_t balance = 0;
    uint8_t *rec = file_read("host/data/aging.additional.task_memory_info", &n);
    assert_true(n > 0);
    for (size_t at = 0; at < n; at += 256) {
        balance += (int64_t)layout_get(&task_memory_layout, OP_MEM_SIZE, rec + at);
        assert_int_equal(layout_get(&task_memory_layout, OP_MEM_ALLOCATED, rec + at), balance);
    }
    assert_int_equal(balance, 0);
    free(rec);
    (void)state;
}

static void the_clock_is_read_within_its_uncertainty(void **state)
{
    struct error e = { 0 };
    struct device_reading a, b;
    assert_true(sim_npu_kind.probe(&e) > 0);
    assert_true(sim_npu_kind.read_clock(0, &a, &e));
    usleep(50000);
    assert_true(sim_npu_kind.read_clock(0, &b, &e));
    const struct npu_clock *c = &npu.device[0]->clock;
    const double host_ns = (double)(b.host_mono_raw_ns - a.host_mono_raw_ns);
    const double measured = (double)(b.device_count - a.device_count) * NPU_NS_PER_TICK / host_ns;
    const double off = measured - c->speed / 1e6, allowed = (double)(a.uncertainty_ns + b.uncertainty_ns) / host_ns;
    assert_true(off < allowed && off > -allowed);
    assert_true(c->speed != 1000000);
    assert_in_range(npu_clock_ns(c, a.device_count), a.host_mono_raw_ns - a.uncertainty_ns,
                    a.host_mono_raw_ns + a.uncertainty_ns);
    for (uint64_t ns = c->host_ns, i = 0; i < 60; i++, ns += UINT64_C(1) << i) /* there and back, for 18 years */
        assert_in_range(npu_clock_ns(c, npu_clock_tick(c, ns)), ns - NPU_NS_PER_TICK - 1, ns + 1);
    assert_false(sim_npu_kind.read_clock(99, &a, &e));
    (void)state;
}

static void devices_are_chosen_by_name(void **state)
{
    struct error e = { 0 };
    struct device_description d;
    assert_ptr_equal(device_choose("sim", &e), &sim_npu_kind);
    assert_null(device_choose("auto", &e)); /* never the simulated one */
    assert_null(device_choose("none", &e));
    assert_int_equal(e.fault, FAULT_NONE);
    assert_null(device_choose("gpu", &e));
    assert_int_equal(e.fault, FAULT_ASKED);
    assert_true(sim_npu_kind.probe(&(struct error){ 0 }) > 0);
    assert_true(sim_npu_kind.describe(0, &d, &e));
    assert_true(d.is_simulated);
    assert_string_equal(d.name, "sim");
    (void)state;
}

static void *launch_many(void *stream)
{
    for (unsigned i = 0; i < 500; i++)
        launch(stream, i % 3 ? "Add" : "FlashAttentionScore", 128);
    return NULL;
}

static void several_threads_launch_on_one_stream(void **state)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    struct ascope_sim_stream *s = ascope_sim_stream_new(0);
    record_start(options_at(ASCOPE_LEVEL1));
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, launch_many, s), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    record_stop();
    assert_int_equal(n_rows, THREADS * 500);
    assert_int_equal(file_records("host/data/aging.compact.task_track", &task_track_layout), THREADS * 500);
    ascope_sim_stream_free(s);
    (void)state;
}

/* ---- several processes ---- */

enum { COLLECTIVES = 20 };

/* One rank: collectives with work between them, more of it on one rank than on the other. */
static void rank_run(unsigned rank, const char *ranks, unsigned dies_after, unsigned timeout_ms)
{
    char text[16], name[64];
    snprintf(text, sizeof text, "%u", rank);
    setenv("RANK", text, 1);
    setenv("LOCAL_RANK", "0", 1);
    setenv("WORLD_SIZE", ranks, 1);
    snprintf(text, sizeof text, "%u", timeout_ms);
    setenv("ASCOPE_SIM_TIMEOUT_MS", text, 1);
    snprintf(name, sizeof name, "%.40s/rank%u", folder, rank);
    mkdir(name, 0750);
    snprintf(folder, sizeof folder, "%s", name);
    struct ascope_sim_stream *s = ascope_sim_stream_new(0);
    record_start(options_at(ASCOPE_LEVEL1));
    for (unsigned i = 0; i < COLLECTIVES; i++) {
        if (i == dies_after) {
            ascope_sim_synchronize(s);
            kill(getpid(), SIGKILL);
        }
        launch(s, "MatMul", rank == 0 ? 512 : 2048);
        ascope_sim_collective(s, "HcclAllReduce", "world", 1 << 20, ASCOPE_SIM_FLOAT16);
    }
    ascope_sim_synchronize(s);
    record_stop();
}

/* When the waits ended, in host time: what the collectives of all ranks have in common. */
static size_t meetings_of(uint64_t *ns)
{
    enum { SQE_NOTIFY_WAIT = 7 };
    size_t n = 0;
    for (size_t i = 0; i < n_rows; i++)
        if (rows[i].type == SQE_NOTIFY_WAIT && n < COLLECTIVES)
            ns[n++] = first_reading[0].host_mono_raw_ns +
                      (uint64_t)((double)(rows[i].end - first_reading[0].device_count) *
                                 (double)(last_reading[0].host_mono_raw_ns - first_reading[0].host_mono_raw_ns) /
                                 (double)(last_reading[0].device_count - first_reading[0].device_count));
    return n;
}

static void job_name(void)
{
    char name[64];
    snprintf(name, sizeof name, "test_sim_npu %d", (int)getpid());
    setenv("ASCOPE_SIM_JOB", name, 1);
}

static pid_t rank_fork(unsigned rank, const char *ranks, unsigned dies_after, unsigned timeout_ms, int to)
{
    const pid_t pid = child_fork();
    if (pid > 0)
        return pid;
    uint64_t ns[COLLECTIVES] = { 0 };
    rank_run(rank, ranks, dies_after, timeout_ms);
    const uint64_t head[] = { meetings_of(ns), first_reading[0].uncertainty_ns + last_reading[0].uncertainty_ns };
    if (write(to, head, sizeof head) != sizeof head || write(to, ns, sizeof ns) != sizeof ns)
        _exit(2);
    exit(0); /* and the rank leaves its job */
}

static void ranks_meet_at_the_same_time(void **state)
{
    int pipes[2][2];
    pid_t pid[2];
    uint64_t head[2][2], ns[2][COLLECTIVES];
    job_name();
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(pipe(pipes[i]), 0);
        pid[i] = rank_fork(i, "2", UINT32_MAX, 60000, pipes[i][1]);
    }
    for (unsigned i = 0; i < 2; i++) {
        child_end_well(pid[i]);
        assert_int_equal(read(pipes[i][0], head[i], sizeof head[i]), sizeof head[i]);
        assert_int_equal(read(pipes[i][0], ns[i], sizeof ns[i]), sizeof ns[i]);
        assert_int_equal(head[i][0], COLLECTIVES);
        close(pipes[i][0]);
        close(pipes[i][1]);
    }
    for (unsigned i = 0; i < COLLECTIVES; i++) {
        const uint64_t apart = ns[0][i] > ns[1][i] ? ns[0][i] - ns[1][i] : ns[1][i] - ns[0][i];
        assert_in_range(apart, 0, head[0][1] + head[1][1] + 2 * NPU_NS_PER_TICK);
    }
    (void)state;
}

static void a_rank_that_died_is_not_waited_for(void **state)
{
    int ends[2];
    uint64_t head[2], ns[COLLECTIVES];
    job_name();
    assert_int_equal(pipe(ends), 0);
    const pid_t dies = rank_fork(1, "2", COLLECTIVES / 2, 60000, ends[1]);
    const pid_t lives = rank_fork(0, "2", UINT32_MAX, 60000, ends[1]);
    child_end_by(dies, SIGKILL);
    child_end_well(lives);
    assert_int_equal(read(ends[0], head, sizeof head), sizeof head);
    assert_int_equal(read(ends[0], ns, sizeof ns), sizeof ns);
    assert_int_equal(head[0], COLLECTIVES);
    close(ends[0]);
    close(ends[1]);
    (void)state;
}

static void a_rank_that_never_comes_is_not_waited_for(void **state)
{
    int ends[2];
    uint64_t head[2];
    job_name();
    assert_int_equal(pipe(ends), 0);
    const pid_t pid = rank_fork(2, "3", UINT32_MAX, 50, ends[1]);
    child_end_well(pid);
    assert_int_equal(read(ends[0], head, sizeof head), sizeof head);
    assert_true(head[0] >= COLLECTIVES);
    close(ends[0]);
    close(ends[1]);
    (void)state;
}

/* One that joins under the same name, but with another number of ranks, must not cut the file that the first has
 * mapped. */
static void a_job_of_another_size_leaves_the_first_alone(void **state)
{
    int joined[2], ends[2];
    char byte;
    job_name();
    assert_int_equal(pipe(joined), 0);
    assert_int_equal(pipe(ends), 0);
    const pid_t first = child_fork();
    if (first == 0) {
        close(ends[1]);
        npu_job_forget();
        setenv("WORLD_SIZE", "4", 1);
        setenv("RANK", "3", 1);
        if (npu_job().ranks != 4 || write(joined[1], "j", 1) != 1 || read(ends[0], &byte, 1) < 0)
            _exit(1);
        exit(0); /* leaves the job, in its memory */
    }
    close(joined[1]);
    assert_int_equal(read(joined[0], &byte, 1), 1);
    const pid_t other = child_fork();
    if (other == 0) {
        npu_job_forget();
        setenv("WORLD_SIZE", "2", 1);
        _exit(npu_job().ranks == 2 ? 0 : 1);
    }
    child_end_well(other);
    close(ends[1]);
    child_end_well(first);
    close(joined[0]);
    close(ends[0]);
    (void)state;
}

static void a_child_process_has_devices_of_its_own(void **state)
{
    struct ascope_sim_stream *s = ascope_sim_stream_new(0);
    for (unsigned i = 0; i < 100; i++)
        launch(s, "MatMul", 4096);
    const pid_t pid = child_fork();
    if (pid == 0) {
        launch(s, "MatMul", 64);
        ascope_sim_synchronize(s);
        _exit(s->n == 0 ? 0 : 1);
    }
    child_end_well(pid);
    ascope_sim_stream_free(s);
    (void)state;
}

static void take_finding(void *to, const struct machine_finding *f)
{
    assert_int_equal(f->state, FINDING_OK);
    assert_string_equal(f->name, "simulated NPU");
    assert_non_null(strstr(f->advice, "device=sim"));
    ++*(int *)to;
}

static void the_doctor_learns_that_it_is_simulated(void **state)
{
    int n = 0;
    sim_npu_kind.examine(take_finding, &n);
    assert_int_equal(n, 1);
    (void)state;
}

int main(void)
{
#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_follow_the_work),
        cmocka_unit_test(transposed_products_cost_the_same),
        cmocka_unit_test(slower_cores_take_longer),
        cmocka_unit_test(counters_agree_with_the_work),
        cmocka_unit_test(devices_are_chosen_by_name),
        cmocka_unit_test(the_doctor_learns_that_it_is_simulated),
        cmocka_unit_test(the_clock_is_read_within_its_uncertainty),
        IN_A_FOLDER(tasks_of_a_stream_run_in_order_and_streams_side_by_side),
        IN_A_FOLDER(an_event_holds_up_the_stream_that_waits_for_it),
        cmocka_unit_test(a_full_queue_makes_the_launching_thread_wait),
        IN_A_FOLDER(what_was_launched_before_is_not_recorded),
        IN_A_FOLDER(numbers_of_tasks_begin_again),
        IN_A_FOLDER(levels_decide_what_is_recorded),
        IN_A_FOLDER(large_copies_are_several_tasks_of_one_call),
        IN_A_FOLDER(long_work_makes_the_cores_slower),
        IN_A_FOLDER(memory_is_given_out_once_and_comes_back),
        IN_A_FOLDER(several_threads_launch_on_one_stream),
        IN_A_FOLDER(ranks_meet_at_the_same_time),
        IN_A_FOLDER(a_rank_that_died_is_not_waited_for),
        IN_A_FOLDER(a_rank_that_never_comes_is_not_waited_for),
        cmocka_unit_test(a_job_of_another_size_leaves_the_first_alone),
        cmocka_unit_test(a_child_process_has_devices_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
