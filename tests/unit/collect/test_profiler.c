/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ascope/record.h"
#include "ascope/schedule.h"
#include "base/files/file_tree.h"
#include "collect/session/recorder_session.h"
#include "reported.h"

static char dir[] = "/tmp/ascope-profiler-XXXXXX";
static unsigned n_ready;
static char ready_path[4096];

static void count_ready(const char *path, void *user)
{
    (void)user;
    n_ready++;
    snprintf(ready_path, sizeof ready_path, "%s", path);
}

static int make_dir(void **state)
{
    (void)state;
    ascope_on_message(count_warning, NULL);
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    tree_remove_path(dir);
    return 0;
}

static unsigned collections(bool and_removes)
{
    DIR *d = opendir(dir);
    unsigned n = 0;
    for (const struct dirent *at; d && (at = readdir(d));) {
        char path[4096];
        if (*at->d_name == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, at->d_name);
        if (and_removes)
            tree_remove_path(path);
        n++;
    }
    closedir(d);
    return n;
}

static bool has(const char *path, const char *name)
{
    char whole[8192];
    snprintf(whole, sizeof whole, "%s/%s", path, name);
    return access(whole, F_OK) == 0;
}

static struct ascope_options host_only(void)
{
    struct ascope_options o;
    ascope_options_init(&o);
    o.parent_dir = dir;
    o.worker_name = "worker";
    o.activities = ASCOPE_CPU;
    o.device = "none";
    o.ring_kb = 64;
    return o;
}

/* A schedule of two steps, and nothing behind them. */
static enum ascope_action script[2];
static enum ascope_action scripted(uint64_t step, void *user)
{
    (void)user;
    return step < 2 ? script[step] : ASCOPE_NONE;
}

enum { N = ASCOPE_NONE, W = ASCOPE_WARMUP, R = ASCOPE_RECORD, S = ASCOPE_RECORD_AND_SAVE, STOP };

/* I W S T F R D ! of the documents' table, by what they leave behind. */
static void every_pair_of_actions(void **state)
{
    static const struct {
        const char *what;
        int from, to;
        unsigned warnings, readies, collections; /* what the move adds, but for the collection that `from` opened */
        bool is_open, records;
    } row[] = {
        { "nothing, nothing", N, N, 0, 0, 0, false, false },
        { "nothing, warm-up: a directory, warm", N, W, 0, 0, 1, true, true },
        { "nothing, record", N, R, 0, 0, 1, true, true },
        { "nothing, save", N, S, 0, 0, 1, true, true },
        { "nothing, stop: why there is nothing", N, STOP, 1, 0, 0, false, false },

        { "warm-up, nothing: reported; an empty collection is left", W, N, 1, 0, 1, false, false },
        { "warm-up, warm-up", W, W, 0, 0, 1, true, true },
        { "warm-up, record", W, R, 0, 0, 1, true, true },
        { "warm-up, save", W, S, 0, 0, 1, true, true },
        { "warm-up, stop: reported; the directory is gone", W, STOP, 1, 0, 0, false, false },

        { "record, nothing: reported; nobody is called", R, N, 1, 0, 1, false, false },
        { "record, warm-up: reported; nothing is opened again", R, W, 1, 0, 1, false, false },
        { "record, record", R, R, 0, 0, 1, true, true },
        { "record, save", R, S, 0, 0, 1, true, true },
        { "record, stop: reported; called all the same", R, STOP, 1, 1, 1, false, false },

        { "save, nothing", S, N, 0, 1, 1, false, false },
        { "save, warm-up: the next cycle", S, W, 0, 1, 2, true, true },
        { "save, record: the next cycle", S, R, 0, 1, 2, true, true },
        { "save, save: each step a cycle", S, S, 0, 1, 2, true, true },
        { "save, stop: reported, called", S, STOP, 1, 1, 1, false, false },
    };
    const struct ascope_options o = host_only();
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        print_message("  %s\n", row[i].what);
        script[0] = (enum ascope_action)row[i].from;
        script[1] = (enum ascope_action)(row[i].to == STOP ? N : row[i].to);
        struct ascope_profiler *p = ascope_profiler_new_with(&o, scripted, count_ready, NULL);
        ascope_profiler_start(p);
        assert_int_equal(ascope_profiler_session(p) != NULL, row[i].from != N);
        n_warnings = n_ready = 0;
        if (row[i].to == STOP)
            ascope_profiler_stop(p);
        else
            ascope_profiler_step(p);
        assert_int_equal(n_warnings, row[i].warnings);
        assert_int_equal(n_ready, row[i].readies);
        assert_int_equal(ascope_profiler_session(p) != NULL, row[i].is_open);
        assert_int_equal(ascope_recording != 0, row[i].records);
        if (n_ready) {
            assert_true(has(ready_path, "profiler_info.json") && has(ready_path, "ascope.json"));
            assert_true(has(ready_path, "FRAMEWORK") && has(ready_path, "profiler_metadata.json"));
            assert_false(has(ready_path, "ascope.rings"));
        }
        /* Counted before the profiler goes: some of its ways out delete. */
        assert_int_equal(collections(false), row[i].collections);
        ascope_profiler_free(p);
        assert_null(session_options());
        assert_int_equal(ascope_recording, 0);
        collections(true);
    }
    (void)state;
}

