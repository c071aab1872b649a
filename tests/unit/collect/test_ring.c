/* SPDX-License-Identifier: Apache-2.0 */
#include "collecting.h"
#include "full_disk.h"

#include <pthread.h>
#include <signal.h>

#include "collect/ring/ring.h"

static void records_go_to_the_file_of_their_stream(void **state)
{
    static const struct {
        const char *what;
        enum stream_id stream;
        unsigned device;
        size_t bytes, file_bytes;
        const char *file;
        bool has_marker;
    } row[] = {
        { "PyTorch's are whole files without a marker", STREAM_TORCH_OP, 0, 50, 50, "FRAMEWORK/torch.op_range", false },
        { "of a fixed size", STREAM_PYTHON_CALL, 0, 33, 33, "FRAMEWORK/torch.python_tracer_func", false },
        { "the host's", STREAM_CALL, 0, 40, 40, "PROF_1/host/data/aging.api_event.data.slice_0", true },
        { "a short one is filled up", STREAM_MARK, 0, 113, 256, "PROF_1/host/data/aging.additional.msproftx.slice_0",
          true },
        { "a device's", STREAM_STARS, 0, 64, 64, "PROF_1/device_0/data/stars_soc.data.0.slice_0", true },
        { "another device's", STREAM_STARS, 7, 64, 64, "PROF_1/device_7/data/stars_soc.data.7.slice_0", true },
    };
    collecting_start(NULL);
    for (size_t i = 0; i < ROWS(row); i++)
        assert_true(put_number(row[i].stream, row[i].device, row[i].bytes, i));
    const struct writer_tally tally = collecting_stop();
    assert_int_equal(tally.n_records, ROWS(row));
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        uint8_t have[512];
        char marker[256];
        assert_int_equal(file_text(row[i].file, have, sizeof have), row[i].file_bytes);
        assert_int_equal(have[0], i);
        for (size_t k = row[i].bytes; k < row[i].file_bytes; k++)
            assert_int_equal(have[k], 0);
        snprintf(marker, sizeof marker, "%s.done", row[i].file);
        assert_int_equal(file_exists(marker), row[i].has_marker);
    }
    assert_false(file_exists("FRAMEWORK/torch.op_mark")); /* no record, no file */
    assert_false(file_exists(RINGS_NAME));
    (void)state;
}

static void what_does_not_fit_is_dropped_and_counted(void **state)
{
    struct error e = { 0 };
    struct writer_tally tally;
    collecting_start(NULL);
    assert_false(put_number(STREAM_TORCH_OP, 0, RECORD_MOST + 1, 0));
    assert_false(put_number(STREAM_TORCH_OP, 0, 0, 0));
    assert_true(put_number(STREAM_STARS, DEVICES_MOST, 64, 0)); /* the writer finds out */
    assert_true(writer_flush(&tally, &e));
    assert_int_equal(tally.dropped[STREAM_TORCH_OP], 2);
    assert_int_equal(tally.dropped[STREAM_STARS], 1);
    assert_int_equal(tally.n_records, 0);

    uint64_t n_put = 0, n_dropped = 0; /* faster than any writer */
    while (n_dropped == 0)
        put_number(STREAM_TORCH_OP, 0, 20000, 0) ? n_put++ : n_dropped++;
    tally = collecting_stop();
    assert_int_equal(tally.n_records, n_put);
    assert_int_equal(tally.dropped[STREAM_TORCH_OP], 2 + n_dropped);
    assert_in_range(tally.fill_most_percent, 1, 100);
    (void)state;
}

static void outside_of_a_session_nothing_is_recorded(void **state)
{
    assert_int_equal(ring_session(), 0);
    assert_false(put_number(STREAM_CALL, 0, 40, 0));
    assert_int_equal(ring_range_open(1, "a", 1, "b", 1), 0);
    collecting_start(NULL);
    const uint32_t first = ring_session();
    const uint64_t stale = ring_range_open(1, "a", 1, "b", 1);
    assert_true(put_number(STREAM_CALL, 0, 40, 0));
    struct writer_tally tally = collecting_stop();
    assert_int_equal(tally.n_records, 1);
    assert_int_equal(tally.open_ranges, 1);
    assert_false(put_number(STREAM_CALL, 0, 40, 0));

    folder_remove(NULL);
    folder_make(NULL);
    collecting_start(NULL);
    uint8_t kept[8];
    assert_int_equal(ring_session(), first + 1);
    assert_int_equal(ring_range_take(stale, 1, kept, sizeof kept), 0);
    assert_true(put_number(STREAM_CALL, 0, 40, 0));
    tally = collecting_stop();
    assert_int_equal(tally.n_records, 1);
    for (unsigned s = 0; s < STREAM_KINDS; s++)
        assert_int_equal(tally.dropped[s], 0);
    (void)state;
}

