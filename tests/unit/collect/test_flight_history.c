/* SPDX-License-Identifier: Apache-2.0 */
#include "collecting.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "child.h"
#include "collect/flight/flight_parts.h"
#include "collect/flight/flight_store.h"
#include "collect/session/recover.h"
#include "full_disk.h"
#include "raw/device_records.h"
#include "raw/host_records.h"

static const struct rings_id session = { { 0x0011223344556677, 0x8899AABBCCDDEEFF } }; /* SESSION_ID */
static const uint64_t HOUR_NS = UINT64_C(3600) * 1000000000;
enum { RECORD = 64, MEMORY = 1 << 20 };

static struct flight_store store;

static void flight_begin(uint64_t limit_bytes)
{
    struct error e = { 0 };
    store = (struct flight_store){ .limit_bytes = limit_bytes, .keep_ns = HOUR_NS };
    if (!flight_store_open(&store, folder_path(RINGS_NAME), session, &e))
        fail_msg("%s", e.text);
    collecting_start(&(struct writer_options){ .flight = &store });
}

static void flight_finish(void)
{
    collecting_stop();
    flight_store_close(&store, true);
    remove(folder_path("ascope.json"));
}

static void put(enum stream_id stream, unsigned device, uint64_t number)
{
    for (; !put_number(stream, device, RECORD, number); usleep(100)) /* no room: the writer will make some */
        assert_int_not_equal(ring_session(), 0);
}

static void flush(void)
{
    struct writer_tally tally;
    struct error e = { 0 };
    if (!writer_flush(&tally, &e))
        fail_msg("%s", e.text);
}

/* ---- what is read ---- */

enum { NUMBERS_MOST = 1 << 20 };
static uint8_t seen[NUMBERS_MOST];
static uint64_t seen_first, seen_end, n_seen;
static unsigned n_names;

static void see(void *unused, struct record_head head, const uint8_t *bytes)
{
    (void)unused;
    uint64_t number;
    memcpy(&number, bytes, sizeof number);
    if (head.stream == STREAM_NAMES) {
        n_names++;
        return;
    }
    assert_in_range(number, 0, NUMBERS_MOST - 1);
    assert_int_equal(seen[number]++, 0);
    seen_first = n_seen == 0 || number < seen_first ? number : seen_first;
    seen_end = number >= seen_end ? number + 1 : seen_end;
    n_seen++;
}

static void see_none(void)
{
    memset(seen, 0, sizeof seen);
    seen_first = seen_end = n_seen = n_names = 0;
}

static struct history_of history_now(void)
{
    return (struct history_of){
        .dir = store.dir.fd, .path = store.path, .owner = geteuid(), .id = session, .state = writer_flight()
    };
}

static struct history window_read(uint64_t last_ns, uint64_t end_ns)
{
    struct history h;
    struct error e = { 0 };
    const struct history_of of = history_now();
    see_none();
    if (!history_open(&h, &of, last_ns, end_ns, &e) || !history_read(&h, see, NULL, &e))
        fail_msg("%s", e.text);
    history_close(&h);
    return h;
}

static uint64_t store_bytes(void)
{
    uint64_t bytes = 0;
    DIR *dir = opendir(store.path);
    for (struct dirent *d; dir && (d = readdir(dir));) {
        struct stat st;
        bytes += d->d_name[0] != '.' && fstatat(dirfd(dir), d->d_name, &st, 0) == 0 ? (uint64_t)st.st_size : 0;
    }
    closedir(dir);
    return bytes;
}

/* ---- the tests ---- */

static void an_hour_of_steps_needs_no_more_than_its_memory(void **state)
{
    (void)state;
    enum { STEPS = 36000, OF_STEP = 4 };
    flight_begin(MEMORY);
    for (uint64_t i = 0; i < (uint64_t)STEPS * OF_STEP; i++) {
        put(i % 2 ? STREAM_TORCH_OP : STREAM_STARS, 0, i);
        if (i % 10000 == 0) {
            flush();
            assert_in_range(store_bytes(), 1,
                            MEMORY + (1 << 16)); /* the last batch may come on top, until it is looked at */
        }
    }
    flush();
    const struct history h = window_read(HOUR_NS, host_clock_raw_ns());
    assert_int_equal(h.n_damaged, 0);
    assert_int_equal(seen_end, (uint64_t)STEPS * OF_STEP);
    assert_int_equal(n_seen, seen_end - seen_first); /* every one of them, once */
    assert_in_range(n_seen, MEMORY / 4 / RECORD, MEMORY / RECORD);
    assert_true(h.files_before > 0);
    assert_true(h.begin_ns == h.oldest_ns); /* so much is there, and no more */
    flight_finish();
}

