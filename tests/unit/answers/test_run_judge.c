/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "answers/judge/ranks.h"

enum { MOST_STEPS = 12, MOST_RANKS = 4, US = 1000, MS = 1000 * US };

/* Steps of a rank, made of a text such as "3:10.5 4:10.4": name and ms of computing; every step takes `whole_ms`. */
static struct judged_rank rank_made(const char *name, const char *steps, double whole_ms, struct arena *mem)
{
    struct rank_step *step = arena_take(mem, MOST_STEPS, sizeof *step);
    struct judged_rank r = { .name = name, .step = step };
    for (char *at = arena_text(mem, steps, strlen(steps)), *word; (word = strtok_r(at, " ", &at)); r.n++) {
        char *ms = strchr(word, ':');
        *ms++ = '\0';
        const int64_t own_ns = (int64_t)(atof(ms) * MS), whole_ns = whole_ms > 0 ? (int64_t)(whole_ms * MS) : own_ns;
        assert_true(r.n < MOST_STEPS);
        step[r.n] =
            (struct rank_step){ .name = word,
                                .begin_ns = (int64_t)r.n * 1000 * MS,
                                .time_ns = whole_ns,
                                .part_ns = { [JUDGED_COMPUTING] = own_ns, [JUDGED_EXPOSED] = whole_ns - own_ns } };
    }
    return r;
}

