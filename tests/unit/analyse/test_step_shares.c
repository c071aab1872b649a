/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/framework/steps/step_shares.h"

enum { MOST = 16, TEXT_MOST = 512 };

/* "5:10-20 6:20-30": steps by number, with what they did on the device; "(7:…)" did nothing. */
static struct profiler_steps steps_of(const char *text, struct names *names, struct arena *mem)
{
    struct profiler_steps s = {
        .id = arena_take(mem, MOST, sizeof *s.id),
        .host_begin_ns = arena_take(mem, MOST, sizeof *s.host_begin_ns),
        .begin_ns = arena_take(mem, MOST, sizeof *s.begin_ns),
        .end_ns = arena_take(mem, MOST, sizeof *s.end_ns),
        .has_work = arena_take(mem, MOST, sizeof *s.has_work),
    };
    char copy[TEXT_MOST], *rest = copy;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *token; (token = strsep(&rest, " "));) {
        char id[16];
        long begin, end;
        s.has_work[s.n] = *token != '(';
        if (sscanf(token + (*token == '('), "%15[^:]:%ld-%ld", id, &begin, &end) != 3)
            continue;
        s.id[s.n] = names_addz(names, id);
        s.begin_ns[s.n] = begin;
        s.host_begin_ns[s.n] = begin - 3;
        s.end_ns[s.n++] = end;
    }
    return s;
}

static struct intervals intervals_of(const char *text, struct arena *mem)
{
    struct intervals v = { .begin_ns = arena_take(mem, MOST, sizeof *v.begin_ns),
                           .end_ns = arena_take(mem, MOST, sizeof *v.end_ns) };
    char copy[TEXT_MOST], *rest = copy;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *token; (token = strsep(&rest, " "));) {
        long begin, end;
        if (sscanf(token, "%ld-%ld", &begin, &end) != 2)
            continue;
        v.begin_ns[v.n] = begin;
        v.end_ns[v.n++] = end;
    }
    return v;
}

static void a_moment_belongs_to_the_first_step_around_it(void **state)
{
    /* clang-format off */
    static const struct { const char *what, *steps, *found; } row[] = { /* found: the steps at 0, 10, 20 … */
        { "no steps", "", "--------" },
        { "a begin belongs to a step, an end does not", "a:10-30", "-aa-----" },
        { "side by side", "a:10-30 b:30-50", "-aabb---" },
        { "with a gap", "a:10-30 b:40-60", "-aa-bb--" },
        { "the first counts where they overlap", "a:10-40 b:20-60", "-aaabb--" },
        { "even when it begins later", "b:20-40 a:10-60", "-abbaa--" },
        { "one inside another", "a:10-70 b:20-40", "-aaaaaa-" },
        { "a third fills what is left", "b:20-30 c:50-60 a:0-80", "aabaacaa" },
        { "one without work has nothing", "a:10-20 (b:20-30) c:30-40", "-a-c----" },
        { "one without time has nothing", "a:20-20 b:10-30", "-bb-----" },
        { "one that ends before it begins has nothing", "a:30-10 b:10-30", "-bb-----" },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        struct arena *mem = arena_new();
        struct names *names = names_new();
        const struct profiler_steps s = steps_of(row[i].steps, names, mem);
        struct step_index x;
        char found[9] = "";
        print_message("  %s\n", row[i].what);
        assert_true(step_index_build(&x, &s, mem));
        for (int k = 0; k < 8; k++) {
            const uint32_t step = step_index_at(&x, k * 10);
            found[k] = step == NO_ROW ? '-' : *names_text(names, s.id[step]);
        }
        assert_string_equal(found, row[i].found);
        names_free(names);
        arena_free(mem);
    }
    (void)state;
}

