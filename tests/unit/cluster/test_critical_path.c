/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "cluster/rank/summary_parts.h"
#include "cluster/verdicts/verdicts.h"
#include "profile/calls.h"

enum { MOST = 8 };

/* One collective of a rank, in us. */
struct op {
    const char *name, *type;
    int64_t begin, end;
    int64_t computing, free;
    const char *longest;
    int64_t src, dst;
};

/* A rank with one or more steps; all but its collectives is small. */
struct made_rank {
    int64_t rank;
    int64_t ahead; /* its clock */
    size_t n;
    struct op op[MOST];
    int64_t tail_computing, tail_free;
};

static int64_t *numbers(struct arena *mem, size_t n)
{
    int64_t *const list = arena_take(mem, n, sizeof *list);
    assert_non_null(list);
    return list;
}

static name_id *texts(struct arena *mem, size_t n)
{
    name_id *const list = arena_take(mem, n, sizeof *list);
    assert_non_null(list);
    return list;
}

static struct rank_summary summary_of(const struct made_rank *r, int64_t step, struct names *names, struct arena *mem)
{
    struct rank_summary s = { .identity = { .has_rank = true, .rank = r->rank }, .names = names, .mem = mem };
    struct summary_collectives *const c = &s.collectives;
    const size_t n = r->n;
    s.steps = (struct rank_steps){ 1, numbers(mem, 1), numbers(mem, 1), numbers(mem, 1), NULL };
    s.steps.id[0] = step;
    s.sums =
        (struct summary_step_sums){ .n = 2, .tail_computing_ns = numbers(mem, 2), .tail_free_ns = numbers(mem, 2) };
    s.sums.tail_computing_ns[0] = r->tail_computing * 1000;
    s.sums.tail_free_ns[0] = r->tail_free * 1000;
    c->ops = (struct rank_collectives){ .n = n,
                                        .name = texts(mem, n),
                                        .group = texts(mem, n),
                                        .type = texts(mem, n),
                                        .begin_ns = numbers(mem, n),
                                        .end_ns = numbers(mem, n),
                                        .src = numbers(mem, n),
                                        .dst = numbers(mem, n) };
    c->step = arena_take(mem, n, sizeof *c->step);
    c->exposed_ns = numbers(mem, n);
    c->computing_ns = numbers(mem, n);
    c->copying_ns = numbers(mem, n);
    c->free_ns = numbers(mem, n);
    c->longest_ns = numbers(mem, n);
    c->longest = texts(mem, n);
    for (size_t i = 0; i < n; i++) {
        const struct op *const op = &r->op[i];
        c->ops.name[i] = names_addz(names, op->name);
        c->ops.type[i] = names_addz(names, op->type);
        c->ops.group[i] = names_addz(names, "group");
        c->ops.begin_ns[i] = (op->begin + r->ahead) * 1000;
        c->ops.end_ns[i] = (op->end + r->ahead) * 1000;
        c->ops.src[i] = op->src;
        c->ops.dst[i] = op->dst;
        c->computing_ns[i] = c->longest_ns[i] = op->computing * 1000;
        c->free_ns[i] = op->free * 1000;
        c->longest[i] = op->longest ? names_addz(names, op->longest) : NAME_EMPTY;
    }
    return s;
}

struct made_job {
    struct arena *mem;
    struct names *names;
    struct collective_match match;
    struct critical_path path;
    struct groups groups;
    struct job_report report;
    uint32_t id[MOST];
};

static void job_begin(struct made_job *j)
{
    *j = (struct made_job){ .mem = arena_new(), .names = names_new() };
    assert_non_null(j->mem);
    assert_non_null(j->names);
    j->match.names = j->path.names = j->groups.names = j->names;
    j->match.mem = j->path.mem = j->groups.mem = j->report.mem = j->mem;
}

static void job_add(struct made_job *j, const struct made_rank *r, int64_t step)
{
    const struct rank_summary s = summary_of(r, step, j->names, j->mem);
    assert_true(summary_match(&j->match, &s, j->id));
    assert_true(critical_path_add(&j->path, &s, (uint32_t)j->match.rank.n - 1, j->id));
}

static void job_end(struct made_job *j)
{
    arena_free(j->mem);
    names_free(j->names);
}

