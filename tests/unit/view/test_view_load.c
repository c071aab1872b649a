/* SPDX-License-Identifier: Apache-2.0 */
/* view_input.h: what is answered while an input is loaded. The load waits for the test, so that nothing depends on how
 * fast it is. Threads are started and joined through the functions below (--wrap of the linker). */
#include "test.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process/background.h"
#include "base/process/progress.h"
#include "view/answers/answers.h"

static sem_t reached, goes_on;

static void stop_here(void)
{
    sem_post(&reached);
    while (sem_wait(&goes_on) != 0)
        ;
}

static void go_on(void)
{
    sem_post(&goes_on);
}

static void wait_until_it_stops(void)
{
    while (sem_wait(&reached) != 0)
        ;
}

int __real_background_thread(pthread_t *out, const char *name, void *(*run)(void *of), void *of);
int __wrap_background_thread(pthread_t *out, const char *name, void *(*run)(void *of), void *of);
int __real_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result);
static atomic_uint n_started, n_joined;
static atomic_bool starter_stops;

int __wrap_background_thread(pthread_t *out, const char *name, void *(*run)(void *of), void *of)
{
    const int why = __real_background_thread(out, name, run, of);
    atomic_fetch_add(&n_started, why == 0);
    if (atomic_exchange(&starter_stops, false))
        stop_here();
    return why;
}

int __wrap_pthread_join(pthread_t thread, void **result)
{
    atomic_fetch_add(&n_joined, 1);
    return __real_pthread_join(thread, result);
}

/* The answer to a question, in a buffer that the next one overwrites. */
static const char *ask(const struct view *v, const char *what, const char *query, int status)
{
    static char text[1 << 16];
    struct error e = { 0 };
    struct out o;
    assert_true(out_open_memory(&o, &e));
    const struct http_request q = { .path = "/", .query = query, .host = "", .origin = "" };
    struct http_reply r = { .status = 200, .type = "", .headers = "", .out = &o };
    view_answer(v, what, &q, &r);
    assert_int_equal(r.status, status);
    assert_true(o.n < sizeof text);
    memcpy(text, o.buf, o.n);
    text[o.n] = 0;
    out_discard(&o);
    return text;
}

static void assert_about(const struct view *v, const char *wanted)
{
    if (!strstr(ask(v, "about", "", 200), wanted))
        fail_msg("%s is not in %s", wanted, ask(v, "about", "", 200));
}

static void write_trace(char path[32], size_t n)
{
    strcpy(path, "/tmp/ascope-view-XXXXXX");
    FILE *f = fdopen(mkstemp(path), "w");
    assert_non_null(f);
    fputs("[", f);
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%s{\"ph\":\"X\",\"name\":\"op\",\"pid\":1,\"tid\":1,\"ts\":%zu,\"dur\":1}", i ? "," : "", 10 * i);
    fputs("]", f);
    assert_int_equal(fclose(f), 0);
}

/* A load as that of a collection: answers first, then a timeline. */
static bool load_answers(struct view_input *in, struct error *e)
{
    view_progress_stage(&in->progress, VIEW_READING, 0, 20, 100);
    progress_work(50);
    stop_here();
    struct view_sentence *s = list_add(&in->sentences, in->mem);
    *s = (struct view_sentence){ "a sentence", 5000, 6000, NULL };
    atomic_store(&in->has_answers, true);
    view_progress_stage(&in->progress, VIEW_DRAWING, 20, 95, 1000);
    progress_work(500);
    stop_here();
    return view_load_chrome(in, e);
}

/* The begin of the file is shown before the rest is read. */
static bool load_in_two(struct view_input *in, struct error *e)
{
    view_load_first(in, 1000);
    stop_here();
    return view_load_chrome(in, e);
}

static bool load_fails(struct view_input *in, struct error *e)
{
    atomic_store(&in->has_answers, true);
    view_load_first(in, 1000);
    stop_here();
    return error_set(e, FAULT_IO, "%s: it broke", in->path);
}

static struct view_input one;
static const struct view all = { &one, 1 };
static char path[32];

static void begin(bool (*load)(struct view_input *, struct error *))
{
    struct error e = { 0 };
    write_trace(path, 500);
    one = (struct view_input){ .path = path, .name = "one", .kind = "test", .load = load };
    view_input_init(&one);
    assert_true(view_input_start(&one, &e));
    wait_until_it_stops();
}