static void a_warm_up_keeps_only_what_later_records_mean(void **state)
{
    uint8_t have[512];
    collecting_start(NULL);
    writer_keep(false);
    put_number(STREAM_CALL, 0, 40, 1);
    put_number(STREAM_NAMES, 0, 10, 1);
    writer_keep(true);
    put_number(STREAM_CALL, 0, 40, 2);
    put_number(STREAM_NAMES, 0, 10, 2);
    const struct writer_tally tally = collecting_stop();
    assert_int_equal(tally.n_records, 3);
    assert_int_equal(file_text("PROF_1/host/data/aging.api_event.data.slice_0", have, sizeof have), 40);
    assert_int_equal(have[0], 2);
    assert_int_equal(file_text("PROF_1/host/data/unaging.additional.hash_dic.slice_0", have, sizeof have), 20);
    (void)state;
}

static void a_range_can_be_taken_once_by_its_key(void **state)
{
    static char text[RING_OPEN_MOST], kept[RING_OPEN_MOST];
    static const size_t size[] = { 1, 7, 224, 225, 232, 233, 1000, RING_OPEN_MOST - 8 };
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + i % 23);
    collecting_start(NULL);
    for (size_t i = 0; i < ROWS(size); i++) {
        const uint64_t id = ring_range_open(i, "12345678", 8, text, size[i]);
        assert_true(id != 0);
        assert_int_equal(ring_range_take(id, i + 1, kept, sizeof kept), 0);
        assert_int_equal(ring_range_take(id ^ 1, i, kept, sizeof kept), 0);
        assert_int_equal(ring_range_take(id, i, kept, sizeof kept), size[i] + 8);
        assert_memory_equal(kept, "12345678", 8);
        assert_memory_equal(kept + 8, text, size[i]);
        assert_int_equal(ring_range_take(id, i, kept, sizeof kept), 0);
    }
    assert_int_equal(ring_range_open(1, text, 8, text, sizeof text), 0); /* longer than is promised */
    assert_int_equal(ring_range_take(UINT64_MAX, 0, kept, sizeof kept), 0);

    /* As many as there is room for, then one more for each that ends. */
    static uint64_t open[RING_BYTES / OPEN_SLOT_BYTES];
    size_t n = 0;
    while ((open[n] = ring_range_open(n, "head", 4, NULL, 0)) != 0)
        n++;
    assert_int_equal(n, RING_BYTES / 4 / OPEN_SLOT_BYTES * 3 / 4);
    assert_int_equal(ring_range_take(open[n / 2], n / 2, kept, sizeof kept), 4);
    assert_true(ring_range_open(0, "head", 4, NULL, 0) != 0);
    assert_int_equal(ring_range_open(0, "head", 4, NULL, 0), 0);
    const struct writer_tally tally = collecting_stop();
    assert_int_equal(tally.dropped[STREAM_MARK], 3);
    assert_int_equal(tally.open_ranges, n);
    (void)state;
}

static void *put_a_few(void *number)
{
    for (unsigned i = 0; i < 3; i++)
        assert_true(put_number(STREAM_TRACK, 0, 64, *(uint64_t *)number));
    return NULL;
}

static void a_thread_that_ends_leaves_its_ring_to_the_next(void **state)
{
    enum { THREADS = 100 };
    collecting_start(NULL);
    for (uint64_t i = 0; i < THREADS; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, put_a_few, &i), 0);
        pthread_join(thread, NULL);
    }
    const struct writer_tally tally = collecting_stop();
    assert_int_equal(tally.n_records, 3 * THREADS);
    assert_int_equal(tally.n_rings, 1);
    (void)state;
}

enum { INTERRUPTED_THREADS = 50 };
static _Atomic unsigned n_begun, n_first, n_in_handlers;
static pthread_barrier_t all_have_rings;

static void put_in_handler(int number)
{
    static _Thread_local unsigned n; /* the lane of handlers has room for these */
    (void)number;
    if (n++ < 8 && put_number(STREAM_TRACK, 0, 64, 1))
        n_in_handlers++;
}

static void *put_first(void *nothing)
{
    (void)nothing;
    n_begun++;
    assert_true(put_number(STREAM_TRACK, 0, 64, 0));
    n_first++;
    pthread_barrier_wait(&all_have_rings); /* no thread inherits the ring of another */
    return NULL;
}

