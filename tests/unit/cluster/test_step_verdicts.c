/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "cluster/verdicts/verdicts.h"
#include "profile/calls.h"

enum { MOST_STEPS = 16, MOST_RANKS = 4 };

/* What a rank did in its steps, in ms. */
struct made_rank {
    int first_step, n; /* steps first_step … first_step + n - 1 */
    double computing[MOST_STEPS], free[MOST_STEPS];
    size_t kernels[MOST_STEPS]; /* of one name */
};

static void *taken(struct arena *mem, size_t n, size_t size)
{
    void *const list = arena_take(mem, n, size);
    assert_non_null(list);
    return list;
}

static struct rank_summary summary_of(int64_t number, const struct made_rank *r, struct names *names, struct arena *mem)
{
    const size_t n = (size_t)r->n;
    struct rank_summary s = { .identity = { .has_rank = true, .rank = number }, .names = names, .mem = mem };
    s.steps = (struct rank_steps){ n, taken(mem, n, sizeof(int64_t)), taken(mem, n, sizeof(int64_t)),
                                   taken(mem, n, sizeof(int64_t)), NULL };
    s.step_trace = (struct rank_step_trace){ .n = n, .step = taken(mem, n, sizeof(name_id)) };
    for (size_t c = 0; c < STEP_COLUMNS; c++)
        s.step_trace.us[c] = taken(mem, n, sizeof(double));
    s.kernels = (struct summary_runs){ .n = n,
                                       .step = taken(mem, n, sizeof(uint32_t)),
                                       .first = taken(mem, n + 1, sizeof(size_t)) };
    for (size_t i = 0; i < n; i++) {
        s.steps.id[i] = r->first_step + (int64_t)i;
        s.step_trace.step[i] = names_number(names, (uint64_t)s.steps.id[i]);
        s.step_trace.us[STEP_COLUMN_COMPUTING][i] = 1000 * r->computing[i];
        s.step_trace.us[STEP_COLUMN_FREE][i] = 1000 * r->free[i];
        s.kernels.step[i] = (uint32_t)i;
        s.kernels.first[i + 1] = s.kernels.first[i] + r->kernels[i];
    }
    return s;
}

#define ALL(x)                                                                                                         \
    {                                                                                                                  \
        x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x                                                                 \
    }

