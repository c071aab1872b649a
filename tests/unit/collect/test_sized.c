/* SPDX-License-Identifier: Apache-2.0 */
/* Structures of programs that are older than the library, or newer, or have forgotten the size: each that a caller
 * fills. */
#include "test.h"

#include "collect/options/options.h"
#include "collect/options/sized.h"
#include "collect/write/writer.h"
#include "recorded.h"
#include "reported.h"

/* Bytes that are beyond the end of the program's structure: nothing may look at them, or change them. */
enum { BEYOND = 0xa5 };
static const uint32_t not_set[] = { 0, 8, 12, 20, SIZED_MOST + 8, UINT32_MAX, BEYOND * 0x01010101u };

static void the_rest_is_zeros_or_stays(void **state)
{
    struct {
        uint32_t size, a;
        uint64_t b, c;
    } from = { 16, 1, 2, 3 }, to = { 7, 7, 7, 7 };
    assert_true(sized_over(&to, sizeof to, &from));
    assert_memory_equal(&to, (&(struct {
        uint32_t size, a;
        uint64_t b, c;
    }){ sizeof to, 1, 2, 7 }),
                        sizeof to);
    assert_true(sized_copy(&to, sizeof to, &from));
    assert_memory_equal(&to, (&(struct {
        uint32_t size, a;
        uint64_t b, c;
    }){ sizeof to, 1, 2, 0 }),
                        sizeof to);
    assert_false(sized_is_whole(&from, sizeof from));
    from.size = sizeof from;
    assert_true(sized_is_whole(&from, sizeof from));
    assert_true(sized_is_whole(&from, 16)); /* newer than the library */
    assert_true(sized_has_unknown(&from, 16));
    from.c = 0;
    assert_false(sized_has_unknown(&from, 16));
    for (size_t i = 0; i < sizeof not_set / sizeof *not_set; i++) {
        from.size = not_set[i];
        assert_false(sized_is_set(&from) || sized_is_whole(&from, sizeof from) || sized_over(&to, sizeof to, &from));
    }
    (void)state;
}

/* A structure of `size` bytes in memory that has more, or of more bytes than the library knows. */
#define SIZED(type, bytes)                                                                                             \
    union {                                                                                                            \
        struct type is;                                                                                                \
        unsigned char byte[sizeof(struct type) + 64];                                                                  \
    } bytes;                                                                                                           \
    memset(&bytes, BEYOND, sizeof bytes)

static void record_op(uint32_t size, const char *name)
{
    SIZED(ascope_op, op);
    ascope_op_begin(&op.is, name);
    memset(op.byte + sizeof op.is, BEYOND, sizeof op - sizeof op.is);
    op.is.size = size;
    op.is.shapes = ascope_text_of("2,3");
    op.is.modules = ascope_text_of("layer");
    op.is.more = ascope_text_of("flops");
    ascope_op_end(&op.is);
}

static void record_memory(uint32_t size, uint64_t pointer)
{
    SIZED(ascope_memory, m);
    memset(&m.is, 0, sizeof m.is);
    m.is.size = size;
    m.is.pointer = pointer;
    m.is.size_bytes = 512;
    m.is.stream = 3;
    ascope_memory(&m.is);
}

static uint64_t record_collective(uint32_t size)
{
    SIZED(ascope_collective, c);
    c.is = (struct ascope_collective){ .size = size, .name = "HcclSend", .source_rank = 1, .destination_rank = 2 };
    return ascope_collective_begin(&c.is, NULL);
}

static const char *name_of(const struct collection *s, name_id id)
{
    return id == NO_NAME ? "(none)" : names_text(s->profile.names, id);
}

