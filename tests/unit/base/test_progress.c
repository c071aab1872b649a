/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/process/progress.h"
#include "pipeline/stages.h"

/* However long that takes here. */
static void wait_until_drawn(struct progress *p)
{
    for (bool is_drawn = false; !is_drawn; usleep(50000)) {
        pthread_mutex_lock(&p->lock);
        is_drawn = p->is_drawn;
        pthread_mutex_unlock(&p->lock);
    }
}

/* Everything that a job makes the bar print to a terminal: one that is long enough for it, or of some milliseconds. */
static const char *shown(bool is_long, unsigned ms, bool wanted)
{
    static char text[8192];
    const int ours = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(ours >= 0 && grantpt(ours) == 0 && unlockpt(ours) == 0);
    const int fd = open(ptsname(ours), O_RDWR | O_NOCTTY); /* a test runner may have made us a session of our own */
    FILE *theirs = fd < 0 ? NULL : fdopen(fd, "r+");
    assert_non_null(theirs);
    struct progress p;
    progress_begin(&p, theirs, wanted);
    progress_stage(&p, "reading", 0.25, 0.5, 0);
    progress_stage(&p, "writing", 7, 8, 0); /* more than all of it is all of it */
    if (is_long)
        wait_until_drawn(&p);
    usleep(ms * 1000);
    progress_end(&p);
    fclose(theirs);
    size_t n = 0;
    for (ssize_t got; n < sizeof text - 1 && (got = read(ours, text + n, sizeof text - 1 - n)) > 0;)
        n += (size_t)got;
    text[n] = 0;
    close(ours);
    return text;
}

static void a_long_job_has_a_bar_that_is_wiped_at_the_end(void **state)
{
    const char *text = shown(true, 0, true);
    assert_non_null(strstr(text, "writing   [========================] 100 %"));
    const char *wipe = "\r\033[K";
    assert_string_equal(text + strlen(text) - strlen(wipe), wipe);
    (void)state;
}

static void without_an_end_that_is_known_only_the_seconds_are_shown(void **state)
{
    const int ours = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(ours >= 0 && grantpt(ours) == 0 && unlockpt(ours) == 0);
    FILE *theirs = fdopen(open(ptsname(ours), O_RDWR | O_NOCTTY), "r+");
    assert_non_null(theirs);
    struct progress p;
    char text[8192];
    progress_clear(); /* there is none */
    progress_begin(&p, theirs, true);
    progress_stage(&p, "recovering", 0, 0, 0);
    wait_until_drawn(&p);
    progress_hold();
    fputs("a line,", theirs);
    fflush(theirs);
    usleep(300000); /* three times what is between two pictures */
    fputs(" whole\n", theirs);
    fflush(theirs);
    progress_release();
    progress_end(&p);
    fclose(theirs);
    size_t n = 0;
    for (ssize_t got; n < sizeof text - 1 && (got = read(ours, text + n, sizeof text - 1 - n)) > 0;)
        n += (size_t)got;
    text[n] = 0;
    close(ours);
    assert_ptr_equal(strstr(text, "\r\033[Krecovering    1 s"), text);
    assert_non_null(strstr(text, "\r\033[Ka line, whole"));
    assert_null(strchr(text, '%'));
    (void)state;
}

static void a_short_job_has_none(void **state)
{
    const char *text;
    double began_s, took_s;
    do { /* on a busy machine a short job may take long, and has a bar */
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        began_s = (double)t.tv_sec + (double)t.tv_nsec / 1e9;
        text = shown(false, 20, true);
        clock_gettime(CLOCK_MONOTONIC, &t);
        took_s = (double)t.tv_sec + (double)t.tv_nsec / 1e9 - began_s;
    } while (took_s > 0.5);
    assert_string_equal(text, "");
    (void)state;
}

static void nobody_asked(void **state)
{
    assert_string_equal(shown(false, 1200, false), "");
    (void)state;
}

static void no_terminal(void **state)
{
    FILE *file = tmpfile();
    struct progress p;
    progress_begin(&p, file, true);
    progress_stage(&p, "reading", 0.5, 1, 0);
    usleep(1200000);
    progress_end(&p);
    assert_int_equal(ftell(file), 0);
    fclose(file);
    (void)state;
}

