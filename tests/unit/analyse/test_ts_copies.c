/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/device/tasks/device_tasks.h"
#include "profile/known.h"

/* States in words: "a0@100" is task a received at tick 100, 1 is begun, 2 ended. All are of stream 3. */
static void copies_are_received_begun_and_ended(void **state)
{
    enum { MOST = 8 };
    static const struct {
        const char *what, *states, *copies; /* copies: the three states of each, by task */
        uint64_t lost;
        int64_t begin_ns; /* of the collection */
    } row[] = {
        { "nothing", "", "", 0, 0 },
        { "one", "a0@100 a1@110 a2@190", "a0@100 a1@110 a2@190", 0, 0 },
        { "the file may be unordered", "a2@190 a1@110 a0@100", "a0@100 a1@110 a2@190", 0, 0 },
        { "two side by side", "a0@1 b0@2 a1@3 b1@4 b2@5 a2@6", "a0@1 a1@3 a2@6 b0@2 b1@4 b2@5", 0, 0 },
        { "an id that is used again", "a0@1 a1@2 a2@3 a0@4 a1@5 a2@6", "a0@1 a1@2 a2@3 a0@4 a1@5 a2@6", 0, 0 },
        { "the beginning is missing", "a0@1 a2@3", "", 1, 0 },
        { "never received", "a1@2 a2@3", "", 2, 0 },
        { "not ended", "a0@1 a1@2 b0@3 b1@4 b2@5", "b0@3 b1@4 b2@5", 1, 0 },
        { "a state that nobody knows", "a0@1 a7@2 a1@3 a2@4", "a0@1 a1@3 a2@4", 1, 0 },
        { "from before the collection", "a0@1 a1@2 a2@3 a0@4 a1@5 a2@60", "a0@4 a1@5 a2@60", 0, 50 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        uint16_t stream[MOST], task[MOST];
        uint64_t tick[MOST];
        uint8_t of[MOST];
        struct device d = { .source = { .mem = arena_new(), .path = "test", .begin_ns = row[i].begin_ns } };
        d.source.device_clock.tick = (struct ticks){ 1, 1 };
        struct profile p = { 0 };
        struct error e = { 0 };
        print_message("  %s\n", row[i].what);
        d.log.copy_states.stream = stream;
        d.log.copy_states.task = task;
        d.log.copy_states.tick = tick;
        d.log.copy_states.state = of;
        char name;
        int state_of, at, used;
        for (const char *s = row[i].states; sscanf(s, " %c%d@%d%n", &name, &state_of, &at, &used) == 3; s += used) {
            const size_t k = d.log.copy_states.n++;
            stream[k] = 3;
            task[k] = (uint16_t)(name - 'a');
            tick[k] = (uint64_t)at;
            of[k] = (uint8_t)state_of;
        }
        assert_true(ts_copies_analyse(&p, &d, &e));
        size_t n = 0;
        for (const char *s = row[i].copies; sscanf(s, " %c%d@%d%n", &name, &state_of, &at, &used) == 3; s += used) {
            const uint64_t *const part[] = { d.log.copies.received, d.log.copies.begin, d.log.copies.end };
            assert_in_range(n / 3, 0, d.log.copies.n - 1);
            assert_int_equal(d.log.copies.task[n / 3], name - 'a');
            assert_int_equal(d.log.copies.stream[n / 3], 3);
            assert_int_equal(part[state_of][n / 3], at);
            n++;
        }
        assert_int_equal(3 * d.log.copies.n, n);
        assert_int_equal(d.source.lost.by[LOSS_UNPAIRED].n, row[i].lost);
        arena_free(d.source.mem);
    }
    (void)state;
}

/* The host asks for copies at its own times, in the same letters; those with a * are tasks of the log already. */
static void a_copy_is_what_the_host_asked_for_last(void **state)
{
    enum { MOST = 8 };
    static const struct {
        const char *what, *copies, *hosts;
        int host[3]; /* of each copy; -1: none */
        uint64_t unmatched;
    } row[] = {
        { "one", "a@20", "a@10", { 0 }, 0 },
        { "nobody asked", "a@20", "b@10", { -1 }, 1 },
        { "asked for later", "a@20", "a@30", { -1 }, 1 },
        { "asked for again", "a@20 a@40", "a@10 a@30", { 0, 1 }, 0 },
        { "the first one ran before the collection", "a@40", "a@10 a@30", { 1 }, 1 },
        { "a task of the log", "a@20", "a*@10", { -1 }, 1 },
        { "several", "a@20 b@22 c@24", "a@10 c@12", { 0, -1, 1 }, 0 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        uint16_t stream[MOST] = { 0 }, device[MOST] = { 0 }, batch[MOST] = { 0 };
        uint32_t task[MOST], thread[MOST] = { 0 }, joined[MOST], type[MOST];
        uint64_t time[MOST], at;
        struct profile p = { .host.tasks = { .device = device,
                                             .stream = stream,
                                             .batch = batch,
                                             .task = task,
                                             .type = type,
                                             .time = time,
                                             .thread = thread } };
        struct device d = { .source = { .mem = arena_new(), .path = "test" }, .tasks.host = joined };
        const struct ticks ns = { 1, 1 };
        p.host.source.host_clock.tick = d.source.device_clock.tick = ns;
        char name;
        int used;
        print_message("  %s\n", row[i].what);
        for (const char *s = row[i].hosts; *s; s += used) {
            const uint32_t k = (uint32_t)p.host.tasks.n++;
            assert_int_equal(sscanf(s, " %c%n", &name, &used), 1);
            s += used;
            task[k] = (uint32_t)(name - 'a');
            type[k] = NAME_MEMCPY_ASYNC;
            if (*s == '*') {
                s++;
                joined[d.tasks.n++] = k;
            }
            assert_int_equal(sscanf(s, "@%lu%n", &time[k], &used), 1);
        }
        uint16_t of[3 * MOST] = { 0 }, ids[3 * MOST];
        uint8_t states[3 * MOST];
        uint64_t ticks[3 * MOST];
        size_t n_copies = 0;
        for (const char *s = row[i].copies; sscanf(s, " %c@%lu%n", &name, &at, &used) == 2; s += used, n_copies++)
            for (uint8_t k = 0; k < 3; k++) {
                const size_t row_of = d.log.copy_states.n++;
                ids[row_of] = (uint16_t)(name - 'a');
                states[row_of] = k;
                ticks[row_of] = at + k - 1;
            }
        d.log.copy_states.stream = of;
        d.log.copy_states.task = ids;
        d.log.copy_states.tick = ticks;
        d.log.copy_states.state = states;
        losses_add(&d.source.lost, LOSS_UNMATCHED, p.host.tasks.n - d.tasks.n, "x", 0);
        struct error e = { 0 };
        assert_true(ts_copies_analyse(&p, &d, &e));
        assert_int_equal(d.log.copies.n, n_copies);
        for (size_t k = 0; k < n_copies; k++)
            assert_int_equal((int32_t)d.log.copies.host[k], row[i].host[k]);
        assert_int_equal(d.source.lost.by[LOSS_UNMATCHED].n, row[i].unmatched - (d.tasks.n > 0));
        arena_free(d.source.mem);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_received_begun_and_ended),
        cmocka_unit_test(a_copy_is_what_the_host_asked_for_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