static void window_of_three(void)
{
    uint64_t at_ns[4];
    flight_begin(MEMORY);
    for (uint64_t part = 0; part < 3; part++) {
        at_ns[part] = host_clock_raw_ns();
        for (uint64_t i = 0; i < 1000; i++)
            put(STREAM_TORCH_OP, 0, part * 1000 + i);
        flush();
    }
    at_ns[3] = host_clock_raw_ns();
    for (uint64_t part = 0; part < 3; part++) {
        const struct history h = window_read(at_ns[3] - at_ns[part], at_ns[3]);
        assert_int_equal(seen_first, part * 1000);
        assert_int_equal(n_seen, 3000 - part * 1000);
        assert_int_equal(h.n_records, n_seen);
        assert_true(part == 0 || h.begin_ns == at_ns[part]);
        assert_int_equal(h.files_before, 0);
    }
    const struct history h = window_read(HOUR_NS, 0);
    assert_in_range(h.end_ns, at_ns[2], at_ns[3]); /* as after a kill: when the last one was put */
    assert_int_equal(n_seen, 3000);
    flight_finish();
}

static void a_window_has_what_was_put_in_it(void **state)
{
    window_of_three();
    print_message("  from rings that could not grow, and skip the rest of each lap\n");
    folder_remove(state);
    folder_make(state);
    atomic_store(&disk_is_full, true);
    window_of_three();
    atomic_store(&disk_is_full, false);
}

static void a_window_stays_while_its_files_are_deleted(void **state)
{
    (void)state;
    struct history h;
    struct error e = { 0 };
    flight_begin(MEMORY);
    for (uint64_t i = 0; i < 5000; i++)
        put(STREAM_TORCH_OP, 0, i);
    flush();
    const struct history_of of = history_now();
    assert_true(history_open(&h, &of, HOUR_NS, host_clock_raw_ns(), &e));
    for (uint64_t i = 5000; i < 100000; i++)
        put(STREAM_TORCH_OP, 0, i);
    flush();
    assert_true(store.file[0].number > 1); /* the first one is gone */
    see_none();
    assert_true(history_read(&h, see, NULL, &e));
    history_close(&h);
    assert_int_equal(n_seen, 5000);
    assert_int_equal(seen_end, 5000);
    flight_finish();
}

static void say_name(unsigned number)
{
    struct ring_slot slot;
    while (!(slot = ring_put(STREAM_NAMES, 0, 64)).at)
        usleep(100);
    memset(slot.at, ' ', 64);
    snprintf((char *)slot.at, 64, "%u:name", number);
    ring_done(slot);
}

static void names_are_kept_once_and_never_overwritten(void **state)
{
    (void)state;
    flight_begin(MEMORY);
    for (unsigned i = 0; i < 200; i++)
        say_name(i % 100);
    for (uint64_t i = 0; i < 50000; i++)
        put(STREAM_TORCH_OP, 0, i);
    flush();
    assert_true(store.file[0].number > 1);
    window_read(HOUR_NS, 0);
    assert_int_equal(n_names, 100);
    for (unsigned i = 0; i < MEMORY / 64; i++) /* more than may be kept: counted, and the bound holds */
        say_name(1000 + i);
    flush();
    assert_true(store.dropped[STREAM_NAMES] > 0);
    window_read(HOUR_NS, 0);
    assert_int_equal(n_names, 100 + MEMORY / 64 - store.dropped[STREAM_NAMES]);
    assert_in_range(store_bytes(), 1, MEMORY + (1 << 16));
    flight_finish();
}

/* ---- flips ---- */

static unsigned n_flips[2];
static uint16_t flip_first[2], flip_last[2];

