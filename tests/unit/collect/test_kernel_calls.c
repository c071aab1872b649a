/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers as the kernel fills them, whole and damaged. The file itself is included: the kernel has no other way to hand
 * a buffer over. */
#include "collecting.h"
#include "test.h"

#include "../../../src/collect/os_calls/kernel_calls.c" /* NOLINT(bugprone-suspicious-include) */

enum { CPUS = 2, THREAD = 7, ENTER_ID = 100, EXIT_ID = 101, SAMPLE_BYTES = 56 };

/* Of different sizes, as a kernel with a limit gives them. */
static struct kernel_calls *calls_make(void)
{
    static const size_t bytes[CPUS] = { 2 * 4096, 4096 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct kernel_calls *const k = calloc(1, sizeof *k);
    k->n_cpus = CPUS;
    k->buffer_bytes = bytes[CPUS - 1];
    k->buffer = calloc(CPUS, sizeof *k->buffer);
    for (int i = 0; i < CPUS; i++) /* nothing behind them */
        k->buffer[i] = (struct buffer){ .fd = -1, .page = calloc(1, page + bytes[i]), .bytes = bytes[i] };
    point_id[POINT_ENTER] = ENTER_ID;
    point_id[POINT_EXIT] = EXIT_ID;
    return k;
}

static void calls_free(struct kernel_calls *k)
{
    for (int i = 0; i < CPUS; i++) {
        free(k->buffer[i].page);
        k->buffer[i].page = NULL;
    }
    kernel_calls_close(k);
}

static void bytes_put(struct buffer *b, const void *from, size_t n)
{
    uint8_t *const data = (uint8_t *)b->page + sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < n; i++)
        data[(b->page->data_head + i) & (b->bytes - 1)] = ((const uint8_t *)from)[i];
    b->page->data_head += n;
}

struct sample {
    struct perf_event_header h;
    uint32_t process, thread;
    uint64_t at_ns;
    uint32_t bytes;
    uint16_t point, other[3];
    uint8_t call[8], value[8], rest[4];
};
_Static_assert(sizeof(struct sample) == SAMPLE_BYTES, "no gaps");

static struct sample sample_make(unsigned point, uint64_t call, int64_t value, uint64_t at_ns)
{
    struct sample x = { .h = { .type = PERF_RECORD_SAMPLE, .size = SAMPLE_BYTES },
                        .process = THREAD,
                        .thread = THREAD,
                        .at_ns = at_ns,
                        .bytes = 24,
                        .point = (uint16_t)point };
    memcpy(x.call, &call, sizeof call);
    memcpy(x.value, &value, sizeof value);
    return x;
}

/* Again and again around both buffers: records lie on both ends of them. A call may begin on one CPU and end on the
 * other. */
static void calls_are_put_once(void **state)
{
    enum { N = 400 };
    struct kernel_calls *const k = calls_make();
    char text[1 << 16];
    size_t n = 0;
    collecting_start(&(struct writer_options){ .slice_bytes = 1 << 20, .began = host_clock_read() });
    for (uint64_t i = 0; i < N; i++) {
        const struct sample enter = sample_make(ENTER_ID, SYS_read, 3, 1000 * i),
                            leave = sample_make(EXIT_ID, SYS_read, 64, 1000 * i + 10);
        bytes_put(&k->buffer[i % CPUS], &enter, sizeof enter);
        bytes_put(&k->buffer[i / 2 % CPUS], &leave, sizeof leave);
        if (i % 16 == 15)
            kernel_calls_look(k, false);
    }
    kernel_calls_look(k, true);
    collecting_stop();
    calls_free(k);
    text[file_text("PROF_1/host/data/host_syscall.data.slice_0", text, sizeof text - 1)] = '\0';
    for (const char *at = text; (at = strstr(at, "/7 read(a0: 3) = 64\n")); at++)
        n++;
    assert_int_equal(n, N);
    (void)state;
}

/* Nothing is read beyond a record, a buffer or the bytes that were written; each look ends. */
static void damaged_buffers(void **state)
{
    enum { ROUNDS = 4000 };
    uint64_t seed = 1;
    struct kernel_calls *const k = calls_make();
    collecting_start(&(struct writer_options){ .slice_bytes = 1 << 20, .began = host_clock_read() });
    for (unsigned i = 0; i < ROUNDS; i++) {
        static const uint32_t types[] = { PERF_RECORD_SAMPLE, PERF_RECORD_COMM, PERF_RECORD_FORK,
                                          PERF_RECORD_EXIT,   PERF_RECORD_LOST, 0,
                                          UINT32_MAX };
        uint8_t bytes[512];
        for (size_t at = 0; at < sizeof bytes; at++)
            bytes[at] = (uint8_t)((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 56);
        for (size_t at = 0; at + 64 <= sizeof bytes;) {
            struct perf_event_header h = { .type = types[bytes[at] % ROWS(types)],
                                           .size = (uint16_t)(bytes[at + 1] % 8 * 8 + 8) };
            if (bytes[at + 2] < 8)
                h.size = (uint16_t)(bytes[at + 3] << 8 | bytes[at + 4]);
            memcpy(bytes + at, &h, sizeof h);
            if (h.type == PERF_RECORD_LOST)
                memset(bytes + at + 16, 0, 8);
            at += h.size >= sizeof h && h.size <= 64 ? h.size : 64;
        }
        bytes_put(&k->buffer[i % CPUS], bytes, (bytes[9] % 64 + 1u) * 8);
        kernel_calls_look(k, i % 2 == 0);
        for (int cpu = 0; cpu < CPUS; cpu++)
            assert_int_equal(k->buffer[cpu].page->data_tail, k->buffer[cpu].page->data_head);
    }
    collecting_stop();
    calls_free(k);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(calls_are_put_once, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(damaged_buffers, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