static void a_handler_that_interrupts_the_first_record_loses_none(void **state)
{
    pthread_t thread[INTERRUPTED_THREADS];
    signal(SIGUSR1, put_in_handler);
    pthread_barrier_init(&all_have_rings, NULL, INTERRUPTED_THREADS + 1);
    collecting_start(NULL);
    for (unsigned i = 0; i < INTERRUPTED_THREADS; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, put_first, NULL), 0);
        while (n_begun <= i)
            ;
        for (unsigned sent = 0; n_first <= i; sent++)
            if (sent % 64 == 0)
                pthread_kill(thread[i], SIGUSR1);
    }
    pthread_barrier_wait(&all_have_rings);
    for (unsigned i = 0; i < INTERRUPTED_THREADS; i++)
        pthread_join(thread[i], NULL);
    const struct writer_tally tally = collecting_stop();
    signal(SIGUSR1, SIG_DFL);
    pthread_barrier_destroy(&all_have_rings);
    assert_int_equal(tally.dropped[STREAM_TRACK], 0);
    assert_int_equal(tally.n_records, INTERRUPTED_THREADS + n_in_handlers);
    (void)state;
}

static void *take_range(void *id)
{
    char kept[16];
    return (void *)ring_range_take(*(uint64_t *)id, 5, kept, sizeof kept);
}

/* Another process may have the ring, and may write anything into it. */
static void a_count_of_open_ranges_that_cannot_be_is_not_believed(void **state)
{
    collecting_start(NULL);
    assert_int_not_equal(ring_range_open(1, "a", 1, "b", 1), 0);
    for (unsigned lane = 0; lane < RING_LANES; lane++)
        atomic_store(&rings_shared(0)->open_end[lane], UINT32_MAX);
    assert_int_equal(rings_open_ranges(0), 1);
    collecting_stop();
    (void)state;
}

static void any_thread_ends_a_range(void **state)
{
    collecting_start(NULL);
    uint64_t id = ring_range_open(5, "head", 4, "text", 4);
    pthread_t thread;
    void *n;
    assert_int_equal(pthread_create(&thread, NULL, take_range, &id), 0);
    pthread_join(thread, &n);
    assert_int_equal((uintptr_t)n, 8);
    assert_int_equal(collecting_stop().open_ranges, 0);
    (void)state;
}

/* What recovery would say after a kill at this moment. */
static uint64_t committed_aged_slices(void)
{
    const struct rings_commit *last = &rings.front->commit[0][0];
    for (unsigned turn = 1; turn < RINGS_TURNS; turn++)
        if (rings.front->commit[0][turn].number > last->number)
            last = &rings.front->commit[0][turn];
    return last->aged_slices;
}

static void beyond_the_limit_the_oldest_slices_go(void **state)
{
    struct error e = { 0 };
    struct writer_tally tally;
    collecting_start(&(struct writer_options){ .storage_limit_bytes = 3 * SLICE });
    for (uint64_t i = 0; i < 1000; i++) {
        assert_true(put_number(STREAM_TRACK, 0, 64, i));
        if (i % 100 == 0)
            assert_true(put_number(STREAM_NAMES, 0, 64, i) && writer_flush(&tally, &e));
        if (i % 100 == 0)
            assert_int_equal(committed_aged_slices(), tally.aged_slices);
    }
    tally = collecting_stop();
    assert_int_equal(tally.n_records, 1010);
    assert_in_range(tally.n_bytes - tally.aged_bytes, 1, 3 * SLICE);
    assert_int_equal(tally.aged_bytes, tally.aged_slices * SLICE);
    assert_true(tally.aged_slices > 10);
    for (unsigned i = 0; i <= 15; i++) {
        char name[128], marker[160];
        snprintf(name, sizeof name, "PROF_1/host/data/aging.compact.task_track.slice_%u", i);
        snprintf(marker, sizeof marker, "%s.done", name);
        assert_int_equal(file_exists(name), i >= tally.aged_slices);
        assert_int_equal(file_exists(marker), i >= tally.aged_slices);
    }
    uint8_t have[1000];
    assert_int_equal(file_text("PROF_1/host/data/unaging.additional.hash_dic.slice_0", have, sizeof have), 640);
    (void)state;
}

/* ---- room on the disk ---- */

static uint64_t disk_bytes(void)
{
    struct stat st;
    assert_int_equal(stat(rings.path, &st), 0);
    return (uint64_t)st.st_blocks * 512;
}

