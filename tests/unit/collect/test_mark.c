/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include "analyse/flow/marks.h"
#include "ascope/request.h"
#include "collect/write/writer.h"
#include "export/msprof/tracks/prof_trace.h"
#include "raw/host_records.h"
#include "recorded.h"

enum { EVENT_POINT = 0, EVENT_RANGE = 2 };

/* Marks with their messages whole. collection_free() is the caller's. */
static const struct marks *marks_of(struct ascope_session *s, struct collection *r)
{
    struct error e = { 0 };
    recorded_end(s, r);
    assert_true(marks_analyse(&r->profile, &e));
    return &r->profile.host.records.marks;
}

static const char *text_of(const struct collection *r, size_t i)
{
    return names_text(r->profile.names, r->profile.host.records.marks.message[i]);
}

/* The row of the mark with this message, which is there once. */
static size_t row_of(const struct collection *r, const char *message)
{
    const struct marks *m = &r->profile.host.records.marks;
    size_t found = SIZE_MAX, n = 0;
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(text_of(r, i), message) == 0) {
            found = i;
            n++;
        }
    if (n != 1)
        fail_msg("%zu marks are \"%.80s\"", n, message);
    return found;
}

static bool is_there(const struct collection *r, const char *message)
{
    for (size_t i = 0; i < r->profile.host.records.marks.n; i++)
        if (strcmp(text_of(r, i), message) == 0)
            return true;
    return false;
}

static void points_and_ranges_come_back(void **state)
{
    struct ascope_session *s = recorded_begin(NULL);
    struct ascope_domain *loader = ascope_domain_get("loader");
    assert_ptr_equal(ascope_domain_get("loader"), loader);
    assert_ptr_equal(ascope_domain_get("default"), ascope_domain_get("default"));
    const uint64_t before = ascope_now();
    const uint64_t outer = ascope_range_begin(NULL, "outer", NULL), other = ascope_range_begin(loader, "batch", NULL);
    assert_true(outer != 0 && other != 0 && outer != other);
    ascope_mark(NULL, "a point", NULL);
    ascope_mark(loader, "another", NULL);
    ascope_range_end(NULL, outer); /* ranges overlap as they like */
    ascope_range_end(loader, other);
    const uint64_t after = ascope_now();
    struct collection r;
    const struct marks *m = marks_of(s, &r);
    static const struct {
        const char *message, *domain;
        uint32_t event;
    } row[] = {
        { "outer", "default", EVENT_RANGE },
        { "batch", "loader", EVENT_RANGE },
        { "a point", "default", EVENT_POINT },
        { "another", "loader", EVENT_POINT },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        const size_t k = row_of(&r, row[i].message);
        print_message("  %s\n", row[i].message);
        assert_int_equal(m->info[k], MARK_INFO_WITH_ID);
        assert_int_equal(m->event[k], row[i].event);
        assert_string_equal(mark_domain_text(&r.profile, k), row[i].domain);
        assert_int_equal(m->process[k], getpid());
        assert_int_equal(m->thread[k], gettid());
        assert_true(before <= m->begin[k] && m->begin[k] <= m->end[k] && m->end[k] <= after);
        assert_true(row[i].event == EVENT_RANGE ? m->begin[k] < m->end[k] : m->begin[k] == m->end[k]);
    }
    assert_true(m->begin[row_of(&r, "outer")] < m->begin[row_of(&r, "batch")]);
    assert_true(m->end[row_of(&r, "outer")] < m->end[row_of(&r, "batch")]);
    collection_free(&r);
    (void)state;
}