/* Rank 1 comes last to a, rank 0 to b, and rank 0 ends last. */
static const struct made_rank first = {
    0, 0, 2, { { "a", "all_", 10, 30, 10, 0, "MatMul", -1, -1 }, { "b", "all_", 50, 60, 15, 5, "Add", -1, -1 } }, 40, 0
};
static const struct made_rank second = {
    1, 0, 2, { { "a", "all_", 20, 30, 20, 0, "Conv", -1, -1 }, { "b", "all_", 35, 60, 5, 0, "Add", -1, -1 } }, 30, 0
};

static void the_path_goes_to_who_came_last(void **state)
{
    static const struct {
        enum path_kind kind;
        int64_t rank, us, saved_us;
        const char *name;
    } row[] = {
        { PATH_COMPUTING, 0, 40, 10, "" },         /* rank 1 ends 10 us before it */
        { PATH_COMPUTING, 1, 20, 10, "Conv" },     /* rank 0 comes to a 10 us before it */
        { PATH_COMMUNICATION, -1, 20, 20, "all" }, /* a and b: nothing runs beside them */
        { PATH_COMPUTING, 0, 15, 15, "Add" },      /* rank 1 comes to b 15 us before it */
        { PATH_FREE, 0, 5, 5, "" },
    };
    for (int64_t ahead = 0; ahead <= 1000; ahead += 1000) {
        struct made_job j;
        struct made_rank other = second;
        other.ahead = ahead; /* a clock that is wrong changes nothing */
        job_begin(&j);
        job_add(&j, &first, 7);
        job_add(&j, &other, 7);
        assert_true(match_finish(&j.match));
        assert_int_equal(j.match.clock.at[0].ahead_ns, 0);
        assert_int_equal(j.match.clock.at[1].ahead_ns, ahead * 1000);
        assert_true(critical_path_finish(&j.path, &j.match, &j.groups, 7, &j.report));
        assert_true(j.report.has_path);
        assert_string_equal(j.report.path_step, "7");
        assert_int_equal(j.report.path_ns, 100000);
        assert_int_equal(j.report.parts.n, ROWS(row));
        for (size_t i = 0; i < ROWS(row); i++) {
            const struct path_part *found = NULL;
            for (size_t k = 0; k < j.report.parts.n; k++)
                if (j.report.parts.at[k].kind == row[i].kind && strcmp(j.report.parts.at[k].name, row[i].name) == 0)
                    found = &j.report.parts.at[k];
            print_message("  %s %s\n", path_names[row[i].kind], row[i].name);
            assert_non_null(found);
            assert_int_equal(found->rank, row[i].rank);
            assert_int_equal(found->ns, row[i].us * 1000);
            assert_int_equal(found->saved_ns, row[i].saved_us * 1000);
        }
        job_end(&j);
    }
    (void)state;
}

static void a_step_that_nobody_has_is_no_path(void **state)
{
    struct made_job j;
    job_begin(&j);
    job_add(&j, &first, 7);
    job_add(&j, &second, 8);
    assert_true(match_finish(&j.match));
    assert_true(critical_path_finish(&j.path, &j.match, &j.groups, 9, &j.report));
    assert_false(j.report.has_path);
    assert_true(critical_path_finish(&j.path, &j.match, &j.groups, INT64_MIN, &j.report));
    assert_false(j.report.has_path);
    job_end(&j);
    (void)state;
}

static void only_one_step_is_kept_when_there_are_too_many_rows(void **state)
{
    struct made_job j;
    job_begin(&j);
    j.path.limit = 3;
    job_add(&j, &first, 7);
    assert_false(critical_path_is_full(&j.path));
    job_add(&j, &second, 8);
    assert_true(critical_path_is_full(&j.path));
    critical_path_keep(&j.path, 8);
    assert_int_equal(j.path.rows.n, 2);
    assert_int_equal(j.path.rows.at[0].step, 8);
    job_end(&j);
    (void)state;
}