static void *put_once_and_wait(void *unused)
{
    put_number(STREAM_TRACK, 0, 64, 0);
    pthread_barrier_wait(&all_have_rings);
    return unused;
}

static void a_ring_takes_the_room_that_it_uses(void **state)
{
    enum { SHORT_THREADS = 100 };
    pthread_t thread[SHORT_THREADS];
    collecting_start(NULL);
    if (!rings.front->grows) {
        collecting_stop();
        skip(); /* this file system gives all of the room at once */
    }
    pthread_barrier_init(&all_have_rings, NULL, SHORT_THREADS + 1);
    const uint64_t before = disk_bytes(), page = (uint64_t)sysconf(_SC_PAGESIZE);
    for (unsigned i = 0; i < SHORT_THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, put_once_and_wait, NULL), 0);
    pthread_barrier_wait(&all_have_rings);
    const uint64_t each = (disk_bytes() - before) / SHORT_THREADS;
    for (unsigned i = 0; i < SHORT_THREADS; i++)
        pthread_join(thread[i], NULL);
    print_message("  %llu bytes of %llu\n", (unsigned long long)each, (unsigned long long)rings.layout.ring_bytes);
    assert_in_range(each, 1, rings.layout.open_at + lane_first_bytes(&rings.layout, 0) + page);

    print_message("  open ranges and handlers get theirs when they come\n");
    assert_int_not_equal(ring_range_open(1, "a", 1, "b", 1), 0);
    signal(SIGUSR1, put_in_handler);
    const struct ring_slot slot = ring_put(STREAM_TRACK, 0, 64);
    assert_non_null(slot.at);
    memset(slot.at, 0, 64);
    raise(SIGUSR1);
    ring_done(slot);
    signal(SIGUSR1, SIG_DFL);
    const struct writer_tally tally = collecting_stop();
    pthread_barrier_destroy(&all_have_rings);
    assert_int_equal(tally.n_records, SHORT_THREADS + 2);
    assert_int_equal(tally.dropped[STREAM_TRACK], 0);
    (void)state;
}

static void on_a_full_disk_a_ring_goes_on_with_what_it_has(void **state)
{
    enum { RECORD = 200, AT_ONCE = 20, NUMBERS = 5000 };
    static uint8_t have[NUMBERS * RECORD + 1];
    struct error e = { 0 };
    struct writer_tally tally;
    collecting_start(NULL);
    const bool grows = rings.front->grows;
    atomic_store(&disk_is_full, true);
    for (uint64_t i = 0; i < NUMBERS; i++) {
        assert_true(put_number(STREAM_TORCH_OP, 0, RECORD, i));
        if (i % AT_ONCE == 0)
            assert_true(writer_flush(&tally, &e));
    }
    assert_int_equal(lane_grown(rings_shared(0), 0, RING_BYTES),
                     grows ? lane_first_bytes(&rings.layout, 0) : RING_BYTES);
    uint64_t n_dropped = 0; /* faster than any writer */
    while (n_dropped == 0)
        n_dropped += !put_number(STREAM_TORCH_MEMORY, 0, RECORD, 0);
    print_message("  and grows when there is room again\n");
    atomic_store(&disk_is_full, false);
    while (lane_grown(rings_shared(0), 0, RING_BYTES) < RING_BYTES)
        assert_true(writer_flush(&tally, &e));
    tally = collecting_stop();
    assert_int_equal(tally.dropped[STREAM_TORCH_OP], 0);
    assert_int_equal(tally.dropped[STREAM_TORCH_MEMORY], n_dropped);
    assert_int_equal(file_text("FRAMEWORK/torch.op_range", have, sizeof have), NUMBERS * RECORD);
    for (uint64_t i = 0; i < NUMBERS; i++)
        assert_memory_equal(have + i * RECORD, &i, sizeof i);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test_setup_teardown(records_go_to_the_file_of_their_stream, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(what_does_not_fit_is_dropped_and_counted, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(outside_of_a_session_nothing_is_recorded, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_warm_up_keeps_only_what_later_records_mean, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_range_can_be_taken_once_by_its_key, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_thread_that_ends_leaves_its_ring_to_the_next, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_count_of_open_ranges_that_cannot_be_is_not_believed, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(a_handler_that_interrupts_the_first_record_loses_none, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(any_thread_ends_a_range, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_ring_takes_the_room_that_it_uses, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(on_a_full_disk_a_ring_goes_on_with_what_it_has, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(beyond_the_limit_the_oldest_slices_go, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