static void some_texts_are_refused(void **state)
{
    static const struct {
        const char *what, *text;
        bool is_allowed;
    } row[] = {
        { "no text", NULL, false },
        { "nothing", "", false },
        { "a formula", "=1+1", false },
        { "a sum", "+1", false },
        { "a difference", "-1", false },
        { "a command", "@SUM(A1)", false },
        { "a dash further on", "a-b", true },
        { "a blank", " =1", true },
        { "quotes and commas", "say \"this\", and that", true },
        { "a backslash", "C:\\temp", true },
        { "other letters", "Größe ★ 大小", true },
    };
    struct ascope_session *s = recorded_begin(NULL);
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        ascope_mark(NULL, row[i].text, NULL);
        const uint64_t id = ascope_range_begin(NULL, row[i].text, NULL);
        assert_int_equal(id != 0, row[i].is_allowed);
        ascope_range_end(NULL, id);
        assert_int_equal(ascope_domain_get(row[i].text) != NULL, row[i].is_allowed);
    }
    struct collection r;
    const struct marks *m = marks_of(s, &r);
    size_t n = 0;
    for (size_t i = 0; i < ROWS(row); i++)
        for (size_t k = 0; row[i].is_allowed && k < m->n; k++)
            n += strcmp(text_of(&r, k), row[i].text) == 0;
    assert_int_equal(n, 2 * 5);
    assert_int_equal(m->n, 2 * 5);
    collection_free(&r);
    (void)state;
}

static void long_messages_come_in_pieces(void **state)
{
    static const size_t length[] = { 1, 154, 155, 156, 310, 311, 1000, 4095, 4096, 4097, 10000 };
    enum { MOST = 4096 };
    char *text = malloc(10001), *wide = malloc(10001);
    for (size_t i = 0; i < 10000; i++)
        text[i] = (char)('a' + i % 26);
    text[10000] = '\0';
    for (size_t i = 0; i + 2 < 10000; i += 3)
        memcpy(wide + i, "大", 3);
    wide[9999] = '\0';
    struct ascope_session *s = recorded_begin(NULL);
    for (size_t i = 0; i < ROWS(length); i++) {
        char cut = text[length[i]];
        text[length[i]] = '\0';
        text[0] = (char)('A' + i);
        ascope_range_end(NULL, ascope_range_begin(NULL, text, NULL));
        text[length[i]] = cut;
    }
    ascope_mark(NULL, wide, NULL);
    struct collection r;
    const struct marks *m = marks_of(s, &r);
    assert_int_equal(m->n, ROWS(length) + 1);
    for (size_t i = 0; i < ROWS(length); i++) {
        const size_t wanted = length[i] < MOST ? length[i] : MOST;
        bool is_found = false;
        for (size_t k = 0; k < m->n; k++)
            if (text_of(&r, k)[0] == (char)('A' + i)) {
                is_found = true;
                assert_int_equal(strlen(text_of(&r, k)), wanted);
                assert_memory_equal(text_of(&r, k) + 1, text + 1, wanted - 1);
            }
        assert_true(is_found);
    }
    for (size_t k = 0; k < m->n; k++)
        if ((unsigned char)text_of(&r, k)[0] >= 0x80) {
            assert_int_equal(strlen(text_of(&r, k)), MOST / 3 * 3); /* no character is cut */
            assert_memory_equal(text_of(&r, k), wide, MOST / 3 * 3);
        }
    collection_free(&r);
    free(text);
    free(wide);
    (void)state;
}

/* ---- which domains ---- */

static const char *include_list, *exclude_list;

static void choose_lists(struct ascope_options *o)
{
    o->mstx_domain_include = include_list;
    o->mstx_domain_exclude = exclude_list;
}

