/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/device/device_analysis.h"
#include "raw/device_records.h"

static const struct {
    const char *word;
    uint16_t tag;
} word[] = {
    { "begin", STEP_TAG_MODEL_BEGIN },
    { "end", STEP_TAG_MODEL_END },
    { "fp", STEP_TAG_FP },
    { "bp", STEP_TAG_BP },
    { "iter", STEP_TAG_ITERATION_END },
    { "mark", STEP_TAG_MARK },
    { "odd", 7 },
    { "reduce", STEP_TAG_REDUCE },
    { "reduced", STEP_TAG_REDUCE + 1 },
    { "reduce2", STEP_TAG_REDUCE + 2 },
    { "reduced2", STEP_TAG_REDUCE + 3 },
    { "next", STEP_TAG_GET_NEXT },
    { "got", STEP_TAG_GET_NEXT + 1 },
    { "step", STEP_TAG_STEP_BEGIN },
    { "stepped", STEP_TAG_STEP_END },
};

enum { TEXT_MOST = 512 };

static struct device device_new(size_t n)
{
    struct device d = { .source = { .path = "sample", .mem = arena_new() } };
    d.log.stamps.tick = arena_take(d.source.mem, n, sizeof *d.log.stamps.tick);
    d.log.stamps.index = arena_take(d.source.mem, n, sizeof *d.log.stamps.index);
    d.log.stamps.model = arena_take(d.source.mem, n, sizeof *d.log.stamps.model);
    d.log.stamps.stream = arena_take(d.source.mem, n, sizeof *d.log.stamps.stream);
    d.log.stamps.task = arena_take(d.source.mem, n, sizeof *d.log.stamps.task);
    d.log.stamps.tag = arena_take(d.source.mem, n, sizeof *d.log.stamps.tag);
    return d;
}

static void device_stamp(struct device *d, uint64_t model, uint16_t tag, uint64_t tick)
{
    const size_t i = d->log.stamps.n++;
    d->log.stamps.model[i] = model;
    d->log.stamps.tag[i] = tag;
    d->log.stamps.tick[i] = tick;
}

/* "1.begin@10 1.reduce@12/3 9.step@5#2": model 1 begins at tick 10, on stream 3 …, step of index 2. */
static struct device device_of(const char *text)
{
    struct device d = device_new(TEXT_MOST);
    char copy[TEXT_MOST], *rest = copy;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *token; (token = strsep(&rest, " "));) {
        unsigned model, tick;
        char name[16];
        if (sscanf(token, "%u.%15[a-z0-9]@%u", &model, name, &tick) != 3)
            continue;
        const char *stream = strchr(token, '/'), *index = strchr(token, '#');
        for (size_t k = 0; k < ROWS(word); k++)
            if (strcmp(word[k].word, name) == 0)
                device_stamp(&d, model, word[k].tag, tick);
        d.log.stamps.stream[d.log.stamps.n - 1] = (uint16_t)(stream ? atoi(stream + 1) : 0);
        d.log.stamps.index[d.log.stamps.n - 1] = (uint64_t)(index ? atoi(index + 1) : 0);
    }
    return d;
}

static void add_text(char *text, const char *fmt, uint64_t a, uint64_t b, uint64_t c)
{
    const size_t at = strlen(text);
    snprintf(text + at, TEXT_MOST - at, fmt, (unsigned long long)a, (unsigned long long)b, (unsigned long long)c);
}