static void a_send_is_matched_with_its_receive(void **state)
{
    struct made_job j;
    const struct made_rank sender = {
        0, 0, 2, { { "s1", "send", 1, 2, 0, 0, NULL, 0, 1 }, { "s2", "send", 3, 4, 0, 0, NULL, 0, 1 } }, 0, 0
    };
    const struct made_rank receiver = { 1,
                                        0,
                                        3,
                                        { { "r1", "receive", 0, 2, 0, 0, NULL, 1, 0 },
                                          { "r2", "receive", 3, 4, 0, 0, NULL, 1, 0 },
                                          { "r3", "receive", 5, 6, 0, 0, NULL, -1, -1 } },
                                        0,
                                        0 };
    struct made_rank a = sender, b = receiver;
    for (size_t i = 0; i < 2; i++)
        a.op[i].name = "hcom_send__1", b.op[i].name = "hcom_receive__1";
    b.op[2].name = "hcom_receive__1";
    job_begin(&j);
    job_add(&j, &a, 1);
    assert_int_equal(j.id[0], 0);
    assert_int_equal(j.id[1], 1);
    job_add(&j, &b, 1);
    assert_int_equal(j.id[0], 0);
    assert_int_equal(j.id[1], 1);
    assert_int_equal(j.id[2], NO_ROW);
    assert_int_equal(j.match.list.at[0].last, 0); /* the sender came last */
    job_end(&j);
    (void)state;
}

static bool take_line(void *context, int64_t rank, const char *text)
{
    char *const lines = context;
    snprintf(lines + strlen(lines), 400 - strlen(lines), "%lld: %s\n", (long long)rank, text);
    return true;
}

static void a_rank_that_lacks_a_collective_is_named(void **state)
{
    struct made_job j;
    struct made_rank third = second;
    char lines[400] = "";
    third.rank = 5;
    third.n = 1;
    job_begin(&j);
    job_add(&j, &first, 7);
    job_add(&j, &second, 7);
    assert_true(match_report(&j.match, take_line, lines));
    assert_string_equal(lines, "");
    job_add(&j, &third, 7);
    assert_true(match_finish(&j.match));
    assert_true(match_report(&j.match, take_line, lines));
    assert_string_equal(
        lines, "5: rank 5: it has 1 of the 2 collectives that others have of group group; not all members have b\n");
    job_end(&j);
    (void)state;
}

/* Ranks 0, 1 and 2, 3 have nothing in common until rank 4 does with both. */
static void clocks_are_linked_through_others(void **state)
{
    static const struct {
        int64_t rank, ahead;
        const char *name[2];
    } row[] = { { 0, 0, { "a", NULL } },
                { 1, 0, { "a", NULL } },
                { 2, 300, { "b", NULL } },
                { 3, 0, { "b", NULL } },
                { 4, 0, { "a", "b" } } };
    struct made_job j;
    job_begin(&j);
    for (size_t i = 0; i < ROWS(row); i++) {
        struct made_rank r = { .rank = row[i].rank, .ahead = row[i].ahead };
        for (; r.n < 2 && row[i].name[r.n]; r.n++)
            r.op[r.n] =
                (struct op){ row[i].name[r.n], "all", *row[i].name[r.n], *row[i].name[r.n] + 10, 0, 0, NULL, -1, -1 };
        job_add(&j, &r, 1);
    }
    assert_true(match_finish(&j.match));
    for (size_t i = 0; i < ROWS(row); i++)
        assert_int_equal(j.match.clock.at[i].ahead_ns, row[i].ahead * 1000);
    job_end(&j);
    (void)state;
}

/* A rank that began to record a step later: what has the same name there is another collective. */
static void other_steps_have_other_collectives(void **state)
{
    struct made_job j;
    struct made_rank later = second;
    later.ahead = 500;
    job_begin(&j);
    job_add(&j, &first, 7);
    job_add(&j, &later, 8);
    assert_true(match_finish(&j.match));
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(j.match.clock.at[i].ahead_ns, 0);
        assert_int_equal(j.match.clock.at[i].n, 0);
    }
    assert_int_equal(j.match.list.n, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(j.match.list.at[i].n, 1);
    job_end(&j);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_path_goes_to_who_came_last),
        cmocka_unit_test(a_step_that_nobody_has_is_no_path),
        cmocka_unit_test(only_one_step_is_kept_when_there_are_too_many_rows),
        cmocka_unit_test(a_send_is_matched_with_its_receive),
        cmocka_unit_test(a_rank_that_lacks_a_collective_is_named),
        cmocka_unit_test(clocks_are_linked_through_others),
        cmocka_unit_test(other_steps_have_other_collectives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