static void domains_are_chosen(void **state)
{
    static const struct {
        const char *what, *include, *exclude, *recorded; /* of "default", "train", "eval", each with its first letter */
    } row[] = {
        { "without lists all are", NULL, NULL, "dte" },
        { "those of the first list", "train", NULL, "t" },
        { "several, with blanks", " train , default ", NULL, "dt" },
        { "not those of the second", NULL, "train,default", "e" },
        { "a name that none has", "nobody", NULL, "" },
        { "a part of a name is not the name", "trai,rain,eva", NULL, "" },
        { "all again", NULL, NULL, "dte" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        include_list = row[i].include;
        exclude_list = row[i].exclude;
        struct ascope_session *s = recorded_begin(choose_lists);
        static const char *const domain[] = { "default", "train", "eval" };
        for (size_t k = 0; k < ROWS(domain); k++) {
            struct ascope_domain *d = ascope_domain_get(domain[k]); /* in the first turn: made while it is recorded */
            const uint64_t id = ascope_range_begin(d, domain[k], NULL);
            assert_int_equal(id != 0, strchr(row[i].recorded, domain[k][0]) != NULL);
            ascope_range_end(d, id);
        }
        struct collection r;
        const struct marks *m = marks_of(s, &r);
        assert_int_equal(m->n, strlen(row[i].recorded));
        for (size_t k = 0; k < ROWS(domain); k++)
            assert_int_equal(is_there(&r, domain[k]), strchr(row[i].recorded, domain[k][0]) != NULL);
        collection_free(&r);
    }
    (void)state;
}

static void domains_are_limited(void **state)
{
    char name[32], *long_name = malloc(2000);
    memset(long_name, 'x', 1999);
    long_name[1024] = '\0';
    assert_null(ascope_domain_get(long_name));
    long_name[1023] = '\0';
    assert_non_null(ascope_domain_get(long_name));
    unsigned n = 0;
    for (unsigned i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "many %u", i);
        n += ascope_domain_get(name) != NULL;
    }
    assert_true(n > 1000 && n < 1024);
    assert_non_null(ascope_domain_get("many 0"));
    assert_null(ascope_domain_get("one more"));
    free(long_name);
    (void)state;
}

static void a_destroyed_domain_is_silent(void **state)
{
    struct ascope_session *s = recorded_begin(NULL);
    struct ascope_domain *d = ascope_domain_get("train");
    ascope_domain_destroy(d);
    ascope_mark(d, "nobody hears this", NULL);
    assert_int_equal(ascope_range_begin(d, "nor this", NULL), 0);
    assert_ptr_equal(ascope_domain_get("train"), d);
    ascope_mark(d, "but this", NULL);
    ascope_domain_destroy(ascope_domain_get("default")); /* that one stays */
    ascope_mark(NULL, "and this", NULL);
    int not_a_domain;
    ascope_mark((struct ascope_domain *)&not_a_domain, "of nothing", NULL);
    ascope_domain_destroy((struct ascope_domain *)&not_a_domain);
    struct collection r;
    const struct marks *m = marks_of(s, &r);
    assert_int_equal(m->n, 2);
    assert_true(is_there(&r, "but this") && is_there(&r, "and this"));
    collection_free(&r);
    (void)state;
}

/* ---- threads, sessions, signals ---- */

static uint64_t lent_id;

static void *end_lent(void *unused)
{
    ascope_range_end(NULL, lent_id);
    return unused;
}

static void a_range_ends_on_any_thread(void **state)
{
    struct ascope_session *s = recorded_begin(NULL);
    pthread_t other;
    lent_id = ascope_range_begin(NULL, "handed over", NULL);
    assert_int_equal(pthread_create(&other, NULL, end_lent, NULL), 0);
    pthread_join(other, NULL);
    ascope_range_end(NULL, lent_id); /* it has ended */
    struct collection r;
    const struct marks *m = marks_of(s, &r);
    const size_t k = row_of(&r, "handed over");
    assert_int_equal(m->n, 1);
    assert_int_equal(m->thread[k], gettid()); /* where it began */
    collection_free(&r);
    (void)state;
}

static void an_end_that_does_not_fit_changes_nothing(void **state)
{
    struct ascope_session *s = recorded_begin(NULL);
    struct ascope_domain *train = ascope_domain_get("train");
    const uint64_t id = ascope_range_begin(train, "in train", NULL),
                   open = ascope_range_begin(NULL, "never ends", NULL);
    ascope_range_end(NULL, id); /* not its domain */
    ascope_range_end(train, id + 1);
    ascope_range_end(train, UINT64_MAX);
    ascope_range_end(train, 1);
    ascope_range_end(train, id);
    struct collection r;
    const struct marks *m = marks_of(s, &r);
    assert_int_equal(m->n, 1);
    row_of(&r, "in train");
    collection_free(&r);

    s = recorded_begin(NULL); /* an id of an old session */
    const uint64_t fresh = ascope_range_begin(NULL, "of the new one", NULL);
    ascope_range_end(NULL, open);
    ascope_range_end(train, id);
    ascope_range_end(NULL, fresh);
    m = marks_of(s, &r);
    assert_int_equal(m->n, 1);
    row_of(&r, "of the new one");
    collection_free(&r);
    (void)state;
}