static void records_of_older_and_newer_programs(void **state)
{
    struct ascope_session *s = recorded_begin(NULL);
    struct ascope_domain *const d = ascope_domain_get(ASCOPE_COLLECTIVES);
    record_op(sizeof(struct ascope_op), "same");
    record_op(sizeof(struct ascope_op) + 64, "newer");
    record_op(offsetof(struct ascope_op, modules), "older");
    record_memory(sizeof(struct ascope_memory), 1);
    record_memory(sizeof(struct ascope_memory) + 64, 2);
    record_memory(offsetof(struct ascope_memory, stream), 3);
    uint64_t id;
    assert_int_not_equal(id = record_collective(sizeof(struct ascope_collective) + 64), 0);
    ascope_range_end(d, id);
    assert_int_not_equal(id = record_collective(offsetof(struct ascope_collective, source_rank)), 0);
    ascope_range_end(d, id);
    struct collection r;
    recorded_end(s, &r);
    const struct framework_ops *t = &r.framework.ops;
    unsigned found = 0;
    for (size_t k = 0; k < t->n; k++) {
        const char *const name = name_of(&r, t->name[k]);
        const bool is_older = strcmp(name, "older") == 0;
        if (!is_older && strcmp(name, "same") != 0 && strcmp(name, "newer") != 0)
            continue;
        found++;
        assert_string_equal(name_of(&r, t->shapes[k]), "2,3");
        assert_string_equal(name_of(&r, t->modules[k]), is_older ? "(none)" : "layer");
        assert_string_equal(name_of(&r, t->flops[k]), is_older ? "(none)" : "flops");
    }
    assert_int_equal(found, 3);
    const struct framework_memory *m = &r.framework.memory;
    assert_int_equal(m->n, 3);
    for (size_t i = 0; i < m->n; i++) {
        assert_int_equal(m->size_bytes[i], 512);
        assert_int_equal(m->stream[i], m->pointer[i] == 3 ? 0 : 3);
    }
    collection_free(&r);
    (void)state;
}

static void records_without_a_size_are_counted(void **state)
{
    const size_t n = sizeof not_set / sizeof *not_set;
    struct ascope_session *s = recorded_begin(NULL);
    for (size_t i = 0; i < n; i++) {
        record_op(not_set[i], "none");
        record_memory(not_set[i], 1);
        assert_int_equal(record_collective(not_set[i]), 0);
    }
    struct writer_tally tally;
    struct error e = { 0 };
    assert_true(writer_flush(&tally, &e));
    assert_int_equal(tally.dropped[STREAM_TORCH_OP], n);
    assert_int_equal(tally.dropped[STREAM_TORCH_MEMORY], n);
    assert_int_equal(tally.dropped[STREAM_MARK], n);
    struct collection r;
    recorded_end(s, &r);
    assert_int_equal(r.framework.memory.n, 0);
    collection_free(&r);
    (void)state;
}

static void options_of_a_newer_program(void **state)
{
    SIZED(ascope_options, o);
    struct ascope_options taken;
    struct error e = { 0 };
    ascope_options_init_sized(&o.is, sizeof o);
    assert_int_equal(o.is.size, sizeof o);
    n_warnings = 0;
    assert_true(ascope_options_set(&o.is, "activities", "CPU"));
    assert_true(options_take(&taken, &o.is, &e));
    assert_int_equal(taken.activities, ASCOPE_CPU);
    assert_int_equal(taken.size, sizeof taken);
    assert_int_equal(o.is.size, sizeof o);
    assert_int_equal(n_warnings, 0);
    options_fini(&taken);
    o.byte[sizeof o - 1] = 1; /* it asks for what the library does not know */
    assert_true(options_take(&taken, &o.is, &e));
    assert_int_equal(n_warnings, 1);
    assert_non_null(strstr(last_text, "unknown to"));
    options_fini(&taken);
    assert_true(options_take(&taken, NULL, &e));
    assert_string_equal(taken.device, "auto");
    options_fini(&taken);
    (void)state;
}

static void options_without_a_size(void **state)
{
    for (size_t i = 0; i < sizeof not_set / sizeof *not_set; i++) {
        struct ascope_options o;
        struct ascope_error e = { "" };
        ascope_options_init(&o);
        o.size = not_set[i];
        n_warnings = n_errors = 0;
        assert_true(ascope_options_set(&o, "mstx", "true"));
        assert_false(o.mstx);
        assert_int_equal(n_warnings, 1);
        assert_null(ascope_session_new(&o, &e));
        assert_non_null(strstr(e.text, "ascope_options_init"));
        assert_null(ascope_profiler_new(&o, NULL, NULL, NULL));
        assert_int_equal(n_errors, 1);
    }
    (void)state;
}

/* A profiler that could not be made stops no program. */
static void use_none(struct ascope_profiler *p)
{
    assert_null(p);
    ascope_profiler_start(p);
    ascope_profiler_step(p);
    assert_null(ascope_profiler_session(p));
    assert_int_equal(ascope_profiler_action(p), ASCOPE_NONE);
    ascope_profiler_stop(p);
    ascope_profiler_free(p);
}