static void plans_make_collections(void **state)
{
    static const struct {
        const char *what;
        struct ascope_schedule plan;
        unsigned steps, collections, readies, warnings; /* one warning for no warm-up */
    } row[] = {
        { "two cycles", { .wait = 1, .warmup = 1, .active = 2, .repeat = 2 }, 12, 2, 2, 0 },
        { "repeat 0 goes on as long as the steps", { .wait = 1, .warmup = 1, .active = 1 }, 9, 3, 3, 0 },
        { "after the first ones", { .warmup = 1, .active = 1, .repeat = 1, .skip_first = 4 }, 7, 1, 1, 0 },
        { "too few steps: nothing, and why", { .wait = 5, .warmup = 1, .active = 1 }, 3, 0, 0, 1 },
        { "no step at all: nothing, and why", { .wait = 5, .warmup = 1, .active = 1 }, 0, 0, 0, 1 },
        { "the second cycle ends in its warm-up", { .warmup = 2, .active = 1 }, 4, 1, 1, 1 },
        { "the second cycle ends while it waits", { .wait = 1, .warmup = 1, .active = 1 }, 3, 1, 1, 0 },
        { "too few steps: stopped in the warm-up", { .wait = 2, .warmup = 2, .active = 1 }, 3, 0, 0, 1 },
        { "too few steps: stopped in the middle", { .wait = 1, .warmup = 1, .active = 5 }, 4, 1, 1, 1 },
        { "stopped in the last step", { .wait = 1, .warmup = 1, .active = 2 }, 3, 1, 1, 1 },
        { "each step its own, stopped in the last", { .active = 1 }, 2, 3, 3, 2 },
        { "all steps: to be stopped is how it ends", { .active = ASCOPE_EVERY_STEP, .repeat = 1 }, 4, 1, 1, 0 },
        { "all steps after two", { .wait = 2, .active = ASCOPE_EVERY_STEP }, 4, 1, 1, 0 },
        { "all steps after a warm-up that does not end", { .warmup = 9, .active = ASCOPE_EVERY_STEP }, 4, 0, 0, 1 },
    };
    const struct ascope_options o = host_only();
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        print_message("  %s\n", row[i].what);
        n_warnings = n_ready = 0;
        struct ascope_schedule plan = row[i].plan;
        plan.size = sizeof plan;
        struct ascope_profiler *p = ascope_profiler_new(&o, &plan, count_ready, NULL);
        ascope_profiler_start(p);
        for (unsigned k = 0; k < row[i].steps; k++)
            ascope_profiler_step(p);
        ascope_profiler_stop(p);
        assert_int_equal(n_warnings, row[i].warnings);
        assert_int_equal(n_ready, row[i].readies);
        assert_int_equal(collections(true), row[i].collections);
        ascope_profiler_free(p);
    }
    (void)state;
}