static void a_warm_up_leaves_nothing_and_takes_nothing(void **state)
{
    struct ascope_error e = { "" };
    struct ascope_session *s = recorded_new(NULL);
    assert_true(ascope_session_warmup(s, &e));
    struct ascope_domain *train = ascope_domain_get("train");
    ascope_mark(train, "of the warm-up", NULL);
    const uint64_t id = ascope_range_begin(train, "from the warm-up", NULL);
    struct ascope_op op;
    ascope_op_begin(&op, "from the warm-up");
    assert_true(ascope_session_start(s, &e));
    ascope_op_end(&op);
    ascope_range_end(train, id);
    ascope_mark(train, "of the session", NULL);
    struct collection r;
    const struct marks *m = marks_of(s, &r);
    assert_int_equal(m->n, 1);
    assert_string_equal(mark_domain_text(&r.profile, row_of(&r, "of the session")), "train");
    assert_int_equal(r.framework.ops.n, 0);
    collection_free(&r);
    (void)state;
}

enum { THREADS = 8, EACH = 2000 };
static struct ascope_session *crowded;

static void *crowd(void *number)
{
    char text[64];
    for (unsigned i = 0; i < EACH; i++) {
        snprintf(text, sizeof text, "thread %u range %u", *(unsigned *)number, i);
        ascope_range_end(NULL, ascope_range_begin(NULL, text, NULL));
        if (i % 200 == 0)
            usleep(1000);
    }
    return NULL;
}

