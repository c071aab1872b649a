/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/framework/collection_analyse.h"
#include "raw/framework_values.h"
#include "raw/host_records.h"

enum { MOST = 256, DOMAIN = 77 };

/* Marks of a host whose counter counts nanoseconds. */
struct made {
    struct profile p;
    struct arena *mem;
};

static void made_init(struct made *m)
{
    *m = (struct made){ .mem = arena_new() };
    struct marks *k = &m->p.host.records.marks;
    m->p.names = names_new();
    m->p.host.source.host_clock.tick = (struct ticks){ 1, 1 };
    m->p.dictionary.names = m->p.names;
    assert_true(dictionary_add(&m->p.dictionary, DOMAIN, names_addz(m->p.names, "loader")));
    k->event = arena_take(m->mem, MOST, sizeof *k->event);
    k->begin = arena_take(m->mem, MOST, sizeof *k->begin);
    k->end = arena_take(m->mem, MOST, sizeof *k->end);
    k->domain = arena_take(m->mem, MOST, sizeof *k->domain);
    k->message = arena_take(m->mem, MOST, sizeof *k->message);
}

static void made_fini(struct made *m)
{
    dictionary_fini(&m->p.dictionary);
    names_free(m->p.names);
    arena_free(m->mem);
}

static void add(struct made *m, uint32_t event, uint64_t domain, const char *name, uint64_t dur_ns)
{
    struct marks *k = &m->p.host.records.marks;
    k->event[k->n] = event;
    k->domain[k->n] = domain;
    k->message[k->n] = names_addz(m->p.names, name);
    k->begin[k->n] = 1000 * k->n;
    k->end[k->n] = k->begin[k->n] + dur_ns;
    k->n++;
}

static void ranges_are_summed_by_domain_and_name(void **state)
{
    struct made m;
    struct ranges r;
    made_init(&m);
    for (uint64_t i = 100; i > 0; i--) /* 1 to 100, in another order */
        add(&m, MARK_EVENT_START_END, DOMAIN, "read", i);
    add(&m, MARK_EVENT_PUSH_POP, 0, "read", 7);
    add(&m, MARK_EVENT_PUSH_POP, 0, "write", 9000);
    add(&m, MARK_EVENT_POINT, 0, "a point is no range", 0);
    add(&m, MARK_EVENT_POINT_EX, 0, "a point is no range", 0);
    add(&m, MARK_EVENT_PUSH_POP, 0, "ProfilerStep#3", 100000);
    assert_true(ranges_sum(&r, &m.p, NULL, m.mem));
    static const struct {
        const char *domain, *name;
        uint64_t n;
        double total;
        int64_t p50, p99, max;
    } wanted[] = { { "", "write", 1, 9000, 9000, 9000, 9000 },
                   { "loader", "read", 100, 5050, 50, 99, 100 },
                   { "", "read", 1, 7, 7, 7, 7 } };
    assert_int_equal(r.n, ROWS(wanted));
    for (size_t i = 0; i < ROWS(wanted); i++) {
        print_message("  %s %s\n", wanted[i].domain, wanted[i].name);
        assert_string_equal(names_text(m.p.names, r.at[i].domain), wanted[i].domain);
        assert_string_equal(names_text(m.p.names, r.at[i].name), wanted[i].name);
        assert_int_equal(r.at[i].n, wanted[i].n);
        assert_true(r.at[i].total_ns == wanted[i].total);
        assert_int_equal(r.at[i].p50_ns, wanted[i].p50);
        assert_int_equal(r.at[i].p99_ns, wanted[i].p99);
        assert_int_equal(r.at[i].max_ns, wanted[i].max);
    }
    made_fini(&m);
    (void)state;
}

static void a_range_that_ends_before_it_begins_takes_no_time(void **state)
{
    struct made m;
    struct ranges r;
    made_init(&m);
    add(&m, MARK_EVENT_START_END, 0, "x", 0);
    m.p.host.records.marks.begin[0] = 5000;
    assert_true(ranges_sum(&r, &m.p, NULL, m.mem));
    assert_int_equal(r.n, 1);
    assert_true(r.at[0].total_ns == 0);
    made_fini(&m);
    (void)state;
}

static void operators_of_the_user_are_ranges(void **state)
{
    struct made m;
    struct ranges r;
    made_init(&m);
    add(&m, MARK_EVENT_PUSH_POP, 0, "forward", 5);
    uint8_t scope[] = { OP_SCOPE_USER, 0, OP_SCOPE_USER, OP_SCOPE_USER, OP_SCOPE_BACKWARD };
    const char *const text[] = { "forward", "aten::mm", "ProfilerStep#0", "Optimizer.step#SGD.step", "forward" };
    int64_t begin_ns[ROWS(text)] = { 100, 110, 0, 300, 500 }, end_ns[ROWS(text)] = { 200, 150, 999, 370, 600 };
    name_id name[ROWS(text)];
    for (size_t i = 0; i < ROWS(text); i++)
        name[i] = names_addz(m.p.names, text[i]);
    const struct framework_ops ops = {
        .n = ROWS(text), .scope = scope, .name = name, .begin_ns = begin_ns, .end_ns = end_ns
    };
    assert_true(ranges_sum(&r, &m.p, &ops, m.mem));
    assert_int_equal(r.n, 2);
    assert_string_equal(names_text(m.p.names, r.at[0].name), "forward"); /* the mark, too */
    assert_int_equal(r.at[0].n, 2);
    assert_true(r.at[0].total_ns == 105);
    assert_string_equal(names_text(m.p.names, r.at[1].name), "Optimizer.step#SGD.step");
    assert_true(r.at[1].total_ns == 70);
    made_fini(&m);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_summed_by_domain_and_name),
        cmocka_unit_test(operators_of_the_user_are_ranges),
        cmocka_unit_test(a_range_that_ends_before_it_begins_takes_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