static void options_are_reported_of_once(void **state)
{
    const struct ascope_schedule plan = { .size = sizeof plan, .warmup = 1, .active = 1 };
    struct ascope_options o = host_only();
    o.rank = -2; /* invalid */
    n_warnings = 0;
    struct ascope_profiler *p = ascope_profiler_new(&o, &plan, NULL, NULL);
    ascope_profiler_start(p);
    for (unsigned k = 0; k < 4; k++)
        ascope_profiler_step(p);
    const unsigned n = n_warnings;
    assert_true(n > 0);
    for (unsigned k = 0; k < 8; k++)
        ascope_profiler_step(p);
    assert_int_equal(n_warnings, n);
    assert_int_equal(n, 1);
    ascope_profiler_stop(p);
    ascope_profiler_free(p);
    assert_int_equal(collections(true), 6);
    (void)state;
}

static void calls_out_of_order(void **state)
{
    const struct ascope_options o = host_only();
    const struct ascope_schedule plan = { .size = sizeof plan, .warmup = 1, .active = 2, .repeat = 1 };
    print_message("  started twice: reported, and the first goes on\n");
    struct ascope_profiler *p = ascope_profiler_new(&o, &plan, count_ready, NULL);
    n_warnings = n_ready = 0;
    ascope_profiler_start(p);
    ascope_profiler_start(p);
    assert_int_equal(n_warnings, 1);
    assert_int_equal(collections(false), 1);
    print_message("  stopped in the middle, stepped then: reported\n");
    ascope_profiler_step(p);
    ascope_profiler_stop(p);
    assert_int_equal(n_warnings, 2);
    ascope_profiler_step(p);
    assert_int_equal(n_warnings, 3);
    assert_int_equal(n_ready, 1);
    print_message("  stopped twice: nothing happens\n");
    ascope_profiler_stop(p);
    assert_int_equal(n_warnings, 3);
    assert_int_equal(n_ready, 1);
    print_message("  started again: goes on where the schedule is\n");
    ascope_profiler_start(p);
    assert_int_equal(ascope_profiler_action(p), ASCOPE_RECORD);
    assert_non_null(ascope_profiler_session(p));
    ascope_profiler_step(p);
    ascope_profiler_step(p);
    assert_null(ascope_profiler_session(p));
    assert_int_equal(n_ready, 2);
    ascope_profiler_free(p);
    assert_int_equal(collections(true), 2);

    print_message("  steps without a start: the schedule goes on\n");
    p = ascope_profiler_new(
        &o, &(struct ascope_schedule){ .size = sizeof(struct ascope_schedule), .wait = 1, .warmup = 1, .active = 1 },
        count_ready, NULL);
    n_warnings = n_ready = 0;
    ascope_profiler_step(p);
    ascope_profiler_step(p);
    assert_non_null(ascope_profiler_session(p));
    ascope_profiler_step(p);
    assert_int_equal(n_ready, 1);
    assert_int_equal(n_warnings, 0);
    ascope_profiler_free(p);
    assert_int_equal(collections(true), 1);

    print_message("  without a schedule: all of it, in one\n");
    n_warnings = n_ready = 0;
    p = ascope_profiler_new(&o, NULL, count_ready, NULL);
    ascope_profiler_start(p);
    for (int i = 0; i < 5; i++)
        ascope_profiler_step(p);
    ascope_profiler_free(p); /* stops it */
    assert_int_equal(n_warnings, 0);
    assert_int_equal(n_ready, 1);
    assert_int_equal(collections(true), 1);
    ascope_profiler_free(NULL);
    (void)state;
}

static void a_place_that_cannot_be_stops_nothing(void **state)
{
    struct ascope_options o = host_only();
    o.parent_dir = "/dev/null/there";
    const struct ascope_schedule plan = { .size = sizeof plan, .warmup = 1, .active = 1, .repeat = 1 };
    n_warnings = n_errors = n_ready = 0;
    struct ascope_profiler *p = ascope_profiler_new(&o, &plan, count_ready, NULL);
    ascope_profiler_start(p);
    for (int i = 0; i < 4; i++)
        ascope_profiler_step(p);
    ascope_profiler_free(p);
    assert_int_equal(n_errors, 1);
    assert_int_equal(n_warnings, 0);
    assert_int_equal(n_ready, 0);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_actions),
        cmocka_unit_test(plans_make_collections),
        cmocka_unit_test(options_are_reported_of_once),
        cmocka_unit_test(calls_out_of_order),
        cmocka_unit_test(a_place_that_cannot_be_stops_nothing),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
