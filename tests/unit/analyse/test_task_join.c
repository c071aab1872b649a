/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/device/tasks/device_tasks.h"

/* Tasks of stream 3 in words: "7" is one of task 7; of the host, "7s" belongs to a loaded graph and "7t" is a stamp of
 * the profiler. Both sides are reported in the order of time; the first tasks of the device may be from before the
 * collection. */
enum { MOST = 8, STREAM = 3, APART = 100 };

struct bench {
    struct profile profile;
    struct device device;
    uint16_t host_device[MOST], host_stream[MOST], host_batch[MOST], stream[MOST], batch[MOST];
    uint32_t host_task[MOST], host_context[MOST], host_op[MOST], task[MOST], context[MOST];
    uint64_t host_key[MOST], host_time[MOST], key[MOST], begin[MOST], end[MOST];
    int64_t request[MOST];
    name_id type[MOST];
    uint8_t log_type[MOST];
};

static struct bench *bench_new(bool has_unique_ids)
{
    struct bench *b = calloc(1, sizeof *b);
    b->profile.has_unique_ids = has_unique_ids;
    b->profile.names = names_new();
    assert_true(known_names_add(b->profile.names));
    b->profile.host.tasks = (struct host_tasks){ .device = b->host_device,
                                                 .stream = b->host_stream,
                                                 .batch = b->host_batch,
                                                 .task = b->host_task,
                                                 .context = b->host_context,
                                                 .op = b->host_op,
                                                 .key = b->host_key,
                                                 .time = b->host_time,
                                                 .request = b->request,
                                                 .type = b->type };
    b->device.source = (struct source){ .mem = arena_new(), .chip = chip_of(1), .path = "test" };
    b->device.source.device_clock.tick = (struct ticks){ 1, 1 };
    b->device.log = (struct device_log){ .stream = b->stream,
                                         .batch = b->batch,
                                         .task = b->task,
                                         .context = b->context,
                                         .key = b->key,
                                         .begin = b->begin,
                                         .end = b->end,
                                         .type = b->log_type };
    return b;
}

static void bench_free(struct bench *b)
{
    arena_free(b->device.source.mem);
    names_free(b->profile.names);
    free(b);
}

/* How often this id was used before, which is what batches are. */
static uint16_t uses(const uint32_t *task, size_t n)
{
    uint16_t k = 0;
    for (size_t i = 0; i < n; i++)
        k = (uint16_t)(k + (task[i] == task[n]));
    return k;
}

static void host_fill(struct bench *b, const char *text)
{
    const name_id stamp = names_addz(b->profile.names, "PROFILER_TRACE_EX");
    size_t n = 0;
    for (; *text; text += strspn(text, " "), n++) {
        b->host_stream[n] = STREAM;
        b->host_task[n] = (uint32_t)strtoul(text, (char **)(uintptr_t)&text, 10);
        b->host_batch[n] = uses(b->host_task, n);
        b->host_context[n] = NO_CONTEXT;
        b->host_op[n] = NO_ROW;
        b->host_time[n] = APART * n;
        b->request[n] = *text == 's' ? 0 : -1;
        b->type[n] = *text == 't' ? stamp : NAME_MEMCPY_ASYNC;
        b->host_key[n] = task_key(STREAM, b->host_batch[n], b->host_task[n]);
        text += strspn(text, "st");
    }
    b->profile.host.tasks.n = n; /* the rows below are by key already */
}

static void log_fill(struct bench *b, const char *text)
{
    size_t n = 0;
    for (; *text; text += strspn(text, " "), n++) {
        b->stream[n] = STREAM;
        b->task[n] = (uint32_t)strtoul(text, (char **)(uintptr_t)&text, 10);
        b->batch[n] = b->profile.has_unique_ids ? uses(b->task, n) : 0;
        b->context[n] = NO_CONTEXT;
        b->begin[n] = APART * n;
        b->end[n] = APART * n + 10;
        b->key[n] = task_key(STREAM, b->batch[n], b->task[n]);
    }
    b->device.log.n = n;
}

static void tasks_find_their_other_half(void **state)
{
    static const struct {
        const char *what;
        bool has_unique_ids;
        const char *host, *device;
        size_t n_early;
        int host_of[MOST]; /* of each task of the device: which one of the host, -1 none, -2 it is not there */
        uint64_t unmatched, outside;
    } row[] = {
        { "by their ids", true, "1 2 3", "3 1", 0, { 2, 0 }, 1, 0 },
        { "ids that are used again have another batch", true, "1 1", "1 1", 0, { 0, 1 }, 0, 0 },
        { "the host says nothing of it", true, "1", "1 2", 0, { 0, -1 }, 0, 0 },
        { "from before the collection", true, "1 2", "1 2", 1, { -2, 1 }, 0, 1 },
        { "without unique ids the first is the first", false, "1 1 1", "1 1 1", 0, { 0, 1, 2 }, 0, 0 },
        { "ids side by side", false, "1 2 1", "2 1 1", 0, { 1, 0, 2 }, 0, 0 },
        { "what the device ran more often is left over", false, "1", "1 1", 0, { 0, -1 }, 0, 0 },
        { "what it ran less often, too", false, "1 1", "1", 0, { 0 }, 1, 0 },
        { "a task of a loaded graph runs again and again", false, "1s", "1 1 1", 0, { 0, 0, 0 }, 0, 0 },
        { "stamps are left out where the numbers differ", false, "1t 1", "1", 0, { 1 }, 0, 0 },
        { "and kept where they do not", false, "1t 1", "1 1", 0, { 0, 1 }, 0, 0 },
        { "early ones take their half with them", false, "1 1", "1 1", 1, { -2, 1 }, 0, 1 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct bench *b = bench_new(row[i].has_unique_ids);
        struct arena *mem = arena_new();
        struct joined j = { 0 };
        print_message("  %s\n", row[i].what);
        host_fill(b, row[i].host);
        log_fill(b, row[i].device);
        b->device.source.begin_ns = (int64_t)(APART * row[i].n_early);
        assert_true(tasks_join(&b->profile, &b->device, mem, &j));
        int host_of[MOST];
        for (size_t k = 0; k < b->device.log.n; k++)
            host_of[k] = -2;
        for (size_t k = 0; k < j.n; k++) {
            host_of[j.row[k]] = j.host[k] == NO_ROW ? -1 : (int)j.host[k];
            if (k > 0)
                assert_true(b->key[j.row[k - 1]] < b->key[j.row[k]] ||
                            (b->key[j.row[k - 1]] == b->key[j.row[k]] && b->begin[j.row[k - 1]] < b->begin[j.row[k]]));
        }
        for (size_t k = 0; k < b->device.log.n; k++)
            assert_int_equal(host_of[k], row[i].host_of[k]);
        assert_int_equal(b->device.source.lost.by[LOSS_UNMATCHED].n, row[i].unmatched);
        assert_int_equal(b->device.source.lost.by[LOSS_OUTSIDE].n, row[i].outside);
        assert_int_equal(b->device.log.n_early, row[i].n_early);
        arena_free(mem);
        bench_free(b);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_find_their_other_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