static void wait_until_loaded(void)
{
    pthread_join(one.thread, NULL);
    one.has_thread = false;
}

static void end(void)
{
    view_input_close(&one);
    unlink(path);
}

static void answers_are_shown_before_the_timeline(void **state)
{
    (void)state;
    begin(load_answers);
    assert_about(&all, "\"state\":\"loading\",\"shows\":\"nothing\",\"percent\":10,\"stage\":\"reading\"");
    ask(&all, "overview", "input=0", 503);
    go_on();
    wait_until_it_stops();
    assert_about(&all, "\"state\":\"loading\",\"shows\":\"overview\",\"percent\":57,\"stage\":\"drawing\"");
    assert_non_null(strstr(ask(&all, "overview", "input=0", 200), "\"has_timeline\":false"));
    assert_non_null(strstr(ask(&all, "overview", "input=0", 200), "a sentence"));
    ask(&all, "rows", "input=0", 503);
    ask(&all, "memory", "input=0&allocator=0", 503);
    go_on();
    wait_until_loaded();
    assert_about(&all, "\"state\":\"ready\",\"shows\":\"all\",\"percent\":100");
    assert_non_null(strstr(ask(&all, "overview", "input=0", 200), "\"has_timeline\":true"));
    assert_non_null(strstr(ask(&all, "rows", "input=0", 200), "\"n_slices\":500,"));
    end();
}

static void the_begin_of_a_file_is_shown_before_the_rest(void **state)
{
    (void)state;
    begin(load_in_two);
    assert_about(&all, "\"state\":\"loading\",\"shows\":\"first\"");
    const char *rows = strstr(ask(&all, "rows", "input=0", 200), "\"n_slices\":");
    assert_non_null(rows);
    const long n = strtol(rows + strlen("\"n_slices\":"), NULL, 10);
    assert_in_range(n, 10, 30);
    assert_non_null(strstr(ask(&all, "slice", "input=0&slice=9", 200), "\"begin\":90000,"));
    ask(&all, "slice", "input=0&slice=400", 400);
    go_on();
    wait_until_loaded();
    assert_about(&all, "\"state\":\"ready\",\"shows\":\"all\"");
    assert_non_null(strstr(ask(&all, "rows", "input=0", 200), "\"n_slices\":500,"));
    end();
}

static void a_load_that_fails_shows_nothing(void **state)
{
    (void)state;
    begin(load_fails);
    assert_about(&all, "\"shows\":\"first\"");
    go_on();
    wait_until_loaded();
    assert_about(&all, "\"state\":\"failed\",\"shows\":\"nothing\"");
    assert_about(&all, "it broke");
    ask(&all, "rows", "input=0", 503);
    ask(&all, "overview", "input=0", 503);
    end();
}

static void *start(void *unused)
{
    struct error e = { 0 };
    assert_true(view_input_start(&one, &e));
    return unused;
}

static void a_page_may_load_again_before_the_first_start_has_returned(void **state)
{
    (void)state;
    pthread_t first, second;
    write_trace(path, 10);
    one = (struct view_input){ .path = path, .name = "one", .kind = "test", .load = view_load_chrome };
    view_input_init(&one);
    atomic_store(&n_started, 0);
    atomic_store(&n_joined, 0);
    atomic_store(&starter_stops, true);
    assert_int_equal(pthread_create(&first, NULL, start, NULL), 0);
    wait_until_it_stops();
    while (atomic_load(&one.state) != VIEW_READY)
        usleep(1000);
    assert_int_equal(pthread_create(&second, NULL, start, NULL), 0);
    usleep(50000); /* it waits for the first one now; if it is late, nothing is tested */
    go_on();
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    end();
    assert_int_equal(atomic_load(&n_started), 2);
    assert_int_equal(atomic_load(&n_joined), 2 + 2); /* those of the test, too */
}

int main(void)
{
    sem_init(&reached, 0, 0);
    sem_init(&goes_on, 0, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_shown_before_the_timeline),
        cmocka_unit_test(the_begin_of_a_file_is_shown_before_the_rest),
        cmocka_unit_test(a_load_that_fails_shows_nothing),
        cmocka_unit_test(a_page_may_load_again_before_the_first_start_has_returned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