static void time_goes_to_the_step_in_which_it_began(void **state)
{
    /* clang-format off */
    static const struct {
        const char *what, *steps, *computing, *communication, *exposed, *free, *receives;
        const char *shares; /* step: computing communication exposed free receive, from begin to end, preparing; "." is
                               nothing */
    } row[] = {
        { "nothing", "", "", "", "", "", "", "" },
        { "no steps: all of it, from the first operator on", "", "10-20 30-35", "15-32", "20-30", "35-50", "",
          "all 15 17 10 15 . 10-50 prepared 9" },
        { "steps", "0:10-50 1:50-90", "10-20 60-65", "15-32", "20-30", "35-60 65-90", "",
          "0 10 17 10 25 . 10-60 prepared 3; 1 5 . . 25 . 60-90 prepared 13" },
        { "what began outside of steps is left out", "0:10-20", "5-8 12-14 20-25", "", "", "", "",
          "0 2 . . . . 12-14 prepared 5" },
        { "a step in which nothing began has no row", "0:10-20 1:20-30", "22-24", "", "", "", "",
          "1 2 . . . . 22-24 prepared 5" },
        { "receiving is a bubble", "0:10-50", "10-20", "20-40", "20-40", "", "20-30 31-40",
          "0 10 20 20 . 19 10-40 prepared 3" },
        { "waiting alone is prepared by nothing", "0:10-50", "", "", "", "12-40", "", "0 . . . 28 . 12-40 prepared 0" },
        { "by number, not by text", "10:10-20 9:20-30 x:30-40", "12-13 22-23 32-33", "", "", "", "",
          "9 1 . . . . 22-23 prepared 5; 10 1 . . . . 12-13 prepared 5; x 1 . . . . 32-33 prepared 5" },
        { "steps of one number have a row each", "1:10-20 1:20-30", "12-13 22-24", "", "", "", "",
          "1 1 . . . . 12-13 prepared 5; 1 2 . . . . 22-24 prepared 5" },
        { "time without duration is still something", "0:10-20", "12-12", "", "", "", "", "0 0 . . . . 12-12 prepared 5" },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        struct arena *mem = arena_new();
        struct names *names = names_new();
        const struct profiler_steps s = steps_of(row[i].steps, names, mem);
        const struct overlap overlap = { .kind = {
                                             [OVERLAP_COMPUTING] = intervals_of(row[i].computing, mem),
                                             [OVERLAP_COMMUNICATION] = intervals_of(row[i].communication, mem),
                                             [OVERLAP_EXPOSED] = intervals_of(row[i].exposed, mem),
                                             [OVERLAP_FREE] = intervals_of(row[i].free, mem),
                                         } };
        const struct intervals receives = intervals_of(row[i].receives, mem);
        const struct step_work w = { &overlap, receives.n, receives.begin_ns, receives.end_ns };
        const struct framework_ops ops = { .n = 2, .begin_ns = (int64_t[]){ 5, 1 } };
        struct step_index x;
        struct step_share *share;
        size_t n;
        char text[TEXT_MOST] = "";
        print_message("  %s\n", row[i].what);
        assert_true(step_index_build(&x, &s, mem));
        assert_true(step_shares_build(&s, &x, &w, names, mem, &share, &n));
        for (size_t k = 0; k < n; k++) {
            static const int order[] = { OVERLAP_COMPUTING, OVERLAP_COMMUNICATION, OVERLAP_EXPOSED, OVERLAP_FREE };
            const struct step_share *t = &share[k];
            size_t at = strlen(text);
            at += (size_t)snprintf(text + at, TEXT_MOST - at, "%s%s", k ? "; " : "",
                                   t->step == NO_ROW ? "all" : names_text(names, s.id[t->step]));
            for (size_t c = 0; c < ROWS(order); c++)
                at += (size_t)(t->has[order[c]] ? snprintf(text + at, TEXT_MOST - at, " %ld", (long)t->sum_ns[order[c]])
                                                : snprintf(text + at, TEXT_MOST - at, " ."));
            at += (size_t)(t->has_receive ? snprintf(text + at, TEXT_MOST - at, " %ld", (long)t->receive_ns)
                                          : snprintf(text + at, TEXT_MOST - at, " ."));
            snprintf(text + at, TEXT_MOST - at, " %ld-%ld prepared %ld", (long)t->begin_ns, (long)t->end_ns,
                     (long)step_preparing_ns(t, &s, &ops));
        }
        assert_string_equal(text, row[i].shares);
        names_free(names);
        arena_free(mem);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_moment_belongs_to_the_first_step_around_it),
        cmocka_unit_test(time_goes_to_the_step_in_which_it_began),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