static void verdicts_say_only_what_is_so(void **state)
{
    static const struct {
        const char *what;
        size_t n;
        struct made_rank rank[MOST_RANKS];
        const char *lines;
    } row[] = {
        { "equal ranks", 2, { { 0, 3, ALL(5), ALL(1), ALL(8) }, { 0, 3, ALL(5), ALL(1), ALL(8) } }, "" },
        { "a slow rank with as many kernels in a step, though it has twice as many steps",
          3,
          { { 0, 3, ALL(5), ALL(1), ALL(8) }, { 0, 3, ALL(5), ALL(1), ALL(8) }, { 0, 6, ALL(8), ALL(1), ALL(8) } },
          "rank 2 has 6 steps, most ranks have 3; only its own steps are compared\n"
          "rank 2 is slow in each step: 9.000 ms without communication, rank 0 6.000 ms; the others wait 3.000 ms a step "
          "for it (16.7 % of the run), most of it computing; with as many kernels\n" },
        { "a rank that runs more kernels in one step",
          3,
          { { 0, 3, ALL(5), ALL(1), ALL(8) },
            { 0, 3, ALL(5), ALL(1), ALL(8) },
            { 0, 3, { 5, 10, 5 }, ALL(1), { 8, 16, 8 } } },
          "step 1 is slow, once: 5.000 ms longer than the usual 6.000 ms (21.7 % of the run), because of rank 2, most of it "
          "computing\n" },
        { "a rank with more kernels in each step",
          2,
          { { 0, 3, ALL(5), ALL(1), ALL(8) }, { 0, 3, ALL(8), ALL(1), ALL(12) } },
          "rank 1 is slow in each step: 9.000 ms without communication, rank 0 6.000 ms; the others wait 3.000 ms a step "
          "for it (33.3 % of the run), most of it computing; with 50 % more kernels\n" },
        { "peers that compute nothing",
          3,
          { { 0, 1, ALL(0), ALL(5), ALL(0) }, { 0, 1, ALL(0), ALL(5), ALL(0) }, { 0, 1, ALL(4), ALL(5), ALL(8) } },
          "rank 2 is slow in step 0: 9.000 ms without communication, rank 0 5.000 ms; the others wait 4.000 ms for it "
          "(44.4 % of the run), most of it computing\n" },
        { "a rank without steps is no peer",
          3,
          { { 0, 3, ALL(5), ALL(1), ALL(8) }, { 0, 0, ALL(0), ALL(0), ALL(0) }, { 0, 3, ALL(8), ALL(1), ALL(8) } },
          "rank 1 has 0 steps, most ranks have 3; only its own steps are compared\n"
          "rank 2 is slow in each step: 9.000 ms without communication, rank 0 6.000 ms; the others wait 3.000 ms a step "
          "for it (33.3 % of the run), most of it computing; with as many kernels\n" },
        { "no number of steps is that of most ranks",
          3,
          { { 0, 2, ALL(5), ALL(1), ALL(8) }, { 0, 3, ALL(5), ALL(1), ALL(8) }, { 0, 4, ALL(5), ALL(1), ALL(8) } },
          "rank 0 has 2 steps, other ranks have other numbers of them; only its own steps are compared\n"
          "rank 1 has 3 steps, other ranks have other numbers of them; only its own steps are compared\n"
          "rank 2 has 4 steps, other ranks have other numbers of them; only its own steps are compared\n" },
        { "as many steps, but other ones",
          3,
          { { 0, 3, ALL(5), ALL(1), ALL(8) }, { 0, 3, ALL(5), ALL(1), ALL(8) }, { 2, 3, ALL(5), ALL(1), ALL(8) } },
          "rank 2: most ranks lack 2 of its 3 steps (2 to 4); only its own steps are compared\n" },
        { "one rank is late from some step on: neither all steps are slow nor the work uneven",
          3,
          { { 0, 16, ALL(9), ALL(1), ALL(8) },
            { 0, 16, ALL(9), ALL(1), ALL(8) },
            { 0, 16, ALL(9), { 1, 1, 1, 1, 1, 1, 1, 1, 20, 20, 20, 20, 20, 20, 20, 20 }, ALL(8) } },
          "since step 8 each step takes 19.000 ms longer than the usual 10.000 ms, 152.000 ms in all (48.7 % of the run), "
          "because of rank 2, most of it time in which the device has nothing to do; its host is late\n" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct arena *const mem = arena_new();
        struct names *const names = names_new();
        struct step_verdicts v = { .names = names, .mem = mem };
        struct groups groups = { .names = names, .mem = mem };
        struct collective_match match = { .names = names, .mem = mem };
        struct job_report report = { .mem = mem };
        char lines[4000] = "";
        print_message("  %s\n", row[i].what);
        for (size_t k = 0; k < row[i].n; k++) {
            const struct rank_summary s = summary_of((int64_t)k, &row[i].rank[k], names, mem);
            assert_true(step_verdicts_add(&v, &s, &(struct cluster_options){ 0 }));
        }
        assert_true(step_verdicts_finish(&v, &groups, &match, &report));
        assert_true(report.has_compared);
        for (size_t k = 0; k < report.verdicts.n; k++) {
            const size_t used = strlen(lines);
            const struct verdict *const verdict = &report.verdicts.at[k];
            snprintf(lines + used, sizeof lines - used, "%s%s%s\n", verdict->text, verdict->about ? "; " : "",
                     verdict->about ? verdict->about : "");
        }
        assert_string_equal(lines, row[i].lines);
        arena_free(mem);
        names_free(names);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(verdicts_say_only_what_is_so) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