static void stamps_become_iterations(void **state)
{
    /* clang-format off */
    static const struct {
        const char *what;
        const char *stamps;
        const char *iterations; /* model.index begin-end */
    } row[] = {
        { "nothing", "", "" },
        { "a run is an iteration", "1.begin@10 1.end@20", "1.1 10-20" },
        { "an iteration ends before its run", "1.begin@10 1.iter@18 1.end@20", "1.1 10-18" },
        { "the next iteration begins where the last one ended",
          "1.begin@10 1.iter@20 1.iter@30 1.end@31", "1.1 10-20 1.2 20-30" },
        { "a new run begins the next iteration",
          "1.begin@10 1.iter@20 1.end@21 1.begin@25 1.iter@30 1.end@31",
          "1.1 10-20 1.2 25-30" },
        { "runs without iterations follow each other",
          "1.begin@10 1.end@20 1.begin@30 1.end@40", "1.1 10-20 1.2 30-40" },
        { "an end without a begin is nothing", "1.end@10 1.iter@20 1.end@30", "" },
        { "a begin without an end is nothing", "1.begin@10 1.fp@20", "" },
        { "the last one that did not end is left out",
          "1.begin@10 1.iter@20 1.end@21 1.begin@30 1.fp@31", "1.1 10-20" },
        { "an iteration without duration is one", "1.begin@10 1.end@10", "1.1 10-10" },
        { "models are counted apart, in order of their ids",
          "2.begin@10 1.begin@11 2.end@20 1.end@21", "1.1 11-21 2.1 10-20" },
        { "stamps in any order", "1.end@40 1.begin@30 1.end@20 1.begin@10",
          "1.1 10-20 1.2 30-40" },
        { "a second begin inside a run changes nothing",
          "1.begin@10 1.begin@12 1.iter@20 1.end@30", "1.1 10-20" },
        { "marks and unknown tags are no iterations", "1.begin@10 1.mark@12 1.odd@13 1.end@20",
          "1.1 10-20" },
        { "steps of a framework come after the models",
          "9.step@5#3 1.begin@10 1.end@20 9.stepped@25#3", "1.1 10-20 9.3 5-25" },
        { "steps by their index", "9.step@5#2 9.stepped@6#2 9.step@7#1 9.stepped@8#1",
          "9.1 7-8 9.2 5-6" },
        { "a step with one end, or three, is ignored",
          "9.step@5#1 9.step@6#2 9.stepped@7#2 9.stepped@8#2", "" },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct device d = device_of(row[i].stamps);
        struct error e = { 0 };
        char text[TEXT_MOST] = "";
        assert_true(steps_analyse(NULL, &d, &e));
        const struct iterations *t = &d.steps.iterations;
        for (size_t k = 0; k < t->n; k++) {
            add_text(text, k ? " %llu.%llu" : "%llu.%llu", t->model[k], t->index[k], 0);
            add_text(text, " %llu-%llu", t->begin[k], t->end[k], 0);
            assert_int_equal(t->is_step[k], t->model[k] == 9);
        }
        assert_string_equal(text, row[i].iterations);
        arena_free(d.source.mem);
    }
    (void)state;
}

static void passes_belong_to_the_iteration_that_waits_for_them(void **state)
{
    /* clang-format off */
    static const struct {
        const char *what;
        const char *stamps;
        const char *passes; /* of each iteration: fp-bp */
        uint64_t n_unmatched, n_unpaired;
    } row[] = {
        { "one forward and backward pass", "1.begin@10 1.fp@12 1.bp@15 1.iter@20 1.end@21", "12-15", 0, 0 },
        { "none", "1.begin@10 1.end@20", "0-0", 0, 0 },
        { "a backward pass alone", "1.begin@10 1.bp@15 1.end@20", "0-15", 0, 0 },
        { "a pass before any run is nothing", "1.fp@5 1.begin@10 1.end@20", "0-0", 1, 0 },
        { "a pass after a run is nothing", "1.begin@10 1.end@20 1.fp@25 1.begin@30 1.end@40", "0-0 0-0", 1, 0 },
        { "of two passes the last one counts, unless they are two iterations",
          "1.begin@10 1.fp@12 1.fp@13 1.bp@15 1.end@20", "13-15", 0, 0 },
        { "two runs in a pipeline: the first gets the first pass",
          "1.begin@10 1.begin@11 1.fp@12 1.fp@13 1.bp@15 1.bp@16 1.iter@20 1.end@21 1.iter@22 1.end@23", "12-15 13-16", 0, 0 },
        { "what a run got before it began is forgotten",
          "1.begin@10 1.iter@20 1.fp@21 1.end@22 1.begin@30 1.iter@40 1.end@41", "0-0 0-0", 0, 0 },
        { "a run that does not end is counted", "1.begin@10 1.fp@12", "", 0, 1 },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct device d = device_of(row[i].stamps);
        struct error e = { 0 };
        char text[TEXT_MOST] = "";
        assert_true(steps_analyse(NULL, &d, &e));
        const struct iterations *t = &d.steps.iterations;
        for (size_t k = 0; k < t->n; k++)
            add_text(text, k ? " %llu-%llu" : "%llu-%llu", t->fp[k], t->bp[k], 0);
        assert_string_equal(text, row[i].passes);
        assert_int_equal(d.source.lost.by[LOSS_UNMATCHED].n, row[i].n_unmatched);
        assert_int_equal(d.source.lost.by[LOSS_UNPAIRED].n, row[i].n_unpaired);
        arena_free(d.source.mem);
    }
    (void)state;
}