static void schedules(void **state)
{
    struct ascope_options o;
    ascope_options_init(&o);
    o.parent_dir = folder;
    o.device = "none";
    SIZED(ascope_schedule, plan);
    plan.is = (struct ascope_schedule){ .size = offsetof(struct ascope_schedule, skip_first), .wait = 1, .active = 1 };
    plan.is.skip_first = plan.is.skip_first_wait = -5; /* beyond an older program's */
    n_warnings = n_errors = 0;
    assert_int_equal(ascope_schedule_action(&plan.is, 1), ASCOPE_RECORD_AND_SAVE);
    ascope_schedule_check(&plan.is);
    assert_int_equal(n_warnings, 1); /* no warm-up */
    assert_int_equal(plan.is.skip_first, -5);
    assert_int_equal(plan.is.size, offsetof(struct ascope_schedule, skip_first));

    plan.is = (struct ascope_schedule){ .size = sizeof plan, .wait = 1, .warmup = 1, .active = 1 };
    n_warnings = 0;
    struct ascope_profiler *p = ascope_profiler_new(&o, &plan.is, NULL, NULL);
    assert_non_null(p);
    assert_int_equal(n_warnings, 1); /* fields that the library does not know */
    assert_non_null(strstr(last_text, "unknown to"));
    ascope_profiler_free(p);

    for (size_t i = 0; i < sizeof not_set / sizeof *not_set; i++) {
        plan.is.size = not_set[i];
        plan.is.active = -1;
        n_warnings = n_errors = 0;
        assert_int_equal(ascope_schedule_action(&plan.is, 2), ASCOPE_NONE);
        ascope_schedule_check(&plan.is);
        assert_int_equal(n_warnings, 1);
        assert_int_equal(plan.is.active, -1);
        use_none(ascope_profiler_new(&o, &plan.is, NULL, NULL));
        assert_int_equal(n_errors, 1);
    }
    (void)state;
}

static unsigned n_started, n_stopping;
static void count_start(const struct ascope_options *o, void *user)
{
    assert_int_equal(o->size, sizeof *o);
    assert_ptr_equal(user, &n_started);
    n_started++;
}
static void count_stop(void *user)
{
    (void)user;
    n_stopping++;
}

static void listeners(void **state)
{
    SIZED(ascope_listener, l);
    l.is = (struct ascope_listener){ sizeof l, count_start, NULL, &n_started };
    const struct ascope_listener other = { sizeof other, NULL, count_stop, NULL };
    struct ascope_listener none = other;
    for (size_t i = 0; i < sizeof not_set / sizeof *not_set; i++) {
        none.size = not_set[i];
        assert_false(ascope_listen(&none));
    }
    assert_true(ascope_listen(&l.is));
    assert_true(ascope_listen(&other));
    ascope_unlisten(&l.is);
    assert_true(ascope_listen(&other)); /* once all the same, although a place before its own is free */
    assert_true(ascope_listen(&l.is));
    ascope_session_discard(recorded_begin(NULL));
    assert_int_equal(n_started, 1);
    assert_int_equal(n_stopping, 1);
    ascope_unlisten(&l.is);
    ascope_unlisten(&other);
    ascope_session_discard(recorded_begin(NULL));
    assert_int_equal(n_started, 1);
    assert_int_equal(n_stopping, 1);
    (void)state;
}

static void versions_agree(void **state)
{
    char text[40];
    snprintf(text, sizeof text, "%d.%d.%d", ASCOPE_VERSION_MAJOR, ASCOPE_VERSION_MINOR, ASCOPE_VERSION_PATCH);
    assert_int_equal(strncmp(ascope_version(), text, strlen(text)), 0);
    assert_true(ASCOPE_VERSION_AT_LEAST(ASCOPE_VERSION_MAJOR, ASCOPE_VERSION_MINOR, ASCOPE_VERSION_PATCH));
    assert_false(ASCOPE_VERSION_AT_LEAST(ASCOPE_VERSION_MAJOR, ASCOPE_VERSION_MINOR, ASCOPE_VERSION_PATCH + 1));
    assert_false(ASCOPE_VERSION_AT_LEAST(ASCOPE_VERSION_MAJOR + 1, 0, 0));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rest_is_zeros_or_stays),
        cmocka_unit_test_setup_teardown(records_of_older_and_newer_programs, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(records_without_a_size_are_counted, folder_make, folder_remove),
        cmocka_unit_test(options_of_a_newer_program),
        cmocka_unit_test_setup_teardown(options_without_a_size, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(schedules, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(listeners, folder_make, folder_remove),
        cmocka_unit_test(versions_agree),
    };
    ascope_on_message(count_warning, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
