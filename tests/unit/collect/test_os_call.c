/* SPDX-License-Identifier: Apache-2.0 */
/* Records of calls, whole and damaged, and the lines that the writer and recovery make of them. */
#include "call_lines.h"
#include "child.h"
#include "collecting.h"
#include "folder.h"
#include "test.h"

#include <math.h>
#include <sys/syscall.h>

#include "collect/session/host_clock.h"
#include "collect/os_calls/os_call.h"
#include "collect/session/recover.h"

static const struct os_call_times times = {
    .begin_ns = 5000000000, .count = 20000, .raw_ns = 9000000000, .ns_per_count = 0.5
};

static void records_become_lines_that_readers_take(void **state)
{
    static const struct {
        const char *what;
        struct os_call call;
        bool is_thread_call;
        const char *line; /* "": none */
    } row[] = {
        { "a system call",
          { 1234567890123, 4321, 3, 64, 7, SYS_read, OS_CALL_RAW_NS, "python3" },
          false,
          "1234567.890123 (0.004321 ms): python3/7 read(a0: 3) = 64\n" },
        { "one that failed",
          { 1000000, 1, -100, -2, 7, SYS_openat, OS_CALL_RAW_NS, "a" },
          false,
          "1.000000 (0.000001 ms): a/7 openat(a0: -100) = -1 (errno 2)\n" },
        { "an address",
          { 1, 0, 0, 0x7f0000000000, 7, SYS_mmap, OS_CALL_RAW_NS, "a" },
          false,
          "0.000001 (0.000000 ms): a/7 mmap(a0: 0) = 0x7f0000000000\n" },
        { "nobody knows the result",
          { 1, 0, 0, OS_CALL_UNKNOWN, 7, SYS_futex, OS_CALL_RAW_NS, "a" },
          false,
          "0.000001 (0.000000 ms): a/7 futex(a0: 0) = ?\n" },
        { "a name that would end a word or a line",
          { 1, 0, 0, 0, 7, SYS_read, OS_CALL_RAW_NS, "a b/c:(d)\n" },
          false,
          "0.000001 (0.000000 ms): a_b_c__d__/7 read(a0: 0) = 0\n" },
        { "a name in another script",
          { 1, 0, 0, 0, 7, SYS_read, OS_CALL_RAW_NS, "\u6570 \u636e" },
          false,
          "0.000001 (0.000000 ms): \u6570_\u636e/7 read(a0: 0) = 0\n" },
        { "a name without an end",
          { 1, 0, 0, 0, 7, SYS_read, OS_CALL_RAW_NS, "aaaaaaaaaaaaaaaa" },
          false,
          "0.000001 (0.000000 ms): aaaaaaaaaaaaaaa/7 read(a0: 0) = 0\n" },
        { "no name",
          { 1, 0, 0, 0, 7, SYS_read, OS_CALL_RAW_NS, "" },
          false,
          "0.000001 (0.000000 ms): _/7 read(a0: 0) = 0\n" },
        { "in counts, before the last reading",
          { 10000, 2000, 0, 0, 7, SYS_read, OS_CALL_COUNTER, "a" },
          false,
          "8999.995000 (0.001000 ms): a/7 read(a0: 0) = 0\n" },
        { "and after it",
          { 20000, 2000, 0, 0, 7, SYS_read, OS_CALL_COUNTER, "a" },
          false,
          "9000.000000 (0.001000 ms): a/7 read(a0: 0) = 0\n" },
        { "no thread", { 1, 0, 0, 0, 0, SYS_read, OS_CALL_RAW_NS, "a" }, false, "" },
        { "no such call", { 1, 0, 0, 0, 7, 60000, OS_CALL_RAW_NS, "a" }, false, "" },
        { "one that is not reported", { 1, 0, 0, 0, 7, SYS_getpid, OS_CALL_RAW_NS, "a" }, false, "" },
        { "a call of the thread library",
          { 1234567890123, 4321, 4096, 0, 7, THREAD_CALL_pthread_join, 0, "a" },
          true,
          "[pid 7] 1234.567890123 exe->pthread_join(0x1000) = 0 <0.000004321>\n" },
        { "no such one", { 1, 0, 0, 0, 7, THREAD_CALL_KINDS, 0, "a" }, true, "" },
        { "as large as they come",
          { UINT64_MAX, UINT64_MAX, INT64_MAX, INT64_MAX, UINT32_MAX, SYS_process_vm_writev, 0, "aaaaaaaaaaaaaaaa" },
          false,
          "18446744073709.551615 (18446744073709.551615 ms): aaaaaaaaaaaaaaa/4294967295 process_vm_writev(a0: "
          "0x7fffffffffffffff) = 0x7fffffffffffffff\n" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        char line[OS_CALL_LINE_MOST];
        const uint8_t *const record = (const uint8_t *)&row[i].call;
        size_t (*const expand)(const struct os_call_times *, const uint8_t *, size_t, char *) =
            row[i].is_thread_call ? thread_call_line : system_call_line;
        print_message("  %s\n", row[i].what);
        const size_t n = expand(&times, record, sizeof row[i].call, line);
        assert_int_equal(n, strlen(row[i].line));
        assert_memory_equal(line, row[i].line, n);
        assert_int_equal(expand(&times, record, sizeof row[i].call - 1, line), 0);
    }
    (void)state;
}

/* Every name that a line may have is one that readers report. */
static void all_names_are_reported(void **state)
{
    char line[OS_CALL_LINE_MOST];
    struct lines c = { .text = malloc(1 << 17) };
    size_t n = 0;
    c.bytes = system_calls_head(&times, c.text);
    for (unsigned i = 0; i < 1024; i++)
        if (system_call_name(i)) {
            const struct os_call call = { .thread = 7, .number = (uint16_t)i, .begin = times.begin_ns };
            const size_t bytes = system_call_line(&times, (const uint8_t *)&call, sizeof call, line);
            memcpy(c.text + c.bytes, line, bytes);
            c.bytes += bytes;
            n++;
        }
    lines_parse(&c, "host_syscall.data");
    assert_true(n > 100);
    assert_int_equal(c.usage.calls.n, n);
    lines_free(&c);
    (void)state;
}

static void call_put(enum stream_id stream, unsigned number, uint64_t begin_ns)
{
    const struct ring_slot slot = ring_put(stream, 0, sizeof(struct os_call));
    assert_non_null(slot.at);
    *(struct os_call *)slot.at =
        (struct os_call){ .begin = begin_ns, .duration = 1, .thread = 7, .number = (uint16_t)number, .command = "a" };
    ring_done(slot);
}

/* Killed before the writer came, or after: each call is there once. What no thread has put is counted, and no line. */
static void recovery_writes_the_lines_that_are_missing(void **state)
{
    enum { N = 500 };
    const pid_t child = child_fork();
    if (child == 0) {
        collecting_start(&(struct writer_options){ .slice_bytes = 1 << 20, .began = host_clock_read() });
        for (int i = 0; i < N; i++) {
            call_put(STREAM_SYSTEM_CALL, SYS_read, host_clock_raw_ns());
            call_put(STREAM_THREAD_CALL, THREAD_CALL_pthread_join, host_clock_raw_ns());
        }
        call_put(STREAM_SYSTEM_CALL, 60000, 0);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(child_end(child), SIGKILL);
    struct recovered out;
    struct error e = { 0 };
    if (collection_recover(folder, &out, &e) != RECOVERY_DONE)
        fail_msg("%s", e.text);
    static const char *const family[] = { "host_syscall.data", "host_pthreadcall.data" };
    for (int i = 0; i < 2; i++) {
        struct lines c;
        lines_load(&c, folder_path("PROF_1"), family[i]);
        assert_int_equal(c.usage.calls.n, N);
        for (size_t k = 1; k < N; k++)
            assert_true(c.usage.calls.begin_ns[k] >= c.usage.calls.begin_ns[k - 1]);
        assert_true(c.usage.calls.begin_ns[0] >= 0);
        lines_free(&c);
    }
    char facts[4096] = "";
    FILE *const f = fopen(folder_path("ascope.json"), "r");
    assert_true(f && fread(facts, 1, sizeof facts - 1, f) > 0);
    fclose(f);
    assert_non_null(strstr(facts, "\"system calls\""));
    (void)state;
}

/* When the oldest slices are deleted, those that stay are still where they were. */
static void each_slice_begins_with_the_start(void **state)
{
    enum { N = 1000 };
    struct clock_reading began = host_clock_read();
    collecting_start(&(struct writer_options){ .slice_bytes = SLICE, .began = began });
    for (uint64_t i = 0; i < N; i++)
        call_put(STREAM_SYSTEM_CALL, SYS_read, clock_reading_window_ns(&began) + 1000 * i);
    collecting_stop();
    char path[64];
    size_t n_slices = 0, n = 0;
    for (;; n_slices++) {
        struct lines c = { 0 };
        snprintf(path, sizeof path, "host_syscall.data.slice_%zu", n_slices);
        char file[128];
        snprintf(file, sizeof file, "PROF_1/host/data/%s", path);
        if (!file_exists(file))
            break;
        c.text = malloc(2 * SLICE);
        c.bytes = file_text(file, c.text, 2 * SLICE);
        lines_parse(&c, "host_syscall.data");
        for (size_t k = 0; k < c.usage.calls.n; k++)
            assert_int_equal(c.usage.calls.begin_ns[k], 1000 * (int64_t)n++);
        lines_free(&c);
    }
    assert_true(n_slices > 5);
    assert_int_equal(n, N);
    (void)state;
}

/* Rings are memory that a program shares with us: whatever it leaves there becomes a line that readers take, or none. */
static void damaged_records_become_lines_or_none(void **state)
{
    enum { ROUNDS = 20000 };
    static const uint64_t extremes[] = { 0, 1, INT64_MAX, (uint64_t)INT64_MIN, UINT64_MAX };
    static const double rates[] = { 0.5, 0, 1e300, -1, (double)INFINITY, (double)NAN };
    uint64_t seed = 1;
    size_t n_lines = 0;
    for (size_t i = 0; i < ROUNDS; i++) {
        struct os_call c;
        uint8_t *const bytes = malloc(sizeof c), *const raw = (uint8_t *)&c;
        for (size_t k = 0; k < sizeof c; k++)
            raw[k] = (uint8_t)((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 56);
        if (i % 2 == 0)
            c.begin = extremes[i / 2 % ROWS(extremes)];
        if (i % 3 == 0)
            c.duration = extremes[i / 3 % ROWS(extremes)];
        if (i % 4 != 0)
            c.number = (uint16_t)(c.number % (i % 4 == 1 ? THREAD_CALL_KINDS : 450));
        memcpy(bytes, &c, sizeof c); /* on the heap: nothing behind it may be read */
        struct os_call_times t = times;
        t.ns_per_count = rates[i % ROWS(rates)];
        t.count = extremes[i / 7 % ROWS(extremes)];
        for (int of_threads = 0; of_threads < 2; of_threads++) {
            char *const line = malloc(OS_CALL_LINE_MOST);
            const size_t n =
                of_threads ? thread_call_line(&t, bytes, sizeof c, line) : system_call_line(&t, bytes, sizeof c, line);
            assert_true(n < OS_CALL_LINE_MOST);
            if (n > 0) {
                assert_int_equal(line[n - 1], '\n');
                assert_null(memchr(line, '\n', n - 1));
                assert_null(memchr(line, '\0', n));
                n_lines++;
            }
            free(line);
        }
        free(bytes);
    }
    assert_true(n_lines > ROUNDS / 4);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_become_lines_that_readers_take),
        cmocka_unit_test(all_names_are_reported),
        cmocka_unit_test(damaged_records_become_lines_or_none),
        cmocka_unit_test_setup_teardown(recovery_writes_the_lines_that_are_missing, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(each_slice_begins_with_the_start, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
