#include "test.h"

#include "analyse/ts_copies.h"

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
        assert_true(ts_copies_analyse(NULL, &d, &e));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_received_begun_and_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