static void steps_belong_together_by_name(void **state)
{
    static const struct {
        const char *what, *rank[2], *steps;
    } row[] = {
        { "numbers in their order", { "9:1 10:1 11:1", "10:1 9:1" }, "9 10 11" },
        { "a step that one rank lacks", { "0:1 2:1", "0:1 1:1 2:1" }, "0 1 2" },
        { "other names by begin", { "prefill:1 decode:1", "prefill:1 decode:1" }, "prefill decode" },
        { "a name several times", { "decode:1 decode:1", "decode:1 decode:1 decode:1" }, "decode decode decode" },
        { "numbers first", { "warm:1 1:1", "1:1" }, "1 warm" },
        { "no steps", { "", "" }, "" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct arena *mem = arena_new();
        struct judged_rank rank[] = { rank_made("a", row[i].rank[0], 0, mem), rank_made("b", row[i].rank[1], 0, mem) };
        struct judged_run run;
        char steps[100] = "";
        print_message("  %s\n", row[i].what);
        assert_true(run_judge(&run, rank, 2, "step", false, mem));
        for (size_t k = 0; k < run.n; k++)
            snprintf(steps + strlen(steps), sizeof steps - strlen(steps), "%s%s", k > 0 ? " " : "", run.step[k]);
        assert_string_equal(steps, row[i].steps);
        for (size_t k = 0; k < run.n; k++)
            for (size_t r = 0; r < 2; r++)
                if (run.at[r * run.n + k])
                    assert_string_equal(run.at[r * run.n + k]->name, run.step[k]);
        arena_free(mem);
    }
    (void)state;
}

static void a_finding_is_a_sentence_with_numbers(void **state)
{
    static const struct {
        const char *what, *rank[2];
        double whole_ms;
        const char *text;
    } row[] = {
        { "one step",
          { "0:10 1:10 2:10.1 3:30 4:10.1 5:10" },
          0,
          "step 3 is slow, once: 20.000 ms longer than the usual 10.000 ms (24.9 % of the run), most of it computing" },
        { "steps",
          { "0:10 1:10.1 2:10 3:20 4:20 5:10.1 6:10 7:10 8:10.1 9:10" },
          0,
          "steps 3 to 4 are slow: each 10.000 ms longer than the usual 10.000 ms, 20.000 ms in all (16.6 % of the run), "
          "most of it computing" },
        { "a rank",
          { "0:10 1:10 2:10.1 3:10 4:10.1 5:10", "0:12 1:12.1 2:12 3:12 4:12.1 5:12" },
          20,
          "rank 1 is slow in each step: 12.000 ms without communication, rank 0 10.000 ms; the others wait 2.000 ms a step for it "
          "(10.0 % of the run), most of it computing" },
        { "the start-up",
          { "0:90 1:10 2:10.1 3:10 4:10.1 5:10" },
          0,
          "start-up: step 0 at the begin of the recording takes 79.950 ms longer in all; left out" },
        { "nothing",
          { "0:10 1:10 2:10 3:10" },
          0,
          "no step is slow: what differs is within the noise of the run (0.1 % of a step; one that takes 1.000 ms longer would "
          "be slow)" },
        { "too few", { "0:10 1:30" }, 0, "of fewer than 3 steps none can be called slow" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct arena *mem = arena_new();
        struct judged_rank rank[2];
        struct judged_run run;
        size_t n = 0;
        for (; n < 2 && row[i].rank[n]; n++)
            rank[n] = rank_made(n == 0 ? "rank 0" : "rank 1", row[i].rank[n], row[i].whole_ms, mem);
        print_message("  %s\n", row[i].what);
        assert_true(run_judge(&run, rank, n, "step", false, mem));
        assert_string_equal(run.of.n > 0 ? run_finding_text(&run, &run.of.at[0], mem) : run_nothing_text(&run, mem),
                            row[i].text);
        arena_free(mem);
    }
    (void)state;
}

static void steps_are_slow_for_their_class(void **state)
{
    enum { N = 40, PROMPT = 22 };
    struct arena *mem = arena_new();
    struct rank_step step[N];
    const struct judged_rank rank = { .name = "rank 0", .n = N, .step = step };
    struct judged_run run;
    uint32_t row[N];
    for (int i = 0; i < N; i++) {
        const bool is_prompt = i % 9 == 4, is_slow = i >= 20 && i < 25 && !is_prompt;
        const int64_t ns = (is_prompt ? 40 : is_slow ? 20 : 10) * (int64_t)MS + i * 7 % 5 * 10 * US;
        step[i] = (struct rank_step){ .name = arena_printf(mem, "%d", i),
                                      .begin_ns = (int64_t)i * 1000 * MS,
                                      .time_ns = ns,
                                      .part_ns = { [JUDGED_COMPUTING] = ns },
                                      .iteration = { is_prompt ? ITERATION_PREFILL : ITERATION_DECODE, 4, 4, 0 } };
    }
    assert_true(run_judge(&run, &rank, 1, "step", false, mem));
    assert_int_equal(run.of.n, 1);
    assert_int_equal(run.of.at[0].shape, SLOW_STEPS);
    assert_int_equal(run.of.n_slow, 4);
    assert_false(run.of.is_slow[PROMPT]);
    assert_int_equal(run_finding_rows(&run, 0, &run.of.at[0], row, N), 4);
    assert_non_null(strstr(run_finding_text(&run, &run.of.at[0], mem), "steps 20 to 24 (decode) are slow"));
    arena_free(mem);
    (void)state;
}

static void ranks_of_a_job_are_compared_without_communication(void **state)
{
    /* All take 100 ms: rank 2 computes longer, and the others wait in communication. */
    static const struct {
        int64_t rank;
        bool is_host;
        double computing_ms, free_ms;
    } made[] = { { 0, false, 30, 5 }, { 1, false, 31, 5 }, { 2, false, 90, 5 },
                 { 3, false, 29, 5 }, { 1, false, 30, 5 }, { 9, true, 100, 0 } };
    static const uint32_t wanted[] = { 5, 2, 1, 0, 4, 3 };
    struct arena *mem = arena_new();
    struct rank_row row[ROWS(made)];
    uint32_t order[ROWS(made)];
    struct job_choice job;
    struct run_member of[ROWS(made)];
    for (size_t i = 0; i < ROWS(row); i++) {
        struct rank_step *step = arena_take(mem, MOST_STEPS, sizeof *step);
        const int64_t computing_ns = (int64_t)(made[i].computing_ms * MS), free_ns = (int64_t)(made[i].free_ms * MS);
        for (size_t k = 0; k < MOST_STEPS; k++)
            step[k] = (struct rank_step){ .name = arena_printf(mem, "%zu", k),
                                          .time_ns = 100 * MS,
                                          .part_ns = { computing_ns + (int64_t)((k * 7 + i) % 5) * US,
                                                       100 * MS - computing_ns - free_ns, free_ns } };
        row[i] = (struct rank_row){
            .name = "d",
            .of = { .has_rank = true, .rank = made[i].rank, .is_host = made[i].is_host, .n = MOST_STEPS, .step = step },
            .time_ns = 100 * MS,
            .part_ns = { computing_ns, 0, 100 * MS - computing_ns - free_ns, free_ns }
        };
    }
    assert_true(ranks_compare(&job, row, of, ROWS(row), order, mem));
    assert_memory_equal(order, wanted, sizeof wanted);
    for (size_t i = 0; i < ROWS(row); i++) {
        assert_int_equal(row[i].is_twice, i == 1 || i == 4);
        assert_int_equal(rank_row_finding(&job.job, i) != NULL, i == 2); /* the host alone has no peer */
    }
    assert_int_equal(rank_row_finding(&job.job, 2)->part, JUDGED_COMPUTING);
    assert_true(rank_row_finding(&job.job, 2)->excess_ns > 59 * MS &&
                rank_row_finding(&job.job, 2)->excess_ns < 61 * MS);
    arena_free(mem);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_belong_together_by_name),
        cmocka_unit_test(a_finding_is_a_sentence_with_numbers),
        cmocka_unit_test(steps_are_slow_for_their_class),
        cmocka_unit_test(ranks_of_a_job_are_compared_without_communication),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