static void see_flips(void *unused, struct record_head head, const uint8_t *bytes)
{
    (void)unused;
    struct flight_flip f;
    if (!flight_flip(head, bytes, &f) || f.stream != 7)
        return;
    if (n_flips[f.is_host]++ == 0)
        flip_first[f.is_host] = f.number;
    flip_last[f.is_host] = f.number;
}

static void put_flip(bool is_host, uint16_t number)
{
    const struct layout *const l = is_host ? &task_track_layout : &ts_flip_layout;
    struct ring_slot slot;
    while (!(slot = ring_put(is_host ? STREAM_TRACK : STREAM_TS_TRACK, 0, l->size)).at)
        usleep(100);
    layout_init(l, slot.at);
    if (is_host) {
        layout_put(l, TRACK_STREAM, slot.at, 7);
        layout_put(l, TRACK_TASK, slot.at, (uint64_t)number << 16);
        layout_put(l, TRACK_TYPE, slot.at, TRACK_TYPE_FLIP);
    } else {
        layout_put(l, TS_FLIP_STREAM, slot.at, 7);
        layout_put(l, TS_FLIP_NUMBER, slot.at, number);
    }
    ring_done(slot);
}

static void flips_before_a_window_are_the_same_on_both_sides(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        unsigned host, device; /* flips before the window: the device is behind */
    } row[] = {
        { "none", 0, 0 },
        { "the host's first is on its way", 1, 0 },
        { "both have had one", 1, 1 },
        { "one on its way", 9, 8 },
        { "two on their way", 9, 7 },
        { "more than are kept, and even", 20, 20 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        flight_begin(MEMORY);
        uint64_t filler = 0;
        for (unsigned k = 1; k <= row[i].host; k++) {
            put_flip(true, (uint16_t)k);
            if (k <= row[i].device)
                put_flip(false, (uint16_t)k);
            for (unsigned f = 0; f < 3000 && i > 3; f++) /* into other files */
                put(STREAM_TORCH_OP, 0, filler++);
        }
        flush();
        const uint64_t begin_ns = host_clock_raw_ns();
        for (unsigned k = row[i].device + 1; k <= row[i].host + 3; k++)
            put_flip(false, (uint16_t)k);
        for (unsigned k = row[i].host + 1; k <= row[i].host + 3; k++)
            put_flip(true, (uint16_t)k);
        flush();
        const struct history_of of = history_now();
        struct history h;
        struct error e = { 0 };
        const uint64_t end_ns = host_clock_raw_ns();
        memset(n_flips, 0, sizeof n_flips);
        assert_true(history_open(&h, &of, end_ns - begin_ns, end_ns, &e) && history_read(&h, see_flips, NULL, &e));
        history_close(&h);
        assert_int_equal(flip_last[0], row[i].host + 3);
        assert_int_equal(flip_last[1], row[i].host + 3);
        assert_int_equal(flip_first[0], flip_first[1]);
        assert_int_equal(n_flips[0], n_flips[1]);
        assert_int_equal(n_flips[0], flip_last[0] - flip_first[0] + 1);
        flight_finish();
    }
}

/* ---- killed ---- */

static struct said {
    _Atomic uint64_t n_put;
} * said;

static void child_records(void)
{
    flight_begin(MEMORY);
    for (uint64_t i = 0; i < NUMBERS_MOST; i++) {
        put(STREAM_TRACK, 0, i);
        atomic_store(&said->n_put, i + 1);
    }
    pause();
}

/* Of all slices that are there. */
static void see_files(void)
{
    see_none();
    for (unsigned slice = 0;; slice++) {
        static uint8_t bytes[SLICE];
        char name[80];
        snprintf(name, sizeof name, "PROF_1/host/data/aging.compact.task_track.slice_%u", slice);
        const size_t n = file_text(name, bytes, sizeof bytes);
        if (n == SIZE_MAX)
            return;
        assert_int_equal(n % RECORD, 0);
        for (size_t at = 0; at < n; at += RECORD)
            see(NULL, (struct record_head){ .stream = STREAM_TRACK }, bytes + at);
    }
}