static void spans_pair_by_stream_and_number(void **state)
{
    /* clang-format off */
    static const struct {
        const char *what;
        const char *stamps;
        const char *reduces, *get_nexts; /* iteration begin-end */
        uint64_t n_unpaired, n_unmatched;
    } row[] = {
        { "one of each", "1.begin@10 1.next@11 1.got@12 1.reduce@13 1.reduced@14 1.end@20",
          "1 13-14", "1 11-12", 0, 0 },
        { "two streams at once, the one that began first before the other", "1.begin@10 1.reduce@11/7 1.reduce@12/3 1.reduced@13/7 1.reduced@14/3 1.end@20",
          "1 11-13 1 12-14", "", 0, 0 },
        { "two numbers at once on one stream", "1.begin@10 1.reduce@11 1.reduce2@12 1.reduced@13 1.reduced2@14 1.end@20",
          "1 11-13 1 12-14", "", 0, 0 },
        { "a begin without an end is counted", "1.begin@10 1.reduce@11 1.end@20", "", "", 1, 0 },
        { "an end without a begin is counted", "1.begin@10 1.got@11 1.end@20", "", "", 0, 1 },
        { "an iteration that is left out takes its spans along",
          "1.begin@10 1.reduce@11 1.reduced@12 2.begin@13 2.reduced@14 2.end@15", "", "", 1, 1 },
        { "a begin in one iteration does not end in the next",
          "1.begin@10 1.reduce@11 1.iter@12 1.reduced@13 1.fp@14 1.iter@15 1.end@16", "", "", 1, 1 },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct device d = device_of(row[i].stamps);
        struct error e = { 0 };
        assert_true(steps_analyse(NULL, &d, &e));
        const struct spans *spans[] = { &d.steps.reduces, &d.steps.get_nexts };
        const char *expected[] = { row[i].reduces, row[i].get_nexts };
        for (size_t s = 0; s < 2; s++) {
            char text[TEXT_MOST] = "";
            for (size_t k = 0; k < spans[s]->n; k++)
                add_text(text, k ? " %llu %llu-%llu" : "%llu %llu-%llu", spans[s]->iteration[k] + 1u,
                         spans[s]->begin[k], spans[s]->end[k]);
            assert_string_equal(text, expected[s]);
        }
        assert_int_equal(d.source.lost.by[LOSS_UNPAIRED].n, row[i].n_unpaired);
        assert_int_equal(d.source.lost.by[LOSS_UNMATCHED].n, row[i].n_unmatched);
        arena_free(d.source.mem);
    }
    (void)state;
}

/* Runs that never end pile up in the queue; a million of them must not take forever, and none is lost. */
static void many_open_runs_take_linear_time(void **state)
{
    enum { RUNS = 250000 };
    static const uint16_t tag[] = { STEP_TAG_MODEL_BEGIN, STEP_TAG_FP, STEP_TAG_BP, STEP_TAG_ITERATION_END };
    struct device d = device_new(RUNS * 4);
    for (size_t i = 0; i < RUNS * 4; i++)
        device_stamp(&d, 1, tag[i % 4], i + 1);
    struct error e = { 0 };
    assert_true(steps_analyse(NULL, &d, &e));
    assert_int_equal(d.steps.iterations.n, RUNS);
    assert_int_equal(d.steps.iterations.bp[RUNS - 1], RUNS * 4 - 1);
    arena_free(d.source.mem);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stamps_become_iterations),
        cmocka_unit_test(passes_belong_to_the_iteration_that_waits_for_them),
        cmocka_unit_test(spans_pair_by_stream_and_number),
        cmocka_unit_test(many_open_runs_take_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