static int by_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void ids_are_of_one_mark_each(void **state)
{
    crowded = recorded_begin(NULL);
    pthread_t thread[THREADS];
    unsigned number[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        number[i] = i;
        assert_int_equal(pthread_create(&thread[i], NULL, crowd, &number[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    struct collection r;
    const struct marks *m = marks_of(crowded, &r);
    assert_int_equal(m->n, THREADS * EACH); /* two with one id would have been joined */
    uint64_t *ids = malloc(m->n * sizeof *ids);
    memcpy(ids, m->id, m->n * sizeof *ids);
    qsort(ids, m->n, sizeof *ids, by_u64);
    for (size_t i = 1; i < m->n; i++)
        assert_true(ids[i - 1] < ids[i]);
    assert_true(ids[0] > 0 && ids[m->n - 1] < UINT32_MAX);
    free(ids);
    collection_free(&r);
    (void)state;
}

static volatile sig_atomic_t n_handled;

static void mark_in_handler(int number)
{
    (void)number;
    ascope_mark(NULL, "from the handler", NULL);
    ascope_range_end(NULL, ascope_range_begin(NULL, "range of the handler", NULL));
    n_handled++;
}

static void a_signal_handler_may_mark(void **state)
{
    struct ascope_session *s = recorded_begin(NULL);
    struct sigaction action = { .sa_handler = mark_in_handler, .sa_flags = SA_RESTART }, before;
    struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { { 0, 0 }, { 0, 0 } };
    ascope_mark(NULL, "the ring is there", NULL);
    sigaction(SIGALRM, &action, &before);
    setitimer(ITIMER_REAL, &often, NULL);
    struct writer_tally tally;
    unsigned n = 0;
    for (; n_handled < 500; n++) {
        ascope_range_end(NULL, ascope_range_begin(NULL, "interrupted", NULL));
        if (n % 100 == 0)
            writer_flush(&tally, &(struct error){ 0 }); /* the writer has its turn: nothing is dropped */
    }
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
    const unsigned handled = (unsigned)n_handled;
    struct collection r;
    const struct marks *m = marks_of(s, &r);
    unsigned found[3] = { 0 };
    for (size_t k = 0; k < m->n; k++) {
        found[0] += strcmp(text_of(&r, k), "from the handler") == 0;
        found[1] += strcmp(text_of(&r, k), "range of the handler") == 0;
        found[2] += strcmp(text_of(&r, k), "interrupted") == 0;
        assert_true(m->begin[k] <= m->end[k]);
    }
    assert_int_equal(found[0], handled);
    assert_int_equal(found[1], handled);
    assert_int_equal(found[2], n);
    collection_free(&r);
    (void)state;
}

static void collectives_have_the_message_of_the_framework(void **state)
{
    struct ascope_session *s = recorded_begin(NULL);
    struct ascope_domain *d = ascope_domain_get(ASCOPE_COLLECTIVES);
    const struct ascope_collective all = { sizeof all, "HcclAllreduce", "group_name_43", "fp16", 25701386, 32, -1, -1 },
                                   receive = { sizeof receive, "HcclRecv", "a\"b\\c", NULL, 1, 0, 3, -1 };
    ascope_range_end(d, ascope_collective_begin(&all, NULL));
    ascope_range_end(d, ascope_collective_begin(&receive, NULL));
    struct collection r;
    const struct marks *m = marks_of(s, &r);
    assert_int_equal(m->n, 2);
    row_of(&r, "{\"streamId\": \"32\",\"count\": \"25701386\",\"dataType\": \"fp16\",\"groupName\": "
               "\"group_name_43\",\"opName\": \"HcclAllreduce\"}");
    row_of(&r, "{\"streamId\": \"0\",\"count\": \"1\",\"dataType\": \"na\",\"srcRank\": \"3\",\"groupName\": "
               "\"abc\",\"opName\": \"HcclRecv\"}");
    collection_free(&r);
    (void)state;
}

static void requests_are_marks(void **state)
{
    char long_id[300];
    memset(long_id, 'x', sizeof long_id);
    long_id[sizeof long_id - 1] = 0;
    assert_int_equal(ascope_request_begin("0"), 0); /* nothing is recorded */
    struct ascope_session *s = recorded_begin(NULL);
    const uint64_t range = ascope_request_begin("17");
    assert_true(range != 0);
    ascope_request_first_token("17");
    ascope_request_token("17");
    ascope_request_end("17", range);
    ascope_request_end("16", 0); /* began before the recording */
    assert_int_equal(ascope_request_begin(NULL), 0);
    assert_int_equal(ascope_request_begin(""), 0);
    assert_int_equal(ascope_request_begin(long_id), 0);
    struct collection r;
    const struct marks *m = marks_of(s, &r);
    assert_int_equal(m->n, 4);
    static const struct {
        const char *message;
        uint32_t event;
    } row[] = { { "request 17", EVENT_RANGE },
                { "first_token 17", EVENT_POINT },
                { "token 17", EVENT_POINT },
                { "request_end 16", EVENT_POINT } };
    for (size_t i = 0; i < ROWS(row); i++) {
        assert_int_equal(m->event[row_of(&r, row[i].message)], row[i].event);
        assert_string_equal(mark_domain_text(&r.profile, row_of(&r, row[i].message)), ASCOPE_REQUESTS);
    }
    collection_free(&r);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(domains_are_chosen, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(points_and_ranges_come_back, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(requests_are_marks, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(some_texts_are_refused, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(long_messages_come_in_pieces, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_destroyed_domain_is_silent, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_range_ends_on_any_thread, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(an_end_that_does_not_fit_changes_nothing, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_warm_up_leaves_nothing_and_takes_nothing, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(ids_are_of_one_mark_each, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_signal_handler_may_mark, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(collectives_have_the_message_of_the_framework, folder_make, folder_remove),
        cmocka_unit_test(domains_are_limited), /* last: they stay */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