static void killed_at_any_moment_the_last_records_are_there_once(void **state)
{
    (void)state;
    enum { KILLS = 12 };
    said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (uint64_t i = 0; i < KILLS; i++) {
        struct recovered r;
        struct error e = { 0 };
        atomic_store(&said->n_put, 0);
        const pid_t child = child_fork();
        if (child == 0)
            child_records();
        while (atomic_load(&said->n_put) < i * 9000)
            child_runs(child);
        kill(child, SIGKILL);
        child_end_by(child, SIGKILL);
        if (access(folder_path("ascope.json"), F_OK) == 0 && access(folder_path(RINGS_NAME), F_OK) == 0 &&
            atomic_load(&said->n_put) > 0) {
            if (collection_recover(folder, &r, &e) != RECOVERY_DONE)
                fail_msg("%s", e.text);
            see_files();
            const uint64_t n = atomic_load(&said->n_put);
            assert_in_range(seen_end, n, n + 1); /* one may be recorded and not yet said */
            assert_int_equal(n_seen, seen_end - seen_first);
            assert_int_equal(r.n_records, n_seen);
            assert_int_equal(r.n_damaged, 0);
            assert_true(seen_first == 0 || n_seen > MEMORY / 8 / RECORD);
            assert_int_equal(access(folder_path("ascope.flight"), F_OK), -1);
        }
        folder_remove(NULL);
        mkdir(folder, 0700);
    }
    munmap(said, sizeof *said);
}

/* ---- damaged ---- */

static uint8_t file_bytes[1 << 20];

static size_t bytes_of(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const size_t n = fread(file_bytes, 1, sizeof file_bytes, f);
    fclose(f);
    return n;
}