/* On no terminal: nothing depends on time. */
static void work_moves_a_stage_to_its_end_and_not_beyond(void **state)
{
    struct progress p = { .from = 0.2, .until = 0.6, .expected = 1000 };
    static const struct {
        uint64_t units; /* more */
        double least, most;
    } row[] = {
        { 0, 0.2, 0.2 },       { 500, 0.399, 0.401 },
        { 400, 0.559, 0.561 }, { 100, 0.56, 0.59 }, /* as many as were expected */
        { 1000, 0.59, 0.6 },   { UINT32_MAX, 0.59, 0.6 },
    };
    progress_work(12345);
    p.before = 12345; /* nothing else here counts */
    double last = 0;
    for (size_t i = 0; i < ROWS(row); i++) {
        progress_work(row[i].units);
        const double done = progress_done(&p);
        assert_true(done >= row[i].least && done <= row[i].most && done >= last);
        last = done;
    }
    p.expected = 0; /* nobody knows */
    assert_true(progress_done(&p) == 0.2);
    (void)state;
}

static void the_rest_is_estimated_when_there_is_something_to_go_by(void **state)
{
    static const struct {
        double elapsed_s, done;
        const char *text;
    } row[] = {
        { 1, 0.5, "" },
        { 10, 0.01, "" },
        { 10, 0, "" },
        { 10, 0.2, "about 40 s left" },
        { 30, 0.1, "about 5 min left" },
        { 10, 1, "about 0 s left" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        char text[PROGRESS_LEFT];
        struct progress_left l = { .shown_s = -1 };
        assert_string_equal(progress_left(text, progress_left_s(&l, row[i].elapsed_s, row[i].done)), row[i].text);
    }
    (void)state;
}

/* A busy machine: after 9 s a fifth is done, and nothing more is reported for 20 s. Elapsed time alone would say 116 s
 * then. */
static void the_estimate_grows_slowly_stays_and_falls_at_once(void **state)
{
    const double step_s = 0.1;
    struct progress_left l = { .shown_s = -1 };
    double left_s = -1, elapsed_s = 2;
    for (; elapsed_s < 9; elapsed_s += step_s)
        left_s = progress_left_s(&l, elapsed_s, elapsed_s / 45);
    assert_true(left_s > 35 && left_s < 38);
    for (; elapsed_s < 29; elapsed_s += step_s)
        assert_true(progress_left_s(&l, elapsed_s, (9 - step_s) / 45) <= left_s);
    assert_true(l.shown_s == left_s);
    for (double done = 0.2; elapsed_s < 39; elapsed_s += step_s, done += 0.0001)
        assert_true(progress_left_s(&l, elapsed_s, done) < 60);
    assert_true(l.shown_s > left_s);
    assert_true(progress_left_s(&l, elapsed_s, 0.9) < 5);
    assert_true(progress_left_s(&l, elapsed_s, 1) == 0);
    (void)state;
}

static void small_collections_have_few_threads(void **state)
{
    static const struct {
        uint64_t bytes;
        unsigned most, threads;
    } row[] = { { 0, 16, 1 },      { 1, 1, 1 },         { 8 << 20, 16, 5 },
                { 8 << 20, 2, 2 }, { 1 << 30, 16, 16 }, { UINT64_MAX, 64, 64 } };
    for (size_t i = 0; i < ROWS(row); i++)
        assert_int_equal(stage_threads(row[i].bytes, row[i].most), row[i].threads);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_job_has_a_bar_that_is_wiped_at_the_end),
        cmocka_unit_test(without_an_end_that_is_known_only_the_seconds_are_shown),
        cmocka_unit_test(a_short_job_has_none),
        cmocka_unit_test(nobody_asked),
        cmocka_unit_test(no_terminal),
        cmocka_unit_test(work_moves_a_stage_to_its_end_and_not_beyond),
        cmocka_unit_test(the_rest_is_estimated_when_there_is_something_to_go_by),
        cmocka_unit_test(the_estimate_grows_slowly_stays_and_falls_at_once),
        cmocka_unit_test(small_collections_have_few_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
