/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "answers/run/collective_waits.h"
#include "profile/calls.h"

enum { RANKS = 3, OPS = 3, NOT_READ = -1 };

/* A job of up to three ranks, each with up to three collectives of a group, in us of the common clock. */
struct job_case {
    const char *what;
    uint32_t n_ranks, size; /* size: of the group, as the job recorded it; 0: unknown */
    int64_t ahead[RANKS];   /* of the clocks */
    struct {
        const char *name;
        int64_t begin[RANKS], end[RANKS]; /* begin NOT_READ: the rank does not have it */
    } op[OPS];
    struct {
        enum collective_why why;
        uint32_t last;
        int64_t waiting[RANKS];
    } want[OPS];
};

#define SHORT                                                                                                          \
    {                                                                                                                  \
        "hcom_allReduce__1", { 10, 10, 10 },                                                                           \
        {                                                                                                              \
            20, 20, 20                                                                                                 \
        }                                                                                                              \
    }
#define SHORT_WANTED                                                                                                   \
    {                                                                                                                  \
        COLLECTIVE_KNOWN, 0,                                                                                           \
        {                                                                                                              \
            0, 0, 0                                                                                                    \
        }                                                                                                              \
    }

static const struct job_case cases[] = {
    { "the earlier members wait for the last one",
      3,
      3,
      { 0 },
      { { "hcom_allReduce__1", { 10, 90, 50 }, { 100, 100, 100 } } },
      { { COLLECTIVE_KNOWN, 1, { 80, 0, 40 } } } },
    { "whatever the clocks say",
      3,
      3,
      { 0, 1000, -700 },
      { { "ncclDevKernel_AllGather_RING_LL", { 10, 90, 50 }, { 100, 100, 100 } } },
      { { COLLECTIVE_KNOWN, 1, { 80, 0, 40 } } } },
    { "a member that was not read may be the last one",
      2,
      3,
      { 0 },
      { { "gloo:all_reduce", { 10, 60 }, { 100, 100 } } },
      { { COLLECTIVE_MEMBERS, NO_ROW, { 0 } } } },
    { "a member lacks one of several",
      2,
      0,
      { 0 },
      { SHORT, { "gloo:all_reduce", { 30, NOT_READ }, { 40, 0 } } },
      { SHORT_WANTED, { COLLECTIVE_MEMBERS, NO_ROW, { 0 } } } },
    { "a root that has sent all and ended did not wait",
      2,
      2,
      { 0, 5000 },
      { SHORT, { "gloo:broadcast", { 30, 80 }, { 35, 90 } }, { "gloo:broadcast", { 100, 130 }, { 140, 145 } } },
      { SHORT_WANTED, { COLLECTIVE_KNOWN, 1, { 0, 0 } }, { COLLECTIVE_KNOWN, 1, { 30, 0 } } } },
    { "the root joins last",
      2,
      2,
      { 0, 5000 },
      { SHORT, { "hcom_reduce__1", { 80, 30 }, { 90, 92 } } },
      { SHORT_WANTED, { COLLECTIVE_KNOWN, 0, { 0, 50 } } } },
    { "with a root, and clocks that nothing links",
      2,
      2,
      { 0, 5000 },
      { { "nccl:_broadcast_oop", { 30, 80 }, { 85, 90 } } },
      { { COLLECTIVE_CLOCKS, NO_ROW, { 0, 0 } } } },
};

static void check_case(const struct job_case *j)
{
    struct arena *mem = arena_new();
    struct names *names = names_new();
    assert_non_null(mem);
    assert_non_null(names);
    struct collective_match m = { .names = names, .mem = mem };
    uint32_t id[RANKS][OPS];
    const name_id group_name = names_addz(names, "group");
    print_message("  %s\n", j->what);
    for (uint32_t r = 0; r < j->n_ranks; r++) {
        name_id name[OPS], group[OPS];
        int64_t begin[OPS], end[OPS];
        struct match_calls calls = { .group = group, .name = name, .begin_ns = begin, .end_ns = end };
        for (size_t i = 0; i < OPS && j->op[i].name; i++) {
            if (j->op[i].begin[r] == NOT_READ)
                continue;
            name[calls.n] = names_addz(names, j->op[i].name);
            group[calls.n] = group_name;
            begin[calls.n] = (j->op[i].begin[r] + j->ahead[r]) * 1000;
            end[calls.n++] = (j->op[i].end[r] + j->ahead[r]) * 1000;
        }
        assert_true(match_add(&m, r, &calls, id[r]));
    }
    assert_true(match_group_size(&m, group_name, j->size));
    assert_true(match_finish(&m));
    for (uint32_t r = 0; r < j->n_ranks; r++)
        for (size_t i = 0, at = 0; i < OPS && j->op[i].name; i++) {
            if (j->op[i].begin[r] == NOT_READ)
                continue;
            const int64_t begin = (j->op[i].begin[r] + j->ahead[r]) * 1000,
                          end = (j->op[i].end[r] + j->ahead[r]) * 1000;
            const struct collective_time t = collective_divide(&m, r, id[r][at++], begin, end);
            assert_int_equal(t.why, j->want[i].why);
            assert_int_equal(t.last, j->want[i].last);
            assert_int_equal(t.waiting_ns, j->want[i].waiting[r] * 1000);
            assert_int_equal(t.transfer_ns, t.why == COLLECTIVE_KNOWN ? end - begin - t.waiting_ns : 0);
        }
    names_free(names);
    arena_free(mem);
}

static void collectives_are_divided(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i]);
}

/* A send that nobody received is neither. */
static void an_unknown_peer_is_said(void **state)
{
    (void)state;
    const struct collective_match none = { 0 };
    assert_int_equal(collective_divide(&none, 0, NO_ROW, 0, 10).why, COLLECTIVE_PEER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collectives_are_divided),
        cmocka_unit_test(an_unknown_peer_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