static void bytes_to(const char *path, const uint8_t *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

/* Whatever is read is what was put. */
static void damaged_read(const struct history_of *of, bool is_damage)
{
    struct history h;
    struct error e = { 0 };
    see_none();
    if (!history_open(&h, of, HOUR_NS, 0, &e)) {
        assert_string_not_equal(e.text, "");
        assert_null(strchr(e.text, '\n'));
        return;
    }
    assert_true(history_read(&h, see, NULL, &e));
    assert_true(n_seen <= 300 && n_names <= 3);
    assert_true(!is_damage || h.n_damaged > 0 ||
                (n_seen == 300 && n_names == 3)); /* behind the commit nothing counts */
    history_close(&h);
}

static void what_is_damaged_is_never_read(void **state)
{
    (void)state;
    flight_begin(MEMORY);
    for (unsigned i = 0; i < 3; i++)
        say_name(i);
    for (uint64_t i = 0; i < 300; i++) {
        put(STREAM_TORCH_OP, 0, i);
        if (i % 100 == 99)
            flush();
    }
    const struct history_of of = history_now();
    static const char *const names[] = { "history.00000001", "kept" };
    for (size_t k = 0; k < ROWS(names); k++) {
        char path[PATH_MAX + 32];
        snprintf(path, sizeof path, "%s/%s", store.path, names[k]);
        const size_t n = bytes_of(path);
        for (size_t at = 0; at < n; at += at < 1000 ? 1 : 37) { /* every byte of the heads, some of the records */
            file_bytes[at] ^= 0x10;
            bytes_to(path, file_bytes, n);
            damaged_read(&of, true);
            file_bytes[at] ^= 0x10;
        }
        for (size_t end = 0; end < n; end += end < 1000 ? 1 : 37) {
            bytes_to(path, file_bytes, end);
            damaged_read(&of, true);
        }
        bytes_to(path, file_bytes, n);
        damaged_read(&of, false);
        assert_int_equal(n_seen, 300);
    }
    const struct history_of foreign = { .dir = of.dir, .path = of.path, .owner = of.owner, .state = of.state };
    struct history h;
    struct error e = { 0 };
    assert_false(history_open(&h, &foreign, HOUR_NS, 0, &e));
    assert_non_null(strstr(e.text, "belongs to another recording"));
    const struct history_of other = {
        .dir = of.dir, .path = of.path, .owner = of.owner + 1, .id = of.id, .state = of.state
    };
    e = (struct error){ 0 };
    assert_false(history_open(&h, &other, HOUR_NS, 0, &e));
    flight_finish();
}

/* Dropped are the oldest. */
static void a_file_that_is_missing_between_others_is_damage(void **state)
{
    (void)state;
    char path[PATH_MAX + 32], aside[PATH_MAX + 32];
    flight_begin(MEMORY);
    for (uint64_t i = 0; i < 5000; i++) {
        put(STREAM_TORCH_OP, 0, i);
        if (i % 1000 == 999)
            flush();
    }
    assert_in_range(store.n_files, 3, FLIGHT_FILES_MOST);
    assert_int_equal(window_read(HOUR_NS, 0).n_damaged, 0);
    assert_int_equal(n_seen, 5000);
    snprintf(path, sizeof path, "%s/" FLIGHT_FILE, store.path, 2ull);
    snprintf(aside, sizeof aside, "%s/aside", store.path);
    assert_int_equal(rename(path, aside), 0);
    assert_int_equal(window_read(HOUR_NS, 0).n_damaged, 1);
    assert_in_range(n_seen, 1, 4999);
    snprintf(path, sizeof path, "%s/" FLIGHT_FILE, store.path, 1ull);
    assert_int_equal(remove(path), 0);
    assert_int_equal(window_read(HOUR_NS, 0).n_damaged, 0);
    assert_int_equal(symlink(aside, path), 0);
    assert_int_equal(window_read(HOUR_NS, 0).n_damaged, 1);
    assert_int_equal(remove(path), 0);
    assert_int_equal(remove(aside), 0);
    flight_finish();
}

/* ---- a full disk ---- */

static void a_full_disk_ends_the_history_and_not_the_program(void **state)
{
    (void)state;
    struct writer_tally tally;
    struct error e = { 0 };
    flight_begin(MEMORY);
    for (uint64_t i = 0; i < 100; i++)
        put(STREAM_TORCH_OP, 0, i);
    flush();
    kept_close(&store.last_file);
    store.last_file = (struct kept)KEPT_NONE;
    kept_open(&store.last_file, AT_FDCWD, "/dev/full", O_WRONLY, 0);
    for (uint64_t i = 100; i < 200; i++)
        put(STREAM_TORCH_OP, 0, i);
    assert_false(writer_flush(&tally, &e));
    assert_int_equal(tally.dropped[STREAM_TORCH_OP], 100);
    window_read(HOUR_NS, 0);
    assert_int_equal(n_seen, 100); /* what was there before is there */
    e = (struct error){ 0 };
    writer_stop(&tally, &e);
    writer_leave(true);
    rings_close();
    flight_store_close(&store, true);
}

/* ---- steps ---- */

static void the_median_is_that_of_the_last_hundred(void **state)
{
    (void)state;
    struct flight_steps s = { 0 };
    for (unsigned i = 0; i < FLIGHT_STEPS_LEAST; i++) {
        assert_int_equal(flight_steps_median(&s), 0); /* too few to say */
        flight_steps_add(&s, 100 + i);
    }
    assert_int_equal(flight_steps_median(&s), 105);
    for (unsigned i = 0; i < 100; i++)
        flight_steps_add(&s, i % 2 ? 7 : 1000 + i);
    flight_steps_add(&s, 7);
    assert_int_equal(s.n, 100);
    assert_int_equal(flight_steps_median(&s), 7);
    for (unsigned i = 0; i < 1000; i++)
        flight_steps_add(&s, i * 7919 % 1009);
    uint64_t below = 0, above = 0;
    for (unsigned i = 0; i < 100; i++) {
        below += s.ns[i] < flight_steps_median(&s);
        above += s.ns[i] > flight_steps_median(&s);
        assert_true(i == 0 || s.sorted[i - 1] <= s.sorted[i]);
    }
    assert_in_range(below, 45, 50);
    assert_in_range(above, 45, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_hour_of_steps_needs_no_more_than_its_memory, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_window_has_what_was_put_in_it, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_window_stays_while_its_files_are_deleted, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(names_are_kept_once_and_never_overwritten, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(flips_before_a_window_are_the_same_on_both_sides, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(killed_at_any_moment_the_last_records_are_there_once, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(what_is_damaged_is_never_read, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_file_that_is_missing_between_others_is_damage, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_full_disk_ends_the_history_and_not_the_program, folder_make, folder_remove),
        cmocka_unit_test(the_median_is_that_of_the_last_hundred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
